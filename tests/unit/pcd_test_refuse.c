/* PCD: what is refused, and with which words; and that LZF gives bytes back. */
#include <stdlib.h>
#include <string.h>

#include "io/pcd/pcd.h"
#include "unit/pcd_test.h"

void refuses_bad_headers(void **state) {
    (void)state;
#define FIELDS3 "VERSION 0.7\nFIELDS x y z\n"
    static const char *const cases[][2] = {
        {"", "the file is empty"},
        {"1 2 3\n4 5 6\n", "offset 0: \"1\" begins no line of a PCD header"},
        {"VERSION 0.7\n", "offset 12: the PCD header has no DATA line"},
        {"VERSION 0.8\nDATA ascii\n", "offset 8: the VERSION line of the PCD header names none"},
        {"VERSION\nDATA ascii\n", "the VERSION line of the PCD header has no value"},
        {"VERSION 0.7\nVERSION 0.7\n", "offset 12: the VERSION line of the PCD header stands twice"},
        {"SIZE 4 4\nFIELDS x\nTYPE F\n" REST "DATA ascii\n",
         "offset 7: the SIZE line of the PCD header has more values"},
        {"FIELDS\n", "names no field"},
        {"FIELDS x y x\n", "names a field twice"},
        {FIELDS3 "SIZE 4 4\n", "has fewer values than there are fields"},
        {FIELDS3 "SIZE 4 4 4 4\n", "has more values than there are fields"},
        {FIELDS3 "SIZE 4 4 3\n", "offset 34: the SIZE line of the PCD header has a size that is none of"},
        {FIELDS3 "SIZE 4 4 -4\n", "is no whole number"},
        {FIELDS3 "SIZE 4 4 99999999999999999999\n", "is no whole number"},
        {FIELDS3 "TYPE F F D\n", "has a type that is none of I, U and F"},
        {FIELDS3 "TYPE F F FF\n", "has a type that is none of I, U and F"},
        {FIELDS3 "COUNT 1 1 0\n", "has a count beyond 1 to 8192"},
        {FIELDS3 "COUNT 1 1 4294967297\n", "has a count beyond 1 to 8192"},
        {FIELDS3 "WIDTH 1.5\n", "is no whole number"},
        {"\xC3\xA9t\xC3\xA9 1\n" FIELDS3, "\"\xC3\xA9t\xC3\xA9\" begins no line of a PCD header"},
        {FIELDS3 "WIDTH 1 1\n", "has more than one value"},
        {FIELDS3 "WIDTH -1\n", "is no whole number"},
        {FIELDS3 "VIEWPOINT 0 0 0 1 0 0\n", "has fewer than seven numbers"},
        {FIELDS3 "VIEWPOINT 0 0 0 1 0 0 0 0\n", "has more than seven numbers"},
        {FIELDS3 "VIEWPOINT 0 0 0 nan 0 0 0\n", "is no finite number"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\n" REST "DATA text\n", "is none of ascii, binary and binary_compressed"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\n" REST "DATA\n", "the DATA line of the PCD header has no value"},
        {"VERSION 0.7\n" REST "DATA ascii\n", "the PCD header has no FIELDS line"},
        {FIELDS3 "TYPE F F F\n" REST "DATA ascii\n", "the PCD header has no SIZE line"},
        {FIELDS3 "SIZE 4 4 4\n" REST "DATA ascii\n", "the PCD header has no TYPE line"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nWIDTH 2\nDATA ascii\n", "neither a POINTS line nor WIDTH and HEIGHT"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nHEIGHT 2\nPOINTS 3\nDATA ascii\n", "WIDTH 1 times HEIGHT 2 is 2"},
        {XYZ "WIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n", "POINTS is 3, but WIDTH 2 times HEIGHT 2 is 4"},
        {XYZ "WIDTH 2\nPOINTS 3\nDATA ascii\n", "POINTS is 3, but WIDTH 2 times HEIGHT 1 is 2"},
        {XYZ "WIDTH 4294967296\nHEIGHT 4294967296\nPOINTS 0\nDATA ascii\n", "is beyond 64 bits"},
        {FIELDS3 "SIZE 4 4 2\nTYPE F F F\n" REST "DATA ascii\n", "field z is a float of 2 bytes"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 2\n" REST "DATA ascii\n", "0 fields of one value are named z"},
        {"FIELDS x Y\nSIZE 4 4\nTYPE F F\n" REST "DATA ascii\n", "0 fields of one value are named z"},
        {"FIELDS x y z X\nSIZE 4 4 4 4\nTYPE F F F F\n" REST "DATA ascii\n", "2 fields of one value are named x"},
        {"FIELDS x y z a b\nSIZE 1 1 1 1 1\nTYPE U U U U U\nCOUNT 1 1 1 8000 8000\n" REST "DATA ascii\n",
         "a point has more than 8192 values"},
        {"# mote column x scale 0\n" XYZ "WIDTH 0\nHEIGHT 0\nDATA ascii\n", "scale 0"},
        {"# mote column x joined int64\n# mote column y scale nan\n" XYZ "WIDTH 0\nHEIGHT 0\nDATA ascii\n",
         "needs a finite number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        test_refused(ctx, "pcd", cases[i][0], strlen(cases[i][0]), cases[i][1]);
        mote_context_destroy(ctx);
    }
    mote_context *ctx = test_context(2);
    test_refused(ctx, "pcd", "VERSION 0.7\n\0", 13, "offset 12: a zero byte in the PCD header");
    char *const line = malloc(1100000);
    memset(line, '#', 1100000);
    test_refused(ctx, "pcd", line, 1100000, "a PCD header line of more than 1048576 bytes");
    memset(line, 'a', 1000);
    memcpy(line, "FIELDS ", 7);
    test_refused(ctx, "pcd", line, 1000, "a name of more than 90 bytes");
    free(line);
    mote_context_destroy(ctx);
}

void refuses_bad_points(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {XYZ REST "DATA ascii\n1 2 3\n4 5 6 7\n", "line 11, column 7: \"7\": the row has more than 3 values"},
        {XYZ REST "DATA ascii\n1 2 3\n 4 5\n\n", "line 11, column 5: the row ends after 2 values, it needs 3"},
        {XYZ REST "DATA ascii\n1 2 3\n         ", "the file ends after 1 of 2 points"},
        {XYZ REST "DATA ascii\n1 2 three\n4 5 6\n", "line 10, column 5: \"three\" is no number"},
        {XYZ REST "DATA ascii\n", "2 points of 3 values need at least 6 bytes each, the file has 0 left"},
        {XYZ "WIDTH 18446744073709551615\nHEIGHT 1\nDATA ascii\n1 2 3\n", "18446744073709551615 points of 3 values"},
        {XYZ "WIDTH 18446744073709551615\nHEIGHT 1\nDATA binary\n1 2 3\n", "18446744073709551615 points of 12 bytes"},
        {XYZ REST "DATA binary\n01234567890123456789012", "2 points of 12 bytes, but the file has 23 bytes left"},
        {XYZ REST "DATA binary_compressed\n0123456", "the file ends before the compressed data"},
        {"FIELDS x y z a\nSIZE 4 4 4 1\nTYPE F F F U\n" REST "DATA ascii\n1 2 3 256\n1 2 3 4\n",
         "\"256\" does not fit"},
        {"FIELDS x y z a\nSIZE 4 4 4 1\nTYPE F F F U\n" REST "DATA ascii\n1 2 3 1.5\n1 2 3 4\n",
         "\"1.5\" does not fit"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        test_refused(ctx, "pcd", cases[i][0], strlen(cases[i][0]), cases[i][1]);
        mote_context_destroy(ctx);
    }
}

/* A file of binary_compressed with these sizes and bytes. */
static void check_compressed(mote_context *ctx, uint32_t packed, uint32_t unpacked, const char *bytes, size_t size,
                             const char *message) {
    static const char head[] = XYZ REST "DATA binary_compressed\n";
    uint8_t file[1024];
    uint8_t *at = pcd_put(file, head, sizeof head - 1);
    at = pcd_put(pcd_put(pcd_put(at, &packed, 4), &unpacked, 4), bytes, size);
    test_refused(ctx, "pcd", file, (size_t)(at - file), message);
}

void refuses_bad_compression(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char zeros[] = "\x00\x00\xE0\x0E\x00"; /* a zero, and 23 copies of it */
    check_compressed(ctx, 5, 25, zeros, 5, "25 bytes uncompressed, but 2 points of 12 bytes");
    check_compressed(ctx, 5, 48, zeros, 5, "48 bytes uncompressed, but 2 points of 12 bytes");
    check_compressed(ctx, 6, 24, zeros, 5, "6 compressed bytes, but the file has 5 left");
    check_compressed(ctx, UINT32_MAX, 24, zeros, 5, "4294967295 compressed bytes, but the file has 5 left");
    check_compressed(ctx, 0, 24, zeros, 5, "0 compressed bytes cannot become 24");
    check_compressed(ctx, 4, 24, zeros, 5, "a copy runs past the end of the compressed data");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0D\x00", 5, "the compressed data end before the last point");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0F\x00", 5, "there are more points than the header says");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0E\x01", 5, "a copy reaches back before the first byte");
    check_compressed(ctx, 6, 24, "\x00\x00\xE0\x0E\x00\x00", 6, "compressed data are left");
    check_compressed(ctx, 5, 24,
                     "\x17"
                     "1234",
                     5, "literal bytes run past the end of the compressed data");
    check_compressed(ctx, 3, 24, "\x20\x00\x00", 3, "a copy reaches back before the first byte");
    mote_context_destroy(ctx);
    /* 4 GiB cannot come from 5 bytes: nothing is allocated for them. */
    static const char head[] = XYZ "WIDTH 357913941\nHEIGHT 1\nDATA binary_compressed\n";
    uint8_t file[256];
    const uint32_t sizes[2] = {5, 357913941u * 12};
    uint8_t *at = pcd_put(pcd_put(pcd_put(file, head, sizeof head - 1), sizes, 8), zeros, 5);
    ctx = test_context(1);
    test_refused(ctx, "pcd", file, (size_t)(at - file), "5 compressed bytes cannot become 4294967292");
    mote_context_destroy(ctx);
}

/* ---- LZF */

static void check_lzf(const uint8_t *in, size_t size) {
    uint32_t *const table = malloc(MOTE_LZF_TABLE_ENTRIES * sizeof *table);
    const uint64_t bound = mote_lzf_bound(size);
    uint8_t *const packed = malloc(bound), *const out = malloc(size + 1);
    const uint64_t packed_bytes = mote_lzf_encode(in, size, packed, table);
    assert_true(packed_bytes <= bound);
    mote_lzf lzf = {.in = packed, .in_bytes = packed_bytes, .out = out, .out_bytes = size};
    for (uint64_t stop = 0; lzf.out_at < size; stop += 1000) {
        const char *const error = mote_lzf_decode(&lzf, stop < size ? stop : size);
        if (error != NULL) fail_msg("%s", error);
    }
    assert_int_equal(lzf.in_at, packed_bytes);
    if (size > 0) assert_memory_equal(in, out, size);
    assert_true(size <= packed_bytes * MOTE_LZF_EXPANSION);
    free(out);
    free(packed);
    free(table);
}

void lzf_gives_bytes_back(void **state) {
    (void)state;
    const size_t size = 100000;
    uint8_t *const bytes = malloc(size);
    uint32_t random = 1;
    for (uint32_t period = 1; period < 12000; period = period * 2 + 1) {
        for (uint32_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = i < period ? (uint8_t)(random >> 24) : bytes[i - period];
        }
        check_lzf(bytes, size);
    }
    for (uint32_t mask = 1; mask < 256; mask = mask * 2 + 1) {
        for (size_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(random >> 24 & mask);
        }
        check_lzf(bytes, size);
    }
    memset(bytes, 7, size);
    for (size_t length = 0; length < 600; length++) check_lzf(bytes, length);
    check_lzf(bytes, size);
    free(bytes);
}
