/* Polygons and lines of GeoJSON. */
#ifndef MOTE_GEOJSON_H
#define MOTE_GEOJSON_H

#include "io/io_internal.h"
#include "shapes/shape_list.h"

/* mote_shapes_read of an input that is open. */
mote_status geojson_read_input(mote_context *ctx, const mote_input *input, mote_shapes **out);

#endif
