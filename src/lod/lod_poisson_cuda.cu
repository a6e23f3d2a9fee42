/* Poisson-disk sampling on a GPU: the trials of lod_poisson_cpu.c, a warp for each block of cells.

   The candidates of a level are sorted by block and rank, so each block's trials are a range. A warp tests 32 of them
   at once against what was accepted before, and settles among those that are left in their order. Accepted points of
   a cell are a linked list through the trials, so no list has a bound; a block keeps the first trial of each such list
   for the blocks that come in later phases.

   The level byte tells the candidates: those of level l have l + 1, chosen by a node of that level or in a leaf of it.
   Only chains need care: the shares below a chain's top are never candidates, and bear level 0 while levels are
   sampled. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "lod/lod_cuda.h"
#include "lod/lod_poisson_math.h"
#include "order/lattice_math.h"

#define THREADS   256u
#define TRY_WARPS 4u /* blocks of cells that a thread block works on */
#define PHASES    8u
#define RANK_BITS 32

/* A trial: a candidate and its place. */
struct alignas(16) disk {
    uint32_t xyz[3];
    uint32_t link; /* its cell, packed; once accepted: the next trial of its cell's list */
};

/* What the kernels of a level work on, in device memory. The trials are in sorted order until they are sorted by block
   and rank. */
struct level_trials {
    poisson_rule rule;
    uint64_t seed;
    uint32_t level;
    uint64_t count, block_count;
    uint32_t *positions;   /* [count] sorted positions */
    uint64_t *keys;        /* [count] block << 32 | rank */
    disk *disks;           /* [count] */
    uint32_t *block_first; /* [block_count + 1] first trial of each block */
    uint64_t *block_code;  /* [block_count] ascending */
    uint64_t *cells;       /* [count] of a block, from its first on: cell << 32 | first trial of the cell's list */
    uint32_t *block_cells; /* [block_count] how many those are; 0 until the block's phase is over */
    uint32_t *table;       /* [table_mask + 1] blocks by the hash of their code, POISSON_NONE where free */
    uint64_t table_mask;
    uint32_t *phase_blocks; /* [block_count] blocks, phase by phase */
};

/* Where coordinates come from. */
struct position_columns {
    mote_column axes[3];
    mote_lattice lattice;
};

/* As mote_order_coordinates, of one axis of a finite point. */
static __device__ uint32_t lattice_coordinate(const position_columns *from, int k, uint64_t i) {
    const mote_lattice *lattice = &from->lattice;
    if (lattice->integer) {
        return lattice_integer_step(column_integer(&from->axes[k], i), lattice->source_min[k], lattice->shift);
    }
    return lattice_real_step(column_value(&from->axes[k], i), lattice->scale[k], lattice->min[k], lattice->extent[k]);
}

/* What all levels share. */
struct sampling {
    mote_context *ctx;
    const mote_lod *lod;
    lod_cuda *device;
    position_columns from;
    bool chained;    /* there are chains */
    uint8_t *flags;  /* [count] of candidates */
    uint64_t *found; /* [1] */
};

/* The memory of one level. */
struct level_memory {
    mote_context *ctx;
    void *owned[16];
    uint32_t count;
};

static void *take(level_memory *memory, uint64_t size_bytes) {
    void *device = cuda_alloc(memory->ctx, size_bytes, "poisson");
    if (device != NULL) memory->owned[memory->count++] = device;
    return device;
}

static void give_back(level_memory *memory) {
    while (memory->count > 0) cuda_free(memory->ctx, memory->owned[--memory->count]);
}

static __device__ uint64_t thread_number(void) { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }

/* ---- the shares of chains */

/* Whether a node holds a share of points in one place, and those below it the rest. */
MOTE_HD bool is_chained(const mote_lod_node *nodes, const mote_lod_node *node) {
    return node->child_mask != 0 && nodes[node->first_child].first != node->first;
}

/* Whether a node lies below another of its chain. */
MOTE_HD bool is_lower_share(const mote_lod_node *nodes, const mote_lod_node *node) {
    return node->parent != UINT32_MAX && is_chained(nodes, &nodes[node->parent]);
}

/* What a leaf or a node of a chain holds; 0 for other nodes. */
MOTE_HD uint64_t own_points(const mote_lod_node *nodes, const mote_lod_node *node) {
    return node->child_mask == 0 ? node->total : nodes[node->first_child].first - node->first;
}

/* A warp for each node: sets the bytes of lower shares to 0, or back to their level. */
static __global__ void set_lower_shares(const mote_lod_node *nodes, uint64_t node_count, bool hide, uint8_t *level) {
    const uint64_t index = thread_number() / CUDA_WARP;
    if (index >= node_count || !is_lower_share(nodes, &nodes[index])) return;
    const uint64_t first = nodes[index].first, own = own_points(nodes, &nodes[index]);
    const uint8_t value = hide ? 0 : nodes[index].level;
    for (uint64_t i = threadIdx.x % CUDA_WARP; i < own; i += CUDA_WARP) level[first + i] = value;
}

static mote_status mark_lower_shares(const sampling *s, bool hide) {
    if (!s->chained) return MOTE_OK;
    const uint32_t blocks = cuda_blocks(s->lod->node_count, THREADS / CUDA_WARP);
    CUDA_LAUNCH(s->ctx, set_lower_shares, blocks, THREADS, s->device->nodes, s->lod->node_count, hide,
                s->device->level);
    return cuda_launched(s->ctx, "chains of nodes");
}

static bool has_chains(const mote_lod *lod) {
    for (uint64_t i = 0; i < lod->node_count; i++) {
        if (is_chained(lod->nodes, &lod->nodes[i])) return true;
    }
    return false;
}

/* Points in leaves of a level, and in tops of chains. */
static uint64_t leaf_points(const mote_lod *lod, uint32_t level) {
    uint64_t points = 0;
    for (uint32_t i = lod->level_first[level]; i < lod->level_first[level + 1]; i++) {
        if (!is_lower_share(lod->nodes, &lod->nodes[i])) points += own_points(lod->nodes, &lod->nodes[i]);
    }
    return points;
}

/* ---- the candidates of a level and their blocks */

static __global__ void flag_candidates(const uint8_t *level, uint64_t count, uint32_t wanted, uint8_t *flags) {
    const uint64_t i = thread_number();
    if (i < count) flags[i] = level[i] == wanted;
}

/* most  an upper bound of the count */
static mote_status select_candidates(const sampling *s, level_memory *memory, uint64_t most, level_trials *t) {
    mote_context *ctx = s->ctx;
    const uint64_t points = s->lod->count;
    t->positions = (uint32_t *)take(memory, most * sizeof *t->positions);
    if (t->positions == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, flag_candidates, cuda_blocks(points, THREADS), THREADS, s->device->level, points, t->level + 1,
                s->flags);
    MOTE_TRY(cuda_launched(ctx, "poisson candidates"));
    MOTE_TRY(cuda_select(ctx, s->flags, points, t->positions, s->found));
    return cuda_download(ctx, &t->count, s->found, sizeof t->count);
}

/* starts [count + 1]: 1 where a block begins. */
static __global__ void mark_blocks(level_trials t, const uint64_t *codes, uint32_t *starts) {
    const uint64_t i = thread_number();
    if (i > t.count) return;
    const bool inside = i > 0 && i < t.count;
    starts[i] = inside
                    ? poisson_block(&t.rule, codes[t.positions[i]]) != poisson_block(&t.rule, codes[t.positions[i - 1]])
                    : i == 0;
}

/* numbers [count + 1]: how many blocks begin before a candidate; in their place first where they begin. */
static mote_status number_blocks(const sampling *s, level_trials *t, uint32_t *numbers) {
    mote_context *ctx = s->ctx;
    uint32_t blocks = 0;
    CUDA_LAUNCH(ctx, mark_blocks, cuda_blocks(t->count + 1, THREADS), THREADS, *t, s->device->codes, numbers);
    MOTE_TRY(cuda_launched(ctx, "poisson blocks"));
    MOTE_TRY(cuda_sum32(ctx, numbers, numbers, t->count + 1));
    MOTE_TRY(cuda_download(ctx, &blocks, numbers + t->count, sizeof blocks));
    t->block_count = blocks;
    return MOTE_OK;
}

/* Keys of the trials, and what is known of the blocks. */
static __global__ void make_keys(level_trials t, const uint64_t *codes, const uint32_t *numbers, uint32_t *phases) {
    const uint64_t i = thread_number();
    if (i >= t.count) return;
    const uint64_t code = codes[t.positions[i]];
    const uint32_t block = numbers[i + 1] - 1;
    t.keys[i] = (uint64_t)block << RANK_BITS | poisson_rank(t.seed, code);
    if (i == 0) t.block_first[t.block_count] = (uint32_t)t.count;
    if (numbers[i] > block) return; /* it began before */
    t.block_first[block] = (uint32_t)i;
    t.block_code[block] = poisson_block(&t.rule, code);
    t.block_cells[block] = 0;
    t.phase_blocks[block] = block;
    phases[block] = (uint32_t)(t.block_code[block] % PHASES);
}

/* Enters each block at the first free entry from its hash on. Which of two gets there first does not matter: both are
   found by their code. */
static __global__ void fill_table(level_trials t) {
    const uint64_t block = thread_number();
    if (block >= t.block_count) return;
    uint64_t at = mote_hash64(t.block_code[block]) & t.table_mask;
    while (atomicCAS(&t.table[at], POISSON_NONE, (uint32_t)block) != POISSON_NONE) at = (at + 1) & t.table_mask;
}

static mote_status take_blocks(level_memory *memory, level_trials *t, cuda_pairs32 *phases) {
    t->table_mask = 31;
    while (t->table_mask < 2 * t->block_count) t->table_mask = 2 * t->table_mask + 1;
    t->block_first = (uint32_t *)take(memory, (t->block_count + 1) * sizeof *t->block_first);
    t->block_code = (uint64_t *)take(memory, t->block_count * sizeof *t->block_code);
    t->block_cells = (uint32_t *)take(memory, t->block_count * sizeof *t->block_cells);
    t->table = (uint32_t *)take(memory, (t->table_mask + 1) * sizeof *t->table);
    phases->keys = (uint32_t *)take(memory, t->block_count * sizeof *phases->keys);
    phases->values = (uint32_t *)take(memory, t->block_count * sizeof *phases->values);
    phases->other_keys = (uint32_t *)take(memory, t->block_count * sizeof *phases->other_keys);
    phases->other_values = (uint32_t *)take(memory, t->block_count * sizeof *phases->other_values);
    t->phase_blocks = phases->values;
    const bool all = t->block_first != NULL && t->block_code != NULL && t->block_cells != NULL && t->table != NULL &&
                     phases->keys != NULL && phases->values != NULL && phases->other_keys != NULL &&
                     phases->other_values != NULL;
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Where each phase begins among its sorted blocks. */
static __global__ void find_phases(const uint32_t *phases, uint64_t block_count, uint32_t *phase_first) {
    if (threadIdx.x > PHASES) return;
    uint64_t low = 0, high = block_count;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (phases[middle] < threadIdx.x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    phase_first[threadIdx.x] = (uint32_t)low;
}

static mote_status sort_phases(const sampling *s, level_memory *memory, cuda_pairs32 *phases, level_trials *t,
                               uint32_t phase_first[PHASES + 1]) {
    const uint64_t size = (PHASES + 1) * sizeof *phase_first;
    uint32_t *first = (uint32_t *)take(memory, size);
    if (first == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_sort32(s->ctx, phases, t->block_count, 0, 3));
    t->phase_blocks = phases->values;
    CUDA_LAUNCH(s->ctx, find_phases, 1, CUDA_WARP, phases->keys, t->block_count, first);
    MOTE_TRY(cuda_launched(s->ctx, "poisson phases"));
    return cuda_download(s->ctx, phase_first, first, size);
}

static int bits_below(uint64_t count) {
    int bits = 0;
    while (bits < 32 && count > 1ull << bits) bits++;
    return bits;
}

/* Blocks, their phases and the trials in their order; disks are left to fill. */
static mote_status arrange(const sampling *s, level_memory *memory, level_trials *t, uint32_t phase_first[PHASES + 1]) {
    mote_context *ctx = s->ctx;
    cuda_pairs32 phases;
    cuda_pairs64 pairs;
    pairs.values = t->positions;
    pairs.keys = t->keys = (uint64_t *)take(memory, t->count * sizeof *pairs.keys);
    pairs.other_keys = (uint64_t *)take(memory, t->count * sizeof *pairs.other_keys);
    pairs.other_values = (uint32_t *)take(memory, (t->count + 1) * sizeof *pairs.other_values);
    if (pairs.keys == NULL || pairs.other_keys == NULL || pairs.other_values == NULL) return MOTE_ERROR_MEMORY;
    uint32_t *numbers = pairs.other_values; /* until the trials are sorted */
    MOTE_TRY(number_blocks(s, t, numbers));
    MOTE_TRY(take_blocks(memory, t, &phases));
    CUDA_LAUNCH(ctx, make_keys, cuda_blocks(t->count, THREADS), THREADS, *t, s->device->codes, numbers, phases.keys);
    MOTE_TRY(cuda_fill(ctx, t->table, 0xFF, (t->table_mask + 1) * sizeof *t->table));
    CUDA_LAUNCH(ctx, fill_table, cuda_blocks(t->block_count, THREADS), THREADS, *t);
    MOTE_TRY(cuda_launched(ctx, "poisson blocks"));
    MOTE_TRY(cuda_sort64(ctx, &pairs, t->count, 0, RANK_BITS + bits_below(t->block_count)));
    t->positions = pairs.values;
    t->cells = pairs.keys; /* the keys have done their work */
    return sort_phases(s, memory, &phases, t, phase_first);
}

/* ---- the trials */

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

static __global__ void place_disks(level_trials t, position_columns from, const uint64_t *codes,
                                   const uint32_t *order) {
    const uint64_t i = thread_number();
    if (i >= t.count) return;
    const uint32_t position = t.positions[i];
    uint32_t cell[3];
    disk d;
    poisson_cell(&t.rule, codes[position], cell);
    for (int k = 0; k < 3; k++) d.xyz[k] = lattice_coordinate(&from, k, order[position]);
    d.link = pack_cell(cell);
    t.disks[i] = d;
}

/* The block whose place is steps -1, 0 or 1 away from that of another. */
static __device__ uint32_t find_neighbor(const level_trials *t, uint64_t code, const int32_t steps[3]) {
    uint32_t at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = mote_morton_compact(code >> (2 - k)) + (uint32_t)steps[k];
        if (at[k] >= 1u << t->rule.block_level) return POISSON_NONE; /* below zero as well */
    }
    const uint64_t wanted = mote_morton_encode(at[0], at[1], at[2]);
    for (uint64_t entry = mote_hash64(wanted) & t->table_mask;; entry = (entry + 1) & t->table_mask) {
        const uint32_t block = t->table[entry];
        if (block == POISSON_NONE || t->block_code[block] == wanted) return block;
    }
}

static __device__ void neighbor_steps(int i, int32_t steps[3]) {
    steps[0] = i / 9 - 1;
    steps[1] = i / 3 % 3 - 1;
    steps[2] = i % 3 - 1;
}

/* Enters the lists of those cells of a block, so many blocks away, that lie in the halo. */
static __device__ void enter_cells(const level_trials *t, uint32_t first, uint32_t count, const int32_t steps[3],
                                   uint32_t lane, uint32_t *heads) {
    const int32_t side = 1 << t->rule.block_bits;
    for (uint32_t i = lane; i < count; i += CUDA_WARP) {
        const uint64_t entry = t->cells[(uint64_t)first + i];
        uint32_t at[3];
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            at[k] = (uint32_t)(cell_axis((uint32_t)(entry >> 32), k) + steps[k] * side + 1);
            inside = inside && at[k] <= (uint32_t)side + 1;
        }
        if (inside) heads[poisson_halo_place(at[0], at[1], at[2])] = (uint32_t)entry;
    }
}

/* Starts the lists of a block's cells and of those around with what earlier phases accepted. */
static __device__ void open_block(const level_trials *t, uint32_t block, uint32_t lane, uint32_t *heads) {
    int32_t steps[3];
    uint32_t neighbor = POISSON_NONE, first = 0, count = 0;
    for (uint32_t i = lane; i < POISSON_HALO_CELLS; i += CUDA_WARP) heads[i] = POISSON_NONE;
    neighbor_steps((int)lane, steps);
    if (lane < 27) neighbor = find_neighbor(t, t->block_code[block], steps);
    if (neighbor != POISSON_NONE) {
        first = t->block_first[neighbor];
        count = t->block_cells[neighbor];
    }
    __syncwarp();
    for (int i = 0; i < 27; i++) {
        neighbor_steps(i, steps);
        enter_cells(t, __shfl_sync(CUDA_ALL, first, i), __shfl_sync(CUDA_ALL, count, i), steps, lane, heads);
    }
    __syncwarp();
}

/* Leaves the lists of a block's cells for the blocks of later phases. */
static __device__ void close_block(const level_trials *t, uint32_t block, uint32_t lane, const uint32_t *heads) {
    const uint32_t bits = t->rule.block_bits, within = (1u << bits) - 1, first = t->block_first[block];
    uint32_t entered = 0;
    for (uint32_t base = 0; base < 1u << 3 * bits; base += CUDA_WARP) {
        const uint32_t i = base + lane;
        const uint32_t cell[3] = {i >> 2 * bits & within, i >> bits & within, i & within};
        const uint32_t packed = pack_cell(cell);
        const uint32_t head = i < 1u << 3 * bits ? heads[halo_place(packed)] : POISSON_NONE;
        const uint32_t found = __ballot_sync(CUDA_ALL, head != POISSON_NONE);
        const uint32_t before = (uint32_t)__popc(found & ((1u << lane) - 1));
        if (head != POISSON_NONE) t->cells[(uint64_t)first + entered + before] = (uint64_t)packed << 32 | head;
        entered += (uint32_t)__popc(found);
    }
    if (lane == 0) t->block_cells[block] = entered;
}

/* Whether a trial keeps its distance from all that was accepted before. Its own cell is looked at first: most fail
   there. */
static __device__ bool keeps_distance(const level_trials *t, const disk *own, const uint32_t *heads) {
    const int32_t place = halo_place(own->link);
    for (int i = 0; i < 27; i++) {
        int32_t steps[3];
        neighbor_steps(i == 0 ? 13 : i == 13 ? 0 : i, steps);
        uint32_t at = heads[place + (steps[0] * POISSON_HALO + steps[1]) * POISSON_HALO + steps[2]];
        while (at != POISSON_NONE) {
            const disk other = t->disks[at];
            if (poisson_too_close(&t->rule, own->xyz, other.xyz)) return false;
            at = other.link;
        }
    }
    return true;
}

static __device__ void accept(const level_trials *t, uint32_t trial, uint32_t packed, uint32_t *heads, uint8_t *level) {
    const int32_t place = halo_place(packed);
    t->disks[trial].link = heads[place];
    heads[place] = trial;
    level[t->positions[trial]] = (uint8_t)t->level;
}

static __device__ disk disk_of_lane(const disk *own, int lane) {
    disk d;
    for (int k = 0; k < 3; k++) d.xyz[k] = __shfl_sync(CUDA_ALL, own->xyz[k], lane);
    d.link = __shfl_sync(CUDA_ALL, own->link, lane);
    return d;
}

/* Tries what the lanes have, in their order. open: whether a lane has a trial */
static __device__ void try_together(const level_trials *t, uint64_t trial, bool open, disk own, uint32_t lane,
                                    uint32_t *heads, uint8_t *level) {
    if (open) open = keeps_distance(t, &own, heads);
    uint32_t left = __ballot_sync(CUDA_ALL, open);
    while (left != 0) {
        const int winner = __ffs((int)left) - 1;
        const disk other = disk_of_lane(&own, winner);
        if (lane == (uint32_t)winner) {
            accept(t, (uint32_t)trial, own.link, heads, level);
            open = false;
        } else if (open && cells_touch(own.link, other.link)) {
            open = !poisson_too_close(&t->rule, own.xyz, other.xyz);
        }
        __syncwarp(); /* the next winner may add to the same list */
        left = __ballot_sync(CUDA_ALL, open);
    }
}

static __device__ disk read_disk(const level_trials *t, uint64_t trial, uint64_t end) {
    disk none = {{0, 0, 0}, 0};
    return trial < end ? t->disks[trial] : none;
}

/* A warp for each block of a phase. */
static __global__ void try_blocks(level_trials t, uint32_t first, uint32_t count, uint8_t *level) {
    __shared__ uint32_t heads_of_warps[TRY_WARPS][POISSON_HALO_CELLS];
    const uint64_t number = thread_number() / CUDA_WARP;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    if (number >= count) return; /* the whole warp */
    uint32_t *heads = heads_of_warps[threadIdx.x / CUDA_WARP];
    const uint32_t block = t.phase_blocks[first + number];
    const uint64_t end = t.block_first[block + 1];
    uint64_t trial = (uint64_t)t.block_first[block] + lane;
    disk own = read_disk(&t, trial, end);
    open_block(&t, block, lane, heads);
    for (; trial - lane < end; trial += CUDA_WARP) {
        const disk next = read_disk(&t, trial + CUDA_WARP, end); /* on its way while this one is tried */
        try_together(&t, trial, trial < end, own, lane, heads, level);
        own = next;
    }
    close_block(&t, block, lane, heads);
}

static mote_status try_all(const sampling *s, level_memory *memory, level_trials *t,
                           const uint32_t phase_first[PHASES + 1]) {
    mote_context *ctx = s->ctx;
    const uint32_t threads = TRY_WARPS * CUDA_WARP;
    t->disks = (disk *)take(memory, t->count * sizeof *t->disks);
    if (t->disks == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, place_disks, cuda_blocks(t->count, THREADS), THREADS, *t, s->from, s->device->codes,
                s->device->order);
    for (uint32_t phase = 0; phase < PHASES; phase++) {
        const uint32_t first = phase_first[phase], count = phase_first[phase + 1] - first;
        if (count == 0) continue;
        CUDA_LAUNCH(ctx, try_blocks, cuda_blocks(count, TRY_WARPS), threads, *t, first, count, s->device->level);
    }
    return cuda_launched(ctx, "poisson trials");
}

/* ---- all levels */

/* most  an upper bound of the candidates. candidates: out, how many there were */
static mote_status sample_level(const sampling *s, uint32_t level, uint64_t most, uint64_t *candidates) {
    uint32_t phase_first[PHASES + 1];
    level_memory memory;
    level_trials t;
    memset(&memory, 0, sizeof memory);
    memset(&t, 0, sizeof t);
    memory.ctx = s->ctx;
    t.rule = lod_poisson_rule(s->lod, level);
    t.seed = s->lod->params.seed;
    t.level = level;
    mote_status status = select_candidates(s, &memory, most, &t);
    if (status == MOTE_OK && t.count > 0) {
        status = arrange(s, &memory, &t, phase_first);
        if (status == MOTE_OK) status = try_all(s, &memory, &t, phase_first);
    }
    give_back(&memory);
    *candidates = t.count;
    return status;
}

static mote_status sample_levels(const sampling *s) {
    const mote_lod *lod = s->lod;
    uint64_t candidates = 0; /* of the level below: what it chose is not more */
    MOTE_TRY(mark_lower_shares(s, true));
    for (uint32_t level = lod->level_count - 1; level-- > 0;) {
        const uint64_t most = candidates + leaf_points(lod, level + 1);
        if (most > 0) MOTE_TRY(sample_level(s, level, most, &candidates));
        MOTE_TRY(mote_progress(s->ctx, 0.6 + 0.2 * (1 - (double)level / lod->level_count), "sampling"));
    }
    return mark_lower_shares(s, false);
}

mote_status lod_cuda_poisson(mote_lod *lod, lod_cuda *device) {
    static const char *const names[3] = {"x", "y", "z"};
    sampling s;
    if (lod->level_count < 2) return MOTE_OK;
    s.ctx = lod->ctx;
    s.lod = lod;
    s.device = device;
    s.from.lattice = lod->lattice;
    for (int k = 0; k < 3; k++) s.from.axes[k] = *cuda_cloud_find(&device->cloud, names[k]);
    s.chained = has_chains(lod);
    s.flags = (uint8_t *)cuda_alloc(lod->ctx, lod->count, "poisson");
    s.found = (uint64_t *)cuda_alloc(lod->ctx, sizeof *s.found, "poisson");
    const mote_status status = s.flags != NULL && s.found != NULL ? sample_levels(&s) : MOTE_ERROR_MEMORY;
    cuda_free(lod->ctx, s.flags);
    cuda_free(lod->ctx, s.found);
    return status;
}
