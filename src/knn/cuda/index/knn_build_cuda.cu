/* The build on the device: bounds, curve, sort, leaves and boxes; the host waits for nothing. */
#include <math.h>

#include "core/column_math.h"
#include "device/cuda/cuda_kernel.cuh"
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "knn/cuda/index/knn_curve_cuda.cuh"
#include "knn/cuda/index/knn_outlook_cuda.cuh"
#include "knn/cuda/index/knn_sample.h"
#include "order/lattice/ordered_box.cuh"

#define THREADS 256u
#define WARPS   (THREADS / CUDA_WARP)
#define ITEMS   4u

/* ---- extents, and keys */

/* Parts of the extent, and behind them what a sample tells; also prepares counters for make_leaves. */
template <int KIND, bool PLAIN>
static __global__ void find_extents(knn_cuda_reading from, uint64_t count, knn_cuda_extent *parts, uint32_t *counters,
                                    uint32_t counter_count) {
    const uint32_t all = gridDim.x * THREADS, blocks = gridDim.x - 1;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < counter_count; i += all) counters[i] = 0;
    if (blockIdx.x == 0) {
        knn_look(&from, count, &parts[KNN_CUDA_NEARLY], (knn_cuda_outlook *)&parts[KNN_CUDA_OUTLOOK]);
        return;
    }
    knn_cuda_extent mine;
    knn_extent_of_nothing(&mine);
    for (uint64_t first = (uint64_t)(blockIdx.x - 1) * (THREADS * ITEMS) + threadIdx.x; first < count;
         first += (uint64_t)blocks * (THREADS * ITEMS)) {
        float view[ITEMS][3];
        bool finite[ITEMS];
        for (uint32_t item = 0; item < ITEMS; item++) {
            const uint64_t i = first + item * THREADS;
            finite[item] = knn_view_of<KIND, PLAIN>(&from, i < count ? i : first, view[item]) && i < count;
        }
        for (uint32_t item = 0; item < ITEMS; item++) {
            for (int k = 0; k < 3; k++) {
                mine.low[k] = fminf(mine.low[k], finite[item] ? view[item][k] : INFINITY);
                mine.high[k] = fmaxf(mine.high[k], finite[item] ? view[item][k] : -INFINITY);
            }
            mine.finite += finite[item];
        }
    }
    knn_extent_of_block<WARPS>(&mine);
    if (threadIdx.x == 0) parts[blockIdx.x - 1] = mine;
}

/* The extent from its parts; and a key for each point: its place on the curve, behind all places for points that are
   not finite, then its number. */
template <int KIND, bool PLAIN>
static __global__ void make_keys(knn_cuda_reading from, uint64_t count, knn_cuda_curve_key of, knn_cuda_extent *parts,
                                 uint64_t *keys) {
    __shared__ knn_hilbert hilbert;
    knn_hilbert_load(&hilbert);
    knn_cuda_extent all;
    knn_extent_of_parts<THREADS>(parts, of.part_count, &all);
    if (blockIdx.x == 0 && threadIdx.x == 0) parts[KNN_CUDA_EXTENT] = all;
    const knn_cuda_extent own[2] = {all, parts[KNN_CUDA_NEARLY]};
    const knn_grid grid = knn_grid_within(of.divided != NULL ? of.divided : own, of.deep, of.cell_bits, of.index_bits);
    const uint64_t step = (uint64_t)gridDim.x * THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        float view[3];
        const bool exists = knn_view_of<KIND, PLAIN>(&from, i, view);
        keys[i] = knn_key_of(&hilbert, &grid, i, exists, view);
    }
}

/* ---- leaves, and boxes around them */

static __device__ inline void box_of_nothing(knn_cuda_box *box) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = INFINITY;
        box->high[k] = -INFINITY;
    }
    box->min = UINT32_MAX;
    box->spare = 0;
}

static __device__ inline void box_of_lanes(knn_cuda_box *box, int first, int last) {
    knn_bounds_of_lanes(box->low, box->high, first, last);
    for (int away = first; away <= last; away *= 2) box->min = min(box->min, warp_exchange(box->min, away));
}

static __device__ inline void box_store(knn_cuda_box *to, const knn_cuda_box *box) {
    float4 *const at = (float4 *)to;
    uint32_t min = box->min;
    float bits;
    memcpy(&bits, &min, sizeof bits);
    at[0] = make_float4(box->low[0], box->low[1], box->low[2], bits);
    at[1] = make_float4(box->high[0], box->high[1], box->high[2], 0);
}

typedef struct leaf_arrays {
    float *views;
    void *exact;
    uint32_t *order;
    knn_cuda_box *boxes;                                                  /* NULL: none */
    knn_exact_box *exact_boxes;                                           /* as of the tree; KNN_FLOAT: unused */
    uint32_t level_count, nodes[KNN_CUDA_LEVELS], first[KNN_CUDA_LEVELS]; /* as of the tree */
    uint32_t *finished; /* of each node from level 2 on, how many children are: zero before */
} leaf_arrays;

template <int KIND, bool PLAIN>
static __device__ inline void store_exact(const knn_cuda_reading *from, uint64_t i, bool exists, uint64_t at,
                                          void *exact) {
    for (int k = 0; k < 3; k++) {
        if (KIND == KNN_INT) {
            const uint64_t step = exists ? (uint64_t)knn_step_of<PLAIN>(from, k, i) - (uint64_t)from->origin[k] : 0;
            ((int32_t *)exact)[at + KNN_CUDA_LEAF * (uint32_t)k] = (int32_t)step;
        } else if (KIND == KNN_DOUBLE) {
            ((double *)exact)[at + KNN_CUDA_LEAF * (uint32_t)k] = exists ? knn_double_of(from, k, i) : 0;
        }
    }
}

/* ---- boxes of exact values, for what floats see too little of */

static __device__ inline knn_exact_box exact_box_of_nothing(void) {
    return {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

/* Makes the exact boxes of the leaves and of the lowest node that a block makes. */
template <int KIND> static __device__ inline void make_exact_boxes(const leaf_arrays *to, uint64_t place, bool exists) {
    __shared__ knn_exact_box of_warp[WARPS];
    const uint64_t leaf = place / KNN_CUDA_LEAF, at = 3 * KNN_CUDA_LEAF * leaf + place % KNN_CUDA_LEAF;
    knn_exact_box box = exact_box_of_nothing();
    for (uint32_t k = 0; k < 3 && exists; k++) {
        const uint64_t i = at + KNN_CUDA_LEAF * k;
        box.low[k] = box.high[k] = KIND == KNN_INT ? ((const int32_t *)to->exact)[i] : ((const double *)to->exact)[i];
    }
    knn_bounds_of_lanes(box.low, box.high, 1, KNN_CUDA_LEAF / 2);
    if (place % KNN_CUDA_LEAF == 0 && leaf < to->nodes[0]) to->exact_boxes[leaf] = box;
    knn_bounds_of_lanes(box.low, box.high, KNN_CUDA_LEAF, CUDA_WARP / 2);
    if (threadIdx.x % CUDA_WARP == 0) of_warp[threadIdx.x / CUDA_WARP] = box;
    __syncthreads();
    if (threadIdx.x >= CUDA_WARP) return;
    box = of_warp[threadIdx.x % WARPS];
    knn_bounds_of_lanes(box.low, box.high, 1, WARPS / 2);
    if (threadIdx.x == 0) to->exact_boxes[to->first[1] + blockIdx.x] = box;
}

/* A warp that has stored one of the lowest nodes makes the node above if all others below it are stored, and so on:
   which warp it is depends on chance, but not what it makes. */
template <bool EXACT> static __device__ inline void raise_boxes(const leaf_arrays *to, uint32_t node) {
    const uint32_t lane = threadIdx.x;
    for (uint32_t level = 1; level + 1 < to->level_count; level++) {
        const uint32_t above = node / KNN_CUDA_WIDE, before = above * KNN_CUDA_WIDE;
        const uint32_t rest = to->nodes[level] - before, children = rest < KNN_CUDA_WIDE ? rest : KNN_CUDA_WIDE;
        uint32_t finished = 0;
        if (lane == 0) {
            __threadfence();
            finished = 1 + atomicAdd(&to->finished[to->first[level + 1] - to->first[2] + above], 1u);
        }
        if (warp_broadcast(finished, 0) < children) return;
        __threadfence();
        knn_cuda_box box;
        box_of_nothing(&box);
        if (lane < children) box = to->boxes[to->first[level] + before + lane];
        box_of_lanes(&box, 1, CUDA_WARP / 2);
        if (lane == 0) box_store(&to->boxes[to->first[level + 1] + above], &box);
        if (EXACT) {
            knn_exact_box exact = exact_box_of_nothing();
            if (lane < children) exact = to->exact_boxes[to->first[level] + before + lane];
            knn_bounds_of_lanes(exact.low, exact.high, 1, CUDA_WARP / 2);
            if (lane == 0) to->exact_boxes[to->first[level + 1] + above] = exact;
        }
        node = above;
    }
}

/* A block makes one of the lowest nodes. */
template <int KIND, bool PLAIN>
static __global__ void make_leaves(knn_cuda_reading from, const uint64_t *keys, uint64_t count, uint32_t cell_bits,
                                   uint32_t index_bits, const __grid_constant__ leaf_arrays to) {
    __shared__ knn_cuda_box of_warp[WARPS];
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x, leaf = place / KNN_CUDA_LEAF;
    const uint64_t key = place < count ? keys[place] : UINT64_MAX, i = key & ((1ull << index_bits) - 1);
    const bool exists = place < count && (key >> (index_bits + 3 * cell_bits) & 1) == 0;
    float view[3] = {NAN, NAN, NAN};
    if (exists) knn_view_of<KIND, PLAIN>(&from, i, view);
    const uint64_t at = 3 * KNN_CUDA_LEAF * leaf + place % KNN_CUDA_LEAF;
    for (uint32_t k = 0; k < 3; k++) to.views[at + KNN_CUDA_LEAF * k] = view[k];
    store_exact<KIND, PLAIN>(&from, i, exists, at, to.exact);
    to.order[place] = place < count ? (uint32_t)i : UINT32_MAX;
    if (to.boxes == NULL) return;
    if (KIND != KNN_FLOAT) make_exact_boxes<KIND>(&to, place, exists);
    knn_cuda_box box;
    box_of_nothing(&box);
    for (int k = 0; k < 3 && exists; k++) box.low[k] = box.high[k] = view[k];
    if (exists) box.min = (uint32_t)i;
    box_of_lanes(&box, 1, KNN_CUDA_LEAF / 2);
    if (place % KNN_CUDA_LEAF == 0 && leaf < to.nodes[0]) box_store(&to.boxes[leaf], &box);
    box_of_lanes(&box, KNN_CUDA_LEAF, CUDA_WARP / 2);
    if (threadIdx.x % CUDA_WARP == 0) of_warp[threadIdx.x / CUDA_WARP] = box;
    __syncthreads();
    if (threadIdx.x >= CUDA_WARP) return;
    box = of_warp[threadIdx.x % WARPS];
    box_of_lanes(&box, 1, WARPS / 2);
    if (threadIdx.x == 0) box_store(&to.boxes[to.first[1] + blockIdx.x], &box);
    raise_boxes<KIND != KNN_FLOAT>(&to, blockIdx.x);
}

/* ---- integers of any type */

static __global__ void find_integers(knn_cuda_reading from, uint64_t count, ordered_box *box) {
    const uint64_t step = (uint64_t)gridDim.x * THREADS;
    uint64_t low[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, high[3] = {0, 0, 0};
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        bool finite = true;
        for (int k = 0; k < 3; k++) finite = finite && isfinite(column_value(&from.axes[k], i));
        for (int k = 0; k < 3 && finite; k++) {
            const uint64_t value = mote_ordered_integer(knn_integer_of(&from.axes[k], i));
            low[k] = value < low[k] ? value : low[k];
            high[k] = value > high[k] ? value : high[k];
        }
    }
    ordered_box_join<WARPS>(low, high, 0, box);
}

mote_status knn_cuda_integer_bounds(mote_device *gpu, const mote_column *const axes[3], uint64_t count, int64_t low[3],
                                    int64_t high[3]) {
    ordered_box box;
    knn_cuda_reading from;
    memset(&from, 0, sizeof from);
    for (int k = 0; k < 3; k++) from.axes[k] = *axes[k];
    ordered_box *const device = (ordered_box *)cuda_alloc(gpu, sizeof *device, "bounds");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = ordered_box_clear(gpu, device);
    if (status == MOTE_OK) {
        const uint32_t blocks = cuda_blocks_up_to(cuda_full_blocks(gpu, THREADS), count, THREADS);
        CUDA_LAUNCH(gpu, find_integers, blocks, THREADS, from, count, device);
        status = cuda_launched(gpu, "bounds");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, &box, device, sizeof box);
    cuda_free(gpu, device);
    if (status == MOTE_OK) ordered_box_integer(&box, low, high);
    return status;
}

/* ---- launches */

static uint32_t part_count(uint64_t count) {
    const uint32_t blocks = cuda_blocks(count, THREADS * ITEMS);
    return blocks < KNN_CUDA_PARTS ? blocks : KNN_CUDA_PARTS;
}

/* The first block looks at a sample; the others, as many as parts, find the extent. */
static void launch_extents(mote_device *gpu, const knn_cuda_reading *r, uint64_t count, uint32_t part_count,
                           knn_cuda_extent *parts, uint32_t finished_count) {
    const uint32_t blocks = 1 + part_count;
    static_assert(KNN_CUDA_SAMPLES == THREADS, "a sample for each thread");
    uint32_t *const finished = (uint32_t *)(parts + KNN_CUDA_COUNTERS);
    knn_for_reading(r, [&](auto of) {
        CUDA_LAUNCH(gpu, (find_extents<of.kind, of.plain>), blocks, THREADS, *r, count, parts, finished,
                    finished_count);
    });
}

#define KEY_ROUNDS 2u /* of what the GPU holds at once: each block begins by putting parts together */

static void launch_keys(mote_device *gpu, const knn_cuda_reading *r, uint64_t count, const knn_cuda_curve_key *key,
                        knn_cuda_extent *parts, uint64_t *keys) {
    const uint32_t blocks = cuda_blocks_up_to(KEY_ROUNDS * cuda_full_blocks(gpu, THREADS), count, THREADS);
    knn_for_reading(r, [&](auto of) {
        CUDA_LAUNCH(gpu, (make_keys<of.kind, of.plain>), blocks, THREADS, *r, count, *key, parts, keys);
    });
}

static void launch_leaves(mote_device *gpu, const knn_cuda_reading *r, const knn_cuda_curve *curve, uint64_t count,
                          const leaf_arrays *to) {
    const uint32_t blocks = cuda_blocks(count, KNN_CUDA_NODE);
    knn_for_reading(r, [&](auto of) {
        CUDA_LAUNCH(gpu, (make_leaves<of.kind, of.plain>), blocks, THREADS, *r, (const uint64_t *)curve->keys, count,
                    curve->cell_bits, curve->index_bits, *to);
    });
}

/* ---- the steps */

/* Where the levels stand; returns how many boxes there are. */
static uint64_t plan_levels(uint64_t count, knn_cuda_tree *tree) {
    uint64_t boxes = 0, nodes = (count + KNN_CUDA_LEAF - 1) / KNN_CUDA_LEAF;
    tree->level_count = 0;
    do {
        tree->nodes[tree->level_count] = (uint32_t)nodes;
        tree->first[tree->level_count++] = (uint32_t)boxes;
        boxes += nodes;
        nodes = (nodes + KNN_CUDA_WIDE - 1) / KNN_CUDA_WIDE;
    } while (tree->level_count < 2 || tree->nodes[tree->level_count - 1] > KNN_CUDA_TOP);
    return boxes;
}

/* Room for parts of the extent, for the two extents, what a sample tells, and counters of nodes; how many of these. */
static bool make_parts(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set, uint32_t *counters) {
    const uint64_t parts_bytes = KNN_CUDA_COUNTERS * sizeof(knn_cuda_extent);
    const uint64_t boxes = plan_levels(count, &point_set->tree);
    *counters = point_set->tree.level_count > 2 ? (uint32_t)(boxes - point_set->tree.first[2]) : 0;
    if (!knn_cuda_buffer_reserve(gpu, &point_set->parts, parts_bytes + *counters * sizeof(uint32_t), "bounds"))
        return false;
    point_set->tree.points.extent = (const knn_cuda_extent *)point_set->parts.memory + KNN_CUDA_EXTENT;
    return true;
}

/* The arrays of a point set in memory; returns how many bytes they take. */
static uint64_t lay_out(void *memory, uint64_t count, bool boxes, knn_cuda_point_set *point_set, leaf_arrays *to) {
    static const uint32_t exact_bytes[] = {sizeof(int32_t), 0, sizeof(double)}; /* by kind */
    const knn_kind kind = point_set->reading.kind;
    const uint64_t places = (uint64_t)cuda_blocks(count, KNN_CUDA_NODE) * KNN_CUDA_NODE;
    const uint64_t box_count = boxes ? plan_levels(count, &point_set->tree) + 1 : 0;
    const uint64_t exact_box_count = kind == KNN_FLOAT ? 0 : box_count;
    uint64_t used_bytes = 0;
    to->views = (float *)knn_cuda_part(memory, &used_bytes, 3 * places, sizeof(float));
    to->exact = knn_cuda_part(memory, &used_bytes, 3 * places, exact_bytes[kind]);
    to->order = (uint32_t *)knn_cuda_part(memory, &used_bytes, places, sizeof(uint32_t));
    to->boxes = (knn_cuda_box *)knn_cuda_part(memory, &used_bytes, box_count, sizeof(knn_cuda_box));
    to->exact_boxes = (knn_exact_box *)knn_cuda_part(memory, &used_bytes, exact_box_count, sizeof(knn_exact_box));
    if (box_count == 0) to->boxes = NULL;
    if (exact_box_count == 0) to->exact_boxes = NULL;
    to->level_count = boxes ? point_set->tree.level_count : 0;
    memcpy(to->nodes, point_set->tree.nodes, sizeof to->nodes);
    memcpy(to->first, point_set->tree.first, sizeof to->first);
    to->finished = (uint32_t *)((knn_cuda_extent *)point_set->parts.memory + KNN_CUDA_COUNTERS);
    return used_bytes;
}

/* sort_bytes: that their sort takes, before they are made. */
static bool reserve_arrays(mote_device *gpu, uint64_t count, bool boxes, uint64_t sort_bytes,
                           knn_cuda_point_set *point_set) {
    leaf_arrays to;
    const uint64_t array_bytes = lay_out(NULL, count, boxes, point_set, &to);
    return knn_cuda_buffer_reserve(gpu, &point_set->arrays, array_bytes > sort_bytes ? array_bytes : sort_bytes,
                                   "knn positions");
}

/* Memory for the keys, and to sort them in. Other sorts than that by a sample need no more than the arrays. */
static bool reserve_sort(mote_device *gpu, uint64_t count, bool boxes, knn_cuda_point_set *point_set,
                         knn_cuda_curve *curve) {
    static_assert(3 * sizeof(float) + sizeof(uint32_t) >= sizeof(uint64_t) + 2 * sizeof(uint32_t),
                  "views and order are there in any case, and a deep sort works in as much");
    const uint64_t sort_bytes = count <= KNN_SAMPLE_MAX ? knn_cuda_sample_sort_bytes(count) : 0;
    if (!knn_cuda_buffer_reserve(gpu, &curve->buffer, count * sizeof(uint64_t), "codes") ||
        !reserve_arrays(gpu, count, boxes, sort_bytes, point_set)) {
        return false;
    }
    curve->keys = (uint64_t *)curve->buffer.memory;
    curve->scratch = point_set->arrays.memory;
    return true;
}

mote_status knn_cuda_measure(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set) {
    uint32_t counters = 0;
    if (!make_parts(gpu, count, point_set, &counters)) return MOTE_ERROR_MEMORY;
    knn_cuda_extent *const parts = (knn_cuda_extent *)point_set->parts.memory;
    const knn_cuda_curve_key of = {1, 1, part_count(count), false, NULL};
    launch_extents(gpu, &point_set->reading, count, part_count(count), parts, counters);
    launch_keys(gpu, &point_set->reading, 0, &of, parts, NULL);
    return cuda_launched(gpu, "bounds");
}

static uint32_t bits_for(uint64_t count) {
    uint32_t bits = 1;
    while (count >> bits != 0) bits++;
    return bits;
}

#define RADIX_BITS 8u /* that a pass sorts by, and then keys are in the other memory */

/* Keys of any number of points, by a radix sort. It begins where it is expected to end in the memory of the curve. */
static mote_status sort_by_radix(mote_device *gpu, const knn_cuda_reading *r, uint64_t count,
                                 const knn_cuda_curve_key *of, knn_cuda_extent *parts, knn_cuda_curve *curve) {
    const uint32_t passes = (3 * of->cell_bits + 1 + RADIX_BITS - 1) / RADIX_BITS;
    cuda_keys64 keys = {curve->keys, (uint64_t *)curve->scratch};
    if (passes % 2 != 0) keys = {(uint64_t *)curve->scratch, curve->keys};
    launch_keys(gpu, r, count, of, parts, keys.keys);
    MOTE_TRY(cuda_launched(gpu, "codes"));
    mote_stage(gpu->ctx, "sort");
    const int first_bit = (int)of->index_bits;
    MOTE_TRY(cuda_sort_keys64(gpu, &keys, count, first_bit, first_bit + 3 * (int)of->cell_bits + 1));
    return keys.keys == curve->keys ? MOTE_OK : cuda_copy(gpu, curve->keys, keys.keys, count * sizeof *keys.keys);
}

static mote_status sort_points(mote_device *gpu, uint64_t count, const knn_cuda_extent *divided,
                               const knn_cuda_point_set *point_set, knn_cuda_curve *curve) {
    const knn_cuda_reading *const reading = &point_set->reading;
    knn_cuda_extent *const parts = (knn_cuda_extent *)point_set->parts.memory;
    const bool deep = point_set->tree.points.deep;
    const knn_cuda_curve_key of = {curve->cell_bits, curve->index_bits, part_count(count), deep, divided};
    MOTE_TRY((count <= KNN_SAMPLE_MAX ? knn_cuda_sample_sort : sort_by_radix)(gpu, reading, count, &of, parts, curve));
    return knn_cuda_refine(gpu, reading, count, curve, curve->keys);
}

#define LOOK_AGAIN 64u /* builds of one index */

#define PAIRS        8u    /* fewer may be chance */
#define CROWDED_CELL 8192u /* points in the cell of the mean point: four times what is put in order at once anyway */

static bool is_crowded(const knn_cuda_outlook *outlook, uint64_t count) {
    const uint64_t all = (uint64_t)outlook->finite * (outlook->finite - 1) / 2;
    return outlook->pairs >= PAIRS && outlook->pairs * count > all * CROWDED_CELL;
}

mote_status knn_cuda_look(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set, knn_cuda_outlook *outlook) {
    uint32_t counters = 0;
    if (!make_parts(gpu, count, point_set, &counters)) return MOTE_ERROR_MEMORY;
    knn_cuda_extent *const parts = (knn_cuda_extent *)point_set->parts.memory;
    launch_extents(gpu, &point_set->reading, count, 0, parts, 0);
    MOTE_TRY(cuda_launched(gpu, "sample"));
    MOTE_TRY(cuda_download(gpu, outlook, parts + KNN_CUDA_OUTLOOK, sizeof *outlook));
    point_set->crowded = is_crowded(outlook, count);
    return MOTE_OK;
}

/* Sorts floats as most clouds are sorted, while the host learns whether this one is crowded; then once more, deeply. Of
   others the sample was taken before, for the middle of their views. */
static mote_status sort_floats(mote_device *gpu, uint64_t count, knn_cuda_point_set *point_set, knn_cuda_curve *curve) {
    knn_cuda_extent *const parts = (knn_cuda_extent *)point_set->parts.memory;
    static_assert(sizeof(knn_cuda_outlook) <= sizeof(knn_cuda_extent), "a place of its own");
    static_assert(sizeof(knn_cuda_outlook) <= CUDA_ANSWER_BYTES, "room for the answer");
    knn_cuda_outlook *const answer = (knn_cuda_outlook *)cuda_answer(gpu);
    device_transfer transfer;
    if (answer == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_download_begin(gpu, answer, &parts[KNN_CUDA_OUTLOOK], sizeof *answer, &transfer));
    const mote_status sorted = sort_points(gpu, count, NULL, point_set, curve);
    MOTE_TRY(cuda_wait(gpu, &transfer));
    MOTE_TRY(sorted);
    point_set->crowded = is_crowded(answer, count);
    if (!point_set->crowded) return MOTE_OK;
    point_set->tree.points.deep = true;
    return knn_cuda_deep_sort(gpu, &point_set->reading, count, parts + KNN_CUDA_EXTENT, curve);
}

mote_status knn_cuda_sort(mote_device *gpu, uint64_t count, const knn_cuda_extent *divided,
                          knn_cuda_point_set *point_set, knn_cuda_curve *curve) {
    uint32_t counters = 0;
    curve->index_bits = bits_for(count);
    curve->cell_bits = (63 - curve->index_bits) / 3;
    if (curve->cell_bits > KNN_CUDA_CELLS) curve->cell_bits = KNN_CUDA_CELLS;
    if (!make_parts(gpu, count, point_set, &counters) || !reserve_sort(gpu, count, divided == NULL, point_set, curve)) {
        return MOTE_ERROR_MEMORY;
    }
    knn_cuda_extent *const parts = (knn_cuda_extent *)point_set->parts.memory;
    const bool looks = point_set->reading.kind == KNN_FLOAT && divided == NULL && point_set->builds++ % LOOK_AGAIN == 0;
    if (divided == NULL) point_set->tree.points.deep = point_set->crowded && !looks;
    launch_extents(gpu, &point_set->reading, count, part_count(count), parts, counters);
    if (looks) return sort_floats(gpu, count, point_set, curve);
    if (divided != NULL || !point_set->crowded) return sort_points(gpu, count, divided, point_set, curve);
    const knn_cuda_curve_key of = {1, 1, part_count(count), false, NULL};
    launch_keys(gpu, &point_set->reading, 0, &of, parts, NULL);
    MOTE_TRY(cuda_launched(gpu, "bounds"));
    return knn_cuda_deep_sort(gpu, &point_set->reading, count, parts + KNN_CUDA_EXTENT, curve);
}

mote_status knn_cuda_gather(mote_device *gpu, const knn_cuda_curve *curve, uint64_t count, bool boxes,
                            knn_cuda_point_set *point_set) {
    if (!reserve_arrays(gpu, count, boxes, 0, point_set)) return MOTE_ERROR_MEMORY;
    knn_cuda_tree *const tree = &point_set->tree;
    leaf_arrays to;
    point_set->used_bytes = lay_out(point_set->arrays.memory, count, boxes, point_set, &to);
    launch_leaves(gpu, &point_set->reading, curve, count, &to);
    tree->points.views = to.views;
    tree->points.exact = to.exact;
    tree->points.order = to.order;
    tree->points.keys = curve->keys;
    tree->points.count = (uint32_t)count;
    tree->points.cell_bits = curve->cell_bits;
    tree->points.index_bits = curve->index_bits;
    tree->boxes = to.boxes;
    tree->exact_boxes = to.exact_boxes;
    return cuda_launched(gpu, "cells");
}
