/// mote: the Morton order. A code interleaves three lattice coordinates of 21 bits: bit 3i+2 is bit i of x,
/// 3i+1 of y, 3i of z. Sorted by code, a cell of any grid of 2^level cells a side is one contiguous range.
#ifndef MOTE_ORDER_H
#define MOTE_ORDER_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_ORDER_BITS 21u /* an axis; 63 in all */

/// A cube in the world, over an integer lattice whose steps may differ by axis: coordinate p of a point maps to
/// cell floor(p · 2^21 / side), the last cell closed. p is counted from the cube's corner, in steps.
typedef struct mote_lattice {
    double scale[3];       ///< world size of one step
    double offset[3];      ///< world = (min + p) · scale + offset
    int64_t min[3];        ///< coordinate of the cube's corner
    uint64_t side[3];      ///< of the cube, in steps of the axis; 1 or more
    uint64_t extent[3];    ///< largest p that occurs; < 2^31
    int64_t source_min[3]; ///< integer positions: smallest stored value, p = (stored - source_min) >> shift, rounded
    uint32_t shift;        ///< 0 unless integer positions span 2^31 steps or more
    bool integer;          ///< the positions are integers with a positive scale
    bool exact;            ///< integer positions on their own steps: nothing is rounded
} mote_lattice;

/// Interleaves three 21-bit coordinates; higher bits are ignored.
MOTE_API uint64_t mote_morton_code(uint32_t x, uint32_t y, uint32_t z);
/// Splits a code into its cell.
MOTE_API void mote_morton_coordinates(uint64_t code, uint32_t xyz[3]);

/// Finds the lattice of a cloud: for integer positions their own, for floats and doubles the decimal step of
/// the text they came from, else the finest power of two that fits 31 bits.
/// skipped  out, may be NULL: points with a NaN or infinite coordinate
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y, z), MOTE_ERROR_DATA (points more than 8.9e307 apart)
MOTE_API mote_status mote_order_lattice(mote_context *ctx, const mote_cloud *cloud, mote_lattice *lattice,
                                        uint64_t *skipped);

/// Writes the lattice coordinates p of points; zeros for a point with a NaN or infinite coordinate.
/// indices  [count] which points; NULL: the first count
/// xyz      [3 · count] out
MOTE_API void mote_order_coordinates(const mote_cloud *cloud, const mote_lattice *lattice, const uint32_t *indices,
                                     uint64_t count, uint32_t *xyz);

/// Writes one code per point; points with a NaN or infinite coordinate get UINT64_MAX, so they sort last.
/// codes  [count] out
MOTE_API mote_status mote_order_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                                      uint64_t *codes);

/// Sorts codes ascending and gives the permutation: stable, so equal codes keep their order.
/// codes    [count] in and out
/// indices  [count] out: indices[i] is where the i-th smallest stood
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (count ≥ 2^32), MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     O(count), 12 count bytes of scratch; same result for any number of threads
MOTE_API mote_status mote_order_sort(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count);

/// The range [*first, *last) of sorted codes that lie in a cell: those whose upper 3·level bits (of 63) are
/// prefix. level 0 is everything, level 21 a single code.
MOTE_API void mote_order_range(const uint64_t *codes, uint64_t count, uint64_t prefix, uint32_t level, uint64_t *first,
                               uint64_t *last);

/// out[i] = values[indices[i]] for values of size_bytes, stride_bytes apart.
/// out  [count] dense
MOTE_API mote_status mote_order_permute(mote_context *ctx, const void *values, uint32_t size_bytes,
                                        uint32_t stride_bytes, const uint32_t *indices, uint64_t count, void *out);

/// Makes a cloud of all points of another in Morton order, that of its own lattice (mote_order_lattice): points of one
/// code keep their order, and those without a finite position come last. Columns and facts come along as by
/// mote_cloud_select.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y, z), MOTE_ERROR_UNSUPPORTED (2^32 points or more), MOTE_ERROR_DATA,
///          MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     a sort, and the copy of mote_cloud_select; 24 bytes a point of scratch. Same points on every backend
MOTE_API mote_status mote_order_cloud(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out);

#ifdef __cplusplus
}
#endif
#endif
