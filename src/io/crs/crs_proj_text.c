/* Texts of reference systems, by PROJ. */
#include "io/crs/crs_proj.h"

#include <stdio.h>
#include <strings.h>

#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include "io/crs/crs_proj_internal.h"
#include "io/crs/crs_units.h"
#include "mote/crs.h"

bool mote_crs_has_proj(void) { return true; }

/* ---- a context of PROJ */

/* PROJ writes to standard error unless it is given this. */
static void on_message(void *user, int level, const char *message) {
    proj_session *s = user;
    if (level == PJ_LOG_ERROR) snprintf(s->error, sizeof s->error, "%s", message);
}

mote_status proj_session_open(mote_context *ctx, proj_session *s) {
    memset(s, 0, sizeof *s);
    s->proj = proj_context_create();
    if (s->proj == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: a context of PROJ");
    proj_log_level(s->proj, PJ_LOG_ERROR);
    proj_log_func(s->proj, s, on_message);
    return MOTE_OK;
}

void proj_session_close(proj_session *s) {
    if (s->proj != NULL) proj_context_destroy(s->proj);
    s->proj = NULL;
}

/* ---- systems */

static bool is_system(const PJ *object) {
    switch (proj_get_type(object)) {
    case PJ_TYPE_CRS:
    case PJ_TYPE_GEODETIC_CRS:
    case PJ_TYPE_GEOCENTRIC_CRS:
    case PJ_TYPE_GEOGRAPHIC_CRS:
    case PJ_TYPE_GEOGRAPHIC_2D_CRS:
    case PJ_TYPE_GEOGRAPHIC_3D_CRS:
    case PJ_TYPE_PROJECTED_CRS:
    case PJ_TYPE_COMPOUND_CRS:
    case PJ_TYPE_BOUND_CRS:
    case PJ_TYPE_ENGINEERING_CRS:
    case PJ_TYPE_OTHER_CRS: return true;
    default: return false;
    }
}

/* PROJ takes parts of names as well, "foo" for Amersfoort, and aliases, of which EPSG has some for several systems. */
#define NAMES_SHOWN     3
#define NAMES_LOOKED_AT 40

static bool is_name(const char *text) {
    const size_t word = strcspn(text, ": \t");
    return *text != '+' && *text != '{' && !mote_crs_is_wkt(text) && text[word] != ':';
}

static bool is_same_name(const char *text, const char *name, size_t length) {
    return strlen(text) == length && strncasecmp(text, name, length) == 0;
}

/* Whether the text is the name of the object, or ESRI's for it. */
static bool is_meant(proj_session *s, const char *text, const PJ *object) {
    static const char *const short_names[] = {"WGS84", "WGS72", "NAD83", "NAD27"}; /* PROJ's own */
    const char *name = proj_get_name(object);
    if (!is_name(text) || is_same_name(text, name, strlen(name))) return true;
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++) {
        if (is_same_name(text, short_names[i], strlen(short_names[i]))) return true;
    }
    const char *wkt = proj_as_wkt(s->proj, object, PJ_WKT1_ESRI, NULL);
    const char *quote = wkt != NULL ? strchr(wkt, '"') : NULL;
    return quote != NULL && is_same_name(text, quote + 1, strcspn(quote + 1, "\""));
}

/* The names that a text is a part of; false: there are none. */
static bool fail_name(mote_context *ctx, proj_session *s, const char *text, const char *what) {
    const PJ_TYPE type = PJ_TYPE_CRS;
    char names[400] = "";
    PJ_OBJ_LIST *list = NULL;
    if (is_name(text)) list = proj_create_from_name(s->proj, NULL, text, &type, 1, 1, NAMES_LOOKED_AT, NULL);
    const int count = list != NULL ? proj_list_get_count(list) : 0;
    for (int i = 0, shown = 0; i < count && shown < NAMES_SHOWN; i++) {
        PJ *one = proj_list_get(s->proj, list, i);
        const char *name = one != NULL && is_system(one) ? proj_get_name(one) : NULL;
        const size_t length = strlen(names);
        if (name != NULL && strstr(names, name) == NULL) {
            snprintf(names + length, sizeof names - length, "%s\"%.100s\"", shown++ > 0 ? ", " : "", name);
        }
        proj_destroy(one);
    }
    proj_list_destroy(list);
    if (names[0] == '\0') return false;
    mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s \"%s\" is not the name of a system; there are %s", what, text, names);
    return true;
}

/* "EPSG:9000@2010.5": PROJ's word for coordinates of a year, which it knows from version 9.4 on. */
static bool has_epoch(const char *text) {
    const char *at = strrchr(text, '@');
    return at != NULL && at != text && at[1] != '\0' && at[1 + strspn(at + 1, "0123456789.")] == '\0';
}

/* What is wrong with a text; the first lines of it. */
static void fail_system(mote_context *ctx, proj_session *s, const char *text, const char *what, const PJ *object) {
    mote_crs_facts facts;
    mote_crs_describe(text, &facts);
    if (mote_crs_is_wkt(text)) text = facts.name;
    const int shown = (int)strcspn(text, "\r\n");
    const char *why = s->error[0] != '\0' ? s->error : "no system of that name or code";
    if (proj_context_get_database_path(s->proj) == NULL) why = "PROJ does not find its database, proj.db";
    if (object != NULL) {
        why = proj_get_type(object) == PJ_TYPE_VERTICAL_CRS ? "it is of heights alone" : "it is of something else";
    } else if (has_epoch(text)) {
        why = "a year after @ (a coordinate epoch) is not known here; name the system without it";
    }
    mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s \"%.*s%s\" is not understood: %s", what, shown > 80 ? 80 : shown, text,
              shown > 80 ? "…" : "", why);
}

/* PROJ calls the system of a string "unknown"; the string says what it is. Of a bound one what is bound has the name.
 */
static PJ *name_of_string(proj_session *s, const PJ *system, const char *text) {
    if (proj_get_type(system) != PJ_TYPE_BOUND_CRS) return proj_alter_name(s->proj, system, text);
    PJ *const bound = proj_get_source_crs(s->proj, system), *const hub = proj_get_target_crs(s->proj, system);
    PJ *const shift = proj_crs_get_coordoperation(s->proj, system);
    PJ *const named = bound != NULL ? proj_alter_name(s->proj, bound, text) : NULL;
    PJ *const whole =
        named != NULL && hub != NULL && shift != NULL ? proj_crs_create_bound_crs(s->proj, named, hub, shift) : NULL;
    proj_destroy(named);
    proj_destroy(shift);
    proj_destroy(hub);
    proj_destroy(bound);
    return whole;
}

/* What PROJ takes the text for; a string of it is the system's name, too. NULL: nothing, or no memory. */
static PJ *create_object(mote_context *ctx, proj_session *s, const char *text) {
    s->error[0] = '\0';
    if (*text != '+' || strstr(text, "+type=crs") != NULL) return proj_create(s->proj, text);
    char *whole = mote_alloc(ctx, strlen(text) + 16, "texts");
    if (whole == NULL) return NULL;
    snprintf(whole, strlen(text) + 16, "%s +type=crs", text);
    PJ *object = proj_create(s->proj, whole);
    mote_free(ctx, whole);
    PJ *named = object != NULL && is_system(object) ? name_of_string(s, object, text) : NULL;
    if (named == NULL) return object;
    proj_destroy(object);
    return named;
}

static bool is_pipeline(const char *text) { return *text == '+' && strstr(text, "+step") != NULL; }

PJ *proj_session_system(mote_context *ctx, proj_session *s, const char *text, const char *what) {
    text += strspn(text, " \t\r\n");
    PJ *object = create_object(ctx, s, text);
    if (object != NULL && is_pipeline(text)) {
        mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s \"%.80s\" is not understood: it is a pipeline, which is no system",
                  what, text);
        proj_destroy(object);
        return NULL;
    }
    if (object != NULL && is_system(object) && is_meant(s, text, object)) return object;
    if (!fail_name(ctx, s, text, what)) fail_system(ctx, s, text, what, object);
    if (object != NULL) proj_destroy(object);
    return NULL;
}

PJ *proj_session_unbound(proj_session *s, const PJ *system) {
    return proj_get_type(system) == PJ_TYPE_BOUND_CRS ? proj_get_source_crs(s->proj, system)
                                                      : proj_clone(s->proj, system);
}

bool proj_is_compound(const PJ *system) { return proj_get_type(system) == PJ_TYPE_COMPOUND_CRS; }

bool proj_is_flat(proj_session *s, const PJ *system) {
    PJ *own = proj_session_unbound(s, system);
    if (own == NULL) return false;
    PJ *axes = proj_is_compound(own) ? NULL : proj_crs_get_coordinate_system(s->proj, own);
    const bool flat = axes != NULL && proj_cs_get_axis_count(s->proj, axes) == 2;
    proj_destroy(axes);
    proj_destroy(own);
    return flat;
}

PJ *proj_session_with_heights(mote_context *ctx, proj_session *s, PJ *system, uint32_t code) {
    char text[32];
    if (system == NULL || code == 0 || !proj_is_flat(s, system)) return system;
    snprintf(text, sizeof text, "EPSG:%u", code);
    PJ *heights = proj_create(s->proj, text), *compound = NULL;
    if (heights != NULL && proj_get_type(heights) == PJ_TYPE_VERTICAL_CRS) {
        char name[400];
        snprintf(name, sizeof name, "%.190s + %.190s", proj_get_name(system), proj_get_name(heights));
        compound = proj_create_compound_crs(s->proj, name, system, heights);
    }
    if (compound == NULL) mote_warn(ctx, "EPSG:%u is no system of heights: it is left out", code);
    proj_destroy(heights);
    if (compound == NULL) return system;
    proj_destroy(system);
    return compound;
}

const char *proj_session_wkt(proj_session *s, const PJ *system) {
    const char *const options[] = {"MULTILINE=NO", NULL};
    const char *text = proj_as_wkt(s->proj, system, PJ_WKT1_GDAL, options);
    return text != NULL ? text : proj_as_wkt(s->proj, system, PJ_WKT2_2019, options);
}

static bool is_wkt(const char *text) {
    const size_t word = strcspn(text, "[(\"{");
    return text[word] == '[' || text[word] == '(';
}

mote_status mote_crs_proj_text(mote_context *ctx, const char *given, uint32_t vertical, char **text) {
    proj_session s;
    *text = NULL;
    MOTE_TRY(proj_session_open(ctx, &s));
    PJ *system = proj_session_system(ctx, &s, given, "the reference system");
    const bool flat = system != NULL && vertical != 0 && proj_is_flat(&s, system);
    if (flat) system = proj_session_with_heights(ctx, &s, system, vertical);
    if (system != NULL) {
        const char *made = is_wkt(given) && !(flat && proj_is_compound(system)) ? given : proj_session_wkt(&s, system);
        if (made == NULL)
            mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the reference system %s has no text", proj_get_name(system));
        if (made != NULL) *text = mote_strdup(ctx, made);
    }
    proj_destroy(system);
    proj_session_close(&s);
    return *text != NULL ? MOTE_OK : mote_context_status(ctx);
}

mote_status mote_crs_proj_wkt(mote_context *ctx, const char *crs, char **wkt) {
    proj_session s;
    *wkt = NULL;
    crs += strspn(crs, " \t\r\n");
    if ((*crs != '+' && *crs != '{') || is_pipeline(crs)) return MOTE_OK; /* a name may be another system's, too */
    MOTE_TRY(proj_session_open(ctx, &s));
    PJ *system = create_object(ctx, &s, crs);
    const char *made = system != NULL && is_system(system) ? proj_session_wkt(&s, system) : NULL;
    if (made != NULL) *wkt = mote_strdup(ctx, made);
    proj_destroy(system);
    proj_session_close(&s);
    return made != NULL && *wkt == NULL ? MOTE_ERROR_MEMORY : MOTE_OK;
}

#else

bool mote_crs_has_proj(void) { return false; }

mote_status mote_crs_proj_text(mote_context *ctx, const char *given, uint32_t vertical, char **text) {
    (void)vertical;
    *text = NULL;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the reference system \"%.80s\" is understood by PROJ alone: %s",
                     given, CRS_NEEDS_PROJ);
}

mote_status mote_crs_proj_wkt(mote_context *ctx, const char *crs, char **wkt) {
    (void)ctx, (void)crs;
    *wkt = NULL;
    return MOTE_OK;
}

#endif
