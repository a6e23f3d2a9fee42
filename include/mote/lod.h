/// mote: levels of detail. An octree over a cloud in Morton order; each inner node holds one point per cell of
/// a grid over its cube, each leaf the remaining points (additive) or everything (replacing).
/// Source: P. Klaus, In-Core Level-Of-Detail Generation for Point Clouds on GPUs, TU Wien 2023; docs/lod.md.
#ifndef MOTE_LOD_H
#define MOTE_LOD_H

#include "order.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mote_lod_scheme {
    MOTE_LOD_ADDITIVE, ///< each point stands in exactly one node; viewers add the levels
    MOTE_LOD_REPLACING ///< inner nodes hold representatives; finer nodes replace coarser ones
} mote_lod_scheme;

typedef enum mote_lod_sampling {
    MOTE_LOD_RANDOM, ///< per cell the point with the smallest hash
    MOTE_LOD_FIRST,  ///< per cell the point that came first in the input
    MOTE_LOD_POISSON ///< blue noise: no two points of a level's inner nodes closer than its spacing
} mote_lod_sampling;

typedef enum mote_lod_filter {
    MOTE_LOD_FILTER_NONE,      ///< representatives keep their own colour
    MOTE_LOD_FILTER_CELL,      ///< average over the cell
    MOTE_LOD_FILTER_NEIGHBORS, ///< over the cell and its 26 neighbours
    MOTE_LOD_FILTER_GAUSSIAN   ///< the same, weighted by exp(-x²/0.1) of distance over largest distance
} mote_lod_filter;

typedef struct mote_lod_params {
    mote_lod_scheme scheme;
    mote_lod_sampling sampling;
    mote_lod_filter filter;   ///< other than NONE needs REPLACING
    uint32_t grid;            ///< sampling cells per side of a node, a power of two in 2..1024; 128
    uint32_t merge_points;    ///< a cell with at most this many points is not divided; 10,000
    uint64_t max_node_points; ///< more points in one place than this become a chain of nodes; 2^24, 0 = no bound
    uint64_t seed;
    bool on_device;       ///< on a GPU: leave the order there; mote_lod_node_points then needs mote_lod_fetch first
    uint64_t reserved[8]; ///< zero, see types.h
} mote_lod_params;
/// Additive, random, no filter, grid 128, merge 10,000, seed 0, result on the host.
MOTE_API mote_lod_params mote_lod_defaults(void);

/// Bytes of a GPU's memory that mote_lod_build takes for a point beside its record, at most of what was measured. Where
/// it does not have them, the octree is built there in pieces, with the same bytes, unless the cloud is on the GPU.
/// params  NULL: of any octree
MOTE_API uint32_t mote_lod_device_point_bytes(const mote_lod_params *params);

/// A node. Nodes are stored level by level, within a level in Morton order, so children are neighbours.
typedef struct mote_lod_node {
    uint64_t prefix; ///< Morton code of the cell, 3 bits a level: the last 63 of them
    uint64_t first;  ///< its points (with those of all descendants) in the order: [first, first + total)
    uint64_t total;
    uint64_t point_count; ///< points stored in this node
    uint32_t parent;      ///< index; UINT32_MAX for the root
    uint32_t first_child; ///< index; 0 if leaf
    uint8_t child_mask;   ///< bit 4x+2y+z
    uint8_t level;
} mote_lod_node;

typedef struct mote_lod mote_lod;

/// Builds the octree of a cloud. The cloud must outlive the result. Points with NaN or infinite coordinates are
/// left out and counted. A cloud on the device (mote_cloud_wrap_device) is read where it is, on the context's stream.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED, MOTE_CANCELLED
/// Cost     O(n log n) worst, in practice linear; about 30 bytes of scratch per point. Same bytes for any number
///          of threads, on CPU and GPU.
MOTE_API mote_status mote_lod_build(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *params,
                                    mote_lod **out);
/// Frees the octree, not the cloud. NULL is allowed.
MOTE_API void mote_lod_destroy(mote_lod *lod);

/// The parameters that it was built with.
MOTE_API const mote_lod_params *mote_lod_parameters(const mote_lod *lod);
/// The cube and the steps of its coordinates.
MOTE_API const mote_lattice *mote_lod_lattice(const mote_lod *lod);
/// Points left out because a coordinate is NaN or infinite.
MOTE_API uint64_t mote_lod_skipped(const mote_lod *lod);
/// How many nodes; at least 1.
MOTE_API uint32_t mote_lod_node_count(const mote_lod *lod);
/// The nodes, level by level, the root first. Valid as long as the octree.
MOTE_API const mote_lod_node *mote_lod_nodes(const mote_lod *lod);
/// The name viewers use: "r" and a digit 0..7 per level.
/// name  [level + 2] out
MOTE_API void mote_lod_node_name(const mote_lod *lod, uint32_t node, char *name);
/// The points stored in a node, in Morton order.
/// indices  [point_count] out: where each stood in the cloud
/// colors   [3 · point_count] out, may be NULL: red, green, blue, averaged where a filter was asked for;
///          zeros for a cloud without colours, and for those not averaged of a cloud on the GPU
MOTE_API void mote_lod_node_points(const mote_lod *lod, uint32_t node, uint32_t *indices, uint16_t *colors);

/// Brings to the host what an octree built with on_device left on the GPU. Nothing to do for others.
MOTE_API mote_status mote_lod_fetch(mote_context *ctx, mote_lod *lod);

/// Where the GPU has the octree: memory of the device, valid as long as the octree.
typedef struct mote_lod_device {
    const uint32_t *order; ///< [count] sorted position → index in the cloud
    const uint8_t *level;  ///< [count] by sorted position: the coarsest level that chose the point, else its leaf's
    uint64_t count;
    const uint32_t *items; ///< [item_count] sorted positions, node after node in the order of mote_lod_nodes
    uint64_t item_count;   ///< sum of all point_count
    uint64_t reserved[8];  ///< zero, see types.h
} mote_lod_device;
/// False, and nothing written, for an octree that was not built on a GPU.
MOTE_API bool mote_lod_device_arrays(const mote_lod *lod, mote_lod_device *arrays);

typedef enum mote_potree_encoding { MOTE_POTREE_DEFAULT, MOTE_POTREE_BROTLI } mote_potree_encoding;

/// A Potree folder that is begun before its points are known.
typedef struct mote_potree_output mote_potree_output;

/// Makes the folder under its temporary name, and in a file system in memory begins to enter the pages of octree.bin:
/// that takes a thread longer than the cores take to fill them, and can go on while points are read and ordered.
/// expected_bytes  of octree.bin, a guess; 0: none
/// Returns as mote_potree_write
MOTE_API mote_status mote_potree_begin(mote_context *ctx, const char *path, uint64_t expected_bytes,
                                       mote_potree_output **out);
/// Removes a folder that was begun and is not written after all. NULL is allowed.
MOTE_API void mote_potree_abandon(mote_context *ctx, mote_potree_output *output);

/// Files whose points an octree has, as they were read.
typedef struct mote_potree_origin {
    const char *const *inputs; ///< files, folders and patterns, as of mote_cloud_read_many
    uint32_t input_count;
    const void *reading; ///< mote_read_params of io.h; NULL: defaults
    uint64_t since_ns;   ///< the time (of the clock, from 1970 on) when reading began: of a file that was changed later
                         ///< it is not said what it was; 0: not asked
    const void *known;   ///< NULL: it is the library's own
    uint64_t reserved[3]; ///< zero, see types.h
} mote_potree_origin;

typedef struct mote_potree_params {
    mote_potree_encoding encoding;
    int brotli_quality;                     ///< 0..11
    const char *name;                       ///< NULL: from the path
    const char *description;                ///< NULL: none
    const char *const *attributes_left_out; ///< names, NULL-terminated; NULL: none
    mote_potree_output *begun;        ///< of mote_potree_begin: mote_potree_write completes it, or removes it when
                                      ///< it fails, and needs no path; NULL: none
    bool dry_run;                     ///< true: see mote_potree_write
    const mote_potree_origin *origin; ///< of which files the points are: goes into the folder as inputs.json, for
                                      ///< mote_lod_update; NULL: that is not kept
    const mote_box *whole_box; ///< the points are a sample, and this is the box of all: metadata.json has it as theirs,
                               ///< so that a view of either begins alike; NULL: they are all
    uint64_t whole_points;     ///< with whole_box: how many points all are, as metadata.json says
    uint64_t reserved[4];      ///< zero, see types.h
} mote_potree_params;
/// Not compressed; name from the path; every attribute.
MOTE_API mote_potree_params mote_potree_defaults(void);

/// What mote_potree_write did; for --stats.
typedef struct mote_potree_report {
    uint64_t points; ///< stored, representatives included
    uint64_t octree_bytes;
    uint64_t hierarchy_bytes;
    uint64_t hash; ///< of the bytes of the three files
    double seconds;
    uint64_t metadata_bytes;
    uint64_t reserved[7]; ///< zero, see types.h
} mote_potree_report;

/// Writes a Potree 2.0 folder: metadata.json, hierarchy.bin, octree.bin. An existing Potree folder of that name is
/// replaced when the new one is complete; any other existing folder or file is an error.
/// dry_run  nothing is written or looked at on the disk. All else is done, so that the report has the bytes, and the
///          context's peak the memory, that the call without it would take with as many threads; no hash. Where there
///          are many nodes of a size, some 256 of them are encoded, and the others guessed by their points, 5 % up.
/// report  out, may be NULL
/// Returns MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_IO, MOTE_ERROR_DISK, MOTE_ERROR_MEMORY,
///         MOTE_ERROR_UNSUPPORTED (built without jansson or brotli), MOTE_CANCELLED
MOTE_API mote_status mote_potree_write(mote_context *ctx, const mote_lod *lod, const char *path,
                                       const mote_potree_params *params, mote_potree_report *report);

/// Makes the bytes of octree.bin, encoding DEFAULT, of an octree that was built on a GPU, in the memory of that GPU.
/// records     out: device memory, valid as long as the octree or until the next such call
/// size_bytes  out: of all records, in the order of mote_lod_device.items
/// Returns     MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED (not built on a GPU), MOTE_ERROR_MEMORY
MOTE_API mote_status mote_potree_records(mote_context *ctx, mote_lod *lod, const mote_potree_params *params,
                                         const void **records, uint64_t *size_bytes);

typedef struct mote_copc_params {
    const char *columns;  ///< only these, separated by commas; NULL = all
    bool dry_run;         ///< as that of mote_potree_write
    uint64_t reserved[7]; ///< zero, see types.h
} mote_copc_params;
/// Parameters by which every attribute is written.
MOTE_API mote_copc_params mote_copc_defaults(void);

/// What mote_copc_write did; for --stats.
typedef struct mote_copc_report {
    uint64_t points, nodes;
    uint64_t file_bytes, hierarchy_bytes;
    uint64_t hash; ///< of the file's bytes
    double seconds;
    uint64_t reserved[8]; ///< zero, see types.h
} mote_copc_report;

/// Writes a COPC 1.0 file (LAZ 1.4, an octree of chunks, each point once): the octree must be additive.
/// report  out, may be NULL
/// Returns as mote_potree_write
MOTE_API mote_status mote_copc_write(mote_context *ctx, const mote_lod *lod, const char *path,
                                     const mote_copc_params *params, mote_copc_report *report);

/// One level of a COPC file.
typedef struct mote_copc_level {
    uint64_t nodes, points;
    double spacing;       ///< of its points; world units
    uint64_t reserved[4]; ///< zero, see types.h
} mote_copc_level;

/// The octree of a COPC file.
typedef struct mote_copc_facts {
    bool is_copc; ///< false: any other file, and the rest is 0
    uint32_t level_count;
    uint64_t nodes; ///< that hold points
    uint64_t points, pages;
    double spacing; ///< of level 0; halved with each level
    double center[3], halfsize;
    uint64_t reserved[8]; ///< zero, see types.h
} mote_copc_facts;

/// What the octree of a COPC file holds, without reading its points.
/// levels  [capacity] out; deeper ones are counted in facts only. NULL if capacity is 0
/// Returns as mote_cloud_read; MOTE_OK for a file that is not COPC
MOTE_API mote_status mote_copc_levels(mote_context *ctx, const char *path, mote_copc_level *levels, uint32_t capacity,
                                      mote_copc_facts *facts);

/// One level of a Potree folder.
typedef struct mote_potree_level {
    uint64_t nodes, leaves, points;
    uint64_t reserved[4]; ///< zero, see types.h
} mote_potree_level;

/// A Potree folder as a whole.
typedef struct mote_potree_facts {
    uint32_t level_count;
    uint64_t nodes;
    uint64_t points;      ///< stored, representatives included
    bool brotli;          ///< the encoding
    bool replacing;       ///< the scheme
    uint64_t reserved[8]; ///< zero, see types.h
} mote_potree_facts;

/// What is in a Potree 2.0 folder, without reading its points.
/// levels  [capacity] out; deeper ones are counted in facts only. NULL if capacity is 0
/// Returns as mote_cloud_read
MOTE_API mote_status mote_potree_levels(mote_context *ctx, const char *path, mote_potree_level *levels,
                                        uint32_t capacity, mote_potree_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
