/* A fast checksum of bytes: lanes of 64 bits, folded by 128-bit products, so that a core takes 32 bytes in a few
   cycles. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/potree/potree.h"
#include "math/hash.h"

/* Odd bits without a pattern: the splitmix64 sequence from 1 on. */
static uint64_t secret(uint64_t i) { return mote_hash64(i * MOTE_GOLDEN_GAMMA); }

static uint64_t turn(uint64_t value) { return value << 29 | value >> 35; }

/* The old state stays in the sum, so that a zero factor does not wipe out what came before. */
static uint64_t fold(uint64_t lane, const uint64_t word[2], uint64_t key) {
    const uint64_t a = lane ^ word[0], b = key ^ word[1];
    return turn(lane) ^ (a * b) ^ mote_mul_high(a, b);
}

/* Whole batches. */
static void take(potree_hash *hash, const uint8_t *from, uint64_t size_bytes) {
    const uint64_t keys[2] = {secret(3), secret(4)};
    uint64_t a = hash->lanes[0], b = hash->lanes[1], words[4];
    for (; size_bytes > 0; size_bytes -= POTREE_HASH_BATCH, from += POTREE_HASH_BATCH) {
        memcpy(words, from, POTREE_HASH_BATCH);
        a = fold(a, words, keys[0]);
        b = fold(b, words + 2, keys[1]);
    }
    hash->lanes[0] = a, hash->lanes[1] = b;
}

potree_hash potree_hash_begin(void) {
    potree_hash hash = {{secret(1), secret(2)}, 0, {0}};
    return hash;
}

void potree_hash_add(potree_hash *hash, const void *data, uint64_t size_bytes) {
    const uint8_t *from = data;
    const uint64_t held = hash->size_bytes % POTREE_HASH_BATCH, lacks = held > 0 ? POTREE_HASH_BATCH - held : 0;
    hash->size_bytes += size_bytes;
    if (size_bytes < lacks) {
        memcpy(hash->rest + held, from, size_bytes);
        return;
    }
    if (held > 0) {
        memcpy(hash->rest + held, from, lacks);
        take(hash, hash->rest, POTREE_HASH_BATCH);
    }
    const uint64_t rest = (size_bytes - lacks) % POTREE_HASH_BATCH, whole = size_bytes - lacks - rest;
    take(hash, from + lacks, whole);
    memcpy(hash->rest, from + lacks + whole, rest);
}

uint64_t potree_hash_end(const potree_hash *hash) {
    const uint64_t held = hash->size_bytes % POTREE_HASH_BATCH;
    potree_hash all = *hash;
    if (held > 0) {
        memset(all.rest + held, 0, POTREE_HASH_BATCH - held);
        take(&all, all.rest, POTREE_HASH_BATCH);
    }
    return mote_hash_pair(mote_hash_pair(mote_hash64(all.size_bytes), all.lanes[0]), all.lanes[1]);
}

uint64_t potree_hash_chain(uint64_t before, const void *data, uint64_t size_bytes) {
    potree_hash hash = potree_hash_begin();
    potree_hash_add(&hash, data, size_bytes);
    return mote_hash_pair(before, potree_hash_end(&hash));
}

/* ---- of files */

int potree_hash_open(mote_context *ctx, const char *path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) mote_system_error(ctx, path, "open");
    return file;
}

mote_status potree_hash_bytes(mote_context *ctx, const char *path, int file, uint64_t at, uint64_t size_bytes,
                              uint8_t *buffer, potree_hash *sum) {
    for (const uint64_t end = at + size_bytes; at < end;) {
        const uint64_t rest = end - at, now = rest < POTREE_HASHED_BYTES ? rest : POTREE_HASHED_BYTES;
        const ssize_t got = pread(file, buffer, now, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(ctx, path, "read");
        if (got == 0) break;
        potree_hash_add(sum, buffer, (uint64_t)got);
        at += (uint64_t)got;
    }
    return MOTE_OK;
}

mote_status potree_hash_file(mote_context *ctx, const char *path, uint64_t *size_bytes, uint64_t *hash) {
    potree_hash sum = potree_hash_begin();
    uint8_t *buffer = mote_alloc(ctx, POTREE_HASHED_BYTES, "checksums");
    if (buffer == NULL) return MOTE_ERROR_MEMORY;
    const int file = potree_hash_open(ctx, path);
    mote_status status = file >= 0 ? MOTE_OK : mote_context_status(ctx);
    for (uint64_t at = 0; status == MOTE_OK && at == sum.size_bytes; at += POTREE_HASHED_BYTES) {
        status = potree_hash_bytes(ctx, path, file, at, POTREE_HASHED_BYTES, buffer, &sum);
        if (status == MOTE_OK) status = mote_progress_again(ctx);
    }
    if (file >= 0) close(file);
    mote_free(ctx, buffer);
    *size_bytes = sum.size_bytes;
    *hash = potree_hash_end(&sum);
    return status;
}
