#include "lod/lod_parts.h"

#include <stdlib.h>

#include "device/backend.h"
#include "lod/lod_cpu.h"
#include "lod/lod_math.h"
#include "math/search.h"
#include "order/order_ops.h"

#define MAX_PARTS         4096u
#define SAMPLES_PER_PART  256u /* codes looked at, to find ranges of about equal size */
#define SHARES_PER_THREAD 4u

/* ---- ranges of codes */

static int compare_codes(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Which part a code belongs to: the last whose first code is not above it. */
static uint32_t part_of(const lod_parts *parts, uint64_t code) {
    const lod_part *const first = parts->parts; /* no code is below its first one */
    return (uint32_t)mote_lower_bound64_strided(&first->first_code, sizeof *first, parts->part_count, code + 1) - 1;
}

/* First codes of up to wanted parts, from a sample of all codes. */
static mote_status choose_ranges(mote_lod *lod, uint32_t wanted, lod_parts *parts) {
    const uint64_t all = lod->cloud->count, samples = all > 0 ? (uint64_t)wanted * SAMPLES_PER_PART : 0;
    uint64_t *sample = mote_alloc(lod->ctx, samples * sizeof *sample, "parts");
    if (sample == NULL) return MOTE_ERROR_MEMORY;
    uint64_t found = 0;
    for (uint64_t i = 0; i < samples; i++) {
        const uint64_t code = lod->codes[mote_hash64(i + 1) % all];
        if (code != UINT64_MAX) sample[found++] = code;
    }
    qsort(sample, found, sizeof *sample, compare_codes);
    parts->parts[0].first_code = lod->whole != NULL ? lod->whole->low.code : 0;
    parts->part_count = 1;
    for (uint32_t p = 1; p < wanted && found > 0; p++) {
        const uint64_t code = sample[found * p / wanted];
        const uint64_t last = parts->parts[parts->part_count - 1].first_code;
        /* A code that is found again may be a heap: it gets a part of its own. */
        if (code >= last && parts->part_count < MAX_PARTS) {
            parts->parts[parts->part_count++].first_code = code > last ? code : code + 1;
        }
    }
    for (uint32_t p = 0; p < parts->part_count; p++) {
        parts->parts[p].end_code = p + 1 < parts->part_count ? parts->parts[p + 1].first_code
                                   : lod->whole != NULL      ? lod->whole->high.code
                                                             : 1ull << 3 * MOTE_ORDER_BITS;
    }
    mote_free(lod->ctx, sample);
    return MOTE_OK;
}

static uint64_t share_first(const mote_lod *lod, uint64_t share, uint64_t shares) {
    return lod->cloud->count * share / shares;
}

/* Turns counts into where each share's points of a part go; returns the size of the largest part, heaps left out. */
static uint64_t place_parts(lod_parts *parts, uint64_t shares, uint64_t *counts) {
    const uint64_t width = parts->part_count + 1ull;
    uint64_t next = 0, largest = 0;
    for (uint32_t p = 0; p < parts->part_count; p++) {
        parts->parts[p].first = next;
        for (uint64_t s = 0; s < shares; s++) {
            const uint64_t own = counts[s * width + p];
            counts[s * width + p] = next;
            next += own;
        }
        parts->parts[p].count = next - parts->parts[p].first;
        if (!lod_part_is_duplicates(&parts->parts[p]) && parts->parts[p].count > largest)
            largest = parts->parts[p].count;
    }
    return largest;
}

static void deal_out(const mote_lod *lod, const lod_parts *parts, uint64_t shares, uint64_t *next) {
    const uint64_t width = parts->part_count + 1ull;
#pragma omp parallel for schedule(dynamic, 1) num_threads(lod->ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        for (uint64_t i = share_first(lod, s, shares); i < share_first(lod, s + 1, shares); i++) {
            const uint64_t code = lod->codes[i];
            if (code == UINT64_MAX) continue;
            const uint64_t at = next[s * width + part_of(parts, code)]++;
            parts->codes[at] = code;
            parts->indices[at] = (uint32_t)i;
        }
    }
}

static mote_status split(mote_lod *lod, uint64_t max_points, uint32_t least, uint64_t shares, uint64_t *counts,
                         lod_parts *parts) {
    mote_context *ctx = lod->ctx;
    /* Where the device holds all, as many parts as devices share them. */
    const uint64_t twice = 2 * (lod->count / (max_points > 0 ? max_points : 1) + 1);
    for (uint64_t wanted = lod->count > max_points ? twice : least;; wanted *= 2) {
        if (wanted > MAX_PARTS) {
            return mote_fail(ctx, MOTE_ERROR_MEMORY,
                             "out of GPU memory: it holds %llu points at once, fewer than lie in one place; a larger "
                             "--device-memory, or --device cpu, would do",
                             (unsigned long long)max_points);
        }
        MOTE_TRY(choose_ranges(lod, (uint32_t)wanted, parts));
        /* The points of each part in each share of the input; behind the parts, those of none. */
        const uint64_t width = parts->part_count + 1ull;
        memset(counts, 0, shares * width * sizeof *counts);
#pragma omp parallel for schedule(dynamic, 1) num_threads(lod->ctx->threads)
        for (uint64_t s = 0; s < shares; s++) {
            for (uint64_t i = share_first(lod, s, shares); i < share_first(lod, s + 1, shares); i++) {
                const uint64_t code = lod->codes[i];
                counts[s * width + (code == UINT64_MAX ? parts->part_count : part_of(parts, code))]++;
            }
        }
        if (place_parts(parts, shares, counts) <= max_points) break;
    }
    deal_out(lod, parts, shares, counts);
    return mote_progress(ctx, 0.3, "dealing points out to parts");
}

static mote_status make_codes(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    mote_stage(ctx, "bounds");
    if (lod->whole != NULL) {
        lod->lattice = lod->whole->lattice;
    } else {
        MOTE_TRY(mote_order_lattice(ctx, lod->cloud, &lod->lattice, &lod->skipped));
    }
    lod->count = lod->cloud->count - lod->skipped;
    lod->codes = mote_alloc(ctx, lod->cloud->count * sizeof *lod->codes, "codes");
    if (lod->codes == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "codes");
    mote_device *cpu = mote_cpu_device(ctx);
    MOTE_TRY(cpu->backend->order->codes(cpu, lod->cloud, &lod->lattice, lod->codes));
    return mote_progress(ctx, 0.2, "computing Morton codes");
}

mote_status lod_parts_make(mote_lod *lod, uint64_t max_points, uint32_t least, lod_parts *parts) {
    mote_context *ctx = lod->ctx;
    const uint64_t shares = SHARES_PER_THREAD * (uint64_t)ctx->threads;
    MOTE_TRY(make_codes(lod));
    mote_stage(ctx, "parts");
    parts->parts = mote_alloc(ctx, MAX_PARTS * sizeof *parts->parts, "parts");
    parts->codes = mote_alloc(ctx, lod->count * sizeof *parts->codes, "parts");
    parts->indices = mote_alloc(ctx, lod->count * sizeof *parts->indices, "parts");
    uint64_t *counts = mote_alloc(ctx, shares * (MAX_PARTS + 1) * sizeof *counts, "parts");
    mote_status status = MOTE_ERROR_MEMORY;
    if (parts->parts != NULL && parts->codes != NULL && parts->indices != NULL && counts != NULL) {
        status = split(lod, max_points, least, shares, counts, parts);
    }
    mote_free(ctx, counts);
    return status;
}

void lod_parts_free(mote_context *ctx, lod_parts *parts) {
    mote_free(ctx, parts->parts);
    mote_free(ctx, parts->codes);
    mote_free(ctx, parts->indices);
    mote_free(ctx, parts->open);
}

/* ---- putting together */

mote_status lod_parts_open(mote_lod *lod, lod_parts *parts, uint64_t position, uint8_t lost) {
    if (!mote_reserve(lod->ctx, (void **)&parts->open, &parts->open_capacity, parts->open_count + 1,
                      sizeof *parts->open, "parts")) {
        return MOTE_ERROR_MEMORY;
    }
    parts->open[parts->open_count++] = (lod_open_point){position, lost};
    return MOTE_OK;
}

void lod_parts_duplicates(mote_lod *lod, const lod_part *part, const lod_parts *parts) {
    memcpy(lod->codes + part->first, parts->codes + part->first, part->count * sizeof *lod->codes);
    memcpy(lod->order + part->first, parts->indices + part->first, part->count * sizeof *lod->order);
    memset(lod->level + part->first, MOTE_ORDER_BITS, part->count);
    lod->level[part->first] = MOTE_LOD_NEVER;
}

/* Whether point a is better than b, for a ≠ b. */
static bool better(const mote_lod *lod, uint64_t a, uint64_t b) {
    const bool first = lod->params.sampling == MOTE_LOD_FIRST;
    const uint64_t rank_a = first ? lod->order[a] : mote_lod_rank(lod->params.seed, lod->codes[a]);
    const uint64_t rank_b = first ? lod->order[b] : mote_lod_rank(lod->params.seed, lod->codes[b]);
    return rank_a != rank_b ? rank_a < rank_b : a < b;
}

/* The finest level at which the i-th open point meets the nearest better one on one side; below at_least, it does not
   matter. */
static uint32_t level_of_loss(const mote_lod *lod, const lod_parts *parts, uint64_t i, int64_t step,
                              uint32_t at_least) {
    const uint64_t own = parts->open[i].position;
    for (int64_t j = (int64_t)i + step; j >= 0 && j < (int64_t)parts->open_count; j += step) {
        const uint64_t other = parts->open[j].position;
        const uint32_t level = mote_lod_shared_level(lod->codes[own], lod->codes[other]);
        if (level < at_least) return 0;
        if (better(lod, other, own)) return level;
    }
    return 0;
}

/* Among the points left open, the nearest better one on either side says at which level a point loses; and where the
   cloud is itself a part, who wins the cells that its borders divide. */
static void settle_open(mote_lod *lod, const lod_parts *parts) {
    const uint32_t coarsest = lod_cell_level(lod, 0);
    for (uint64_t i = 0; i < parts->open_count; i++) {
        const lod_open_point *point = &parts->open[i];
        const uint32_t lost = point->lost == MOTE_LOD_NEVER ? coarsest - 1 : point->lost;
        const uint32_t left = level_of_loss(lod, parts, i, -1, lost + 1);
        const uint32_t right = level_of_loss(lod, parts, i, 1, lost + 1);
        uint32_t level = left > right ? left : right;
        if (lod->whole != NULL)
            level = lod_whole_loss(lod->whole, lod->codes[point->position], level > lost ? level : lost);
        if (level > lost) lod->level[point->position] = (uint8_t)level;
    }
}

/* Makes the level that chooses each point from the level at which it loses and that of its leaf. */
static void combine(mote_lod *lod, const uint8_t *lost) {
    const uint32_t coarsest = lod_cell_level(lod, 0);
#pragma omp parallel for schedule(static) num_threads(lod->ctx->threads)
    for (uint64_t i = 0; i < lod->count; i++) {
        lod->level[i] = (uint8_t)mote_lod_chosen(lost[i], lod->level[i], coarsest);
    }
}

mote_status lod_parts_finish(mote_lod *lod, const lod_parts *parts) {
    mote_context *ctx = lod->ctx;
    const bool by_cells = lod->params.sampling != MOTE_LOD_POISSON;
    mote_stage(ctx, "tree");
    if (by_cells) settle_open(lod, parts);
    uint8_t *lost = lod->level;
    lod->level = mote_alloc(ctx, lod->count, "levels");
    mote_status status = lod->level != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = lod_tree_build(lod);
    const bool known = by_cells && lod->fine == NULL; /* else the parts did not look deep enough */
    if (status == MOTE_OK && known) {
        if (lod->level_count > 1) combine(lod, lost);
        lod_count_node_points(lod);
    }
    mote_free(ctx, lost);
    if (status != MOTE_OK || known) return status;
    if (lod->whole == NULL) {
        mote_warn(ctx, "the memory of the GPU does not hold all points: the CPU chooses them %s",
                  by_cells ? "where they are too dense for one code" : "by distance");
    }
    return lod_sample_cpu(lod);
}
