/* The XML of a file that is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/color.h"
#include "io/crs/crs_written.h"
#include "io/e57/e57_write.h"
#include "io/text/text.h"

/* ---- text; an element that finds no memory leaves the status behind */

typedef struct e57_out_xml {
    e57_writer *w;
    mote_status status;
} e57_out_xml;

static void put_bytes(e57_out_xml *x, const char *bytes, size_t count) {
    e57_writer *const w = x->w;
    if (x->status != MOTE_OK) return;
    if (!mote_reserve(w->ctx, (void **)&w->xml, &w->xml_capacity, w->xml_bytes + count, 1, "E57 XML")) {
        x->status = MOTE_ERROR_MEMORY;
        return;
    }
    memcpy(w->xml + w->xml_bytes, bytes, count);
    w->xml_bytes += count;
}

static void put(e57_out_xml *x, const char *text) { put_bytes(x, text, strlen(text)); }

/* Bytes of the character of UTF-8 at text that XML allows; 0: there is none. */
static size_t character_bytes(const char *text, size_t length) {
    const uint8_t *const at = (const uint8_t *)text;
    const size_t bytes = at[0] < 0x80   ? 1
                         : at[0] < 0xC2 ? 0
                         : at[0] < 0xE0 ? 2
                         : at[0] < 0xF0 ? 3
                         : at[0] < 0xF5 ? 4
                                        : 0;
    if (bytes == 0 || bytes > length || at[0] < ' ') return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
    }
    const bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    const bool beyond = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
    return overlong || beyond ? 0 : bytes;
}

/* What is no character becomes a question mark. */
static void put_text(e57_out_xml *x, const char *name, const char *text, size_t length) {
    if (length == 0) return;
    put(x, "<");
    put(x, name);
    put(x, " type=\"String\"><![CDATA[");
    for (size_t i = 0; i < length;) {
        const size_t bytes = character_bytes(text + i, length - i);
        const bool ends = length - i >= 3 && memcmp(text + i, "]]>", 3) == 0;
        if (ends) {
            put(x, "]]]]><![CDATA[>");
        } else if (bytes > 0) {
            put_bytes(x, text + i, bytes);
        } else {
            put(x, (uint8_t)text[i] < ' ' ? " " : "?");
        }
        i += ends ? 3 : bytes > 0 ? bytes : 1;
    }
    put(x, "]]></");
    put(x, name);
    put(x, ">\n");
}

static void put_value(e57_out_xml *x, double value) {
    char number[MOTE_TEXT_NUMBER_BYTES];
    uint32_t guess = 0;
    put_bytes(x, number, mote_text_put_double(number, value, &guess));
}

static void put_whole(e57_out_xml *x, int64_t value) {
    char number[MOTE_TEXT_NUMBER_BYTES];
    put_bytes(x, number, mote_text_put_integer(number, value));
}

static void put_number(e57_out_xml *x, const char *name, double value, bool whole) {
    put(x, "<");
    put(x, name);
    put(x, whole ? " type=\"Integer\">" : " type=\"Float\">");
    if (whole) {
        put_whole(x, value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value);
    } else {
        put_value(x, value);
    }
    put(x, "</");
    put(x, name);
    put(x, ">\n");
}

static void open_structure(e57_out_xml *x, const char *name) {
    put(x, "<");
    put(x, name);
    put(x, " type=\"Structure\">\n");
}

static void close_element(e57_out_xml *x, const char *name) {
    put(x, "</");
    put(x, name);
    put(x, ">\n");
}

/* ---- what is known of a scan: lines of its record */

/* Where all points are one scan, that of the only one they came from. */
static const mote_record *find_station(const e57_writer *w, uint32_t source) {
    const mote_record *found = NULL;
    uint64_t count = 0;
    for (uint64_t i = 0; i < w->cloud->record_count; i++) {
        const mote_record *const record = &w->cloud->records[i];
        if (!mote_e57_is_station(record) || (w->source != NULL && record->record_id != source)) continue;
        if (found == NULL) found = record;
        count++;
    }
    return w->source != NULL || count == 1 ? found : NULL;
}

/* The text behind a key; *length 0: there is none. */
static const char *find_line(const mote_record *record, const char *key, size_t *length) {
    const size_t key_length = strlen(key);
    const char *at = record != NULL ? record->data : NULL;
    const char *const end = record != NULL ? at + record->size_bytes : NULL;
    *length = 0;
    while (at != NULL && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        if ((size_t)(stop - at) > key_length && memcmp(at, key, key_length) == 0 && at[key_length] == ' ') {
            *length = (size_t)(stop - at) - key_length - 1;
            return at + key_length + 1;
        }
        at = stop < end ? stop + 1 : end;
    }
    return NULL;
}

static void put_line(e57_out_xml *x, const mote_record *record, const char *key, const char *name) {
    size_t length;
    const char *const text = find_line(record, key, &length);
    put_text(x, name, text, length);
}

/* The numbers of a line; false if there are not that many. */
static bool read_numbers(const mote_record *record, const char *key, double *numbers, int count) {
    size_t length;
    const char *const text = find_line(record, key, &length);
    if (text == NULL || length == 0) return false;
    const uint8_t *at = (const uint8_t *)text, *const end = at + length;
    for (int i = 0; i < count; i++) {
        mote_text_number number;
        while (at < end && *at == ' ') at++;
        if (!mote_text_scan(at, end, &number) || !mote_text_double(&number, &numbers[i])) return false;
        at = number.end;
    }
    return true;
}

/* A pose that is in the coordinates already is only told: a reader is not to apply it again. */
static void put_pose(e57_out_xml *x, const mote_record *record) {
    static const char *const parts[] = {"w", "x", "y", "z"};
    double position[3], rotation[4];
    size_t length;
    if (!read_numbers(record, "position", position, 3) || !read_numbers(record, "rotation", rotation, 4)) return;
    const char *const kept = find_line(record, "pose", &length);
    const char *const name = length == 4 && memcmp(kept, "kept", 4) == 0 ? "pose" : "mote:pose";
    open_structure(x, name);
    open_structure(x, "rotation");
    for (int k = 0; k < 4; k++) put_number(x, parts[k], rotation[k], false);
    close_element(x, "rotation");
    open_structure(x, "translation");
    for (int k = 0; k < 3; k++) put_number(x, parts[k + 1], position[k], false);
    close_element(x, "translation");
    close_element(x, name);
}

static void put_sensor(e57_out_xml *x, const mote_record *record) {
    static const char *const names[] = {"sensorVendor", "sensorModel", "sensorSerialNumber"};
    size_t length;
    const char *text = find_line(record, "sensor", &length);
    for (int i = 0; i < 3 && length > 0; i++) {
        const char *const bar = memchr(text, '|', length);
        const size_t part = bar != NULL ? (size_t)(bar - text) : length;
        put_text(x, names[i], text, part);
        text += bar != NULL ? part + 1 : part;
        length -= bar != NULL ? part + 1 : part;
    }
}

static void put_start(e57_out_xml *x, const mote_record *record) {
    double start = 0;
    bool atomic = false;
    size_t length;
    if (x->w->is_gps_time) {
        start = E57_GPS_ADJUSTED;
        atomic = true;
    } else if (!read_numbers(record, "start", &start, 1)) {
        return;
    } else {
        const char *const clock = find_line(record, "clock", &length);
        atomic = length == 6 && memcmp(clock, "atomic", 6) == 0;
    }
    open_structure(x, "acquisitionStart");
    put_number(x, "dateTimeValue", start, false);
    put_number(x, "isAtomicClockReferenced", atomic, true);
    close_element(x, "acquisitionStart");
}

/* ---- identifiers: made of what is written, so that the same points give the same file */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_scan(const e57_writer *w, const e57_out_scan *scan, uint64_t hash) {
    hash = mix(mix(hash, scan->count), scan->section);
    for (uint64_t i = 0; i < w->field_count; i++) {
        uint64_t bits[2];
        memcpy(bits, &scan->ranges[i], sizeof bits);
        hash = mix(mix(hash, bits[0]), bits[1]);
    }
    return hash;
}

static void put_identifier(e57_out_xml *x, uint64_t a, uint64_t b) {
    char text[48];
    const int length =
        snprintf(text, sizeof text, "{%08X-%04X-%04X-%04X-%012llX}", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xFFFF),
                 (unsigned)(a & 0xFFFF), (unsigned)(b >> 48), (unsigned long long)(b & 0xFFFFFFFFFFFFu));
    put_text(x, "guid", text, (size_t)length);
}

/* ---- limits */

static const e57_out_field *find_field(const e57_writer *w, const char *name, uint64_t *number) {
    for (*number = 0; *number < w->field_count; (*number)++) {
        if (strcmp(w->fields[*number].name, name) == 0) return &w->fields[*number];
    }
    return NULL;
}

static bool is_real(const e57_out_field *field) { return field->kind != E57_INTEGER; }

static void put_limits(e57_out_xml *x, const e57_out_scan *scan, const char *field_name, const char *low,
                       const char *high) {
    uint64_t number;
    const e57_out_field *const field = find_field(x->w, field_name, &number);
    if (field == NULL || !(scan->ranges[number].low <= scan->ranges[number].high)) return;
    const double a = scan->ranges[number].low * field->scale + field->offset;
    const double b = scan->ranges[number].high * field->scale + field->offset;
    put_number(x, low, a < b ? a : b, !is_real(field));
    put_number(x, high, a < b ? b : a, !is_real(field));
}

static void put_bounds(e57_out_xml *x, const e57_out_scan *scan) {
    uint64_t number;
    find_field(x->w, "cartesianX", &number);
    if (scan->ranges[number].low > scan->ranges[number].high) return;
    open_structure(x, "cartesianBounds");
    put_limits(x, scan, "cartesianX", "xMinimum", "xMaximum");
    put_limits(x, scan, "cartesianY", "yMinimum", "yMaximum");
    put_limits(x, scan, "cartesianZ", "zMinimum", "zMaximum");
    close_element(x, "cartesianBounds");
    const bool has_index = find_field(x->w, "rowIndex", &number) != NULL ||
                           find_field(x->w, "columnIndex", &number) != NULL ||
                           find_field(x->w, "returnIndex", &number) != NULL;
    if (!has_index) return;
    open_structure(x, "indexBounds");
    put_limits(x, scan, "rowIndex", "rowMinimum", "rowMaximum");
    put_limits(x, scan, "columnIndex", "columnMinimum", "columnMaximum");
    put_limits(x, scan, "returnIndex", "returnMinimum", "returnMaximum");
    close_element(x, "indexBounds");
}

/* What the cloud's file said of intensities, else what there is. */
static void put_intensity_limits(e57_out_xml *x, const e57_out_scan *scan) {
    uint64_t number;
    mote_column_limits limits;
    const e57_out_field *const field = find_field(x->w, "intensity", &number);
    if (field == NULL) return;
    open_structure(x, "intensityLimits");
    mote_cloud_limits(x->w->cloud, "intensity", &limits);
    if (limits.has_min && limits.has_max) {
        const mote_type type = field->column->type;
        put_number(x, "intensityMinimum", mote_limit_real(limits.min, type) * field->scale + field->offset,
                   !is_real(field));
        put_number(x, "intensityMaximum", mote_limit_real(limits.max, type) * field->scale + field->offset,
                   !is_real(field));
    } else {
        put_limits(x, scan, "intensity", "intensityMinimum", "intensityMaximum");
    }
    close_element(x, "intensityLimits");
}

/* White, not the brightest point: 1, 255 or 65535. */
static void put_color_limits(e57_out_xml *x, const e57_out_scan *scan) {
    static const char *const names[] = {"colorRed", "colorGreen", "colorBlue"};
    double high = 0;
    uint64_t number;
    int found = 0;
    for (int k = 0; k < 3; k++) {
        const e57_out_field *const field = find_field(x->w, names[k], &number);
        if (field == NULL) continue;
        found++;
        const bool plain = mote_color_is_plain(field->column);
        const double top = plain ? (double)field->maximum : scan->ranges[number].high * field->scale + field->offset;
        if (top > high) high = top;
    }
    if (found == 0) return;
    open_structure(x, "colorLimits");
    for (int k = 0; k < 3; k++) {
        char name[40];
        const e57_out_field *const field = find_field(x->w, names[k], &number);
        if (field == NULL) continue;
        const double white = is_real(field) && high <= 1 ? 1
                             : high <= MOTE_COLOR_MAX_8  ? MOTE_COLOR_MAX_8
                                                         : MOTE_COLOR_MAX;
        snprintf(name, sizeof name, "%sMinimum", names[k]);
        put_number(x, name, 0, !is_real(field));
        snprintf(name, sizeof name, "%sMaximum", names[k]);
        put_number(x, name, white, !is_real(field));
    }
    close_element(x, "colorLimits");
}

/* ---- points */

static void put_field(e57_out_xml *x, const e57_out_field *field) {
    put(x, "<");
    put(x, field->name);
    if (field->kind == E57_SINGLE || field->kind == E57_DOUBLE) {
        put(x, field->kind == E57_SINGLE ? " type=\"Float\" precision=\"single\"/>\n" : " type=\"Float\"/>\n");
        return;
    }
    put(x, field->kind == E57_SCALED ? " type=\"ScaledInteger\" minimum=\"" : " type=\"Integer\" minimum=\"");
    put_whole(x, field->minimum);
    put(x, "\" maximum=\"");
    put_whole(x, field->maximum);
    if (field->kind == E57_SCALED) {
        put(x, "\" scale=\"");
        put_value(x, field->scale);
        put(x, "\" offset=\"");
        put_value(x, field->offset);
    }
    put(x, "\"/>\n");
}

static void put_points(e57_out_xml *x, const e57_out_scan *scan) {
    char line[128];
    snprintf(line, sizeof line,
             "<points type=\"CompressedVector\" fileOffset=\"%" PRIu64 "\" recordCount=\"%" PRIu64 "\">\n",
             scan->section, scan->count);
    put(x, line);
    open_structure(x, "prototype");
    for (uint64_t i = 0; i < x->w->field_count; i++) put_field(x, &x->w->fields[i]);
    close_element(x, "prototype");
    put(x, "<codecs type=\"Vector\" allowHeterogeneousChildren=\"1\">\n</codecs>\n</points>\n");
}

static void put_scan(e57_out_xml *x, const e57_out_scan *scan, uint64_t number) {
    const mote_record *const record = find_station(x->w, scan->source);
    size_t length;
    put(x, "<vectorChild type=\"Structure\">\n");
    const char *const guid = find_line(record, "guid", &length);
    if (length > 0) {
        put_text(x, "guid", guid, length);
    } else {
        put_identifier(x, mix_scan(x->w, scan, number + 1), mix_scan(x->w, scan, ~number));
    }
    if (x->w->source != NULL && scan->source != number + 1) put_number(x, "mote:pointSourceId", scan->source, true);
    put_line(x, record, "name", "name");
    put_line(x, record, "description", "description");
    put_sensor(x, record);
    put_pose(x, record);
    put_start(x, record);
    put_bounds(x, scan);
    put_intensity_limits(x, scan);
    put_color_limits(x, scan);
    put_points(x, scan);
    put(x, "</vectorChild>\n");
}

mote_status mote_e57_write_xml(e57_writer *w) {
    e57_out_xml x = {w, MOTE_OK};
    uint64_t a = 1, b = 2;
    for (uint64_t i = 0; i < w->scan_count; i++) {
        a = mix_scan(w, &w->scans[i], a);
        b = mix_scan(w, &w->scans[i], b);
    }
    put(&x, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<e57Root type=\"Structure\"\n"
            " xmlns=\"http://www.astm.org/COMMIT/E57/2010-e57-v1.0\"");
    if (w->has_normals) put(&x, "\n xmlns:nor=\"" E57_NORMALS_URI "\"");
    put(&x, "\n xmlns:mote=\"" E57_MOTE_URI "\">\n");
    put(&x, "<formatName type=\"String\"><![CDATA[ASTM E57 3D Imaging Data File]]></formatName>\n");
    put_identifier(&x, a, b);
    put_number(&x, "versionMajor", 1, true);
    put_number(&x, "versionMinor", 0, true);
    put(&x, "<e57LibraryVersion type=\"String\"><![CDATA[mote " MOTE_VERSION "]]></e57LibraryVersion>\n");
    char *crs = NULL;
    MOTE_TRY(mote_crs_written(w->ctx, w->cloud, &crs));
    put_text(&x, "coordinateMetadata", crs, strlen(crs));
    mote_free(w->ctx, crs);
    put(&x, "<data3D type=\"Vector\" allowHeterogeneousChildren=\"1\">\n");
    for (uint64_t i = 0; i < w->scan_count; i++) put_scan(&x, &w->scans[i], i);
    put(&x, "</data3D>\n<images2D type=\"Vector\" allowHeterogeneousChildren=\"1\">\n</images2D>\n</e57Root>\n");
    MOTE_TRY(x.status);
    return mote_e57_append(w, w->xml, w->xml_bytes);
}
