/* Conditions and assignments of read parameters: what readers need to know of them, and what is done afterwards. */
#include "io/choice.h"

#include <math.h>

/* Bounds of the nodes that are to be read, also where the condition says more of them than the caller. */
static void narrow_bounds(mote_choice *choice) {
    mote_box box;
    bool narrows = false;
    mote_where_box(choice->condition, &box);
    for (int k = 0; k < 3; k++) {
        narrows = narrows || box.min[k] > -INFINITY || box.max[k] < INFINITY;
        if (choice->params.bounds == NULL) continue;
        box.min[k] = fmax(box.min[k], choice->params.bounds->min[k]);
        box.max[k] = fmin(box.max[k], choice->params.bounds->max[k]);
    }
    choice->box = box;
    if (narrows) choice->params.bounds = &choice->box;
}

bool mote_choice_is_late(const mote_read_params *params) { return params->to_crs != NULL && params->where_in_to_crs; }

/* A list that also has what a program names; the list of before is freed. */
static mote_status add_names(mote_context *ctx, mote_choice *choice, const where_program *program) {
    mote_status status = MOTE_OK;
    if (program == NULL || choice->params.select == NULL) return MOTE_OK;
    char *list = mote_where_select(program, choice->params.select, &status);
    mote_free(ctx, choice->select);
    choice->params.select = choice->select = list;
    return status;
}

mote_status mote_choice_open(mote_context *ctx, const mote_read_params *params, mote_choice *choice) {
    memset(choice, 0, sizeof *choice);
    choice->params = *params;
    choice->asked = params->select;
    if (params->where != NULL) MOTE_TRY(mote_where_condition(ctx, params->where, &choice->condition));
    if (params->set != NULL) MOTE_TRY(mote_where_assignments(ctx, params->set, &choice->assignments));
    if (choice->condition == NULL && choice->assignments == NULL) return MOTE_OK;
    choice->params.to_device = choice->params.prepare_order = false;
    choice->params.known = NULL;
    MOTE_TRY(add_names(ctx, choice, choice->condition));
    MOTE_TRY(add_names(ctx, choice, choice->assignments));
    /* The condition of assignments says what is changed, and leaves nothing out; one of coordinates that are still to
       be made is none of the format's. */
    if (choice->assignments != NULL || mote_choice_is_late(params)) {
        choice->params.where = NULL;
    } else {
        narrow_bounds(choice);
    }
    return MOTE_OK;
}

void mote_choice_close(mote_context *ctx, mote_choice *choice) {
    mote_where_free(choice->condition);
    mote_where_free(choice->assignments);
    mote_free(ctx, choice->select);
}

mote_status mote_choice_apply(mote_context *ctx, const mote_choice *choice, const char *source, mote_cloud **cloud) {
    uint64_t changed = 0;
    if (choice->assignments != NULL) {
        MOTE_TRY(mote_where_make_writable(ctx, cloud));
        MOTE_TRY(mote_where_assign(ctx, *cloud, choice->assignments, choice->condition, source, 0, &changed));
        if (choice->params.changed != NULL) *choice->params.changed += changed;
    } else if (choice->condition != NULL) {
        MOTE_TRY(mote_where_keep(ctx, cloud, choice->condition, source));
    }
    return mote_cloud_keep_columns(*cloud, choice->asked);
}
