/* Of the files crs_proj_*.c, in a build with PROJ: one of its contexts, which belongs to one thread. */
#ifndef MOTE_CRS_PROJ_INTERNAL_H
#define MOTE_CRS_PROJ_INTERNAL_H

#include <proj.h>
#include <proj_experimental.h> /* systems out of parts; GDAL keeps it stable */

#include "core/core.h"
#include "io/crs/crs_proj.h"

typedef struct proj_session {
    PJ_CONTEXT *proj;
    char error[256]; /* what it said last */
} proj_session;

/* NULL in ->proj, and a failure that is noted, where there is no memory. */
mote_status proj_session_open(mote_context *ctx, proj_session *s);
void proj_session_close(proj_session *s);

/* The system of a text; NULL, and a failure that is noted: what: "the input's system", "--to-crs". */
PJ *proj_session_system(mote_context *ctx, proj_session *s, const char *text, const char *what);
/* The same with heights of an EPSG code, if it has none of its own and can have some; code 0: as it is. */
PJ *proj_session_with_heights(mote_context *ctx, proj_session *s, PJ *system, uint32_t code);
/* A horizontal or vertical system whose coordinates are in another unit, if they are not; NULL: they are, or it cannot
   be. */
PJ *proj_session_in_unit(proj_session *s, const PJ *system, const mote_unit *unit);
/* Heights of nothing known, in a unit: a text can say it, and no operation may take it for a datum. */
PJ *proj_session_unknown_heights(proj_session *s, const mote_unit *unit);
bool proj_are_unknown_heights(const PJ *vertical);

/* Well-known text of version 1 where that can say it; NULL: there is none. Valid as long as the object. */
const char *proj_session_wkt(proj_session *s, const PJ *system);

/* A system, or what is bound in one, without the binding. For proj_destroy. */
PJ *proj_session_unbound(proj_session *s, const PJ *system);
bool proj_is_compound(const PJ *system);
/* Whether it is horizontal alone, and can be given heights. */
bool proj_is_flat(proj_session *s, const PJ *system);

/* In degrees of longitude and latitude, of WGS 84 by whatever operation: some metres do not matter. West is more than
   east where the date line is between them. */
typedef struct crs_area {
    bool is_known;
    double west, south, east, north;
} crs_area;

/* Where the points are. */
crs_area proj_session_area(proj_session *s, const PJ *from, const mote_box *box);
/* The same for PROJ, with a width however few the points are: areas without one have no intersection with others, and
   at the date line it looks for one forever (PROJ 9.1). */
crs_area proj_area_widened(const crs_area *area);
/* Tells where the points are away from the places that one of two systems is made for, and warns where far. */
void proj_session_tell_area(mote_context *ctx, proj_session *s, const PJ *from, const PJ *const systems[2],
                            const mote_box *box, const crs_area *area);
/* Warns of longitudes beyond a turn. */
void proj_tell_turns(mote_context *ctx, const crs_axes *from, const mote_box *box);

/* Chooses the operation between two systems; and tells of it in the log. For
   proj_destroy; NULL, and a failure that is noted. */
PJ *proj_session_operation(mote_context *ctx, proj_session *s, const PJ *from, const PJ *to, const crs_request *request,
                           const crs_area *area);

#endif
