/* What the parts of the test of PCD share. */
#ifndef MOTE_PCD_TEST_H
#define MOTE_PCD_TEST_H

#include "support/cloud_files.h"

/* How points are written. */
enum { BINARY, COMPRESSED, ASCII, WAYS };

/* Headers, from line to line. */
#define REST "WIDTH 2\nHEIGHT 1\nPOINTS 2\n"
#define XYZ  "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"

mote_cloud *pcd_read_bytes(mote_context *ctx, const void *bytes, size_t size);
mote_cloud *pcd_read_text(mote_context *ctx, const char *text);
mote_write_params pcd_params(int way);
void pcd_write(mote_context *ctx, const mote_cloud *cloud, const char *path, int way);
/* Every encoding gives the same columns, grid and records back; so does a second time. Texts of packed colours are left
   out of the comparison, for ascii declares these as integers. */
void pcd_check_round_trips(mote_context *ctx, const mote_cloud *cloud);
/* Returns where the next bytes go. */
uint8_t *pcd_put(uint8_t *to, const void *from, size_t size);

/* pcd_test_refuse.c */
void refuses_bad_headers(void **state);
void refuses_bad_points(void **state);
void refuses_bad_compression(void **state);
void lzf_gives_bytes_back(void **state);

/* pcd_test_write.c */
void writes_a_bit_of_everything(void **state);
void writes_chosen_columns(void **state);
void same_bytes_for_any_threads(void **state);
void survives_failing_allocations(void **state);
void cancel_leaves_nothing(void **state);
void reads_real_files(void **state);

#endif
