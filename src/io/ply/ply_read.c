/* Reading PLY. Binary little-endian points without lists are looked at where they lie in the file; all others are
   converted into records of their own. Other elements are stepped over, but must be there. */
#include <inttypes.h>
#include <stdio.h>

#include "io/ply/ply.h"

#define ROWS_PER_PIECE 8192u

bool mote_ply_probe(const mote_input *input) {
    const uint64_t at = mote_text_mark_bytes(input);
    if (input->size_bytes - at < 4 || memcmp(input->data + at, "ply", 3) != 0) return false;
    const uint8_t next = input->data[at + 3];
    return next == '\n' || next == '\r' || next == ' ' || next == '\t';
}

/* What the parts of the reader share. */
typedef struct ply_reader {
    mote_context *ctx;
    mote_input *input;
    bool salvage;
    mote_ply_header header;
    mote_ply_layout layout;
    mote_cloud *cloud;
    uint8_t *records;       /* that were made */
    const uint8_t *base;    /* of the records */
    bool views;             /* base lies in the input */
    uint64_t vertex_begin;  /* binary: offset of the first point */
    uint64_t *piece_begins; /* binary with lists: offset of every ROWS_PER_PIECE-th point */
} ply_reader;

static const mote_ply_element *vertex_of(const ply_reader *r) { return &r->header.elements[r->header.vertex]; }

/* Memory for all records; it belongs to the cloud. Made once. */
static uint8_t *make_records(ply_reader *r) {
    const uint64_t count = vertex_of(r)->count;
    if (r->records != NULL) return r->records;
    if (count > UINT64_MAX / r->layout.record_bytes) {
        mote_fail(r->ctx, MOTE_ERROR_MEMORY, "out of memory: %" PRIu64 " points", count);
        return NULL;
    }
    uint8_t *const records = mote_alloc(r->ctx, count * r->layout.record_bytes, "cloud");
    if (mote_cloud_adopt(r->cloud, records) != MOTE_OK) return NULL;
    r->base = r->records = records;
    return records;
}

/* ---- text */

static void fields_of(const ply_reader *r, const mote_ply_element *element, mote_text_field *fields) {
    const bool is_vertex = element == vertex_of(r);
    for (uint32_t i = 0; i < element->property_count; i++) {
        const mote_ply_property *const property = &r->header.properties[element->first_property + i];
        fields[i] = (mote_text_field){.type = property->type, .list = property->list, .skipped = !is_vertex};
        if (!is_vertex || property->list) continue;
        fields[i].offset = r->layout.offsets[i];
        fields[i].decimals = mote_names_axis(property->name);
    }
}

static bool has_double_positions(const ply_reader *r) {
    const mote_ply_element *const vertex = vertex_of(r);
    int doubles = 0;
    for (uint32_t i = 0; i < vertex->property_count; i++) {
        const mote_ply_property *const property = &r->header.properties[vertex->first_property + i];
        if (mote_names_axis(property->name) && !property->list && property->type == MOTE_FLOAT64) doubles++;
    }
    return doubles == 3;
}

/* Elements behind the points are only stepped over: what is wrong with them costs no points. */
static void warn_of_element(const ply_reader *r, const mote_ply_element *element, uint64_t at, const char *why) {
    mote_warn(r->ctx, "%s: offset %" PRIu64 ": %s; element %s is not needed, the points are all there", r->input->path,
              at, why, element->name);
}

/* The file holds fewer points than the header says, or more. at: from where on they are missing. */
static mote_status keep_points(ply_reader *r, uint64_t at, uint64_t kept) {
    mote_ply_element *const vertex = &r->header.elements[r->header.vertex];
    if (kept == vertex->count) return MOTE_OK;
    if (kept == 0) return mote_nothing_whole(r->ctx, r->input, at, vertex->count);
    if (kept < vertex->count) mote_warn_of_loss(r->ctx, r->input, at, kept, vertex->count);
    if (kept > vertex->count) {
        mote_warn(r->ctx,
                  "%s: offset %" PRIu64 ": the header says %" PRIu64 " points, the file has %" PRIu64
                  ", which are taken",
                  r->input->path, vertex->offset, vertex->count, kept);
    }
    vertex->count = r->cloud->count = kept;
    return MOTE_OK;
}

/* Reads points into the records. */
static mote_status parse_points(ply_reader *r, const mote_text_table *table, mote_text_rows *rows) {
    rows->records = make_records(r);
    if (rows->records == NULL) return MOTE_ERROR_MEMORY;
    if (rows->count == 0) return MOTE_OK;
    MOTE_TRY(mote_text_parse(r->ctx, table, rows));
    if (!rows->fits && rows->trial) return MOTE_OK;
    if (has_double_positions(r) && rows->decimals <= 9) {
        r->cloud->position_step = 1.0 / (double)mote_text_power10[rows->decimals];
    }
    return keep_points(r, r->header.body, rows->count);
}

/* What the rows of an element hold. */
static mote_text_rows rows_of(const ply_reader *r, const mote_ply_element *element, mote_text_field *fields) {
    fields_of(r, element, fields);
    return (mote_text_rows){.count = element->count,
                            .fits = true,
                            .fields = fields,
                            .field_count = element->property_count,
                            .record_bytes = element == vertex_of(r) ? r->layout.record_bytes : 0};
}

/* A row per line. *fits: NULL, or out: every row is a line, and nothing is told or refused if that is not so. Behind
   the points, the table is to be salvaged. */
static mote_status parse_lines(ply_reader *r, const mote_text_table *table, uint64_t row_count, mote_text_field *fields,
                               bool *fits) {
    const bool trial = fits != NULL;
    uint64_t first = 0;
    for (uint64_t e = 0; e < r->header.element_count; e++) {
        const mote_ply_element *const element = &r->header.elements[e];
        const bool is_vertex = element == vertex_of(r), is_last = e + 1 == r->header.element_count;
        const uint64_t remaining = row_count - first, stated = element->count;
        mote_text_table lines = *table;
        lines.salvage = !trial && (table->salvage || element > vertex_of(r));
        if (trial && (*fits = is_last ? remaining == stated : remaining >= stated) == false) return MOTE_OK;
        if (r->salvage && is_vertex && (remaining < stated || (is_last && remaining > stated))) {
            MOTE_TRY(keep_points(r, table->end, remaining));
        }
        if (remaining < element->count && e > r->header.vertex) {
            warn_of_element(r, element, table->end, "the file ends within the rows");
            return MOTE_OK;
        }
        if (remaining < element->count) {
            return mote_malformed(r->ctx, r->input, table->end,
                                  "the file ends after %" PRIu64 " of %" PRIu64 " rows of element %s%s", remaining,
                                  element->count, element->name, is_vertex && remaining > 0 ? MOTE_SALVAGE_HINT : "");
        }
        mote_text_rows rows = rows_of(r, element, fields);
        rows.first = first;
        rows.trial = trial;
        first += element->count;
        if (is_vertex) MOTE_TRY(parse_points(r, &lines, &rows));
        if (!is_vertex && element->count > 0) MOTE_TRY(mote_text_parse(r->ctx, &lines, &rows));
        if (trial && (*fits = rows.fits) == false) return MOTE_OK;
    }
    if (first < row_count) {
        mote_warn(r->ctx, "%s: %" PRIu64 " rows behind the last element are left out", r->input->path,
                  row_count - first);
    }
    return MOTE_OK;
}

/* Whether the line where the points begin has as many values as a point. */
static bool line_is_point(const ply_reader *r, const mote_text_table *table, mote_text_field *fields) {
    const mote_ply_element *const vertex = vertex_of(r);
    mote_text_place place = {0, table->begin};
    uint64_t row, row_end, first = 0, field, field_end;
    uint32_t values = 0, scalars = 0;
    for (const mote_ply_element *e = r->header.elements; e < vertex; e++) first += e->count;
    mote_text_seek(table, first, &place);
    if (!mote_text_next_row(table, &place.at, &row, &row_end)) return true;
    while (mote_text_next_field(table, &row, row_end, &field, &field_end)) values++;
    fields_of(r, vertex, fields);
    for (uint32_t i = 0; i < vertex->property_count; i++) scalars += !fields[i].list;
    return scalars < vertex->property_count ? values >= scalars : values == scalars;
}

/* One value too few in a row and one too many in another come out even, and are read as other points. */
static void tell_of_broken_rows(const ply_reader *r, const mote_text_table *table, const mote_text_rows *points) {
    uint64_t line, column;
    if (points->broken == 0) return;
    mote_text_find_line(table, points->first_broken, &line, &column);
    mote_warn(
        r->ctx,
        "%s: offset %" PRIu64 ": line %" PRIu64
        ": here begins the first of the points over several lines that begin or end in the middle of one (%" PRIu64
        "): values are taken one after the other, as PLY says; if one is missing or too many, points are wrong",
        r->input->path, points->first_broken, line, points->broken);
}

/* Values one after the other, wherever lines end. *fits: they come out even; else nothing was read, unless the file is
   to be salvaged and its lines are no points either. */
static mote_status parse_values(ply_reader *r, const mote_text_table *table, mote_text_field *fields, bool *fits) {
    uint64_t at = table->begin, whole = 0;
    mote_text_rows points = {.begins = NULL};
    mote_status status = MOTE_OK;
    *fits = true;
    for (uint64_t e = 0; e < r->header.element_count && *fits && status == MOTE_OK; e++) {
        const mote_ply_element *const element = &r->header.elements[e];
        mote_text_rows rows = rows_of(r, element, fields);
        status = mote_text_find_values(r->ctx, table, &rows, &at, &whole);
        *fits = whole == element->count;
        if (element == vertex_of(r)) {
            points = rows;
            points.count = whole;
        } else {
            mote_free(r->ctx, rows.begins);
        }
    }
    *fits = *fits && mote_text_ends(table, at);
    const bool salvage = r->salvage && points.count > 0 && !line_is_point(r, table, fields);
    if (status == MOTE_OK && (*fits || salvage)) {
        *fits = true;
        fields_of(r, vertex_of(r), fields);
        status = parse_points(r, table, &points);
        if (status == MOTE_OK) tell_of_broken_rows(r, table, &points);
    }
    mote_free(r->ctx, points.begins);
    return status;
}

/* Rows are lines nearly always, which are read in parallel at once. */
static mote_status read_text(ply_reader *r) {
    mote_text_table table = {.input = r->input, .begin = r->header.body, .end = r->input->size_bytes};
    table.lone_cr = mote_text_has_lone_cr(r->input, table.begin);
    table.separator = ' ';
    table.salvage = r->salvage;
    mote_text_leave_cut_line(r->ctx, &table);
    uint64_t row_count = 0;
    bool fits = false;
    mote_text_field *const fields = mote_alloc(r->ctx, r->header.property_count * sizeof *fields, "PLY columns");
    mote_status status = fields != NULL ? mote_text_count(r->ctx, &table, &row_count) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = parse_lines(r, &table, row_count, fields, &fits);
    if (status == MOTE_OK && !fits) status = parse_values(r, &table, fields, &fits);
    if (status == MOTE_OK && !fits) status = parse_lines(r, &table, row_count, fields, NULL);
    mote_text_close(r->ctx, &table);
    mote_free(r->ctx, fields);
    return status;
}

/* ---- binary */

/* The length of the list at from; false if it is negative. */
static bool list_length(const ply_reader *r, const mote_ply_property *list, const uint8_t *from, uint64_t *length) {
    uint64_t raw = 0;
    const uint32_t size_bytes = mote_type_size(list->count_type);
    mote_rows_copy_value((uint8_t *)&raw, from, size_bytes, r->header.encoding == MOTE_PLY_BIG);
    *length = raw;
    return !mote_type_is_signed(list->count_type) || raw >> (8 * size_bytes - 1) == 0;
}

/* Steps over one property at *at. False, and why in text: it is not whole. */
static bool skip_property(const ply_reader *r, const mote_ply_property *property, uint64_t *at, char why[256]) {
    const uint64_t end = r->input->size_bytes;
    const uint32_t size_bytes = mote_type_size(property->list ? property->count_type : property->type);
    uint64_t length = 0;
    if (end - *at < size_bytes) {
        snprintf(why, 256, "the file ends within property %s", property->name);
        return false;
    }
    if (property->list && !list_length(r, property, r->input->data + *at, &length)) {
        snprintf(why, 256, "list %s has a negative length", property->name);
        return false;
    }
    const uint64_t values = *at + size_bytes;
    if (length > (end - values) / mote_type_size(property->type)) {
        snprintf(why, 256, "list %s has %" PRIu64 " values, the file has %" PRIu64 " bytes left", property->name,
                 length, end - values);
        return false;
    }
    *at = values + length * mote_type_size(property->type);
    return true;
}

/* Steps over the rows of an element with lists, and notes where the pieces begin if it holds the points. *whole: rows
   that are; *at stands where the next one would begin, and *wrong where it is not whole, why is in text. */
static mote_status walk_rows(ply_reader *r, const mote_ply_element *element, uint64_t *at, uint64_t *whole,
                             uint64_t *wrong, char why[256]) {
    const bool is_vertex = element == vertex_of(r);
    uint64_t next = *at;
    for (*whole = 0; *whole < element->count; *at = next, ++*whole) {
        if (*whole % ROWS_PER_PIECE == 0) {
            if (is_vertex) r->piece_begins[*whole / ROWS_PER_PIECE] = *at;
            if (*whole % (128 * ROWS_PER_PIECE) == 0) {
                MOTE_TRY(mote_progress(r->ctx, (double)*at / (double)r->input->size_bytes, "reading PLY"));
            }
        }
        for (uint32_t i = 0; i < element->property_count; i++) {
            *wrong = next;
            if (!skip_property(r, &r->header.properties[element->first_property + i], &next, why)) return MOTE_OK;
        }
    }
    return MOTE_OK;
}

/* Rows that the file has; *at moves behind them. */
static mote_status count_rows(ply_reader *r, const mote_ply_element *element, uint64_t *at, uint64_t *whole,
                              uint64_t *wrong, char why[256]) {
    bool fixed = true;
    const uint64_t row_bytes = mote_ply_row_bytes(&r->header, element, &fixed);
    const uint64_t remaining = r->input->size_bytes - *at;
    const uint64_t max =
        row_bytes > 0 && element->count > remaining / row_bytes ? remaining / row_bytes : element->count;
    if (!fixed && element == vertex_of(r)) {
        r->piece_begins = mote_alloc(r->ctx, (max / ROWS_PER_PIECE + 2) * sizeof *r->piece_begins, "PLY columns");
        if (r->piece_begins == NULL) return MOTE_ERROR_MEMORY;
    }
    if (!fixed) return walk_rows(r, element, at, whole, wrong, why);
    snprintf(why, 256, "the file ends within element %s", element->name);
    *wrong = *at;
    *whole = max;
    *at += max * row_bytes;
    return MOTE_OK;
}

/* Finds the points, and steps over the other elements. */
static mote_status find_elements(ply_reader *r) {
    uint64_t at = r->header.body, whole = 0, wrong = 0;
    char why[256] = "";
    for (uint64_t e = 0; e < r->header.element_count; e++) {
        const mote_ply_element *const element = &r->header.elements[e];
        if (e == r->header.vertex) r->vertex_begin = at;
        MOTE_TRY(count_rows(r, element, &at, &whole, &wrong, why));
        if (whole == element->count) continue;
        if (e > r->header.vertex) {
            warn_of_element(r, element, wrong, why);
            return MOTE_OK;
        }
        if (e < r->header.vertex || !r->salvage) {
            return mote_malformed(r->ctx, r->input, wrong, "%s%s", why,
                                  e == r->header.vertex && whole > 0 ? MOTE_SALVAGE_HINT : "");
        }
        return keep_points(r, at, whole);
    }
    if (at < r->input->size_bytes) {
        mote_warn(r->ctx, "%s: %" PRIu64 " bytes behind the last element are left out", r->input->path,
                  r->input->size_bytes - at);
    }
    return MOTE_OK;
}

/* All lengths have been checked by walk_rows. */
static void convert_piece(const ply_reader *r, uint64_t piece, const uint8_t *from, uint8_t *records) {
    const mote_ply_element *const vertex = vertex_of(r);
    const mote_ply_property *const properties = &r->header.properties[vertex->first_property];
    const bool swap = r->header.encoding == MOTE_PLY_BIG;
    const uint64_t first = piece * ROWS_PER_PIECE;
    const uint64_t last = vertex->count - first < ROWS_PER_PIECE ? vertex->count : first + ROWS_PER_PIECE;
    for (uint64_t row = first; row < last; row++) {
        uint8_t *const record = records + row * r->layout.record_bytes;
        for (uint32_t i = 0; i < vertex->property_count; i++) {
            const uint32_t size_bytes = mote_type_size(properties[i].type);
            if (!properties[i].list) {
                mote_rows_copy_value(record + r->layout.offsets[i], from, size_bytes, swap);
                from += size_bytes;
                continue;
            }
            uint64_t length = 0;
            list_length(r, &properties[i], from, &length);
            from += mote_type_size(properties[i].count_type) + length * size_bytes;
        }
    }
}

static mote_status convert(ply_reader *r) {
    uint8_t *const records = make_records(r);
    if (records == NULL) return MOTE_ERROR_MEMORY;
    const uint64_t pieces = (vertex_of(r)->count + ROWS_PER_PIECE - 1) / ROWS_PER_PIECE;
    const uint64_t batch = (uint64_t)r->ctx->threads * 64;
    for (uint64_t first = 0; first < pieces; first += batch) {
        const int64_t last = (int64_t)(pieces - first < batch ? pieces : first + batch);
#pragma omp parallel for schedule(dynamic) num_threads(r->ctx->threads) if (last - (int64_t)first > 1)
        for (int64_t i = (int64_t)first; i < last; i++) {
            const uint64_t begin = r->piece_begins != NULL
                                       ? r->piece_begins[i]
                                       : r->vertex_begin + (uint64_t)i * ROWS_PER_PIECE * r->layout.record_bytes;
            convert_piece(r, (uint64_t)i, r->input->data + begin, records);
        }
        MOTE_TRY(mote_progress(r->ctx, (double)last / (double)pieces, "reading PLY"));
    }
    return MOTE_OK;
}

static mote_status read_binary(ply_reader *r) {
    MOTE_TRY(find_elements(r));
    if (r->header.encoding == MOTE_PLY_BIG || r->piece_begins != NULL) return convert(r);
    r->base = r->input->data + r->vertex_begin;
    r->views = true;
    return MOTE_OK;
}

static mote_status read_points(ply_reader *r) {
    MOTE_TRY(mote_ply_header_read(r->ctx, r->input, r->salvage, &r->header));
    /* Lists are left out, the other properties lie one behind the other. */
    const mote_ply_element *const vertex = vertex_of(r);
    r->layout.offsets = mote_alloc(r->ctx, vertex->property_count * sizeof *r->layout.offsets, "PLY columns");
    if (r->layout.offsets == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < vertex->property_count; i++) {
        const mote_ply_property *const property = &r->header.properties[vertex->first_property + i];
        r->layout.offsets[i] = property->list ? UINT32_MAX : r->layout.record_bytes;
        if (!property->list) r->layout.record_bytes += mote_type_size(property->type);
        if (property->list && vertex->count > 0) {
            mote_warn(r->ctx, "%s: the list %s of the points is left out", r->input->path, property->name);
        }
    }
    MOTE_TRY(mote_cloud_new(r->ctx, vertex->count, &r->cloud));
    MOTE_TRY(r->header.encoding == MOTE_PLY_ASCII ? read_text(r) : read_binary(r));
    MOTE_TRY(mote_ply_add_columns(r->ctx, r->input, &r->header, &r->layout, r->base, r->cloud));
    return r->views ? mote_input_give(r->ctx, r->input, r->cloud) : MOTE_OK;
}

mote_status mote_ply_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    ply_reader r = {.ctx = ctx, .input = input, .salvage = params != NULL && params->salvage};
    *out = NULL;
    mote_stage(ctx, "read PLY");
    const mote_status status = read_points(&r);
    mote_stage(ctx, NULL);
    mote_free(ctx, r.piece_begins);
    mote_free(ctx, r.layout.offsets);
    mote_ply_header_close(ctx, &r.header);
    if (status != MOTE_OK) {
        mote_cloud_destroy(r.cloud);
        return status;
    }
    *out = r.cloud;
    return MOTE_OK;
}
