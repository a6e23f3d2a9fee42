#include "parts/parts_listed.h"

#include <stdio.h>

#include "math/search.h"

#define MARKED_AT_ONCE 16384u /* points that are read for marks at once */

static mote_status open_file(parts_run *run, const char *output, const char *name, const char *what, mote_output *to) {
    char full[64];
    if (run->is_copc) return parts_open_scratch(run, output, to);
    snprintf(full, sizeof full, "octree.bin.%s%s.part", name, what);
    return potree_folder_output(run->ctx, run->output.folder, full, to);
}

mote_status parts_listed_file(parts_run *run, const char *output, const char *name, mote_output *to) {
    return open_file(run, output, name, "", to);
}

mote_status parts_listed_open(parts_run *run, const char *output, const char *name, parts_listed *list) {
    memset(list, 0, sizeof *list);
    list->ctx = run->ctx;
    list->xyz.file = list->level.file = -1;
    for (int k = 0; k < 3; k++) list->by[k] = mote_cell_divisor_make(run->lattice.side[k]);
    MOTE_TRY(open_file(run, output, name, ".xyz", &list->xyz));
    return open_file(run, output, name, ".level", &list->level);
}

void parts_listed_close(parts_listed *list) {
    if (list->ctx == NULL) return;
    mote_output_close(list->ctx, &list->xyz, MOTE_CANCELLED); /* it is not kept */
    mote_output_close(list->ctx, &list->level, MOTE_CANCELLED);
    mote_free(list->ctx, list->runs);
    mote_free(list->ctx, list->marks);
    memset(list, 0, sizeof *list);
}

uint64_t parts_listed_code(const parts_listed *list, const uint32_t xyz[3]) {
    return mote_morton_encode(mote_cell_of(xyz[0], list->by[0]), mote_cell_of(xyz[1], list->by[1]),
                              mote_cell_of(xyz[2], list->by[2]));
}

/* ---- reading */

/* The run that has a place. */
static uint32_t run_of(const parts_listed *list, uint64_t place) {
    const uint64_t after =
        mote_lower_bound64_strided(&list->runs[0].first, sizeof list->runs[0], list->run_count, place + 1);
    return (uint32_t)after - 1;
}

/* level: NULL: is not read */
static mote_status read_range(const parts_listed *list, listed_range range, uint32_t *xyz, uint8_t *level) {
    for (uint64_t place = range.first; place < range.end;) {
        const uint32_t r = run_of(list, place);
        const uint64_t run_end = r + 1 < list->run_count ? list->runs[r + 1].first : list->count;
        const uint64_t end = run_end < range.end ? run_end : range.end;
        const uint64_t at = list->runs[r].at + (place - list->runs[r].first), count = end - place;
        MOTE_TRY(parts_read_at(list->ctx, list->xyz.file, list->xyz.path, 12 * at, 12 * count, xyz));
        if (level != NULL) {
            MOTE_TRY(parts_read_at(list->ctx, list->level.file, list->level.path, at, count, level));
            level += count;
        }
        xyz += 3 * count;
        place = end;
    }
    return MOTE_OK;
}

mote_status parts_listed_read(const parts_listed *list, const listed_ranges *ranges, uint32_t *xyz, uint8_t *level) {
    for (uint64_t r = 0; r < ranges->count; r++) {
        const listed_range range = ranges->list[r];
        MOTE_TRY(read_range(list, range, xyz, level));
        xyz += 3 * (range.end - range.first);
        level += range.end - range.first;
    }
    return MOTE_OK;
}

/* ---- marks */

/* Marks [first, end), whose points are near enough to be read with those between them. */
static mote_status mark_run(parts_listed *list, uint64_t first, uint64_t end, uint32_t *xyz) {
    const uint64_t begin = first * list->step;
    MOTE_TRY(read_range(list, (listed_range){begin, (end - 1) * list->step + 1}, xyz, NULL));
    for (uint64_t m = first; m < end; m++) {
        const uint64_t place = m * list->step;
        list->marks[m] = (listed_mark){parts_listed_code(list, xyz + 3 * (place - begin)), place};
    }
    return mote_progress(list->ctx, 0, "sampling");
}

mote_status parts_listed_mark(parts_listed *list, uint64_t bytes) {
    const uint64_t most = bytes / sizeof *list->marks > 1 ? bytes / sizeof *list->marks : 1;
    list->step = (list->count + most - 1) / most;
    list->mark_count = (list->count + list->step - 1) / list->step;
    list->marks = mote_alloc(list->ctx, list->mark_count * sizeof *list->marks, "marks of points");
    uint32_t *xyz = mote_alloc(list->ctx, 12 * MARKED_AT_ONCE, "marks of points");
    mote_status status = list->marks != NULL && xyz != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    const uint64_t at_once = list->step < MARKED_AT_ONCE / 16 ? MARKED_AT_ONCE / list->step : 1;
    for (uint64_t m = 0; m < list->mark_count && status == MOTE_OK; m += at_once) {
        const uint64_t end = list->mark_count - m < at_once ? list->mark_count : m + at_once;
        status = mark_run(list, m, end, xyz);
    }
    mote_free(list->ctx, xyz);
    return status;
}

/* The first mark whose code is not below one. */
static uint64_t first_mark(const parts_listed *list, uint64_t code) {
    return mote_lower_bound64_strided(&list->marks[0].code, sizeof list->marks[0], list->mark_count, code);
}

listed_range parts_listed_range(const parts_listed *list, uint32_t level, uint64_t cell) {
    const uint32_t below = 3 * (MOTE_ORDER_BITS - level);
    const uint64_t begin = first_mark(list, cell << below), end = first_mark(list, (cell + 1) << below);
    /* Points of the cell may follow the last mark before it. */
    return (listed_range){begin > 0 ? list->marks[begin - 1].place + 1 : 0,
                          end < list->mark_count ? list->marks[end].place : list->count};
}

/* ---- boxes */

lod_box parts_listed_cell(uint32_t level, uint64_t cell) {
    const uint32_t below = MOTE_ORDER_BITS - level;
    lod_box box;
    uint32_t at[3];
    mote_morton_coordinates(cell, at);
    for (int k = 0; k < 3; k++) {
        box.low[k] = (int64_t)at[k] << below;
        box.high[k] = box.low[k] + ((int64_t)1 << below) - 1;
    }
    return box;
}

typedef struct box_search {
    const parts_listed *list;
    const lod_box *box;
    uint64_t most;
    listed_ranges *ranges;
} box_search;

static mote_status add_range(const box_search *search, listed_range range) {
    listed_ranges *ranges = search->ranges;
    listed_range *last = ranges->count > 0 ? &ranges->list[ranges->count - 1] : NULL;
    if (last != NULL && range.first < last->end) range.first = last->end; /* both have what lies between two marks */
    if (range.first >= range.end) return MOTE_OK;
    ranges->points += range.end - range.first;
    if (last != NULL && range.first == last->end) {
        last->end = range.end;
        return MOTE_OK;
    }
    if (!mote_reserve(search->list->ctx, (void **)&ranges->list, &ranges->capacity, ranges->count + 1,
                      sizeof *ranges->list, "places of points")) {
        return MOTE_ERROR_MEMORY;
    }
    ranges->list[ranges->count++] = range;
    return MOTE_OK;
}

static mote_status search_cell(const box_search *search, uint32_t level, uint64_t cell) {
    const lod_box own = parts_listed_cell(level, cell), *box = search->box;
    bool is_within = true;
    for (int k = 0; k < 3; k++) {
        if (own.high[k] < box->low[k] || own.low[k] > box->high[k]) return MOTE_OK;
        is_within = is_within && own.low[k] >= box->low[k] && own.high[k] <= box->high[k];
    }
    const listed_range range = parts_listed_range(search->list, level, cell);
    if (range.first >= range.end || search->ranges->points > search->most) return MOTE_OK;
    if (is_within || level == MOTE_ORDER_BITS || range.end - range.first < 2 * search->list->step) {
        return add_range(search, range);
    }
    for (uint64_t octant = 0; octant < 8; octant++) MOTE_TRY(search_cell(search, level + 1, cell << 3 | octant));
    return MOTE_OK;
}

mote_status parts_listed_find(const parts_listed *list, const lod_box *box, uint64_t most, listed_ranges *ranges) {
    const box_search search = {list, box, most, ranges};
    ranges->count = ranges->points = 0;
    return search_cell(&search, 0, 0);
}
