/// mote: volumes, areas and profiles of a cloud, as a surveyor signs them. docs/measure.md defines them.
///
/// Each figure is a function of the set of points and of the shape alone: the same double for any number of threads,
/// any order of the points, any format that keeps their coordinates, and on the page of `mote view`, which runs this
/// code. Coordinates become whole steps first (see mote/shapes.h; heights steps of 1e-8), and integers are summed.
///
/// Results are in the horizontal unit of the cloud, heights converted to it where both are known; of degrees in metres,
/// by the lengths that a degree has at the middle of the shape.
#ifndef MOTE_MEASURE_H
#define MOTE_MEASURE_H

#include "cloud.h"
#include "io.h"
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What heights are measured from.
typedef enum mote_volume_base {
    MOTE_VOLUME_PLANE,  ///< the plane through the corners of the polygon, nearest to them in height (least squares)
    MOTE_VOLUME_LOWEST, ///< the level of the lowest point inside
    MOTE_VOLUME_LEVEL   ///< a level of the caller's
} mote_volume_base;

typedef struct mote_volume_params {
    mote_volume_base base;
    double level;         ///< MOTE_VOLUME_LEVEL: a height of the cloud
    mote_units units;     ///< of the cloud: mote_cloud_units; all zero: not known
    uint64_t reserved[8]; ///< zero, see types.h
} mote_volume_params;
/// Above the plane through the corners, in an unknown unit.
MOTE_API mote_volume_params mote_volume_defaults(void);

typedef struct mote_volume {
    double above, below; ///< volumes between the surface of the points and the base; neither is negative
    double area;         ///< of the polygon, seen from above
    uint64_t points;     ///< inside, borders included
    double empty;        ///< share of the area whose cells hold no point: their heights are those of cells beside them
    double cell;         ///< side of a cell
    double level;        ///< of MOTE_VOLUME_LOWEST and MOTE_VOLUME_LEVEL: of the base, in the heights of the cloud
    uint64_t draped; ///< corners without a height, which got that of the nearest point inside, for MOTE_VOLUME_PLANE
    uint64_t reserved[8]; ///< zero, see types.h
} mote_volume;

/// The volume between the points in a polygon and a base below or above them: a grid over the polygon, whose cells have
/// the mean height of their points. Cells are as small as leaves four points to each, and 1/1024 of the longer side;
/// they are laid sixteen times, each time a part of their side farther, and the volume is the mean.
/// feature  of shapes: its polygons are one; MOTE_ALL_FEATURES: those of all
/// volume   out; points 0, and all else 0 but the area, where no point is inside
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no polygon; no x, y or z), MOTE_ERROR_DATA (a polygon that crosses itself, or
///          polygons that overlap; a height beyond 1e10; more than 2^32 points), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     one pass over the points, two where corners are draped; up to 100 MB
MOTE_API mote_status mote_volume_measure(mote_context *ctx, const mote_cloud *cloud, const mote_shapes *shapes,
                                         uint32_t feature, const mote_volume_params *params, mote_volume *volume);

typedef struct mote_area {
    double area;          ///< of the polygons, seen from above
    double surface;       ///< of the polygons as they lie in space (Newell); NaN where a corner has no height
    double around;        ///< length of all borders, in space where all corners have heights, else seen from above
    uint64_t reserved[8]; ///< zero, see types.h
} mote_area;

/// The area of polygons, without points.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_DATA, MOTE_ERROR_MEMORY, as mote_volume_measure
MOTE_API mote_status mote_area_measure(mote_context *ctx, const mote_shapes *shapes, uint32_t feature,
                                       const mote_units *units, mote_area *area);

/// The points beside a line, by their distance along it.
typedef struct mote_profile {
    uint64_t count;
    const uint64_t *indices; ///< [count] of the points in the cloud; by along, then x, y, z, then index
    const double *along;     ///< [count] distance along the line, seen from above
    const double *aside;     ///< [count] from the line, to the right of its direction above 0
    const double *height;    ///< [count] in the heights of the cloud
    double length;           ///< of the line, seen from above
    uint64_t reserved[8];    ///< zero, see types.h
} mote_profile;

/// Finds the points that are at most width / 2 from a line, seen from above, and beside one of its legs, not beyond its
/// ends; of several legs the nearest counts, of equally near ones the first. Borders belong to it.
/// line     a MOTE_SHAPE_LINE
/// width    in the unit of the results, above 0
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_DATA (a coordinate beyond 1e15), MOTE_ERROR_MEMORY,
///          MOTE_CANCELLED
/// Cost     one pass over the points, 40 bytes for each beside the line
MOTE_API mote_status mote_profile_measure(mote_context *ctx, const mote_cloud *cloud, const mote_shape *line,
                                          double width, const mote_units *units, mote_profile **out);
/// NULL is allowed.
MOTE_API void mote_profile_destroy(mote_context *ctx, mote_profile *profile);
/// The box that holds all places beside the line, endless in height: for mote_read_params.bounds.
MOTE_API mote_status mote_profile_bounds(mote_context *ctx, const mote_shape *line, double width,
                                         const mote_units *units, mote_box *box);

/// The symbol of the unit that results are in: "m", "ft", "US ft"; of degrees "m"; "" where it is not known.
MOTE_API const char *mote_measure_unit(const mote_units *units);

#ifdef __cplusplus
}
#endif
#endif
