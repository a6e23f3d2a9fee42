/* An octree in parts, each a range of Morton codes: for a device whose memory does not hold all points. The host
   deals the points out and puts together what the device makes of the parts; the result is that of one piece. */
#ifndef MOTE_LOD_PARTS_H
#define MOTE_LOD_PARTS_H

#include "lod/lod_octree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lod_part {
    uint64_t first_code, end_code; /* its points' codes lie in [first_code, end_code) */
    uint64_t first, count;         /* of its points among all, in Morton order */
} lod_part;

/* A point that may lose to one of another part. */
typedef struct lod_open_point {
    uint64_t position; /* among all */
    uint8_t lost;      /* the finest level of cells at which it has lost within its part; MOTE_LOD_NEVER */
} lod_open_point;

typedef struct lod_parts {
    lod_part *parts;
    uint32_t part_count;
    uint64_t *codes;   /* [lod->count] part after part, within a part in the order of the input */
    uint32_t *indices; /* [lod->count] */
    lod_open_point *open;
    uint64_t open_count, open_capacity;
} lod_parts;

/* Points of one code are in order as they come, and the first of them is the best: a part of them is never too
   large. */
static inline bool lod_part_is_duplicates(const lod_part *part) { return part->end_code - part->first_code == 1; }

/* Lattice, codes, and parts of at most this many points, duplicates left out; about least of them where one would
   do. parts is to be freed in any case. */
mote_status lod_parts_make(mote_lod *lod, uint64_t max_points, uint32_t least, lod_parts *parts);
void lod_parts_free(mote_context *ctx, lod_parts *parts);

/* Fills lod->codes, order and level of a heap, of which the first point is open. count > 0 */
void lod_parts_duplicates(mote_lod *lod, const lod_part *part, const lod_parts *parts);
/* Notes an open point; positions ascend. */
mote_status lod_parts_open(mote_lod *lod, lod_parts *parts, uint64_t position, uint8_t lost);

/* When the parts are sorted (lod->codes, lod->order) and lod->level has the level of cells at which each point loses
   within its part: settles what is open, builds the tree and turns lod->level into what it is for. */
mote_status lod_parts_finish(mote_lod *lod, const lod_parts *parts);

#ifdef __cplusplus
}
#endif
#endif
