/* What readers and writers share: an input in memory, an output that appears only when complete, the format table. */
#ifndef MOTE_IO_INTERNAL_H
#define MOTE_IO_INTERNAL_H

#include "core/cloud.h"
#include "io/output_place.h"
#include "mote/io.h"

/* A whole file in memory: mapped, or read where mapping is not possible (a pipe). */
typedef struct mote_input {
    const char *path;
    const uint8_t *data;
    uint64_t size_bytes;
    void *owned;              /* from mote_alloc; NULL if mapped or handed on */
    mote_mapped_file *mapped; /* NULL if not, or handed on */
    int file;                 /* of what is mapped, open */
} mote_input;

mote_status mote_input_open(mote_context *ctx, const char *path, mote_input *input);
/* Opens a file of a folder: no pipe and no device, for which one would wait. */
mote_status mote_input_open_part(mote_context *ctx, const char *path, mote_input *input);
/* The same for a file that an earlier call of this kind wrote: it is no input, and the call may replace it. */
mote_status mote_input_open_own(mote_context *ctx, const char *path, mote_input *input);
/* Opens what a file of a stranger names: a file, and neither the standard input, "-", nor a pipe, a device or a link.
   title: what messages call it */
mote_status mote_input_open_file(mote_context *ctx, const char *path, const char *title, mote_input *input);
/* Whether the path is a pipe or a device, which can be read only once. */
bool mote_input_is_read_once(const char *path);
void mote_input_close(mote_context *ctx, mote_input *input);
/* Bytes [first, end) are not needed for now: the memory that holds what is mapped of them can go. */
void mote_input_forget(const mote_input *input, uint64_t first, uint64_t end);
/* Bytes [first, end) will be needed soon: they can be on their way from the disk while others are worked on. */
void mote_input_expect(const mote_input *input, uint64_t first, uint64_t end);
/* Small pieces far from each other will be read: what lies around them is not to be read along. */
void mote_input_scatter(const mote_input *input);
/* MOTE_ERROR_IO if the file was cut or changed since it was opened: what was read of it is not to be used. */
mote_status mote_input_check(mote_context *ctx, const mote_input *input);
/* Copies bytes [at, at + size_bytes), which the input has, without mapping their pages: many threads at once do not get
   into each other's way in the system's tables. From any thread. */
mote_status mote_input_copy(mote_context *ctx, const mote_input *input, uint64_t at, uint64_t size_bytes, void *to);
/* Hands the bytes to the cloud, so that its columns may look at them; input keeps its pointer. */
mote_status mote_input_give(mote_context *ctx, mote_input *input, mote_cloud *cloud);

/* "malformed": notes MOTE_ERROR_DATA as "PATH: offset N: why". */
__attribute__((format(printf, 4, 5))) mote_status mote_malformed(mote_context *ctx, const mote_input *input,
                                                                 uint64_t offset, const char *format, ...);

/* Ends the message of an error of which mote_read_params.salvage makes a warning. */
#define MOTE_SALVAGE_HINT "; --salvage keeps the points that are whole"
/* The warning of it: how many points are there, and from which offset on the others are missing. */
void mote_warn_of_loss(mote_context *ctx, const mote_input *input, uint64_t offset, uint64_t kept, uint64_t stated);
/* The error where not one point is whole. */
mote_status mote_nothing_whole(mote_context *ctx, const mote_input *input, uint64_t offset, uint64_t stated);

#define STANDARD_INPUT  "standard input" /* what "-" is called in messages */
#define STANDARD_OUTPUT "standard output"

/* An output: a file under a temporary name beside its final one, or what is written to as it is, like a pipe. */
struct mote_output {
    output_kind kind;          /* OUTPUT_CLOSED: it needs no closing, and nothing below is open */
    char *path;                /* what messages call it */
    bool is_part;              /* of a folder that is an output itself */
    struct output_file *names; /* OUTPUT_FILE: the temporary one and the final one */
    int file;                  /* OUTPUT_FILE: under the temporary name; OUTPUT_SPOOL: without one; OUTPUT_KEPT */
    int stream;                /* OUTPUT_STREAM, OUTPUT_SPOOL: where all goes */
    uint8_t *buffer;
    uint64_t buffered_bytes;
    uint64_t written_bytes; /* all that mote_output_write took */
    struct output_map *map; /* of mote_output_expect; NULL: there is none */
};

mote_status mote_output_open(mote_context *ctx, const char *path, mote_output *output);
/* Opens an output to which its writer only appends: what cannot be replaced, like a pipe, is written to at once. */
mote_status mote_output_open_in_order(mote_context *ctx, const char *path, mote_output *output);
/* Opens a file of ours that an earlier run may have left, with the bytes that it has, to write and read it in any
   order; it stays when it is closed, complete or not. */
mote_status mote_output_open_kept(mote_context *ctx, const char *path, mote_output *output);
/* For a dry run: takes the memory of an output and drops what it is given. path: only what messages call it. */
mote_status mote_output_open_dry(mote_context *ctx, const char *path, mote_output *output);
mote_status mote_output_text(mote_context *ctx, mote_output *output, const char *text);
/* Writes over what mote_output_write took before. */
mote_status mote_output_patch(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                              uint64_t offset);
/* Says how long the file will be that mote_output_write_at is to write. In a file system in memory, where calls that
   write to one file take turns, the file is then mapped, and threads write it side by side: output_map.c */
void mote_output_expect(mote_context *ctx, mote_output *output, uint64_t size_bytes);
/* Writes to the map; errno and false when it fails. */
bool output_map_write(struct output_map *map, const void *data, uint64_t size_bytes, uint64_t offset);
/* Frees it; NULL is allowed. */
void output_map_close(mote_context *ctx, struct output_map *map);
/* Completes it (status MOTE_OK): renames the file to its name, copies what was kept for a pipe; or removes it (any
   other status). Returns the first failure. */
mote_status mote_output_close(mote_context *ctx, mote_output *output, mote_status status);
/* Notes errno of a failed call on path: MOTE_ERROR_DISK for no space, quota or limit, MOTE_ERROR_CLOSED for a pipe
   without a reader, else MOTE_ERROR_IO. */
mote_status mote_system_error(mote_context *ctx, const char *path, const char *doing);

/* A file format. probe looks at the first bytes (and the path) and says whether it is this one. */
typedef struct mote_format {
    const char *name;
    const char *endings; /* ".las .laz", lower case */
    bool (*probe)(const mote_input *input);
    mote_status (*read)(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
    /* NULL: mote only reads it */
    mote_status (*write)(mote_context *ctx, const mote_cloud *cloud, const char *path, const mote_write_params *params);
    bool finite; /* holds finite positions only */
} mote_format;

/* One row per format, in src/io/formats.c. */
extern const mote_format mote_formats[];
extern const uint32_t mote_format_count;

/* The format that params or the ending of the path name, for writing; else why not. */
mote_status mote_written_format(mote_context *ctx, const char *path, const mote_write_params *params,
                                const mote_format **out);
/* mote_cloud_read of an input that is open already. */
mote_status mote_cloud_read_input(mote_context *ctx, mote_input *input, const mote_read_params *params,
                                  mote_cloud **out);

bool mote_las_probe(const mote_input *input);
mote_status mote_las_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
mote_status mote_las_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params);
bool mote_ply_probe(const mote_input *input);
mote_status mote_ply_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
mote_status mote_ply_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params);
bool mote_pcd_probe(const mote_input *input);
mote_status mote_pcd_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
mote_status mote_pcd_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params);
bool mote_ptx_probe(const mote_input *input);
mote_status mote_ptx_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
bool mote_e57_probe(const mote_input *input);
mote_status mote_e57_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
mote_status mote_e57_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params);
bool mote_xyz_probe(const mote_input *input);
mote_status mote_xyz_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out);
mote_status mote_xyz_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params);
/* A folder with metadata.json, or the path of that file. */
bool mote_potree_probe(const char *path);
mote_status mote_potree_read(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out);

/* ---- ending.c */
/* Does the path end so (".pcd"), in any case of letters? */
bool mote_path_has_ending(const char *path, const char *ending);
/* Whether the path is written in the variant of its format that this ending names (".laz", ".csv"). */
bool mote_writes_as(const char *path, const mote_write_params *params, const char *ending);

/* Whether greatest intensities that files or scans state, low ≤ high, are of different scales, so that their values
   cannot be compared. Scales in use end at 1, 255, 2047, 4095 and 65535, most of which differ by 8 or more. Where
   limits are those of the values, one scanner's differ by less than 2: by 1.8 at most among 64 tiles of lone-star.laz,
   and of autzen_trim.laz. */
static inline bool mote_intensities_differ(double low, double high) { return high > 4 * (low < 0 ? -low : low); }

/* ---- filter.c */
/* The first name of a list, names separated by commas, and the rest of it; NULL at its end (list NULL too). */
const char *mote_list_next(const char *list, char name[MOTE_NAME_BYTES]);
/* Marks the columns [column_count] that a list names, as mote_cloud_match finds them. Returns where in the list the
   first name stands that is of no column; NULL: each is. */
const char *mote_list_mark(const mote_cloud *cloud, const char *list, bool *marks);
/* Drops the columns that select (see mote_read_params) does not name. NULL: keeps all. */
mote_status mote_cloud_keep_columns(mote_cloud *cloud, const char *select);
/* Numbers of the points in the box, borders included, for mote_free; *count: how many. */
mote_status mote_cloud_find_inside(mote_context *ctx, const mote_cloud *cloud, const mote_box *box, uint64_t **indices,
                                   uint64_t *count);
/* Replaces *cloud by its points in the box; leaves it alone if that is all of them. On failure it is still there. */
mote_status mote_cloud_keep_inside(mote_context *ctx, mote_cloud **cloud, const mote_box *box);

/* Unites clouds of one context into one, in order, without loss; consumes none of them. src/io/merge/merge.c */
mote_status mote_cloud_merge(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                             mote_cloud **out);

#endif
