/* A sample of a file: the first point of each chunk, which no coding has touched, so that a page of each chunk is all
   that is read. Plain LAS has one sample of as many points as a chunk usually holds: files of both kinds are as dense.

     chunk 0                    chunk 1                    chunk 2
     | record | coded ... ...   | record | coded ... ...   | record | coded ...
       ^ read                     ^ read                     ^ read                 by offset, so that a disk goes one
   way */
#include <math.h>
#include <stdlib.h>

#include "io/las/las_source.h"

#define WINDOW 256u /* records that are on their way from the disk at once */

static int by_offset(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Where the records of the sample are in the file. Chunks that have no room for a record are left to those who decode
   them. Returns how many. */
static uint64_t find_records(const las_source *source, uint64_t *offsets) {
    const las_header *h = &source->header;
    const uint64_t record_bytes = h->point_bytes, size_bytes = source->input->size_bytes;
    uint64_t count = 0;
    if (!h->compressed) {
        for (uint64_t i = 0; i < h->count; i += LAZ_CHUNK_POINTS) offsets[count++] = h->points_at + i * record_bytes;
        return count;
    }
    for (uint64_t i = 0; i < source->chunks.count; i++) {
        const las_chunk *chunk = &source->chunks.list[i];
        const bool fits = chunk->at <= size_bytes && record_bytes <= size_bytes - chunk->at;
        if (fits && chunk->points > 0 && chunk->size_bytes >= record_bytes) offsets[count++] = chunk->at;
    }
    qsort(offsets, count, sizeof *offsets, by_offset); /* those of COPC lie as its octree has them */
    return count;
}

static mote_status read_records(las_source *source, const uint64_t *offsets, uint64_t count, uint8_t *record,
                                uint8_t *records) {
    const uint64_t record_bytes = source->header.point_bytes, stride = source->selection.stride_bytes;
    mote_input_scatter(source->input);
    for (uint64_t first = 0; first < count; first += WINDOW) {
        const uint64_t end = count - first < WINDOW ? count : first + WINDOW;
        MOTE_TRY(mote_progress(source->ctx, (double)first / (double)count, "sampling"));
        for (uint64_t i = first; i < end; i++) mote_input_expect(source->input, offsets[i], offsets[i] + record_bytes);
        for (uint64_t i = first; i < end; i++) {
            MOTE_TRY(mote_input_copy(source->ctx, source->input, offsets[i], record_bytes, record));
            mote_las_copy_selected(source, record, 1, records + i * stride);
        }
    }
    return MOTE_OK;
}

/* A header may lie: a box without order, or with numbers that are none, says nothing. */
static void add_box(const las_source *source, mote_box *box) {
    const uint8_t *data = source->input->data;
    for (uint32_t k = 0; k < 3; k++) {
        const double low = las_f64(data + LAS_AT_MIN_OF_AXIS(k)), high = las_f64(data + LAS_AT_MAX_OF_AXIS(k));
        if (!isfinite(low) || !isfinite(high) || low > high) return;
    }
    for (uint32_t k = 0; k < 3; k++) {
        box->min[k] = fmin(box->min[k], las_f64(data + LAS_AT_MIN_OF_AXIS(k)));
        box->max[k] = fmax(box->max[k], las_f64(data + LAS_AT_MAX_OF_AXIS(k)));
    }
}

/* The file is closed when it has been sampled: what is looked at in it of the records in front of the points, which are
   small, is copied. Those behind the points, waveforms for instance, say nothing of a picture. */
static mote_status keep_records(mote_cloud *cloud) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        mote_record record = cloud->records[i];
        if (record.extended) continue;
        void *copy = mote_alloc(cloud->ctx, record.size_bytes, "records");
        MOTE_TRY(mote_cloud_adopt(cloud, copy));
        if (record.size_bytes > 0) memcpy(copy, record.data, record.size_bytes);
        record.data = copy;
        cloud->records[kept++] = record;
    }
    cloud->record_count = kept;
    return MOTE_OK;
}

mote_status mote_las_sample(las_source *source, mote_read_sample *sample) {
    mote_context *ctx = source->ctx;
    const las_header *h = &source->header;
    const uint64_t points = source->cloud->count;
    const uint64_t most =
        h->compressed ? source->chunks.count : h->count / LAZ_CHUNK_POINTS + (h->count % LAZ_CHUNK_POINTS != 0);
    uint64_t *offsets = mote_alloc(ctx, most * sizeof *offsets, "sample");
    uint8_t *record = mote_alloc(ctx, h->point_bytes, "sample"), *records = NULL;
    mote_status status = offsets != NULL && record != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    const uint64_t count = status == MOTE_OK ? find_records(source, offsets) : 0;
    if (status == MOTE_OK) records = mote_alloc(ctx, count * source->selection.stride_bytes, "sample");
    if (status == MOTE_OK) status = mote_cloud_adopt(source->cloud, records);
    if (status == MOTE_OK) status = keep_records(source->cloud);
    if (status == MOTE_OK) status = read_records(source, offsets, count, record, records);
    mote_free(ctx, offsets);
    mote_free(ctx, record);
    MOTE_TRY(status);
    mote_las_place_columns(source, records);
    source->cloud->count = count;
    sample->points += points;
    if (points > 0) add_box(source, &sample->box);
    return MOTE_OK;
}
