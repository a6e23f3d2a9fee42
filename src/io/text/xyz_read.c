/* Reading XYZ, CSV, PTS and other rows of numbers. Two passes over the text: one looks at all values, so that each
   column gets the type that fits; one reads them into records. */
#include <inttypes.h>

#include "io/text/xyz.h"

#define PROBE_BYTES   (64u << 10)
#define PROBE_COLUMNS 64u

typedef struct xyz_reader {
    mote_context *ctx;
    mote_input *input;
    mote_xyz_preamble preamble;
    mote_xyz_column *columns;
    mote_text_survey *survey;
    mote_text_field *fields;
    uint64_t rows;
    mote_cloud *cloud;
} xyz_reader;

/* ---- is it such a file? */

static bool is_text(const mote_input *input, uint64_t size_bytes) {
    for (uint64_t i = 0; i < size_bytes; i++) {
        const uint8_t c = input->data[i];
        if (c < ' ' && !(c >= '\t' && c <= '\r')) return false;
        if (c == 0x7F) return false;
    }
    return true;
}

/* Numbers; where a header names the positions, these alone. */
static bool is_row(const mote_text_table *table, uint64_t row, uint64_t row_end, const mote_xyz_column *names,
                   uint32_t named) {
    uint64_t field, field_end;
    mote_text_number number;
    for (uint32_t i = 0; mote_text_next_field(table, &row, row_end, &field, &field_end); i++) {
        const bool needed = i >= named || mote_text_is_axis(names[i].name);
        if (needed && !mote_text_field_number(table, field, field_end, &number)) return false;
    }
    return true;
}

bool mote_xyz_probe(const mote_input *input) {
    mote_input first = *input;
    if (first.size_bytes > PROBE_BYTES) first.size_bytes = PROBE_BYTES;
    if (!is_text(&first, first.size_bytes)) return false;
    mote_xyz_preamble p;
    mote_xyz_find_rows(&first, NULL, &p);
    if (p.stray != UINT64_MAX || p.columns < 3 || p.columns > MOTE_TEXT_COLUMNS) return false;
    mote_xyz_column names[PROBE_COLUMNS];
    uint32_t named = 0;
    if (p.header_end > p.header && !p.header_is_comment) {
        named = mote_xyz_header_names(&p, names, PROBE_COLUMNS);
        if (named != p.columns) return false;
        if (named > PROBE_COLUMNS || !mote_xyz_has_positions(names, named)) named = 0;
    }
    /* Two rows say enough; the last line may be cut by PROBE_BYTES. */
    uint64_t at = p.table.begin, row, row_end;
    for (int i = 0; i < 2 && mote_text_next_row(&p.table, &at, &row, &row_end); i++) {
        if (row_end == first.size_bytes && i > 0) break;
        if (!is_row(&p.table, row, row_end, names, named)) return false;
    }
    return true;
}

/* ---- reading */

static mote_status check_preamble(xyz_reader *r, const mote_read_params *params) {
    const mote_xyz_preamble *const p = &r->preamble;
    if (p->stray != UINT64_MAX) {
        return mote_text_malformed(r->ctx, &p->table, p->stray, "a second line that begins with no number");
    }
    const bool has_header = p->header_end > p->header;
    if (p->table.decimal == ',')
        mote_warn(r->ctx, "%s: the commas in numbers are taken for decimal points", r->input->path);
    if (p->columns == 0 && !has_header && !(p->has_count && p->count == 0)) {
        return mote_malformed(r->ctx, r->input, 0, "there are no rows of numbers");
    }
    if (p->columns > 0 && p->columns < 3) {
        return mote_text_malformed(r->ctx, &p->table, p->table.begin, "a row of %u values, x y z need 3", p->columns);
    }
    if (p->columns > MOTE_TEXT_COLUMNS) {
        return mote_text_malformed(r->ctx, &p->table, p->table.begin, "a row of %u values, mote reads up to %u",
                                   p->columns, MOTE_TEXT_COLUMNS);
    }
    static const char not_separators[] = "+-.0123456789eEnNaAiIfFtTyY\"\n\r#";
    if (params->separator != 0 && strchr(not_separators, params->separator) != NULL) {
        return mote_fail(r->ctx, MOTE_ERROR_ARGUMENT, "'%c' cannot separate numbers", params->separator);
    }
    return MOTE_OK;
}

/* The names from params or from the header line; *known: there are any. */
static mote_status name_columns(xyz_reader *r, const mote_read_params *params, uint32_t count, bool *known) {
    const mote_xyz_preamble *const p = &r->preamble;
    uint32_t named = count;
    *known = true;
    if (params->columns != NULL) {
        named = mote_xyz_given_names(params->columns, r->columns, count);
        if (named == count) return MOTE_OK;
        return mote_fail(r->ctx, MOTE_ERROR_ARGUMENT, "%s: %u columns are named, the rows have %u", r->input->path,
                         named, count);
    }
    if (p->header_end > p->header) {
        named = mote_xyz_header_names(p, r->columns, count);
        if (named == count) return MOTE_OK;
        if (!p->header_is_comment) {
            return mote_text_malformed(r->ctx, &p->table, p->header, "the header names %u columns, the rows have %u",
                                       named, count);
        }
    }
    memset(r->columns, 0, count * sizeof *r->columns);
    *known = false;
    return MOTE_OK;
}

/* Looks at all values. What the user leaves out may hold anything; an attribute without a number is left out as well.
 */
static mote_status examine(xyz_reader *r, uint32_t count, bool known) {
    mote_text_table *const table = &r->preamble.table;
    for (uint32_t i = 0; i < count; i++) {
        const bool position = known ? mote_text_is_axis(r->columns[i].name) : i < 3;
        r->fields[i].anything = r->columns[i].skipped;
        r->fields[i].words = !position && !r->columns[i].has_type;
    }
    mote_text_passed passed;
    MOTE_TRY(mote_text_examine(r->ctx, table, r->fields, count, r->survey, &passed, &r->rows));
    if (passed.count == 0) return MOTE_OK;
    uint64_t line, column;
    mote_text_find_line(table, passed.first, &line, &column);
    mote_warn(r->ctx, "%s: %" PRIu64 " lines that look like rows are comments, and left out; the first: line %" PRIu64,
              r->input->path, passed.count, line);
    return MOTE_OK;
}

/* Cells without a value, of columns that have some: told once. */
static void tell_empties(xyz_reader *r, uint32_t count) {
    uint64_t empties = 0, first = UINT64_MAX;
    uint32_t columns = 0;
    const char *name = "";
    for (uint32_t i = 0; i < count; i++) {
        const mote_text_survey *const survey = &r->survey[i];
        if (r->columns[i].skipped || r->columns[i].has_type || survey->empties == 0) continue;
        if (survey->first_empty < first) name = r->columns[i].name;
        first = survey->first_empty < first ? survey->first_empty : first;
        empties += survey->empties;
        columns++;
    }
    if (empties == 0) return;
    mote_warn(r->ctx,
              "%s: offset %" PRIu64 ": %" PRIu64 " empty cell%s in %u column%s %s no value (NaN); the first: \"%s\"",
              r->input->path, first, empties, empties == 1 ? "" : "s", columns, columns == 1 ? "" : "s",
              empties == 1 ? "is" : "are", name);
}

/* Columns of text are no attributes; one of numbers and text is a mistake in one of them, and so is one
   of numbers with the other decimal sign. */
static mote_status leave_out_text(xyz_reader *r, uint32_t count) {
    const mote_xyz_column *first = NULL;
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < count; i++) {
        mote_xyz_column *const column = &r->columns[i];
        if (column->skipped || (r->survey[i].words == 0 && (r->survey[i].numbers || r->survey[i].empties == 0)))
            continue;
        const bool other_decimals =
            r->survey[i].other_decimals > 0 && r->survey[i].other_decimals == r->survey[i].words;
        if ((r->survey[i].numbers || other_decimals) && !r->preamble.table.salvage) {
            return mote_text_malformed(r->ctx, &r->preamble.table, r->survey[i].first_word,
                                       "%" PRIu64 " values of column %u (%s) %s, this is the first; "
                                       "--columns with - for its name leaves the column out" MOTE_SALVAGE_HINT,
                                       r->survey[i].words, i + 1, column->name,
                                       other_decimals ? "have another decimal sign than the file" : "are no numbers");
        }
        if (r->survey[i].numbers) continue;
        column->skipped = true;
        if (left_out++ == 0) first = column;
    }
    if (left_out == 0) return MOTE_OK;
    mote_warn(r->ctx, "%s: %u columns hold no numbers and are left out; the first: \"%s\", column %u", r->input->path,
              left_out, first->name, (unsigned)(first - r->columns) + 1);
    return MOTE_OK;
}

static mote_status check_positions(xyz_reader *r, uint32_t count) {
    for (char axis = 'x'; axis <= 'z'; axis++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++) {
            const mote_xyz_column *const column = &r->columns[i];
            found += !column->skipped && column->name[0] == axis && column->name[1] == '\0';
        }
        if (found == 0) {
            return mote_text_malformed(
                r->ctx, &r->preamble.table, r->preamble.header,
                "no column is known as %c: name the columns with --columns (x,y,z,…; - leaves one "
                "out)",
                axis);
        }
        if (found != 1) {
            return mote_text_malformed(r->ctx, &r->preamble.table, r->preamble.header, "%u columns are named %c", found,
                                       axis);
        }
    }
    return MOTE_OK;
}

static mote_status check_count(xyz_reader *r) {
    const mote_xyz_preamble *const p = &r->preamble;
    if (!p->has_count || p->count == r->rows) return MOTE_OK;
    if (p->table.salvage && p->count > r->rows) mote_warn_of_loss(r->ctx, r->input, p->table.end, r->rows, p->count);
    if (p->table.salvage && p->count < r->rows) {
        mote_warn(r->ctx,
                  "%s: offset %" PRIu64 ": the count is %" PRIu64 ", the file has %" PRIu64 " rows, which are taken",
                  r->input->path, p->count_offset, p->count, r->rows);
    }
    if (p->table.salvage) return MOTE_OK;
    return mote_text_malformed(r->ctx, &p->table, p->count_offset,
                               "the count is %" PRIu64 ", the file has %" PRIu64 " rows" MOTE_SALVAGE_HINT, p->count,
                               r->rows);
}

/* One record after the other; *record_bytes out. */
static void lay_out_fields(xyz_reader *r, uint32_t count, uint32_t *record_bytes) {
    *record_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mote_xyz_column *const column = &r->columns[i];
        r->fields[i] = (mote_text_field){.type = column->type, .offset = *record_bytes, .anything = column->skipped};
        r->fields[i].empties = !column->has_type && r->survey[i].empties > 0;
        if (!column->skipped) *record_bytes += mote_type_size(column->type);
    }
}

static mote_status read_rows(xyz_reader *r, uint32_t count) {
    uint32_t record_bytes = 0;
    lay_out_fields(r, count, &record_bytes);
    MOTE_TRY(mote_cloud_new(r->ctx, r->rows, &r->cloud));
    uint8_t *const records = mote_alloc(r->ctx, r->rows * record_bytes, "cloud"); /* 2 bytes or more of text each */
    MOTE_TRY(mote_cloud_adopt(r->cloud, records));
    mote_text_rows rows = {.count = r->rows, .fields = r->fields, .field_count = count, .record_bytes = record_bytes};
    rows.records = records;
    if (r->rows > 0) MOTE_TRY(mote_text_parse(r->ctx, &r->preamble.table, &rows));
    if (rows.count == 0 && r->rows > 0) return mote_nothing_whole(r->ctx, r->input, r->preamble.table.begin, r->rows);
    r->cloud->count = rows.count;
    for (uint32_t i = 0; i < count; i++) {
        const mote_xyz_column *const from = &r->columns[i];
        char name[MOTE_NAME_BYTES];
        if (from->skipped) continue;
        mote_cloud_free_name(r->cloud, from->name, name);
        mote_column column;
        memset(&column, 0, sizeof column);
        column.name = name;
        column.unit = from->unit;
        column.data = records + r->fields[i].offset;
        column.stride_bytes = record_bytes;
        column.type = from->type;
        MOTE_TRY(mote_cloud_add_view(r->cloud, &column));
    }
    return MOTE_OK;
}

static mote_status keep_crs(xyz_reader *r) {
    const mote_xyz_preamble *const p = &r->preamble;
    const uint64_t length = p->crs_end - p->crs;
    if (length == 0) return MOTE_OK;
    char *const text = mote_alloc(r->ctx, length + 1, "texts");
    if (text == NULL) return MOTE_ERROR_MEMORY;
    memcpy(text, r->input->data + p->crs, length);
    mote_text_unescape(text, length);
    const mote_status status = mote_cloud_set_crs(r->cloud, text);
    mote_free(r->ctx, text);
    return status;
}

static void keep_position_step(xyz_reader *r, uint32_t count) {
    uint32_t decimals = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mote_xyz_column *const column = &r->columns[i];
        if (column->skipped || !mote_text_is_axis(column->name)) continue;
        if (column->type != MOTE_FLOAT64) return;
        if (r->survey[i].decimals > decimals) decimals = r->survey[i].decimals;
    }
    if (decimals <= 9 && r->rows > 0) r->cloud->position_step = 1.0 / (double)mote_text_power10[decimals];
}

static mote_status read_table(xyz_reader *r, const mote_read_params *params) {
    mote_xyz_preamble *const p = &r->preamble;
    mote_xyz_find_rows(r->input, params, p);
    p->table.salvage = params->salvage;
    const uint64_t end = p->table.end;
    if (params->columns != NULL && p->open_end && mote_xyz_given_names(params->columns, NULL, 0) == p->columns + 1) {
        p->columns++;
    }
    MOTE_TRY(check_preamble(r, params));
    mote_text_leave_cut_line(r->ctx, &p->table);
    if (p->table.end < end && p->table.end == p->table.begin)
        return mote_nothing_whole(r->ctx, r->input, p->table.begin, 1);
    uint32_t count = p->columns;
    const uint32_t max = count > 0 ? count : MOTE_TEXT_COLUMNS;
    r->columns = mote_alloc_zero(r->ctx, max * sizeof *r->columns, "text columns");
    r->survey = mote_alloc_zero(r->ctx, max * sizeof *r->survey, "text columns");
    r->fields = mote_alloc_zero(r->ctx, max * sizeof *r->fields, "text columns");
    if (r->columns == NULL || r->survey == NULL || r->fields == NULL) return MOTE_ERROR_MEMORY;
    bool known = true;
    if (count > 0) {
        MOTE_TRY(name_columns(r, params, count, &known));
        MOTE_TRY(examine(r, count, known));
    } else if (params->columns != NULL) {
        count = mote_xyz_given_names(params->columns, r->columns, 0);
    } else {
        count = p->header_end > p->header ? mote_xyz_header_names(p, r->columns, max) : 3;
    }
    if (count > max) count = max;
    MOTE_TRY(check_count(r));
    if (p->columns == 0) MOTE_TRY(name_columns(r, params, count, &known));
    if (p->columns == 0 && p->header_end > p->header && !(p->has_count && p->count == 0)) {
        mote_warn(r->ctx, "%s: there are names of columns, and no row", r->input->path);
    }
    if (!known) mote_xyz_guess_names(r->survey, r->columns, count);
    MOTE_TRY(check_positions(r, count));
    MOTE_TRY(leave_out_text(r, count));
    tell_empties(r, count);
    mote_xyz_choose_types(r->survey, r->columns, count);
    MOTE_TRY(read_rows(r, count));
    keep_position_step(r, count);
    return keep_crs(r);
}

mote_status mote_xyz_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    xyz_reader r = {.ctx = ctx, .input = input};
    *out = NULL;
    mote_stage(ctx, "read text");
    const mote_status status = read_table(&r, params);
    mote_stage(ctx, NULL);
    mote_text_close(ctx, &r.preamble.table);
    mote_free(ctx, r.fields);
    mote_free(ctx, r.survey);
    mote_free(ctx, r.columns);
    if (status != MOTE_OK) {
        mote_cloud_destroy(r.cloud);
        return status;
    }
    *out = r.cloud;
    return MOTE_OK;
}
