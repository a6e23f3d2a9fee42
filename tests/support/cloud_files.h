/* What tests of formats share: files that must be read and written, and looking at what came of it. */
#ifndef MOTE_TEST_CLOUD_FILES_H
#define MOTE_TEST_CLOUD_FILES_H

#include "support/support.h"

/* These fail the test where the library does. */
mote_cloud *test_read(mote_context *ctx, const char *path);
void test_write(mote_context *ctx, const mote_cloud *cloud, const char *path, const mote_write_params *params);
uint64_t test_hash(mote_context *ctx, const mote_cloud *cloud);
const mote_column *test_column(const mote_cloud *cloud, const char *name);
double test_value(const mote_cloud *cloud, const char *name, uint64_t i);

/* All columns as "x:float red:uint8 …". */
void test_columns_are(const mote_cloud *cloud, const char *expected);
/* Names, types, units and the system are the same; descriptions where they count. */
void test_same_columns(const mote_cloud *a, const mote_cloud *b, bool descriptions);

/* The bytes of a file and a zero behind them; for free(). */
char *test_load(const char *path, size_t *size);
/* Reads the bytes as the file test_path("bad.ENDING"), which must fail as malformed with this message at some
   offset, and take no more than 1 MiB beside them. */
void test_refused(mote_context *ctx, const char *ending, const void *bytes, size_t size, const char *message);

/* A context of two threads that keeps the last warning: message [TEST_MESSAGE_BYTES]. */
#define TEST_MESSAGE_BYTES 512u
mote_context *test_context_listening(char *message);

/* Writes a cloud over an old file, on a disk of 256 KB: that must fail, say which file, and leave the old one and
   nothing beside it. Skips the test where no small file system may be mounted. */
void test_full_disk(mote_context *ctx, const mote_cloud *cloud, const char *name);

#endif
