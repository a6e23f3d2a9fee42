/* Non-maximum suppression and winners on CPU cores. The best are found first: cells are looked at in bands of votes,
   those of half the most votes and more, of a quarter and more and so on, until there are as many maxima as are wanted.
   The most votes of each direction say where to look. */
#include <stdlib.h>

#include "planes/planes_cpu.h"

#define PIECE_DIRECTIONS 64u
#define BANDS            4

typedef struct maxima {
    mote_context *ctx;
    const planes_table *table;
    const uint32_t *counters;
    uint32_t *row_most; /* [directions] most votes of a cell */
    uint32_t radius;
    uint32_t low, high; /* cells of low votes up to fewer than high are looked at */
} maxima;

typedef struct found_list {
    planes_winner *list;
    uint64_t count, capacity;
} found_list;

/* Whether a cell of another row beats votes: with more, or with as many if it comes first. */
static bool row_beats(const maxima *m, uint32_t direction, int64_t bin, uint32_t votes, bool comes_first) {
    const int64_t bins = m->table->bins, radius = m->radius;
    const uint32_t *row = m->counters + (uint64_t)direction * (uint64_t)bins;
    const int64_t low = bin > radius ? bin - radius : 0, high = bin + radius < bins ? bin + radius : bins - 1;
    uint32_t most = 0;
    for (int64_t b = low; b <= high; b++) most = row[b] > most ? row[b] : most;
    return comes_first ? most >= votes : most > votes;
}

static bool is_maximum(const maxima *m, uint32_t direction, uint32_t bin) {
    const planes_table *t = m->table;
    const uint32_t *row = m->counters + (uint64_t)direction * t->bins;
    const uint32_t votes = row[bin];
    for (uint32_t r = 1; r <= m->radius; r++) {
        if (bin >= r && row[bin - r] >= votes) return false;
        if (bin + r < t->bins && row[bin + r] > votes) return false;
    }
    for (uint32_t i = t->first[direction]; i < t->first[direction + 1]; i++) {
        const uint32_t other = t->near[i] >> 1;
        const int64_t at = (t->near[i] & 1) != 0 ? (int64_t)t->bins - 1 - bin : bin;
        if (row_beats(m, other, at, votes, other < direction)) return false;
    }
    return true;
}

static bool find_maxima(const maxima *m, uint32_t first, uint32_t last, found_list *found) {
    for (uint32_t d = first; d < last; d++) {
        const uint32_t *row = m->counters + (uint64_t)d * m->table->bins;
        for (uint32_t b = 0; b < m->table->bins && m->row_most[d] >= m->low; b++) {
            if (row[b] < m->low || row[b] >= m->high || !is_maximum(m, d, b)) continue;
            if (!mote_reserve(m->ctx, (void **)&found->list, &found->capacity, found->count + 1, sizeof *found->list,
                              "planes winners")) {
                return false;
            }
            found->list[found->count++] = (planes_winner){row[b], d, b};
        }
    }
    return true;
}

static int compare_winners(const void *a, const void *b) {
    const planes_winner *x = a, *y = b;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    return x->bin < y->bin ? -1 : x->bin > y->bin;
}

static mote_status join(mote_context *ctx, const found_list *lists, uint32_t pieces, uint32_t most,
                        planes_winner *winners, uint32_t *count) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < pieces; i++) all += lists[i].count;
    planes_winner *joined = mote_alloc(ctx, all * sizeof *joined, "planes winners");
    if (joined == NULL) return MOTE_ERROR_MEMORY;
    all = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        if (lists[i].count > 0) memcpy(joined + all, lists[i].list, lists[i].count * sizeof *joined);
        all += lists[i].count;
    }
    qsort(joined, all, sizeof *joined, compare_winners);
    *count = all < most ? (uint32_t)all : most;
    memcpy(winners, joined, *count * sizeof *winners);
    mote_free(ctx, joined);
    return MOTE_OK;
}

/* Fills row_most; returns the most of all. */
static uint32_t measure_rows(const maxima *m) {
    const uint32_t bins = m->table->bins;
    uint32_t most = 0;
#pragma omp parallel for schedule(static) num_threads(m->ctx->threads) reduction(max : most)
    for (int64_t d = 0; d < (int64_t)m->table->directions; d++) {
        const uint32_t *row = m->counters + (uint64_t)d * bins;
        uint32_t of_row = 0;
        for (uint32_t b = 0; b < bins; b++) of_row = row[b] > of_row ? row[b] : of_row;
        m->row_most[d] = of_row;
        most = of_row > most ? of_row : most;
    }
    return most;
}

/* Adds the maxima of a band to the lists, one for each piece of directions; false: there was no memory. */
static bool find_band(const maxima *m, uint32_t pieces, found_list *lists) {
    bool all_found = true;
#pragma omp parallel for schedule(dynamic) num_threads(m->ctx->threads) reduction(&& : all_found)
    for (int64_t i = 0; i < (int64_t)pieces; i++) {
        const uint32_t first = (uint32_t)i * PIECE_DIRECTIONS, rest = m->table->directions - first;
        const uint32_t last = first + (rest < PIECE_DIRECTIONS ? rest : PIECE_DIRECTIONS);
        all_found = find_maxima(m, first, last, &lists[i]) && all_found;
    }
    return all_found;
}

static bool find_best(maxima *m, uint32_t least, uint32_t most, uint32_t pieces, found_list *lists) {
    const uint32_t most_votes = measure_rows(m);
    uint64_t found = 0;
    m->high = UINT32_MAX;
    for (int band = 0; band < BANDS && found < most; band++) {
        const uint32_t share = most_votes >> (band + 1);
        m->low = band == BANDS - 1 || share < least ? least : share;
        if (m->low < m->high && !find_band(m, pieces, lists)) return false;
        m->high = m->low;
        found = 0;
        for (uint32_t i = 0; i < pieces; i++) found += lists[i].count;
    }
    return true;
}

mote_status planes_winners_cpu(planes_points *points, const planes_table *table, uint32_t radius, uint32_t least,
                               uint32_t most, planes_winner *winners, uint32_t *count) {
    mote_context *ctx = points->ctx;
    const uint32_t pieces = (table->directions + PIECE_DIRECTIONS - 1) / PIECE_DIRECTIONS;
    maxima m = {ctx, table, planes_on_cpu(points)->counters, NULL, radius, 0, 0};
    mote_status status = MOTE_ERROR_MEMORY;
    *count = 0;
    m.row_most = mote_alloc(ctx, table->directions * sizeof *m.row_most, "planes winners");
    found_list *lists = mote_alloc_zero(ctx, pieces * sizeof *lists, "planes winners");
    /* A cell without votes is no maximum. */
    if (m.row_most != NULL && lists != NULL && find_best(&m, least > 1 ? least : 1, most, pieces, lists)) {
        status = join(ctx, lists, pieces, most, winners, count);
    }
    for (uint32_t i = 0; i < pieces && lists != NULL; i++) mote_free(ctx, lists[i].list);
    mote_free(ctx, lists);
    mote_free(ctx, m.row_most);
    return status;
}
