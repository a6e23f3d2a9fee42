/* The steps of the sort on the device. */
#ifndef MOTE_ORDER_KEYS_CUDA_H
#define MOTE_ORDER_KEYS_CUDA_H

#include "backend/cuda_primitives.h"
#include "order/order_cuda.h"
#include "order/order_squeeze_math.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sort by the upper bits of squeezed codes first; then each run that shares them by the rest. */
typedef struct order_sort {
    mote_context *ctx;
    uint64_t count; /* of points that have a place in the lattice: the others fall off the end */
    order_squeeze squeeze;
    uint32_t key_bits, rest_bits; /* of a key, and those of it that the first sort leaves */
    cuda_pairs64 pairs;           /* squeezed codes and indices */
} order_sort;

mote_status order_pairs_alloc(mote_context *ctx, uint64_t count, cuda_pairs64 *pairs);
void order_pairs_free(mote_context *ctx, cuda_pairs64 *pairs);

/* Code of each point, UINT64_MAX if it is not finite. */
mote_status order_cuda_codes(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t *codes);
/* indices[i] = i */
mote_status order_cuda_number(mote_context *ctx, uint32_t *indices, uint64_t count);
/* Keys back to codes, in place. */
mote_status order_cuda_unsqueeze(order_sort *sort);

/* From pairs sorted by all but rest_bits to codes in pairs.keys and the order in pairs.values. */
mote_status order_cuda_finish(order_sort *sort);

/* As order_settle_ties. */
mote_status order_cuda_settle_ties(const cuda_cloud *cloud, const mote_lattice *lattice, const uint64_t *codes,
                                   uint32_t *order, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
