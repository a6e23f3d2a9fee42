/* The header of a PLY file: lines that end in LF, CRLF or CR, read with every count checked against the file's size. */
#include <inttypes.h>

#include "io/ply/ply.h"

#define MAX_ELEMENTS   1024u
#define MAX_PROPERTIES 4096u
#define MAX_NOTES      8192u
#define MAX_WORDS      6u

typedef struct word {
    uint64_t begin, end;
} word;

/* One line of the header, cut into words; words beyond MAX_WORDS are counted but not kept. */
typedef struct header_line {
    mote_text_line text;
    word words[MAX_WORDS];
    uint32_t word_count;
} header_line;

static const struct {
    const char *name;
    mote_type type;
} type_names[] = {{"char", MOTE_INT8},     {"uchar", MOTE_UINT8},     {"short", MOTE_INT16},
                  {"ushort", MOTE_UINT16}, {"int", MOTE_INT32},       {"uint", MOTE_UINT32},
                  {"float", MOTE_FLOAT32}, {"double", MOTE_FLOAT64},  {"int8", MOTE_INT8},
                  {"uint8", MOTE_UINT8},   {"int16", MOTE_INT16},     {"uint16", MOTE_UINT16},
                  {"int32", MOTE_INT32},   {"uint32", MOTE_UINT32},   {"int64", MOTE_INT64},
                  {"uint64", MOTE_UINT64}, {"float32", MOTE_FLOAT32}, {"float64", MOTE_FLOAT64}};

bool mote_ply_type(const uint8_t *name, uint64_t length, mote_type *type) {
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strlen(type_names[i].name) == length && memcmp(type_names[i].name, name, length) == 0) {
            *type = type_names[i].type;
            return true;
        }
    }
    return false;
}

const char *mote_ply_type_name(mote_type type) {
    for (size_t i = 0; i < 8; i++) {
        if (type_names[i].type == type) return type_names[i].name;
    }
    return NULL;
}

static bool word_is(const mote_input *input, word w, const char *text) {
    return mote_notes_word_is(input, w.begin, w.end, text);
}

static mote_status next_line(mote_context *ctx, const mote_input *input, header_line *line) {
    mote_text_line *const text = &line->text;
    MOTE_TRY(mote_text_next_header_line(ctx, input, "PLY", "end_header", text));
    line->word_count = 0;
    for (uint64_t at = text->begin;; line->word_count++) {
        word w;
        if (!mote_notes_next_word(input, &at, text->end, &w.begin, &w.end)) return MOTE_OK;
        if (line->word_count < MAX_WORDS) line->words[line->word_count] = w;
    }
}

static mote_status read_name(mote_context *ctx, const mote_input *input, word w, char *name) {
    const uint64_t length = w.end - w.begin;
    if (length > 100) return mote_malformed(ctx, input, w.begin, "a name of more than 100 bytes");
    memcpy(name, input->data + w.begin, length);
    name[length] = '\0';
    return MOTE_OK;
}

static mote_status read_count(mote_context *ctx, const mote_input *input, word w, uint64_t *count) {
    mote_text_number number;
    if (!mote_text_scan(input->data + w.begin, input->data + w.end, &number) || number.kind != MOTE_TEXT_INTEGER ||
        number.end != input->data + w.end) {
        return mote_malformed(ctx, input, w.begin, "the count of an element is no whole number");
    }
    if (number.negative) return mote_malformed(ctx, input, w.begin, "the count of an element is negative");
    if (!mote_text_store(&number, MOTE_UINT64, count)) {
        return mote_malformed(ctx, input, w.begin, "the count of an element is beyond 64 bits");
    }
    return MOTE_OK;
}

static mote_status read_element(mote_context *ctx, const mote_input *input, const header_line *line,
                                mote_ply_header *header) {
    if (line->word_count != 3) {
        return mote_malformed(ctx, input, line->text.begin, "an element line needs a name and a count");
    }
    if (header->element_count == MAX_ELEMENTS) {
        return mote_malformed(ctx, input, line->text.begin, "more than %u elements", MAX_ELEMENTS);
    }
    if (!mote_reserve(ctx, (void **)&header->elements, &header->element_capacity, header->element_count + 1,
                      sizeof *header->elements, "PLY header")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_ply_element *const element = &header->elements[header->element_count];
    memset(element, 0, sizeof *element);
    element->offset = line->text.begin;
    element->first_property = (uint32_t)header->property_count;
    MOTE_TRY(read_name(ctx, input, line->words[1], element->name));
    MOTE_TRY(read_count(ctx, input, line->words[2], &element->count));
    for (uint64_t i = 0; i < header->element_count; i++) {
        if (strcmp(header->elements[i].name, element->name) == 0) {
            return mote_malformed(ctx, input, line->text.begin, "element %s stands twice", element->name);
        }
    }
    header->element_count++;
    return MOTE_OK;
}

static mote_status read_type(mote_context *ctx, const mote_input *input, word w, mote_type *type) {
    if (mote_ply_type(input->data + w.begin, w.end - w.begin, type)) return MOTE_OK;
    char shown[41];
    mote_text_quote(input->data + w.begin, w.end - w.begin, shown, sizeof shown);
    return mote_malformed(ctx, input, w.begin, "\"%s\" is no type of PLY", shown);
}

static mote_status read_property(mote_context *ctx, const mote_input *input, const header_line *line,
                                 mote_ply_header *header) {
    const bool list = line->word_count > 1 && word_is(input, line->words[1], "list");
    if (line->word_count != (list ? 5u : 3u)) {
        return mote_malformed(ctx, input, line->text.begin, "a property line needs a type (list: two) and a name");
    }
    if (header->element_count == 0) {
        return mote_malformed(ctx, input, line->text.begin, "a property before the first element");
    }
    if (header->property_count == MAX_PROPERTIES) {
        return mote_malformed(ctx, input, line->text.begin, "more than %u properties", MAX_PROPERTIES);
    }
    if (!mote_reserve(ctx, (void **)&header->properties, &header->property_capacity, header->property_count + 1,
                      sizeof *header->properties, "PLY header")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_ply_property *const property = &header->properties[header->property_count];
    memset(property, 0, sizeof *property);
    property->list = list;
    if (list) {
        MOTE_TRY(read_type(ctx, input, line->words[2], &property->count_type));
        if (mote_type_is_float(property->count_type)) {
            return mote_malformed(ctx, input, line->words[2].begin, "the length of a list cannot be of type %s",
                                  mote_type_name(property->count_type));
        }
    }
    MOTE_TRY(read_type(ctx, input, line->words[list ? 3 : 1], &property->type));
    MOTE_TRY(read_name(ctx, input, line->words[list ? 4 : 2], property->name));
    mote_ply_element *const element = &header->elements[header->element_count - 1];
    for (uint64_t i = element->first_property; i < header->property_count; i++) {
        if (strcmp(header->properties[i].name, property->name) == 0) {
            return mote_malformed(ctx, input, line->text.begin, "property %s of element %s stands twice",
                                  property->name, element->name);
        }
    }
    header->property_count++;
    element->property_count++;
    return MOTE_OK;
}

static mote_status read_format(mote_context *ctx, const mote_input *input, const header_line *line,
                               mote_ply_header *header) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    if (header->has_format) return mote_malformed(ctx, input, line->text.begin, "a second format line");
    if (line->word_count == 3 && word_is(input, line->words[2], "1.0")) {
        for (int i = 0; i < 3; i++) {
            if (!word_is(input, line->words[1], names[i])) continue;
            header->encoding = (mote_ply_encoding)i;
            header->has_format = true;
        }
    }
    if (header->has_format) return MOTE_OK;
    return mote_malformed(ctx, input, line->text.begin,
                          "the format is none of ascii, binary_little_endian and binary_big_endian 1.0");
}

/* Keeps lines that mote wrote; all others say nothing that a reader needs. */
static mote_status read_comment(mote_context *ctx, const mote_input *input, const header_line *line,
                                mote_ply_header *header) {
    if (line->word_count < 3 || !word_is(input, line->words[1], "mote")) return MOTE_OK;
    if (header->note_count == MAX_NOTES)
        return mote_malformed(ctx, input, line->text.begin, "too many comments of mote");
    if (!mote_reserve(ctx, (void **)&header->notes, &header->note_capacity, header->note_count + 1,
                      sizeof *header->notes, "PLY header")) {
        return MOTE_ERROR_MEMORY;
    }
    header->notes[header->note_count++] = (mote_ply_note){line->words[1].end, line->text.end};
    return MOTE_OK;
}

static mote_status read_line(mote_context *ctx, const mote_input *input, const header_line *line,
                             mote_ply_header *header) {
    const word keyword = line->words[0];
    if (word_is(input, keyword, "comment")) return read_comment(ctx, input, line, header);
    if (word_is(input, keyword, "obj_info")) return MOTE_OK;
    if (word_is(input, keyword, "format")) return read_format(ctx, input, line, header);
    if (word_is(input, keyword, "element")) return read_element(ctx, input, line, header);
    if (word_is(input, keyword, "property")) return read_property(ctx, input, line, header);
    return mote_malformed(ctx, input, line->text.begin,
                          "a PLY header line that is no format, element, property, comment or end_header");
}

uint64_t mote_ply_row_bytes(const mote_ply_header *header, const mote_ply_element *element, bool *fixed) {
    uint64_t bytes = 0;
    *fixed = true;
    for (uint32_t i = 0; i < element->property_count; i++) {
        const mote_ply_property *const property = &header->properties[element->first_property + i];
        bytes += mote_type_size(property->list ? property->count_type : property->type);
        if (property->list) *fixed = false;
    }
    return bytes;
}

/* A value and a blank or line end for each scalar; lists that come last may be left out. */
static uint64_t text_row_bytes(const mote_ply_header *header, const mote_ply_element *element) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < element->property_count; i++) {
        bytes += header->properties[element->first_property + i].list ? 0 : 2;
    }
    return bytes > 0 ? bytes : 2;
}

/* What comes behind the points is not needed; whether it is there is seen when it is stepped over. */
static mote_status check_counts(mote_context *ctx, const mote_input *input, bool salvage,
                                const mote_ply_header *header) {
    /* The last line of a text may lack its end. */
    uint64_t remaining = input->size_bytes - header->body + (header->encoding == MOTE_PLY_ASCII);
    for (uint64_t i = 0; i <= header->vertex; i++) {
        const mote_ply_element *const element = &header->elements[i];
        bool fixed = true;
        uint64_t row_bytes = mote_ply_row_bytes(header, element, &fixed);
        if (element->count == 0) continue;
        if (row_bytes == 0) {
            return mote_malformed(ctx, input, element->offset, "%" PRIu64 " of element %s, which has no properties",
                                  element->count, element->name);
        }
        if (header->encoding == MOTE_PLY_ASCII) row_bytes = text_row_bytes(header, element);
        if (element->count > remaining / row_bytes && !(salvage && i == header->vertex)) {
            return mote_malformed(ctx, input, element->offset,
                                  "%" PRIu64 " of element %s need at least %" PRIu64
                                  " bytes each, the file has %" PRIu64 " left%s",
                                  element->count, element->name, row_bytes, remaining,
                                  i == header->vertex && remaining >= row_bytes ? MOTE_SALVAGE_HINT : "");
        }
        remaining -= element->count * row_bytes;
    }
    return MOTE_OK;
}

static mote_status find_vertex(mote_context *ctx, const mote_input *input, mote_ply_header *header) {
    static const char *const names[] = {"vertex", "point", "points"};
    static const char *const axes[] = {"x", "y", "z"};
    const mote_ply_element *vertex = NULL;
    for (int n = 0; n < 3 && vertex == NULL; n++) {
        for (uint32_t i = 0; i < header->element_count && vertex == NULL; i++) {
            if (strcmp(header->elements[i].name, names[n]) != 0) continue;
            header->vertex = i;
            vertex = &header->elements[i];
        }
    }
    if (vertex == NULL) return mote_malformed(ctx, input, 0, "the PLY file has no element vertex");
    for (int k = 0; k < 3; k++) {
        bool found = false;
        for (uint32_t i = 0; i < vertex->property_count && !found; i++) {
            const mote_ply_property *const property = &header->properties[vertex->first_property + i];
            found = !property->list && mote_same_name(property->name, axes[k]);
        }
        if (!found) {
            return mote_malformed(ctx, input, vertex->offset, "element %s has no property %s", vertex->name, axes[k]);
        }
    }
    return MOTE_OK;
}

mote_status mote_ply_header_read(mote_context *ctx, const mote_input *input, bool salvage, mote_ply_header *header) {
    memset(header, 0, sizeof *header);
    header_line line = {.text = {.next = mote_text_mark_bytes(input)}};
    if (input->size_bytes == 0) return mote_malformed(ctx, input, 0, "the file is empty");
    MOTE_TRY(next_line(ctx, input, &line));
    if (line.word_count != 1 || !word_is(input, line.words[0], "ply")) {
        return mote_malformed(ctx, input, 0, "a PLY file begins with the line \"ply\"");
    }
    for (;;) {
        MOTE_TRY(next_line(ctx, input, &line));
        if (line.word_count == 0) continue;
        if (word_is(input, line.words[0], "end_header")) break;
        MOTE_TRY(read_line(ctx, input, &line, header));
    }
    header->body = line.text.next;
    if (!header->has_format) return mote_malformed(ctx, input, line.text.begin, "the PLY header has no format line");
    MOTE_TRY(find_vertex(ctx, input, header));
    return check_counts(ctx, input, salvage, header);
}

void mote_ply_header_close(mote_context *ctx, mote_ply_header *header) {
    mote_free(ctx, header->elements);
    mote_free(ctx, header->properties);
    mote_free(ctx, header->notes);
}
