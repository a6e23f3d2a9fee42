/* A cloud made of chosen points of another, and what is known of where a cloud came from. */
#include "core/cloud.h"

#define PIECE_POINTS (1 << 20) /* between two looks at the progress callback */

/* Adds the columns of from to to, dense in one block of records; packed fields keep their whole raw value. */
static mote_status add_columns(mote_cloud *to, const mote_cloud *from, uint8_t **block, uint64_t *record_bytes) {
    uint64_t width_bytes = 0, offset = 0;
    for (uint64_t c = 0; c < from->column_count; c++) width_bytes += mote_type_size(from->columns[c].type);
    if (width_bytes > UINT32_MAX || (width_bytes > 0 && to->count > (UINT64_MAX >> 1) / width_bytes)) {
        return mote_fail(to->ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %llu bytes",
                         (unsigned long long)to->count, (unsigned long long)width_bytes);
    }
    *block = mote_alloc(to->ctx, to->count * width_bytes, "cloud");
    if (*block == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_cloud_adopt(to, *block));
    for (uint64_t c = 0; c < from->column_count; c++) {
        mote_column view = from->columns[c];
        view.data = *block + offset;
        view.stride_bytes = (uint32_t)width_bytes;
        offset += mote_type_size(view.type);
        MOTE_TRY(mote_cloud_add_view(to, &view));
    }
    *record_bytes = width_bytes;
    return MOTE_OK;
}

static mote_status fill_selection(mote_context *ctx, const mote_cloud *from, const uint64_t *indices, mote_cloud *to) {
    uint8_t *block = NULL;
    uint64_t record_bytes = 0;
    MOTE_TRY(add_columns(to, from, &block, &record_bytes));
    MOTE_TRY(mote_cloud_copy_extras(to, from));
    const int64_t count = (int64_t)to->count;
    for (int64_t first = 0; first < count; first += PIECE_POINTS) {
        const int64_t last = count - first < PIECE_POINTS ? count : first + PIECE_POINTS;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
        for (int64_t i = first; i < last; i++) {
            uint8_t *at = block + (uint64_t)i * record_bytes;
            for (uint64_t c = 0; c < from->column_count; c++) {
                const mote_column *column = &from->columns[c];
                const uint32_t size_bytes = mote_type_size(column->type);
                memcpy(at, mote_column_at(column, indices[i]), size_bytes);
                at += size_bytes;
            }
        }
        MOTE_TRY(mote_progress(ctx, (double)last / (double)count, "selecting"));
    }
    return MOTE_OK;
}

mote_status mote_cloud_select(mote_context *ctx, const mote_cloud *cloud, const uint64_t *indices, uint64_t count,
                              mote_cloud **out) {
    *out = NULL;
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "choosing points"));
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] >= cloud->count) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "point %llu of %llu was chosen", (unsigned long long)indices[i],
                             (unsigned long long)cloud->count);
        }
    }
    mote_cloud *chosen = NULL;
    MOTE_TRY(mote_cloud_new(ctx, count, &chosen));
    mote_status status = fill_selection(ctx, cloud, indices, chosen);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status != MOTE_OK) {
        mote_cloud_destroy(chosen);
        return status;
    }
    *out = chosen;
    return MOTE_OK;
}

bool mote_cloud_las_facts(const mote_cloud *cloud, mote_las_facts *facts) {
    const mote_las_origin *las = &cloud->las;
    if (!las->present) return false;
    memset(facts, 0, sizeof *facts);
    facts->version_minor = las->version_minor;
    facts->format = las->format;
    facts->creation_year = las->creation_year;
    facts->creation_day = las->creation_day;
    facts->system_id = las->system_id;
    facts->software = las->software;
    facts->compressor = las->compressor;
    facts->items = las->items;
    facts->chunk_points = las->chunk_points == UINT32_MAX ? 0 : las->chunk_points;
    facts->chunk_count = las->chunk_count;
    facts->compressed_bytes = las->compressed_bytes;
    return true;
}
