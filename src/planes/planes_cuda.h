/* Planes on the GPU: the points of a cloud in their order, in device memory, and what the steps share. */
#ifndef MOTE_PLANES_CUDA_H
#define MOTE_PLANES_CUDA_H

#include "device/device_cloud.h"
#include "planes/footprint/planes_grid.h"
#include "planes/planes_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLANES_CUDA_BLOCK 256u /* consecutive points that share a box, and a block of threads */

/* x y z in steps, and the packed normal; a load of 16 bytes. */
typedef struct planes_cuda_point {
    float x, y, z;
    uint32_t normal;
} planes_cuda_point;

/* A table on the device; it stays with the context from run to run. */
typedef struct planes_cuda_directions {
    planes_directions of;         /* which directions and bins these are; its pointers mean nothing */
    planes_cuda_point *direction; /* [directions] a b c and the packed normal */
    uint32_t *first, *near;       /* as planes_directions has them */
    uint32_t near_count;
} planes_cuda_directions;

/* What the footprint step made last: relabel, the step after it, reads it. Arrays are on the device. */
typedef struct planes_cuda_footprint {
    planes_grid grid;
    planes_tract *tracts;     /* [planes] */
    uint8_t *memory;          /* what else it has of its own */
    bool by_plane;            /* so parts are numbered; otherwise by their first cells */
    uint32_t numbers;         /* that parts may have */
    uint32_t *points;         /* [numbers] of each part */
    unsigned long long *area; /* [numbers] */
} planes_cuda_footprint;

typedef struct planes_cuda {
    planes_points base;
    device_cloud cloud; /* x y z, and the normals if there are some */
    uint64_t capacity;  /* points of the arrays below */
    planes_cuda_point *points;
    uint32_t *order;      /* [count] where the point stands in the cloud */
    int32_t *label;       /* -1: none */
    uint32_t labels;      /* planes of the last labels */
    uint8_t *free_points; /* 1 or 0; after relabel the odds of the point's cell */
    uint32_t block_count;
    planes_box *boxes;    /* [block_count] */
    uint32_t *first_free; /* [block_count + 1] free points of the blocks before */
    uint64_t free_count;
    planes_cuda_directions *table; /* NULL before the first vote */
    planes_cuda_point *voters; /* [voter_count] of the last vote, if they are some of the points; NULL: all points */
    uint32_t voter_count;
    planes_sample read_voters; /* the same on the host */
    uint32_t *counters;        /* [cells] of that vote */
    uint64_t cells, counter_capacity;
    planes_cuda_footprint footprint;
    uint8_t *scratch; /* of the host, for what comes in one copy */
    uint64_t scratch_capacity;
} planes_cuda;

static inline planes_cuda *planes_on_cuda(planes_points *points) { return (planes_cuda *)(void *)points; }

/* Room of the host for a download. NULL: there is none. */
static inline uint8_t *planes_cuda_scratch(planes_cuda *p, uint64_t size_bytes) {
    return mote_reserve_scratch(p->base.ctx, (void **)&p->scratch, &p->scratch_capacity, size_bytes, 1, "planes copies")
               ? p->scratch
               : NULL;
}

mote_status planes_read_sample_cuda(planes_points *points, uint32_t max, planes_sample *sample);
mote_status planes_read_places_cuda(planes_points *points, planes_sample *sample);
mote_status planes_read_voters_cuda(planes_points *points, planes_sample *voters);
/* Makes p->voters: at most max of the free points, or NULL for all. */
mote_status planes_choose_voters_cuda(planes_cuda *p, uint32_t max);
mote_status planes_vote_cuda(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count);
mote_status planes_read_votes_cuda(planes_points *points, uint32_t *counters);
mote_status planes_peaks_cuda(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count);
/* Makes p->table, if it is not that already. */
mote_status planes_directions_cuda(planes_cuda *p, planes_directions *table);
/* Gives it to the context, to be kept. */
void planes_directions_close_cuda(planes_cuda *p);
mote_status planes_assign_cuda(planes_points *points, const planes_assignment *how);
mote_status planes_footprint_cuda(planes_points *points, const planes_axes *axes, const uint64_t *in_bands,
                                  uint32_t planes, const planes_footprint_params *footprint_params,
                                  planes_component **components, uint64_t *count);
void planes_footprint_free_cuda(planes_cuda *p);
/* Finds the connected components of p->cover, whose cells are counted, and lists those of at least min points. */
mote_status planes_find_components_cuda(planes_cuda *p, uint64_t min, planes_component **components, uint64_t *count);
mote_status planes_relabel_cuda(planes_points *points, const planes_component *components, uint64_t count);
mote_status planes_outline_cuda(planes_points *points, const planes_outlining *how, planes_corner **corners,
                                uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
