/// mote: reading and writing clouds. The format follows from the content (reading) or the file's
/// ending (writing). Outputs appear under a temporary name and are renamed when complete; links are
/// followed, the mode of a replaced file is kept. Pipes, devices and open descriptors ("-" for
/// standard input and output, /dev/fd/N) are read whole and written to. A failed write raises no
/// signal: a pipe without a reader is MOTE_ERROR_CLOSED, a limit of size MOTE_ERROR_DISK; handlers
/// and mask of the caller stay as they are.
/// All readers are safe on hostile input: an error names file, offset and cause.
#ifndef MOTE_IO_H
#define MOTE_IO_H

#include "cloud.h"
#include "crs.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Takes an input that cannot be read, and why; true: it is left out.
typedef bool (*mote_input_failed_fn)(void *user, const char *path, mote_status status, const char *message);

/// A sample of LAS and LAZ files, in the time that it takes to read a page of each chunk: the first point of each chunk
/// of LAZ, which stands there as it is, and one of 50,000 points of LAS. For a first picture of files that are large.
typedef struct mote_read_sample {
    uint64_t points; ///< grows by the points that the files state
    mote_box box;    ///< grows by the boxes that their headers state, in the system of each file; min > max: empty
    mote_input_failed_fn failed; ///< mote_cloud_read_many of several inputs: called for each that cannot be read, so
                                 ///< that the others are, if there are any; NULL: that is an error
    void *failed_user;
    uint64_t reserved[4]; ///< zero, see types.h
} mote_read_sample;
/// Nothing yet.
MOTE_API mote_read_sample mote_read_sample_defaults(void);

typedef struct mote_read_params {
    int level;              ///< Potree folders: only the nodes of this level; -1 = the whole cloud
    const char *columns;    ///< text files: names separated by commas; NULL = from header line or by count
    char separator;         ///< text files: 0 = find out
    const char *select;     ///< x, y, z and these attributes, separated by commas; NULL = all. LAZ: of point formats
                            ///< 6 to 10 the others are not even decoded. A name that the file lacks is no error.
    const mote_box *bounds; ///< only points in this box, borders included; NULL = all. COPC and Potree: nodes outside
                            ///< are not even read.
    double resolution;      ///< octrees (COPC, Potree): levels down to the first whose points are no farther apart than
                            ///< this; world units, 0 = all
    bool prepare_order; ///< LAZ: make the Morton codes while points are decoded, for mote_lod_build; 8 bytes a point
    bool to_device; ///< LAS, LAZ: where a GPU would compute on this many points, into its memory, for mote_lod_build;
                    ///< copied while the rest is read, never whole on the host. As without it: other formats, several
                    ///< inputs, bounds, salvage of damaged chunks, too many points for its memory, mote_reader. The
                    ///< result is told by mote_cloud_on_device.
    bool salvage;   ///< where a file is cut, damaged, or holds another number of points than it states: all points that
                    ///< are whole, with a warning what is missing, instead of an error. An error only where none is. A
                    ///< last line of text without an end is left out: it may be cut within a number.
    bool keep_poses; ///< E57: coordinates and normals as each scanner saw them; false: where its pose puts them.
                     ///< They are in no reference system then, and are not transformed
    uint32_t device_point_bytes; ///< to_device: what the GPU needs for a point beside its record; where its memory has
                                 ///< no room for that, points go to the host (mote_lod_device_point_bytes of the
                                 ///< octree that is wanted). 0: what any octree needs
    void (*known)(void *user, const mote_cloud *header); ///< LAS, LAZ, not of several inputs: called once the header is
                                                         ///< read, with its columns and count but no values yet, so
                                                         ///< that the output can be prepared. NULL: nothing is
    void *known_user;
    const char *where; ///< only points that meet this condition (where.h); NULL = all. COPC and Potree: nodes that its
                       ///< comparisons of x, y and z rule out are not read. LAZ of point formats 6 to 10: of a chunk
                       ///< without such a point only what the condition names is decoded, where that pays. As with
                       ///< bounds, to_device, prepare_order and known do nothing.
    const char *set; ///< assignments (where.h); then where says which points they change, and all are read. NULL: none
    uint64_t *changed;     ///< grows by the points that assignments changed; NULL: nobody asks
    const char *crs;       ///< each input gets this reference system, as by mote_cloud_assign_crs; NULL: keeps its own
    const char *to_crs;    ///< each input is brought to this one, as by mote_cloud_transform; NULL: stays
    bool crs_ballpark;     ///< mote_transform_params.ballpark
    bool bounds_in_to_crs; ///< bounds are in to_crs and not in the input's own system
    bool where_in_to_crs;  ///< where and set see coordinates in to_crs, and not in the input's own system
    mote_read_sample *sample; ///< LAS, LAZ: only a sample of the points, and what it is of; other formats are
                              ///< MOTE_ERROR_UNSUPPORTED. Not of mote_reader. NULL: all points
    uint64_t reserved[1];     ///< zero, see types.h
} mote_read_params;
/// The whole cloud; columns and separator of text found out.
MOTE_API mote_read_params mote_read_defaults(void);

/// Reads one file or Potree folder. LAS and fixed-size binary PLY are memory-mapped, not copied: see mote_cloud_check
/// for files that another process changes meanwhile, which is MOTE_ERROR_IO.
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_DATA, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED,
///          MOTE_CANCELLED
MOTE_API mote_status mote_cloud_read(mote_context *ctx, const char *path, const mote_read_params *params,
                                     mote_cloud **out);

/// Reads several inputs as one cloud, in the order given. A folder stands for all point files in it, a
/// pattern with * or ? for what it matches, each in name order. Differing attributes are merged
/// (missing values are 0), differing scales too where that loses nothing; else the reason is given.
MOTE_API mote_status mote_cloud_read_many(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                          const mote_read_params *params, mote_cloud **out);

/// Takes a file of a list of inputs; false ends the list.
typedef bool (*mote_input_fn)(void *user, const char *path);

/// Calls each for every file that these inputs stand for, in the order of mote_cloud_read_many.
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_MEMORY, MOTE_CANCELLED (each returned false)
MOTE_API mote_status mote_inputs_each(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                      mote_input_fn each, void *user);

/// A cloud without points that has the attributes of all these inputs. A type is that of the first input that has it.
/// paths    files, folders and patterns, as of mote_cloud_read_many
/// params   as for mote_reader_open; may be NULL
/// Returns  as mote_cloud_read_many
/// Cost     opens each input; formats that are not read in pieces are read
MOTE_API mote_status mote_inputs_attributes(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                            const mote_read_params *params, mote_cloud **out);

/// A unit of length or of angle.
typedef struct mote_unit {
    char name[64]; ///< "metre", "foot", "US survey foot", "degree", …; of a unit that mote has no name for the file's
                   ///< own; "" where the unit is not known
    char symbol[16]; ///< "m", "ft", "US ft", "deg"; "" where there is none
    double metres;   ///< its length; 0: it is none, or not known
    double radians;  ///< its angle; 0: it is none, or not known
} mote_unit;

typedef struct mote_units {
    mote_unit horizontal; ///< of x and y
    mote_unit vertical;   ///< of z: a system of two axes says nothing of it
} mote_units;

/// What the coordinates of a cloud count in: by the unit of its columns x and z, by the WKT of its reference system
/// (versions 1 and 2), by the GeoTIFF keys of its LAS file, or by an EPSG code, of which mote knows the common ones.
/// Nothing is guessed: what none of them says is not known.
/// Cost     O(bytes of the WKT)
/// Source   ISO 19162:2019; OGC 01-009; OGC GeoTIFF 1.1
MOTE_API void mote_cloud_units(const mote_cloud *cloud, mote_units *units);

/// Reads a cloud in pieces, so that memory is bounded by the pieces and not by the file (LAS, LAZ, E57; of other
/// formats the whole cloud is one piece).
typedef struct mote_reader mote_reader;

/// Opens a file or Potree folder. params as for mote_cloud_read.
MOTE_API mote_status mote_reader_open(mote_context *ctx, const char *path, const mote_read_params *params,
                                      mote_reader **out);
/// Points in all pieces together. With bounds, where or salvage, and of E57 with records that are no points, there may
/// be fewer: that is known only when they are read.
MOTE_API uint64_t mote_reader_count(const mote_reader *reader);
/// The next piece, points in the order of the file. *piece is the reader's: one and the same cloud, whose columns keep
/// their places in memory and get new values with each call. NULL after the last one.
MOTE_API mote_status mote_reader_next(mote_reader *reader, const mote_cloud **piece);
/// Goes back to the first piece: the same points come once more. What was left out of the file, or lost, is told once.
MOTE_API void mote_reader_rewind(mote_reader *reader);
/// Frees the reader and its piece. NULL is allowed.
MOTE_API void mote_reader_close(mote_reader *reader);

typedef struct mote_write_params {
    const char *columns;   ///< only these, separated by commas; NULL = all
    bool text;             ///< PLY, PCD: ascii instead of binary
    bool big_endian;       ///< PLY: binary_big_endian
    int las_version_minor; ///< 2, 3 or 4; 0 = what the attributes need
    int las_format;        ///< 0..10; -1 = what the attributes need
    bool compress;         ///< PCD: binary_compressed instead of binary
    bool by_source;        ///< E57: a scan for each point_source_id; false: of clouds that come from E57 alone
    const char *format; ///< "las", "laz", "ply", "pcd", "e57", "xyz", "csv", "txt", "pts", "asc"; NULL = by the ending
    bool fewer;         ///< mote_writer_open: count is the most that will be added; there may be fewer
    uint64_t reserved[6]; ///< zero, see types.h
} mote_write_params;
/// All columns, binary, the smallest LAS version and format that hold them.
MOTE_API mote_write_params mote_write_defaults(void);

/// Writes a cloud; the ending of path names the format. LAS cannot hold points whose positions are not finite; they are
/// left out, with a warning.
/// Returns  as mote_cloud_read, and MOTE_ERROR_DISK
MOTE_API mote_status mote_cloud_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                                      const mote_write_params *params);

/// Writes a cloud in pieces, as mote_reader gives them: .las and .laz of clouds that come from LAS or LAZ, attributes
/// and format unchanged, and .e57; the file is the one that mote_cloud_write makes of the whole.
typedef struct mote_writer mote_writer;

/// Opens the output. piece: the cloud that every mote_writer_add gets, with its values anew. count: points in all; of
/// .e57 at most.
/// Returns  as mote_cloud_write; MOTE_ERROR_UNSUPPORTED if it can't be written in pieces
MOTE_API mote_status mote_writer_open(mote_context *ctx, const mote_cloud *piece, uint64_t count, const char *path,
                                      const mote_write_params *params, mote_writer **out);
/// Appends the points that the piece holds now.
MOTE_API mote_status mote_writer_add(mote_writer *writer);
/// Completes and renames the file (status MOTE_OK and count points were added, or fewer where that was said) or removes
/// it; frees the writer.
MOTE_API mote_status mote_writer_close(mote_writer *writer, mote_status status);

/// Writes all points of a reader, from the first on, into one file; the file is the one that mote_cloud_write makes of
/// the whole. Of LAS, LAZ and E57 to .las, .laz and .e57 memory is bounded by a few pieces. Where the values of all
/// points decide what the output is, as from E57 to LAS, they are read two or three times.
/// *written: points of the file; NULL: nobody asks
/// Returns  as mote_reader_next and mote_cloud_write; MOTE_ERROR_UNSUPPORTED if it can't be written in pieces
MOTE_API mote_status mote_reader_write(mote_reader *reader, const char *path, const mote_write_params *params,
                                       uint64_t *written);

/// An output of the caller's own, with the promises of those that mote writes: see the top. For results that are not
/// points.
typedef struct mote_output mote_output;

/// Opens it. in_order: all is appended by mote_output_write, so that a pipe gets the bytes as they come; else they may
/// be written anywhere by mote_output_write_at, and a pipe gets them when all are there.
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_DISK, MOTE_ERROR_MEMORY, MOTE_CANCELLED; *out is NULL on failure
MOTE_API mote_status mote_output_create(mote_context *ctx, const char *path, bool in_order, mote_output **out);
/// Appends.
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_DISK, MOTE_ERROR_CLOSED, MOTE_CANCELLED
MOTE_API mote_status mote_output_write(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes);
/// Writes at an offset in bytes; from several threads at once, too. Not mixed with mote_output_write, not in_order.
MOTE_API mote_status mote_output_write_at(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                                          uint64_t offset);
/// Completes the output (status MOTE_OK) or removes it (any other); frees it. Returns the first failure.
MOTE_API mote_status mote_output_finish(mote_context *ctx, mote_output *output, mote_status status);

/// Makes outputs that belong together appear together: all that the context completes from here on, files and Potree
/// folders, wait under their temporary names. Readers of the context find such a file by its final name. Outputs that
/// are written to as they are, like a pipe, do not wait.
/// Two outputs of one name, however it is written, fail: the second is removed when it is completed, with
/// MOTE_ERROR_ARGUMENT.
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY
MOTE_API mote_status mote_outputs_hold(mote_context *ctx);
/// Ends that: looks once more whether the mapped inputs are whole, then gives all outputs their names, directly one
/// after the other (status MOTE_OK), or removes all (any other). Where one cannot get its name, those before it give
/// theirs back, with what they replaced; a file system that cannot swap two names keeps the new ones, and a warning
/// tells which. Nothing is held: does nothing. To be called before mote_context_destroy.
/// Returns  the first failure: status, MOTE_ERROR_IO
MOTE_API mote_status mote_outputs_release(mote_context *ctx, mote_status status);

/// Notes a file that the caller reads by itself: of outputs that are held none may replace it, as none may replace what
/// the context opened for reading since mote_outputs_hold, also as a part of something else, like the texture of a
/// scene. mote_outputs_release then fails, and nothing is replaced. Nothing is held: does nothing.
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY
MOTE_API mote_status mote_outputs_note_input(mote_context *ctx, const char *path);
/// Whether an output of this name would replace such a file, or is a folder that holds one: to be asked before work is
/// done in vain.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT
MOTE_API mote_status mote_outputs_check(mote_context *ctx, const char *path);

/// "las", "ply", "xyz", "potree" …: what the content of path looks like; NULL if it is no format of mote's, or a pipe,
/// which can be read only once.
MOTE_API const char *mote_file_format(mote_context *ctx, const char *path);

/// The name of the encoding of a text that begins with these bytes, if its characters are not single bytes: "UTF-16LE",
/// "UTF-16BE", "UTF-32LE", "UTF-32BE"; else NULL. Files of these are refused by that name.
MOTE_API const char *mote_text_encoding(const void *bytes, uint64_t size_bytes);

/// The format that the ending of path names, for writing: "las", "ply", "xyz"; NULL if mote writes none such.
MOTE_API const char *mote_ending_format(const char *path);

#ifdef __cplusplus
}
#endif
#endif
