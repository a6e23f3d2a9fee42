/* Shifted sorting on the device: what a search needs, and its steps. Without buckets all queries are asked in the cube
   itself. With buckets each is asked in one space; the orders of the spaces are made one after the other in the same
   memory. */
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

/* The next part of a buffer; only counts where the buffer is NULL. */
static void *part_of(void *buffer, uint64_t *used_bytes, uint64_t count, uint64_t each_bytes) {
    const uint64_t first = *used_bytes;
    *used_bytes = (first + count * each_bytes + 255) / 256 * 256;
    return buffer != NULL ? (uint8_t *)buffer + first : NULL;
}

/* Returns how many bytes it takes. */
static uint64_t lay_out(void *buffer, uint64_t points, uint64_t queries, bool own, bool buckets,
                        knn_shifted_memory *memory) {
    uint64_t used = 0;
    memory->world = (ordered_box *)part_of(buffer, &used, 1, sizeof(ordered_box));
    memory->space = (ordered_box *)part_of(buffer, &used, 1, sizeof(ordered_box));
    memory->cells = (uint64_t *)part_of(buffer, &used, points, sizeof(uint64_t));
    memory->query_cells = own ? memory->cells : (uint64_t *)part_of(buffer, &used, queries, sizeof(uint64_t));
    memory->curve = (uint32_t *)part_of(buffer, &used, points, sizeof(uint32_t));
    memory->sorted.keys = (uint64_t *)part_of(buffer, &used, points, sizeof(uint64_t));
    memory->sorted.other_keys = (uint64_t *)part_of(buffer, &used, points, sizeof(uint64_t));
    memory->sorted.values = (uint32_t *)part_of(buffer, &used, points, sizeof(uint32_t));
    memory->sorted.other_values = (uint32_t *)part_of(buffer, &used, points, sizeof(uint32_t));
    for (uint32_t s = 0; s < KNN_SHIFTS; s++) {
        memory->orders[s] = (uint32_t *)part_of(buffer, &used, points, sizeof(uint32_t));
    }
    memory->places = (uint4 *)part_of(buffer, &used, points, sizeof(uint4));
    memory->insertion_places = (uint4 *)part_of(buffer, &used, queries, sizeof(uint4));
    memory->spaces = buckets ? (uint8_t *)part_of(buffer, &used, queries, 1) : NULL;
    return used;
}

static mote_status reserve(mote_knn_index *index, const knn_cuda_query_set *query_set, bool buckets,
                           knn_shifted_memory *memory) {
    knn_cuda_buffer *const buffer = &index->cuda->shifted[0];
    const uint64_t points = index->cloud->count, queries = query_set->rows;
    const uint64_t size_bytes = lay_out(NULL, points, queries, query_set->own, buckets, memory);
    if (!knn_cuda_buffer_reserve(index->device, buffer, size_bytes, "shifted orders")) return MOTE_ERROR_MEMORY;
    lay_out(buffer->memory, points, queries, query_set->own, buckets, memory);
    return MOTE_OK;
}

/* ---- the steps */

/* The metric of keys, the normals and the limit: of ellipsoids as the exact search has them. */
static mote_status set_keys(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_query_set *query_set,
                            const mote_knn_params *params, knn_shifted_args *args) {
    knn_search_args exact;
    memset(&exact, 0, sizeof exact);
    exact.tree = *query_set->tree;
    exact.keys = args->metric;
    exact.limit = knn_key_limit(&args->metric, params->radius);
    if (params->compression > 1) MOTE_TRY(knn_cuda_normal_weight(index, queries, query_set, params, &exact));
    args->keys = exact.keys;
    args->limit = exact.limit;
    args->normals = exact.normals;
    args->normal_weight = exact.normal_weight;
    return MOTE_OK;
}

static mote_status search_space(mote_device *gpu, knn_shifted_args *args, uint32_t space) {
    args->space = space;
    MOTE_TRY(knn_shifted_make_orders(gpu, args));
    MOTE_TRY(knn_shifted_search(gpu, args));
    return mote_progress(gpu->ctx, 0.9 * (space + 1) / (KNN_PLAIN + 1), "searching neighbours");
}

static mote_status search_spaces(mote_device *gpu, knn_shifted_args *args) {
    if (args->memory.spaces != NULL) {
        CUDA_LAUNCH(gpu, find_spaces, cuda_blocks(args->query_count, THREADS), THREADS, args->normals,
                    args->query_count, args->queries.extent, args->memory.spaces);
        MOTE_TRY(cuda_launched(gpu, "spaces"));
        for (uint32_t space = 0; space < KNN_SPACES; space++) MOTE_TRY(search_space(gpu, args, space));
    }
    return search_space(gpu, args, KNN_PLAIN);
}

mote_status knn_cuda_search_shifted(mote_knn_index *index, const mote_cloud *queries,
                                    const knn_cuda_query_set *query_set, const mote_knn_params *params,
                                    const knn_cuda_rows *rows) {
    knn_shifted_args args;
    memset(&args, 0, sizeof args);
    args.metric = query_set->tree->metric;
    args.points = query_set->tree->points;
    args.queries = query_set->points;
    args.compression = params->compression;
    args.point_count = (uint32_t)index->cloud->count;
    args.query_count = (uint32_t)query_set->rows;
    args.k = params->k;
    args.beside = params->lambda * params->k;
    args.exclude_self = params->exclude_self && query_set->own;
    args.rows = *rows;
    MOTE_TRY(reserve(index, query_set, params->buckets, &args.memory));
    MOTE_TRY(set_keys(index, queries, query_set, params, &args));
    MOTE_TRY(
        knn_shifted_find_cells(index->device, &args, &index->cuda->cloud, query_set->own ? NULL : &query_set->cloud));
    return search_spaces(index->device, &args);
}
