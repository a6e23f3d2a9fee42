/* A fast checksum of bytes: four independent lanes of 64 bits, so that a core takes 32 bytes in a few cycles. */
#include "io/potree.h"
#include "math/hash.h"

/* Odd, from the golden ratio and from splitmix64. */
#define FACTOR_IN  0x9E3779B97F4A7C15ull
#define FACTOR_OUT 0xBF58476D1CE4E5B9ull

static uint64_t turn(uint64_t value) { return value << 29 | value >> 35; }

potree_hash potree_hash_begin(void) {
    potree_hash hash;
    for (uint64_t i = 0; i < 4; i++) hash.lanes[i] = mote_hash64(i + 1);
    hash.size_bytes = 0;
    return hash;
}

void potree_hash_add(potree_hash *hash, const void *data, uint64_t size_bytes) {
    const uint8_t *from = data;
    uint64_t a = hash->lanes[0], b = hash->lanes[1], c = hash->lanes[2], d = hash->lanes[3], word[4];
    hash->size_bytes += size_bytes;
    while (size_bytes > 0) {
        const uint64_t piece = size_bytes < sizeof word ? size_bytes : sizeof word;
        if (piece == sizeof word) {
            memcpy(word, from, sizeof word);
        } else {
            memset(word, 0, sizeof word);
            memcpy(word, from, piece);
        }
        a = turn(a + word[0] * FACTOR_IN) * FACTOR_OUT;
        b = turn(b + word[1] * FACTOR_IN) * FACTOR_OUT;
        c = turn(c + word[2] * FACTOR_IN) * FACTOR_OUT;
        d = turn(d + word[3] * FACTOR_IN) * FACTOR_OUT;
        from += piece;
        size_bytes -= piece;
    }
    hash->lanes[0] = a, hash->lanes[1] = b, hash->lanes[2] = c, hash->lanes[3] = d;
}

uint64_t potree_hash_end(const potree_hash *hash) {
    uint64_t sum = mote_hash64(hash->size_bytes);
    for (int i = 0; i < 4; i++) sum = mote_hash_pair(sum, hash->lanes[i]);
    return sum;
}

uint64_t potree_hash_chain(uint64_t before, const void *data, uint64_t size_bytes) {
    potree_hash hash = potree_hash_begin();
    potree_hash_add(&hash, data, size_bytes);
    return mote_hash_pair(before, potree_hash_end(&hash));
}
