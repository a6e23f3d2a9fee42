#include "device/pool.h"

/* Segments are cut into blocks without gaps. All blocks lie in one array, sorted by address: a build holds some dozens,
   and looking through them costs nothing compared with one launch.

     device   [ used | free    | used ]       [ free            | used ]      two segments
     blocks    0      1         2              3                  4
     first     yes    -         -              yes                -           free neighbours of a segment become one */
typedef struct pool_block {
    uint8_t *at;
    uint64_t size_bytes;
    uint64_t counted_bytes; /* what was asked for */
    uint32_t structure;     /* that counts them */
    bool used;
    bool first; /* of its segment */
} pool_block;

struct pool {
    mote_context *ctx;
    mote_device *device;
    pool_source source;
    pool_block *blocks;
    uint64_t count, capacity;
};

pool *pool_make(mote_device *device, const pool_source *source) {
    pool *p = mote_alloc_zero(device->ctx, sizeof *p, "GPU bookkeeping");
    if (p == NULL) return NULL;
    p->ctx = device->ctx;
    p->device = device;
    p->source = *source;
    return p;
}

static bool ends_segment(const pool *p, uint64_t i) { return i + 1 == p->count || p->blocks[i + 1].first; }

void pool_destroy(pool *p) {
    if (p == NULL) return;
    for (uint64_t i = 0; i < p->count;) {
        uint8_t *segment = p->blocks[i].at;
        uint64_t size_bytes = 0;
        do {
            const pool_block *block = &p->blocks[i++];
            if (block->used) mote_uncount_device(p->ctx, block->counted_bytes, block->structure);
            size_bytes += block->size_bytes;
        } while (i < p->count && !p->blocks[i].first);
        p->source.release(p->source.user, segment, size_bytes);
    }
    mote_free(p->ctx, p->blocks);
    mote_free(p->ctx, p);
}

/* ---- the array of blocks */

static void insert_block(pool *p, uint64_t at, pool_block block) {
    memmove(p->blocks + at + 1, p->blocks + at, (p->count - at) * sizeof block);
    p->blocks[at] = block;
    p->count++;
}

static void remove_block(pool *p, uint64_t at) {
    p->count--;
    memmove(p->blocks + at, p->blocks + at + 1, (p->count - at) * sizeof *p->blocks);
}

/* The first block at or behind an address. */
static uint64_t find_block(const pool *p, const uint8_t *at) {
    uint64_t low = 0, high = p->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (p->blocks[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The smallest free block that is large enough; count if there is none. */
static uint64_t best_fit(const pool *p, uint64_t size_bytes) {
    uint64_t best = p->count;
    for (uint64_t i = 0; i < p->count; i++) {
        const pool_block *block = &p->blocks[i];
        if (block->used || block->size_bytes < size_bytes) continue;
        if (best == p->count || block->size_bytes < p->blocks[best].size_bytes) best = i;
    }
    return best;
}

/* ---- segments */

static bool take_segment(pool *p, uint64_t size_bytes) {
    uint8_t *memory = p->source.allocate(p->source.user, size_bytes);
    if (memory == NULL) return false;
    const pool_block segment = {memory, size_bytes, 0, 0, false, true};
    insert_block(p, find_block(p, memory), segment);
    return true;
}

static bool release_empty_segments(pool *p) {
    const uint64_t before = p->count;
    for (uint64_t i = p->count; i-- > 0;) {
        const pool_block block = p->blocks[i];
        if (block.used || !block.first || !ends_segment(p, i)) continue;
        remove_block(p, i);
        p->source.release(p->source.user, block.at, block.size_bytes);
    }
    return p->count < before;
}

static bool grow(pool *p, uint64_t size_bytes) {
    const uint64_t usual = size_bytes > POOL_SEGMENT_BYTES ? size_bytes : POOL_SEGMENT_BYTES;
    if (take_segment(p, usual)) return true;
    if (usual > size_bytes && take_segment(p, size_bytes)) return true;
    return release_empty_segments(p) && take_segment(p, size_bytes);
}

/* ---- taking and giving */

/* The number of a free block of that size, taken from the source if need be; count if there is none. */
static uint64_t find_slot(pool *p, uint64_t size_bytes) {
    const uint64_t found = best_fit(p, size_bytes);
    if (found < p->count) return found;
    return grow(p, size_bytes) ? best_fit(p, size_bytes) : p->count;
}

/* fits: the limit allows it. */
static void *take_counted(pool *p, uint64_t size_bytes, const char *structure, bool *fits) {
    const uint64_t min = size_bytes > 0 ? size_bytes : 1;
    const uint64_t rounded = (min + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
    uint32_t number = 0;
    *fits = mote_count_device(p->ctx, size_bytes, structure, &number);
    if (!*fits) return NULL;
    const uint64_t i = rounded >= min ? find_slot(p, rounded) : p->count;
    if (i == p->count) {
        mote_uncount_device(p->ctx, size_bytes, number);
        return NULL;
    }
    p->blocks[i].counted_bytes = size_bytes;
    p->blocks[i].structure = number;
    /* The front of the block is taken, the rest stays free. */
    pool_block *block = &p->blocks[i];
    const pool_block rest = {block->at + rounded, block->size_bytes - rounded, 0, 0, false, false};
    void *const memory = block->at;
    block->used = true;
    block->size_bytes = rounded;
    if (rest.size_bytes > 0) insert_block(p, i + 1, rest);
    return memory;
}

void *pool_take(pool *p, uint64_t size_bytes, const char *structure) {
    bool fits = false;
    /* Room in the array for a new segment and for the rest of a block that is cut. */
    if (!mote_reserve(p->ctx, (void **)&p->blocks, &p->capacity, p->count + 2, sizeof *p->blocks, "GPU bookkeeping")) {
        return NULL;
    }
    void *memory = take_counted(p, size_bytes, structure, &fits);
    if (memory == NULL && mote_cache_release(p->device)) memory = take_counted(p, size_bytes, structure, &fits);
    if (memory == NULL) {
        device_fail_memory(p->device, size_bytes, structure, fits ? p->source.remaining(p->source.user) : UINT64_MAX);
    }
    return memory;
}

static void join_with_next(pool *p, uint64_t i) {
    if (ends_segment(p, i) || p->blocks[i].used || p->blocks[i + 1].used) return;
    p->blocks[i].size_bytes += p->blocks[i + 1].size_bytes;
    remove_block(p, i + 1);
}

void pool_give(pool *p, void *memory) {
    if (memory == NULL) return;
    const uint64_t i = find_block(p, memory);
    if (i == p->count || p->blocks[i].at != memory || !p->blocks[i].used) return;
    mote_uncount_device(p->ctx, p->blocks[i].counted_bytes, p->blocks[i].structure);
    p->blocks[i].used = false;
    join_with_next(p, i);
    if (i > 0) join_with_next(p, i - 1);
}

uint64_t pool_available(const pool *p) {
    const uint64_t kept = mote_cache_bytes(p->device); /* pool_take would have it back */
    uint64_t remaining = p->source.remaining(p->source.user) + kept;
    for (uint64_t i = 0; i < p->count; i++) remaining += p->blocks[i].used ? 0 : p->blocks[i].size_bytes;
    const uint64_t limit = mote_device_limit(p->ctx), held = p->ctx->device_bytes - kept;
    if (limit == 0) return remaining;
    const uint64_t rest = limit > held ? limit - held : 0;
    return rest < remaining ? rest : remaining;
}
