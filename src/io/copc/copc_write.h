/* What the files of the COPC writer share. */
#ifndef MOTE_COPC_WRITE_H
#define MOTE_COPC_WRITE_H

#include "io/copc/copc.h"
#include "io/las/write/las_write.h"
#include "io/turns.h"
#include "lod/lod_whole.h"

/* Where a node's chunk went. */
typedef struct copc_place {
    uint64_t at, size_bytes, points; /* all 0 for a node without points; before it is encoded, points: those loaded */
    uint64_t hash;
    bool is_share; /* of a part: what stands there is the part's share of a node, and no chunk (copc_parts.h) */
} copc_place;

/* A point that stands outside the cube of the node that the octree gave it, and the ancestor that takes it. */
typedef struct copc_stray {
    uint32_t node, index;
} copc_stray;

/* The working memory of a thread. */
typedef struct copc_worker {
    laz_encoder *encoder;
    uint32_t *indices;
    uint64_t index_capacity;
    uint8_t *records;
    uint64_t record_capacity;
    void *times; /* while a node's points are put in order */
    uint64_t time_capacity;
    uint8_t *share; /* of a node that other parts have points of */
    uint64_t share_capacity;
    copc_stray *strays; /* found by this thread */
    uint64_t stray_count, stray_capacity;
    las_tally tally;
    double gps_low, gps_high;
} copc_worker;

typedef struct copc_job {
    mote_context *ctx;
    const mote_lod_node *nodes;
    uint32_t node_count;
    uint32_t finest; /* level of cells */
    uint32_t grid;   /* sampling cells a side of a node */
    const mote_lattice *lattice;
    /* The points that the octree gives a node, along the Morton curve, as indices of the plan's cloud. */
    void (*node_points)(const void *points_of, uint32_t node, uint32_t *indices);
    const void *points_of;
    const struct copc_range *range; /* of a part: which one it is; NULL: these are all points */
    mote_write_params writing;      /* the plan's */
    las_plan plan;
    las_records records;
    copc_info info;
    uint32_t settled_level; /* down to which all points are known to lie in their node's cube */
    mote_output output;
    copc_place *places;   /* [node_count] */
    copc_worker *workers; /* [threads] */
    copc_stray *strays;   /* of all threads, by node and then by index */
    uint64_t stray_count;
    bool has_strays; /* some node has points that do not belong there */
    las_layout layout;
    uint64_t at;        /* the end of what is written */
    mote_sample sample; /* the nodes that are encoded */
    uint64_t hash;
} copc_job;

/* ---- copc_points.c: the points of a node as records */
void mote_copc_key(const copc_job *job, uint32_t node, copc_key *key);
/* The octree's cube as the info record states it: all points lie in it, and those of a node in the node's cube, but
   for what rounding does to some. */
void mote_copc_place_cube(copc_job *job);
/* Finds the points that their node's cube does not hold. */
mote_status mote_copc_find_strays(copc_job *job);
/* Puts a node's records into the worker; *count of them. */
mote_status mote_copc_load(const copc_job *job, copc_worker *worker, uint32_t node, uint64_t *count);

/* The same for a node of which others have points, too: its own along the Morton curve, those that do not belong among
   them, and then *strays that come from finer nodes. Indices and records of all are in the worker. */
mote_status mote_copc_load_unsettled(const copc_job *job, copc_worker *worker, uint32_t node, uint64_t *strays);

/* ---- copc_order.c */
/* Puts the node's count indices in the worker, which come along the Morton curve, into the order that they are to be
   written in. indices has room for 3 · count, records for count. */
mote_status mote_copc_order(const copc_job *job, copc_worker *worker, uint64_t count);

/* ---- copc_chunks.c */
/* Encodes the nodes and writes their chunks from job->at on, which moves to their end. */
mote_status mote_copc_write_chunks(copc_job *job);
/* Encodes a node into the worker; place: its points, bytes and checksum. */
mote_status mote_copc_encode(const copc_job *job, copc_worker *worker, uint32_t node, const uint8_t **data,
                             copc_place *place);
/* Writes the chunk table behind the chunks, and its place in front of them. */
mote_status mote_copc_write_table(copc_job *job);

/* ---- copc_write.c: the steps */
/* Begins a file of points of which the cloud has all, or some at a time (pieces). count: without those that have no
   place. Frees nothing: mote_copc_end does, in any case. */
mote_status mote_copc_begin(copc_job *job, const mote_cloud *cloud, const las_pieces *pieces, uint64_t count,
                            const mote_copc_params *params, const char *path);
/* The same where another plan for the same columns has seen the values of all points. cloud: none of these */
mote_status mote_copc_begin_again(copc_job *job, const mote_cloud *cloud, const las_plan *seen, uint64_t count,
                                  const mote_copc_params *params, const char *path);
/* Takes the tree of an octree, and its points. */
void mote_copc_take_lod(copc_job *job, const mote_lod *lod);
/* Once nodes are known. schema: of the records */
mote_status mote_copc_make_workers(copc_job *job, const laz_schema *schema);
/* Joins what the workers learnt of the points in the first of them. */
void mote_copc_sum_workers(copc_job *job);
/* Behind the chunks: table, hierarchy and other records; then header and info record, of what workers[0] learnt. */
mote_status mote_copc_finish(copc_job *job, mote_copc_report *report);
void mote_copc_end(copc_job *job);

/* ---- copc_pages.c */
/* The hierarchy as bytes of the file from at on; the first page comes first. data is for mote_free. */
mote_status mote_copc_pages_make(const copc_job *job, uint64_t at, uint8_t **data, uint64_t *size_bytes,
                                 uint64_t *root_bytes);

#endif
