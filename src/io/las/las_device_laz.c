/* Chunks of LAZ decoded on the GPU: finds where their layers are, uploads their bytes as they are in the file,
   and has the backend decode them. A chunk with anything wrong is decoded again by a core, whose message it is. */
#include "device/backend.h"
#include "io/las/las_upload.h"
#include "io/laz/items/laz_format10.h"
#include "io/laz/laz_device.h"
#include "io/laz/laz_layers.h"

#define WORD_BYTES       4u
#define CHUNK_POINTS_MAX (1u << 20) /* a warp takes a second for these, and displays do not wait much longer */
#define RANGE_MAX        2u         /* bytes of the file uploaded for one of the chunks: those of COPC may lie apart */
#define WORD_BYTES       4u

typedef struct chunk_job {
    las_source *source;
    mote_device *gpu;
    uint64_t first_byte, end_byte; /* of the file */
    laz_device_job job;
    laz_device_chunk *chunks;
    laz_device_layer *layers;
    laz_device_field *fields;
    uint32_t *faulty;
} chunk_job;

/* ---- whether it pays */

static uint64_t largest_chunk(const las_chunks *chunks) {
    uint64_t points = 1;
    for (uint64_t i = 0; i < chunks->count; i++) {
        points = chunks->list[i].points > points ? chunks->list[i].points : points;
    }
    return points;
}

/* The range of bytes that holds all chunks; returns the bytes that are theirs. */
static uint64_t range_of(const las_chunks *chunks, uint64_t *first, uint64_t *end) {
    uint64_t sum = 0;
    *first = UINT64_MAX;
    *end = 0;
    for (uint64_t i = 0; i < chunks->count; i++) {
        const las_chunk *chunk = &chunks->list[i];
        *first = chunk->at < *first ? chunk->at : *first;
        *end = chunk->at + chunk->size_bytes > *end ? chunk->at + chunk->size_bytes : *end;
        sum += chunk->size_bytes;
    }
    return sum;
}

/* Whether the device decodes such items: all layers, of the others the newest versions. */
static bool suits_items(const laz_schema *schema) {
    if (schema->compressor == LAZ_LAYERED) return mote_laz_layer_count(schema) <= LAZ_DEVICE_FIELDS_MAX;
    for (uint32_t i = 0; i < schema->item_count; i++) {
        const laz_item *item = &schema->items[i];
        if (item->version != (item->kind == LAZ_WAVEPACKET13 ? 1 : 2)) return false;
        if (item->kind == LAZ_BYTE && item->size_bytes > LAZ_DEVICE_BYTES_MAX) return false;
    }
    return schema->compressor == LAZ_POINTWISE_CHUNK;
}

bool mote_las_suits_device(const las_source *source, const las_upload_limits *limits) {
    const las_chunks *chunks = &source->chunks;
    uint64_t first, end;
    const bool layered = source->schema.compressor == LAZ_LAYERED;
    const uint64_t min = layered ? limits->chunks : limits->streams;
    if (min == 0 || chunks->mended != NULL || !suits_items(&source->schema)) return false;
    if (chunks->count > UINT32_MAX || chunks->points >= UINT32_MAX) return false;
    const uint64_t sum = range_of(chunks, &first, &end);
    if ((end - first) / RANGE_MAX > sum || (end - first) / WORD_BYTES >= UINT32_MAX) return false;
    const uint64_t largest = largest_chunk(chunks);
    return largest <= CHUNK_POINTS_MAX && chunks->points / largest >= min;
}

/* ---- what the device is told */

static uint32_t place_of(const laz_selection *selection, uint32_t at, uint32_t size_bytes) {
    if (selection->run_count == 0) return at;
    for (uint32_t r = 0; r < selection->run_count; r++) {
        const laz_run *run = &selection->runs[r];
        if (at >= run->from && at + size_bytes <= (uint32_t)run->from + run->size_bytes) {
            return run->to + at - run->from;
        }
    }
    return LAZ_NO_FIELD;
}

static laz_device_field field_at(const las_source *source, uint32_t kind, uint32_t layer, uint32_t from) {
    laz_device_field field = {.kind = kind, .layer = layer, .from = from};
    for (uint32_t unit = 0; unit < LAZ_UNITS_MAX; unit++) {
        uint32_t at;
        const uint32_t size_bytes =
            kind == LAZ_LAYER_KINDS ? laz_point10_unit_bytes(unit, &at) : laz_unit_bytes(kind, unit, &at);
        field.to[unit] = size_bytes > 0 ? place_of(&source->selection, from + at, size_bytes) : LAZ_NO_FIELD;
    }
    return field;
}

static laz_device_field field_of(const las_source *source, uint32_t index) {
    const laz_layer layer = mote_laz_layer_at(&source->schema, index);
    return field_at(source, layer.kind, index, layer.at);
}

/* The layers that are wanted: that of x and y, then those first that take longest, so that none is left at the end. */
static uint32_t list_fields(const las_source *source, laz_device_field *fields) {
    static const laz_layer_kind order[LAZ_LAYER_KINDS] = {LAZ_LAYER_XY,         LAZ_LAYER_RGB,
                                                          LAZ_LAYER_WAVEPACKET, LAZ_LAYER_GPS_TIME,
                                                          LAZ_LAYER_INTENSITY,  LAZ_LAYER_Z,
                                                          LAZ_LAYER_NIR,        LAZ_LAYER_BYTE,
                                                          LAZ_LAYER_USER_DATA,  LAZ_LAYER_CLASSIFICATION,
                                                          LAZ_LAYER_SCAN_ANGLE, LAZ_LAYER_POINT_SOURCE,
                                                          LAZ_LAYER_FLAGS};
    const uint32_t layers = mote_laz_layer_count(&source->schema);
    uint32_t count = 0;
    for (uint32_t k = 0; k < LAZ_LAYER_KINDS; k++) {
        const uint32_t wanted = mote_laz_layer_facts[order[k]].wanted;
        if (wanted != 0 && (wanted & source->selection.wanted) == 0) continue;
        for (uint32_t i = 0; i < layers; i++) {
            if (mote_laz_layer_at(&source->schema, i).kind == order[k]) fields[count++] = field_of(source, i);
        }
    }
    return count;
}

/* Fields of formats 0 to 5, in the order in which items are coded. */
static uint32_t list_items(const las_source *source, laz_device_field *fields) {
    static const struct {
        uint16_t item;
        uint32_t kind;
    } order[] = {{LAZ_POINT10, LAZ_LAYER_KINDS},
                 {LAZ_GPSTIME11, LAZ_LAYER_GPS_TIME},
                 {LAZ_RGB12, LAZ_LAYER_RGB},
                 {LAZ_WAVEPACKET13, LAZ_LAYER_WAVEPACKET},
                 {LAZ_BYTE, LAZ_LAYER_BYTE}};
    const laz_schema *schema = &source->schema;
    uint32_t count = 0;
    for (uint32_t o = 0; o < sizeof order / sizeof order[0]; o++) {
        uint32_t at = 0;
        for (uint32_t i = 0; i < schema->item_count; at += schema->items[i++].size_bytes) {
            if (schema->items[i].kind != order[o].item) continue;
            const uint32_t fields_of = order[o].item == LAZ_BYTE ? schema->items[i].size_bytes : 1;
            for (uint32_t b = 0; b < fields_of; b++) fields[count++] = field_at(source, order[o].kind, 0, at + b);
        }
    }
    return count;
}

/* A chunk of formats 0 to 5: its first record, and a stream. */
static void describe_stream(chunk_job *j, uint32_t number) {
    const las_chunk *chunk = &j->source->chunks.list[number];
    const uint64_t at = chunk->at - j->first_byte, record_bytes = j->source->schema.record_bytes;
    j->chunks[number] = (laz_device_chunk){.at = at, .first = (uint32_t)chunk->first, .points = LAZ_SET_ASIDE};
    if (chunk->size_bytes < record_bytes || chunk->size_bytes - record_bytes > UINT32_MAX) return;
    j->layers[number] = (laz_device_layer){at + record_bytes, (uint32_t)(chunk->size_bytes - record_bytes)};
    if (chunk->points > 0) j->chunks[number].points = (uint32_t)chunk->points;
}

/* Finds the layers of a chunk; one that is not as it should be is set aside. */
static void describe_chunk(chunk_job *j, uint32_t number) {
    const las_chunk *chunk = &j->source->chunks.list[number];
    laz_device_chunk *described = &j->chunks[number];
    laz_device_layer *layers = j->layers + (uint64_t)number * j->job.layer_count;
    const uint64_t at = chunk->at - j->first_byte;
    uint64_t fault_at;
    laz_layer_walk walk;
    *described = (laz_device_chunk){.at = at, .first = (uint32_t)chunk->first, .points = LAZ_SET_ASIDE};
    if (mote_laz_walk_start(&walk, &j->source->schema, j->source->input->data + chunk->at, chunk->size_bytes,
                            chunk->points, &fault_at) != NULL) {
        return;
    }
    for (uint32_t i = 0; i < j->job.layer_count; i++) {
        layers[i].at = at + walk.at;
        if (mote_laz_walk_next(&walk, &layers[i].size_bytes, &fault_at) != NULL) return;
    }
    if (walk.at != chunk->size_bytes && !chunk->open_end) return;
    if (chunk->points > 0) described->points = (uint32_t)chunk->points;
}

static mote_status describe(chunk_job *j) {
    const las_source *source = j->source;
    laz_device_job *job = &j->job;
    job->data_bytes = (j->end_byte - j->first_byte + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES;
    job->stride_bytes = source->selection.stride_bytes;
    job->pointwise = source->schema.compressor != LAZ_LAYERED;
    job->plain_channels = job->pointwise || mote_laz_plain_channels(&source->schema);
    job->chunk_count = (uint32_t)source->chunks.count;
    job->layer_count = job->pointwise ? 1 : mote_laz_layer_count(&source->schema);
    job->max_chunk_points = largest_chunk(&source->chunks);
    const uint64_t layers = (uint64_t)job->chunk_count * job->layer_count;
    j->chunks = mote_alloc(source->ctx, job->chunk_count * sizeof *j->chunks, "LAZ chunks");
    j->layers = mote_alloc_zero(source->ctx, layers * sizeof *j->layers, "LAZ chunks");
    j->fields = mote_alloc(source->ctx, LAZ_DEVICE_FIELDS_MAX * sizeof *j->fields, "LAZ chunks");
    j->faulty = mote_alloc_zero(source->ctx, job->chunk_count * sizeof *j->faulty, "LAZ chunks");
    if (j->chunks == NULL || j->layers == NULL || j->fields == NULL || j->faulty == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < job->chunk_count; i++) (job->pointwise ? describe_stream : describe_chunk)(j, i);
    job->field_count = (job->pointwise ? list_items : list_fields)(source, j->fields);
    job->chunks = j->chunks;
    job->layers = j->layers;
    job->fields = j->fields;
    return MOTE_OK;
}

/* ---- decoding */

/* Decodes a chunk that the device found fault with. */
static mote_status decode_again(chunk_job *j, uint32_t number) {
    las_source *source = j->source;
    const las_chunk *chunk = &source->chunks.list[number];
    const uint64_t stride = j->job.stride_bytes;
    uint64_t points;
    uint8_t *records = mote_alloc(source->ctx, chunk->points * stride, "LAZ points");
    if (records == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = mote_las_decode(source, number, 1, records, &points, NULL);
    if (status == MOTE_OK) {
        status = device_upload(j->gpu, j->job.records + chunk->first * stride, records, points * stride);
    }
    mote_free(source->ctx, records);
    return status;
}

/* Decodes doubtful chunks on the host, in the order of the file, so that the first damage is the one that is told. */
static mote_status decode_faulty(chunk_job *j, bool *on_host) {
    for (uint32_t i = 0; i < j->job.chunk_count; i++) {
        if (j->faulty[i] == 0 && j->chunks[i].points != LAZ_SET_ASIDE) continue;
        *on_host = j->source->salvage;
        if (*on_host) return MOTE_OK;
        MOTE_TRY(decode_again(j, i));
    }
    return MOTE_OK;
}

/* What is read of a record but kept by no layer is between columns; nobody reads it, but it is copied. */
static mote_status clear_gaps(const chunk_job *j, uint64_t size_bytes) {
    const las_source *source = j->source;
    return source->selection.run_count > 0 ? device_fill(j->gpu, j->job.records, 0, size_bytes) : MOTE_OK;
}

/* data: the uploaded bytes. */
static mote_status decode(chunk_job *j, const uint8_t *data, uint8_t **device, bool *on_host) {
    las_source *source = j->source;
    mote_context *ctx = source->ctx;
    const uint64_t size_bytes = source->cloud->count * j->job.stride_bytes;
    bool declined = false;
    MOTE_TRY(mote_progress(ctx, 1, "reading LAZ"));
    if (device_available(j->gpu) < size_bytes) return MOTE_OK;
    uint8_t *records = device_alloc(j->gpu, size_bytes, "points");
    if (records == NULL) return MOTE_ERROR_MEMORY;
    j->job.data = data;
    j->job.records = records;
    mote_status status = clear_gaps(j, size_bytes);
    if (status == MOTE_OK) status = j->gpu->backend->laz->decode(j->gpu, &j->job, j->faulty, &declined);
    if (status == MOTE_OK && !declined) status = decode_faulty(j, on_host);
    if (status == MOTE_OK && !declined && !*on_host) {
        *device = records;
    } else {
        device_free(j->gpu, records);
    }
    return status;
}

/* The device reads whole words: what the last one has behind the bytes of the file. */
static mote_status clear_last_word(const chunk_job *j, las_upload *upload) {
    MOTE_TRY(las_upload_ready(upload));
    return device_fill(j->gpu, upload->device + j->job.data_bytes - WORD_BYTES, 0, WORD_BYTES);
}

/* Uploads the bytes of all chunks. */
static mote_status upload_bytes(chunk_job *j, uint32_t point_bytes, const las_upload_limits *limits, uint8_t **data,
                                bool *on_host) {
    las_source *source = j->source;
    las_upload upload;
    mote_status status =
        las_upload_open(j->gpu, source->cloud->count, j->job.data_bytes, limits->block, limits, &upload);
    upload.stage = "read LAZ";
    upload.structure = "LAZ bytes";
    /* Chunks are given back before anything is made of the points. */
    const uint64_t beside = source->cloud->count * point_bytes, bytes = j->job.data_bytes;
    upload.needed_bytes = source->cloud->count * j->job.stride_bytes + (beside > bytes ? beside : bytes);
    if (status == MOTE_OK) status = clear_last_word(j, &upload);
    if (status == MOTE_OK) {
        status = mote_las_upload_bytes(source, &upload, j->first_byte, j->end_byte - j->first_byte);
    }
    if (status == MOTE_OK) status = las_upload_finish(&upload, data);
    *on_host = upload.declined && upload.device == NULL;
    const bool is_declined = upload.declined && mote_context_status(source->ctx) == MOTE_OK;
    las_upload_close(&upload);
    return is_declined ? MOTE_OK : status;
}

mote_status mote_las_decode_on_device(mote_device *gpu, las_source *source, uint32_t point_bytes,
                                      const las_upload_limits *limits, uint8_t **device, bool *on_host) {
    mote_context *ctx = source->ctx;
    chunk_job j = {.source = source, .gpu = gpu};
    uint8_t *data = NULL;
    *device = NULL;
    *on_host = false;
    range_of(&source->chunks, &j.first_byte, &j.end_byte);
    mote_stage(ctx, "read LAZ");
    mote_status status = describe(&j);
    if (status == MOTE_OK) status = upload_bytes(&j, point_bytes, limits, &data, on_host);
    if (status == MOTE_OK && data != NULL) status = decode(&j, data, device, on_host);
    device_free(gpu, data);
    mote_free(ctx, j.faulty);
    mote_free(ctx, j.fields);
    mote_free(ctx, j.layers);
    mote_free(ctx, j.chunks);
    mote_stage(ctx, NULL);
    return status;
}
