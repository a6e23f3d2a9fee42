/* What the parts of the test of outputs share: all that writes, and what it writes. */
#ifndef MOTE_OUTPUT_TEST_H
#define MOTE_OUTPUT_TEST_H

#include "support/cloud_files.h"

#define OUTPUT_POINTS 3000u

/* What writes, and with which parameters. */
typedef struct output_writer {
    const char *name, *ending;
    bool text, compress, big_endian;
    mote_status (*write)(mote_context *ctx, const mote_cloud *cloud, const struct output_writer *row, const char *path);
} output_writer;

#define OUTPUT_WRITERS      18u
#define OUTPUT_FILE_WRITERS (OUTPUT_WRITERS - 2) /* the last ones write folders */
extern const output_writer output_writers[OUTPUT_WRITERS];

/* Writes LAS in pieces. */
mote_status output_pieces(mote_context *ctx, const mote_cloud *cloud, const output_writer *row, const char *path);
mote_cloud *output_cloud(mote_context *ctx);
/* A fresh folder within the test's. */
const char *output_fresh_folder(const char *name);
int output_entries(const char *folder);
void output_must(const mote_context *ctx, const output_writer *row, mote_status status);
void output_assert_same(const output_writer *row, const char *path, const char *expected, size_t size);

/* output_test_pipes.c */
void a_pipe_gets_the_bytes_of_the_file(void **state);
void a_fifo_is_written_to(void **state);
void a_closed_pipe_is_an_error(void **state);
void signals_of_the_caller_stay_his(void **state);
void a_full_pipe_can_be_cancelled(void **state);
void devices_are_written_to(void **state);
void an_output_without_an_ending_needs_a_format(void **state);

/* output_test_names.c */
void links_are_followed(void **state);
void the_mode_of_a_replaced_file_is_kept(void **state);
void a_hard_link_keeps_the_old_content(void **state);
void the_longest_names_work(void **state);
void the_longest_path_works(void **state);
void leftovers_are_in_nobodys_way(void **state);
void writers_of_one_name_do_not_meet(void **state);

/* output_test_together.c */
void held_outputs_appear_together(void **state);
void held_outputs_have_names_of_their_own(void **state);
void held_outputs_do_not_replace_what_was_read(void **state);
void held_outputs_may_be_read_again(void **state);
void held_outputs_are_removed_after_a_failure(void **state);
void a_name_that_is_taken_takes_all_back(void **state);
void a_folder_is_taken_back(void **state);
void a_held_output_can_be_read(void **state);
void many_outputs_can_be_held(void **state);
void held_outputs_without_memory(void **state);

#endif
