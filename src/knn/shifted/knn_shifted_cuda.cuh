/* Shifted sorting on the device: the four orders, and what the search among them is given. For .cu files only.

     orders[s]   [ w w w w w|w w w w w ... ]   points as places on the index's curve, by (code of shift s, index)
                     \______^______/           a query's window: `beside` points on each side of its insertion place
     places[w]   { 3, 17, 4, 9 }               where the point w stands in the four orders: a point of the window of
                                               an earlier order was seen there */
#ifndef MOTE_KNN_SHIFTED_CUDA_H
#define MOTE_KNN_SHIFTED_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/knn_cuda.h"
#include "knn/shifted/knn_shifted_math.h"
#include "order/lattice/ordered_box.cuh"

/* Device memory of a search: parts of one buffer that is kept for the next. */
typedef struct knn_shifted_memory {
    ordered_box *world, *space;    /* boxes of world values, and of a space's stretched cells */
    uint64_t *cells, *query_cells; /* [point], [query], by row: 21 bits an axis, x lowest */
    uint32_t *curve;               /* [point] its place on the index's curve */
    cuda_pairs64 sorted;           /* [point] of one order: codes and points */
    uint32_t *orders[KNN_SHIFTS];  /* [place in the order] a point's place on the curve */
    uint4 *places;                 /* [place on the curve] where the point stands in the four orders */
    uint4 *insertion_places;       /* [query] before which points it stands in the four orders */
    uint8_t *spaces;               /* [query] the space it is asked in */
} knn_shifted_memory;

typedef struct knn_shifted_args {
    knn_search_args search; /* what is exact about it: points, queries, normals, keys, rows */
    knn_shifted_memory memory;
    uint32_t point_count, query_count;
    uint32_t space;  /* the space at hand: its queries are asked */
    uint32_t beside; /* candidates on each side of a query: lambda · k */
} knn_shifted_args;

/* The cells of points and queries in the cube around both, and the inverse of the index's order. query_cloud: NULL for
   the points themselves. */
mote_status knn_shifted_find_cells(mote_device *gpu, const knn_shifted_args *args, const device_cloud *cloud,
                                   const device_cloud *query_cloud);
/* The four orders of the space at hand, and where its queries stand in them. */
mote_status knn_shifted_make_orders(mote_device *gpu, knn_shifted_args *args);

#endif
