/* E57 to LAS and LAZ piece by piece: the file is the one that the whole cloud becomes, whatever its values ask for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e57_test.h"

/* More than two pieces of one thread. */
#define POINTS 420000u
#define FINE   POINTS - 7u /* the first point that asks for more than all before it */

/* What the values ask of LAS. */
typedef struct piece_case {
    const char *name;
    double step, fine_step; /* of coordinates; 0: none */
    bool singles, broken;
    double intensity; /* the largest one; negative: integers */
    double class_at_end;
} piece_case;

static const piece_case cases[] = {
    {"decimal", 0.01, 0, false, false, -1, 2},
    {"late step", 0.1, 0.0001, false, false, 1, 2},
    {"no step", 0, 0, false, true, 255, 2},
    {"singles", 0, 0, true, false, 65535, 2},
    {"many classes", 0.001, 0, false, true, 0.5, 200},
    {"singles with steps", 0.5, 0.125, true, false, -1, 31},
};

static double place(const piece_case *c, uint64_t axis, uint64_t i) {
    const double at = 4000 * test_random(axis, i) - 2000;
    const double step = c->fine_step > 0 && i >= FINE ? c->fine_step : c->step;
    return step > 0 ? nearbyint(at / step) * step : at;
}

static void put(mote_cloud *cloud, const char *name, uint64_t i, double value) {
    const mote_column *const column = test_column(cloud, name);
    uint8_t *const at = (uint8_t *)mote_cloud_column_data(cloud, name) + i * column->stride_bytes;
    const float single = (float)value;
    const uint16_t whole = column->type == MOTE_UINT8 || column->type == MOTE_UINT16 ? (uint16_t)value : 0;
    switch (column->type) {
    case MOTE_FLOAT64: memcpy(at, &value, sizeof value); break;
    case MOTE_FLOAT32: memcpy(at, &single, sizeof single); break;
    case MOTE_UINT16: memcpy(at, &whole, sizeof whole); break;
    default: *at = (uint8_t)whole; break;
    }
}

static mote_cloud *make_cloud(mote_context *ctx, const piece_case *c) {
    const mote_type real = c->singles ? MOTE_FLOAT32 : MOTE_FLOAT64;
    const mote_column_spec specs[] = {{"x", real, 1, 0},
                                      {"y", real, 1, 0},
                                      {"z", real, 1, 0},
                                      {"intensity", c->intensity < 0 ? MOTE_UINT16 : MOTE_FLOAT32, 1, 0},
                                      {"classification", MOTE_UINT8, 1, 0},
                                      {"gps_time", MOTE_FLOAT64, 1, 0},
                                      {"wave_x", MOTE_FLOAT64, 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, sizeof specs / sizeof specs[0], &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) {
        double values[] = {place(c, 0, i),
                           place(c, 1, i),
                           place(c, 2, i),
                           c->intensity < 0 ? (double)(i % 4000) : c->intensity * test_random(3, i),
                           i >= FINE ? c->class_at_end : (double)(i % 30),
                           (double)i / 8,
                           i >= FINE ? 0.1 : 0.5};
        if (c->broken && i % 50000 == 17) values[i % 3] = NAN;
        for (uint32_t k = 0; k < sizeof specs / sizeof specs[0]; k++) { put(cloud, specs[k].name, i, values[k]); }
    }
    return cloud;
}

static void compare(mote_context *ctx, const char *from, const char *to, const mote_read_params *params) {
    char whole[64], pieces[64];
    mote_cloud *cloud = NULL;
    mote_reader *reader = NULL;
    uint64_t written = 0;
    snprintf(whole, sizeof whole, "whole%s", to);
    snprintf(pieces, sizeof pieces, "pieces%s", to);
    assert_int_equal(mote_cloud_read(ctx, from, params, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path(whole), NULL), MOTE_OK);
    assert_int_equal(mote_reader_open(ctx, from, params, &reader), MOTE_OK);
    assert_int_equal(mote_reader_write(reader, test_path(pieces), NULL, &written), MOTE_OK);
    e57_same_file(test_path(whole), test_path(pieces));
    /* Once more, from wherever the reader is. */
    assert_int_equal(mote_reader_write(reader, test_path(pieces), NULL, &written), MOTE_OK);
    e57_same_file(test_path(whole), test_path(pieces));
    mote_reader_close(reader);
    mote_cloud_destroy(cloud);
    cloud = test_read(ctx, test_path(pieces));
    assert_int_equal(mote_cloud_count(cloud), written);
    mote_cloud_destroy(cloud);
}

void pieces_become_las_as_the_whole_does(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_box box = {{-1000, -1500, -INFINITY}, {500, INFINITY, 1200}};
    mote_read_params some = mote_read_defaults(), lost = mote_read_defaults();
    uint64_t changed = 0;
    lost.set = "x = sqrt(0 - 1)";
    lost.where = "classification == 4"; /* these have no finite position then, which LAS cannot hold */
    some.where = "classification != 7 and z > -1900";
    some.bounds = &box;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        mote_cloud *const cloud = make_cloud(ctx, &cases[c]);
        test_write(ctx, cloud, test_path("case.e57"), NULL);
        mote_cloud_destroy(cloud);
        /* Watched, all of every other and some of the remaining ones. */
        if (test_watched(c % 2 == 0, true)) compare(ctx, test_path("case.e57"), c % 2 == 0 ? ".las" : ".laz", NULL);
        if (test_watched(c % 2 == 1, true)) compare(ctx, test_path("case.e57"), c % 2 == 0 ? ".laz" : ".las", &some);
        if (c < 2) compare(ctx, test_path("case.e57"), ".las", &lost);
    }
    /* What assignments changed is counted once. */
    mote_read_params set = mote_read_defaults();
    mote_reader *reader = NULL;
    set.set = "classification = 3";
    set.where = "classification == 5";
    set.changed = &changed;
    assert_int_equal(mote_reader_open(ctx, test_path("case.e57"), &set, &reader), MOTE_OK);
    assert_int_equal(mote_reader_write(reader, test_path("set.las"), NULL, NULL), MOTE_OK);
    mote_reader_close(reader);
    assert_int_equal(changed, POINTS / 30);
    mote_context_destroy(ctx);
}

/* A file of several scans, in three threads, of which one piece is enough; and one without a point that is kept. */
void few_and_no_points_become_las(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    mote_read_params none = mote_read_defaults();
    size_t size = 0;
    uint8_t *const bytes = e57_plain(5000, 700, &size);
    test_write_file(test_path("few.e57"), bytes, size);
    free(bytes);
    compare(ctx, test_path("few.e57"), ".las", NULL);
    none.where = "z > 1e9";
    compare(ctx, test_path("few.e57"), ".laz", &none);
    mote_context_destroy(ctx);
}

static void count_invalid(void *user, mote_log_level level, const char *message) {
    int *const count = user;
    if (level == MOTE_LOG_WARNING && strstr(message, "that the file calls invalid") != NULL) ++*count;
}

/* What is left out of a file is told once, however often its points are read. */
void losses_are_told_once(void **state) {
    (void)state;
    int told = 0;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    mote_reader *reader = NULL;
    params.threads = 1;
    params.log = count_invalid;
    params.log_user = &told;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_cloud *const cloud = make_cloud(ctx, &cases[2]);
    test_write(ctx, cloud, test_path("invalid.e57"), NULL);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_reader_open(ctx, test_path("invalid.e57"), NULL, &reader), MOTE_OK);
    assert_int_equal(mote_reader_write(reader, test_path("invalid.las"), NULL, NULL), MOTE_OK);
    mote_reader_close(reader);
    assert_int_equal(told, 1);
    mote_context_destroy(ctx);
}

static mote_status write_pieces(mote_context *ctx, void *user) {
    const char *const *const paths = user;
    mote_reader *reader = NULL;
    mote_status status = mote_reader_open(ctx, paths[0], NULL, &reader);
    if (status == MOTE_OK) status = mote_reader_write(reader, paths[1], NULL, NULL);
    mote_reader_close(reader);
    return status;
}

void pieces_survive_failures(void **state) {
    (void)state;
    const char *paths[2] = {test_path("failing.e57"), test_path("failing.las")};
    size_t size = 0;
    uint8_t *const bytes = e57_plain(3000, 700, &size);
    test_write_file(paths[0], bytes, size);
    free(bytes);
    test_each_allocation_fails(write_pieces, paths);
    test_each_step_cancels(write_pieces, paths);
    paths[1] = test_path("failing.laz");
    test_each_allocation_fails(write_pieces, paths);
    test_each_step_cancels(write_pieces, paths);
}
