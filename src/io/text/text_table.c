/* Reading tables of numbers: the text is cut into pieces at line ends, the rows of each piece are counted, and then
   all pieces are parsed at once, each to where its first row belongs. The cut does not depend on the threads. */
#include "io/text/text.h"
#include "math/search.h"

#include <stdio.h>

#define PIECE_BYTES       (1u << 20)
#define PIECES_PER_THREAD 16 /* between two reports of progress */

/* Why a row is not as it should be. */
typedef enum row_error {
    ROW_FINE,
    ROW_SHORT,
    ROW_LONG,
    ROW_WORD,
    ROW_EMPTY_VALUE,
    ROW_DECIMAL_COMMA,
    ROW_RANGE,
    ROW_LIST_LENGTH,
    ROW_LIST_SHORT
} row_error;

/* The first bad row of a piece, and what the piece found. */
typedef struct piece_result {
    row_error error;
    mote_type type;    /* that did not fit */
    uint32_t field;    /* values read before it */
    uint64_t offset;   /* in the input */
    uint32_t decimals; /* most that a field needs */
    bool wide;         /* a watched field has digits that no float holds */
    uint64_t left_out; /* rows */
} piece_result;

/* Where a piece stands in its row. */
typedef struct cursor {
    const uint8_t *at, *end;
    uint8_t separator;
} cursor;

static bool is_comment(const uint8_t *at, const uint8_t *end) {
    return *at == '#' || *at == ';' || (*at == '/' && at + 1 < end && at[1] == '/');
}

/* Lines that begin before limit; the last one may end behind it. */
static bool next_row(const mote_text_table *table, uint64_t *at, uint64_t limit, uint64_t *row, uint64_t *row_end) {
    const uint8_t *const data = table->input->data;
    while (*at < limit) {
        const uint8_t *const line = data + *at;
        const uint8_t *stop = memchr(line, table->newline, table->end - *at);
        *at = stop != NULL ? (uint64_t)(stop - data) + 1 : table->end;
        if (stop == NULL) stop = data + table->end;
        const uint8_t *first = line;
        while (first < stop && mote_text_is_blank(*first)) first++;
        if (first == stop || (table->comments && is_comment(first, stop))) continue;
        *row = (uint64_t)(first - data);
        *row_end = (uint64_t)(stop - data);
        return true;
    }
    return false;
}

bool mote_text_next_row(const mote_text_table *table, uint64_t *at, uint64_t *row, uint64_t *row_end) {
    return next_row(table, at, table->end, row, row_end);
}

bool mote_text_next_field(const mote_text_table *table, uint64_t *at, uint64_t row_end, uint64_t *field,
                          uint64_t *field_end) {
    const uint8_t *const data = table->input->data;
    uint64_t p = *at;
    while (p < row_end && mote_text_is_blank(data[p])) p++;
    if (p == row_end) return false;
    *field = p;
    while (p < row_end &&
           (table->separator == ' ' ? !mote_text_is_blank(data[p]) : data[p] != (uint8_t)table->separator))
        p++;
    *at = p < row_end ? p + 1 : p;
    while (p > *field && mote_text_is_blank(data[p - 1])) p--;
    *field_end = p;
    return true;
}

/* The first line that begins in piece i, or the end of the piece if none does. */
static uint64_t piece_begin(const mote_text_table *table, uint64_t i, uint64_t *piece_end) {
    const uint64_t begin = table->begin + i * PIECE_BYTES;
    *piece_end = table->end - begin < PIECE_BYTES ? table->end : begin + PIECE_BYTES;
    if (i == 0) return begin;
    const uint8_t *const data = table->input->data;
    const uint8_t *const stop = memchr(data + begin - 1, table->newline, *piece_end - begin);
    return stop != NULL ? (uint64_t)(stop - data) + 1 : *piece_end;
}

/* From the piece that holds the row on, unless the place lies in it already. */
void mote_text_seek(const mote_text_table *table, uint64_t row, mote_text_place *place) {
    const uint64_t behind = mote_lower_bound64(table->piece_first, table->piece_count, row + 1);
    uint64_t row_begin, row_end;
    if (behind > 0 && table->piece_first[behind - 1] > place->row) {
        place->row = table->piece_first[behind - 1];
        place->at = piece_begin(table, behind - 1, &row_end);
    }
    while (place->row < row && mote_text_next_row(table, &place->at, &row_begin, &row_end)) place->row++;
}

/* Reads one number and the separator behind it. */
static row_error next_number(cursor *row, mote_text_number *number) {
    const uint8_t *p = row->at;
    while (p < row->end && mote_text_is_blank(*p)) p++;
    row->at = p;
    if (p == row->end) return ROW_SHORT;
    if (!mote_text_scan(p, row->end, number)) return *p == row->separator ? ROW_EMPTY_VALUE : ROW_WORD;
    p = number->end;
    if (p < row->end && *p != row->separator && !mote_text_is_blank(*p))
        return *p == ',' ? ROW_DECIMAL_COMMA : ROW_WORD;
    if (row->separator != ' ') {
        while (p < row->end && mote_text_is_blank(*p)) p++;
        if (p < row->end && *p != row->separator) return ROW_WORD;
        if (p < row->end) p++;
    }
    row->at = p;
    return ROW_FINE;
}

static row_error skip_list(cursor *row, const mote_text_number *length) {
    uint64_t count = 0;
    mote_text_number value;
    if (length->kind != MOTE_TEXT_INTEGER || !mote_text_store(length, MOTE_UINT64, &count)) {
        row->at = length->begin;
        return ROW_LIST_LENGTH;
    }
    row_error error = ROW_FINE;
    for (uint64_t i = 0; i < count && error == ROW_FINE; i++) error = next_number(row, &value);
    return error == ROW_SHORT ? ROW_LIST_SHORT : error;
}

static bool only_lists_remain(const mote_text_rows *rows, uint32_t field) {
    while (field < rows->field_count && rows->fields[field].list) field++;
    return field == rows->field_count;
}

static row_error read_field(cursor *row, const mote_text_field *field, uint8_t *record, piece_result *result) {
    mote_text_number number;
    row_error error = next_number(row, &number);
    if (error != ROW_FINE) return error;
    if (field->list) return skip_list(row, &number);
    if (field->skipped) return ROW_FINE;
    if (!mote_text_store(&number, field->type, record + field->offset)) {
        row->at = number.begin;
        result->type = field->type;
        return ROW_RANGE;
    }
    if (field->watched && !result->wide) result->wide = !mote_text_fits_float(&number);
    if (field->decimals && -number.exponent > (int32_t)result->decimals) {
        const uint32_t decimals = mote_text_decimals(&number);
        if (decimals > result->decimals) result->decimals = decimals;
    }
    return ROW_FINE;
}

static row_error at_row_end(cursor *row) {
    while (row->at < row->end && mote_text_is_blank(*row->at)) row->at++;
    return row->at < row->end ? ROW_LONG : ROW_FINE;
}

static row_error read_row(cursor *row, const mote_text_rows *rows, uint8_t *record, piece_result *result) {
    for (uint32_t i = 0; i < rows->field_count; i++) {
        result->field = i;
        const row_error error = read_field(row, &rows->fields[i], record, result);
        /* Some writers announce a list that no row has: it counts as left out where it comes last. */
        if (error == ROW_SHORT && rows->fields[i].list && only_lists_remain(rows, i)) return ROW_FINE;
        if (error != ROW_FINE) return error;
    }
    result->field = rows->field_count;
    return at_row_end(row);
}

static void note_number(const mote_text_number *number, mote_text_survey *column) {
    uint64_t magnitude = 0;
    if (number->kind == MOTE_TEXT_INTEGER && mote_text_store(number, MOTE_UINT64, &magnitude)) {
        if (magnitude > column->max) column->max = magnitude;
        if (magnitude > 1) column->beyond_one = true;
        return;
    }
    int64_t negative = 0;
    if (number->kind == MOTE_TEXT_INTEGER && mote_text_store(number, MOTE_INT64, &negative)) {
        if (0 - (uint64_t)negative > column->max_negated) column->max_negated = 0 - (uint64_t)negative;
        if (negative < -1) column->beyond_one = true;
        return;
    }
    column->fraction = true;
    if (!column->beyond_one && !mote_text_within_one(number)) column->beyond_one = true;
    if (-number->exponent > (int32_t)column->decimals) {
        const uint32_t decimals = mote_text_decimals(number);
        if (decimals > column->decimals) column->decimals = decimals;
    }
}

static row_error examine_row(cursor *row, uint32_t columns, mote_text_survey *survey, piece_result *result) {
    for (uint32_t i = 0; i < columns; i++) {
        mote_text_number number;
        result->field = i;
        const row_error error = next_number(row, &number);
        if (error != ROW_FINE) return error;
        note_number(&number, &survey[i]);
    }
    result->field = columns;
    return at_row_end(row);
}

/* Whether a row consists of that number of numbers. */
static bool is_row(cursor row, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++) {
        mote_text_number number;
        if (next_number(&row, &number) != ROW_FINE) return false;
    }
    return at_row_end(&row) == ROW_FINE;
}

static void merge_survey(mote_text_survey *into, const mote_text_survey *from, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++) {
        into[i].fraction |= from[i].fraction;
        into[i].beyond_one |= from[i].beyond_one;
        if (from[i].max > into[i].max) into[i].max = from[i].max;
        if (from[i].max_negated > into[i].max_negated) into[i].max_negated = from[i].max_negated;
        if (from[i].decimals > into[i].decimals) into[i].decimals = from[i].decimals;
    }
}

/* What the passes over all pieces share. */
typedef struct pass {
    const mote_text_table *table;
    uint64_t *row_counts; /* [pieces] out; NULL: do not count */
    mote_text_survey *survey;
    uint32_t survey_columns;
    mote_text_rows *rows;
    bool *wrong;           /* [rows->count] out: rows that are left out; NULL: they are an error */
    piece_result *results; /* [pieces] */
    void (*work)(const struct pass *pass, uint64_t piece);
} pass;

static void count_piece(const pass *p, uint64_t piece) {
    uint64_t end, row, row_end, count = 0;
    uint64_t at = piece_begin(p->table, piece, &end);
    while (next_row(p->table, &at, end, &row, &row_end)) count++;
    p->row_counts[piece] = count;
}

static void examine_piece(const pass *p, uint64_t piece) {
    mote_text_survey survey[MOTE_TEXT_COLUMNS];
    memset(survey, 0, p->survey_columns * sizeof *survey);
    piece_result *const result = &p->results[piece];
    uint64_t end, row, row_end, count = 0;
    uint64_t at = piece_begin(p->table, piece, &end);
    while (result->error == ROW_FINE && next_row(p->table, &at, end, &row, &row_end)) {
        cursor c = {p->table->input->data + row, p->table->input->data + row_end, (uint8_t)p->table->separator};
        count++;
        if (p->table->salvage && !is_row(c, p->survey_columns)) continue;
        result->error = examine_row(&c, p->survey_columns, survey, result);
        result->offset = (uint64_t)(c.at - p->table->input->data);
    }
    p->row_counts[piece] = count;
#pragma omp critical(mote_text_survey)
    merge_survey(p->survey, survey, p->survey_columns);
}

static void parse_piece(const pass *p, uint64_t piece) {
    const uint64_t first = p->rows->first, last = first + p->rows->count;
    uint64_t number = p->table->piece_first[piece];
    if (p->table->piece_first[piece + 1] <= first || number >= last) return;
    piece_result *const result = &p->results[piece];
    piece_result now = {.error = ROW_FINE};
    uint64_t end, row, row_end;
    uint64_t at = piece_begin(p->table, piece, &end);
    for (; number < last && next_row(p->table, &at, end, &row, &row_end); number++) {
        if (number < first) continue;
        cursor c = {p->table->input->data + row, p->table->input->data + row_end, (uint8_t)p->table->separator};
        uint8_t *const record =
            p->rows->records != NULL ? p->rows->records + (number - first) * p->rows->record_bytes : NULL;
        now.error = read_row(&c, p->rows, record, &now);
        now.offset = (uint64_t)(c.at - p->table->input->data);
        if (now.error == ROW_FINE) continue;
        if (result->error == ROW_FINE) *result = now;
        result->left_out++;
        if (p->wrong == NULL) return;
        p->wrong[number - first] = true;
    }
    result->decimals = now.decimals;
    result->wide = now.wide;
}

static void find_line(const mote_text_table *table, uint64_t offset, uint64_t *line, uint64_t *column) {
    const uint8_t *const data = table->input->data;
    uint64_t line_begin = 0;
    *line = 1;
    for (uint64_t i = 0; i < offset; i++) {
        if (data[i] != (uint8_t)table->newline) continue;
        ++*line;
        line_begin = i + 1;
    }
    *column = offset - line_begin + 1;
}

mote_status mote_text_malformed(mote_context *ctx, const mote_text_table *table, uint64_t offset, const char *format,
                                ...) {
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    uint64_t line, column;
    find_line(table, offset, &line, &column);
    return mote_malformed(ctx, table->input, offset, "line %llu, column %llu: %s", (unsigned long long)line,
                          (unsigned long long)column, why);
}

/* What is wrong with a row. */
static void describe(const mote_text_table *table, const piece_result *bad, uint32_t fields, char *text, size_t size) {
    char word[32];
    /* The word at offset, cut to a size that fits a message; bytes that do not print become '?'. */
    uint64_t offset = bad->offset;
    const uint8_t *const data = table->input->data;
    size_t length = 0;
    while (offset < table->end && length < 28 && !mote_text_is_blank(data[offset])) {
        const uint8_t c = data[offset++];
        word[length++] = c > ' ' && c < 0x7F ? (char)c : '?';
    }
    word[length] = '\0';
    const char *why = "is no number";
    switch (bad->error) {
    case ROW_SHORT: snprintf(text, size, "the row ends after %u values, it needs %u", bad->field, fields); return;
    case ROW_LONG: snprintf(text, size, "\"%s\": the row has more than %u values", word, fields); return;
    case ROW_LIST_SHORT: snprintf(text, size, "the row ends within a list"); return;
    case ROW_RANGE: snprintf(text, size, "\"%s\" does not fit the type %s", word, mote_type_name(bad->type)); return;
    case ROW_DECIMAL_COMMA: why = "has a decimal comma; only decimal points are read"; break;
    case ROW_EMPTY_VALUE: why = "follows an empty value"; break;
    case ROW_LIST_LENGTH: why = "is no length of a list"; break;
    default: break;
    }
    snprintf(text, size, "\"%s\" %s", word, why);
}

static mote_status explain(mote_context *ctx, const mote_text_table *table, const piece_result *bad, uint32_t fields) {
    char why[256];
    describe(table, bad, fields, why, sizeof why);
    return mote_text_malformed(ctx, table, bad->offset, "%s" MOTE_SALVAGE_HINT, why);
}

static void warn_of_rows(mote_context *ctx, const mote_text_table *table, const piece_result *first, uint32_t fields,
                         uint64_t left_out, uint64_t count) {
    char why[256];
    uint64_t line, column;
    describe(table, first, fields, why, sizeof why);
    find_line(table, first->offset, &line, &column);
    mote_warn(ctx, "%s: offset %llu: %llu of %llu rows are left out; the first: line %llu, column %llu: %s",
              table->input->path, (unsigned long long)first->offset, (unsigned long long)left_out,
              (unsigned long long)count, (unsigned long long)line, (unsigned long long)column, why);
}

static void merge_found(mote_text_rows *rows, const piece_result *found) {
    if (rows == NULL) return;
    if (found->decimals > rows->decimals) rows->decimals = found->decimals;
    if (found->wide) rows->wide = true;
}

/* What is left out of rows that are salvaged: the warning, and the gaps. */
static void settle_rows(mote_context *ctx, const pass *p, uint32_t fields) {
    const piece_result *first = NULL;
    uint64_t left_out = 0;
    const uint64_t count = p->rows->count;
    for (uint64_t i = 0; i < p->table->piece_count; i++) {
        if (p->results[i].left_out > 0 && first == NULL) first = &p->results[i];
        left_out += p->results[i].left_out;
    }
    mote_text_rows *const rows = p->rows;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < rows->count && left_out > 0; i++) {
        if (p->wrong[i] && rows->prefix) break;
        if (p->wrong[i]) continue;
        if (i != kept && rows->records != NULL)
            memmove(rows->records + kept * rows->record_bytes, rows->records + i * rows->record_bytes,
                    rows->record_bytes);
        kept++;
    }
    if (left_out > 0) rows->count = kept;
    if (first != NULL) warn_of_rows(ctx, p->table, first, fields, count - p->rows->count, count);
}

/* Runs a pass over all pieces; the first bad row in file order is the error. */
static mote_status run_pass(mote_context *ctx, pass *p, uint32_t fields) {
    const mote_text_table *const table = p->table;
    const uint64_t batch = (uint64_t)ctx->threads * PIECES_PER_THREAD;
    p->results = mote_alloc_zero(ctx, table->piece_count * sizeof *p->results, "text pieces");
    if (p->results == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = MOTE_OK;
    for (uint64_t first = 0; first < table->piece_count && status == MOTE_OK; first += batch) {
        const int64_t last = (int64_t)(table->piece_count - first < batch ? table->piece_count : first + batch);
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) if (last - (int64_t)first > 1)
        for (int64_t i = (int64_t)first; i < last; i++) p->work(p, (uint64_t)i);
        for (int64_t i = (int64_t)first; i < last && status == MOTE_OK; i++) {
            const bool failed = p->results[i].error != ROW_FINE && p->wrong == NULL;
            if (failed) status = explain(ctx, table, &p->results[i], fields);
            merge_found(p->rows, &p->results[i]);
        }
        if (status == MOTE_OK) status = mote_progress(ctx, (double)last / (double)table->piece_count, "reading text");
    }
    if (status == MOTE_OK && p->wrong != NULL) settle_rows(ctx, p, fields);
    mote_free(ctx, p->results);
    return status;
}

/* Runs a counting pass and sums up the counts. */
static mote_status run_count(mote_context *ctx, mote_text_table *table, pass *p, uint64_t *rows) {
    mote_text_close(ctx, table);
    table->piece_count = (table->end - table->begin + PIECE_BYTES - 1) / PIECE_BYTES;
    table->piece_first = mote_alloc_zero(ctx, (table->piece_count + 1) * sizeof *table->piece_first, "text pieces");
    if (table->piece_first == NULL) return MOTE_ERROR_MEMORY;
    p->row_counts = table->piece_first + 1;
    MOTE_TRY(run_pass(ctx, p, p->survey_columns));
    for (uint64_t i = 0; i < table->piece_count; i++) table->piece_first[i + 1] += table->piece_first[i];
    *rows = table->piece_first[table->piece_count];
    return MOTE_OK;
}

mote_status mote_text_count(mote_context *ctx, mote_text_table *table, uint64_t *rows) {
    pass p = {.table = table, .work = count_piece};
    return run_count(ctx, table, &p, rows);
}

mote_status mote_text_examine(mote_context *ctx, mote_text_table *table, uint32_t columns, mote_text_survey *survey,
                              uint64_t *rows) {
    pass p = {.table = table, .survey = survey, .survey_columns = columns, .work = examine_piece};
    memset(survey, 0, columns * sizeof *survey);
    return run_count(ctx, table, &p, rows);
}

mote_status mote_text_parse(mote_context *ctx, const mote_text_table *table, mote_text_rows *rows) {
    pass p = {.table = table, .rows = rows, .work = parse_piece};
    rows->decimals = 0;
    rows->wide = false;
    if (table->salvage) p.wrong = mote_alloc_zero(ctx, rows->count * sizeof *p.wrong, "text rows");
    if (table->salvage && p.wrong == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = run_pass(ctx, &p, rows->field_count);
    mote_free(ctx, p.wrong);
    return status;
}

void mote_text_leave_cut_line(mote_context *ctx, mote_text_table *table) {
    const uint8_t *const data = table->input->data;
    uint64_t end = table->end;
    if (!table->salvage || end == table->begin || data[end - 1] == (uint8_t)table->newline) return;
    while (end > table->begin && data[end - 1] != (uint8_t)table->newline) end--;
    table->end = end;
    mote_warn(ctx, "%s: offset %llu: the last line has no end and may be cut; it is left out", table->input->path,
              (unsigned long long)end);
}

void mote_text_close(mote_context *ctx, mote_text_table *table) {
    mote_free(ctx, table->piece_first);
    table->piece_first = NULL;
    table->piece_count = 0;
}
