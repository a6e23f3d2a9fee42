/* The folder that an update begins with: its nodes, of which those in ranges that are kept become parts of the new one
   as they are, and its points, which others join.

     octree.bin     │ r            │ r0     │ r4     │ r00 │ r01 │ r40    │ r47 │     records in Morton order
     kept range          ├───────┤      ├───┤├──┤          ├─────┤├───┤
     its tree            r (a slice)    r0   r4 (slices)    r01   r40 (a slice) …

   A border of a kept range never lies within a leaf, so that slices are of inner nodes alone: parts_dirty.c. */
#ifndef PARTS_OLD_H
#define PARTS_OLD_H

#include "parts/parts.h"

typedef struct parts_old {
    mote_context *ctx;
    const potree_files *files;
    potree_layout layout;
    potree_node *stored;  /* [node_count] */
    mote_lod_node *nodes; /* [node_count] prefix, level, child_mask, point_count and total of them */
    uint32_t node_count;
    uint64_t points;     /* that it is to have, by what was learnt of its inputs */
    potree_plan writing; /* of the run: how records are written */
    /* a walk over its points, those of PARTS_JOINED cells */
    bool reads;        /* there are such cells */
    bool is_at;        /* the last piece is of the folder */
    merge_plan plan;   /* how its points become records of the union: of one input */
    mote_cloud *piece; /* of these records */
    uint8_t *records;
    mote_cloud *decoded; /* nodes that are being converted */
    uint64_t decoded_at;
    uint32_t next;        /* node */
    uint64_t *joined;     /* [cell_count + 1] PARTS_JOINED cells before */
    const bool *is_whole; /* [inputs] all points are wanted: those of an input that joins; else only of PARTS_COLLECTED
                             cells */
} parts_old;

/* Opens what is there; close it in either case. */
mote_status parts_old_open(mote_context *ctx, const potree_files *files, parts_old *old);
void parts_old_close(parts_old *old);
/* Whether its records are those that the run would write of the same points, and can be taken as they are: differs
   NULL, or what is in the way, as a literal. Lattice and flags of the run are known. */
mote_status parts_old_compare(parts_old *old, parts_run *run, const char **differs);
/* Points of the cells of the run's level: those of a leaf that is larger than these all in its first one. */
void parts_old_count(const parts_old *old, uint32_t level, uint64_t *cells);
/* Whether its points can become records of the union as those of inputs do; if so, prepares that. */
mote_status parts_old_reads(parts_old *old, parts_run *run, bool *reads);
/* Nodes and places of a range that is kept, and what is known of its points; *file: to be closed. */
mote_status parts_old_tree(const parts_old *old, parts_run *run, const parts_range *range, potree_part_tree *tree,
                           int *file);

#endif
