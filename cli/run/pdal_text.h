/* What PDAL writes as texts of its own, as conditions of mote. */
#ifndef CLI_PDAL_TEXT_H
#define CLI_PDAL_TEXT_H

#include <stdbool.h>

#define PDAL_WHY 160 /* bytes of a reason */

/* "Classification[2:2],Z(0:10]": ranges of one attribute are alternatives, those of several all hold.
 * Returns  a condition, for free(); NULL: why says what is wrong, "" where memory has run out */
char *pdal_ranges(const char *text, char why[PDAL_WHY]);

/* "([0, 10], [0, 10], [0, 5])", or without heights: { min x, min y, min z, max x, max y, max z }, and how many axes. */
bool pdal_bounds(const char *at, double box[6], int *axes, char why[PDAL_WHY]);

/* "Classification[2:2]=6", the old form of assignments. Returns as pdal_ranges: "\"Classification\" = 6 where …" */
char *pdal_assignment(const char *text, char why[PDAL_WHY]);

/* "POLYGON ((x y, …), …)" or "MULTIPOLYGON (((…)), …)", well-known text, as GeoJSON. Returns as pdal_ranges. */
char *pdal_polygon(const char *at, char why[PDAL_WHY]);

#endif
