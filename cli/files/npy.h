/* The header of numpy's .npy, version 1.0 of numpy.lib.format: what stands before the values of an array. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdint.h>

#define NPY_BYTES          128u /* of the header: what fits three dimensions, a multiple of 64 */
#define NPY_DIMENSIONS_MAX 3

/* type: as numpy names it, "<i4", "|u1", "<f4"; shape: [dimensions], 1 to 3; values follow row after row. */
void npy_header(const char *type, int dimensions, const uint64_t *shape, uint8_t header[NPY_BYTES]);

#endif
