/* Reads LAS 1.0 to 1.5, point formats 0 to 10. Nothing of plain LAS is copied: columns are views of the file in memory;
   compressed points are decoded into records that the cloud owns. Safe on hostile input.
   Source: ASPRS LAS specification. */
#include <inttypes.h>
#include <math.h>

#include "io/copc/copc.h"
#include "io/las/las_upload.h"
#include "mote/lod.h"

bool mote_las_probe(const mote_input *input) { return input->size_bytes >= 4 && memcmp(input->data, "LASF", 4) == 0; }

static mote_status add_fields(const mote_input *input, const las_header *h, mote_cloud *cloud) {
    las_field fields[LAS_FIELDS_MAX];
    const uint32_t count = mote_las_fields(h->origin.format, fields);
    for (uint32_t i = 0; i < count; i++) {
        const las_field *field = &fields[i];
        mote_column column = {.name = field->name, .unit = field->unit, .type = field->type};
        column.data = input->data + h->points_at + field->at;
        column.stride_bytes = h->point_bytes;
        column.bit_shift = field->bit_shift;
        column.bit_count = field->bit_count;
        column.scale = i < 3 ? h->scale[i] : field->scale;
        column.offset = i < 3 ? h->offset[i] : 0;
        if (h->time_offset != 0 && (h->origin.global_encoding & LAS_ENCODING_TIME_BASE) != 0 &&
            strcmp(field->name, "gps_time") == 0) {
            column.offset = 1e6 * h->time_offset - 1e9; /* as the adjusted standard time of 1.2 to 1.4 */
        }
        MOTE_TRY(mote_cloud_add_view(cloud, &column));
    }
    return MOTE_OK;
}

/* ---- compressed points */

static mote_status read_schema(las_source *source) {
    const las_header *h = &source->header;
    for (uint64_t i = 0; i < source->cloud->record_count; i++) {
        const mote_record *record = &source->cloud->records[i];
        if (!mote_las_record_is(record, LAS_USER_LASZIP, LAS_ID_LASZIP)) continue;
        return mote_laz_schema_read(source->ctx, source->input, record->data, record->size_bytes, h->origin.format,
                                    h->point_bytes, &source->schema);
    }
    return mote_malformed(source->ctx, source->input, LAS_AT_POINT_FORMAT,
                          "the points are compressed, but the record that says how (laszip encoded, 22204) is missing");
}

/* Finds the chunks of a COPC file's nodes that are asked for; the others are never read. */
static mote_status find_nodes(las_source *source, const mote_read_params *params) {
    copc_nodes nodes;
    mote_status status = mote_copc_filter(source->ctx, source->input, params, &nodes);
    for (uint64_t i = 0; i < nodes.count && status == MOTE_OK; i++) {
        const copc_node *node = &nodes.nodes[i];
        const las_chunk chunk = {.at = node->at, .size_bytes = node->size_bytes, .points = node->points};
        status = mote_las_add_chunk(source, &chunk);
        if (status == MOTE_OK) source->chunks.list[i].number = node->number;
    }
    source->chunks.in_file = nodes.in_file;
    mote_free(source->ctx, nodes.nodes);
    return status;
}

static mote_status find_points(las_source *source, const mote_read_params *params) {
    las_header *header = &source->header;
    if (!header->compressed) {
        MOTE_TRY(mote_las_count(source->ctx, source->input, source->salvage, header));
        source->cloud->count = header->count;
    } else {
        mote_las_stated_count(source->ctx, source->input, header);
        MOTE_TRY(read_schema(source));
        const bool by_octree = mote_copc_needed(source->input, params);
        if (!by_octree) mote_copc_info_note(source->ctx, source->input);
        MOTE_TRY(by_octree ? find_nodes(source, params) : mote_las_find_chunks(source));
        /* What mote info says of the compression. */
        mote_las_origin *las = &source->cloud->las;
        const las_chunks *chunks = &source->chunks;
        las->compressor = (uint8_t)source->schema.compressor;
        las->chunk_points = source->schema.chunk_points;
        las->chunk_count = chunks->count;
        for (uint64_t i = 0; i < chunks->count; i++) las->compressed_bytes += chunks->list[i].size_bytes;
        mote_laz_schema_text(&source->schema, las->items, sizeof las->items);
        source->cloud->count = source->chunks.points;
    }
    return mote_las_select(source);
}

/* ---- the file */

mote_status mote_las_open(mote_context *ctx, mote_input *input, const mote_read_params *params, las_source *source) {
    memset(source, 0, sizeof *source);
    source->ctx = ctx;
    source->input = input;
    source->salvage = params->salvage;
    source->is_sampled = params->sample != NULL;
    MOTE_TRY(mote_las_read_header(ctx, input, &source->header));
    MOTE_TRY(mote_cloud_new(ctx, 0, &source->cloud));
    source->cloud->las = source->header.origin;
    MOTE_TRY(mote_las_read_records(ctx, input, &source->header, source->cloud));
    MOTE_TRY(add_fields(input, &source->header, source->cloud));
    MOTE_TRY(mote_las_read_extra(input, &source->header, source->cloud));
    MOTE_TRY(mote_cloud_keep_columns(source->cloud, params->select));
    MOTE_TRY(find_points(source, params));
    /* A sample is so small that the condition can choose among its points afterwards. */
    if (params->where != NULL && !source->is_sampled) MOTE_TRY(mote_las_filter_open(source, params->where));
    /* A record is not kept where columns have what it says. */
    mote_cloud *cloud = source->cloud;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        if (!mote_las_record_is_ours(&cloud->records[i])) cloud->records[kept++] = cloud->records[i];
    }
    cloud->record_count = kept;
    char *crs = NULL;
    MOTE_TRY(mote_las_crs(ctx, cloud->records, cloud->record_count, &crs));
    const mote_status status = mote_cloud_set_crs(cloud, crs);
    mote_free(ctx, crs);
    return status;
}

void mote_las_close(las_source *source) {
    mote_las_free_decoders(source->ctx, source->decoders);
    if (source->filter != NULL) mote_las_free_decoders(source->ctx, source->filter->decoders);
    mote_las_filter_close(source);
    mote_free(source->ctx, source->chunks.list);
    mote_free(source->ctx, source->chunks.mended);
    mote_cloud_destroy(source->cloud);
}

mote_status mote_las_take_records(las_source *source, uint64_t points, uint8_t **records) {
    const uint64_t stride = source->selection.stride_bytes;
    *records = NULL;
    if (points > (UINT64_MAX >> 1) / stride) {
        return mote_fail(source->ctx, MOTE_ERROR_MEMORY, "out of memory: %" PRIu64 " points of %" PRIu64 " bytes",
                         points, stride);
    }
    *records = mote_alloc(source->ctx, points * stride, "LAZ points");
    MOTE_TRY(mote_cloud_adopt(source->cloud, *records));
    mote_las_place_columns(source, *records);
    return source->filter != NULL ? mote_las_filter_bind(source) : MOTE_OK;
}

/* Lets the order know the points as they come, in the cube of the box that the header states. */
static mote_status begin_streaming(las_source *source) {
    const las_header *h = &source->header;
    const uint8_t *data = source->input->data;
    int32_t low[3], high[3];
    for (uint32_t k = 0; k < 3; k++) {
        const double top = rint((las_f64(data + LAS_AT_MAX_OF_AXIS(k)) - h->offset[k]) / h->scale[k]);
        const double bottom = rint((las_f64(data + LAS_AT_MIN_OF_AXIS(k)) - h->offset[k]) / h->scale[k]);
        if (!(bottom >= INT32_MIN && bottom <= top && top <= INT32_MAX)) return MOTE_OK;
        low[k] = (int32_t)bottom;
        high[k] = (int32_t)top;
    }
    return order_streaming_begin(source->ctx, source->cloud, source->chunks.points, low, high, &source->streaming);
}

/* ---- points that meet a condition */

/* Lets the columns look at the same records elsewhere. */
static void move_columns(las_source *source, const uint8_t *from, const uint8_t *to) {
    for (uint64_t c = 0; c < source->cloud->column_count; c++) {
        mote_column *column = &source->cloud->columns[c];
        column->data = to + ((const uint8_t *)column->data - from);
    }
}

/* Decodes piece by piece to the same records and appends what is left of each. */
static mote_status collect(las_source *source, uint8_t *records, void **kept, uint64_t *total, las_losses *losses) {
    const uint64_t stride = source->selection.stride_bytes;
    uint64_t capacity = 0, points = 0, room = 0;
    for (uint64_t first = 0, count; first < source->chunks.count; first += count) {
        count = mote_las_piece_chunks(source, first, &room);
        MOTE_TRY(mote_las_decode(source, first, count, records, &points, losses));
        if (!mote_reserve(source->ctx, kept, &capacity, *total + points, stride, "LAZ points")) {
            return MOTE_ERROR_MEMORY;
        }
        if (points > 0) memcpy((uint8_t *)*kept + *total * stride, records, points * stride);
        *total += points;
    }
    return MOTE_OK;
}

/* Memory is needed for those points, and for a piece. */
static mote_status read_chosen(las_source *source, las_losses *losses) {
    mote_context *ctx = source->ctx;
    void *kept = NULL;
    uint64_t total = 0;
    uint8_t *records = mote_alloc(ctx, mote_las_largest_piece(source) * source->selection.stride_bytes, "LAZ points");
    if (records == NULL) return MOTE_ERROR_MEMORY;
    mote_las_place_columns(source, records);
    mote_status status = mote_las_filter_bind(source);
    if (status == MOTE_OK) status = collect(source, records, &kept, &total, losses);
    if (kept == NULL) kept = mote_alloc(ctx, 0, "LAZ points");
    move_columns(source, records, kept);
    mote_free(ctx, records);
    source->cloud->count = status == MOTE_OK ? total : 0;
    const mote_status adopted = mote_cloud_adopt(source->cloud, kept);
    if (status != MOTE_OK || adopted != MOTE_OK) return status != MOTE_OK ? status : adopted;
    return mote_las_report_losses(source, losses, total + source->filter->left_out);
}

/* ---- all points */

static mote_status read_points(las_source *source, const mote_read_params *params, const las_upload_limits *limits) {
    const bool compressed = source->header.compressed;
    las_losses losses;
    bool done = false;
    const bool chosen = compressed && source->filter != NULL;
    memset(&losses, 0, sizeof losses);
    if (compressed) mote_stage(source->ctx, "read LAZ");
    const uint64_t points = chosen ? mote_las_largest_piece(source) : source->chunks.points;
    if (compressed) MOTE_TRY(mote_las_prove_chunks(source, points, &losses));
    if (chosen) return read_chosen(source, &losses);
    if (params->known != NULL) params->known(params->known_user, source->cloud);
    if (params->to_device && params->bounds == NULL) {
        const uint32_t own = params->device_point_bytes, beside = own > 0 ? own : mote_lod_device_point_bytes(NULL);
        MOTE_TRY(mote_las_to_device(source, beside, limits, &done));
    }
    if (done || !compressed) return MOTE_OK;
    mote_stage(source->ctx, "read LAZ");
    /* All chunks, in one piece of memory. */
    uint8_t *records = NULL;
    MOTE_TRY(mote_las_take_records(source, source->chunks.points, &records));
    if (params->prepare_order) MOTE_TRY(begin_streaming(source));
    const mote_status status =
        mote_las_decode(source, 0, source->chunks.count, records, &source->cloud->count, &losses);
    order_streaming_end(source->streaming, source->cloud, status == MOTE_OK && losses.chunks == 0);
    source->streaming = NULL;
    MOTE_TRY(status);
    return mote_las_report_losses(source, &losses, source->cloud->count);
}

mote_status mote_las_read_by(mote_context *ctx, mote_input *input, const mote_read_params *params,
                             const las_upload_limits *limits, mote_cloud **out) {
    const mote_read_params defaults = mote_read_defaults();
    las_source source;
    *out = NULL;
    params = params != NULL ? params : &defaults;
    mote_status status = mote_las_open(ctx, input, params, &source);
    if (status == MOTE_OK && source.is_sampled) {
        status = mote_las_sample(&source, params->sample);
    } else if (status == MOTE_OK) {
        status = read_points(&source, params, limits);
        if (status == MOTE_OK) status = mote_input_give(ctx, input, source.cloud); /* records stay where they are */
    }
    mote_stage(ctx, NULL);
    if (status == MOTE_OK) {
        *out = source.cloud;
        source.cloud = NULL;
    }
    mote_las_close(&source);
    return status;
}

mote_status mote_las_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    const las_upload_limits limits = las_upload_defaults(ctx);
    return mote_las_read_by(ctx, input, params, &limits, out);
}
