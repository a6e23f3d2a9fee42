/* What the parts of the test of writing LAZ share. */
#ifndef MOTE_LAZ_WRITE_TEST_H
#define MOTE_LAZ_WRITE_TEST_H

#include "support/las_files.h"

#define POINTS_MAX 100000u

/* Writes a LAS file of a point format with two columns of extra bytes, a record before and one behind the points. */
void laz_write_make(const char *path, uint8_t format, uint64_t count);
/* The parts of a compressed file against the same points as LAS. */
void laz_write_check(mote_context *ctx, const char *laz_path, const char *las_path);

/* laz_write_test_pieces.c
   Writes the whole in pieces of the sizes listed, up to a 0, again and again. */
mote_status laz_write_pieces(mote_context *ctx, const mote_cloud *whole, const char *path, const uint64_t *sizes);
/* How many entries of the test folder start with name. */
int laz_write_entries(const char *name);
void pieces_give_the_same_file(void **state);
void pieces_that_are_refused(void **state);
void wrong_numbers_of_points(void **state);

/* laz_write_test_wrong.c */
void every_allocation_fails_once(void **state);
void cancel_leaves_nothing(void **state);
void full_disk_keeps_the_old_file(void **state);

#endif
