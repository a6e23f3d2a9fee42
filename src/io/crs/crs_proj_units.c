/* Systems in other units than their definition has: writers name the next system of metres, and say that they have
   feet. */
#include "io/crs/crs_proj.h"

#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include <math.h>
#include <stdio.h>

#include "io/crs/crs_proj_internal.h"

#define UNKNOWN_HEIGHTS "unknown"

static bool units_differ(double a, double b) { return a > 0 && b > 0 && fabs(a / b - 1) > 1e-9; }

static double unit_of(proj_session *s, const PJ *system) {
    double unit = 0;
    PJ *axes = proj_crs_get_coordinate_system(s->proj, system);
    if (axes == NULL || !proj_cs_get_axis_info(s->proj, axes, 0, NULL, NULL, NULL, &unit, NULL, NULL, NULL)) unit = 0;
    proj_destroy(axes);
    return unit;
}

PJ *proj_session_in_unit(proj_session *s, const PJ *system, const mote_unit *unit) {
    const PJ_TYPE type = proj_get_type(system);
    if (type != PJ_TYPE_PROJECTED_CRS && type != PJ_TYPE_VERTICAL_CRS) return NULL;
    if (!units_differ(unit->metres, unit_of(s, system))) return NULL;
    return proj_crs_alter_cs_linear_unit(s->proj, system, unit->name, unit->metres, NULL, NULL);
}

PJ *proj_session_unknown_heights(proj_session *s, const mote_unit *unit) {
    char text[320];
    snprintf(text, sizeof text,
             "VERTCRS[\"" UNKNOWN_HEIGHTS "\",VDATUM[\"" UNKNOWN_HEIGHTS
             "\"],CS[vertical,1],AXIS[\"gravity-related height (H)\",up],LENGTHUNIT[\"%.60s\",%.15g]]",
             unit->name, unit->metres);
    return proj_create(s->proj, text);
}

bool proj_are_unknown_heights(const PJ *vertical) {
    return vertical != NULL && proj_get_type(vertical) == PJ_TYPE_VERTICAL_CRS &&
           strcmp(proj_get_name(vertical), UNKNOWN_HEIGHTS) == 0;
}

/* The heights that go with a flat system: those of the code in the unit that is stated; NULL: there are none. */
static PJ *make_heights(mote_context *ctx, proj_session *s, uint32_t vertical, const mote_unit *unit) {
    char text[32];
    PJ *known = NULL;
    snprintf(text, sizeof text, "EPSG:%u", vertical);
    if (vertical != 0) known = proj_create(s->proj, text);
    if (known == NULL || proj_get_type(known) != PJ_TYPE_VERTICAL_CRS) {
        if (vertical != 0) mote_warn(ctx, "EPSG:%u is no system of heights: it is left out", vertical);
        proj_destroy(known);
        return unit->metres > 0 ? proj_session_unknown_heights(s, unit) : NULL;
    }
    PJ *other = proj_session_in_unit(s, known, unit);
    if (other == NULL) return known;
    proj_destroy(known);
    return other;
}

static char *text_in(mote_context *ctx, proj_session *s, const PJ *system, uint32_t vertical, const mote_units *units) {
    char name[400];
    PJ *ground = proj_session_in_unit(s, system, &units->horizontal);
    const bool heights_count = ground != NULL || units_differ(units->vertical.metres, 1);
    if (ground == NULL && heights_count) ground = proj_clone(s->proj, system);
    PJ *heights = NULL, *whole = NULL;
    if (ground != NULL && proj_is_flat(s, ground)) heights = make_heights(ctx, s, vertical, &units->vertical);
    if (heights != NULL) {
        snprintf(name, sizeof name, "%.190s + %.190s", proj_get_name(ground), proj_get_name(heights));
        whole = proj_create_compound_crs(s->proj, name, ground, heights);
    }
    const PJ *made = whole != NULL ? whole : ground;
    const char *text = made != NULL ? proj_session_wkt(s, made) : NULL;
    char *copy = text != NULL ? mote_strdup(ctx, text) : NULL;
    proj_destroy(whole);
    proj_destroy(heights);
    proj_destroy(ground);
    return copy;
}

mote_status mote_crs_proj_text_in(mote_context *ctx, const char *crs, uint32_t vertical, const mote_units *units,
                                  char **text) {
    proj_session s;
    *text = NULL;
    MOTE_TRY(proj_session_open(ctx, &s));
    PJ *system = proj_create(s.proj, crs);
    if (system != NULL) *text = text_in(ctx, &s, system, vertical, units);
    if (system == NULL) mote_warn(ctx, "the units of %.80s are left out: PROJ does not know it", crs);
    proj_destroy(system);
    proj_session_close(&s);
    return mote_context_status(ctx);
}

#else

mote_status mote_crs_proj_text_in(mote_context *ctx, const char *crs, uint32_t vertical, const mote_units *units,
                                  char **text) {
    (void)ctx, (void)crs, (void)vertical, (void)units;
    *text = NULL;
    return MOTE_OK;
}

#endif
