/* Eight lanes at once against one after the other. simd_plain_test.c has the same for machines without AVX2. */
#include "math/simd.h"

#include "math/hash.h"
#include "support/support.h"

#define ROUNDS 200

static float random_float(uint64_t i) {
    const float unit = (float)(mote_hash64(i) >> 40) * 0x1p-24f - 0.5f;
    return i % 9 == 0 ? 0 : i % 31 == 0 ? INFINITY : ldexpf(unit, (int)(mote_hash64(i + 7) % 60) - 30);
}

static void floats_are_those_of_each_lane(void **state) {
    (void)state;
    for (uint64_t r = 0; r < ROUNDS; r++) {
        float a[8], b[8], c[8], sum[8], difference[8], product[8], quotient[8], fused[8], min[8], max[8], root[8];
        for (uint64_t l = 0; l < 8; l++) {
            a[l] = random_float(24 * r + l);
            b[l] = random_float(24 * r + 8 + l);
            c[l] = random_float(24 * r + 16 + l);
        }
        const simd_f va = simd_f_load(a), vb = simd_f_load(b), vc = simd_f_load(c);
        simd_f_store(sum, simd_f_add(va, vb));
        simd_f_store(difference, simd_f_sub(va, vb));
        simd_f_store(product, simd_f_mul(va, vb));
        simd_f_store(quotient, simd_f_div(va, vb));
        simd_f_store(fused, simd_f_fma(va, vb, vc));
        simd_f_store(min, simd_f_min(va, vb));
        simd_f_store(max, simd_f_max(va, simd_f_set(b[0])));
        simd_f_store(root, simd_f_sqrt(simd_f_max(va, simd_f_set(0))));
        float all_min = INFINITY, all_max = -INFINITY;
        uint32_t bits = 0;
        for (int l = 0; l < 8; l++) {
            const float expected[] = {a[l] + b[l], a[l] - b[l], a[l] * b[l], a[l] / b[l], fmaf(a[l], b[l], c[l])};
            const float *const found[] = {sum, difference, product, quotient, fused};
            for (int i = 0; i < 5; i++) {
                assert_true(found[i][l] == expected[i] || (isnan(found[i][l]) && isnan(expected[i])));
            }
            assert_true(min[l] == fminf(a[l], b[l]) && max[l] == fmaxf(a[l], b[0]));
            assert_true(root[l] == sqrtf(fmaxf(a[l], 0)));
            all_min = fminf(all_min, a[l]);
            all_max = fmaxf(all_max, a[l]);
            bits |= (uint32_t)(a[l] <= b[l]) << l;
        }
        assert_true(simd_f_reduce_min(va) == all_min && simd_f_reduce_max(va) == all_max);
        assert_int_equal(simd_f_at_most(va, vb), bits);
        assert_int_equal(simd_f_at_most(simd_f_set(NAN), vb), 0);
    }
}

static void integers_and_doubles_too(void **state) {
    (void)state;
    for (uint64_t r = 0; r < ROUNDS; r++) {
        int32_t i[8], j[8];
        double d[8], e[8];
        float from_integers[8], from_doubles[8];
        for (uint64_t l = 0; l < 8; l++) {
            i[l] = (int32_t)(mote_hash64(16 * r + l) >> 33);
            j[l] = (int32_t)(mote_hash64(16 * r + 8 + l) >> 33);
            d[l] = (double)i[l] * 1e-3 - 7e5;
            e[l] = (double)j[l] * 1e-5 + 0.1;
        }
        simd_f_store(from_integers,
                     simd_i_to_f(simd_i_max(simd_i_sub(simd_i_load(i), simd_i_load(j)), simd_i_set(-5))));
        simd_f_store(from_doubles,
                     simd_d_to_f(simd_d_max(simd_d_mul(simd_d_sub(simd_d_load(d), simd_d_set(e[0])), simd_d_load(e)),
                                            simd_d_set(-1e8))));
        const simd_d wide = simd_f_to_d(simd_d_to_f(simd_d_load(d)));
        uint32_t above = 0, equal = 0, doubles_above = 0, widened = 0;
        for (int l = 0; l < 8; l++) {
            above |= (uint32_t)(i[l] > j[l]) << l;
            equal |= (uint32_t)(i[l] == i[l & 5]) << l;
            doubles_above |= (uint32_t)(d[l] > e[l]) << l;
            widened |= (uint32_t)((double)(float)d[l] > (double)(float)d[0]) << l;
        }
        const int32_t others[8] = {i[0], i[1], i[0], i[1], i[4], i[5], i[4], i[5]};
        assert_int_equal(simd_i_above(simd_i_load(i), simd_i_load(j)), above);
        assert_int_equal(simd_i_equal(simd_i_load(i), simd_i_load(others)), equal);
        assert_int_equal(simd_d_above(simd_d_load(d), simd_d_load(e)), doubles_above);
        assert_int_equal(simd_d_above(simd_d_load(d), simd_d_load(d)), 0);
        assert_int_equal(simd_d_above(wide, simd_d_set((double)(float)d[0])), widened);
        for (int l = 0; l < 8; l++) {
            const int32_t difference = i[l] - j[l];
            const double product = (d[l] - e[0]) * e[l];
            assert_true(from_integers[l] == (float)(difference > -5 ? difference : -5));
            assert_true(from_doubles[l] == (float)(product > -1e8 ? product : -1e8));
        }
    }
}

static void picks_lanes(void **state) {
    (void)state;
    const float lanes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (uint32_t bits = 0; bits < 256; bits++) {
        float picked[8];
        uint32_t numbers[8], at = 0;
        simd_f_compress(picked, simd_f_load(lanes), simd_mask(bits));
        simd_compress_indices(numbers, 1000, simd_mask(bits));
        for (uint32_t l = 0; l < 8; l++) {
            if ((bits >> l & 1) == 0) continue;
            assert_true(picked[at] == (float)l);
            assert_int_equal(numbers[at++], 1000 + l);
        }
    }
}

static void rows_become_columns(void **state) {
    (void)state;
    simd_f rows[8];
    for (int i = 0; i < 8; i++) {
        float lanes[8];
        for (int l = 0; l < 8; l++) lanes[l] = (float)(8 * i + l);
        rows[i] = simd_f_load(lanes);
    }
    simd_f_transpose(rows);
    for (int i = 0; i < 8; i++) {
        float lanes[8];
        simd_f_store(lanes, rows[i]);
        for (int l = 0; l < 8; l++) assert_true(lanes[l] == (float)(8 * l + i));
    }
}

static void counts_what_is_less(void **state) {
    (void)state;
    for (uint32_t count = 0; count <= 70; count++) {
        int32_t keys[96] = {0}, ranks[96];
        for (uint32_t i = 0; i < count; i++) keys[i] = (int32_t)(mote_hash64(count * 100 + i) % 50) - 10;
        simd_rank(keys, count, ranks);
        for (uint32_t i = 0; i < count; i++) {
            int32_t less = 0;
            for (uint32_t j = 0; j < count; j++) less += keys[j] < keys[i];
            assert_int_equal(ranks[i], less);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_those_of_each_lane),
        cmocka_unit_test(integers_and_doubles_too),
        cmocka_unit_test(picks_lanes),
        cmocka_unit_test(rows_become_columns),
        cmocka_unit_test(counts_what_is_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
