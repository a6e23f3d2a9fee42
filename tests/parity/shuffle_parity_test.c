/* Another order of the points renames them and changes nothing else: neighbours, normals and planes, on the CPU and on
   the GPU. */
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "mote/gen.h"
#include "mote/normals.h"
#include "mote/planes.h"
#include "parity/parity_support.h"
#include "reference/knn_reference.h"
#include "support/knn_found.h"

#define ORDERS 2u /* tried of each cloud */

/* ---- clouds in another order */

typedef struct shuffled {
    mote_cloud *cloud;
    uint64_t *old_of; /* what the points were called before */
    uint32_t *new_of;
    uint64_t count;
} shuffled;

static shuffled shuffle(mote_context *ctx, const mote_cloud *cloud, uint64_t seed) {
    const uint64_t count = mote_cloud_count(cloud);
    shuffled s = {NULL, calloc(count, sizeof *s.old_of), calloc(count, sizeof *s.new_of), count};
    assert_true(s.old_of != NULL && s.new_of != NULL);
    for (uint64_t i = 0; i < count; i++) s.old_of[i] = i;
    for (uint64_t i = count; i > 1; i--) {
        const uint64_t other = mote_hash_pair(seed, i) % i, point = s.old_of[i - 1];
        s.old_of[i - 1] = s.old_of[other];
        s.old_of[other] = point;
    }
    for (uint64_t i = 0; i < count; i++) s.new_of[s.old_of[i]] = (uint32_t)i;
    assert_int_equal(mote_cloud_select(ctx, cloud, s.old_of, count, &s.cloud), MOTE_OK);
    return s;
}

static void free_shuffled(shuffled *s) {
    mote_cloud_destroy(s->cloud);
    free(s->old_of);
    free(s->new_of);
}

/* A cube of side³ places, some of them empty, most of them with several points. */
static mote_cloud *make_grid(mote_context *ctx, mote_type type, uint64_t side, uint64_t count) {
    double *stored = malloc(3 * count * sizeof *stored);
    assert_non_null(stored);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = mote_hash_pair(side, i) % (side * side * side);
        stored[3 * i] = (double)(place % side);
        stored[3 * i + 1] = (double)(place / side % side);
        stored[3 * i + 2] = (double)(place / side / side);
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, type, type == MOTE_INT32 ? 0.5 : 1, 0, stored, count);
    free(stored);
    return cloud;
}

static mote_cloud *generate(mote_context *ctx, const char *kind, uint64_t count) {
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, kind, count, NULL, &cloud), MOTE_OK);
    return cloud;
}

/* ---- neighbours */

typedef struct neighbour {
    double distance2;
    uint32_t index;
} neighbour;

static int nearer(const void *a, const void *b) {
    const neighbour *one = a, *other = b;
    if (one->distance2 != other->distance2) return one->distance2 < other->distance2 ? -1 : 1;
    return one->index < other->index ? -1 : 1;
}

/* all: everyone's neighbours before, every point of the cloud in each row. Under their new names, by distance and then
   by name, the first k of them are the row of the shuffled cloud. */
static void same_neighbours(const knn_found *all, const knn_found *found, const shuffled *s, uint32_t k) {
    neighbour *renamed = malloc(s->count * sizeof *renamed);
    assert_non_null(renamed);
    for (uint64_t query = 0; query < s->count; query++) {
        const uint64_t row = query * s->count, now = s->new_of[query] * (uint64_t)k;
        const uint32_t many = all->count[query], representatives = many < k ? many : k;
        for (uint32_t i = 0; i < many; i++) {
            renamed[i] = (neighbour){all->distance2_wide[row + i], s->new_of[all->index[row + i]]};
        }
        qsort(renamed, many, sizeof *renamed, nearer);
        assert_int_equal(found->count[s->new_of[query]], representatives);
        for (uint32_t i = 0; i < representatives; i++) assert_int_equal(found->index[now + i], renamed[i].index);
        assert_memory_equal(found->distance2 + now, all->distance2 + row, representatives * sizeof(float));
        assert_memory_equal(found->distance2_wide + now, all->distance2_wide + row, representatives * sizeof(double));
    }
    free(renamed);
}

static void check_neighbours(mote_context *ctx, mote_context *maker, const mote_cloud *cloud, bool exclude_self) {
    static const uint32_t ks[] = {1, 7, 16, 17, 100};
    mote_knn_params params = mote_knn_defaults();
    params.exclude_self = exclude_self;
    params.k = (uint32_t)mote_cloud_count(cloud);
    knn_found all = knn_found_of(ctx, cloud, NULL, &params);
    for (uint64_t order = 1; order <= ORDERS; order++) {
        shuffled s = shuffle(maker, cloud, order);
        for (uint32_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
            params.k = ks[i];
            knn_found found = knn_found_of(ctx, s.cloud, NULL, &params);
            same_neighbours(&all, &found, &s, params.k);
            knn_found_free(&found);
        }
        free_shuffled(&s);
    }
    knn_found_free(&all);
}

static void neighbours_are_renamed(void **state) {
    static const mote_type types[] = {MOTE_INT32, MOTE_FLOAT32, MOTE_FLOAT64};
    static const char *const names[] = {"uniform float", "heap of duplicates", "far clusters", "some not finite"};
    const uint64_t count = parity_extent(150, 300, 700);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < 7; c++) {
        mote_cloud *cloud = c < 3 ? make_grid(pair->cpu, types[c], 5, count)
                                  : awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c - 3]), count, 0);
        check_neighbours(pair->cpu, pair->cpu, cloud, c % 2 == 0);
        check_neighbours(pair->cuda, pair->cpu, cloud, c % 2 == 0);
        mote_cloud_destroy(cloud);
    }
}

/* ---- normals */

#define NORMALS_ARRAYS 6

typedef struct estimates {
    float *of[NORMALS_ARRAYS]; /* normal, curvature, densities */
} estimates;

static estimates estimate(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params) {
    estimates e;
    mote_normals_result result;
    memset(&result, 0, sizeof result);
    for (int i = 0; i < NORMALS_ARRAYS; i++) {
        e.of[i] = malloc(mote_cloud_count(cloud) * sizeof(float));
        assert_non_null(e.of[i]);
    }
    result.normal_x = e.of[0];
    result.normal_y = e.of[1];
    result.normal_z = e.of[2];
    result.curvature = e.of[3];
    result.surface_density = e.of[4];
    result.volume_density = e.of[5];
    assert_int_equal(mote_normals(ctx, cloud, params, &result), MOTE_OK);
    return e;
}

static void free_estimates(estimates *e) {
    for (int i = 0; i < NORMALS_ARRAYS; i++) free(e->of[i]);
}

static void check_normals(mote_context *ctx, mote_context *maker, const mote_cloud *cloud,
                          const mote_normals_params *params) {
    estimates before = estimate(ctx, cloud, params);
    for (uint64_t order = 1; order <= ORDERS; order++) {
        shuffled s = shuffle(maker, cloud, order);
        estimates after = estimate(ctx, s.cloud, params);
        for (uint64_t i = 0; i < s.count; i++) {
            for (int a = 0; a < NORMALS_ARRAYS; a++) {
                assert_memory_equal(&after.of[a][i], &before.of[a][s.old_of[i]], sizeof(float));
            }
        }
        free_estimates(&after);
        free_shuffled(&s);
    }
    free_estimates(&before);
}

/* Of a grid, all within a radius: which of equally far points are among the k nearest depends on their names. */
static void normals_stay(void **state) {
    const uint64_t count = parity_extent(200, 500, 20000), side = parity_extent(6, 8, 27);
    parity_pair *pair = *state;
    mote_context *const contexts[] = {pair->cpu, pair->cuda};
    for (int c = 0; c < 2; c++) {
        mote_cloud *grid = make_grid(pair->cpu, c == 0 ? MOTE_INT32 : MOTE_FLOAT32, side, count);
        mote_cloud *torus = generate(pair->cpu, "torus", count);
        mote_normals_params params = mote_normals_defaults();
        for (uint32_t k = 9; k <= 40; k += 31) {
            params.k = k;
            params.orient = k == 9 ? MOTE_ORIENT_PROPAGATE : MOTE_ORIENT_UP;
            check_normals(contexts[c], pair->cpu, torus, &params);
        }
        params.k = 0;
        params.radius = c == 0 ? 0.75 : 1.5;
        check_normals(contexts[c], pair->cpu, grid, &params);
        mote_cloud_destroy(grid);
        mote_cloud_destroy(torus);
    }
}

/* ---- planes */

static int32_t *find_planes(mote_context *ctx, const mote_cloud *cloud, mote_planes **planes) {
    mote_planes_params params = mote_planes_defaults();
    int32_t *labels = malloc(mote_cloud_count(cloud) * sizeof *labels);
    assert_non_null(labels);
    params.resolution_deg = (double)parity_extent(10, 6, 2);
    assert_int_equal(mote_planes_find(ctx, cloud, &params, labels, planes), MOTE_OK);
    return labels;
}

static void check_planes(mote_context *ctx, mote_context *maker, const mote_cloud *cloud) {
    mote_planes *before, *after;
    int32_t *labels = find_planes(ctx, cloud, &before);
    assert_true(mote_planes_count(before) > 2);
    for (uint64_t order = 1; order <= ORDERS; order++) {
        shuffled s = shuffle(maker, cloud, order);
        int32_t *renamed = find_planes(ctx, s.cloud, &after);
        assert_int_equal(mote_planes_count(after), mote_planes_count(before));
        for (uint32_t i = 0; i < mote_planes_count(before); i++) {
            assert_memory_equal(mote_planes_at(after, i), mote_planes_at(before, i), sizeof(mote_plane));
        }
        for (uint64_t i = 0; i < s.count; i++) assert_int_equal(renamed[i], labels[s.old_of[i]]);
        mote_planes_destroy(after);
        free(renamed);
        free_shuffled(&s);
    }
    mote_planes_destroy(before);
    free(labels);
}

/* A room, and one of a scanner with steps of 5 cm: points upon points. */
static void planes_stay(void **state) {
    const uint64_t count = parity_extent(1500, 3000, 30000);
    parity_pair *pair = *state;
    mote_cloud *room = generate(pair->cpu, "room", count);
    double *stored = malloc(3 * count * sizeof *stored);
    assert_non_null(stored);
    for (uint64_t i = 0; i < 3 * count; i++) {
        stored[i] = (double)(int64_t)(20 * mote_column_value(mote_cloud_column(room, (uint32_t)(i % 3)), i / 3));
    }
    mote_cloud *steps = knn_reference_cloud(pair->cpu, MOTE_INT32, 0.05, 0, stored, count);
    check_planes(pair->cpu, pair->cpu, room);
    check_planes(pair->cuda, pair->cpu, room);
    check_planes(pair->cpu, pair->cpu, steps);
    check_planes(pair->cuda, pair->cpu, steps);
    mote_cloud_destroy(room);
    mote_cloud_destroy(steps);
    free(stored);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {
        PARITY_TEST(neighbours_are_renamed),
        PARITY_TEST(normals_stay),
        PARITY_TEST(planes_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
