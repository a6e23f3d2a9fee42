/* mote lod --plan: the octree is built and encoded, as the run itself would, but not written, and memory and bytes are
   measured. Where memory does not hold that, the shape of the tree is estimated from a sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "files/json.h"
#include "lod/lod_print.h"
#include "print.h"
#include "text.h"

#define SAMPLE_POINTS        1000000u
#define NODE_BYTES           144.0 /* per node in memory: table and names */
#define HIERARCHY_BYTES      22.0  /* Potree 2.0: a record of hierarchy.bin */
#define METADATA_BYTES       480.0 /* of metadata.json, for each column at most */
#define BROTLI_RATIO         0.42  /* of the raw bytes, on city scans at the default quality */
#define BROTLI_MEMORY        40e6  /* per thread: the encoder and its buffers */
#define COPC_HIERARCHY_BYTES 32.0
#define LAZ_RATIO            0.4  /* of the raw bytes, on city scans in octree nodes */
#define COPC_MEMORY          10e6 /* per thread: the encoder and chunks that wait */
#define CELLS_OF_SURFACE     1.9  /* occupied cells of a grid of g a side, over g², on city scans */

/* What the run takes otherwise than the plan. */
#define MARGIN            1.05   /* of memory: which thread gets which block of poisson is not the same each time … */
#define MARGIN_COMPRESSED 1.15   /* … nor which node; encoders' buffers grow as its bytes need, by doubling */
#define NAMES_BYTES       8192.0 /* names and places of files */
#define BEGUN_BYTES       (1u << 20) /* the buffer of an output that is begun before its points are known */
#define UNKNOWN           "a folder whose name is not known" /* in metadata.json */

/* Bytes per point at the peak of building and writing, measured on city scans; docs/lod.md. */
#define POINT_BYTES         25.0
#define POINT_BYTES_POISSON 47.0
#define POINT_BYTES_FILTER  37.0
#define POINT_BYTES_TREE    9.0 /* of them while writing */

typedef struct plan {
    bool estimate; /* from a sample */
    double nodes, inner, stored_points;
    uint32_t depth;
    double disk_bytes, memory_bytes;
} plan;

/* ---- from a sample */

/* Every step-th point, as a cloud. */
static mote_status sample_cloud(mote_context *ctx, const mote_cloud *cloud, mote_cloud **sample) {
    const uint64_t count = mote_cloud_count(cloud);
    const uint64_t step = count / SAMPLE_POINTS + 1, taken = (count + step - 1) / step;
    uint64_t *indices = malloc((size_t)taken * sizeof *indices + 1);
    if (indices == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < taken; i++) indices[i] = i * step;
    const mote_status status = mote_cloud_select(ctx, cloud, indices, taken, sample);
    free(indices);
    return status;
}

/* Points that an inner node keeps of those below it: one per occupied cell of its grid. A surface meets
   CELLS_OF_SURFACE · g² cells; this number of random points leaves some of them empty. */
static double kept_points(const mote_lod_params *params, double points_below) {
    const double cells = CELLS_OF_SURFACE * (double)params->grid * (double)params->grid;
    return cells * (1 - exp(-points_below / cells));
}

/* Walks the sorted codes level by level: a cell with more than the merge limit is an inner node, and each of its
   occupied parts is a node. weight = points that one sampled point stands for. */
static plan walk_levels(const uint64_t *codes, uint64_t count, double weight, const mote_lod_params *params) {
    plan p = {.estimate = true, .nodes = 1, .stored_points = (double)count * weight};
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

/* Three int32 of position, two bytes of each colour, one for all classification flags, the rest as stored. */
double lod_point_bytes(const mote_cloud *cloud) {
    static const char together[] = "x,y,z,key_point,withheld,overlap"; /* synthetic counts for the flags */
    double bytes = 12;
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const mote_column *column = mote_cloud_column(cloud, i);
        if (text_list_has(together, column->name)) continue;
        bytes += text_list_has("red,green,blue", column->name) ? 2 : mote_type_size(column->type);
    }
    return bytes;
}

/* A record of COPC: point format 6 or 7, and what these do not have behind it. */
static double copc_point_bytes(const mote_cloud *cloud) {
    static const char standard[] =
        "x,y,z,intensity,return_number,number_of_returns,synthetic,key_point,withheld,overlap,scanner_channel,"
        "scan_direction_flag,edge_of_flight_line,classification,user_data,scan_angle,scan_angle_rank,point_source_id,"
        "gps_time,red,green,blue";
    double bytes = mote_cloud_find(cloud, "red") != NULL ? 36 : 30;
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const mote_column *column = mote_cloud_column(cloud, i);
        if (!text_list_has(standard, column->name)) bytes += mote_type_size(column->type);
    }
    return bytes;
}

static void set_disk(const mote_cloud *cloud, const mote_potree_params *potree, plan *p) {
    const bool brotli = potree != NULL && potree->encoding == MOTE_POTREE_BROTLI;
    const double ratio = potree == NULL ? LAZ_RATIO : brotli ? BROTLI_RATIO : 1;
    const double node_bytes = potree == NULL ? COPC_HIERARCHY_BYTES : HIERARCHY_BYTES;
    const double point_bytes = potree == NULL ? copc_point_bytes(cloud) : lod_point_bytes(cloud);
    p->disk_bytes = p->stored_points * point_bytes * ratio + p->nodes * node_bytes;
    if (potree != NULL) p->disk_bytes += METADATA_BYTES * mote_cloud_column_count(cloud);
}

double lod_encoder_bytes(const session *s, const mote_potree_params *potree) {
    if (potree == NULL) return COPC_MEMORY * mote_context_threads(s->ctx);
    return potree->encoding == MOTE_POTREE_BROTLI ? BROTLI_MEMORY * mote_context_threads(s->ctx) : 0;
}

static double memory_bytes(const session *s, const mote_lod_params *params, const mote_potree_params *potree,
                           double points, double nodes) {
    double per_point = POINT_BYTES;
    if (params->filter != MOTE_LOD_FILTER_NONE) per_point = POINT_BYTES_FILTER;
    if (params->sampling == MOTE_LOD_POISSON) per_point = POINT_BYTES_POISSON;
    const double building = points * per_point;
    const double writing = points * POINT_BYTES_TREE + lod_encoder_bytes(s, potree);
    return fmax(building, writing) + nodes * NODE_BYTES;
}

/* Makes the plan in a context of its own: the session's may have no memory to spare. */
static mote_status estimate_in(mote_context *own, session *s, const mote_cloud *cloud, const mote_lod_params *params,
                               const mote_potree_params *potree, plan *out) {
    mote_cloud *sample = NULL;
    mote_lattice lattice;
    uint64_t *codes = NULL;
    uint32_t *indices = NULL;
    mote_status status = sample_cloud(own, cloud, &sample);
    const uint64_t count = status == MOTE_OK ? mote_cloud_count(sample) : 0;
    if (status == MOTE_OK) status = mote_order_lattice(own, sample, &lattice, NULL);
    if (status == MOTE_OK) {
        codes = malloc((size_t)count * sizeof *codes + 1);
        indices = malloc((size_t)count * sizeof *indices + 1);
        if (codes == NULL || indices == NULL) status = MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = mote_order_codes(own, sample, &lattice, codes);
    if (status == MOTE_OK) status = mote_order_sort(own, codes, indices, count);
    if (status == MOTE_OK) {
        const double all = (double)mote_cloud_count(cloud);
        *out = walk_levels(codes, count, count > 0 ? all / (double)count : 1, params);
        set_disk(cloud, potree, out);
        out->memory_bytes = memory_bytes(s, params, potree, all, out->nodes);
    }
    free(codes);
    free(indices);
    mote_cloud_destroy(sample);
    return status;
}

static int estimate(session *s, const mote_cloud *cloud, const mote_lod_params *params,
                    const mote_potree_params *potree, plan *out) {
    mote_context_params own_params = mote_context_defaults();
    mote_context *own = NULL;
    own_params.device = MOTE_DEVICE_CPU;
    own_params.threads = mote_context_threads(s->ctx);
    mote_status status = mote_context_create(&own_params, &own);
    if (status == MOTE_OK) status = estimate_in(own, s, cloud, params, potree, out);
    const char *message =
        own != NULL && mote_context_message(own)[0] != '\0' ? mote_context_message(own) : mote_status_name(status);
    const int code = status == MOTE_OK ? EXIT_DONE : session_error(s, EXIT_RESOURCES, "%s", message);
    mote_context_destroy(own);
    return code;
}

/* ---- from the octree itself */

static void set_shape(const mote_lod *lod, plan *p) {
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    p->nodes = mote_lod_node_count(lod);
    for (uint32_t n = 0; n < mote_lod_node_count(lod); n++) {
        p->inner += nodes[n].child_mask != 0;
        p->stored_points += (double)nodes[n].point_count;
        p->depth = nodes[n].level > p->depth ? nodes[n].level : p->depth;
    }
}

/* Encodes the octree as the run would. */
static mote_status dry_run(session *s, const lod_question *question, const mote_lod *lod, plan *out) {
    const char *path = question->output != NULL ? question->output : UNKNOWN;
    if (question->copc) {
        mote_copc_params params = question->copc_params;
        mote_copc_report report = {0};
        params.dry_run = true;
        const mote_status status = mote_copc_write(s->ctx, lod, path, &params, &report);
        out->disk_bytes = (double)report.file_bytes;
        return status;
    }
    mote_potree_params params = question->potree;
    mote_potree_report report = {0};
    params.dry_run = true;
    const mote_status status = mote_potree_write(s->ctx, lod, path, &params, &report);
    out->disk_bytes = (double)(report.octree_bytes + report.hierarchy_bytes + report.metadata_bytes);
    return status;
}

static mote_status build_and_encode(session *s, const lod_question *question, plan *out) {
    mote_lod *lod = NULL;
    mote_status status = mote_lod_build(s->ctx, question->cloud, &question->params, &lod);
    const double building = (double)mote_context_memory_peak_bytes(s->ctx);
    if (status == MOTE_OK) set_shape(lod, out);
    if (status == MOTE_OK) status = dry_run(s, question, lod, out);
    const double whole = (double)mote_context_memory_peak_bytes(s->ctx);
    const bool compressed = question->copc || question->potree.encoding == MOTE_POTREE_BROTLI;
    const double begun = question->is_begun_early ? BEGUN_BYTES : 0;
    out->memory_bytes =
        fmax(whole * (compressed ? MARGIN_COMPRESSED : MARGIN), building * MARGIN + begun) + NAMES_BYTES;
    mote_lod_destroy(lod);
    return status;
}

static int make_plan(session *s, const lod_question *question, plan *out) {
    const mote_status status = build_and_encode(s, question, out);
    if (status == MOTE_OK) return EXIT_DONE;
    if (status != MOTE_ERROR_MEMORY) return session_fail(s, status, false);
    const plan nothing = {0}; /* how much would do is what --plan is asked for */
    *out = nothing;
    mote_context_clear(s->ctx);
    return estimate(s, question->cloud, &question->params, question->copc ? NULL : &question->potree, out);
}

static void print_plan_json(const session *s, const plan *p, uint64_t points) {
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_bool(&json, "estimate", p->estimate);
    emit_count(&json, "points", points);
    emit_count(&json, "stored", (uint64_t)p->stored_points);
    emit_count(&json, "nodes", (uint64_t)p->nodes);
    emit_count(&json, "inner", (uint64_t)p->inner);
    emit_count(&json, "depth", p->depth);
    emit_count(&json, "disk_bytes", (uint64_t)p->disk_bytes);
    emit_count(&json, "memory_bytes", (uint64_t)p->memory_bytes);
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

int lod_print_plan(session *s, const lod_question *question) {
    plan p = {0};
    const int code = make_plan(s, question, &p);
    if (code != EXIT_DONE) return code;
    const uint64_t points = mote_cloud_count(question->cloud);
    progress_clear(&s->bar);
    if (s->options.json) {
        print_plan_json(s, &p, points);
        return EXIT_DONE;
    }
    const char *about = p.estimate ? "about " : "";
    print_out(p.estimate ? "estimate from a sample, as memory does not hold the octree; nothing is written\n"
                         : "the octree as it would be; nothing is written\n");
    print_out("  points      %s, %s%s stored\n", text_count(points).chars, about,
              text_count((uint64_t)p.stored_points).chars);
    print_out("  nodes       %s%s, %s of them inner, %u level%s\n", about, text_count((uint64_t)p.nodes).chars,
              text_count((uint64_t)p.inner).chars, p.depth + 1, p.depth == 0 ? "" : "s");
    print_out("  disk        about %s\n", text_bytes((uint64_t)p.disk_bytes).chars);
    print_out("  memory      about %s beyond the input: --memory of that size is enough\n",
              text_bytes((uint64_t)p.memory_bytes).chars);
    return EXIT_DONE;
}
