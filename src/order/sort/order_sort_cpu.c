/* A stable radix sort of (code, index) on CPU cores.
   1. All threads scatter the pairs by the highest bits that differ, into some thousands of buckets (one pass
      over memory). Which bits is read off a histogram, so empty space costs no bucket.
   2. Each bucket, small enough for the second-level cache, is sorted by one thread: two passes over its next 16
      bits, then the runs that are still equal there, by insertion if short, else by their next 16 bits. A small bucket
      whose next 8 bits leave short runs only takes one pass over these, and insertion.
   Few pairs are one bucket from the start.
   The order of equal codes is that of the input throughout, so the result is one and the same for any number of
   threads. */
#include "order/sort/order_sort_cpu.h"

#include "core/stop_join.h"

#define TOP_BITS          14u    /* of the first histogram */
#define MAX_BUCKETS       4096u  /* that one scatter pass feeds: their write positions stay in the cache */
#define SMALL_RUN         24u    /* up to here insertion wins */
#define FEW_PAIRS         1024u  /* one pass over 8 bits, and insertion, is less than two passes and their counters */
#define CACHED_PAIRS      24576u /* 12 bytes each, twice: fits the second-level cache beside the histograms */
#define ALONE_PAIRS       (1u << 16) /* below, one thread does it all */
#define SHARES_PER_THREAD 4u         /* of the input, so that a core that others use too does not hold up the rest */
#define SHARE_MIN         16384u     /* pairs: fewer are soon counted, beside the counters that they need */
#define SHARE_COUNTERS    (1u << TOP_BITS)
#define STARTS            (SHARE_COUNTERS + 1) /* counters that they all share */
#define PIECE_PAIRS       (1u << 17)           /* of a share: a millisecond or two, then it is asked whether to go on */

typedef struct pairs {
    uint64_t *codes;
    uint32_t *indices;
} pairs;

static pairs pairs_at(pairs p, uint64_t offset) {
    p.codes += offset;
    p.indices += offset;
    return p;
}

static void copy_pairs(pairs from, pairs to, uint64_t count) {
    memcpy(to.codes, from.codes, count * sizeof *to.codes);
    memcpy(to.indices, from.indices, count * sizeof *to.indices);
}

/* Stable; for a few pairs, or such as are nearly in order. */
static void insertion_sort(pairs p, uint64_t count) {
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t code = p.codes[i];
        const uint32_t index = p.indices[i];
        uint64_t j = i;
        for (; j > 0 && p.codes[j - 1] > code; j--) {
            p.codes[j] = p.codes[j - 1];
            p.indices[j] = p.indices[j - 1];
        }
        p.codes[j] = code;
        p.indices[j] = index;
    }
}

static uint32_t bit_length(uint64_t v) { return v == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(v); }

/* The number of low bits in which the codes differ: all above are equal. */
static uint32_t differing_bits(const uint64_t *codes, uint64_t count) {
    uint64_t difference = 0;
    for (uint64_t i = 0; i < count; i++) difference |= codes[i] ^ codes[0];
    return bit_length(difference);
}

/* Turns counts into starts. */
static void starts_of(uint32_t *counts, uint32_t buckets) {
    uint32_t start = 0;
    for (uint32_t b = 0; b < buckets; b++) {
        const uint32_t count = counts[b];
        counts[b] = start;
        start += count;
    }
}

/* One stable counting pass over (code >> shift) & 255. starts are those of the digits; they move. */
static void pass(pairs from, pairs to, uint64_t count, uint32_t shift, uint32_t *starts) {
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t code = from.codes[i];
        const uint32_t at = starts[(code >> shift) & 255]++;
        to.codes[at] = code;
        to.indices[at] = from.indices[i];
    }
}

/* Sorts by the bits [shift, shift + 16) in two passes, from → other → from. */
static void sort_16_bits(pairs from, pairs other, uint64_t count, uint32_t shift) {
    uint32_t low[256] = {0}, high[256] = {0};
    for (uint64_t i = 0; i < count; i++) {
        low[(from.codes[i] >> shift) & 255]++;
        high[(from.codes[i] >> shift >> 8) & 255]++;
    }
    starts_of(low, 256);
    starts_of(high, 256);
    pass(from, other, count, shift, low);
    pass(other, from, count, shift + 8, high);
}

/* Sorts a few pairs of from, whose codes differ in the low `bits`, into to: by the highest 8 of these, then what is
   still equal there by insertion. False, with nothing done: too many would be. */
static bool sort_few(pairs from, pairs to, uint64_t count, uint32_t bits) {
    const uint32_t shift = bits > 8 ? bits - 8 : 0;
    uint32_t starts[256] = {0}, longest = 0;
    for (uint64_t i = 0; i < count; i++) starts[(from.codes[i] >> shift) & 255]++;
    for (uint32_t d = 0; d < 256; d++) longest = starts[d] > longest ? starts[d] : longest;
    if (longest > SMALL_RUN && shift > 0) return false;
    starts_of(starts, 256);
    pass(from, to, count, shift, starts);
    if (shift > 0) insertion_sort(to, count);
    return true;
}

/* Sorts pairs of from that fit the cache into to; from is scratch. Recurs at most four times: each level settles
   16 of 64 bits. */
static void sort_cached(pairs from, pairs to, uint64_t count) {
    if (count <= SMALL_RUN) {
        copy_pairs(from, to, count);
        insertion_sort(to, count);
        return;
    }
    const uint32_t bits = differing_bits(from.codes, count);
    if (bits == 0) {
        copy_pairs(from, to, count);
        return;
    }
    if (count <= FEW_PAIRS && sort_few(from, to, count, bits)) return;
    const uint32_t shift = bits > 16 ? bits - 16 : 0;
    sort_16_bits(from, to, count, shift);
    if (shift == 0) {
        copy_pairs(from, to, count);
        return;
    }
    for (uint64_t first = 0; first < count;) {
        uint64_t last = first + 1;
        while (last < count && from.codes[last] >> shift == from.codes[first] >> shift) last++;
        sort_cached(pairs_at(from, first), pairs_at(to, first), last - first);
        first = last;
    }
}

/* The same for any size: halves what does not fit the cache by its highest 8 differing bits first. Recurs at most
   eight times. ctx is asked whether to go on before each piece of a pass, for a bucket may hold most pairs; NULL: it is
   not. */
static void sort_bucket(mote_context *ctx, pairs from, pairs to, uint64_t count) {
    if (count <= CACHED_PAIRS) {
        sort_cached(from, to, count);
        return;
    }
    const uint32_t bits = differing_bits(from.codes, count);
    if (bits == 0) {
        copy_pairs(from, to, count);
        return;
    }
    const uint32_t shift = bits > 8 ? bits - 8 : 0;
    uint32_t starts[257] = {0};
    for (uint64_t i = 0; i < count; i++) starts[(from.codes[i] >> shift) & 255]++;
    starts_of(starts, 256);
    starts[256] = (uint32_t)count;
    uint32_t moving[256];
    memcpy(moving, starts, sizeof moving);
    for (uint64_t first = 0; first < count; first += PIECE_PAIRS) {
        if (ctx != NULL && mote_stop(ctx)) return;
        pass(pairs_at(from, first), to, count - first < PIECE_PAIRS ? count - first : PIECE_PAIRS, shift, moving);
    }
    if (shift == 0) return;
    copy_pairs(to, from, count);
    for (uint32_t b = 0; b < 256; b++) {
        sort_bucket(ctx, pairs_at(from, starts[b]), pairs_at(to, starts[b]), starts[b + 1] - starts[b]);
    }
}

/* The scatter of step 1: the input in equal shares, and where each share's pairs of each bucket go. */
typedef struct scatter_plan {
    uint32_t shift, buckets;
    int threads, shares;
    uint32_t *counts; /* [shares][SHARE_COUNTERS], later starts per share and bucket */
    uint32_t *starts; /* [STARTS], of buckets; the last is that of what is behind them */
} scatter_plan;

static uint32_t *share_counts(const scatter_plan *plan, int share) {
    return plan->counts + (size_t)share * SHARE_COUNTERS;
}

static uint64_t share_first(const scatter_plan *plan, uint64_t count, int share) {
    return count * (uint64_t)share / (uint64_t)plan->shares;
}

/* Halves the number of buckets until those in use are few enough. */
static void coarsen(scatter_plan *plan) {
    for (plan->buckets = SHARE_COUNTERS;;) {
        uint32_t used = 0;
        for (uint32_t b = 0; b < plan->buckets; b++) {
            bool any = false;
            for (int s = 0; s < plan->shares && !any; s++) any = share_counts(plan, s)[b] > 0;
            used += any;
        }
        if (used <= MAX_BUCKETS) return;
        plan->buckets /= 2;
        plan->shift++;
        for (int s = 0; s < plan->shares; s++) {
            uint32_t *counts = share_counts(plan, s);
            for (uint32_t b = 0; b < plan->buckets; b++) counts[b] = counts[2 * b] + counts[2 * b + 1];
        }
    }
}

/* The next piece [*first, *end) of a share, which *end of the last one leads to; false: there is none, or the caller
   wants to stop. */
static bool next_piece(mote_context *ctx, const scatter_plan *plan, uint64_t count, int share, uint64_t *first,
                       uint64_t *end) {
    const uint64_t last = share_first(plan, count, share + 1);
    *first = *end;
    *end = last - *first < PIECE_PAIRS ? last : *first + PIECE_PAIRS;
    return *first < last && !mote_stop(ctx);
}

static mote_status count_digits(mote_context *ctx, const uint64_t *codes, uint64_t count, scatter_plan *plan) {
    const uint32_t mask = SHARE_COUNTERS - 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(plan->threads)
    for (int s = 0; s < plan->shares; s++) {
        uint32_t *counts = share_counts(plan, s);
        for (uint64_t i, end = share_first(plan, count, s); next_piece(ctx, plan, count, s, &i, &end);) {
            for (; i < end; i++) counts[(codes[i] >> plan->shift) & mask]++;
        }
    }
    MOTE_TRY(mote_stopped(ctx));
    coarsen(plan);
    uint32_t start = 0;
    for (uint32_t b = 0; b < plan->buckets; b++) {
        plan->starts[b] = start;
        for (int s = 0; s < plan->shares; s++) {
            uint32_t *mine = &share_counts(plan, s)[b];
            const uint32_t have = *mine;
            *mine = start;
            start += have;
        }
    }
    plan->starts[plan->buckets] = start;
    return MOTE_OK;
}

/* indices: NULL for 0, 1, 2 and so on. */
static mote_status scatter(mote_context *ctx, const uint64_t *codes, const uint32_t *indices, pairs to, uint64_t count,
                           const scatter_plan *plan) {
    const uint32_t mask = plan->buckets - 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(plan->threads)
    for (int s = 0; s < plan->shares; s++) {
        uint32_t *starts = share_counts(plan, s);
        for (uint64_t i, end = share_first(plan, count, s); next_piece(ctx, plan, count, s, &i, &end);) {
            for (; i < end; i++) {
                const uint64_t code = codes[i];
                const uint32_t at = starts[(code >> plan->shift) & mask]++;
                to.codes[at] = code;
                to.indices[at] = indices != NULL ? indices[i] : (uint32_t)i;
            }
        }
    }
    return mote_stopped(ctx);
}

static uint32_t differing_bits_parallel(const uint64_t *codes, uint64_t count, int threads) {
    uint64_t difference = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(| : difference)
    for (int64_t i = 0; i < (int64_t)count; i++) difference |= codes[i] ^ codes[0];
    return bit_length(difference);
}

static mote_status sort_together(mote_context *ctx, pairs to, pairs from, bool given, scatter_plan *plan,
                                 uint64_t count) {
    const uint32_t bits = differing_bits_parallel(to.codes, count, plan->threads);
    plan->shift = bits > TOP_BITS ? bits - TOP_BITS : 0;
    memset(plan->counts, 0, (size_t)plan->shares * SHARE_COUNTERS * sizeof *plan->counts);
    MOTE_TRY(count_digits(ctx, to.codes, count, plan));
    MOTE_TRY(scatter(ctx, to.codes, given ? to.indices : NULL, from, count, plan));
    MOTE_TRY(mote_progress(ctx, 0.4, "sorting"));
    mote_stop_join join;
    mote_stop_join_make(&join);
#pragma omp parallel num_threads(plan->threads)
    {
#pragma omp for schedule(dynamic, 4) nowait
        for (uint32_t b = 0; b < plan->buckets; b++) {
            const uint64_t first = plan->starts[b];
            if (mote_stop(ctx)) continue;
            sort_bucket(ctx, pairs_at(from, first), pairs_at(to, first), plan->starts[b + 1] - first);
        }
        mote_stop_join_wait(ctx, &join);
    }
    mote_stop_join_free(&join);
    MOTE_TRY(mote_stopped(ctx));
    return mote_progress(ctx, 1.0, "sorting");
}

static pairs scratch_pairs(void *scratch, uint64_t count) {
    const pairs p = {scratch, (uint32_t *)((uint64_t *)scratch + count)};
    return p;
}

void order_sort_alone(uint64_t *codes, uint32_t *indices, uint64_t count, void *scratch) {
    const pairs to = {codes, indices}, from = scratch_pairs(scratch, count);
    copy_pairs(to, from, count);
    sort_bucket(NULL, from, to, count);
}

static mote_status sort_alone(mote_context *ctx, pairs to, void *scratch, bool given, uint64_t count) {
    for (uint64_t i = 0; i < count && !given; i++) to.indices[i] = (uint32_t)i;
    order_sort_alone(to.codes, to.indices, count, scratch);
    return count > CACHED_PAIRS ? mote_progress(ctx, 1.0, "sorting") : MOTE_OK; /* less is done at once */
}

static uint64_t shares_of(const mote_context *ctx, uint64_t count) {
    const uint64_t max = SHARES_PER_THREAD * (uint64_t)ctx->threads, worth = count / SHARE_MIN;
    if (count < ALONE_PAIRS) return 0;
    if (ctx->threads == 1) return 1;
    return max < worth ? max : worth;
}

uint64_t order_counters(const mote_context *ctx, uint64_t count) {
    const uint64_t shares = shares_of(ctx, count);
    return shares > 0 ? STARTS + shares * SHARE_COUNTERS : 0;
}

mote_status order_sort_in(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count, bool given,
                          const order_scratch *scratch) {
    if (count == 0) return MOTE_OK;
    const uint64_t has = scratch->counter_count < STARTS ? 0 : (scratch->counter_count - STARTS) / SHARE_COUNTERS;
    const uint64_t shares = shares_of(ctx, count);
    const pairs to = {codes, indices};
    const pairs from = scratch_pairs(scratch->pairs, count);
    scatter_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.threads = ctx->threads;
    plan.shares = (int)(shares < has ? shares : has);
    if (plan.shares == 0) return sort_alone(ctx, to, scratch->pairs, given, count);
    plan.starts = scratch->counters;
    plan.counts = scratch->counters + STARTS;
    return sort_together(ctx, to, from, given, &plan, count);
}

mote_status order_sort_cpu(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count) {
    if (count == 0) return MOTE_OK;
    mote_status status = MOTE_ERROR_MEMORY;
    order_scratch scratch = {NULL, NULL, order_counters(ctx, count)};
    scratch.pairs = mote_alloc(ctx, count * ORDER_PAIR_BYTES, "sort pairs");
    scratch.counters = mote_alloc(ctx, scratch.counter_count * sizeof *scratch.counters, "sort counters");
    if (scratch.pairs != NULL && scratch.counters != NULL)
        status = order_sort_in(ctx, codes, indices, count, false, &scratch);
    mote_free(ctx, scratch.counters);
    mote_free(ctx, scratch.pairs);
    return status;
}
