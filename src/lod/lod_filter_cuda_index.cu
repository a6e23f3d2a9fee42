/* The occupied cells of a level: bricks of 4³ that know theirs by a mask, in tiles of 2³ bricks in a hash table. */
#include "backend/cuda_primitives.h"
#include "lod/lod_filter_cuda.h"

#define LISTS     3u /* cells, bricks, tiles */
#define FEW_CELLS 6

/* Numbers of the lists before each block of items, and where they are counted from. */
typedef struct list_places {
    const uint32_t *before; /* [list · blocks + block] summed up over all lists */
    uint32_t first[LISTS];
} list_places;

/* The or of the values of lanes with the same key, which do not descend, in the first of them. */
static __device__ unsigned long long or_by_key(unsigned long long value, uint32_t key) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
        const unsigned long long other = __shfl_down_sync(CUDA_ALL, value, d);
        const uint32_t other_key = __shfl_down_sync(CUDA_ALL, key, d);
        if (lane + d < CUDA_WARP && other_key == key) value |= other;
    }
    return value;
}

/* Adds an item's cell to its brick's mask; where many of a warp begin cells, once for those that share a brick. */
static __device__ void enter_mask(filter_brick *bricks, uint32_t brick, unsigned long long bit, uint32_t begun) {
    const uint32_t left = __shfl_up_sync(CUDA_ALL, brick, 1);
    const bool many = __popc(begun) > FEW_CELLS; /* the same in all lanes */
    if (many) bit = or_by_key(bit, brick);
    const bool first = threadIdx.x % CUDA_WARP == 0 || left != brick;
    if (bit != 0 && (first || !many)) atomicOr(&bricks[brick].mask, bit);
}

/* Which cell, brick and tile an item begins or belongs to. */
static __device__ void find_lists(const uint32_t (*chosen)[FILTER_ROUNDS],
                                  const uint32_t (*ranks)[FILTER_ROUNDS * FILTER_WARPS], const list_places &places,
                                  uint32_t round, uint32_t at[LISTS], bool begins[LISTS]) {
    for (uint32_t k = 0; k < LISTS; k++) {
        begins[k] = filter_is_chosen(chosen[k][round]);
        const uint32_t before = places.before[(uint64_t)k * gridDim.x + blockIdx.x] - places.first[k];
        at[k] = before + filter_place(chosen[k][round], ranks[k], round) - (begins[k] ? 0 : 1);
    }
}

static __global__ void enter_cells(filter_sources sources, const uint64_t *codes, filter_levels levels,
                                   list_places places, filter_index index) {
    __shared__ uint32_t ranks[LISTS][FILTER_ROUNDS * FILTER_WARPS];
    uint32_t chosen[LISTS][FILTER_ROUNDS];
    const uint32_t shift = 3 * (MOTE_ORDER_BITS - index.level);
    filter_select<FILTER_CELLS, LISTS>(sources.marks, sources.count, levels, chosen);
    filter_rank<LISTS>(chosen, ranks);
    for (uint32_t r = 0; r < FILTER_ROUNDS; r++) {
        const uint64_t i = filter_item(r);
        uint32_t at[LISTS];
        bool begins[LISTS];
        find_lists(chosen, ranks, places, r, at, begins);
        const uint64_t code = begins[0] ? codes[sources.first[i]] >> shift : 0;
        enter_mask(index.bricks, at[1], begins[0] ? 1ull << (code & 63) : 0, chosen[0][r]);
        if (begins[0] && index.cell_first != NULL) index.cell_first[at[0]] = (uint32_t)i;
        if (begins[1]) {
            index.bricks[at[1]].cell = at[0];
            index.bricks[at[1]].octant = (uint32_t)(code >> 6 & 7);
            index.brick_codes[at[1]] = code >> 6;
        }
        if (begins[2]) {
            index.tile_codes[at[2]] = code >> 9;
            index.tile_bricks[at[2]] = at[1];
        }
        if (i + 1 == sources.count) {
            if (index.cell_first != NULL) index.cell_first[at[0] + 1] = (uint32_t)sources.count;
            index.tile_bricks[at[2] + 1] = (uint32_t)index.brick_count;
        }
    }
}

static __global__ void enter_tiles(filter_index index) {
    const uint64_t t = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x;
    if (t >= index.tile_count) return;
    const unsigned long long code = index.tile_codes[t];
    const uint32_t first = index.tile_bricks[t], last = index.tile_bricks[t + 1];
    uint32_t octants = 0;
    for (uint32_t b = first; b < last; b++) octants |= 1u << index.bricks[b].octant;
    uint64_t at = mote_hash64(code) & index.table_mask;
    while (atomicCAS(&index.table[at].code, (unsigned long long)UINT64_MAX, code) != UINT64_MAX) {
        at = (at + 1) & index.table_mask;
    }
    index.table[at].brick = first;
    index.table[at].octants = octants;
}

/* The bricks around each. */
static __global__ void find_around(filter_index index) {
    const uint64_t brick = (uint64_t)blockIdx.x / FILTER_AROUND * FILTER_THREADS + threadIdx.x;
    const uint32_t direction = blockIdx.x % FILTER_AROUND;
    if (brick >= index.brick_count) return;
    const uint64_t code = index.brick_codes[brick];
    const uint32_t x = mote_morton_compact(code >> 2) + direction / 9 - 1;
    const uint32_t y = mote_morton_compact(code >> 1) + direction / 3 % 3 - 1;
    const uint32_t z = mote_morton_compact(code) + direction % 3 - 1;
    const bool below = (x | y | z) > MOTE_MORTON_MASK;
    index.around[filter_around((uint32_t)brick) + direction * FILTER_AROUND_STEP] =
        below ? (uint32_t)index.brick_count : filter_find_brick(index, mote_morton_encode(x, y, z));
}

/* Levels become coarser: the room for the first serves all. */
static mote_status open_index(lod_filter *f) {
    mote_context *ctx = f->lod->ctx;
    filter_index *index = &f->index;
    if (index->bricks == NULL) {
        const uint64_t table = (index->table_mask + 1) * sizeof *index->table;
        index->bricks =
            (filter_brick *)cuda_alloc(ctx, (index->brick_count + 1) * sizeof *index->bricks, "filter bricks");
        index->tile_codes = (unsigned long long *)cuda_alloc(ctx, index->tile_count * 8, "filter bricks");
        index->tile_bricks = (uint32_t *)cuda_alloc(ctx, (index->tile_count + 1) * 4, "filter bricks");
        index->table = (filter_tile *)cuda_alloc(ctx, table, "filter bricks");
        index->brick_codes = (unsigned long long *)cuda_alloc(ctx, index->brick_count * 8, "filter bricks");
        index->around = (uint32_t *)cuda_alloc(ctx, 27 * (index->brick_count + 31) * 4, "filter bricks");
        if (index->brick_codes == NULL || index->around == NULL) return MOTE_ERROR_MEMORY;
        if (index->bricks == NULL || index->tile_codes == NULL || index->tile_bricks == NULL || index->table == NULL) {
            return MOTE_ERROR_MEMORY;
        }
    }
    if (f->sources.count == index->cell_count && f->lod->params.filter != MOTE_LOD_FILTER_GAUSSIAN) {
        index->cell_first = NULL;
        return MOTE_OK;
    }
    if (index->cell_room == NULL) {
        index->cell_room = (uint32_t *)cuda_alloc(ctx, (index->cell_count + 1) * 4, "filter cells");
        if (index->cell_room == NULL) return MOTE_ERROR_MEMORY;
    }
    index->cell_first = index->cell_room;
    return MOTE_OK;
}

static void size_index(lod_filter *f, const filter_levels *levels) {
    filter_index *index = &f->index;
    index->cell_count = f->counts.cells[levels->of[0]];
    index->brick_count = f->counts.cells[levels->of[1]];
    index->tile_count = f->counts.cells[levels->of[2]];
    index->table_mask = 15;
    while (index->table_mask < 2 * index->tile_count) index->table_mask = 2 * index->table_mask + 1;
}

mote_status filter_make_index(lod_filter *f, uint32_t level) {
    mote_context *ctx = f->lod->ctx;
    filter_index *index = &f->index;
    if (index->ready && index->level == level) return MOTE_OK;
    const filter_levels levels = {{level, level > 2 ? level - 2 : 0, level > 3 ? level - 3 : 0}};
    const uint32_t blocks = cuda_blocks(f->sources.count, FILTER_ITEMS);
    index->level = level;
    size_index(f, &levels);
    MOTE_TRY(open_index(f));
    MOTE_TRY(cuda_fill(ctx, index->bricks, 0, (index->brick_count + 1) * sizeof *index->bricks));
    MOTE_TRY(cuda_fill(ctx, index->table, 0xFF, (index->table_mask + 1) * sizeof *index->table));
    CUDA_LAUNCH(ctx, (filter_count<FILTER_CELLS, LISTS>), blocks, FILTER_THREADS, f->sources.marks, f->sources.count,
                levels, f->selected);
    MOTE_TRY(cuda_sum32(ctx, f->selected, f->selected, (uint64_t)LISTS * blocks));
    const uint32_t cells = (uint32_t)index->cell_count, bricks = (uint32_t)index->brick_count;
    const list_places places = {f->selected, {0, cells, cells + bricks}};
    CUDA_LAUNCH(ctx, enter_cells, blocks, FILTER_THREADS, f->sources, f->device->codes, levels, places, *index);
    CUDA_LAUNCH(ctx, enter_tiles, cuda_blocks(index->tile_count, FILTER_THREADS), FILTER_THREADS, *index);
    CUDA_LAUNCH(ctx, find_around, FILTER_AROUND * cuda_blocks(index->brick_count, FILTER_THREADS), FILTER_THREADS,
                *index);
    index->ready = true;
    return cuda_launched(ctx, "indexing cells");
}

void filter_free_index(lod_filter *f) {
    mote_context *ctx = f->lod->ctx;
    cuda_free(ctx, f->index.bricks);
    cuda_free(ctx, f->index.tile_codes);
    cuda_free(ctx, f->index.tile_bricks);
    cuda_free(ctx, f->index.table);
    cuda_free(ctx, f->index.brick_codes);
    cuda_free(ctx, f->index.around);
    cuda_free(ctx, f->index.cell_room);
}
