/* Shifted sorting: what mote bench shifted measures. */
#ifndef CLI_BENCH_SHIFTED_H
#define CLI_BENCH_SHIFTED_H

#include "bench.h"

#define SHIFTED_CLOUDS 4

/* The clouds of Bergholm and Kronvall (2016), a torus in place of the bunny: names of mote gen. */
extern const char *const shifted_clouds[SHIFTED_CLOUDS];

/* A cloud of a kind with columns normal_x, normal_y, normal_z: those of its surface; of the kinds without a surface
   directions at random. seed 0: the published one. */
mote_status shifted_cloud(mote_context *ctx, const char *kind, uint64_t count, uint64_t seed, mote_cloud **out);

#endif
