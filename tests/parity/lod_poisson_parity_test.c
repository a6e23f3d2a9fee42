/* Poisson-disk sampling: the level bytes of the GPU are those of the CPU, on clouds of every awkward kind and with
   parameters at their ends. */
#include <stdlib.h>

#include "parity/parity_support.h"
#include "reference/shaped_clouds.h"

typedef struct bench {
    mote_context *cpu, *gpu;
    uint32_t builds, levels, chains; /* what was tried: octrees with levels to sample, levels, octrees with chains */
} bench;

static bench bench_of(void **state) {
    const parity_pair *pair = *state;
    return (bench){.cpu = pair->cpu, .gpu = pair->cuda};
}

static bool has_chain(const mote_lod *lod) {
    for (uint32_t n = 0; n < lod->node_count; n++) {
        const mote_lod_node *node = &lod->nodes[n];
        if (lod_is_inner(node) && lod->nodes[node->first_child].first != node->first) return true;
    }
    return false;
}

static void compare(const bench *b, const mote_lod *lod, const lod_cuda *device, const char *name) {
    uint8_t *level = malloc(lod->count + 1);
    assert_non_null(level);
    assert_int_equal(cuda_download(gpu_of(b->gpu), level, device->level, lod->count), MOTE_OK);
    for (uint64_t i = 0; i < lod->count; i++) {
        if (level[i] == lod->level[i]) continue;
        fail_msg("%s, %llu points, grid %u, merge %u, most %llu, seed %llu: point %llu is of level %u, on the CPU %u",
                 name, (unsigned long long)lod->count, lod->params.grid, lod->params.merge_points,
                 (unsigned long long)lod->params.max_node_points, (unsigned long long)lod->params.seed,
                 (unsigned long long)i, level[i], lod->level[i]);
    }
    free(level);
}

/* Builds on the CPU and samples that octree again on the GPU. */
static void check(bench *b, const mote_cloud *cloud, const char *name, const mote_lod_params *params) {
    mote_lod *lod = NULL;
    if (!parity_is_mine()) return;
    const mote_status status = mote_lod_build(b->cpu, cloud, params, &lod);
    if (status != MOTE_OK) { /* too many points in one place */
        assert_int_equal(status, MOTE_ERROR_UNSUPPORTED);
        mote_context_clear(b->cpu);
        return;
    }
    if (lod->level_count > 1) {
        mote_lod *on_gpu = parity_device_make(b->gpu, lod, PARITY_LEAF_LEVEL);
        assert_int_equal(lod_cuda_poisson(on_gpu, on_gpu->cuda), MOTE_OK);
        compare(b, lod, on_gpu->cuda, name);
        mote_lod_destroy(on_gpu);
        assert_int_equal(mote_context_device_bytes(b->gpu), 0);
        b->builds++;
        b->levels += lod->level_count - 1;
        b->chains += has_chain(lod);
    }
    mote_lod_destroy(lod);
}

static mote_lod_params poisson_params(uint32_t grid, uint32_t merge, uint64_t max, uint64_t seed) {
    mote_lod_params p = mote_lod_defaults();
    p.sampling = MOTE_LOD_POISSON;
    p.scheme = seed % 2 == 0 ? MOTE_LOD_ADDITIVE : MOTE_LOD_REPLACING;
    p.grid = grid;
    p.merge_points = merge;
    p.max_node_points = max;
    p.seed = seed;
    return p;
}

static void awkward_clouds_are_the_same(void **state) {
    const mote_lod_params tried[] = {poisson_params(2, 1, 0, 0),   poisson_params(4, 5, 0, 1),
                                     poisson_params(8, 20, 0, 2),  poisson_params(16, 50, 3, 4),
                                     poisson_params(128, 2, 0, 3), poisson_params(128, 40, 0, UINT64_MAX)};
    bench b = bench_of(state);
    for (uint32_t c = 0; c < awkward_cloud_count; c += (uint32_t)parity_extent(7, 1, 1)) {
        /* The last levels of up to 512 points are sampled in another way. */
        mote_cloud *cloud = awkward_cloud_make(b.cpu, &awkward_clouds[c], c / 2 % 2 == 0 ? 300 : 800, 0);
        for (size_t i = c % 2; i < sizeof tried / sizeof tried[0]; i += 2) {
            check(&b, cloud, awkward_clouds[c].name, &tried[i]);
        }
        mote_cloud_destroy(cloud);
    }
    if (parity_is_whole()) {
        assert_true(b.builds > parity_extent(10, 60, 60) && b.levels > parity_extent(40, 300, 300));
    }
}

/* Down to one point, and around the number of lanes that try points together. */
static void any_count_is_the_same(void **state) {
    static const uint64_t counts[] = {1, 2, 3, 31, 32, 33, 64, 65};
    const mote_lod_params params = poisson_params(4, 1, 5, 6);
    bench b = bench_of(state);
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        for (uint32_t c = (uint32_t)(n % 3); c < awkward_cloud_count; c += (uint32_t)parity_extent(24, 3, 3)) {
            mote_cloud *cloud = awkward_cloud_make(b.cpu, &awkward_clouds[c], counts[n], 0);
            check(&b, cloud, awkward_clouds[c].name, &params);
            mote_cloud_destroy(cloud);
        }
    }
    if (parity_is_whole()) assert_true(b.builds > parity_extent(5, 40, 40));
}

/* Many blocks and phases, many candidates in a block, and cells that many blocks look at. */
static void larger_clouds_are_the_same(void **state) {
    static const char *const kinds[] = {"uniform", "torus", "clusters", "lattice", "room", "city"};
    const mote_lod_params tried[] = {poisson_params(2, 100, 0, 0), poisson_params(16, 1000, 0, 1),
                                     poisson_params(32, 100, 0, 2), poisson_params(128, 1000, 0, 4)};
    const size_t step = parity_extent(3, 1, 1);
    bench b = bench_of(state);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(b.cpu, kinds[k], parity_extent(1500, 4000, 50000), NULL, &cloud), MOTE_OK);
        for (size_t i = k % step; i < sizeof tried / sizeof tried[0]; i += step) check(&b, cloud, kinds[k], &tried[i]);
        mote_cloud_destroy(cloud);
    }
    if (parity_is_whole()) assert_true(b.builds > parity_extent(7, 20, 20));
}

/* Levels far below the last, and blocks of any number of trials: strays, and density over many decades. */
static void shapes_are_the_same(void **state) {
    bench b = bench_of(state);
    for (uint32_t f = 0; f < shaped_cloud_count; f += (uint32_t)parity_extent(5, 1, 1)) {
        const uint64_t count = parity_extent(700, 2500, 150000);
        const mote_lod_params tried[] = {poisson_params(128, parity_extent(20, 50, 5000), 0, f),
                                         poisson_params(8, parity_extent(20, 50, 2000), 0, f + 1)};
        mote_cloud *cloud = shaped_cloud_make(b.cpu, &shaped_clouds[f], MOTE_FLOAT64, count, 1);
        for (size_t i = 0; i < 2; i++) check(&b, cloud, shaped_clouds[f].name, &tried[i]);
        mote_cloud_destroy(cloud);
    }
}

/* Heaps in many places, each larger than a node may be: chains of all lengths beside what is sampled. */
static void chains_are_the_same(void **state) {
    static const char *const names[] = {"heap of duplicates", "ticks", "pile", "one place", "bytes"};
    static const uint64_t max[] = {1, 2, 4, 11, 50};
    const size_t step = parity_extent(3, 1, 1);
    bench b = bench_of(state);
    for (size_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        for (size_t m = c % step; m < sizeof max / sizeof max[0]; m += step) {
            const mote_lod_params params = poisson_params(4, 10, max[m], 2 * m);
            mote_cloud *cloud = awkward_cloud_make(b.cpu, awkward_cloud_named(names[c]), 1200, 0);
            check(&b, cloud, names[c], &params);
            mote_cloud_destroy(cloud);
        }
    }
    if (parity_is_whole()) assert_true(b.chains > parity_extent(1, 8, 8));
}

/* Steps that differ by axis as far as they may: cells of one axis hold many steps, those of another less than one. */
static void unequal_axes_are_the_same(void **state) {
    static const double scales[][3] = {{1, 0.01, 0.0001}, {0.001, 1000, 0.001}, {1e-6, 1e-6, 0.3}, {1, 1, 1e-9}};
    bench b = bench_of(state);
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        awkward_cloud kind = *awkward_cloud_named("sheet");
        for (int k = 0; k < 3; k++) {
            kind.scale[k] = scales[s][k];
            kind.size[k] = k == 0 ? 40 : 2e6;
        }
        mote_cloud *cloud = awkward_cloud_make(b.cpu, &kind, 1500, 0);
        for (uint32_t grid = 2; grid <= 32; grid *= (uint32_t)parity_extent(16, 4, 4)) {
            const mote_lod_params params = poisson_params(grid, 20, 0, s);
            check(&b, cloud, "unequal axes", &params);
        }
        mote_cloud_destroy(cloud);
    }
    if (parity_is_whole()) assert_true(b.builds == parity_extent(8, 12, 12));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_are_the_same), PARITY_TEST(any_count_is_the_same),
        PARITY_TEST(larger_clouds_are_the_same),  PARITY_TEST(shapes_are_the_same),
        PARITY_TEST(chains_are_the_same),         PARITY_TEST(unequal_axes_are_the_same),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
