/* One row of a table of numbers: its fields, one after the other. */
#include "io/text/text_row.h"

#include <math.h>

row_cursor row_cursor_of(const mote_text_table *table, uint64_t begin, uint64_t end) {
    const uint8_t *const data = table->input->data;
    row_cursor row;
    row.at = data + begin;
    row.end = data + end;
    row.separator = (uint8_t)table->separator;
    row.decimal = table->decimal == ',' ? ',' : '.';
    row.bare_decimal = row.decimal == row.separator ? '\n' : row.decimal; /* no row holds a line end */
    row.comments = table->comments;
    return row;
}

/* A tab that separates is no blank. */
static const uint8_t *skip_blanks(const row_cursor *row, const uint8_t *p) {
    const uint8_t tab = row->separator == '\t' ? '\t' : ' ';
    while (p < row->end && mote_text_is_blank(*p) && (*p == ' ' || *p != tab)) p++;
    return p;
}

static bool is_separator(const row_cursor *row, uint8_t c) {
    return row->separator == ' ' ? mote_text_is_blank(c) : c == row->separator;
}

static bool is_comment(const row_cursor *row, const uint8_t *p) {
    return row->comments && (*p == '#' || (*p == '/' && p + 1 < row->end && p[1] == '/'));
}

/* ---- one field */

/* A number in quotes at p; *after: behind the second one. */
static bool scan_quoted(const row_cursor *row, const uint8_t *p, mote_text_number *number, const uint8_t **after) {
    if (*p != '"' || !mote_text_scan_decimal(skip_blanks(row, p + 1), row->end, row->decimal, number)) return false;
    p = skip_blanks(row, number->end);
    if (p == row->end || *p != '"') return false;
    *after = p + 1;
    return true;
}

/* A field that is a number with the other decimal sign, and nothing else, is one of a file that mixes both. */
static row_error why_no_number(const row_cursor *row, const uint8_t *field) {
    mote_text_number number;
    if (!mote_text_scan_decimal(field, row->end, row->decimal == ',' ? '.' : ',', &number)) return ROW_WORD;
    const uint8_t *const after = number.end;
    return after == row->end || *after == row->separator || mote_text_is_blank(*after) ? ROW_DECIMAL : ROW_WORD;
}

/* Reads one number and the separator behind it. */
static row_error next_number(row_cursor *row, mote_text_number *number) {
    const uint8_t *p = skip_blanks(row, row->at);
    row->at = p;
    if (p == row->end) return ROW_SHORT;
    if (mote_text_scan_decimal(p, row->end, row->bare_decimal, number)) {
        p = number->end;
    } else if (!scan_quoted(row, p, number, &p)) {
        return *p == row->separator ? ROW_EMPTY_VALUE : why_no_number(row, p);
    }
    if (p < row->end && *p != row->separator && !mote_text_is_blank(*p)) return why_no_number(row, row->at);
    if (row->separator != ' ') {
        p = skip_blanks(row, p);
        if (p < row->end && *p != row->separator && !is_comment(row, p)) return ROW_WORD;
        if (p < row->end && *p == row->separator) p++;
    }
    row->at = p;
    return ROW_FINE;
}

/* Moves behind a field, whatever it holds, and the separator behind it. At the end of the row it is an empty one. */
static row_error skip_field(row_cursor *row) {
    const uint8_t *p = skip_blanks(row, row->at);
    row->at = p;
    if (p < row->end && *p == '"') {
        /* Two quotes within quotes stand for one. */
        do {
            p = memchr(p + 1, '"', (size_t)(row->end - p - 1));
            if (p == NULL) return ROW_QUOTE;
            p++;
        } while (p < row->end && *p == '"');
    }
    while (p < row->end && !is_separator(row, *p)) p++;
    row->at = p < row->end ? p + 1 : p;
    return ROW_FINE;
}

static row_error skip_list(row_cursor *row, const mote_text_number *length) {
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

/* Whether a field without a number holds nothing: it ends where it begins, at a separator or behind the last one. */
static bool is_nothing(const row_cursor *row, row_error error) {
    const uint8_t *last = row->end - 1;
    if (error == ROW_EMPTY_VALUE) return true;
    if (error != ROW_SHORT || row->separator == ' ') return false;
    while (mote_text_is_blank(*last) && *last != row->separator) last--;
    return *last == row->separator;
}

static row_error read_nothing(row_cursor *row, const mote_text_field *field, uint8_t *record) {
    const double none = NAN;
    if (!field->skipped) memcpy(record + field->offset, &none, sizeof none);
    return skip_field(row);
}

static row_error read_field(row_cursor *row, const mote_text_field *field, uint8_t *record, piece_result *result) {
    mote_text_number number;
    if (field->anything) return skip_field(row);
    row_error error = next_number(row, &number);
    const bool may_be_empty = field->empties && (error == ROW_EMPTY_VALUE || result->field == result->last);
    if (error != ROW_FINE && may_be_empty && is_nothing(row, error)) return read_nothing(row, field, record);
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

/* ---- the whole row */

bool row_is_at_end(row_cursor *row) {
    row->at = skip_blanks(row, row->at);
    return row->at == row->end;
}

static row_error at_line_end(row_cursor *row) {
    return row_is_at_end(row) || is_comment(row, row->at) ? ROW_FINE : ROW_LONG;
}

static bool only_lists_remain(const mote_text_rows *rows, uint32_t field) {
    while (field < rows->field_count && rows->fields[field].list) field++;
    return field == rows->field_count;
}

row_error row_read(row_cursor *row, const mote_text_rows *rows, bool in_line, uint8_t *record, piece_result *result) {
    result->last = rows->field_count - 1;
    for (uint32_t i = 0; i < rows->field_count; i++) {
        result->field = i;
        const row_error error = read_field(row, &rows->fields[i], record, result);
        /* Some writers announce a list that no row has: it counts as left out where it comes last. */
        if (error == ROW_SHORT && in_line && rows->fields[i].list && only_lists_remain(rows, i)) return ROW_FINE;
        if (error != ROW_FINE) return error;
    }
    result->field = rows->field_count;
    return in_line ? at_line_end(row) : ROW_FINE;
}

row_error row_skip(row_cursor *row, const mote_text_rows *rows, piece_result *result) {
    for (uint32_t i = 0; i < rows->field_count; i++) {
        mote_text_number length;
        uint64_t remaining = 0;
        result->field = i;
        if (rows->fields[i].list) {
            const row_error error = next_number(row, &length);
            if (error != ROW_FINE) return error;
            if (length.kind != MOTE_TEXT_INTEGER || !mote_text_store(&length, MOTE_UINT64, &remaining)) {
                return ROW_LIST_LENGTH;
            }
        } else {
            remaining = 1;
        }
        for (; remaining > 0; remaining--) {
            if (row_is_at_end(row)) return rows->fields[i].list ? ROW_LIST_SHORT : ROW_SHORT;
            while (row->at < row->end && !mote_text_is_blank(*row->at)) row->at++;
        }
    }
    return ROW_FINE;
}

static void note_number(const mote_text_number *number, mote_text_survey *column) {
    uint64_t magnitude = 0;
    column->numbers = true;
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

/* Steps over a value that is no number, where the column may have such: text, or nothing. */
static row_error note_word(row_cursor *row, const uint8_t *field, row_error error, const uint8_t *data,
                           mote_text_survey *column) {
    const bool nothing = is_nothing(row, error);
    if (error != ROW_WORD && error != ROW_DECIMAL && !nothing) return error;
    if (nothing && column->empties++ == 0) column->first_empty = (uint64_t)(row->at - data);
    if (!nothing && column->words++ == 0) column->first_word = (uint64_t)(row->at - data);
    column->other_decimals += error == ROW_DECIMAL;
    row->at = field;
    return skip_field(row);
}

row_error row_examine(row_cursor *row, const mote_text_field *fields, uint32_t columns, const uint8_t *data,
                      mote_text_survey *survey, piece_result *result) {
    for (uint32_t i = 0; i < columns; i++) {
        mote_text_number number;
        const uint8_t *const field = row->at;
        result->field = i;
        row_error error = fields[i].anything ? skip_field(row) : next_number(row, &number);
        if (error == ROW_FINE && !fields[i].anything) note_number(&number, &survey[i]);
        if (error != ROW_FINE && fields[i].words) error = note_word(row, field, error, data, &survey[i]);
        if (error != ROW_FINE) return error;
    }
    result->field = columns;
    return at_line_end(row);
}
