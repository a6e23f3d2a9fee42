/* Octrees of points whose records of 16 bytes are sorted with their keys: on the GPU every later step reads the sorted
   copy. Nodes, points, colours and octree.bin are the CPU's, and the input stays as it is. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "math/hash.h"
#include "parity/parity_support.h"
#include "reference/lod_reference.h"
#include "support/las_files.h"

#define RECORD_BYTES 16u
#define COLUMNS      7u /* x, y, z, red, green, blue, and one thing more */

/* ---- clouds */

/* Any cloud as records: its lattice coordinates by half, for as many as 2^31 steps would not be taken as they are, and
   its colours in 8 bits. bytes [count · RECORD_BYTES], for free() */
static uint8_t *make_records(mote_context *ctx, const mote_cloud *cloud) {
    static const char *const names[3] = {"red", "green", "blue"};
    const uint64_t n = mote_cloud_count(cloud);
    mote_lattice lattice;
    uint8_t *bytes = malloc(n * RECORD_BYTES);
    uint32_t *xyz = malloc(3 * n * sizeof *xyz);
    assert_true(bytes != NULL && xyz != NULL);
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, NULL), MOTE_OK);
    mote_order_coordinates(cloud, &lattice, NULL, n, xyz);
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            const int32_t half = (int32_t)(xyz[3 * i + k] / 2) - 1000;
            const mote_column *color = mote_cloud_find(cloud, names[k]);
            memcpy(bytes + i * RECORD_BYTES + 4 * k, &half, sizeof half);
            bytes[i * RECORD_BYTES + 12 + k] = (uint8_t)(color != NULL ? lod_color(color, i) >> 3 : i);
        }
        bytes[i * RECORD_BYTES + 15] = (uint8_t)mote_hash64(i);
    }
    free(xyz);
    return bytes;
}

static void list_columns(const void *bytes, mote_column columns[COLUMNS]) {
    static const char *const names[COLUMNS] = {"x", "y", "z", "red", "green", "blue", "extra"};
    memset(columns, 0, COLUMNS * sizeof *columns);
    for (uint32_t k = 0; k < COLUMNS; k++) {
        columns[k].name = names[k];
        columns[k].data = (const uint8_t *)bytes + (k < 3 ? 4 * k : 9 + k);
        columns[k].stride_bytes = RECORD_BYTES;
        columns[k].type = k < 3 ? MOTE_INT32 : MOTE_UINT8;
        columns[k].scale = k < 3 ? 0.001 : 1;
    }
}

/* ---- one octree */

static void compare_records(const parity_pair *on, const mote_lod *a, mote_lod *b, const char *what) {
#if MOTE_HAVE_JANSSON
    char path[600];
    mote_potree_params params = mote_potree_defaults();
    const void *records = NULL;
    uint64_t size_bytes = 0;
    params.name = "parity";
    assert_int_equal(mote_potree_write(on->cpu, a, test_path("cpu"), &params, NULL), MOTE_OK);
    assert_int_equal(mote_potree_records(on->cuda, b, &params, &records, &size_bytes), MOTE_OK);
    snprintf(path, sizeof path, "%s/octree.bin", test_path("cpu"));
    const file_bytes file = load(path);
    uint8_t *bytes = parity_download(on->cuda, records, size_bytes);
    assert_int_equal(size_bytes, file.size);
    if (memcmp(bytes, file.data, file.size) != 0) fail_msg("%s: the records differ from octree.bin", what);
    free(bytes);
    free(file.data);
#else
    (void)on, (void)a, (void)b, (void)what;
#endif
}

/* The octree of a cloud on the GPU, by the host's memory or the device's. Returns whether its points were sorted. */
static bool compare(const parity_pair *on, const mote_lod *a, const mote_cloud *cloud, const char *what) {
    char why[PARITY_WHY_BYTES];
    mote_lod_params params = *mote_lod_parameters(a);
    mote_lod *b = NULL;
    params.on_device = true;
    if (mote_lod_build(on->cuda, cloud, &params, &b) != MOTE_OK) {
        fail_msg("%s: %s", what, mote_context_message(on->cuda));
    }
    const bool sorted = b->cuda->cloud_sorted;
    compare_records(on, a, b, what);
    assert_int_equal(mote_lod_fetch(on->cuda, b), MOTE_OK);
    if (!parity_same_lods(a, b, cloud->device == NULL, why)) fail_msg("%s: %s", what, why);
    mote_lod_destroy(b);
    return sorted;
}

/* Builds from points that are on the device already, which must not change. */
static void compare_device(const parity_pair *on, const mote_lod *a, const uint8_t *bytes, const char *what) {
    const uint64_t n = mote_cloud_count(mote_lod_cloud(a)), size_bytes = n * RECORD_BYTES;
    mote_column columns[COLUMNS];
    mote_cloud *wrapped = NULL;
    void *block = cuda_alloc(gpu_of(on->cuda), size_bytes, "test");
    assert_non_null(block);
    assert_int_equal(cuda_upload(gpu_of(on->cuda), block, bytes, size_bytes), MOTE_OK);
    list_columns(block, columns);
    assert_int_equal(mote_cloud_wrap_device(on->cuda, n, columns, COLUMNS, &wrapped), MOTE_OK);
    compare(on, a, wrapped, what);
    uint8_t *after = parity_download(on->cuda, block, size_bytes);
    if (memcmp(after, bytes, size_bytes) != 0) fail_msg("%s: the caller's points have changed", what);
    for (uint32_t k = 0; k < COLUMNS; k++) assert_ptr_equal(mote_cloud_column(wrapped, k)->data, columns[k].data);
    free(after);
    mote_cloud_destroy(wrapped);
    cuda_free(gpu_of(on->cuda), block);
}

typedef struct tally {
    uint32_t builds, sorted;
} tally;

static void compare_build(const parity_pair *on, const mote_cloud *cloud, const uint8_t *bytes,
                          const mote_lod_params *params, const char *name, tally *t) {
    char what[REFERENCE_NAME_BYTES];
    mote_lod *a = NULL;
    if (!parity_is_mine()) return;
    lod_combination_name(params, name, mote_cloud_count(cloud), what);
    if (mote_lod_build(on->cpu, cloud, params, &a) != MOTE_OK) { /* too many points in one place */
        mote_context_clear(on->cpu);
        return;
    }
    t->sorted += compare(on, a, cloud, what);
    if (t->builds++ % 2 == 0) compare_device(on, a, bytes, what);
    mote_lod_destroy(a);
}

/* ---- all */

static void check_cloud(const parity_pair *on, const mote_cloud *from, const char *name, uint32_t turn, tally *t) {
    const uint32_t turns = (uint32_t)parity_extent(25, 14, 4);
    uint8_t *bytes = make_records(on->cpu, from);
    mote_column columns[COLUMNS];
    mote_cloud *cloud = NULL;
    list_columns(bytes, columns);
    assert_int_equal(mote_cloud_wrap(on->cpu, mote_cloud_count(from), columns, COLUMNS, &cloud), MOTE_OK);
    for (uint32_t i = turn % turns; i < lod_combination_count; i += turns) {
        mote_lod_params params = lod_combinations[i];
        if (mote_cloud_count(from) > 6000) params.merge_points *= 20;
        compare_build(on, cloud, bytes, &params, name, t);
    }
    mote_cloud_destroy(cloud);
    free(bytes);
}

/* All are sorted on the way, heaps of points as well. */
static void sorted_points_are_the_same(void **state) {
    const parity_pair *on = *state;
    tally t = {0, 0};
    for (uint32_t c = 0; c < parity_cloud_count(); c += (uint32_t)parity_extent(3, 1, 1)) {
        const parity_cloud row = parity_cloud_row(c);
        mote_cloud *from = parity_cloud_make(on->cpu, &row);
        check_cloud(on, from, row.name, c, &t);
        mote_cloud_destroy(from);
    }
    if (parity_is_whole()) assert_int_equal(t.sorted, t.builds);
}

static void any_count_is_the_same(void **state) {
    static const uint64_t counts[] = {1, 2, 31, 33, 257, 1025, 2047, 2048, 2049, 2177, 4097};
    const parity_pair *on = *state;
    tally t = {0, 0};
    for (uint32_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        for (uint32_t c = n % 3; c < awkward_cloud_count; c += 3 * (uint32_t)parity_extent(15, 2, 1)) {
            mote_cloud *from = awkward_cloud_make(on->cpu, &awkward_clouds[c], counts[n], 0);
            check_cloud(on, from, awkward_clouds[c].name, n + c, &t);
            mote_cloud_destroy(from);
        }
    }
    if (parity_is_whole()) assert_int_equal(t.sorted, t.builds);
}

/* Where memory is short the points are read through the order instead: the same octree. Less still, and it is built in
   parts or not at all. */
static void scarce_memory_gives_the_same(void **state) {
    const parity_pair *on = *state;
    if (!parity_is_mine()) return;
    mote_cloud *from = NULL, *cloud = NULL;
    mote_lod *a = NULL;
    mote_column columns[COLUMNS];
    tally t = {0, 0};
    assert_int_equal(mote_generate(on->cpu, "city", 20000, NULL, &from), MOTE_OK);
    uint8_t *bytes = make_records(on->cpu, from);
    list_columns(bytes, columns);
    assert_int_equal(mote_cloud_wrap(on->cpu, mote_cloud_count(from), columns, COLUMNS, &cloud), MOTE_OK);
    mote_lod_params params = mote_lod_defaults();
    params.merge_points = 300;
    assert_int_equal(mote_lod_build(on->cpu, cloud, &params, &a), MOTE_OK);
    void *ballast = parity_ballast(on->cuda);
    const uint64_t before = mote_context_device_bytes(on->cuda), n = mote_cloud_count(cloud);
    for (uint64_t bytes_per_point = 84; bytes_per_point <= 126; bytes_per_point += parity_extent(14, 3, 3)) {
        on->cuda->params.memory_limit_bytes = before + bytes_per_point * n;
        t.sorted += compare(on, a, cloud, "scarce memory");
        t.builds++;
    }
    on->cuda->params.memory_limit_bytes = 0;
    assert_in_range(t.sorted, 1, t.builds - 1);
    cuda_free(gpu_of(on->cuda), ballast);
    mote_lod_destroy(a);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(from);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(sorted_points_are_the_same),
        PARITY_TEST(any_count_is_the_same),
        PARITY_TEST(scarce_memory_gives_the_same),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
