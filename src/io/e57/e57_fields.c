/* Which fields the columns of a cloud become: those of the standard, of the extension of normals, or of mote's own. */
#include <stdio.h>

#include "io/e57/e57_write.h"
#include "io/las/las_format.h"
#include "io/text/text.h"

bool mote_e57_is_station(const mote_record *record) {
    return strcmp(record->user_id, E57_RECORD_USER) == 0 && strcmp(record->description, E57_RECORD_DESCRIPTION) == 0;
}

/* Whether the numbers of sources are those of scans. */
static bool has_stations(const mote_cloud *cloud) {
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        if (mote_e57_is_station(&cloud->records[i]) && cloud->records[i].record_id > 0) return true;
    }
    return false;
}

/* ---- names */

/* A name that XML takes, behind the prefix of mote's extension: other bytes are _hh. */
static void name_extension(const char *name, char *out) {
    char *at = out + sprintf(out, "mote:");
    for (const char *c = name; *c != '\0'; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        const bool inner =
            c > name && ((*c >= '0' && *c <= '9') || *c == '-' || *c == '.' || (*c == '_' && c[1] != '_'));
        if (letter || inner) {
            *at++ = *c;
        } else {
            at += sprintf(at, "__%02x", (unsigned)(uint8_t)*c);
        }
    }
    *at = '\0';
}

static const char *const standard[][2] = {
    {"x", "cartesianX"},
    {"y", "cartesianY"},
    {"z", "cartesianZ"},
    {"intensity", "intensity"},
    {"red", "colorRed"},
    {"green", "colorGreen"},
    {"blue", "colorBlue"},
    {"row_index", "rowIndex"},
    {"column_index", "columnIndex"},
    {"time_stamp", "timeStamp"},
    {"is_time_stamp_invalid", "isTimeStampInvalid"},
    {"is_intensity_invalid", "isIntensityInvalid"},
    {"is_color_invalid", "isColorInvalid"},
};
static const char *const returns[][2] = {{"return_number", "returnIndex"}, {"number_of_returns", "returnCount"}};
static const char *const normals[][2] = {
    {"normal_x", "nor:normalX"}, {"normal_y", "nor:normalY"}, {"normal_z", "nor:normalZ"}};

static const char *look_up(const char *const (*table)[2], size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i][0], name) == 0) return table[i][1];
    }
    return NULL;
}
#define LOOK_UP(table, name) look_up(table, sizeof(table) / sizeof(table)[0], name)

static bool are_chosen(const mote_cloud *cloud, const bool *chosen, const char *const (*table)[2], size_t count,
                       bool floats) {
    for (size_t i = 0; i < count; i++) {
        const mote_column *const column = mote_cloud_find(cloud, table[i][0]);
        if (column == NULL || !chosen[column - cloud->columns]) return false;
        if (mote_type_is_float(column->type) != floats || column->scale != 1 || column->offset != 0) return false;
    }
    return true;
}

/* ---- kinds */

static void set_range(e57_out_field *field, int64_t minimum, int64_t maximum) {
    const uint64_t span = (uint64_t)maximum - (uint64_t)minimum;
    field->minimum = minimum;
    field->maximum = maximum;
    field->bits = span == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(span);
}

static void set_kind(e57_out_field *field, const mote_column *column) {
    const bool scaled = column->scale != 1 || column->offset != 0;
    const uint32_t bits = column->bit_count > 0 ? column->bit_count : 8 * mote_type_size(column->type);
    const bool is_axis = strncmp(field->name, "cartesian", 9) == 0;
    field->scale = 1;
    if (mote_type_is_float(column->type)) {
        field->kind = column->type == MOTE_FLOAT32 && !scaled ? E57_SINGLE : E57_DOUBLE;
        field->bits = field->kind == E57_SINGLE ? 32 : 64;
        return;
    }
    field->kind = scaled || is_axis ? E57_SCALED : E57_INTEGER;
    field->scale = column->scale;
    field->offset = column->offset;
    if (mote_type_is_signed(column->type) && column->bit_count == 0) {
        set_range(field, bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)),
                  bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1);
    } else {
        set_range(field, 0, bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1);
    }
}

static e57_out_field *add_field(e57_writer *w, const mote_column *column, const char *name) {
    e57_out_field *const field = &w->fields[w->field_count++];
    memset(field, 0, sizeof *field);
    field->column = column;
    if (name != NULL) {
        snprintf(field->name, sizeof field->name, "%s", name);
    } else {
        name_extension(column->name, field->name);
        field->is_extension = w->has_extension = true;
    }
    if (column != NULL) set_kind(field, column);
    return field;
}

/* ---- columns */

/* GPS times that are known to be LAS's adjusted standard time have a beginning that E57 can state. */
static bool knows_gps_time(const mote_cloud *cloud) {
    return (cloud->las.global_encoding & LAS_ENCODING_ADJUSTED) != 0;
}

static const char *field_name(const e57_writer *w, const mote_column *column, bool with_returns) {
    const char *name = LOOK_UP(standard, column->name);
    if (name == NULL && with_returns) name = LOOK_UP(returns, column->name);
    if (name == NULL && w->has_normals) name = LOOK_UP(normals, column->name);
    if (strcmp(column->name, "gps_time") == 0 && w->is_gps_time) name = "timeStamp";
    return name;
}

static bool says_more(const mote_cloud *cloud, const mote_column *column) {
    mote_column_limits limits;
    mote_cloud_limits(cloud, column->name, &limits);
    return limits.has_no_data || column->description[0] != '\0';
}

static mote_status add_fields(e57_writer *w, const bool *chosen) {
    const mote_cloud *const cloud = w->cloud;
    const bool with_returns = are_chosen(cloud, chosen, returns, 2, false);
    const mote_column *const time = mote_cloud_find(cloud, "gps_time");
    const mote_column *const stamp = mote_cloud_find(cloud, "time_stamp");
    w->has_normals = are_chosen(cloud, chosen, normals, 3, true);
    w->is_gps_time = time != NULL && chosen[time - cloud->columns] && knows_gps_time(cloud) &&
                     (stamp == NULL || !chosen[stamp - cloud->columns]);
    for (uint64_t i = 0; i < cloud->column_count; i++) {
        const mote_column *const column = &cloud->columns[i];
        if (!chosen[i] || column == w->source) continue;
        e57_out_field *const field = add_field(w, column, field_name(w, column, with_returns));
        if (strcmp(field->name, "returnIndex") == 0) {
            field->shift = -1; /* E57 counts returns from 0 */
            field->minimum--;
            field->maximum--;
        }
        w->lost_texts += says_more(cloud, column);
    }
    bool any_real = false;
    for (int k = 0; k < 3; k++) any_real = any_real || mote_type_is_float(w->axes[k]->type);
    if (!any_real) return MOTE_OK;
    e57_out_field *const state = add_field(w, NULL, "cartesianInvalidState");
    state->scale = 1;
    set_range(state, 0, 2);
    return MOTE_OK;
}

/* The columns that params names; x, y and z always. */
static mote_status choose_columns(e57_writer *w, const char *list, bool *chosen) {
    char name[MOTE_NAME_BYTES];
    for (uint64_t i = 0; i < w->cloud->column_count; i++) chosen[i] = list == NULL;
    const char *const missing = list != NULL ? mote_list_mark(w->cloud, list, chosen) : NULL;
    if (mote_list_next(missing, name) != NULL) {
        return mote_fail(w->ctx, MOTE_ERROR_ARGUMENT, "%s: the cloud has no attribute \"%s\"", w->path, name);
    }
    for (int k = 0; k < 3; k++) chosen[w->axes[k] - w->cloud->columns] = true;
    return MOTE_OK;
}

const mote_column *mote_e57_source(const mote_cloud *cloud, const mote_write_params *params) {
    const mote_column *const source = mote_cloud_find(cloud, "point_source_id");
    if (source == NULL || !(params->by_source || has_stations(cloud))) return NULL;
    const bool fits = !mote_type_is_float(source->type) && !mote_type_is_signed(source->type) &&
                      mote_type_size(source->type) <= 2 && source->scale == 1 && source->offset == 0;
    return fits ? source : NULL;
}

mote_status mote_e57_choose_fields(e57_writer *w, const mote_write_params *params) {
    const mote_cloud *const cloud = w->cloud;
    bool *const chosen = mote_alloc(w->ctx, cloud->column_count * sizeof *chosen, "E57 fields");
    w->fields = mote_alloc(w->ctx, (cloud->column_count + 1) * sizeof *w->fields, "E57 fields");
    mote_status status = chosen != NULL && w->fields != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_cloud_positions(w->ctx, cloud, w->axes);
    if (status == MOTE_OK) status = choose_columns(w, params->columns, chosen);
    w->source = mote_e57_source(cloud, params);
    if (status == MOTE_OK && w->source == NULL && params->by_source) {
        status =
            mote_fail(w->ctx, MOTE_ERROR_ARGUMENT,
                      "%s: a scan for each point_source_id, but the cloud has no such numbers of 16 bits", w->path);
    }
    if (status == MOTE_OK) status = add_fields(w, chosen);
    mote_free(w->ctx, chosen);
    return status;
}
