/// mote: reading and writing clouds. The format follows from the content (reading) or the file's
/// ending (writing). Outputs appear under a temporary name and are renamed when complete.
/// All readers are safe on hostile input: an error names file, offset and cause.
#ifndef MOTE_IO_H
#define MOTE_IO_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_read_params {
    int level;           ///< Potree folders: only the nodes of this level; -1 = the whole cloud
    const char *columns; ///< text files: names separated by commas; NULL = from header line or by count
    char separator;      ///< text files: 0 = find out
} mote_read_params;
/// The whole cloud; columns and separator of text found out.
MOTE_API mote_read_params mote_read_defaults(void);

/// Reads one file or Potree folder. LAS and fixed-size binary PLY are memory-mapped, not copied.
/// Returns  MOTE_OK, MOTE_ERROR_IO, MOTE_ERROR_DATA, MOTE_ERROR_MEMORY, MOTE_ERROR_UNSUPPORTED,
///          MOTE_CANCELLED
MOTE_API mote_status mote_cloud_read(mote_context *ctx, const char *path, const mote_read_params *params,
                                     mote_cloud **out);

/// Reads several inputs as one cloud, in the order given. A folder stands for all point files in it, a
/// pattern with * or ? for what it matches, each in name order. Differing attributes are united
/// (missing values are 0), differing scales too where that loses nothing; else the reason is given.
MOTE_API mote_status mote_cloud_read_many(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                          const mote_read_params *params, mote_cloud **out);

typedef struct mote_write_params {
    const char *columns;   ///< only these, separated by commas; NULL = all
    bool text;             ///< PLY: ascii instead of binary
    bool big_endian;       ///< PLY: binary_big_endian
    int las_version_minor; ///< 2, 3 or 4; 0 = what the attributes need
    int las_format;        ///< 0..10; -1 = what the attributes need
} mote_write_params;
/// All columns, binary, the smallest LAS version and format that hold them.
MOTE_API mote_write_params mote_write_defaults(void);

/// Writes a cloud; the ending of path names the format.
/// Returns  as mote_cloud_read, and MOTE_ERROR_DISK
MOTE_API mote_status mote_cloud_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                                      const mote_write_params *params);

/// "las", "ply", "xyz", "potree" …: what the content of path looks like; NULL if it is no format of mote's.
MOTE_API const char *mote_file_format(mote_context *ctx, const char *path);

/// The format that the ending of path names, for writing: "las", "ply", "xyz"; NULL if mote writes none such.
MOTE_API const char *mote_ending_format(const char *path);

#ifdef __cplusplus
}
#endif
#endif
