/* What the parts of the test of broken Potree folders share: a small data set, a chain of 7 nodes, so that its
   hierarchy has a second chunk. */
#ifndef MOTE_POTREE_BROKEN_TEST_H
#define MOTE_POTREE_BROKEN_TEST_H

#include "io/potree/potree.h"
#include "support/support.h"

enum { NODES = 7, POINTS = 7 * 40, RECORD = 22 };

typedef struct small_cloud {
    mote_cloud *cloud;
    mote_lattice lattice;
    mote_lod_params lod_params;
    mote_lod_node nodes[NODES];
    potree_source source;
} small_cloud;
mote_status small_make(mote_context *ctx, small_cloud *small);
mote_status small_write(mote_context *ctx, const char *path, bool brotli);

/* The bytes of a folder. */
enum { METADATA, HIERARCHY, OCTREE };
typedef struct set_bytes {
    uint8_t *data[3];
    size_t size[3];
} set_bytes;
set_bytes set_load(const char *folder);
void set_free(set_bytes *set);

/* potree_broken_test_write.c */
void survives_failing_allocations(void **state);
void cancels(void **state);
void respects_what_is_there(void **state);
void cleans_up_after_the_killed(void **state);
void full_disk_leaves_the_old(void **state);
void refuses_wrong_parameters(void **state);

#endif
