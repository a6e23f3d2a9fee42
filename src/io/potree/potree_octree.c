/* Writes octree.bin of encoding DEFAULT. Every node's place is known before the first byte is written, so threads
   take runs of nodes, gather each into a buffer of their own and write it where it belongs. */
#include "io/potree/potree.h"
#include "io/turns.h"

#define BUFFER_BYTES   (1u << 20) /* stays in the second-level cache until the system has copied it */
#define JOBS_PER_ROUND 16u        /* per thread; between rounds the caller hears of progress and may cancel */

/* A run of nodes whose data are contiguous in the file. */
typedef struct octree_job {
    uint64_t largest; /* points of its largest node */
    uint32_t begin, end;
} octree_job;

/* What the threads share in a round. */
typedef struct octree_round {
    const potree_octree *octree;
    potree_worker *workers; /* [threads] */
    octree_job *jobs;
    uint32_t first, count; /* jobs are counted through all rounds */
    mote_turns turns;
} octree_round;

mote_status potree_worker_load(const potree_octree *octree, potree_worker *worker, uint32_t node) {
    const uint64_t count = octree->source->nodes[node].point_count;
    if (!mote_reserve_scratch(octree->ctx, (void **)&worker->indices, &worker->index_capacity, count,
                              sizeof *worker->indices, "potree buffers")) {
        return MOTE_ERROR_MEMORY;
    }
    if (octree->plan->averaged_colors &&
        !mote_reserve_scratch(octree->ctx, (void **)&worker->colors, &worker->color_capacity, 3 * count,
                              sizeof *worker->colors, "potree buffers")) {
        return MOTE_ERROR_MEMORY;
    }
    octree->source->node_points(octree->source->lod, node, worker->indices, worker->colors);
    return MOTE_OK;
}

void potree_worker_free(mote_context *ctx, potree_worker *worker) {
    mote_free(ctx, worker->indices);
    mote_free(ctx, worker->colors);
    mote_free(ctx, worker->buffer);
}

/* Gathers a node block by block; the buffer is written whenever it is full. */
static mote_status write_node(const potree_octree *octree, potree_worker *worker, potree_stats *stats, uint32_t node,
                              uint64_t *buffered_bytes, uint64_t *file_bytes) {
    const potree_plan *plan = octree->plan;
    const uint64_t count = octree->source->nodes[node].point_count;
    potree_hash hash = potree_hash_begin();
    if (count > 0) MOTE_TRY(potree_worker_load(octree, worker, node));
    for (uint64_t first = 0; first < count; first += POTREE_BLOCK_POINTS) {
        const uint64_t remaining = count - first;
        const uint32_t now = remaining < POTREE_BLOCK_POINTS ? (uint32_t)remaining : POTREE_BLOCK_POINTS;
        const uint64_t after = remaining - now;
        if (*buffered_bytes > BUFFER_BYTES) {
            MOTE_TRY(mote_output_write_at(octree->ctx, octree->output, worker->buffer, *buffered_bytes, *file_bytes));
            *file_bytes += *buffered_bytes;
            *buffered_bytes = 0;
        }
        uint8_t *records = worker->buffer + *buffered_bytes;
        potree_gather(plan, worker->indices + first, worker->colors != NULL ? worker->colors + 3 * first : NULL, now,
                      after < POTREE_BLOCK_POINTS ? (uint32_t)after : POTREE_BLOCK_POINTS, records, stats);
        potree_hash_add(&hash, records, (uint64_t)now * plan->stride_bytes);
        *buffered_bytes += (uint64_t)now * plan->stride_bytes;
    }
    octree->places[node].hash = potree_hash_end(&hash);
    return MOTE_OK;
}

static mote_status write_job(const potree_octree *octree, potree_worker *worker, potree_stats *stats, octree_job job) {
    uint64_t buffered_bytes = 0, file_bytes = octree->places[job.begin].offset;
    for (uint32_t n = job.begin; n < job.end; n++) {
        MOTE_TRY(write_node(octree, worker, stats, n, &buffered_bytes, &file_bytes));
    }
    return mote_output_write_at(octree->ctx, octree->output, worker->buffer, buffered_bytes, file_bytes);
}

/* Cuts the next jobs of about a buffer each. */
static void next_jobs(octree_round *round, uint32_t *next, uint32_t max) {
    const potree_octree *octree = round->octree;
    const mote_lod_node *nodes = octree->source->nodes;
    round->first += round->count;
    round->count = 0;
    while (round->count < max && *next < octree->source->node_count) {
        octree_job *job = &round->jobs[round->count++];
        uint64_t size_bytes = 0;
        job->begin = *next;
        job->largest = 0;
        do {
            size_bytes += octree->places[*next].size_bytes;
            if (nodes[*next].point_count > job->largest) job->largest = nodes[*next].point_count;
            ++*next;
        } while (*next < octree->source->node_count && size_bytes + octree->places[*next].size_bytes <= BUFFER_BYTES);
        job->end = *next;
    }
}

static void run_job(void *user, int thread, uint32_t job) {
    const octree_round *round = user;
    const potree_octree *octree = round->octree;
    write_job(octree, &round->workers[thread], &octree->stats[thread], round->jobs[job - round->first]);
}

/* As many threads as there are jobs get a buffer, before any begins. */
static mote_status make_buffers(const octree_round *round) {
    const potree_octree *octree = round->octree;
    const uint64_t size_bytes = BUFFER_BYTES + (uint64_t)POTREE_BLOCK_POINTS * octree->plan->stride_bytes;
    for (uint32_t t = 0; t < round->count && t < (uint32_t)octree->ctx->threads; t++) {
        if (round->workers[t].buffer != NULL) continue;
        round->workers[t].buffer = mote_alloc(octree->ctx, size_bytes, "potree buffers");
        if (round->workers[t].buffer == NULL) return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static mote_status run_round(octree_round *round) {
    mote_context *ctx = round->octree->ctx;
    MOTE_TRY(make_buffers(round));
    MOTE_TRY(mote_turns_make(ctx, &round->jobs[0].largest, sizeof round->jobs[0], round->first, round->count,
                             &round->turns));
    return mote_turns_run(ctx, &round->turns, run_job, round);
}

void potree_place_nodes(const potree_octree *octree) {
    const potree_hash nothing = potree_hash_begin();
    uint64_t offset = 0;
    for (uint32_t n = 0; n < octree->source->node_count; n++) {
        potree_place *place = &octree->places[n];
        place->offset = offset;
        place->size_bytes = octree->source->nodes[n].point_count * octree->plan->stride_bytes;
        place->hash = potree_hash_end(&nothing);
        offset += place->size_bytes;
    }
    mote_output_expect(octree->ctx, octree->output, offset);
}

mote_status potree_octree_write(potree_octree *octree) {
    mote_context *ctx = octree->ctx;
    const uint32_t threads = (uint32_t)ctx->threads, max = threads * JOBS_PER_ROUND;
    octree_round round;
    memset(&round, 0, sizeof round);
    round.octree = octree;
    round.turns.sample = octree->sample;
    round.workers = mote_alloc_zero(ctx, threads * sizeof *round.workers, "potree buffers");
    round.jobs = mote_alloc(ctx, max * sizeof *round.jobs, "potree buffers");
    mote_status status = round.workers != NULL && round.jobs != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    uint32_t next = 0;
    potree_place_nodes(octree);
    while (status == MOTE_OK && next < octree->source->node_count) {
        const uint64_t done = octree->places[next].offset;
        status = mote_progress(ctx, (double)done / ((double)octree->plan->points * octree->plan->stride_bytes + 1),
                               "writing nodes");
        if (status != MOTE_OK) break;
        next_jobs(&round, &next, max);
        status = run_round(&round);
    }
    for (uint32_t t = 0; round.workers != NULL && t < threads; t++) potree_worker_free(ctx, &round.workers[t]);
    mote_turns_free(ctx, &round.turns);
    mote_free(ctx, round.workers);
    mote_free(ctx, round.jobs);
    return status;
}
