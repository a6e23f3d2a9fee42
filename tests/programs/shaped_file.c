/* A shaped cloud as a file, with intensities and colours: half of what they are follows the place, half is noise.
     shaped_file                  prints the names of the shapes
     shaped_file SHAPE N FILE     writes N points of it */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/mote.h"
#include "reference/shaped_clouds.h"
#include "support/random.h"

static void place_in_one(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)i, (void)n, (void)seed;
    at[0] = at[1] = at[2] = 0.1;
}

static void place_in_cube(uint64_t i, uint64_t n, uint64_t seed, double at[3]) {
    (void)n;
    for (uint64_t k = 0; k < 3; k++) at[k] = test_random(seed * 64 + k, i);
}

/* Beside those that every search is tried on. */
static const shaped_cloud own_shapes[] = {{"all equal", place_in_one}, {"uniform", place_in_cube}};
#define OWN_COUNT (sizeof own_shapes / sizeof own_shapes[0])

static void add_noise(mote_cloud *cloud, const char *name, mote_type type, uint64_t row, unsigned range) {
    const mote_column_spec spec = {name, type, 1, 0};
    if (mote_cloud_add_column(cloud, &spec) != MOTE_OK) abort();
    uint8_t *data = mote_cloud_column_data(cloud, name);
    const mote_column *column = mote_cloud_find(cloud, name);
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        const double along = (double)i / (double)mote_cloud_count(cloud);
        const uint16_t value = (uint16_t)(range * (along + test_random(row, i)) / 2);
        memcpy(data + i * column->stride_bytes, &value, mote_type_size(type));
    }
}

static int write_shape(const shaped_cloud *shape, uint64_t count, const char *path) {
    mote_context *ctx = NULL;
    if (mote_context_create(NULL, &ctx) != MOTE_OK) return 1;
    mote_cloud *cloud = shaped_cloud_make(ctx, shape, MOTE_FLOAT64, count, 1);
    add_noise(cloud, "intensity", MOTE_UINT16, 101, 65536);
    add_noise(cloud, "red", MOTE_UINT8, 102, 256);
    add_noise(cloud, "green", MOTE_UINT8, 103, 256);
    add_noise(cloud, "blue", MOTE_UINT8, 104, 256);
    const mote_status status = mote_cloud_write(ctx, cloud, path, NULL);
    if (status != MOTE_OK) fprintf(stderr, "shaped_file: %s\n", mote_context_message(ctx));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return status == MOTE_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    for (uint32_t s = 0; s < shaped_cloud_count + OWN_COUNT; s++) {
        const shaped_cloud *shape = s < OWN_COUNT ? &own_shapes[s] : &shaped_clouds[s - OWN_COUNT];
        if (argc < 4) puts(shape->name);
        if (argc == 4 && strcmp(argv[1], shape->name) == 0) {
            return write_shape(shape, strtoull(argv[2], NULL, 10), argv[3]);
        }
    }
    return argc < 4 ? 0 : 2;
}
