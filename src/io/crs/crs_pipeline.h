/* Recognises a pipeline of PROJ that goes from one transverse Mercator projection to another and does nothing else. */
#ifndef MOTE_CRS_PIPELINE_H
#define MOTE_CRS_PIPELINE_H

#include "io/crs/crs_mercator.h"

/* "+proj=pipeline +step +inv +proj=utm +zone=32 +ellps=GRS80 +step +proj=utm +zone=33 +ellps=WGS84", with units of
   length before and behind. False where it holds anything else, or where the series will not do. */
bool mote_crs_pipeline_is_mercator(const char *text, mercator_change *change);

#endif
