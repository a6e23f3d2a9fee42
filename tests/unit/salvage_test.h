/* What the parts of the test of salvage share. */
#ifndef MOTE_SALVAGE_TEST_H
#define MOTE_SALVAGE_TEST_H

#include "support/las_files.h"

/* A context of one thread that keeps its warnings. */
mote_context *salvage_context(int threads);
const char *salvage_warnings(void);

/* Reads bytes as a file of that name, whole and in pieces, which must agree. NULL: an error, which names the file and
   an offset. */
mote_cloud *salvage_read(mote_context *ctx, const char *name, const uint8_t *data, size_t size, bool salvage);
/* Whether the values of part are those of the first points of whole. */
bool salvage_is_prefix(const mote_cloud *part, const mote_cloud *whole);
/* Cuts a file at every step-th byte. With salvage there are never fewer points than at an earlier cut, all of them are
   right, and from byte first on there are points; without it, a cut before byte last is an error that hints at it.
   Returns how many points were there at last cut. */
uint64_t salvage_cuts(mote_context *ctx, const char *name, const file_bytes *file, size_t first, size_t last,
                      size_t step);

/* salvage_test_las.c */
void las_cut_anywhere(void **state);
void las_counts(void **state);
void las_records_are_not_needed(void **state);
void las_description_of_extra_bytes(void **state);
void las_described_but_not_there(void **state);
void las_odd_descriptions(void **state);

/* salvage_test_laz.c */
void laz_cut_anywhere(void **state);
void laz_tables(void **state);
void laz_counts(void **state);
void laz_real_files(void **state);

/* salvage_test_text.c */
void ply_cut_anywhere(void **state);
void ply_counts(void **state);
void ply_broken_faces(void **state);
void pcd_cut_and_counts(void **state);
void pcd_compressed(void **state);
void ptx_cut_and_counts(void **state);
void text_cut_and_counts(void **state);
void text_wrong_lines(void **state);

#endif
