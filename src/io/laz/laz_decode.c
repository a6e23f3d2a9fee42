/* Decodes chunks in lanes and in blocks of points, which stay in the first cache where they are to be thinned out. */
#include "io/laz/laz_codec.h"

#define BLOCK_POINTS   256u
#define POSITION_BYTES 12u /* x, y and z */

struct laz_decoder {
    laz_schema schema;
    laz_selection selection;
    const laz_reading *reading;
    void *states[LAZ_LANES];
    uint8_t *blocks[LAZ_LANES]; /* whole records of a block; NULL where records go out whole */
};

mote_status mote_laz_decoder_make(mote_context *ctx, const laz_schema *schema, const laz_selection *selection,
                                  laz_decoder **out) {
    laz_decoder *decoder = *out = mote_alloc_zero(ctx, sizeof *decoder, "LAZ decoder");
    if (decoder == NULL) return MOTE_ERROR_MEMORY;
    decoder->schema = *schema;
    decoder->selection = *selection;
    decoder->reading = schema->compressor == LAZ_LAYERED ? &mote_laz_read_layered : &mote_laz_read_pointwise;
    const bool thinned = selection->run_count > 0;
    bool made = true;
    for (uint32_t l = 0; l < LAZ_LANES; l++) {
        decoder->states[l] = mote_alloc(ctx, decoder->reading->state_bytes(schema), "LAZ decoder");
        if (thinned) decoder->blocks[l] = mote_alloc_zero(ctx, BLOCK_POINTS * schema->record_bytes, "LAZ decoder");
        made = made && decoder->states[l] != NULL && (!thinned || decoder->blocks[l] != NULL);
    }
    if (made) return MOTE_OK;
    mote_laz_decoder_free(ctx, decoder);
    *out = NULL;
    return MOTE_ERROR_MEMORY;
}

void mote_laz_decoder_free(mote_context *ctx, laz_decoder *decoder) {
    if (decoder == NULL) return;
    for (uint32_t l = 0; l < LAZ_LANES; l++) {
        mote_free(ctx, decoder->states[l]);
        mote_free(ctx, decoder->blocks[l]);
    }
    mote_free(ctx, decoder);
}

/* The chosen bytes of count whole records. */
static void put_runs(const laz_decoder *decoder, const uint8_t *from, uint64_t count, uint8_t *to) {
    const laz_selection *s = &decoder->selection;
    const uint64_t record_bytes = decoder->schema.record_bytes, stride = s->stride_bytes;
    if (s->run_count == 1 && s->runs[0].size_bytes == POSITION_BYTES) { /* most often; a size known to the compiler */
        from += s->runs[0].from;
        to += s->runs[0].to;
        for (uint64_t i = 0; i < count; i++) memcpy(to + i * stride, from + i * record_bytes, POSITION_BYTES);
        return;
    }
    for (uint64_t i = 0; i < count; i++, from += record_bytes, to += stride) {
        for (uint32_t r = 0; r < s->run_count; r++) {
            memcpy(to + s->runs[r].to, from + s->runs[r].from, s->runs[r].size_bytes);
        }
    }
}

/* Reads up to count points of each of these chunks, all of which have at least these left; ends early when one has a
 * fault. */
static void read_lanes(laz_decoder *decoder, laz_chunk *const *chunks, void *const *states, uint32_t lanes,
                       uint64_t count) {
    const bool thinned = decoder->selection.run_count > 0;
    const uint64_t stride = decoder->selection.stride_bytes;
    bool sound = true;
    while (count > 0 && sound) {
        const uint64_t max = thinned && count > BLOCK_POINTS ? BLOCK_POINTS : count;
        uint8_t *records[LAZ_LANES];
        for (uint32_t l = 0; l < lanes; l++) {
            records[l] = thinned ? decoder->blocks[l] : chunks[l]->records + chunks[l]->done * stride;
        }
        const uint64_t got = decoder->reading->read(states, lanes, records, max);
        for (uint32_t l = 0; l < lanes; l++) {
            chunks[l]->fault = decoder->reading->fault(states[l], &chunks[l]->fault_at);
            const uint64_t good = chunks[l]->fault == NULL ? got : got - 1;
            if (thinned) put_runs(decoder, records[l], good, chunks[l]->records + chunks[l]->done * stride);
            chunks[l]->done += good;
            sound = sound && chunks[l]->fault == NULL;
        }
        count -= got;
    }
}

static uint64_t remaining(const laz_chunk *chunk) { return chunk->fault == NULL ? chunk->points - chunk->done : 0; }

/* Up to LAZ_LANES chunks at once: as long as several have points left, in step; the rest alone. */
static void decode_group(laz_decoder *decoder, laz_chunk *chunks, uint32_t count) {
    const laz_reading *reading = decoder->reading;
    for (uint32_t l = 0; l < count; l++) {
        laz_chunk *c = &chunks[l];
        c->done = c->used_bytes = c->fault_at = 0;
        c->ended = false;
        c->fault = c->points == 0 ? NULL
                                  : reading->start(decoder->states[l], &decoder->schema, decoder->selection.wanted,
                                                   c->data, c->size_bytes, c->points, &c->fault_at);
    }
    for (;;) {
        laz_chunk *ready[LAZ_LANES];
        void *states[LAZ_LANES];
        uint32_t lanes = 0;
        uint64_t step = UINT64_MAX;
        for (uint32_t l = 0; l < count; l++) {
            if (remaining(&chunks[l]) == 0) continue;
            ready[lanes] = &chunks[l];
            states[lanes++] = decoder->states[l];
            step = remaining(&chunks[l]) < step ? remaining(&chunks[l]) : step;
        }
        if (lanes == 0) break;
        read_lanes(decoder, ready, states, lanes, step);
    }
    for (uint32_t l = 0; l < count; l++) {
        if (chunks[l].done == 0) continue;
        chunks[l].used_bytes = reading->used_bytes(decoder->states[l]);
        chunks[l].ended = reading->at_end != NULL && reading->at_end(decoder->states[l]);
    }
}

bool mote_laz_decode_to_end(laz_decoder *decoder, laz_chunk *chunk) {
    const laz_reading *reading = decoder->reading;
    void *const state = decoder->states[0];
    chunk->done = chunk->used_bytes = chunk->fault_at = 0;
    chunk->fault = reading->start(state, &decoder->schema, decoder->selection.wanted, chunk->data, chunk->size_bytes,
                                  chunk->points, &chunk->fault_at);
    chunk->ended = false;
    while (chunk->fault == NULL && !chunk->ended && chunk->done < chunk->points) {
        uint8_t *record = decoder->selection.run_count > 0 ? decoder->blocks[0] : chunk->records;
        reading->read(&state, 1, &record, 1);
        chunk->fault = reading->fault(state, &chunk->fault_at);
        if (chunk->fault == NULL) chunk->done++;
        chunk->ended = chunk->fault == NULL && reading->at_end(state);
    }
    chunk->used_bytes = chunk->ended ? reading->used_bytes(state) : 0;
    return chunk->ended;
}

void mote_laz_decode(laz_decoder *decoder, laz_chunk *chunks, uint32_t chunk_count) {
    for (uint32_t first = 0; first < chunk_count; first += LAZ_LANES) {
        decode_group(decoder, chunks + first, chunk_count - first < LAZ_LANES ? chunk_count - first : LAZ_LANES);
    }
}
