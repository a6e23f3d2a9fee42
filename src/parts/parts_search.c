/* Neighbours of the points of a part, exactly, where memory does not hold all points. The parts of the scratch file
   are sorted, so that the file is the Morton order of all points, and each cell that was counted a range of it.

     scratch   │ … │ cell │ cell │ own points of the part │ cell │ … │     the order of all points
                      ····    ····                          ····         of these cells the points that a ball meets

   1. A search among the part's own points, and a few before and behind them in the order, says of each how far its
      last neighbour is at most: no point beyond that ball is among its neighbours.
   2. The balls mark cells of a grid over the part. Points of other parts in marked cells are the halo.
   3. Own points and halo, in the order of the inputs, are a cloud in which each own point has the neighbours that it
      has in the whole, in the same order: by distance, then by place. */
#include <math.h>

#include "core/column_math.h"
#include "math/morton.h"
#include "parts/parts.h"

#define GRID         64u        /* cells a side of the grid over a part */
#define PIECE_POINTS (1u << 16) /* of the scratch file, looked at once */
#define ROUND_UP     (1 + 1e-5) /* a density is a float: what follows from it is rounded up by more than that */

/* The points of a part, and those around it. */
typedef struct part_halo {
    parts_run *run;
    const parts_search *search;
    const parts_range *range;
    const mote_column *axes[3]; /* of the source's columns */
    uint8_t *records;           /* own points, then the halo */
    uint64_t count, capacity;
    double low[3], size[3]; /* of the grid: its corner, and the size of a cell, in steps of the lattice */
    uint8_t *marks;         /* [GRID^3] */
} part_halo;

/* ---- the scratch file */

static mote_status read_records(const parts_run *run, uint64_t first, uint64_t count, uint8_t *to) {
    return parts_read_at(run->ctx, run->scratch_file, run->scratch_path, first * run->record_bytes,
                         count * run->record_bytes, to);
}

/* A cloud that looks at records as the scratch file has them. */
static mote_status view_records(const parts_run *run, uint8_t *records, uint64_t count, mote_cloud **out) {
    MOTE_TRY(mote_cloud_new(run->ctx, count, out));
    for (uint32_t c = 0; c < mote_cloud_column_count(run->source.whole); c++) {
        mote_column view = *mote_cloud_column(run->source.whole, c);
        view.data = records + run->source.column_at[c];
        view.stride_bytes = (uint32_t)run->record_bytes;
        MOTE_TRY(mote_cloud_add_view(*out, &view));
    }
    return mote_cloud_copy_extras(*out, run->source.whole);
}

/* Sorts within a step that is reported by others. */
static mote_status sort_quietly(mote_context *ctx, uint64_t *codes, uint32_t *order, uint64_t count) {
    const mote_progress_span whole = mote_progress_hold(ctx);
    const mote_status status = mote_order_sort(ctx, codes, order, count);
    mote_progress_leave(ctx, whole);
    return status;
}

/* ---- 1: how far each search goes, at most */

/* Densities of the own points, as the number of others within a distance tells it. */
static mote_status find_densities(part_halo *halo, float *density) {
    parts_run *run = halo->run;
    const uint64_t all = run->points - run->skipped, more = halo->search->others + 1u;
    const uint64_t first = halo->range->at > more ? halo->range->at - more : 0;
    const uint64_t end = halo->range->at + halo->range->points, last = all - end > more ? end + more : all;
    const uint64_t before = halo->range->at - first, count = last - first;
    mote_cloud *cloud = NULL;
    uint8_t *records = mote_alloc(run->ctx, count * run->record_bytes, "points of a part");
    float *found = mote_alloc(run->ctx, count * sizeof *found, "densities");
    mote_status status = records != NULL && found != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = read_records(run, first, count, records);
    if (status == MOTE_OK) status = view_records(run, records, count, &cloud);
    if (status == MOTE_OK) status = mote_density(run->ctx, cloud, halo->search->others, found, NULL);
    if (status == MOTE_OK) memcpy(density, found + before, halo->range->points * sizeof *density);
    mote_cloud_destroy(cloud);
    mote_free(run->ctx, records);
    mote_free(run->ctx, found);
    return status;
}

/* The reach of a point's search, in steps. There may be fewer others than are looked for: then it has no end. */
static double reach_of(const part_halo *halo, const float *density, uint64_t i) {
    const parts_search *search = halo->search;
    const double scale = halo->axes[0]->scale, pi = 3.14159265358979323846;
    double reach = INFINITY;
    if (search->others > 0 && density != NULL && halo->run->points - halo->run->skipped > search->others) {
        const double square = isinf(density[i]) ? 0 : search->others / (pi * (double)density[i]);
        reach = sqrt(square) * ROUND_UP;
    }
    if (search->radius > 0 && search->radius < reach) reach = search->radius * ROUND_UP;
    return reach / scale + 1;
}

/* ---- 2: the halo */

static void place_of(const part_halo *halo, const uint8_t *record, double at[3]) {
    for (int k = 0; k < 3; k++) {
        mote_column column = *halo->axes[k];
        column.data = (uint8_t *)(uintptr_t)record +
                      halo->run->source.column_at[halo->axes[k] - halo->run->source.whole->columns];
        at[k] = (double)(column_integer(&column, 0) - halo->run->lattice.source_min[k]);
    }
}

/* Which cell of the grid, at most the last. */
static uint32_t grid_cell(const part_halo *halo, int k, double at) {
    const double cell = (at - halo->low[k]) / halo->size[k];
    return cell < 0 ? 0 : cell >= GRID ? GRID - 1 : (uint32_t)cell;
}

static void fit_grid(part_halo *halo, const float *density) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (uint64_t i = 0; i < halo->range->points; i++) {
        const double reach = reach_of(halo, density, i);
        double at[3];
        place_of(halo, halo->records + i * halo->run->record_bytes, at);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], at[k] - reach);
            high[k] = fmax(high[k], at[k] + reach);
        }
    }
    for (int k = 0; k < 3; k++) {
        halo->low[k] = fmax(low[k], -1);
        halo->size[k] = fmax(fmin(high[k], (double)halo->run->lattice.extent[k] + 1) - halo->low[k], 1) / GRID;
    }
}

static void mark_balls(part_halo *halo, const float *density) {
    for (uint64_t i = 0; i < halo->range->points; i++) {
        const double reach = reach_of(halo, density, i);
        uint32_t first[3], last[3];
        double at[3];
        place_of(halo, halo->records + i * halo->run->record_bytes, at);
        for (int k = 0; k < 3; k++) {
            first[k] = grid_cell(halo, k, at[k] - reach);
            last[k] = grid_cell(halo, k, at[k] + reach);
        }
        for (uint32_t x = first[0]; x <= last[0]; x++) {
            for (uint32_t y = first[1]; y <= last[1]; y++) {
                memset(halo->marks + (x * GRID + y) * GRID + first[2], 1, last[2] - first[2] + 1);
            }
        }
    }
}

static bool is_marked(const part_halo *halo, const double at[3]) {
    for (int k = 0; k < 3; k++) {
        if (at[k] < halo->low[k] || at[k] > halo->low[k] + halo->size[k] * GRID) return false;
    }
    return halo->marks[(grid_cell(halo, 0, at[0]) * GRID + grid_cell(halo, 1, at[1])) * GRID +
                       grid_cell(halo, 2, at[2])] != 0;
}

/* Whether some marked cell of the grid meets a cell that was counted. */
static bool meets_marks(const part_halo *halo, uint64_t cell) {
    const mote_lattice *lattice = &halo->run->lattice;
    const double cells = (double)(1ull << halo->run->level);
    uint32_t place[3], first[3], last[3];
    mote_morton_coordinates(cell, place);
    for (int k = 0; k < 3; k++) {
        const double side = (double)lattice->side[k] / cells;
        const double low = place[k] * side - 1, high = (place[k] + 1) * side + 1;
        if (high < halo->low[k] || low > halo->low[k] + halo->size[k] * GRID) return false;
        first[k] = grid_cell(halo, k, low);
        last[k] = grid_cell(halo, k, high);
    }
    for (uint32_t x = first[0]; x <= last[0]; x++) {
        for (uint32_t y = first[1]; y <= last[1]; y++) {
            if (memchr(halo->marks + (x * GRID + y) * GRID + first[2], 1, last[2] - first[2] + 1) != NULL) return true;
        }
    }
    return false;
}

/* Adds those points of the order that lie in marked cells. */
static mote_status add_marked(part_halo *halo, uint64_t first, uint64_t end, uint8_t *piece) {
    const uint64_t bytes = halo->run->record_bytes;
    while (first < end) {
        const uint64_t now = end - first < PIECE_POINTS ? end - first : PIECE_POINTS;
        MOTE_TRY(read_records(halo->run, first, now, piece));
        if (!mote_reserve(halo->run->ctx, (void **)&halo->records, &halo->capacity, halo->count + now, bytes,
                          "points of a part")) {
            return MOTE_ERROR_MEMORY;
        }
        for (uint64_t i = 0; i < now; i++) {
            double at[3];
            place_of(halo, piece + i * bytes, at);
            if (is_marked(halo, at)) memcpy(halo->records + halo->count++ * bytes, piece + i * bytes, bytes);
        }
        first += now;
    }
    return mote_progress_again(halo->run->ctx);
}

static mote_status find_halo(part_halo *halo) {
    const parts_run *run = halo->run;
    const uint64_t own = halo->range->at, own_end = own + halo->range->points;
    uint8_t *piece = mote_alloc(run->ctx, PIECE_POINTS * run->record_bytes, "points of a part");
    mote_status status = piece != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t c = 0; c < run->cell_count && status == MOTE_OK; c++) {
        const uint64_t first = run->first[c], end = run->first[c + 1];
        if (first == end || (first >= own && end <= own_end) || !meets_marks(halo, c)) continue;
        if (first < own) status = add_marked(halo, first, end < own ? end : own, piece);
        if (status == MOTE_OK && end > own_end) {
            status = add_marked(halo, first > own_end ? first : own_end, end, piece);
        }
    }
    mote_free(run->ctx, piece);
    return status;
}

/* ---- 3: work */

/* Those of consecutive numbers are written as one piece. */
mote_status parts_keep(const parts_points *points, uint64_t first, uint64_t count, uint8_t *results) {
    const uint64_t bytes = points->result_bytes, *own = points->own + first;
    for (uint64_t i = 0; i < count;) {
        const uint64_t number = points->numbers[own[i]];
        uint64_t held = 1;
        while (i + held < count && points->numbers[own[i + held]] == number + held) held++;
        MOTE_TRY(mote_output_write_at(points->run->ctx, points->to, results + i * bytes, held * bytes, number * bytes));
        i += held;
    }
    return MOTE_OK;
}

/* Brings the points to the order of the inputs. own: [range->points] out, where those of the part are */
static mote_status order_points(part_halo *halo, uint64_t *numbers, uint64_t *own, uint8_t *sorted) {
    const parts_run *run = halo->run;
    const uint64_t bytes = run->record_bytes, count = halo->count;
    uint32_t *order = mote_alloc(run->ctx, count * sizeof *order, "order");
    mote_status status = order != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) numbers[i] = parts_number_of(run, halo->records + i * bytes);
    if (status == MOTE_OK) status = sort_quietly(run->ctx, numbers, order, count);
    for (uint64_t i = 0, o = 0; i < count && status == MOTE_OK; i++) {
        memcpy(sorted + i * bytes, halo->records + order[i] * bytes, bytes);
        if (order[i] < halo->range->points) own[o++] = i;
    }
    mote_free(run->ctx, order);
    return status;
}

static mote_status work_in_order(part_halo *halo, mote_output *to) {
    parts_run *run = halo->run;
    mote_context *ctx = run->ctx;
    mote_cloud *cloud = NULL;
    const uint64_t count = halo->count, own_count = halo->range->points;
    uint64_t *numbers = mote_alloc(ctx, count * sizeof *numbers, "order");
    uint64_t *own = mote_alloc(ctx, own_count * sizeof *own, "order");
    uint8_t *sorted = mote_alloc(ctx, count * run->record_bytes, "points of a part");
    mote_status status = numbers != NULL && own != NULL && sorted != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = order_points(halo, numbers, own, sorted);
    mote_free(ctx, halo->records);
    halo->records = NULL;
    if (status == MOTE_OK) status = view_records(run, sorted, count, &cloud);
    if (status == MOTE_OK) {
        const parts_points points = {run, cloud, numbers, own, own_count, halo->search->result_bytes, to};
        status = halo->search->work(halo->search->user, ctx, &points);
    }
    mote_cloud_destroy(cloud);
    mote_free(ctx, numbers);
    mote_free(ctx, own);
    mote_free(ctx, sorted);
    return status;
}

static mote_status find_points(part_halo *halo) {
    mote_context *ctx = halo->run->ctx;
    const uint64_t own = halo->range->points;
    const bool asks = halo->search->others > 0;
    float *density = asks ? mote_alloc(ctx, own * sizeof *density, "densities") : NULL;
    halo->marks = mote_alloc_zero(ctx, GRID * GRID * GRID, "halo");
    mote_status status = halo->marks != NULL && (density != NULL || !asks) ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && asks) status = find_densities(halo, density);
    if (status == MOTE_OK && !mote_reserve(ctx, (void **)&halo->records, &halo->capacity, own, halo->run->record_bytes,
                                           "points of a part")) {
        status = MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = read_records(halo->run, halo->range->at, own, halo->records);
    halo->count = own;
    if (status == MOTE_OK) {
        fit_grid(halo, density);
        mark_balls(halo, density);
        status = find_halo(halo);
    }
    mote_free(ctx, density);
    mote_free(ctx, halo->marks);
    return status;
}

static mote_status search_part(parts_run *run, const parts_search *search, const parts_range *range, mote_output *to) {
    part_halo halo = {.run = run, .search = search, .range = range};
    if (!mote_cloud_find_positions(run->source.whole, halo.axes) || range->points == 0) return MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, 0.4);
    mote_status status = find_points(&halo);
    mote_progress_next(run->ctx, whole, 0.4, 1);
    if (status == MOTE_OK) status = work_in_order(&halo, to);
    mote_progress_leave(run->ctx, whole);
    mote_free(run->ctx, halo.records);
    return status;
}

/* ---- all */

/* Whether distances are counted in steps: then they are the same in whichever points they are asked of. */
static bool counts_steps(const parts_run *run) {
    const mote_column *axes[3];
    const mote_lattice *lattice = &run->lattice;
    bool is_even = mote_cloud_find_positions(run->source.whole, axes) && lattice->integer && lattice->exact;
    for (int k = 0; k < 3 && is_even; k++) {
        is_even = axes[k]->scale == axes[0]->scale && lattice->extent[k] < INT32_MAX;
    }
    return is_even;
}

static mote_status refuse_steps(const parts_run *run) {
    return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED,
                     "%s: neighbours are found in parts where positions are integers of one step on all axes, as "
                     "LAS has them, within 2^31 of these: convert it first",
                     run->source.list.paths[0]);
}

/* How far as many others may be is what a density tells, which counts the point itself among them. */
static mote_status check_others(const parts_run *run, const parts_search *search) {
    if (search->others < MOTE_KNN_MAX_K) return MOTE_OK;
    return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "neighbours are found in parts for %u others at most",
                     MOTE_KNN_MAX_K - 1);
}

/* The box of several inputs is that of their points. A single file's is what its header says, which may be wrong, or of
   points that are left out: it is believed only where there is no memory for parts, so that nobody gives more for
   nothing. */
mote_status parts_search_gather(parts_run *run, const parts_search *search, const char *output,
                                const mote_parts_params *params) {
    bool is_known;
    MOTE_TRY(check_others(run, search));
    MOTE_TRY(parts_stated_lattice(run, &is_known));
    const bool is_refused = (is_known || !run->is_integer) && !counts_steps(run);
    if (is_refused && (run->source.was_walked || !run->is_integer)) return refuse_steps(run);
    const mote_status status = parts_gather(run, output, params);
    if (status == MOTE_OK && !counts_steps(run)) return refuse_steps(run);
    if (status != MOTE_ERROR_MEMORY || !is_refused) return status;
    mote_context_clear(run->ctx);
    return refuse_steps(run);
}

mote_status parts_search_all(parts_run *run, const parts_search *search, mote_output *results) {
    const double parts = run->part_count > 0 ? (double)run->part_count : 1;
    mote_status status = parts_sort_all(run, 0.5, 0.55);
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.55, 0.85);
    for (uint32_t p = 0; p < run->part_count && status == MOTE_OK; p++) {
        mote_progress_next(run->ctx, whole, 0.55 + 0.29 * p / parts, 0.55 + 0.29 * (p + 1) / parts);
        status = search_part(run, search, &run->ranges[p], results);
    }
    mote_progress_leave(run->ctx, whole);
    return status;
}
