/* An octree of the CPU as arrays of the device. */
#include <stdlib.h>

#include "device/backend.h"
#include "lod/lod_ops.h"
#include "order/order_ops.h"
#include "parity/parity_support.h"

static void *take(uint64_t size_bytes) {
    void *memory = malloc(size_bytes > 0 ? size_bytes : 1);
    assert_non_null(memory);
    return memory;
}

void *parity_download(mote_context *ctx, const void *device, uint64_t size_bytes) {
    void *memory = take(size_bytes);
    if (cuda_download(gpu_of(ctx), memory, device, size_bytes) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return memory;
}

/* ---- the arrays as they ought to be */

uint64_t *parity_codes(const mote_lod *cpu) {
    const uint64_t all = mote_cloud_count(cpu->cloud);
    uint64_t *codes = take(all * sizeof *codes), *sorted = take(cpu->count * sizeof *sorted);
    assert_int_equal(mote_order_codes(cpu->ctx, cpu->cloud, &cpu->lattice, codes), MOTE_OK);
    for (uint64_t i = 0; i < cpu->count; i++) sorted[i] = codes[cpu->order[i]];
    free(codes);
    return sorted;
}

/* NULL for an octree that needs none. */
static uint64_t *fine_codes(const mote_lod *cpu) {
    if (cpu->finest == MOTE_ORDER_BITS) return NULL;
    uint64_t *fine = take(cpu->count * sizeof *fine);
    uint32_t *xyz = take(3 * cpu->count * sizeof *xyz);
    mote_cell_divisor by[3];
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(cpu->lattice.side[k]);
    mote_order_coordinates(cpu->cloud, &cpu->lattice, cpu->order, cpu->count, xyz);
    for (uint64_t i = 0; i < cpu->count; i++) fine[i] = order_fine_code(xyz + 3 * i, by);
    free(xyz);
    return fine;
}

/* How many of the first of its points a node keeps before coarser ones choose; an inner node that samples: none. */
static uint64_t own_points(const mote_lod *cpu, const mote_lod_node *node) {
    if (!lod_is_inner(node)) return node->total;
    return cpu->nodes[node->first_child].first - node->first; /* of a chain; else 0 */
}

uint8_t *parity_leaf_levels(const mote_lod *cpu) {
    uint8_t *levels = take(cpu->count);
    for (uint64_t i = 0; i < cpu->node_count; i++) {
        const mote_lod_node *node = &cpu->nodes[i];
        const uint64_t own = own_points(cpu, node);
        if (own > 0) memset(levels + node->first, node->level, own);
    }
    return levels;
}

mote_lod_node *parity_tree_nodes(const mote_lod *cpu) {
    mote_lod_node *nodes = take(cpu->node_count * sizeof *nodes);
    for (uint64_t i = 0; i < cpu->node_count; i++) {
        const uint64_t own = own_points(cpu, &cpu->nodes[i]);
        nodes[i] = cpu->nodes[i];
        nodes[i].point_count = own > 0 ? own : nodes[i].total;
    }
    return nodes;
}

static bool holds(const mote_lod *cpu, const mote_lod_node *node, uint64_t position) {
    if (cpu->params.scheme == MOTE_LOD_ADDITIVE) return cpu->level[position] == node->level;
    return !lod_is_inner(node) || cpu->level[position] <= node->level;
}

static uint64_t count_items(const mote_lod *cpu) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < cpu->node_count; i++) count += cpu->nodes[i].point_count;
    return count;
}

uint32_t *parity_items(const mote_lod *cpu, uint64_t *level_items) {
    const uint64_t max = count_items(cpu);
    uint32_t *items = take(max * sizeof *items);
    uint64_t count = 0;
    uint32_t level = 0;
    level_items[0] = 0;
    for (uint64_t i = 0; i < cpu->node_count; i++) {
        const mote_lod_node *node = &cpu->nodes[i];
        const uint64_t before = count;
        while (level < node->level) level_items[++level] = count;
        for (uint64_t at = node->first; at < node->first + node->total; at++) {
            if (!holds(cpu, node, at)) continue;
            assert_true(count < max);
            items[count++] = (uint32_t)at;
        }
        assert_int_equal(count - before, node->point_count);
    }
    while (level < LOD_MAX_LEVELS) level_items[++level] = count;
    return items;
}

uint16_t *parity_item_colors(const mote_lod *cpu) {
    const uint64_t count = count_items(cpu);
    uint16_t *colors = take(4 * count * sizeof *colors), *of_node = take(3 * (cpu->count + 1) * sizeof *of_node);
    uint32_t *indices = take((cpu->count + 1) * sizeof *indices);
    uint64_t item = 0;
    for (uint32_t i = 0; i < cpu->node_count; i++) {
        mote_lod_node_points(cpu, i, indices, of_node);
        for (uint64_t j = 0; j < cpu->nodes[i].point_count; j++, item++) {
            memcpy(colors + 4 * item, of_node + 3 * j, 3 * sizeof *colors);
            colors[4 * item + 3] = lod_is_inner(&cpu->nodes[i]);
        }
    }
    free(of_node);
    free(indices);
    return colors;
}

/* ---- on the device */

/* Hands an array over to the device; frees it here. */
static void *upload(mote_context *ctx, void *host, uint64_t size_bytes) {
    void *device = cuda_alloc(gpu_of(ctx), size_bytes, "parity");
    if (device == NULL || cuda_upload(gpu_of(ctx), device, host, size_bytes) != MOTE_OK) {
        fail_msg("%s", mote_context_message(ctx));
    }
    free(host);
    return device;
}

static void *copy_of(const void *memory, uint64_t size_bytes) {
    void *copy = take(size_bytes);
    if (size_bytes > 0) memcpy(copy, memory, size_bytes);
    return copy;
}

/* What the host has of an octree after lod_cuda_tree. */
static mote_lod *make_host_part(mote_context *ctx, const mote_lod *cpu, unsigned lacks) {
    mote_lod *lod = mote_alloc_zero(ctx, sizeof *lod, "nodes");
    assert_non_null(lod);
    lod->ctx = ctx;
    lod->device = gpu_of(ctx);
    lod->ops = lod->device->backend->lod;
    lod->source = cpu->source;
    memcpy(lod->color_rules, cpu->color_rules, sizeof lod->color_rules);
    lod->cloud = cpu->cloud;
    lod->params = cpu->params;
    lod->lattice = cpu->lattice;
    lod->skipped = cpu->skipped;
    lod->finest = cpu->finest;
    lod->count = cpu->count;
    lod->node_count = cpu->node_count;
    lod->level_count = cpu->level_count;
    for (int k = 0; k < 3; k++) lod->rgb[k] = cpu->rgb[k];
    lod->level_first = mote_alloc(ctx, (cpu->level_count + 1) * sizeof *lod->level_first, "nodes");
    lod->nodes = mote_alloc(ctx, cpu->node_count * sizeof *lod->nodes, "nodes");
    lod->cuda = mote_alloc_zero(ctx, sizeof *lod->cuda, "nodes");
    assert_true(lod->level_first != NULL && lod->nodes != NULL && lod->cuda != NULL);
    memcpy(lod->level_first, cpu->level_first, (cpu->level_count + 1) * sizeof *lod->level_first);
    mote_lod_node *nodes = parity_tree_nodes(cpu);
    memcpy(lod->nodes, (lacks & PARITY_NO_ITEMS) != 0 ? nodes : cpu->nodes, cpu->node_count * sizeof *nodes);
    free(nodes);
    return lod;
}

static void upload_items(mote_lod *lod, const mote_lod *cpu, unsigned lacks) {
    lod_cuda *device = lod->cuda;
    device->item_count = count_items(cpu);
    uint32_t *items = parity_items(cpu, device->level_items);
    device->items = upload(lod->ctx, items, device->item_count * sizeof *items);
    if (cpu->colors == NULL || (lacks & PARITY_NO_COLORS) != 0) return;
    device->item_colors = upload(lod->ctx, parity_item_colors(cpu), 4 * device->item_count * sizeof(uint16_t));
}

mote_lod *parity_device_make(mote_context *ctx, const mote_lod *cpu, unsigned lacks) {
    mote_lod *lod = make_host_part(ctx, cpu, lacks);
    lod_cuda *device = lod->cuda;
    const uint64_t n = cpu->count;
    if (device_cloud_open(gpu_of(ctx), cpu->cloud, &device->cloud) != MOTE_OK)
        fail_msg("%s", mote_context_message(ctx));
    device->codes = upload(ctx, parity_codes(cpu), n * sizeof *device->codes);
    uint64_t *fine = fine_codes(cpu);
    if (fine != NULL) device->fine = upload(ctx, fine, n * sizeof *fine);
    device->order = upload(ctx, copy_of(cpu->order, n * sizeof *cpu->order), n * sizeof *cpu->order);
    device->leaf_level = upload(ctx, parity_leaf_levels(cpu), n);
    device->nodes =
        upload(ctx, copy_of(lod->nodes, lod->node_count * sizeof *lod->nodes), lod->node_count * sizeof *lod->nodes);
    if ((lacks & PARITY_LEAF_LEVEL) != 0) {
        device->level = upload(ctx, parity_leaf_levels(cpu), n);
    } else if ((lacks & PARITY_NO_LEVEL) == 0) {
        device->level = upload(ctx, copy_of(cpu->level, n), n);
    }
    if ((lacks & PARITY_NO_ITEMS) == 0) upload_items(lod, cpu, lacks);
    return lod;
}

void *parity_ballast(mote_context *ctx) {
    enum { STAGING_BYTES = 4 << 20 }; /* what copies may take yet under a low limit, and more */
    void *ballast = cuda_alloc(gpu_of(ctx), mote_context_memory_bytes(ctx) + STAGING_BYTES, "ballast");
    if (ballast == NULL) fail_msg("%s", mote_context_message(ctx));
    return ballast;
}
