/* Planes on CPU cores: the points of a cloud in their order, and what passes over them share. */
#ifndef MOTE_PLANES_CPU_H
#define MOTE_PLANES_CPU_H

#include "planes/footprint/planes_grid.h"
#include "planes/planes_ops.h"

#define PLANES_BLOCK 256u /* consecutive points that share a box */
#define PLANES_GROUP 16u  /* consecutive blocks that share one */

typedef struct planes_cpu {
    planes_points base;
    const mote_column *axes[3], *normals[3];
    uint32_t *order; /* [count] where the point stands in the cloud */
    float *x, *y, *z;
    uint32_t *normal;     /* packed; NULL without */
    int32_t *label;       /* -1: none */
    uint8_t *free_points; /* 1 or 0; after relabel the odds of the point's cell */
    planes_box *blocks;   /* [block_count] */
    planes_box *groups;   /* [group_count] around PLANES_GROUP blocks each */
    uint32_t block_count, group_count;
    uint64_t free_count;
    uint64_t capacity;    /* of the arrays above, points */
    planes_sample chosen; /* memory of voters that are some of the points */
    planes_sample voters; /* of the last vote: chosen, or the columns above */
    uint32_t *counters;   /* [cells] of the last vote */
    uint64_t cells;
    uint64_t counter_capacity;
    /* What the footprint step made last: relabel, the step after it, reads it. */
    planes_grid grid;
    planes_tract *tracts;  /* [planes] */
    uint32_t *cell_memory; /* what the grid has of its own */
    bool by_plane;         /* so parts are numbered */
} planes_cpu;

static inline planes_cpu *planes_on_cpu(planes_points *points) { return (planes_cpu *)(void *)points; }

/* The points of a block. */
typedef struct planes_block {
    uint32_t count;
    const float *x, *y, *z;
    const uint32_t *normal; /* NULL: none */
    int32_t *label;
    uint8_t *free_points; /* as planes_cpu has them */
} planes_block;

static inline planes_block planes_block_at(const planes_cpu *p, uint32_t b) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK, rest = p->base.count - first;
    const planes_block block = {
        (uint32_t)(rest < PLANES_BLOCK ? rest : PLANES_BLOCK), p->x + first,     p->y + first,          p->z + first,
        p->normal != NULL ? p->normal + first : NULL,          p->label + first, p->free_points + first};
    return block;
}

/* The block behind the last of group g. */
static inline uint32_t planes_group_end(const planes_cpu *points, uint32_t g) {
    const uint32_t end = (g + 1) * PLANES_GROUP;
    return end < points->block_count ? end : points->block_count;
}

/* The least label above that one; -1 if there is none. For all labels in turn, from -1 on. */
static inline int32_t planes_next_label(const planes_block *block, int32_t last) {
    uint32_t min = UINT32_MAX;
    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t above = (uint32_t)block->label[i] - (uint32_t)(last + 1); /* of those below it, very large */
        min = above < min ? above : min;
    }
    return min <= INT32_MAX ? last + 1 + (int32_t)min : -1;
}

mote_status planes_read_sample_cpu(planes_points *points, uint32_t max, planes_sample *sample);
mote_status planes_vote_cpu(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count);
mote_status planes_read_votes_cpu(planes_points *points, uint32_t *counters);
mote_status planes_peaks_cpu(planes_points *points, const planes_voting *how, planes_peak *peaks, uint32_t *count);
mote_status planes_read_places_cpu(planes_points *points, planes_sample *sample);
mote_status planes_assign_cpu(planes_points *points, const planes_assignment *how);
mote_status planes_footprint_cpu(planes_points *points, const planes_axes *axes, const uint64_t *in_bands,
                                 uint32_t planes, const planes_footprint_params *footprint_params,
                                 planes_component **components, uint64_t *count);
void planes_footprint_free_cpu(planes_cpu *p);
/* Finds the connected components of a grid whose cells are counted, and lists those of enough points. */
mote_status planes_find_components(mote_context *ctx, const planes_grid *g,
                                   const planes_footprint_params *footprint_params, planes_component **components,
                                   uint64_t *count);
mote_status planes_relabel_cpu(planes_points *points, const planes_component *components, uint64_t count);
mote_status planes_outline_cpu(planes_points *points, const planes_outlining *how, planes_corner **corners,
                               uint64_t *count);

#endif
