/* Poisson-disk sampling of all levels on CPU cores: of a cloud; and of a part of one, whose points are chosen with
   those of others. There

     lod_list_part      lists the points that may be taken, with the levels of their leaves,
     lod_choose_listed  lets levels choose, in any piece of such lists; and in
     lod_build_part     a part gets the levels of its own back (lod_whole.levels).

   Of points in one place only the first in order can be taken, as those behind it are too close to it, or to what
   kept it out: the others, and the lower shares of chains, are not listed. */
#include "lod/lod_cpu.h"
#include "lod/sample/lod_poisson_math.h"
#include "order/lattice/lattice.h"

/* Coordinates by sorted position. */
static mote_status gather_coordinates(const mote_lod *lod, uint32_t **xyz) {
    *xyz = mote_alloc(lod->ctx, 3 * lod->count * sizeof **xyz, "sample coordinates");
    if (*xyz == NULL) return MOTE_ERROR_MEMORY;
    const int64_t piece = 4096, pieces = (int64_t)((lod->count + 4095) / 4096);
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t first = (uint64_t)(i * piece);
        const uint64_t n = lod->count - first < (uint64_t)piece ? lod->count - first : (uint64_t)piece;
        mote_order_coordinates(lod->cloud, &lod->lattice, lod->order + first, n, *xyz + 3 * first);
    }
    return MOTE_OK;
}

/* The lower shares of chains are nobody's candidates: meanwhile their bytes are a level that is no candidate's. */
static void mark_lower_shares(mote_lod *lod, bool hide) {
    for (uint64_t i = 0; i < lod->node_count; i++) {
        const mote_lod_node *top = &lod->nodes[i];
        if (!lod_is_inner(top) || lod_samples(lod, top)) continue;
        const mote_lod_node *lower = &lod->nodes[top->first_child];
        const bool is_last = !lod_is_inner(lower);
        const uint64_t own = is_last ? lower->total : lod->nodes[lower->first_child].first - lower->first;
        memset(lod->level + lower->first, hide ? 0 : lower->level, own);
    }
}

/* Levels from end - 1 down to first. */
static mote_status choose_down(mote_lod *lod, const lod_list *list, uint32_t first, uint32_t end) {
    mote_status status = MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(lod->ctx, 0, 1);
    for (uint32_t level = end; level-- > first && status == MOTE_OK;) {
        const double share = 1 / (double)(end - first), begin = (double)(end - 1 - level) * share;
        mote_progress_next(lod->ctx, whole, begin, begin + share);
        status = lod_sample_poisson(lod, list, level);
    }
    mote_progress_leave(lod->ctx, whole);
    return status;
}

static mote_status choose_levels(mote_lod *lod, uint32_t *xyz) {
    const lod_list list = {.count = lod->count, .xyz = xyz, .level = lod->level};
    const mote_progress_span whole = mote_progress_enter(lod->ctx, 0.6, 0.8);
    const mote_status status = choose_down(lod, &list, 0, lod->level_count - 1);
    mote_progress_leave(lod->ctx, whole);
    return status;
}

/* ---- a part */

/* Whether a point is listed: the first of its place, in no lower share. */
static bool is_listed(const mote_lod *lod, const uint32_t *xyz, uint64_t i) {
    return lod->level[i] != 0 && (i == 0 || memcmp(xyz + 3 * i, xyz + 3 * (i - 1), 3 * sizeof *xyz) != 0);
}

/* Gives the listed points their levels. Those of one leaf, which is the root, choose nothing. */
static mote_status take_levels(mote_lod *lod, const uint32_t *xyz) {
    const lod_whole *whole = lod->whole;
    uint64_t next = 0;
    for (uint64_t i = 0; i < lod->count; i++) {
        if (!is_listed(lod, xyz, i)) continue;
        if (next == whole->level_count) break;
        lod->level[i] = whole->levels[next++];
    }
    return next == whole->level_count ? MOTE_OK
                                      : mote_fail(lod->ctx, MOTE_ERROR_IO, "a part has other points than it had");
}

static mote_status list_points(mote_lod *lod, lod_list *list) {
    MOTE_TRY(gather_coordinates(lod, &list->xyz));
    list->level = lod->level;
    lod->level = NULL;
    const uint32_t *xyz = list->xyz;
    uint32_t last[3] = {0};
    for (uint64_t i = 0; i < lod->count; i++) {
        const uint32_t at[3] = {xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]};
        const bool is_new = i == 0 || memcmp(at, last, sizeof last) != 0;
        memcpy(last, at, sizeof last);
        if (list->level[i] == 0 || !is_new) continue;
        memcpy(list->xyz + 3 * list->count, at, sizeof at);
        list->level[list->count++] = list->level[i];
    }
    return MOTE_OK;
}

mote_status lod_list_points(mote_lod *lod, lod_list *list) {
    memset(list, 0, sizeof *list);
    if (lod->lacks_fine || lod->level_count < 2) return MOTE_OK;
    mark_lower_shares(lod, true);
    return list_points(lod, list);
}

/* ---- a piece of lists */

static void make_codes(mote_lod *piece, const uint32_t *xyz) {
    mote_cell_divisor by[3];
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(piece->lattice.side[k]);
#pragma omp parallel for schedule(static) num_threads(piece->ctx->threads)
    for (uint64_t i = 0; i < piece->count; i++) {
        const uint32_t *at = xyz + 3 * i;
        piece->codes[i] =
            mote_morton_encode(mote_cell_of(at[0], by[0]), mote_cell_of(at[1], by[1]), mote_cell_of(at[2], by[2]));
        if (piece->fine != NULL) piece->fine[i] = order_fine_code(at, by);
    }
}

static mote_status choose_piece(mote_lod *piece, const lod_list *list, uint32_t first, uint32_t end) {
    piece->codes = mote_alloc(piece->ctx, piece->count * sizeof *piece->codes, "codes");
    if (piece->finest > MOTE_ORDER_BITS) {
        piece->fine = mote_alloc(piece->ctx, piece->count * sizeof *piece->fine, "codes");
        if (piece->fine == NULL) return MOTE_ERROR_MEMORY;
    }
    if (piece->codes == NULL) return MOTE_ERROR_MEMORY;
    make_codes(piece, list->xyz);
    return choose_down(piece, list, first, end);
}

mote_status lod_choose_listed(mote_context *ctx, const lod_whole *whole, const mote_lod_params *params,
                              const lod_list *list, uint32_t first, uint32_t end) {
    mote_lod piece;
    memset(&piece, 0, sizeof piece);
    piece.ctx = ctx;
    piece.params = *params;
    piece.lattice = whole->lattice;
    piece.finest = whole->fine ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
    piece.count = list->count;
    piece.level = list->level;
    const mote_status status = choose_piece(&piece, list, first, end);
    mote_free(ctx, piece.codes);
    mote_free(ctx, piece.fine);
    return status;
}

uint32_t lod_distance_cell_level(const lod_whole *whole, const mote_lod_params *params, uint32_t level) {
    const uint32_t finest = whole->fine ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
    const uint32_t cell_level = level + (uint32_t)__builtin_ctz(params->grid);
    return cell_level < finest ? cell_level : finest;
}

/* ---- all levels */

mote_status lod_poisson_cpu(mote_lod *lod) {
    uint32_t *xyz = NULL;
    MOTE_TRY(gather_coordinates(lod, &xyz));
    mark_lower_shares(lod, true);
    const mote_status status = lod->whole != NULL ? take_levels(lod, xyz) : choose_levels(lod, xyz);
    mark_lower_shares(lod, false);
    mote_free(lod->ctx, xyz);
    if (status == MOTE_OK) lod_count_node_points(lod);
    return status;
}
