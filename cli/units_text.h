/* What coordinates count in, told to people and programs: every command that shows a length asks here. */
#ifndef CLI_UNITS_TEXT_H
#define CLI_UNITS_TEXT_H

#include <mote/mote.h>

#include "files/json.h"

typedef struct units_text {
    char chars[192];
} units_text;

/* "US survey foot; heights in metre", "metre; heights in an unknown unit", "unknown". */
units_text units_say(const mote_units *units);
/* Whether x, y and z are known to be lengths of two sizes, so that distances of all three mean nothing. */
bool units_differ(const mote_units *units);
/* The symbol (else the name) of the unit of lengths along a direction; NULL where it is not known, or where the
   direction runs both along and across the heights, and these are in another unit. Valid as long as units. */
const char *units_symbol_along(const mote_units *units, const double direction[3]);
/* "units": {"horizontal": "foot", "vertical": null}; null: not known. */
void units_emit(json_writer *json, const mote_cloud *cloud);

#endif
