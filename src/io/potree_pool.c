/* brotli with the context's memory. The encoder of a node takes megabytes and is gone after it, so each thread keeps
   the blocks for its next node. */
#include "io/potree.h"

#define POOL_BLOCKS 32u

typedef struct pool_block {
    void *memory;
    uint64_t size_bytes;
    bool used;
} pool_block;

struct potree_pool {
    mote_context *ctx;
    pool_block blocks[POOL_BLOCKS];
};

potree_pool *potree_pool_make(mote_context *ctx) {
    potree_pool *pool = mote_alloc_zero(ctx, sizeof *pool, "brotli");
    if (pool != NULL) pool->ctx = ctx;
    return pool;
}

void potree_pool_free(potree_pool *pool) {
    if (pool == NULL) return;
    for (uint32_t i = 0; i < POOL_BLOCKS; i++) mote_free(pool->ctx, pool->blocks[i].memory);
    mote_free(pool->ctx, pool);
}

#ifdef MOTE_HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>

#define WINDOW_BITS 22 /* as the reference writer; nodes are smaller */

bool potree_has_brotli(void) { return true; }

/* A free block that is large enough and less than twice so, or an empty place. */
static void *pool_take(void *opaque, size_t size_bytes) {
    potree_pool *pool = opaque;
    pool_block *empty = NULL;
    for (uint32_t i = 0; i < POOL_BLOCKS; i++) {
        pool_block *block = &pool->blocks[i];
        if (block->memory == NULL) {
            empty = empty != NULL ? empty : block;
        } else if (!block->used && block->size_bytes >= size_bytes && block->size_bytes / 2 <= size_bytes) {
            block->used = true;
            return block->memory;
        }
    }
    void *memory = mote_alloc(pool->ctx, size_bytes, "brotli");
    if (memory != NULL && empty != NULL) {
        empty->memory = memory;
        empty->size_bytes = size_bytes;
        empty->used = true;
    }
    return memory;
}

static void pool_give(void *opaque, void *memory) {
    potree_pool *pool = opaque;
    uint32_t unused = 0;
    for (uint32_t i = 0; i < POOL_BLOCKS; i++) {
        if (memory != NULL && pool->blocks[i].memory == memory) {
            pool->blocks[i].used = false;
            return;
        }
        unused += pool->blocks[i].memory != NULL && !pool->blocks[i].used;
    }
    mote_free(pool->ctx, memory);
    for (uint32_t i = 0; i < POOL_BLOCKS && unused == POOL_BLOCKS; i++) { /* all of sizes no longer asked for */
        mote_free(pool->ctx, pool->blocks[i].memory);
        pool->blocks[i].memory = NULL;
    }
}

uint64_t potree_compressed_bound(uint64_t size_bytes) {
    /* Generous: the library's own bound holds only for quality 2 and up. */
    return size_bytes + size_bytes / 64 + 4096;
}

mote_status potree_compress(potree_pool *pool, int quality, const uint8_t *data, uint64_t size_bytes, uint8_t *out,
                            uint64_t *out_bytes) {
    BrotliEncoderState *encoder = BrotliEncoderCreateInstance(pool_take, pool_give, pool);
    if (encoder == NULL) return mote_fail(pool->ctx, MOTE_ERROR_MEMORY, "out of memory: brotli");
    size_t in_left = size_bytes, out_left = potree_compressed_bound(size_bytes);
    uint8_t *to = out;
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, (uint32_t)quality);
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS);
    BrotliEncoderSetParameter(encoder, BROTLI_PARAM_SIZE_HINT, (uint32_t)size_bytes);
    const bool done =
        BrotliEncoderCompressStream(encoder, BROTLI_OPERATION_FINISH, &in_left, &data, &out_left, &to, NULL) &&
        BrotliEncoderIsFinished(encoder);
    BrotliEncoderDestroyInstance(encoder);
    if (!done) return mote_fail(pool->ctx, MOTE_ERROR_MEMORY, "out of memory: brotli");
    *out_bytes = (uint64_t)(to - out);
    return MOTE_OK;
}

#define LOOK_BYTES 65536u

bool potree_decompress(potree_pool *pool, const uint8_t *data, uint64_t data_bytes, uint8_t *out, uint64_t size_bytes) {
    uint8_t scratch[LOOK_BYTES];
    BrotliDecoderState *decoder = BrotliDecoderCreateInstance(pool_take, pool_give, pool);
    if (decoder == NULL) return false;
    size_t in_left = data_bytes, total = 0;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && total <= size_bytes) {
        size_t room = out != NULL ? size_bytes - total : sizeof scratch;
        uint8_t *to = out != NULL ? out + total : scratch;
        const size_t before = total;
        result = BrotliDecoderDecompressStream(decoder, &in_left, &data, &room, &to, &total);
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
