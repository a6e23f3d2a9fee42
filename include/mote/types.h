/// mote: status codes, scalar types and the API macro that every public header shares.
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
    MOTE_ERROR_DATA,        ///< the input is malformed; the message names file, offset and cause
    MOTE_ERROR_MEMORY,      ///< an allocation failed
    MOTE_ERROR_IO,          ///< a file cannot be opened, read or written
    MOTE_ERROR_DISK,        ///< no space left where the output goes
    MOTE_ERROR_UNSUPPORTED, ///< valid, but this build or backend cannot do it
    MOTE_ERROR_DEVICE,      ///< the GPU or its driver failed
    MOTE_CANCELLED          ///< the progress callback said stop
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
/// float or double.
MOTE_API bool mote_type_is_float(mote_type type);
/// Signed integers and floats.
MOTE_API bool mote_type_is_signed(mote_type type);

/// The version of the library, e.g. "0.1.0".
MOTE_API const char *mote_version(void);

#ifdef __cplusplus
}
#endif
#endif
