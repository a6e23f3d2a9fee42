/* Options of `mote convert` that polygons decide: --polygon keeps the points in them, --edits gives classes. */
#ifndef CLI_CONVERT_EDITS_H
#define CLI_CONVERT_EDITS_H

#include "session.h"

/* The polygons of a file. */
typedef struct convert_area {
    const char *path;    /* NULL: no file is named, and all points are kept */
    mote_region *region; /* of all its polygons */
    mote_box box;        /* around it; with the bounds that it was opened with, cut by those */
    char crs[256];       /* that the file names, or "" */
} convert_area;

/// Reads the polygons. Returns an exit code.
/// bounds  of the points that are read; NULL: all
int convert_area_open(session *s, const char *path, const mote_box *bounds, convert_area *area);
void convert_area_close(convert_area *area);
/// Replaces the cloud by its points in the polygons. Returns an exit code.
int convert_area_select(session *s, const convert_area *area, mote_cloud **cloud);

/// Gives points the classes of an edit list, and says how many. path: NULL does nothing. Returns an exit code.
int convert_edits_apply(session *s, const char *path, mote_cloud *cloud);

#endif
