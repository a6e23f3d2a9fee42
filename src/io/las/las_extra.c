#define _POSIX_C_SOURCE 200809L /* strnlen */
/* Extra bytes of LAS: what follows the dimensions of the format in each record, as the records of LASF_Spec 4
   describe it, and the same the other way round. */
#include <math.h>
#include <stdio.h>

#include "io/las/las_format.h"

#define TYPES_SCALAR   10u /* data types 1..10 are one value; 11..20 two, 21..30 three of them */
#define TYPES          30u
#define OPTION_NO_DATA 0x01u
#define OPTION_MIN     0x02u
#define OPTION_MAX     0x04u
#define OPTION_SCALE   0x08u
#define OPTION_OFFSET  0x10u
#define BYTES_SINGLY   64u /* longer runs without a type become words of 8 bytes */
#define AT_TYPE        2u
#define AT_OPTIONS     3u
#define AT_NAME        4u
#define AT_NO_DATA     40u /* this and the next two: of each value 8 bytes, as mote_column_limits has them */
#define AT_MIN         64u
#define AT_MAX         88u
#define AT_SCALE       112u
#define AT_OFFSET      136u
#define AT_DESCRIPTION 160u
#define NAME_BYTES     32u

/* The types of extra bytes, at the number of the format less one. */
static const mote_type scalar_types[TYPES_SCALAR] = {MOTE_UINT8, MOTE_INT8,   MOTE_UINT16, MOTE_INT16,   MOTE_UINT32,
                                                     MOTE_INT32, MOTE_UINT64, MOTE_INT64,  MOTE_FLOAT32, MOTE_FLOAT64};

/* A reader's place within the record. */
typedef struct extra_cursor {
    const mote_input *input;
    const las_header *header;
    mote_cloud *cloud;
    uint32_t at, end;
    uint32_t entry, entries; /* of the record that describes them */
    bool wrong;              /* a description was: no other is followed */
} extra_cursor;

/* A text of at most 32 bytes, ended by NUL or not, without control characters. */
static void clean_text(const uint8_t *from, char out[NAME_BYTES + 1]) {
    uint32_t length = 0;
    while (length < NAME_BYTES && from[length] != 0) {
        out[length] = from[length] < 0x20 || from[length] == 0x7F ? '_' : (char)from[length];
        length++;
    }
    out[length] = '\0';
}

/* limits: NULL if the file states none. */
static mote_status add_column(extra_cursor *c, mote_column *column, const char *name,
                              const mote_column_limits *limits) {
    char free_name[MOTE_NAME_BYTES];
    mote_cloud_free_name(c->cloud, name, free_name);
    column->name = free_name;
    column->data = c->input->data + c->header->points_at + c->at;
    column->stride_bytes = c->header->point_bytes;
    c->at += mote_type_size(column->type);
    mote_status status = mote_cloud_add_view(c->cloud, column);
    if (status == MOTE_OK && limits != NULL) status = mote_cloud_keep_limits(c->cloud, free_name, limits);
    column->name = NULL; /* the cloud has its copy */
    return status;
}

/* Bytes of no known type: base[0] …, or base_7 … by their place in the record where there is no base of their own. */
static mote_status add_opaque(extra_cursor *c, uint32_t bytes, const char *base, const char *description) {
    const bool described = base != NULL;
    const uint32_t stop = c->at + bytes;
    const uint32_t start = described ? c->at : mote_las_record_bytes(c->header->origin.format);
    while (c->at < stop) {
        char name[MOTE_NAME_BYTES];
        if (described) {
            snprintf(name, sizeof name, bytes == 1 ? "%s" : "%s[%u]", base, c->at - start);
        } else {
            snprintf(name, sizeof name, "extra_%u", c->at - start);
        }
        mote_column column = {.type = MOTE_UINT8, .scale = 1, .description = description};
        if (bytes > BYTES_SINGLY && stop - c->at >= 8) column.type = MOTE_UINT64;
        MOTE_TRY(add_column(c, &column, name, NULL));
    }
    return MOTE_OK;
}

/* The k-th number of an entry's scale or offset; fallback where it is not set or no number. */
static double option_value(const uint8_t *entry, uint32_t option, uint32_t at, uint32_t k, double fallback) {
    const double value = las_f64(entry + at + 8 * k);
    return (entry[AT_OPTIONS] & option) != 0 && isfinite(value) ? value : fallback;
}

/* The limits that an entry states of its k-th value. */
static mote_column_limits read_limits(const uint8_t *entry, uint32_t k) {
    mote_column_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.has_no_data = (entry[AT_OPTIONS] & OPTION_NO_DATA) != 0;
    limits.has_min = (entry[AT_OPTIONS] & OPTION_MIN) != 0;
    limits.has_max = (entry[AT_OPTIONS] & OPTION_MAX) != 0;
    if (limits.has_no_data) limits.no_data = las_u64(entry + AT_NO_DATA + 8 * k);
    if (limits.has_min) limits.min = las_u64(entry + AT_MIN + 8 * k);
    if (limits.has_max) limits.max = las_u64(entry + AT_MAX + 8 * k);
    return limits;
}

static void put_limits(const mote_column_limits *limits, uint8_t *entry) {
    if (limits->has_no_data) entry[AT_OPTIONS] |= OPTION_NO_DATA;
    if (limits->has_min) entry[AT_OPTIONS] |= OPTION_MIN;
    if (limits->has_max) entry[AT_OPTIONS] |= OPTION_MAX;
    las_put(entry + AT_NO_DATA, limits->no_data, 8);
    las_put(entry + AT_MIN, limits->min, 8);
    las_put(entry + AT_MAX, limits->max, 8);
}

/* Says why descriptions are not followed from one on. What they described, as far as records have it, is kept without
   them: the points do not need them. */
static __attribute__((format(printf, 3, 4))) void warn_of_entry(const extra_cursor *c, const uint8_t *entry,
                                                                const char *format, ...) {
    const uint32_t remaining = c->end - c->at;
    char why[256], kept[64] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (remaining > 0) snprintf(kept, sizeof kept, "; %u extra bytes are kept without a description", remaining);
    mote_warn(c->cloud->ctx, "%s: offset %llu: %s; the points are read without this description and %u behind it%s",
              c->input->path, (unsigned long long)(entry - c->input->data), why, c->entries - c->entry - 1, kept);
}

/* What an entry describes: count values of a type. */
typedef struct extra_form {
    mote_type type;
    uint32_t count;
    bool opaque; /* bytes of no known meaning */
} extra_form;

/* Whether the entry describes bytes that the records have; otherwise why not is told. */
static bool read_form(const extra_cursor *c, const uint8_t *entry, const char *name, extra_form *form) {
    const uint32_t type = entry[AT_TYPE];
    if (type > TYPES) {
        warn_of_entry(c, entry, "extra bytes \"%s\" are of unknown type %u", name, type);
        return false;
    }
    form->opaque = type == 0;
    form->type = type == 0 ? MOTE_UINT8 : scalar_types[(type - 1) % TYPES_SCALAR];
    form->count = type == 0 ? entry[AT_OPTIONS] : (type - 1) / TYPES_SCALAR + 1;
    const uint32_t size_bytes = form->count * mote_type_size(form->type);
    if (size_bytes <= c->end - c->at) return true;
    warn_of_entry(c, entry, "extra bytes \"%s\" need %u bytes, the records have %u left", name, size_bytes,
                  c->end - c->at);
    return false;
}

static mote_status add_entry(extra_cursor *c, const uint8_t *entry) {
    char name[NAME_BYTES + 1], description[NAME_BYTES + 1];
    extra_form form;
    clean_text(entry + AT_NAME, name);
    clean_text(entry + AT_DESCRIPTION, description);
    if (name[0] == '\0') snprintf(name, sizeof name, "unnamed");
    c->wrong = !read_form(c, entry, name, &form);
    if (c->wrong) return MOTE_OK;
    if (form.opaque) return add_opaque(c, form.count, name, description);
    for (uint32_t k = 0; k < form.count; k++) {
        char indexed[NAME_BYTES + 8];
        snprintf(indexed, sizeof indexed, form.count == 1 ? "%s" : "%s[%u]", name, k);
        mote_column column = {.type = form.type, .description = description};
        column.scale = option_value(entry, OPTION_SCALE, AT_SCALE, k, 1);
        column.offset = option_value(entry, OPTION_OFFSET, AT_OFFSET, k, 0);
        const mote_column_limits limits = read_limits(entry, k);
        MOTE_TRY(add_column(c, &column, indexed, &limits));
    }
    return MOTE_OK;
}

static mote_status add_entries(extra_cursor *c, const mote_record *record) {
    if (record->size_bytes % LAS_EXTRA_BYTES != 0) {
        mote_warn(c->cloud->ctx, "%s: the record that describes extra bytes is no multiple of %u bytes long",
                  c->input->path, LAS_EXTRA_BYTES);
    }
    c->entries = (uint32_t)(record->size_bytes / LAS_EXTRA_BYTES);
    for (c->entry = 0; c->entry < c->entries && !c->wrong; c->entry++) {
        MOTE_TRY(add_entry(c, (const uint8_t *)record->data + (uint64_t)c->entry * LAS_EXTRA_BYTES));
    }
    return MOTE_OK;
}

mote_status mote_las_read_extra(const mote_input *input, const las_header *header, mote_cloud *cloud) {
    extra_cursor c = {.input = input, .header = header, .cloud = cloud};
    c.at = mote_las_record_bytes(header->origin.format);
    c.end = header->point_bytes;
    for (uint64_t r = 0; r < cloud->record_count && !c.wrong; r++) {
        const mote_record *record = &cloud->records[r];
        if (mote_las_record_is(record, LAS_USER_SPEC, LAS_ID_EXTRA_BYTES)) MOTE_TRY(add_entries(&c, record));
    }
    return add_opaque(&c, c.end - c.at, NULL, "");
}

void mote_las_describe_extra(const mote_cloud *cloud, const mote_column *column, const char *name, uint8_t *entry) {
    mote_column_limits limits;
    memset(entry, 0, LAS_EXTRA_BYTES);
    for (uint8_t type = 0; type < TYPES_SCALAR; type++) {
        if (scalar_types[type] == column->type) entry[AT_TYPE] = (uint8_t)(type + 1);
    }
    memcpy(entry + AT_NAME, name, strlen(name));
    memcpy(entry + AT_DESCRIPTION, column->description, strnlen(column->description, NAME_BYTES));
    if (column->scale != 1) {
        entry[AT_OPTIONS] |= OPTION_SCALE;
        las_put_f64(entry + AT_SCALE, column->scale);
    }
    if (column->offset != 0) {
        entry[AT_OPTIONS] |= OPTION_OFFSET;
        las_put_f64(entry + AT_OFFSET, column->offset);
    }
    if (mote_cloud_limits(cloud, column->name, &limits)) put_limits(&limits, entry);
}

/* The length of text cut to most bytes without splitting a UTF-8 character. */
static size_t cut_length(const char *text, size_t max) {
    size_t length = strlen(text);
    if (length <= max) return length;
    for (length = max; length > 0 && ((uint8_t)text[length] & 0xC0) == 0x80; length--) {}
    return length;
}

static bool name_is_taken(const uint8_t *entries, uint64_t count, const char *name) {
    for (uint64_t i = 0; i < count; i++) {
        if (strncmp((const char *)entries + i * LAS_EXTRA_BYTES + AT_NAME, name, NAME_BYTES) == 0) return true;
    }
    return false;
}

void mote_las_extra_name(const char *name, const uint8_t *entries, uint64_t count, char out[33]) {
    snprintf(out, NAME_BYTES + 1, "%.*s", (int)cut_length(name, NAME_BYTES), name);
    for (unsigned n = 2; name_is_taken(entries, count, out); n++) {
        char number[12];
        const int digits = snprintf(number, sizeof number, "_%u", n);
        snprintf(out, NAME_BYTES + 1, "%.*s%s", (int)cut_length(name, NAME_BYTES - (size_t)digits), name, number);
    }
}
