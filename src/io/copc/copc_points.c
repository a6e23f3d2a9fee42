/* The points of the octree's nodes as LAS records, each in a node whose cube holds it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "io/copc/copc_write.h"
#include "lod/lod_octree.h"
#include "math/search.h"

void mote_copc_key(const copc_job *job, uint32_t node, copc_key *key) {
    uint32_t cell[3];
    lod_node_cell(job->nodes, node, job->finest, cell);
    key->level = job->nodes[node].level;
    memcpy(key->cell, cell, sizeof cell);
}

/* ---- the cube */

#define FACES_DOWN    1024 /* errors */
#define SETTLED_LEVEL 9u

/* How far a point can be from where the octree saw it. */
static double rounding(const las_plan *plan, const mote_lattice *lattice) {
    double max = 0;
    for (int k = 0; k < 3 && !lattice->exact; k++) {
        const bool real = mote_type_is_float(mote_cloud_find(plan->cloud, mote_axis_names[k])->type);
        max = fmax(max, lattice->scale[k] + (real ? plan->scale[k] : 0));
    }
    return max;
}

/* Whether cells of the lattice are cubes, and points stay where the octree saw them. */
static bool is_regular(const mote_lattice *lattice) {
    bool regular = lattice->exact;
    for (int k = 1; k < 3; k++) {
        regular = regular && lattice->scale[k] == lattice->scale[0] && lattice->side[k] == lattice->side[0];
    }
    return regular;
}

/* Readers compute cubes from the centre, in several ways, with errors of a few units in the last place. A cell holds
   the points on its lower faces, not those on its upper ones: so all faces are moved down a little more than those
   errors, and only the upper faces of the root, which hold the last points, up. The shift is linear in between: the
   lower faces of the last cells of level l are moved by error - (FACES_DOWN + 1) · error / 2^l, which is down by an
   error or more up to SETTLED_LEVEL. */
void mote_copc_place_cube(copc_job *job) {
    const mote_lattice *lattice = job->lattice;
    copc_info *info = &job->info;
    double corner[3], side = 0, farthest = 0, finest = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double length = (double)lattice->side[k] * lattice->scale[k];
        corner[k] = (double)lattice->min[k] * lattice->scale[k] + lattice->offset[k];
        side = fmax(side, length);
        farthest = fmax(farthest, fmax(fabs(corner[k]), fabs(corner[k] + length)));
        finest = fmin(finest, lattice->scale[k]);
    }
    const double moved = rounding(&job->plan, lattice);
    const double error = 4 * DBL_EPSILON * farthest; /* of a coordinate or face, with room */
    const double down = fmax(error, fmin(FACES_DOWN * error, finest / 4)) + moved;
    job->settled_level = is_regular(lattice) && FACES_DOWN * error <= finest / 4 ? SETTLED_LEVEL : 0;
    info->halfsize = (side + down + error + moved) / 2;
    for (int k = 0; k < 3; k++) info->center[k] = corner[k] - down + info->halfsize;
    info->spacing = 2 * info->halfsize / job->grid;
}

static bool holds(const copc_job *job, const mote_box *cube, const uint8_t *record) {
    int32_t xyz[3];
    bool inside = true;
    memcpy(xyz, record, sizeof xyz);
    for (int k = 0; k < 3; k++) {
        const double at = xyz[k] * job->plan.scale[k] + job->plan.offset[k];
        inside = inside && at >= cube->min[k] && at <= cube->max[k];
    }
    return inside;
}

/* ---- records */

/* The points that the octree gives a node, as records in the worker. */
static mote_status load_own(const copc_job *job, copc_worker *worker, uint32_t node, uint64_t more, bool ordered) {
    const uint64_t count = job->nodes[node].point_count;
    if (!mote_reserve_scratch(job->ctx, (void **)&worker->indices, &worker->index_capacity, 3 * count + more,
                              sizeof *worker->indices, "COPC nodes") ||
        !mote_reserve_scratch(job->ctx, (void **)&worker->records, &worker->record_capacity,
                              (count + more) * job->plan.record_bytes, 1, "COPC nodes")) {
        return MOTE_ERROR_MEMORY;
    }
    job->node_points(job->points_of, node, worker->indices);
    if (ordered) MOTE_TRY(mote_copc_order(job, worker, count));
    mote_las_gather(&job->plan, worker->indices, count, worker->records);
    return MOTE_OK;
}

/* ---- strays */

static mote_status add_stray(const copc_job *job, copc_worker *worker, uint32_t node, uint32_t index,
                             const uint8_t *record) {
    mote_box cube;
    copc_key key;
    do {
        node = job->nodes[node].parent;
        mote_copc_key(job, node, &key);
        mote_copc_cube(&job->info, &key, &cube);
    } while (node > 0 && !holds(job, &cube, record));
    if (!mote_reserve(job->ctx, (void **)&worker->strays, &worker->stray_capacity, worker->stray_count + 1,
                      sizeof *worker->strays, "COPC nodes")) {
        return MOTE_ERROR_MEMORY;
    }
    const copc_stray stray = {node, index};
    worker->strays[worker->stray_count++] = stray;
    return MOTE_OK;
}

static mote_status find_in_node(const copc_job *job, copc_worker *worker, uint32_t node) {
    copc_key key;
    mote_box cube;
    mote_copc_key(job, node, &key);
    mote_copc_cube(&job->info, &key, &cube);
    MOTE_TRY(load_own(job, worker, node, 0, false));
    const uint8_t *record = worker->records;
    for (uint64_t i = 0; i < job->nodes[node].point_count; i++, record += job->plan.record_bytes) {
        if (!holds(job, &cube, record)) MOTE_TRY(add_stray(job, worker, node, worker->indices[i], record));
    }
    return MOTE_OK;
}

static int by_node(const void *a, const void *b) {
    const copc_stray *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static mote_status collect_strays(copc_job *job) {
    uint64_t count = 0;
    for (int t = 0; t < job->ctx->threads; t++) count += job->workers[t].stray_count;
    job->strays = mote_alloc(job->ctx, count * sizeof *job->strays, "COPC nodes");
    if (job->strays == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < job->ctx->threads; t++) {
        copc_worker *worker = &job->workers[t];
        if (worker->stray_count > 0) {
            memcpy(job->strays + job->stray_count, worker->strays, worker->stray_count * sizeof *job->strays);
        }
        job->stray_count += worker->stray_count;
        mote_free(job->ctx, worker->strays);
        worker->strays = NULL;
    }
    if (count > 0) qsort(job->strays, count, sizeof *job->strays, by_node);
    job->has_strays = count > 0;
    return MOTE_OK;
}

static void run_node(void *user, int thread, uint32_t node) {
    const copc_job *job = user;
    find_in_node(job, &job->workers[thread], node);
}

mote_status mote_copc_find_strays(copc_job *job) {
    mote_turns turns;
    uint32_t first = 1; /* the root holds all */
    memset(&turns, 0, sizeof turns);
    while (first < job->node_count && job->nodes[first].level <= job->settled_level) first++;
    if (first < job->node_count) {
        MOTE_TRY(mote_turns_make(job->ctx, &job->nodes[first].point_count, sizeof *job->nodes, first,
                                 job->node_count - first, &turns));
        const mote_status status = mote_turns_run(job->ctx, &turns, run_node, job);
        mote_turns_free(job->ctx, &turns);
        MOTE_TRY(status);
    }
    return collect_strays(job);
}

/* The first stray of a node or of one after it. */
static uint64_t first_stray(const copc_job *job, uint32_t node) {
    return mote_lower_bound32_strided(job->strays, sizeof *job->strays, (uint32_t)job->stray_count, node);
}

/* Takes out the records that do not belong; returns how many stay. */
static uint64_t drop_strays(const copc_job *job, copc_worker *worker, uint32_t node) {
    const uint32_t bytes = job->plan.record_bytes;
    const uint64_t count = job->nodes[node].point_count;
    copc_key key;
    mote_box cube;
    uint64_t kept = 0;
    mote_copc_key(job, node, &key);
    mote_copc_cube(&job->info, &key, &cube);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *record = worker->records + i * bytes;
        if (!holds(job, &cube, record)) continue;
        if (kept < i) memcpy(worker->records + kept * bytes, record, bytes);
        kept++;
    }
    return kept;
}

mote_status mote_copc_load(const copc_job *job, copc_worker *worker, uint32_t node, uint64_t *count) {
    const uint64_t first = first_stray(job, node), more = first_stray(job, node + 1) - first;
    MOTE_TRY(load_own(job, worker, node, more, true));
    *count = job->nodes[node].point_count;
    if (job->has_strays && node > 0) *count = drop_strays(job, worker, node);
    for (uint64_t i = 0; i < more; i++) worker->indices[i] = job->strays[first + i].index;
    mote_las_gather(&job->plan, worker->indices, more, worker->records + *count * job->plan.record_bytes);
    *count += more;
    return MOTE_OK;
}

mote_status mote_copc_load_unsettled(const copc_job *job, copc_worker *worker, uint32_t node, uint64_t *strays) {
    const uint64_t first = first_stray(job, node), more = first_stray(job, node + 1) - first;
    const uint64_t own = job->nodes[node].point_count;
    MOTE_TRY(load_own(job, worker, node, more, false));
    for (uint64_t i = 0; i < more; i++) worker->indices[own + i] = job->strays[first + i].index;
    mote_las_gather(&job->plan, worker->indices + own, more, worker->records + own * job->plan.record_bytes);
    *strays = more;
    return MOTE_OK;
}
