/* The trials of Poisson-disk sampling on a GPU, a warp for each block of cells. A warp tests 32 at once against what
   was accepted before, and settles among the remaining ones in their order. Of a block of many trials a block of
   threads tests 512 at once, which then wait for those before them in the cells around, and only for these: in random
   order that takes a few rounds. Accepted points of a cell are a linked list through the trials, so no list has a
   bound; a block keeps the first of each of its lists for the blocks that come in later phases. */
#include "device/cuda/warp.cuh"
#include "lod/sample/lod_poisson_cuda.cuh"
#include "order/lattice/lattice_math.h"

/* Other numbers were not measured. */
struct try_policy {
    static constexpr uint32_t threads = 256; /* of a block that places candidates, one each */
    static constexpr uint32_t warps = 4;     /* of a block that tries them: blocks of cells that it works on */
    static constexpr uint32_t many = 512;    /* of a block that tries those of one block of cells */
};

/* A cell within its block, a byte per axis. */
static __device__ uint32_t pack_cell(const uint32_t cell[3]) { return cell[0] | cell[1] << 8 | cell[2] << 16; }

static __device__ int32_t cell_axis(uint32_t packed, int k) { return (int32_t)(packed >> 8 * k & 255u); }

static __device__ int32_t halo_place(uint32_t packed) {
    const int32_t x = cell_axis(packed, 0), y = cell_axis(packed, 1), z = cell_axis(packed, 2);
    return (int32_t)poisson_halo_place((uint32_t)x + 1, (uint32_t)y + 1, (uint32_t)z + 1);
}

/* Trials that are as far apart are not compared, on the CPU neither. */
static __device__ bool cells_touch(uint32_t a, uint32_t b) {
    for (int k = 0; k < 3; k++) {
        const int32_t step = cell_axis(a, k) - cell_axis(b, k);
        if (step < -1 || step > 1) return false;
    }
    return true;
}

static __global__ void place_disks(poisson_trials t, position_columns from, const uint32_t *index) {
    const uint64_t i = poisson_thread();
    if (i >= t.count) return;
    const uint32_t position = t.positions[i];
    uint32_t cell[3];
    poisson_disk d;
    poisson_cell(&t.rule, t.window.codes[position], cell);
    for (int k = 0; k < 3; k++) d.xyz[k] = poisson_coordinate(&from, k, lod_device_row(index, position));
    d.link = pack_cell(cell);
    t.disks[i] = d;
}

/* The block whose place is steps -1, 0 or 1 away from that of another. */
static __device__ uint32_t find_neighbor(const poisson_trials *t, uint32_t of, const int32_t steps[3]) {
    const uint32_t within = t->rule.block_level - t->rule.first; /* levels that a code tells; the rest is above */
    const uint64_t code = t->block_code[of], above = t->block_above != NULL ? t->block_above[of] : 0;
    uint32_t at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = mote_morton_compact(code >> (2 - k)) + (uint32_t)steps[k];
        if (t->block_above != NULL) at[k] += mote_morton_compact(above >> (2 - k)) << within;
        if (at[k] >= 1u << t->rule.block_level) return POISSON_NONE; /* below zero as well */
    }
    const uint32_t mask = (1u << within) - 1;
    const uint64_t wanted = mote_morton_encode(at[0] & mask, at[1] & mask, at[2] & mask);
    uint32_t wanted_above = 0;
    if (t->block_above != NULL) {
        wanted_above = (uint32_t)mote_morton_encode(at[0] >> within, at[1] >> within, at[2] >> within);
    }
    for (uint64_t entry = poisson_entry(t, wanted, wanted_above);; entry = (entry + 1) & t->table_mask) {
        const uint32_t block = t->table[entry];
        if (block == POISSON_NONE) return block;
        if (t->block_code[block] != wanted) continue;
        if (t->block_above == NULL || t->block_above[block] == wanted_above) return block;
    }
}

static __device__ void neighbor_steps(int i, int32_t steps[3]) {
    steps[0] = i / 9 - 1;
    steps[1] = i / 3 % 3 - 1;
    steps[2] = i % 3 - 1;
}

/* Enters the list of a cell of a block, that number of blocks away, if it lies in the halo. */
static __device__ void enter_cell(const poisson_trials *t, uint64_t entry, const int32_t steps[3], uint32_t *heads) {
    const int32_t side = 1 << t->rule.block_bits;
    uint32_t at[3];
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        at[k] = (uint32_t)(cell_axis((uint32_t)(entry >> 32), k) + steps[k] * side + 1);
        inside = inside && at[k] <= (uint32_t)side + 1;
    }
    if (inside) heads[poisson_halo_place(at[0], at[1], at[2])] = (uint32_t)entry;
}

/* Returns the lane that an item belongs to, when the lanes' counts, added up, end at ends. */
static __device__ uint32_t lane_of_item(uint32_t ends, uint32_t item) {
    uint32_t lane = 0;
#pragma unroll
    for (uint32_t step = CUDA_WARP / 2; step > 0; step /= 2) {
        if (warp_broadcast(ends, lane + step - 1) <= item) lane += step;
    }
    return lane;
}

/* Starts the lists of a block's cells and of those around with what earlier phases accepted: the cells of all blocks
   around are read one after the other, whichever block they are of. */
static __device__ void open_block(const poisson_trials *t, uint32_t block, uint32_t lane, uint32_t *heads) {
    int32_t steps[3];
    uint32_t neighbor = POISSON_NONE, first = 0, count = 0;
    for (uint32_t i = lane; i < POISSON_HALO_CELLS; i += CUDA_WARP) heads[i] = POISSON_NONE;
    neighbor_steps((int)lane, steps);
    if (lane < 27) neighbor = find_neighbor(t, block, steps);
    if (neighbor != POISSON_NONE) {
        first = t->block_first[neighbor];
        count = t->block_cells[neighbor];
    }
    __syncwarp();
    const uint32_t ends = warp_scan_inclusive(count), all = warp_broadcast(ends, CUDA_WARP - 1);
    for (uint32_t i = lane; i - lane < all; i += CUDA_WARP) {
        const uint32_t of = lane_of_item(ends, i), from = warp_broadcast(first + count - ends, of);
        neighbor_steps((int)of, steps);
        if (i < all) enter_cell(t, t->cells[from + i], steps, heads);
    }
    __syncwarp();
}

/* Leaves the lists of a block's cells for the blocks of later phases. */
static __device__ void close_block(const poisson_trials *t, uint32_t block, uint32_t lane, const uint32_t *heads) {
    const uint32_t bits = t->rule.block_bits, within = (1u << bits) - 1, first = t->block_first[block];
    uint32_t entered = 0;
    for (uint32_t base = 0; base < 1u << 3 * bits; base += CUDA_WARP) {
        const uint32_t i = base + lane;
        const uint32_t cell[3] = {i >> 2 * bits & within, i >> bits & within, i & within};
        const uint32_t packed = pack_cell(cell);
        const uint32_t head = i < 1u << 3 * bits ? heads[halo_place(packed)] : POISSON_NONE;
        const uint32_t place = warp_append(head != POISSON_NONE, &entered);
        if (head != POISSON_NONE) t->cells[(uint64_t)first + place] = (uint64_t)packed << 32 | head;
    }
    if (lane == 0) t->block_cells[block] = entered;
}

/* Whether a trial keeps its distance from all that was accepted before. Its own cell is looked at first: most fail
   there. */
static __device__ bool keeps_distance(const poisson_trials *t, const poisson_disk *own, const uint32_t *heads) {
    const int32_t place = halo_place(own->link);
    for (int i = 0; i < 27; i++) {
        int32_t steps[3];
        neighbor_steps(i == 0 ? 13 : i == 13 ? 0 : i, steps);
        uint32_t at = heads[place + (steps[0] * POISSON_HALO + steps[1]) * POISSON_HALO + steps[2]];
        while (at != POISSON_NONE) {
            const poisson_disk other = t->disks[at];
            if (poisson_too_close(&t->rule, own->xyz, other.xyz)) return false;
            at = other.link;
        }
    }
    return true;
}

static __device__ poisson_disk read_disk(const poisson_trials *t, uint64_t trial, uint64_t end) {
    poisson_disk none = {{0, 0, 0}, 0};
    return trial < end ? t->disks[trial] : none;
}

/* Whether a trial keeps its distance from a list of accepted ones, from the one that was read on. */
static __device__ bool keeps_from_list(const poisson_trials *t, const poisson_disk *own, poisson_disk other) {
    for (;;) {
        if (poisson_too_close(&t->rule, own->xyz, other.xyz)) return false;
        if (other.link == POISSON_NONE) return true;
        other = t->disks[other.link];
    }
}

/* keeps_distance, for warps that are too few to hide the time of a read behind each other's: the first of the lists of
   nine cells are read together. */
static __device__ bool keeps_distance_ahead(const poisson_trials *t, const poisson_disk *own, const uint32_t *heads) {
    const int32_t place = halo_place(own->link);
    const uint32_t here = heads[place];
    if (here != POISSON_NONE && !keeps_from_list(t, own, t->disks[here])) return false;
    for (int x = -1; x <= 1; x++) {
        poisson_disk others[9];
        uint32_t at[9];
#pragma unroll
        for (int i = 0; i < 9; i++) {
            at[i] = heads[place + (x * POISSON_HALO + i / 3 - 1) * POISSON_HALO + i % 3 - 1];
            others[i] = read_disk(t, at[i], t->count);
        }
#pragma unroll
        for (int i = 0; i < 9; i++) {
            if (at[i] != POISSON_NONE && !keeps_from_list(t, own, others[i])) return false;
        }
    }
    return true;
}

static __device__ void accept(const poisson_trials *t, uint32_t trial, uint32_t packed, uint32_t *heads,
                              uint8_t *level) {
    const int32_t place = halo_place(packed);
    t->disks[trial].link = heads[place];
    heads[place] = trial;
    level[t->positions[trial]] = (uint8_t)t->level;
}

static __device__ poisson_disk disk_of_lane(const poisson_disk *own, uint32_t lane) {
    poisson_disk d;
    for (int k = 0; k < 3; k++) d.xyz[k] = warp_broadcast(own->xyz[k], lane);
    d.link = warp_broadcast(own->link, lane);
    return d;
}

/* Tries what the lanes have, in their order. open: whether a lane has a trial */
template <bool AHEAD>
static __device__ void try_together(const poisson_trials *t, uint64_t trial, bool open, poisson_disk own, uint32_t lane,
                                    uint32_t *heads, uint8_t *level) {
    if (open) open = AHEAD ? keeps_distance_ahead(t, &own, heads) : keeps_distance(t, &own, heads);
    uint32_t remaining = __ballot_sync(CUDA_ALL, open);
    while (remaining != 0) {
        const uint32_t best = warp_first(remaining);
        const poisson_disk other = disk_of_lane(&own, best);
        if (lane == best) {
            accept(t, (uint32_t)trial, own.link, heads, level);
            open = false;
        } else if (open && cells_touch(own.link, other.link)) {
            open = !poisson_too_close(&t->rule, own.xyz, other.xyz);
        }
        __syncwarp(); /* the next one may add to the same list */
        remaining = __ballot_sync(CUDA_ALL, open);
    }
}

/* A warp for each block of a phase. */
template <bool AHEAD>
static __global__ void try_blocks(poisson_trials t, uint32_t first, uint32_t count, uint8_t *level) {
    __shared__ uint32_t heads_of_warps[try_policy::warps][POISSON_HALO_CELLS];
    const uint64_t number = poisson_thread() / CUDA_WARP;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    if (number >= count) return; /* the whole warp */
    uint32_t *heads = heads_of_warps[threadIdx.x / CUDA_WARP];
    const uint32_t block = t.phase_blocks[first + number];
    const uint64_t end = t.block_first[block + 1];
    uint64_t trial = (uint64_t)t.block_first[block] + lane;
    poisson_disk own = read_disk(&t, trial, end);
    open_block(&t, block, lane, heads);
    for (; trial - lane < end; trial += CUDA_WARP) {
        const poisson_disk next = read_disk(&t, trial + CUDA_WARP, end); /* on its way while this one is tried */
        try_together<AHEAD>(&t, trial, trial < end, own, lane, heads, level);
        own = next;
    }
    close_block(&t, block, lane, heads);
}

/* ---- blocks of many trials */

/* What the threads of a block tell each other of the trials that they look at together. */
struct trial_tile {
    uint32_t first[POISSON_HALO_CELLS];    /* the first open trial of each cell; POISSON_NONE */
    uint32_t accepted[POISSON_HALO_CELLS]; /* the one that was accepted last; POISSON_NONE */
    uint32_t xyz[try_policy::many][3];
};

static __device__ int32_t neighbor_place(int32_t place, int i) {
    int32_t steps[3];
    neighbor_steps(i, steps);
    return place + (steps[0] * POISSON_HALO + steps[1]) * POISSON_HALO + steps[2];
}

/* Whether no trial around is open that comes before this one. Those that are not too close count as well: a list of
   all open trials would be long where they are dense. */
static __device__ bool is_next(const trial_tile *tile, int32_t place) {
    bool next = true;
    for (int i = 0; i < 27; i++) next = next && tile->first[neighbor_place(place, i)] >= threadIdx.x;
    return next;
}

/* Whether an open trial keeps its distance from those around that were accepted just now. */
static __device__ bool keeps_from_accepted(const poisson_trials *t, const trial_tile *tile, const poisson_disk *own,
                                           int32_t place) {
    for (int i = 0; i < 27; i++) {
        const uint32_t other = tile->accepted[neighbor_place(place, i)];
        if (other != POISSON_NONE && poisson_too_close(&t->rule, own->xyz, tile->xyz[other])) return false;
    }
    return true;
}

/* Tries what the threads have, in their order. In each round all trials are accepted that no open one around comes
   before, and the others are compared with these. Lists of accepted trials come in any order, which changes no
   answer. */
static __device__ void try_tile(const poisson_trials *t, trial_tile *tile, uint64_t trial, bool open, poisson_disk own,
                                uint32_t *heads, uint8_t *level) {
    const int32_t place = open ? halo_place(own.link) : 0;
    if (open) open = keeps_distance_ahead(t, &own, heads);
    for (int k = 0; k < 3; k++) tile->xyz[threadIdx.x][k] = own.xyz[k];
    if (open) atomicMin(&tile->first[place], threadIdx.x);
    __syncthreads();
    for (;;) {
        const bool leads = open && tile->first[place] == threadIdx.x, next = leads && is_next(tile, place);
        if (next) tile->accepted[place] = threadIdx.x;
        if (!__syncthreads_or(open)) break;
        if (next) {
            t->disks[trial].link = atomicExch(&heads[place], (uint32_t)trial);
            level[t->positions[trial]] = (uint8_t)t->level;
        }
        open = open && !next && keeps_from_accepted(t, tile, &own, place);
        __syncthreads();
        if (next) tile->accepted[place] = POISSON_NONE;
        if (leads) tile->first[place] = POISSON_NONE; /* it may have failed: the others say anew which it is */
        __syncthreads();
        if (open) atomicMin(&tile->first[place], threadIdx.x);
        __syncthreads();
    }
}

/* A block of threads for each block of a phase that has many trials. */
static __global__ void __launch_bounds__(try_policy::many)
    try_full_blocks(poisson_trials t, uint32_t first, uint8_t *level) {
    __shared__ trial_tile tile;
    __shared__ uint32_t heads[POISSON_HALO_CELLS];
    const uint32_t block = t.phase_blocks[first + blockIdx.x], lane = threadIdx.x % CUDA_WARP;
    const uint64_t begin = t.block_first[block], end = t.block_first[block + 1];
    for (uint32_t i = threadIdx.x; i < POISSON_HALO_CELLS; i += try_policy::many)
        heads[i] = tile.first[i] = tile.accepted[i] = POISSON_NONE;
    __syncthreads();
    for (uint32_t i = threadIdx.x / CUDA_WARP; i < 27; i += try_policy::many / CUDA_WARP) {
        int32_t steps[3];
        neighbor_steps((int)i, steps);
        const uint32_t neighbor = find_neighbor(&t, block, steps);
        if (neighbor == POISSON_NONE) continue; /* the whole warp */
        const uint64_t *const cells = t.cells + t.block_first[neighbor];
        for (uint32_t c = lane; c < t.block_cells[neighbor]; c += CUDA_WARP) enter_cell(&t, cells[c], steps, heads);
    }
    __syncthreads();
    for (uint64_t trial = begin + threadIdx.x; trial - threadIdx.x < end; trial += try_policy::many) {
        try_tile(&t, &tile, trial, trial < end, read_disk(&t, trial, end), heads, level);
    }
    if (threadIdx.x < CUDA_WARP) close_block(&t, block, lane, heads);
}

mote_status lod_cuda_poisson_try(const mote_lod *lod, lod_cuda *device, const poisson_trials *t,
                                 const uint32_t group_first[POISSON_GROUPS + 1]) {
    mote_device *gpu = lod->device;
    const uint32_t max_full = cuda_full_blocks(gpu, try_policy::many) / 2;
    CUDA_LAUNCH(gpu, place_disks, cuda_blocks(t->count, try_policy::threads), try_policy::threads, *t,
                poisson_columns(lod, device), lod_cuda_index(device));
    for (uint32_t group = 0; group < POISSON_GROUPS; group += 2) {
        const uint32_t first = group_first[group], end = group_first[group + 2];
        /* Blocks that keep all of the GPU busy by a warp each would only be slower by more. */
        const uint32_t many = end - group_first[group + 1] > max_full ? end : group_first[group + 1];
        if (end > many) { CUDA_LAUNCH(gpu, try_full_blocks, end - many, try_policy::many, *t, many, device->level); }
        if (many == first) continue;
        const uint32_t blocks = cuda_blocks(many - first, try_policy::warps), threads = try_policy::warps * CUDA_WARP;
        if (blocks <= cuda_full_blocks(gpu, threads)) {
            CUDA_LAUNCH(gpu, (try_blocks<true>), blocks, threads, *t, first, many - first, device->level);
        } else {
            CUDA_LAUNCH(gpu, (try_blocks<false>), blocks, threads, *t, first, many - first, device->level);
        }
    }
    return cuda_launched(gpu, "poisson trials");
}
