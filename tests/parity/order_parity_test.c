/* The Morton order: lattice, codes, sort and permutation of the GPU are those of the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "parity/order_parity_support.h"

#define TILE ORDER_TEST_TILE

static void awkward_clouds_have_the_same_order(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const uint64_t sizes[] = {0, 1, 2, 33, 700, 2 * TILE + 1};
    const uint32_t turns = (uint32_t)parity_extent(5, 1, 1);
    for (uint32_t k = 0; k < awkward_cloud_count; k++) {
        for (size_t s = k % turns; s < sizeof sizes / sizeof sizes[0]; s += turns) {
            if (!parity_is_mine()) continue;
            mote_cloud *cloud = awkward_cloud_make(c.cpu, &awkward_clouds[k], sizes[s], s);
            assert_non_null(cloud);
            order_check(c, cloud, awkward_clouds[k].name);
            mote_cloud_destroy(cloud);
        }
    }
    order_close(c);
}

static void generated_clouds_have_the_same_order(void **state) {
    (void)state;
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "room"};
    const order_contexts c = order_open();
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mote_cloud *cloud = NULL;
        if (!parity_is_mine()) continue;
        assert_int_equal(mote_generate(c.cpu, kinds[k], parity_extent(3000, 15000, 200000), NULL, &cloud), MOTE_OK);
        order_check(c, cloud, kinds[k]);
        mote_cloud_destroy(cloud);
    }
    order_close(c);
}

/* ---- columns of all types, anywhere in memory */

/* Where and how the three coordinates of random bytes stand. */
typedef struct layout {
    uint32_t lead, stride_bytes;
    bool bit_field;
    double scale;
} layout;

static void check_type(order_contexts c, mote_type type, layout l) {
    const uint64_t n = 600;
    const uint32_t size_bytes = mote_type_size(type);
    uint8_t *bytes = order_take(n * l.stride_bytes + 64, 1);
    mote_column axes[3];
    memset(axes, 0, sizeof axes);
    for (uint64_t i = 0; i < n * l.stride_bytes + 64; i++) bytes[i] = (uint8_t)mote_hash64(i);
    for (uint32_t k = 0; k < 3; k++) {
        axes[k].data = bytes + l.lead + k * size_bytes;
        axes[k].stride_bytes = l.stride_bytes;
        axes[k].type = type;
        axes[k].scale = l.scale;
        axes[k].offset = 2.5 * k;
        if (l.bit_field) {
            axes[k].bit_shift = (uint8_t)(1 + k);
            axes[k].bit_count = (uint8_t)(8 * size_bytes - 5);
        }
    }
    mote_cloud *cloud = order_wrap(c.cpu, n, axes);
    order_check(c, cloud, mote_type_name(type));
    mote_cloud_destroy(cloud);
    free(bytes);
}

static void every_type_is_read(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const layout layouts[] = {{0, 24, false, 0.01}, {0, 32, false, 0.01}, {0, 36, false, 0.01}, {1, 33, false, 0.01},
                              {0, 24, false, -0.5}, {0, 24, true, 0.01},  {1, 27, true, 0.01}};
    for (int type = MOTE_INT8; type <= MOTE_FLOAT64; type++) {
        for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
            if (layouts[i].bit_field && mote_type_is_float((mote_type)type)) continue;
            if (parity_is_mine()) check_type(c, (mote_type)type, layouts[i]);
        }
    }
    order_close(c);
}

/* A cloud in its order: the same points in the same places, also those without one. */
static void clouds_are_sorted_alike(void **state) {
    (void)state;
    static const char *const kinds[] = {"city", "clusters", "uniform"};
    order_contexts c = order_open();
    for (uint64_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mote_cloud *cloud = NULL, *sorted[2] = {NULL, NULL};
        uint64_t hash[2];
        if (!parity_is_mine()) continue;
        assert_int_equal(mote_generate(c.cpu, kinds[k], 3 * ORDER_TEST_TILE + 17, NULL, &cloud), MOTE_OK);
        for (int g = 0; g < 2; g++) {
            mote_context *ctx = g == 0 ? c.cpu : c.gpu;
            if (mote_order_cloud(ctx, cloud, &sorted[g]) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
            assert_int_equal(mote_cloud_hash(ctx, sorted[g], &hash[g]), MOTE_OK);
        }
        assert_true(hash[0] == hash[1]);
        mote_cloud_destroy(sorted[0]);
        mote_cloud_destroy(sorted[1]);
        mote_cloud_destroy(cloud);
    }
    order_close(c);
}

static void values_not_finite_count_for_nothing(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const double inf = INFINITY, nan = NAN;
    const double clouds[][12] = {{nan, 1, 2, 3, inf, 4, 5, 6, -inf, 0.5, -0.0, 0.25},
                                 {-0.0, 0.0, 1, 0.0, -0.0, 1, -0.0, -0.0, 1, 0.0, 0.0, 1},
                                 {-1e308, 0, 0, 1e308, 0, 0, 0, 0, 0, 1, 1, 1},
                                 {1e-320, 0, 0, 3e-320, 0, 0, -1e-320, 0, 0, 0, 0, 0},
                                 {1e300, nan, 0, 1, 2, 3, 1.5, 2.5, 3.5, 2, 3, -1e-300},
                                 {nan, nan, nan, inf, inf, inf, nan, 0, 0, 0, 0, -inf}};
    for (size_t i = 0; i < sizeof clouds / sizeof clouds[0]; i++) {
        mote_column axes[3];
        memset(axes, 0, sizeof axes);
        for (int k = 0; k < 3; k++) {
            axes[k].data = clouds[i] + k;
            axes[k].stride_bytes = 24;
            axes[k].type = MOTE_FLOAT64;
        }
        for (uint64_t n = 1; n <= 4; n++) {
            if (!parity_is_mine()) continue;
            mote_cloud *cloud = order_wrap(c.cpu, n, axes);
            order_check(c, cloud, "not finite");
            mote_cloud_destroy(cloud);
        }
    }
    order_close(c);
}

/* ---- the public entries */

/* Device memory with the same bytes. */
static void *on_gpu(order_contexts c, const void *host, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu_of(c.gpu), size_bytes, "test");
    assert_non_null(device);
    assert_int_equal(cuda_upload(gpu_of(c.gpu), device, host, size_bytes), MOTE_OK);
    return device;
}

static uint64_t code_of_kind(int kind, uint64_t i) {
    const uint64_t h = mote_hash64(i * 7919 + (uint64_t)kind);
    switch (kind) {
    case 0: return h;
    case 1: return 42;
    case 2: return h % 2 == 0 ? 5 : UINT64_MAX;
    case 3: return i % 1000 == 0 ? UINT64_MAX : h >> 1;
    default: return (h & 15) << 59 | (h >> 32 & 7);
    }
}

static void check_sort(order_contexts c, int kind, uint64_t n, bool on_device) {
    if (!parity_is_mine()) return;
    uint64_t *codes[2] = {order_take(n, 8), order_take(n, 8)};
    uint32_t *indices[2] = {order_take(n, 4), order_take(n, 4)};
    for (uint64_t i = 0; i < n; i++) codes[0][i] = codes[1][i] = code_of_kind(kind, i);
    assert_int_equal(mote_order_sort(c.cpu, codes[0], indices[0], n), MOTE_OK);
    if (on_device) {
        uint64_t *device_codes = on_gpu(c, codes[1], n * 8);
        uint32_t *device_indices = on_gpu(c, indices[1], n * 4);
        assert_int_equal(mote_order_sort(c.gpu, device_codes, device_indices, n), MOTE_OK);
        assert_int_equal(cuda_download(gpu_of(c.gpu), codes[1], device_codes, n * 8), MOTE_OK);
        assert_int_equal(cuda_download(gpu_of(c.gpu), indices[1], device_indices, n * 4), MOTE_OK);
        cuda_free(gpu_of(c.gpu), device_codes);
        cuda_free(gpu_of(c.gpu), device_indices);
    } else {
        assert_int_equal(mote_order_sort(c.gpu, codes[1], indices[1], n), MOTE_OK);
    }
    assert_memory_equal(codes[0], codes[1], n * 8 + 8);
    assert_memory_equal(indices[0], indices[1], n * 4 + 4);
    for (int i = 0; i < 2; i++) free(codes[i]), free(indices[i]);
}

static void sorts_codes(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const uint64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 5000};
    for (int kind = 0; kind < 5; kind++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) check_sort(c, kind, sizes[s], s % 2 == 0);
    }
    assert_int_equal(c.gpu->device_bytes, 0);
    order_close(c);
}

static void check_permute(order_contexts c, uint32_t size, uint32_t stride, uint32_t lead, uint64_t n) {
    if (!parity_is_mine()) return;
    const uint64_t value_count = 900, bytes = value_count * stride + lead;
    uint8_t *values = order_take(bytes, 1), *out[2] = {order_take(n * size, 1), order_take(n * size, 1)};
    uint32_t *indices = order_take(n, sizeof *indices);
    for (uint64_t i = 0; i < bytes; i++) values[i] = (uint8_t)mote_hash64(i);
    for (uint64_t i = 0; i < n; i++) indices[i] = (uint32_t)(mote_hash64(i) % value_count);
    assert_int_equal(mote_order_permute(c.cpu, values + lead, size, stride, indices, n, out[0]), MOTE_OK);
    assert_int_equal(mote_order_permute(c.gpu, values + lead, size, stride, indices, n, out[1]), MOTE_OK);
    assert_memory_equal(out[0], out[1], n * size + 1);
    uint8_t *device_values = on_gpu(c, values, bytes), *device_out = on_gpu(c, out[1], n * size);
    uint32_t *device_indices = on_gpu(c, indices, n * sizeof *indices);
    assert_int_equal(cuda_fill(gpu_of(c.gpu), device_out, 0, n * size), MOTE_OK);
    assert_int_equal(mote_order_permute(c.gpu, device_values + lead, size, stride, device_indices, n, device_out),
                     MOTE_OK);
    assert_int_equal(cuda_download(gpu_of(c.gpu), out[1], device_out, n * size), MOTE_OK);
    assert_memory_equal(out[0], out[1], n * size);
    void *const taken[] = {device_values, device_out, device_indices};
    for (int i = 0; i < 3; i++) cuda_free(gpu_of(c.gpu), taken[i]);
    free(values), free(out[0]), free(out[1]), free(indices);
}

static void permutes_values_of_any_size(void **state) {
    (void)state;
    const order_contexts c = order_open();
    const uint32_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 36};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        check_permute(c, sizes[s], sizes[s], 0, 800);
        check_permute(c, sizes[s], 36, 4, 257);
        check_permute(c, sizes[s], 38, 2, 31);
        check_permute(c, sizes[s], 37, 1, 1);
    }
    assert_int_equal(c.gpu->device_bytes, 0);
    order_close(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(awkward_clouds_have_the_same_order),
        cmocka_unit_test(generated_clouds_have_the_same_order),
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(clouds_are_sorted_alike),
        cmocka_unit_test(values_not_finite_count_for_nothing),
        cmocka_unit_test(sorts_codes),
        cmocka_unit_test(permutes_values_of_any_size),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
