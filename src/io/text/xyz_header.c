/* What stands before the rows of a text file: comments, a count, names; and what the separator is. */
#include <strings.h>

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
                    mote_text_field_number(&commas, field, field_end, &number);
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

/* The place behind any number of the signs #, // and ;. */
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

/* Separators and nothing between them, as spreadsheets write empty rows. */
static bool is_without_values(const mote_input *input, uint64_t at, uint64_t end) {
    const uint8_t separator = input->data[at];
    if (separator != ',' && separator != ';' && separator != '|') return false;
    while (at < end && (input->data[at] == separator || mote_text_is_blank(input->data[at]))) at++;
    return at == end;
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

/* Whether a line is a row: it begins with a number, or holds three, or more than half of it are numbers, and names no
   positions. */
static bool begins_rows(const mote_input *input, char given, uint64_t line, uint64_t row, uint64_t row_end,
                        mote_xyz_preamble *p) {
    mote_text_number number;
    mote_xyz_preamble names = *p;
    const row_split split = split_row(p, given, line, row_end);
    if (!begins_with_number(input, row, row_end, &number)) {
        names.header = row;
        names.header_end = row_end;
        if (split.numbers < 3 && 2 * split.numbers <= split.fields) return false;
        if (names_positions(&names)) return false;
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

/* What a column says of the decimal sign: numbers of the positions say it first, text says nothing. */
typedef enum column_role { COLUMN_OTHER, COLUMN_POSITION, COLUMN_LEFT_OUT } column_role;

/* given: the names of the columns; NULL: those of the header. Where neither names x, y and z, they come first. */
static void find_roles(const mote_xyz_preamble *p, const char *given, column_role roles[MAX_NAMED]) {
    mote_xyz_column columns[MAX_NAMED];
    const uint32_t named = given != NULL               ? mote_xyz_given_names(given, columns, MAX_NAMED)
                           : p->header_end > p->header ? mote_xyz_header_names(p, columns, MAX_NAMED)
                                                       : 0;
    const uint32_t kept = named < MAX_NAMED ? named : MAX_NAMED;
    const bool known = named == p->columns && mote_xyz_has_positions(columns, kept);
    for (uint32_t i = 0; i < MAX_NAMED; i++) {
        const bool position = known ? i < kept && mote_text_is_axis(columns[i].name) : i < 3;
        const bool left_out = known && i < kept && columns[i].skipped;
        roles[i] = left_out ? COLUMN_LEFT_OUT : position ? COLUMN_POSITION : COLUMN_OTHER;
    }
}

/* The character that the numbers of a row have for a decimal point; 0: none has decimals. */
static char decimal_of_row(const mote_text_table *table, uint64_t row, uint64_t row_end, const column_role *roles,
                           bool positions) {
    mote_text_table commas = *table;
    mote_text_number number;
    uint64_t field, field_end;
    char decimal = 0;
    commas.decimal = ',';
    for (uint32_t i = 0; mote_text_next_field(table, &row, row_end, &field, &field_end); i++) {
        const column_role role = i < MAX_NAMED ? roles[i] : COLUMN_OTHER;
        if (role == COLUMN_LEFT_OUT || (positions && role != COLUMN_POSITION)) continue;
        const bool point = find_character(table->input->data, field, field_end, '.') < field_end;
        const bool comma = find_character(table->input->data, field, field_end, ',') < field_end;
        if (point && mote_text_field_number(table, field, field_end, &number)) return '.';
        if (comma && mote_text_field_number(&commas, field, field_end, &number)) decimal = ',';
    }
    return decimal;
}

/* That of the first number that has decimals, of the positions or of any column; 0: none has. Where commas separate,
   numbers with decimal commas stand in quotes. */
static char first_decimal(const mote_text_table *table, const column_role *roles, bool positions) {
    const uint8_t *const data = table->input->data;
    const uint64_t end = table->end - table->begin < DECIMAL_BYTES ? table->end : table->begin + DECIMAL_BYTES;
    const uint8_t mark = table->separator == ',' ? '"' : ',';
    uint64_t at = table->begin, row, row_end;
    uint64_t point = find_character(data, at, end, '.'), comma = find_character(data, at, end, mark);
    while (comma < end) {
        at = point < comma ? point : comma;
        while (at > table->begin && data[at - 1] != '\n' && data[at - 1] != '\r') at--;
        if (!mote_text_next_row(table, &at, &row, &row_end)) return 0;
        const char decimal = decimal_of_row(table, row, row_end, roles, positions);
        if (decimal != 0) return decimal;
        if (point < at) point = at < end ? find_character(data, at, end, '.') : end;
        if (comma < at) comma = at < end ? find_character(data, at, end, mark) : end;
    }
    return 0;
}

static char find_decimal(const mote_xyz_preamble *p, const char *columns) {
    column_role roles[MAX_NAMED];
    find_roles(p, columns, roles);
    char decimal = first_decimal(&p->table, roles, true);
    if (decimal == 0) decimal = first_decimal(&p->table, roles, false);
    return decimal != 0 ? decimal : '.';
}

/* "sep=;", with which Excel begins a file; 0: the line is none. */
static char stated_separator(const mote_input *input, uint64_t line, uint64_t line_end) {
    const char *const text = (const char *)input->data + line;
    const bool states = line_end - line >= 5 && strncasecmp(text, "sep=", 4) == 0 && strchr(";,|\t ", text[4]) != NULL;
    return states && (line_end - line == 5 || (line_end - line == 6 && text[5] == '\r')) ? text[4] : 0;
}

/* Whether the first column may hold text that begins like a comment: it is named, and is no position. *left_out: the
   caller leaves it out, whatever it holds. */
static bool first_may_be_text(const mote_xyz_preamble *p, const char *given, bool *left_out) {
    mote_xyz_column columns[MAX_NAMED];
    *left_out = false;
    if (given == NULL && (p->header_end == p->header || p->header_is_comment)) return false;
    const uint32_t named =
        given != NULL ? mote_xyz_given_names(given, columns, MAX_NAMED) : mote_xyz_header_names(p, columns, MAX_NAMED);
    if (named == 0 || !mote_xyz_has_positions(columns, named < MAX_NAMED ? named : MAX_NAMED)) return false;
    *left_out = given != NULL && columns[0].skipped;
    return !mote_text_is_axis(columns[0].name);
}

/* Whether the first row that does not begin like a comment begins with a number: then its column holds numbers, and
   what begins like a comment is one. */
static bool first_is_number(const mote_xyz_preamble *p) {
    mote_text_number number;
    uint64_t at = p->table.begin, row, row_end, field, field_end;
    return mote_text_next_row(&p->table, &at, &row, &row_end) &&
           mote_text_next_field(&p->table, &row, row_end, &field, &field_end) &&
           mote_text_field_number(&p->table, field, field_end, &number);
}

/* Whether the rows begin with this line, which begins like a comment. *never: no line that does is a row. */
static bool begins_marked_rows(mote_xyz_preamble *p, const mote_read_params *params, char given, uint64_t line,
                               uint64_t row, uint64_t row_end, bool *never) {
    const char *const names = params != NULL ? params->columns : NULL;
    const mote_xyz_preamble before = *p;
    bool left_out;
    if (*never || !first_may_be_text(p, names, &left_out)) return false;
    p->table.comments = false; /* of the line itself */
    const row_split split = split_row(p, given, line, row_end);
    p->table.comments = true;
    p->table.begin = line;
    p->columns = split.fields;
    p->open_end = split.open_end;
    const uint32_t named = names != NULL ? mote_xyz_given_names(names, NULL, 0) : mote_xyz_header_names(p, NULL, 0);
    const bool marked = named == split.fields && mote_text_is_marked_row(&p->table, row, row_end, split.fields);
    if (marked && !left_out) *never = first_is_number(p);
    if (marked && !*never) return true;
    *p = before;
    return false;
}

/* Once the first row is found: whether lines that begin like comments are rows as well. */
static void mark_rows(mote_xyz_preamble *p, const mote_read_params *params) {
    bool left_out;
    if (p->columns < 4 || !first_may_be_text(p, params != NULL ? params->columns : NULL, &left_out)) return;
    if (left_out || !first_is_number(p)) p->table.marked = p->columns;
}

void mote_xyz_find_rows(const mote_input *input, const mote_read_params *params, mote_xyz_preamble *preamble) {
    char given = params != NULL ? params->separator : 0;
    mote_xyz_preamble *const p = preamble;
    memset(p, 0, sizeof *p);
    p->stray = UINT64_MAX;
    p->table.input = input;
    p->table.end = input->size_bytes;
    uint64_t at = mote_text_mark_bytes(input), row, row_end;
    p->table.lone_cr = mote_text_has_lone_cr(input, at);
    mote_text_table lines = p->table; /* here comments are lines as well */
    p->table.comments = true;
    uint64_t after = at;
    bool never = false;
    const char stated = mote_text_next_row(&lines, &after, &row, &row_end) ? stated_separator(input, row, row_end) : 0;
    if (stated != 0) at = after;
    if (given == 0) given = stated;
    for (uint64_t line = at; mote_text_next_row(&lines, &at, &row, &row_end); line = at) {
        mote_text_number number;
        uint64_t end = row_end; /* without blanks; tabs may separate */
        while (end > row && mote_text_is_blank(input->data[end - 1])) end--;
        while (row_end > end && input->data[row_end - 1] != '\t') row_end--;
        const uint8_t first = input->data[row];
        if (is_without_values(input, row, end)) {
            continue;
        } else if (first == '#' || first == ';' || begins_with(input, row, end, "//")) {
            if (begins_marked_rows(p, params, given, line, row, row_end, &never)) break;
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
    mark_rows(p, params);
    p->table.decimal = find_decimal(p, params != NULL ? params->columns : NULL);
}
