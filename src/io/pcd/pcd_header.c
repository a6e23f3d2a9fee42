/* The header of a PCD file: lines "KEYWORD words", in any order but that DATA comes last. Every number is checked
   before anything is made from it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "io/pcd/pcd.h"

#define MAX_NOTES 8192u

enum {
    LINE_VERSION,
    LINE_FIELDS,
    LINE_SIZE,
    LINE_TYPE,
    LINE_COUNT,
    LINE_WIDTH,
    LINE_HEIGHT,
    LINE_VIEWPOINT,
    LINE_POINTS,
    LINE_DATA
};
static const char *const keywords[] = {"VERSION", "FIELDS", "SIZE",      "TYPE",   "COUNT",
                                       "WIDTH",   "HEIGHT", "VIEWPOINT", "POINTS", "DATA"};
#define KEYWORD_COUNT (sizeof keywords / sizeof keywords[0])

/* What is being read: the rest of a line. */
typedef struct pcd_line {
    mote_context *ctx;
    const mote_input *input;
    mote_pcd_header *header;
    int keyword;
    mote_text_line text;
    uint64_t at; /* in it */
} pcd_line;

static bool next_word(pcd_line *line, uint64_t *word, uint64_t *word_end) {
    return mote_notes_next_word(line->input, &line->at, line->text.end, word, word_end);
}

static mote_status bad_line(const pcd_line *line, uint64_t offset, const char *why) {
    return mote_malformed(line->ctx, line->input, offset, "the %s line of the PCD header %s", keywords[line->keyword],
                          why);
}

static mote_status read_next(pcd_line *line) {
    MOTE_TRY(mote_text_next_header_line(line->ctx, line->input, "PCD", "DATA line", &line->text));
    line->at = line->text.begin;
    return MOTE_OK;
}

/* ---- numbers */

static mote_status whole_number(const pcd_line *line, uint64_t word, uint64_t word_end, uint64_t *value) {
    const uint8_t *const data = line->input->data;
    mote_text_number number;
    if (!mote_text_scan(data + word, data + word_end, &number) || number.end != data + word_end ||
        number.kind != MOTE_TEXT_INTEGER || !mote_text_store(&number, MOTE_UINT64, value)) {
        return bad_line(line, word, "has a value that is no whole number of 0 to 2^64 - 1");
    }
    return MOTE_OK;
}

/* The line's only number. */
static mote_status one_number(pcd_line *line, uint64_t *value) {
    uint64_t word, word_end;
    if (!next_word(line, &word, &word_end)) return bad_line(line, line->text.begin, "has no value");
    MOTE_TRY(whole_number(line, word, word_end, value));
    return next_word(line, &word, &word_end) ? bad_line(line, word, "has more than one value") : MOTE_OK;
}

/* ---- the lines */

static mote_status read_version(pcd_line *line) {
    static const char *const known[] = {"0.7", ".7", "0.6", ".6", "0.5", ".5"};
    uint64_t word, word_end;
    if (!next_word(line, &word, &word_end)) return bad_line(line, line->text.begin, "has no value");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (mote_notes_word_is(line->input, word, word_end, known[i])) return MOTE_OK;
    }
    return bad_line(line, word, "names none of the versions 0.5, 0.6 and 0.7");
}

static mote_status add_field(const pcd_line *line, uint64_t word, uint64_t word_end) {
    mote_pcd_header *const header = line->header;
    const uint64_t length = word_end - word;
    if (length >= MOTE_PCD_NAME_BYTES) return bad_line(line, word, "has a name of more than 90 bytes");
    if (header->field_count == MOTE_PCD_MAX_VALUES) return bad_line(line, word, "names more than 8192 fields");
    if (!mote_reserve(line->ctx, (void **)&header->fields, &header->field_capacity, header->field_count + 1,
                      sizeof *header->fields, "PCD header")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_pcd_field *const field = &header->fields[header->field_count];
    memset(field, 0, sizeof *field);
    memcpy(field->name, line->input->data + word, length);
    field->padding = strcmp(field->name, "_") == 0;
    field->count = 1;
    for (uint64_t i = 0; i < header->field_count && !field->padding; i++) {
        if (strcmp(header->fields[i].name, field->name) == 0) return bad_line(line, word, "names a field twice");
    }
    header->field_count++;
    return MOTE_OK;
}

static mote_status read_fields(pcd_line *line) {
    uint64_t word, word_end;
    while (next_word(line, &word, &word_end)) MOTE_TRY(add_field(line, word, word_end));
    return line->header->field_count > 0 ? MOTE_OK : bad_line(line, line->text.begin, "names no field");
}

/* One value of a SIZE, TYPE or COUNT line. */
static mote_status set_property(const pcd_line *line, mote_pcd_field *field, uint64_t word, uint64_t word_end) {
    uint64_t value = 0;
    if (line->keyword == LINE_TYPE) {
        field->kind = (char)line->input->data[word];
        const bool known = word_end - word == 1 && (field->kind == 'I' || field->kind == 'U' || field->kind == 'F');
        return known ? MOTE_OK : bad_line(line, word, "has a type that is none of I, U and F");
    }
    MOTE_TRY(whole_number(line, word, word_end, &value));
    if (line->keyword == LINE_COUNT) {
        if (value < 1 || value > MOTE_PCD_MAX_VALUES) return bad_line(line, word, "has a count beyond 1 to 8192");
        field->count = (uint32_t)value;
        return MOTE_OK;
    }
    if (value != 1 && value != 2 && value != 4 && value != 8) {
        return bad_line(line, word, "has a size that is none of 1, 2, 4 and 8");
    }
    field->size_bytes = (uint32_t)value;
    return MOTE_OK;
}

static mote_status read_properties(pcd_line *line) {
    mote_pcd_header *const header = line->header;
    uint64_t word, word_end, i = 0;
    for (; next_word(line, &word, &word_end); i++) {
        if (i == header->field_count) return bad_line(line, word, "has more values than there are fields");
        MOTE_TRY(set_property(line, &header->fields[i], word, word_end));
    }
    return i == header->field_count ? MOTE_OK
                                    : bad_line(line, line->text.end, "has fewer values than there are fields");
}

/* Seven finite numbers; kept as they stand unless they are the default, 0 0 0 1 0 0 0. */
static mote_status read_viewpoint(pcd_line *line) {
    const uint8_t *const data = line->input->data;
    char *const text = line->header->viewpoint;
    uint64_t word, word_end;
    size_t length = 0;
    bool is_default = true;
    int count = 0;
    for (; next_word(line, &word, &word_end); count++) {
        mote_text_number number;
        double value = 0;
        if (count == 7) return bad_line(line, word, "has more than seven numbers");
        if (!mote_text_scan(data + word, data + word_end, &number) || number.end != data + word_end ||
            word_end - word > MOTE_TEXT_NUMBER_BYTES || !mote_text_double(&number, &value) || !isfinite(value)) {
            return bad_line(line, word, "has a value that is no finite number");
        }
        is_default = is_default && value == (count == 3 ? 1 : 0);
        if (count > 0) text[length++] = ' ';
        memcpy(text + length, data + word, word_end - word);
        length += word_end - word;
    }
    if (count < 7) return bad_line(line, line->text.end, "has fewer than seven numbers");
    text[is_default ? 0 : length] = '\0';
    return MOTE_OK;
}

static mote_status read_data(pcd_line *line) {
    static const char *const names[] = {"ascii", "binary", "binary_compressed"};
    uint64_t word, word_end;
    line->header->body = line->text.next;
    if (!next_word(line, &word, &word_end)) return bad_line(line, line->text.begin, "has no value");
    for (int i = 0; i < 3; i++) {
        if (!mote_notes_word_is(line->input, word, word_end, names[i])) continue;
        line->header->encoding = (mote_pcd_encoding)i;
        return next_word(line, &word, &word_end) ? bad_line(line, word, "has more than one value") : MOTE_OK;
    }
    return bad_line(line, word, "is none of ascii, binary and binary_compressed");
}

/* Keeps lines that mote wrote. */
static mote_status read_comment(pcd_line *line) {
    mote_pcd_header *const header = line->header;
    uint64_t word, word_end;
    if (!next_word(line, &word, &word_end) || !mote_notes_word_is(line->input, word, word_end, "#")) return MOTE_OK;
    if (!next_word(line, &word, &word_end) || !mote_notes_word_is(line->input, word, word_end, "mote")) return MOTE_OK;
    if (header->note_count == MAX_NOTES) {
        return mote_malformed(line->ctx, line->input, line->text.begin, "too many comments of mote");
    }
    if (!mote_reserve(line->ctx, (void **)&header->notes, &header->note_capacity, header->note_count + 1,
                      sizeof *header->notes, "PCD header")) {
        return MOTE_ERROR_MEMORY;
    }
    header->notes[header->note_count++] = (mote_pcd_note){word_end, line->text.end};
    return MOTE_OK;
}

static mote_status read_values(pcd_line *line) {
    switch (line->keyword) {
    case LINE_VERSION: return read_version(line);
    case LINE_FIELDS: return read_fields(line);
    case LINE_WIDTH: return one_number(line, &line->header->width);
    case LINE_HEIGHT: return one_number(line, &line->header->height);
    case LINE_VIEWPOINT: return read_viewpoint(line);
    case LINE_POINTS: return one_number(line, &line->header->points);
    case LINE_DATA: return read_data(line);
    default: return line->header->field_count > 0 ? read_properties(line) : MOTE_OK; /* else read_early_lines */
    }
}

/* The lines that say something of each field and stand before FIELDS. */
static mote_status read_early_lines(const pcd_line *header_line) {
    static const int of_fields[] = {LINE_SIZE, LINE_TYPE, LINE_COUNT};
    for (size_t i = 0; i < sizeof of_fields / sizeof of_fields[0]; i++) {
        pcd_line line = *header_line;
        line.keyword = of_fields[i];
        const uint64_t at = line.header->lines[line.keyword];
        if (at == 0 || at > line.header->lines[LINE_FIELDS]) continue;
        line.text.next = at - 1;
        MOTE_TRY(read_next(&line));
        line.at += strlen(keywords[line.keyword]);
        MOTE_TRY(read_properties(&line));
    }
    return MOTE_OK;
}

static mote_status read_line(pcd_line *line) {
    const uint8_t *const data = line->input->data;
    uint64_t word, word_end;
    if (!next_word(line, &word, &word_end)) return MOTE_OK;
    if (data[word] == '#') {
        line->at = line->text.begin;
        return read_comment(line);
    }
    line->keyword = mote_notes_word_is(line->input, word, word_end, "COLUMNS") ? LINE_FIELDS : -1;
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        if (mote_notes_word_is(line->input, word, word_end, keywords[i])) line->keyword = (int)i;
    }
    if (line->keyword < 0) {
        char shown[41];
        mote_text_quote(data + word, word_end - word, shown, sizeof shown);
        return mote_malformed(line->ctx, line->input, word, "\"%s\" begins no line of a PCD header", shown);
    }
    if (line->header->lines[line->keyword] > 0) return bad_line(line, word, "stands twice");
    line->header->lines[line->keyword] = word + 1;
    return read_values(line);
}

/* ---- what the lines say together */

static mote_status check_lines(const pcd_line *line) {
    static const int needed[] = {LINE_FIELDS, LINE_SIZE, LINE_TYPE};
    const uint64_t *const lines = line->header->lines;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (lines[needed[i]] > 0) continue;
        return mote_malformed(line->ctx, line->input, line->text.begin, "the PCD header has no %s line",
                              keywords[needed[i]]);
    }
    if (lines[LINE_POINTS] == 0 && (lines[LINE_WIDTH] == 0 || lines[LINE_HEIGHT] == 0)) {
        return mote_malformed(line->ctx, line->input, line->text.begin,
                              "the PCD header has neither a POINTS line nor WIDTH and HEIGHT");
    }
    return MOTE_OK;
}

uint64_t mote_pcd_points_line(const mote_pcd_header *header) {
    return header->lines[header->lines[LINE_POINTS] > 0 ? LINE_POINTS : LINE_WIDTH] - 1;
}

/* The points that the file holds. */
static uint64_t held_points(const pcd_line *line) {
    const mote_pcd_header *const header = line->header;
    const mote_input *const input = line->input;
    mote_text_table table = {.input = input, .begin = header->body, .end = input->size_bytes, .separator = ' '};
    uint64_t at = header->body, row, row_end, held = 0;
    uint32_t sizes[2] = {0, 0};
    switch (header->encoding) {
    case MOTE_PCD_BINARY: return (input->size_bytes - at) / header->point_bytes;
    case MOTE_PCD_COMPRESSED:
        if (input->size_bytes - at >= sizeof sizes) memcpy(sizes, input->data + at, sizeof sizes);
        return sizes[1] % header->point_bytes == 0 ? sizes[1] / header->point_bytes : 0;
    default:
        table.lone_cr = mote_text_has_lone_cr(input, at);
        while (mote_text_next_row(&table, &at, &row, &row_end)) held++;
        return held;
    }
}

/* Where the counts differ, the one that the file holds is right. False: it holds neither. */
static bool settle_counts(const pcd_line *line, uint64_t cells) {
    mote_pcd_header *const header = line->header;
    const uint64_t held = held_points(line);
    if (held == 0 || (held != cells && held != header->points)) return false;
    mote_warn(line->ctx,
              "%s: offset %" PRIu64 ": POINTS is %" PRIu64 ", but WIDTH times HEIGHT is %" PRIu64
              "; the file holds %" PRIu64 ", which are taken",
              line->input->path, mote_pcd_points_line(header), header->points, cells, held);
    if (held != cells) header->height = 1;
    header->points = held;
    return true;
}

/* WIDTH · HEIGHT is POINTS; either may be left out. */
static mote_status check_counts(const pcd_line *line, bool salvage) {
    mote_pcd_header *const header = line->header;
    const uint64_t *const lines = header->lines;
    if (lines[LINE_HEIGHT] == 0) header->height = 1;
    if (lines[LINE_WIDTH] == 0) header->width = header->height > 0 ? header->points / header->height : 0;
    if (header->height != 0 && header->width > UINT64_MAX / header->height) {
        return mote_malformed(line->ctx, line->input, lines[LINE_WIDTH] - 1,
                              "WIDTH %" PRIu64 " times HEIGHT %" PRIu64 " is beyond 64 bits", header->width,
                              header->height);
    }
    const uint64_t cells = header->width * header->height;
    if (lines[LINE_POINTS] == 0) header->points = cells;
    if (cells == header->points || settle_counts(line, cells)) return MOTE_OK;
    if (salvage) {
        mote_warn(line->ctx, "%s: offset %" PRIu64 ": POINTS is %" PRIu64 ", but WIDTH times HEIGHT is %" PRIu64,
                  line->input->path, mote_pcd_points_line(header), header->points, cells);
        header->points = cells < header->points ? cells : header->points;
        header->height = 1;
        return MOTE_OK;
    }
    return mote_malformed(line->ctx, line->input, mote_pcd_points_line(header),
                          "POINTS is %" PRIu64 ", but WIDTH %" PRIu64 " times HEIGHT %" PRIu64
                          " is %" PRIu64 MOTE_SALVAGE_HINT,
                          header->points, header->width, header->height, cells);
}

static bool set_type(mote_pcd_field *field) {
    static const mote_type types[3][4] = {{MOTE_INT8, MOTE_INT16, MOTE_INT32, MOTE_INT64},
                                          {MOTE_UINT8, MOTE_UINT16, MOTE_UINT32, MOTE_UINT64},
                                          {MOTE_FLOAT32, MOTE_FLOAT32, MOTE_FLOAT32, MOTE_FLOAT64}};
    const int kind = field->kind == 'I' ? 0 : field->kind == 'U' ? 1 : 2;
    const int size = field->size_bytes == 1 ? 0 : field->size_bytes == 2 ? 1 : field->size_bytes == 4 ? 2 : 3;
    field->type = types[kind][size];
    return mote_type_size(field->type) == field->size_bytes || field->padding;
}

static mote_status lay_out(const pcd_line *line) {
    mote_pcd_header *const header = line->header;
    for (uint64_t i = 0; i < header->field_count; i++) {
        mote_pcd_field *const field = &header->fields[i];
        if (!set_type(field)) {
            return mote_malformed(line->ctx, line->input, header->lines[LINE_TYPE] - 1,
                                  "field %s is a float of %u bytes, it needs 4 or 8", field->name, field->size_bytes);
        }
        if (field->count > MOTE_PCD_MAX_VALUES - header->value_count) {
            return mote_malformed(line->ctx, line->input, header->lines[LINE_FIELDS] - 1,
                                  "a point has more than %u values", MOTE_PCD_MAX_VALUES);
        }
        field->offset = header->point_bytes;
        header->value_count += field->count;
        header->point_bytes += field->count * field->size_bytes;
    }
    return MOTE_OK;
}

mote_status mote_pcd_header_read(mote_context *ctx, const mote_input *input, bool salvage, mote_pcd_header *header) {
    pcd_line line = {.ctx = ctx, .input = input, .header = header};
    memset(header, 0, sizeof *header);
    line.text.next = mote_text_mark_bytes(input);
    if (input->size_bytes == 0) return mote_malformed(ctx, input, 0, "the file is empty");
    while (header->lines[LINE_DATA] == 0) {
        MOTE_TRY(read_next(&line));
        MOTE_TRY(read_line(&line));
    }
    MOTE_TRY(check_lines(&line));
    MOTE_TRY(read_early_lines(&line));
    MOTE_TRY(lay_out(&line));
    MOTE_TRY(check_counts(&line, salvage));
    /* Each coordinate is there once. */
    for (char axis = 'x'; axis <= 'z'; axis++) {
        int found = 0;
        for (uint64_t i = 0; i < header->field_count; i++) {
            const mote_pcd_field *const field = &header->fields[i];
            found += mote_pcd_is_axis(field) && (field->name[0] | 0x20) == axis && field->count == 1;
        }
        if (found == 1) continue;
        return mote_malformed(line.ctx, line.input, header->lines[LINE_FIELDS] - 1,
                              "%d fields of one value are named %c", found, axis);
    }
    return MOTE_OK;
}

void mote_pcd_header_close(mote_context *ctx, mote_pcd_header *header) {
    mote_free(ctx, header->fields);
    mote_free(ctx, header->notes);
}
