/* The points of a LAZ file: threads convert and code chunks, each into memory of its own. Where a chunk goes is known
   when all before it are coded: the thread that hands over the one that was missing gives places to those that follow
   it without a gap, and writes them while the others code on. The bytes are the same for any number of threads. */
#include <omp.h>

#include "io/las/write/las_write.h"

#define PLACE_BYTES 8u /* the offset of the chunk table, at the start of the points */

/* A chunk at work. */
typedef struct chunk_slot {
    uint8_t *data;
    uint64_t capacity, size_bytes, at;
    bool busy;  /* from the start of coding to the end of writing */
    bool coded; /* but without a place yet */
} chunk_slot;

struct las_chunk_writer {
    laz_encoder **encoders; /* per thread */
    laz_entry *table;
    uint64_t count;    /* chunks of the file */
    uint8_t *held;     /* records that do not fill a chunk yet: added % block_points of them */
    chunk_slot *slots; /* chunk i takes slot i % slot_count */
    uint64_t slot_count;
    pthread_mutex_t lock;        /* guards all below and what the slots say */
    pthread_cond_t moved;        /* a slot is free, or something failed */
    uint64_t taken, placed, end; /* chunks begun, with a place, and up to which the points are there */
    uint64_t at;                 /* the place of the next chunk */
    mote_status status;
};

/* ---- one chunk */

static chunk_slot *slot_of(las_chunk_writer *chunks, uint64_t chunk) {
    return &chunks->slots[chunk % chunks->slot_count];
}

/* The records of a chunk; the first one of a piece may have begun in the pieces before. */
static const uint8_t *chunk_records(las_writer *w, uint64_t thread, uint64_t chunk, uint64_t *count) {
    const uint64_t first = chunk * w->block_points, remaining = w->plan.count - first;
    *count = remaining < w->block_points ? remaining : w->block_points;
    if (first >= w->added) return mote_las_writer_records(w, thread, first - w->added, *count);
    uint8_t *held = w->chunks->held;
    const uint64_t before = w->added - first;
    if (*count > before) mote_las_convert(&w->plan, 0, *count - before, held + before * w->plan.record_bytes);
    mote_las_tally_count(&w->plan, held, *count, &w->tallies[thread]);
    return held;
}

/* ---- who codes, places and writes which */

/* Waits until the next chunk has a slot; false when there is none left, or after a failure. */
static bool take_chunk(las_chunk_writer *chunks, uint64_t *chunk) {
    pthread_mutex_lock(&chunks->lock);
    while (chunks->status == MOTE_OK && chunks->taken < chunks->end && slot_of(chunks, chunks->taken)->busy) {
        pthread_cond_wait(&chunks->moved, &chunks->lock);
    }
    const bool took = chunks->status == MOTE_OK && chunks->taken < chunks->end;
    if (took) {
        *chunk = chunks->taken++;
        slot_of(chunks, *chunk)->busy = true;
    }
    pthread_mutex_unlock(&chunks->lock);
    return took;
}

/* Gives places to the coded chunks that now follow those before: [*first, the result). */
static uint64_t place_chunks(las_chunk_writer *chunks, uint64_t chunk, uint64_t *first) {
    pthread_mutex_lock(&chunks->lock);
    slot_of(chunks, chunk)->coded = true;
    *first = chunks->placed;
    while (chunks->placed < chunks->taken && slot_of(chunks, chunks->placed)->coded) {
        chunk_slot *slot = slot_of(chunks, chunks->placed);
        slot->coded = false;
        slot->at = chunks->at;
        chunks->at += slot->size_bytes;
        chunks->table[chunks->placed++].size_bytes = slot->size_bytes;
    }
    const uint64_t stop = chunks->placed;
    pthread_mutex_unlock(&chunks->lock);
    return stop;
}

static mote_status write_chunk(las_writer *w, uint64_t chunk) {
    chunk_slot *slot = slot_of(w->chunks, chunk);
    MOTE_TRY(mote_output_write_at(w->ctx, &w->output, slot->data, slot->size_bytes, slot->at));
    pthread_mutex_lock(&w->chunks->lock);
    slot->busy = false;
    pthread_cond_broadcast(&w->chunks->moved);
    pthread_mutex_unlock(&w->chunks->lock);
    return MOTE_OK;
}

static void note_failure(las_chunk_writer *chunks, mote_status status) {
    pthread_mutex_lock(&chunks->lock);
    if (chunks->status == MOTE_OK) chunks->status = status;
    pthread_cond_broadcast(&chunks->moved);
    pthread_mutex_unlock(&chunks->lock);
}

static mote_status finish_chunk(las_writer *w, uint64_t thread, uint64_t chunk) {
    /* 1: code it into its slot. */
    uint64_t first = 0, count = 0, size_bytes = 0;
    const uint8_t *coded = NULL;
    chunk_slot *slot = slot_of(w->chunks, chunk);
    const uint8_t *records = chunk_records(w, thread, chunk, &count);
    MOTE_TRY(mote_laz_encode(w->chunks->encoders[thread], records, count, &coded, &size_bytes));
    if (size_bytes > UINT32_MAX) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED, "%s: a chunk needs more than 4 GB", w->path);
    }
    if (!mote_reserve_scratch(w->ctx, (void **)&slot->data, &slot->capacity, size_bytes, 1, "LAZ chunks")) {
        return MOTE_ERROR_MEMORY;
    }
    memcpy(slot->data, coded, size_bytes);
    slot->size_bytes = size_bytes;
    /* 2: write those that follow each other now. */
    const uint64_t stop = place_chunks(w->chunks, chunk, &first);
    for (; first < stop; first++) MOTE_TRY(write_chunk(w, first));
    return MOTE_OK;
}

/* What each thread does. The first one is the caller's, which alone may report progress. */
static void work(las_writer *w, uint64_t thread) {
    mote_status status = MOTE_OK;
    uint64_t chunk = 0;
    while (status == MOTE_OK && take_chunk(w->chunks, &chunk)) {
        if (thread == 0) status = mote_progress(w->ctx, (double)chunk / (double)w->chunks->count, "writing LAZ");
        if (status == MOTE_OK) status = finish_chunk(w, thread, chunk);
    }
    if (status != MOTE_OK) note_failure(w->chunks, status);
}

/* ---- a piece */

/* Keeps the records behind the last whole chunk, up to point stop of the file. */
static void hold_rest(las_writer *w, uint64_t stop) {
    const uint64_t first = w->chunks->end * w->block_points;
    if (stop <= first) return;
    const uint64_t from = first > w->added ? first : w->added;
    mote_las_convert(&w->plan, from - w->added, stop - from, w->chunks->held + (from - first) * w->plan.record_bytes);
}

mote_status mote_las_chunk_writer_add(las_writer *w) {
    las_chunk_writer *chunks = w->chunks;
    const uint64_t stop = w->added + w->plan.cloud->count;
    chunks->end = stop == w->plan.count ? chunks->count : stop / w->block_points;
    const uint64_t here = chunks->end - chunks->taken;
    if (here > 0) {
#pragma omp parallel num_threads((int)(here < w->threads ? here : w->threads))
        work(w, (uint64_t)omp_get_thread_num());
    }
    if (chunks->status == MOTE_OK) hold_rest(w, stop);
    return chunks->status;
}

mote_status mote_las_chunk_writer_end(las_writer *w) {
    las_chunk_writer *chunks = w->chunks;
    chunks->count = chunks->end = (w->plan.count + w->block_points - 1) / w->block_points;
    if (chunks->taken < chunks->end) work(w, 0);
    return chunks->status;
}

/* ---- the file */

static mote_status alloc_chunks(las_writer *w, las_chunk_writer *chunks, bool in_pieces) {
    mote_context *ctx = w->ctx;
    chunks->encoders = mote_alloc_zero(ctx, w->threads * sizeof(laz_encoder *), "LAZ chunks");
    chunks->slots = mote_alloc_zero(ctx, chunks->slot_count * sizeof *chunks->slots, "LAZ chunks");
    chunks->table = mote_alloc_zero(ctx, chunks->count * sizeof *chunks->table, "LAZ chunks");
    if (chunks->encoders == NULL || chunks->slots == NULL || chunks->table == NULL) return MOTE_ERROR_MEMORY;
    if (in_pieces) {
        chunks->held = mote_alloc(ctx, w->block_points * w->plan.record_bytes, "LAZ chunks");
        if (chunks->held == NULL) return MOTE_ERROR_MEMORY;
    }
    for (uint64_t i = 0; i < w->threads && chunks->count > 0; i++) {
        MOTE_TRY(mote_laz_encoder_make(ctx, &w->records.schema, &chunks->encoders[i]));
    }
    return MOTE_OK;
}

mote_status mote_las_chunk_writer_make(las_writer *w, bool in_pieces) {
    las_chunk_writer *chunks = w->chunks = mote_alloc_zero(w->ctx, sizeof *chunks, "LAZ chunks");
    if (chunks == NULL) return MOTE_ERROR_MEMORY;
    pthread_mutex_init(&chunks->lock, NULL);
    pthread_cond_init(&chunks->moved, NULL);
    chunks->count = (w->plan.count + w->block_points - 1) / w->block_points;
    chunks->slot_count = LAZ_CODED_AHEAD * w->threads;
    chunks->at = w->layout.points_at + PLACE_BYTES;
    if (chunks->count > UINT32_MAX) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED, "%s: too many points for LAZ", w->path);
    }
    return alloc_chunks(w, chunks, in_pieces);
}

void mote_las_chunk_writer_free(las_writer *w) {
    las_chunk_writer *chunks = w->chunks;
    if (chunks == NULL) return;
    for (uint64_t i = 0; i < w->threads && chunks->encoders != NULL; i++) {
        mote_laz_encoder_free(w->ctx, chunks->encoders[i]);
    }
    for (uint64_t i = 0; i < chunks->slot_count && chunks->slots != NULL; i++) {
        mote_free(w->ctx, chunks->slots[i].data);
    }
    pthread_mutex_destroy(&chunks->lock);
    pthread_cond_destroy(&chunks->moved);
    mote_free(w->ctx, chunks->encoders);
    mote_free(w->ctx, chunks->slots);
    mote_free(w->ctx, chunks->table);
    mote_free(w->ctx, chunks->held);
    mote_free(w->ctx, chunks);
    w->chunks = NULL;
}

mote_status mote_las_chunk_writer_finish(las_writer *w) {
    las_chunk_writer *chunks = w->chunks;
    const uint32_t count = (uint32_t)chunks->count;
    uint8_t place[PLACE_BYTES];
    uint8_t *table = mote_alloc_zero(w->ctx, LAZ_TABLE_BYTES + 16 * chunks->count + 64, "LAZ chunks");
    if (table == NULL) return MOTE_ERROR_MEMORY;
    uint64_t size_bytes = LAZ_TABLE_BYTES;
    las_put(table + LAZ_TABLE_AT_COUNT, count, 4);
    if (count > 0) size_bytes += mote_laz_table_encode(chunks->table, count, false, table + LAZ_TABLE_BYTES);
    las_put(place, chunks->at, PLACE_BYTES);
    mote_status status = mote_output_write_at(w->ctx, &w->output, table, size_bytes, chunks->at);
    if (status == MOTE_OK) status = mote_output_write_at(w->ctx, &w->output, place, PLACE_BYTES, w->layout.points_at);
    mote_free(w->ctx, table);
    w->layout.behind_at = chunks->at + size_bytes;
    return status;
}
