/* Expressions: what they mean, what is wrong with them, and what is read and changed by them. */
#ifndef WHERE_TEST_H
#define WHERE_TEST_H

#include "support/cloud_files.h"
#include "support/las_files.h"

/* A cloud of many types, with scales, no-data values and NaN. */
mote_cloud *where_test_cloud(mote_context *ctx, uint64_t points);
/* The points of a cloud that meet a condition, chosen from the whole. */
mote_cloud *where_test_chosen(mote_context *ctx, const mote_cloud *cloud, const char *condition);

void where_reads_what_it_chooses(void **state);
void where_skips_nodes(void **state);
void where_decodes_in_steps(void **state);
void where_reads_real_files(void **state);
void where_survives_failures(void **state);
void where_salvages(void **state);
void sets_values(void **state);
void sets_by_words_of_pdal(void **state);
void refuses_values(void **state);
void sets_while_reading(void **state);
void sets_in_pieces(void **state);

#endif
