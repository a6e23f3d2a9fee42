/* The header of numpy's .npy. */
#include "files/npy.h"

#include <stdio.h>
#include <string.h>

void npy_header(const char *type, int dimensions, const uint64_t *shape, uint8_t header[NPY_BYTES]) {
    char sides[80], text[NPY_BYTES];
    size_t at = 0;
    for (int i = 0; i < dimensions; i++) {
        at +=
            (size_t)snprintf(sides + at, sizeof sides - at, "%s%llu", i > 0 ? ", " : "", (unsigned long long)shape[i]);
    }
    const int length = snprintf(text, sizeof text, "{'descr': '%.8s', 'fortran_order': False, 'shape': (%s%s), }", type,
                                sides, dimensions == 1 ? "," : "");
    memset(header, ' ', NPY_BYTES);
    memcpy(header, "\x93NUMPY\x01", 8); /* version 1.0: the text's end is its last byte */
    header[8] = (NPY_BYTES - 10) & 0xFF;
    header[9] = 0;
    memcpy(header + 10, text, (size_t)length);
    header[NPY_BYTES - 1] = '\n';
}
