/// mote: status codes, scalar types and the API macro that every public header shares.
///
/// Structs that the caller allocates end in reserved fields, so that a later version can add fields and programs that
/// were compiled before still run. They must be zero: start from the function that gives the defaults, or from a struct
/// of zeros where there is none, and set what differs. A call refuses reserved fields that are not zero. Results have
/// them too; a call that only writes a struct sets them to zero. The zero of a field that is added later means what
/// happened before. Structs that only the library allocates (mote_record, mote_plane, mote_knn_lists) may get fields at
/// their end, so never copy them by size or step through them as an array. mote_box, mote_lattice, mote_allocator,
/// mote_column, mote_column_spec and mote_lod_node never change.
///
///     mote_knn_params params = mote_knn_defaults();
///     params.k = 16;
#ifndef MOTE_TYPES_H
#define MOTE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MOTE_API __attribute__((visibility("default")))
#else
#define MOTE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What a function that can fail returns. The context holds the message of the first failure.
typedef enum mote_status {
    MOTE_OK = 0,
    MOTE_ERROR_ARGUMENT,    ///< the caller's mistake: a parameter out of range, a missing column
    MOTE_ERROR_DATA,        ///< the input is malformed (the message names file, offset and cause), or out of range
    MOTE_ERROR_MEMORY,      ///< an allocation failed
    MOTE_ERROR_IO,          ///< a file cannot be opened, read or written
    MOTE_ERROR_DISK,        ///< no space left where the output goes
    MOTE_ERROR_UNSUPPORTED, ///< valid, but this build or backend cannot do it
    MOTE_ERROR_DEVICE,      ///< the GPU or its driver failed
    MOTE_CANCELLED,         ///< the progress callback said stop
    MOTE_ERROR_CLOSED,      ///< the output is a pipe, and its reader has closed it
    MOTE_ERROR_CHANGED      ///< a file is gone, or changed: since a plan was made of it, or while it was read
} mote_status;

/// A short English name of a status, never NULL.
MOTE_API const char *mote_status_name(mote_status status);

/// The scalar types a column may hold.
typedef enum mote_type {
    MOTE_INT8,
    MOTE_UINT8,
    MOTE_INT16,
    MOTE_UINT16,
    MOTE_INT32,
    MOTE_UINT32,
    MOTE_INT64,
    MOTE_UINT64,
    MOTE_FLOAT32,
    MOTE_FLOAT64
} mote_type;

/// Bytes of one value of a type: 1, 2, 4 or 8; 0 for a value outside the enum.
MOTE_API uint32_t mote_type_size(mote_type type);
/// "int8" … "uint64", "float", "double" (the names Potree and mote's output use); never NULL.
MOTE_API const char *mote_type_name(mote_type type);
/// Whether a type is float or double.
MOTE_API bool mote_type_is_float(mote_type type);
/// Whether a type is a signed integer or a float.
MOTE_API bool mote_type_is_signed(mote_type type);

/// The version of the library, e.g. "0.1.0".
MOTE_API const char *mote_version(void);

#ifdef __cplusplus
}
#endif
#endif
