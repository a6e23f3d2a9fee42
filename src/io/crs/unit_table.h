/* The units that mote knows, and how a file's words and numbers become one of them. */
#ifndef MOTE_UNIT_TABLE_H
#define MOTE_UNIT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "mote/io.h"

typedef enum unit_kind { UNIT_ANY, UNIT_LENGTH, UNIT_ANGLE } unit_kind;

/* The unit of an EPSG code, as GeoTIFF keys and AUTHORITY have it; without a name where it is not known. */
mote_unit unit_of_code(uint32_t code, unit_kind kind);

/* The unit of a name: "metre", "US survey foot", "Foot_US", "us-ft"; case and marks do not matter. Without a name where
   it is not known. */
mote_unit unit_of_name(const char *name, unit_kind kind);

/* The unit that a name and a factor state together. The factor decides, to the digits that it is written with: "foot"
   of 0.3048006096 is a US survey foot, "Foot_US" of 0.3048 still is one. A name whose unit is another size by more than
   the kinds of feet differ is a contradiction, and the unit not known. A unit that is not in the table keeps the name.
   number  its text, as 1200/3937 has no end; kind: UNIT_ANY takes it from the name, and a length otherwise */
mote_unit unit_of_factor(const char *name, const char *number, unit_kind kind);

/* The unit of a size in metres or radians. */
mote_unit unit_of_size(double size, unit_kind kind);

#endif
