/* SHA-1 (FIPS 180-4). */
#include "view/http/http_sha1.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 64u
#define BLOCKS_MAX  2u
#define ROUNDS      80u

static uint32_t rotate(uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); }

static void add_block(uint32_t state[5], const unsigned char *block) {
    uint32_t w[ROUNDS];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    }
    for (size_t i = 16; i < ROUNDS; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (size_t i = 0; i < ROUNDS; i++) {
        static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        const uint32_t choice = i < 20              ? (b & c) | (~b & d)
                                : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                                    : b ^ c ^ d;
        const uint32_t next = rotate(a, 5) + choice + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void http_sha1(const char *text, size_t size, unsigned char hash[HTTP_SHA1_BYTES]) {
    unsigned char padded[BLOCKS_MAX * BLOCK_BYTES] = {0};
    uint32_t state[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const size_t blocks = (size + 9 + BLOCK_BYTES - 1) / BLOCK_BYTES; /* a bit and 64 bits of length behind the text */
    memcpy(padded, text, size);
    padded[size] = 0x80;
    for (size_t i = 0; i < 8; i++) padded[blocks * BLOCK_BYTES - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i++) add_block(state, padded + i * BLOCK_BYTES);
    for (size_t i = 0; i < HTTP_SHA1_BYTES; i++) hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
