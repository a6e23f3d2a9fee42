/* Live pictures: where frames of a pipe end, and how many pixels moving pictures get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/live/live_frames.h"
#include "view/live/live_pace.h"

/* ---- frames */

/* The length of the first frame, with bytes that come one by one: -1: never whole, -2: no frame. */
static long found_length(const uint8_t *data, size_t size, bool ends) {
    live_framer framer;
    size_t length = 0;
    memset(&framer, 0, sizeof framer);
    for (size_t n = 1; n <= size; n++) {
        uint8_t *exact = malloc(n); /* what is read beyond it is seen by the sanitizer */
        assert_non_null(exact);
        memcpy(exact, data, n);
        const live_frame_state state = live_frame_end(&framer, exact, n, ends && n == size, &length);
        free(exact);
        if (state == FRAME_WHOLE) return (long)length;
        if (state == FRAME_WRONG) return -2;
    }
    return -1;
}

/* Found byte by byte and at once, alone and with another frame behind it; not without its last byte. */
static void check_frame(const void *bytes, size_t size) {
    const uint8_t *data = bytes;
    uint8_t *twice = malloc(2 * size);
    live_framer framer;
    size_t length = 0;
    assert_non_null(twice);
    memcpy(twice, data, size);
    memcpy(twice + size, data, size);
    memset(&framer, 0, sizeof framer);
    assert_int_equal(live_frame_end(&framer, twice, 2 * size, false, &length), FRAME_WHOLE);
    assert_int_equal(length, size);
    assert_int_equal(found_length(twice, 2 * size, false), size);
    assert_int_equal(found_length(data, size - 1, false), -1);
    free(twice);
}

static void check_text(const char *text) { check_frame(text, strlen(text)); }

static void ply_frames_end_with_their_last_row(void **state) {
    (void)state;
    check_text("ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
               "end_header\n0 0 0\n1 2 3\n");
    check_text("ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty float x\r\nend_header\r\n5\r\n");
    check_text("ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n");
    static const char fixed[] = "ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty float x\n"
                                "property uchar red\nend_header\n0123456789";
    check_frame(fixed, sizeof fixed - 1);
    /* Two faces of three and one corner, behind a vertex; counts and corners of other types. */
    static const char lists[] = "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty double x\n"
                                "element face 2\nproperty list uchar short corners\nproperty uchar flag\nend_header\n"
                                "01234567\3aabbccf\1aaf";
    check_frame(lists, sizeof lists - 1);
    static const char wide[] = "ply\nformat binary_big_endian 1.0\nelement face 1\nproperty list ushort char c\n"
                               "end_header\n\0\3abc";
    check_frame(wide, sizeof wide - 1);
}

static void pcd_frames_end_with_their_last_row(void **state) {
    (void)state;
    check_text("# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\n"
               "POINTS 2\nDATA ascii\n1 2 3\n4 5 6\n");
    check_text("VERSION 0.7\nFIELDS x n\nSIZE 4 2\nTYPE F U\nCOUNT 1 3\nPOINTS 2\nDATA binary\n01234567890123456789");
    static const char packed[] =
        "# .PCD v0.7\nFIELDS x\nSIZE 4\nPOINTS 9\nDATA binary_compressed\n\5\0\0\0\44\0\0\0abcde";
    check_frame(packed, sizeof packed - 1);
}

/* A header of LAS, two records of 20 bytes 400 bytes in, and an extended record of 7 bytes. */
static size_t make_las(uint8_t *las, uint8_t minor, uint8_t format) {
    memset(las, 0, 507);
    memcpy(las, "LASF", 4);
    las[25] = minor;
    las[96] = 400 & 255;
    las[97] = 400 >> 8;
    las[104] = format;
    las[105] = 20;
    las[107] = 2;
    las[247] = 2;
    if (minor < 4) return 440;
    las[243] = 1;
    las[440 + 20] = 7;
    return 507;
}

static void las_frames_end_with_their_last_record(void **state) {
    (void)state;
    uint8_t las[507];
    check_frame(las, make_las(las, 2, 1));
    check_frame(las, make_las(las, 4, 6));
    make_las(las, 4, 6 | 128);
    assert_int_equal(found_length(las, 507, false), -2); /* LAZ: no one knows */
}

static void text_frames_end_with_an_empty_line(void **state) {
    (void)state;
    check_text("0 0 0\n1 1 1\n10 10 10\n\n");
    check_text("0 0 0\r\n1 1 1\r\n2 2 2\r\n\r\n");
    assert_int_equal(found_length((const uint8_t *)"0 0 0\n1 1 1", 11, true), 11);
    assert_int_equal(live_frame_gap((const uint8_t *)"\n\r\n ply", 7), 4);
}

static void what_is_no_frame_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "ply\nformat ascii 1.0\nproperty float x\nend_header\n",
        "ply\nformat binary_little_endian 1.0\nelement vertex 99999999999999999999\nproperty float x\nend_header\n",
        "ply\nformat binary_little_endian 1.0\nelement vertex 60000000000000\nproperty double x\nend_header\n",
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty word x\nend_header\n",
        "# .PCD v0.7\nSIZE 99\nPOINTS 3\nDATA binary\n",
        "# .PCD v0.7\nPOINTS 3\nDATA binary\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(found_length((const uint8_t *)wrong[i], strlen(wrong[i]), false), -2);
    }
    /* What ends within a frame is none either. */
    static const char early[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n1\n2\n";
    assert_int_equal(found_length((const uint8_t *)early, sizeof early - 1, true), -2);
    static const char never[] = "ply\nformat binary_little_endian 1.0\nelement face 2\n"
                                "property list uint double c\nend_header\n\377\377\377\377abc";
    assert_int_equal(found_length((const uint8_t *)never, sizeof never - 1, false), -1);
}

/* ---- pace */

/* Pictures that cost so much for the whole picture with no pixels, and so much for all of its pixels. */
static void draw(live_pace *pace, int pictures, double fixed_s, double pixels_s) {
    for (int i = 0; i < pictures; i++) live_pace_add(pace, fixed_s + pixels_s * pace->scale * pace->scale);
}

static void slow_pictures_get_fewer_pixels_and_fast_ones_more(void **state) {
    (void)state;
    live_pace pace;
    live_pace_start(&pace, 30);
    assert_true(pace.scale == 1);
    draw(&pace, 40, 0.002, 0.100);
    assert_true(pace.scale < 0.65 && pace.scale > 0.4);
    assert_true(0.002 + 0.100 * pace.scale * pace.scale < 1.2 / 30);
    draw(&pace, 60, 0.002, 0.010); /* another view, or a faster network */
    assert_true(pace.scale == 1);
    draw(&pace, 200, 0.002, 0.025); /* within the target: nothing changes */
    assert_true(pace.scale == 1);
}

static void pictures_that_are_far_too_slow_get_fewer_pixels_at_once(void **state) {
    (void)state;
    live_pace pace;
    live_pace_start(&pace, 30);
    draw(&pace, 6, 0.0, 1.6);
    assert_true(pace.scale < 0.3);
}

static void where_fewer_pixels_do_not_help_they_come_back(void **state) {
    (void)state;
    live_pace pace;
    live_pace_start(&pace, 30);
    draw(&pace, 40, 0.200, 0.001); /* the time goes with points */
    assert_true(pace.scale == 1 && pace.is_in_vain);
    draw(&pace, 40, 0.002, 0.020);
    assert_false(pace.is_in_vain);
    draw(&pace, 40, 0.002, 0.100);
    assert_true(pace.scale < 0.65);
    /* From one slowness to another. */
    const double before = pace.scale;
    draw(&pace, 40, 0.400, 0.001);
    assert_true(pace.scale == before && pace.is_in_vain);
    draw(&pace, 120, 0.002, 0.100);
    assert_true(pace.scale < 0.65);
}

static void no_picture_gets_fewer_pixels_than_the_least(void **state) {
    (void)state;
    live_pace pace;
    live_pace_start(&pace, 60);
    draw(&pace, 200, 0.0, 10.0);
    assert_true(pace.scale == LIVE_SCALE_MIN);
    draw(&pace, 400, 0.0, 1e-6);
    assert_true(pace.scale == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_frames_end_with_their_last_row),
        cmocka_unit_test(pcd_frames_end_with_their_last_row),
        cmocka_unit_test(las_frames_end_with_their_last_record),
        cmocka_unit_test(text_frames_end_with_an_empty_line),
        cmocka_unit_test(what_is_no_frame_is_refused),
        cmocka_unit_test(slow_pictures_get_fewer_pixels_and_fast_ones_more),
        cmocka_unit_test(pictures_that_are_far_too_slow_get_fewer_pixels_at_once),
        cmocka_unit_test(where_fewer_pixels_do_not_help_they_come_back),
        cmocka_unit_test(no_picture_gets_fewer_pixels_than_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
