/* What the parts of the reference of planes share. */
#ifndef MOTE_PLANES_REFERENCE_PARTS_H
#define MOTE_PLANES_REFERENCE_PARTS_H

#include "planes/footprint/planes_grid.h"
#include "planes/planes.h"

/* A point in the order of the backend's. */
typedef struct planes_placed {
    uint64_t code;
    uint64_t index;
    float q[3];
    uint32_t normal;
} planes_placed;

/* planes_reference_sums.c */
void planes_reference_random_planes(const planes_run *run, uint64_t seed, const planes_placed *all,
                                    planes_plane *planes, uint32_t count);
void planes_reference_check_sums(planes_run *run, const planes_plane *planes, uint32_t count, const planes_placed *all,
                                 const char *what);
/* label: of each place, out. */
void planes_reference_check_labels(planes_run *run, const planes_plane *planes, uint32_t count,
                                   const planes_placed *all, int32_t *label, const char *what);
void planes_reference_check_relabelled(planes_run *run, uint32_t planes, const planes_placed *all, const int32_t *label,
                                       const char *what);
/* Points of a label are not all near the plane of that number: weights from none to all. */
void planes_reference_check_weighted(planes_run *run, const planes_plane *planes, uint32_t count,
                                     const planes_placed *all, const int32_t *label, const uint8_t *odds,
                                     const char *what);

/* planes_reference_footprints.c
   Wide cells make grids side by side; narrow ones are listed. Some ways for each cloud. */
void planes_reference_check_footprints(planes_run *run, const planes_plane *planes, uint32_t count,
                                       const planes_placed *all, const char *what);

#endif
