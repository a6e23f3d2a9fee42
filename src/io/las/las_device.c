/* Reads points of LAS and LAZ into the memory of a GPU, piece by piece, on all cores. */
#include "device/backend.h"
#include "io/las/las_upload.h"

/* What a thread decodes at once. */
static uint64_t largest_group(const las_source *source) {
    uint64_t points = 0;
    for (uint64_t i = 0; i < source->chunks.count; i++) {
        points = source->chunks.list[i].points > points ? source->chunks.list[i].points : points;
    }
    return LAS_GROUP_CHUNKS * points * source->selection.stride_bytes;
}

static mote_status fill(las_source *source, las_upload *upload) {
    if (!source->header.compressed)
        return mote_las_upload_bytes(source, upload, source->header.points_at, upload->size_bytes);
    if (device_is_warm(upload->gpu)) MOTE_TRY(las_upload_ready(upload));
    source->upload = upload;
    const mote_status status = mote_las_decode_away(source);
    source->upload = NULL;
    return status;
}

/* Whether all points stand where the list of chunks says: not if damaged ones were left out. */
static bool is_whole(const las_source *source) {
    const las_chunks *chunks = &source->chunks;
    if (!source->header.compressed) return true;
    const las_chunk *last = &chunks->list[chunks->count - 1];
    return last->first + last->points == source->cloud->count && chunks->points == source->cloud->count;
}

static mote_status place(las_source *source, mote_device *gpu, uint8_t *device) {
    MOTE_TRY(mote_cloud_adopt_device(source->cloud, gpu, device));
    mote_las_place_columns(source, device);
    source->cloud->device = gpu;
    return MOTE_OK;
}

/* Plain records are copied as they are, whatever was selected. */
static void select_all(las_source *source) {
    memset(&source->selection, 0, sizeof source->selection);
    source->selection.wanted = LAZ_WANT_ALL;
    source->selection.stride_bytes = source->header.point_bytes;
}

/* Fills new memory of the device with all points. */
static mote_status upload_points(las_source *source, las_upload *upload, uint8_t **device) {
    mote_stage(source->ctx, upload->stage);
    mote_status status = fill(source, upload);
    if (status == MOTE_OK) status = las_upload_finish(upload, device);
    mote_stage(source->ctx, NULL);
    return status;
}

mote_status mote_las_to_device(las_source *source, uint32_t point_bytes, const las_upload_limits *limits, bool *done) {
    mote_context *ctx = source->ctx;
    const uint64_t points = source->cloud->count;
    const mote_status before = mote_context_status(ctx);
    const bool compressed = source->header.compressed;
    las_upload upload;
    uint8_t *device = NULL;
    *done = false;
    mote_device *gpu = points > 0 && is_whole(source) ? mote_device_warm_up(ctx, points) : NULL;
    if (gpu == NULL) return MOTE_OK;
    if (compressed && mote_las_suits_device(source, limits)) {
        bool on_host = false;
        MOTE_TRY(mote_las_decode_on_device(gpu, source, point_bytes, limits, &device, &on_host));
        *done = device != NULL;
        if (*done) return place(source, gpu, device);
        if (on_host) return MOTE_OK;
    }
    if (!compressed) select_all(source);
    const uint64_t size_bytes = points * source->selection.stride_bytes;
    const uint64_t part_bytes = compressed ? largest_group(source) : limits->block;
    mote_status status = las_upload_open(gpu, points, size_bytes, part_bytes, limits, &upload);
    upload.stage = compressed ? "read LAZ" : "read LAS";
    upload.needed_bytes = size_bytes + points * point_bytes;
    if (status == MOTE_OK) status = upload_points(source, &upload, &device);
    las_upload_close(&upload);
    *done = status == MOTE_OK;
    if (*done) return place(source, gpu, device);
    /* Nobody failed, but there is no such GPU, or something is to be salvaged. */
    const bool on_host = upload.declined || (status == MOTE_ERROR_DATA && source->salvage);
    return on_host && mote_context_status(ctx) == before ? MOTE_OK : status;
}
