/* Nearest neighbours of clouds with strays, and of density that differs by many decades: the GPU's are the CPU's. */
#include <math.h>
#include <stdlib.h>

#include "parity/knn_parity_support.h"
#include "reference/knn_reference.h"
#include "reference/shaped_clouds.h"
#include "support/random.h"

/* The numbers of neighbours at which the search takes another way. */
static const uint32_t some_k[] = {1, 10, 16, 17, 32, 100, 200};
#define SOME_K (sizeof some_k / sizeof some_k[0])

static mote_type type_of(uint32_t turn) { return turn % 3 == 2 ? MOTE_FLOAT32 : MOTE_FLOAT64; }

static void shapes_have_the_same_neighbours(void **state) {
    const uint32_t step = (uint32_t)parity_extent(7, 4, 1);
    const uint64_t count = parity_extent(300, 900, 30000);
    parity_pair *pair = *state;
    for (uint32_t turn = 0; turn < 3 * shaped_cloud_count; turn++) {
        const shaped_cloud *family = &shaped_clouds[turn / 3];
        mote_cloud *cloud = shaped_cloud_make(pair->cpu, family, type_of(turn), count + turn, 1);
        for (uint32_t i = turn % step; i < SOME_K; i += step) {
            knn_trial t = knn_trial_of(state, cloud, some_k[i], family->name);
            t.params.exclude_self = (turn + i) % 2 == 0;
            t.on_device = turn % 3 == 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points of the same family, and of the next, are asked for. */
static void queries_of_shapes_are_answered_alike(void **state) {
    const uint64_t count = parity_extent(300, 1000, 20000);
    const uint32_t step = (uint32_t)parity_extent(4, 2, 1);
    parity_pair *pair = *state;
    for (uint32_t f = 0; f < shaped_cloud_count; f++) {
        mote_cloud *cloud = shaped_cloud_make(pair->cpu, &shaped_clouds[f], type_of(f), count, 1);
        for (uint32_t other = 0; other < 2; other++) {
            const shaped_cloud *asked = &shaped_clouds[(f + other) % shaped_cloud_count];
            mote_cloud *queries = shaped_cloud_make(pair->cpu, asked, type_of(f + other), 90, 2);
            for (uint32_t i = (f + other) % step; i < SOME_K; i += step) {
                knn_trial t = knn_trial_of(state, cloud, some_k[i], shaped_clouds[f].name);
                t.queries = queries;
                knn_compare(&t);
            }
            mote_cloud_destroy(queries);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Queries around a heap of more leaves than a walk of floats may list. */
static void a_heap_is_walked_past(void **state) {
    static const uint32_t ks[] = {17, 20, 100};
    const uint64_t count = parity_extent(600, 14000, 200000);
    parity_pair *pair = *state;
    const shaped_cloud *family = NULL;
    for (uint32_t f = 0; f < shaped_cloud_count; f++) {
        if (strcmp(shaped_clouds[f].name, "a heap beside a few") == 0) family = &shaped_clouds[f];
    }
    assert_non_null(family);
    double around[3 * 64];
    for (uint64_t i = 0; i < 3 * 64; i++) around[i] = test_random(9, i);
    for (uint32_t type = 0; type < 2; type++) {
        const mote_type of = type == 0 ? MOTE_FLOAT64 : MOTE_FLOAT32;
        mote_cloud *cloud = shaped_cloud_make(pair->cpu, family, of, count, 1);
        mote_cloud *queries = knn_reference_cloud(pair->cpu, of, 1, 0, around, 64);
        for (uint32_t i = 0; i < 3; i++) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], family->name);
            t.queries = queries;
            knn_compare(&t);
        }
        mote_cloud_destroy(queries);
        mote_cloud_destroy(cloud);
    }
}

/* Of points in the places of a grid: how many in each, how far the places are from each other, and whether the numbers
   of those in one place are near each other, rising or falling, or not. */
typedef struct tie_case {
    uint32_t in_place;
    double step, origin;
    int32_t numbers; /* 0: by chance */
} tie_case;

static void place_ties(const tie_case *c, uint64_t count, double *at) {
    const uint64_t places = count / c->in_place + 1, side = (uint64_t)ceil(cbrt((double)places));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t number = c->numbers < 0 ? count - 1 - i : i;
        const uint64_t place = c->numbers == 0 ? mote_hash_pair(c->in_place, i) % places : number / c->in_place;
        const uint64_t of[3] = {place % side, place / side % side, place / side / side};
        for (int k = 0; k < 3; k++) at[3 * i + k] = c->origin + c->step * (double)of[k];
    }
}

/* More points at one distance than a search has room for: the smallest numbers count. */
static void ties_are_settled_by_number(void **state) {
    static const tie_case cases[] = {
        {58, 1, 0, 0},  {58, 0.1, 0, 0},   {20, 1, 500000, 1},   {20, 0.1, 500000, -1},
        {130, 1, 0, 1}, {130, 1e-3, 7, 0}, {300, 0.25, 0.5, -1}, {7, 1e-9, 1e3, 0},
    };
    static const uint32_t ks[] = {10, 16, 17, 33, 64, 65, 100, 128, 129, 200, 256, 257, 512, 700};
    const uint64_t count = parity_extent(900, 2500, 60000);
    /* Each k at least once; watched is each second one, in turn. */
    const uint32_t step = (uint32_t)parity_extent(14, 3, 1), turn = (uint32_t)test_turn(2);
    parity_pair *pair = *state;
    double *const at = malloc(3 * count * sizeof *at);
    assert_non_null(at);
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        place_ties(&cases[c], count, at);
        mote_cloud *cloud = knn_reference_cloud(pair->cpu, type_of(c), 1, 0, at, count);
        for (uint32_t i = (2 * c + turn) % step; i < sizeof ks / sizeof ks[0]; i += step) {
            knn_trial t = knn_trial_of(state, cloud, ks[i], "ties");
            t.params.exclude_self = (c + i) % 2 == 0;
            knn_compare(&t);
        }
        mote_cloud_destroy(cloud);
    }
    free(at);
}

static void radii_in_shapes_find_the_same(void **state) {
    static const double radii[] = {1e-7, 0.01, 1, 3e4};
    const uint64_t count = parity_extent(100, 250, 1500);
    parity_pair *pair = *state;
    for (uint32_t turn = 0; turn < 2 * shaped_cloud_count; turn++) {
        const shaped_cloud *family = &shaped_clouds[turn / 2];
        mote_cloud *cloud = shaped_cloud_make(pair->cpu, family, type_of(turn), count, 1);
        for (uint32_t r = turn % 2; r < sizeof radii / sizeof radii[0]; r += 2) {
            knn_reference_check_within(pair->cuda, cloud, NULL, radii[r], turn % 2 == 0, family->name);
        }
        mote_cloud_destroy(cloud);
    }
}

/* Around the size from which points are sorted in another way; on a GPU only, as it takes minutes elsewhere. */
static void a_million_points_have_the_same_neighbours(void **state) {
    parity_pair *pair = *state;
    if (parity_extent(0, 0, 1) == 0) return;
    for (uint32_t f = 0; f < shaped_cloud_count; f++) {
        const uint64_t count = (1u << 20) + f % 3 - 1;
        mote_cloud *cloud = shaped_cloud_make(pair->cpu, &shaped_clouds[f], type_of(f), count, 1);
        knn_trial t = knn_trial_of(state, cloud, f % 2 == 0 ? 10 : 20, shaped_clouds[f].name);
        knn_compare(&t);
        mote_cloud_destroy(cloud);
    }
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(shapes_have_the_same_neighbours), PARITY_TEST(queries_of_shapes_are_answered_alike),
        PARITY_TEST(a_heap_is_walked_past),           PARITY_TEST(ties_are_settled_by_number),
        PARITY_TEST(radii_in_shapes_find_the_same),   PARITY_TEST(a_million_points_have_the_same_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
