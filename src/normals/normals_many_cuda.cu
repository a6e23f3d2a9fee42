/* Normals and mean distances of more than 16 neighbours, from rows or lists of some points at a time. */
#include "normals/normals_point_cuda.h"

#define THREADS    128u
#define ROW_BYTES  (128ull << 20) /* of the rows that stand in memory at once */
#define LIST_BYTES (640ull << 20) /* of the lists; one point with very many neighbours may need more */

/* How many points go together whose neighbours take so many bytes each: what a part may take, or half of what is left,
   for sorts need as much again. */
static uint64_t points_at_once(mote_context *ctx, uint64_t point_bytes, uint64_t most_bytes, uint64_t points) {
    const uint64_t left_bytes = cuda_memory_left(ctx) / 2, bytes = left_bytes < most_bytes ? left_bytes : most_bytes;
    const uint64_t count = bytes / point_bytes;
    return count == 0 ? 1 : count < points ? count : points;
}

/* ---- a point's neighbours */

/* A row of indices, which the search fills up with those of no point. */
struct row_list {
    const uint32_t *index, *place_of;
    uint32_t count;

    __device__ inline uint32_t at(uint32_t i) const { return __ldg(place_of + index[i]); }
};

static __device__ inline row_list row_of(const knn_cuda_ask *ask, const uint32_t *place_of, uint64_t row) {
    row_list list = {ask->rows.index32 + row * ask->k, place_of, ask->k};
    while (list.count > 0 && list.index[list.count - 1] == UINT32_MAX) list.count--;
    return list;
}

struct entry_list {
    const uint32_t *entries, *index, *place_of;
    uint32_t count;

    __device__ inline uint32_t at(uint32_t i) const { return __ldg(place_of + index[entries[i]]); }
};

static __global__ void find_places(const uint32_t *order, uint32_t count, uint32_t *place_of) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) place_of[order[i]] = (uint32_t)i;
}

/* The sorted place of each point: device memory for cuda_free; NULL, and the failure noted, if there is none. */
static uint32_t *make_places(mote_context *ctx, const knn_cuda_points *points) {
    uint32_t *const place_of = (uint32_t *)cuda_alloc(ctx, (uint64_t)points->count * sizeof *place_of, "places");
    if (place_of == NULL) return NULL;
    CUDA_LAUNCH(ctx, find_places, cuda_blocks(points->count, THREADS), THREADS, points->order, points->count, place_of);
    return place_of;
}

/* ---- rows */

template <int KIND>
static __global__ __launch_bounds__(THREADS) void shape_rows(knn_cuda_ask ask, const uint32_t *place_of,
                                                             normals_cuda_shapes to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x, place = ask.first + i;
    bool is_without = false;
    if (place < ask.end) {
        is_without = normals_of_neighbours<KIND>(&ask.tree, &to, (uint32_t)place, row_of(&ask, place_of, i));
    }
    normals_count_without(&to, is_without, threadIdx.x % CUDA_WARP);
}

template <int KIND>
static __global__ __launch_bounds__(THREADS) void measure_rows(knn_cuda_ask ask, const uint32_t *place_of,
                                                               normals_cuda_distances to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x, place = ask.first + i;
    if (place < ask.end) normals_distance_of<KIND>(&ask.tree, &to, (uint32_t)place, row_of(&ask, place_of, i));
}

static void launch_shapes(mote_context *ctx, const knn_cuda_ask *ask, const uint32_t *place_of,
                          const normals_cuda_shapes *to) {
    const uint32_t blocks = cuda_blocks(ask->end - ask->first, THREADS);
    switch (ask->tree.metric.kind) {
    case KNN_INT: CUDA_LAUNCH(ctx, (shape_rows<KNN_INT>), blocks, THREADS, *ask, place_of, *to); break;
    case KNN_FLOAT: CUDA_LAUNCH(ctx, (shape_rows<KNN_FLOAT>), blocks, THREADS, *ask, place_of, *to); break;
    case KNN_DOUBLE: CUDA_LAUNCH(ctx, (shape_rows<KNN_DOUBLE>), blocks, THREADS, *ask, place_of, *to); break;
    }
}

static void launch_distances(mote_context *ctx, const knn_cuda_ask *ask, const uint32_t *place_of,
                             const normals_cuda_distances *to) {
    const uint32_t blocks = cuda_blocks(ask->end - ask->first, THREADS);
    switch (ask->tree.metric.kind) {
    case KNN_INT: CUDA_LAUNCH(ctx, (measure_rows<KNN_INT>), blocks, THREADS, *ask, place_of, *to); break;
    case KNN_FLOAT: CUDA_LAUNCH(ctx, (measure_rows<KNN_FLOAT>), blocks, THREADS, *ask, place_of, *to); break;
    case KNN_DOUBLE: CUDA_LAUNCH(ctx, (measure_rows<KNN_DOUBLE>), blocks, THREADS, *ask, place_of, *to); break;
    }
}

/* Rows of the points of one part after the other, and what is made of each. One of shapes and distances is NULL. */
static mote_status by_rows(mote_context *ctx, const knn_cuda_ask *given, const normals_cuda_shapes *shapes,
                           const normals_cuda_distances *distances) {
    knn_cuda_ask ask = *given;
    const uint64_t row_bytes = (uint64_t)ask.k * sizeof(uint32_t), points = given->end;
    const uint64_t rows = points_at_once(ctx, row_bytes, ROW_BYTES, points);
    uint32_t *const place_of = make_places(ctx, &ask.tree.points);
    ask.rows.index32 = (uint32_t *)cuda_alloc(ctx, rows * row_bytes, "knn rows");
    mote_status status = place_of != NULL && ask.rows.index32 != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    ask.by_place = true;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += rows) {
        ask.first = (uint32_t)first;
        ask.end = (uint32_t)(points - first < rows ? points : first + rows);
        status = knn_cuda_search_many(ctx, &ask);
        if (status != MOTE_OK) break;
        if (shapes != NULL) launch_shapes(ctx, &ask, place_of, shapes);
        if (distances != NULL) launch_distances(ctx, &ask, place_of, distances);
        status = cuda_launched(ctx, "normals");
        if (status == MOTE_OK) status = mote_progress(ctx, (double)ask.end / (double)points, "searching neighbours");
    }
    cuda_free(ctx, ask.rows.index32);
    cuda_free(ctx, place_of);
    return status;
}

mote_status normals_cuda_shape_many(mote_context *ctx, const knn_cuda_ask *ask, const normals_cuda_shapes *to) {
    return by_rows(ctx, ask, to, NULL);
}

mote_status normals_cuda_measure_many(mote_context *ctx, const knn_cuda_ask *ask, const normals_cuda_distances *to) {
    return by_rows(ctx, ask, NULL, to);
}

/* ---- lists */

template <int KIND>
static __global__ __launch_bounds__(THREADS) void shape_lists(knn_cuda_ask ask, knn_cuda_lists lists,
                                                              const uint32_t *place_of, normals_cuda_shapes to) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x, place = ask.first + i;
    bool is_without = false;
    if (place < ask.end) {
        const uint64_t first = lists.first[i];
        const entry_list list = {lists.pairs.values + first, lists.index, place_of,
                                 (uint32_t)(lists.first[i + 1] - first)};
        is_without = normals_of_neighbours<KIND>(&ask.tree, &to, (uint32_t)place, list);
    }
    normals_count_without(&to, is_without, threadIdx.x % CUDA_WARP);
}

static mote_status shape_part(mote_context *ctx, const knn_cuda_ask *ask, const uint32_t *place_of,
                              const normals_cuda_shapes *to) {
    const uint32_t blocks = cuda_blocks(ask->end - ask->first, THREADS);
    knn_cuda_lists lists = {};
    mote_status status = knn_cuda_list_within(ctx, ask, &lists);
    if (status == MOTE_OK) {
        switch (ask->tree.metric.kind) {
        case KNN_INT: CUDA_LAUNCH(ctx, (shape_lists<KNN_INT>), blocks, THREADS, *ask, lists, place_of, *to); break;
        case KNN_FLOAT: CUDA_LAUNCH(ctx, (shape_lists<KNN_FLOAT>), blocks, THREADS, *ask, lists, place_of, *to); break;
        case KNN_DOUBLE:
            CUDA_LAUNCH(ctx, (shape_lists<KNN_DOUBLE>), blocks, THREADS, *ask, lists, place_of, *to);
            break;
        }
        status = cuda_launched(ctx, "normals");
    }
    knn_cuda_free_lists(ctx, &lists);
    return status;
}

mote_status normals_cuda_shape_all(mote_context *ctx, const knn_cuda_ask *given, uint32_t most,
                                   const normals_cuda_shapes *to) {
    knn_cuda_ask ask = *given;
    const uint64_t points = given->end;
    const uint64_t rows = points_at_once(ctx, KNN_CUDA_LISTED * (uint64_t)most, LIST_BYTES, points);
    uint32_t *const place_of = make_places(ctx, &ask.tree.points);
    mote_status status = place_of != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    ask.by_place = true;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += rows) {
        ask.first = (uint32_t)first;
        ask.end = (uint32_t)(points - first < rows ? points : first + rows);
        status = shape_part(ctx, &ask, place_of, to);
        if (status == MOTE_OK) status = mote_progress(ctx, (double)ask.end / (double)points, "searching neighbours");
    }
    cuda_free(ctx, place_of);
    return status;
}

/* ---- how many */

static __global__ void find_most(const uint32_t *numbers, uint64_t count, uint32_t *most) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t mine = i < count ? numbers[i] : 0;
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        const uint32_t other = __shfl_xor_sync(CUDA_ALL, mine, away);
        mine = other > mine ? other : mine;
    }
    if (threadIdx.x % CUDA_WARP == 0 && mine > *(volatile uint32_t *)most) atomicMax(most, mine);
}

mote_status normals_cuda_most(mote_context *ctx, const uint32_t *numbers, uint64_t count, uint32_t *most) {
    uint32_t *const device = (uint32_t *)cuda_alloc(ctx, sizeof *device, "neighbour counts");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, device, 0, sizeof *device);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, find_most, cuda_blocks(count, THREADS), THREADS, numbers, count, device);
        status = cuda_launched(ctx, "counting neighbours");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, most, device, sizeof *most);
    cuda_free(ctx, device);
    return status;
}
