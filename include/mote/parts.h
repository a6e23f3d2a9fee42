/// mote: clouds that memory does not hold. An octree is built of parts, ranges of Morton codes, one after the other;
/// the files are those that mote_lod_build and mote_potree_write make of the whole, byte for byte.
#ifndef MOTE_PARTS_H
#define MOTE_PARTS_H

#include "io.h"
#include "lod.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_PARTS_MEMORY_BYTES 46137344u ///< 44 MiB: with less, there is hardly room for a part

typedef struct mote_parts_params {
    uint64_t memory_bytes; ///< that the library may take; 0: what the context's limit leaves, without one a quarter of
                           ///< the machine's
    uint64_t part_points;  ///< a part has no more points than this, even where memory would hold more; 0: as many as
                           ///< memory holds
    uint64_t reserved[7];  ///< zero, see types.h
} mote_parts_params;
/// All that the context allows.
MOTE_API mote_parts_params mote_parts_defaults(void);

/// What was done, and what it took.
typedef struct mote_parts_report {
    mote_potree_report folder;
    uint64_t points;  ///< read
    uint64_t skipped; ///< of them without a finite position
    uint64_t nodes;
    uint32_t parts;
    uint32_t rounds;        ///< how often parts were built: 2 where points were too dense for one code
    uint64_t largest_part;  ///< points
    uint64_t scratch_bytes; ///< on the disk beside the output, at most
    double count_seconds, distribute_seconds, build_seconds, join_seconds;
    uint64_t reserved[8]; ///< zero, see types.h
} mote_parts_report;

/// Whether mote_lod_write_parts does this: NULL, or why not, as a literal.
MOTE_API const char *mote_lod_parts_refusal(const mote_lod_params *params, const mote_potree_params *potree);

/// Bytes of memory that reading the inputs and building their octree in one piece take, about, for a caller who has to
/// choose.
/// bytes    out
/// Returns  as mote_reader_open; MOTE_ERROR_UNSUPPORTED where an input is not read in pieces: it goes in one piece
/// Cost     opens each input
MOTE_API mote_status mote_lod_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                          const mote_read_params *reading, const mote_lod_params *params,
                                          uint64_t *bytes);

/// Reads files in pieces (LAS, LAZ, E57), two to four times, and writes a Potree 2.0 folder of encoding DEFAULT.
/// Several are united as mote_cloud_read_many does. Points are held on the disk meanwhile, in the folder that is being
/// written, under its temporary name: as many bytes as the records of the input have, and then as the folder will. On
/// the CPU.
/// inputs   files, folders and patterns, as of mote_cloud_read_many
/// reading  as for mote_reader_open; may be NULL
/// params   sampling RANDOM or FIRST, filter NONE or CELL
/// output   as of mote_potree_write
/// report   out, may be NULL
/// Returns  as mote_lod_build and mote_potree_write; MOTE_ERROR_UNSUPPORTED (other parameters; colours or positions
///          that must be looked at as a whole), MOTE_ERROR_MEMORY (one cell of the coarsest sampling grid has more
///          points than fit), MOTE_ERROR_DISK
/// Cost     O(points); each is read two to four times (of several inputs one time more), written twice and read twice
MOTE_API mote_status mote_lod_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                          const mote_read_params *reading, const mote_lod_params *params,
                                          const char *output, const mote_potree_params *potree,
                                          const mote_parts_params *parts, mote_parts_report *report);

#ifdef __cplusplus
}
#endif
#endif
