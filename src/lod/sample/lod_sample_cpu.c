/* Sampling on CPU cores: level by level from the finest inner nodes to the root, each level choosing among what the
   next finer one chose and the leaves beside it. */
#include "lod/lod_cpu.h"
#include "lod/lod_math.h"

/* The best point so far of the cell that is being read. */
typedef struct cell_best {
    uint64_t cell, rank;
    uint32_t position, child;
} cell_best;

/* What a node's pass writes to. */
typedef struct cell_pass {
    mote_lod *lod;
    uint32_t *chosen;
    uint64_t representatives;
    uint32_t cell_level;
    uint8_t level;
} cell_pass;

/* A cell that a border of the part divides may have a better point in another one: it keeps its node. */
static bool is_others(const cell_pass *pass, uint64_t cell) {
    const lod_whole *whole = pass->lod->whole;
    if (whole == NULL || pass->cell_level > MOTE_ORDER_BITS) return false;
    const lod_border *border = lod_whole_border(whole, cell, pass->cell_level);
    return border != NULL && !border->wins[pass->cell_level];
}

static void settle(cell_pass *pass, const cell_best *best) {
    if (is_others(pass, best->cell)) return;
    pass->chosen[pass->representatives++] = best->position;
    pass->lod->level[best->position] = pass->level;
    if (pass->lod->params.scheme == MOTE_LOD_ADDITIVE) pass->lod->nodes[best->child].point_count--;
}

/* One representative for each cell of a node's grid. Their list may overlay those of the children: one is written
   only after its whole cell was read, so never past what is still to be read. */
static void sample_node(mote_lod *lod, const lod_lists *lists, uint32_t index) {
    const mote_lod_node *node = &lod->nodes[index];
    const uint32_t cell_level = lod_cell_level(lod, node->level);
    const lod_window window = lod_window_at(lod, cell_level); /* what is above is the same in all of a node */
    const uint32_t shift = lod_window_shift(&window, cell_level);
    const uint64_t *const rank_codes = lod_rank_codes(lod);
    const bool random = lod->params.sampling != MOTE_LOD_FIRST;
    const uint64_t seed = lod->params.seed;
    const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
    cell_pass pass = {lod, lists->chosen + node->first, 0, cell_level, node->level};
    cell_best best = {UINT64_MAX, 0, 0, 0};
    for (uint32_t child = node->first_child; child < node->first_child + children; child++) {
        const lod_candidates from = lod_child_candidates(lod, lists, child);
        for (uint64_t i = 0; i < from.count; i++) {
            const uint32_t position = from.positions != NULL ? from.positions[i] : (uint32_t)(from.first + i);
            const uint64_t cell = window.codes[position] >> shift;
            const uint64_t rank = random ? mote_lod_rank(seed, rank_codes[position]) : lod->order[position];
            if (cell != best.cell) {
                if (best.cell != UINT64_MAX) settle(&pass, &best);
                best = (cell_best){cell, rank, position, child};
            } else if (rank < best.rank) {
                best.rank = rank;
                best.position = position;
                best.child = child;
            }
        }
    }
    if (best.cell != UINT64_MAX) settle(&pass, &best);
    lod->representatives[index] = pass.representatives;
    lod->nodes[index].point_count = pass.representatives;
}

/* Chooses the points of all inner nodes of one level. */
static void sample_level(mote_lod *lod, const lod_lists *lists, uint32_t level) {
    const int64_t first = lod->level_first[level], last = lod->level_first[level + 1];
#pragma omp parallel for schedule(dynamic, 1) num_threads(lod->ctx->threads)
    for (int64_t i = first; i < last; i++) {
        if (lod_samples(lod, &lod->nodes[i])) sample_node(lod, lists, (uint32_t)i);
    }
}

static mote_status sample_levels(mote_lod *lod, lod_lists *lists) {
    for (uint32_t level = lod->level_count - 1; level-- > 0;) {
        const double done = 1 - (double)level / lod->level_count;
        sample_level(lod, lists, level);
        MOTE_TRY(mote_progress(lod->ctx, 0.6 + 0.2 * done, "sampling"));
    }
    return MOTE_OK;
}

mote_status lod_sample_cpu(mote_lod *lod) {
    mote_status status = MOTE_ERROR_MEMORY;
    lod_lists lists = {NULL};
    if (lod->level_count < 2) return MOTE_OK;
    if (lod->params.sampling == MOTE_LOD_POISSON) return lod_poisson_cpu(lod);
    lod->representatives = mote_alloc_zero(lod->ctx, lod->node_count * sizeof *lod->representatives, "nodes");
    if (lod->representatives == NULL) return MOTE_ERROR_MEMORY;
    lists.chosen = mote_alloc(lod->ctx, lod->count * sizeof *lists.chosen, "samples");
    if (lists.chosen != NULL) status = sample_levels(lod, &lists);
    mote_free(lod->ctx, lists.chosen);
    return status;
}
