/* What texts and keys of a reference system say of its units. Each sets units without a name where nothing is said, or
   what is said is not known. */
#ifndef MOTE_CRS_UNITS_H
#define MOTE_CRS_UNITS_H

#include "core/core.h"
#include "mote/io.h"

/* Whether the text is meant as well-known text: a word and a bracket. */
bool mote_crs_is_wkt(const char *text);

/* Well-known text of both versions. *wrong_at: the byte at which it is none, and the units are not known; else its
   length. */
void mote_crs_units_of_wkt(const char *text, mote_units *units, size_t *wrong_at);

/* "+proj=utm +units=us-ft +vunits=m". */
void mote_crs_units_of_proj(const char *text, mote_units *units);

/* EPSG codes of a system and of heights, 0 for none: those that can be known without the database. */
void mote_crs_units_of_codes(uint32_t code, uint32_t vertical, mote_units *units);

/* The GeoTIFF keys of a LAS file, if it has them; false if not. */
bool mote_crs_units_of_keys(const mote_cloud *cloud, mote_units *units);

/* The keys of a LAS file say more than the code that was made of them; where the cloud was given another system, they
   are not its own. code: 0 where it has none. */
bool mote_crs_keys_are_own(const mote_cloud *cloud, uint32_t code);

/* The code of the heights of a LAS file, whose text names none; 0: its keys name none either, or are not those of the
   cloud's system. */
uint32_t mote_crs_heights_of_keys(const mote_cloud *cloud);

#endif
