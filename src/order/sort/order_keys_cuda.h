/* The steps of the sort on the device. */
#ifndef MOTE_ORDER_KEYS_CUDA_H
#define MOTE_ORDER_KEYS_CUDA_H

#include "device/cuda/cuda_primitives.h"
#include "device/device_cloud.h"
#include "mote/order.h"
#include "order/lattice/order_points_int32.cuh"
#include "order/sort/order_ties.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ORDER_TILE      2048u /* points that a block of the sort of runs takes */
#define ORDER_SHORT_TIE 32u   /* the most points of one code that one thread puts in order */

enum { ORDER_TIES_ANY = 1, ORDER_TIES_LONG = 2 }; /* codes that two share, and more than ORDER_SHORT_TIE */
enum { ORDER_TILE_TIED = 1, ORDER_TILE_FAR = 2 }; /* a tile has points that share a code; of long runs */

/* What the sort of runs saw. */
typedef struct order_found {
    uint64_t far;  /* points of long runs */
    uint64_t ties; /* ORDER_TIES_*, except those in long runs */
} order_found;

/* Points whose records go into the order with them: points_int32_are_records. */
typedef struct order_records {
    points_int32 points;
    const uint4 *last;   /* a copy of the last record, behind which there is memory up to 16 bytes */
    uint32_t last_index; /* the point that it is of */
} order_records;

/* A sort by the upper bits of compact codes first; then each run that shares them by the rest. What it sorts:
   - pairs of keys, the whole compact codes, and indices; or
   - packed keys, the upper bits above the index. The sort of runs then fetches the point itself, and what it has
     fetched anyway stays: the sorted records. */
typedef struct order_sort {
    mote_device *gpu;
    uint64_t count; /* of points that have a place in the lattice: the others fall off the end */
    order_compaction compaction;
    uint32_t key_bits, remaining_bits; /* of a compact code, and those of it that the first sort leaves */
    uint32_t run_bits;  /* of a sorted key, below those that a run shares: remaining_bits, or an index's */
    cuda_pairs64 pairs; /* when packed, without values until the sort is done */
    bool packed;
    order_records from; /* these two if packed */
    uint4 *records;     /* [count + 1] by sorted position; then from.last */
    order_found found;  /* if notes are not NULL */
    order_found *notes; /* in device memory, and a word of ORDER_TILE_* for each tile behind; NULL: nothing is known */
} order_sort;

static inline uint32_t *order_tiles(const order_sort *sort) {
    return sort->notes != NULL ? (uint32_t *)(sort->notes + 1) : NULL;
}

mote_status order_pairs_alloc(mote_device *gpu, uint64_t count, cuda_pairs64 *pairs);
void order_pairs_free(mote_device *gpu, cuda_pairs64 *pairs);

static inline void order_pairs_swap(cuda_pairs64 *pairs) {
    const cuda_pairs64 was = *pairs;
    pairs->keys = was.other_keys;
    pairs->values = was.other_values;
    pairs->other_keys = was.keys;
    pairs->other_values = was.values;
}

/* Code of each point, UINT64_MAX if it is not finite. */
mote_status order_cuda_codes(const device_cloud *cloud, const mote_lattice *lattice, uint64_t *codes);
/* Squeezed codes of count points, bad for those that are not finite; and their numbers.
   indices  NULL: codes as they are, and no numbers */
mote_status order_cuda_compact_keys(mote_device *gpu, const order_points *points, order_compaction compaction,
                                    uint64_t count, uint64_t bad, uint64_t *codes, uint32_t *indices);
/* Packed keys of all points of a sort, into pairs.keys. */
mote_status order_cuda_packed(const order_sort *sort);
/* indices[i] = i */
mote_status order_cuda_number(mote_device *gpu, uint32_t *indices, uint64_t count);
/* Keys back to codes, in place. */
mote_status order_cuda_expand_keys(order_sort *sort);

/* From keys sorted by all but remaining_bits to codes in pairs.keys and the order in pairs.values; from packed ones,
   whose other values and records are to be filled, also the records. Fills found and notes, which are the caller's to
   free. */
mote_status order_cuda_segmented_sort(order_sort *sort);
/* The part of it that is about long runs, of which there are some: into the other keys and values, where short runs are
   already. */
mote_status order_cuda_sort_long_runs(order_sort *sort);
/* Lets the records follow where ties were settled. */
mote_status order_cuda_move_tied(const order_sort *sort);

/* Puts points of one code in the order of their contents, as order_settle_ties does, once the sort is done. */
mote_status order_cuda_settle_ties(const device_cloud *cloud, const mote_lattice *lattice, const order_ties *ties,
                                   const order_sort *sort);

#ifdef __cplusplus
}
#endif
#endif
