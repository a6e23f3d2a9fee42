/* Poisson-disk sampling on a GPU: the trials of lod_poisson_cpu.c, arranged level by level. The candidates are sorted
   by block and rank, so each block's trials are a range; lod_poisson_try_cuda.cu tries them.

   The level byte tells the candidates: those of level l have l + 1, chosen by a node of that level or in a leaf of it.
   Only chains need care: the shares below a chain's top are never candidates, and bear level 0 while levels are
   sampled. */
#include "device/cuda/cuda_kernel.cuh"
#include "device/cuda/cuda_primitives.h"
#include "lod/sample/lod_poisson_cuda.cuh"
#include "math/search.h"

/* A candidate for each thread; other numbers were not measured. */
struct poisson_policy {
    static constexpr uint32_t threads = 256;
};

#define RANK_BITS 32

/* What all levels share. */
struct sampling {
    mote_device *gpu;
    const mote_lod *lod;
    lod_cuda *device;
    bool chained;    /* there are chains */
    uint8_t *flags;  /* [count] of candidates */
    uint64_t *found; /* [1] */
};

/* The memory of one level. */
struct level_memory {
    mote_device *gpu;
    void *owned[16];
    uint32_t count;
};

static void *take(level_memory *memory, uint64_t size_bytes) {
    void *device = cuda_alloc(memory->gpu, size_bytes, "poisson");
    if (device != NULL) memory->owned[memory->count++] = device;
    return device;
}

/* Gives an array back before the level ends, since others need its memory. */
static void drop(level_memory *memory, void *device) {
    uint32_t i = 0;
    while (memory->owned[i] != device) i++;
    memory->owned[i] = memory->owned[--memory->count];
    cuda_free(memory->gpu, device);
}

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
    const uint64_t index = poisson_thread() / CUDA_WARP;
    if (index >= node_count || !is_lower_share(nodes, &nodes[index])) return;
    const uint64_t first = nodes[index].first, own = own_points(nodes, &nodes[index]);
    const uint8_t value = hide ? 0 : nodes[index].level;
    for (uint64_t i = threadIdx.x % CUDA_WARP; i < own; i += CUDA_WARP) level[first + i] = value;
}

static mote_status mark_lower_shares(const sampling *s, bool hide) {
    if (!s->chained) return MOTE_OK;
    const uint32_t blocks = cuda_blocks(s->lod->node_count, poisson_policy::threads / CUDA_WARP);
    CUDA_LAUNCH(s->gpu, set_lower_shares, blocks, poisson_policy::threads, s->device->nodes, s->lod->node_count, hide,
                s->device->level);
    return cuda_launched(s->gpu, "chains of nodes");
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
    const uint64_t i = poisson_thread();
    if (i < count) flags[i] = level[i] == wanted;
}

/* most  an upper bound of the count */
static mote_status select_candidates(const sampling *s, level_memory *memory, uint64_t max, poisson_trials *t) {
    mote_device *gpu = s->gpu;
    const uint64_t points = s->lod->count;
    t->positions = (uint32_t *)take(memory, max * sizeof *t->positions);
    if (t->positions == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(gpu, flag_candidates, cuda_blocks(points, poisson_policy::threads), poisson_policy::threads,
                s->device->level, points, t->level + 1, s->flags);
    MOTE_TRY(cuda_launched(gpu, "poisson candidates"));
    MOTE_TRY(cuda_select(gpu, s->flags, points, t->positions, s->found));
    return cuda_download(gpu, &t->count, s->found, sizeof t->count);
}

/* starts [count + 1]: 1 where a block begins. */
static __global__ void mark_blocks(poisson_trials t, uint32_t *starts) {
    const uint64_t i = poisson_thread();
    if (i > t.count) return;
    bool begins = i == 0;
    if (i > 0 && i < t.count) {
        const uint32_t own = t.positions[i], before = t.positions[i - 1];
        begins = poisson_block(&t.rule, t.window.codes[own]) != poisson_block(&t.rule, t.window.codes[before]) ||
                 lod_window_above(&t.window, own) != lod_window_above(&t.window, before);
    }
    starts[i] = begins;
}

/* numbers [count + 1]: how many blocks begin before a candidate; in their place first where they begin. */
static mote_status number_blocks(const sampling *s, poisson_trials *t, uint32_t *numbers) {
    mote_device *gpu = s->gpu;
    uint32_t blocks = 0;
    CUDA_LAUNCH(gpu, mark_blocks, cuda_blocks(t->count + 1, poisson_policy::threads), poisson_policy::threads, *t,
                numbers);
    MOTE_TRY(cuda_launched(gpu, "poisson blocks"));
    MOTE_TRY(cuda_sum32(gpu, numbers, numbers, t->count + 1));
    MOTE_TRY(cuda_download(gpu, &blocks, numbers + t->count, sizeof blocks));
    t->block_count = blocks;
    return MOTE_OK;
}

/* Keys of the trials, and what is known of the blocks. */
static __global__ void make_keys(poisson_trials t, const uint32_t *numbers, uint32_t *phases) {
    const uint64_t i = poisson_thread();
    if (i >= t.count) return;
    const uint32_t position = t.positions[i], block = numbers[i + 1] - 1;
    t.keys[i] = (uint64_t)block << RANK_BITS | poisson_rank(t.seed, t.rank_codes[position]);
    if (i == 0) t.block_first[t.block_count] = (uint32_t)t.count;
    if (numbers[i] > block) return; /* it began before */
    t.block_first[block] = (uint32_t)i;
    t.block_code[block] = poisson_block(&t.rule, t.window.codes[position]);
    if (t.block_above != NULL) t.block_above[block] = lod_window_above(&t.window, position);
    t.block_cells[block] = 0;
    t.phase_blocks[block] = block;
    const bool many = i + POISSON_FEW < t.count && numbers[i + POISSON_FEW + 1] - 1 == block;
    phases[block] = (uint32_t)(t.block_code[block] % POISSON_PHASES) * 2 + many;
}

/* Enters each block at the first free entry from its hash on. Which of two gets there first does not matter: both are
   found by their code. */
static __global__ void fill_table(poisson_trials t) {
    const uint64_t block = poisson_thread();
    if (block >= t.block_count) return;
    uint64_t at = poisson_entry(&t, t.block_code[block], t.block_above != NULL ? t.block_above[block] : 0);
    while (atomicCAS(&t.table[at], POISSON_NONE, (uint32_t)block) != POISSON_NONE) at = (at + 1) & t.table_mask;
}

static mote_status take_blocks(level_memory *memory, poisson_trials *t, cuda_pairs32 *phases) {
    t->table_mask = 31;
    while (t->table_mask < 2 * t->block_count) t->table_mask = 2 * t->table_mask + 1;
    t->block_first = (uint32_t *)take(memory, (t->block_count + 1) * sizeof *t->block_first);
    t->block_code = (uint64_t *)take(memory, t->block_count * sizeof *t->block_code);
    const bool has_above = t->window.above != NULL;
    if (has_above) t->block_above = (uint32_t *)take(memory, t->block_count * sizeof *t->block_above);
    t->block_cells = (uint32_t *)take(memory, t->block_count * sizeof *t->block_cells);
    t->table = (uint32_t *)take(memory, (t->table_mask + 1) * sizeof *t->table);
    phases->keys = (uint32_t *)take(memory, t->block_count * sizeof *phases->keys);
    phases->values = (uint32_t *)take(memory, t->block_count * sizeof *phases->values);
    phases->other_keys = (uint32_t *)take(memory, t->block_count * sizeof *phases->other_keys);
    phases->other_values = (uint32_t *)take(memory, t->block_count * sizeof *phases->other_values);
    t->phase_blocks = phases->values;
    const bool all = t->block_first != NULL && t->block_code != NULL && (t->block_above != NULL || !has_above) &&
                     t->block_cells != NULL && t->table != NULL && phases->keys != NULL && phases->values != NULL &&
                     phases->other_keys != NULL && phases->other_values != NULL;
    return all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Where each group begins among the sorted blocks. */
static __global__ void find_groups(const uint32_t *phases, uint64_t block_count, uint32_t *group_first) {
    if (threadIdx.x > POISSON_GROUPS) return;
    group_first[threadIdx.x] = mote_lower_bound32(phases, (uint32_t)block_count, threadIdx.x);
}

static mote_status sort_phases(const sampling *s, level_memory *memory, cuda_pairs32 *phases, poisson_trials *t,
                               uint32_t group_first[POISSON_GROUPS + 1]) {
    const uint64_t size = (POISSON_GROUPS + 1) * sizeof *group_first;
    uint32_t *first = (uint32_t *)take(memory, size);
    if (first == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(cuda_sort32(s->gpu, phases, t->block_count, 0, 4));
    t->phase_blocks = phases->values;
    CUDA_LAUNCH(s->gpu, find_groups, 1, CUDA_WARP, phases->keys, t->block_count, first);
    MOTE_TRY(cuda_launched(s->gpu, "poisson phases"));
    return cuda_download(s->gpu, group_first, first, size);
}

static int bits_below(uint64_t count) {
    int bits = 0;
    while (bits < 32 && count > 1ull << bits) bits++;
    return bits;
}

/* Blocks, their phases and the trials in their order, with room for the disks. */
static mote_status arrange(const sampling *s, level_memory *memory, poisson_trials *t,
                           uint32_t group_first[POISSON_GROUPS + 1]) {
    mote_device *gpu = s->gpu;
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
    CUDA_LAUNCH(gpu, make_keys, cuda_blocks(t->count, poisson_policy::threads), poisson_policy::threads, *t, numbers,
                phases.keys);
    MOTE_TRY(cuda_fill(gpu, t->table, 0xFF, (t->table_mask + 1) * sizeof *t->table));
    CUDA_LAUNCH(gpu, fill_table, cuda_blocks(t->block_count, poisson_policy::threads), poisson_policy::threads, *t);
    MOTE_TRY(cuda_launched(gpu, "poisson blocks"));
    MOTE_TRY(cuda_sort64(gpu, &pairs, t->count, 0, RANK_BITS + bits_below(t->block_count)));
    t->positions = pairs.values;
    t->cells = pairs.keys; /* the keys have done their work */
    drop(memory, pairs.other_keys);
    drop(memory, pairs.other_values);
    t->disks = (poisson_disk *)take(memory, t->count * sizeof *t->disks);
    if (t->disks == NULL) return MOTE_ERROR_MEMORY;
    return sort_phases(s, memory, &phases, t, group_first);
}

/* ---- all levels */

/* most  an upper bound of the candidates. candidates: out, how many there were */
static mote_status sample_level(const sampling *s, uint32_t level, uint64_t max, uint64_t *candidates) {
    uint32_t group_first[POISSON_GROUPS + 1];
    level_memory memory;
    poisson_trials t;
    memset(&memory, 0, sizeof memory);
    memset(&t, 0, sizeof t);
    memory.gpu = s->gpu;
    t.rule = lod_poisson_rule(s->lod, level);
    t.window = lod_cuda_window(s->device, t.rule.cell_level);
    t.rank_codes = s->device->fine != NULL ? s->device->fine : s->device->codes;
    t.seed = s->lod->params.seed;
    t.level = level;
    mote_status status = select_candidates(s, &memory, max, &t);
    if (status == MOTE_OK && t.count > 0) {
        status = arrange(s, &memory, &t, group_first);
        if (status == MOTE_OK) status = lod_cuda_poisson_try(s->lod, s->device, &t, group_first);
    }
    while (memory.count > 0) cuda_free(memory.gpu, memory.owned[--memory.count]);
    *candidates = t.count;
    return status;
}

static mote_status sample_levels(const sampling *s) {
    const mote_lod *lod = s->lod;
    uint64_t candidates = 0; /* of the level below: what it chose is not more */
    uint64_t above = 0;      /* points in leaves of levels that are coarser than the children of the running one */
    for (uint32_t level = 1; level < lod->level_count; level++) above += leaf_points(lod, level);
    MOTE_TRY(mark_lower_shares(s, true));
    for (uint32_t level = lod->level_count - 1; level-- > 0;) {
        const uint64_t max = candidates + leaf_points(lod, level + 1);
        above -= leaf_points(lod, level + 1);
        if (max > 0 && max + above <= POISSON_LAST_POINTS && level < lod->finest) {
            MOTE_TRY(lod_cuda_poisson_last(lod, s->device, level, s->flags, s->found));
            break;
        }
        if (max > 0) MOTE_TRY(sample_level(s, level, max, &candidates));
        MOTE_TRY(mote_progress(s->gpu->ctx, 0.6 + 0.2 * (1 - (double)level / lod->level_count), "sampling"));
    }
    return mark_lower_shares(s, false);
}

mote_status lod_cuda_poisson(mote_lod *lod, lod_cuda *device) {
    sampling s;
    if (lod->level_count < 2) return MOTE_OK;
    s.gpu = lod->device;
    s.lod = lod;
    s.device = device;
    s.chained = has_chains(lod);
    s.flags = (uint8_t *)cuda_alloc(lod->device, lod->count, "poisson");
    s.found = (uint64_t *)cuda_alloc(lod->device, sizeof *s.found, "poisson");
    const mote_status status = s.flags != NULL && s.found != NULL ? sample_levels(&s) : MOTE_ERROR_MEMORY;
    cuda_free(lod->device, s.flags);
    cuda_free(lod->device, s.found);
    return status;
}
