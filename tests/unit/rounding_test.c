/* What compilers owe us, with the options that the library is compiled with: where a double becomes a float, it is one
   from then on. GCC 12 with -O3 takes (double)(float)x for x where several stand side by side; planes were found among
   points which other compilers' builds did not count. */
#include "support/support.h"

typedef struct rounded {
    double normal[3], offset;
} rounded;

typedef struct plane {
    float a, b, c, d;
} plane;

static void round_side_by_side(const double x[4], rounded *to) {
    const plane p = {(float)x[0], (float)x[1], (float)x[2], (float)x[3]};
    to->normal[0] = (double)p.a;
    to->normal[1] = (double)p.b;
    to->normal[2] = (double)p.c;
    to->offset = (double)p.d;
}

/* What is known when the test is compiled would be rounded there. */
static volatile double unknown[4] = {0.1, 0.2, 0.3, 0.7};

static void floats_are_rounded(void **state) {
    (void)state;
    const double x[4] = {unknown[0], unknown[1], unknown[2], unknown[3]};
    volatile float expected[4];
    rounded to;
    round_side_by_side(x, &to);
    for (int k = 0; k < 4; k++) expected[k] = (float)x[k];
    for (int k = 0; k < 3; k++) assert_true(to.normal[k] == (double)expected[k]);
    assert_true(to.offset == (double)expected[3]);
}

/* (1 + e)(1 - e) - 1 is -e e, and 0 where the product is rounded before the difference is taken. */
static void products_are_rounded(void **state) {
    (void)state;
    static volatile double e = 0x1p-30;
    const double more = 1 + e, less = 1 - e;
    assert_true(more * less - 1 == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats_are_rounded), cmocka_unit_test(products_are_rounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
