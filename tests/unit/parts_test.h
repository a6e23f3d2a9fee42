/* What the parts of the test of parts share. */
#ifndef MOTE_PARTS_TEST_H
#define MOTE_PARTS_TEST_H

#include "support/parts_clouds.h"
#include "support/support.h"

/* ---- parts_test_compare.c */
/* From here on progress is noted: however many steps and workers there are, they report as one call. */
void parts_watch(mote_context *ctx, test_progress *progress);
/* The call went well, and its progress did not go back and ended. points: none, and it may have reported none */
void parts_expect(mote_context *ctx, mote_status status, const test_progress *progress, uint64_t points);
/* Names of the file of one piece and of that of parts. */
void parts_paths(const char *what, const char *ending, char one[512], char many[512]);
/* Of how many inputs on what fails is tried: sanitizers watch it of two, which runs what one does, and more. */
uint32_t parts_fewest_failing(void);
/* Byte for byte. */
void parts_same_files(const char *one, const char *many);

/* ---- parts_test.c */
/* Folder, and file where there may be one, of parts are those of one piece. */
mote_parts_report parts_compare(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                                uint64_t part_points, uint64_t workers, uint32_t at_least);

/* ---- parts_test_copc.c */
/* The COPC file of parts is that of one piece. */
void parts_compare_copc(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                        uint64_t part_points, uint64_t workers);
void copc_of_scans(void **state);
void copc_survives_failures(void **state);
void copc_refuses_what_it_cannot(void **state);
void copc_leaves_nothing_behind(void **state);
void numbers_beyond_32_bits(void **state);
void numbers_beyond_their_bytes(void **state);
void trees_beyond_32_bits(void **state);

/* ---- parts_test_distance.c */
void distances_of_parts(void **state);
void distances_of_few_points(void **state);
void distances_show_progress(void **state);
void distances_survive_failures(void **state);

/* ---- parts_test_normals.c */
void normals_of_parts(void **state);
void normals_of_ties(void **state);
void outliers_of_parts(void **state);
void normals_survive_failures(void **state);
void normals_refuse_what_they_cannot(void **state);

/* ---- parts_test_knn.c */
void knn_of_parts(void **state);
void knn_of_ties(void **state);
void knn_of_few(void **state);
void knn_beyond_32_bits(void **state);
void knn_survives_failures(void **state);
void knn_refuses_what_it_cannot(void **state);

/* ---- parts_test_order.c */
void order_of_parts(void **state);
void order_of_several(void **state);
void order_survives_failures(void **state);
void order_refuses_what_it_cannot(void **state);
void clouds_are_sorted(void **state);

#endif
