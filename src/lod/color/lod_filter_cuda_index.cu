/* The bricks around those in inner nodes: what lies around a brick are children of what lies around its parent, so each
   level follows from the next coarser one, and nothing is searched for. */
#include "lod/color/lod_filter_cuda.cuh"

#define POINTS_PER_ROW 6u /* on the finest level, whose bricks may be as many as points: then they take turns */

#define STEP_WORDS (FILTER_AROUND * FILTER_AROUND_STEP)

/* A brick beside the parent, or the parent itself, and where the child is in it and from there. */
typedef struct child_side {
    uint32_t at;   /* of the two children along an axis */
    uint32_t away; /* from the child in the middle, plus 1 */
} child_side;

/* Along an axis, the parent's half beside a child is the child itself and its twin; of the parent beside, the nearer
   half. own: which half the child is; is_beside: whether the half of the parent beside is asked for */
static __device__ child_side side_of(uint32_t own, bool is_beside, uint32_t half) {
    if (!is_beside) return {half, 1 + half - own};
    return {1 - own, 2 * own};
}

/* Writes the children of one of the eight bricks at and beside the parent that touch a child. */
static __device__ void put_children(uint32_t slot, uint32_t octant, const filter_brick &parent, uint32_t none,
                                    uint32_t *around) {
    const bool x = (slot & 4) != 0, y = (slot & 2) != 0, z = (slot & 1) != 0;
    const uint32_t there = filter_bytes(parent.mask);
#pragma unroll
    for (uint32_t i = 0; i < (x ? 1u : 2u); i++) {
        const child_side sx = side_of(octant >> 2, x, i);
#pragma unroll
        for (uint32_t j = 0; j < (y ? 1u : 2u); j++) {
            const child_side sy = side_of(octant >> 1 & 1, y, j);
#pragma unroll
            for (uint32_t k = 0; k < (z ? 1u : 2u); k++) {
                const child_side sz = side_of(octant & 1, z, k);
                const uint32_t bit = 1u << (4 * sx.at + 2 * sy.at + sz.at);
                const uint32_t child = parent.child + (uint32_t)__popc(there & (bit - 1));
                around[(9 * sx.away + 3 * sy.away + sz.away) * FILTER_AROUND_STEP] = (there & bit) != 0 ? child : none;
            }
        }
    }
}

/* Finds the bricks around a row. around: of the row, for the first direction */
static __device__ void find_children(const filter_cells_view &view, uint32_t level, uint64_t row, const uint32_t *above,
                                     uint32_t *around) {
    const uint32_t point = view.row_point[level][row], none = (uint32_t)view.cells[level];
    const uint32_t *const before = view.before + (uint64_t)(view.finest + level) * view.tiles;
    const uint32_t parent = filter_row_at(before, view.row_point[level - 1], point);
    const uint32_t octant = filter_octant(view, point, level);
    const filter_brick *const parents = view.bricks[level - 1];
    const uint32_t *const from = above + filter_around(parent);
#pragma unroll
    for (uint32_t slot = 0; slot < 8; slot++) {
        uint32_t direction = 0;
        for (uint32_t axis = 0; axis < 3; axis++) {
            const bool is_beside = (slot >> (2 - axis) & 1) != 0;
            direction = 3 * direction + (is_beside ? 2 * (octant >> (2 - axis) & 1) : 1);
        }
        const uint4 words = *(const uint4 *)&parents[from[direction * FILTER_AROUND_STEP]];
        const filter_brick brick = {(unsigned long long)words.y << 32 | words.x, words.z, words.w};
        put_children(slot, octant, brick, none, around);
    }
}

/* A warp's rows are a step, which is gathered in shared memory: lanes write into it by octants, here and there.
   above: around all rows of the next coarser level. around: has room for whole steps */
static __global__ void find_around(filter_cells_view view, uint32_t level, uint64_t first_row, uint64_t row_count,
                                   const uint32_t *above, uint32_t *around) {
    __shared__ uint4 steps[filter_policy::warps][STEP_WORDS / 4];
    static_assert(FILTER_AROUND_STEP == CUDA_WARP, "a lane for each row of a step");
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    uint4 *const step = steps[threadIdx.x / CUDA_WARP];
    const uint64_t first = (uint64_t)blockIdx.x * filter_policy::threads + (threadIdx.x - lane);
    if (first >= row_count) return;
    const uint64_t last = row_count - 1, at = first + lane < last ? first + lane : last;
    find_children(view, level, first_row + at, above, (uint32_t *)step + lane);
    __syncwarp();
    uint4 *const to = (uint4 *)(around + first * FILTER_AROUND);
    for (uint32_t i = lane; i < STEP_WORDS / 4; i += CUDA_WARP) to[i] = step[i];
}

/* Around the one brick of level 0 there are none. top: that brick with the cells of level 1 */
static __global__ void start_around(filter_cells_view view, uint32_t *around, filter_brick *top) {
    const uint32_t direction = threadIdx.x;
    if (direction < FILTER_AROUND) around[direction * FILTER_AROUND_STEP] = direction == FILTER_AROUND / 2 ? 0 : 1;
    if (direction > 1) return;
    const filter_brick brick = {direction == 0 ? filter_bytes(view.bricks[0][0].mask) : 0, 0, 0};
    top[direction] = brick;
}

static uint64_t row_count(const lod_filter *f, uint32_t level) {
    const uint64_t rows = f->view.rows[level];
    return level == f->view.finest_brick && rows > f->around_rows ? f->around_rows : rows;
}

/* Room for rows of even levels, and of odd ones: what is around bricks is forgotten two levels later. */
static mote_status alloc_around(lod_filter *f) {
    mote_device *gpu = f->lod->device;
    uint64_t rows[2] = {0, 0};
    f->around_rows = f->lod->count / POINTS_PER_ROW / FILTER_AROUND_STEP * FILTER_AROUND_STEP + FILTER_AROUND_STEP;
    for (uint32_t l = 0; l <= f->view.finest_brick; l++) {
        if (rows[l % 2] < row_count(f, l)) rows[l % 2] = row_count(f, l);
    }
    for (int k = 0; k < 2; k++) {
        const uint64_t steps = (rows[k] + FILTER_AROUND_STEP - 1) / FILTER_AROUND_STEP * FILTER_AROUND_STEP;
        f->around[k] = (uint32_t *)cuda_alloc(gpu, steps * FILTER_AROUND * sizeof(uint32_t), "filter bricks");
    }
    f->top = (filter_brick *)cuda_alloc(gpu, 2 * sizeof *f->top, "filter bricks");
    return f->around[0] != NULL && f->around[1] != NULL && f->top != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status filter_make_around(lod_filter *f, uint32_t level, uint64_t first_row) {
    mote_device *gpu = f->lod->device;
    if (f->top == NULL) MOTE_TRY(alloc_around(f));
    f->first_row = first_row;
    const uint64_t remaining = f->view.rows[level] - first_row, max = row_count(f, level),
                   rows = remaining < max ? remaining : max;
    if (level == 0) {
        CUDA_LAUNCH(gpu, start_around, 1u, CUDA_WARP, f->view, f->around[0], f->top);
    } else {
        CUDA_LAUNCH(gpu, find_around, cuda_blocks(rows, filter_policy::threads), filter_policy::threads, f->view, level,
                    first_row, rows, f->around[(level + 1) % 2], f->around[level % 2]);
    }
    return cuda_launched(gpu, "finding bricks");
}

void filter_free_around(lod_filter *f) {
    cuda_free(f->lod->device, f->around[0]);
    cuda_free(f->lod->device, f->around[1]);
    cuda_free(f->lod->device, f->top);
}
