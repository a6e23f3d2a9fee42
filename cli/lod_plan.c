/* mote lod --plan: the shape of the tree estimated from a sample, without building it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "lod_print.h"
#include "text.h"

#define SAMPLE_POINTS        1000000u
#define NODE_BYTES           144.0 /* per node in memory: table and names */
#define HIERARCHY_BYTES      22.0  /* Potree 2.0: a record of hierarchy.bin */
#define BROTLI_RATIO         0.42  /* of the raw bytes, on city scans at the default quality */
#define BROTLI_MEMORY        40e6  /* per thread: the encoder and its buffers */
#define COPC_HIERARCHY_BYTES 32.0
#define LAZ_RATIO            0.33 /* of the raw bytes, on city scans in octree nodes */
#define COPC_MEMORY          10e6 /* per thread: the encoder and chunks that wait */
#define CELLS_OF_SURFACE     1.9  /* occupied cells of a grid of g a side, over g², on city scans */

/* Bytes per point at the peak of building and writing, measured on city scans; docs/lod.md. */
#define POINT_BYTES         25.0
#define POINT_BYTES_POISSON 51.0
#define POINT_BYTES_FILTER  37.0
#define POINT_BYTES_TREE    9.0 /* of them while writing */

typedef struct plan {
    double nodes, inner, stored_points;
    uint32_t depth;
    double disk_bytes, memory_bytes;
} plan;

/* Every step-th point, as a cloud. */
static mote_status sample_cloud(session *s, const mote_cloud *cloud, mote_cloud **sample) {
    const uint64_t count = mote_cloud_count(cloud);
    const uint64_t step = count / SAMPLE_POINTS + 1, taken = (count + step - 1) / step;
    uint64_t *indices = malloc((size_t)taken * sizeof *indices + 1);
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < taken; i++) indices[i] = i * step;
    const mote_status status = mote_cloud_select(s->ctx, cloud, indices, taken, sample);
    free(indices);
    return status;
}

/* Points that an inner node keeps of so many below it: one per occupied cell of its grid. A surface meets
   CELLS_OF_SURFACE · g² cells; that many random points leave some of them empty. */
static double kept_points(const mote_lod_params *params, double points_below) {
    const double cells = CELLS_OF_SURFACE * (double)params->grid * (double)params->grid;
    return cells * (1 - exp(-points_below / cells));
}

/* Walks the sorted codes level by level: a cell with more than the merge limit is an inner node, and each of its
   occupied parts is a node. weight = points that one sampled point stands for. */
static plan walk_levels(const uint64_t *codes, uint64_t count, double weight, const mote_lod_params *params) {
    plan p = {.nodes = 1, .stored_points = (double)count * weight};
    const double limit = params->merge_points > 1 ? params->merge_points : 1;
    for (uint32_t level = 0; level < MOTE_ORDER_BITS; level++) {
        const uint32_t shift = 3 * (MOTE_ORDER_BITS - level), child_shift = shift - 3;
        double inner = 0;
        for (uint64_t first = 0, last; first < count; first = last) {
            uint64_t children = 1;
            for (last = first + 1; last < count && codes[last] >> shift == codes[first] >> shift; last++) {
                children += codes[last] >> child_shift != codes[last - 1] >> child_shift;
            }
            const double points = (double)(last - first) * weight;
            if (points <= limit || last - first < 2) continue;
            inner++;
            p.nodes += (double)children;
            if (params->scheme == MOTE_LOD_REPLACING) p.stored_points += kept_points(params, points);
        }
        p.inner += inner;
        if (inner == 0) break;
        p.depth = level + 1;
    }
    return p;
}

/* Three int32 of position, one byte for all classification flags, the rest as stored. */
double lod_point_bytes(const mote_cloud *cloud) {
    static const char together[] = "x,y,z,key_point,withheld,overlap"; /* synthetic counts for the flags */
    double bytes = 12;
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const mote_column *column = mote_cloud_column(cloud, i);
        if (!text_list_has(together, column->name)) bytes += mote_type_size(column->type);
    }
    return bytes;
}

static double memory_bytes(const session *s, const mote_lod_params *params, const mote_potree_params *potree,
                           double points, double nodes) {
    double per_point = POINT_BYTES;
    if (params->filter != MOTE_LOD_FILTER_NONE) per_point = POINT_BYTES_FILTER;
    if (params->sampling == MOTE_LOD_POISSON) per_point = POINT_BYTES_POISSON;
    const double building = points * per_point;
    double writing = points * POINT_BYTES_TREE;
    if (potree == NULL) writing += COPC_MEMORY * mote_context_threads(s->ctx);
    if (potree != NULL && potree->encoding == MOTE_POTREE_BROTLI)
        writing += BROTLI_MEMORY * mote_context_threads(s->ctx);
    return fmax(building, writing) + nodes * NODE_BYTES;
}

static int make_plan(session *s, const mote_cloud *cloud, const mote_lod_params *params,
                     const mote_potree_params *potree, plan *out) {
    mote_cloud *sample = NULL;
    mote_lattice lattice;
    uint64_t *codes = NULL;
    uint32_t *indices = NULL;
    mote_status status = sample_cloud(s, cloud, &sample);
    const uint64_t count = status == MOTE_OK ? mote_cloud_count(sample) : 0;
    if (status == MOTE_OK) status = mote_order_lattice(s->ctx, sample, &lattice, NULL);
    if (status == MOTE_OK) {
        codes = malloc((size_t)count * sizeof *codes + 1);
        indices = malloc((size_t)count * sizeof *indices + 1);
        if (codes == NULL || indices == NULL) status = MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = mote_order_codes(s->ctx, sample, &lattice, codes);
    if (status == MOTE_OK) status = mote_order_sort(s->ctx, codes, indices, count);
    if (status == MOTE_OK) {
        const double all = (double)mote_cloud_count(cloud);
        *out = walk_levels(codes, count, count > 0 ? all / (double)count : 1, params);
        const bool brotli = potree != NULL && potree->encoding == MOTE_POTREE_BROTLI;
        const double ratio = potree == NULL ? LAZ_RATIO : brotli ? BROTLI_RATIO : 1;
        const double node_bytes = potree == NULL ? COPC_HIERARCHY_BYTES : HIERARCHY_BYTES;
        out->disk_bytes = out->stored_points * lod_point_bytes(cloud) * ratio + out->nodes * node_bytes;
        out->memory_bytes = memory_bytes(s, params, potree, all, out->nodes);
    }
    free(codes);
    free(indices);
    mote_cloud_destroy(sample);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static void print_plan_json(const plan *p, uint64_t points) {
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_bool(&json, "estimate", true);
    emit_count(&json, "points", points);
    emit_count(&json, "stored", (uint64_t)p->stored_points);
    emit_count(&json, "nodes", (uint64_t)p->nodes);
    emit_count(&json, "inner", (uint64_t)p->inner);
    emit_count(&json, "depth", p->depth);
    emit_count(&json, "disk_bytes", (uint64_t)p->disk_bytes);
    emit_count(&json, "memory_bytes", (uint64_t)p->memory_bytes);
    emit_close(&json, '}');
    emit_end(&json);
}

int lod_print_plan(session *s, const mote_cloud *cloud, const mote_lod_params *params,
                   const mote_potree_params *potree) {
    plan p = {0};
    const int code = make_plan(s, cloud, params, potree, &p);
    if (code != EXIT_DONE) return code;
    const uint64_t points = mote_cloud_count(cloud);
    progress_clear(&s->bar);
    if (s->options.json) {
        print_plan_json(&p, points);
        return EXIT_DONE;
    }
    printf("estimate from a sample; nothing is written\n");
    printf("  points      %s, about %s stored\n", text_count(points).chars,
           text_count((uint64_t)p.stored_points).chars);
    printf("  nodes       about %s, %s of them inner, %u level%s\n", text_count((uint64_t)p.nodes).chars,
           text_count((uint64_t)p.inner).chars, p.depth + 1, p.depth == 0 ? "" : "s");
    printf("  disk        about %s\n", text_bytes((uint64_t)p.disk_bytes).chars);
    printf("  memory      about %s beyond the input\n", text_bytes((uint64_t)p.memory_bytes).chars);
    return EXIT_DONE;
}
