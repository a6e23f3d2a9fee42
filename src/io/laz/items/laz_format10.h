/* What the format says of the items of formats 0 to 5, apart from how a machine decodes them. One copy for the CPU
   (laz_pointwise.c) and the GPU (laz_cuda.cu). Source: M. Isenburg, LASzip, 2013. */
#ifndef MOTE_LAZ_FORMAT10_H
#define MOTE_LAZ_FORMAT10_H

#include "math/host_device.h"

#define LAZ_POINT10_CHANGES 64u /* symbols: which of six parts changed */
#define LAZ_POINT10_KINDS   16u
#define LAZ_POINT10_LEVELS  8u

/* Which of 16 kinds a return is, by [count][number]. Number and count as they should be have kinds of their own; what
   some files put there shares these. */
static const uint8_t laz_return10_kind[64] = {15, 14, 13, 12, 11, 10, 9,  8,  14, 0,  1,  3,  6,  10, 10, 9,
                                              13, 1,  2,  4,  7,  11, 11, 10, 12, 3,  4,  5,  8,  12, 12, 11,
                                              11, 6,  7,  8,  9,  13, 13, 12, 10, 10, 11, 12, 13, 14, 14, 13,
                                              9,  10, 11, 12, 13, 14, 15, 14, 8,  9,  10, 11, 12, 13, 14, 15};

/* The units of POINT10, each of which goes to a place of its own in a record of which only some is kept: x, y, z,
   intensity, returns, classification, scan angle, user data, point source. Bytes, and where in the item; 0: none. */
#define LAZ_POINT10_UNITS 9u
MOTE_HD uint32_t laz_point10_unit_bytes(uint32_t unit, uint32_t *at) {
    *at = unit < 4 ? 4 * unit : 10 + unit;
    if (unit >= LAZ_POINT10_UNITS) return 0;
    return unit < 3 ? 4 : unit == 3 || unit == LAZ_POINT10_UNITS - 1 ? 2 : 1;
}

/* Times: a writer switches between four sequences at most once before a time; what goes on switching is no time. */
#define LAZ_GPS11_SWITCHES 5u

#endif
