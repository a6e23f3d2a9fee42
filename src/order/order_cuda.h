/* The Morton order of a cloud in device memory. */
#ifndef MOTE_ORDER_CUDA_H
#define MOTE_ORDER_CUDA_H

#include "device/device_cloud.h"
#include "mote/order.h"
#include "order/sort/order_ties.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The box that mote_cloud_bounds gives, of points on the device. */
mote_status order_cuda_bounds(const device_cloud *cloud, mote_box *box);

/* The lattice that mote_order_lattice makes, of points on the device; skipped: how many are not finite. */
mote_status order_cuda_lattice(const device_cloud *cloud, mote_lattice *lattice, uint64_t *skipped);

/* Codes and indices of the points that are not skipped, sorted by code. codes and order are device memory from
   cuda_alloc, [cloud->count - skipped], for the caller to free.
   ties    NULL: points that share a code stay in the order of the input
   sorted  out, to be closed: a copy of the cloud by sorted position, if it is made on the way at little cost (aligned
           records of 16 bytes that begin with whole coordinates); else without columns. NULL: none is wanted */
mote_status order_cuda_build(const device_cloud *cloud, const mote_lattice *lattice, uint64_t skipped,
                             const order_ties *ties, uint64_t **codes, uint32_t **order, device_cloud *sorted);

/* As order_fine_codes, on the device: fine is memory from cuda_alloc, for the caller to free.
   sorted  the cloud has its points by sorted position, in records of 16 bytes, which are put into the new order, too */
mote_status order_cuda_fine_codes(const device_cloud *cloud, const mote_lattice *lattice, bool sorted,
                                  const uint64_t *codes, uint32_t *order, uint64_t count, uint64_t **fine);

#ifdef __cplusplus
}
#endif
#endif
