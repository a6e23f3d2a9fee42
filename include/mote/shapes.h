/// mote: polygons and lines of a map, as GeoJSON and GeoPackage have them, and the places that polygons hold.
///
/// Coordinates are those of the cloud that the shapes are for: nothing is transformed. What a mote_shape points to
/// lives as long as its mote_shapes. Functions that take a region as const may be called from any number of threads at
/// once.
#ifndef MOTE_SHAPES_H
#define MOTE_SHAPES_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mote_shape_kind { MOTE_SHAPE_POLYGON, MOTE_SHAPE_LINE } mote_shape_kind;

/// One polygon with its holes, or one line. A MultiPolygon is several shapes of one feature, and so is a
/// MultiLineString. Only the library allocates these.
typedef struct mote_shape {
    mote_shape_kind kind;
    uint32_t feature;             ///< its number in the file, from 0; a bare geometry is feature 0
    const char *name;             ///< the feature's property "name", else "text", else ""
    uint32_t part_count;          ///< rings of a polygon, the outer one first; 1 of a line
    const uint64_t *part_starts;  ///< [part_count + 1]: part i is positions [part_starts[i], part_starts[i + 1])
    const double (*positions)[3]; ///< x, y and z; z is NaN where the file has none. A ring does not repeat its first.
} mote_shape;

typedef struct mote_shapes mote_shapes;

/// Reads the polygons and lines of a GeoJSON file: Polygon, MultiPolygon, LineString, MultiLineString, alone, in a
/// GeometryCollection, a Feature or a FeatureCollection. Points are left out, with a warning that counts them. A ring
/// that does not end where it begins is closed. "-" is the standard input. A GeoPackage is read, too: all its layers,
/// which have to be tables in one reference system, at most 5 million positions.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no path), MOTE_ERROR_IO, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED (no
///          jansson, no SQLite), MOTE_ERROR_DATA (no GeoJSON, or neither polygon nor line: the message names file,
///          place and cause), MOTE_CANCELLED. Safe for untrusted input.
MOTE_API mote_status mote_shapes_read(mote_context *ctx, const char *path, mote_shapes **out);
/// Writes all features of a GeoPackage, with their attributes, as a FeatureCollection of GeoJSON, which names its
/// reference system as "urn:ogc:def:crs:EPSG::N", else by its definition.
/// Returns  as mote_shapes_read, and MOTE_ERROR_DISK. Safe for untrusted input.
MOTE_API mote_status mote_geopackage_to_geojson(mote_context *ctx, const char *path, const char *out_path);
/// Frees them, and what mote_shapes_at gave. NULL is allowed.
MOTE_API void mote_shapes_destroy(mote_shapes *shapes);
/// How many polygons and lines there are: at least one.
MOTE_API uint32_t mote_shapes_count(const mote_shapes *shapes);
/// Shape i, in the order of the file.
MOTE_API const mote_shape *mote_shapes_at(const mote_shapes *shapes, uint32_t i);
/// The reference system that the file names in "crs", as it names it; "" where it names none.
MOTE_API const char *mote_shapes_crs(const mote_shapes *shapes);

/// All places, seen from above, that some polygon holds.
typedef struct mote_region mote_region;

#define MOTE_ALL_FEATURES UINT32_MAX

/// Prepares the polygons of one feature, or of all, for questions of many places.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no polygon of that feature), MOTE_ERROR_DATA (a coordinate beyond 1e15),
///          MOTE_ERROR_MEMORY
/// Cost     O(edges)
MOTE_API mote_status mote_region_create(mote_context *ctx, const mote_shapes *shapes, uint32_t feature,
                                        mote_region **out);
/// Frees it, not the shapes. NULL is allowed.
MOTE_API void mote_region_destroy(mote_region *region);

/// Whether a place is in a polygon and in none of that polygon's holes. Borders belong to the polygon, also those of
/// holes, so that a place on the border of two polygons is in both. Within one polygon rings count by parity. What
/// several polygons hold is held, however often.
/// Exact: places and corners are rounded to 15 significant digits of the largest corner first (1e-8 where coordinates
/// are below 1e7), so that the last bits of what a file's integers are scaled to decide nothing; then integers decide.
/// NaN is nowhere.
/// Cost     O(edges near y); a place outside the bounds costs two comparisons
MOTE_API bool mote_region_contains(const mote_region *region, double x, double y);
/// Least and largest x and y of its corners: { x, y }.
MOTE_API void mote_region_bounds(const mote_region *region, double min[2], double max[2]);

#ifdef __cplusplus
}
#endif
#endif
