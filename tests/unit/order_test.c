/* The Morton order: codes, lattice, sort, ranges, permutation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "math/morton.h"
#include "order/sort/order_sort_cpu.h"
#include "support/support.h"

static void codes_interleave(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        const uint64_t h = mote_hash64(i);
        const uint32_t xyz[3] = {(uint32_t)h & MOTE_MORTON_MASK, (uint32_t)(h >> 21) & MOTE_MORTON_MASK,
                                 (uint32_t)(h >> 42) & MOTE_MORTON_MASK};
        uint64_t naive = 0;
        for (uint32_t bit = 0; bit < 21; bit++) {
            for (uint32_t k = 0; k < 3; k++) naive |= (uint64_t)(xyz[k] >> bit & 1) << (3 * bit + 2 - k);
        }
        uint32_t back[3];
        assert_int_equal(mote_morton_code(xyz[0], xyz[1], xyz[2]), naive);
        mote_morton_coordinates(naive, back);
        assert_memory_equal(back, xyz, sizeof back);
    }
}

static void cells_divide_exactly(void **state) {
    (void)state;
    const uint64_t sides[] = {1, 2, 3, 7, 1000, 1u << 20, (1u << 21) - 1, 1u << 21, 999999937, 2147483647, 1ull << 40};
    for (size_t s = 0; s < sizeof sides / sizeof sides[0]; s++) {
        const mote_cell_divisor by = mote_cell_divisor_make(sides[s]);
        for (uint64_t i = 0; i < 3000; i++) {
            const uint64_t max = sides[s] < 2147483647 ? sides[s] : 2147483647;
            const uint64_t p = i < 1000   ? (i <= max ? i : max)
                               : i < 2000 ? max - (i - 1000) % (max + 1)
                                          : mote_hash64(i) % (max + 1);
            uint64_t cell = (p << 21) / sides[s];
            if (cell > MOTE_MORTON_MASK) cell = MOTE_MORTON_MASK;
            assert_int_equal(mote_cell_of(p, by), cell);
        }
    }
}

typedef struct pair {
    uint64_t code;
    uint32_t index;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->code != q->code) return p->code < q->code ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Awkward distributions of codes, by kind. */
static uint64_t awkward_code(int kind, uint64_t i, uint64_t n) {
    const uint64_t h = mote_hash64(i * 7919 + (uint64_t)kind);
    switch (kind) {
    case 0: return h >> 1;                                                      /* uniform, 63 bits */
    case 1: return 42;                                                          /* all equal */
    case 2: return n - i;                                                       /* descending */
    case 3: return h % 3;                                                       /* heavy duplicates */
    case 4: return i % 10 == 0 ? h >> 1 : 0x3FFFFFFF00000000ull + (h & 0xFFFF); /* one dense cluster */
    case 5: return (h & 15) << 59 | (h >> 32 & 7);                              /* high and low bits, nothing between */
    case 6: return i % 1000 == 0 ? UINT64_MAX : h >> 1;                         /* points left out sort last */
    default: return (1ull << (h % 63)) | (h >> 63);                             /* every scale */
    }
}

static void check_sort(mote_context *ctx, int kind, uint64_t n) {
    pair *expected = malloc((n + 1) * sizeof *expected);
    uint64_t *codes = malloc((n + 1) * sizeof *codes);
    uint32_t *indices = malloc((n + 1) * sizeof *indices);
    for (uint64_t i = 0; i < n; i++) {
        codes[i] = awkward_code(kind, i, n);
        expected[i] = (pair){codes[i], (uint32_t)i};
    }
    qsort(expected, n, sizeof *expected, compare_pairs);
    assert_int_equal(mote_order_sort(ctx, codes, indices, n), MOTE_OK);
    for (uint64_t i = 0; i < n; i++) {
        if (codes[i] != expected[i].code || indices[i] != expected[i].index) {
            fail_msg("kind %d, %llu codes: wrong at %llu", kind, (unsigned long long)n, (unsigned long long)i);
        }
    }
    free(expected);
    free(codes);
    free(indices);
}

/* Pairs with indices of the caller's, in memory of the caller's: with no, too few and enough counters. */
static void check_pairs(mote_context *ctx, int kind, uint64_t n) {
    pair *expected = malloc(n * sizeof *expected);
    uint64_t *codes = malloc(n * sizeof *codes);
    uint32_t *indices = malloc(n * sizeof *indices);
    const uint64_t max = order_counters(ctx, n), rooms[] = {0, 20000, 40000, max};
    order_scratch room = {malloc(n * ORDER_PAIR_BYTES), malloc((max + 40000) * sizeof *room.counters), 0};
    for (int r = 0; r < 4; r++) {
        for (uint64_t i = 0; i < n; i++) {
            codes[i] = awkward_code(kind, i, n);
            indices[i] = (uint32_t)(7 + 3 * i);
            expected[i] = (pair){codes[i], indices[i]};
        }
        qsort(expected, n, sizeof *expected, compare_pairs);
        memset(room.counters, 255, (max + 40000) * sizeof *room.counters);
        room.counter_count = rooms[r];
        assert_int_equal(order_sort_in(ctx, codes, indices, n, true, &room), MOTE_OK);
        for (uint64_t i = 0; i < n; i++) {
            if (codes[i] != expected[i].code || indices[i] != expected[i].index) {
                fail_msg("kind %d, room %d: wrong at %llu", kind, r, (unsigned long long)i);
            }
        }
    }
    free(room.pairs);
    free(room.counters);
    free(expected);
    free(codes);
    free(indices);
}

static void sorts_pairs_in_lent_memory(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    for (int kind = 0; kind < 8; kind++) {
        check_pairs(ctx, kind, 100);
        check_pairs(ctx, kind, 100001);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void sorts_stably(void **state) {
    (void)state;
    const int threads[] = {1, 2, 7};
    const uint64_t sizes[] = {0, 1, 2, 23, 24, 25, 255, 256, 257, 24576, 24577, 65535, 65536, 200001};
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(threads[t]);
        for (int kind = 0; kind < 8; kind++) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) check_sort(ctx, kind, sizes[s]);
        }
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}

static void finds_ranges(void **state) {
    (void)state;
    const uint64_t codes[] = {0, 1, 7, 8, 8, 64, 1ull << 62, UINT64_MAX >> 1};
    uint64_t first, last;
    mote_order_range(codes, 8, 0, 20, &first, &last);
    assert_int_equal(first, 0), assert_int_equal(last, 3);
    mote_order_range(codes, 8, 1, 20, &first, &last);
    assert_int_equal(first, 3), assert_int_equal(last, 5);
    mote_order_range(codes, 8, 0, 0, &first, &last);
    assert_int_equal(first, 0), assert_int_equal(last, 8);
    mote_order_range(codes, 8, 7, 1, &first, &last);
    assert_int_equal(first, 7), assert_int_equal(last, 8);
    mote_order_range(codes, 8, 8, 21, &first, &last);
    assert_int_equal(last - first, 2);
}

static mote_cloud *wrap_positions(mote_context *ctx, const void *data, mote_type type, uint64_t n, double scale) {
    const uint32_t size = mote_type_size(type);
    mote_column columns[3];
    memset(columns, 0, sizeof columns);
    const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].type = type;
        columns[k].data = (const uint8_t *)data + (uint32_t)k * size;
        columns[k].stride_bytes = 3 * size;
        columns[k].scale = scale;
        columns[k].offset = scale != 0 ? 5e6 : 0;
    }
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, n, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

static void lattices_fit(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const int32_t whole[] = {-2147483647 - 1, 0, 5, 2147483647, 1, 5};
    mote_lattice lattice;
    uint64_t skipped;
    mote_cloud *cloud = wrap_positions(ctx, whole, MOTE_INT32, 2, 0.001);
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
    assert_true(lattice.integer && !lattice.exact && lattice.shift == 2);
    assert_true(lattice.extent[0] < 1ull << 31);
    mote_cloud_destroy(cloud);
    const float real[] = {0.25f, NAN, 0, -1.5f, 2, 3, 0.1f, 7, 3, INFINITY, 1, 1};
    cloud = wrap_positions(ctx, real, MOTE_FLOAT32, 4, 0);
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
    assert_int_equal(skipped, 2);
    uint64_t codes[4];
    uint32_t xyz[12];
    assert_int_equal(mote_order_codes(ctx, cloud, &lattice, codes), MOTE_OK);
    assert_true(codes[0] == UINT64_MAX && codes[3] == UINT64_MAX && codes[1] < 1ull << 63);
    mote_order_coordinates(cloud, &lattice, NULL, 4, xyz);
    for (int k = 0; k < 3; k++) {
        const double world = (double)(lattice.min[k] + xyz[6 + k]) * lattice.scale[k] + lattice.offset[k];
        assert_float_equal(world, (double)real[6 + k], 1e-9);
    }
    mote_cloud_destroy(cloud);
    cloud = wrap_positions(ctx, real, MOTE_FLOAT32, 0, 0);
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
    assert_true(lattice.side[0] >= 1);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Points in one place have no extent whose 31 bits would be fine enough: they are told as doubles tell them. */
static void one_place_is_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const double places[][3] = {
        {500000.1234567, 5400000.7654321, 312.6}, {1e12 + 0.1, 1e12 + 0.3, 1e12 + 0.7}, {-0.1, 0, 1e-7}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const double twice[] = {places[i][0], places[i][1], places[i][2], places[i][0], places[i][1], places[i][2]};
        const double farthest = fmax(fabs(twice[0]), fmax(fabs(twice[1]), fabs(twice[2])));
        mote_lattice lattice;
        uint64_t skipped;
        uint32_t xyz[6];
        mote_cloud *cloud = wrap_positions(ctx, twice, MOTE_FLOAT64, 2, 0);
        assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
        mote_order_coordinates(cloud, &lattice, NULL, 2, xyz);
        for (int k = 0; k < 3; k++) {
            const double world = (double)(lattice.min[k] + xyz[3 + k]) * lattice.scale[k] + lattice.offset[k];
            assert_true(fabs(world - twice[k]) <= 0x1p-52 * farthest);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void permutes_any_size(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    uint8_t values[300], out[300];
    const uint32_t indices[] = {9, 0, 3, 3, 7};
    for (int i = 0; i < 300; i++) values[i] = (uint8_t)i;
    for (uint32_t size = 1; size <= 20; size++) {
        assert_int_equal(mote_order_permute(ctx, values, size, 25, indices, 5, out), MOTE_OK);
        for (uint32_t i = 0; i < 5; i++) assert_memory_equal(out + i * size, values + indices[i] * 25, size);
    }
    assert_int_equal(mote_order_permute(ctx, values, 0, 25, indices, 5, out), MOTE_ERROR_ARGUMENT);
    mote_context_destroy(ctx);
}

static void sort_survives_failing_allocations(void **state) {
    (void)state;
    for (long n = 2; n < 8; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 2);
        uint64_t codes[100];
        uint32_t indices[100];
        for (uint64_t i = 0; i < 100; i++) codes[i] = mote_hash64(i);
        const mote_status status = mote_order_sort(ctx, codes, indices, 100);
        assert_int_equal(status, n < 4 ? MOTE_ERROR_MEMORY : MOTE_OK);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_interleave),
                                       cmocka_unit_test(cells_divide_exactly),
                                       cmocka_unit_test(sorts_stably),
                                       cmocka_unit_test(sorts_pairs_in_lent_memory),
                                       cmocka_unit_test(finds_ranges),
                                       cmocka_unit_test(lattices_fit),
                                       cmocka_unit_test(one_place_is_kept),
                                       cmocka_unit_test(permutes_any_size),
                                       cmocka_unit_test(sort_survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
