/* Several clouds become one, without loss or not at all. */
#include "io/merge/merge_plan.h"

#include "core/column_math.h"
#include "io/e57/e57_write.h"
#include "io/las/las_format.h"

#define PIECE_POINTS  1024u      /* one turn of a thread */
#define WINDOW_POINTS (1u << 22) /* between two calls of the progress function */

/* ---- records and header */

static bool same_record(const mote_record *a, const mote_record *b) {
    return a->record_id == b->record_id && a->size_bytes == b->size_bytes && strcmp(a->user_id, b->user_id) == 0 &&
           (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
}

static bool has_record(const mote_cloud *cloud, const mote_record *record) {
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        if (same_record(&cloud->records[i], record)) return true;
    }
    return false;
}

/* The first header, where all inputs are LAS of one format. */
static void merge_header(mote_cloud *to, mote_cloud *const *clouds, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!clouds[i]->las.present || clouds[i]->las.format != clouds[0]->las.format) return;
    }
    to->las = clouds[0]->las;
}

/* ---- points */

/* Copies values of size_bytes (a literal, so that it becomes one move) from stride to stride. */
#define COPY_VALUES(size_bytes)                                                                                        \
    for (uint64_t i = 0; i < count; i++) memcpy(to + i * to_stride, from + i * from_stride, size_bytes)

static void copy_values(uint8_t *to, uint64_t to_stride, const uint8_t *from, uint64_t from_stride, uint64_t count,
                        uint32_t size_bytes) {
    switch (size_bytes) {
    case 1: COPY_VALUES(1); break;
    case 2: COPY_VALUES(2); break;
    case 4: COPY_VALUES(4); break;
    default: COPY_VALUES(8); break;
    }
}

/* Whole degrees to the nearest step of the merged angle. */
static void convert_ranks(const merge_column *column, const merge_source *source, uint64_t first, uint64_t count,
                          void *values) {
    const uint32_t size_bytes = mote_type_size(column->type);
    for (uint64_t i = 0; i < count; i++) {
        const double degrees = mote_column_value(source->column, first + i);
        const double steps = (degrees - column->offset) / column->scale;
        const mote_column from = {.data = &steps, .type = MOTE_FLOAT64, .scale = 1};
        mote_column_read(&from, 0, 1, column->type, (uint8_t *)values + i * size_bytes);
    }
}

/* Fills values (dense, of the merged type) with those of a source. */
static void convert_values(const merge_column *column, const merge_source *source, uint64_t first, uint64_t count,
                           void *values) {
    if (source->is_rank && !column->world) {
        convert_ranks(column, source, first, count, values);
    } else if (source->is_color) {
        for (uint64_t i = 0; i < count; i++) {
            const uint16_t value = column_color(&source->color, column_at(&source->color, first + i));
            memcpy((uint8_t *)values + i * sizeof value, &value, sizeof value);
        }
    } else if (column->world) {
        for (uint64_t i = 0; i < count; i++) {
            const double value = mote_column_value(source->column, first + i);
            memcpy((uint8_t *)values + i * sizeof value, &value, sizeof value);
        }
    } else if (source->factor != 1 || source->shift != 0) {
        mote_column_read(source->column, first, count, MOTE_INT64, values);
        const uint32_t size_bytes = mote_type_size(column->type);
        for (uint64_t i = 0; i < count; i++) {
            int64_t value;
            memcpy(&value, (uint8_t *)values + i * sizeof value, sizeof value);
            value = value * source->factor + source->shift;
            memcpy((uint8_t *)values + i * size_bytes, &value, size_bytes); /* behind what is still to be read */
        }
    } else {
        mote_column_read(source->column, first, count, column->type, values);
    }
}

/* Converts points first … of an input to records, at most PIECE_POINTS. */
static void copy_piece(const merge_plan *plan, uint32_t input, uint64_t first, uint64_t count, uint8_t *records) {
    uint64_t values[PIECE_POINTS];
    for (uint64_t c = 0; c < plan->column_count; c++) {
        const merge_column *column = &plan->columns[c];
        const merge_source *source = &column->sources[input];
        const mote_column *from = source->column;
        const uint32_t size_bytes = mote_type_size(column->type);
        const bool plain = from != NULL && !column->world && from->type == column->type && from->bit_count == 0 &&
                           source->factor == 1 && source->shift == 0 && !source->is_color && !source->is_rank;
        if (plain) {
            copy_values(records + column->at, plan->record_bytes, mote_column_at(from, first), from->stride_bytes,
                        count, size_bytes);
            continue;
        }
        if (from != NULL) {
            convert_values(column, source, first, count, values);
        } else {
            memset(values, 0, count * size_bytes);
        }
        copy_values(records + column->at, plan->record_bytes, (const uint8_t *)values, size_bytes, count, size_bytes);
    }
}

void merge_take_piece(merge_plan *plan, uint32_t input, const mote_cloud *piece) {
    for (uint64_t c = 0; c < plan->column_count; c++) {
        merge_source *source = &plan->columns[c].sources[input];
        if (source->column == NULL) continue;
        source->column = mote_cloud_column(piece, source->index);
        source->color.data = source->column->data;
        source->color.stride_bytes = source->column->stride_bytes;
    }
}

void merge_piece(const merge_plan *plan, uint32_t input, uint64_t first, uint64_t count, uint8_t *records) {
    const int64_t pieces = (int64_t)((count + PIECE_POINTS - 1) / PIECE_POINTS);
#pragma omp parallel for schedule(static) num_threads(plan->ctx->threads)
    for (int64_t piece = 0; piece < pieces; piece++) {
        const uint64_t from = (uint64_t)piece * PIECE_POINTS;
        const uint64_t size = count - from < PIECE_POINTS ? count - from : PIECE_POINTS;
        copy_piece(plan, input, first + from, size, records + from * plan->record_bytes);
    }
}

static mote_status copy_points(const merge_plan *plan, uint64_t total, uint8_t *records) {
    uint64_t done = 0;
    for (uint32_t input = 0; input < plan->input_count; input++) {
        const uint64_t count = mote_cloud_count(plan->clouds[input]);
        for (uint64_t begin = 0; begin < count; begin += WINDOW_POINTS) {
            MOTE_TRY(mote_progress(plan->ctx, (double)done / (double)total, "merging inputs"));
            const uint64_t window = count - begin < WINDOW_POINTS ? count - begin : WINDOW_POINTS;
            merge_piece(plan, input, begin, window, records + done * plan->record_bytes);
            done += window;
        }
    }
    return mote_progress(plan->ctx, 1, "merging inputs");
}

/* ---- the union */

/* A cloud with the columns of the plan in one block of records. */
static mote_status make_columns(const merge_plan *plan, uint64_t total, mote_cloud **out, uint8_t **records) {
    mote_context *ctx = plan->ctx;
    if (plan->record_bytes > UINT32_MAX || total > (UINT64_MAX >> 1) / (plan->record_bytes + 1)) {
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %llu points of %llu bytes", (unsigned long long)total,
                         (unsigned long long)plan->record_bytes);
    }
    MOTE_TRY(mote_cloud_new(ctx, total, out));
    *records = mote_alloc(ctx, total * plan->record_bytes, "cloud");
    MOTE_TRY(mote_cloud_adopt(*out, *records));
    for (uint64_t c = 0; c < plan->column_count; c++) {
        const merge_column *column = &plan->columns[c];
        mote_column view;
        memset(&view, 0, sizeof view);
        view.name = column->name;
        view.unit = column->unit;
        view.description = column->description;
        view.data = *records + column->at;
        view.stride_bytes = (uint32_t)plan->record_bytes;
        view.type = column->type;
        view.scale = column->scale;
        view.offset = column->offset;
        MOTE_TRY(mote_cloud_add_view(*out, &view));
        MOTE_TRY(mote_cloud_keep_limits(*out, column->name, &column->limits));
    }
    return MOTE_OK;
}

/* What is kept of a scan goes by its number. */
static mote_status add_record(const merge_plan *plan, uint32_t input, const mote_record *record, mote_cloud *to) {
    mote_record own = *record;
    if (own.record_id > 0 && mote_e57_is_station(record)) own.record_id += plan->stations[input];
    /* A file's own repetitions are its business; only what another has already is left out. */
    return input == 0 || !has_record(to, &own) ? mote_cloud_add_record(to, &own) : MOTE_OK;
}

mote_status merge_make_cloud(const merge_plan *plan, uint64_t points, mote_cloud **out, uint8_t **records) {
    MOTE_TRY(make_columns(plan, points, out, records));
    MOTE_TRY(mote_cloud_set_crs(*out, plan->crs));
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const mote_cloud *from = plan->clouds[i];
        for (uint64_t r = 0; r < from->record_count; r++) MOTE_TRY(add_record(plan, i, &from->records[r], *out));
    }
    merge_header(*out, plan->clouds, plan->input_count);
    if (plan->adjusted_time) (*out)->las.global_encoding |= LAS_ENCODING_ADJUSTED;
    (*out)->position_step = plan->position_step;
    return MOTE_OK;
}

static mote_status fill_cloud(const merge_plan *plan, mote_cloud **out) {
    uint8_t *records = NULL;
    uint64_t total = 0;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const uint64_t count = mote_cloud_count(plan->clouds[i]);
        if (total + count < total) return mote_fail(plan->ctx, MOTE_ERROR_MEMORY, "out of memory: too many points");
        total += count;
    }
    MOTE_TRY(merge_make_cloud(plan, total, out, &records));
    return copy_points(plan, total, records);
}

mote_status mote_cloud_merge(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                             mote_cloud **out) {
    merge_plan plan;
    *out = NULL;
    if (count == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "nothing to merge");
    mote_stage(ctx, "merging inputs");
    mote_status status = merge_plan_open(ctx, clouds, names, count, NULL, &plan);
    if (status == MOTE_OK) status = fill_cloud(&plan, out);
    /* They may be gone when the union is written. */
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) status = mote_cloud_check(clouds[i]);
    merge_plan_close(&plan);
    mote_stage(ctx, NULL);
    if (status != MOTE_OK) {
        mote_cloud_destroy(*out);
        *out = NULL;
    }
    return status;
}
