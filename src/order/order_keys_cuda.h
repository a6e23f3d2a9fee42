/* The steps of the sort on the device. */
#ifndef MOTE_ORDER_KEYS_CUDA_H
#define MOTE_ORDER_KEYS_CUDA_H

#include "backend/cuda_primitives.h"
#include "order/order_cuda.h"
#include "order/order_squeeze_math.h"

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
    uint64_t ties; /* ORDER_TIES_*, but for those in long runs */
} order_found;

/* A sort by the upper bits of squeezed codes first; then each run that shares them by the rest. */
typedef struct order_sort {
    mote_context *ctx;
    uint64_t count; /* of points that have a place in the lattice: the others fall off the end */
    order_squeeze squeeze;
    uint32_t key_bits, rest_bits; /* of a key, and those of it that the first sort leaves */
    cuda_pairs64 pairs;           /* squeezed codes and indices */
    order_found found;            /* if notes are not NULL */
    order_found *notes; /* in device memory, and a word of ORDER_TILE_* for each tile behind; NULL: nothing is known */
} order_sort;

static inline uint32_t *order_tiles(const order_sort *sort) {
    return sort->notes != NULL ? (uint32_t *)(sort->notes + 1) : NULL;
}

mote_status order_pairs_alloc(mote_context *ctx, uint64_t count, cuda_pairs64 *pairs);
void order_pairs_free(mote_context *ctx, cuda_pairs64 *pairs);

/* Code of each point, UINT64_MAX if it is not finite. */
mote_status order_cuda_codes(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t *codes);
/* indices[i] = i */
mote_status order_cuda_number(mote_context *ctx, uint32_t *indices, uint64_t count);
/* Keys back to codes, in place. */
mote_status order_cuda_unsqueeze(order_sort *sort);

/* From pairs sorted by all but rest_bits to codes in pairs.keys and the order in pairs.values. Fills found and notes,
   which are the caller's to free. */
mote_status order_cuda_finish(order_sort *sort);

/* As order_settle_ties, of codes and an order that the sort has finished. */
mote_status order_cuda_settle_ties(const cuda_cloud *cloud, const mote_lattice *lattice, const order_sort *sort);

#ifdef __cplusplus
}
#endif
#endif
