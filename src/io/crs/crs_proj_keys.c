/* A projection that the GeoTIFF keys of a LAS file define by its parts, where EPSG has no code for the whole.
   Source: OGC GeoTIFF 1.1, section 7 and annex C; EPSG's numbers of methods and parameters */
#include <mote_have.h>

#include "io/crs/crs_proj.h"

#if MOTE_HAVE_PROJ
#include <math.h>
#include <stdio.h>

#include "io/crs/crs_proj_internal.h"
#include "io/crs/geo_keys.h"
#include "io/las/las_format.h"

#define KEY_DATUM           2050u
#define KEY_ELLIPSOID       2056u
#define KEY_SEMI_MAJOR      2057u
#define KEY_INVERSE_FLAT    2059u
#define KEY_PROJECTION      3074u
#define KEY_METHOD          3075u
#define DEGREE              0.017453292519943295
#define PARAMETERS_MAX      6
#define KEYS_OF_A_PARAMETER 3

/* A parameter of a method, and the keys of which one has its value. */
typedef struct key_parameter {
    const char *code, *name; /* EPSG's */
    uint16_t keys[KEYS_OF_A_PARAMETER];
} key_parameter;

#define LATITUDE                                                                                                       \
    {                                                                                                                  \
        "8801", "Latitude of natural origin", { 3081, 3089 }                                                           \
    }
#define LONGITUDE                                                                                                      \
    {                                                                                                                  \
        "8802", "Longitude of natural origin", { 3080, 3088 }                                                          \
    }
#define SCALE                                                                                                          \
    {                                                                                                                  \
        "8805", "Scale factor at natural origin", { 3092, 3093 }                                                       \
    }
#define EASTING                                                                                                        \
    {                                                                                                                  \
        "8806", "False easting", { 3082, 3090 }                                                                        \
    }
#define NORTHING                                                                                                       \
    {                                                                                                                  \
        "8807", "False northing", { 3083, 3091 }                                                                       \
    }
#define FALSE_LATITUDE                                                                                                 \
    {                                                                                                                  \
        "8821", "Latitude of false origin", { 3085, 3081, 3089 }                                                       \
    }
#define FALSE_LONGITUDE                                                                                                \
    {                                                                                                                  \
        "8822", "Longitude of false origin", { 3084, 3080, 3088 }                                                      \
    }
#define PARALLEL_1                                                                                                     \
    {                                                                                                                  \
        "8823", "Latitude of 1st standard parallel", { 3078 }                                                          \
    }
#define PARALLEL_2                                                                                                     \
    {                                                                                                                  \
        "8824", "Latitude of 2nd standard parallel", { 3079 }                                                          \
    }
#define FALSE_EASTING                                                                                                  \
    {                                                                                                                  \
        "8826", "Easting at false origin", { 3086, 3082 }                                                              \
    }
#define FALSE_NORTHING                                                                                                 \
    {                                                                                                                  \
        "8827", "Northing at false origin", { 3087, 3083 }                                                             \
    }

typedef struct key_method {
    uint16_t number; /* GeoTIFF's */
    const char *code, *name;
    key_parameter parameters[PARAMETERS_MAX];
} key_method;

static const key_method methods[] = {
    {1, "9807", "Transverse Mercator", {LATITUDE, LONGITUDE, SCALE, EASTING, NORTHING}},
    {7, "9804", "Mercator (variant A)", {LATITUDE, LONGITUDE, SCALE, EASTING, NORTHING}},
    {8,
     "9802",
     "Lambert Conic Conformal (2SP)",
     {FALSE_LATITUDE, FALSE_LONGITUDE, PARALLEL_1, PARALLEL_2, FALSE_EASTING, FALSE_NORTHING}},
    {9, "9801", "Lambert Conic Conformal (1SP)", {LATITUDE, LONGITUDE, SCALE, EASTING, NORTHING}},
    {10, "9820", "Lambert Azimuthal Equal Area", {LATITUDE, LONGITUDE, EASTING, NORTHING}},
    {11,
     "9822",
     "Albers Equal Area",
     {FALSE_LATITUDE, FALSE_LONGITUDE, PARALLEL_1, PARALLEL_2, FALSE_EASTING, FALSE_NORTHING}},
    {16, "9809", "Oblique Stereographic", {LATITUDE, LONGITUDE, SCALE, EASTING, NORTHING}},
};

static bool is_code(uint32_t code) { return code > 0 && code < LAS_GEO_USER_DEFINED; }

static PJ *of_epsg(proj_session *s, uint32_t code, PJ_CATEGORY category) {
    char text[16];
    snprintf(text, sizeof text, "%u", code);
    return is_code(code) ? proj_create_from_database(s->proj, "EPSG", text, category, 0, NULL) : NULL;
}

/* ---- the system of longitude and latitude */

static PJ *geographic_of_ellipsoid(proj_session *s, const geo_keys *keys, PJ *axes) {
    double major = geo_keys_number(keys, KEY_SEMI_MAJOR), inverse = geo_keys_number(keys, KEY_INVERSE_FLAT);
    PJ *known = of_epsg(s, geo_keys_code(keys, KEY_ELLIPSOID), PJ_CATEGORY_ELLIPSOID);
    if (known != NULL) proj_ellipsoid_get_parameters(s->proj, known, &major, NULL, NULL, &inverse);
    const char *const name = known != NULL ? proj_get_name(known) : "of GeoTIFF keys";
    PJ *made = NULL;
    if (isfinite(major) && isfinite(inverse) && major > 0) {
        made = proj_create_geographic_crs(s->proj, "of GeoTIFF keys", "unknown", name, major, inverse, "Greenwich", 0,
                                          "Degree", DEGREE, axes);
    }
    proj_destroy(known);
    return made;
}

static PJ *geographic_of_keys(proj_session *s, const geo_keys *keys) {
    PJ *made = of_epsg(s, geo_keys_code(keys, LAS_KEY_GEOGRAPHIC), PJ_CATEGORY_CRS);
    if (made != NULL) return made;
    PJ *axes = proj_create_ellipsoidal_2D_cs(s->proj, PJ_ELLPS2D_LONGITUDE_LATITUDE, "Degree", DEGREE);
    PJ *datum = of_epsg(s, geo_keys_code(keys, KEY_DATUM), PJ_CATEGORY_DATUM);
    if (axes != NULL && datum != NULL) {
        made = proj_create_geographic_crs_from_datum(s->proj, proj_get_name(datum), datum, axes);
    } else if (axes != NULL) {
        made = geographic_of_ellipsoid(s, keys, axes);
    }
    proj_destroy(datum);
    proj_destroy(axes);
    return made;
}

/* ---- the projection */

static double value_of(const geo_keys *keys, const key_parameter *parameter) {
    double value = NAN;
    for (int i = 0; i < KEYS_OF_A_PARAMETER && isnan(value); i++) {
        if (parameter->keys[i] != 0) value = geo_keys_number(keys, parameter->keys[i]);
    }
    return value;
}

/* What no key states is 0, as writers leave out origins at 0; but a scale of 1. */
static PJ *conversion_of_keys(proj_session *s, const geo_keys *keys, const mote_unit *unit) {
    PJ *known = of_epsg(s, geo_keys_code(keys, KEY_PROJECTION), PJ_CATEGORY_COORDINATE_OPERATION);
    const uint32_t number = geo_keys_code(keys, KEY_METHOD);
    if (known != NULL) return known;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        const key_method *const method = &methods[m];
        PJ_PARAM_DESCRIPTION values[PARAMETERS_MAX];
        int count = 0;
        if (method->number != number) continue;
        for (; count < PARAMETERS_MAX && method->parameters[count].code != NULL; count++) {
            const key_parameter *const parameter = &method->parameters[count];
            const bool is_scale = strcmp(parameter->code, "8805") == 0;
            const bool is_length =
                strstr(parameter->name, "asting") != NULL || strstr(parameter->name, "orthing") != NULL;
            const double value = value_of(keys, parameter), otherwise = is_scale ? 1 : 0;
            values[count] = (PJ_PARAM_DESCRIPTION){.name = parameter->name,
                                                   .auth_name = "EPSG",
                                                   .code = parameter->code,
                                                   .value = isnan(value) ? otherwise : value,
                                                   .unit_name = is_scale    ? "unity"
                                                                : is_length ? unit->name
                                                                            : "degree",
                                                   .unit_conv_factor = is_scale    ? 1
                                                                       : is_length ? unit->metres
                                                                                   : DEGREE,
                                                   .unit_type = is_scale    ? PJ_UT_SCALE
                                                                : is_length ? PJ_UT_LINEAR
                                                                            : PJ_UT_ANGULAR};
        }
        return proj_create_conversion(s->proj, "of GeoTIFF keys", NULL, NULL, method->name, "EPSG", method->code, count,
                                      values);
    }
    return NULL;
}

static PJ *projected_of_keys(proj_session *s, const mote_cloud *cloud, const geo_keys *keys, const PJ *geographic) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    if (!(units.horizontal.metres > 0)) {
        snprintf(units.horizontal.name, sizeof units.horizontal.name, "metre");
        units.horizontal.metres = 1;
    }
    const char *const name = units.horizontal.name;
    PJ *conversion = conversion_of_keys(s, keys, &units.horizontal), *made = NULL;
    PJ *axes = proj_create_cartesian_2D_cs(s->proj, PJ_CART2D_EASTING_NORTHING, name, units.horizontal.metres);
    if (conversion != NULL && axes != NULL) {
        made = proj_create_projected_crs(s->proj, "of GeoTIFF keys", geographic, conversion, axes);
    }
    proj_destroy(axes);
    proj_destroy(conversion);
    return made;
}

mote_status mote_crs_proj_of_keys(mote_context *ctx, const mote_cloud *cloud, char **text) {
    const geo_keys keys = geo_keys_of(cloud);
    const bool angular = geo_keys_code(&keys, KEY_ANGULAR) == 0 || geo_keys_code(&keys, KEY_ANGULAR) == 9102;
    const uint32_t model = geo_keys_code(&keys, LAS_KEY_MODEL);
    proj_session s;
    *text = NULL;
    if (keys.directory == NULL || !angular || model == LAS_MODEL_GEOCENTRIC) return MOTE_OK;
    MOTE_TRY(proj_session_open(ctx, &s));
    PJ *geographic = geographic_of_keys(&s, &keys), *system = NULL;
    if (geographic != NULL && model != LAS_MODEL_GEOGRAPHIC) system = projected_of_keys(&s, cloud, &keys, geographic);
    const PJ *const made = model == LAS_MODEL_GEOGRAPHIC ? geographic : system;
    const char *const wkt = made != NULL ? proj_session_wkt(&s, made) : NULL;
    if (wkt != NULL) *text = mote_strdup(ctx, wkt);
    const bool held = wkt == NULL || *text != NULL;
    proj_destroy(system);
    proj_destroy(geographic);
    proj_session_close(&s);
    return held ? MOTE_OK : MOTE_ERROR_MEMORY;
}

#else

mote_status mote_crs_proj_of_keys(mote_context *ctx, const mote_cloud *cloud, char **text) {
    (void)ctx;
    (void)cloud;
    *text = NULL;
    return MOTE_OK;
}

#endif
