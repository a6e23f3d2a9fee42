/* Clouds made of points of others, and what is known of where a cloud came from. */
#include "core/cloud.h"

#define PIECE_POINTS (1u << 12) /* that a thread copies column by column */
#define STEP_POINTS  (1u << 20) /* between two looks at the progress callback */

/* What a cloud that is made of points of others holds of each: its columns, dense in one block of records. */
typedef struct record_block {
    mote_cloud *cloud;
    uint8_t *records;
    uint64_t record_bytes;
    uint64_t filled; /* so many records have their points */
} record_block;

/* Makes room for all columns that the cloud has, which still look at others' memory; packed fields keep their whole raw
   value. */
static mote_status make_block(record_block *block) {
    mote_cloud *const to = block->cloud;
    uint64_t width_bytes = 0, offset = 0;
    for (uint64_t c = 0; c < to->column_count; c++) width_bytes += mote_type_size(to->columns[c].type);
    if (width_bytes > UINT32_MAX || (width_bytes > 0 && to->count > (UINT64_MAX >> 1) / width_bytes)) {
        return mote_fail(to->ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %llu bytes",
                         (unsigned long long)to->count, (unsigned long long)width_bytes);
    }
    block->records = mote_alloc(to->ctx, to->count * width_bytes, "cloud");
    if (block->records == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_cloud_adopt(to, block->records));
    for (uint64_t c = 0; c < to->column_count; c++) {
        to->columns[c].data = block->records + offset;
        to->columns[c].stride_bytes = (uint32_t)width_bytes;
        offset += mote_type_size(to->columns[c].type);
    }
    block->record_bytes = width_bytes;
    return MOTE_OK;
}

/* The next count records: the points of a cloud that indices name, or, where it is NULL, the first ones. A column that
   the cloud lacks is 0. */
static void fill_column(const record_block *block, const mote_column *to, const mote_column *from,
                        const uint64_t *indices, uint64_t first, uint64_t count) {
    const uint32_t size_bytes = mote_type_size(to->type);
    uint8_t *at = block->records + (block->filled + first) * block->record_bytes;
    at += (const uint8_t *)to->data - block->records;
    for (uint64_t i = first; i < first + count; i++, at += block->record_bytes) {
        if (from == NULL) {
            memset(at, 0, size_bytes);
        } else {
            memcpy(at, mote_column_at(from, indices != NULL ? indices[i] : i), size_bytes);
        }
    }
}

static mote_status fill_block(record_block *block, const mote_cloud *from, const uint64_t *indices, uint64_t count,
                              const char *stage) {
    mote_cloud *const to = block->cloud;
    for (uint64_t first = 0; first < count; first += STEP_POINTS) {
        const uint64_t step = count - first < STEP_POINTS ? count - first : STEP_POINTS;
        const int64_t pieces = (int64_t)((step + PIECE_POINTS - 1) / PIECE_POINTS);
#pragma omp parallel for schedule(static) num_threads(to->ctx->threads)
        for (int64_t piece = 0; piece < pieces; piece++) {
            const uint64_t begin = (uint64_t)piece * PIECE_POINTS;
            const uint64_t some = step - begin < PIECE_POINTS ? step - begin : PIECE_POINTS;
            for (uint64_t c = 0; c < to->column_count; c++) {
                const mote_column *const column = &to->columns[c];
                fill_column(block, column, mote_cloud_find(from, column->name), indices, first + begin, some);
            }
        }
        MOTE_TRY(mote_progress(to->ctx, (double)(block->filled + first + step) / (double)to->count, stage));
    }
    block->filled += count;
    return MOTE_OK;
}

static mote_status fill_selection(const mote_cloud *from, const uint64_t *indices, mote_cloud *to) {
    record_block block = {.cloud = to};
    for (uint64_t c = 0; c < from->column_count; c++) MOTE_TRY(mote_cloud_add_view(to, &from->columns[c]));
    MOTE_TRY(mote_cloud_copy_extras(to, from));
    MOTE_TRY(make_block(&block));
    return fill_block(&block, from, indices, to->count, "selecting");
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
    mote_status status = fill_selection(cloud, indices, chosen);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status != MOTE_OK) {
        mote_cloud_destroy(chosen);
        return status;
    }
    *out = chosen;
    return MOTE_OK;
}

/* ---- all points of several clouds */

static bool is_alike(const mote_column *a, const mote_column *b) {
    return a->type == b->type && a->bit_shift == b->bit_shift && a->bit_count == b->bit_count && a->scale == b->scale &&
           a->offset == b->offset;
}

/* Adds the columns of a cloud that those before it lacked, with their limits. */
static mote_status join_columns(mote_cloud *to, const mote_cloud *from) {
    for (uint64_t c = 0; c < from->column_count; c++) {
        const mote_column *const column = &from->columns[c], *const there = mote_cloud_find(to, column->name);
        mote_column_limits limits;
        if (there != NULL && is_alike(there, column)) continue;
        if (there != NULL) {
            return mote_fail(to->ctx, MOTE_ERROR_ARGUMENT, "column \"%s\" differs in type, scale or offset",
                             column->name);
        }
        MOTE_TRY(mote_cloud_add_view(to, column));
        if (!mote_cloud_limits(from, column->name, &limits)) continue;
        MOTE_TRY(mote_cloud_keep_limits(to, column->name, &limits));
    }
    return MOTE_OK;
}

static mote_status fill_joined(mote_cloud *const *clouds, uint32_t count, mote_cloud *to) {
    record_block block = {.cloud = to};
    MOTE_TRY(mote_cloud_copy_extras(to, clouds[0]));
    for (uint32_t i = 0; i < count; i++) MOTE_TRY(join_columns(to, clouds[i]));
    MOTE_TRY(make_block(&block));
    for (uint32_t i = 0; i < count; i++) {
        MOTE_TRY(fill_block(&block, clouds[i], NULL, clouds[i]->count, "joining"));
        MOTE_TRY(mote_cloud_check(clouds[i]));
    }
    return MOTE_OK;
}

mote_status mote_cloud_join(mote_context *ctx, mote_cloud *const *clouds, uint32_t count, mote_cloud **out) {
    mote_cloud *joined = NULL;
    uint64_t points = 0;
    *out = NULL;
    if (count == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no clouds to join");
    for (uint32_t i = 0; i < count; i++) {
        MOTE_TRY(mote_cloud_need_host(ctx, clouds[i], "joining clouds"));
        if (points + clouds[i]->count < points) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: all points");
        points += clouds[i]->count;
    }
    MOTE_TRY(mote_cloud_new(ctx, points, &joined));
    const mote_status status = fill_joined(clouds, count, joined);
    if (status != MOTE_OK) {
        mote_cloud_destroy(joined);
        return status;
    }
    *out = joined;
    return MOTE_OK;
}

/* ---- where a cloud came from */

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
