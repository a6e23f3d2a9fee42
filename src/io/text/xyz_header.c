/* What stands before the rows of a text file: comments, a count, names; and what the separator is. */
#include "io/text/xyz.h"

#define MAX_NAMED 128u /* names of a comment that are looked at for x, y and z */

static char find_newline(const mote_input *input) {
    const uint64_t looked_at = input->size_bytes < (1u << 20) ? input->size_bytes : 1u << 20;
    if (memchr(input->data, '\n', looked_at) != NULL) return '\n';
    return memchr(input->data, '\r', looked_at) != NULL ? '\r' : '\n';
}

/* Does the text between commas hold blanks? Then these separate, and the commas are something else. */
static bool blanks_between_commas(const uint8_t *row, const uint8_t *end) {
    bool word = false, blank_behind_word = false;
    for (; row < end; row++) {
        if (*row == ',') {
            word = blank_behind_word = false;
        } else if (mote_text_is_blank(*row)) {
            blank_behind_word = word;
        } else {
            if (blank_behind_word) return true;
            word = true;
        }
    }
    return false;
}

static char find_separator(const mote_input *input, uint64_t row, uint64_t row_end) {
    const uint8_t *const begin = input->data + row, *const end = input->data + row_end;
    if (memchr(begin, ';', (size_t)(end - begin)) != NULL) return ';';
    if (memchr(begin, ',', (size_t)(end - begin)) == NULL) return ' ';
    return blanks_between_commas(begin, end) ? ' ' : ',';
}

static bool begins_with_number(const mote_input *input, uint64_t row, uint64_t row_end, mote_text_number *number) {
    const uint8_t *const end = input->data + row_end;
    if (!mote_text_scan(input->data + row, end, number)) return false;
    /* A letter makes it a name: 3D, nanometres. Anything else is reported when the row is read. */
    const uint8_t next = number->end < end ? (uint8_t)(*number->end | 0x20) : ' ';
    return next != '_' && !(next >= 'a' && next <= 'z');
}

/* Behind #, // and ;, in any number. */
static uint64_t skip_comment_signs(const mote_input *input, uint64_t at, uint64_t end) {
    while (at < end && (input->data[at] == '#' || input->data[at] == '/' || input->data[at] == ';' ||
                        mote_text_is_blank(input->data[at]))) {
        at++;
    }
    return at;
}

static bool begins_with(const mote_input *input, uint64_t at, uint64_t end, const char *text) {
    return end - at >= strlen(text) && memcmp(input->data + at, text, strlen(text)) == 0;
}

/* Are x, y and z among the names? A comment is taken for the header only then. */
static bool names_positions(const mote_xyz_preamble *p) {
    mote_xyz_column columns[MAX_NAMED];
    const uint32_t count = mote_xyz_header_names(p, columns, MAX_NAMED);
    return mote_xyz_has_positions(columns, count < MAX_NAMED ? count : MAX_NAMED);
}

static void note_comment(const mote_input *input, uint64_t at, uint64_t end, mote_xyz_preamble *p) {
    static const char crs_words[] = "mote crs ";
    at = skip_comment_signs(input, at, end);
    if (begins_with(input, at, end, crs_words)) {
        p->crs = at + strlen(crs_words);
        p->crs_end = end;
        return;
    }
    mote_xyz_preamble trial = *p;
    trial.header = at;
    trial.header_end = end;
    trial.header_is_comment = true;
    if (p->header_end > p->header && !p->header_is_comment) return;
    if (names_positions(&trial)) *p = trial;
}

/* A line with a whole number and nothing else. */
static bool note_count(const mote_input *input, uint64_t at, uint64_t end, const mote_text_number *number,
                       mote_xyz_preamble *p) {
    if (p->has_count || number->end != input->data + end || number->kind != MOTE_TEXT_INTEGER ||
        !mote_text_store(number, MOTE_UINT64, &p->count)) {
        return false;
    }
    p->has_count = true;
    p->count_offset = at;
    return true;
}

static void begin_rows(const mote_input *input, char separator, uint64_t line, uint64_t row, uint64_t row_end,
                       mote_xyz_preamble *p) {
    p->table.begin = line;
    p->table.separator = separator != 0 ? separator : find_separator(input, row, row_end);
    uint64_t at = row, field, field_end;
    while (mote_text_next_field(&p->table, &at, row_end, &field, &field_end)) p->columns++;
}

void mote_xyz_find_rows(const mote_input *input, char separator, mote_xyz_preamble *p) {
    memset(p, 0, sizeof *p);
    p->stray = UINT64_MAX;
    p->table.input = input;
    p->table.end = input->size_bytes;
    p->table.newline = find_newline(input);
    p->table.separator = separator == '\t' ? ' ' : separator;
    if (separator == '\t') separator = ' ';
    mote_text_table lines = p->table; /* here comments are lines as well */
    uint64_t at = begins_with(input, 0, input->size_bytes, "\xEF\xBB\xBF") ? 3 : 0, row, row_end;
    for (uint64_t line = at; mote_text_next_row(&lines, &at, &row, &row_end); line = at) {
        mote_text_number number;
        while (row_end > row && mote_text_is_blank(input->data[row_end - 1])) row_end--;
        const uint8_t first = input->data[row];
        if (first == '#' || first == ';' || begins_with(input, row, row_end, "//")) {
            note_comment(input, row, row_end, p);
        } else if (begins_with_number(input, row, row_end, &number)) {
            if (note_count(input, row, row_end, &number, p)) continue;
            begin_rows(input, separator, line, row, row_end, p);
            break;
        } else if (p->header_end > p->header && !p->header_is_comment) {
            p->stray = row;
            break;
        } else {
            p->header = row;
            p->header_end = row_end;
            p->header_is_comment = false;
        }
    }
    if (p->columns == 0) p->table.begin = p->table.end;
    p->table.comments = true;
}
