/* Bisection, against looking at every value: all sizes up to some, values that repeat, values below and above all. */
#include "math/hash.h"
#include "math/search.h"
#include "support/support.h"

#define MAX_COUNT 70u

typedef struct row32 {
    uint32_t before, value, behind;
} row32;

typedef struct row64 {
    uint64_t value;
    uint32_t behind;
} row64;

static void check(const uint64_t *values, uint64_t count, uint64_t value) {
    uint64_t expected = 0;
    uint32_t narrow[MAX_COUNT];
    row32 rows32[MAX_COUNT];
    row64 rows64[MAX_COUNT];
    while (expected < count && values[expected] < value) expected++;
    for (uint64_t i = 0; i < count; i++) {
        narrow[i] = (uint32_t)values[i];
        rows32[i] = (row32){0xFFFFFFFFu, (uint32_t)values[i], 0};
        rows64[i] = (row64){values[i] << 33, 0};
    }
    assert_int_equal(mote_lower_bound64(values, count, value), expected);
    assert_int_equal(mote_lower_bound32(narrow, count, (uint32_t)value), expected);
    assert_int_equal(mote_lower_bound32_strided(&rows32->value, sizeof *rows32, count, (uint32_t)value), expected);
    assert_int_equal(mote_lower_bound64_strided(rows64, sizeof *rows64, count, value << 33), expected);
}

static void test_all_sizes(void **state) {
    (void)state;
    for (uint64_t count = 0; count <= MAX_COUNT; count++) {
        for (uint64_t step = 0; step < 4; step++) { /* 0: all equal; many repeat; few do */
            uint64_t values[MAX_COUNT + 1] = {1}, last = 1;
            for (uint64_t i = 0; i < count; i++) values[i] = last += step * mote_hash64(i) % (step + 1);
            for (uint64_t value = 0; value <= last + 2; value++) check(values, count, value);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
