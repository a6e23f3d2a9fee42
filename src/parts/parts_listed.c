#include "parts/parts_listed.h"

#include <stdio.h>

#include "math/search.h"

#define MARKED_AT_ONCE 16384u /* points that are read for marks at once */

static mote_status open_file(parts_run *run, const char *output, const char *name, const char *what, mote_output *to) {
    char full[64];
    if (run->kept_folder != NULL) {
        snprintf(full, sizeof full, "%s%s", name, what);
        return parts_open_kept(run, full, to);
    }
    if (run->output.folder == NULL) return parts_open_scratch(run, output, to);
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

/* ---- places in the order */

#define BELOW_BITS (3 * (ORDER_FINE_BITS - MOTE_ORDER_BITS))

listed_cell parts_listed_child(const listed_cell *cell, uint64_t octant) {
    listed_cell child = *cell;
    child.level++;
    if (child.level <= MOTE_ORDER_BITS)
        child.code = cell->code << 3 | octant;
    else
        child.below = cell->below << 3 | (uint32_t)octant;
    return child;
}

/* The first place of a cell, or with next 1 the first behind it, among those of the finest level. */
static listed_cell place_of(const listed_cell *cell, uint32_t next) {
    listed_cell place = {cell->code, 0, ORDER_FINE_BITS};
    if (cell->level <= MOTE_ORDER_BITS)
        place.code = (cell->code + next) << 3 * (MOTE_ORDER_BITS - cell->level);
    else
        place.below = (cell->below + next) << 3 * (ORDER_FINE_BITS - cell->level); /* up to 2^BELOW_BITS */
    return place;
}

static bool is_before(const listed_cell *a, const listed_cell *b) {
    return a->code != b->code ? a->code < b->code : a->below < b->below;
}

static listed_cell place_of_point(const parts_listed *list, const uint32_t xyz[3]) {
    listed_cell place = {0, 0, ORDER_FINE_BITS};
    place.code = mote_morton_encode(mote_cell_of(xyz[0], list->by[0]), mote_cell_of(xyz[1], list->by[1]),
                                    mote_cell_of(xyz[2], list->by[2]));
    if (list->finest > MOTE_ORDER_BITS) {
        place.below = (uint32_t)(order_fine_code(xyz, list->by) & ((1u << BELOW_BITS) - 1));
    }
    return place;
}

static uint64_t first_point(const parts_listed *list, const uint32_t *xyz, uint64_t count, listed_cell place) {
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const listed_cell at = place_of_point(list, xyz + 3 * middle);
        if (is_before(&at, &place))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t parts_listed_begin(const parts_listed *list, const uint32_t *xyz, uint64_t count, const listed_cell *cell) {
    return first_point(list, xyz, count, place_of(cell, 0));
}

uint64_t parts_listed_end(const parts_listed *list, const uint32_t *xyz, uint64_t count, const listed_cell *cell) {
    return first_point(list, xyz, count, place_of(cell, 1));
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
        list->marks[m] = (listed_mark){place_of_point(list, xyz + 3 * (place - begin)), place};
    }
    return mote_progress(list->ctx, 0, "sampling");
}

mote_status parts_listed_mark(parts_listed *list, bool is_fine, uint64_t bytes) {
    const uint64_t most = bytes / sizeof *list->marks > 1 ? bytes / sizeof *list->marks : 1;
    list->finest = is_fine ? ORDER_FINE_BITS : MOTE_ORDER_BITS;
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

/* The first mark that is not before a place. */
static uint64_t first_mark(const parts_listed *list, listed_cell place) {
    uint64_t low = 0, high = list->mark_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (is_before(&list->marks[middle].at, &place))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

listed_range parts_listed_range(const parts_listed *list, const listed_cell *cell) {
    const uint64_t begin = first_mark(list, place_of(cell, 0)), end = first_mark(list, place_of(cell, 1));
    /* Points of the cell may follow the last mark before it. */
    return (listed_range){begin > 0 ? list->marks[begin - 1].place + 1 : 0,
                          end < list->mark_count ? list->marks[end].place : list->count};
}

/* ---- boxes */

lod_box parts_listed_box(const listed_cell *cell) {
    const uint32_t down = cell->level > MOTE_ORDER_BITS ? cell->level - MOTE_ORDER_BITS : 0;
    lod_box box;
    uint32_t at[3], below[3];
    mote_morton_coordinates(cell->code, at);
    mote_morton_coordinates(cell->below, below);
    for (int k = 0; k < 3; k++) {
        const int64_t place = (int64_t)at[k] << down | below[k];
        box.low[k] = place << (ORDER_FINE_BITS - cell->level);
        box.high[k] = ((place + 1) << (ORDER_FINE_BITS - cell->level)) - 1;
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

static mote_status search_cell(const box_search *search, const listed_cell *cell) {
    const lod_box own = parts_listed_box(cell), *box = search->box;
    bool is_within = true;
    for (int k = 0; k < 3; k++) {
        if (own.high[k] < box->low[k] || own.low[k] > box->high[k]) return MOTE_OK;
        is_within = is_within && own.low[k] >= box->low[k] && own.high[k] <= box->high[k];
    }
    const listed_range range = parts_listed_range(search->list, cell);
    if (range.first >= range.end || search->ranges->points > search->most) return MOTE_OK;
    if (is_within || cell->level == search->list->finest || range.end - range.first < 2 * search->list->step) {
        return add_range(search, range);
    }
    for (uint64_t octant = 0; octant < 8; octant++) {
        const listed_cell child = parts_listed_child(cell, octant);
        MOTE_TRY(search_cell(search, &child));
    }
    return MOTE_OK;
}

mote_status parts_listed_find(const parts_listed *list, const lod_box *box, uint64_t most, listed_ranges *ranges) {
    const box_search search = {list, box, most, ranges};
    ranges->count = ranges->points = 0;
    return search_cell(&search, &(listed_cell){0, 0, 0});
}
