/* What the parts of the test of PLY share. */
#ifndef MOTE_PLY_TEST_H
#define MOTE_PLY_TEST_H

#include "support/cloud_files.h"

/* Headers, from line to line. */
#define ASCII  "ply\nformat ascii 1.0\n"
#define BINARY "format binary_little_endian 1.0\n"
#define XYZ    "property float x\nproperty float y\nproperty float z\n"

/* ply_test_refuse.c */
void refuses_bad_headers(void **state);
void refuses_bad_bodies(void **state);
void refuses_broken_files(void **state);

#endif
