/* The first walk over the points: their box, their flags, how many lie in each cell; and the ranges that follow. */
#include <float.h>
#include <math.h>

#include "core/color.h"
#include "device/backend.h"
#include "order/lattice/lattice.h"
#include "order/order_ops.h"
#include "parts/parts.h"

/* ---- the box */

/* The box of what was read: stored values where positions are integers, else places in the world. */
typedef struct parts_box {
    int64_t low[3], high[3];
    mote_box world;
    uint64_t points, skipped;
} parts_box;

static mote_status grow_box(parts_run *run, const mote_cloud *piece, bool is_integer, parts_box *box) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(run->ctx, piece, axes));
    box->points += piece->count;
    if (!is_integer) {
        mote_box here;
        uint64_t skipped = 0;
        MOTE_TRY(mote_cloud_bounds(run->ctx, piece, &here, &skipped));
        box->skipped += skipped;
        for (int k = 0; k < 3 && skipped < piece->count; k++) {
            box->world.min[k] = fmin(box->world.min[k], here.min[k]);
            box->world.max[k] = fmax(box->world.max[k], here.max[k]);
        }
        return MOTE_OK;
    }
    int64_t low[3], high[3];
    lattice_integer_bounds(run->ctx, axes, (int64_t)piece->count, low, high);
    for (int k = 0; k < 3; k++) {
        box->low[k] = low[k] < box->low[k] ? low[k] : box->low[k];
        box->high[k] = high[k] > box->high[k] ? high[k] : box->high[k];
    }
    return MOTE_OK;
}

static void clear_box(parts_box *box) {
    memset(box, 0, sizeof *box);
    for (int k = 0; k < 3; k++) {
        box->low[k] = INT64_MAX;
        box->high[k] = INT64_MIN;
        box->world.min[k] = INFINITY;
        box->world.max[k] = -INFINITY;
    }
}

static mote_status lattice_of(parts_run *run, const parts_box *box, bool is_integer, mote_lattice *lattice) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(run->ctx, run->whole_cloud, axes));
    if (is_integer) {
        const int64_t none[3] = {0, 0, 0};
        lattice_of_box(axes, box->points > 0 ? box->low : none, box->points > 0 ? box->high : none, lattice);
        return MOTE_OK;
    }
    const double none[3] = {0, 0, 0};
    const bool any = box->skipped < box->points;
    return lattice_of_real_box(run->ctx, axes, run->whole_cloud->position_step, any ? box->world.min : none,
                               any ? box->world.max : none, lattice);
}

/* The box that the header of LAS states, in stored values; false: there is none that can be. */
static bool stated_box(const parts_run *run, parts_box *box) {
    const mote_reader *reader = run->reader;
    if (!reader->is_las || reader->params.to_crs != NULL || reader->input.data == NULL) return false;
    const las_header *header = &reader->source.header;
    for (uint32_t k = 0; k < 3; k++) {
        const uint8_t *data = reader->input.data;
        const double high = rint((las_f64(data + LAS_AT_MAX_OF_AXIS(k)) - header->offset[k]) / header->scale[k]);
        const double low = rint((las_f64(data + LAS_AT_MIN_OF_AXIS(k)) - header->offset[k]) / header->scale[k]);
        if (!(low >= INT32_MIN && low <= high && high <= INT32_MAX)) return false;
        box->low[k] = (int64_t)low;
        box->high[k] = (int64_t)high;
    }
    box->points = 1;
    return true;
}

static bool same_box(const parts_box *a, const parts_box *b) {
    return memcmp(a->low, b->low, sizeof a->low) == 0 && memcmp(a->high, b->high, sizeof a->high) == 0;
}

/* ---- cells */

mote_status parts_cells(const parts_run *run, const mote_cloud *piece, uint64_t *cells) {
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - run->whole.level);
    MOTE_TRY(mote_cpu_device(run->ctx)->backend->order->codes(mote_cpu_device(run->ctx), piece, &run->whole.lattice,
                                                              cells));
#pragma omp parallel for schedule(static) num_threads(run->ctx->threads)
    for (uint64_t i = 0; i < piece->count; i++) cells[i] = cells[i] == UINT64_MAX ? UINT64_MAX : cells[i] >> shift;
    return MOTE_OK;
}

static mote_status count_cells(parts_run *run, const mote_cloud *piece, uint64_t *counts) {
    uint64_t *cells = mote_alloc(run->ctx, piece->count * sizeof *cells, "cells");
    if (cells == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = parts_cells(run, piece, cells);
    for (uint64_t i = 0; i < piece->count && status == MOTE_OK; i++) {
        if (cells[i] != UINT64_MAX) counts[cells[i]]++;
    }
    mote_free(run->ctx, cells);
    return status;
}

/* One walk over all pieces. counts: NULL, or [8^level] by the lattice that run->whole has. */
static mote_status walk(parts_run *run, bool is_integer, parts_box *box, uint64_t *counts) {
    const mote_cloud *piece = NULL;
    clear_box(box);
    memset(run->flags, 0, sizeof run->flags);
    mote_reader_rewind(run->reader);
    do {
        MOTE_TRY(mote_reader_next(run->reader, &piece));
        if (piece == NULL) break;
        MOTE_TRY(grow_box(run, piece, is_integer, box));
        MOTE_TRY(potree_flag_bits(run->ctx, piece, run->flags));
        if (counts != NULL) MOTE_TRY(count_cells(run, piece, counts));
    } while (piece != NULL);
    return MOTE_OK;
}

/* The header's box is taken for true, as the counts then need one walk; where it proves wrong, they are made anew. */
static mote_status find_counts(parts_run *run, uint64_t cell_count) {
    const mote_column *axes[3];
    parts_box stated, box;
    MOTE_TRY(mote_cloud_positions(run->ctx, run->whole_cloud, axes));
    const bool is_integer = lattice_is_integer(axes);
    clear_box(&stated);
    bool known = is_integer && stated_box(run, &stated);
    if (known) MOTE_TRY(lattice_of(run, &stated, true, &run->whole.lattice));
    mote_stage(run->ctx, "count");
    mote_progress_share(run->ctx, 0, 0.15);
    MOTE_TRY(walk(run, is_integer, &box, known ? run->first : NULL));
    if (!known || !same_box(&stated, &box)) {
        memset(run->first, 0, cell_count * sizeof *run->first);
        const parts_box whole = box;
        MOTE_TRY(lattice_of(run, &whole, is_integer, &run->whole.lattice));
        mote_progress_share(run->ctx, 0.15, 0.3);
        MOTE_TRY(walk(run, is_integer, &box, run->first));
    }
    run->points = box.points;
    run->skipped = box.skipped;
    return MOTE_OK;
}

/* Colours that are no 16-bit integers are scaled by what all of them are. */
static mote_status check_colors(const parts_run *run) {
    static const char *const names[3] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(run->whole_cloud, names[k]);
        if (column == NULL || mote_color_is_plain(column)) continue;
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: its colours are no 16-bit integers, which parts of a cloud cannot be scaled to",
                         run->reader->path);
    }
    return MOTE_OK;
}

mote_status parts_count(parts_run *run) {
    const uint32_t grid_level = (uint32_t)__builtin_ctz(run->params->grid);
    run->whole.level = grid_level < PARTS_LEVEL ? grid_level : PARTS_LEVEL;
    const uint64_t cell_count = 1ull << 3 * run->whole.level;
    MOTE_TRY(check_colors(run));
    run->first = mote_alloc_zero(run->ctx, (cell_count + 1) * sizeof *run->first, "points by cell");
    if (run->first == NULL) return MOTE_ERROR_MEMORY;
    run->whole.first = run->first;
    MOTE_TRY(find_counts(run, cell_count));
    uint64_t before = 0;
    for (uint64_t c = 0; c <= cell_count; c++) {
        const uint64_t here = run->first[c];
        run->first[c] = before;
        before += here;
    }
    return MOTE_OK;
}

/* ---- ranges */

static mote_status fail_cell(parts_run *run, uint64_t points) {
    return mote_fail(run->ctx, MOTE_ERROR_MEMORY,
                     "out of memory: %llu points lie in one cell of %u a side, and memory holds %llu of a part; a "
                     "larger --memory would do, or --grid 128",
                     (unsigned long long)points, 1u << run->whole.level, (unsigned long long)run->part_points);
}

mote_status parts_cut(parts_run *run) {
    const uint64_t cell_count = 1ull << 3 * run->whole.level;
    uint64_t capacity = 0, at = 0;
    run->part_of = mote_alloc(run->ctx, cell_count * sizeof *run->part_of, "parts");
    if (run->part_of == NULL) return MOTE_ERROR_MEMORY;
    /* As many parts as are needed, and all of about the same size. */
    const uint64_t total = run->first[cell_count];
    const uint64_t least = (total + run->part_points - 1) / run->part_points, even = least > 0 ? (total + least - 1) / least : 1;
    for (uint64_t c = 0; c < cell_count; c++) {
        const uint64_t here = run->first[c + 1] - run->first[c];
        if (here > run->part_points) return fail_cell(run, here);
        parts_range *last = run->part_count > 0 ? &run->ranges[run->part_count - 1] : NULL;
        if (last == NULL || (last->points > 0 && last->points + here > even)) {
            if (!mote_reserve(run->ctx, (void **)&run->ranges, &capacity, run->part_count + 1ull, sizeof *run->ranges,
                              "parts")) {
                return MOTE_ERROR_MEMORY;
            }
            last = &run->ranges[run->part_count++];
            *last = (parts_range){c, c, 0, at};
        }
        last->end = c + 1;
        last->points += here;
        at += here;
        run->part_of[c] = run->part_count - 1;
    }
    if (run->part_count > PARTS_MAX) {
        return mote_fail(run->ctx, MOTE_ERROR_MEMORY,
                         "out of memory: %u parts of %llu points, more than %u; a larger --memory would do",
                         run->part_count, (unsigned long long)run->part_points, PARTS_MAX);
    }
    return MOTE_OK;
}
