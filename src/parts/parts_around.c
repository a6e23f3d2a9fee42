/* Averages over neighbours look one sampling cell of each level across the border of a part: at the root, where such
   cells are largest, one cell that was counted, or less. So each part gets copies of all points in counted cells that
   touch one of its own. They are written while records are distributed, behind all of these, a part's behind the
   other's.

     counted cells     ┌─┬─┬─┬─┬─┐
                       │ │A│a│b│ │      own points of a part A in A, of B in B
                       ├─┼─┼─┼─┼─┤      copies for A: of b, for B: of a
                       │A│A│a│b│B│
                       └─┴─┴─┴─┴─┘ */
#include "math/morton.h"
#include "parts/parts.h"

struct parts_around {
    uint64_t *first; /* [cell_count + 1] of a cell's parts */
    uint32_t *parts; /* that look at a cell, but for its own */
    uint64_t capacity;
};

static uint64_t points_of(const parts_run *run, uint64_t cell) { return run->first[cell + 1] - run->first[cell]; }

/* The parts of the cells around one, each once, but for its own. */
static uint32_t find_lookers(const parts_run *run, uint64_t cell, uint32_t found[26]) {
    const int64_t side = 1ll << run->level;
    uint32_t at[3], count = 0;
    mote_morton_coordinates(cell, at);
    for (int d = 0; d < 27; d++) {
        const int64_t x = at[0] + d / 9 - 1, y = at[1] + d / 3 % 3 - 1, z = at[2] + d % 3 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
        const uint64_t near = mote_morton_code((uint32_t)x, (uint32_t)y, (uint32_t)z);
        const uint32_t part = run->part_of[near];
        bool is_new = points_of(run, near) > 0 && part != run->part_of[cell];
        for (uint32_t f = 0; f < count && is_new; f++) is_new = found[f] != part;
        if (is_new) found[count++] = part;
    }
    return count;
}

static mote_status find_all(parts_run *run) {
    struct parts_around *around = run->around;
    uint64_t count = 0;
    for (uint32_t p = 0; p < run->part_count; p++) run->ranges[p].copies = (parts_copies){0, 0, 0};
    for (uint64_t c = 0; c < run->cell_count; c++) {
        uint32_t found[26], lookers = 0;
        around->first[c] = count;
        if (points_of(run, c) > 0) lookers = find_lookers(run, c, found);
        if (!mote_reserve(run->ctx, (void **)&around->parts, &around->capacity, count + lookers, sizeof *around->parts,
                          "parts around")) {
            return MOTE_ERROR_MEMORY;
        }
        for (uint32_t f = 0; f < lookers; f++) {
            around->parts[count++] = found[f];
            run->ranges[found[f]].copies.points += points_of(run, c);
        }
    }
    around->first[run->cell_count] = count;
    return MOTE_OK;
}

void parts_around_place(parts_run *run, uint64_t records) {
    uint64_t at = records;
    for (uint32_t p = 0; p < run->part_count; p++) {
        run->ranges[p].copies.at = at;
        at += run->ranges[p].copies.points;
    }
    run->around_bytes = (at - records) * run->record_bytes;
}

/* Whether memory holds a part and what is around it, of which parts_run.c reckons with as much as the part has. */
static mote_status check_room(const parts_run *run) {
    for (uint32_t p = 0; p < run->part_count; p++) {
        const uint64_t points = run->ranges[p].points, copies = run->ranges[p].copies.points;
        if (parts_part_bytes(run, p) <= run->share_bytes) continue;
        return mote_fail(
            run->ctx, MOTE_ERROR_MEMORY,
            "out of memory: a part of %llu points looks at %llu of others around it, and %llu bytes do not "
            "hold both; a larger --memory would do, or filter cell, which looks at none",
            (unsigned long long)points, (unsigned long long)copies, (unsigned long long)run->share_bytes);
    }
    return MOTE_OK;
}

mote_status parts_around_begin(parts_run *run) {
    if (!parts_looks_around(run)) return MOTE_OK;
    struct parts_around *around = run->around = mote_alloc_zero(run->ctx, sizeof *run->around, "parts around");
    if (around == NULL) return MOTE_ERROR_MEMORY;
    around->first = mote_alloc(run->ctx, (run->cell_count + 1) * sizeof *around->first, "parts around");
    if (around->first == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(find_all(run));
    return check_room(run);
}

bool parts_around_any(const parts_run *run, uint64_t first_code, uint64_t end_code) {
    const struct parts_around *around = run->around;
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level);
    return around != NULL && around->first[((end_code - 1) >> below) + 1] > around->first[first_code >> below];
}

parts_lookers parts_around_of(const parts_run *run, uint64_t cell) {
    const struct parts_around *around = run->around;
    parts_lookers lookers = {NULL, 0};
    if (around != NULL) lookers.count = around->first[cell + 1] - around->first[cell];
    if (lookers.count > 0) lookers.parts = around->parts + around->first[cell];
    return lookers;
}

void parts_around_end(parts_run *run) {
    struct parts_around *around = run->around;
    if (around == NULL) return;
    mote_free(run->ctx, around->first);
    mote_free(run->ctx, around->parts);
    mote_free(run->ctx, around);
    run->around = NULL;
}
