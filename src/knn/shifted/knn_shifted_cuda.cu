/* Shifted sorting on the device: what a search needs, and its steps. Without buckets all queries are asked in the cube
   itself. With buckets each is asked in one space; the orders of the spaces are made one after the other in the same
   memory. Candidates of a query are the points of its four windows, each once. */
#include "knn/cuda/search/knn_offered_cuda.cuh"
#include "knn/shifted/knn_shifted_cuda.cuh"

#define THREADS 256u

static __global__ void find_spaces(const double *normals, uint64_t count, const knn_cuda_extent *queries,
                                   uint8_t *spaces) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= count) return;
    const double normal[3] = {normals[3 * place], normals[3 * place + 1], normals[3 * place + 2]};
    spaces[place] = (uint8_t)(place < queries->finite ? knn_space_of(normal) : KNN_PLAIN);
}

/* ---- memory */

/* Returns how many bytes it takes. */
static uint64_t lay_out(void *buffer, uint64_t points, uint64_t queries, bool own, bool buckets,
                        knn_shifted_memory *memory) {
    uint64_t used = 0;
    memory->world = (ordered_box *)knn_cuda_part(buffer, &used, 1, sizeof(ordered_box));
    memory->space = (ordered_box *)knn_cuda_part(buffer, &used, 1, sizeof(ordered_box));
    memory->cells = (uint64_t *)knn_cuda_part(buffer, &used, points, sizeof(uint64_t));
    memory->query_cells = own ? memory->cells : (uint64_t *)knn_cuda_part(buffer, &used, queries, sizeof(uint64_t));
    memory->curve = (uint32_t *)knn_cuda_part(buffer, &used, points, sizeof(uint32_t));
    memory->sorted.keys = (uint64_t *)knn_cuda_part(buffer, &used, points, sizeof(uint64_t));
    memory->sorted.other_keys = (uint64_t *)knn_cuda_part(buffer, &used, points, sizeof(uint64_t));
    memory->sorted.values = (uint32_t *)knn_cuda_part(buffer, &used, points, sizeof(uint32_t));
    memory->sorted.other_values = (uint32_t *)knn_cuda_part(buffer, &used, points, sizeof(uint32_t));
    for (uint32_t s = 0; s < KNN_SHIFTS; s++) {
        memory->orders[s] = (uint32_t *)knn_cuda_part(buffer, &used, points, sizeof(uint32_t));
    }
    memory->places = (uint4 *)knn_cuda_part(buffer, &used, points, sizeof(uint4));
    memory->insertion_places = (uint4 *)knn_cuda_part(buffer, &used, queries, sizeof(uint4));
    memory->spaces = buckets ? (uint8_t *)knn_cuda_part(buffer, &used, queries, 1) : NULL;
    return used;
}

static mote_status reserve(mote_knn_index *index, const knn_cuda_query_set *query_set, bool buckets,
                           knn_shifted_memory *memory) {
    knn_cuda_buffer *const buffer = &index->cuda->shifted;
    const uint64_t points = index->cloud->count, queries = query_set->rows;
    const uint64_t size_bytes = lay_out(NULL, points, queries, query_set->own, buckets, memory);
    if (!knn_cuda_buffer_reserve(index->device, buffer, size_bytes, "shifted orders")) return MOTE_ERROR_MEMORY;
    lay_out(buffer->memory, points, queries, query_set->own, buckets, memory);
    return MOTE_OK;
}

/* ---- candidates */

/* A query's windows. */
typedef struct four_windows {
    uint32_t first[KNN_SHIFTS], count[KNN_SHIFTS];
} four_windows;

struct shifted_points {
    static constexpr uint32_t windows = KNN_SHIFTS;
    typedef four_windows query;
    knn_shifted_memory memory;
    uint32_t space, beside;

    __device__ inline bool wants(uint32_t place) const {
        return memory.spaces == NULL || memory.spaces[place] == space;
    }

    __device__ inline query begin(const knn_search_args *args, uint32_t place) const {
        const uint4 stands = __ldg(memory.insertion_places + place);
        const uint32_t insertion_places[KNN_SHIFTS] = {stands.x, stands.y, stands.z, stands.w};
        four_windows of;
#pragma unroll
        for (uint32_t s = 0; s < KNN_SHIFTS; s++) {
            uint32_t end;
            knn_shifted_window(insertion_places[s], beside, args->tree.points.extent->finite, &of.first[s], &end);
            of.count[s] = end - of.first[s];
        }
        return of;
    }

    __device__ inline knn_window window(const query *of, uint32_t w) const {
        knn_window found = {0, 0};
#pragma unroll
        for (uint32_t s = 0; s < KNN_SHIFTS; s++) { /* in registers, whichever it is */
            if (s == w) found = {of->first[s], of->first[s] + of->count[s]};
        }
        return found;
    }

    __device__ inline uint32_t point(const query *of, uint32_t w, uint32_t i) const {
        const uint32_t point = __ldg(memory.orders[w] + i);
        const uint4 places = __ldg(memory.places + point);
        const bool was_seen = (w > 0 && places.x - of->first[0] < of->count[0]) ||
                              (w > 1 && places.y - of->first[1] < of->count[1]) ||
                              (w > 2 && places.z - of->first[2] < of->count[2]);
        return was_seen ? UINT32_MAX : point;
    }
};

/* ---- the steps */

static mote_status search_space(mote_device *gpu, knn_shifted_args *args, uint32_t space) {
    args->space = space;
    MOTE_TRY(knn_shifted_make_orders(gpu, args));
    const shifted_points points = {args->memory, space, args->beside};
    MOTE_TRY(knn_search_offered(gpu, &args->search, &points));
    return mote_progress(gpu->ctx, 0.9 * (space + 1) / (KNN_PLAIN + 1), "searching neighbours");
}

static mote_status search_spaces(mote_device *gpu, knn_shifted_args *args) {
    if (args->memory.spaces != NULL) {
        CUDA_LAUNCH(gpu, find_spaces, cuda_blocks(args->query_count, THREADS), THREADS, args->search.normals,
                    args->query_count, args->search.queries.extent, args->memory.spaces);
        MOTE_TRY(cuda_launched(gpu, "spaces"));
        for (uint32_t space = 0; space < KNN_SPACES; space++) MOTE_TRY(search_space(gpu, args, space));
    }
    return search_space(gpu, args, KNN_PLAIN);
}

mote_status knn_cuda_search_shifted(mote_knn_index *index, const knn_cuda_query_set *query_set,
                                    const mote_knn_params *params, const knn_search_args *search) {
    knn_shifted_args args;
    memset(&args, 0, sizeof args);
    args.search = *search;
    args.point_count = (uint32_t)index->cloud->count;
    args.query_count = (uint32_t)query_set->rows;
    args.beside = params->lambda * params->k;
    MOTE_TRY(reserve(index, query_set, params->buckets, &args.memory));
    MOTE_TRY(
        knn_shifted_find_cells(index->device, &args, &index->cuda->cloud, query_set->own ? NULL : &query_set->cloud));
    return search_spaces(index->device, &args);
}
