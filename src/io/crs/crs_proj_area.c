/* Where on the earth the points are, which decides on operations, and whether systems are made for there. */
#include <mote_have.h>

#if MOTE_HAVE_PROJ
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/crs/crs_proj_internal.h"

#define EDGE_POINTS 21   /* along each edge of the box of the points: as PROJ does */
#define LEAST_WIDTH 0.02 /* degrees, 2 km: the operation to WGS 84 may be wrong by some 100 m */
/* Degrees beyond the area of use. What lengths are off by in a zone of UTM, at the equator, where that is most (proj -S
   +proj=utm): 0.10 % at its edge, 0.21 % a degree beyond, which is what neighbours accept; 1.2 % six degrees, a whole
   zone, beyond. The coordinates are exact all the way, but planning and areas by them are not. */
#define OUTSIDE     1.0
#define FAR_OUTSIDE 6.0
#define TURN        360.0
#define RADIANS     (TURN / 6.283185307179586)

/* ---- the points */

static int compare_reals(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* West and east of longitudes, which are sorted. Where more than half a turn is between two of them, the points are on
   both sides of the date line; those of a box of longitudes that is so wide may be, and all around it is. */
static void find_sides(const double *longitudes, int count, crs_area *area) {
    area->west = longitudes[0], area->east = longitudes[count - 1];
    bool is_wide = area->east - area->west > TURN / 2;
    for (int i = 1; i < count; i++) {
        if (longitudes[i] - longitudes[i - 1] <= TURN / 2) continue;
        area->west = longitudes[i], area->east = longitudes[i - 1];
        is_wide = false;
    }
    if (is_wide) area->west = -180, area->east = 180;
}

static double width_of(const crs_area *area) { return area->east - area->west + (area->east < area->west ? TURN : 0); }

crs_area proj_area_widened(const crs_area *area) {
    crs_area wide = *area;
    if (wide.north - wide.south < LEAST_WIDTH) {
        wide.south = fmax(wide.south - LEAST_WIDTH / 2, -90);
        wide.north = fmin(wide.north + LEAST_WIDTH / 2, 90);
    }
    if (width_of(&wide) < LEAST_WIDTH) {
        wide.west -= LEAST_WIDTH / 2, wide.east += LEAST_WIDTH / 2;
        if (wide.west < -180) wide.west += TURN;
        if (wide.east > 180) wide.east -= TURN;
    }
    if (wide.west == 180) wide.west = -180;
    if (wide.east == -180) wide.east = 180;
    const bool has_pole = wide.south <= -90 + LEAST_WIDTH || wide.north >= 90 - LEAST_WIDTH;
    if (has_pole || wide.west == wide.east) wide.west = -180, wide.east = 180;
    return wide;
}

crs_area proj_session_area(proj_session *s, const PJ *from, const mote_box *box) {
    crs_area area = {.south = INFINITY, .north = -INFINITY};
    double longitudes[EDGE_POINTS * EDGE_POINTS];
    int count = 0;
    if (!(box->min[0] <= box->max[0] && box->min[1] <= box->max[1])) return area;
    PJ *target = proj_create(s->proj, "EPSG:4326"), *way = NULL, *normal = NULL;
    if (target != NULL) way = proj_create_crs_to_crs_from_pj(s->proj, from, target, NULL, NULL);
    if (way != NULL) normal = proj_normalize_for_visualization(s->proj, way);
    for (int i = 0; i < EDGE_POINTS * EDGE_POINTS && normal != NULL; i++) {
        const int column = i % EDGE_POINTS, row = i / EDGE_POINTS;
        const double u = (double)column / (EDGE_POINTS - 1), v = (double)row / (EDGE_POINTS - 1);
        const PJ_COORD at = proj_coord(box->min[0] + u * (box->max[0] - box->min[0]),
                                       box->min[1] + v * (box->max[1] - box->min[1]), box->min[2], HUGE_VAL);
        const PJ_COORD place = proj_trans(normal, PJ_FWD, at);
        if (!isfinite(place.xy.x) || !(fabs(place.xy.y) <= 90)) continue;
        longitudes[count++] = remainder(place.xy.x, TURN);
        area.south = fmin(area.south, place.xy.y), area.north = fmax(area.north, place.xy.y);
    }
    proj_destroy(normal);
    proj_destroy(way);
    proj_destroy(target);
    if (count == 0) return area;
    qsort(longitudes, (size_t)count, sizeof *longitudes, compare_reals);
    find_sides(longitudes, count, &area);
    area.is_known = true;
    return area;
}

/* ---- what systems are made for */

#define USE_NAME_BYTES 120

typedef struct crs_use {
    crs_area area;
    char name[USE_NAME_BYTES]; /* the first words; lists of countries follow them */
} crs_use;

static void look_up_use(proj_session *s, const PJ *system, crs_use *use) {
    crs_area *area = &use->area;
    const char *name = NULL;
    area->is_known =
        proj_get_area_of_use(s->proj, system, &area->west, &area->south, &area->east, &area->north, &name) != 0 &&
        area->west >= -180 && area->south >= -90;
    if (name == NULL) return;
    size_t length = 0;
    while (name[length] != '\0' && strchr(".:;", name[length]) == NULL) length++;
    if (length < USE_NAME_BYTES) snprintf(use->name, USE_NAME_BYTES, "%.*s", (int)length, name);
}

/* Well-known text of version 1 has no areas: they are the database's, of the code in it. */
static crs_use use_of(proj_session *s, const PJ *system) {
    crs_use use = {0};
    look_up_use(s, system, &use);
    const char *authority = proj_get_id_auth_name(system, 0), *code = proj_get_id_code(system, 0);
    if (use.area.is_known || authority == NULL || code == NULL) return use;
    PJ *known = proj_create_from_database(s->proj, authority, code, PJ_CATEGORY_CRS, 0, NULL);
    if (known != NULL) look_up_use(s, known, &use);
    proj_destroy(known);
    return use;
}

/* How many degrees an area reaches beyond another. */
static double degrees_beyond(const crs_area *area, const crs_area *use) {
    const double width = width_of(use), middle = use->west + width / 2;
    double along = fabs(remainder(area->west + width_of(area) / 2 - middle, TURN)) + (width_of(area) - width) / 2;
    if (width >= TURN || width_of(area) >= TURN) along = 0;
    return fmax(along, fmax(use->south - area->south, area->north - use->north));
}

/* Whether the points would lie where both systems are made for, were their x and y the other way round. */
static bool looks_swapped(proj_session *s, const PJ *from, const PJ *const systems[2], const mote_box *box) {
    const mote_box swapped = {{box->min[1], box->min[0], box->min[2]}, {box->max[1], box->max[0], box->max[2]}};
    const crs_area area = proj_session_area(s, from, &swapped);
    for (int i = 0; i < 2; i++) {
        const crs_use use = use_of(s, systems[i]);
        if (!area.is_known || (use.area.is_known && degrees_beyond(&area, &use.area) > OUTSIDE)) return false;
    }
    return true;
}

void proj_session_tell_area(mote_context *ctx, proj_session *s, const PJ *from, const PJ *const systems[2],
                            const mote_box *box, const crs_area *area) {
    for (int i = 0; i < 2 && area->is_known; i++) {
        const crs_use use = use_of(s, systems[i]);
        const double beyond = use.area.is_known ? degrees_beyond(area, &use.area) : 0;
        if (beyond <= OUTSIDE) continue;
        char text[600];
        snprintf(text, sizeof text,
                 "the points, longitude %.2f to %.2f and latitude %.2f to %.2f, reach %.0f degrees beyond the area of "
                 "use of %.160s%s%s%s%s",
                 area->west, area->east, area->south, area->north, ceil(beyond), proj_get_name(systems[i]),
                 use.name[0] != '\0' ? " (" : "", use.name, use.name[0] != '\0' ? ")" : "",
                 looks_swapped(s, from, systems, box) ? "; with x and y swapped they would lie inside it" : "");
        if (beyond <= FAR_OUTSIDE) mote_note(ctx, "%s", text);
        if (beyond > FAR_OUTSIDE) mote_warn(ctx, "%s; what they become there may have no meaning", text);
        return;
    }
}

void proj_tell_turns(mote_context *ctx, const crs_axes *from, const mote_box *box) {
    if (!from->is_geographic || !(box->min[0] <= box->max[0])) return;
    const double low = box->min[0] * from->unit * RADIANS, high = box->max[0] * from->unit * RADIANS;
    if (low >= -TURN && high <= TURN) return;
    mote_warn(ctx, "longitudes reach from %.10g to %.10g degrees, which is more than a turn: whole turns do not count",
              low, high);
}

#else
typedef int no_proj; /* C forbids a source without a declaration */
#endif
