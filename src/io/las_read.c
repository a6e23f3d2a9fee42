/* Reads LAS 1.0 to 1.5, point formats 0 to 10. Nothing is copied: columns are views of the file in memory.
   Safe on hostile input. Source: ASPRS LAS specification. */
#include "io/las_format.h"

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

/* Records that the columns now stand for are not kept. */
static void drop_own_records(mote_cloud *cloud) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        if (!mote_las_record_is_ours(&cloud->records[i])) cloud->records[kept++] = cloud->records[i];
    }
    cloud->record_count = kept;
}

static mote_status read_crs(mote_context *ctx, mote_cloud *cloud) {
    char *crs = NULL;
    MOTE_TRY(mote_las_crs(ctx, cloud->records, cloud->record_count, &crs));
    const mote_status status = mote_cloud_set_crs(cloud, crs);
    mote_free(ctx, crs);
    return status;
}

static mote_status fill_cloud(mote_context *ctx, mote_input *input, las_header *header, mote_cloud *cloud) {
    cloud->las = header->origin;
    MOTE_TRY(mote_las_read_records(ctx, input, header, cloud));
    MOTE_TRY(add_fields(input, header, cloud));
    MOTE_TRY(mote_las_read_extra(ctx, input, header, cloud));
    if (header->compressed) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: LAZ compression is not supported yet", input->path);
    }
    MOTE_TRY(mote_las_count(ctx, input, header));
    cloud->count = header->count;
    drop_own_records(cloud);
    MOTE_TRY(read_crs(ctx, cloud));
    return mote_input_give(ctx, input, cloud);
}

mote_status mote_las_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    (void)params;
    las_header header;
    mote_cloud *cloud = NULL;
    *out = NULL;
    MOTE_TRY(mote_las_read_header(ctx, input, &header));
    MOTE_TRY(mote_cloud_new(ctx, 0, &cloud));
    const mote_status status = fill_cloud(ctx, input, &header, cloud);
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        return status;
    }
    *out = cloud;
    return MOTE_OK;
}
