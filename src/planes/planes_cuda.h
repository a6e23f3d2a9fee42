/* Planes on the GPU: the points of a cloud in their order, in device memory, and what the steps share. */
#ifndef MOTE_PLANES_CUDA_H
#define MOTE_PLANES_CUDA_H

#include "backend/cuda_cloud.h"
#include "planes/planes_ops.h"
#include "planes/vote/planes_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLANES_CUDA_BLOCK 256u /* consecutive points that share a box, and a block of threads */

/* x y z in steps, and the packed normal; a load of 16 bytes. */
typedef struct planes_cuda_point {
    float x, y, z;
    uint32_t normal;
} planes_cuda_point;

/* Middle and half size of a block's box, in steps. */
typedef struct planes_cuda_box {
    float middle[3], half[3];
} planes_cuda_box;

/* A table on the device; it stays with the context from run to run. */
typedef struct planes_cuda_table {
    planes_table of;              /* which directions and bins these are; its pointers mean nothing */
    double *xyz;                  /* [3][directions] */
    planes_cuda_point *direction; /* [directions] a b c and the packed normal */
    uint32_t *first, *near;       /* as planes_table has them */
    uint32_t near_count;
    struct planes_cuda_table *room; /* of the host, for itself while it is kept; NULL: there is none yet */
} planes_cuda_table;

/* What cover made last, for relabel; arrays are on the device. */
typedef struct planes_cuda_cover {
    planes_grid grid;
    planes_tract *tracts;     /* [planes] */
    uint64_t *codes;          /* [cells] if they are listed */
    uint8_t *memory;          /* what else it has of its own */
    bool by_plane;            /* so parts are numbered; otherwise by their first cells */
    uint32_t numbers;         /* that parts may have */
    uint32_t *points;         /* [numbers] of each part */
    unsigned long long *area; /* [numbers] */
} planes_cuda_cover;

typedef struct planes_cuda {
    planes_points base;
    cuda_cloud cloud;  /* x y z, and the normals if there are some */
    uint64_t capacity; /* points of the arrays below */
    planes_cuda_point *points;
    uint32_t *order;      /* [count] where the point stands in the cloud */
    int32_t *label;       /* -1: none */
    uint32_t labels;      /* planes of the last labels */
    uint8_t *free_points; /* 1 or 0; after relabel the odds of the point's cell */
    uint32_t block_count;
    planes_cuda_box *boxes; /* [block_count] */
    uint32_t *first_free;   /* [block_count + 1] free points of the blocks before */
    uint64_t free_count;
    planes_cuda_table table;
    planes_cuda_point *voters; /* the sample of the last vote; NULL: all points */
    uint32_t *counters;        /* of that vote, so many cells */
    uint64_t cells, counter_capacity;
    planes_cuda_cover cover;
    uint8_t *scratch; /* of the host, for what comes in one copy */
    uint64_t scratch_capacity;
} planes_cuda;

static inline planes_cuda *planes_on_cuda(planes_points *points) { return (planes_cuda *)(void *)points; }

/* Room of the host for a download. NULL: there is none. */
uint8_t *planes_cuda_scratch(planes_cuda *p, uint64_t size_bytes);

mote_status planes_fetch_cuda(planes_points *points, const uint32_t *place, uint32_t count, planes_sample *sample);
mote_status planes_choose_cuda(planes_points *points, uint32_t most, planes_sample *sample);
mote_status planes_vote_cuda(planes_points *points, const planes_sample *sample, const planes_table *table);
mote_status planes_read_votes_cuda(planes_points *points, uint32_t *counters);
mote_status planes_winners_cuda(planes_points *points, const planes_table *table, uint32_t radius, uint32_t least,
                                uint32_t most, planes_winner *winners, uint32_t *count);
/* Makes p->table, if it is not that already. */
mote_status planes_table_cuda(planes_cuda *p, const planes_table *table);
/* Gives it to the context, to be kept. */
void planes_table_close_cuda(planes_cuda *p);
mote_status planes_flatness_cuda(planes_points *points, uint32_t windows, double resolution, planes_flatness *found);
mote_status planes_calibrate_cuda(planes_points *points, const planes_sample *sample, const planes_refining *how,
                                  const planes_start *starts, uint32_t count, planes_peak *peaks);
mote_status planes_refine_cuda(planes_points *points, const planes_sample *sample, const planes_refining *how,
                               const planes_start *starts, uint32_t count, planes_candidate *accepted,
                               uint32_t *accepted_count);
mote_status planes_sums_cuda(planes_points *points, const planes_plane *planes, uint32_t count, planes_sums *sums);
mote_status planes_label_cuda(planes_points *points, const planes_plane *planes, uint32_t count, uint64_t *free_points);
mote_status planes_sums_of_labels_cuda(planes_points *points, const planes_mixture *mixtures, uint32_t count,
                                       planes_sums *sums);
mote_status planes_cover_cuda(planes_points *points, const planes_axes *axes, const uint64_t *beside, uint32_t planes,
                              const planes_footing *footing, planes_part **parts, uint64_t *count);
void planes_cover_free_cuda(planes_cuda *p);
/* Of p->cover, whose cells are counted: connected parts, and those of at least so many points. */
mote_status planes_find_parts_cuda(planes_cuda *p, uint64_t least, planes_part **parts, uint64_t *count);
mote_status planes_relabel_cuda(planes_points *points, const planes_part *parts, uint64_t count, const int32_t *labels);
mote_status planes_outline_cuda(planes_points *points, const planes_axes *axes, uint32_t planes,
                                planes_corner **corners, uint64_t *count);

#ifdef __cplusplus
}
#endif
#endif
