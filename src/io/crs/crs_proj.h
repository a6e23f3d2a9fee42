/* What PROJ knows of reference systems: the text of one, its axes, the operation from one to another. Only the files
   crs_proj_*.c know PROJ itself. In a build without it each of these fails with a message that says so, but for those
   that return what is known without. */
#ifndef MOTE_CRS_PROJ_H
#define MOTE_CRS_PROJ_H

#include "core/core.h"
#include "io/crs/crs_mercator.h"
#include "mote/crs.h"
#include "mote/io.h"

#define CRS_NEEDS_PROJ "this build of mote has no PROJ (Debian: libproj-dev)"

bool mote_crs_has_proj(void);

/* What a person gave as a system, as a text for files: WKT stays as it is; codes, names, PROJJSON and strings of PROJ
   become WKT, version 1 where that can say it. vertical: EPSG code of heights that the system takes where it has none;
   0: none. *text: for mote_free. */
mote_status mote_crs_proj_text(mote_context *ctx, const char *given, uint32_t vertical, char **text);

/* A string of PROJ, or PROJJSON, that a file has as its system, as such a text; *wkt NULL: it is none of these, not
   understood, or there is no PROJ. */
mote_status mote_crs_proj_wkt(mote_context *ctx, const char *crs, char **wkt);

/* The system that the GeoTIFF keys of a LAS file define by parts, as such a text; *text NULL: they define none, or one
   that is not understood. */
mote_status mote_crs_proj_of_keys(mote_context *ctx, const mote_cloud *cloud, char **text);
/* A system of codes as well-known text whose coordinates are in other units: those that are stated. Heights of EPSG
   code `vertical`; 0: of nothing known, which is a vertical system by the name of "unknown". *text: NULL where the
   system has these units itself. */
mote_status mote_crs_proj_text_in(mote_context *ctx, const char *crs, uint32_t vertical, const mote_units *units,
                                  char **text);

/* The horizontal part of a system as a string of PROJ, with the shift to WGS 84 that EPSG has, as of DHDN. *text: NULL
   where it cannot be said so, the text is not understood, or there is no PROJ. */
mote_status mote_crs_proj_short(mote_context *ctx, const char *crs, char **text);

/* ---- transforming */

typedef struct crs_transformer crs_transformer;

typedef struct crs_request {
    const char *from, *to;
    uint32_t vertical; /* code of the heights of `from` where its text does not state them; 0: none */
    mote_units units;  /* of the coordinates; those of lengths along the ground count before what `from` says */
    bool stated_units; /* they come from the file, not from `from` */
    mote_box box;      /* of the points in `from`, for the area; empty: not known */
    bool ballpark;
} crs_request;

/* What the coordinates of a system are, as far as steps and normals ask. */
typedef struct crs_axes {
    bool is_geographic; /* x and y are angles: longitude and latitude */
    bool is_geocentric;
    double unit, height_unit; /* metres or radians; of heights metres, 0: not known */
} crs_axes;

/* Chooses the operation and tells of it in the log. */
mote_status mote_crs_transformer_make(mote_context *ctx, const crs_request *request, crs_transformer **out);
void mote_crs_transformer_free(mote_context *ctx, crs_transformer *t);

/* The text of the target, with the heights that were kept. */
const char *mote_crs_transformer_text(const crs_transformer *t);
const crs_axes *mote_crs_transformer_from(const crs_transformer *t);
const crs_axes *mote_crs_transformer_to(const crs_transformer *t);
/* Whether z stays as it is, whatever x and y are. */
bool mote_crs_transformer_keeps_z(const crs_transformer *t);

#define CRS_BLOCK_POINTS MERCATOR_POINTS
/* Transforms count points, at most CRS_BLOCK_POINTS, in place; those that have no place in the target become infinite.
   thread: number of the calling one; each has its own. */
void mote_crs_transformer_run(const crs_transformer *t, int thread, uint32_t count, double *x, double *y, double *z);

#endif
