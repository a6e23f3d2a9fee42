/* Eigenvalues of 3 x 3 matrices: against many more rotations in more digits, for every kind of spectrum. */
#include <math.h>
#include <string.h>

#include "math/eigen3.h"
#include "math/hash.h"
#include "reference/normals_reference.h"
#include "support/support.h"

static double random_of(uint64_t *seed) { return (double)(mote_hash64(++*seed) >> 11) * 0x1p-52 - 1; }

/* A random rotation's rows: Gram-Schmidt of random vectors, some nearly along an axis. */
static void make_axes(uint64_t *seed, double axes[3][3]) {
    double length = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        axes[0][k] = random_of(seed) * (*seed % 5 == 0 && k > 0 ? 1e-7 : 1);
        axes[1][k] = random_of(seed);
    }
    for (int k = 0; k < 3; k++) length += axes[0][k] * axes[0][k];
    for (int k = 0; k < 3; k++) axes[0][k] /= sqrt(length);
    for (int k = 0; k < 3; k++) dot += axes[0][k] * axes[1][k];
    for (int k = 0; k < 3; k++) axes[1][k] -= dot * axes[0][k];
    length = 0;
    for (int k = 0; k < 3; k++) length += axes[1][k] * axes[1][k];
    for (int k = 0; k < 3; k++) axes[1][k] /= sqrt(length);
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        axes[2][k] = axes[0][p] * axes[1][q] - axes[0][q] * axes[1][p];
    }
}

static const double spectra[][3] = {{1, 0.5, 0.1},   {1, 1, 1},         {1, 1, 0},           {1, 0, 0},
                                    {0, 0, 0},       {1, 1e-3, 1e-6},   {1, 1, 1e-9},        {1, 1e-9, 1e-9},
                                    {1, 0.999, 0.5}, {1, 1e-14, 1e-15}, {1, 0.5, 0.4999999}, {1, 1e-16, 0}};

static void make_matrix(uint64_t *seed, const double spectrum[3], double m[EIGEN3_NUMBERS]) {
    double axes[3][3];
    make_axes(seed, axes);
    memset(m, 0, EIGEN3_NUMBERS * sizeof *m);
    for (int i = 0, at = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, at++) {
            for (int c = 0; c < 3; c++) m[at] += spectrum[c] * axes[c][i] * axes[c][j];
        }
    }
}

static void sort3(double v[3]) {
    for (int i = 0; i < 3; i++) {
        const int a = i % 2, b = a + 1;
        const double low = fmin(v[a], v[b]), high = fmax(v[a], v[b]);
        v[a] = low, v[b] = high;
    }
}

static void check_solution(const double before[6], const double *m) {
    long double a[3][3] = {
        {before[0], before[1], before[2]}, {before[1], before[3], before[4]}, {before[2], before[4], before[5]}};
    long double expected[3], vectors[3][3];
    double found[3] = {m[0], m[3], m[5]};
    normals_reference_eigen(a, expected, vectors);
    for (int c = 0; c < 3; c++) {
        const double *v = m + 6 + 3 * c;
        for (int i = 0; i < 3; i++) {
            long double image = 0, dot = 0;
            for (int k = 0; k < 3; k++) image += a[i][k] * (long double)v[k];
            for (int k = 0; k < 3; k++) dot += (long double)(m + 6 + 3 * i)[k] * (long double)v[k];
            assert_true(fabsl(image - (long double)found[c] * (long double)v[i]) < 4e-15L);
            assert_true(fabsl(dot - (i == c)) < 4e-15L);
        }
    }
    sort3(found);
    for (int c = 0; c < 3; c++) assert_true(fabsl((long double)found[c] - expected[c]) < 4e-15L);
}

static void solves_every_spectrum(void **state) {
    (void)state;
    uint64_t seed = 0;
    for (uint32_t turn = 0; turn < 20000; turn++) {
        double m[EIGEN3_NUMBERS], before[6];
        make_matrix(&seed, spectra[turn % (sizeof spectra / sizeof spectra[0])], m);
        memcpy(before, m, sizeof before);
        eigen3_solve(m, 1);
        check_solution(before, m);
    }
}

/* Entries of either sign on an axis, equal ones, and off-diagonals that vanish when squared. */
static void solves_special_matrices(void **state) {
    (void)state;
    static const double matrices[][6] = {{1, 0, 0, 1, 0, 1},
                                         {0, 1, 0, 0, 0, 0},
                                         {0, 1, 1, 0, 1, 0},
                                         {1, 1, 1, 1, 1, 1},
                                         {1, 1e-200, 0, 1, 0, 1},
                                         {0, 1e-200, 0, 0, 0, 0},
                                         {1, 0, -1, 0.5, 0, 1},
                                         {0.25, -0.25, 0, 0.25, 0, 0.5},
                                         {1e-30, 1e-30, 0, 1e-30, 0, 1},
                                         {0, 0, 0, 0, 0, 0}};
    for (uint32_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
        double m[EIGEN3_NUMBERS];
        memcpy(m, matrices[i], sizeof matrices[i]);
        eigen3_solve(m, 1);
        check_solution(matrices[i], m);
    }
}

static void lanes_give_the_same_bits(void **state) {
    (void)state;
    enum { LANES = 8 };
    uint64_t seed = 7;
    for (uint32_t turn = 0; turn < 500; turn++) {
        double lanes[EIGEN3_NUMBERS][LANES], one[LANES][EIGEN3_NUMBERS];
        for (uint32_t l = 0; l < LANES; l++) {
            make_matrix(&seed, spectra[(turn + l) % (sizeof spectra / sizeof spectra[0])], one[l]);
            for (uint32_t i = 0; i < EIGEN3_NUMBERS; i++) lanes[i][l] = one[l][i];
        }
        for (uint32_t l = 0; l < LANES; l++) eigen3_begin(&lanes[0][l], LANES);
        for (int sweep = 0; sweep < EIGEN3_SWEEPS; sweep++) {
            for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_xy(&lanes[0][l], LANES);
            for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_xz(&lanes[0][l], LANES);
            for (uint32_t l = 0; l < LANES; l++) eigen3_rotate_yz(&lanes[0][l], LANES);
        }
        for (uint32_t l = 0; l < LANES; l++) {
            eigen3_solve(one[l], 1);
            for (uint32_t i = 0; i < EIGEN3_NUMBERS; i++) assert_memory_equal(&lanes[i][l], &one[l][i], sizeof(double));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_every_spectrum),
        cmocka_unit_test(solves_special_matrices),
        cmocka_unit_test(lanes_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
