/* The plan of a union: columns by name, and a type for each that loses nothing. */
#include "io/merge/merge_plan.h"

#include <stdio.h>

#include "io/crs/crs_codes.h"

bool merge_is_position(const char *name) {
    return name[0] != '\0' && name[1] == '\0' && name[0] >= 'x' && name[0] <= 'z';
}

/* A new column, without sources yet. */
static merge_column *add_column(merge_plan *plan, const mote_column *like) {
    mote_context *ctx = plan->ctx;
    if (!mote_reserve(ctx, (void **)&plan->columns, &plan->column_capacity, plan->column_count + 1,
                      sizeof *plan->columns, "union")) {
        return NULL;
    }
    merge_source *sources = mote_alloc_zero(ctx, plan->input_count * sizeof *sources, "union");
    if (sources == NULL) return NULL;
    merge_column *column = &plan->columns[plan->column_count++];
    memset(column, 0, sizeof *column);
    column->name = like->name;
    column->unit = like->unit;
    column->description = like->description;
    column->type = merge_whole_type(like);
    column->scale = like->scale;
    column->offset = like->offset;
    column->sources = sources;
    return column;
}

/* The columns of all inputs by name, in the order in which they first appear. */
static mote_status collect_columns(merge_plan *plan) {
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const uint32_t count = mote_cloud_column_count(plan->clouds[i]);
        for (uint32_t c = 0; c < count; c++) {
            const mote_column *from = mote_cloud_column(plan->clouds[i], c);
            merge_column *to = merge_find(plan, from->name);
            if (to == NULL) to = add_column(plan, from);
            if (to == NULL) return MOTE_ERROR_MEMORY;
            to->sources[i].column = from;
            to->sources[i].index = c;
            to->sources[i].factor = 1;
            if (to->unit[0] == '\0') to->unit = from->unit;
            if (to->description[0] == '\0') to->description = from->description;
        }
    }
    return MOTE_OK;
}

static void drop_column(merge_plan *plan, merge_column *column) {
    mote_free(plan->ctx, column->sources);
    plan->column_count--;
    memmove(column, column + 1, (size_t)(plan->columns + plan->column_count - column) * sizeof *column);
}

void merge_scan_angles(merge_plan *plan) {
    merge_column *rank = merge_find(plan, "scan_angle_rank"), *angle = merge_find(plan, "scan_angle");
    bool all = true;
    if (rank == NULL || angle == NULL) return;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (rank->sources[i].column == NULL) continue;
        if (angle->sources[i].column != NULL) {
            all = false; /* this input tells them apart */
            continue;
        }
        angle->sources[i] = rank->sources[i];
        rank->sources[i].column = NULL;
        angle->sources[i].is_rank = plan->facts[i].ranks_between == 0;
        if (mote_cloud_count(plan->clouds[i]) > 0 && angle->sources[i].is_rank) {
            mote_warn(plan->ctx, "%s: its scan angles, whole degrees, become steps of %g degrees, as other inputs have",
                      plan->names[i], angle->scale);
        }
    }
    if (all) drop_column(plan, rank);
}

static mote_type join_types(mote_type a, mote_type b) {
    if (a == b) return a;
    if (mote_type_is_float(a) || mote_type_is_float(b)) return MOTE_FLOAT64;
    /* Otherwise the smallest integer type that holds both, if there is one. */
    static const mote_type signed_types[] = {MOTE_INT8, MOTE_INT16, MOTE_INT32, MOTE_INT64};
    const uint32_t size_a = mote_type_size(a), size_b = mote_type_size(b);
    if (mote_type_is_signed(a) == mote_type_is_signed(b)) return size_a >= size_b ? a : b;
    const uint32_t needs_a = mote_type_is_signed(a) ? size_a : 2 * size_a;
    const uint32_t needs_b = mote_type_is_signed(b) ? size_b : 2 * size_b;
    const uint32_t needs = needs_a > needs_b ? needs_a : needs_b;
    for (int i = 0; i < 4; i++) {
        if (mote_type_size(signed_types[i]) >= needs) return signed_types[i];
    }
    return MOTE_FLOAT64;
}

/* Whether the inputs disagree in scale or offset. One without the column counts as agreeing if 0 means 0. */
static bool scales_differ(const merge_plan *plan, const merge_column *column) {
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const mote_column *from = column->sources[i].column;
        if (column->sources[i].is_rank) continue;
        if (from == NULL && column->offset != 0) return true;
        if (from != NULL && (from->scale != column->scale || from->offset != column->offset)) return true;
    }
    return false;
}

static mote_status decide_type(merge_plan *plan, merge_column *column) {
    bool first = true;
    column->world = scales_differ(plan, column);
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const mote_column *from = column->sources[i].column;
        if (from == NULL || column->sources[i].is_rank) continue;
        column->type = first ? merge_whole_type(from) : join_types(column->type, merge_whole_type(from));
        first = false;
    }
    if (column->world) {
        column->type = MOTE_FLOAT64;
        column->scale = 1;
        column->offset = 0;
    }
    if (column->type != MOTE_FLOAT64) return MOTE_OK;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (column->sources[i].column != NULL) MOTE_TRY(merge_check_double(plan, i, column->sources[i].column));
    }
    return MOTE_OK;
}

#define SHOWN_BYTES 60 /* of an attribute's name in a list */

/* An input without positions cannot be helped by zeros; one without other attributes can, but is told of, once. */
static mote_status check_missing(merge_plan *plan, uint32_t input) {
    char missing[MOTE_MESSAGE_BYTES / 2] = "";
    if (mote_cloud_count(plan->clouds[input]) == 0) return MOTE_OK;
    for (uint64_t c = 0; c < plan->column_count; c++) {
        const merge_column *column = &plan->columns[c];
        if (column->sources[input].column != NULL) continue;
        if (merge_is_position(column->name)) {
            return mote_fail(plan->ctx, MOTE_ERROR_ARGUMENT, "%s: has no \"%s\", unlike other inputs",
                             plan->names[input], column->name);
        }
        /* The name joins the list, as far as there is room. */
        const size_t length = strlen(missing);
        if (length + SHOWN_BYTES + 12 < sizeof missing) {
            snprintf(missing + length, sizeof missing - length, "%s\"%.*s\"", length > 0 ? ", " : "", SHOWN_BYTES,
                     column->name);
        } else if (missing[length - 1] != '.') {
            memcpy(missing + length, " ...", 5);
        }
    }
    if (missing[0] != '\0') {
        mote_warn(plan->ctx, "%s: lacks attributes that other inputs have; they are 0 for its points: %s",
                  plan->names[input], missing);
    }
    return MOTE_OK;
}

/* ---- coordinate reference systems */

mote_status merge_crs(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                      const char **crs) {
    uint32_t from = count;
    for (uint32_t i = 0; i < count; i++) {
        const char *here = mote_cloud_crs(clouds[i]);
        if (here[0] == '\0') continue;
        if (from == count) from = i;
        if (mote_crs_same(mote_cloud_crs(clouds[from]), here)) continue;
        mote_crs_facts first, other;
        mote_crs_describe(mote_cloud_crs(clouds[from]), &first);
        mote_crs_describe(here, &other);
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "%s and %s have different coordinate reference systems: %s and %s; --to-crs brings all inputs "
                         "to one",
                         names[from], names[i], first.name, other.name);
    }
    *crs = from < count ? mote_cloud_crs(clouds[from]) : "";
    for (uint32_t i = 0; i < count && from < count; i++) {
        if (mote_cloud_crs(clouds[i])[0] != '\0') continue;
        mote_warn(ctx, "%s: has no coordinate reference system; that of %s is taken", names[i], names[from]);
    }
    return MOTE_OK;
}

/* ---- the plan */

/* What the values of clouds with points are. */
static mote_status find_facts(merge_plan *plan) {
    const bool places = !merge_positions_alike(plan);
    merge_facts *facts = mote_alloc_zero(plan->ctx, plan->input_count * sizeof *facts, "union");
    plan->facts = plan->own_facts = facts;
    if (facts == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        MOTE_TRY(merge_facts_begin(plan->ctx, plan->clouds[i], &facts[i]));
        merge_facts_see(plan->ctx, plan->clouds[i], places, &facts[i]);
    }
    return MOTE_OK;
}

mote_status merge_plan_open(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                            const merge_facts *facts, merge_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->ctx = ctx;
    plan->clouds = clouds;
    plan->names = names;
    plan->input_count = count;
    plan->facts = facts;
    MOTE_TRY(merge_crs(ctx, clouds, names, count, &plan->crs));
    MOTE_TRY(collect_columns(plan));
    if (facts == NULL) MOTE_TRY(find_facts(plan));
    merge_scan_angles(plan);
    for (uint32_t i = 0; i < count; i++) MOTE_TRY(check_missing(plan, i));
    MOTE_TRY(merge_times(plan));
    MOTE_TRY(merge_positions(plan));
    for (uint64_t c = 0; c < plan->column_count; c++) {
        if (!merge_is_position(plan->columns[c].name)) MOTE_TRY(decide_type(plan, &plan->columns[c]));
    }
    MOTE_TRY(merge_colors(plan));
    MOTE_TRY(merge_stations(plan));
    for (uint64_t c = 0; c < plan->column_count; c++) merge_limits(plan, &plan->columns[c]);
    for (uint64_t c = 0; c < plan->column_count; c++) {
        plan->columns[c].at = (uint32_t)plan->record_bytes;
        plan->record_bytes += mote_type_size(plan->columns[c].type);
    }
    return MOTE_OK;
}

void merge_plan_close(merge_plan *plan) {
    for (uint32_t i = 0; plan->own_facts != NULL && i < plan->input_count; i++) {
        merge_facts_free(plan->ctx, &plan->own_facts[i]);
    }
    for (uint64_t c = 0; c < plan->column_count; c++) mote_free(plan->ctx, plan->columns[c].sources);
    mote_free(plan->ctx, plan->own_facts);
    mote_free(plan->ctx, plan->stations);
    mote_free(plan->ctx, plan->columns);
    plan->columns = NULL;
    plan->column_count = 0;
}
