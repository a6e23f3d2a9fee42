/// mote: what an E57 file (ASTM E2807) says of its scans. Points are read and written as of any format, by io.h.
#ifndef MOTE_E57_H
#define MOTE_E57_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A scan. Texts that are longer are cut.
typedef struct mote_e57_scan {
    char name[128];       ///< "" if it has none
    char sensor[128];     ///< vendor, model and serial number; "" if they are not stated
    char fields[1024];    ///< of its records, "cartesianX scaled 24 bits, intensity float, …"
    uint64_t records;     ///< points and what is called invalid
    bool is_spherical;    ///< coordinates are range, azimuth and elevation
    bool has_pose;        ///< else the scanner stands at 0 0 0
    bool is_applied;      ///< the coordinates of the file have the pose in them
    double position[3];   ///< of the scanner, metres
    double rotation[4];   ///< quaternion w x y z
    uint64_t reserved[8]; ///< zero, see types.h
} mote_e57_scan;

/// What an E57 file holds as a whole.
typedef struct mote_e57_facts {
    char library[128]; ///< what wrote it; "" if it does not say
    uint32_t scan_count;
    uint64_t image_count; ///< mote does not read images
    uint64_t reserved[8]; ///< zero, see types.h
} mote_e57_facts;

/// Reads header and XML of an E57 file, not its points.
/// scans    [capacity] out, in the order of the file: the i-th has the points of point_source_id i + 1. NULL if
///          capacity is 0
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_DATA, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED, MOTE_CANCELLED
MOTE_API mote_status mote_e57_scans(mote_context *ctx, const char *path, mote_e57_scan *scans, uint32_t capacity,
                                    mote_e57_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
