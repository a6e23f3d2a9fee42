/* The Morton order of a cloud in device memory. */
#ifndef MOTE_ORDER_CUDA_H
#define MOTE_ORDER_CUDA_H

#include "backend/cuda_cloud.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As mote_order_lattice. */
mote_status order_cuda_lattice(const cuda_cloud *cloud, mote_lattice *lattice, uint64_t *skipped);

/* Codes and indices of the points that are not skipped, sorted by code; what shares a code by coordinates and then
   index (ties), or by index alone. codes and order are device memory from cuda_alloc, [cloud->count - skipped], for
   the caller to free.
   ties    as order_settle_ties makes them: not for sampling that asks for the input's order
   sorted  out, to be closed: a copy of the cloud by sorted position, if it is made on the way at little cost (aligned
           records of 16 bytes that begin with whole coordinates); else without columns. NULL: none is wanted */
mote_status order_cuda_build(const cuda_cloud *cloud, const mote_lattice *lattice, uint64_t skipped, bool ties,
                             uint64_t **codes, uint32_t **order, cuda_cloud *sorted);

#ifdef __cplusplus
}
#endif
#endif
