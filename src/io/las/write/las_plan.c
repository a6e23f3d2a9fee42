/* Chooses for each dimension of a LAS file its source in a cloud. Nothing is cut silently: what no dimension holds
   becomes extra bytes. */
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "io/las/write/las_plan.h"
#include "io/laz/laz.h"

#define RECORD_MAX   65535u
#define DOUBLE_WHOLE 9007199254740992.0 /* 2^53: a double holds all integers up to it */

#define INTENSITY_SCANS 3u /* as many whites as floats may have */

/* ---- which columns */

static mote_status choose_columns(mote_context *ctx, las_plan *plan) {
    const char *list = plan->params->columns;
    char name[MOTE_NAME_BYTES];
    for (uint64_t i = 0; i < plan->cloud->column_count; i++) plan->chosen[i] = list == NULL;
    const char *missing = list != NULL ? mote_list_mark(plan->cloud, list, plan->chosen) : NULL;
    if (mote_list_next(missing, name) == NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: the cloud has no attribute \"%s\"", plan->path, name);
}

/* ---- what their values are */

static bool is_plain_single(const mote_column *column) {
    return column->type == MOTE_FLOAT32 && column->scale == 1 && column->offset == 0;
}

/* Adds the column of that name to those whose values must be looked at, unless its type says enough. A forced format
   wants to know of all, for it may lack the dimension. */
static void add_scan(las_plan *plan, const las_field *field) {
    const mote_column *column = mote_las_find_chosen(plan, field->name);
    if (column == NULL) return;
    const bool is_new_time = strcmp(field->name, "gps_time") == 0 && !plan->cloud->las.present;
    const bool is_float = mote_type_is_float(field->type);
    if (plan->params->las_format < 0 &&
        (is_float ? !is_new_time && mote_type_size(column->type) < 8 : mote_las_type_fits(column, field)))
        return;
    plan->scans[plan->scan_count++] = mote_las_scan_of(column, field->scale);
}

/* One scan angle may be what the other dimension holds: degrees in steps of 0.006, steps that are whole degrees. */
static void add_angle_scan(las_plan *plan, const las_field *of, const las_field *as) {
    const mote_column *column = mote_las_find_chosen(plan, of->name);
    if (column == NULL || mote_las_find_chosen(plan, as->name) != NULL || mote_las_type_fits(column, of)) return;
    plan->scans[plan->scan_count++] = mote_las_scan_of(column, as->scale);
}

/* Intensities of floats may be steps of 16 bits, whatever white turns out to be. */
static void add_intensity_scans(las_plan *plan) {
    static const double whites[] = {1, MOTE_COLOR_MAX_8, MOTE_COLOR_MAX};
    const mote_column *column = plan->channels[LAS_INTENSITY];
    if (column == NULL || !mote_color_is_real(column)) return;
    for (size_t i = 0; i < INTENSITY_SCANS; i++) {
        plan->scans[plan->scan_count++] = mote_las_scan_of(column, whites[i] / MOTE_COLOR_MAX);
    }
}

/* Whether the plan will ask for columns of doubles if a float holds them. */
static void mark_singles(las_plan *plan, const las_field *field) {
    const mote_column *column = mote_las_find_chosen(plan, field->name);
    if (column == NULL || field->type != MOTE_FLOAT32) return;
    plan->singles[column - plan->cloud->columns] = !is_plain_single(column);
}

/* All columns with the name of a dimension are to be looked at, by the narrowest form that a format has of it: that of
   formats 0 to 5, where they have it. */
static mote_status scan_columns(mote_context *ctx, las_plan *plan) {
    las_field old[LAS_FIELDS_MAX], modern[LAS_FIELDS_MAX], rank, steps;
    const uint32_t old_count = mote_las_fields(LAS_OLD_FORMAT, old),
                   modern_count = mote_las_fields(LAS_MODERN_FORMAT, modern);
    plan->scans = mote_alloc(ctx, (old_count + modern_count + 2 + INTENSITY_SCANS) * sizeof *plan->scans, "LAS plan");
    if (plan->scans == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 3; i < old_count; i++) add_scan(plan, &old[i]);
    for (uint32_t i = 3; i < modern_count; i++) {
        las_field narrow;
        if (!mote_las_find_field(LAS_OLD_FORMAT, modern[i].name, &narrow)) add_scan(plan, &modern[i]);
        mark_singles(plan, &modern[i]);
    }
    mote_las_scan_angles(&rank, &steps);
    add_angle_scan(plan, &rank, &steps);
    add_angle_scan(plan, &steps, &rank);
    add_intensity_scans(plan);
    return MOTE_OK;
}

/* ---- which source for each dimension */

const char *const mote_las_colors[LAS_COLORS] = {"red", "green", "blue", "nir", "intensity"};

/* The rule for the dimension of that name; NULL if it has no brightness. */
static const mote_color_rule *color_rule(const las_plan *plan, const char *name) {
    for (uint32_t k = 0; k < LAS_COLORS; k++) {
        if (strcmp(name, mote_las_colors[k]) == 0) return &plan->colors[k];
    }
    return NULL;
}

static bool fit_color(las_item *item, const mote_color_rule *rule) {
    item->how = LAS_COLOR;
    item->color = rule;
    return !rule->outside;
}

/* Intensity that is whole stays as it is, but floats up to 1 are the share of the largest intensity, and NaN is told.
 */
static bool fit_intensity(las_item *item, const mote_color_rule *rule) {
    if (!mote_color_is_real(item->source)) return false;
    if (rule->whole && rule->missing == 0 && rule->depth != MOTE_COLOR_UNIT) return false;
    return fit_color(item, rule);
}

/* Says once what colours, infrared and intensity were taken for. */
static void tell_colors(mote_context *ctx, const las_plan *plan) {
    static const char *const what[] = {"colours", "colours", "colours", "near-infrared values", "intensities"};
    const mote_color_rule *last = NULL;
    for (uint64_t i = 0; i < plan->item_count; i++) {
        const las_item *item = &plan->items[i];
        if (item->source == NULL || item->how != LAS_COLOR) continue;
        const uint32_t k = (uint32_t)(item->color - plan->colors);
        const bool same =
            last != NULL && k < LAS_RGB && last < &plan->colors[LAS_RGB] && last->type == item->color->type;
        if (!same) mote_color_tell(ctx, plan->path, what[k], item->color);
        last = item->color;
    }
}

static bool fit_float(const las_plan *plan, las_item *item) {
    const mote_column *column = item->source;
    item->how = LAS_FLOAT;
    if (item->field.type == MOTE_FLOAT32) {
        return is_plain_single(column) || plan->singles[column - plan->cloud->columns];
    }
    if (mote_type_is_float(column->type) || mote_type_size(column->type) < 8) return true;
    const las_range range = mote_las_range_of(plan, column, 1);
    const double max = fmax(fabs(range.low - column->offset), fabs(range.high - column->offset));
    return range.low > range.high || max <= DOUBLE_WHOLE * fabs(column->scale);
}

/* Settles how the item's source becomes the dimension; false where it does not without loss. */
static bool fit_item(const las_plan *plan, las_item *item) {
    const mote_column *column = item->source;
    if (mote_type_is_float(item->field.type)) return fit_float(plan, item);
    const mote_color_rule *rule = color_rule(plan, item->field.name);
    const bool is_intensity = rule == &plan->colors[LAS_INTENSITY];
    if (is_intensity && fit_intensity(item, rule)) return true;
    if (rule != NULL && !is_intensity && !mote_color_is_plain(column)) return fit_color(item, rule);
    if (rule != NULL && !is_intensity && column->type == MOTE_UINT8) {
        item->how = LAS_INTEGER;
        item->factor = MOTE_COLOR_MAX / MOTE_COLOR_MAX_8;
        return true;
    }
    if (!mote_las_integers_fit(plan, column, &item->field)) return false;
    const bool same = column->scale == item->field.scale && column->offset == 0;
    item->how = same && !mote_type_is_float(column->type) ? LAS_INTEGER : LAS_ROUND;
    item->scale = item->field.scale;
    return true;
}

static void tell_kept(mote_context *ctx, const las_plan *plan, const char *name) {
    mote_warn(ctx,
              "%s: LAS's %s cannot hold the values of the cloud's exactly: they are written as extra bytes as well",
              plan->path, name);
}

static bool is_scan_angle(const char *name) {
    return strcmp(name, "scan_angle") == 0 || strcmp(name, "scan_angle_rank") == 0;
}

/* The two scan angles stand for each other where the format has only the other one. What the dimension does not hold
   exactly is kept as extra bytes as well; whole degrees come back from the nearest step. */
static void borrow_scan_angle(mote_context *ctx, las_plan *plan, las_item *item) {
    const bool rank = strcmp(item->field.name, "scan_angle_rank") == 0;
    if (!is_scan_angle(item->field.name)) return;
    item->source = mote_las_find_chosen(plan, rank ? "scan_angle" : "scan_angle_rank");
    if (item->source == NULL) return;
    item->how = LAS_ROUND;
    item->scale = item->field.scale;
    las_field degrees, steps;
    mote_las_scan_angles(&degrees, &steps);
    const bool exact = mote_las_integers_fit(plan, item->source, &degrees) ||
                       (!rank && mote_las_integers_fit(plan, item->source, &steps));
    plan->used[item->source - plan->cloud->columns] = exact;
    if (!exact && plan->params->las_format < 0) tell_kept(ctx, plan, item->field.name);
}

/* Angles between the steps of the dimension: the nearest step, and all digits as extra bytes as well. */
static bool round_angle(const las_plan *plan, las_item *item) {
    const bool is_angle = is_scan_angle(item->field.name);
    const las_range inner = mote_las_range_of(plan, item->source, item->field.scale),
                    outer = mote_las_field_range(&item->field);
    if (!is_angle || !mote_las_is_within(&inner, &outer)) return false;
    item->how = LAS_ROUND;
    item->scale = item->field.scale;
    return true;
}

static mote_status plan_field(mote_context *ctx, las_plan *plan, las_item *item) {
    item->source = mote_las_find_chosen(plan, item->field.name);
    if (item->source == NULL) {
        borrow_scan_angle(ctx, plan, item);
        return MOTE_OK;
    }
    if (fit_item(plan, item)) {
        const bool exact = item->color != &plan->colors[LAS_INTENSITY] || plan->exact_intensity;
        plan->used[item->source - plan->cloud->columns] = exact;
        if (!exact) tell_kept(ctx, plan, item->field.name);
        return MOTE_OK;
    }
    if (round_angle(plan, item)) {
        tell_kept(ctx, plan, item->field.name);
        return MOTE_OK;
    }
    if (plan->params->las_format >= 0) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: point format %u cannot hold the values of \"%s\"", plan->path,
                         plan->format, item->field.name);
    }
    mote_warn(ctx, "%s: LAS's %s cannot hold the values of the cloud's: they are written as extra bytes", plan->path,
              item->field.name);
    item->source = NULL;
    return MOTE_OK;
}

/* What a forced format lacks is no loss where all of it is 0. */
static bool is_idle(const las_plan *plan, const mote_column *column) {
    static const char *const may_be_idle[] = {"overlap", "scanner_channel", "scan_angle_rank"};
    bool listed = false;
    for (size_t i = 0; i < sizeof may_be_idle / sizeof may_be_idle[0]; i++) {
        listed = listed || strcmp(column->name, may_be_idle[i]) == 0;
    }
    if (!listed || plan->params->las_format < 0) return false;
    const las_range range = mote_las_range_of(plan, column, 1);
    return range.whole && range.low >= 0 && range.high <= 0;
}

/* All chosen columns without a dimension become extra bytes, in their order. */
static mote_status plan_extra(mote_context *ctx, las_plan *plan) {
    for (uint64_t i = 0; i < plan->cloud->column_count; i++) {
        const mote_column *column = &plan->cloud->columns[i];
        if (!plan->chosen[i] || plan->used[i] || is_idle(plan, column)) continue;
        const uint32_t size_bytes = mote_type_size(column->type);
        if (plan->record_bytes + size_bytes > RECORD_MAX) {
            return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: the attributes need more than %u bytes per point",
                             plan->path, RECORD_MAX);
        }
        las_item *item = &plan->items[plan->item_count++];
        memset(item, 0, sizeof *item);
        item->source = column;
        item->field.type = column->type;
        item->field.at = (uint16_t)plan->record_bytes;
        item->how = mote_type_is_float(column->type) ? LAS_COPY : LAS_INTEGER;
        item->factor = 1;
        plan->record_bytes += size_bytes;
        char name[33];
        mote_las_extra_name(column->name, plan->extra, plan->extra_count, name);
        mote_las_describe_extra(plan->cloud, column, name, plan->extra + plan->extra_count++ * LAS_EXTRA_BYTES);
    }
    return MOTE_OK;
}

/* A format that was asked for may lack dimensions that others have: their values are kept, in another place. */
static void tell_lacking(mote_context *ctx, const las_plan *plan) {
    char names[400] = "";
    size_t length = 0;
    for (uint64_t i = 0; i < plan->cloud->column_count && plan->params->las_format >= 0; i++) {
        const mote_column *column = &plan->cloud->columns[i];
        const bool lacking =
            plan->chosen[i] && !plan->used[i] && !is_idle(plan, column) && mote_las_is_field(column->name);
        if (!lacking || length + strlen(column->name) + 3 > sizeof names) continue;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "", column->name);
    }
    if (length == 0) return;
    mote_warn(ctx, "%s: point format %u does not have %s: written as extra bytes", plan->path, plan->format, names);
}

static mote_status plan_fields(mote_context *ctx, las_plan *plan) {
    las_field fields[LAS_FIELDS_MAX];
    const uint32_t count = mote_las_fields(plan->format, fields);
    plan->item_count = count;
    plan->record_bytes = mote_las_record_bytes(plan->format);
    memset(plan->items, 0, count * sizeof *plan->items);
    for (uint32_t i = 0; i < count; i++) {
        plan->items[i].field = fields[i];
        plan->items[i].factor = 1;
    }
    MOTE_TRY(mote_las_plan_positions(ctx, plan));
    for (uint32_t i = 3; i < count; i++) MOTE_TRY(plan_field(ctx, plan, &plan->items[i]));
    tell_lacking(ctx, plan);
    return plan_extra(ctx, plan);
}

/* What the header of a new file says of its GPS times: what is known of them; those beyond a week are no seconds of the
   week. */
static bool has_adjusted_time(const las_plan *plan) {
    const mote_las_origin *origin = &plan->cloud->las;
    const mote_column *column = mote_las_find_chosen(plan, "gps_time");
    if (column == NULL || origin->present) return false;
    if ((origin->global_encoding & LAS_ENCODING_ADJUSTED) != 0) return true;
    const las_range range = mote_las_range_of(plan, column, 1);
    return range.low < range.high + 1 && (range.low < 0 || range.high > LAS_WEEK_SECONDS);
}

/* What the values of colours and of intensity mean, and whether intensities of floats are steps of 16 bits. */
static void judge_colors(las_plan *plan) {
    const las_seen *const seen = &plan->seen;
    const mote_column *const intensity = plan->channels[LAS_INTENSITY];
    mote_color_judge_each(plan->channels, LAS_RGB, seen->rgb, plan->colors);
    mote_color_judge_each(&plan->channels[LAS_NIR], 1, seen->nir, &plan->colors[LAS_NIR]);
    plan->exact_intensity = true;
    if (intensity == NULL || !mote_color_is_real(intensity)) return;
    mote_color_rule *const rule = &plan->colors[LAS_INTENSITY];
    *rule = mote_color_judge_intensity(intensity, &seen->intensity);
    if (rule->depth == MOTE_COLOR_BLACK) return;
    plan->exact_intensity = mote_las_range_of(plan, intensity, rule->white / MOTE_COLOR_MAX).whole;
}

/* What another plan has seen of the values. Scans are made in the same order for the same columns. */
static void take_seen(const las_plan *of, las_plan *plan) {
    for (uint32_t i = 0; i < plan->scan_count; i++) plan->scans[i].range = of->scans[i].range;
    memcpy(plan->singles, of->singles, plan->cloud->column_count * sizeof *plan->singles);
    plan->seen = of->seen;
}

/* of: a plan for the same columns, which knows the values of all points; NULL: they are looked at */
static mote_status make_plan(mote_context *ctx, bool whole, const las_plan *of, las_plan *plan) {
    plan->origin_layout = mote_las_has_origin_layout(plan->cloud);
    MOTE_TRY(choose_columns(ctx, plan));
    plan->passthrough = mote_las_is_passthrough(plan);
    if (!plan->passthrough && !whole) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: cannot be written in pieces: the values of all points decide what its format is",
                         plan->path);
    }
    for (uint32_t k = 0; k < LAS_COLORS; k++) plan->channels[k] = mote_las_find_chosen(plan, mote_las_colors[k]);
    if (!plan->passthrough) {
        MOTE_TRY(scan_columns(ctx, plan));
        if (of != NULL && of->scan_count != plan->scan_count) {
            return mote_fail(ctx, MOTE_ERROR_DATA, "%s: what was seen of the values is of other columns", plan->path);
        }
        if (of != NULL) take_seen(of, plan);
        if (of == NULL) MOTE_TRY(mote_las_look(ctx, plan));
    }
    judge_colors(plan);
    MOTE_TRY(mote_las_choose_format(ctx, plan));
    plan->adjusted_time = has_adjusted_time(plan);
    MOTE_TRY(plan_fields(ctx, plan));
    tell_colors(ctx, plan);
    return mote_las_plan_runs(ctx, plan);
}

static mote_status start_plan(mote_context *ctx, const mote_cloud *cloud, const mote_write_params *params,
                              const char *path, las_plan *plan) {
    const uint64_t columns = cloud->column_count;
    memset(plan, 0, sizeof *plan);
    plan->cloud = cloud;
    plan->params = params;
    plan->path = path;
    plan->count = cloud->count;
    mote_las_see_nothing(&plan->seen);
    plan->chunk_points = mote_writes_as(path, params, ".laz") ? LAZ_CHUNK_POINTS : 0;
    plan->chosen = mote_alloc_zero(ctx, columns * sizeof *plan->chosen, "LAS plan");
    plan->used = mote_alloc_zero(ctx, columns * sizeof *plan->used, "LAS plan");
    plan->singles = mote_alloc_zero(ctx, columns * sizeof *plan->singles, "LAS plan");
    plan->items = mote_alloc(ctx, (columns + LAS_FIELDS_MAX) * sizeof *plan->items, "LAS plan");
    plan->extra = mote_alloc_zero(ctx, columns * LAS_EXTRA_BYTES, "LAS plan");
    const bool had = plan->chosen != NULL && plan->used != NULL && plan->singles != NULL && plan->items != NULL &&
                     plan->extra != NULL;
    return had ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status mote_las_plan_make(mote_context *ctx, const mote_cloud *cloud, const mote_write_params *params,
                               const char *path, las_plan *plan) {
    MOTE_TRY(start_plan(ctx, cloud, params, path, plan));
    return make_plan(ctx, true, NULL, plan);
}

mote_status mote_las_plan_again(mote_context *ctx, const las_plan *of, const mote_cloud *cloud, las_plan *plan) {
    MOTE_TRY(start_plan(ctx, cloud, of->params, of->path, plan));
    const mote_log_fn log = ctx->params.log;
    ctx->params.log = NULL; /* the plan of all points has told what there was to tell */
    const mote_status status = make_plan(ctx, true, of, plan);
    ctx->params.log = log;
    return status;
}

mote_status mote_las_plan_pieces(mote_context *ctx, const mote_cloud *piece, uint64_t count, const las_pieces *pieces,
                                 const mote_write_params *params, const char *path, las_plan *plan) {
    MOTE_TRY(start_plan(ctx, piece, params, path, plan));
    plan->count = count;
    plan->pieces = pieces;
    return make_plan(ctx, pieces != NULL, NULL, plan);
}

void mote_las_plan_free(mote_context *ctx, las_plan *plan) {
    mote_free(ctx, plan->chosen);
    mote_free(ctx, plan->used);
    mote_free(ctx, plan->singles);
    mote_free(ctx, plan->scans);
    mote_free(ctx, plan->items);
    mote_free(ctx, plan->extra);
    mote_free(ctx, plan->runs);
}
