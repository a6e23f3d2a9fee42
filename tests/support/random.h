/* Random numbers of tests: hashes, so that they are the same on every machine. */
#ifndef MOTE_TEST_RANDOM_H
#define MOTE_TEST_RANDOM_H

#include "math/hash.h"

/* The i-th of a row of numbers from 0 to below 1. */
static inline double test_random(uint64_t row, uint64_t i) { return (double)(mote_hash_pair(row, i) >> 11) * 0x1p-53; }

#endif
