/* Chunks of a LAZ file whose chunk table is absent or broken: they stand one behind the other. A layered chunk states
   its points and bytes; a pointwise one must be decoded to see where it ends. */
#include <inttypes.h>

#include "io/las/las_source.h"
#include "io/laz/laz_layers.h"

#define COUNT_BYTES 4u
#define LAYER_BYTES 4u

uint64_t mote_las_layered_points(const laz_schema *schema, const uint8_t *data, uint64_t remaining,
                                 uint64_t *size_bytes) {
    const uint64_t layers = mote_laz_layer_count(schema);
    const uint64_t head_bytes = schema->record_bytes + COUNT_BYTES + layers * LAYER_BYTES;
    if (remaining < head_bytes) return 0;
    uint64_t sum = head_bytes;
    const uint8_t *at = data + schema->record_bytes;
    const uint64_t points = las_u32(at);
    for (uint64_t i = 0; i < layers; i++) sum += las_u32(at + COUNT_BYTES + i * LAYER_BYTES);
    if (sum > remaining) return 0;
    *size_bytes = sum;
    return points;
}

/* Points that the next chunk should hold; the header's count 0 says nothing. */
static uint64_t points_expected(const las_source *source) {
    const uint64_t stated = source->header.count, full = source->schema.chunk_points;
    if (stated == 0) return full;
    const uint64_t remaining = stated - source->chunks.points;
    return remaining < full ? remaining : full;
}

/* Whether the chunks have all points that the header states. */
static bool is_complete(const las_source *source) {
    return source->header.count > 0 && source->chunks.points >= source->header.count;
}

/* Whether to look for no more chunks; in a file of which all is to be had, the header's count may be too small. */
static bool is_enough(const las_source *source) { return !source->salvage && is_complete(source); }

mote_status mote_las_mend_chunk(las_source *source, las_chunk *chunk) {
    const uint64_t layers = mote_laz_layer_count(&source->schema);
    const uint64_t head_bytes = source->schema.record_bytes + COUNT_BYTES + layers * LAYER_BYTES;
    if (chunk->size_bytes < head_bytes || source->chunks.mended != NULL) return MOTE_OK;
    uint64_t remaining = chunk->size_bytes - head_bytes, at = head_bytes;
    /* A layer of which nothing is left gets a byte: then it is one that ends too early, and not one without changes. */
    uint8_t *mended = mote_alloc_zero(source->ctx, chunk->size_bytes + layers, "LAZ chunks");
    if (mended == NULL) return MOTE_ERROR_MEMORY;
    memcpy(mended, source->input->data + chunk->at, chunk->size_bytes);
    for (uint64_t i = 0; i < layers; i++) {
        uint8_t *size = mended + source->schema.record_bytes + COUNT_BYTES + i * LAYER_BYTES;
        uint64_t layer_bytes = las_u32(size);
        if (layer_bytes > remaining) layer_bytes = remaining > 0 ? remaining : 1;
        las_put(size, layer_bytes, LAYER_BYTES);
        remaining -= layer_bytes < remaining ? layer_bytes : remaining;
        at += layer_bytes;
    }
    chunk->mended = source->chunks.mended = mended;
    chunk->size_bytes = at;
    return MOTE_OK;
}

/* Points of a chunk that some writer did not finish, if it is one. */
static uint64_t unfinished_points(const las_source *source, uint64_t at, uint64_t end) {
    const uint64_t record_bytes = source->schema.record_bytes;
    if (!source->salvage || source->schema.compressor != LAZ_LAYERED) return 0;
    if (end - at < record_bytes + COUNT_BYTES) return 0;
    const uint64_t points = las_u32(source->input->data + at + record_bytes);
    return points <= source->schema.chunk_points ? points : 0;
}

/* What is left is no whole chunk. Where points are still missing, decoding it will show why. */
static mote_status take_rest(las_source *source, uint64_t at, uint64_t end) {
    const uint64_t unfinished = unfinished_points(source, at, end);
    if (is_complete(source)) return MOTE_OK;            /* the chunk table, or whatever stands behind the chunks */
    if (source->header.count == 0 && unfinished == 0) { /* perhaps a table, perhaps what was being written */
        mote_warn(source->ctx,
                  "%s: offset %" PRIu64 ": the last %" PRIu64 " bytes of the point data are no whole chunk",
                  source->input->path, at, end - at);
        return MOTE_OK;
    }
    las_chunk rest = {.at = at, .size_bytes = end - at, .points = points_expected(source), .open_end = true};
    if (source->header.count == 0) rest.points = unfinished;
    return mote_las_add_chunk(source, &rest);
}

static mote_status scan_layered(las_source *source, uint64_t end) {
    uint64_t at = mote_las_chunks_at(source);
    const uint64_t full = source->schema.chunk_points;
    bool last = false;
    while (!is_enough(source) && at < end && !last) {
        las_chunk chunk = {.at = at};
        chunk.points = mote_las_layered_points(&source->schema, source->input->data + at, end - at, &chunk.size_bytes);
        if (chunk.points == 0 || chunk.points > full) return take_rest(source, at, end);
        MOTE_TRY(mote_las_add_chunk(source, &chunk));
        at += chunk.size_bytes;
        last = full != LAZ_VARIABLE && chunk.points < full; /* all others are full */
    }
    return MOTE_OK;
}

/* Finds the points and bytes of a chunk by decoding it without keeping points: as many points as are expected, or,
   where no writer could have ended the chunk behind these, up to the first place where one could have. */
static bool find_end(const las_source *source, laz_decoder *decoder, laz_chunk *probe) {
    uint8_t sink[8]; /* the probe keeps no point, but a decoder is given a place to write to */
    probe->records = sink;
    probe->points = is_complete(source) ? 0 : points_expected(source);
    if (probe->points > 0 && (source->schema.chunk_points != LAZ_VARIABLE || !source->salvage)) {
        mote_laz_decode(decoder, probe, 1);
        if (probe->ended && probe->fault == NULL) return true;
    }
    probe->points = source->schema.chunk_points;
    return mote_laz_decode_to_end(decoder, probe);
}

/* All points go to the same byte. */
static mote_status scan_pointwise(las_source *source, laz_decoder *decoder, uint64_t end) {
    uint64_t at = mote_las_chunks_at(source);
    const uint64_t full = source->schema.chunk_points;
    bool last = false;
    while (!is_enough(source) && at < end && !last) {
        laz_chunk probe = {.data = source->input->data + at, .size_bytes = end - at};
        if (!find_end(source, decoder, &probe)) return take_rest(source, at, end);
        const las_chunk chunk = {.at = at, .size_bytes = probe.used_bytes, .points = probe.done};
        MOTE_TRY(mote_las_add_chunk(source, &chunk));
        at += chunk.size_bytes;
        last = full != LAZ_VARIABLE && chunk.points < full; /* all others are full */
        MOTE_TRY(mote_progress(source->ctx, 0, "looking for LAZ chunks"));
    }
    return MOTE_OK;
}

mote_status mote_las_scan_chunks(las_source *source, uint64_t end) {
    const laz_selection nothing = {.wanted = LAZ_WANT_ALL, .run_count = 1, .runs = {{0, 0, 1}}};
    laz_decoder *decoder = NULL;
    if (source->schema.compressor == LAZ_LAYERED) return scan_layered(source, end);
    MOTE_TRY(mote_laz_decoder_make(source->ctx, &source->schema, &nothing, &decoder));
    const mote_status status = scan_pointwise(source, decoder, end);
    mote_laz_decoder_free(source->ctx, decoder);
    return status;
}
