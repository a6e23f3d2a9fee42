/* What stands before the rows of a text file: comments, a count, names; and what the separator is. */
#include "io/text/xyz.h"

#define DECIMAL_BYTES (16u << 20) /* in which numbers with decimals are looked for */
#define MAX_NAMED     128u        /* names of a comment that are looked at for x, y and z */

/* How a row falls into fields with a separator. */
typedef struct row_split {
    uint32_t fields, numbers;
    bool like_header; /* the header has as many */
    bool open_end;    /* a separator stands behind the last one */
} row_split;

static uint32_t count_fields(const mote_text_table *table, uint64_t row, uint64_t row_end, uint32_t *numbers) {
    mote_text_table commas = *table;
    mote_text_number number;
    uint64_t field, field_end;
    uint32_t count = 0;
    commas.decimal = ',';
    for (*numbers = 0; mote_text_next_field(table, &row, row_end, &field, &field_end); count++) {
        *numbers += mote_text_field_number(table, field, field_end, &number) ||
                    (table->separator != ',' && mote_text_field_number(&commas, field, field_end, &number));
    }
    return count;
}

static bool splits_better(const row_split *a, const row_split *b) {
    if (a->numbers != b->numbers) return a->numbers > b->numbers;
    if (a->like_header != b->like_header) return a->like_header;
    return a->fields < b->fields;
}

/* The one that makes the most numbers of a row; then the one that fits the header; then the one with the fewest fields,
   which leaves text whole. */
static row_split split_row(mote_xyz_preamble *p, char given, uint64_t row, uint64_t row_end) {
    static const char separators[] = {';', ',', '|', ' ', '\t'};
    row_split best = {0, 0, false, false};
    mote_text_table table = p->table;
    for (size_t i = 0; i < sizeof separators; i++) {
        uint32_t names = 0;
        table.separator = given != 0 ? given : separators[i];
        row_split split;
        split.fields = count_fields(&table, row, row_end, &split.numbers);
        split.open_end = table.separator != ' ' && table.input->data[row_end - 1] == (uint8_t)table.separator;
        const uint32_t named = count_fields(&table, p->header, p->header_end, &names);
        if (split.open_end && named == split.fields + 1) split.fields++; /* the last value is none */
        split.like_header = named == split.fields;
        if (i > 0 && !splits_better(&split, &best)) continue;
        best = split;
        p->table.separator = table.separator;
    }
    return best;
}

static bool begins_with_number(const mote_input *input, uint64_t row, uint64_t row_end, mote_text_number *number) {
    const uint8_t *const end = input->data + row_end;
    const bool quoted = input->data[row] == '"';
    if (!mote_text_scan(input->data + row + quoted, end, number)) return false;
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

/* Whether a line is a row: it begins with a number, or holds three and names no positions. */
static bool begins_rows(const mote_input *input, char given, uint64_t line, uint64_t row, uint64_t row_end,
                        mote_xyz_preamble *p) {
    mote_text_number number;
    mote_xyz_preamble names = *p;
    const row_split split = split_row(p, given, line, row_end);
    if (!begins_with_number(input, row, row_end, &number)) {
        names.header = row;
        names.header_end = row_end;
        if (split.numbers < 3 || names_positions(&names)) return false;
    }
    p->columns = split.fields;
    p->open_end = split.open_end;
    return true;
}

/* The first place from at on that has a character; end: none. */
static uint64_t find_character(const uint8_t *data, uint64_t at, uint64_t end, uint8_t c) {
    const uint8_t *const found = memchr(data + at, c, end - at);
    return found != NULL ? (uint64_t)(found - data) : end;
}

/* The character that the numbers of a row have for a decimal point; 0: none has decimals. */
static char decimal_of_row(const mote_text_table *table, uint64_t row, uint64_t row_end) {
    mote_text_table commas = *table;
    mote_text_number number;
    uint64_t field, field_end;
    char decimal = 0;
    commas.decimal = ',';
    while (mote_text_next_field(table, &row, row_end, &field, &field_end)) {
        const bool point = find_character(table->input->data, field, field_end, '.') < field_end;
        const bool comma = find_character(table->input->data, field, field_end, ',') < field_end;
        if (point && mote_text_field_number(table, field, field_end, &number)) return '.';
        if (comma && mote_text_field_number(&commas, field, field_end, &number)) decimal = ',';
    }
    return decimal;
}

/* That of the first number that has decimals. Where commas separate, numbers with decimal commas stand in quotes. */
static char find_decimal(const mote_text_table *table) {
    const uint8_t *const data = table->input->data;
    const uint64_t end = table->end - table->begin < DECIMAL_BYTES ? table->end : table->begin + DECIMAL_BYTES;
    const uint8_t mark = table->separator == ',' ? '"' : ',';
    uint64_t at = table->begin, row, row_end;
    uint64_t point = find_character(data, at, end, '.'), comma = find_character(data, at, end, mark);
    while (comma < end) {
        at = point < comma ? point : comma;
        while (at > table->begin && data[at - 1] != '\n' && data[at - 1] != '\r') at--;
        if (!mote_text_next_row(table, &at, &row, &row_end)) return '.';
        const char decimal = decimal_of_row(table, row, row_end);
        if (decimal != 0) return decimal;
        if (point < at) point = at < end ? find_character(data, at, end, '.') : end;
        if (comma < at) comma = at < end ? find_character(data, at, end, mark) : end;
    }
    return '.';
}

void mote_xyz_find_rows(const mote_input *input, char given, mote_xyz_preamble *preamble) {
    mote_xyz_preamble *const p = preamble;
    memset(p, 0, sizeof *p);
    p->stray = UINT64_MAX;
    p->table.input = input;
    p->table.end = input->size_bytes;
    uint64_t at = mote_text_mark_bytes(input), row, row_end;
    p->table.lone_cr = mote_text_has_lone_cr(input, at);
    mote_text_table lines = p->table; /* here comments are lines as well */
    p->table.comments = true;
    for (uint64_t line = at; mote_text_next_row(&lines, &at, &row, &row_end); line = at) {
        mote_text_number number;
        uint64_t end = row_end; /* without blanks; tabs may separate */
        while (end > row && mote_text_is_blank(input->data[end - 1])) end--;
        while (row_end > end && input->data[row_end - 1] != '\t') row_end--;
        const uint8_t first = input->data[row];
        if (first == '#' || first == ';' || begins_with(input, row, end, "//")) {
            note_comment(input, row, end, p);
        } else if (begins_with_number(input, row, end, &number) && note_count(input, row, end, &number, p)) {
            continue;
        } else if (begins_rows(input, given, line, row, row_end, p)) {
            p->table.begin = line;
            break;
        } else if (p->header_end > p->header && !p->header_is_comment) {
            p->stray = row;
            break;
        } else {
            p->header = line;
            p->header_end = row_end;
            p->header_is_comment = false;
        }
    }
    if (p->columns == 0) p->table.begin = p->table.end;
    p->table.decimal = find_decimal(&p->table);
}
