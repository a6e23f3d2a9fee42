/* simd_test.c, for machines without AVX2. */
#define MOTE_SIMD_PLAIN
#include "simd_test.c"
