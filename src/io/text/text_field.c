/* Fields of a row, one after the other; and rows whose first one begins like a comment. */
#include "io/text/text.h"

#define MIN_NUMBERS 3 /* of a row: x, y and z */

bool mote_text_next_field(const mote_text_table *table, uint64_t *at, uint64_t row_end, uint64_t *field,
                          uint64_t *field_end) {
    const uint8_t *const data = table->input->data;
    const char separator = table->separator;
    const bool by_blanks = separator == ' ';
    uint64_t p = *at;
    while (p < row_end && mote_text_is_blank(data[p]) && (by_blanks || data[p] != (uint8_t)separator)) p++;
    if (p == row_end || (by_blanks && table->comments && data[p] == '#')) return false;
    *field = p;
    for (bool quoted = false; p < row_end; p++) {
        const bool one = data[p] == '"' && quoted && p + 1 < row_end && data[p + 1] == '"'; /* two stand for one */
        if (one) p++;
        if (data[p] == '"' && !one && (quoted || p == *field)) quoted = !quoted;
        if (!quoted && (by_blanks ? mote_text_is_blank(data[p]) : data[p] == (uint8_t)separator)) break;
    }
    *at = p < row_end ? p + 1 : p;
    while (p > *field && mote_text_is_blank(data[p - 1])) p--;
    *field_end = p;
    return true;
}

bool mote_text_field_number(const mote_text_table *table, uint64_t field, uint64_t field_end,
                            mote_text_number *number) {
    const uint8_t *begin = table->input->data + field, *end = table->input->data + field_end;
    const bool quoted = field_end - field >= 2 && *begin == '"' && end[-1] == '"';
    if (quoted) begin++, end--;
    while (begin < end && mote_text_is_blank(*begin)) begin++;
    while (begin < end && mote_text_is_blank(end[-1])) end--;
    const uint8_t decimal = table->decimal == ',' ? ',' : '.';
    return mote_text_scan_decimal(begin, end, decimal, number) && number->end == end;
}

/* ---- rows that begin like comments: "#FF0000;1;2;3" in a column of colours, "//host/1.jpg,1,2,3" in one of files */

static uint64_t skip_signs(const mote_text_table *table, uint64_t at, uint64_t end) {
    const uint8_t *const data = table->input->data;
    while (at < end && (data[at] == '#' || data[at] == '/' || (data[at] == ';' && table->separator != ';'))) at++;
    return at;
}

/* Whether a line has as many values as the table has columns, and three numbers among them from field `first` on. */
static bool has_values(const mote_text_table *table, uint64_t at, uint64_t end, uint32_t columns, uint32_t first) {
    mote_text_table lines = *table, commas;
    mote_text_number number;
    uint64_t field, field_end;
    uint32_t count = 0, numbers = 0;
    lines.comments = false;
    lines.decimal = 0;
    commas = lines;
    commas.decimal = ',';
    for (; mote_text_next_field(&lines, &at, end, &field, &field_end) && count <= columns; count++) {
        if (count < first) continue;
        numbers += mote_text_field_number(&lines, field, field_end, &number) ||
                   mote_text_field_number(&commas, field, field_end, &number);
    }
    const bool open_end = count + 1 == columns && table->separator != ' ' && end > 0 &&
                          table->input->data[end - 1] == (uint8_t)table->separator;
    return (count == columns || open_end) && numbers >= MIN_NUMBERS;
}

bool mote_text_is_marked_row(const mote_text_table *table, uint64_t at, uint64_t end, uint32_t columns) {
    const uint64_t behind = skip_signs(table, at, end);
    const uint8_t *const data = table->input->data;
    if (behind == end || mote_text_is_blank(data[behind]) || data[behind] == (uint8_t)table->separator) return false;
    return has_values(table, at, end, columns, 1);
}

bool mote_text_is_passed_row(const mote_text_table *table, uint64_t at, uint64_t end, uint32_t columns) {
    at = skip_signs(table, at, end);
    while (at < end && mote_text_is_blank(table->input->data[at])) at++;
    return at < end && has_values(table, at, end, columns, 0);
}
