/* Flatness of windows on the GPU: a warp has a window at one scale. All scales are measured at once; the host takes the
   first at which a window is flat. */
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS 128u
#define WARPS   (THREADS / CUDA_WARP)
#define SUMS    (3 + PLANES_PRODUCTS)

/* What the lanes of a warp share. */
typedef struct window {
    float xyz[PLANES_WINDOW][3];      /* of its middle point */
    float plane[PLANES_TRIALS][4];    /* a b c d of the trials */
    uint32_t residual[2 * CUDA_WARP]; /* as bits, of a trial */
} window;

/* A lane has two points; the second of most lanes is none. */
static __device__ inline bool has_second(void) { return threadIdx.x % CUDA_WARP + CUDA_WARP < PLANES_WINDOW; }

static __device__ inline void take_window(const planes_cuda_point *points, uint32_t count, uint32_t windows,
                                          uint32_t which, uint64_t step, window *w) {
    const planes_cuda_point middle = points[planes_window_place(count, windows, which, step, PLANES_WINDOW_MIDDLE)];
    for (uint32_t i = threadIdx.x % CUDA_WARP; i < PLANES_WINDOW; i += CUDA_WARP) {
        const planes_cuda_point p = points[planes_window_place(count, windows, which, step, i)];
        w->xyz[i][0] = p.x - middle.x;
        w->xyz[i][1] = p.y - middle.y;
        w->xyz[i][2] = p.z - middle.z;
    }
    __syncwarp();
}

/* ---- trials */

static __device__ inline uint32_t bits_of(float value) { return __float_as_uint(value); }

/* A lane makes a plane. Returns which there are. */
static __device__ inline uint32_t make_trials(uint32_t which, window *w) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    planes_plane plane;
    const bool valid =
        planes_through(w->xyz[planes_trial_corner(which, lane, 0)], w->xyz[planes_trial_corner(which, lane, 1)],
                       w->xyz[planes_trial_corner(which, lane, 2)], &plane);
    w->plane[lane][0] = plane.a;
    w->plane[lane][1] = plane.b;
    w->plane[lane][2] = plane.c;
    w->plane[lane][3] = plane.d;
    __syncwarp();
    return __ballot_sync(CUDA_ALL, valid);
}

static __device__ inline planes_plane trial_plane(const window *w, uint32_t trial) {
    planes_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.a = w->plane[trial][0];
    plane.b = w->plane[trial][1];
    plane.c = w->plane[trial][2];
    plane.d = w->plane[trial][3];
    return plane;
}

/* The residual that QUANTILE others go before: bits of numbers that are not negative order as they do. */
static __device__ uint32_t select_quantile(window *w, uint32_t first, uint32_t second) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint32_t before_first = 0, before_second = 0;
    w->residual[lane] = first;
    w->residual[lane + CUDA_WARP] = second;
    __syncwarp();
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        const uint32_t other = w->residual[i];
        before_first += other < first || (other == first && i < lane);
        before_second += other < second || (other == second && i < lane + CUDA_WARP);
    }
    const uint32_t in_first = __ballot_sync(CUDA_ALL, before_first == PLANES_QUANTILE);
    const uint32_t in_second = __ballot_sync(CUDA_ALL, has_second() && before_second == PLANES_QUANTILE);
    const uint32_t value = w->residual[in_first != 0 ? warp_first(in_first) : warp_first(in_second) + CUDA_WARP];
    __syncwarp();
    return value;
}

/* The plane of the least quantile among trials, and that quantile as bits; UINT32_MAX: there is none. */
static __device__ uint32_t best_trial(uint32_t which, window *w, planes_plane *best) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, valid = make_trials(which, w);
    const uint32_t mine = has_second() ? lane + CUDA_WARP : lane;
    uint32_t min = UINT32_MAX;
    memset(best, 0, sizeof *best);
    for (uint32_t t = 0; t < PLANES_TRIALS; t++) {
        if ((valid >> t & 1) == 0) continue;
        const planes_plane plane = trial_plane(w, t);
        const uint32_t first = bits_of(planes_residual(&plane, w->xyz[lane]));
        const uint32_t second = has_second() ? bits_of(planes_residual(&plane, w->xyz[mine])) : UINT32_MAX;
        const uint32_t closer =
            __popc(__ballot_sync(CUDA_ALL, first < min)) + __popc(__ballot_sync(CUDA_ALL, second < min));
        if (closer <= PLANES_QUANTILE) continue; /* the quantile is not below the least */
        min = select_quantile(w, first, second);
        *best = plane;
    }
    return min;
}

/* ---- least squares */

static __device__ void sum_within(const window *w, const planes_plane *plane, planes_sums *sums) {
    int64_t all[SUMS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = threadIdx.x % CUDA_WARP; i < PLANES_WINDOW; i += CUDA_WARP) {
        if (!(planes_residual(plane, w->xyz[i]) <= plane->tolerance)) continue;
        const int64_t x = (int64_t)w->xyz[i][0], y = (int64_t)w->xyz[i][1], z = (int64_t)w->xyz[i][2];
        const int64_t mine[SUMS] = {x, y, z, x * x, x * y, x * z, y * y, y * z, z * z};
        for (uint32_t k = 0; k < SUMS; k++) all[k] += mine[k];
        count++;
    }
    memset(sums, 0, sizeof *sums);
    sums->count = (uint64_t)warp_sum(count);
    for (int k = 0; k < 3; k++) sums->first[k] = warp_sum(all[k]);
    for (int k = 0; k < PLANES_PRODUCTS; k++) planes_add_product(sums, k, warp_sum(all[3 + k]));
}

/* All lanes do the same with the sums. */
static __device__ planes_flatness measure(uint32_t which, uint64_t step, double resolution, window *w) {
    planes_flatness none;
    planes_plane plane;
    memset(&none, 0, sizeof none);
    const uint32_t quantile = best_trial(which, w, &plane);
    if (quantile == UINT32_MAX) return none;
    planes_window_fit fit = planes_window_begin(__uint_as_float(quantile), resolution);
    CUDA_ROLLED
    for (int turn = 0; turn < PLANES_WINDOW_FITS; turn++) {
        planes_sums sums;
        if (turn > 0) plane = planes_plane_from(&fit.fit, 0, 0, 0);
        plane.tolerance = (float)fit.reach;
        sum_within(w, &plane, &sums);
        if (!planes_window_next(&sums, resolution, &fit)) return none;
    }
    return planes_window_end(&fit, step);
}

static __global__ void flatness_kernel(const planes_cuda_point *points, uint32_t count, uint32_t windows,
                                       uint32_t scales, double resolution, planes_flatness *found) {
    __shared__ window of_warp[WARPS];
    const uint32_t job = blockIdx.x * WARPS + threadIdx.x / CUDA_WARP;
    window *w = &of_warp[threadIdx.x / CUDA_WARP];
    if (job >= windows * scales) return;
    const uint32_t which = job % windows;
    const uint64_t step = 1ull << (2 * (job / windows)); /* PLANES_WIDENING to the power of the scale */
    take_window(points, count, windows, which, step, w);
    const planes_flatness flatness = measure(which, step, resolution, w);
    if (threadIdx.x % CUDA_WARP == 0) found[job] = flatness;
}

mote_status planes_flatness_cuda(planes_points *points, uint32_t windows, double resolution, planes_flatness *found) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    const uint32_t scales = planes_scale_count(points->count), jobs = windows * scales;
    planes_flatness *all = (planes_flatness *)(void *)planes_cuda_scratch(p, jobs * sizeof *all);
    if (all == NULL) return MOTE_ERROR_MEMORY;
    planes_flatness *device = (planes_flatness *)cuda_alloc(gpu, jobs * sizeof *device, "planes windows");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, flatness_kernel, cuda_blocks(jobs, WARPS), THREADS, p->points, points->count, windows, scales,
                resolution, device);
    mote_status status = cuda_launched(gpu, "flatness of windows");
    if (status == MOTE_OK) status = cuda_download(gpu, all, device, jobs * sizeof *all);
    cuda_free(gpu, device);
    for (uint32_t k = 0; k < windows && status == MOTE_OK; k++) {
        uint32_t scale = 0;
        while (scale + 1 < scales && !all[scale * windows + k].flat) scale++;
        found[k] = all[scale * windows + k];
    }
    return status;
}
