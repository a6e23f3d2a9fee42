/* Several clouds as one: the lattice that their positions have in common, and where they have none. */
#include <math.h>
#include <string.h>

#include "core/cloud.h"
#include "unit/merge_test.h"

void finds_the_common_lattice(void **state) {
    (void)state;
    couple two;
    couple_open(&two);
    made_add_lattice(&two.a, 0.01, 500000, -2000);
    made_add_lattice(&two.b, 0.001, 500100.25, 77);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    const mote_column *x = mote_cloud_find(two.merged, "x");
    assert_int_equal(x->type, MOTE_INT32);
    assert_float_equal(x->scale, 0.001, 0);
    assert_float_equal(x->offset, 500000, 0);
    int32_t stored[2 * POINTS];
    mote_column_read(x, 0, 2 * POINTS, MOTE_INT32, stored);
    for (int i = 0; i < POINTS; i++) {
        assert_int_equal(stored[i], 10 * (-2000 + 10 * i));
        assert_int_equal(stored[POINTS + i], 77 + 10 * i + 100250);
    }
    assert_string_equal(two.warnings, "");
    couple_close(&two);
}

void moves_the_origin(void **state) {
    (void)state;
    couple two;
    couple_open(&two);
    made_add_lattice(&two.a, 0.001, 0, 0);
    made_add_lattice(&two.b, 0.001, 4000000, 5); /* 4 · 10^9 steps away: 32 bits from a middle origin only */
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "y"), MOTE_INT32);
    for (int i = 0; i < POINTS; i++) {
        assert_float_equal(couple_value(&two, "x", (uint64_t)i), 0.001 * (10 * i), 1e-6);
        assert_float_equal(couple_value(&two, "x", (uint64_t)(POINTS + i)), 4000000 + 0.001 * (5 + 10 * i), 1e-6);
    }
    couple_close(&two);
    couple_open(&two);
    made_add_lattice(&two.a, 0.001, 0, 0);
    made_add_lattice(&two.b, 0.001, 5000000, 5);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "y"), MOTE_INT64);
    assert_float_equal(couple_value(&two, "x", POINTS + 1), 5000000.015, 1e-6);
    couple_close(&two);
}

void falls_back_to_double(void **state) {
    (void)state;
    static const double cases[][4] = {
        {0.01, 0, 0.003, 0},       /* steps that are no multiples */
        {0.01, 0, 0.01, 0.005},    /* half a step apart */
        {0.001, 0, 0.0010001, 0},  /* nearly, but 2 · 10^9 steps would drift */
        {0.001, 1e15, 0.001, 0.5}, /* origins coarser than a step */
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        couple two;
        couple_open(&two);
        made_add_lattice(&two.a, cases[c][0], cases[c][1], 5);
        made_add_lattice(&two.b, cases[c][2], cases[c][3], 1000000);
        assert_int_equal(couple_merge(&two), MOTE_OK);
        assert_int_equal(couple_type(&two, "x"), MOTE_FLOAT64);
        assert_float_equal(mote_cloud_find(two.merged, "x")->scale, 1, 0);
        assert_true(two.merged->position_step == fmin(cases[c][0], cases[c][2]));
        assert_true(couple_value(&two, "x", 1) == 15 * cases[c][0] + cases[c][1]);
        assert_true(couple_value(&two, "x", POINTS) == 1000000 * cases[c][2] + cases[c][3]);
        assert_non_null(strstr(two.warnings, "double"));
        couple_close(&two);
    }
}

void mixes_forms_of_positions(void **state) {
    (void)state;
    static const float reals[POINTS] = {0.1f, 1, 2, 3};
    couple two;
    couple_open(&two);
    made_add_lattice(&two.a, 0.001, 500000, 100);
    for (int k = 0; k < 3; k++) made_add(&two.b, k == 0 ? "x" : k == 1 ? "y" : "z", MOTE_FLOAT32, reals);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "z"), MOTE_FLOAT64);
    assert_true(couple_value(&two, "x", POINTS) == (double)0.1f);
    assert_true(couple_value(&two, "x", 0) == 100 * 0.001 + 500000);
    assert_float_equal(two.merged->position_step, 0, 0);
    couple_close(&two);
    couple_open(&two);
    for (int k = 0; k < 3; k++) made_add(&two.a, k == 0 ? "x" : k == 1 ? "y" : "z", MOTE_FLOAT32, reals);
    for (int k = 0; k < 3; k++) made_add(&two.b, k == 0 ? "x" : k == 1 ? "y" : "z", MOTE_FLOAT32, reals);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "z"), MOTE_FLOAT32);
    couple_close(&two);
}

void needs_positions(void **state) {
    (void)state;
    static const uint16_t values[POINTS] = {1, 2, 3, 4};
    couple two;
    couple_open(&two);
    made_add_lattice(&two.a, 0.001, 500000, 100);
    made_add(&two.b, "heat", MOTE_UINT16, values);
    assert_int_equal(couple_merge(&two), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(two.ctx), "second.las"));
    couple_close(&two);
}
