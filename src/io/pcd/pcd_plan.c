/* Which fields of a PCD file a cloud becomes: colours packed, arrays as one field, everything else as it is. */
#include <stdio.h>

#include "io/pcd/pcd.h"

/* ---- names */

static bool name_is_taken(const mote_pcd_plan *p, const char *name) {
    for (uint32_t i = 0; i < p->target_count; i++) {
        if (strcmp(p->targets[i].name, name) == 0) return true;
    }
    return false;
}

/* The names that the columns are to have: those that they had, their own otherwise. */
static void choose_names(const mote_pcd_plan *p, const char **names) {
    for (uint32_t i = 0; i < p->column_count; i++) {
        const char *const original = mote_original_name(p->columns[i]);
        names[i] = original != NULL ? original : p->columns[i]->name;
    }
    mote_settle_names(p->columns, p->column_count, names, names + p->column_count);
}

/* What a reader takes the fields for. */
static void find_read_names(const mote_pcd_plan *p, const char **names) {
    const char **const standard = names + p->target_count;
    for (uint32_t i = 0; i < p->target_count; i++) {
        const mote_pcd_target *const target = &p->targets[i];
        names[i] = target->color == NULL && target->count > 1 ? NULL : target->name;
    }
    mote_standard_names(names, p->target_count, standard);
    for (uint32_t i = 0; i < p->target_count; i++) p->targets[i].read_as = standard[i];
}

/* ---- which fields */

static const mote_column *find_column(const mote_pcd_plan *p, const char *name) {
    for (uint32_t i = 0; i < p->column_count; i++) {
        if (strcmp(p->columns[i]->name, name) == 0) return p->columns[i];
    }
    return NULL;
}

static bool is_byte(const mote_column *column) {
    return column != NULL && column->type == MOTE_UINT8 && column->scale == 1 && column->offset == 0;
}

/* How red, green, blue and alpha are packed: as they came, else rgb as a float or, with alpha, rgba. NULL: they are not
   all of one byte, and stay fields of their own. */
static const mote_pcd_color *choose_color(const mote_pcd_plan *p) {
    const mote_column *const red = find_column(p, "red");
    if (!is_byte(red) || !is_byte(find_column(p, "green")) || !is_byte(find_column(p, "blue"))) return NULL;
    if (find_column(p, "rgb") != NULL || find_column(p, "rgba") != NULL) return NULL;
    const bool alpha = is_byte(find_column(p, "alpha"));
    for (uint32_t i = 0; i < MOTE_PCD_COLORS; i++) {
        const bool wants_alpha = strcmp(mote_pcd_colors[i].field, "rgba") == 0;
        if (strcmp(red->description, mote_pcd_colors[i].description) == 0 && (alpha || !wants_alpha)) {
            return &mote_pcd_colors[i];
        }
    }
    return &mote_pcd_colors[alpha ? 3 : 0];
}

static mote_pcd_target *add_target(mote_pcd_plan *p, const mote_column *column, const char *wanted, size_t length) {
    mote_pcd_target *const target = &p->targets[p->target_count];
    memset(target, 0, sizeof *target);
    /* A free name without blanks that is no padding and, except for positions, no "X". */
    char clean[72];
    snprintf(clean, sizeof clean, "%.*s", length < 70 ? (int)length : 70, wanted);
    for (char *c = clean; *c != '\0'; c++) {
        if ((uint8_t)*c <= ' ' || *c == 0x7F) *c = '_';
    }
    const char letter = (char)(clean[0] | 0x20);
    if (strcmp(clean, "_") == 0) snprintf(clean, sizeof clean, "column");
    if (!mote_text_is_axis(column->name) && letter >= 'x' && letter <= 'z' && clean[1] == '\0') strcat(clean, "_");
    snprintf(target->name, MOTE_PCD_NAME_BYTES, "%s", clean);
    for (unsigned n = 2; name_is_taken(p, target->name); n++)
        snprintf(target->name, MOTE_PCD_NAME_BYTES, "%s_%u", clean, n);
    target->source = column;
    target->first = p->value_count;
    target->offset = p->row_bytes;
    p->target_count++;
    return target;
}

/* The type that a column has in the file. */
static mote_type written_type(const mote_column *column) {
    if (mote_text_is_axis(column->name) && (column->scale != 1 || column->offset != 0)) return MOTE_FLOAT64;
    if (column->bit_count == 0) return column->type;
    return column->bit_count <= 8    ? MOTE_UINT8
           : column->bit_count <= 16 ? MOTE_UINT16
           : column->bit_count <= 32 ? MOTE_UINT32
                                     : MOTE_UINT64;
}

static void add_value(mote_pcd_plan *p, mote_pcd_target *target, const mote_column *column, uint32_t offset) {
    mote_row_field *const value = &p->values[p->value_count++];
    memset(value, 0, sizeof *value);
    value->view = *column;
    value->view.scale = 1;
    value->view.offset = 0;
    value->type = written_type(column);
    value->offset = target->offset + offset;
    const bool scaled = column->scale != 1 || column->offset != 0;
    if (mote_text_is_axis(column->name) && scaled) mote_rows_set_world(value, column);
    target->count++;
}

static void end_target(mote_pcd_plan *p, mote_pcd_target *target, uint32_t size_bytes) {
    target->size_bytes = size_bytes;
    p->row_bytes += size_bytes;
}

static const char *const color_columns[] = {"blue", "green", "red", "alpha"}; /* from the lowest byte on */

static bool is_packed(const mote_pcd_color *color, const mote_column *column) {
    for (int k = 0; k < 4 && color != NULL; k++) {
        if (strcmp(column->name, color_columns[k]) == 0) return is_byte(column);
    }
    return false;
}

static void add_color(mote_pcd_plan *p, const mote_pcd_color *color) {
    mote_pcd_target *const target = add_target(p, find_column(p, "red"), color->field, strlen(color->field));
    target->color = color;
    for (uint32_t k = 0; k < 4; k++) {
        const mote_column *const column = find_column(p, color_columns[k]);
        if (is_byte(column)) add_value(p, target, column, k);
    }
    end_target(p, target, 4);
}

static bool same_limits(const mote_cloud *cloud, const mote_column *a, const mote_column *b) {
    mote_column_limits p, q;
    mote_cloud_limits(cloud, a->name, &p);
    mote_cloud_limits(cloud, b->name, &q);
    return p.has_no_data == q.has_no_data && p.has_min == q.has_min && p.has_max == q.has_max &&
           p.no_data == q.no_data && p.min == q.min && p.max == q.max;
}

/* How many columns from the i-th on are NAME[0], NAME[1] … and differ in nothing but that; 1 if it is none of these. */
static uint32_t array_length(const mote_pcd_plan *p, uint32_t i, size_t *base) {
    const mote_column *const first = p->columns[i];
    const char *const bracket = strrchr(first->name, '[');
    *base = strlen(first->name);
    if (bracket == NULL || bracket == first->name || strcmp(bracket, "[0]") != 0 || *base > 70) return 1;
    uint32_t count = 1;
    for (; i + count < p->column_count; count++) {
        const mote_column *const next = p->columns[i + count];
        char name[MOTE_NAME_BYTES];
        snprintf(name, sizeof name, "%.*s[%u]", (int)(bracket - first->name), first->name, count);
        if (strcmp(next->name, name) != 0 || written_type(next) != written_type(first) || next->scale != first->scale ||
            next->offset != first->offset || strcmp(next->unit, first->unit) != 0 ||
            strcmp(next->description, first->description) != 0 || !same_limits(p->cloud, next, first)) {
            break;
        }
    }
    if (count > 1) *base = (size_t)(bracket - first->name);
    return count;
}

static uint32_t add_columns_from(mote_pcd_plan *p, const char *const *names, uint32_t i) {
    size_t base = 0;
    const mote_column *const first = p->columns[i];
    const uint32_t count = array_length(p, i, &base), size_bytes = mote_type_size(written_type(first));
    const char *const wanted = count > 1 ? first->name : names[i];
    mote_pcd_target *const target = add_target(p, first, wanted, count > 1 ? base : strlen(wanted));
    for (uint32_t k = 0; k < count; k++) add_value(p, target, p->columns[i + k], k * size_bytes);
    end_target(p, target, count * size_bytes);
    return count;
}

mote_status mote_pcd_plan_make(mote_context *ctx, const mote_cloud *cloud, const char *names, mote_pcd_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->cloud = cloud;
    MOTE_TRY(mote_text_pick_columns(ctx, cloud, names, &plan->columns, &plan->column_count));
    if (plan->column_count > MOTE_PCD_MAX_VALUES) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%u attributes: mote writes PCD with up to %u",
                         plan->column_count, MOTE_PCD_MAX_VALUES);
    }
    plan->targets = mote_alloc(ctx, plan->column_count * sizeof *plan->targets, "output");
    plan->values = mote_alloc(ctx, plan->column_count * sizeof *plan->values, "output");
    const char **const wanted = mote_alloc(ctx, 2ull * plan->column_count * sizeof *wanted, "output");
    if (plan->targets == NULL || plan->values == NULL || wanted == NULL) {
        mote_free(ctx, wanted);
        return MOTE_ERROR_MEMORY;
    }
    choose_names(plan, wanted);
    const mote_pcd_color *const color = choose_color(plan);
    bool color_done = false;
    for (uint32_t i = 0; i < plan->column_count;) {
        if (is_packed(color, plan->columns[i])) {
            if (!color_done) add_color(plan, color);
            color_done = true;
            i++;
        } else {
            i += add_columns_from(plan, wanted, i);
        }
    }
    find_read_names(plan, wanted);
    mote_free(ctx, wanted);
    return MOTE_OK;
}

void mote_pcd_plan_close(mote_context *ctx, mote_pcd_plan *plan) {
    mote_free(ctx, plan->values);
    mote_free(ctx, plan->targets);
    mote_free(ctx, plan->columns);
}
