/* What the parts of the test of E57 share. */
#ifndef MOTE_E57_TEST_H
#define MOTE_E57_TEST_H

#include "mote_have.h"
#include "reference/e57_reference.h"
#include "support/cloud_files.h"

#define E57_SINGLE_FIELD "type=\"Float\" precision=\"single\""
#define E57_DOUBLE_FIELD "type=\"Float\""

/* Random numbers of so many bits, for free(). */
uint64_t *e57_random(uint64_t row, uint64_t count, uint32_t bits);
/* Floats or doubles as a naive writer takes them, for free(). */
uint64_t *e57_singles(const float *values, uint64_t count);
uint64_t *e57_doubles(const double *values, uint64_t count);
/* Random coordinates within 100, for free(). */
double *e57_coordinates(uint64_t row, uint64_t count);
/* Reads bytes as a file; params may be NULL. */
mote_cloud *e57_read_bytes(mote_context *ctx, const uint8_t *bytes, size_t size, const mote_read_params *params);
/* A file of one scan of random points: x, y, z as floats, an intensity of 7 bits, and a colour. Packets of cut bytes
   and a few more of each field. */
uint8_t *e57_plain(uint64_t records, uint32_t cut, size_t *size);

/* Both files have the same bytes. */
void e57_same_file(const char *a, const char *b);

/* e57_test_scans.c */
void poses_are_applied_or_kept(void **state);
void spherical_coordinates_are_converted(void **state);
void invalid_points_are_left_out(void **state);
void scans_of_different_fields_are_united(void **state);
void normals_turn_with_the_pose(void **state);
void colours_of_any_depth(void **state);
void time_stamps_and_returns(void **state);
void real_files_are_read(void **state);

/* e57_test_broken.c */
void refuses_bad_headers(void **state);
void refuses_bad_xml(void **state);
void refuses_bad_packets(void **state);
void damaged_pages_are_told(void **state);
void salvage_loses_only_damaged_packets(void **state);
void any_cut_is_told(void **state);
void counts_that_lie_take_no_memory(void **state);

/* e57_test_write.c */
void comes_back_as_it_was(void **state);
void pieces_are_the_whole(void **state);
void a_scan_for_each_source(void **state);
void writes_what_the_standard_asks(void **state);
void survives_failing_allocations(void **state);
void cancel_leaves_nothing(void **state);
void full_disk_is_told(void **state);

/* e57_test_pieces.c */
void pieces_become_las_as_the_whole_does(void **state);
void few_and_no_points_become_las(void **state);
void losses_are_told_once(void **state);
void pieces_survive_failures(void **state);

#endif
