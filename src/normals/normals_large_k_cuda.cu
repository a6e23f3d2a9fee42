/* Normals and mean distances of more than 16 neighbours, from rows or lists of some points at a time. */
#include "device/cuda/warp.cuh"
#include "normals/normals_point_cuda.cuh"

/* A row or list for each thread; other numbers were not measured. */
struct rows_policy {
    static constexpr uint32_t threads = 128;
    static constexpr uint64_t row_bytes = 128ull << 20;  /* of the rows that are in memory at once */
    static constexpr uint64_t list_bytes = 640ull << 20; /* of the lists; a point of very many may need more */
};

/* How many points go together, at bytes_each for their neighbours: what a part may take, or half of the free memory,
   for sorts need as much again. */
static uint64_t points_at_once(mote_device *gpu, uint64_t point_bytes, uint64_t max_bytes, uint64_t points) {
    const uint64_t spare_bytes = cuda_available(gpu) / 2, bytes = spare_bytes < max_bytes ? spare_bytes : max_bytes;
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

static __device__ inline row_list row_of(const knn_search_args *args, const uint32_t *place_of, uint64_t row) {
    row_list list = {args->rows.index32 + row * args->k, place_of, args->k};
    while (list.count > 0 && list.index[list.count - 1] == UINT32_MAX) list.count--;
    return list;
}

struct entry_list {
    const uint32_t *entries, *index, *place_of;
    uint32_t count;

    __device__ inline uint32_t at(uint32_t i) const { return __ldg(place_of + index[entries[i]]); }
};

static __global__ void find_places(const uint32_t *order, uint32_t count, uint32_t *place_of) {
    const uint64_t i = (uint64_t)blockIdx.x * rows_policy::threads + threadIdx.x;
    if (i < count) place_of[order[i]] = (uint32_t)i;
}

/* The sorted place of each point: device memory for cuda_free; NULL, and the failure noted, if there is none. */
static uint32_t *make_places(mote_device *gpu, const knn_cuda_points *points) {
    uint32_t *const place_of = (uint32_t *)cuda_alloc(gpu, (uint64_t)points->count * sizeof *place_of, "places");
    if (place_of == NULL) return NULL;
    CUDA_LAUNCH(gpu, find_places, cuda_blocks(points->count, rows_policy::threads), rows_policy::threads, points->order,
                points->count, place_of);
    return place_of;
}

/* ---- rows */

template <int KIND>
static __global__ __launch_bounds__(rows_policy::threads) void shape_rows(knn_search_args args,
                                                                          const uint32_t *place_of,
                                                                          normals_cuda_shapes to) {
    const uint64_t i = (uint64_t)blockIdx.x * rows_policy::threads + threadIdx.x, place = args.first + i;
    bool is_without = false;
    if (place < args.end) {
        is_without = normals_of_neighbours<KIND>(&args.tree, &to, (uint32_t)place, row_of(&args, place_of, i));
    }
    normals_count_without(&to, is_without, threadIdx.x % CUDA_WARP);
}

template <int KIND>
static __global__ __launch_bounds__(rows_policy::threads) void measure_rows(knn_search_args args,
                                                                            const uint32_t *place_of,
                                                                            normals_cuda_distances to) {
    const uint64_t i = (uint64_t)blockIdx.x * rows_policy::threads + threadIdx.x, place = args.first + i;
    if (place < args.end) normals_distance_of<KIND>(&args.tree, &to, (uint32_t)place, row_of(&args, place_of, i));
}

static void launch_shapes(mote_device *gpu, const knn_search_args *args, const uint32_t *place_of,
                          const normals_cuda_shapes *to) {
    const uint32_t blocks = cuda_blocks(args->end - args->first, rows_policy::threads);
    knn_for_kind(args->tree.metric.kind, [&](auto of) {
        CUDA_LAUNCH(gpu, (shape_rows<of.kind>), blocks, rows_policy::threads, *args, place_of, *to);
    });
}

static void launch_distances(mote_device *gpu, const knn_search_args *args, const uint32_t *place_of,
                             const normals_cuda_distances *to) {
    const uint32_t blocks = cuda_blocks(args->end - args->first, rows_policy::threads);
    knn_for_kind(args->tree.metric.kind, [&](auto of) {
        CUDA_LAUNCH(gpu, (measure_rows<of.kind>), blocks, rows_policy::threads, *args, place_of, *to);
    });
}

/* Rows of the points of one part after the other, and what is made of each. One of shapes and distances is NULL. */
static mote_status by_rows(mote_device *gpu, const knn_search_args *given, const normals_cuda_shapes *shapes,
                           const normals_cuda_distances *distances) {
    knn_search_args args = *given;
    const uint64_t row_bytes = (uint64_t)args.k * sizeof(uint32_t), points = given->end;
    const uint64_t rows = points_at_once(gpu, row_bytes, rows_policy::row_bytes, points);
    uint32_t *const place_of = make_places(gpu, &args.tree.points);
    args.rows.index32 = (uint32_t *)cuda_alloc(gpu, rows * row_bytes, "knn rows");
    mote_status status = place_of != NULL && args.rows.index32 != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    args.by_place = true;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += rows) {
        args.first = (uint32_t)first;
        args.end = (uint32_t)(points - first < rows ? points : first + rows);
        status = knn_cuda_search_large_k(gpu, &args);
        if (status != MOTE_OK) break;
        if (shapes != NULL) launch_shapes(gpu, &args, place_of, shapes);
        if (distances != NULL) launch_distances(gpu, &args, place_of, distances);
        status = cuda_launched(gpu, "normals");
        if (status == MOTE_OK)
            status = mote_progress(gpu->ctx, (double)args.end / (double)points, "searching neighbours");
    }
    cuda_free(gpu, args.rows.index32);
    cuda_free(gpu, place_of);
    return status;
}

mote_status normals_cuda_shape_large_k(mote_device *gpu, const knn_search_args *args, const normals_cuda_shapes *to) {
    return by_rows(gpu, args, to, NULL);
}

mote_status normals_cuda_measure_large_k(mote_device *gpu, const knn_search_args *args,
                                         const normals_cuda_distances *to) {
    return by_rows(gpu, args, NULL, to);
}

/* ---- lists */

template <int KIND>
static __global__ __launch_bounds__(rows_policy::threads) void shape_lists(knn_search_args args, knn_cuda_lists lists,
                                                                           const uint32_t *place_of,
                                                                           normals_cuda_shapes to) {
    const uint64_t i = (uint64_t)blockIdx.x * rows_policy::threads + threadIdx.x, place = args.first + i;
    bool is_without = false;
    if (place < args.end) {
        const uint64_t first = lists.first[i];
        const entry_list list = {lists.pairs.values + first, lists.index, place_of,
                                 (uint32_t)(lists.first[i + 1] - first)};
        is_without = normals_of_neighbours<KIND>(&args.tree, &to, (uint32_t)place, list);
    }
    normals_count_without(&to, is_without, threadIdx.x % CUDA_WARP);
}

static mote_status shape_part(mote_device *gpu, const knn_search_args *args, const uint32_t *place_of,
                              const normals_cuda_shapes *to) {
    const uint32_t blocks = cuda_blocks(args->end - args->first, rows_policy::threads);
    knn_cuda_lists lists = {};
    mote_status status = knn_cuda_list_within(gpu, args, &lists);
    if (status == MOTE_OK) {
        knn_for_kind(args->tree.metric.kind, [&](auto of) {
            CUDA_LAUNCH(gpu, (shape_lists<of.kind>), blocks, rows_policy::threads, *args, lists, place_of, *to);
        });
        status = cuda_launched(gpu, "normals");
    }
    knn_cuda_free_lists(gpu, &lists);
    return status;
}

mote_status normals_cuda_shape_all(mote_device *gpu, const knn_search_args *given, uint32_t max,
                                   const normals_cuda_shapes *to) {
    knn_search_args args = *given;
    const uint64_t points = given->end;
    const uint64_t rows = points_at_once(gpu, KNN_CUDA_LISTED * (uint64_t)max, rows_policy::list_bytes, points);
    uint32_t *const place_of = make_places(gpu, &args.tree.points);
    mote_status status = place_of != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    args.by_place = true;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += rows) {
        args.first = (uint32_t)first;
        args.end = (uint32_t)(points - first < rows ? points : first + rows);
        status = shape_part(gpu, &args, place_of, to);
        if (status == MOTE_OK)
            status = mote_progress(gpu->ctx, (double)args.end / (double)points, "searching neighbours");
    }
    cuda_free(gpu, place_of);
    return status;
}

/* ---- how many */

static __global__ void find_max(const uint32_t *numbers, uint64_t count, uint32_t *max) {
    const uint64_t i = (uint64_t)blockIdx.x * rows_policy::threads + threadIdx.x;
    const uint32_t mine = warp_max(i < count ? numbers[i] : 0);
    if (threadIdx.x % CUDA_WARP == 0 && mine > *(volatile uint32_t *)max) atomicMax(max, mine);
}

mote_status normals_cuda_max(mote_device *gpu, const uint32_t *numbers, uint64_t count, uint32_t *max) {
    uint32_t *const device = (uint32_t *)cuda_alloc(gpu, sizeof *device, "neighbour counts");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(gpu, device, 0, sizeof *device);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, find_max, cuda_blocks(count, rows_policy::threads), rows_policy::threads, numbers, count,
                    device);
        status = cuda_launched(gpu, "counting neighbours");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, max, device, sizeof *max);
    cuda_free(gpu, device);
    return status;
}
