/// mote: clouds that memory does not hold. An octree is built of parts, ranges of Morton codes, one after the other;
/// the files are those that mote_lod_build and mote_potree_write make of the whole, byte for byte.
#ifndef MOTE_PARTS_H
#define MOTE_PARTS_H

#include "io.h"
#include "knn.h"
#include "lod.h"
#include "normals.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_PARTS_MAX         1000 ///< parts that there may be: as many files are open while they are joined
#define MOTE_PARTS_WORKERS_MAX 64   ///< parts that may be built at once

typedef struct mote_parts_params {
    uint64_t memory_bytes; ///< that the library may take; 0: what the context's limit leaves, without one a quarter of
                           ///< the machine's
    uint64_t part_points;  ///< a part has no more points than this, even where memory would hold more; 0: as many as
                           ///< memory holds
    uint64_t part_count;   ///< about so many parts of the same size, at most MOTE_PARTS_MAX; 0: as few as memory allows
    bool resumes;          ///< each part that is complete is kept beside the output, in a folder whose name ends in
                           ///< ".parts", and a call that finds some of the same inputs and parameters goes on from
                           ///< there. mote_lod_parts_clear_resumed removes them when the output is in place
    uint64_t workers;      ///< parts that are built at once, at most MOTE_PARTS_WORKERS_MAX, each with its share of
                           ///< memory and threads; fewer where memory does not hold so many. 0: one on each GPU of the
                           ///< context, on the CPU one after the other
    uint64_t reserved[4];  ///< zero, see types.h
} mote_parts_params;
/// Parts that may take all that the context allows.
MOTE_API mote_parts_params mote_parts_defaults(void);

/// What was done, and what it took.
typedef struct mote_parts_report {
    mote_potree_report folder; ///< zero where a COPC file is made
    mote_copc_report file;     ///< zero where a folder is made
    uint64_t points;           ///< read
    uint64_t skipped;          ///< of them without a finite position
    uint64_t nodes;
    uint32_t parts;
    uint32_t rounds;        ///< how often parts were built: 2 where points were too dense for one code
    uint64_t largest_part;  ///< points
    uint64_t scratch_bytes; ///< on the disk meanwhile, at most, with what is there of the output; of a plan: predicted
                            ///< for the files of all parts
    double count_seconds, distribute_seconds, build_seconds, join_seconds;
    uint64_t resumed_parts;     ///< that were there already
    uint64_t part_memory_bytes; ///< of a plan: what making its largest part takes, at most; where a call found before
                                ///< all else that its memory holds no part: the least that does
    uint64_t workers;           ///< parts that were built at once
    uint64_t shared_points;     ///< of a plan: that it has read for several parts (OUTPUT.parts/shared)
    uint64_t reserved[4];       ///< zero, see types.h
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

/// The same where mote_copc_write writes the octree.
MOTE_API mote_status mote_copc_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                           const mote_read_params *reading, const mote_lod_params *params,
                                           uint64_t *bytes);

/// The same for an index of neighbours, and results of so many bytes a point.
MOTE_API mote_status mote_search_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                             const mote_read_params *reading, uint32_t result_bytes, uint64_t *bytes);

/// The same for mote_order_cloud.
MOTE_API mote_status mote_order_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                            const mote_read_params *reading, uint64_t *bytes);

/// Reads files in pieces (LAS, LAZ, E57), two to four times, and writes a Potree 2.0 folder of encoding DEFAULT.
/// Several are united as mote_cloud_read_many does. Points are held on the disk meanwhile, in the folder that is being
/// written, under its temporary name: as many bytes as the records of the input have or as the folder will, whichever
/// is more (both with resumes, and where the file system gives no blocks of a file back), and with sampling POISSON up
/// to 19 bytes a point beside the records.
/// Parts are built on the CPU, or on the GPUs of a context that was made for MOTE_DEVICE_CUDA.
/// inputs   files, folders and patterns, as of mote_cloud_read_many
/// reading  as for mote_reader_open; may be NULL
/// params   may be NULL
/// output   as of mote_potree_write
/// report   out, may be NULL
/// Returns  as mote_lod_build and mote_potree_write; MOTE_ERROR_UNSUPPORTED (other parameters; colours or positions
///          that must be looked at as a whole), MOTE_ERROR_MEMORY (one cell of the coarsest sampling grid has more
///          points than fit), MOTE_ERROR_CHANGED (an input, while it was read), MOTE_ERROR_DISK
/// Cost     O(points); each is read two to four times (of several inputs one time more), written twice and read twice
MOTE_API mote_status mote_lod_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                          const mote_read_params *reading, const mote_lod_params *params,
                                          const char *output, const mote_potree_params *potree,
                                          const mote_parts_params *parts, mote_parts_report *report);

/// Makes a COPC file likewise: the bytes of mote_lod_build and mote_copc_write. Points are held on the disk meanwhile,
/// beside the output, in files without a name: as many bytes as the records of the input have and 3 a point, likewise.
/// params   scheme ADDITIVE, max_node_points 0
/// output   a file, and no pipe
/// report   out, may be NULL; its folder stays 0
/// Returns  as mote_lod_write_parts and mote_copc_write
/// Cost     as mote_lod_write_parts; points whose values decide how they are written (colours, reals) are read once
/// more
MOTE_API mote_status mote_copc_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                           const mote_read_params *reading, const mote_lod_params *params,
                                           const char *output, const mote_copc_params *copc,
                                           const mote_parts_params *parts, mote_parts_report *report);

/// Estimates normals of files that are read in pieces, and writes the cloud with them (attributes normal_x, normal_y,
/// normal_z, curvature; density: surface_density and volume_density too) as LAS, LAZ or E57: the bytes of mote_normals
/// and mote_cloud_write. Points are held on the disk meanwhile, as for mote_copc_write_parts, and their results. A part
/// is worked on with those points of others that a search from one of its own may reach; it needs memory for both.
/// params   not MOTE_ORIENT_PROPAGATE; may be NULL
/// writing  as of mote_cloud_write; may be NULL
/// parts    without resumes; one part is worked on at a time
/// report   out, may be NULL; its folder stays 0
/// facts    out: without and skipped; may be NULL
/// Returns  as mote_normals and mote_writer_open; MOTE_ERROR_UNSUPPORTED (positions that are not integers of one step
///          on all axes; points without a finite position), MOTE_ERROR_MEMORY (a part and what is around it)
/// Cost     that of two searches; each point is read three times (of several inputs four times), and written twice
MOTE_API mote_status mote_normals_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                              const mote_read_params *reading, const mote_normals_params *params,
                                              bool density, const char *output, const mote_write_params *writing,
                                              const mote_parts_params *parts, mote_parts_report *report,
                                              mote_normals_result *facts);

/// Finds outliers likewise, and writes the points that are none, or with marks all of them with the attribute outlier
/// (uint8); distances: and the attribute mean_distance (STATISTICAL). The bytes are those of mote_outliers,
/// mote_cloud_select and mote_cloud_write.
/// facts    out: count, skipped, mean, deviation and threshold; may be NULL
/// Returns  as mote_normals_write_parts
MOTE_API mote_status mote_outliers_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                               const mote_read_params *reading, const mote_outliers_params *params,
                                               bool marks, bool distances, const char *output,
                                               const mote_write_params *writing, const mote_parts_params *parts,
                                               mote_parts_report *report, mote_outliers_result *facts);

/// Writes the points of files that are read in pieces in Morton order, as LAS, LAZ or E57: the bytes of
/// mote_cloud_read_many, mote_order_cloud and mote_cloud_write. Points are held on the disk meanwhile, as for
/// mote_copc_write_parts.
/// writing  as of mote_cloud_write; may be NULL
/// parts    without resumes; one part is worked on at a time
/// report   out, may be NULL; its folder stays 0
/// Returns  as mote_order_cloud and mote_writer_open; MOTE_ERROR_UNSUPPORTED (points without a finite position)
/// Cost     each point is read twice (of several inputs three times), and written three times
MOTE_API mote_status mote_order_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                            const mote_read_params *reading, const char *output,
                                            const mote_write_params *writing, const mote_parts_params *parts,
                                            mote_parts_report *report);

/// Rows of neighbours that lie on the disk, in the order of the points.
typedef struct mote_knn_rows mote_knn_rows;

/// Finds the nearest neighbours of the points of files that are read in pieces, among all of them: the rows of
/// mote_cloud_read_many and mote_knn. Points and rows are held on the disk, as for mote_normals_write_parts. Points
/// count through all inputs.
/// params   exact, of spheres; with exclude_self up to MOTE_KNN_MAX_K - 1 neighbours; may be NULL
/// wide     keeps distances in double precision; else in single
/// beside   a path: scratch files lie in its folder, without a name
/// parts    without resumes; one part is worked on at a time
/// report   out, may be NULL; its folder stays 0
/// out      to be closed with mote_knn_rows_close, before the context
/// Returns  as mote_knn and mote_normals_write_parts
/// Cost     that of two searches; each point is read twice (of several inputs three times), and its row written once
MOTE_API mote_status mote_knn_find_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                         const mote_read_params *reading, const mote_knn_params *params, bool wide,
                                         const char *beside, const mote_parts_params *parts, mote_parts_report *report,
                                         mote_knn_rows **out);
/// How many rows there are: one for each point.
MOTE_API uint64_t mote_knn_rows_count(const mote_knn_rows *rows);
/// Reads the rows [first, first + count).
/// to       arrays for count rows, not on_device: index32 up to 2^31 points, distance2_wide where rows are wide
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_MEMORY, MOTE_ERROR_IO
MOTE_API mote_status mote_knn_rows_read(mote_knn_rows *rows, uint64_t first, uint64_t count, mote_knn_result *to);
/// Frees the rows, also on the disk. NULL is allowed.
MOTE_API void mote_knn_rows_close(mote_knn_rows *rows);

/// What is to be another in the list of files that an octree is made of.
typedef struct mote_lod_changes {
    const char *const *add; ///< files, folders and patterns, as of mote_cloud_read_many: they come behind all that stay
    uint32_t add_count;
    const char *const *remove; ///< files of the list, which need not be there any more: by their path, by a name that
                               ///< only one has, or by a pattern of paths
    uint32_t remove_count;
    const char *const *replace; ///< files of the list, likewise, whose contents are others now; a path that is not in
                                ///< the list takes the place of the one of that name
    uint32_t replace_count;
    bool verify;          ///< compares the checksums of all files; else of those whose size or time is another
    uint64_t reserved[6]; ///< zero, see types.h
} mote_lod_changes;

/// What an update did.
typedef struct mote_lod_update_report {
    mote_parts_report parts;
    const char *whole;    ///< NULL: what changed was built; else why all was built anew, as a literal
    uint64_t inputs;      ///< files of the list now
    uint64_t kept_points; ///< of ranges that were taken over as they were
    uint64_t reserved[6]; ///< zero, see types.h
} mote_lod_update_report;

/// Brings a Potree folder up to date with a list of files that changes: the files of the folder become those that
/// mote_lod_build and mote_potree_write make of the new list, byte for byte. The list is in the folder's inputs.json
/// (mote_potree_params.origin), and so are the parameters. Only ranges of Morton codes that change are built, of the
/// points that the folder has and of those files that reach there, as long as cube, attributes and steps stay and no
/// points are so dense that codes do not tell them apart; else all is built anew. The folder is replaced when the new
/// one is complete; until then, and after a failure or a kill, it is as it was. Two updates of one folder at once are
/// refused.
/// folder   that is there; it is replaced at once, so that no outputs may be held (mote_outputs_hold)
/// parts    memory_bytes, part_points; may be NULL
/// report   out, may be NULL
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (a file to add is in the list; one to remove or replace is not, or more than
///          one are of that name), MOTE_ERROR_CHANGED (a file of the list is gone, or no longer what it was),
///          MOTE_ERROR_IO (another update is at work), MOTE_ERROR_UNSUPPORTED (the folder has no inputs.json, or one of
///          another version), MOTE_ERROR_DATA, MOTE_ERROR_MEMORY, MOTE_ERROR_DISK, MOTE_CANCELLED
/// Cost     reads new files three times and those that reach into cells that lose points twice; copies the rest of the
///          folder. The first update of a folder reads all files once more, to learn what the next need not ask
MOTE_API mote_status mote_lod_update(mote_context *ctx, const char *folder, const mote_lod_changes *changes,
                                     const mote_parts_params *parts, mote_lod_update_report *report);

/// Looks at all points, and writes a plan by which each part can be made by a process of its own, on any machine that
/// finds inputs, plan and output under the same names. The folder is then the one that a single call would make.
/// Positions, attributes and systems are as for mote_lod_write_parts; the plan names the inputs with size and checksum.
/// output   the folder that mote_lod_parts_merge will make; parts lie in OUTPUT.parts meanwhile, and points that the
///          plan has read for several of them
/// parts    part_count, or memory_bytes that each part may take
/// plan     the file, JSON; the name of an input is refused
/// report   out, may be NULL: parts, largest_part, part_memory_bytes, scratch_bytes, shared_points
/// Returns  as mote_lod_write_parts; MOTE_ERROR_UNSUPPORTED (built without jansson)
/// Cost     O(points); each is read once or twice (of several inputs one time more), and a third time for checksums; up
///          to as many bytes are written as the points have raw, and copies of those that averages look at from other
///          parts. With sampling POISSON levels choose here, as in mote_lod_write_parts. Parts of up to 262,144 points
///          are made for what the plan predicts, in a file without a name beside it
MOTE_API mote_status mote_lod_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                         const mote_read_params *reading, const mote_lod_params *params,
                                         const char *output, const mote_potree_params *potree,
                                         const mote_parts_params *parts, const char *plan, mote_parts_report *report);

/// The same for a COPC file, of parameters as for mote_copc_write_parts.
MOTE_API mote_status mote_copc_parts_plan(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                          const mote_read_params *reading, const mote_lod_params *params,
                                          const char *output, const mote_copc_params *copc,
                                          const mote_parts_params *parts, const char *plan, mote_parts_report *report);

/// Makes one part of a plan: reads what has points of it, once, and writes a file and, when that is complete, its
/// manifest. What is there and whole already is not made again. May be called anywhere and by several at once.
/// part     1 to the number of parts
/// of       the number of parts as the caller has it, which must be the plan's; 0: as the plan says
/// report   out, may be NULL: points; rounds 0: it was there, 2: its points are too dense for one code, so that all
///          other parts are to be made once more (mote_lod_parts_merge says which)
/// Returns  MOTE_OK, MOTE_ERROR_DATA (no plan), MOTE_ERROR_UNSUPPORTED (a plan of another version), MOTE_ERROR_CHANGED
///          (an input, or what the plan has read for several parts, is gone, or no longer what it was: a new plan is
///          needed), MOTE_ERROR_IO, MOTE_ERROR_MEMORY, MOTE_ERROR_DISK, MOTE_CANCELLED
/// Cost     O(points of the part)
MOTE_API mote_status mote_lod_parts_make(mote_context *ctx, const char *plan, uint32_t part, uint32_t of,
                                         mote_parts_report *report);

/// Makes the folder or file of all parts. They stay; mote_lod_parts_clear removes them.
/// verify   also compares the checksums of the parts' records
/// Returns  as mote_lod_parts_make and mote_potree_write; MOTE_ERROR_IO where parts are to be made first: the message
///          says which and why
/// Cost     O(points), read and written once
MOTE_API mote_status mote_lod_parts_merge(mote_context *ctx, const char *plan, bool verify, mote_parts_report *report);

/// The output that a plan names, as an absolute path.
/// path     [size_bytes] out
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (too short for it), MOTE_ERROR_IO, MOTE_ERROR_DATA (no plan),
/// MOTE_ERROR_MEMORY
MOTE_API mote_status mote_lod_parts_output(mote_context *ctx, const char *plan, char *path, uint64_t size_bytes);

/// Removes OUTPUT.parts, which mote_lod_parts_make or a call with mote_parts_params.resumes has left. What is not of
/// these stays, and all of it where another call is at work there.
MOTE_API mote_status mote_lod_parts_clear(mote_context *ctx, const char *output);
/// The same where it is of a call with mote_parts_params.resumes, and not of a plan: for who has the output now, in
/// parts or in one piece.
MOTE_API mote_status mote_lod_parts_clear_resumed(mote_context *ctx, const char *output);

#ifdef __cplusplus
}
#endif
#endif
