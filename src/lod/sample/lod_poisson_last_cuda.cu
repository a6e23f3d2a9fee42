/* The last levels of Poisson-disk sampling, whose candidates are so few that one block of threads takes them from level
   to level: above a room beside a stray point there may be twenty. Each trial is compared with all of its level. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "lod/sample/lod_poisson_cuda.cuh"

struct last_policy {
    static constexpr uint32_t threads = POISSON_LAST_POINTS; /* one for each point */
    static constexpr uint32_t flagging = 256;                /* points of a block that looks for them; not measured */
};

/* What all levels share. */
struct last_levels {
    poisson_rule rules[ORDER_FINE_BITS]; /* of the levels 0 to below the finest */
    const uint64_t *codes, *fine;        /* fine NULL without */
    uint64_t seed;
    uint32_t level; /* the finest */
    const uint32_t *positions;
    const uint64_t *found; /* how many */
    const uint32_t *index;
};

enum last_state : uint8_t { LAST_OPEN, LAST_ACCEPTED, LAST_FAILED };

/* A trial of the running level. */
struct last_trial {
    uint32_t xyz[3], cell[3]; /* the cell among all of its level */
    uint32_t rank, phase;
    uint32_t number; /* among those of the level, in sorted order */
};

/* Shared memory: what each trial of the level shows the others, which compare themselves with it. */
struct last_points {
    uint32_t xyz[POISSON_LAST_POINTS][3], cell[POISSON_LAST_POINTS][3];
    uint32_t rank[POISSON_LAST_POINTS];
    uint8_t phase[POISSON_LAST_POINTS], state[POISSON_LAST_POINTS];
};

/* Candidates of the level and of coarser ones; lower shares of chains have byte 0. */
static __global__ void flag_last(const uint8_t *level, uint64_t count, uint32_t max, uint8_t *flags) {
    const uint64_t i = poisson_thread();
    if (i < count) flags[i] = level[i] > 0 && level[i] <= max;
}

/* The cell of a point among those of a level. */
static __device__ void cell_of(const last_levels *in, uint32_t position, const poisson_rule *rule, uint32_t cell[3]) {
    const uint64_t code = (rule->first > 0 ? in->fine : in->codes)[position];
    const uint32_t within = rule->cell_level - rule->first;
    const uint64_t at = code >> 3 * (MOTE_ORDER_BITS - within);
    const uint64_t above = rule->first > 0 ? order_fine_above(in->codes[position]) : 0;
    for (int k = 0; k < 3; k++) {
        cell[k] = mote_morton_compact(at >> (2 - k));
        if (rule->first > 0) cell[k] += mote_morton_compact(above >> (2 - k)) << within;
    }
}

static __device__ last_trial trial_of(const last_levels *in, const poisson_rule *rule, uint32_t position,
                                      const uint32_t xyz[3]) {
    last_trial trial;
    uint32_t parity[3];
    cell_of(in, position, rule, trial.cell);
    for (int k = 0; k < 3; k++) {
        trial.xyz[k] = xyz[k];
        parity[k] = trial.cell[k] >> rule->block_bits & 1;
    }
    trial.phase = parity[0] << 2 | parity[1] << 1 | parity[2];
    trial.rank = poisson_rank(in->seed, (in->fine != NULL ? in->fine : in->codes)[position]);
    return trial;
}

/* Whether another point is tried before: blocks that touch are of different phases. */
static __device__ bool is_before(const last_points *points, uint32_t other, const last_trial *own) {
    if (points->phase[other] != own->phase) return points->phase[other] < own->phase;
    if (points->rank[other] != own->rank) return points->rank[other] < own->rank;
    return other < own->number;
}

static __device__ bool touches(const uint32_t a[3], const uint32_t b[3]) {
    for (int k = 0; k < 3; k++) {
        if (a[k] + 1 < b[k] || b[k] + 1 < a[k]) return false;
    }
    return true;
}

/* What follows for a trial from those before it: open while one that is too close is open itself. */
static __device__ last_state judge(const last_points *points, uint32_t count, const poisson_rule *rule,
                                   const last_trial *own) {
    last_state found = LAST_ACCEPTED;
    for (uint32_t other = 0; other < count; other++) {
        if (points->state[other] == LAST_FAILED || !is_before(points, other, own)) continue;
        if (!touches(points->cell[other], own->cell)) continue;
        if (!poisson_too_close(rule, own->xyz, points->xyz[other])) continue;
        if (points->state[other] == LAST_ACCEPTED) return LAST_FAILED;
        found = LAST_OPEN;
    }
    return found;
}

/* Which of the trials of a level are accepted. All threads. */
static __device__ bool try_level(last_points *points, const poisson_rule *rule, bool tried, last_trial *own) {
    __shared__ uint32_t sums[last_policy::threads / CUDA_WARP];
    uint32_t count = 0;
    own->number = block_append<last_policy::threads / CUDA_WARP>(tried, sums, &count);
    last_state state = tried ? LAST_OPEN : LAST_FAILED;
    if (tried) {
        for (int k = 0; k < 3; k++) {
            points->xyz[own->number][k] = own->xyz[k];
            points->cell[own->number][k] = own->cell[k];
        }
        points->rank[own->number] = own->rank;
        points->phase[own->number] = (uint8_t)own->phase;
        points->state[own->number] = state;
    }
    while (__syncthreads_or(state == LAST_OPEN)) {
        const last_state found = state == LAST_OPEN ? judge(points, count, rule, own) : state;
        __syncthreads();
        state = found;
        if (tried) points->state[own->number] = state;
    }
    return state == LAST_ACCEPTED;
}

static __global__ void __launch_bounds__(last_policy::threads)
    try_last(last_levels in, position_columns from, uint8_t *level) {
    __shared__ last_points points;
    const uint32_t count = (uint32_t)*in.found;
    const bool present = threadIdx.x < count;
    const uint32_t position = present ? in.positions[threadIdx.x] : 0;
    uint32_t chosen = present ? level[position] : 0, xyz[3] = {0, 0, 0};
    for (int k = 0; k < 3 && present; k++) xyz[k] = poisson_coordinate(&from, k, lod_device_row(in.index, position));
    CUDA_ROLLED
    for (uint32_t l = in.level + 1; l-- > 0;) {
        const poisson_rule *rule = &in.rules[l];
        const bool tried = present && chosen == l + 1;
        last_trial own;
        memset(&own, 0, sizeof own);
        if (tried) own = trial_of(&in, rule, position, xyz);
        if (try_level(&points, rule, tried, &own)) chosen = l;
        __syncthreads();
    }
    if (present) level[position] = (uint8_t)chosen;
}

mote_status lod_cuda_poisson_last(const mote_lod *lod, lod_cuda *device, uint32_t level, uint8_t *flags,
                                  uint64_t *found) {
    mote_device *gpu = lod->device;
    last_levels in;
    uint32_t *const positions = (uint32_t *)cuda_alloc(gpu, POISSON_LAST_POINTS * sizeof *positions, "poisson");
    if (positions == NULL) return MOTE_ERROR_MEMORY;
    memset(&in, 0, sizeof in);
    for (uint32_t l = 0; l <= level; l++) in.rules[l] = lod_poisson_rule(lod, l);
    in.codes = device->codes;
    in.fine = device->fine;
    in.seed = lod->params.seed;
    in.level = level;
    in.positions = positions;
    in.found = found;
    in.index = lod_cuda_index(device);
    CUDA_LAUNCH(gpu, flag_last, cuda_blocks(lod->count, last_policy::flagging), last_policy::flagging, device->level,
                lod->count, level + 1, flags);
    mote_status status = cuda_launched(gpu, "poisson candidates");
    if (status == MOTE_OK) status = cuda_select(gpu, flags, lod->count, positions, found);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, try_last, 1, last_policy::threads, in, poisson_columns(lod, device), device->level);
        status = cuda_launched(gpu, "poisson trials");
    }
    cuda_free(gpu, positions);
    return status;
}
