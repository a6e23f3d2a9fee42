/* An octree of more points than the device holds is built in parts, and is that of one piece. */
#include <stdio.h>
#include <string.h>

#include "parity/parity_support.h"

#define POINTS      40000u
#define LIMIT_BYTES (16u << 20)
#define LEFT_BYTES  1900000u /* on the device: not for all points, but for half of them */

static bool warned;

static void on_log(void *user, mote_log_level level, const char *message) {
    (void)user, (void)level;
    warned = warned || strstr(message, "the memory of the GPU does not hold all points") != NULL;
}

typedef struct pair {
    mote_context *cpu, *cuda;
    void *taken; /* memory of the device that the octree shall not have */
} pair;

static int setup(void **state) {
    static pair on;
    on.cpu = parity_cpu_context();
    on.cuda = parity_context(LIMIT_BYTES);
    *state = &on;
    if (on.cuda == NULL || on.cpu == NULL) return -1;
    on.cuda->params.log = on_log;
    on.taken = cuda_alloc(gpu_of(on.cuda), LIMIT_BYTES - LEFT_BYTES, "taken");
    return on.taken == NULL ? -1 : 0;
}

/* The whole limit is there. */
static int setup_free(void **state) {
    if (setup(state) != 0) return -1;
    pair *on = *state;
    cuda_free(gpu_of(on->cuda), on->taken);
    on->taken = NULL;
    return 0;
}

static int teardown(void **state) {
    const pair *on = *state;
    cuda_free(gpu_of(on->cuda), on->taken);
    mote_context_destroy(on->cuda);
    mote_context_destroy(on->cpu);
    return 0;
}

static mote_lod_params params_of(mote_lod_scheme scheme, mote_lod_sampling sampling, mote_lod_filter filter) {
    mote_lod_params p = mote_lod_defaults();
    p.scheme = scheme;
    p.sampling = sampling;
    p.filter = filter;
    p.grid = 16;
    p.merge_points = 300;
    p.seed = 5;
    return p;
}

/* Builds with both and compares; in parts means that the GPU keeps nothing of the octree. */
static void compare(const pair *on, const mote_cloud *cloud, const mote_lod_params *p, const char *what) {
    char why[PARITY_WHY_BYTES];
    mote_lod *a = NULL, *b = NULL;
    assert_int_equal(mote_lod_build(on->cpu, cloud, p, &a), MOTE_OK);
    if (mote_lod_build(on->cuda, cloud, p, &b) != MOTE_OK) {
        fail_msg("%s, sampling %d: %s", what, (int)p->sampling, mote_context_message(on->cuda));
    }
    assert_true(b->cuda == NULL);
    if (!parity_same_lods(a, b, p->filter != MOTE_LOD_FILTER_NONE, why)) {
        fail_msg("%s, sampling %d: %s", what, (int)p->sampling, why);
    }
    mote_lod_destroy(a);
    mote_lod_destroy(b);
    assert_int_equal(mote_context_device_bytes(on->cuda), LIMIT_BYTES - LEFT_BYTES);
}

static void parts_are_one_piece(void **state) {
    static const char *const kinds[] = {"city", "clusters", "uniform"};
    const pair *on = *state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(on->cpu, kinds[k], POINTS, NULL, &cloud), MOTE_OK);
        for (int scheme = 0; scheme < 2; scheme++) {
            for (int sampling = MOTE_LOD_RANDOM; sampling <= MOTE_LOD_FIRST; sampling++) {
                const mote_lod_params p =
                    params_of((mote_lod_scheme)scheme, (mote_lod_sampling)sampling, MOTE_LOD_FILTER_NONE);
                compare(on, cloud, &p, kinds[k]);
            }
        }
        mote_cloud_destroy(cloud);
    }
}

/* Cells of any size may reach over the border of two parts. */
static void coarse_cells_cross_parts(void **state) {
    const pair *on = *state;
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(on->cpu, "clusters", POINTS, NULL, &cloud), MOTE_OK);
    mote_lod_params p = params_of(MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE);
    for (p.grid = 2; p.grid <= 128; p.grid *= 8) compare(on, cloud, &p, "clusters");
    mote_cloud_destroy(cloud);
}

/* Heaps of equal points are not torn apart. */
static void heaps_stay_whole(void **state) {
    const pair *on = *state;
    mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named("heap of duplicates"), POINTS, 0);
    const mote_lod_params p = params_of(MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE);
    const mote_lod_params first = params_of(MOTE_LOD_ADDITIVE, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE);
    compare(on, cloud, &p, "heap");
    compare(on, cloud, &first, "heap");
    mote_cloud_destroy(cloud);
}

/* What only the CPU does with parts, it says. */
static void the_rest_is_the_cpus(void **state) {
    const pair *on = *state;
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(on->cpu, "city", POINTS, NULL, &cloud), MOTE_OK);
    const mote_lod_params poisson = params_of(MOTE_LOD_ADDITIVE, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE);
    const mote_lod_params filter = params_of(MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN);
    warned = false;
    compare(on, cloud, &poisson, "poisson");
    assert_true(warned);
    warned = false;
    compare(on, cloud, &filter, "filter");
    assert_true(warned);
    mote_cloud_destroy(cloud);
}

/* Whatever the device has left, the octree is that of one piece: also where it took more than points mostly do. */
static void any_memory_gives_the_same(void **state) {
    static const mote_lod_params ways[] = {
        {.scheme = MOTE_LOD_ADDITIVE, .sampling = MOTE_LOD_RANDOM, .grid = 128, .merge_points = 20},
        {.scheme = MOTE_LOD_ADDITIVE, .sampling = MOTE_LOD_POISSON, .grid = 128, .merge_points = 20},
        {.scheme = MOTE_LOD_REPLACING, .filter = MOTE_LOD_FILTER_GAUSSIAN, .grid = 128, .merge_points = 20}};
    const pair *on = *state;
    mote_cloud *cloud = NULL;
    uint64_t most = 0;
    assert_int_equal(mote_generate(on->cpu, "city", POINTS / 4, NULL, &cloud), MOTE_OK);
    const uint64_t shortages = gpu_of(on->cuda)->shortages;
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        mote_lod *whole = NULL;
        assert_int_equal(mote_lod_build(on->cpu, cloud, &ways[w], &whole), MOTE_OK);
        for (uint64_t left = LEFT_BYTES / 4; left < 3 * LEFT_BYTES; left += LEFT_BYTES / 4) {
            char why[PARITY_WHY_BYTES];
            mote_lod *lod = NULL;
            const uint64_t held = mote_context_device_bytes(on->cuda), rest = LIMIT_BYTES - left;
            void *more = rest > held ? cuda_alloc(gpu_of(on->cuda), rest - held, "taken") : NULL;
            if (mote_lod_build(on->cuda, cloud, &ways[w], &lod) == MOTE_OK) {
                if (!parity_same_lods(whole, lod, ways[w].filter != MOTE_LOD_FILTER_NONE, why)) fail_msg("%s", why);
                mote_lod_destroy(lod);
            } else {
                assert_int_equal(mote_context_status(on->cuda), MOTE_ERROR_MEMORY);
                mote_context_clear(on->cuda);
                most = left > most ? left : most;
            }
            cuda_free(gpu_of(on->cuda), more);
        }
        mote_lod_destroy(whole);
    }
    assert_true(gpu_of(on->cuda)->shortages > shortages);
    assert_in_range(most, 0, 2u << 20); /* which holds no part beside what sorting takes */
    mote_cloud_destroy(cloud);
}

int main(void) {
    mote_context *cuda = parity_context(0);
    if (cuda == NULL) return PARITY_SKIPPED;
    mote_context_destroy(cuda);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_one_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(coarse_cells_cross_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(heaps_stay_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(the_rest_is_the_cpus, setup, teardown),
        cmocka_unit_test_setup_teardown(any_memory_gives_the_same, setup_free, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
