/// mote: synthetic clouds by formula and seed, the same bytes on every machine and for any number of threads.
#ifndef MOTE_GEN_H
#define MOTE_GEN_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_gen_params {
    uint64_t seed;        ///< default 20240611; room: 20240117
    double noise_m;       ///< room: standard deviation along the normal, default 0.003
    double outlier_ratio; ///< room: 0..1, default 0.1
    uint64_t reserved[8]; ///< zero, see types.h
} mote_gen_params;
/// The published seed of a kind, 3 mm of noise, 10 % outliers.
MOTE_API mote_gen_params mote_gen_defaults(const char *kind);

/// Makes a cloud of count points.
/// kind    "uniform", "torus", "clusters", "lattice": x y z float; "room": x y z float and plane int8
///         (−1 = outlier); "box": x y z and normal_x normal_y normal_z float, photons on the surfaces of a box with
///         two spheres and a light in its ceiling; "city": a lidar scan of a made-up town, LAS format 7 attributes, UTM
///         at 1 mm
/// params  NULL means mote_gen_defaults(kind)
/// Returns MOTE_OK, MOTE_ERROR_ARGUMENT (unknown kind), MOTE_ERROR_MEMORY, MOTE_CANCELLED
MOTE_API mote_status mote_generate(mote_context *ctx, const char *kind, uint64_t count, const mote_gen_params *params,
                                   mote_cloud **out);

#ifdef __cplusplus
}
#endif
#endif
