/* What a Potree folder of a cloud holds: its attributes in order, their types and places, and the position grid. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "device/backend.h"
#include "io/potree/potree.h"
#include "io/potree/potree_math.h"

#define FLAG_COLUMNS POTREE_MERGED

/* ---- flags that are zero everywhere are left out */

/* The union of the bits of a flag-like column over all points. */
typedef struct flag_bits {
    const mote_column *column;
    uint64_t bits;
} flag_bits;

static uint64_t union_of_bytes(const mote_context *ctx, const mote_column *column, uint64_t count) {
    const uint8_t *data = column->data;
    const uint64_t stride = column->stride_bytes;
    uint64_t all = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(| : all)
    for (int64_t i = 0; i < (int64_t)count; i++) all |= data[(uint64_t)i * stride];
    return all;
}

static uint64_t union_of_values(const mote_context *ctx, const mote_column *column, uint64_t count) {
    uint64_t all = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(| : all)
    for (int64_t i = 0; i < (int64_t)count; i++) all |= potree_raw_bits(column, column_at(column, (uint64_t)i));
    return all;
}

static mote_status merge_bits(const potree_plan *plan, const mote_column *columns, uint32_t column_count,
                              uint64_t *bits) {
    const uint64_t count = plan->cloud->count;
    if (count == 0 || column_count == 0) return MOTE_OK;
    if (plan->device_ops != NULL) return plan->device_ops->merge_bits(plan->device, columns, column_count, count, bits);
    for (uint32_t c = 0; c < column_count; c++) {
        bits[c] = mote_type_size(columns[c].type) == 1 ? union_of_bytes(plan->ctx, &columns[c], count)
                                                       : union_of_values(plan->ctx, &columns[c], count);
    }
    return MOTE_OK;
}

/* known: of a part, what all points have; else NULL */
static mote_status find_flag_bits(const potree_plan *plan, const uint64_t *known, flag_bits flags[FLAG_COLUMNS]) {
    static const char *const names[FLAG_COLUMNS] = {
        "synthetic",       "key_point",           "withheld",           "overlap",
        "scanner_channel", "scan_direction_flag", "edge_of_flight_line"};
    if (known != NULL) {
        for (uint32_t f = 0; f < FLAG_COLUMNS; f++) {
            flags[f] = (flag_bits){mote_cloud_find(plan->cloud, names[f]), known[f]};
        }
        return MOTE_OK;
    }
    mote_column columns[FLAG_COLUMNS]; /* fields of one byte are looked at together */
    uint64_t raw[FLAG_COLUMNS] = {0};
    uint32_t which[FLAG_COLUMNS] = {0}, column_count = 0;
    for (uint32_t f = 0; f < FLAG_COLUMNS; f++) {
        const mote_column *column = mote_cloud_find(plan->cloud, names[f]);
        flags[f].column = column;
        if (column == NULL) continue;
        uint32_t c = 0;
        while (c < column_count && (columns[c].data != column->data || columns[c].type != column->type)) c++;
        if (c == column_count) columns[column_count++] = *column;
        which[f] = c;
    }
    MOTE_TRY(merge_bits(plan, columns, column_count, raw));
    for (uint32_t f = 0; f < FLAG_COLUMNS; f++) {
        const mote_column *column = flags[f].column;
        flags[f].bits = 0;
        if (column == NULL) continue;
        const uint64_t mask = column->bit_count > 0 ? (1ull << column->bit_count) - 1 : UINT64_MAX;
        flags[f].bits = raw[which[f]] >> column->bit_shift & mask;
    }
    return MOTE_OK;
}

mote_status potree_flag_bits(mote_context *ctx, const mote_cloud *cloud, uint64_t bits[POTREE_MERGED]) {
    const potree_plan plan = {.ctx = ctx, .cloud = cloud};
    flag_bits flags[FLAG_COLUMNS];
    MOTE_TRY(find_flag_bits(&plan, NULL, flags));
    for (uint32_t f = 0; f < FLAG_COLUMNS; f++) bits[f] |= flags[f].bits;
    return MOTE_OK;
}

static uint64_t bits_of(const flag_bits flags[FLAG_COLUMNS], const mote_column *column) {
    for (uint32_t f = 0; f < FLAG_COLUMNS; f++) {
        if (flags[f].column == column) return flags[f].bits;
    }
    return UINT64_MAX;
}

/* ---- attributes */

static bool left_out(const mote_potree_params *params, const char *attribute, const char *column) {
    const char *const *names = params->attributes_left_out;
    for (; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, attribute) == 0 || (column != NULL && strcmp(*names, column) == 0)) return true;
    }
    return false;
}

static bool is_taken(const potree_plan *plan, const char *name) {
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        if (strcmp(plan->attributes[a].name, name) == 0) return true;
    }
    return false;
}

static bool is_used(const potree_plan *plan, const mote_column *column) {
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        for (uint32_t c = 0; c < 4; c++) {
            if (plan->attributes[a].columns[c] == column) return true;
        }
    }
    return false;
}

/* Room is there for one per column and the three made of several. */
static potree_attribute *add_attribute(potree_plan *plan, const char *name, mote_type type, uint32_t elements) {
    potree_attribute *attribute = &plan->attributes[plan->attribute_count];
    memset(attribute, 0, sizeof *attribute);
    potree_clean_text(name, attribute->name, 101);
    char clean[MOTE_NAME_BYTES];
    memcpy(clean, attribute->name, sizeof clean);
    for (unsigned n = 2; attribute->name[0] == '\0' || is_taken(plan, attribute->name); n++) {
        snprintf(attribute->name, sizeof attribute->name, "%.100s %u", clean[0] != '\0' ? clean : "unnamed", n);
    }
    attribute->type = type;
    attribute->elements = elements;
    attribute->scale = 1;
    plan->attribute_count++;
    return attribute;
}

/* The no-data value among the record's numbers: the column's, as the record holds it. NaN is in no range
   anyway. */
static void set_no_data(const potree_plan *plan, const mote_column *column, potree_attribute *attribute) {
    mote_column_limits limits;
    uint64_t bits;
    if (!mote_cloud_limits(plan->cloud, column->name, &limits) || !limits.has_no_data) return;
    const double real = mote_limit_real(limits.no_data, column->type);
    const float narrow = (float)real;
    memcpy(&bits, &real, sizeof bits);
    if (attribute->type == MOTE_FLOAT32) memcpy(&bits, &narrow, sizeof narrow);
    if (!mote_type_is_float(attribute->type)) bits = limits.no_data;
    attribute->has_no_data = potree_key((const uint8_t *)&bits, attribute->type, &attribute->no_data);
}

static void add_plain(potree_plan *plan, const char *name, const mote_column *column) {
    const bool wide = column->type == MOTE_INT64 || column->type == MOTE_UINT64;
    potree_attribute *attribute = add_attribute(plan, name, wide ? MOTE_FLOAT64 : column->type, 1);
    attribute->columns[0] = column;
    attribute->scale = column->scale;
    attribute->offset = column->offset;
    set_no_data(plan, column, attribute);
    if (!wide) return;
    attribute->note = column->type == MOTE_INT64 ? "int64 in the source, held as double: exact up to 2^53"
                                                 : "uint64 in the source, held as double: exact up to 2^53";
    if (plan->is_quiet) return;
    mote_warn(plan->ctx,
              "\"%s\": %s becomes double, as viewers of Potree 2.0 take no 64-bit integers; exact up to 2^53",
              column->name, mote_type_name(column->type));
}

static void add_position(potree_plan *plan, const mote_cloud *cloud) {
    potree_attribute *position = add_attribute(plan, "position", MOTE_INT32, 3);
    position->role = POTREE_POSITION;
    mote_cloud_find_positions(cloud, position->columns);
}

/* Says what colours were taken for, in the log and in the attribute. */
static void tell_colors(potree_plan *plan, potree_attribute *color, const mote_color_rule *rules) {
    static const char *const notes[] = {NULL, "0..1 in the source, held as 0..65535",
                                        "0..255 in the source, held as 0..65535", "held as uint16",
                                        "held as uint16, cut to 0..65535"};
    if (rules == NULL) return;
    for (int c = 0; c < 3; c++) {
        if (mote_color_is_plain(color->columns[c])) continue;
        color->note = notes[rules[c].depth];
    }
    mote_color_tell_each(plan->ctx, NULL, color->columns, 3, rules);
}

static void add_color(potree_plan *plan, const mote_cloud *cloud, const mote_potree_params *params,
                      const mote_color_rule *rules) {
    const mote_column *rgb[3] = {mote_cloud_find(cloud, "red"), mote_cloud_find(cloud, "green"),
                                 mote_cloud_find(cloud, "blue")};
    if (rgb[0] == NULL || rgb[1] == NULL || rgb[2] == NULL || left_out(params, "rgb", NULL)) return;
    potree_attribute *color = add_attribute(plan, "rgb", MOTE_UINT16, 3);
    color->role = POTREE_COLOR;
    for (int c = 0; c < 3; c++) color->columns[c] = rgb[c];
    tell_colors(plan, color, rules);
}

static void add_flags(potree_plan *plan, const flag_bits flags[FLAG_COLUMNS], const mote_potree_params *params) {
    const mote_column *columns[4] = {NULL, NULL, NULL, NULL};
    uint64_t any = 0;
    for (uint32_t f = 0; f < 4; f++) {
        /* A column of something else than 0 and 1 is no flag, and is kept as it is. */
        if (flags[f].column == NULL || flags[f].bits > 1 || mote_type_is_float(flags[f].column->type)) continue;
        columns[f] = flags[f].column;
        any |= flags[f].bits;
    }
    if (any == 0 || left_out(params, "classification flags", NULL)) return;
    potree_attribute *attribute = add_attribute(plan, "classification flags", MOTE_UINT8, 1);
    attribute->role = POTREE_FLAGS;
    memcpy(attribute->columns, columns, sizeof columns);
}

/* The standard attributes in their order. */
static void add_standard(potree_plan *plan, const mote_cloud *cloud, const flag_bits flags[FLAG_COLUMNS],
                         const mote_potree_params *params, const mote_color_rule *rules) {
    for (uint32_t n = 0; n < potree_name_count; n++) {
        const potree_name *name = &potree_names[n];
        if (name->column == NULL && name->left_out_if_zero) {
            add_flags(plan, flags, params);
        } else if (name->column == NULL) {
            add_color(plan, cloud, params, rules);
        } else {
            const mote_column *column = mote_cloud_find(cloud, name->column);
            if (column == NULL || is_taken(plan, name->attribute)) continue;
            if (name->left_out_if_zero && bits_of(flags, column) == 0) continue;
            if (!left_out(params, name->attribute, name->column)) add_plain(plan, name->attribute, column);
        }
    }
}

/* Columns that no standard attribute took, in the order of the cloud. */
static void add_others(potree_plan *plan, const mote_cloud *cloud, const flag_bits flags[FLAG_COLUMNS],
                       const mote_potree_params *params) {
    const bool has_color = is_taken(plan, "rgb") || (left_out(params, "rgb", NULL) && mote_cloud_find(cloud, "red"));
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud); c++) {
        const mote_column *column = mote_cloud_column(cloud, c);
        if (is_used(plan, column) || left_out(params, column->name, NULL) || bits_of(flags, column) == 0) continue;
        bool skipped = false;
        for (uint32_t f = 0; f < 4; f++) {
            skipped |= strcmp(column->name, potree_flag_columns[f]) == 0 && bits_of(flags, column) <= 1;
        }
        if (has_color && !is_taken(plan, "rgb")) {
            skipped |= strcmp(column->name, "red") == 0 || strcmp(column->name, "green") == 0 ||
                       strcmp(column->name, "blue") == 0;
        }
        for (uint32_t n = 0; n < potree_name_count; n++) {
            const potree_name *name = &potree_names[n];
            skipped |= name->column != NULL && strcmp(name->column, column->name) == 0 &&
                       left_out(params, name->attribute, name->column);
        }
        if (!skipped) add_plain(plan, column->name, column);
    }
}

static void place_attributes(potree_plan *plan) {
    plan->classes_at = UINT32_MAX;
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        potree_attribute *attribute = &plan->attributes[a];
        attribute->at = plan->stride_bytes;
        attribute->coded_at = plan->coded_stride_bytes;
        attribute->range = plan->element_count;
        plan->stride_bytes += potree_attribute_bytes(attribute);
        plan->coded_stride_bytes += potree_coded_bytes(attribute);
        plan->element_count += attribute->elements;
        if (strcmp(attribute->name, "classification") == 0 && attribute->type == MOTE_UINT8) {
            plan->classes_at = attribute->at;
        }
    }
}

/* ---- the position grid */

/* Keeps the source's own integers where they are all in 0 ≤ X < 2^31, else counts from the corner of the cube. */
static mote_status place_positions(potree_plan *plan, const mote_lattice *lattice) {
    for (int k = 0; k < 3; k++) {
        const bool fits = lattice->min[k] >= 0 && lattice->min[k] <= INT32_MAX - (int64_t)lattice->extent[k];
        plan->base[k] = fits ? (uint32_t)lattice->min[k] : 0;
        plan->scale[k] = lattice->scale[k];
        plan->offset[k] =
            fits ? lattice->offset[k] : fma((double)lattice->min[k], lattice->scale[k], lattice->offset[k]);
        plan->cube_min[k] = (double)plan->base[k] * plan->scale[k] + plan->offset[k];
        plan->cube_side = fmax(plan->cube_side, (double)lattice->side[k] * lattice->scale[k]);
        if (!isfinite(plan->offset[k]) || !isfinite(plan->cube_min[k]) || !(plan->scale[k] >= DBL_MIN) ||
            !isfinite(plan->scale[k] * INT32_MAX)) {
            return mote_fail(plan->ctx, MOTE_ERROR_DATA,
                             "axis %c: scale %g and offset %g: a Potree folder has scales from %g up, and positions "
                             "below %g",
                             'x' + k, lattice->scale[k], lattice->offset[k], DBL_MIN, DBL_MAX);
        }
    }
    if (plan->points == 0) plan->cube_side = 1; /* a cube that readers accept */
    if (lattice->shift > 0 && !plan->is_quiet) {
        mote_warn(plan->ctx, "the positions span more than 2^31 steps: they are rounded to steps of %g",
                  lattice->scale[0]);
    }
    for (int k = 0; k < 3; k++) {
        /* The formula is that which gives the points, so that the farthest lies inside whatever the rounding. */
        const double corner = ((double)plan->base[k] + (double)lattice->side[k]) * plan->scale[k] + plan->offset[k];
        plan->cube_max[k] = fmax(plan->cube_min[k] + plan->cube_side, plan->points > 0 ? corner : -INFINITY);
        if (!isfinite(plan->cube_max[k])) {
            return mote_fail(plan->ctx, MOTE_ERROR_DATA, "the cloud is too large: its cube has no finite corners");
        }
    }
    return MOTE_OK;
}

/* A node of more would be written, but opened by no viewer. */
static mote_status check_nodes(potree_plan *plan, const potree_source *source) {
    for (uint32_t n = 0; n < source->node_count; n++) {
        const uint64_t count = source->nodes[n].point_count;
        if (count > UINT32_MAX || count * plan->coded_stride_bytes >= POTREE_MAX_NODE_BYTES) {
            return mote_fail(plan->ctx, MOTE_ERROR_UNSUPPORTED,
                             "a node has %llu points of %u bytes; a Potree node holds less than 2 GiB: "
                             "set a bound for points per node",
                             (unsigned long long)count, plan->coded_stride_bytes);
        }
        plan->points += count;
    }
    return MOTE_OK;
}

/* The columns that the plan is about: the cloud's, or those that the GPU has of them. */
static void take_cloud(potree_plan *plan, const potree_source *source) {
    plan->cloud = source->cloud;
    if (source->device_lod == NULL) return;
    plan->device_cloud = *source->cloud;
    plan->device_cloud.columns = (mote_column *)source->device_view.columns;
    plan->device_cloud.column_count = source->device_view.column_count;
    plan->cloud = &plan->device_cloud;
    plan->device = source->device_lod->device;
    plan->device_ops = plan->device->backend->potree;
}

mote_status potree_plan_make(mote_context *ctx, const potree_source *source, const mote_potree_params *params,
                             potree_plan *plan) {
    flag_bits flags[FLAG_COLUMNS];
    memset(plan, 0, sizeof *plan);
    plan->ctx = ctx;
    plan->lattice = source->lattice;
    plan->is_quiet = source->is_part;
    take_cloud(plan, source);
    const mote_cloud *cloud = plan->cloud;
    for (int k = 0; k < 3; k++) {
        const char axis[2] = {(char)('x' + k), '\0'};
        if (mote_cloud_find(cloud, axis) == NULL) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the cloud has no column %s", axis);
        }
        if (left_out(params, axis, "position")) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the position cannot be left out");
        }
    }
    plan->attributes = mote_alloc(ctx, (mote_cloud_column_count(cloud) + 3ull) * sizeof *plan->attributes, "potree");
    if (plan->attributes == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(find_flag_bits(plan, source->flag_bits, flags));
    add_position(plan, cloud);
    add_standard(plan, cloud, flags, params, source->color_rules);
    add_others(plan, cloud, flags, params);
    place_attributes(plan);
    plan->averaged_colors = source->params->filter != MOTE_LOD_FILTER_NONE;
    MOTE_TRY(check_nodes(plan, source));
    MOTE_TRY(place_positions(plan, source->lattice));
    return potree_program_make(plan);
}

void potree_plan_free(potree_plan *plan) {
    if (plan->ctx == NULL) return;
    mote_free(plan->ctx, plan->attributes);
    mote_free(plan->ctx, plan->ops);
    mote_free(plan->ctx, plan->op_columns);
    plan->attributes = NULL;
    plan->ops = NULL;
    plan->op_columns = NULL;
}
