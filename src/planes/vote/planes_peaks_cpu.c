/* Non-maximum suppression and peaks on CPU cores. The best are found first: cells are looked at in bands of votes,
   those of half the most votes and more, of a quarter and more and so on, until there are as many maxima as are wanted.
   The most votes of each direction say where to look. */
#include <stdlib.h>

#include "math/simd.h"
#include "planes/planes_cpu.h"

#define PIECE_DIRECTIONS 64u
#define LANES            8
#define BANDS            4

typedef struct maxima {
    mote_context *ctx;
    const planes_directions *table;
    const uint32_t *counters;
    uint32_t *row_max; /* [directions] most votes of a cell */
    uint32_t radius;
    uint32_t low, high; /* cells of low votes up to fewer than high are looked at */
} maxima;

typedef struct found_list {
    planes_peak *list;
    uint64_t count, capacity;
} found_list;

/* Votes in an order that signed numbers have. */
SIMD_INLINE simd_i votes_at(const uint32_t *cells) {
    return simd_i_sub(simd_i_load((const int32_t *)(const void *)cells), simd_i_set(INT32_MIN));
}

/* Whether a cell of another row beats votes: with more, or with as many if it comes first. */
static bool row_beats(const maxima *m, uint32_t direction, int64_t bin, uint32_t votes, bool comes_first) {
    const int64_t bins = m->table->bins, radius = m->radius;
    const uint32_t *row = m->counters + (uint64_t)direction * (uint64_t)bins;
    const int64_t low = bin > radius ? bin - radius : 0, high = bin + radius < bins ? bin + radius : bins - 1;
    if (high - low < LANES && low + LANES <= bins) {
        const simd_i mine = simd_i_set((int32_t)(votes - (1u << 31))), theirs = votes_at(row + low);
        const uint32_t beat = comes_first ? ~simd_i_above(mine, theirs) : simd_i_above(theirs, mine);
        return (beat & ((2u << (high - low)) - 1)) != 0;
    }
    for (int64_t b = low; b <= high; b++) {
        if (row[b] > votes || (comes_first && row[b] == votes)) return true;
    }
    return false;
}

static bool is_maximum(const maxima *m, uint32_t direction, uint32_t bin) {
    const planes_directions *t = m->table;
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

/* Bits of those of LANES cells that have votes of the band. */
static uint32_t cells_of_band(const maxima *m, const uint32_t *row, uint32_t bin) {
    const simd_i low = simd_i_set((int32_t)(m->low - (1u << 31))), high = simd_i_set((int32_t)(m->high - (1u << 31)));
    const simd_i votes = votes_at(row + bin);
    return simd_i_above(high, votes) & ~simd_i_above(low, votes);
}

/* Bits of those of LANES cells that no cell of their own row beats. bin: the first, at least radius from both ends */
static uint32_t unbeaten_in_row(const maxima *m, const uint32_t *row, uint32_t bin, uint32_t bits) {
    const simd_i votes = votes_at(row + bin);
    for (uint32_t r = 1; r <= m->radius && bits != 0; r++) {
        bits &= simd_i_above(votes, votes_at(row + bin - r)) & ~simd_i_above(votes_at(row + bin + r), votes);
    }
    return bits;
}

/* Bits of those of LANES cells that have votes of the band and may be maxima, as far as some of their row tell. */
static uint32_t find_cells(const maxima *m, const uint32_t *row, uint32_t bin) {
    const uint32_t rest = m->table->bins - bin;
    uint32_t bits = 0;
    if (bin >= m->radius && rest >= LANES + m->radius) return unbeaten_in_row(m, row, bin, cells_of_band(m, row, bin));
    for (uint32_t k = 0; k < LANES && k < rest; k++) {
        bits |= (uint32_t)(row[bin + k] >= m->low && row[bin + k] < m->high) << k;
    }
    return bits;
}

static bool find_maxima(const maxima *m, uint32_t first, uint32_t last, found_list *found) {
    const uint32_t bins = m->table->bins;
    for (uint32_t d = first; d < last; d++) {
        const uint32_t *row = m->counters + (uint64_t)d * bins;
        if (m->row_max[d] < m->low) continue;
        for (uint32_t bin = 0; bin < bins; bin += LANES) {
            for (uint32_t bits = find_cells(m, row, bin); bits != 0; bits &= bits - 1) {
                const uint32_t b = bin + (uint32_t)__builtin_ctz(bits);
                if (!is_maximum(m, d, b)) continue;
                if (!mote_reserve(m->ctx, (void **)&found->list, &found->capacity, found->count + 1,
                                  sizeof *found->list, "planes peaks")) {
                    return false;
                }
                found->list[found->count++] = (planes_peak){row[b], d, b};
            }
        }
    }
    return true;
}

static int compare_peaks(const void *a, const void *b) {
    const planes_peak *x = a, *y = b;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    return x->bin < y->bin ? -1 : x->bin > y->bin;
}

static mote_status join(mote_context *ctx, const found_list *lists, uint32_t pieces, uint32_t max, planes_peak *peaks,
                        uint32_t *count) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < pieces; i++) all += lists[i].count;
    planes_peak *joined = mote_alloc(ctx, all * sizeof *joined, "planes peaks");
    if (joined == NULL) return MOTE_ERROR_MEMORY;
    all = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        if (lists[i].count > 0) memcpy(joined + all, lists[i].list, lists[i].count * sizeof *joined);
        all += lists[i].count;
    }
    qsort(joined, all, sizeof *joined, compare_peaks);
    *count = all < max ? (uint32_t)all : max;
    memcpy(peaks, joined, *count * sizeof *peaks);
    mote_free(ctx, joined);
    return MOTE_OK;
}

/* Fills row_max; returns the most of all. */
static uint32_t measure_rows(const maxima *m) {
    const uint32_t bins = m->table->bins;
    uint32_t max = 0;
#pragma omp parallel for schedule(static) num_threads(m->ctx->threads) reduction(max : max)
    for (int64_t d = 0; d < (int64_t)m->table->directions; d++) {
        const uint32_t *row = m->counters + (uint64_t)d * bins;
        uint32_t of_row = 0;
        for (uint32_t b = 0; b < bins; b++) of_row = row[b] > of_row ? row[b] : of_row;
        m->row_max[d] = of_row;
        max = of_row > max ? of_row : max;
    }
    return max;
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

static bool find_best(maxima *m, uint32_t min, uint32_t max, uint32_t pieces, found_list *lists) {
    const uint32_t max_votes = measure_rows(m);
    uint64_t found = 0;
    m->high = UINT32_MAX;
    for (int band = 0; band < BANDS && found < max; band++) {
        const uint32_t share = max_votes >> (band + 1);
        m->low = band == BANDS - 1 || share < min ? min : share;
        if (m->low < m->high && !find_band(m, pieces, lists)) return false;
        m->high = m->low;
        found = 0;
        for (uint32_t i = 0; i < pieces; i++) found += lists[i].count;
    }
    return true;
}

mote_status planes_peaks_cpu(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count) {
    mote_context *ctx = points->ctx;
    const planes_directions *table = how->directions;
    const uint32_t pieces = (table->directions + PIECE_DIRECTIONS - 1) / PIECE_DIRECTIONS;
    maxima m = {ctx, table, planes_on_cpu(points)->counters, NULL, how->radius, 0, 0};
    mote_status status = MOTE_ERROR_MEMORY;
    *count = 0;
    m.row_max = mote_alloc(ctx, table->directions * sizeof *m.row_max, "planes peaks");
    found_list *lists = mote_alloc_zero(ctx, pieces * sizeof *lists, "planes peaks");
    /* A cell without votes is no maximum. */
    if (m.row_max != NULL && lists != NULL && find_best(&m, how->min > 1 ? how->min : 1, how->max, pieces, lists)) {
        status = join(ctx, lists, pieces, how->max, peaks, count);
    }
    for (uint32_t i = 0; i < pieces && lists != NULL; i++) mote_free(ctx, lists[i].list);
    mote_free(ctx, lists);
    mote_free(ctx, m.row_max);
    return status;
}
