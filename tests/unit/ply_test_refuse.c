/* PLY: what is refused, and with which words. */
#include <stdlib.h>
#include <string.h>

#include "unit/ply_test.h"

#define REFUSED(bytes, message) test_refused(ctx, "ply", bytes, sizeof bytes - 1, message)

void refuses_bad_headers(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    REFUSED("", "offset 0: the file is empty");
    REFUSED("plyx\n", "begins with the line");
    REFUSED(ASCII "element vertex 1\n" XYZ, "no end_header");
    REFUSED(ASCII "element vertex 1\n" XYZ "0 0 0\n", "offset 89: a PLY header line that is no");
    REFUSED(ASCII "element vertex -5\n" XYZ "end_header\n", "offset 36: the count of an element is negative");
    REFUSED(ASCII "element vertex 18446744073709551616\n" XYZ "end_header\n", "beyond 64 bits");
    REFUSED(ASCII "element vertex 18446744073709551615\n" XYZ "end_header\n", "need at least");
    REFUSED("ply\n" BINARY "element vertex 9223372036854775807\n" XYZ "end_header\n", "need at least 12 bytes each");
    REFUSED(ASCII "element vertex 1.5\n" XYZ "end_header\n", "no whole number");
    REFUSED(ASCII "element vertex nan\n" XYZ "end_header\n", "no whole number");
    REFUSED("ply\n" BINARY "element vertex 4294967295\n" XYZ "end_header\nxxxxxxxxxxxx",
            "4294967295 of element vertex");
    REFUSED(ASCII "element void 1000000000\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "no properties");
    REFUSED(ASCII "element vertex 1\nproperty quad x\nend_header\n", "\"quad\" is no type");
    REFUSED(ASCII "element vertex 1\nproperty float y\nproperty float z\nend_header\n0 0\n", "no property x");
    REFUSED(ASCII "element vertex 1\n" XYZ "property float x\nend_header\n0 0 0 0\n",
            "property x of element vertex stands twice");
    REFUSED(ASCII "element vertex 1\n" XYZ "element vertex 1\nend_header\n0 0 0\n", "element vertex stands twice");
    REFUSED(ASCII
            "element vertex 1\nproperty list uchar float x\nproperty float y\nproperty float z\nend_header\n1 0 0 0\n",
            "no property x");
    REFUSED(ASCII "element vertex 1\n" XYZ "element face 1\nproperty list float int i\nend_header\n0 0 0\n0\n",
            "cannot be of type float");
    REFUSED(ASCII "comment a\0b\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "offset 30: a zero byte");
    REFUSED(ASCII "end_header\n", "no element vertex");
    REFUSED("ply\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "no format line");
    REFUSED("ply\nformat ascii 2.0\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "the format is none of");
    REFUSED(ASCII "property float x\n", "before the first element");
    REFUSED(ASCII "element vertex 1 2\n", "needs a name and a count");
    REFUSED(ASCII "element vertex 1\nproperty float\n", "needs a type");
    REFUSED(ASCII "comment mote column x scale 0\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "scale 0");
    REFUSED(ASCII "comment mote column x scale nan\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "finite number");
    REFUSED(ASCII "comment mote column x joined int64\nelement vertex 1\n" XYZ "end_header\n0 0 0\n", "no halves");
    const size_t size = 2 << 20;
    char *const line = malloc(size);
    memset(line, 'a', size);
    memcpy(line, ASCII "comment ", sizeof ASCII + 7);
    test_refused(ctx, "ply", line, size, "header line of more than");
    free(line);
    mote_context_destroy(ctx);
}

void refuses_bad_bodies(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    REFUSED(ASCII "element vertex 3\n" XYZ "end_header\n0 0 0\n1 1\n", "need at least");
    REFUSED(ASCII "element vertex 3\n" XYZ "end_header\n0 0 0\n1.000000 1\n", "the file ends after 2 of 3 rows");
    REFUSED(ASCII "element vertex 2\n" XYZ "end_header\n0 0 0\n1.0000000 1\n",
            "line 9, column 12: the row ends after 2 values");
    REFUSED(ASCII "element vertex 1\n" XYZ "end_header\n0 0 0 1\n", "more than 3 values");
    REFUSED(ASCII "element vertex 1\n" XYZ "end_header\nnan 1e999 1,5\n", "line 8, column 5: \"1e999\" does not fit");
    REFUSED(ASCII "element vertex 1\n" XYZ "end_header\n1 nan 1,5\n", "decimal comma");
    REFUSED(ASCII "element vertex 1\n" XYZ "property uchar c\nend_header\n0 0 0 256\n",
            "\"256\" does not fit the type uint8");
    REFUSED(ASCII "element vertex 1\n" XYZ "property int c\nend_header\n0 0 0 0.5\n",
            "\"0.5\" does not fit the type int32");
    REFUSED("ply\n" BINARY "element vertex 2\n" XYZ "end_header\n0123456789012345678901",
            "need at least 12 bytes each");
    REFUSED("ply\n" BINARY "element face 1\nproperty list uint int i\nelement vertex 1\n" XYZ
            "end_header\n\xFF\xFF\xFF\xFF"
            "012345678901",
            "list i has 4294967295 values");
    REFUSED("ply\n" BINARY "element vertex 1\nproperty list uint64 double i\n" XYZ
            "end_header\n\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
            "012345678901",
            "values, the file has");
    REFUSED("ply\n" BINARY "element vertex 1\nproperty list uchar uchar i\n" XYZ "end_header\n\x05"
            "012345678901",
            "the file ends within property y");
    REFUSED("ply\n" BINARY "element f 2\nproperty list uchar uchar i\nelement vertex 1\n" XYZ "end_header\n\x0C"
            "012345678901\0",
            "the file ends within element vertex");
    mote_context_destroy(ctx);
}

void refuses_broken_files(void **state) {
    (void)state;
    static const char *const names[] = {"broken/crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply",
                                        "broken/empty.ply",
                                        "broken/no_vertex.ply",
                                        "ply/sized_dims.ply",
                                        "ply/unsized_dims.ply",
                                        "broken/gen/p01_count_max.ply",
                                        "broken/gen/p03_count_2e64.ply",
                                        "broken/gen/p05_no_end_header.ply",
                                        "broken/gen/p07_unknown_type.ply",
                                        "broken/gen/p09_dup_x.ply",
                                        "broken/gen/p11_ascii_short.ply",
                                        "broken/gen/p15_float_list_count.ply",
                                        "broken/gen/p17_nul_in_header.ply"};
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const path = test_data(names[i]);
        if (path == NULL) continue;
        mote_cloud *cloud = NULL;
        mote_context_clear(ctx);
        if (mote_cloud_read(ctx, path, NULL, &cloud) != MOTE_ERROR_DATA) fail_msg("%s was read", path);
        assert_non_null(strstr(mote_context_message(ctx), ": offset "));
        assert_non_null(strstr(mote_context_message(ctx), path));
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
    }
    mote_context_destroy(ctx);
}
