/* What the parts of the test of Potree folders share. */
#ifndef MOTE_POTREE_TEST_H
#define MOTE_POTREE_TEST_H

#include "support/support.h"

/* The next of one row of random numbers for the whole test. */
uint32_t potree_random_below(uint32_t below);
void potree_fill_random(mote_cloud *cloud, const char *name);

/* Where the points of a cloud read back stood in the source; for free(). level  -1: all nodes */
uint32_t *potree_order(const mote_lod *lod, int level);
/* Small nodes. */
mote_lod *potree_build(mote_context *ctx, const mote_cloud *cloud, mote_lod_scheme scheme, mote_lod_filter filter);
void potree_write_ok(mote_context *ctx, const mote_lod *lod, const char *path, int brotli, mote_potree_report *report);
mote_cloud *potree_read_back(mote_context *ctx, const char *path, int level);
/* Writes, looks at the folder, reads back and compares, in both encodings: test_path("trip.default"), "trip.brotli". */
void potree_check_round_trip(mote_context *ctx, const mote_cloud *cloud);

/* potree_test_values.c */
void keeps_positions_of_any_type(void **state);
void rounds_to_the_nearest_step(void **state);
void packs_and_leaves_out_flags(void **state);
void codes_are_as_defined(void **state);

#endif
