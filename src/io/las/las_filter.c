/* Points of LAZ chosen by a condition while they are decoded: those that are left out never leave the chunk. In the
   layered format of point formats 6 to 10 a chunk can be decoded in steps: first the layers that the condition names,
   and the others only where a point meets it. That pays where whole chunks are ruled out, as by a place or a time, and
   costs a third where none is; a few chunks tell which. */
#include "io/las/las_source.h"

#define SAMPLED_CHUNKS 8u
#define SAMPLED_POINTS (1u << 17) /* of a chunk that is looked at, at most */
#define STEPS_PAY_FROM 3u         /* of the sampled chunks are ruled out */

mote_status mote_las_filter_open(las_source *source, const char *condition) {
    mote_context *ctx = source->ctx;
    las_filter *filter = source->filter = mote_alloc_zero(ctx, sizeof *filter, "LAZ chunks");
    if (filter == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_where_condition(ctx, condition, &filter->program));
    MOTE_TRY(mote_las_filter_bind(source));
    bool *marks = mote_alloc_zero(ctx, source->cloud->column_count * sizeof *marks, "LAZ chunks");
    if (marks == NULL) return MOTE_ERROR_MEMORY;
    mote_where_mark(filter->program, source->cloud, marks);
    filter->first = source->selection;
    filter->first.wanted &= mote_las_parts_of(source, marks);
    mote_free(ctx, marks);
    return MOTE_OK;
}

void mote_las_filter_close(las_source *source) {
    las_filter *filter = source->filter;
    if (filter == NULL) return;
    mote_where_unbind(&filter->bound);
    mote_where_free(filter->program);
    mote_free(source->ctx, filter);
    source->filter = NULL;
}

mote_status mote_las_filter_bind(las_source *source) {
    mote_where_unbind(&source->filter->bound);
    return mote_where_bind(source->filter->program, source->cloud, source->input->path, &source->filter->bound);
}

/* ---- a chunk */

static uint64_t first_point(const las_source *source, const uint8_t *base, const laz_chunk *chunk) {
    return (uint64_t)(chunk->records - base) / source->selection.stride_bytes;
}

uint64_t mote_las_filter_chunk(const las_source *source, const uint8_t *base, const laz_chunk *chunk, uint64_t points) {
    return mote_where_compact(&source->filter->bound, first_point(source, base, chunk), points, chunk->records,
                              source->selection.stride_bytes);
}

bool mote_las_filter_meets(const las_source *source, laz_decoder *decoder, const uint8_t *base, laz_chunk *chunk) {
    where_scratch scratch;
    uint8_t mask[WHERE_BLOCK_POINTS];
    const uint64_t first = first_point(source, base, chunk);
    mote_laz_decode(decoder, chunk, 1);
    if (chunk->fault != NULL) return true;
    for (uint64_t at = 0; at < chunk->points; at += WHERE_BLOCK_POINTS) {
        const uint64_t some = chunk->points - at < WHERE_BLOCK_POINTS ? chunk->points - at : WHERE_BLOCK_POINTS;
        if (mote_where_test(&source->filter->bound, first + at, some, &scratch, mask) > 0) return true;
    }
    return false;
}

/* ---- whether steps pay */

/* How many of some chunks hold no point that meets the condition. records: room for SAMPLED_POINTS, where the bound
   columns look. */
static uint32_t count_ruled_out(const las_source *source, laz_decoder *decoder, uint8_t *records) {
    uint32_t ruled_out = 0;
    for (uint32_t i = 0; i < SAMPLED_CHUNKS; i++) {
        const las_chunk *chunk = &source->chunks.list[source->chunks.count * i / SAMPLED_CHUNKS];
        laz_chunk sample = {.data = chunk->mended != NULL ? chunk->mended : source->input->data + chunk->at};
        sample.size_bytes = chunk->size_bytes;
        sample.points = chunk->points;
        sample.records = records;
        if (chunk->points > SAMPLED_POINTS) continue;
        ruled_out += !mote_las_filter_meets(source, decoder, records, &sample);
    }
    return ruled_out;
}

mote_status mote_las_filter_settle(las_source *source, const uint8_t *base) {
    las_filter *filter = source->filter;
    mote_context *ctx = source->ctx;
    laz_decoder *decoder = NULL;
    if (filter->settled) return MOTE_OK;
    filter->settled = true;
    if (source->schema.compressor != LAZ_LAYERED || filter->first.wanted == source->selection.wanted) return MOTE_OK;
    if (source->chunks.count < SAMPLED_CHUNKS) return MOTE_OK;
    uint8_t *records = mote_alloc(ctx, (uint64_t)SAMPLED_POINTS * source->selection.stride_bytes, "LAZ chunks");
    if (records == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = mote_laz_decoder_make(ctx, &source->schema, &filter->first, &decoder);
    if (status == MOTE_OK) {
        mote_where_move(&filter->bound, base, records);
        filter->in_steps = count_ruled_out(source, decoder, records) >= STEPS_PAY_FROM;
        mote_where_move(&filter->bound, records, base);
    }
    mote_laz_decoder_free(ctx, decoder);
    mote_free(ctx, records);
    return status;
}
