/* What the elements of an E57 file's XML mean. */
#include "io/e57/e57_xml.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "io/text/text.h"

#define ROOT   "/e57Root"
#define SCAN   ROOT "/data3D/vectorChild"
#define POINTS SCAN "/points"
#define PROTO  POINTS "/prototype"

#define NAME_BYTES_MAX 96 /* of a field: what is longer is no name that a column could have */

void mote_e57_xml_fail(e57_xml *x, const char *format, ...) {
    char why[320];
    va_list arguments;
    if (x->status != MOTE_OK) return;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    x->status = mote_malformed(x->ctx, x->input, x->place, "%s", why);
}

void mote_e57_xml_no_memory(e57_xml *x) {
    if (x->status == MOTE_OK) x->status = MOTE_ERROR_MEMORY;
}

static bool is_path(const e57_xml *x, const char *path) { return strcmp(x->path, path) == 0; }

/* The rest of the path behind a prefix; NULL if it has another one. */
static const char *behind(const e57_xml *x, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(x->path, prefix, length) == 0 && x->path[length] == '/' ? x->path + length + 1 : NULL;
}

static e57_scan *last_scan(const e57_xml *x) { return &x->file->scans[x->file->scan_count - 1]; }

static const char *find_attribute(const char *const *attributes, const char *name) {
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    }
    return NULL;
}

/* ---- numbers: an empty one is 0 */

static const char *trim(const char *text, size_t *length) {
    while (mote_text_is_blank((uint8_t)*text)) text++;
    *length = strlen(text);
    while (*length > 0 && mote_text_is_blank((uint8_t)text[*length - 1])) (*length)--;
    return text;
}

static double read_real(e57_xml *x, const char *text, const char *what) {
    size_t length;
    double value = 0;
    mote_text_number number;
    text = trim(text, &length);
    if (length == 0) return 0;
    const uint8_t *const at = (const uint8_t *)text, *const end = at + length;
    if (mote_text_scan(at, end, &number) && number.end == end && mote_text_double(&number, &value)) return value;
    mote_e57_xml_fail(x, "%s is \"%.40s\", which is no number", what, text);
    return 0;
}

/* A number of the integer type. Some writers put whole numbers as reals, "0.0000e+00". */
static uint64_t read_whole(e57_xml *x, const char *text, mote_type type, const char *what) {
    size_t length;
    uint64_t value = 0;
    mote_text_number number;
    text = trim(text, &length);
    if (length == 0) return 0;
    const uint8_t *const at = (const uint8_t *)text, *const end = at + length;
    if (mote_text_scan(at, end, &number) && number.end == end && mote_text_store(&number, type, &value)) return value;
    mote_e57_xml_fail(x, "%s is \"%.40s\", which is no whole number of %u bits", what, text, 8 * mote_type_size(type));
    return 0;
}

static int64_t read_integer(e57_xml *x, const char *text, const char *what) {
    const uint64_t bits = read_whole(x, text, MOTE_INT64, what);
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- begin */

static void begin_scan(e57_xml *x) {
    e57_file *const file = x->file;
    if (file->scan_count == E57_SCANS_MAX) {
        mote_e57_xml_fail(x, "more than %u scans", E57_SCANS_MAX);
        return;
    }
    if (!mote_reserve(x->ctx, (void **)&file->scans, &file->scan_capacity, file->scan_count + 1, sizeof *file->scans,
                      "E57 scans")) {
        mote_e57_xml_no_memory(x);
        return;
    }
    e57_scan *const scan = &file->scans[file->scan_count++];
    memset(scan, 0, sizeof *scan);
    scan->station = (uint32_t)file->scan_count;
    scan->pose.rotation[0] = 1;
    scan->stated_at = x->elements[x->depth - 1].place;
}

static void begin_points(e57_xml *x, const e57_element *element, const char *const *attributes) {
    e57_scan *const scan = last_scan(x);
    const char *const place = find_attribute(attributes, "fileOffset");
    const char *const count = find_attribute(attributes, "recordCount");
    if (scan->has_points) {
        mote_e57_xml_fail(x, "a scan has points twice");
    } else if (strcmp(element->type, "CompressedVector") != 0 || place == NULL || count == NULL) {
        mote_e57_xml_fail(x, "the points of a scan are no CompressedVector with fileOffset and recordCount");
    } else {
        scan->place = read_whole(x, place, MOTE_UINT64, "fileOffset");
        scan->count = read_whole(x, count, MOTE_UINT64, "recordCount");
        scan->stated_at = element->place;
        scan->has_points = true;
    }
}

static uint32_t bits_of(int64_t minimum, int64_t maximum) {
    const uint64_t span = (uint64_t)maximum - (uint64_t)minimum;
    return span == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(span);
}

/* The attributes of a number. */
static void read_field(e57_xml *x, e57_element *element, const char *const *attributes) {
    e57_field *const field = &element->field;
    const char *const minimum = find_attribute(attributes, "minimum"), *const maximum =
                                                                           find_attribute(attributes, "maximum");
    const char *const scale = find_attribute(attributes, "scale"), *const offset = find_attribute(attributes, "offset");
    const char *const precision = find_attribute(attributes, "precision");
    field->scale = 1;
    field->minimum = INT64_MIN;
    field->maximum = INT64_MAX;
    if (strcmp(element->type, "Float") == 0) {
        const bool single = precision != NULL && strcmp(precision, "single") == 0;
        field->kind = single ? E57_SINGLE : E57_DOUBLE;
        field->bits = single ? 32 : 64;
        return;
    }
    if (strcmp(element->type, "String") == 0) {
        field->kind = E57_STRING;
        return;
    }
    field->kind = E57_INTEGER;
    if (minimum != NULL) field->minimum = read_integer(x, minimum, "minimum");
    if (maximum != NULL) field->maximum = read_integer(x, maximum, "maximum");
    field->bits = bits_of(field->minimum, field->maximum);
    if (field->minimum > field->maximum) {
        mote_e57_xml_fail(x, "a minimum of %" PRId64 " is above its maximum of %" PRId64, field->minimum,
                          field->maximum);
    }
    if (strcmp(element->type, "ScaledInteger") != 0) return;
    field->kind = E57_SCALED;
    if (scale != NULL) field->scale = read_real(x, scale, "scale");
    if (offset != NULL) field->offset = read_real(x, offset, "offset");
    if (field->scale != 0 && isfinite(field->scale) && isfinite(field->offset)) return;
    mote_e57_xml_fail(x, "a scale of %g with an offset of %g", field->scale, field->offset);
}

static bool is_number(const char *type) {
    return strcmp(type, "Integer") == 0 || strcmp(type, "ScaledInteger") == 0 || strcmp(type, "Float") == 0;
}

static void begin_field(e57_xml *x, const char *path) {
    const e57_element *const element = &x->elements[x->depth - 1];
    e57_scan *const scan = last_scan(x);
    if (strcmp(element->type, "Structure") == 0) return;
    if (!is_number(element->type) && strcmp(element->type, "String") != 0) {
        mote_e57_xml_fail(x, "a field of type \"%.20s\" in a prototype", element->type);
        return;
    }
    if (strlen(path) >= NAME_BYTES_MAX || scan->field_count == E57_FIELDS_MAX) {
        mote_e57_xml_fail(x, "a prototype of more than %u fields, or a name of more than %d bytes", E57_FIELDS_MAX,
                          NAME_BYTES_MAX);
        return;
    }
    for (uint64_t i = 0; i < scan->field_count; i++) {
        if (strcmp(scan->fields[i].name, path) != 0) continue;
        mote_e57_xml_fail(x, "a prototype has %s twice", path);
        return;
    }
    if (!mote_reserve(x->ctx, (void **)&scan->fields, &scan->field_capacity, scan->field_count + 1,
                      sizeof *scan->fields, "E57 scans")) {
        mote_e57_xml_no_memory(x);
        return;
    }
    e57_field *const field = &scan->fields[scan->field_count];
    *field = element->field;
    field->name = mote_strdup(x->ctx, path);
    if (field->name == NULL) {
        mote_e57_xml_no_memory(x);
        return;
    }
    scan->field_count++;
}

static void begin_root(e57_xml *x, const char *const *attributes) {
    for (; attributes[0] != NULL && attributes[1] != NULL; attributes += 2) {
        const bool is_normals =
            strncmp(attributes[0], "xmlns:", 6) == 0 && strstr(attributes[1], "surface_normals") != NULL;
        if (!is_normals || x->file->normals != NULL) continue;
        x->file->normals = mote_strdup(x->ctx, attributes[0] + 6);
        if (x->file->normals == NULL) mote_e57_xml_no_memory(x);
    }
}

void mote_e57_xml_begin(e57_xml *x, const char *name, const char *const *attributes) {
    e57_element *const element = &x->elements[x->depth - 1];
    const char *const type = find_attribute(attributes, "type");
    snprintf(element->type, sizeof element->type, "%s", type != NULL ? type : "");
    if (x->depth == 1 && strcmp(name, "e57Root") != 0) {
        mote_e57_xml_fail(x, "the XML begins with <%.60s>, not with <e57Root>", name);
    } else if (x->depth == 1) {
        begin_root(x, attributes);
    } else if (is_path(x, SCAN)) {
        begin_scan(x);
    } else if (is_path(x, ROOT "/images2D/vectorChild")) {
        x->file->image_count++;
    } else if (is_path(x, POINTS)) {
        begin_points(x, element, attributes);
    } else if (is_path(x, PROTO)) {
        last_scan(x)->has_prototype = true;
    } else if (behind(x, SCAN) != NULL) {
        const char *const field = behind(x, PROTO);
        if (is_number(element->type) || field != NULL) read_field(x, element, attributes);
        if (field != NULL && x->status == MOTE_OK) begin_field(x, field);
    }
}

/* ---- end */

/* Keeps a text that is not empty, once. */
static void keep_text(e57_xml *x, char **to) {
    size_t length;
    char *const begin = x->text + (trim(x->text, &length) - x->text);
    begin[length] = '\0';
    if (length == 0 || *to != NULL) return;
    *to = mote_strdup(x->ctx, begin);
    if (*to == NULL) mote_e57_xml_no_memory(x);
}

static void end_pose(e57_xml *x, e57_scan *scan, const char *name) {
    static const struct {
        const char *path;
        bool is_rotation;
        int at;
    } parts[] = {{"rotation/w", true, 0},    {"rotation/x", true, 1},     {"rotation/y", true, 2},
                 {"rotation/z", true, 3},    {"translation/x", false, 0}, {"translation/y", false, 1},
                 {"translation/z", false, 2}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(name, parts[i].path) != 0) continue;
        const double value = read_real(x, x->text, name);
        if (!isfinite(value)) mote_e57_xml_fail(x, "a pose with %s %g", name, value);
        (parts[i].is_rotation ? scan->pose.rotation : scan->pose.translation)[parts[i].at] = value;
        scan->has_pose = true;
    }
}

static void end_limit(e57_xml *x, e57_scan *scan, const char *name) {
    static const char *const groups[] = {"intensityLimits/intensity", "colorLimits/colorRed", "colorLimits/colorGreen",
                                         "colorLimits/colorBlue"};
    e57_limits *const limits[] = {&scan->intensity, &scan->colors[0], &scan->colors[1], &scan->colors[2]};
    const e57_element *const element = &x->elements[x->depth - 1];
    if (!is_number(element->type)) return;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        const size_t length = strlen(groups[i]);
        if (strncmp(name, groups[i], length) != 0) continue;
        const bool is_min = strcmp(name + length, "Minimum") == 0;
        if (!is_min && strcmp(name + length, "Maximum") != 0) continue;
        const double value = read_real(x, x->text, name) * element->field.scale + element->field.offset;
        *(is_min ? &limits[i]->min : &limits[i]->max) = value;
        *(is_min ? &limits[i]->has_min : &limits[i]->has_max) = true;
    }
}

static void end_in_scan(e57_xml *x, const char *name) {
    e57_scan *const scan = last_scan(x);
    const struct {
        const char *name;
        char **to;
    } texts[] = {{"name", &scan->name},           {"guid", &scan->guid},         {"description", &scan->description},
                 {"sensorVendor", &scan->vendor}, {"sensorModel", &scan->model}, {"sensorSerialNumber", &scan->serial}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) keep_text(x, texts[i].to);
    }
    const bool is_applied = strncmp(name, "mote:pose/", 10) == 0;
    if (is_applied) scan->is_applied = true;
    if (is_applied || strncmp(name, "pose/", 5) == 0) end_pose(x, scan, name + (is_applied ? 10 : 5));
    if (strcmp(name, "acquisitionStart/dateTimeValue") == 0) scan->start = read_real(x, x->text, name);
    if (strcmp(name, "acquisitionStart/isAtomicClockReferenced") == 0) scan->atomic = read_real(x, x->text, name) != 0;
    end_limit(x, scan, name);
    if (strcmp(name, "mote:pointSourceId") == 0) {
        scan->station = (uint16_t)read_whole(x, x->text, MOTE_UINT16, name);
    }
}

static void end_scan(e57_xml *x) {
    e57_scan *const scan = last_scan(x);
    if (!scan->has_points) {
        mote_e57_xml_fail(x, "scan %" PRIu64 " has no points", x->file->scan_count);
    } else if (!scan->has_prototype) {
        mote_e57_xml_fail(x, "the points of scan %" PRIu64 " have no prototype", x->file->scan_count);
    }
    if (mote_e57_pose_settle(&scan->pose)) return;
    mote_warn(x->ctx, "%s: scan %" PRIu64 " has a rotation of length 0, which is left out", x->input->path,
              x->file->scan_count);
}

void mote_e57_xml_end(e57_xml *x) {
    const char *const in_scan = behind(x, SCAN);
    if (in_scan != NULL) {
        end_in_scan(x, in_scan);
    } else if (is_path(x, SCAN)) {
        end_scan(x);
    } else if (is_path(x, ROOT "/e57LibraryVersion")) {
        keep_text(x, &x->file->library);
    } else if (is_path(x, ROOT "/coordinateMetadata")) {
        keep_text(x, &x->file->crs);
    }
}
