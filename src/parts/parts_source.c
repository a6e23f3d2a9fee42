#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "parts/parts_source.h"

#include "io/potree/potree.h"

#include <math.h>
#include <time.h>

#define PIECE_POINTS 65536u /* of the union, converted at once */
#define FACTS_SHARE  0.1    /* of the call's progress, where several inputs are read for their facts */

/* ---- an input */

/* Lets the log hear nothing from here on: what was told once is not told again. */
static mote_log_fn be_quiet(parts_source *source, bool quiet) {
    const mote_log_fn log = source->ctx->params.log;
    if (quiet) source->ctx->params.log = NULL;
    return log;
}

/* Whether the records of the open reader have the columns that the input had when it was opened first. */
static bool is_as_before(const parts_source *source, uint64_t input) {
    const mote_cloud *before = source->list.count == 1 ? source->whole : source->shapes[input];
    const mote_reader *reader = source->reader;
    if (reader->piece == NULL || reader->records == NULL) return false;
    bool same = reader->shown_columns == before->column_count;
    for (uint64_t c = 0; same && c < before->column_count; c++) {
        const mote_column *now = &reader->piece->columns[c], *then = &before->columns[c];
        const int64_t at = (const uint8_t *)now->data - (const uint8_t *)reader->piece->columns[0].data;
        same = strcmp(now->name, then->name) == 0 && now->type == then->type && now->bit_count == then->bit_count &&
               now->bit_shift == then->bit_shift && now->stride_bytes == then->stride_bytes &&
               now->scale == then->scale && now->offset == then->offset &&
               at == (const uint8_t *)then->data - (const uint8_t *)before->columns[0].data;
    }
    return same;
}

static void walk_from(parts_source *source, double first, double last) {
    source->share = (mote_progress_span){first, last};
    source->walked = 0;
}

/* The next points of the walk are an input's: its share of progress is as large as they are many. */
static void take_share(parts_source *source, uint64_t points) {
    const double point_share = (source->share.last - source->share.first) / ((double)source->count + 1);
    source->input_share.first = source->share.first + point_share * (double)source->walked;
    source->walked += points;
    source->input_share.last = source->share.first + point_share * (double)source->walked;
}

/* Lets the reader give the units alone that are wanted. */
static mote_status take_spans(parts_source *source, uint64_t input) {
    const parts_spans *spans = source->spans != NULL ? &source->spans[input] : NULL;
    if (spans == NULL || spans->count == 0) return MOTE_OK;
    if (mote_reader_take_spans(source->reader, spans->list, spans->count, source->spans_apart)) return MOTE_OK;
    return mote_fail(source->ctx, MOTE_ERROR_DATA, "%s: has no chunks or records as the plan says",
                     source->list.paths[input]);
}

/* Between two walks others may have replaced the file. Opening may take a while too, where it decodes all of it. */
static mote_status open_reader(parts_source *source, uint64_t input) {
    const mote_log_fn log = be_quiet(source, source->was_opened);
    const char *path = source->list.paths[input];
    take_share(source, 0);
    const mote_progress_span whole =
        mote_progress_enter(source->ctx, source->input_share.first, source->input_share.last);
    const mote_status status = mote_reader_open(source->ctx, path, &source->reading, &source->reader);
    mote_progress_leave(source->ctx, whole);
    source->ctx->params.log = log;
    if (status == MOTE_OK && source->boxes != NULL && source->reader->piece != NULL) {
        MOTE_TRY(mote_reader_place(source->reader, &source->boxes[input]));
    }
    if (status == MOTE_OK) MOTE_TRY(take_spans(source, input));
    if (status == MOTE_OK) take_share(source, mote_reader_count(source->reader));
    if (status != MOTE_OK || !source->was_opened || is_as_before(source, input)) return status;
    return mote_fail(source->ctx, MOTE_ERROR_CHANGED, "%s: changed while it was read", path);
}

static mote_status read_next(parts_source *source, const mote_cloud **piece) {
    const mote_log_fn log = be_quiet(source, source->was_walked);
    const mote_progress_span whole =
        mote_progress_enter(source->ctx, source->input_share.first, source->input_share.last);
    const mote_status status = mote_reader_next(source->reader, piece);
    mote_progress_leave(source->ctx, whole);
    source->ctx->params.log = log;
    if (status == MOTE_OK && *piece != NULL && mote_cloud_count(*piece) > source->largest_piece) {
        source->largest_piece = mote_cloud_count(*piece);
    }
    return status;
}

static void close_reader(parts_source *source) {
    mote_reader_close(source->reader);
    source->reader = NULL;
}

/* A cloud of the same columns, which look at one record that no point has. at: where in it they are; NULL: not asked */
static mote_status copy_shape(mote_context *ctx, const mote_cloud *from, uint64_t columns, const uint8_t *records,
                              uint64_t record_bytes, uint32_t *at, mote_cloud **to) {
    MOTE_TRY(mote_cloud_new(ctx, 0, to));
    uint8_t *record = mote_alloc_zero(ctx, record_bytes + 1, "columns");
    MOTE_TRY(mote_cloud_adopt(*to, record));
    for (uint64_t c = 0; c < columns; c++) {
        mote_column view = from->columns[c];
        const uint32_t here = (uint32_t)((const uint8_t *)view.data - records);
        view.data = record + here;
        if (at != NULL) at[c] = here;
        MOTE_TRY(mote_cloud_add_view(*to, &view));
    }
    return mote_cloud_copy_extras(*to, from);
}

/* Makes the cloud that has the columns of all inputs, and no points. */
static mote_status make_whole(parts_source *source, const mote_cloud *from, uint64_t columns, const uint8_t *records,
                              uint64_t record_bytes) {
    source->record_bytes = record_bytes;
    source->column_at = mote_alloc(source->ctx, columns * sizeof *source->column_at, "columns");
    if (source->column_at == NULL) return MOTE_ERROR_MEMORY;
    return copy_shape(source->ctx, from, columns, records, record_bytes, source->column_at, &source->whole);
}

/* The box that the header of LAS states, in stored values. */
static void take_stated(parts_source *source) {
    const mote_reader *reader = source->reader;
    if (!reader->is_las || reader->input.data == NULL || source->boxes != NULL) return;
    const las_header *header = &reader->source.header;
    const uint8_t *data = reader->input.data;
    for (uint32_t k = 0; k < 3; k++) {
        const double high = rint((las_f64(data + LAS_AT_MAX_OF_AXIS(k)) - header->offset[k]) / header->scale[k]);
        const double low = rint((las_f64(data + LAS_AT_MIN_OF_AXIS(k)) - header->offset[k]) / header->scale[k]);
        if (!(low >= INT32_MIN && low <= high && high <= INT32_MAX)) return;
        source->stated.low[k] = (int64_t)low;
        source->stated.high[k] = (int64_t)high;
    }
    source->is_stated = true;
}

static mote_status look_at_input(parts_source *source, uint64_t input) {
    const char *path = source->list.paths[input];
    if (mote_is_dash(path) || mote_input_is_read_once(path)) {
        return mote_fail(source->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: can be read once, and an octree in parts reads several times: save it to a file first",
                         path);
    }
    MOTE_TRY(open_reader(source, input));
    mote_reader *reader = source->reader;
    if (reader->piece == NULL || reader->records == NULL) {
        return mote_fail(source->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: is read as a whole, and not in pieces as LAS, LAZ and E57 are: convert it first", path);
    }
    source->count += mote_reader_count(reader);
    if (source->list.count == 1) {
        take_stated(source);
        return make_whole(source, reader->piece, reader->shown_columns, reader->records, reader->stride_bytes);
    }
    return copy_shape(source->ctx, reader->piece, reader->shown_columns, reader->records, reader->stride_bytes, NULL,
                      &source->shapes[input]);
}

/* ---- inputs that are brought to another system */

/* Where the points lie that are brought there, in their own system: what the new positions are counted in is chosen by
   that, as of a cloud that is read as a whole. */
static mote_status find_box(parts_source *source, uint64_t input) {
    mote_context *ctx = source->ctx;
    mote_read_params own = source->reading;
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    mote_box *box = &source->boxes[input];
    if (mote_choice_is_late(&own)) own.where = NULL;
    if (own.bounds_in_to_crs) own.bounds = NULL;
    own.to_crs = NULL;
    own.where_in_to_crs = own.bounds_in_to_crs = false;
    for (int k = 0; k < 3; k++) box->min[k] = INFINITY, box->max[k] = -INFINITY;
    const mote_log_fn log = be_quiet(source, true);
    mote_status status = mote_reader_open(ctx, source->list.paths[input], &own, &reader);
    while (status == MOTE_OK) {
        mote_box here;
        status = mote_reader_next(reader, &piece);
        if (status != MOTE_OK || piece == NULL) break;
        status = mote_cloud_bounds(ctx, piece, &here, NULL);
        for (int k = 0; k < 3 && status == MOTE_OK; k++) {
            box->min[k] = fmin(box->min[k], here.min[k]);
            box->max[k] = fmax(box->max[k], here.max[k]);
        }
    }
    mote_reader_close(reader);
    ctx->params.log = log;
    return status;
}

static mote_status find_boxes(parts_source *source) {
    source->boxes = mote_alloc(source->ctx, source->list.count * sizeof *source->boxes, "inputs");
    if (source->boxes == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(source->ctx, "look at inputs");
    const mote_progress_span whole = mote_progress_hold(source->ctx);
    mote_status status = MOTE_OK;
    for (uint64_t i = 0; i < source->list.count && status == MOTE_OK; i++) status = find_box(source, i);
    mote_progress_leave(source->ctx, whole);
    return status;
}

/* ---- several inputs */

mote_status parts_source_look(parts_source *source, const bool *wanted, merge_facts *facts,
                              uint64_t (*flags)[POTREE_MERGED]) {
    mote_context *ctx = source->ctx;
    const mote_cloud *piece = NULL;
    mote_stage(ctx, "look at inputs");
    walk_from(source, 0, FACTS_SHARE);
    for (uint64_t i = 0; i < source->list.count; i++) {
        if (wanted != NULL && !wanted[i]) continue;
        MOTE_TRY(merge_facts_begin(ctx, source->list.count == 1 ? source->whole : source->shapes[i], &facts[i]));
        MOTE_TRY(open_reader(source, i));
        do {
            MOTE_TRY(read_next(source, &piece));
            if (piece == NULL) break;
            merge_facts_see(ctx, piece, true, &facts[i]);
            if (flags != NULL) MOTE_TRY(potree_flag_bits(ctx, piece, flags[i]));
        } while (piece != NULL);
        close_reader(source);
    }
    return MOTE_OK;
}

static mote_status find_facts(parts_source *source) {
    source->facts = mote_alloc_zero(source->ctx, source->list.count * sizeof *source->facts, "inputs");
    if (source->facts == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(parts_source_look(source, NULL, source->facts, NULL));
    for (uint64_t i = 0; i < source->list.count; i++) source->shapes[i]->count = source->facts[i].points;
    source->was_walked = true;
    return MOTE_OK;
}

/* The box of the union, where it is integers made of integers. */
static void join_boxes(parts_source *source) {
    source->is_stated = true;
    for (int k = 0; k < 3; k++) {
        const merge_column *column = merge_find(&source->plan, mote_axis_names[k]);
        source->stated.low[k] = INT64_MAX;
        source->stated.high[k] = INT64_MIN;
        if (mote_type_is_float(column->type)) source->is_stated = false;
        for (uint64_t i = 0; i < source->list.count && source->is_stated; i++) {
            const merge_source *from = &column->sources[i];
            if (source->facts[i].low[k] > source->facts[i].high[k]) continue;
            const int64_t low = source->facts[i].low[k] * from->factor + from->shift;
            const int64_t high = source->facts[i].high[k] * from->factor + from->shift;
            if (low < source->stated.low[k]) source->stated.low[k] = low;
            if (high > source->stated.high[k]) source->stated.high[k] = high;
        }
        if (source->stated.low[k] > source->stated.high[k]) source->is_stated = false;
    }
}

static mote_status make_union(parts_source *source) {
    const char *const *names = (const char *const *)source->list.paths;
    MOTE_TRY(merge_plan_open(source->ctx, source->shapes, names, (uint32_t)source->list.count, source->facts,
                             &source->plan));
    join_boxes(source);
    MOTE_TRY(merge_make_cloud(&source->plan, PIECE_POINTS, &source->piece, &source->piece_records));
    return make_whole(source, source->piece, source->piece->column_count, source->piece_records,
                      source->plan.record_bytes);
}

/* Finds the system that all inputs are in, of which the plan tells. */
static mote_status check_systems(parts_source *source) {
    const char *crs = "";
    const mote_log_fn log = be_quiet(source, true);
    const mote_status status = merge_crs(source->ctx, source->shapes, (const char *const *)source->list.paths,
                                         (uint32_t)source->list.count, &crs);
    source->ctx->params.log = log;
    return status;
}

/* ---- all */

double parts_processor_seconds(void) {
    struct timespec now;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

mote_status parts_source_begin(mote_context *ctx, const char *const *paths, uint32_t count,
                               const mote_read_params *reading, mote_box *boxes, parts_source *source) {
    const double since = parts_processor_seconds();
    memset(source, 0, sizeof *source);
    source->ctx = ctx;
    source->reading = reading != NULL ? *reading : mote_read_defaults();
    source->reading.prepare_order = source->reading.to_device = false;
    source->reading.known = NULL;
    source->boxes = boxes;
    MOTE_TRY(mote_inputs_find(ctx, paths, count, &source->list));
    if (source->reading.to_crs != NULL && boxes == NULL) MOTE_TRY(find_boxes(source));
    source->shapes = mote_alloc_zero(ctx, source->list.count * sizeof *source->shapes, "inputs");
    if (source->shapes == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < source->list.count; i++) {
        MOTE_TRY(look_at_input(source, i));
        close_reader(source);
    }
    source->was_opened = true;
    source->open_seconds = parts_processor_seconds() - since;
    return source->list.count > 1 ? check_systems(source) : MOTE_OK;
}

mote_status parts_source_unite(parts_source *source, merge_facts *facts) {
    if (source->list.count == 1) return MOTE_OK;
    if (facts == NULL) {
        MOTE_TRY(find_facts(source));
        return make_union(source);
    }
    source->facts = facts;
    for (uint64_t i = 0; i < source->list.count; i++) source->shapes[i]->count = facts[i].points;
    source->was_walked = true;
    const mote_log_fn log = be_quiet(source, true);
    const mote_status status = make_union(source);
    source->ctx->params.log = log;
    return status;
}

void parts_source_close(parts_source *source) {
    mote_context *ctx = source->ctx;
    parts_source_rest(source);
    for (uint64_t i = 0; i < source->list.count; i++) {
        if (source->shapes != NULL) mote_cloud_destroy(source->shapes[i]);
        if (source->facts != NULL) merge_facts_free(ctx, &source->facts[i]);
    }
    merge_plan_close(&source->plan);
    mote_cloud_destroy(source->whole);
    mote_free(ctx, source->column_at);
    mote_free(ctx, source->boxes);
    mote_free(ctx, source->facts);
    mote_free(ctx, source->shapes);
    mote_inputs_free(ctx, &source->list);
}

/* ---- a walk */

void parts_source_rest(parts_source *source) {
    close_reader(source);
    mote_cloud_destroy(source->piece);
    source->piece = NULL;
}

void parts_source_rewind(parts_source *source, double first, double last) {
    close_reader(source);
    walk_from(source, first, last);
    source->next = 0;
    source->from = NULL;
}

uint64_t parts_source_input(const parts_source *source) { return source->next > 0 ? source->next - 1 : 0; }

/* Where in the reader's piece the last piece begins. */
static uint64_t piece_offset(const parts_source *source) {
    return source->list.count > 1 ? source->from_at - source->piece->count : 0;
}

uint64_t parts_source_place(const parts_source *source) { return source->reader->place + piece_offset(source); }

uint64_t parts_source_number(const parts_source *source) {
    uint64_t before = 0;
    for (uint64_t i = 0; i < parts_source_input(source) && source->facts != NULL; i++) {
        before += source->facts[i].points;
    }
    return before + parts_source_place(source);
}

reader_span parts_source_units(const parts_source *source, uint64_t i, uint64_t *end) {
    const uint64_t offset = piece_offset(source);
    const reader_span span = mote_reader_units_of(source->reader, offset + i, end);
    *end -= offset;
    return span;
}

mote_status parts_source_mark(parts_source *source, uint64_t input, uint64_t block_bytes, bool *blocks) {
    MOTE_TRY(open_reader(source, input));
    mote_reader_mark_blocks(source->reader, block_bytes, blocks);
    close_reader(source);
    return MOTE_OK;
}

/* Passes over those that are not wanted. */
static void skip_inputs(parts_source *source) {
    if (source->reader != NULL || source->wanted == NULL) return;
    while (source->next < source->list.count && !source->wanted[source->next]) source->next++;
}

/* The next piece of some input, as it is there; NULL: that was all. */
static mote_status next_of_inputs(parts_source *source, const mote_cloud **piece) {
    *piece = NULL;
    skip_inputs(source);
    while (*piece == NULL && (source->reader != NULL || source->next < source->list.count)) {
        if (source->reader == NULL) MOTE_TRY(open_reader(source, source->next++));
        MOTE_TRY(read_next(source, piece));
        if (*piece == NULL) close_reader(source);
        skip_inputs(source);
    }
    if (*piece == NULL) source->was_walked = true;
    return MOTE_OK;
}

/* The next points of several inputs, as records of the union. */
static mote_status convert_next(parts_source *source) {
    if (source->piece == NULL) { /* after parts_source_rest */
        MOTE_TRY(merge_make_cloud(&source->plan, PIECE_POINTS, &source->piece, &source->piece_records));
    }
    if (source->from == NULL || source->from_at == mote_cloud_count(source->from)) {
        MOTE_TRY(next_of_inputs(source, &source->from));
        if (source->from == NULL) return MOTE_OK;
        merge_take_piece(&source->plan, (uint32_t)source->next - 1, source->from);
        source->from_at = 0;
    }
    const uint64_t rest = mote_cloud_count(source->from) - source->from_at;
    const uint64_t now = rest < PIECE_POINTS ? rest : PIECE_POINTS;
    merge_piece(&source->plan, (uint32_t)source->next - 1, source->from_at, now, source->piece_records);
    source->from_at += now;
    if (source->piece != NULL) source->piece->count = now;
    return MOTE_OK;
}

mote_status parts_source_next(parts_source *source, const mote_cloud **piece, const uint8_t **records) {
    if (source->list.count == 1) {
        MOTE_TRY(next_of_inputs(source, piece));
        *records = *piece != NULL ? source->reader->records : NULL;
        return MOTE_OK;
    }
    MOTE_TRY(convert_next(source));
    *piece = source->from != NULL ? source->piece : NULL;
    *records = source->piece_records;
    return MOTE_OK;
}
