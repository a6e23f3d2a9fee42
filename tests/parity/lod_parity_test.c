/* Octrees by the CPU and by the GPU: every node, every point of every node, every colour, every byte of the files. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cloud.h"
#include "parity/parity_support.h"
#include "reference/lod_reference.h"
#include "support/las_files.h"

/* Builds on both, which must agree; so must their messages when there is no such octree. a and b are to be destroyed;
   NULL then. */
static void build_both(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *params, const char *what,
                       mote_lod **a, mote_lod **b) {
    const mote_status expected = mote_lod_build(on->cpu, cloud, params, a);
    const mote_status status = mote_lod_build(on->cuda, cloud, params, b);
    if (status != expected || strcmp(mote_context_message(on->cpu), mote_context_message(on->cuda)) != 0) {
        fail_msg("%s: CPU %s (%s), GPU %s (%s)", what, mote_status_name(expected), mote_context_message(on->cpu),
                 mote_status_name(status), mote_context_message(on->cuda));
    }
    mote_context_clear(on->cpu);
    mote_context_clear(on->cuda);
}

/* The arrays that stay on the device are those that the host has. */
static void check_device_arrays(const parity_pair *on, const mote_lod *a, const mote_lod *b, const char *what) {
    mote_lod_device arrays;
    uint64_t level_items[LOD_MAX_LEVELS + 1];
    assert_true(mote_lod_device_arrays(b, &arrays));
    assert_int_equal(arrays.count, a->count);
    uint32_t *order = parity_download(on->cuda, arrays.order, arrays.count * sizeof *order);
    uint8_t *level = parity_download(on->cuda, arrays.level, arrays.count);
    uint32_t *items = parity_download(on->cuda, arrays.items, arrays.item_count * sizeof *items);
    uint32_t *expected = parity_items(a, level_items);
    if (arrays.item_count != level_items[LOD_MAX_LEVELS]) fail_msg("%s: another number of items", what);
    for (uint64_t i = 0; i < arrays.count; i++) {
        if (order[i] != a->order[i]) fail_msg("%s: order[%llu]", what, (unsigned long long)i);
        if (level[i] != a->level[i]) {
            fail_msg("%s: level[%llu] is %u and %u", what, (unsigned long long)i, a->level[i], level[i]);
        }
    }
    for (uint64_t i = 0; i < arrays.item_count; i++) {
        if (items[i] != expected[i]) fail_msg("%s: items[%llu]", what, (unsigned long long)i);
    }
    free(order);
    free(level);
    free(items);
    free(expected);
}

static void compare_builds(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *params,
                           const char *name) {
    char what[REFERENCE_NAME_BYTES], why[PARITY_WHY_BYTES];
    mote_lod *a = NULL, *b = NULL;
    if (!parity_is_mine()) return;
    lod_combination_name(params, name, mote_cloud_count(cloud), what);
    build_both(on, cloud, params, what, &a, &b);
    if (a != NULL) {
        if (params->on_device) check_device_arrays(on, a, b, what);
        assert_int_equal(mote_lod_fetch(on->cuda, b), MOTE_OK);
        if (!parity_same_lods(a, b, true, why)) fail_msg("%s: %s", what, why);
    }
    mote_lod_destroy(a);
    mote_lod_destroy(b);
}

/* ---- every cloud, combinations of a kind */

typedef bool (*wanted)(const mote_lod_params *params);

static bool is_random(const mote_lod_params *p) {
    return p->sampling == MOTE_LOD_RANDOM && p->filter == MOTE_LOD_FILTER_NONE;
}
static bool is_first(const mote_lod_params *p) {
    return p->sampling == MOTE_LOD_FIRST && p->filter == MOTE_LOD_FILTER_NONE;
}
static bool is_poisson(const mote_lod_params *p) {
    return p->sampling == MOTE_LOD_POISSON && p->filter == MOTE_LOD_FILTER_NONE;
}
static bool is_filtered(const mote_lod_params *p) { return p->filter != MOTE_LOD_FILTER_NONE; }

/* Combinations are for small clouds: larger ones get larger leaves. */
static mote_lod_params params_for(const parity_cloud *row, uint32_t combination) {
    mote_lod_params params = lod_combinations[combination];
    if (row->awkward == NULL) params.merge_points *= 20;
    return params;
}

/* Clouds and combinations take turns: each cloud meets every fifth combination or so, each combination as many clouds.
   Every other build leaves its result on the device first. */
static void compare_cloud(const parity_pair *on, uint32_t c, wanted is_wanted) {
    const parity_cloud row = parity_cloud_row(c);
    mote_cloud *cloud = parity_cloud_make(on->cpu, &row);
    const uint64_t turns = row.awkward != NULL ? parity_extent(36, 4, 2) : parity_extent(50, 12, 5);
    uint32_t turn = c;
    for (uint32_t i = 0; i < lod_combination_count; i++) {
        mote_lod_params params = params_for(&row, i);
        if (!is_wanted(&params)) continue;
        if (i % turns != c % turns) continue;
        params.on_device = turn++ % 2 != 0;
        compare_builds(on, cloud, &params, row.name);
    }
    mote_cloud_destroy(cloud);
}

static void compare_all(void **state, wanted is_wanted) {
    const parity_pair *on = *state;
    for (uint32_t c = 0; c < parity_cloud_count(); c++) compare_cloud(on, c, is_wanted);
}

static void random_is_the_same(void **state) { compare_all(state, is_random); }
static void first_is_the_same(void **state) { compare_all(state, is_first); }
static void poisson_is_the_same(void **state) { compare_all(state, is_poisson); }
static void filters_are_the_same(void **state) { compare_all(state, is_filtered); }

/* Sizes around those of warps, blocks and tiles. */
static void any_count_is_the_same(void **state) {
    static const uint64_t counts[] = {0,   1,   2,   31,  32,   33,   127,  128,  129,  255, 256,
                                      257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049};
    const parity_pair *on = *state;
    const uint32_t clouds = (uint32_t)parity_extent(24, 14, 6), combinations = (uint32_t)parity_extent(75, 9, 5);
    for (uint32_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        for (uint32_t c = n % clouds; c < awkward_cloud_count; c += clouds) {
            mote_cloud *cloud = awkward_cloud_make(on->cpu, &awkward_clouds[c], counts[n], 0);
            for (uint32_t i = (n + c) % combinations; i < lod_combination_count; i += combinations) {
                compare_builds(on, cloud, &lod_combinations[i], awkward_clouds[c].name);
            }
            mote_cloud_destroy(cloud);
        }
    }
}

/* Clouds that codes do not tell apart: a stray, nine decades. Some sizes are beyond one tile of the contest. */
static void fine_codes_are_the_same(void **state) {
    static const char *const names[] = {"a stray", "a stray among integers", "deep shells", "deep around the middle",
                                        "shells of integers"};
    const parity_pair *on = *state;
    const uint32_t step = (uint32_t)parity_extent(7, 1, 1);
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud =
            awkward_cloud_make(on->cpu, awkward_cloud_named(names[c]), parity_extent(500, 2500, 5000), 0);
        for (uint32_t i = c % step; i < lod_combination_count; i += step) {
            mote_lod_params params = lod_combinations[i];
            params.on_device = i % 3 == 0;
            compare_builds(on, cloud, &params, names[c]);
        }
        mote_cloud_destroy(cloud);
    }
}

/* ---- a cloud that lies on the device already */

/* A cloud of columns of the device that look like those of the host; block is the memory. */
static mote_cloud *wrap_on_device(mote_context *ctx, const mote_cloud *cloud, void **block) {
    const uint64_t n = mote_cloud_count(cloud);
    const uint32_t count = mote_cloud_column_count(cloud);
    const uint32_t stride_bytes = mote_cloud_column(cloud, 0)->stride_bytes;
    mote_column columns[6];
    mote_cloud *wrapped = NULL;
    assert_true(count <= 6);
    *block = cuda_alloc(gpu_of(ctx), n * stride_bytes, "test");
    assert_non_null(*block);
    const uint8_t *host = mote_cloud_column(cloud, 0)->data;
    assert_int_equal(cuda_upload(gpu_of(ctx), *block, host, n * stride_bytes), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = *mote_cloud_column(cloud, i);
        columns[i].data = (uint8_t *)*block + ((const uint8_t *)columns[i].data - host);
    }
    assert_int_equal(mote_cloud_wrap_device(ctx, n, columns, count, &wrapped), MOTE_OK);
    return wrapped;
}

static void clouds_of_the_device_are_the_same(void **state) {
    static const char *const names[] = {"uniform float", "heap of duplicates", "some not finite"};
    const parity_pair *on = *state;
    char why[PARITY_WHY_BYTES];
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_cloud *cloud =
            awkward_cloud_make(on->cpu, awkward_cloud_named(names[c]), parity_extent(300, 600, 5000), 0);
        void *block = NULL;
        mote_cloud *wrapped = wrap_on_device(on->cuda, cloud, &block);
        for (uint32_t i = (uint32_t)c; i < lod_combination_count; i += (uint32_t)parity_extent(12, 6, 1)) {
            mote_lod *a = NULL, *b = NULL;
            if (!parity_is_mine()) continue;
            const mote_status expected = mote_lod_build(on->cpu, cloud, &lod_combinations[i], &a);
            const mote_status status = mote_lod_build(on->cuda, wrapped, &lod_combinations[i], &b);
            if (status != expected) fail_msg("%s: %s", names[c], mote_context_message(on->cuda));
            mote_context_clear(on->cpu);
            mote_context_clear(on->cuda);
            if (status != MOTE_OK) continue; /* too many points in one place */
            if (!parity_same_lods(a, b, false, why)) fail_msg("%s: %s", names[c], why);
            mote_lod_destroy(a);
            mote_lod_destroy(b);
        }
        mote_cloud_destroy(wrapped);
        cuda_free(gpu_of(on->cuda), block);
        mote_cloud_destroy(cloud);
    }
}

/* ---- files */

#if MOTE_HAVE_JANSSON
static void write_folder(mote_context *ctx, const mote_lod *lod, const char *path, const char *what) {
    mote_potree_params params = mote_potree_defaults();
    params.name = "parity";
    const mote_status status = mote_potree_write(ctx, lod, path, &params, NULL);
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

static void compare_folders(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *params,
                            const char *name) {
    static const char *const files[] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    char what[REFERENCE_NAME_BYTES], a_path[600], b_path[600];
    mote_lod *a = NULL, *b = NULL;
    if (!parity_is_mine()) return;
    lod_combination_name(params, name, mote_cloud_count(cloud), what);
    build_both(on, cloud, params, what, &a, &b);
    if (a == NULL) return;
    write_folder(on->cpu, a, test_path("cpu"), what);
    write_folder(on->cuda, b, test_path("cuda"), what);
    for (int i = 0; i < 3; i++) {
        snprintf(a_path, sizeof a_path, "%s/%s", test_path("cpu"), files[i]);
        snprintf(b_path, sizeof b_path, "%s/%s", test_path("cuda"), files[i]);
        const file_bytes x = load(a_path), y = load(b_path);
        if (x.size != y.size || memcmp(x.data, y.data, x.size) != 0) fail_msg("%s: %s differs", what, files[i]);
        free(x.data);
        free(y.data);
    }
    mote_lod_destroy(a);
    mote_lod_destroy(b);
}

static void folders_are_the_same(void **state) {
    const parity_pair *on = *state;
    const uint32_t turns = (uint32_t)parity_extent(90, 16, 8);
    for (uint32_t c = 0; c < parity_cloud_count(); c++) {
        const parity_cloud row = parity_cloud_row(c);
        mote_cloud *cloud = parity_cloud_make(on->cpu, &row);
        for (uint32_t i = c % turns; i < lod_combination_count; i += turns) {
            mote_lod_params params = params_for(&row, i);
            params.on_device = c % 2 != 0;
            if (mote_cloud_count(cloud) > 0) compare_folders(on, cloud, &params, row.name);
        }
        mote_cloud_destroy(cloud);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(random_is_the_same),
        PARITY_TEST(first_is_the_same),
        PARITY_TEST(poisson_is_the_same),
        PARITY_TEST(filters_are_the_same),
        PARITY_TEST(any_count_is_the_same),
        PARITY_TEST(fine_codes_are_the_same),
        PARITY_TEST(clouds_of_the_device_are_the_same),
#if MOTE_HAVE_JANSSON
        PARITY_TEST(folders_are_the_same),
#endif
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
