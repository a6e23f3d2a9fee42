/// mote: coordinate reference systems: what a text says, and clouds from one system to another.
///
/// A text is "EPSG:n" ("EPSG:n+v": with heights in system v), a URN of EPSG, well-known text of version 1 (also ESRI's)
/// or 2, PROJJSON, or a string of PROJ. x is the coordinate to the east and y the one to the north, whatever order the
/// definition of the system has (longitude before latitude), where it has such axes.
/// Transforming, and all that needs the database of systems, is done by PROJ: a build without it returns
/// MOTE_ERROR_UNSUPPORTED, and the message says so.
#ifndef MOTE_CRS_H
#define MOTE_CRS_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a text says of itself. Nothing is looked up.
typedef struct mote_crs_facts {
    char name[160];           ///< of well-known text its name; else the text, up to the end of the line
    uint32_t code;            ///< EPSG code of the whole, 0: it has none
    uint32_t horizontal_code; ///< of its horizontal part (of a system that is not compound the same as code)
    uint32_t vertical_code;   ///< of its vertical part
    uint64_t reserved[4];     ///< zero, see types.h
} mote_crs_facts;

/// Reads names and codes off a text.
/// Cost     O(bytes of the text)
MOTE_API void mote_crs_describe(const char *crs, mote_crs_facts *facts);

/// Gives a cloud a reference system; its coordinates stay. What is given is any text of those above, or the name of a
/// file that holds one. A system that the cloud has is replaced, and the log says so; its vertical part stays where the
/// new one has none.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no such system, with what is wrong), MOTE_ERROR_UNSUPPORTED (needs PROJ),
///          MOTE_ERROR_MEMORY
MOTE_API mote_status mote_cloud_assign_crs(mote_context *ctx, mote_cloud *cloud, const char *crs);

typedef struct mote_transform_params {
    bool ballpark; ///< also by an operation that is known to be rough, or that is not the best one because a grid
                   ///< is missing: else that is an error
    uint64_t reserved[4]; ///< zero, see types.h
} mote_transform_params;
/// Parameters that allow neither rough operations nor missing grids.
MOTE_API mote_transform_params mote_transform_defaults(void);

/// Brings a cloud to another reference system: positions, and normals along with them (of geographic systems these are
/// east, north and up). Integer positions stay integers; the new step is the old one in the new unit, at most 1 %
/// coarser, as a power of ten where it cannot be the same. Floats become doubles. Points that have no place in the new
/// system are left out, with a warning. The log has the operation with its accuracy.
/// cloud    in host memory; replaced where points are left out, and still there on failure
/// crs      as for mote_cloud_assign_crs
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (a system is unknown, or there is no operation that is good enough),
///          MOTE_ERROR_UNSUPPORTED (needs PROJ), MOTE_ERROR_DATA (no point has a place there), MOTE_ERROR_MEMORY,
///          MOTE_CANCELLED
/// Cost     O(points), in parallel. From one transverse Mercator projection to another of the same ellipsoid by a
/// series
///          (Karney 2011, 6th order; within 0.1 mm of PROJ), else what PROJ takes, on all threads
MOTE_API mote_status mote_cloud_transform(mote_context *ctx, mote_cloud **cloud, const char *crs,
                                          const mote_transform_params *params);

#ifdef __cplusplus
}
#endif
#endif
