/* Parses metadata.json: what the points look like, and what mote's own folders say of their source. */
#include <float.h>
#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#include "io/potree/potree.h"
#include "io/text/text.h"

#define MAX_METADATA_BYTES (256ull << 20)
#define MAX_ATTRIBUTES     4096u
#define MAX_ELEMENTS       4096u /* of all attributes */

#if MOTE_HAVE_JANSSON
#include <jansson.h>

__attribute__((format(printf, 2, 3))) static mote_status wrong(const potree_layout *layout, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mote_malformed(layout->ctx, &layout->files->metadata, 0, "%s", why);
}

/* A whole number in low..high, also when written as 1e3; fallback where there is none. False: something else. */
static bool get_integer(const json_t *object, const char *key, int64_t low, int64_t high, int64_t fallback,
                        int64_t *out) {
    const json_t *value = json_object_get(object, key);
    *out = fallback;
    if (value == NULL) return fallback >= low && fallback <= high;
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
    } else {
        const double real = json_is_real(value) ? json_real_value(value) : NAN;
        if (!(fabs(real) <= 9007199254740992.0) || real != floor(real)) return false;
        *out = (int64_t)real;
    }
    return *out >= low && *out <= high;
}

static bool get_reals(const json_t *object, const char *key, uint32_t count, double *out) {
    const json_t *array = json_object_get(object, key);
    if (!json_is_array(array) || json_array_size(array) != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value)) return false;
        out[i] = json_number_value(value);
        if (!isfinite(out[i])) return false;
    }
    return true;
}

/* ---- attributes */

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) return true;
    }
    return false;
}

static potree_role role_of(const potree_attribute *attribute) {
    static const char *const positions[] = {"position", "POSITION_CARTESIAN", NULL};
    static const char *const colors[] = {"rgb", "rgba", "RGBA", NULL};
    if (is_one_of(attribute->name, positions)) return POTREE_POSITION;
    if (is_one_of(attribute->name, colors) && attribute->elements == 3) return POTREE_COLOR;
    const bool byte = mote_type_size(attribute->type) == 1 && attribute->elements == 1;
    return strcmp(attribute->name, "classification flags") == 0 && byte ? POTREE_FLAGS : POTREE_PLAIN;
}

static mote_status parse_attribute(potree_layout *layout, const json_t *json, uint32_t a) {
    potree_attribute *attribute = &layout->attributes[a];
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *type = json_string_value(json_object_get(json, "type"));
    int64_t elements, size, element_size;
    if (name == NULL || type == NULL) return wrong(layout, "attribute %u has no name or no type", a);
    potree_clean_text(name, attribute->name, sizeof attribute->name);
    if (!potree_type_of_name(type, &attribute->type)) {
        return wrong(layout, "attribute \"%s\" is of type \"%.32s\"", attribute->name, type);
    }
    if (!get_integer(json, "numElements", 1, MAX_ELEMENTS, 1, &elements)) {
        return wrong(layout, "attribute \"%s\": numElements is no number in 1..%u", attribute->name, MAX_ELEMENTS);
    }
    attribute->elements = (uint32_t)elements;
    const int64_t type_bytes = mote_type_size(attribute->type), all_bytes = type_bytes * elements;
    if (!get_integer(json, "size", all_bytes, all_bytes, all_bytes, &size) ||
        !get_integer(json, "elementSize", type_bytes, type_bytes, type_bytes, &element_size)) {
        return wrong(layout, "attribute \"%s\": size and elementSize don't add up to %lld %s", attribute->name,
                     (long long)elements, mote_type_name(attribute->type));
    }
    attribute->role = role_of(attribute);
    attribute->at = layout->stride_bytes;
    attribute->coded_at = layout->coded_stride_bytes;
    attribute->range = layout->element_count;
    layout->stride_bytes += potree_attribute_bytes(attribute);
    layout->coded_stride_bytes += potree_coded_bytes(attribute);
    layout->element_count += attribute->elements;
    return MOTE_OK;
}

static mote_status check_roles(potree_layout *layout) {
    uint32_t positions = 0;
    for (uint32_t a = 0; a < layout->attribute_count; a++) {
        const potree_attribute *attribute = &layout->attributes[a];
        if (attribute->role == POTREE_POSITION) {
            layout->position = a;
            positions++;
            if (attribute->type != MOTE_INT32 || attribute->elements != 3) {
                return wrong(layout, "the position is not of 3 int32");
            }
        }
        if (layout->brotli && attribute->role == POTREE_COLOR && attribute->type != MOTE_UINT16) {
            return wrong(layout, "encoding BROTLI has colours of %s", mote_type_name(attribute->type));
        }
    }
    if (positions != 1) return wrong(layout, "%u attributes are the position", positions);
    return MOTE_OK;
}

/* Scale and offset of attributes are a gift of newer writers; anything unusable counts as none. */
static mote_status parse_scales(potree_layout *layout, const json_t *list) {
    layout->scales = mote_alloc(layout->ctx, layout->element_count * sizeof(double), "metadata");
    layout->offsets = mote_alloc(layout->ctx, layout->element_count * sizeof(double), "metadata");
    if (layout->scales == NULL || layout->offsets == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t a = 0; a < layout->attribute_count; a++) {
        const potree_attribute *attribute = &layout->attributes[a];
        const json_t *json = json_array_get(list, a);
        double *scales = layout->scales + attribute->range, *offsets = layout->offsets + attribute->range;
        bool usable = get_reals(json, "scale", attribute->elements, scales) &&
                      get_reals(json, "offset", attribute->elements, offsets);
        for (uint32_t e = 0; e < attribute->elements && usable; e++) usable = scales[e] != 0;
        for (uint32_t e = 0; e < attribute->elements && !usable; e++) {
            scales[e] = 1;
            offsets[e] = 0;
        }
    }
    return MOTE_OK;
}

static mote_status parse_attributes(potree_layout *layout) {
    const json_t *list = json_object_get(layout->json, "attributes");
    const size_t count = json_array_size(list);
    if (count == 0 || count > MAX_ATTRIBUTES)
        return wrong(layout, "\"attributes\" is no list of 1..%u", MAX_ATTRIBUTES);
    layout->attributes = mote_alloc_zero(layout->ctx, count * sizeof *layout->attributes, "metadata");
    if (layout->attributes == NULL) return MOTE_ERROR_MEMORY;
    layout->attribute_count = (uint32_t)count;
    for (uint32_t a = 0; a < layout->attribute_count; a++) {
        MOTE_TRY(parse_attribute(layout, json_array_get(list, a), a));
        if (layout->element_count > MAX_ELEMENTS) return wrong(layout, "more than %u numbers a point", MAX_ELEMENTS);
    }
    MOTE_TRY(check_roles(layout));
    return parse_scales(layout, list);
}

/* ---- the rest */

static mote_status parse_encoding(potree_layout *layout) {
    const json_t *encoding = json_object_get(layout->json, "encoding");
    const char *name = encoding == NULL ? "DEFAULT" : json_string_value(encoding);
    if (name == NULL) return wrong(layout, "\"encoding\" is no text");
    layout->brotli = strcmp(name, "BROTLI") == 0;
    if (!layout->brotli && strcmp(name, "DEFAULT") != 0 && strcmp(name, "UNCOMPRESSED") != 0) {
        return mote_fail(layout->ctx, MOTE_ERROR_UNSUPPORTED, "%s: encoding \"%.32s\" is unknown",
                         layout->files->metadata.path, name);
    }
    if (layout->brotli && !potree_has_brotli()) {
        return mote_fail(layout->ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_BROTLI);
    }
    return MOTE_OK;
}

static void parse_flags(potree_layout *layout) {
    const json_t *flags = json_object_get(layout->json, "flags");
    for (size_t i = 0; i < json_array_size(flags); i++) {
        const char *flag = json_string_value(json_array_get(flags, i));
        if (flag != NULL && strcmp(flag, "REPLACING") == 0) layout->replacing = true;
    }
}

/* The object "mote" is ours, so what stands there must be right. */
static mote_status parse_source(potree_layout *layout) {
    const json_t *mote = json_object_get(layout->json, "mote");
    const json_t *position = json_object_get(mote, "position");
    const json_t *types = json_object_get(position, "type"), *less = json_object_get(position, "less");
    if (position == NULL) return MOTE_OK;
    for (uint32_t k = 0; k < 3; k++) {
        const char *name = json_string_value(json_array_get(types, k));
        if (name == NULL || !potree_type_of_name(name, &layout->source_type[k]) ||
            mote_type_is_float(layout->source_type[k]) != (less == NULL) || layout->source_type[k] == MOTE_UINT64) {
            return wrong(layout, "mote.position has no usable types");
        }
        const json_t *step = json_array_get(less, k);
        if (less != NULL && !json_is_integer(step)) return wrong(layout, "mote.position.less is not of 3 integers");
        layout->source_less[k] = json_integer_value(step);
        if (layout->source_less[k] > INT64_MAX / 2 || layout->source_less[k] < INT64_MIN / 2) {
            return wrong(layout, "mote.position.less is beyond 62 bits");
        }
    }
    if (less != NULL && !get_reals(position, "offset", 3, layout->source_offset)) {
        return wrong(layout, "mote.position.offset is not of 3 numbers");
    }
    layout->has_source = true;
    return MOTE_OK;
}

static mote_status parse_root(potree_layout *layout) {
    const json_t *version = json_object_get(layout->json, "version");
    int64_t points, chunk_bytes;
    if (json_is_string(version) && strncmp(json_string_value(version), "1.", 2) == 0) {
        return mote_fail(layout->ctx, MOTE_ERROR_UNSUPPORTED, "%s: version %.16s; only Potree 2 is read",
                         layout->files->metadata.path, json_string_value(version));
    }
    if (!get_reals(layout->json, "scale", 3, layout->scale) || !get_reals(layout->json, "offset", 3, layout->offset)) {
        return wrong(layout, "\"scale\" or \"offset\" is not of 3 numbers");
    }
    for (int k = 0; k < 3; k++) {
        if (layout->scale[k] == 0) return wrong(layout, "a scale is 0");
    }
    const int64_t max =
        layout->files->hierarchy.size_bytes < INT64_MAX ? (int64_t)layout->files->hierarchy.size_bytes : INT64_MAX;
    if (!get_integer(json_object_get(layout->json, "hierarchy"), "firstChunkSize", 1, max, 0, &chunk_bytes)) {
        return wrong(layout, "hierarchy.firstChunkSize is no number in 1..%lld, the size of %s", (long long)max,
                     layout->files->hierarchy.path);
    }
    layout->first_chunk_bytes = (uint64_t)chunk_bytes;
    layout->points = get_integer(layout->json, "points", 0, INT64_MAX, -1, &points) ? (uint64_t)points : UINT64_MAX;
    parse_flags(layout);
    MOTE_TRY(parse_encoding(layout));
    MOTE_TRY(parse_attributes(layout));
    return parse_source(layout);
}

mote_status potree_layout_parse(mote_context *ctx, const potree_files *files, potree_layout *layout) {
    memset(layout, 0, sizeof *layout);
    layout->ctx = ctx;
    layout->files = files;
    const mote_input *input = &files->metadata;
    json_error_t error;
    if (input->size_bytes > MAX_METADATA_BYTES) {
        return mote_malformed(ctx, input, 0, "%llu bytes are too many for metadata",
                              (unsigned long long)input->size_bytes);
    }
    MOTE_TRY(mote_text_check_encoding(ctx, input));
    const uint64_t mark = mote_text_mark_bytes(input);
    layout->json = json_loadb((const char *)input->data + mark, input->size_bytes - mark, 0, &error);
    if (layout->json == NULL) {
        const bool memory = json_error_code(&error) == json_error_out_of_memory;
        if (memory) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: metadata.json");
        return mote_malformed(ctx, input, mark + (error.position > 0 ? (uint64_t)error.position : 0),
                              "no valid JSON: %s", error.text);
    }
    if (!json_is_object(layout->json)) return mote_malformed(ctx, input, 0, "no JSON object");
    return parse_root(layout);
}

void potree_layout_free(potree_layout *layout) {
    json_decref(layout->json);
    mote_free(layout->ctx, layout->attributes);
    mote_free(layout->ctx, layout->scales);
    mote_free(layout->ctx, layout->offsets);
    layout->json = NULL;
}

/* ---- what mote's own folders keep of the source */

static void get_bytes(const json_t *object, const char *key, char *out, size_t size_bytes) {
    const char *text = json_string_value(json_object_get(object, key));
    if (text != NULL) potree_text_to_bytes(text, out, size_bytes);
}

void potree_layout_column(const potree_layout *layout, uint32_t attribute, potree_column_source *source) {
    const potree_attribute *a = &layout->attributes[attribute];
    const json_t *json = json_array_get(json_object_get(layout->json, "attributes"), attribute);
    const json_t *columns = json_object_get(json_object_get(layout->json, "mote"), "columns");
    const char *description = json_string_value(json_object_get(json, "description"));
    memset(source, 0, sizeof *source);
    source->type = a->type;
    if (description != NULL) potree_clean_text(description, source->description, sizeof source->description);
    for (size_t c = 0; c < json_array_size(columns) && c < MAX_ATTRIBUTES; c++) {
        const json_t *column = json_array_get(columns, c);
        const char *name = json_string_value(json_object_get(column, "attribute"));
        if (name == NULL || strcmp(name, a->name) != 0) continue;
        get_bytes(column, "name", source->name, sizeof source->name);
        get_bytes(column, "unit", source->unit, sizeof source->unit);
        get_bytes(column, "description", source->description, sizeof source->description);
        get_bytes(column, "no_data", source->no_data, sizeof source->no_data);
        get_bytes(column, "min", source->min, sizeof source->min);
        get_bytes(column, "max", source->max, sizeof source->max);
        const char *type = json_string_value(json_object_get(column, "type"));
        if (type != NULL) potree_type_of_name(type, &source->type);
        return;
    }
}

bool potree_layout_lacks_overlap(const potree_layout *layout) {
    const json_t *las = json_object_get(json_object_get(layout->json, "mote"), "las");
    int64_t format;
    return get_integer(las, "format", 0, 5, -1, &format);
}

static bool parse_guid(const char *text, uint8_t guid[16]) {
    if (text == NULL || strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32) return false;
    for (int i = 0; i < 32; i++) {
        const int digit = text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10;
        guid[i / 2] = (uint8_t)(guid[i / 2] << 4 | digit);
    }
    return true;
}

/* raw_key: all 32 bytes, where there is something behind the end of the text. */
static void get_header_text(const json_t *object, const char *key, const char *raw_key, char out[POTREE_LAS_TEXT + 1]) {
    const json_t *raw = json_object_get(object, raw_key);
    uint8_t bytes[POTREE_LAS_TEXT + 4];
    uint64_t size_bytes = 0;
    get_bytes(object, key, out, POTREE_LAS_TEXT + 1);
    if (json_is_string(raw) && json_string_length(raw) == potree_base64_bytes(POTREE_LAS_TEXT) - 1 &&
        potree_base64_decode(json_string_value(raw), json_string_length(raw), bytes, &size_bytes)) {
        memcpy(out, bytes, size_bytes < POTREE_LAS_TEXT ? size_bytes : POTREE_LAS_TEXT);
    }
}

static mote_status parse_las(const potree_layout *layout, const json_t *json, mote_las_origin *las) {
    int64_t minor, format, source_id, encoding, day, year;
    if (json == NULL) return MOTE_OK;
    if (!get_integer(json, "version_minor", 0, 5, -1, &minor) || !get_integer(json, "format", 0, 10, -1, &format) ||
        !get_integer(json, "file_source_id", 0, UINT16_MAX, 0, &source_id) ||
        !get_integer(json, "global_encoding", 0, UINT16_MAX, 0, &encoding) ||
        !get_integer(json, "creation_day", 0, UINT16_MAX, 0, &day) ||
        !get_integer(json, "creation_year", 0, UINT16_MAX, 0, &year) ||
        !parse_guid(json_string_value(json_object_get(json, "guid")), las->guid)) {
        return wrong(layout, "mote.las is malformed");
    }
    las->present = true;
    las->version_minor = (uint8_t)minor;
    las->format = (uint8_t)format;
    las->file_source_id = (uint16_t)source_id;
    las->global_encoding = (uint16_t)encoding;
    las->creation_day = (uint16_t)day;
    las->creation_year = (uint16_t)year;
    get_header_text(json, "system_id", "system_id_raw", las->system_id);
    get_header_text(json, "software", "software_raw", las->software);
    return MOTE_OK;
}

static mote_status add_record(const potree_layout *layout, const json_t *json, mote_cloud *cloud) {
    const json_t *data = json_object_get(json, "data");
    int64_t record_id;
    if (!json_is_string(data) || !get_integer(json, "record_id", 0, UINT16_MAX, -1, &record_id)) {
        return wrong(layout, "mote.records has an entry without data or record_id");
    }
    const size_t length = json_string_length(data);
    uint8_t *bytes = mote_alloc(layout->ctx, length, "records");
    if (bytes == NULL) return MOTE_ERROR_MEMORY;
    mote_record record;
    memset(&record, 0, sizeof record);
    mote_status status = MOTE_OK;
    if (!potree_base64_decode(json_string_value(data), length, bytes, &record.size_bytes)) {
        status = wrong(layout, "mote.records has data that are no base64");
    } else {
        get_bytes(json, "user_id", record.user_id, sizeof record.user_id);
        get_bytes(json, "description", record.description, sizeof record.description);
        record.record_id = (uint16_t)record_id;
        record.extended = json_is_true(json_object_get(json, "extended"));
        record.data = bytes;
        status = mote_cloud_add_record(cloud, &record);
    }
    mote_free(layout->ctx, bytes);
    return status;
}

mote_status potree_layout_extras(const potree_layout *layout, mote_cloud *cloud) {
    const json_t *mote = json_object_get(layout->json, "mote");
    const json_t *records = json_object_get(mote, "records");
    const char *projection = json_string_value(json_object_get(mote, "crs"));
    if (projection == NULL) projection = json_string_value(json_object_get(layout->json, "projection"));
    const double step = json_number_value(json_object_get(mote, "position_step"));
    if (projection != NULL) MOTE_TRY(mote_cloud_set_crs(cloud, projection));
    if (step > 0 && isfinite(step)) cloud->position_step = step;
    for (size_t r = 0; r < json_array_size(records); r++) {
        MOTE_TRY(add_record(layout, json_array_get(records, r), cloud));
    }
    return parse_las(layout, json_object_get(mote, "las"), &cloud->las);
}

#else

mote_status potree_layout_parse(mote_context *ctx, const potree_files *files, potree_layout *layout) {
    memset(layout, 0, sizeof *layout);
    layout->ctx = ctx;
    layout->files = files;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}

void potree_layout_free(potree_layout *layout) { (void)layout; }

void potree_layout_column(const potree_layout *layout, uint32_t attribute, potree_column_source *source) {
    memset(source, 0, sizeof *source);
    source->type = layout->attributes[attribute].type;
}

bool potree_layout_lacks_overlap(const potree_layout *layout) {
    (void)layout;
    return false;
}

mote_status potree_layout_extras(const potree_layout *layout, mote_cloud *cloud) {
    (void)layout, (void)cloud;
    return MOTE_OK;
}

#endif
