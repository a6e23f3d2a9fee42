/* brotli with the context's memory. The encoder of a node takes megabytes and is gone after it, so each thread keeps
   the blocks for its next node. */
#include <mote_have.h>
#include <setjmp.h>

#include "io/potree/potree.h"

typedef struct pool_block {
    void *memory;
    uint64_t size_bytes;
    bool used;
} pool_block;

struct potree_pool {
    mote_context *ctx;
    pool_block *blocks; /* all that brotli ever got from here */
    uint64_t block_count, block_capacity;
    bool jumps; /* running out of memory goes to out_of_memory instead of returning NULL */
    jmp_buf out_of_memory;
};

potree_pool *potree_pool_make(mote_context *ctx) {
    potree_pool *pool = mote_alloc_zero(ctx, sizeof *pool, "brotli");
    if (pool != NULL) pool->ctx = ctx;
    return pool;
}

void potree_pool_free(potree_pool *pool) {
    if (pool == NULL) return;
    for (uint64_t i = 0; i < pool->block_count; i++) mote_free(pool->ctx, pool->blocks[i].memory);
    mote_free(pool->ctx, pool->blocks);
    mote_free(pool->ctx, pool);
}

#if MOTE_HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>

#define WINDOW_BITS 22 /* as the reference writer; nodes are smaller */

bool potree_has_brotli(void) { return true; }

static void *pool_add(potree_pool *pool, uint64_t size_bytes) {
    if (!mote_reserve(pool->ctx, (void **)&pool->blocks, &pool->block_capacity, pool->block_count + 1,
                      sizeof *pool->blocks, "brotli")) {
        return NULL;
    }
    void *memory = mote_alloc(pool->ctx, size_bytes, "brotli");
    if (memory == NULL) return NULL;
    const pool_block block = {memory, size_bytes, true};
    pool->blocks[pool->block_count++] = block;
    return memory;
}

/* The smallest free block that is large enough, else a new one: a node that is smaller than one before it takes no more
   memory. */
static void *pool_take(void *opaque, size_t size_bytes) {
    potree_pool *pool = opaque;
    pool_block *best = NULL;
    for (uint64_t i = 0; i < pool->block_count; i++) {
        pool_block *block = &pool->blocks[i];
        if (block->used || block->size_bytes < size_bytes) continue;
        if (best == NULL || block->size_bytes < best->size_bytes) best = block;
    }
    if (best != NULL) {
        best->used = true;
        return best->memory;
    }
    void *memory = pool_add(pool, size_bytes);
    if (memory == NULL && pool->jumps) longjmp(pool->out_of_memory, 1);
    return memory;
}

static void pool_give(void *opaque, void *memory) {
    potree_pool *pool = opaque;
    for (uint64_t i = 0; memory != NULL && i < pool->block_count; i++) {
        if (pool->blocks[i].memory == memory) pool->blocks[i].used = false;
    }
}

uint64_t potree_compressed_bound(uint64_t size_bytes) {
    /* Generous: the library's own bound holds only for quality 2 and up. */
    return size_bytes + size_bytes / 64 + 4096;
}

static bool encode(potree_pool *pool, int quality, const uint8_t *data, uint64_t size_bytes, uint8_t *out,
                   uint64_t *out_bytes) {
    BrotliEncoderState *encoder = BrotliEncoderCreateInstance(pool_take, pool_give, pool);
    if (encoder == NULL) return false;
    size_t in_remaining = size_bytes, out_remaining = potree_compressed_bound(size_bytes);
    uint8_t *to = out;
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, (uint32_t)quality);
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS);
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_SIZE_HINT, (uint32_t)size_bytes);
    const bool done = BrotliEncoderCompressStream(encoder, BROTLI_OPERATION_FINISH, &in_remaining, &data,
                                                  &out_remaining, &to, NULL) &&
                      BrotliEncoderIsFinished(encoder);
    BrotliEncoderDestroyInstance(encoder);
    *out_bytes = (uint64_t)(to - out);
    return done;
}

mote_status potree_compress(potree_pool *pool, int quality, const uint8_t *data, uint64_t size_bytes, uint8_t *out,
                            uint64_t *out_bytes) {
    /* The encoder of some distributions calls exit() when it gets no memory. A jump is the only way past that; what
       the encoder leaves behind belongs to the pool. */
    if (setjmp(pool->out_of_memory) != 0) {
        pool->jumps = false;
        return MOTE_ERROR_MEMORY;
    }
    pool->jumps = true;
    const bool done = encode(pool, quality, data, size_bytes, out, out_bytes);
    pool->jumps = false;
    return done ? MOTE_OK : mote_fail(pool->ctx, MOTE_ERROR_MEMORY, "out of memory: brotli");
}

#define LOOK_BYTES 65536u

bool potree_decompress(potree_pool *pool, const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t size_bytes) {
    uint8_t scratch[LOOK_BYTES];
    BrotliDecoderState *decoder = BrotliDecoderCreateInstance(pool_take, pool_give, pool);
    if (decoder == NULL) return false;
    size_t in_remaining = data_bytes, total = 0;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && total <= size_bytes) {
        size_t space_bytes = out != NULL ? size_bytes - total : sizeof scratch;
        uint8_t *to = out != NULL ? out + total : scratch;
        const size_t before = total;
        result = BrotliDecoderDecompressStream(decoder, &in_remaining, &data, &space_bytes, &to, &total);
        if (total == before && result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) break; /* more than was announced */
    }
    BrotliDecoderDestroyInstance(decoder);
    return result == BROTLI_DECODER_RESULT_SUCCESS && total == size_bytes;
}

#else

bool potree_has_brotli(void) { return false; }

uint64_t potree_compressed_bound(uint64_t size_bytes) { return size_bytes; }

mote_status potree_compress(potree_pool *pool, int quality, const uint8_t *data, uint64_t size_bytes, uint8_t *out,
                            uint64_t *out_bytes) {
    (void)quality, (void)data, (void)size_bytes, (void)out, (void)out_bytes;
    return mote_fail(pool->ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_BROTLI);
}

bool potree_decompress(potree_pool *pool, const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t size_bytes) {
    (void)pool, (void)data, (void)data_bytes, (void)out, (void)size_bytes;
    return false;
}

#endif
