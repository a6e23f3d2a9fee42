/* Colour filters: the GPU's averages, for every kind of sampling, are those of the CPU, byte for byte. The octree is
   the CPU's: only the filter runs on the device. */
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "parity/parity_support.h"
#include "reference/lod_reference.h"

static void compare(const mote_lod *cpu, const lod_cuda *device, const char *what) {
    uint16_t *right = parity_item_colors(cpu);
    uint16_t *found = parity_download(device->cloud.device->ctx, device->item_colors, 8 * device->item_count);
    uint32_t level = 0;
    for (uint64_t j = 0; j < device->item_count; j++) {
        const uint16_t *r = right + 4 * j, *f = found + 4 * j;
        while (j >= device->level_items[level + 1]) level++;
        if (memcmp(r, f, 8) == 0) continue;
        fail_msg("%s: item %llu, of level %u: %u %u %u %u, on the CPU %u %u %u %u", what, (unsigned long long)j, level,
                 f[0], f[1], f[2], f[3], r[0], r[1], r[2], r[3]);
    }
    free(right);
    free(found);
}

/* Builds on the CPU, filters that octree again on the GPU. */
static void check(const parity_pair *b, const mote_cloud *cloud, const mote_lod_params *params, const char *name) {
    char what[REFERENCE_NAME_BYTES];
    mote_lod *lod;
    lod_combination_name(params, name, mote_cloud_count(cloud), what);
    assert_int_equal(mote_lod_build(b->cpu, cloud, params, &lod), MOTE_OK);
    mote_lod *on_gpu = parity_device_make(b->cuda, lod, PARITY_NO_COLORS);
    const uint64_t given = mote_context_device_bytes(b->cuda);
    assert_int_equal(lod_cuda_filter(on_gpu, on_gpu->cuda), MOTE_OK);
    assert_int_equal(mote_context_device_bytes(b->cuda), given + 8 * on_gpu->cuda->item_count);
    compare(lod, on_gpu->cuda, what);
    mote_lod_destroy(on_gpu);
    mote_lod_destroy(lod);
}

static mote_lod_params params_of(mote_lod_filter filter, mote_lod_sampling sampling, uint32_t grid, uint32_t merge) {
    mote_lod_params p = mote_lod_defaults();
    p.scheme = MOTE_LOD_REPLACING;
    p.filter = filter;
    p.sampling = sampling;
    p.grid = grid;
    p.merge_points = merge;
    return p;
}

static const mote_lod_filter filters[] = {MOTE_LOD_FILTER_CELL, MOTE_LOD_FILTER_NEIGHBORS, MOTE_LOD_FILTER_GAUSSIAN};

/* Each cloud with each filter; samplings, grids and thresholds in turn, so that they all meet over the clouds. */
static void same_on_awkward_clouds(void **state) {
    const parity_pair *b = *state;
    static const uint32_t grids[] = {2, 4, 8, 16, 128, 1024}, merges[] = {1, 7, 40};
    const uint32_t step = (uint32_t)parity_extent(6, 2, 1);
    for (uint32_t k = 0; k < awkward_cloud_count; k++) {
        mote_cloud *cloud = awkward_cloud_make(b->cpu, &awkward_clouds[k], parity_extent(300, 300, 2500), 0);
        assert_non_null(cloud);
        for (uint32_t i = k % step; i < 9 && mote_cloud_find(cloud, "red") != NULL; i += step) {
            const mote_lod_params p =
                params_of(filters[i % 3], (mote_lod_sampling)(i / 3), grids[(k + i) % 6], merges[(k + i / 3) % 3]);
            check(b, cloud, &p, awkward_clouds[k].name);
        }
        mote_cloud_destroy(cloud);
    }
}

static void same_at_any_count(void **state) {
    const parity_pair *b = *state;
    static const uint64_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097};
    const awkward_cloud *kind = awkward_cloud_named("uniform float");
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        mote_cloud *cloud = awkward_cloud_make(b->cpu, kind, counts[n], 0);
        for (uint32_t i = 0; i < 3; i++) {
            const mote_lod_params p = params_of(filters[i], MOTE_LOD_RANDOM, 8, 1 + 20 * i);
            check(b, cloud, &p, kind->name);
        }
        mote_cloud_destroy(cloud);
    }
}

/* More points than one slice, in few places and in many. */
static void same_when_larger(void **state) {
    const parity_pair *b = *state;
    static const char *const names[] = {"heap of duplicates", "sheet", "ticks", "shells"};
    static const uint32_t grids[] = {4, 32, 2, 128};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const awkward_cloud *kind = awkward_cloud_named(names[k]);
        mote_cloud *cloud = awkward_cloud_make(b->cpu, kind, (k == 0 ? 150000 : 30000) / parity_extent(30, 1, 1), 0);
        for (uint32_t i = 0; i < 3; i++) {
            const mote_lod_params p = params_of(filters[i], (mote_lod_sampling)((k + i) % 3), grids[k], 300);
            check(b, cloud, &p, kind->name);
        }
        mote_cloud_destroy(cloud);
    }
}

/* On coarse levels a cell has more points than a slice, and sums beyond 32 bits; on fine ones not. */
static void same_where_coarse_cells_are_crowded(void **state) {
    const parity_pair *b = *state;
    const awkward_cloud *kind = awkward_cloud_named("sheet");
    mote_cloud *cloud = awkward_cloud_make(b->cpu, kind, 400000, 0);
    const uint32_t stride_bytes = mote_cloud_find(cloud, "green")->stride_bytes;
    uint8_t *green = mote_cloud_column_data(cloud, "green");
    for (uint64_t i = 0; i < 400000; i++) green[i * stride_bytes + 1] |= 0xC0;
    for (uint32_t i = 0; i < 3 * parity_extent(1, 2, 2); i++) {
        const mote_lod_params p = params_of(filters[i % 3], (mote_lod_sampling)(i / 3), 2, 400);
        check(b, cloud, &p, kind->name);
    }
    mote_cloud_destroy(cloud);
}

/* Records of 16 bytes, the last four of which are 8-bit colours. */
static mote_cloud *make_cloud(const parity_pair *b, uint64_t count, void (*place)(uint64_t i, float xyz[3])) {
    static const char *const names[7] = {"x", "y", "z", "red", "green", "blue", "alpha"};
    mote_column_spec specs[7];
    mote_cloud *cloud;
    memset(specs, 0, sizeof specs);
    for (int k = 0; k < 7; k++) {
        specs[k].name = names[k];
        specs[k].type = k < 3 ? MOTE_FLOAT32 : MOTE_UINT8;
    }
    assert_int_equal(mote_cloud_create(b->cpu, count, specs, 7, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_find(cloud, "red")->stride_bytes, 16);
    uint8_t *records = mote_cloud_column_data(cloud, "x");
    for (uint64_t i = 0; i < count; i++, records += 16) {
        const uint64_t hash = mote_hash64(i ^ 0xC0105);
        float at[3];
        place(i, at);
        memcpy(records, at, sizeof at);
        for (int k = 0; k < 4; k++) records[12 + k] = (uint8_t)(hash >> 8 * k);
    }
    return cloud;
}

static void place_scattered(uint64_t i, float xyz[3]) {
    const uint64_t hash = mote_hash64(i);
    xyz[0] = (float)(hash & 255);
    xyz[1] = (float)(hash >> 8 & 255);
    xyz[2] = (float)(hash >> 16 & 7);
}

static void same_where_colors_share_a_word(void **state) {
    const parity_pair *b = *state;
    mote_cloud *cloud = make_cloud(b, 5000, place_scattered);
    for (uint32_t i = 0; i < 3; i++) {
        const mote_lod_params p = params_of(filters[i], MOTE_LOD_RANDOM, 8, 50);
        check(b, cloud, &p, "colours in a word");
    }
    mote_cloud_destroy(cloud);
}

/* Points of a cube that is 16 long, one in each cell of level 4, or in three of eight. */
static void place_everywhere(uint64_t i, float xyz[3]) {
    xyz[0] = (float)(i >> 8 & 15);
    xyz[1] = (float)(i >> 4 & 15);
    xyz[2] = (float)(i & 15);
}

static void place_here_and_there(uint64_t i, float xyz[3]) { place_everywhere(i + mote_hash64(i) % 5 * 256, xyz); }

/* Every cell has neighbours on all sides, within its brick and in those around, but at the borders of the cube. */
static void same_on_all_sides(void **state) {
    const parity_pair *b = *state;
    static const uint32_t grids[] = {2, 4, 8, 16};
    for (uint32_t k = 0; k < 8; k++) {
        mote_cloud *cloud = make_cloud(b, 16 * 256, k % 2 == 0 ? place_everywhere : place_here_and_there);
        for (uint32_t i = 0; i < 3; i++) {
            const mote_lod_params p = params_of(filters[i], (mote_lod_sampling)((k + i) % 3), grids[k / 2], 1 + 6 * i);
            check(b, cloud, &p, "all sides");
        }
        mote_cloud_destroy(cloud);
    }
}

/* A heap of points a step or two apart in a corner of a cube of 2^21 steps, others further away. */
static void place_finely(uint64_t i, float xyz[3]) {
    const uint64_t hash = mote_hash64(i);
    for (int k = 0; k < 3; k++) {
        const uint64_t own = hash >> 20 * k;
        xyz[k] = i < 2 ? (float)(i * 2097151) : (float)(i < 150 ? 2097140 + (own & 7) : own >> (own & 15) & 0xFFFFF);
    }
}

/* Down to cells that are one step wide, where a point's place within its cell has fewer bits, then none. */
static void same_where_cells_are_steps(void **state) {
    const parity_pair *b = *state;
    static const uint32_t grids[] = {2, 64, 1024};
    mote_cloud *cloud = make_cloud(b, 700, place_finely);
    for (uint32_t k = 0; k < 9; k++) {
        mote_lod_params p = params_of(filters[k % 3], (mote_lod_sampling)(k / 3), grids[(k + k / 3) % 3], 2);
        check(b, cloud, &p, "steps");
    }
    mote_cloud_destroy(cloud);
}

/* Where every point has the same colour, sums are whole multiples of their weights. */
static void same_where_colors_are_equal(void **state) {
    const parity_pair *b = *state;
    static const char *const names[3] = {"red", "green", "blue"};
    static const uint16_t values[3] = {65535, 40001, 1};
    const awkward_cloud *kind = awkward_cloud_named("sheet");
    mote_cloud *cloud = awkward_cloud_make(b->cpu, kind, 3000, 0);
    for (int k = 0; k < 3; k++) {
        uint8_t *data = mote_cloud_column_data(cloud, names[k]);
        const uint32_t stride_bytes = mote_cloud_find(cloud, names[k])->stride_bytes;
        for (uint64_t i = 0; i < 3000; i++) memcpy(data + i * stride_bytes, &values[k], sizeof values[k]);
    }
    for (uint32_t i = 0; i < 6; i++) {
        const mote_lod_params p = params_of(filters[i % 3], MOTE_LOD_RANDOM, i < 3 ? 4 : 16, 20);
        check(b, cloud, &p, kind->name);
    }
    mote_cloud_destroy(cloud);
}

/* Whichever allocation fails, nothing stays behind. */
static void memory_runs_out(void **state) {
    const parity_pair *b = *state;
    const awkward_cloud *kind = awkward_cloud_named("sheet");
    mote_cloud *cloud = awkward_cloud_make(b->cpu, kind, 600, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const mote_lod_params p = params_of(filters[i], MOTE_LOD_RANDOM, 4, 10);
        mote_lod *lod;
        assert_int_equal(mote_lod_build(b->cpu, cloud, &p, &lod), MOTE_OK);
        mote_lod *on_gpu = parity_device_make(b->cuda, lod, PARITY_NO_COLORS);
        void *ballast = parity_ballast(b->cuda);
        const uint64_t given = mote_context_device_bytes(b->cuda);
        mote_status status = MOTE_ERROR_MEMORY;
        uint32_t failures = 0;
        for (uint64_t more = 0; status != MOTE_OK; more += 1500, failures++) {
            b->cuda->params.memory_limit_bytes = given + more;
            status = lod_cuda_filter(on_gpu, on_gpu->cuda);
            b->cuda->params.memory_limit_bytes = 0;
            if (status == MOTE_OK) break;
            assert_int_equal(status, MOTE_ERROR_MEMORY);
            cuda_free(gpu_of(b->cuda), on_gpu->cuda->item_colors); /* the octree's, not the filter's */
            on_gpu->cuda->item_colors = NULL;
            assert_int_equal(mote_context_device_bytes(b->cuda), given);
            mote_context_clear(b->cuda);
        }
        assert_true(failures > 5);
        mote_lod_destroy(on_gpu);
        cuda_free(gpu_of(b->cuda), ballast);
        mote_lod_destroy(lod);
    }
    mote_cloud_destroy(cloud);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(same_on_awkward_clouds),
        PARITY_TEST(same_at_any_count),
        PARITY_TEST(same_when_larger),
        PARITY_TEST(same_where_coarse_cells_are_crowded),
        PARITY_TEST(same_where_colors_share_a_word),
        PARITY_TEST(same_on_all_sides),
        PARITY_TEST(same_where_cells_are_steps),
        PARITY_TEST(same_where_colors_are_equal),
        PARITY_TEST(memory_runs_out),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
