/* Reference systems as strings of PROJ, for programs that know nothing else. */
#include "io/crs/crs_proj.h"

#include <string.h>

#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include "io/crs/crs_codes.h"
#include "io/crs/crs_proj_internal.h"
#include "io/crs/crs_units.h"

/* x and y of a compound system; others as they are. */
static PJ *find_horizontal(proj_session *s, const PJ *system) {
    return proj_is_compound(system) ? proj_crs_get_sub_crs(s->proj, system, 0) : proj_clone(s->proj, system);
}

/* Grids have no place in such a string: whoever reads it does not have them. */
static const char *short_text(proj_session *s, const PJ *system) {
    const char *text = proj_as_proj_string(s->proj, system, PJ_PROJ_4, NULL);
    return text != NULL && strstr(text, "grids=") == NULL ? text : NULL;
}

/* The text with the seven numbers (or three) of the best operation to WGS 84 that has some; NULL: there is none. */
static PJ *bind_to_wgs84(proj_session *s, const PJ *plain) {
    PJ *const base = proj_crs_get_geodetic_crs(s->proj, plain), *const wgs84 = proj_create(s->proj, "EPSG:4326");
    PJ_OPERATION_FACTORY_CONTEXT *const factory = proj_create_operation_factory_context(s->proj, NULL);
    PJ_OBJ_LIST *operations = NULL;
    PJ *bound = NULL;
    double values[7];
    if (base != NULL && wgs84 != NULL && factory != NULL) {
        /* Some are for a part of the country, or leave out its sea. */
        proj_operation_factory_context_set_spatial_criterion(s->proj, factory,
                                                             PROJ_SPATIAL_CRITERION_PARTIAL_INTERSECTION);
        operations = proj_create_operations(s->proj, base, wgs84, factory);
    }
    const int count = operations != NULL ? proj_list_get_count(operations) : 0;
    for (int i = 0; i < count && bound == NULL; i++) {
        PJ *const one = proj_list_get(s->proj, operations, i);
        if (one != NULL && proj_coordoperation_get_towgs84_values(s->proj, one, values, 7, 0)) {
            bound = proj_crs_create_bound_crs(s->proj, plain, wgs84, one);
        }
        proj_destroy(one);
    }
    proj_list_destroy(operations);
    proj_operation_factory_context_destroy(factory);
    proj_destroy(wgs84);
    proj_destroy(base);
    return bound;
}

mote_status mote_crs_proj_short(mote_context *ctx, const char *crs, char **text) {
    proj_session s;
    crs_codes codes;
    *text = NULL;
    /* PROJ would take any other text for a part of some system's name. */
    if (!mote_crs_is_wkt(crs) && !mote_crs_codes(crs, &codes)) return MOTE_OK;
    MOTE_TRY(proj_session_open(ctx, &s));
    PJ *const whole = proj_create(s.proj, crs);
    PJ *const horizontal = whole != NULL ? find_horizontal(&s, whole) : NULL;
    PJ *const plain = horizontal != NULL ? proj_session_unbound(&s, horizontal) : NULL;
    const bool is_bound = horizontal != NULL && proj_get_type(horizontal) == PJ_TYPE_BOUND_CRS;
    PJ *const bound = plain != NULL && !is_bound ? bind_to_wgs84(&s, plain) : NULL;
    const char *made = is_bound ? short_text(&s, horizontal) : NULL;
    if (made == NULL && bound != NULL) made = short_text(&s, bound);
    if (made == NULL && plain != NULL) made = short_text(&s, plain);
    if (made != NULL) *text = mote_strdup(ctx, made);
    const mote_status status = made != NULL && *text == NULL ? MOTE_ERROR_MEMORY : MOTE_OK;
    proj_destroy(bound);
    proj_destroy(plain);
    proj_destroy(horizontal);
    proj_destroy(whole);
    proj_session_close(&s);
    return status;
}

#else

mote_status mote_crs_proj_short(mote_context *ctx, const char *crs, char **text) {
    (void)ctx, (void)crs;
    *text = NULL;
    return MOTE_OK;
}

#endif
