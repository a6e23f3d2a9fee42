/* Encodes the nodes, some at a time, and writes their chunks one behind the other: coarse levels first, within a level
   in Morton order, whatever thread was ready first. */
#include "io/copc/copc_parts.h"
#include "io/potree/potree.h" /* the checksum */
#include "math/hash.h"

#define NODES_PER_ROUND 16u         /* per thread; between rounds chunks are written and the caller hears of progress */
#define POINTS_MAX      2147483647u /* of a node and bytes of its chunk: int32 in the hierarchy */
#define AT_GPS          22u         /* byte of a record of formats 6 to 8 */

/* A node's chunk until it is written. */
typedef struct chunk_slot {
    uint8_t *data;
    uint64_t capacity;
} chunk_slot;

/* What the threads share in a round. */
typedef struct chunk_round {
    copc_job *job;
    chunk_slot *slots;
    uint32_t first, last; /* nodes */
    mote_turns turns;
} chunk_round;

static void tally_times(const uint8_t *records, uint64_t count, uint32_t stride_bytes, copc_worker *worker) {
    for (uint64_t i = 0; i < count; i++, records += stride_bytes) {
        const double gps = las_f64(records + AT_GPS);
        worker->gps_low = gps < worker->gps_low ? gps : worker->gps_low; /* false for NaN */
        worker->gps_high = gps > worker->gps_high ? gps : worker->gps_high;
    }
}

static mote_status fail_crowded(const copc_job *job, uint64_t count) {
    return mote_fail(job->ctx, MOTE_ERROR_UNSUPPORTED,
                     "%s: %llu points in one place are more than a node of COPC holds", job->plan.path,
                     (unsigned long long)count);
}

mote_status mote_copc_encode(const copc_job *job, copc_worker *worker, uint32_t node, const uint8_t **data,
                             copc_place *place) {
    uint64_t count = 0, size_bytes = 0;
    memset(place, 0, sizeof *place);
    MOTE_TRY(mote_copc_load(job, worker, node, &count));
    if (count == 0) return MOTE_OK;
    mote_las_tally_count(&job->plan, worker->records, count, &worker->tally);
    tally_times(worker->records, count, job->plan.record_bytes, worker);
    if (count > POINTS_MAX) return fail_crowded(job, count);
    MOTE_TRY(mote_laz_encode(worker->encoder, worker->records, count, data, &size_bytes));
    if (size_bytes > POINTS_MAX) return fail_crowded(job, count);
    place->points = count;
    place->size_bytes = size_bytes;
    place->hash = potree_hash_chain(0, *data, size_bytes);
    return MOTE_OK;
}

/* A node of which other parts have points becomes a chunk when all parts are joined. */
static mote_status encode_node(const copc_job *job, copc_worker *worker, uint32_t node, chunk_slot *slot,
                               copc_place *place) {
    const uint8_t *data = NULL;
    const bool is_share = copc_is_shared(job, node);
    MOTE_TRY(is_share ? mote_copc_share(job, worker, node, &data, place)
                      : mote_copc_encode(job, worker, node, &data, place));
    if (data == NULL || place->size_bytes == 0) return MOTE_OK;
    if (!mote_reserve_scratch(job->ctx, (void **)&slot->data, &slot->capacity, place->size_bytes, 1, "COPC chunks")) {
        return MOTE_ERROR_MEMORY;
    }
    memcpy(slot->data, data, place->size_bytes);
    return MOTE_OK;
}

static void run_node(void *user, int thread, uint32_t node) {
    const chunk_round *round = user;
    const copc_job *job = round->job;
    encode_node(job, &job->workers[thread], node, &round->slots[node - round->first], &job->places[node]);
}

static mote_status encode_round(chunk_round *round) {
    const copc_job *job = round->job;
    MOTE_TRY(mote_turns_make(job->ctx, &job->places[round->first].points, sizeof *job->places, round->first,
                             round->last - round->first, &round->turns));
    return mote_turns_run(job->ctx, &round->turns, run_node, round);
}

static mote_status write_round(const chunk_round *round) {
    copc_job *job = round->job;
    int failed = MOTE_OK;
    for (uint32_t node = round->first; node < round->last; node++) {
        copc_place *place = &job->places[node];
        place->at = place->points > 0 ? job->at : 0;
        job->at += place->size_bytes;
        job->hash = mote_hash_pair(job->hash, place->hash);
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->ctx->threads) shared(failed)
    for (int64_t node = round->first; node < (int64_t)round->last; node++) {
        const copc_place *place = &job->places[node];
        const mote_status status = mote_output_write_at(job->ctx, &job->output, round->slots[node - round->first].data,
                                                        place->size_bytes, place->at);
        if (status == MOTE_OK) continue;
#pragma omp atomic write
        failed = (int)status;
    }
    return (mote_status)failed;
}

static mote_status write_nodes(chunk_round *round, uint32_t slot_count) {
    const copc_job *job = round->job;
    uint64_t done = 0, all = 0;
    for (uint32_t n = 0; n < job->node_count; n++) all += job->nodes[n].point_count;
    for (round->first = 0; round->first < job->node_count; round->first = round->last) {
        const uint32_t remaining = job->node_count - round->first;
        round->last = round->first + (remaining < slot_count ? remaining : slot_count);
        MOTE_TRY(mote_progress(job->ctx, all > 0 ? (double)done / (double)all : 0, "writing COPC"));
        MOTE_TRY(encode_round(round));
        MOTE_TRY(write_round(round));
        for (uint32_t n = round->first; n < round->last; n++) done += job->nodes[n].point_count;
    }
    return mote_progress(job->ctx, 1, "writing COPC");
}

/* Guesses, in a dry run, the chunks that were not encoded, and the room for each slot's largest. */
static mote_status guess_chunks(copc_job *job, chunk_slot *slots, uint32_t slot_count) {
    if (job->sample.is_whole) return MOTE_OK;
    mote_sample_guess(&job->sample, job->nodes, job->node_count, &job->places[0].size_bytes, sizeof job->places[0]);
    job->at = job->layout.points_at + LAZ_POINTER_BYTES;
    for (uint32_t n = 0; n < job->node_count; n++) {
        chunk_slot *slot = &slots[n % slot_count];
        job->places[n].points = job->nodes[n].point_count;
        job->at += job->places[n].size_bytes;
        if (!mote_reserve_scratch(job->ctx, (void **)&slot->data, &slot->capacity, job->places[n].size_bytes, 1,
                                  "COPC chunks")) {
            return MOTE_ERROR_MEMORY;
        }
    }
    return MOTE_OK;
}

/* ---- the chunk table */

/* Nodes without points have no chunk. */
static uint32_t list_chunks(const copc_job *job, laz_entry *entries) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < job->node_count; n++) {
        if (job->places[n].points == 0) continue;
        entries[count].points = job->places[n].points;
        entries[count++].size_bytes = job->places[n].size_bytes;
    }
    return count;
}

mote_status mote_copc_write_table(copc_job *job) {
    laz_entry *entries = mote_alloc(job->ctx, job->node_count * sizeof *entries, "COPC");
    uint8_t *table = mote_alloc_zero(job->ctx, 16ull * job->node_count + 72, "COPC");
    mote_status status = MOTE_ERROR_MEMORY;
    if (entries != NULL && table != NULL) {
        const uint32_t count = list_chunks(job, entries);
        uint8_t pointer[LAZ_POINTER_BYTES];
        las_put(table + LAZ_TABLE_AT_COUNT, count, 4);
        uint64_t size_bytes = 8;
        if (count > 0) size_bytes += mote_laz_table_encode(entries, count, true, table + LAZ_TABLE_BYTES);
        las_put(pointer, job->at, 8);
        status = mote_output_write_at(job->ctx, &job->output, pointer, sizeof pointer, job->layout.points_at);
        if (status == MOTE_OK) status = mote_output_write_at(job->ctx, &job->output, table, size_bytes, job->at);
        job->hash = potree_hash_chain(job->hash, table, size_bytes);
        job->at += size_bytes;
    }
    mote_free(job->ctx, entries);
    mote_free(job->ctx, table);
    return status;
}

/* How many points are loaded for a node: its own, of which some leave, and those that come. */
static void count_loaded(copc_job *job) {
    for (uint32_t n = 0; n < job->node_count; n++) job->places[n].points = job->nodes[n].point_count;
    for (uint64_t s = 0; s < job->stray_count; s++) job->places[job->strays[s].node].points++;
}

mote_status mote_copc_write_chunks(copc_job *job) {
    const uint32_t slot_count = NODES_PER_ROUND * (uint32_t)job->ctx->threads;
    chunk_round round;
    memset(&round, 0, sizeof round);
    round.job = job;
    round.turns.sample = &job->sample;
    round.slots = mote_alloc_zero(job->ctx, slot_count * sizeof *round.slots, "COPC chunks");
    if (round.slots == NULL) return MOTE_ERROR_MEMORY;
    count_loaded(job);
    mote_status status = write_nodes(&round, slot_count);
    if (status == MOTE_OK) status = guess_chunks(job, round.slots, slot_count);
    for (uint32_t i = 0; i < slot_count; i++) mote_free(job->ctx, round.slots[i].data);
    mote_free(job->ctx, round.slots);
    mote_turns_free(job->ctx, &round.turns);
    return status;
}
