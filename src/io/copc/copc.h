/* COPC 1.0: LAZ 1.4 whose chunks are the nodes of an octree that a hierarchy of pages lists.
   Source: Hobu Inc., Cloud Optimized Point Cloud Specification 1.0, 2021. Choices: docs/formats/copc.md */
#ifndef MOTE_COPC_H
#define MOTE_COPC_H

#include "io/las/las_format.h"
#include "mote/lod.h"

#define COPC_USER            "copc"
#define COPC_ID_INFO         1u
#define COPC_ID_HIERARCHY    1000u
#define COPC_INFO_BYTES      160u
#define COPC_INFO_AT         (LAS_HEADER_BYTES_14 + LAS_VLR_BYTES) /* its payload: always the first record */
#define COPC_ENTRY_BYTES     32u                                   /* of a page */
#define COPC_ENTRY_AT_LEVEL  0u
#define COPC_ENTRY_AT_CELL   4u /* x, y, z */
#define COPC_ENTRY_AT_PLACE  16u
#define COPC_ENTRY_AT_SIZE   24u
#define COPC_ENTRY_AT_POINTS 28u
#define COPC_LEVELS_MAX      32u   /* keys are int32 and less than 2^level */
#define COPC_PAGE            (-1)  /* point count of an entry that refers to a page */
#define COPC_PAGE_ENTRIES    4096u /* that a page should hold at most: 128 KB, one request of a web reader */

/* The payload of the info record. */
typedef struct copc_info {
    double center[3], halfsize; /* of the root's cube */
    double spacing;             /* of the root's points; halved with each level */
    uint64_t root_at, root_bytes;
    double gps_low, gps_high;
} copc_info;

/* A node's place in the octree: cell x, y, z of 2^level a side. */
typedef struct copc_key {
    uint32_t level, cell[3];
} copc_key;

/* A node that has points: its chunk. */
typedef struct copc_node {
    copc_key key;
    uint32_t points;
    uint64_t at, size_bytes;
    uint64_t number; /* of the chunk in the file, from 1 */
} copc_node;

typedef struct copc_nodes {
    copc_node *nodes; /* for mote_free */
    uint64_t count, capacity;
    uint64_t in_file; /* nodes with points, whether listed or not */
    uint64_t pages;
} copc_nodes;

/* ---- copc_info.c */
/* Whether the first record of the file is that of COPC. */
bool mote_copc_probe(const mote_input *input);
/* Reads and checks it; of a file that mote_copc_probe takes. */
mote_status mote_copc_info_read(mote_context *ctx, const mote_input *input, copc_info *info);
/* Reading a COPC file as plain LAZ: only says if its octree is not usable. Nothing for other files. */
void mote_copc_info_note(mote_context *ctx, const mote_input *input);
void mote_copc_info_write(const copc_info *info, uint8_t payload[COPC_INFO_BYTES]);
/* The corners of a node's cube, as readers compute them. */
void mote_copc_cube(const copc_info *info, const copc_key *key, mote_box *cube);
/* The last level that a resolution asks for: the coarsest whose points are no farther apart. 0: all levels. */
uint32_t mote_copc_last_level(double spacing, double resolution);

/* ---- copc_hierarchy.c */
/* Reads all pages; nodes in the order of their chunks in the file, those without points left out. Chunks lie inside the
   file and do not overlap; their points are at most those that the header says. nodes is to be freed in any case. */
mote_status mote_copc_nodes_read(mote_context *ctx, const mote_input *input, const copc_info *info, copc_nodes *nodes);

/* ---- copc_read.c */
/* Whether reading with params goes by the octree. */
bool mote_copc_needed(const mote_input *input, const mote_read_params *params);
/* The nodes whose chunks hold what bounds and resolution ask for, in the order of the file. Points of these nodes can
   still lie outside the bounds. nodes is to be freed in any case. */
mote_status mote_copc_filter(mote_context *ctx, const mote_input *input, const mote_read_params *params,
                             copc_nodes *nodes);

#endif
