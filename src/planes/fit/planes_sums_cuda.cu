/* Which points belong to which plane, and their sums, on the GPU. A block has 256 consecutive points and looks only at
   planes that its box comes near to: that changes no answer. Sums are whole numbers, so atomics add them up in any
   order; several copies of them keep blocks out of each other's way. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS  PLANES_CUDA_BLOCK
#define WARPS    (THREADS / CUDA_WARP)
#define LIST_MAX 4096u /* planes: of a call at most; MOTE_PLANES_MAX */
#define COPIES   32u   /* of the sums */
#define COPIED   8192u /* planes of all copies */

/* The words of planes_sums, all of 64 bits, in its order. */
typedef struct sums_word {
    unsigned long long word[sizeof(planes_sums) / 8];
} sums_word;
enum { WORD_COUNT, WORD_OWN, WORD_INNER, WORD_IN_BANDS, WORD_FIRST = 5, WORD_LOW = 8, WORD_HIGH = 14, WORDS = 20 };
static_assert(sizeof(planes_sums) == WORDS * 8, "sums are whole words");

/* ---- planes near a block */

/* Lists the planes near the block, ascending; all threads of the block come. Returns how many. */
static __device__ uint32_t list_near(const planes_plane *planes, uint32_t count, const planes_box *boxes,
                                     float tolerances, uint16_t *list) {
    __shared__ uint32_t of_warp[WARPS];
    const planes_box box = boxes[blockIdx.x];
    uint32_t found = 0;
    for (uint32_t first = 0; first < count; first += THREADS) {
        const uint32_t i = first + threadIdx.x;
        const bool near = i < count && planes_box_is_near(&planes[i], &box, tolerances);
        const uint32_t place = block_append<WARPS>(near, of_warp, &found);
        if (near) list[place] = (uint16_t)i;
        __syncthreads();
    }
    return found;
}

static __device__ inline planes_cuda_point point_at(const planes_cuda_point *points, uint32_t i) {
    const uint4 raw = *(const uint4 *)(const void *)&points[i];
    planes_cuda_point point;
    memcpy(&point, &raw, sizeof point);
    return point;
}

/* ---- adding up */

static __device__ inline void add_word(unsigned long long *to, uint64_t value) {
    if (value != 0) atomicAdd(to, (unsigned long long)value);
}

/* Adds a value of each point; lane k keeps the k-th sum of the warp's, and adds it. kept: of the lanes from 9 on. */
static __device__ void add_values(const int64_t of_point[9], int64_t kept, unsigned long long *to) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
#pragma unroll
    for (uint32_t k = 0; k < 9; k++) {
        const int64_t sum = warp_sum(of_point[k]);
        if (lane == k) kept = sum;
    }
    if (lane < 3) {
        add_word(&to[WORD_FIRST + lane], (uint64_t)kept);
    } else if (lane < 9) {
        add_word(&to[WORD_LOW + lane - 3], (uint64_t)kept & 0xFFFFFFFFu);
        add_word(&to[WORD_HIGH + lane - 3], (uint64_t)(kept >> 32));
    } else if (lane < 12) {
        add_word(&to[WORD_COUNT + lane - 9], (uint64_t)kept);
    }
}

/* Adds the points of a warp that are mine; products of 32 points fit. */
static __device__ void add_points(const planes_cuda_point *point, bool mine, bool own, bool inner,
                                  unsigned long long *to) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const uint32_t count = (uint32_t)__popc(__ballot_sync(CUDA_ALL, mine));
    const uint32_t owned = (uint32_t)__popc(__ballot_sync(CUDA_ALL, mine && own));
    const uint32_t within = (uint32_t)__popc(__ballot_sync(CUDA_ALL, mine && own && inner));
    const int64_t x = mine ? (int64_t)point->x : 0, y = mine ? (int64_t)point->y : 0, z = mine ? (int64_t)point->z : 0;
    const int64_t of_point[9] = {x, y, z, x * x, x * y, x * z, y * y, y * z, z * z};
    add_values(of_point, lane == 9 ? count : lane == 10 ? owned : within, to);
}

/* Adds the points of a warp, each times its weight. */
static __device__ void add_weighted(const planes_cuda_point *point, int32_t weight, unsigned long long *to) {
    const int64_t count = warp_sum((int64_t)weight);
    const int64_t x = (int64_t)point->x, y = (int64_t)point->y, z = (int64_t)point->z;
    const int64_t u = weight * x, v = weight * y, w = weight * z;
    const int64_t of_point[9] = {u, v, w, u * x, u * y, u * z, v * y, v * z, w * z};
    add_values(of_point, threadIdx.x % CUDA_WARP == 9 ? count : 0, to);
}

/* Adds up what points of a warp carry, one label after the other. All lanes come. */
static __device__ void add_labels(const planes_cuda_point *point, int32_t label, bool own, bool inner,
                                  sums_word *sums) {
    for (uint32_t rest = __ballot_sync(CUDA_ALL, label >= 0), same; rest != 0; rest &= ~same) {
        const int32_t number = warp_value_of(rest, label, &same);
        add_points(point, label == number, own, inner, sums[number].word);
    }
}

/* Points of no plane, in the bands beside those that are near. */
static __device__ void add_bands(const planes_plane *planes, const uint16_t *list, uint32_t near,
                                 const planes_cuda_point *point, bool stray, sums_word *sums) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    if (!__any_sync(CUDA_ALL, stray)) return;
    for (uint32_t k = 0; k < near; k++) {
        const planes_plane plane = planes[list[k]];
        const float distance = planes_distance(&plane, point->x, point->y, point->z);
        const bool beside = stray && planes_reaches(&plane, point->x, point->y, point->z);
        const planes_band band = beside ? planes_band_of(&plane, distance) : PLANES_FAR;
        const uint32_t below = __ballot_sync(CUDA_ALL, band == PLANES_BELOW);
        const uint32_t above = __ballot_sync(CUDA_ALL, band == PLANES_ABOVE);
        if (lane < 2) add_word(&sums[list[k]].word[WORD_IN_BANDS + lane], (uint64_t)__popc(lane == 0 ? below : above));
    }
}

static __global__ void sum_planes(const planes_cuda_point *points, const planes_box *boxes, uint32_t point_count,
                                  const planes_plane *planes, uint32_t count, uint32_t copies, sums_word *sums) {
    __shared__ uint16_t list[LIST_MAX];
    const uint32_t near = list_near(planes, count, boxes, 3.0f, list);
    if (near == 0) return;
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const bool any = i < point_count;
    const planes_cuda_point point = point_at(points, any ? i : point_count - 1);
    planes_nearest found = planes_nearest_of(planes, list, near, point.x, point.y, point.z, point.normal);
    if (!any) found.best = -1;
    sums_word *mine = sums + (uint64_t)(blockIdx.x % copies) * count;
    const bool inner = found.best >= 0 && fabsf(found.distance) <= 0.5f * planes[found.best].tolerance;
    add_labels(&point, found.best, found.first == found.best, inner, mine);
    add_bands(planes, list, near, &point, any && found.best < 0, mine);
}

/* Sums points up by label, one label of the warp after the other. mixtures: by their likelihood; NULL: each once */
static __global__ void sum_weighted(const planes_cuda_point *points, const int32_t *label, const uint8_t *odds,
                                    uint32_t point_count, const planes_mixture *mixtures, uint32_t count,
                                    uint32_t copies, sums_word *sums) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const bool any = i < point_count;
    const planes_cuda_point point = point_at(points, any ? i : point_count - 1);
    const int32_t mine = any ? label[i] : -1;
    int32_t weight = mine >= 0;
    if (mine >= 0 && mixtures != NULL) {
        const planes_mixture *m = &mixtures[mine];
        weight = planes_weight(m, planes_distance(&m->plane, point.x, point.y, point.z), odds[i]);
    }
    sums_word *to = sums + (uint64_t)(blockIdx.x % copies) * count;
    for (uint32_t rest = __ballot_sync(CUDA_ALL, weight > 0), same; rest != 0; rest &= ~same) {
        const int32_t number = warp_value_of(rest, mine, &same);
        add_weighted(&point, mine == number ? weight : 0, to[number].word);
    }
}

/* The copies become one, the first. */
static __global__ void join_copies(sums_word *sums, uint32_t count, uint32_t copies) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, words = count * WORDS;
    if (i >= words) return;
    unsigned long long *word = &sums[0].word[0], all = 0;
    for (uint32_t c = 0; c < copies; c++) all += word[(uint64_t)c * words + i];
    word[i] = all;
}

/* What is to be summed up, on the device: by plane; by likelihood; both NULL: by label. */
typedef struct summed {
    const planes_plane *planes;
    const planes_mixture *mixtures;
} summed;

static mote_status upload_planes(mote_device *gpu, const planes_plane *planes, uint32_t count, planes_plane **device) {
    *device = NULL;
    if (count > LIST_MAX) return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "%u planes are too many", count);
    *device = (planes_plane *)cuda_alloc(gpu, count * sizeof **device, "planes found");
    return *device != NULL ? cuda_upload(gpu, *device, planes, count * sizeof **device) : MOTE_ERROR_MEMORY;
}

static mote_status sum_into(const planes_cuda *p, const summed *of, uint32_t count, uint32_t copies, sums_word *words,
                            planes_sums *sums) {
    mote_device *gpu = p->base.device;
    MOTE_TRY(cuda_fill(gpu, words, 0, (uint64_t)copies * count * sizeof *words));
    if (of->planes != NULL) {
        CUDA_LAUNCH(gpu, sum_planes, p->block_count, THREADS, p->points, p->boxes, p->base.count, of->planes, count,
                    copies, words);
    } else {
        CUDA_LAUNCH(gpu, sum_weighted, p->block_count, THREADS, p->points, p->label, p->free_points, p->base.count,
                    of->mixtures, count, copies, words);
    }
    if (copies > 1) CUDA_LAUNCH(gpu, join_copies, cuda_blocks(count * WORDS, THREADS), THREADS, words, count, copies);
    MOTE_TRY(cuda_launched(gpu, "sums of planes"));
    return cuda_download(gpu, sums, words, count * sizeof *sums);
}

static mote_status sum(const planes_cuda *p, const summed *of, uint32_t count, planes_sums *sums) {
    mote_device *gpu = p->base.device;
    memset(sums, 0, count * sizeof *sums);
    if (count == 0 || p->base.count == 0) return MOTE_OK;
    uint32_t copies = COPIED / count < COPIES ? COPIED / count : COPIES;
    if (copies > p->block_count) copies = p->block_count;
    if (copies < 1) copies = 1;
    sums_word *words = (sums_word *)cuda_alloc(gpu, (uint64_t)copies * count * sizeof *words, "planes sums");
    if (words == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = sum_into(p, of, count, copies, words, sums);
    cuda_free(gpu, words);
    return status;
}

static mote_status sum_nearest(planes_points *points, const planes_plane *planes, uint32_t count, planes_sums *sums) {
    planes_plane *device = NULL;
    mote_status status = upload_planes(points->device, planes, count, &device);
    const summed of = {device, NULL};
    if (status == MOTE_OK) status = sum(planes_on_cuda(points), &of, count, sums);
    cuda_free(points->device, device);
    return status;
}

static mote_status sum_labelled(planes_points *points, const planes_mixture *mixtures, uint32_t count,
                                planes_sums *sums) {
    mote_device *gpu = points->device;
    summed of = {NULL, NULL};
    if (mixtures == NULL) return sum(planes_on_cuda(points), &of, count, sums);
    planes_mixture *device = (planes_mixture *)cuda_alloc(gpu, count * sizeof *device, "planes found");
    mote_status status =
        device != NULL ? cuda_upload(gpu, device, mixtures, count * sizeof *device) : MOTE_ERROR_MEMORY;
    of.mixtures = device;
    if (status == MOTE_OK) status = sum(planes_on_cuda(points), &of, count, sums);
    cuda_free(gpu, device);
    return status;
}

/* ---- labels */

static __global__ void label_points(const planes_cuda_point *points, const planes_box *boxes, uint32_t point_count,
                                    const planes_plane *planes, uint32_t count, int32_t *label, uint8_t *free_points,
                                    uint32_t *block_free) {
    __shared__ uint16_t list[LIST_MAX];
    const uint32_t near = list_near(planes, count, boxes, 1.0f, list);
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const bool any = i < point_count;
    const planes_cuda_point point = point_at(points, any ? i : point_count - 1);
    bool held = false;
    for (uint32_t k = 0; k < near && !held; k++) {
        const planes_plane plane = planes[list[k]];
        const float distance = planes_distance(&plane, point.x, point.y, point.z);
        held = planes_holds(&plane, distance, plane.guard, point.x, point.y, point.z, point.normal);
    }
    if (any) {
        label[i] = planes_nearest_of(planes, list, near, point.x, point.y, point.z, point.normal).best;
        free_points[i] = !held;
    }
    const int found = __syncthreads_count(any && !held);
    if (threadIdx.x == 0) block_free[blockIdx.x] = (uint32_t)found;
    if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) block_free[gridDim.x] = 0; /* where the sum of all will be */
}

static mote_status label_nearest(planes_points *points, const planes_plane *planes, uint32_t count,
                                 uint64_t *free_points) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    uint32_t found = 0;
    planes_plane *device = NULL;
    *free_points = 0;
    p->labels = count;
    if (points->count == 0) return MOTE_OK;
    mote_status status = upload_planes(gpu, planes, count, &device);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, label_points, p->block_count, THREADS, p->points, p->boxes, points->count, device, count,
                    p->label, p->free_points, p->first_free);
        status = cuda_launched(gpu, "labels of points");
    }
    if (status == MOTE_OK) status = cuda_sum32(gpu, p->first_free, p->first_free, (uint64_t)p->block_count + 1);
    if (status == MOTE_OK) status = cuda_download(gpu, &found, p->first_free + p->block_count, sizeof found);
    cuda_free(gpu, device);
    p->free_count = *free_points = found;
    return status;
}

mote_status planes_assign_cuda(planes_points *points, const planes_assignment *how) {
    if (how->planes == NULL) return sum_labelled(points, how->mixtures, how->count, how->sums);
    if (how->sums != NULL) MOTE_TRY(sum_nearest(points, how->planes, how->count, how->sums));
    return how->free_points != NULL ? label_nearest(points, how->planes, how->count, how->free_points) : MOTE_OK;
}
