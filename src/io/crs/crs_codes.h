/* EPSG codes and names that the text of a reference system states. The one place that reads them. */
#ifndef MOTE_CRS_CODES_H
#define MOTE_CRS_CODES_H

#include "core/core.h"

typedef struct crs_codes {
    uint32_t whole;      /* of the system itself; of "EPSG:n+v" 0, as of each compound system without a code */
    uint32_t horizontal; /* of the horizontal part; of a system that is not compound the whole */
    uint32_t vertical;
} crs_codes;

/* Codes of "EPSG:n", "EPSG:n+v", "urn:ogc:def:crs:EPSG::n" and well-known text; 0 for each that is not stated. What
   lies deeper, as of datum, unit or axis, is none. Returns whether the text is all codes, and no well-known text. */
bool mote_crs_codes(const char *text, crs_codes *codes);

/* Whether two texts are of one system: the same text, or the same codes. A system that states heights and one of the
   same horizontal part that does not are no contradiction. */
bool mote_crs_same(const char *a, const char *b);

#endif
