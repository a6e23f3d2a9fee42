/* Arrays as numpy's .npz: a zip file of .npy members, not compressed, each on a multiple of 64 bytes, so that its
   values can be mapped where they lie. */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include <mote/mote.h>

#define NPZ_ARRAYS_MAX 8

typedef struct npz_array {
    const char *name; /* the member is NAME.npy; short */
    const char *type; /* as numpy names it: "<i4", "<u8", "<f4" */
    int dimensions;   /* 1 or 2 */
    uint64_t shape[2];
    const void *data; /* row after row; NULL if it has no values. With npz_params.load: of the block that was loaded */
} npz_array;

/* Values in all. */
uint64_t npz_count(const npz_array *array);
uint64_t npz_bytes(const npz_array *array);

typedef struct npz_params {
    int threads;
    uint32_t zip64_from; /* sizes and offsets from here on go to the fields of zip64; 2^32 - 1, except in tests */
    /* Called on the caller's thread, done is 0..1; returning false cancels. NULL: not called */
    bool (*progress)(void *user, double done);
    void *user;
    /* Where memory does not hold the arrays, which then have as many rows each: makes their data those of the rows
       [first, first + count), count block_rows or what remains. NULL: data has all */
    mote_status (*load)(void *user, uint64_t first, uint64_t count);
    uint64_t block_rows;
} npz_params;

/* Writes to an output that was opened for any order. Same bytes for any number of threads. */
mote_status npz_write(mote_context *ctx, mote_output *output, const npz_array *arrays, int count,
                      const npz_params *params);

#endif
