/* Builds octrees of clouds whose parameters and positions are the input's bytes, and checks what must hold of any:
   every finite point once in the leaves' ranges, each stored once (additive), counts that add up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mote/lod.h"

#define HEADER_BYTES 16
#define MAX_POINTS   1500u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static mote_lod_params params_of(const uint8_t *head) {
    mote_lod_params p = mote_lod_defaults();
    p.scheme = head[0] & 1 ? MOTE_LOD_REPLACING : MOTE_LOD_ADDITIVE;
    p.sampling = (mote_lod_sampling)((head[0] >> 1) % 3);
    p.filter = (mote_lod_filter)(p.scheme == MOTE_LOD_REPLACING ? head[1] % 4 : 0);
    p.grid = 2u << head[2] % 10;
    p.merge_points = 1u + head[3] % 64;
    p.max_node_points = head[4] < 128 ? 0 : head[4] % 32;
    p.seed = head[5];
    return p;
}

/* One axis of a cloud whose records are three values of a type, read wherever the input lies. */
static mote_column axis_of(const uint8_t *head, const uint8_t *positions, int k) {
    static const char *const names[3] = {"x", "y", "z"};
    static const double scales[] = {1, 0.001, 1e-7, -2, 1e300, 1e-300, INFINITY, NAN};
    static const double offsets[] = {0, 500000.5, -1e17, 1e308};
    mote_column column;
    memset(&column, 0, sizeof column);
    column.name = names[k];
    column.type = (mote_type)(head[6] % 10);
    column.stride_bytes = 3 * mote_type_size(column.type);
    column.data = positions + (uint32_t)k * mote_type_size(column.type);
    column.scale = scales[(head[7] >> 2 * k & 3) | (head[8] & 0x80) >> 5];
    column.offset = offsets[head[8] >> 2 * k & 3];
    return column;
}

/* A colour over the same bytes: any type that fits the record, so that there is always something to average. */
static mote_column color_of(const uint8_t *head, const uint8_t *positions, int k) {
    static const char *const names[3] = {"red", "green", "blue"};
    mote_column column = axis_of(head, positions, k);
    const mote_type narrow = (mote_type)(head[9] % 10);
    column.name = names[k];
    column.scale = 1;
    column.offset = 0;
    if (mote_type_size(narrow) <= mote_type_size(column.type)) column.type = narrow;
    return column;
}

/* What the nodes hold, by index in the cloud. */
static void check_points(const mote_lod *lod, uint64_t count, bool additive) {
    uint8_t *times = calloc(count + 1, 1);
    uint32_t *indices = malloc((count + 1) * sizeof *indices);
    uint16_t *colors = malloc((3 * count + 1) * sizeof *colors);
    require(times != NULL && indices != NULL && colors != NULL);
    for (uint32_t n = 0; n < mote_lod_node_count(lod); n++) {
        const mote_lod_node *node = &mote_lod_nodes(lod)[n];
        require(node->point_count <= node->total && node->first + node->total <= count);
        memset(indices, 0xFF, (count + 1) * sizeof *indices);
        mote_lod_node_points(lod, n, indices, colors);
        require(indices[node->point_count] == UINT32_MAX); /* not one more than it said */
        for (uint64_t i = 0; i < node->point_count; i++) {
            require(indices[i] < count);
            if (additive || node->child_mask == 0) require(times[indices[i]]++ == 0);
        }
    }
    uint64_t stored = 0;
    for (uint64_t i = 0; i < count; i++) stored += times[i];
    require(stored == count - mote_lod_skipped(lod));
    free(times);
    free(indices);
    free(colors);
}

static void check_table(const mote_lod *lod) {
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    const uint32_t count = mote_lod_node_count(lod);
    uint32_t next = 1;
    require(count > 0 && nodes[0].parent == UINT32_MAX && nodes[0].level == 0);
    for (uint32_t n = 0; n < count; n++) {
        char name[260];
        mote_lod_node_name(lod, n, name);
        require(strlen(name) == nodes[n].level + 1u);
        uint64_t below = 0;
        if (nodes[n].child_mask != 0) require(nodes[n].first_child == next);
        for (uint32_t bit = 0; bit < 8; bit++) {
            if ((nodes[n].child_mask >> bit & 1) == 0) continue;
            require(next < count && nodes[next].parent == n && nodes[next].level == nodes[n].level + 1);
            require(nodes[next].total > 0);
            below += nodes[next++].total;
        }
        require(below <= nodes[n].total);
    }
    require(next == count);
}

static void build(mote_context *ctx, const uint8_t *head, const mote_cloud *cloud) {
    const mote_lod_params params = params_of(head);
    mote_lod *lod = NULL;
    const mote_status status = mote_lod_build(ctx, cloud, &params, &lod);
    if (status != MOTE_OK) {
        require((status == MOTE_ERROR_DATA || status == MOTE_ERROR_UNSUPPORTED) && lod == NULL &&
                mote_context_message(ctx)[0] != '\0');
        return;
    }
    check_table(lod);
    check_points(lod, mote_cloud_count(cloud), params.scheme == MOTE_LOD_ADDITIVE);
    mote_lod_destroy(lod);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) return 0;
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    params.device = MOTE_DEVICE_CPU;
    mote_context *ctx = NULL;
    mote_cloud *cloud = NULL;
    mote_column columns[6];
    const uint8_t *positions = data + HEADER_BYTES;
    for (int k = 0; k < 3; k++) {
        columns[k] = axis_of(data, positions, k);
        columns[3 + k] = color_of(data, positions, k);
    }
    uint64_t count = (size - HEADER_BYTES) / columns[0].stride_bytes;
    if (count > MAX_POINTS) count = MAX_POINTS;
    require(mote_context_create(&params, &ctx) == MOTE_OK);
    require(mote_cloud_wrap(ctx, count, columns, data[10] & 1 ? 3 : 6, &cloud) == MOTE_OK);
    build(ctx, data, cloud);
    mote_cloud_destroy(cloud);
    require(mote_context_memory_bytes(ctx) == 0);
    mote_context_destroy(ctx);
    return 0;
}
