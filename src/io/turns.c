/* Turns of the threads that encode nodes. */
#include "io/turns.h"

#include <omp.h>
#include <stdlib.h>

#include "math/hash.h"

#define SAMPLED_NODES      1024u /* a dry run encodes about so many, and all nodes where there are fewer */
#define SAMPLED_PER_THREAD 128u  /* or so many: each place where a node's bytes wait for the file gets some */
#define GUESS_MARGIN       1.05  /* what the nodes that are not encoded may take more than the others */

uint32_t mote_turns_step(const mote_context *ctx, bool dry_run, uint32_t node_count) {
    const uint32_t per_threads = SAMPLED_PER_THREAD * (uint32_t)ctx->threads;
    const uint32_t sampled = per_threads > SAMPLED_NODES ? per_threads : SAMPLED_NODES;
    return dry_run && node_count / sampled > 1 ? node_count / sampled : 1;
}

/* One of each step that follow each other, at a random place. */
static bool is_sampled(uint32_t item, uint32_t step) { return mote_hash64(item / step) % step == item % step; }

static uint64_t size_at(const void *sizes, size_t stride, uint32_t i) {
    uint64_t size;
    memcpy(&size, (const uint8_t *)sizes + i * stride, sizeof size);
    return size;
}

static int by_size(const void *a, const void *b) {
    const mote_turn *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* All that the threads begin with stay: they are what memory is taken for. */
static void leave_sampled(mote_turns *turns, uint32_t threads) {
    uint32_t kept = threads < turns->count ? threads : turns->count;
    for (uint32_t i = kept; i < turns->count; i++) {
        if (is_sampled(turns->list[i].item, turns->step)) turns->list[kept++] = turns->list[i];
    }
    turns->count = kept;
}

mote_status mote_turns_make(mote_context *ctx, const void *sizes, size_t stride, uint32_t first, uint32_t count,
                            mote_turns *turns) {
    if (!mote_reserve_scratch(ctx, (void **)&turns->list, &turns->capacity, count, sizeof *turns->list, "turns")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        turns->list[i].size = size_at(sizes, stride, i);
        turns->list[i].item = first + i;
    }
    turns->count = count;
    qsort(turns->list, count, sizeof *turns->list, by_size);
    if (turns->step > 1) leave_sampled(turns, (uint32_t)ctx->threads);
    return MOTE_OK;
}

void mote_turns_run(const mote_context *ctx, const mote_turns *turns, mote_turn_encode encode, void *job) {
    const int64_t count = turns->count, begun = ctx->threads < count ? ctx->threads : count;
#pragma omp parallel num_threads(ctx->threads)
    {
        const int thread = omp_get_thread_num();
        /* In case that there are fewer threads than were asked for. */
        for (int64_t i = thread; i < begun; i += omp_get_num_threads()) encode(job, thread, turns->list[i].item);
#pragma omp for schedule(dynamic)
        for (int64_t i = begun; i < count; i++) encode(job, thread, turns->list[i].item);
    }
}

void mote_turns_free(mote_context *ctx, mote_turns *turns) {
    mote_free(ctx, turns->list);
    memset(turns, 0, sizeof *turns);
}

void mote_turns_guess(const mote_lod_node *nodes, uint32_t count, uint32_t step, void *sizes, size_t stride) {
    double points = 0, size_bytes = 0;
    for (uint32_t n = 0; n < count && step > 1; n++) {
        if (!is_sampled(n, step)) continue;
        points += (double)nodes[n].point_count;
        size_bytes += (double)size_at(sizes, stride, n);
    }
    for (uint32_t n = 0; n < count && points > 0; n++) {
        if (size_at(sizes, stride, n) > 0) continue;
        const uint64_t guess = (uint64_t)(size_bytes / points * (double)nodes[n].point_count * GUESS_MARGIN);
        memcpy((uint8_t *)sizes + n * stride, &guess, sizeof guess);
    }
}
