/* Reading tables of numbers: the text is cut into pieces at line ends, the rows of each piece are counted, and then
   all pieces are parsed at once, each to where its first row belongs. The cut does not depend on the threads. */
#include "io/text/text_row.h"
#include "math/search.h"

#include <stdio.h>

#define PIECE_BYTES       (1u << 20)
#define ROWS_PER_PIECE    8192u
#define PIECES_PER_THREAD 16 /* between two reports of progress */

/* Where semicolons separate, one in front follows an empty field. */
static bool is_comment(const mote_text_table *table, const uint8_t *at, const uint8_t *end) {
    return *at == '#' || (*at == ';' && table->separator != ';') || (*at == '/' && at + 1 < end && at[1] == '/');
}

static bool is_line_end(const mote_text_table *table, uint8_t c) { return c == '\n' || (c == '\r' && table->lone_cr); }

/* NULL: there is none. */
static const uint8_t *find_line_end(const mote_text_table *table, const uint8_t *from, const uint8_t *end) {
    if (!table->lone_cr) return memchr(from, '\n', (size_t)(end - from));
    while (from < end && *from != '\n' && *from != '\r') from++;
    return from < end ? from : NULL;
}

/* Separators and nothing between them, as spreadsheets write empty rows: a blank line, as one of tabs is. */
static bool is_without_values(const mote_text_table *table, const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == (uint8_t)table->separator || mote_text_is_blank(*at))) at++;
    return at == end;
}

/* Whether a line that begins like a comment is none. */
static bool is_marked_row(const mote_text_table *table, const uint8_t *first, const uint8_t *stop) {
    const uint8_t *const data = table->input->data;
    return table->marked > 0 &&
           mote_text_is_marked_row(table, (uint64_t)(first - data), (uint64_t)(stop - data), table->marked);
}

/* Counts a comment of a table of so many columns, if it looks like a row. */
static void count_passed(const mote_text_table *table, const uint8_t *first, const uint8_t *stop, uint32_t columns,
                         mote_text_passed *passed) {
    const uint64_t at = (uint64_t)(first - table->input->data);
    if (!mote_text_is_passed_row(table, at, (uint64_t)(stop - table->input->data), columns)) return;
    if (passed->count++ == 0) passed->first = at;
}

/* Lines that begin before limit; the last one may end behind it. passed, columns: NULL, or counts comments. */
static bool next_row_passing(const mote_text_table *table, uint64_t *at, uint64_t limit, uint64_t *row,
                             uint64_t *row_end, uint32_t columns, mote_text_passed *passed) {
    const uint8_t *const data = table->input->data;
    while (*at < limit) {
        const uint8_t *const line = data + *at;
        const uint8_t *stop = find_line_end(table, line, data + table->end);
        *at = stop != NULL ? (uint64_t)(stop - data) + 1 : table->end;
        if (stop == NULL) stop = data + table->end;
        const uint8_t *first = line;
        while (first < stop && mote_text_is_blank(*first)) first++;
        if (first == stop) continue;
        if (table->comments && is_comment(table, first, stop) && !is_marked_row(table, first, stop)) {
            if (passed != NULL) count_passed(table, first, stop, columns, passed);
            continue;
        }
        if (*first == (uint8_t)table->separator && is_without_values(table, first, stop)) continue;
        *row = (uint64_t)((table->separator == '\t' ? line : first) - data);
        *row_end = (uint64_t)(stop - data);
        return true;
    }
    return false;
}

static bool next_row(const mote_text_table *table, uint64_t *at, uint64_t limit, uint64_t *row, uint64_t *row_end) {
    return next_row_passing(table, at, limit, row, row_end, 0, NULL);
}

bool mote_text_next_row(const mote_text_table *table, uint64_t *at, uint64_t *row, uint64_t *row_end) {
    return next_row(table, at, table->end, row, row_end);
}

/* The first line that begins in piece i, or the end of the piece if none does. */
static uint64_t piece_begin(const mote_text_table *table, uint64_t i, uint64_t *piece_end) {
    const uint64_t begin = table->begin + i * PIECE_BYTES;
    *piece_end = table->end - begin < PIECE_BYTES ? table->end : begin + PIECE_BYTES;
    if (i == 0) return begin;
    const uint8_t *const data = table->input->data;
    const uint8_t *const stop = find_line_end(table, data + begin - 1, data + *piece_end - 1);
    return stop != NULL ? (uint64_t)(stop - data) + 1 : *piece_end;
}

/* Walks from the start of the piece that holds the row, unless the place lies in that piece already. */
void mote_text_seek(const mote_text_table *table, uint64_t row, mote_text_place *place) {
    const uint64_t behind = mote_lower_bound64(table->piece_first, table->piece_count, row + 1);
    uint64_t row_begin, row_end;
    if (behind > 0 && table->piece_first[behind - 1] > place->row) {
        place->row = table->piece_first[behind - 1];
        place->at = piece_begin(table, behind - 1, &row_end);
    }
    while (place->row < row && mote_text_next_row(table, &place->at, &row_begin, &row_end)) place->row++;
}

/* Whether a row consists of what its fields are to hold. */
static bool is_row(row_cursor row, const mote_text_field *fields, uint32_t columns, const uint8_t *data) {
    mote_text_survey ignored[MOTE_TEXT_COLUMNS];
    piece_result result;
    memset(ignored, 0, columns * sizeof *ignored);
    return row_examine(&row, fields, columns, data, ignored, &result) == ROW_FINE;
}

/* Where something was first, of two places of which the second counts if there is any. */
static void join_first(uint64_t into_count, uint64_t *into, uint64_t from_count, uint64_t from) {
    if (from_count > 0 && (into_count == 0 || from < *into)) *into = from;
}

void mote_text_merge_surveys(mote_text_survey *into, const mote_text_survey *from, uint32_t columns) {
    for (uint32_t i = 0; i < columns; i++) {
        join_first(into[i].words, &into[i].first_word, from[i].words, from[i].first_word);
        join_first(into[i].empties, &into[i].first_empty, from[i].empties, from[i].first_empty);
        into[i].words += from[i].words;
        into[i].empties += from[i].empties;
        into[i].other_decimals += from[i].other_decimals;
        into[i].numbers |= from[i].numbers;
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
    uint64_t piece_count;
    uint64_t *row_counts; /* [pieces] out; NULL: do not count */
    mote_text_survey *survey;
    const mote_text_field *survey_fields;
    uint32_t survey_columns;
    mote_text_passed *passed;
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
    const uint8_t *const data = p->table->input->data;
    uint64_t end, row, row_end, count = 0;
    uint64_t at = piece_begin(p->table, piece, &end);
    mote_text_passed passed = {0, 0};
    while (result->error == ROW_FINE &&
           next_row_passing(p->table, &at, end, &row, &row_end, p->survey_columns, &passed)) {
        row_cursor c = row_cursor_of(p->table, row, row_end);
        count++;
        if (p->table->salvage && !is_row(c, p->survey_fields, p->survey_columns, data)) continue;
        result->error = row_examine(&c, p->survey_fields, p->survey_columns, data, survey, result);
        result->offset = (uint64_t)(c.at - data);
    }
    p->row_counts[piece] = count;
#pragma omp critical(mote_text_survey)
    {
        mote_text_merge_surveys(p->survey, survey, p->survey_columns);
        if (passed.count > 0 && (p->passed->count == 0 || passed.first < p->passed->first)) {
            p->passed->first = passed.first;
        }
        p->passed->count += passed.count;
    }
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
        row_cursor c = row_cursor_of(p->table, row, row_end);
        uint8_t *const record =
            p->rows->records != NULL ? p->rows->records + (number - first) * p->rows->record_bytes : NULL;
        now.error = row_read(&c, p->rows, true, record, &now);
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

/* Parses rows that are runs of values, each known to be there: nothing but the number itself can be wrong. */
static void parse_values(const pass *p, uint64_t piece) {
    const mote_text_rows *const rows = p->rows;
    const uint64_t first = piece * ROWS_PER_PIECE, remaining = rows->count - first;
    const uint64_t last = first + (remaining < ROWS_PER_PIECE ? remaining : ROWS_PER_PIECE);
    piece_result *const result = &p->results[piece];
    piece_result now = {.error = ROW_FINE};
    row_cursor next = row_cursor_of(p->table, rows->begins[piece], p->table->end);
    for (uint64_t i = first; i < last; i++) {
        row_cursor c = next;
        now.error = row_read(&c, rows, false, rows->records + i * rows->record_bytes, &now);
        now.offset = (uint64_t)(c.at - p->table->input->data);
        if (now.error == ROW_FINE) {
            next = c;
            continue;
        }
        if (result->error == ROW_FINE) *result = now;
        result->left_out++;
        if (p->wrong == NULL) return;
        p->wrong[i] = true;
        row_skip(&next, rows, &now);
    }
    result->decimals = now.decimals;
}

void mote_text_find_line(const mote_text_table *table, uint64_t offset, uint64_t *line, uint64_t *column) {
    const uint8_t *const data = table->input->data;
    uint64_t line_begin = 0;
    *line = 1;
    for (uint64_t i = 0; i < offset; i++) {
        const bool lone_cr = table->lone_cr && data[i] == '\r' && i + 1 < table->end && data[i + 1] != '\n';
        if (data[i] != '\n' && !lone_cr) continue;
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
    mote_text_find_line(table, offset, &line, &column);
    return mote_malformed(ctx, table->input, offset, "line %llu, column %llu: %s", (unsigned long long)line,
                          (unsigned long long)column, why);
}

static const char *decimal_words(const mote_text_table *table) {
    if (table->decimal == ',') return "has a decimal point; the numbers before have decimal commas";
    return "has a decimal comma; the numbers before have decimal points, or commas separate them";
}

/* What is wrong with a row. */
static void describe(const mote_text_table *table, const piece_result *bad, uint32_t fields, char *text, size_t size) {
    char word[32] = "";
    const uint8_t *const data = table->input->data;
    const uint8_t *const line_end = find_line_end(table, data + bad->offset, data + table->end);
    uint64_t at = bad->offset, field, field_end;
    const uint64_t row_end = line_end != NULL ? (uint64_t)(line_end - data) : table->end;
    if (mote_text_next_field(table, &at, row_end, &field, &field_end)) {
        mote_text_quote(data + field, field_end - field, word, sizeof word);
    }
    const char *why = "is no number";
    switch (bad->error) {
    case ROW_SHORT: snprintf(text, size, "the row ends after %u values, it needs %u", bad->field, fields); return;
    case ROW_LONG: snprintf(text, size, "\"%s\": the row has more than %u values", word, fields); return;
    case ROW_EMPTY_VALUE: snprintf(text, size, "a value is empty"); return;
    case ROW_LIST_SHORT: snprintf(text, size, "the row ends within a list"); return;
    case ROW_RANGE: snprintf(text, size, "\"%s\" does not fit the type %s", word, mote_type_name(bad->type)); return;
    case ROW_DECIMAL: why = decimal_words(table); break;
    case ROW_QUOTE: why = "is in quotes that the line does not close"; break;
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
    mote_text_find_line(table, first->offset, &line, &column);
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
    for (uint64_t i = 0; i < p->piece_count; i++) {
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
    p->results = mote_alloc_zero(ctx, p->piece_count * sizeof *p->results, "text pieces");
    if (p->results == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = MOTE_OK;
    for (uint64_t first = 0; first < p->piece_count && status == MOTE_OK; first += batch) {
        const int64_t last = (int64_t)(p->piece_count - first < batch ? p->piece_count : first + batch);
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) if (last - (int64_t)first > 1)
        for (int64_t i = (int64_t)first; i < last; i++) p->work(p, (uint64_t)i);
        for (int64_t i = (int64_t)first; i < last && status == MOTE_OK; i++) {
            const bool failed = p->results[i].error != ROW_FINE && p->wrong == NULL;
            if (failed && p->rows != NULL) p->rows->fits = false;
            if (failed && p->rows != NULL && p->rows->trial) goto done;
            if (failed) status = explain(ctx, table, &p->results[i], fields);
            merge_found(p->rows, &p->results[i]);
        }
        if (status == MOTE_OK) status = mote_progress(ctx, (double)last / (double)p->piece_count, "reading text");
    }
    if (status == MOTE_OK && p->wrong != NULL) settle_rows(ctx, p, fields);
done:
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
    p->piece_count = table->piece_count;
    MOTE_TRY(run_pass(ctx, p, p->survey_columns));
    for (uint64_t i = 0; i < table->piece_count; i++) table->piece_first[i + 1] += table->piece_first[i];
    *rows = table->piece_first[table->piece_count];
    return MOTE_OK;
}

mote_status mote_text_count(mote_context *ctx, mote_text_table *table, uint64_t *rows) {
    pass p = {.table = table, .work = count_piece};
    return run_count(ctx, table, &p, rows);
}

mote_status mote_text_examine(mote_context *ctx, mote_text_table *table, const mote_text_field *fields,
                              uint32_t columns, mote_text_survey *survey, mote_text_passed *passed, uint64_t *rows) {
    pass p = {.table = table, .survey = survey, .passed = passed, .work = examine_piece};
    *passed = (mote_text_passed){0, 0};
    p.survey_fields = fields;
    p.survey_columns = columns;
    memset(survey, 0, columns * sizeof *survey);
    return run_count(ctx, table, &p, rows);
}

/* Where the row before lies, beside the lines. */
typedef struct row_lines {
    const uint8_t *begin;
    bool at_line_begin;
} row_lines;

static bool has_line_end(const mote_text_table *table, const uint8_t *from, const uint8_t *end) {
    return find_line_end(table, from, end) != NULL;
}

/* Rows may go over several lines, and a line may have several; but one that goes over several and begins or ends within
   a line is where a value may be missing. Called at the end of each row; c moves to the next value. */
static void judge_lines(const mote_text_table *table, row_cursor *c, row_lines *row, mote_text_rows *rows) {
    const uint8_t *const end = c->at;
    const bool is_at_end = row_is_at_end(c);
    const bool at_line_begin = row->begin == NULL || is_at_end || has_line_end(table, end, c->at);
    if (row->begin != NULL && has_line_end(table, row->begin, end) && !(row->at_line_begin && at_line_begin)) {
        if (rows->broken++ == 0) rows->first_broken = (uint64_t)(row->begin - table->input->data);
    }
    *row = (row_lines){.begin = c->at, .at_line_begin = at_line_begin};
}

mote_status mote_text_find_values(mote_context *ctx, const mote_text_table *table, mote_text_rows *rows, uint64_t *at,
                                  uint64_t *whole) {
    const uint8_t *const data = table->input->data;
    row_cursor c = row_cursor_of(table, *at, table->end);
    piece_result ignored;
    const uint64_t most = (table->end - *at) / 2 + 1; /* a row has one value or more, and a blank behind it */
    const uint64_t pieces = (rows->count < most ? rows->count : most) / ROWS_PER_PIECE + 1;
    rows->begins = mote_alloc(ctx, pieces * sizeof *rows->begins, "text pieces");
    if (rows->begins == NULL) return MOTE_ERROR_MEMORY;
    rows->begins[0] = *at;
    row_lines row = {NULL, true};
    judge_lines(table, &c, &row, rows);
    for (*whole = 0; *whole < rows->count && row_skip(&c, rows, &ignored) == ROW_FINE;) {
        *at = (uint64_t)(c.at - data);
        judge_lines(table, &c, &row, rows);
        if (++*whole % ROWS_PER_PIECE != 0) continue;
        rows->begins[*whole / ROWS_PER_PIECE] = *at;
        MOTE_TRY(mote_progress(ctx, (double)*at / (double)table->end, "reading text"));
    }
    return MOTE_OK;
}

bool mote_text_ends(const mote_text_table *table, uint64_t at) {
    row_cursor c = row_cursor_of(table, at, table->end);
    return row_is_at_end(&c);
}

mote_status mote_text_parse(mote_context *ctx, const mote_text_table *table, mote_text_rows *rows) {
    pass p = {.table = table, .rows = rows, .work = parse_piece};
    p.piece_count = table->piece_count;
    if (rows->begins != NULL) {
        p.work = parse_values;
        p.piece_count = (rows->count + ROWS_PER_PIECE - 1) / ROWS_PER_PIECE;
    }
    rows->decimals = 0;
    rows->wide = false;
    rows->fits = true;
    if (table->salvage) p.wrong = mote_alloc_zero(ctx, rows->count * sizeof *p.wrong, "text rows");
    if (table->salvage && p.wrong == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = run_pass(ctx, &p, rows->field_count);
    mote_free(ctx, p.wrong);
    return status;
}

void mote_text_leave_cut_line(mote_context *ctx, mote_text_table *table) {
    const uint8_t *const data = table->input->data;
    uint64_t end = table->end;
    if (!table->salvage || end == table->begin || is_line_end(table, data[end - 1])) return;
    while (end > table->begin && !is_line_end(table, data[end - 1])) end--;
    table->end = end;
    mote_warn(ctx, "%s: offset %llu: the last line has no end and may be cut; it is left out", table->input->path,
              (unsigned long long)end);
}

void mote_text_close(mote_context *ctx, mote_text_table *table) {
    mote_free(ctx, table->piece_first);
    table->piece_first = NULL;
    table->piece_count = 0;
}
