/* The clouds of mote bench shifted: positions of mote gen, and normals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_shifted.h"

#define SEED_DIRECTIONS 4711u

const char *const shifted_clouds[SHIFTED_CLOUDS] = {"uniform", "clusters", "torus", "box"};

static const char *const axes[3] = {"x", "y", "z"};
static const char *const normals[3] = {"normal_x", "normal_y", "normal_z"};

static float read_float(const mote_column *column, uint64_t i) {
    float value;
    memcpy(&value, (const uint8_t *)column->data + i * column->stride_bytes, sizeof value);
    return value;
}

static void write_float(const mote_column *column, uint8_t *data, uint64_t i, float value) {
    memcpy(data + i * column->stride_bytes, &value, sizeof value);
}

/* Makes the normal, which points away from the nearest point of the circle in the tube's middle. */
static void torus_normal(const mote_cloud *cloud, uint64_t i, float normal[3]) {
    float at[3];
    for (int k = 0; k < 3; k++) at[k] = read_float(mote_cloud_find(cloud, axes[k]), i);
    const float radius = sqrtf(at[0] * at[0] + at[1] * at[1]);
    for (int k = 0; k < 3; k++) normal[k] = k < 2 ? at[k] - at[k] / radius : at[k];
}

static void add_normals(mote_cloud *cloud, const char *kind, const mote_cloud *directions) {
    uint8_t *data[3];
    const mote_column *to[3], *from[3];
    for (int k = 0; k < 3; k++) {
        data[k] = mote_cloud_column_data(cloud, normals[k]);
        to[k] = mote_cloud_find(cloud, normals[k]);
        from[k] = mote_cloud_find(directions, axes[k]);
    }
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        float normal[3];
        for (int k = 0; k < 3; k++) normal[k] = read_float(from[k], i) - 0.5f;
        if (strcmp(kind, "torus") == 0) torus_normal(cloud, i, normal);
        for (int k = 0; k < 3; k++) write_float(to[k], data[k], i, normal[k]);
    }
}

static mote_status make_cloud(mote_context *ctx, const char *kind, uint64_t count, mote_cloud **out) {
    mote_gen_params params = mote_gen_defaults(kind);
    mote_cloud *directions = NULL;
    mote_status status = mote_generate(ctx, kind, count, &params, out);
    if (status != MOTE_OK || mote_cloud_find(*out, normals[0]) != NULL) return status;
    params.seed += SEED_DIRECTIONS;
    status = mote_generate(ctx, "uniform", count, &params, &directions);
    for (int k = 0; k < 3 && status == MOTE_OK; k++) {
        const mote_column_spec spec = {normals[k], MOTE_FLOAT32, 0, 0};
        status = mote_cloud_add_column(*out, &spec);
    }
    if (status == MOTE_OK) add_normals(*out, kind, directions);
    mote_cloud_destroy(directions);
    return status;
}

static mote_status take_range(mote_context *ctx, const mote_cloud *cloud, uint64_t first, uint64_t count,
                              mote_cloud **out) {
    uint64_t *places = malloc((size_t)count * sizeof *places + 1);
    if (places == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) places[i] = first + i;
    const mote_status status = mote_cloud_select(ctx, cloud, places, count, out);
    free(places);
    return status;
}

mote_status shifted_clouds_make(mote_context *ctx, const char *kind, uint64_t point_count, uint64_t query_count,
                                mote_cloud **points, mote_cloud **queries) {
    mote_cloud *all = NULL;
    mote_status status = make_cloud(ctx, kind, point_count + query_count, &all);
    if (status == MOTE_OK) status = take_range(ctx, all, 0, point_count, points);
    if (status == MOTE_OK) status = take_range(ctx, all, point_count, query_count, queries);
    mote_cloud_destroy(all);
    return status;
}
