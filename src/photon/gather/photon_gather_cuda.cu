/* Gathering on a GPU: rows of neighbours of some queries at a time, in the order of the curve, from each of which a
   warp makes an irradiance of the whole disc; then a lane for each query finds what of the disc is surface.

   row      [n0 n1 n2 ... ]     neighbours, nearest first
   front     1  0  1  ...       those that count, a bit each: lane j keeps the bits of n(32 j) to n(32 j + 31)

   Discs of which a wall cuts off something are collected, and searched for once more with rows: the cut says which of
   their photons count.

   Places whose k neighbours are not all from the front are searched once more with k + k/8 + 8, and those that still do
   not hold k with twice as many, up to the largest k. How many are searched for does not change the answer. */
#include "core/cloud.h"
#include "device/cuda/warp.cuh"
#include "knn/cuda/knn_visit_cuda.cuh"
#include "knn/knn.h"
#include "photon/gather/photon_gather_cuda.h"

/* A warp for each query, rows of 12 bytes for each neighbour; other numbers were not measured. */
struct gather_policy {
    static constexpr uint32_t threads = 128;
    static constexpr uint64_t row_bytes = 256ull << 20; /* of the rows that are in memory at once */
};

/* ---- queries: columns on the device */

mote_status photon_open_queries(mote_device *gpu, const mote_cloud *queries, device_cloud *device,
                                photon_query_columns *columns) {
    static const char *const names[3] = {"x", "y", "z"};
    const mote_column *normals[3];
    mote_column axes[PHOTON_QUERY_AXES];
    if (!knn_normals_of(queries, normals)) {
        return mote_fail(gpu->ctx, MOTE_ERROR_ARGUMENT,
                         "the queries have no normals: columns normal_x, normal_y, normal_z");
    }
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(queries, names[k]);
        if (axis == NULL) return mote_fail(gpu->ctx, MOTE_ERROR_ARGUMENT, "the queries have no column %s", names[k]);
        axes[k] = *axis;
        axes[3 + k] = *normals[k];
    }
    MOTE_TRY(device_cloud_open_columns(gpu, queries, axes, PHOTON_QUERY_AXES, device));
    memcpy(columns->axes, device->columns, sizeof columns->axes);
    return MOTE_OK;
}

/* ---- from a row to an irradiance */

typedef struct gather_args {
    const photon_record *records;
    photon_query_columns queries;
    const uint32_t *order; /* of the queries, by place */
    uint32_t first, end;   /* places whose rows these are */
    const uint32_t *index; /* [places][searched] */
    const double *distance2;
    uint32_t searched;
    mote_photon_gathering params;
    photon_filter_terms terms;
    double steps, share;
    float *irradiance;   /* [3 · queries], zeros */
    double *radius2;     /* [queries], zeros: of the disc */
    uint8_t *unresolved; /* [queries], zeros; NULL: this is the last search */
    uint8_t *is_cut;     /* [queries], zeros; out: a wall cuts off something of the disc; NULL: it is cut at once */
} gather_args;

/* Which of a row's neighbours count, k at most. Returns how many; *last: the place in the row of the last; *count: of
   all neighbours. */
static __device__ inline uint32_t find_front(const gather_args *args, const float normal[3], const uint32_t *index,
                                             const double *distance2, uint32_t *bits, uint32_t *last, uint32_t *count) {
    const uint32_t lane = warp_lane();
    uint32_t found = 0;
    *bits = *last = *count = 0;
    for (uint32_t first = 0; first < args->searched && found < args->params.k; first += CUDA_WARP) {
        const uint32_t neighbor = first + lane < args->searched ? index[first + lane] : UINT32_MAX;
        const bool exists = neighbor != UINT32_MAX;
        const bool counts =
            exists && photon_counts(&args->records[neighbor], normal, distance2[first + lane], args->params.area);
        const uint32_t all = __ballot_sync(CUDA_ALL, counts);
        const bool wanted = counts && found + warp_rank(all) < args->params.k;
        const uint32_t mine = __ballot_sync(CUDA_ALL, wanted);
        *count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, exists));
        found += (uint32_t)__popc(mine);
        if (mine != 0) *last = first + 31 - (uint32_t)__clz((int)mine);
        if (lane == first / CUDA_WARP) *bits = mine;
    }
    return found;
}

/* The sum over the neighbours with a bit, before a place in the row, that a cut keeps. */
static __device__ inline photon_power_sum sum_front(const gather_args *args, uint64_t row, const float normal[3],
                                                    const uint32_t *index, uint32_t bits, uint32_t end, double radius2,
                                                    const photon_cut *cut) {
    const uint32_t lane = warp_lane();
    photon_power_sum sum = {{0, 0, 0}};
    photon_summing by;
    by.terms = args->terms;
    by.disc = photon_float_disc_of(&args->terms, normal, radius2);
    by.steps = args->steps;
    for (int k = 0; k < 3; k++) by.place[k] = (float)column_value(&args->queries.axes[k], row);
    for (uint32_t first = 0; first < end; first += CUDA_WARP) {
        const uint32_t mine = warp_broadcast(bits, first / CUDA_WARP), i = first + lane;
        if (i >= end || (mine >> lane & 1) == 0) continue;
        const photon_record *const photon = &args->records[index[i]];
        if (photon_is_kept(cut, photon)) photon_sum_power(&sum, photon, &by);
    }
    __syncwarp();
    for (int k = 0; k < 3; k++) sum.steps[k] = warp_sum((unsigned long long)sum.steps[k]);
    return sum;
}

static __device__ inline photon_vec read_place(const gather_args *args, uint64_t row) {
    return photon_vec_of(column_value(&args->queries.axes[0], row), column_value(&args->queries.axes[1], row),
                         column_value(&args->queries.axes[2], row));
}

/* CUTS: what walls cut off does not count, and the irradiance is of the remainder; all lanes find it alike. */
template <bool CUTS>
static __global__ __launch_bounds__(gather_policy::threads) void gather_rows(const photon_view scene,
                                                                             const gather_args args) {
    const uint64_t at = (uint64_t)blockIdx.x * (gather_policy::threads / CUDA_WARP) + threadIdx.x / CUDA_WARP;
    if (args.first + at >= args.end) return;
    const uint64_t row = args.order[args.first + at];
    const uint32_t *const index = args.index + at * args.searched;
    const double *const distance2 = args.distance2 + at * args.searched;
    float normal[3], irradiance[3];
    uint32_t bits, last, count, counted;
    double radius2;
    photon_read_normal(&args.queries, row, normal);
    const uint32_t found = find_front(&args, normal, index, distance2, &bits, &last, &count);
    const bool complete = count < args.searched;
    if (found < args.params.k && !complete && args.unresolved != NULL) {
        if (warp_lane() == 0) args.unresolved[row] = 1;
        return;
    }
    const double last2 = found > 0 ? distance2[last] : 0;
    if (!photon_disc(found, args.params.k, complete, args.params.radius, last2, &counted, &radius2)) return;
    const uint32_t end = counted == found ? args.searched : last;
    photon_cut cut;
    cut.matters = false;
    const double part = CUTS ? photon_part_of(&scene, read_place(&args, row), normal, &args.params, radius2, &cut) : 1;
    const photon_power_sum sum = sum_front(&args, row, normal, index, bits, end, radius2, &cut);
    photon_irradiance_of(&sum, radius2, args.steps, args.share, irradiance);
    if (CUTS) photon_divide_by_part(part, irradiance);
    if (warp_lane() < 3) args.irradiance[3 * row + warp_lane()] = irradiance[warp_lane()];
    if (warp_lane() == 0) args.radius2[row] = radius2;
}

/* Divides by what of the disc is surface instead of all of it, for the queries whose rows these were. */
static __global__ __launch_bounds__(gather_policy::threads) void divide_by_parts(const photon_view scene,
                                                                                 const gather_args args) {
    const uint64_t at = (uint64_t)blockIdx.x * gather_policy::threads + threadIdx.x;
    if (args.first + at >= args.end) return;
    const uint64_t row = args.order[args.first + at];
    if (!(args.radius2[row] > 0)) return;
    float normal[3];
    photon_cut cut;
    photon_read_normal(&args.queries, row, normal);
    const double part = photon_part_of(&scene, read_place(&args, row), normal, &args.params, args.radius2[row], &cut);
    args.is_cut[row] = cut.matters;
    if (!cut.matters) photon_divide_by_part(part, args.irradiance + 3 * row);
}

/* ---- one search of all queries */

typedef struct gathering {
    mote_device *gpu;
    const photon_view *scene;
    photon_cloud *photons;
    const mote_photon_gathering *params;
    float *irradiance;
    double *radius2;
    uint8_t *unresolved;
    uint8_t *is_cut;   /* as in gather_args */
    uint32_t searched; /* 0: the k-th that counts is selected, without rows */
    bool selects;      /* where that can be done */
    bool resolved;     /* it was, and no query remains */
    bool is_first;     /* these are all queries that were asked for */
} gathering;

static mote_status make_search(const gathering *g, uint32_t k, const mote_cloud *queries,
                               const knn_cuda_query_set *query_set, knn_search_args *args) {
    mote_knn_params params = mote_knn_defaults();
    params.k = k;
    params.radius = g->params->radius;
    params.compression = g->params->compression;
    memset(args, 0, sizeof *args);
    args->tree = *query_set->tree;
    args->queries = query_set->points;
    args->end = query_set->points.count;
    args->k = k;
    args->keys = args->tree.metric;
    args->limit = knn_key_limit(&args->tree.metric, params.radius);
    args->by_place = true;
    args->deferred_buffers = &g->photons->index->cuda->deferred_buffers;
    if (!(params.compression > 1)) return MOTE_OK;
    return knn_cuda_normal_weight(g->photons->index, queries, query_set, &params, args);
}

static gather_args gather_args_of(const gathering *g, const photon_query_columns *columns,
                                  const knn_search_args *args) {
    gather_args to;
    memset(&to, 0, sizeof to);
    to.records = g->photons->records;
    to.queries = *columns;
    to.order = args->queries.order;
    to.index = args->rows.index32;
    to.distance2 = args->rows.distance2_wide;
    to.searched = g->searched;
    to.params = *g->params;
    to.terms = photon_filter_terms_of(g->params);
    to.steps = photon_sum_steps(g->photons->unit);
    to.share = g->photons->share;
    to.irradiance = g->irradiance;
    to.radius2 = g->radius2;
    to.unresolved = g->unresolved;
    to.is_cut = g->is_cut;
    return to;
}

static void launch_parts(const gathering *g, const gather_args *to) {
    CUDA_LAUNCH(g->gpu, divide_by_parts, cuda_blocks(to->end - to->first, gather_policy::threads),
                gather_policy::threads, *g->scene, *to);
}

/* Gathers by rows of neighbours, of some queries at a time. */
static mote_status gather_parts(const gathering *g, knn_search_args *args, gather_args *to, uint64_t queries,
                                uint64_t rows) {
    for (uint64_t first = 0; first < queries; first += rows) {
        args->first = to->first = (uint32_t)first;
        args->end = to->end = (uint32_t)(queries - first < rows ? queries : first + rows);
        MOTE_TRY(knn_cuda_search_large_k(g->gpu, args));
        const unsigned blocks = cuda_blocks(to->end - first, gather_policy::threads / CUDA_WARP);
        if (g->is_cut == NULL) {
            CUDA_LAUNCH(g->gpu, gather_rows<true>, blocks, gather_policy::threads, *g->scene, *to);
        } else {
            CUDA_LAUNCH(g->gpu, gather_rows<false>, blocks, gather_policy::threads, *g->scene, *to);
            launch_parts(g, to);
        }
        MOTE_TRY(cuda_launched(g->gpu, "gathering photons"));
        MOTE_TRY(mote_progress(g->gpu->ctx, (double)to->end / (double)queries, "gathering photons"));
    }
    return MOTE_OK;
}

static mote_status gather_rows_of(const gathering *g, knn_search_args *args, const photon_query_columns *columns,
                                  uint64_t queries) {
    mote_device *gpu = g->gpu;
    const uint64_t neighbor_bytes = sizeof(uint32_t) + sizeof(double);
    const uint64_t max_rows = gather_policy::row_bytes / (g->searched * neighbor_bytes) + 1;
    const uint64_t rows = queries < max_rows ? queries : max_rows;
    args->rows.index32 = (uint32_t *)cuda_alloc(gpu, rows * g->searched * sizeof(uint32_t), "photon rows");
    args->rows.distance2_wide = (double *)cuda_alloc(gpu, rows * g->searched * sizeof(double), "photon rows");
    gather_args to = gather_args_of(g, columns, args);
    mote_status status = to.index != NULL && to.distance2 != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = gather_parts(g, args, &to, queries, rows);
    cuda_free(gpu, args->rows.distance2_wide);
    cuda_free(gpu, args->rows.index32);
    return status;
}

/* Gathers without rows of neighbours, by selection. */
static mote_status gather_selected(gathering *g, const knn_search_args *args, const photon_query_columns *columns,
                                   uint64_t queries) {
    gather_args to = gather_args_of(g, columns, args);
    const photon_select_args select = {*columns, *g->params,    to.terms,   to.steps,
                                       to.share, g->irradiance, g->radius2, g->unresolved};
    uint32_t remaining = 0;
    uint32_t *const counted = (uint32_t *)cuda_alloc(g->gpu, sizeof *counted, "photon queries");
    if (counted == NULL) return MOTE_ERROR_MEMORY;
    to.end = (uint32_t)queries;
    mote_status status = photon_select_on_cuda(g->gpu, args, g->photons, &select, counted);
    if (status == MOTE_OK) {
        launch_parts(g, &to);
        status = cuda_launched(g->gpu, "gathering photons");
    }
    if (status == MOTE_OK) status = cuda_download(g->gpu, &remaining, counted, sizeof remaining);
    cuda_free(g->gpu, counted);
    g->resolved = remaining == 0;
    return status == MOTE_OK ? mote_progress(g->gpu->ctx, 1, "gathering photons") : status;
}

static mote_status gather_queries(gathering *g, const mote_cloud *queries, const photon_query_columns *columns,
                                  const knn_cuda_query_set *query_set) {
    knn_search_args args;
    if (g->selects) {
        MOTE_TRY(make_search(g, g->params->k, queries, query_set, &args));
        g->selects = photon_can_select(&args);
    }
    if (g->selects) {
        g->searched = 0;
        return gather_selected(g, &args, columns, query_set->rows);
    }
    MOTE_TRY(make_search(g, g->searched, queries, query_set, &args));
    return gather_rows_of(g, &args, columns, query_set->rows);
}

static mote_status search(gathering *g, const mote_cloud *queries, const photon_query_columns *columns) {
    knn_cuda_query_set query_set;
    mote_status status = knn_cuda_query_set_open(g->photons->index, queries, &query_set);
    if (status == MOTE_OK) status = gather_queries(g, queries, columns, &query_set);
    knn_cuda_query_set_close(g->gpu, &query_set);
    return status;
}

/* ---- queries whose neighbours came from behind: once more, with more of them */

#define FEW_QUERIES 4096u /* are searched for at once as far as it goes: each further search takes them as long */

/* First k, which most places do with: searches for 64, 128 and 256 are much faster than for a few more. */
static uint32_t next_search(uint32_t searched, uint32_t k, uint64_t queries) {
    const uint32_t more = photon_search_k(k), next = searched < more ? more : 2 * searched;
    return next < MOTE_KNN_MAX_K && queries > FEW_QUERIES ? next : MOTE_KNN_MAX_K;
}

static __global__ void copy_column(mote_column from, uint32_t value_bytes, const uint32_t *rows, uint64_t count,
                                   uint8_t *to) {
    const uint64_t i = (uint64_t)blockIdx.x * gather_policy::threads + threadIdx.x;
    if (i >= count) return;
    const uint8_t *at = (const uint8_t *)from.data + rows[i] * from.stride_bytes;
    for (uint32_t b = 0; b < value_bytes; b++) to[i * value_bytes + b] = at[b];
}

/* is_cut: NULL: there is none to copy */
static __global__ void copy_back(const float *irradiance, const double *radius2, const uint8_t *is_cut,
                                 const uint32_t *rows, uint64_t count, float *to_irradiance, double *to_radius2,
                                 uint8_t *to_is_cut) {
    const uint64_t i = (uint64_t)blockIdx.x * gather_policy::threads + threadIdx.x;
    if (i >= count) return;
    for (uint32_t k = 0; k < 3; k++) to_irradiance[3ull * rows[i] + k] = irradiance[3 * i + k];
    to_radius2[rows[i]] = radius2[i];
    if (is_cut != NULL) to_is_cut[rows[i]] = is_cut[i];
}

/* A cloud of some of the queries. memory: 8 bytes for each of their values, columns one behind the other. */
static mote_status wrap_subset(mote_device *gpu, const photon_query_columns *columns, const uint32_t *rows,
                               uint64_t count, uint8_t *memory, mote_cloud **out) {
    static const char *const names[PHOTON_QUERY_AXES] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    photon_query_columns subset = *columns;
    for (uint32_t i = 0; i < PHOTON_QUERY_AXES; i++) {
        uint8_t *const to = memory + i * count * sizeof(double);
        const uint32_t value_bytes = (uint32_t)mote_type_size(columns->axes[i].type);
        CUDA_LAUNCH(gpu, copy_column, cuda_blocks(count, gather_policy::threads), gather_policy::threads,
                    columns->axes[i], value_bytes, rows, count, to);
        subset.axes[i].name = names[i];
        subset.axes[i].data = to;
        subset.axes[i].stride_bytes = value_bytes;
    }
    MOTE_TRY(cuda_launched(gpu, "photon queries"));
    return mote_cloud_wrap_device(gpu->ctx, count, subset.axes, PHOTON_QUERY_AXES, out);
}

static mote_status gather_stage(gathering *g, const mote_cloud *queries);

static mote_status gather_again(const gathering *g, const photon_query_columns *columns, const uint32_t *rows,
                                uint64_t count, bool cuts_at_once) {
    mote_device *gpu = g->gpu;
    gathering again = *g;
    again.selects = again.resolved = again.is_first = false;
    mote_cloud *subset = NULL;
    uint8_t *const memory = (uint8_t *)cuda_alloc(gpu, PHOTON_QUERY_AXES * count * sizeof(double), "photon queries");
    again.irradiance = (float *)cuda_alloc(gpu, 3 * count * sizeof(float), "photon queries");
    again.radius2 = (double *)cuda_alloc(gpu, count * sizeof(double), "photon queries");
    if (cuts_at_once) {
        again.is_cut = NULL;
    } else {
        again.is_cut = (uint8_t *)cuda_alloc(gpu, count, "photon queries");
    }
    again.searched = next_search(g->searched, g->params->k, count);
    const bool complete =
        memory != NULL && again.irradiance != NULL && again.radius2 != NULL && (cuts_at_once || again.is_cut != NULL);
    mote_status status = complete ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = wrap_subset(gpu, columns, rows, count, memory, &subset);
    if (status == MOTE_OK) status = gather_stage(&again, subset);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, copy_back, cuda_blocks(count, gather_policy::threads), gather_policy::threads,
                    again.irradiance, again.radius2, again.is_cut, rows, count, g->irradiance, g->radius2, g->is_cut);
        status = cuda_launched(gpu, "gathering photons");
    }
    mote_cloud_destroy(subset);
    cuda_free(gpu, again.is_cut);
    cuda_free(gpu, again.radius2);
    cuda_free(gpu, again.irradiance);
    cuda_free(gpu, memory);
    return status;
}

/* Gathers again, with more neighbours, for the queries that are marked. */
static mote_status gather_marked(const gathering *g, const photon_query_columns *columns, const uint8_t *marks,
                                 uint64_t queries, bool cuts_at_once) {
    mote_device *gpu = g->gpu;
    uint64_t count = 0;
    uint32_t *const rows = (uint32_t *)cuda_alloc(gpu, queries * sizeof *rows, "photon queries");
    uint64_t *const found = (uint64_t *)cuda_alloc(gpu, sizeof *found, "photon queries");
    mote_status status = rows != NULL && found != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = cuda_select(gpu, marks, queries, rows, found);
    if (status == MOTE_OK) status = cuda_download(gpu, &count, found, sizeof count);
    if (status == MOTE_OK && count > 0) status = gather_again(g, columns, rows, count, cuts_at_once);
    cuda_free(gpu, found);
    cuda_free(gpu, rows);
    return status;
}

static mote_status gather_and_select(gathering *g, const mote_cloud *queries, const photon_query_columns *columns) {
    const uint64_t count = mote_cloud_count(queries);
    if (g->searched == MOTE_KNN_MAX_K) return search(g, queries, columns);
    g->unresolved = (uint8_t *)cuda_alloc(g->gpu, count, "photon queries");
    if (g->unresolved == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(g->gpu, g->unresolved, 0, count);
    if (status == MOTE_OK) status = search(g, queries, columns);
    if (status == MOTE_OK && !g->resolved) {
        status = gather_marked(g, columns, g->unresolved, count, g->is_cut == NULL);
    }
    cuda_free(g->gpu, g->unresolved);
    return status;
}

static mote_status gather_opened(gathering *g, const mote_cloud *queries, const photon_query_columns *columns) {
    const uint64_t count = mote_cloud_count(queries);
    MOTE_TRY(cuda_fill(g->gpu, g->irradiance, 0, 3 * count * sizeof *g->irradiance));
    MOTE_TRY(cuda_fill(g->gpu, g->radius2, 0, count * sizeof *g->radius2));
    if (g->is_cut != NULL) MOTE_TRY(cuda_fill(g->gpu, g->is_cut, 0, count));
    return gather_and_select(g, queries, columns);
}

/* Gathers for all queries with g->searched neighbours each, then with more for those that this does not resolve. */
static mote_status gather_stage(gathering *g, const mote_cloud *queries) {
    device_cloud device;
    photon_query_columns columns;
    memset(&device, 0, sizeof device);
    g->unresolved = NULL;
    mote_status status = photon_open_queries(g->gpu, queries, &device, &columns);
    if (status == MOTE_OK) status = gather_opened(g, queries, &columns);
    /* Only when all are resolved: the stages of those that were not have copied their marks here. */
    if (status == MOTE_OK && g->is_first && g->params->area == MOTE_PHOTON_AREA_SURFACE) {
        status = gather_marked(g, &columns, g->is_cut, mote_cloud_count(queries), true);
    }
    device_cloud_close(&device);
    return status;
}

static mote_status gather_first(gathering *g, const mote_cloud *queries) {
    const uint64_t count = mote_cloud_count(queries);
    double *const own = g->radius2 == NULL ? (double *)cuda_alloc(g->gpu, count * sizeof *own, "photon queries") : NULL;
    if (g->radius2 == NULL) g->radius2 = own;
    g->is_cut = (uint8_t *)cuda_alloc(g->gpu, count, "photon queries");
    mote_status status = g->radius2 != NULL && g->is_cut != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = gather_stage(g, queries);
    cuda_free(g->gpu, g->is_cut);
    cuda_free(g->gpu, own);
    return status;
}

mote_status photon_gather_on_cuda(mote_device *gpu, mote_scene *scene, photon_cloud *photons, const mote_cloud *queries,
                                  const mote_photon_gathering *params, float *irradiance, double *radius2) {
    if (mote_cloud_count(queries) == 0) return MOTE_OK;
    MOTE_TRY(photon_open_scene_on_cuda(gpu, scene));
    gathering g;
    memset(&g, 0, sizeof g);
    g.gpu = gpu;
    g.scene = &scene->cuda->view;
    g.photons = photons;
    g.params = params;
    g.irradiance = irradiance;
    g.radius2 = radius2;
    /* Photons that are asked for find themselves, which do not count: k are too few for all of them. */
    g.searched = mote_cloud_find(queries, "bounce") != NULL ? photon_search_k(params->k) : params->k;
    g.selects = g.is_first = true;
    return gather_first(&g, queries);
}
