/* A COPC file of an octree that is made in parts, ranges of Morton codes. A chunk is a node, so that a part encodes its
   own nodes. A node that a border divides, at most two of a level, is made when the parts are joined: its chunk has one
   order for the points of all, along the curve or as they were scanned, whichever codes smaller. Until then each part
   keeps its share of it: records, and by what they are sorted.

     part 0   │ share r │ share r2 │ r0 │ r20 │          the file   │ r │ r0 │ r2 │ r6 │ r20 │ r27 │ table
     part 1   │ share r │ share r2 │ r6 │ r27 │                       │    0    │    1    0     1      of which part
                                                                      made of the shares of both

     a share  │ own │ strays │ records of the own and of the strays │ number in the input of each │ time of each │ */
#ifndef MOTE_COPC_PARTS_H
#define MOTE_COPC_PARTS_H

#include "io/copc/copc_write.h"

#define COPC_SHARE_COUNTS 2u /* numbers of 64 bits that a share begins with: of own points and of strays */
#define COPC_SHARE_POINT_BYTES                                                                                         \
    (sizeof(uint64_t) + sizeof(double)) /* beside a point's record: its number and its time */

/* What a part knows of all points. */
typedef struct copc_range {
    const lod_whole *whole;
    uint64_t (*number)(const void *user, uint32_t index); /* in all inputs, of a point of the part */
    const void *user;
} copc_range;

/* What is kept of a part that was written: its nodes, level by level, and where they are in its file. */
typedef struct copc_part {
    mote_lod_node *nodes;
    copc_place *places;
    uint32_t node_count, finest;
    uint64_t size_bytes; /* of the file */
    las_tally tally;     /* of the points in chunks */
    double gps_low, gps_high;
} copc_part;
void mote_copc_part_free(mote_context *ctx, copc_part *part);

/* Writes the part's chunks and shares. whole: begun for all points (mote_copc_begin); it is only looked at, by any
   thread. */
mote_status mote_copc_part_write(mote_context *ctx, const copc_job *whole, const mote_lod *lod, const copc_range *range,
                                 mote_output *to, copc_part *part);

/* Makes the file of count parts, in the order of their codes.
   whole  begun, with the lattice and grid of all, and its output open
   files  [count] open descriptors of what mote_copc_part_write wrote; of those that may be written to, what was copied
          is given back to the disk */
mote_status mote_copc_parts_join(copc_job *whole, const copc_part *parts, const int *files, uint32_t count,
                                 mote_copc_report *report);

/* Whether a border of the part divides the node; never where the job has all points. */
static inline bool copc_is_shared(const copc_job *job, uint32_t node) {
    const mote_lod_node *n = &job->nodes[node];
    return job->range != NULL && n->level <= MOTE_ORDER_BITS &&
           lod_whole_border(job->range->whole, n->prefix, n->level) != NULL;
}
/* ---- copc_share.c */
/* Makes the part's share of a node, in the worker; place: its points and bytes. */
mote_status mote_copc_share(const copc_job *job, copc_worker *worker, uint32_t node, const uint8_t **data,
                            copc_place *place);

#endif
