/* The lattice of a cloud in device memory. */
#include "core/core.h"
#include "order/lattice.h"
#include "order/order_cuda.h"
#include "order/order_points.h"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define ITEMS   4u    /* points of a thread: their loads are on their way together */
#define BLOCKS  1056u /* what an H200 holds at once; each takes its share of the points, however many there are */

/* The smallest and largest coordinates as integers of the same order, so that atomics can find them. */
typedef struct ordered_box {
    unsigned long long low[3], high[3];
    unsigned long long skipped; /* points that are not finite */
} ordered_box;

#define SIGN (1ull << 63)

static __host__ __device__ inline uint64_t ordered_integer(int64_t value) { return (uint64_t)value ^ SIGN; }

static __host__ __device__ inline uint64_t ordered_real(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

static double real_of_ordered(uint64_t ordered) {
    const uint64_t bits = (ordered & SIGN) != 0 ? ordered & ~SIGN : ~ordered;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static __device__ inline uint64_t smaller(uint64_t a, uint64_t b) { return b < a ? b : a; }
static __device__ inline uint64_t larger(uint64_t a, uint64_t b) { return b > a ? b : a; }

/* All threads of the block bring theirs. */
static __device__ void add_to_box(const uint64_t low[3], const uint64_t high[3], uint64_t skipped, ordered_box *box) {
    __shared__ uint64_t of_warp[WARPS][7];
    uint64_t all[7] = {low[0], low[1], low[2], high[0], high[1], high[2], skipped};
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        for (int k = 0; k < 7; k++) {
            const uint64_t other = __shfl_xor_sync(CUDA_ALL, (unsigned long long)all[k], away);
            all[k] = k < 3 ? smaller(all[k], other) : k < 6 ? larger(all[k], other) : all[k] + other;
        }
    }
    if (threadIdx.x % CUDA_WARP == 0) {
        for (int k = 0; k < 7; k++) of_warp[threadIdx.x / CUDA_WARP][k] = all[k];
    }
    __syncthreads();
    const uint32_t k = threadIdx.x;
    if (k >= 7) return;
    uint64_t value = of_warp[0][k];
    for (uint32_t w = 1; w < WARPS; w++) {
        const uint64_t other = of_warp[w][k];
        value = k < 3 ? smaller(value, other) : k < 6 ? larger(value, other) : value + other;
    }
    if (k < 3) {
        atomicMin(&box->low[k], (unsigned long long)value);
    } else if (k < 6) {
        atomicMax(&box->high[k - 3], (unsigned long long)value);
    } else if (value > 0) {
        atomicAdd(&box->skipped, (unsigned long long)value);
    }
}

/* A thread's first point of its block's first tile, and from there to that of its next tile. */
static __device__ inline uint64_t tile_first(void) { return (uint64_t)blockIdx.x * (THREADS * ITEMS) + threadIdx.x; }
static __device__ inline uint64_t tile_step(void) { return (uint64_t)gridDim.x * (THREADS * ITEMS); }

template <int READING> static __global__ void integer_bounds(order_points points, uint64_t count, ordered_box *box) {
    int64_t low[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, high[3] = {INT64_MIN, INT64_MIN, INT64_MIN};
    for (uint64_t first = tile_first(); first < count; first += tile_step()) {
        int64_t v[ITEMS][3];
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint64_t i = first + item * THREADS;
            for (int k = 0; k < 3; k++) v[item][k] = order_stored<READING>(&points.axes[k], i < count ? i : first);
        }
        for (uint32_t item = 0; item < ITEMS; item++) {
            for (int k = 0; k < 3; k++) {
                low[k] = v[item][k] < low[k] ? v[item][k] : low[k];
                high[k] = v[item][k] > high[k] ? v[item][k] : high[k];
            }
        }
    }
    uint64_t ordered_low[3], ordered_high[3];
    for (int k = 0; k < 3; k++) {
        ordered_low[k] = ordered_integer(low[k]);
        ordered_high[k] = ordered_integer(high[k]);
    }
    add_to_box(ordered_low, ordered_high, 0, box);
}

template <int READING> static __global__ void real_bounds(order_points points, uint64_t count, ordered_box *box) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint64_t skipped = 0;
    const uint64_t step = (uint64_t)gridDim.x * THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        double v[3];
        bool finite = true;
        for (int k = 0; k < 3; k++) {
            v[k] = order_value<READING>(&points.axes[k], i);
            finite = finite && isfinite(v[k]);
        }
        skipped += !finite;
        for (int k = 0; k < 3; k++) {
            low[k] = finite && v[k] < low[k] ? v[k] : low[k];
            high[k] = finite && v[k] > high[k] ? v[k] : high[k];
        }
    }
    uint64_t ordered_low[3], ordered_high[3];
    for (int k = 0; k < 3; k++) {
        ordered_low[k] = ordered_real(low[k]);
        ordered_high[k] = ordered_real(high[k]);
    }
    add_to_box(ordered_low, ordered_high, skipped, box);
}

static void launch(mote_context *ctx, const order_points *points, bool integer, uint64_t count, ordered_box *box) {
    uint32_t blocks = cuda_blocks(count, THREADS * ITEMS);
    if (blocks > BLOCKS) blocks = BLOCKS;
    if (!integer && points->reading == ORDER_READ_BYTES) {
        CUDA_LAUNCH(ctx, (real_bounds<ORDER_READ_BYTES>), blocks, THREADS, *points, count, box);
    } else if (!integer) {
        CUDA_LAUNCH(ctx, (real_bounds<ORDER_READ_ALIGNED>), blocks, THREADS, *points, count, box);
    } else if (points->reading == ORDER_READ_PLAIN) {
        CUDA_LAUNCH(ctx, (integer_bounds<ORDER_READ_PLAIN>), blocks, THREADS, *points, count, box);
    } else if (points->reading == ORDER_READ_ALIGNED) {
        CUDA_LAUNCH(ctx, (integer_bounds<ORDER_READ_ALIGNED>), blocks, THREADS, *points, count, box);
    } else {
        CUDA_LAUNCH(ctx, (integer_bounds<ORDER_READ_BYTES>), blocks, THREADS, *points, count, box);
    }
}

static mote_status find_box(const cuda_cloud *cloud, const mote_column *const axes[3], bool integer, ordered_box *box) {
    mote_context *ctx = cloud->ctx;
    order_points points;
    memset(&points, 0, sizeof points);
    for (int k = 0; k < 3; k++) points.axes[k] = *axes[k];
    points.reading = order_reading_of(axes);
    ordered_box *const device = (ordered_box *)cuda_alloc(ctx, sizeof *device, "bounds");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, device, 0, sizeof *device);
    if (status == MOTE_OK) status = cuda_fill(ctx, device->low, 0xFF, sizeof device->low);
    if (status == MOTE_OK) {
        launch(ctx, &points, integer, cloud->count, device);
        status = cuda_launched(ctx, "bounds");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, box, device, sizeof *box);
    cuda_free(ctx, device);
    return status;
}

static void integer_lattice(const cuda_cloud *cloud, const mote_column *const axes[3], const ordered_box *box,
                            mote_lattice *lattice) {
    int64_t low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (int k = 0; k < 3 && cloud->count > 0; k++) {
        low[k] = (int64_t)(box->low[k] ^ SIGN);
        high[k] = (int64_t)(box->high[k] ^ SIGN);
    }
    lattice_of_box(axes, low, high, lattice);
}

static mote_status real_lattice(const cuda_cloud *cloud, const mote_column *const axes[3], const ordered_box *box,
                                mote_lattice *lattice) {
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (int k = 0; k < 3 && box->skipped < cloud->count; k++) {
        low[k] = real_of_ordered(box->low[k]);
        high[k] = real_of_ordered(box->high[k]);
    }
    return lattice_of_real_box(cloud->ctx, axes, cloud->position_step, low, high, lattice);
}

mote_status order_cuda_lattice(const cuda_cloud *cloud, mote_lattice *lattice, uint64_t *skipped) {
    const mote_column *axes[3];
    ordered_box box;
    memset(lattice, 0, sizeof *lattice);
    memset(&box, 0, sizeof box);
    MOTE_TRY(order_axes_find(cloud, axes));
    const bool integer = lattice_is_integer(axes);
    if (cloud->count > 0) MOTE_TRY(find_box(cloud, axes, integer, &box));
    if (integer) {
        integer_lattice(cloud, axes, &box, lattice);
    } else {
        MOTE_TRY(real_lattice(cloud, axes, &box, lattice));
    }
    if (skipped != NULL) *skipped = box.skipped;
    return MOTE_OK;
}
