/* Gathering on CPU cores: visitors of the search for neighbours. */
#include "photon/gather/photon_gather_cpu.h"
#include "core/cloud.h"
#include "knn/knn_visit.h"
#include "photon/gather/photon_look_up.h"

typedef struct gather {
    knn_search search;
    const mote_column *normals[3];
    const mote_column *axes[3]; /* of places */
    const photon_view *scene;
    const photon_record *records;
    const mote_photon_gathering *params;
    photon_filter_terms terms;
    double steps;              /* photon_sum_steps */
    double share;              /* of the photons of the map */
    float *irradiance;         /* [3 · queries] */
    double *radius2;           /* [queries], zeros: of the discs; NULL: not asked for */
    const photon_sample *rays; /* [queries] look_up: the rays that ended there */
    photon_known known;        /* look_up */
    knn_work work;
    uint8_t *unresolved; /* [queries] out: the neighbours do not hold k from the front, and there may be more; NULL:
                            this is the last search. look_up: nothing is known there */
} gather;

static void read_normal(const gather *g, uint64_t row, float normal[3]) {
    double unit[3];
    knn_unit_normal(mote_column_value(g->normals[0], row), mote_column_value(g->normals[1], row),
                    mote_column_value(g->normals[2], row), unit);
    for (int k = 0; k < 3; k++) normal[k] = (float)unit[k];
}

/* Moves those that count to the start of places; returns how many there are, k at most. */
static uint32_t find_front(const gather *g, const float normal[3], const knn_near *list, uint32_t count,
                           uint32_t *places) {
    uint32_t found = 0;
    places[0] = 0;
    for (uint32_t i = 0; i < count && found < g->params->k; i++) {
        const double square = knn_distance2(knn_keys(&g->search), list[i].key);
        if (photon_counts(&g->records[list[i].index], normal, square, g->params->area)) places[found++] = i;
    }
    return found;
}

static photon_vec read_place(const gather *g, uint64_t row) {
    return photon_vec_of(mote_column_value(g->axes[0], row), mote_column_value(g->axes[1], row),
                         mote_column_value(g->axes[2], row));
}

static void sum_power(const gather *g, uint64_t row, const float normal[3], const knn_near *list,
                      const uint32_t *places, uint32_t count, double radius2, float irradiance[3]) {
    photon_cut cut;
    const double part = photon_part_of(g->scene, read_place(g, row), normal, g->params, radius2, &cut);
    photon_power_sum sum = {{0, 0, 0}};
    photon_summing by;
    by.terms = g->terms;
    by.disc = photon_float_disc_of(&g->terms, normal, radius2);
    by.steps = g->steps;
    for (int k = 0; k < 3; k++) by.place[k] = (float)mote_column_value(g->axes[k], row);
    for (uint32_t i = 0; i < count; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): so many places are set */
        const photon_record *photon = &g->records[list[places[i]].index];
        if (photon_is_kept(&cut, photon)) photon_sum_power(&sum, photon, &by);
    }
    photon_irradiance_of(&sum, radius2, g->steps, g->share, irradiance);
    photon_divide_by_part(part, irradiance);
}

static void visit_gather(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const gather *g = user;
    const mote_photon_gathering *params = g->params;
    const uint64_t row = g->search.queries->order[query];
    uint32_t places[MOTE_PHOTON_MAX_K];
    float normal[3];
    read_normal(g, row, normal);
    const uint32_t found = find_front(g, normal, list, count, places);
    if (found < params->k && count == g->search.k && g->unresolved != NULL) {
        g->unresolved[row] = 1;
        return;
    }
    uint32_t counted;
    double radius2;
    const double last2 = found > 0 ? knn_distance2(knn_keys(&g->search), list[places[found - 1]].key) : 0;
    if (photon_disc(found, params->k, count < g->search.k, params->radius, last2, &counted, &radius2)) {
        sum_power(g, row, normal, list, places, counted, radius2, g->irradiance + 3 * row);
        if (g->radius2 != NULL) g->radius2[row] = radius2;
    }
}

static void visit_look_up(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const gather *g = user;
    const uint64_t row = g->search.queries->order[query];
    uint32_t near[PHOTON_LOOK_UP_K];
    float normal[3];
    read_normal(g, row, normal);
    for (uint32_t i = 0; i < PHOTON_LOOK_UP_K; i++) near[i] = i < count ? list[i].index : UINT32_MAX;
    const photon_place place = photon_place_of(read_place(g, row), normal, g->rays[row].length, near);
    const uint32_t found = photon_find_known(g->scene, &g->known, &place);
    if (found == PHOTON_LOOK_UP_K) return;
    memcpy(g->irradiance + 3 * row, g->known.irradiance + 3 * (uint64_t)near[found], 3 * sizeof(float));
    g->unresolved[row] = 0;
}

static void gather_groups(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const gather *g = user;
    knn_search_groups(&g->search, scratch, first, groups, visit_gather, g);
}

static void look_up_groups(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const gather *g = user;
    knn_search_groups(&g->search, scratch, first, groups, visit_look_up, g);
}

/* Finds the columns of queries. */
static mote_status find_columns(mote_context *ctx, const mote_cloud *queries, gather *g) {
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        g->axes[k] = mote_cloud_find(queries, names[k]);
        if (g->axes[k] == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the queries have no column %s", names[k]);
    }
    if (knn_normals_of(queries, g->normals)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the queries have no normals: columns normal_x, normal_y, normal_z");
}

static mote_status search_query_set(const photon_cloud *photons, const mote_cloud *queries,
                                    const knn_query_set *query_set, gather *g, uint32_t k, double compression) {
    const bool flat = compression > 1;
    knn_ellipsoids ellipsoids;
    knn_ellipsoids_make(queries, compression, query_set, &ellipsoids);
    g->search = knn_search_of(photons->index, query_set, flat ? &ellipsoids : NULL, k,
                              g->params != NULL ? g->params->radius : 0);
    return knn_for_batches(photons->index->ctx, &g->search, g->work, g, 0, 1);
}

/* Searches once for all queries, with k neighbours each. */
static mote_status search(const photon_cloud *photons, const mote_cloud *queries, gather *g, uint32_t k,
                          double compression) {
    knn_query_set query_set;
    mote_status status = knn_query_set_make(photons->index, queries, &query_set);
    if (status == MOTE_OK) status = search_query_set(photons, queries, &query_set, g, k, compression);
    knn_query_set_free(photons->index->ctx, &query_set);
    return status;
}

/* ---- queries that the neighbours do not resolve: once more, with twice as many, and so on */

/* Some of the queries, as all says: rows[i] is where the i-th is in all of them. */
static mote_status search_some(const photon_cloud *photons, const mote_cloud *queries, const gather *all,
                               const uint64_t *rows, uint64_t count, uint32_t k, double compression) {
    mote_context *ctx = photons->index->ctx;
    gather some = *all;
    mote_cloud *subset = NULL;
    some.irradiance = mote_alloc_zero(ctx, 3 * count * sizeof *some.irradiance, "photon queries");
    some.radius2 = mote_alloc_zero(ctx, count * sizeof *some.radius2, "photon queries");
    some.unresolved = k < MOTE_KNN_MAX_K ? all->unresolved : NULL;
    memset(all->unresolved, 0, count);
    mote_status status = some.irradiance != NULL && some.radius2 != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_cloud_select(ctx, queries, rows, count, &subset);
    if (status == MOTE_OK) status = find_columns(ctx, subset, &some);
    if (status == MOTE_OK) status = search(photons, subset, &some, k, compression);
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) {
        memcpy(all->irradiance + 3 * rows[i], some.irradiance + 3 * i, 3 * sizeof *some.irradiance);
        if (all->radius2 != NULL) all->radius2[rows[i]] = some.radius2[i];
    }
    mote_cloud_destroy(subset);
    mote_free(ctx, some.radius2);
    mote_free(ctx, some.irradiance);
    return status;
}

/* Moves the rows that are unresolved to the start; returns how many there are. */
static uint64_t keep_unresolved(const uint8_t *unresolved, uint64_t *rows, uint64_t count) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (unresolved[i]) rows[kept++] = rows[i];
    }
    return kept;
}

static mote_status search_again(const photon_cloud *photons, const mote_cloud *queries, const gather *all, uint32_t k) {
    mote_context *ctx = photons->index->ctx;
    uint64_t count = mote_cloud_count(queries);
    uint64_t *rows = mote_alloc(ctx, count * sizeof *rows, "photon queries");
    mote_status status = rows != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) rows[i] = i;
    while (status == MOTE_OK && (count = keep_unresolved(all->unresolved, rows, count)) > 0) {
        k = 2 * k < MOTE_KNN_MAX_K ? 2 * k : MOTE_KNN_MAX_K;
        status = search_some(photons, queries, all, rows, count, k, all->params->compression);
    }
    mote_free(ctx, rows);
    return status;
}

mote_status photon_gather_on_cpu(mote_device *device, mote_scene *scene, photon_cloud *photons,
                                 const mote_cloud *queries, const mote_photon_gathering *params, float *irradiance,
                                 double *radius2) {
    mote_context *ctx = device->ctx;
    const uint64_t rows = mote_cloud_count(queries);
    const uint32_t k = photon_search_k(params->k);
    gather g = {.scene = &scene->view,
                .records = photons->records,
                .share = photons->share,
                .steps = photon_sum_steps(photons->unit),
                .terms = photon_filter_terms_of(params),
                .params = params,
                .irradiance = irradiance,
                .radius2 = radius2,
                .work = gather_groups};
    memset(irradiance, 0, 3 * rows * sizeof *irradiance);
    if (radius2 != NULL) memset(radius2, 0, rows * sizeof *radius2);
    MOTE_TRY(find_columns(ctx, queries, &g));
    uint8_t *const unresolved = mote_alloc_zero(ctx, rows, "photon queries");
    if (unresolved == NULL) return MOTE_ERROR_MEMORY;
    g.unresolved = k < MOTE_KNN_MAX_K ? unresolved : NULL;
    mote_status status = search(photons, queries, &g, k, params->compression);
    g.unresolved = unresolved;
    if (status == MOTE_OK && memchr(unresolved, 1, rows) != NULL) status = search_again(photons, queries, &g, k);
    mote_free(ctx, unresolved);
    return status;
}

mote_status photon_look_up_on_cpu(mote_device *device, const mote_scene *scene, const photon_cloud *known,
                                  const mote_cloud *queries, const photon_sample *rays, float *irradiance,
                                  uint8_t *unknown) {
    const uint64_t count = mote_cloud_count(queries);
    gather g = {.scene = &scene->view,
                .known = photon_known_of(known),
                .rays = rays,
                .irradiance = irradiance,
                .unresolved = unknown,
                .work = look_up_groups};
    memset(irradiance, 0, 3 * count * sizeof *irradiance);
    for (uint64_t i = 0; i < count; i++) unknown[i] = photon_sample_seen(&rays[i]);
    MOTE_TRY(find_columns(device->ctx, queries, &g));
    return search(known, queries, &g, PHOTON_LOOK_UP_K, 1);
}
