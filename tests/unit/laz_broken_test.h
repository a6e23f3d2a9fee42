/* What the parts of the test of malformed LAZ share. */
#ifndef MOTE_LAZ_BROKEN_TEST_H
#define MOTE_LAZ_BROKEN_TEST_H

#include "support/laz_files.h"

typedef struct listener {
    char warnings[4096];
    int calls_left; /* of progress, before it cancels; -1: never */
} listener;
mote_context *broken_context(listener *l, int threads);

/* Reads bytes as a file of exactly that size. */
mote_status broken_read(mote_context *ctx, listener *l, const uint8_t *data, size_t size, bool salvage,
                        mote_cloud **cloud);
/* Whether the cloud has exactly these records from its point at on. */
bool broken_same_records(const mote_cloud *cloud, uint64_t at, const laz_made *m, uint64_t first, uint64_t count);

/* laz_broken_test_salvage.c */
void damaged_chunks_are_left_out(void **state);
void cut_files_keep_what_is_there(void **state);
void interrupted_writes(void **state);
void salvage_in_pieces(void **state);

/* laz_broken_test_files.c */
void real_broken_files(void **state);

#endif
