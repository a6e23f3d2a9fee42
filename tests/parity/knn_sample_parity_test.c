/* What the GPU makes of an index: points along the curve, each once, those that are not finite last, by whichever sort;
   and boxes around boxes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/cuda.h"
#include "knn/cuda/index/knn_sample.h"
#include "knn/cuda/knn_cuda.h"
#include "parity/knn_parity_support.h"
#include "reference/knn_reference.h"

/* Whether each box from level 1 on is that around its children. */
static void check_boxes(parity_pair *pair, const knn_cuda_tree *tree) {
    const uint32_t top = tree->level_count - 1, count = tree->first[top] + tree->nodes[top];
    knn_cuda_box *const boxes = malloc(count * sizeof *boxes + 1);
    knn_must(pair->cuda, cuda_download(gpu_of(pair->cuda), boxes, tree->boxes, count * sizeof *boxes), "boxes");
    for (uint32_t level = 1; level <= top; level++) {
        for (uint32_t node = 0; node < tree->nodes[level]; node++) {
            const knn_cuda_box *const box = &boxes[tree->first[level] + node];
            knn_cuda_box around = {{INFINITY, INFINITY, INFINITY}, UINT32_MAX, {-INFINITY, -INFINITY, -INFINITY}, 0};
            for (uint32_t i = node * KNN_CUDA_WIDE; i < (node + 1) * KNN_CUDA_WIDE; i++) {
                if (i >= tree->nodes[level - 1]) break;
                const knn_cuda_box *const child = &boxes[tree->first[level - 1] + i];
                for (int k = 0; k < 3; k++) around.low[k] = fminf(around.low[k], child->low[k]);
                for (int k = 0; k < 3; k++) around.high[k] = fmaxf(around.high[k], child->high[k]);
                around.min = child->min < around.min ? child->min : around.min;
            }
            for (int k = 0; k < 3; k++) assert_true(box->low[k] == around.low[k] && box->high[k] == around.high[k]);
            assert_int_equal(box->min, around.min);
        }
    }
    free(boxes);
}

/* How many keys stand behind a greater one. Fails the test where a point lacks, or one that is not finite is not
   last. */
static uint64_t count_descents(parity_pair *pair, mote_cloud *cloud, const char *what) {
    const uint64_t count = mote_cloud_count(cloud);
    mote_knn_index *index = NULL;
    knn_must(pair->cuda, mote_knn_build(pair->cuda, cloud, &index), what);
    const knn_cuda_points *const points = &index->cuda->stored.tree.points;
    uint64_t *const keys = malloc(count * sizeof *keys + 1);
    bool *const found = calloc(count + 1, 1);
    knn_cuda_extent extent;
    knn_must(pair->cuda, cuda_download(gpu_of(pair->cuda), keys, points->keys, count * sizeof *keys), what);
    knn_must(pair->cuda, cuda_download(gpu_of(pair->cuda), &extent, points->extent, sizeof extent), what);
    uint64_t descents = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = keys[i] >> points->index_bits, number = keys[i] & ((1ull << points->index_bits) - 1);
        assert_true(number < count && !found[number]);
        found[number] = true;
        assert_int_equal(place >> 3 * points->cell_bits, i >= extent.finite);
        descents += i > 0 && place < keys[i - 1] >> points->index_bits;
    }
    free(keys);
    free(found);
    check_boxes(pair, &index->cuda->stored.tree);
    mote_knn_destroy(index);
    return descents;
}

/* Skilling's algorithm (2004), step by step. */
static uint64_t hilbert_place(uint32_t axis[3], uint32_t bits) {
    uint64_t place = 0;
    for (uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1) {
        for (int k = 0; k < 3; k++) {
            const uint32_t mixed = (axis[0] ^ axis[k]) & (bit - 1);
            const bool inverted = (axis[k] & bit) != 0;
            axis[0] ^= inverted ? bit - 1 : mixed;
            axis[k] ^= inverted ? 0 : mixed;
        }
    }
    axis[1] ^= axis[0];
    axis[2] ^= axis[1];
    uint32_t turned = 0;
    for (uint32_t bit = 1u << (bits - 1); bit > 0; bit >>= 1) {
        for (int k = 0; k < 3; k++) place = place << 1 | (((axis[k] & bit) != 0) ^ turned);
        turned ^= (axis[2] & bit) != 0;
    }
    return place;
}

/* Compares the places of a cloud of floats. */
static void check_places(parity_pair *pair, const mote_cloud *cloud) {
    const uint64_t count = mote_cloud_count(cloud);
    mote_knn_index *index = NULL;
    const mote_column *const axes[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                        mote_cloud_find(cloud, "z")};
    knn_must(pair->cuda, mote_knn_build(pair->cuda, cloud, &index), "curve");
    const knn_cuda_points *const points = &index->cuda->stored.tree.points;
    uint64_t *const keys = malloc(count * sizeof *keys);
    knn_cuda_extent extent;
    knn_must(pair->cuda, cuda_download(gpu_of(pair->cuda), keys, points->keys, count * sizeof *keys), "keys");
    knn_must(pair->cuda, cuda_download(gpu_of(pair->cuda), &extent, points->extent, sizeof extent), "extent");
    float side = 0;
    for (int k = 0; k < 3; k++) side = fmaxf(side, extent.high[k] - extent.low[k]);
    const float cells = (float)(1u << points->cell_bits), factor = cells / side;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = keys[i] & ((1ull << points->index_bits) - 1);
        uint32_t cell[3];
        for (int k = 0; k < 3; k++) {
            float value = 0;
            memcpy(&value, (const uint8_t *)axes[k]->data + number * axes[k]->stride_bytes, sizeof value);
            cell[k] = (uint32_t)fminf((value - extent.low[k]) * factor, cells - 1);
        }
        assert_int_equal(keys[i] >> points->index_bits, hilbert_place(cell, points->cell_bits));
    }
    free(keys);
    mote_knn_destroy(index);
}

/* They are, by whichever of the two sorts. */
static void places_are_those_of_the_curve(void **state) {
    const uint64_t sizes[] = {3000, parity_extent(2500, KNN_SAMPLE_MAX + 1, KNN_SAMPLE_MAX + 1)};
    parity_pair *pair = *state;
    for (size_t s = 0; s < 2; s++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), sizes[s], 0);
        check_places(pair, cloud);
        mote_cloud_destroy(cloud);
    }
}

static void points_are_in_order(void **state) {
    static const char *const names[] = {"uniform float",      "heap of duplicates", "ticks",      "far clusters",
                                        "shells of integers", "some not finite",    "none finite"};
    static const uint64_t sizes[] = {1, 255, 2048, 2049, 5000, 12011};
    parity_pair *pair = *state;
    const size_t max = parity_extent(5, 6, 6);
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        const awkward_cloud *const kind = awkward_cloud_named(names[c]);
        for (size_t s = 0; s < max; s++) {
            mote_cloud *cloud = awkward_cloud_make(pair->cpu, kind, sizes[s], 0);
            assert_int_equal(count_descents(pair, cloud, names[c]), 0);
            mote_cloud_destroy(cloud);
        }
    }
}

/* On either side of the size from which on it is a radix sort. */
static void many_points_are_in_order(void **state) {
    const uint64_t max = parity_extent(20000, KNN_SAMPLE_MAX, KNN_SAMPLE_MAX);
    parity_pair *pair = *state;
    for (uint64_t count = max; count <= max + 1; count++) {
        mote_cloud *cloud = NULL;
        knn_must(pair->cpu, mote_generate(pair->cpu, "clusters", count, NULL, &cloud), "clusters");
        assert_int_equal(count_descents(pair, cloud, "clusters"), 0);
        mote_cloud_destroy(cloud);
    }
}

/* The sample is spread over a cube, all others stand in a corner, some nowhere: a bucket overflows. The corner is large
   enough that the curve goes through all of the cube. */
static void a_full_bucket_loses_nothing(void **state) {
    const uint64_t count = 3 * KNN_SAMPLE_CAPACITY / 2;
    const uint32_t samples = KNN_SAMPLE_EACH * knn_sample_buckets(count);
    parity_pair *pair = *state;
    double *const points = malloc(3 * count * sizeof *points);
    for (uint64_t i = 0; i < 3 * count; i++) points[i] = 900 + (double)(mote_hash_pair(1, i) % 4096) * 0x1p-12;
    for (uint64_t i = 0; i < count; i += 37) points[3 * i] = NAN;
    for (uint32_t s = 0; s < samples; s++) {
        double *const point = points + 3 * knn_sample_point(s, knn_sample_stretch(samples, count));
        for (uint64_t k = 0; k < 3; k++) point[k] = 881 + (double)(mote_hash_pair(2 + k, s) % 20000) / 1000;
    }
    mote_cloud *cloud = knn_reference_cloud(pair->cpu, MOTE_FLOAT32, 1, 0, points, count);
    assert_true(count_descents(pair, cloud, "a full bucket") > 0);
    knn_trial t = knn_trial_of(state, cloud, 10, "a full bucket");
    if (parity_extent(0, 1, 1) > 0) knn_compare(&t);
    mote_cloud_destroy(cloud);
    free(points);
}

/* As docs/knn.md has it: floats are sorted where their arrays are to be, and what a search defers stands in what
   these leave over. */
static void floats_take_45_bytes_a_point(void **state) {
    enum { COUNT = 30000, K = 10 };
    parity_pair *pair = *state;
    mote_context *const ctx = pair->cuda;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), COUNT, 0), *points = NULL;
    mote_knn_index *index = NULL;
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result rows;
    memset(&rows, 0, sizeof rows);
    params.k = K;
    rows.on_device = true;
    rows.index32 = mote_device_alloc(ctx, COUNT * K * sizeof *rows.index32);
    rows.distance2 = mote_device_alloc(ctx, COUNT * K * sizeof *rows.distance2);
    assert_true(rows.index32 != NULL && rows.distance2 != NULL);
    knn_must(ctx, mote_cloud_to_device(ctx, cloud, &points), "points");
    mote_context_memory_peak_reset(ctx);
    const uint64_t before_bytes = mote_context_device_bytes(ctx);
    knn_must(ctx, mote_knn_build(ctx, points, &index), "index");
    knn_must(ctx, mote_knn_search(index, NULL, &params, &rows), "search");
    assert_true((double)(mote_context_device_peak_bytes(ctx) - before_bytes) < 45.0 * COUNT);
    mote_knn_destroy(index);
    mote_cloud_destroy(points);
    mote_device_free(ctx, rows.index32);
    mote_device_free(ctx, rows.distance2);
    mote_cloud_destroy(cloud);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(places_are_those_of_the_curve), PARITY_TEST(points_are_in_order),
        PARITY_TEST(many_points_are_in_order),      PARITY_TEST(a_full_bucket_loses_nothing),
        PARITY_TEST(floats_take_45_bytes_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
