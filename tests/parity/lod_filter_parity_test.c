/* Colour filters: the GPU's averages, for every kind of sampling, are those of the CPU, byte for byte. The octree is
   the CPU's: only the filter runs on the device. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda.h"
#include "core/core.h"
#include "lod/lod_cuda.h"
#include "reference/awkward_clouds.h"
#include "reference/lod_reference.h"
#include "support/support.h"

#define NO_GPU 77 /* the test is skipped */

typedef struct contexts {
    mote_context *cpu, *gpu;
} contexts;

/* What the device is given of an octree. */
typedef struct host_octree {
    uint64_t *codes;
    uint8_t *leaf_level;
    uint32_t *items;
    uint64_t item_count;
    uint64_t level_items[LOD_MOST_LEVELS + 1];
} host_octree;

static void *allocate(uint64_t size_bytes) {
    void *memory = malloc(size_bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void sort_codes(mote_context *cpu, const mote_lod *lod, host_octree *host) {
    uint64_t *codes = allocate(lod->cloud->count * sizeof *codes);
    host->codes = allocate(lod->count * sizeof *codes);
    assert_int_equal(mote_order_codes(cpu, lod->cloud, &lod->lattice, codes), MOTE_OK);
    for (uint64_t i = 0; i < lod->count; i++) host->codes[i] = codes[lod->order[i]];
    free(codes);
}

static void list_items(const mote_lod *lod, host_octree *host) {
    host->leaf_level = allocate(lod->count);
    host->items = allocate(lod->count * (lod->level_count + 1) * sizeof *host->items);
    for (uint64_t n = 0; n < lod->node_count; n++) {
        const mote_lod_node *node = &lod->nodes[n];
        if (!lod_is_inner(node)) memset(host->leaf_level + node->first, node->level, node->total);
    }
    for (uint32_t level = 0; level < LOD_MOST_LEVELS; level++) {
        host->level_items[level] = host->item_count;
        for (uint64_t i = 0; i < lod->count && level < lod->level_count; i++) {
            const bool leaf = host->leaf_level[i] == level, inner = host->leaf_level[i] > level;
            if (leaf || (inner && lod->level[i] <= level)) host->items[host->item_count++] = (uint32_t)i;
        }
    }
    host->level_items[LOD_MOST_LEVELS] = host->item_count;
}

static void *to_device(mote_context *gpu, const void *from, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu, size_bytes, "test");
    assert_non_null(device);
    assert_int_equal(cuda_upload(gpu, device, from, size_bytes), MOTE_OK);
    return device;
}

static void open_device(mote_context *gpu, const mote_lod *lod, const host_octree *host, lod_cuda *device) {
    memset(device, 0, sizeof *device);
    assert_int_equal(cuda_cloud_open(gpu, lod->cloud, &device->cloud), MOTE_OK);
    device->codes = to_device(gpu, host->codes, lod->count * sizeof *host->codes);
    device->order = to_device(gpu, lod->order, lod->count * sizeof *lod->order);
    device->level = to_device(gpu, lod->level, lod->count);
    device->leaf_level = to_device(gpu, host->leaf_level, lod->count);
    device->items = to_device(gpu, host->items, host->item_count * sizeof *host->items);
    device->item_count = host->item_count;
    memcpy(device->level_items, host->level_items, sizeof host->level_items);
}

static void close_device(mote_context *gpu, lod_cuda *device) {
    void *const owned[] = {device->codes,      device->order, device->level,
                           device->leaf_level, device->items, device->item_colors};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) cuda_free(gpu, owned[i]);
    cuda_cloud_close(&device->cloud);
}

/* Items of inner nodes stand in the order of the CPU's colours. */
static void compare(const mote_lod *lod, const host_octree *host, const uint16_t *colors, const char *what) {
    uint64_t average = 0;
    uint32_t level = 0;
    for (uint64_t j = 0; j < host->item_count; j++) {
        while (j >= host->level_items[level + 1]) level++;
        const uint32_t position = host->items[j];
        const bool inner = host->leaf_level[position] > level;
        uint16_t right[4] = {0, 0, 0, inner};
        for (int k = 0; k < 3; k++) {
            right[k] = inner ? lod->colors[3 * average + (uint64_t)k] : lod_color(lod->rgb[k], lod->order[position]);
        }
        average += inner;
        if (memcmp(right, colors + 4 * j, sizeof right) == 0) continue;
        const uint16_t *wrong = colors + 4 * j;
        fail_msg("%s: item %llu, level %u, position %u: %u %u %u %u, not %u %u %u %u", what, (unsigned long long)j,
                 level, position, wrong[0], wrong[1], wrong[2], wrong[3], right[0], right[1], right[2], right[3]);
    }
}

/* Builds on the CPU, filters on both. Returns the peak of device memory beyond what the filter was given. */
static uint64_t check(const contexts *c, const mote_cloud *cloud, const mote_lod_params *params, const char *name) {
    char what[REFERENCE_NAME_BYTES];
    mote_lod *lod;
    host_octree host;
    lod_cuda device;
    memset(&host, 0, sizeof host);
    lod_combination_name(params, name, mote_cloud_count(cloud), what);
    assert_int_equal(mote_lod_build(c->cpu, cloud, params, &lod), MOTE_OK);
    sort_codes(c->cpu, lod, &host);
    list_items(lod, &host);
    open_device(c->gpu, lod, &host, &device);
    const uint64_t given = mote_context_device_bytes(c->gpu);
    mote_lod twin = *lod;
    twin.ctx = c->gpu;
    assert_int_equal(lod_cuda_filter(&twin, &device), MOTE_OK);
    assert_int_equal(mote_context_device_bytes(c->gpu), given + 8 * host.item_count);
    uint16_t *colors = allocate(4 * host.item_count * sizeof *colors);
    assert_int_equal(cuda_download(c->gpu, colors, device.item_colors, 4 * host.item_count * sizeof *colors), MOTE_OK);
    compare(lod, &host, colors, what);
    free(colors);
    close_device(c->gpu, &device);
    free(host.codes);
    free(host.leaf_level);
    free(host.items);
    mote_lod_destroy(lod);
    return mote_context_device_peak_bytes(c->gpu) - given;
}

static mote_lod_params params_of(mote_lod_filter filter, mote_lod_sampling sampling, uint32_t grid, uint32_t merge) {
    mote_lod_params p = mote_lod_defaults();
    p.scheme = MOTE_LOD_REPLACING;
    p.filter = filter;
    p.sampling = sampling;
    p.grid = grid;
    p.merge_points = merge;
    return p;
}

static const mote_lod_filter filters[] = {MOTE_LOD_FILTER_CELL, MOTE_LOD_FILTER_NEIGHBORS, MOTE_LOD_FILTER_GAUSSIAN};

/* Each cloud with each filter; samplings, grids and thresholds in turn, so that they all meet over the clouds. */
static void same_on_awkward_clouds(void **state) {
    const contexts *c = *state;
    static const uint32_t grids[] = {2, 4, 8, 16, 128, 1024}, merges[] = {1, 7, 40};
    for (uint32_t k = 0; k < awkward_cloud_count; k++) {
        mote_cloud *cloud = awkward_cloud_make(c->cpu, &awkward_clouds[k], 300, 0);
        assert_non_null(cloud);
        for (uint32_t i = 0; i < 9 && mote_cloud_find(cloud, "red") != NULL; i++) {
            const mote_lod_params p =
                params_of(filters[i % 3], (mote_lod_sampling)(i / 3), grids[(k + i) % 6], merges[(k + i / 3) % 3]);
            check(c, cloud, &p, awkward_clouds[k].name);
        }
        mote_cloud_destroy(cloud);
    }
}

static void same_at_any_count(void **state) {
    const contexts *c = *state;
    static const uint64_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097};
    const awkward_cloud *kind = awkward_cloud_named("uniform float");
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        mote_cloud *cloud = awkward_cloud_make(c->cpu, kind, counts[n], 0);
        for (uint32_t i = 0; i < 3; i++) {
            const mote_lod_params p = params_of(filters[i], MOTE_LOD_RANDOM, 8, 1 + 20 * i);
            check(c, cloud, &p, kind->name);
        }
        mote_cloud_destroy(cloud);
    }
}

/* More points than one slice, in few places and in many. */
static void same_when_larger(void **state) {
    const contexts *c = *state;
    static const char *const names[] = {"heap of duplicates", "sheet", "ticks", "shells"};
    static const uint32_t grids[] = {4, 32, 2, 128};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const awkward_cloud *kind = awkward_cloud_named(names[k]);
        mote_cloud *cloud = awkward_cloud_make(c->cpu, kind, k == 0 ? 150000 : 30000, 0);
        for (uint32_t i = 0; i < 3; i++) {
            const mote_lod_params p = params_of(filters[i], (mote_lod_sampling)((k + i) % 3), grids[k], 300);
            check(c, cloud, &p, kind->name);
        }
        mote_cloud_destroy(cloud);
    }
}

static int open_contexts(void **state) {
    static contexts c;
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CUDA;
    if (mote_context_create(&params, &c.gpu) != MOTE_OK) {
        print_message("no GPU answers: skipped\n");
        exit(NO_GPU);
    }
    params.device = MOTE_DEVICE_CPU;
    params.threads = 1;
    assert_int_equal(mote_context_create(&params, &c.cpu), MOTE_OK);
    *state = &c;
    return 0;
}

static int close_contexts(void **state) {
    contexts *c = *state;
    assert_int_equal(mote_context_device_bytes(c->gpu), 0);
    mote_context_destroy(c->gpu);
    mote_context_destroy(c->cpu);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_on_awkward_clouds),
        cmocka_unit_test(same_at_any_count),
        cmocka_unit_test(same_when_larger),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
