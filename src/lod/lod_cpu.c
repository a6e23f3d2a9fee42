/* Sampling on CPU cores: level by level from the finest inner nodes to the root, each level choosing among what the
   next finer one chose and the leaves beside it. */
#include "lod/lod_cpu.h"

#include "lod/lod_math.h"
#include "lod/lod_ops.h"
#include "order/order_early.h"
#include "order/order_ties.h"

bool lod_samples(const mote_lod *lod, const mote_lod_node *node) {
    return lod_is_inner(node) && lod->nodes[node->first_child].first == node->first;
}

lod_candidates lod_child_candidates(const mote_lod *lod, const lod_lists *lists, uint32_t child) {
    const mote_lod_node *node = &lod->nodes[child];
    lod_candidates candidates = {NULL, node->first, node->point_count};
    if (lod_samples(lod, node)) {
        candidates.positions = lists->chosen + node->first;
        candidates.count = lod->kept[child];
    }
    return candidates;
}

/* Best-so-far of the cell that is being read. */
typedef struct cell_winner {
    uint64_t cell, rank;
    uint32_t position, child;
} cell_winner;

/* What a node's pass writes to. */
typedef struct cell_pass {
    mote_lod *lod;
    uint32_t *chosen;
    uint64_t kept;
    uint8_t level;
} cell_pass;

static void settle(cell_pass *pass, const cell_winner *winner) {
    pass->chosen[pass->kept++] = winner->position;
    pass->lod->level[winner->position] = pass->level;
    if (pass->lod->params.scheme == MOTE_LOD_ADDITIVE) pass->lod->nodes[winner->child].point_count--;
}

/* One winner per cell of a node's grid. The list of winners may overlay those of the children: a winner is written
   only after its whole cell was read, so never past what is still to be read. */
static void sample_node(mote_lod *lod, const lod_lists *lists, uint32_t index) {
    const mote_lod_node *node = &lod->nodes[index];
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - lod_cell_level(lod, node->level));
    const bool random = lod->params.sampling != MOTE_LOD_FIRST;
    const uint64_t seed = lod->params.seed;
    const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
    cell_pass pass = {lod, lists->chosen + node->first, 0, node->level};
    cell_winner winner = {UINT64_MAX, 0, 0, 0};
    for (uint32_t child = node->first_child; child < node->first_child + children; child++) {
        const lod_candidates from = lod_child_candidates(lod, lists, child);
        for (uint64_t i = 0; i < from.count; i++) {
            const uint32_t position = from.positions != NULL ? from.positions[i] : (uint32_t)(from.first + i);
            const uint64_t code = lod->codes[position];
            const uint64_t rank = random ? mote_lod_rank(seed, code) : lod->order[position];
            if (code >> shift != winner.cell) {
                if (winner.cell != UINT64_MAX) settle(&pass, &winner);
                winner = (cell_winner){code >> shift, rank, position, child};
            } else if (rank < winner.rank) {
                winner.rank = rank;
                winner.position = position;
                winner.child = child;
            }
        }
    }
    if (winner.cell != UINT64_MAX) settle(&pass, &winner);
    lod->kept[index] = pass.kept;
    lod->nodes[index].point_count = pass.kept;
}

mote_status lod_sample_cells(mote_lod *lod, lod_lists *lists, uint32_t level) {
    const int64_t first = lod->level_first[level], last = lod->level_first[level + 1];
#pragma omp parallel for schedule(dynamic, 1) num_threads(lod->ctx->threads)
    for (int64_t i = first; i < last; i++) {
        if (lod_samples(lod, &lod->nodes[i])) sample_node(lod, lists, (uint32_t)i);
    }
    return MOTE_OK;
}

static mote_status sample_levels(mote_lod *lod, lod_lists *lists) {
    for (uint32_t level = lod->level_count - 1; level-- > 0;) {
        const double done = 1 - (double)level / lod->level_count;
        MOTE_TRY(lod->params.sampling == MOTE_LOD_POISSON ? lod_sample_poisson(lod, lists, level)
                                                          : lod_sample_cells(lod, lists, level));
        MOTE_TRY(mote_progress(lod->ctx, 0.6 + 0.2 * done, "sampling"));
    }
    return MOTE_OK;
}

/* Coordinates by sorted position. */
static mote_status gather_coordinates(const mote_lod *lod, lod_lists *lists) {
    lists->xyz = mote_alloc(lod->ctx, 3 * lod->count * sizeof *lists->xyz, "sample coordinates");
    if (lists->xyz == NULL) return MOTE_ERROR_MEMORY;
    const int64_t piece = 4096, pieces = (int64_t)((lod->count + 4095) / 4096);
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t first = (uint64_t)(i * piece);
        const uint64_t n = lod->count - first < (uint64_t)piece ? lod->count - first : (uint64_t)piece;
        mote_order_coordinates(lod->cloud, &lod->lattice, lod->order + first, n, lists->xyz + 3 * first);
    }
    return MOTE_OK;
}

mote_status lod_sample_cpu(mote_lod *lod) {
    mote_status status = MOTE_ERROR_MEMORY;
    lod_lists lists = {NULL, NULL};
    if (lod->level_count < 2) return MOTE_OK;
    lod->kept = mote_alloc_zero(lod->ctx, lod->node_count * sizeof *lod->kept, "nodes");
    if (lod->kept == NULL) return MOTE_ERROR_MEMORY;
    lists.chosen = mote_alloc(lod->ctx, lod->count * sizeof *lists.chosen, "samples");
    if (lists.chosen != NULL) {
        status = lod->params.sampling == MOTE_LOD_POISSON ? gather_coordinates(lod, &lists) : MOTE_OK;
    }
    if (status == MOTE_OK) status = sample_levels(lod, &lists);
    mote_free(lod->ctx, lists.xyz);
    mote_free(lod->ctx, lists.chosen);
    return status;
}

/* ---- the whole build */

/* The lattice, and the codes of all points; those that reading has made already are the cloud's to give. */
static mote_status build_codes(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    lod->codes = order_early_take((mote_cloud *)(uintptr_t)lod->cloud, &lod->lattice);
    if (lod->codes != NULL) return MOTE_OK;
    mote_stage(ctx, "bounds");
    MOTE_TRY(mote_order_lattice(ctx, lod->cloud, &lod->lattice, &lod->skipped));
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    lod->codes = mote_alloc(ctx, lod->cloud->count * sizeof *lod->codes, "codes");
    if (lod->codes == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "codes");
    MOTE_TRY(mote_order_codes(ctx, lod->cloud, &lod->lattice, lod->codes));
    return mote_progress(ctx, 0.2, "computing Morton codes");
}

/* Sorts the points: order and codes. Points left out have the largest code and fall off the end. */
static mote_status build_order(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    const uint64_t all = lod->cloud->count;
    MOTE_TRY(build_codes(lod));
    lod->count = all - lod->skipped;
    lod->order = mote_alloc(ctx, all * sizeof *lod->order, "order");
    if (lod->order == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "sort");
    mote_progress_share(ctx, 0.2, 0.6);
    const mote_status status = mote_order_sort(ctx, lod->codes, lod->order, all);
    mote_progress_share(ctx, 0, 1);
    if (status != MOTE_OK || lod->params.sampling == MOTE_LOD_FIRST)
        return status; /* first: the input's order counts */
    return order_settle_ties(ctx, lod->cloud, &lod->lattice, lod->codes, lod->order, lod->count);
}

static mote_status cpu_build(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    MOTE_TRY(mote_cloud_need_host(ctx, lod->cloud, "levels of detail on the CPU"));
    MOTE_TRY(build_order(lod));
    mote_stage(ctx, "tree");
    MOTE_TRY(mote_progress(ctx, 0.6, "building the octree"));
    lod->level = mote_alloc(ctx, lod->count, "levels");
    if (lod->level == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(lod_tree_build(lod));
    mote_stage(ctx, "sampling");
    MOTE_TRY(lod_sample_cpu(lod));
    MOTE_TRY(mote_progress(ctx, 0.8, "sampling"));
    if (lod->params.filter != MOTE_LOD_FILTER_NONE && lod->rgb[0] != NULL) {
        mote_stage(ctx, "filter");
        MOTE_TRY(lod_filter_cpu(lod));
    }
    mote_free(ctx, lod->codes);
    lod->codes = NULL;
    return mote_progress(ctx, 1.0, "building the octree");
}

const mote_lod_ops mote_lod_cpu = {cpu_build, NULL, NULL};
