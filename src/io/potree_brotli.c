/* Encoding BROTLI of octree.bin: each node attribute by attribute, compressed on its own. Nodes are compressed in
   parallel, a round at a time, and written in order, so that the file does not depend on the number of threads. */
#include <omp.h>

#include "io/potree.h"

#define ROUND_BYTES (16u << 20) /* uncompressed, per thread */

/* What a thread needs, and the nodes of the round. */
typedef struct brotli_round {
    uint32_t begin, end;
    uint64_t *data_at; /* [end - begin + 1] where each node's compressed bytes go in data */
    uint64_t data_capacity, node_capacity;
    uint8_t *data;
} brotli_round;

typedef struct brotli_worker {
    potree_worker base;
    potree_pool *pool;
    uint8_t *node_data; /* of one node, uncompressed */
    uint64_t node_capacity;
} brotli_worker;

static mote_status compress_node(const potree_octree *octree, brotli_worker *worker, potree_stats *stats, uint32_t node,
                                 uint8_t *out) {
    const potree_plan *plan = octree->plan;
    potree_place *place = &octree->places[node];
    const uint64_t count = octree->source->nodes[node].point_count, size_bytes = count * plan->coded_stride_bytes;
    if (count == 0) return MOTE_OK;
    MOTE_TRY(potree_worker_load(octree, &worker->base, node));
    if (!mote_reserve(octree->ctx, (void **)&worker->node_data, &worker->node_capacity, size_bytes, 1,
                      "potree buffers")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint64_t first = 0; first < count; first += POTREE_BLOCK_POINTS) {
        const uint64_t left = count - first;
        const uint32_t now = left < POTREE_BLOCK_POINTS ? (uint32_t)left : POTREE_BLOCK_POINTS;
        const uint64_t after = left - now;
        potree_gather(plan, worker->base.indices + first,
                      worker->base.colors != NULL ? worker->base.colors + 3 * first : NULL, now,
                      after < POTREE_BLOCK_POINTS ? (uint32_t)after : POTREE_BLOCK_POINTS, worker->base.buffer, stats);
        potree_code_block(plan, worker->base.buffer, now, first, count, worker->node_data);
    }
    MOTE_TRY(
        potree_compress(worker->pool, octree->brotli_quality, worker->node_data, size_bytes, out, &place->size_bytes));
    place->hash = potree_hash_chain(0, out, place->size_bytes);
    return MOTE_OK;
}

/* Takes nodes until the round is full, and makes room for their compressed bytes. */
static mote_status begin_round(const potree_octree *octree, brotli_round *round) {
    const uint64_t most = (uint64_t)octree->ctx->threads * ROUND_BYTES;
    const mote_lod_node *nodes = octree->source->nodes;
    uint64_t raw_bytes = 0, bound_bytes = 0;
    round->begin = round->end;
    while (round->end < octree->source->node_count && (raw_bytes < most || round->end == round->begin)) {
        const uint64_t size_bytes = nodes[round->end++].point_count * octree->plan->coded_stride_bytes;
        const uint32_t count = round->end - round->begin;
        if (!mote_reserve(octree->ctx, (void **)&round->data_at, &round->node_capacity, count, sizeof *round->data_at,
                          "potree buffers")) {
            return MOTE_ERROR_MEMORY;
        }
        round->data_at[count - 1] = bound_bytes;
        raw_bytes += size_bytes;
        bound_bytes += potree_compressed_bound(size_bytes);
    }
    return mote_reserve(octree->ctx, (void **)&round->data, &round->data_capacity, bound_bytes, 1, "potree buffers")
               ? MOTE_OK
               : MOTE_ERROR_MEMORY;
}

static void run_round(const potree_octree *octree, brotli_worker *workers, const brotli_round *round) {
#pragma omp parallel for schedule(dynamic) num_threads(octree->ctx->threads)
    for (uint32_t n = round->begin; n < round->end; n++) {
        const int t = omp_get_thread_num();
        if (mote_context_status(octree->ctx) != MOTE_OK) continue;
        compress_node(octree, &workers[t], &octree->stats[t], n, round->data + round->data_at[n - round->begin]);
    }
}

static mote_status end_round(const potree_octree *octree, const brotli_round *round, uint64_t *written_bytes) {
    MOTE_TRY(mote_context_status(octree->ctx));
    for (uint32_t n = round->begin; n < round->end; n++) {
        potree_place *place = &octree->places[n];
        place->offset = *written_bytes;
        *written_bytes += place->size_bytes;
        MOTE_TRY(mote_output_write(octree->ctx, octree->output, round->data + round->data_at[n - round->begin],
                                   place->size_bytes));
    }
    return MOTE_OK;
}

static mote_status make_workers(const potree_octree *octree, brotli_worker *workers) {
    const uint64_t block_bytes = (uint64_t)POTREE_BLOCK_POINTS * octree->plan->stride_bytes;
    for (int t = 0; t < octree->ctx->threads; t++) {
        workers[t].pool = potree_pool_make(octree->ctx);
        workers[t].base.buffer = mote_alloc(octree->ctx, block_bytes, "potree buffers");
        if (workers[t].pool == NULL || workers[t].base.buffer == NULL) return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static void free_workers(mote_context *ctx, brotli_worker *workers) {
    for (int t = 0; workers != NULL && t < ctx->threads; t++) {
        potree_worker_free(ctx, &workers[t].base);
        potree_pool_free(workers[t].pool);
        mote_free(ctx, workers[t].node_data);
    }
    mote_free(ctx, workers);
}

mote_status potree_octree_write_brotli(potree_octree *octree) {
    mote_context *ctx = octree->ctx;
    brotli_worker *workers = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *workers, "potree buffers");
    brotli_round round = {0, 0, NULL, 0, 0, NULL};
    uint64_t written_bytes = 0, done = 0;
    mote_status status = workers != NULL ? make_workers(octree, workers) : MOTE_ERROR_MEMORY;
    while (status == MOTE_OK && round.end < octree->source->node_count) {
        status = mote_progress(ctx, (double)done / (double)(octree->plan->points + 1), "compressing nodes");
        if (status == MOTE_OK) status = begin_round(octree, &round);
        if (status != MOTE_OK) break;
        run_round(octree, workers, &round);
        status = end_round(octree, &round, &written_bytes);
        for (uint32_t n = round.begin; n < round.end; n++) done += octree->source->nodes[n].point_count;
    }
    free_workers(ctx, workers);
    mote_free(ctx, round.data);
    mote_free(ctx, round.data_at);
    return status;
}
