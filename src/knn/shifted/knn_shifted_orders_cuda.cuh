/* Shifted sorting on the device: what a search has, and the orders that it makes. For .cu files only. */
#ifndef MOTE_KNN_SHIFTED_ORDERS_CUDA_H
#define MOTE_KNN_SHIFTED_ORDERS_CUDA_H

#include "knn/shifted/knn_shifted_search_cuda.cuh"
#include "order/lattice/order_points.cuh"
#include "order/lattice/ordered_box.cuh"

#define SHIFTED_THREADS 256u
#define SHIFTED_GROUPS  (KNN_PLAIN + 1) /* spaces, and the cube itself */

/* What is kept from search to search. */
enum {
    BUFFER_SMALL,
    BUFFER_CELLS,
    BUFFER_QUERY_CELLS,
    BUFFER_CODES,
    BUFFER_OTHER_CODES,
    BUFFER_ORDER,
    BUFFER_OTHER_ORDER,
    BUFFER_CURVE,
    BUFFER_NEAR,
    BUFFER_PLACES,
    BUFFER_BEFORE,
    BUFFER_QUERY_PLACES,
    BUFFER_NORMALS,
    BUFFER_GROUPS
};
static_assert(BUFFER_GROUPS + 1 == KNN_SHIFTED_BUFFERS, "a room for each array");

/* What stands in BUFFER_SMALL. */
typedef struct shifted_small {
    ordered_box world, space;
    uint32_t counts[SHIFTED_GROUPS];
    uint32_t hard;
} shifted_small;

typedef struct shifted_axes {
    mote_column axes[3];
} shifted_axes;

typedef struct shifted_search {
    mote_knn_index *index;
    mote_device *gpu;
    const knn_cuda_query_set *query_set;
    knn_cuda_buffer *rooms;
    uint64_t points, queries;
    bool ellipsoidal, buckets, small_k;
    double stretch;
    shifted_small *small;    /* in device memory */
    const uint64_t *cells;   /* of the queries: by place, or by index through order */
    const uint32_t *order;   /* NULL: by place */
    const uint32_t *grouped; /* places of queries by group; NULL: one group */
    uint32_t counts[SHIFTED_GROUPS];
    knn_shifted_args args;
} shifted_search;

static __device__ inline uint64_t thread_first(void) { return (uint64_t)blockIdx.x * SHIFTED_THREADS + threadIdx.x; }

/* The axes of a cloud, and how they may be read. */
shifted_axes knn_shifted_axes(const device_cloud *cloud, order_reading *reading);
/* The cells of points and queries in the cube around both. */
mote_status knn_shifted_find_cells(shifted_search *s);
/* [point] its place on the curve of the index. */
void knn_shifted_find_curve(const shifted_search *s);
/* The four orders of a group's space, and where the queries of s->ask stand in them. */
mote_status knn_shifted_make_orders(shifted_search *s, uint32_t group);

#endif
