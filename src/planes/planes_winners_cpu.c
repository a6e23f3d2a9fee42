/* Non-maximum suppression and winners on CPU cores. */
#include <stdlib.h>

#include "planes/planes_cpu.h"

#define PIECE_DIRECTIONS 64u

typedef struct maxima {
    mote_context *ctx;
    const planes_table *table;
    const uint32_t *counters;
    uint32_t radius, least;
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
        for (uint32_t b = 0; b < m->table->bins; b++) {
            if (row[b] < m->least || row[b] == 0 || !is_maximum(m, d, b)) continue;
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

mote_status planes_winners_cpu(planes_points *points, const planes_table *table, uint32_t radius, uint32_t least,
                               uint32_t most, planes_winner *winners, uint32_t *count) {
    mote_context *ctx = points->ctx;
    const maxima m = {ctx, table, planes_on_cpu(points)->counters, radius, least};
    const uint32_t pieces = (table->directions + PIECE_DIRECTIONS - 1) / PIECE_DIRECTIONS;
    bool all_found = true;
    *count = 0;
    found_list *lists = mote_alloc_zero(ctx, pieces * sizeof *lists, "planes winners");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) reduction(&& : all_found)
    for (int64_t i = 0; i < (int64_t)pieces; i++) {
        const uint32_t first = (uint32_t)i * PIECE_DIRECTIONS, rest = table->directions - first;
        all_found =
            find_maxima(&m, first, first + (rest < PIECE_DIRECTIONS ? rest : PIECE_DIRECTIONS), &lists[i]) && all_found;
    }
    const mote_status status = all_found ? join(ctx, lists, pieces, most, winners, count) : MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < pieces; i++) mote_free(ctx, lists[i].list);
    mote_free(ctx, lists);
    return status;
}
