/* How the fields of all scans become the columns of one cloud: the union of them, each in the smallest type that holds
   what every scan has. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/color.h"
#include "io/e57/e57.h"
#include "io/las/las_format.h"

static const char *const cartesian[3] = {"cartesianX", "cartesianY", "cartesianZ"};
static const char *const spherical[3] = {"sphericalRange", "sphericalAzimuth", "sphericalElevation"};
static const char *const normal_names[3] = {"normal_x", "normal_y", "normal_z"};
static const char *const color_names[3] = {"red", "green", "blue"};

/* What a field is called here. */
static const struct {
    const char *field, *column;
} known_fields[] = {
    {"intensity", "intensity"},
    {"colorRed", "red"},
    {"colorGreen", "green"},
    {"colorBlue", "blue"},
    {"rowIndex", "row_index"},
    {"columnIndex", "column_index"},
    {"returnIndex", "return_number"}, /* plus 1: E57 counts returns from 0 */
    {"returnCount", "number_of_returns"},
    {"isTimeStampInvalid", "is_time_stamp_invalid"},
    {"isIntensityInvalid", "is_intensity_invalid"},
    {"isColorInvalid", "is_color_invalid"},
};

static int32_t find_field(const e57_scan *scan, const char *name) {
    for (uint64_t i = 0; i < scan->field_count; i++) {
        if (strcmp(scan->fields[i].name, name) == 0) return (int32_t)i;
    }
    return -1;
}

static bool find_three(const e57_scan *scan, const char *const names[3], int32_t fields[3]) {
    bool found = true;
    for (int k = 0; k < 3; k++) {
        fields[k] = find_field(scan, names[k]);
        found = found && fields[k] >= 0 && scan->fields[fields[k]].kind != E57_STRING;
    }
    return found;
}

static int index_of(const char *name, const char *const names[3]) {
    for (int k = 0; k < 3; k++) {
        if (strcmp(name, names[k]) == 0) return k;
    }
    return -1;
}

/* ---- coordinates */

static mote_status find_coordinates(mote_context *ctx, const mote_input *input, const e57_scan *scan, uint64_t number,
                                    bool keep_poses, e57_scan_plan *plan) {
    const bool is_cartesian = find_three(scan, cartesian, plan->axes);
    plan->is_spherical = !is_cartesian && find_three(scan, spherical, plan->axes);
    plan->is_moved = scan->pose.moves && !scan->is_applied && !keep_poses;
    plan->state = find_field(scan, plan->is_spherical ? "sphericalInvalidState" : "cartesianInvalidState");
    if (plan->state >= 0 && scan->fields[plan->state].kind == E57_STRING) plan->state = -1;
    if (is_cartesian || plan->is_spherical || scan->count == 0) return MOTE_OK;
    return mote_malformed(ctx, input, scan->stated_at,
                          "scan %" PRIu64 " has neither cartesianX, Y and Z nor sphericalRange, Azimuth and Elevation",
                          number);
}

/* The largest number that the bits of a field can hold, whatever its maximum is. */
static int64_t top_of(const e57_field *field) {
    if (field->bits >= 64) return INT64_MAX;
    const uint64_t span = ((uint64_t)1 << field->bits) - 1;
    return span > (uint64_t)INT64_MAX - (uint64_t)field->minimum && field->minimum >= 0
               ? INT64_MAX
               : (int64_t)((uint64_t)field->minimum + span);
}

static bool is_real(const e57_field *field) { return field->kind == E57_SINGLE || field->kind == E57_DOUBLE; }

static mote_type axis_type(const e57_field *field) {
    if (is_real(field)) return field->kind == E57_SINGLE ? MOTE_FLOAT32 : MOTE_FLOAT64;
    return field->minimum >= INT32_MIN && top_of(field) <= INT32_MAX ? MOTE_INT32 : MOTE_INT64;
}

/* Every scan needs coordinates, except one without points. */
static bool has_coordinates(const e57_scan_plan *p) { return p->axes[0] >= 0 && p->axes[1] >= 0 && p->axes[2] >= 0; }

/* Whether the coordinates of all scans can stay as they are: Cartesian, unmoved, and stored alike. */
static bool are_alike(const e57_file *file, const e57_plan *plan) {
    const e57_scan *first = NULL;
    const int32_t *first_axes = NULL;
    for (uint64_t i = 0; i < file->scan_count; i++) {
        const e57_scan *const scan = &file->scans[i];
        const e57_scan_plan *const p = &plan->scans[i];
        if (!has_coordinates(p)) continue;
        if (p->is_spherical || p->is_moved) return false;
        if (first == NULL) {
            first = scan;
            first_axes = p->axes;
        }
        for (int k = 0; k < 3; k++) {
            const e57_field *const a = &first->fields[first_axes[k]], *const b = &scan->fields[p->axes[k]];
            if (axis_type(a) != axis_type(b) || a->scale != b->scale || a->offset != b->offset) return false;
        }
    }
    return first != NULL;
}

static mote_status add_column(mote_context *ctx, e57_plan *plan, const char *name, const char *description,
                              uint64_t *number) {
    if (!mote_reserve(ctx, (void **)&plan->columns, &plan->column_capacity, plan->column_count + 1,
                      sizeof *plan->columns, "E57 columns")) {
        return MOTE_ERROR_MEMORY;
    }
    *number = plan->column_count++;
    e57_column *const column = &plan->columns[*number];
    memset(column, 0, sizeof *column);
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->description, sizeof column->description, "%s", description);
    column->scale = 1;
    return MOTE_OK;
}

static mote_status add_coordinates(mote_context *ctx, const e57_file *file, e57_plan *plan) {
    uint64_t number;
    plan->is_native = are_alike(file, plan);
    for (int k = 0; k < 3; k++) {
        MOTE_TRY(add_column(ctx, plan, mote_axis_names[k], "", &number));
        e57_column *const column = &plan->columns[number];
        column->type = MOTE_FLOAT64;
        for (uint64_t i = 0; i < file->scan_count && plan->is_native; i++) {
            if (!has_coordinates(&plan->scans[i])) continue;
            const e57_field *const field = &file->scans[i].fields[plan->scans[i].axes[k]];
            column->type = axis_type(field);
            column->scale = field->scale;
            column->offset = field->offset;
            break;
        }
    }
    MOTE_TRY(add_column(ctx, plan, "point_source_id", "", &number));
    plan->columns[number].type = MOTE_UINT16;
    return MOTE_OK;
}

/* ---- all other fields */

/* A column as one scan would have it. */
typedef struct e57_wish {
    mote_type type;
    double scale, offset;
    int64_t low, high; /* of integers */
    e57_source_field source;
    bool is_integer; /* scale 1, offset 0 */
    bool is_color;   /* whose black and white are known */
} e57_wish;

static mote_type type_of_range(int64_t low, int64_t high) {
    if (low >= 0) {
        return high <= UINT8_MAX    ? MOTE_UINT8
               : high <= UINT16_MAX ? MOTE_UINT16
               : high <= UINT32_MAX ? MOTE_UINT32
                                    : MOTE_INT64;
    }
    if (low >= INT8_MIN && high <= INT8_MAX) return MOTE_INT8;
    if (low >= INT16_MIN && high <= INT16_MAX) return MOTE_INT16;
    return low >= INT32_MIN && high <= INT32_MAX ? MOTE_INT32 : MOTE_INT64;
}

/* Integer colours of 8 or 16 bits stay as they are; those of another range are brought to 16 bits. The limits of
   colours are what a scanner could give, or, as some programs write them, the least and the largest value of the scan:
   they count only where the field itself does not say 8 bits. */
static void wish_for_color(const e57_scan *scan, const e57_field *field, int channel, e57_wish *wish) {
    const e57_limits *const limits = &scan->colors[channel];
    const bool is_byte = field->minimum == 0 && field->maximum == MOTE_COLOR_MAX_8;
    const bool stated = !is_byte && limits->has_min && limits->has_max && limits->max > limits->min;
    wish->source.low = stated ? limits->min : (double)field->minimum;
    wish->source.high = stated ? limits->max : (double)field->maximum;
    if (field->minimum == field->maximum) wish->source.high = wish->source.low + MOTE_COLOR_MAX_8;
    wish->type = is_byte ? MOTE_UINT8 : MOTE_UINT16;
    wish->is_color = true;
    const bool is_16 = wish->source.low == 0 && wish->source.high == MOTE_COLOR_MAX && field->minimum >= 0;
    if (!is_byte && (!is_16 || top_of(field) > UINT16_MAX)) wish->source.how = E57_AS_COLOR;
}

static e57_wish wish_for(const e57_scan *scan, int32_t number, const char *name, int64_t shift) {
    const e57_field *const field = &scan->fields[number];
    const int channel = index_of(name, color_names);
    e57_wish wish = {.scale = 1, .source = {.field = number}};
    if (is_real(field)) {
        wish.type = field->kind == E57_SINGLE ? MOTE_FLOAT32 : MOTE_FLOAT64;
        wish.source.how = E57_AS_REAL;
        return wish;
    }
    const int64_t top = top_of(field);
    wish.source.shift = top > INT64_MAX - shift ? 0 : shift;
    wish.low = field->minimum + wish.source.shift;
    wish.high = top + wish.source.shift;
    wish.type = type_of_range(wish.low, wish.high);
    wish.scale = field->scale;
    wish.offset = field->offset;
    wish.is_integer = field->scale == 1 && field->offset == 0;
    if (channel >= 0 && wish.is_integer) wish_for_color(scan, field, channel, &wish);
    return wish;
}

/* A name of mote's extension, in which __hh is a byte that XML does not have in names. */
static bool read_own_name(const char *name, char own[MOTE_NAME_BYTES]) {
    size_t length = 0;
    while (*name != '\0' && length + 1 < MOTE_NAME_BYTES) {
        const bool escaped =
            name[0] == '_' && name[1] == '_' && isxdigit((uint8_t)name[2]) && isxdigit((uint8_t)name[3]);
        const char digits[3] = {escaped ? name[2] : '0', escaped ? name[3] : '0', '\0'};
        const unsigned long byte = strtoul(digits, NULL, 16);
        if (byte > 0) {
            own[length++] = (char)byte;
            name += 4;
        } else {
            own[length++] = *name++;
        }
    }
    own[length] = '\0';
    return length > 0;
}

/* What the column of a field is called. */
static void name_column(const e57_file *file, const e57_scan *scan, const e57_field *field, char *name) {
    const char *const colon = strrchr(field->name, ':');
    const size_t prefix = colon != NULL ? (size_t)(colon - field->name) : 0;
    for (size_t i = 0; i < sizeof known_fields / sizeof known_fields[0]; i++) {
        if (strcmp(field->name, known_fields[i].field) != 0) continue;
        snprintf(name, MOTE_NAME_BYTES, "%s", known_fields[i].column);
        return;
    }
    if (strcmp(field->name, "timeStamp") == 0) {
        snprintf(name, MOTE_NAME_BYTES, "%s", scan->atomic && scan->start > 0 ? "gps_time" : "time_stamp");
        return;
    }
    const bool is_normal =
        colon != NULL && strncmp(colon + 1, "normal", 6) == 0 && colon[7] >= 'X' && colon[7] <= 'Z' && colon[8] == '\0';
    const bool is_extension = (file->normals != NULL && strlen(file->normals) == prefix &&
                               strncmp(field->name, file->normals, prefix) == 0) ||
                              (prefix == 3 && strncmp(field->name, "nor", 3) == 0);
    char own[MOTE_NAME_BYTES];
    const bool is_own = prefix == 4 && strncmp(field->name, "mote", 4) == 0 && read_own_name(colon + 1, own);
    const char *const local = is_own ? own : colon != NULL ? colon + 1 : field->name;
    const char *const standard = is_own                      ? NULL
                                 : is_normal && is_extension ? normal_names[colon[7] - 'X']
                                                             : mote_standard_name(local);
    const bool is_axis = standard != NULL && index_of(standard, mote_axis_names) >= 0;
    snprintf(name, MOTE_NAME_BYTES, "%s", is_axis ? field->name : standard != NULL ? standard : local);
}

static bool is_passed_over(const e57_scan *scan, const e57_scan_plan *p, uint64_t number, e57_plan *plan) {
    const e57_field *const field = &scan->fields[number];
    const int32_t n = (int32_t)number;
    if (n == p->axes[0] || n == p->axes[1] || n == p->axes[2] || n == p->state) return true;
    if (field->kind == E57_STRING) {
        plan->strings++;
        return true;
    }
    const bool is_other = index_of(field->name, cartesian) >= 0 || index_of(field->name, spherical) >= 0 ||
                          strcmp(field->name, "cartesianInvalidState") == 0 ||
                          strcmp(field->name, "sphericalInvalidState") == 0;
    plan->second_coordinates += is_other;
    return is_other;
}

static int32_t find_column(const e57_plan *plan, const char *name) {
    for (uint64_t i = 0; i < plan->column_count; i++) {
        if (strcmp(plan->columns[i].name, name) == 0) return (int32_t)i;
    }
    return -1;
}

/* Finds the columns of a scan's fields by name; those that are not there yet are added. */
static mote_status name_columns(mote_context *ctx, const e57_file *file, uint64_t scan_number, e57_plan *plan) {
    const e57_scan *const scan = &file->scans[scan_number];
    int32_t *const columns = plan->scans[scan_number].columns;
    for (uint64_t i = 0; i < scan->field_count; i++) {
        const e57_field *const field = &scan->fields[i];
        char name[MOTE_NAME_BYTES];
        columns[i] = -1;
        if (is_passed_over(scan, &plan->scans[scan_number], i, plan)) continue;
        name_column(file, scan, field, name);
        bool taken = true;
        for (uint64_t attempt = 2; taken; attempt++) {
            taken = index_of(name, mote_axis_names) >= 0;
            const int32_t there = find_column(plan, name);
            for (uint64_t k = 0; k < i && there >= 0; k++) taken = taken || columns[k] == there;
            if (taken && attempt == 2) snprintf(name, sizeof name, "%s", field->name);
            if (taken && attempt > 2) snprintf(name, sizeof name, "%s_%" PRIu64, field->name, attempt);
        }
        columns[i] = find_column(plan, name);
        if (columns[i] == (int32_t)E57_STATION_COLUMN) plan->scans[scan_number].has_sources = true;
        uint64_t added;
        if (columns[i] >= 0) continue;
        const bool is_foreign = strchr(field->name, ':') != NULL && strncmp(field->name, "mote:", 5) != 0 &&
                                strcmp(name, field->name) != 0 && index_of(name, normal_names) < 0;
        MOTE_TRY(add_column(ctx, plan, name, is_foreign ? field->name : "", &added));
        columns[i] = (int32_t)added;
    }
    return MOTE_OK;
}

/* Makes one column of two wishes. */
static void unite(e57_wish *all, const e57_wish *one) {
    const bool alike = all->type == one->type && all->scale == one->scale && all->offset == one->offset;
    if (all->is_color && one->is_color) {
        if (!alike) all->source.how = E57_AS_COLOR;
        if (one->source.how == E57_AS_COLOR) all->source.how = E57_AS_COLOR;
        if (all->source.how == E57_AS_COLOR) all->type = MOTE_UINT16;
        return;
    }
    all->low = one->low < all->low ? one->low : all->low;
    all->high = one->high > all->high ? one->high : all->high;
    if (alike && all->is_color == one->is_color && all->source.how == one->source.how) return;
    if (all->is_integer && one->is_integer) {
        all->type = type_of_range(all->low, all->high);
        return;
    }
    const bool singles = all->type == MOTE_FLOAT32 && one->type == MOTE_FLOAT32;
    *all = (e57_wish){.type = singles ? MOTE_FLOAT32 : MOTE_FLOAT64, .scale = 1, .source = {.how = E57_AS_REAL}};
}

/* What a file says of the range of intensities, if all its scans do. */
static void keep_intensity_limits(const e57_file *file, e57_column *column) {
    e57_limits all = {true, true, INFINITY, -INFINITY};
    for (uint64_t i = 0; i < file->scan_count; i++) {
        const e57_limits *const limits = &file->scans[i].intensity;
        all.has_min = all.has_min && limits->has_min && limits->has_max;
        all.min = fmin(all.min, limits->min);
        all.max = fmax(all.max, limits->max);
    }
    if (!all.has_min || !(all.min < all.max)) return;
    column->limits.has_min = column->limits.has_max = true;
    column->limits.min = mote_limit_of_real((all.min - column->offset) / column->scale, column->type);
    column->limits.max = mote_limit_of_real((all.max - column->offset) / column->scale, column->type);
}

/* What a scan has for a column of a field, before other scans are asked. */
static e57_wish wish_of(const e57_file *file, const e57_plan *plan, uint64_t scan_number, uint64_t field) {
    const e57_scan *const scan = &file->scans[scan_number];
    const e57_column *const column = &plan->columns[plan->scans[scan_number].columns[field]];
    const bool is_return = strcmp(scan->fields[field].name, "returnIndex") == 0;
    e57_wish wish = wish_for(scan, (int32_t)field, column->name, is_return ? 1 : 0);
    const bool is_time = strcmp(scan->fields[field].name, "timeStamp") == 0 && strcmp(column->name, "gps_time") == 0;
    const bool turns = index_of(column->name, normal_names) >= 0 && plan->scans[scan_number].is_moved;
    if (is_time || (turns && wish.type != MOTE_FLOAT64)) {
        wish = (e57_wish){.type = is_time ? MOTE_FLOAT64 : MOTE_FLOAT32, .scale = 1, .source = wish.source};
        wish.source.how = E57_AS_REAL;
        wish.source.low = is_time ? scan->start - E57_GPS_ADJUSTED : 0;
    }
    return wish;
}

/* Settles the types of all columns of fields. */
static mote_status settle_columns(mote_context *ctx, const e57_file *file, e57_plan *plan) {
    e57_wish *const wishes = mote_alloc_zero(ctx, plan->column_count * sizeof *wishes, "E57 columns");
    bool has_stamps = false, has_others = false;
    if (wishes == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < file->scan_count; i++) {
        for (uint64_t k = 0; k < file->scans[i].field_count; k++) {
            const int32_t number = plan->scans[i].columns[k];
            if (number < 0) continue;
            const e57_wish one = wish_of(file, plan, i, k);
            const bool is_time = strcmp(plan->columns[number].name, "gps_time") == 0;
            const bool is_stamp = strcmp(file->scans[i].fields[k].name, "timeStamp") == 0;
            has_stamps = has_stamps || (is_time && is_stamp);
            has_others = has_others || (is_time && !is_stamp);
            if (wishes[number].scale == 0) {
                wishes[number] = one;
            } else {
                unite(&wishes[number], &one);
            }
        }
    }
    plan->has_gps_times = has_stamps && !has_others;
    for (uint64_t c = E57_STATION_COLUMN; c < plan->column_count; c++) {
        e57_column *const column = &plan->columns[c];
        if (wishes[c].scale == 0) continue; /* the station alone */
        column->type = wishes[c].type;
        column->scale = wishes[c].scale;
        column->offset = wishes[c].offset;
        column->how = wishes[c].source.how;
        if (strcmp(column->name, "intensity") == 0) keep_intensity_limits(file, column);
    }
    mote_free(ctx, wishes);
    return MOTE_OK;
}

static mote_status add_fields(mote_context *ctx, const mote_input *input, const e57_file *file, e57_plan *plan) {
    for (uint64_t i = 0; i < file->scan_count; i++) {
        const e57_scan *const scan = &file->scans[i];
        plan->scans[i].columns = mote_alloc(ctx, scan->field_count * sizeof *plan->scans[i].columns, "E57 columns");
        if (plan->scans[i].columns == NULL) return MOTE_ERROR_MEMORY;
        MOTE_TRY(name_columns(ctx, file, i, plan));
        if (plan->column_count > E57_FIELDS_MAX) {
            return mote_malformed(ctx, input, scan->stated_at, "the scans have more than %u different fields",
                                  E57_FIELDS_MAX);
        }
    }
    return settle_columns(ctx, file, plan);
}

void mote_e57_plan_scan(const e57_file *file, const e57_plan *plan, uint64_t scan_number, e57_source_field *sources) {
    for (uint64_t c = 0; c < plan->column_count; c++) sources[c] = (e57_source_field){.field = -1};
    sources[E57_STATION_COLUMN].how = E57_AS_STATION;
    for (uint64_t k = 0; k < file->scans[scan_number].field_count; k++) {
        const int32_t number = plan->scans[scan_number].columns[k];
        if (number < 0) continue;
        sources[number] = wish_of(file, plan, scan_number, k).source;
        sources[number].how = plan->columns[number].how;
    }
}

/* ---- what is wanted */

static mote_status add_views(const e57_plan *plan, const uint8_t *records, mote_cloud *cloud) {
    for (uint64_t i = 0; i < plan->column_count; i++) {
        const e57_column *const column = &plan->columns[i];
        if (!column->is_kept) continue;
        mote_column view;
        memset(&view, 0, sizeof view);
        view.name = column->name;
        view.description = column->description;
        view.unit = i < 3 && mote_cloud_crs(cloud)[0] == '\0' ? "m" : "";
        view.data = records + column->at;
        view.stride_bytes = plan->record_bytes;
        view.type = column->type;
        view.scale = column->scale;
        view.offset = column->offset;
        MOTE_TRY(mote_cloud_add_view(cloud, &view));
        if (column->limits.has_min) MOTE_TRY(mote_cloud_keep_limits(cloud, column->name, &column->limits));
    }
    return MOTE_OK;
}

static mote_status select_columns(mote_context *ctx, const char *select, e57_plan *plan) {
    static const uint8_t nothing[8];
    mote_cloud *cloud = NULL;
    for (uint64_t i = 0; i < plan->column_count; i++) plan->columns[i].is_kept = true;
    mote_status status = select != NULL ? mote_cloud_new(ctx, 0, &cloud) : MOTE_OK;
    if (status == MOTE_OK && select != NULL) status = add_views(plan, nothing, cloud);
    if (status == MOTE_OK && select != NULL) status = mote_cloud_keep_columns(cloud, select);
    for (uint64_t i = 0; i < plan->column_count && status == MOTE_OK; i++) {
        e57_column *const column = &plan->columns[i];
        column->is_kept = select == NULL || mote_cloud_find(cloud, column->name) != NULL;
        column->at = plan->record_bytes;
        if (column->is_kept) plan->record_bytes += mote_type_size(column->type);
    }
    mote_cloud_destroy(cloud);
    return status;
}

mote_status mote_e57_make_cloud(mote_context *ctx, const e57_file *file, const e57_plan *plan,
                                const mote_read_params *params, uint8_t *records, mote_cloud **out) {
    const mote_status status = mote_cloud_new(ctx, 0, out);
    if (status != MOTE_OK) mote_free(ctx, records);
    MOTE_TRY(status);
    MOTE_TRY(mote_cloud_adopt(*out, records));
    if (file->crs != NULL) MOTE_TRY(mote_cloud_set_crs(*out, file->crs));
    MOTE_TRY(add_views(plan, records, *out));
    (*out)->sources_in_order = true;
    if (plan->has_gps_times) (*out)->las.global_encoding = LAS_ENCODING_ADJUSTED;
    for (uint64_t i = 0; i < file->scan_count; i++) {
        const e57_scan *const scan = &file->scans[i];
        const uint32_t number = plan->scans[i].has_sources ? 0 : scan->station;
        MOTE_TRY(mote_e57_keep_station(*out, scan, number, scan->is_applied || !params->keep_poses));
    }
    return MOTE_OK;
}

/* ---- all of it */

mote_status mote_e57_plan_make(mote_context *ctx, const mote_input *input, const e57_file *file,
                               const mote_read_params *params, e57_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->scans = mote_alloc_zero(ctx, file->scan_count * sizeof *plan->scans, "E57 columns");
    mote_status status = plan->scans != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < file->scan_count && status == MOTE_OK; i++) {
        status = find_coordinates(ctx, input, &file->scans[i], i + 1, params->keep_poses, &plan->scans[i]);
    }
    if (status == MOTE_OK) status = add_coordinates(ctx, file, plan);
    if (status == MOTE_OK) status = add_fields(ctx, input, file, plan);
    return status == MOTE_OK ? select_columns(ctx, params->select, plan) : status;
}

void mote_e57_plan_close(mote_context *ctx, const e57_file *file, e57_plan *plan) {
    for (uint64_t i = 0; i < file->scan_count && plan->scans != NULL; i++) mote_free(ctx, plan->scans[i].columns);
    mote_free(ctx, plan->scans);
    mote_free(ctx, plan->columns);
}
