/* Shifted sorting: what mote bench shifted measures. */
#ifndef CLI_BENCH_SHIFTED_H
#define CLI_BENCH_SHIFTED_H

#include "bench/bench.h"

#define SHIFTED_CLOUDS 4

/* The clouds of Bergholm and Kronvall (2016), a torus in place of the bunny: names of mote gen. */
extern const char *const shifted_clouds[SHIFTED_CLOUDS];

/* Two clouds of a kind, the first and the last points of one, with columns normal_x, normal_y, normal_z: those of their
   surface; of the kinds without a surface directions at random. */
mote_status shifted_clouds_make(mote_context *ctx, const char *kind, uint64_t point_count, uint64_t query_count,
                                mote_cloud **points, mote_cloud **queries);

#endif
