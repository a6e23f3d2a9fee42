/* Numbers as unsigned integers of the same order: what compares and takes minima of integers, as atomics do, then does
   so of numbers. -0 comes before +0. */
#ifndef MOTE_ORDERED_H
#define MOTE_ORDERED_H

#include <string.h>

#include "math/host_device.h"

#define MOTE_ORDERED_SIGN (1ull << 63)

MOTE_HD uint64_t mote_ordered_integer(int64_t value) { return (uint64_t)value ^ MOTE_ORDERED_SIGN; }

/* Inverts mote_ordered_integer. */
MOTE_HD int64_t mote_integer_of_ordered(uint64_t ordered) { return (int64_t)(ordered ^ MOTE_ORDERED_SIGN); }

MOTE_HD uint64_t mote_ordered_real(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & MOTE_ORDERED_SIGN) != 0 ? ~bits : bits | MOTE_ORDERED_SIGN;
}

/* Inverts mote_ordered_real. */
MOTE_HD double mote_real_of_ordered(uint64_t ordered) {
    const uint64_t bits = (ordered & MOTE_ORDERED_SIGN) != 0 ? ordered & ~MOTE_ORDERED_SIGN : ~ordered;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
