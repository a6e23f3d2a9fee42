/* What the parts of the test of COPC share. */
#ifndef MOTE_COPC_TEST_H
#define MOTE_COPC_TEST_H

#include "support/copc_files.h"

mote_lod *copc_build(mote_context *ctx, const mote_cloud *cloud, uint32_t merge);
mote_copc_report copc_write_ok(mote_context *ctx, const mote_cloud *cloud, uint32_t merge, const char *path);
mote_cloud *copc_generated(mote_context *ctx, const char *kind, uint64_t count);

/* copc_test_promises.c */
void octrees_that_copc_cannot_hold(void **state);
void same_bytes_for_any_threads(void **state);
void scans_are_in_the_order_of_time(void **state);
void every_allocation_can_fail(void **state);
void every_step_can_be_cancelled(void **state);

/* copc_test_zero.c */
void chunk_size_zero(void **state);

#endif
