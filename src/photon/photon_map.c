/* Photon maps: emission in batches, and the clouds of photons that pictures are gathered from. */
#include "photon/photon_map.h"

#include "core/cloud.h"
#include "core/range.h"
#include "device/backend.h"
#include "knn/knn.h"
#include "order/cloud_range.h"
#include "photon/gather/photon_look_up.h"

mote_photon_emission mote_photon_emission_defaults(void) {
    mote_photon_emission emission;
    memset(&emission, 0, sizeof emission);
    emission.photons = 200000;
    return emission;
}

/* ---- emission */

static void note_facts(mote_photon_map *map, const photon_emitting *e, const photon_tally *tally) {
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

mote_status photon_check_stored(mote_context *ctx, const photon_tally *tally, uint64_t *count) {
    *count = tally->stored[PHOTON_DIRECT] + tally->stored[PHOTON_CAUSTIC] + tally->stored[PHOTON_INDIRECT];
    if (*count < UINT32_MAX) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu photons to be stored, more than 2^32 - 2",
                     (unsigned long long)*count);
}

static mote_status emit(mote_photon_map *map, const mote_photon_emission *emission) {
    const double power = map->scene->view.power;
    const photon_emitting e = {map->scene, emission->seed, emission->photons, power / (double)emission->photons};
    photon_tally tally;
    memset(&tally, 0, sizeof tally);
    map->facts.power = power;
    map->all.unit = e.unit;
    map->all.share = 1;
    if (!(power > 0)) {
        map->all.records = photon_alloc(map->device, 0, "photons");
        return map->all.records != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    MOTE_TRY(map->ops->open_scene(map->device, map->scene));
    MOTE_TRY(map->ops->emit(map->device, &e, &map->all, &tally));
    note_facts(map, &e, &tally);
    return MOTE_OK;
}

/* ---- clouds of records */

/* A cloud that looks at memory of the device. */
static mote_status wrap(mote_device *device, uint64_t count, const mote_column *columns, uint32_t column_count,
                        mote_cloud **out) {
    return device->ops == NULL ? mote_cloud_wrap(device->ctx, count, columns, column_count, out)
                               : mote_cloud_wrap_device(device->ctx, count, columns, column_count, out);
}

static mote_status wrap_records(mote_device *device, const photon_record *records, uint64_t count, mote_cloud **out) {
    static const char *const names[] = {"x",           "y",          "z",           "power_red",
                                        "power_green", "power_blue", "direction_x", "direction_y",
                                        "direction_z", "normal_x",   "normal_y",    "normal_z"};
    mote_column columns[13];
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 13; i++) {
        columns[i].name = i < 12 ? names[i] : "bounce";
        columns[i].type = i < 12 ? MOTE_FLOAT32 : MOTE_UINT8; /* the low byte of a small number */
        columns[i].data = (const char *)records + 4 * (size_t)i;
        columns[i].stride_bytes = sizeof *records;
    }
    return wrap(device, count, columns, 13, out);
}

mote_status photon_wrap_queries(mote_device *device, const photon_query *queries, uint64_t count, mote_cloud **out) {
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    mote_column columns[6];
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 6; i++) {
        columns[i].name = names[i];
        columns[i].type = MOTE_FLOAT32;
        columns[i].data = (const char *)queries + 4 * (size_t)i;
        columns[i].stride_bytes = sizeof *queries;
    }
    return wrap(device, count, columns, 6, out);
}

static mote_status index_cloud(mote_device *device, photon_cloud *photons) {
    if (photons->cloud == NULL) MOTE_TRY(wrap_records(device, photons->records, photons->count, &photons->cloud));
    return photons->index != NULL ? MOTE_OK : knn_build_on(device, photons->cloud, &photons->index);
}

static void free_cloud(mote_device *device, photon_cloud *photons) {
    mote_knn_destroy(photons->index);
    mote_cloud_destroy(photons->cloud);
    photon_free(device, photons->in_order);
    photon_free(device, photons->radius2);
    photon_free(device, photons->irradiance);
    photon_free(device, photons->records);
    memset(photons, 0, sizeof *photons);
}

/* Makes the cloud of a choice's photons, with their index. */
static mote_status choose_cloud(mote_photon_map *map, int choice, photon_cloud *to) {
    to->unit = map->all.unit;
    MOTE_TRY(map->ops->choose(map->device, &map->all, choice, to));
    to->share = 1;
    return index_cloud(map->device, to);
}

mote_status photon_map_choose(mote_photon_map *map, int choice) {
    photon_cloud *const to = &map->chosen[choice];
    if (to->index != NULL) return MOTE_OK;
    const mote_status status = choose_cloud(map, choice, to);
    if (status != MOTE_OK) free_cloud(map->device, to);
    return status;
}

/* ---- irradiance at photons */

static void free_irradiance(mote_device *device, photon_cloud *photons) {
    photon_free(device, photons->radius2);
    photon_free(device, photons->irradiance);
    photons->radius2 = NULL;
    photons->irradiance = NULL;
}

static mote_status gather_at(mote_photon_map *map, photon_cloud *to, photon_cloud *from,
                             const mote_photon_gathering *gathering) {
    to->irradiance = photon_alloc(map->device, 3 * to->count * sizeof *to->irradiance, "photon irradiance");
    to->radius2 = photon_alloc(map->device, to->count * sizeof *to->radius2, "photon irradiance");
    if (to->irradiance == NULL || to->radius2 == NULL) return MOTE_ERROR_MEMORY;
    return map->ops->gather(map->device, map->scene, from, to->cloud, gathering, to->irradiance, to->radius2);
}

/* All light, at some photons from all others, which nothing else needs. */
static mote_status gather_light(mote_photon_map *map, photon_cloud *to, const mote_photon_gathering *gathering) {
    photon_cloud from;
    memset(&from, 0, sizeof from);
    to->reach = photon_reach_of(gathering, PHOTON_IRRADIANCE_EVERY - 1, PHOTON_LOOK_UP_WIDTH);
    mote_status status = choose_cloud(map, PHOTON_CHOSEN_REMAINDER, &from);
    if (from.count > 0) from.share = (double)from.count / (double)map->all.count;
    if (status == MOTE_OK) status = gather_at(map, to, &from, gathering);
    free_cloud(map->device, &from);
    return status;
}

/* Caustics, at each of their photons from the others: a photon at the very place does not count. */
static mote_status gather_caustics(mote_photon_map *map, photon_cloud *to, const mote_photon_gathering *gathering) {
    mote_photon_gathering fine = *gathering;
    if (fine.k > PHOTON_CAUSTIC_K) fine.k = PHOTON_CAUSTIC_K;
    to->reach = photon_reach_of(&fine, 1, PHOTON_FAR);
    return gather_at(map, to, to, &fine);
}

mote_status photon_map_gather(mote_photon_map *map, int choice, const mote_photon_gathering *gathering) {
    photon_cloud *const to = &map->chosen[choice];
    MOTE_TRY(photon_map_choose(map, choice));
    free_irradiance(map->device, to); /* it may have been gathered otherwise */
    const mote_status status =
        choice == PHOTON_CHOSEN_CAUSTIC ? gather_caustics(map, to, gathering) : gather_light(map, to, gathering);
    if (status != MOTE_OK) free_irradiance(map->device, to);
    return status;
}

/* ---- public entries */

mote_status photon_find_device(mote_context *ctx, uint64_t photons, mote_device **device) {
    *device = ctx->params.device == MOTE_DEVICE_CUDA ? mote_device_choose(ctx, photons) : mote_cpu_device(ctx);
    if (*device == NULL) return MOTE_ERROR_DEVICE; /* the context says why */
    if ((*device)->backend->photon != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no photon mapping", (*device)->backend->name);
}

mote_status photon_check_range(const mote_scene *scene) {
    return range_check_box(scene->ctx, &scene->bounds, MOTE_RENDER_MAX_COORDINATE, true);
}

mote_status mote_photon_emit(mote_scene *scene, const mote_photon_emission *emission, mote_photon_map **out) {
    const mote_photon_emission e = emission != NULL ? *emission : mote_photon_emission_defaults();
    *out = NULL;
    if (scene == NULL) return MOTE_ERROR_ARGUMENT;
    mote_context *ctx = scene->ctx;
    mote_device *device = NULL;
    MOTE_TRY(mote_check_reserved(ctx, e.reserved, sizeof e.reserved, "mote_photon_emission",
                                 "mote_photon_emission_defaults()"));
    if (e.photons < 1 || e.photons > MOTE_PHOTON_MAX_PHOTONS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%llu photons, needs 1 to %u", (unsigned long long)e.photons,
                         MOTE_PHOTON_MAX_PHOTONS);
    }
    MOTE_TRY(photon_check_range(scene));
    MOTE_TRY(photon_find_device(ctx, e.photons, &device));
    mote_photon_map *map = mote_alloc_zero(ctx, sizeof *map, "photons");
    if (map == NULL) return MOTE_ERROR_MEMORY;
    map->ctx = ctx;
    map->scene = scene;
    map->device = device;
    map->ops = device->backend->photon;
    mote_stage(ctx, "photons");
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.9);
    mote_status status = emit(map, &e);
    mote_progress_leave(ctx, whole);
    if (status == MOTE_OK) status = mote_progress(ctx, 0.9, "sorting photons");
    mote_progress_next(ctx, whole, 0.9, 1);
    if (status == MOTE_OK) status = index_cloud(map->device, &map->all);
    mote_progress_leave(ctx, whole);
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
    for (int i = 0; i < PHOTON_KEPT; i++) free_cloud(map->device, &map->chosen[i]);
    free_cloud(map->device, &map->all);
    mote_cloud_destroy(map->host_cloud);
    mote_free(map->ctx, map->host_records);
    mote_free(map->ctx, map);
}

mote_photon_facts mote_photon_map_facts(const mote_photon_map *map) { return map->facts; }

/* Brings the photons to the host. */
static mote_status fetch_photons(mote_photon_map *map) {
    const uint64_t size_bytes = map->all.count * sizeof *map->host_records;
    if (map->host_records == NULL) map->host_records = mote_alloc(map->ctx, size_bytes, "photons");
    if (map->host_records == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(photon_fetch(map->device, map->host_records, map->all.records, size_bytes));
    return wrap_records(mote_cpu_device(map->ctx), map->host_records, map->all.count, &map->host_cloud);
}

const mote_cloud *mote_photon_cloud(mote_photon_map *map) {
    if (map->device->ops == NULL) return map->all.cloud;
    if (map->host_cloud == NULL && fetch_photons(map) != MOTE_OK) return NULL;
    return map->host_cloud;
}

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
    if ((unsigned)g->filter > MOTE_PHOTON_FILTER_EPANECHNIKOV) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the filter is out of range");
    }
    if ((unsigned)g->area <= MOTE_PHOTON_AREA_DISC) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the area is out of range");
}

static mote_status gather_to_host(mote_photon_map *map, const mote_cloud *queries, const mote_photon_gathering *g,
                                  float *irradiance) {
    const uint64_t size_bytes = 3 * mote_cloud_count(queries) * sizeof *irradiance;
    float *const gathered = photon_alloc(map->device, size_bytes, "photon irradiance");
    if (gathered == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = map->ops->gather(map->device, map->scene, &map->all, queries, g, gathered, NULL);
    if (status == MOTE_OK) status = photon_fetch(map->device, irradiance, gathered, size_bytes);
    photon_free(map->device, gathered);
    return status;
}

mote_status mote_photon_gather(mote_photon_map *map, const mote_cloud *queries, const mote_photon_gathering *gathering,
                               float *irradiance) {
    const mote_photon_gathering g = gathering != NULL ? *gathering : mote_photon_gathering_defaults();
    if (queries == NULL || irradiance == NULL)
        return mote_fail(map->ctx, MOTE_ERROR_ARGUMENT, "no queries, or no place");
    MOTE_TRY(photon_check_gathering(map->ctx, &g));
    const bool on_gpu = map->device->ops != NULL;
    if (!on_gpu) MOTE_TRY(mote_cloud_need_host(map->ctx, queries, "gathering photons"));
    if (!on_gpu && g.on_device) {
        return mote_fail(map->ctx, MOTE_ERROR_UNSUPPORTED,
                         "irradiance on the device is asked for, and the map is on the CPU");
    }
    MOTE_TRY(order_check_range(map->ctx, queries, MOTE_RENDER_MAX_COORDINATE, false));
    mote_stage(map->ctx, "gather");
    const mote_status status =
        on_gpu && !g.on_device ? gather_to_host(map, queries, &g, irradiance)
                               : map->ops->gather(map->device, map->scene, &map->all, queries, &g, irradiance, NULL);
    mote_stage(map->ctx, NULL);
    return status;
}
