/* Vectors of GeoPackages (OGC 12-128), SQLite files whose tables hold geometries as blobs, as the GeoJSON that they
   would be: what reads GeoJSON reads both. */
#ifndef MOTE_GEOPACKAGE_H
#define MOTE_GEOPACKAGE_H

#include <mote_have.h>

#include "io/io_internal.h"

/* Whether it is an SQLite file, by its first bytes. */
bool geopackage_probe(const mote_input *input);

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define GEOPACKAGE_WHY_BYTES 128

/* Reads all features of all layers as a FeatureCollection, which is the caller's. */
mote_status geopackage_read(mote_context *ctx, const mote_input *input, json_t **out);

/* The geometry of a blob; null where it is empty. positions_left: how many it may have, counted down. NULL: why says
   what is wrong with it, or is "" where memory has run out. Any bytes are safe. */
json_t *geopackage_geometry(const uint8_t *blob, size_t size_bytes, uint64_t *positions_left,
                            char why[GEOPACKAGE_WHY_BYTES]);
#endif

#endif
