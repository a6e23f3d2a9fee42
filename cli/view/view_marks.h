/* Marks of the page as files: what was measured and noted, and saved views, as GeoJSON that the page has saved. They
 * are served, or go into a site; the page reads them itself and makes one list of them. */
#ifndef MOTE_CLI_VIEW_MARKS_H
#define MOTE_CLI_VIEW_MARKS_H

#include "session.h"

#include <limits.h>

#define VIEW_MARKS_MAX 20u

/* Files that --marks names. */
typedef struct view_marks {
    size_t count;
    char paths[VIEW_MARKS_MAX][PATH_MAX];
    char folder[PATH_MAX / 2]; /* of what was made of GeoPackages, or "" */
} view_marks;

/// Takes "a.geojson,b.gpkg" apart and looks whether each is a file that may be GeoJSON, or makes it of a GeoPackage.
/// list     NULL: no marks
/// Returns  0, or an exit code of the command after a message on standard error
int view_marks_find(session *s, const char *list, view_marks *marks);

/// Removes what was made of GeoPackages.
void view_marks_drop(const view_marks *marks);

/// The name of the i-th file for the page, from 0: "marks1.geojson".
void view_marks_name(size_t i, char *out, size_t size);

#endif
