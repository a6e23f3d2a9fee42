/* Morton codes made while points are being decoded: a chunk's points are still in the cache, and the cores that wait
   for nothing else compute them. The cube must be known before the points are, so it is made from the box that the
   file's header states; codes of a box that proves wrong are thrown away. */
#ifndef MOTE_ORDER_STREAMING_H
#define MOTE_ORDER_STREAMING_H

#include "core/cloud.h"
#include "mote/order.h"

typedef struct order_streaming order_streaming;

/* Begins for a cloud whose columns are in place and will hold count points. low, high: the stated box in stored
   coordinates. *out is NULL, and nothing is wrong, where codes cannot be made early. */
mote_status order_streaming_begin(mote_context *ctx, const mote_cloud *cloud, uint64_t count, const int32_t low[3],
                                  const int32_t high[3], order_streaming **out);
/* Points [first, first + count) are there now. From any thread of a parallel region, each point once. */
void order_streaming_visit(order_streaming *streaming, uint64_t first, uint64_t count);
/* Ends: the cloud keeps what is true of it (complete: all points were visited). early may be NULL. */
void order_streaming_end(order_streaming *streaming, mote_cloud *cloud, bool complete);

#endif
