/* The points of a cloud beside a path seen from above, as a LAS file: the profile of the page, but of all points of the
 * file and not only of those that are drawn.
 *
 *            width
 *         |<------->|
 *         +---------+ path[1]     a point is taken if it lies beside a leg of the path, borders included: seen from
 *         | leg  .  |             above, and at most half the width from it
 *         |   .     |
 *         +---------+ path[0]     (mote_profile_measure)                                                             */
#ifndef MOTE_CLI_VIEW_STRIP_H
#define MOTE_CLI_VIEW_STRIP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_STRIP_POINTS_MAX 256u

typedef struct view_strip {
    size_t count;                          /* corners of the path, at least 2 */
    double path[VIEW_STRIP_POINTS_MAX][3]; /* x, y in coordinates of the file; z is not asked for */
    double width;                          /* in units of the file; of angles in metres */
    double radians;                        /* of one of the angles that x and y are; 0: they are lengths */
} view_strip;

/// Reads "path=x,y,x,y,…&width=w&radians=r" of an address; radians may be missing (0).
/// Returns  false where that is no strip
bool view_strip_parse(const char *query, view_strip *strip);

/// Writes the points of the strip with all their attributes as LAS.
/// source     a file or Potree folder
/// cancelled  looked at between steps; NULL: cannot be cancelled
/// count      out: points written
/// error      [size] out: what went wrong, for people
/// Returns    false: nothing is written
/// Cost       reads the nodes that meet the box of the path; memory for the points within the box
bool view_strip_write(const char *source, const view_strip *strip, const char *out, const atomic_bool *cancelled,
                      uint64_t *count, char *error, size_t size);

#endif
