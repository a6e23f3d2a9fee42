/* Which operation leads from one system to another. PROJ knows several, and takes a worse one without a word where the
   best needs a grid that is not installed, down to none at all ("ballpark": as if the two datums were one). mote takes
   the best one, or says what it lacks. */
#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include <math.h>
#include <stdio.h>

#include "io/crs/crs_proj_internal.h"

/* ---- what there is */

static PJ_OBJ_LIST *list_operations(proj_session *s, const PJ *from, const PJ *to, const crs_area *area) {
    PJ_OPERATION_FACTORY_CONTEXT *factory = proj_create_operation_factory_context(s->proj, NULL);
    if (factory == NULL) return NULL;
    proj_operation_factory_context_set_spatial_criterion(s->proj, factory, PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION);
    /* As if all grids were there: else the best operation would not be seen at all. */
    proj_operation_factory_context_set_grid_availability_use(s->proj, factory, PROJ_GRID_AVAILABILITY_IGNORED);
    if (area->is_known) {
        const crs_area wide = proj_area_widened(area);
        proj_operation_factory_context_set_area_of_interest(s->proj, factory, wide.west, wide.south, wide.east,
                                                            wide.north);
    }
    PJ_OBJ_LIST *list = proj_create_operations(s->proj, from, to, factory);
    proj_operation_factory_context_destroy(factory);
    return list;
}

static bool is_rough(proj_session *s, const PJ *operation) {
    return proj_coordoperation_has_ballpark_transformation(s->proj, operation) != 0;
}

static bool has_grids(proj_session *s, const PJ *operation) {
    return proj_coordoperation_is_instantiable(s->proj, operation) != 0;
}

/* The first of the list that is (not) rough and, if asked, has its grids and is as accurate as that; NULL: none. */
static PJ *find_operation(proj_session *s, const PJ_OBJ_LIST *list, bool rough, bool whole, double accuracy) {
    const int count = proj_list_get_count(list);
    for (int i = 0; i < count; i++) {
        PJ *operation = proj_list_get(s->proj, list, i);
        if (operation == NULL) continue;
        const double own = proj_coordoperation_get_accuracy(s->proj, operation);
        const bool accurate = accuracy == INFINITY || (own >= 0 && own <= accuracy);
        if (is_rough(s, operation) == rough && (!whole || has_grids(s, operation)) && accurate) return operation;
        proj_destroy(operation);
    }
    return NULL;
}

/* ---- what is said of it */

typedef struct operation_text {
    char chars[320];
} operation_text;

static operation_text describe(proj_session *s, const PJ *operation) {
    operation_text text;
    const bool converts = proj_get_type(operation) == PJ_TYPE_CONVERSION; /* by definition, within one datum */
    const double accuracy = converts ? 0 : proj_coordoperation_get_accuracy(s->proj, operation);
    char within[64];
    snprintf(within, sizeof within,
             accuracy > 0    ? "accuracy %g m"
             : accuracy == 0 ? "exact"
                             : "accuracy not known",
             accuracy);
    snprintf(text.chars, sizeof text.chars, "%.240s (%s)", proj_get_name(operation), within);
    return text;
}

/* The grids of an operation that are not here, as "a, b". */
static operation_text missing_grids(proj_session *s, const PJ *operation) {
    operation_text text = {""};
    const int count = proj_coordoperation_get_grid_used_count(s->proj, operation);
    for (int i = 0; i < count; i++) {
        const char *name = NULL;
        int available = 1;
        if (!proj_coordoperation_get_grid_used(s->proj, operation, i, &name, NULL, NULL, NULL, NULL, NULL,
                                               &available) ||
            available) {
            continue;
        }
        const size_t length = strlen(text.chars);
        snprintf(text.chars + length, sizeof text.chars - length, "%s%s", length > 0 ? ", " : "", name);
    }
    if (text.chars[0] == '\0') snprintf(text.chars, sizeof text.chars, "a grid");
    return text;
}

/* Why an operation is not taken without --crs-ballpark; with it, what is lost by another. */
static void refuse(mote_context *ctx, proj_session *s, const PJ *best, const PJ *next, const crs_request *request) {
    const operation_text other = describe(s, next);
    if (best == NULL && !request->ballpark) {
        mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                  "there is only a rough operation between the two reference systems, %s: it may be wrong by metres; "
                  "--crs-ballpark takes it",
                  other.chars);
    } else if (best == NULL) {
        mote_warn(ctx, "coordinates are transformed roughly, and may be wrong by metres: %s", other.chars);
    } else {
        const operation_text name = describe(s, best), grids = missing_grids(s, best);
        if (request->ballpark) {
            mote_warn(ctx, "coordinates are transformed by %s: the best operation, %s, needs %s, which is not here",
                      other.chars, name.chars, grids.chars);
        } else {
            mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                      "the best operation between the two reference systems, %s, needs %s, which is not here (it "
                      "belongs in a folder of PROJ_DATA; PROJ_NETWORK=ON fetches it); --crs-ballpark takes %s%s",
                      name.chars, grids.chars, is_rough(s, next) ? "a rough one instead: " : "", other.chars);
        }
    }
}

/* The operation to take: the best, or one whose grids are here and which is as accurate. */
static PJ *choose_operation(mote_context *ctx, proj_session *s, const PJ_OBJ_LIST *list, const crs_request *request) {
    PJ *best = find_operation(s, list, false, false, INFINITY), *taken = best;
    if (best != NULL && !has_grids(s, best)) {
        taken = find_operation(s, list, false, true, proj_coordoperation_get_accuracy(s->proj, best));
    }
    if (taken != NULL) {
        mote_note(ctx, "coordinates are transformed by %s", describe(s, taken).chars);
        if (best != taken) proj_destroy(best);
        return taken;
    }
    taken = find_operation(s, list, false, true, INFINITY);
    if (taken == NULL) taken = find_operation(s, list, true, true, INFINITY);
    if (taken != NULL) refuse(ctx, s, best, taken, request);
    proj_destroy(best);
    if (request->ballpark) return taken;
    proj_destroy(taken);
    return NULL;
}

PJ *proj_session_operation(mote_context *ctx, proj_session *s, const PJ *from, const PJ *to, const crs_request *request,
                           const crs_area *area) {
    PJ_OBJ_LIST *list = list_operations(s, from, to, area);
    PJ *taken = list != NULL ? choose_operation(ctx, s, list, request) : NULL;
    proj_list_destroy(list);
    if (taken == NULL) {
        mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no operation leads from %s to %s", proj_get_name(from), proj_get_name(to));
        return NULL;
    }
    PJ *normal = proj_normalize_for_visualization(s->proj, taken);
    if (normal == NULL) mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: %s", proj_get_name(taken), s->error);
    proj_destroy(taken);
    return normal;
}

#else
typedef int no_proj; /* C forbids a source without a declaration */
#endif
