/* Encoding BROTLI of octree.bin: each node attribute by attribute, compressed on its own. Nodes are compressed in
   parallel, a round at a time, and written in order, so that the file does not depend on the number of threads. */
#include "io/potree/potree.h"
#include "io/turns.h"

#define ROUND_BYTES       (16u << 20) /* uncompressed, per thread */
#define CODED_ROUND_BYTES (8u << 20)  /* the same where the round keeps them, coded */

/* What a thread needs, and the nodes of the round. */
typedef struct brotli_round {
    uint32_t begin, end;
    uint64_t *data_at; /* [end - begin] where each node's compressed bytes go in data */
    uint64_t data_capacity, node_capacity;
    uint8_t *data;
    /* The nodes of an octree on a GPU, whose records come in pieces: not yet compressed. */
    uint64_t *coded_at; /* [end - begin] */
    uint64_t coded_capacity, coded_node_capacity;
    uint8_t *coded;
    mote_turns turns;
} brotli_round;

/* What the parts of a piece need to know. */
typedef struct brotli_coding {
    const potree_octree *octree;
    const brotli_round *round;
} brotli_coding;

typedef struct brotli_worker {
    potree_worker base;
    potree_pool *pool;
    uint8_t *node_data; /* of one node, uncompressed */
    uint64_t node_capacity;
} brotli_worker;

/* What the threads share in a round. */
typedef struct brotli_work {
    const potree_octree *octree;
    brotli_worker *workers; /* [threads] */
    const brotli_round *round;
} brotli_work;

/* Gathers a node's points and codes them into the worker's memory. */
static mote_status code_node(const potree_octree *octree, brotli_worker *worker, potree_stats *stats, uint32_t node) {
    const potree_plan *plan = octree->plan;
    const uint64_t count = octree->source->nodes[node].point_count, size_bytes = count * plan->coded_stride_bytes;
    MOTE_TRY(potree_worker_load(octree, &worker->base, node));
    if (!mote_reserve_scratch(octree->ctx, (void **)&worker->node_data, &worker->node_capacity, size_bytes, 1,
                              "potree buffers")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint64_t first = 0; first < count; first += POTREE_BLOCK_POINTS) {
        const uint64_t remaining = count - first;
        const uint32_t now = remaining < POTREE_BLOCK_POINTS ? (uint32_t)remaining : POTREE_BLOCK_POINTS;
        const uint64_t after = remaining - now;
        potree_gather(plan, worker->base.indices + first,
                      worker->base.colors != NULL ? worker->base.colors + 3 * first : NULL, now,
                      after < POTREE_BLOCK_POINTS ? (uint32_t)after : POTREE_BLOCK_POINTS, worker->base.buffer, stats);
        potree_code_block(plan, worker->base.buffer, now, first, count, worker->node_data);
    }
    return MOTE_OK;
}

static mote_status compress_node(const potree_octree *octree, brotli_worker *worker, potree_stats *stats, uint32_t node,
                                 const brotli_round *round) {
    potree_place *place = &octree->places[node];
    const uint64_t size_bytes = octree->source->nodes[node].point_count * octree->plan->coded_stride_bytes;
    const uint32_t in_round = node - round->begin;
    uint8_t *out = round->data + round->data_at[in_round];
    if (size_bytes == 0) return MOTE_OK;
    if (round->coded == NULL) MOTE_TRY(code_node(octree, worker, stats, node));
    const uint8_t *data = round->coded != NULL ? round->coded + round->coded_at[in_round] : worker->node_data;
    MOTE_TRY(potree_compress(worker->pool, octree->brotli_quality, data, size_bytes, out, &place->size_bytes));
    place->hash = potree_hash_chain(0, out, place->size_bytes);
    return MOTE_OK;
}

/* Makes room for what the nodes of a round become before they are compressed. */
static mote_status begin_coding(const potree_octree *octree, brotli_round *round) {
    uint64_t size_bytes = 0;
    if (!mote_reserve_scratch(octree->ctx, (void **)&round->coded_at, &round->coded_node_capacity,
                              round->end - round->begin, sizeof *round->coded_at, "potree buffers")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t n = round->begin; n < round->end; n++) {
        round->coded_at[n - round->begin] = size_bytes;
        size_bytes += octree->source->nodes[n].point_count * octree->plan->coded_stride_bytes;
    }
    return mote_reserve_scratch(octree->ctx, (void **)&round->coded, &round->coded_capacity, size_bytes + 1, 1,
                                "potree buffers")
               ? MOTE_OK
               : MOTE_ERROR_MEMORY;
}

/* Codes the points of a piece where their nodes are put together. */
static mote_status code_piece(const potree_part *parts, uint64_t part_count, const uint8_t *records, void *user) {
    const brotli_coding *coding = user;
    const potree_octree *octree = coding->octree;
    const brotli_round *round = coding->round;
#pragma omp parallel for schedule(dynamic) num_threads(octree->ctx->threads)
    for (uint64_t p = 0; p < part_count; p++) {
        const potree_part *part = &parts[p];
        potree_code_block(octree->plan, records + part->at, (uint32_t)part->count, part->first,
                          octree->source->nodes[part->node].point_count,
                          round->coded + round->coded_at[part->node - round->begin]);
    }
    return mote_context_status(octree->ctx);
}

/* Takes nodes until the round is full, and makes room for their compressed bytes. */
static mote_status begin_round(const potree_octree *octree, brotli_round *round) {
    const uint64_t share = octree->plan->device_ops != NULL ? CODED_ROUND_BYTES : ROUND_BYTES;
    const uint64_t max = (uint64_t)octree->ctx->threads * share;
    const mote_lod_node *nodes = octree->source->nodes;
    uint64_t raw_bytes = 0, bound_bytes = 0;
    round->begin = round->end;
    while (round->end < octree->source->node_count && (raw_bytes < max || round->end == round->begin)) {
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
    return mote_reserve_scratch(octree->ctx, (void **)&round->data, &round->data_capacity, bound_bytes, 1,
                                "potree buffers")
               ? MOTE_OK
               : MOTE_ERROR_MEMORY;
}

static void run_node(void *user, int thread, uint32_t node) {
    const brotli_work *work = user;
    compress_node(work->octree, &work->workers[thread], &work->octree->stats[thread], node, work->round);
}

static mote_status run_round(const potree_octree *octree, brotli_worker *workers, brotli_round *round) {
    brotli_work work = {octree, workers, round};
    MOTE_TRY(mote_turns_make(octree->ctx, &octree->source->nodes[round->begin].point_count,
                             sizeof *octree->source->nodes, round->begin, round->end - round->begin, &round->turns));
    return mote_turns_run(octree->ctx, &round->turns, run_node, &work);
}

static mote_status end_round(const potree_octree *octree, const brotli_round *round, uint64_t *written_bytes) {
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

static mote_status write_round(const potree_octree *octree, brotli_worker *workers, potree_batches *batches,
                               brotli_round *round, uint64_t *written_bytes) {
    MOTE_TRY(begin_round(octree, round));
    if (octree->plan->device_ops != NULL) {
        brotli_coding coding = {octree, round};
        MOTE_TRY(begin_coding(octree, round));
        MOTE_TRY(potree_batches_run(batches, round->end, code_piece, &coding));
    }
    MOTE_TRY(run_round(octree, workers, round));
    return end_round(octree, round, written_bytes);
}

static mote_status write_rounds(const potree_octree *octree, brotli_worker *workers, potree_batches *batches,
                                brotli_round *round) {
    uint64_t written_bytes = 0, done = 0;
    while (round->end < octree->source->node_count) {
        MOTE_TRY(mote_progress(octree->ctx, (double)done / (double)(octree->plan->points + 1), "compressing nodes"));
        MOTE_TRY(write_round(octree, workers, batches, round, &written_bytes));
        for (uint32_t n = round->begin; n < round->end; n++) done += octree->source->nodes[n].point_count;
    }
    return MOTE_OK;
}

mote_status potree_octree_write_brotli(potree_octree *octree) {
    mote_context *ctx = octree->ctx;
    brotli_worker *workers = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *workers, "potree buffers");
    brotli_round round;
    potree_batches batches;
    memset(&round, 0, sizeof round);
    round.turns.sample = octree->sample;
    memset(&batches, 0, sizeof batches);
    mote_status status = workers != NULL ? make_workers(octree, workers) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && octree->plan->device_ops != NULL) status = potree_batches_open(octree, &batches);
    if (status == MOTE_OK) status = write_rounds(octree, workers, &batches, &round);
    status = potree_batches_close(&batches, status);
    free_workers(ctx, workers);
    mote_turns_free(ctx, &round.turns);
    mote_free(ctx, round.data);
    mote_free(ctx, round.data_at);
    mote_free(ctx, round.coded);
    mote_free(ctx, round.coded_at);
    return status;
}
