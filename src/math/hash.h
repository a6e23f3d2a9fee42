/* Counter-based randomness: the hash of what is to be decided, and no state. */
#ifndef MOTE_HASH_H
#define MOTE_HASH_H

#include "math/host_device.h"

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64 bits. */
MOTE_HD uint64_t mote_hash64(uint64_t v) {
    v ^= v >> 30;
    v *= 0xBF58476D1CE4E5B9ull;
    v ^= v >> 27;
    v *= 0x94D049BB133111EBull;
    v ^= v >> 31;
    return v;
}

#define MOTE_GOLDEN_GAMMA 0x9E3779B97F4A7C15ull /* splitmix64's increment: 2^64 over the golden ratio */

/* Two numbers into one; not commutative. */
MOTE_HD uint64_t mote_hash_pair(uint64_t a, uint64_t b) { return mote_hash64(mote_hash64(a + MOTE_GOLDEN_GAMMA) ^ b); }

#endif
