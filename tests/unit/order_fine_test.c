/* Fine codes, and the order of points that share a code, against the definition: runs of every length, any number of
   threads. */
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "order/order_fine.h"
#include "support/support.h"

#define SPAN 2147483646u /* steps of the cube, as many as a lattice has: each cell of a code has some 1024 a side */

/* ---- a cloud of runs: all points of a run are in one cell of a code */

static const uint32_t run_lengths[] = {1, 2, 3, 24, 25, 300, 4096, 16384, 16385, 1, 24577, 40000, 7, 70001};
#define RUNS (sizeof run_lengths / sizeof run_lengths[0])

typedef struct trial {
    mote_context *ctx;
    mote_cloud *cloud;
    mote_lattice lattice;
    uint64_t count;
    int32_t (*xyz)[3];
    uint64_t *codes;
    uint32_t *order;
} trial;

/* Corners of the cube, so that it is known; then runs in cells here and there, in mixed order, with duplicates. */
static void place_points(trial *t, uint32_t share) {
    uint64_t at = 2;
    for (int k = 0; k < 3; k++) t->xyz[0][k] = 0, t->xyz[1][k] = (int32_t)SPAN;
    for (uint64_t r = 0; r < RUNS; r++) {
        for (uint32_t i = 0; i < run_lengths[r] / share; i++, at++) {
            for (uint64_t k = 0; k < 3; k++) {
                const uint64_t cell = mote_hash64(3 * r + k) % 2000000, within = mote_hash64(at / 2 * 3 + k) % 1000;
                t->xyz[at][k] = (int32_t)(cell * 1024 + 12 + within);
            }
        }
    }
    t->count = at;
    for (uint64_t i = 2; i < at; i++) {
        int32_t kept[3];
        const uint64_t j = 2 + mote_hash64(i) % (at - 2);
        memcpy(kept, t->xyz[i], sizeof kept);
        memcpy(t->xyz[i], t->xyz[j], sizeof kept);
        memcpy(t->xyz[j], kept, sizeof kept);
    }
}

static trial open_trial(mote_context *ctx, uint32_t share) {
    static const char *const names[3] = {"x", "y", "z"};
    trial t = {.ctx = ctx};
    uint64_t skipped, max = 2;
    mote_column columns[3];
    for (uint64_t r = 0; r < RUNS; r++) max += run_lengths[r];
    t.xyz = calloc(max, sizeof *t.xyz);
    t.codes = calloc(max, sizeof *t.codes);
    t.order = calloc(max, sizeof *t.order);
    assert_true(t.xyz != NULL && t.codes != NULL && t.order != NULL);
    place_points(&t, share);
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].data = &t.xyz[0][k];
        columns[k].stride_bytes = sizeof *t.xyz;
        columns[k].type = MOTE_INT32;
        columns[k].scale = 0.5;
    }
    assert_int_equal(mote_cloud_wrap(ctx, t.count, columns, 3, &t.cloud), MOTE_OK);
    assert_int_equal(mote_order_lattice(ctx, t.cloud, &t.lattice, &skipped), MOTE_OK);
    assert_int_equal(mote_order_codes(ctx, t.cloud, &t.lattice, t.codes), MOTE_OK);
    assert_int_equal(mote_order_sort(ctx, t.codes, t.order, t.count), MOTE_OK);
    return t;
}

static void close_trial(trial *t) {
    mote_cloud_destroy(t->cloud);
    free(t->xyz);
    free(t->codes);
    free(t->order);
}

/* ---- what ought to come out */

/* Bit by bit: the last 21 of 31. */
static uint64_t fine_code_of(const trial *t, uint32_t index) {
    uint64_t code = 0;
    for (int bit = 20; bit >= 0; bit--) {
        for (int k = 0; k < 3; k++) {
            const uint64_t cell = ((uint64_t)(uint32_t)t->xyz[index][k] << 31) / t->lattice.side[k],
                           last = (1u << 31) - 1;
            code = code << 1 | ((cell < last ? cell : last) >> bit & 1);
        }
    }
    return code;
}

static void check_order(const trial *t, const uint64_t *fine, const uint32_t *order) {
    uint8_t *seen = calloc(t->count, 1);
    assert_non_null(seen);
    for (uint64_t i = 0; i < t->count; i++) {
        assert_true(fine[i] == fine_code_of(t, order[i]));
        assert_int_equal(seen[order[i]]++, 0);
        if (i == 0 || t->codes[i] != t->codes[i - 1]) continue;
        assert_true(fine[i - 1] < fine[i] || (fine[i - 1] == fine[i] && order[i - 1] < order[i]));
    }
    free(seen);
}

static void runs_of_any_length(void **state) {
    (void)state;
    uint32_t *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        mote_context *ctx = test_context(threads);
        trial t = open_trial(ctx, 1);
        uint64_t *fine = NULL;
        uint64_t longest = 0, run = 1;
        for (uint64_t i = 1; i < t.count; i++) {
            run = t.codes[i] == t.codes[i - 1] ? run + 1 : 1;
            if (run > longest) longest = run;
        }
        assert_true(longest == 70001); /* the runs are what they are meant to be */
        assert_int_equal(order_fine_codes(ctx, t.cloud, &t.lattice, t.codes, t.order, t.count, &fine), MOTE_OK);
        check_order(&t, fine, t.order);
        if (first == NULL) {
            first = malloc(t.count * sizeof *first);
            assert_non_null(first);
            memcpy(first, t.order, t.count * sizeof *first);
        }
        assert_memory_equal(first, t.order, t.count * sizeof *first);
        mote_free(ctx, fine);
        close_trial(&t);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
    free(first);
}

static void few_points(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    trial t = open_trial(ctx, 100000); /* the corners alone */
    assert_int_equal(t.count, 2);
    for (uint64_t count = 0; count <= 2; count++) {
        uint64_t *fine = NULL;
        assert_int_equal(order_fine_codes(ctx, t.cloud, &t.lattice, t.codes, t.order, count, &fine), MOTE_OK);
        for (uint64_t i = 0; i < count; i++) assert_true(fine[i] == fine_code_of(&t, t.order[i]));
        mote_free(ctx, fine);
    }
    close_trial(&t);
    mote_context_destroy(ctx);
}

static void failing_allocations(void **state) {
    (void)state;
    mote_context *healthy = test_context(1);
    trial t = open_trial(healthy, 2); /* one long run, and short ones */
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 2; status != MOTE_OK; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 2);
        uint64_t *fine = NULL;
        status = order_fine_codes(ctx, t.cloud, &t.lattice, t.codes, t.order, t.count, &fine);
        if (status != MOTE_OK) assert_int_equal(status, MOTE_ERROR_MEMORY);
        mote_free(ctx, fine);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        assert_true(n < 20);
    }
    close_trial(&t);
    mote_context_destroy(healthy);
}

static void lattices(void **state) {
    (void)state;
    mote_lattice lattice;
    memset(&lattice, 0, sizeof lattice);
    for (int k = 0; k < 3; k++) lattice.side[k] = 1u << 21;
    assert_false(order_is_divisible(&lattice));
    lattice.side[1]++;
    assert_true(order_is_divisible(&lattice) && order_fine_tells_all(&lattice));
    lattice.side[2] = 1ull << 31;
    assert_true(order_fine_tells_all(&lattice));
    lattice.side[2]++;
    assert_false(order_fine_tells_all(&lattice));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_any_length),
        cmocka_unit_test(few_points),
        cmocka_unit_test(failing_allocations),
        cmocka_unit_test(lattices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
