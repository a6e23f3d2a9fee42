/* Photon maps: emission in batches, and the clouds of photons that pictures are gathered from. */
#include "photon/photon_map.h"

#include "core/cloud.h"
#include "device/backend.h"
#include "knn/knn.h"

#define BATCH            65536u /* photons traced between two reports of progress */
#define IRRADIANCE_EVERY 4u     /* of photons has irradiance made for it (Christensen 1999) */

mote_photon_emission mote_photon_emission_defaults(void) {
    mote_photon_emission emission;
    memset(&emission, 0, sizeof emission);
    emission.photons = 200000;
    return emission;
}

/* ---- emission */

typedef struct emitting {
    mote_photon_map *map;
    uint64_t seed, photons;
    double unit;
    uint32_t *counts; /* [photons]: how many records each has; later of a batch where they start */
    uint64_t *starts; /* [BATCH] */
} emitting;

static uint32_t batch_of(const emitting *e, uint64_t first) {
    return e->photons - first < BATCH ? (uint32_t)(e->photons - first) : BATCH;
}

static mote_status count_photons(emitting *e, photon_tally *tally) {
    mote_photon_map *map = e->map;
    for (uint64_t first = 0; first < e->photons; first += BATCH) {
        MOTE_TRY(mote_progress(map->ctx, 0.5 * (double)first / (double)e->photons, "counting photons"));
        MOTE_TRY(map->ops->count(map->scene, e->seed, first, batch_of(e, first), e->unit, e->counts + first, tally));
    }
    return MOTE_OK;
}

static mote_status store_photons(emitting *e) {
    mote_photon_map *map = e->map;
    uint64_t next = 0;
    for (uint64_t first = 0; first < e->photons; first += BATCH) {
        const uint32_t count = batch_of(e, first);
        MOTE_TRY(mote_progress(map->ctx, 0.5 + 0.4 * (double)first / (double)e->photons, "emitting photons"));
        for (uint32_t i = 0; i < count; i++) {
            e->starts[i] = next;
            next += e->counts[first + i];
        }
        MOTE_TRY(map->ops->store(map->scene, e->seed, first, count, e->unit, e->starts, map->records));
    }
    return MOTE_OK;
}

static void note_facts(mote_photon_map *map, const emitting *e, const photon_tally *tally) {
    mote_photon_facts *f = &map->facts;
    double power[PHOTON_FATES];
    for (int i = 0; i < PHOTON_FATES; i++) {
        power[i] = ((double)tally->power[i][1] * 0x1p64 + (double)tally->power[i][0]) / PHOTON_POWER_STEPS * e->unit;
    }
    f->emitted = e->photons;
    f->absorbed = tally->fates[PHOTON_ABSORBED];
    f->escaped = tally->fates[PHOTON_ESCAPED];
    f->cut = tally->fates[PHOTON_CUT];
    f->hits = tally->hits;
    f->stored_direct = tally->stored[PHOTON_DIRECT];
    f->stored_caustic = tally->stored[PHOTON_CAUSTIC];
    f->stored = f->stored_direct + f->stored_caustic + tally->stored[PHOTON_INDIRECT];
    f->absorbed_power = power[PHOTON_ABSORBED];
    f->escaped_power = power[PHOTON_ESCAPED];
    f->cut_power = power[PHOTON_CUT];
}

static mote_status emit_counted(emitting *e) {
    mote_photon_map *map = e->map;
    photon_tally tally;
    memset(&tally, 0, sizeof tally);
    e->counts = mote_alloc(map->ctx, e->photons * sizeof *e->counts, "photon counts");
    e->starts = mote_alloc(map->ctx, BATCH * sizeof *e->starts, "photon counts");
    if (e->counts == NULL || e->starts == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(count_photons(e, &tally));
    note_facts(map, e, &tally);
    if (map->facts.stored >= UINT32_MAX) {
        return mote_fail(map->ctx, MOTE_ERROR_UNSUPPORTED, "%llu photons to be stored, more than 2^32 - 2",
                         (unsigned long long)map->facts.stored);
    }
    map->records = mote_alloc(map->ctx, map->facts.stored * sizeof *map->records, "photons");
    return map->records != NULL ? store_photons(e) : MOTE_ERROR_MEMORY;
}

static mote_status emit(mote_photon_map *map, const mote_photon_emission *emission) {
    const double power = map->scene->view.power;
    emitting e = {.map = map, .seed = emission->seed, .photons = emission->photons};
    e.unit = power / (double)emission->photons;
    map->facts.power = power;
    const mote_status status = power > 0 ? emit_counted(&e) : MOTE_OK;
    mote_free(map->ctx, e.counts);
    mote_free(map->ctx, e.starts);
    return status;
}

/* ---- clouds of records */

static mote_status wrap_records(mote_context *ctx, const photon_record *records, uint64_t count, mote_cloud **out) {
    static const char *const names[] = {"x",           "y",          "z",           "power_red",
                                        "power_green", "power_blue", "direction_x", "direction_y",
                                        "direction_z", "normal_x",   "normal_y",    "normal_z"};
    static const photon_record none;
    mote_column columns[13];
    const char *const base = (const char *)(count > 0 ? records : &none);
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 13; i++) {
        columns[i].name = i < 12 ? names[i] : "bounce";
        columns[i].type = i < 12 ? MOTE_FLOAT32 : MOTE_UINT8; /* the low byte of a small number */
        columns[i].data = base + 4 * (size_t)i;
        columns[i].stride_bytes = sizeof *records;
    }
    return mote_cloud_wrap(ctx, count, columns, 13, out);
}

mote_status photon_wrap_queries(mote_context *ctx, const photon_query *queries, uint64_t count, mote_cloud **out) {
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    mote_column columns[6];
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 6; i++) {
        columns[i].name = names[i];
        columns[i].type = MOTE_FLOAT32;
        columns[i].data = (const char *)queries + 4 * (size_t)i;
        columns[i].stride_bytes = sizeof *queries;
    }
    return mote_cloud_wrap(ctx, count, columns, 6, out);
}

static mote_status index_cloud(mote_context *ctx, photon_cloud *photons) {
    if (photons->cloud == NULL) MOTE_TRY(wrap_records(ctx, photons->records, photons->count, &photons->cloud));
    return photons->index != NULL ? MOTE_OK : knn_build_on(mote_cpu_device(ctx), photons->cloud, &photons->index);
}

static void free_cloud(mote_context *ctx, photon_cloud *photons, bool owns_records) {
    mote_knn_destroy(photons->index);
    mote_cloud_destroy(photons->cloud);
    mote_free(ctx, photons->irradiance);
    if (owns_records) mote_free(ctx, photons->records);
    memset(photons, 0, sizeof *photons);
}

mote_status photon_map_index(mote_photon_map *map) { return index_cloud(map->ctx, &map->all); }

static bool is_chosen(const mote_photon_map *map, int choice, uint64_t i) {
    if (choice == PHOTON_CHOSEN_IRRADIANCE) return i % IRRADIANCE_EVERY == 0;
    return map->records[i].bounce == (choice == PHOTON_CHOSEN_DIRECT ? PHOTON_DIRECT : PHOTON_CAUSTIC);
}

static mote_status choose_records(const mote_photon_map *map, int choice, photon_cloud *to) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < map->facts.stored; i++) count += is_chosen(map, choice, i);
    to->records = mote_alloc(map->ctx, count * sizeof *to->records, "photons");
    if (to->records == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < map->facts.stored; i++) {
        if (is_chosen(map, choice, i)) to->records[to->count++] = map->records[i];
    }
    return MOTE_OK;
}

static mote_status make_irradiance(mote_photon_map *map, photon_cloud *to, const mote_photon_gathering *gathering) {
    to->irradiance = mote_alloc(map->ctx, 3 * to->count * sizeof *to->irradiance, "photon irradiance");
    if (to->irradiance == NULL) return MOTE_ERROR_MEMORY;
    return map->ops->gather(&map->all, to->cloud, gathering, to->irradiance);
}

mote_status photon_map_choose(mote_photon_map *map, int choice, const mote_photon_gathering *gathering) {
    photon_cloud *to = &map->chosen[choice];
    const bool irradiance = choice == PHOTON_CHOSEN_IRRADIANCE;
    if (to->index != NULL && !irradiance) return MOTE_OK;
    free_cloud(map->ctx, to, true); /* the irradiance may have been gathered otherwise */
    mote_status status = choose_records(map, choice, to);
    if (status == MOTE_OK) status = index_cloud(map->ctx, to);
    if (status == MOTE_OK && irradiance) status = photon_map_index(map);
    if (status == MOTE_OK && irradiance) status = make_irradiance(map, to, gathering);
    if (status != MOTE_OK) free_cloud(map->ctx, to, true);
    return status;
}

/* ---- public entries */

mote_status photon_find_ops(mote_context *ctx, uint64_t photons, const mote_photon_ops **ops) {
    const mote_device *device =
        ctx->params.device == MOTE_DEVICE_CUDA ? mote_device_choose(ctx, photons) : mote_cpu_device(ctx);
    if (device == NULL) return MOTE_ERROR_DEVICE; /* the context says why */
    *ops = device->backend->photon;
    if (*ops != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no photon mapping", device->backend->name);
}

mote_status mote_photon_emit(mote_scene *scene, const mote_photon_emission *emission, mote_photon_map **out) {
    const mote_photon_emission e = emission != NULL ? *emission : mote_photon_emission_defaults();
    *out = NULL;
    if (scene == NULL) return MOTE_ERROR_ARGUMENT;
    mote_context *ctx = scene->ctx;
    const mote_photon_ops *ops = NULL;
    MOTE_TRY(mote_check_reserved(ctx, e.reserved, sizeof e.reserved, "mote_photon_emission",
                                 "mote_photon_emission_defaults()"));
    if (e.photons < 1 || e.photons > MOTE_PHOTON_MAX_PHOTONS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%llu photons, needs 1 to %u", (unsigned long long)e.photons,
                         MOTE_PHOTON_MAX_PHOTONS);
    }
    MOTE_TRY(photon_find_ops(ctx, e.photons, &ops));
    mote_photon_map *map = mote_alloc_zero(ctx, sizeof *map, "photons");
    if (map == NULL) return MOTE_ERROR_MEMORY;
    map->ctx = ctx;
    map->scene = scene;
    map->ops = ops;
    mote_stage(ctx, "photons");
    mote_status status = emit(map, &e);
    map->all.records = map->records;
    map->all.count = map->facts.stored;
    if (status == MOTE_OK) status = mote_progress(ctx, 0.9, "sorting photons");
    mote_progress_share(ctx, 0.9, 1);
    if (status == MOTE_OK) status = photon_map_index(map);
    mote_progress_share(ctx, 0, 1);
    mote_stage(ctx, NULL);
    if (status == MOTE_OK) {
        *out = map;
    } else {
        mote_photon_destroy(map);
    }
    return status;
}

void mote_photon_destroy(mote_photon_map *map) {
    if (map == NULL) return;
    for (int i = 0; i < 3; i++) free_cloud(map->ctx, &map->chosen[i], true);
    free_cloud(map->ctx, &map->all, false);
    mote_free(map->ctx, map->records);
    mote_free(map->ctx, map);
}

mote_photon_facts mote_photon_map_facts(const mote_photon_map *map) { return map->facts; }

const mote_cloud *mote_photon_cloud(const mote_photon_map *map) { return map->all.cloud; }

mote_photon_gathering mote_photon_gathering_defaults(void) {
    mote_photon_gathering gathering;
    memset(&gathering, 0, sizeof gathering);
    gathering.k = 128;
    gathering.compression = 4;
    gathering.filter = MOTE_PHOTON_FILTER_CONE;
    return gathering;
}

mote_status photon_check_gathering(mote_context *ctx, const mote_photon_gathering *g) {
    MOTE_TRY(mote_check_reserved(ctx, g->reserved, sizeof g->reserved, "mote_photon_gathering",
                                 "mote_photon_gathering_defaults()"));
    if (g->k < 2 || g->k > MOTE_PHOTON_MAX_K) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 2 to %u", g->k, MOTE_PHOTON_MAX_K);
    }
    if (!(g->compression >= 1 && g->compression <= MOTE_KNN_MAX_COMPRESSION)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the compression is %g, needs 1 to %g", g->compression,
                         MOTE_KNN_MAX_COMPRESSION);
    }
    if (!(g->radius >= 0)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the radius is %g, needs 0 or more", g->radius);
    if ((unsigned)g->filter <= MOTE_PHOTON_FILTER_EPANECHNIKOV) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the filter is out of range");
}

mote_status mote_photon_gather(mote_photon_map *map, const mote_cloud *queries, const mote_photon_gathering *gathering,
                               float *irradiance) {
    const mote_photon_gathering g = gathering != NULL ? *gathering : mote_photon_gathering_defaults();
    if (queries == NULL || irradiance == NULL)
        return mote_fail(map->ctx, MOTE_ERROR_ARGUMENT, "no queries, or no place");
    MOTE_TRY(photon_check_gathering(map->ctx, &g));
    MOTE_TRY(mote_cloud_need_host(map->ctx, queries, "gathering photons"));
    mote_stage(map->ctx, "gather");
    const mote_status status = map->ops->gather(&map->all, queries, &g, irradiance);
    mote_stage(map->ctx, NULL);
    return status;
}
