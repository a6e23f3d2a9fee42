/* A photon map that fills up. */
#include "view/live/live_photons.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BATCH UINT64_C(2000)
#define GROWTH      0.35 /* of what has flown: batches grow, so that copying all anew stays a small part */
#define FLOATS      9u   /* place, direction, normal */

/* What is kept of a stored photon. */
typedef struct live_photon {
    float values[FLOATS];
    uint8_t rgb[3], bounce;
} live_photon;

struct live_photons {
    char scene[64];
    uint64_t photons, flown; /* to be emitted, and emitted */
    uint64_t batch;          /* its number is its seed */
    live_photon *stored;     /* [count] by batch, photon, and along its path */
    uint64_t count, capacity;
};

static const char *const float_names[FLOATS] = {"x",           "y",        "z",        "direction_x", "direction_y",
                                                "direction_z", "normal_x", "normal_y", "normal_z"};

int live_photons_open(session *s, const char *scene, uint64_t count, live_photons **out) {
    mote_scene *found = NULL;
    *out = NULL;
    const mote_status status = mote_scene_builtin(s->ctx, scene, &found);
    mote_scene_destroy(found);
    if (status != MOTE_OK) return session_fail(s, status, false);
    live_photons *p = calloc(1, sizeof *p);
    if (p == NULL) return session_error(s, EXIT_RESOURCES, "out of memory");
    snprintf(p->scene, sizeof p->scene, "%s", scene);
    p->photons = count;
    *out = p;
    return EXIT_DONE;
}

void live_photons_close(live_photons *p) {
    if (p == NULL) return;
    free(p->stored);
    free(p);
}

bool live_photons_has_more(const live_photons *p) { return p->flown < p->photons; }

/* ---- a batch */

/* The colour of its light, as bright as can be: its power is that of all others. */
static void take_color(const float power[3], uint8_t rgb[3]) {
    float max = power[0] > power[1] ? power[0] : power[1];
    max = power[2] > max ? power[2] : max;
    for (int k = 0; k < 3; k++) rgb[k] = max > 0 ? (uint8_t)lrintf(255.0F * power[k] / max) : 0;
}

static bool reserve(live_photons *p, uint64_t more) {
    if (p->count + more <= p->capacity) return true;
    const uint64_t capacity = 2 * p->capacity + more;
    live_photon *stored = realloc(p->stored, (size_t)capacity * sizeof *stored);
    if (stored == NULL) return false;
    p->stored = stored;
    p->capacity = capacity;
    return true;
}

static mote_status take_batch(live_photons *p, const mote_cloud *cloud) {
    static const char *const powers[3] = {"power_red", "power_green", "power_blue"};
    const uint64_t count = mote_cloud_count(cloud);
    if (!reserve(p, count)) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        live_photon *to = &p->stored[p->count + i];
        float power[3];
        for (uint32_t k = 0; k < FLOATS; k++) {
            to->values[k] = (float)mote_column_value(mote_cloud_find(cloud, float_names[k]), i);
        }
        for (int k = 0; k < 3; k++) power[k] = (float)mote_column_value(mote_cloud_find(cloud, powers[k]), i);
        take_color(power, to->rgb);
        to->bounce = (uint8_t)mote_column_value(mote_cloud_find(cloud, "bounce"), i);
    }
    p->count += count;
    return MOTE_OK;
}

static mote_status emit(live_photons *p, mote_context *ctx, uint64_t photons) {
    mote_scene *scene = NULL;
    mote_photon_map *map = NULL;
    mote_photon_emission emission = mote_photon_emission_defaults();
    emission.photons = photons;
    emission.seed = p->batch;
    mote_status status = mote_scene_builtin(ctx, p->scene, &scene);
    if (status == MOTE_OK) status = mote_photon_emit(scene, &emission, &map);
    if (status == MOTE_OK) status = take_batch(p, mote_photon_cloud(map));
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    return status;
}

/* ---- the cloud */

static mote_status make_cloud(const live_photons *p, mote_context *ctx, mote_cloud **out) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT32, 0, 0},           {"y", MOTE_FLOAT32, 0, 0},           {"z", MOTE_FLOAT32, 0, 0},
        {"direction_x", MOTE_FLOAT32, 0, 0}, {"direction_y", MOTE_FLOAT32, 0, 0}, {"direction_z", MOTE_FLOAT32, 0, 0},
        {"normal_x", MOTE_FLOAT32, 0, 0},    {"normal_y", MOTE_FLOAT32, 0, 0},    {"normal_z", MOTE_FLOAT32, 0, 0},
        {"red", MOTE_UINT8, 0, 0},           {"green", MOTE_UINT8, 0, 0},         {"blue", MOTE_UINT8, 0, 0},
        {"bounce", MOTE_UINT8, 0, 0}};
    const uint32_t columns = sizeof specs / sizeof specs[0];
    const mote_status status = mote_cloud_create(ctx, p->count, specs, columns, out);
    if (status != MOTE_OK) return status;
    for (uint32_t c = 0; c < columns; c++) {
        uint8_t *to = mote_cloud_column_data(*out, specs[c].name);
        const size_t stride = mote_cloud_find(*out, specs[c].name)->stride_bytes;
        for (uint64_t i = 0; i < p->count; i++, to += stride) {
            const live_photon *photon = &p->stored[i];
            if (c < FLOATS)
                memcpy(to, &photon->values[c], sizeof(float));
            else
                *to = c < FLOATS + 3 ? photon->rgb[c - FLOATS] : photon->bounce;
        }
    }
    return MOTE_OK;
}

mote_status live_photons_fly(live_photons *p, mote_context *ctx, mote_cloud **out, char *name, size_t size) {
    uint64_t batch = (uint64_t)(GROWTH * (double)p->flown);
    if (batch < FIRST_BATCH) batch = FIRST_BATCH;
    if (batch > p->photons - p->flown) batch = p->photons - p->flown;
    mote_status status = emit(p, ctx, batch);
    p->flown += batch;
    p->batch++;
    if (status == MOTE_OK) status = make_cloud(p, ctx, out);
    snprintf(name, size, "%s, %" PRIu64 " of %" PRIu64 " photons", p->scene, p->flown, p->photons);
    return status;
}
