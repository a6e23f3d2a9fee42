/* Turns of the threads that encode nodes. */
#include "io/turns.h"

#include <omp.h>
#include <stdlib.h>

#include "math/hash.h"

#define SAMPLED_NODES 256u /* of a class, about; all of them where there are fewer than twice as many */
#define GUESS_MARGIN  1.05 /* what the nodes that are not encoded may take more than the others */

static uint32_t class_of(uint64_t points) { return points == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(points); }

static bool is_sampled(const mote_sample *sample, uint32_t item, uint64_t points) {
    return mote_hash64(item) % sample->steps[class_of(points)] == 0;
}

void mote_sample_make(bool dry_run, const mote_lod_node *nodes, uint32_t count, mote_sample *sample) {
    uint32_t counts[MOTE_SAMPLE_CLASSES] = {0};
    for (uint32_t n = 0; n < count && dry_run; n++) counts[class_of(nodes[n].point_count)]++;
    sample->is_whole = true;
    for (uint32_t c = 0; c < MOTE_SAMPLE_CLASSES; c++) {
        const uint32_t step = counts[c] / SAMPLED_NODES;
        sample->steps[c] = step > 1 ? step : 1;
        sample->is_whole = sample->is_whole && step <= 1;
    }
}

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
        const mote_turn turn = turns->list[i];
        if (is_sampled(turns->sample, turn.item, turn.size)) turns->list[kept++] = turn;
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
    if (turns->sample != NULL && !turns->sample->is_whole) leave_sampled(turns, (uint32_t)ctx->threads);
    return MOTE_OK;
}

static bool goes_on(mote_context *ctx) { return mote_context_status(ctx) == MOTE_OK && !mote_stop(ctx); }

mote_status mote_turns_run(mote_context *ctx, const mote_turns *turns, mote_turn_encode encode, void *job) {
    const int64_t count = turns->count, begun = ctx->threads < count ? ctx->threads : count;
#pragma omp parallel num_threads(ctx->threads)
    {
        const int thread = omp_get_thread_num();
        /* There may be fewer threads than were asked for: each begins the turns of those that are missing, too. */
        for (int64_t i = thread; i < begun; i += omp_get_num_threads()) {
            if (goes_on(ctx)) encode(job, thread, turns->list[i].item);
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = begun; i < count; i++) {
            if (goes_on(ctx)) encode(job, thread, turns->list[i].item);
        }
    }
    MOTE_TRY(mote_stopped(ctx));
    return mote_context_status(ctx);
}

void mote_turns_free(mote_context *ctx, mote_turns *turns) {
    mote_free(ctx, turns->list);
    memset(turns, 0, sizeof *turns);
}

void mote_sample_guess(const mote_sample *sample, const mote_lod_node *nodes, uint32_t count, void *sizes,
                       size_t stride) {
    double points[MOTE_SAMPLE_CLASSES] = {0}, size_bytes[MOTE_SAMPLE_CLASSES] = {0};
    for (uint32_t n = 0; n < count && !sample->is_whole; n++) {
        if (!is_sampled(sample, n, nodes[n].point_count)) continue;
        points[class_of(nodes[n].point_count)] += (double)nodes[n].point_count;
        size_bytes[class_of(nodes[n].point_count)] += (double)size_at(sizes, stride, n);
    }
    for (uint32_t n = 0; n < count && !sample->is_whole; n++) {
        const uint32_t class = class_of(nodes[n].point_count);
        if (size_at(sizes, stride, n) > 0 || !(points[class] > 0)) continue;
        const double share = (double)nodes[n].point_count / points[class];
        const uint64_t guess = (uint64_t)(size_bytes[class] * share * GUESS_MARGIN) + 1;
        memcpy((uint8_t *)sizes + n * stride, &guess, sizeof guess);
    }
}
