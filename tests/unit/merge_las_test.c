/* LAS files of different kinds as one cloud: scan angles in degrees and in steps, GPS times of two kinds. */
#include <stdio.h>

#include "io/io_internal.h"
#include "io/merge/merge_plan.h"
#include "support/cloud_files.h"
#include "support/las_files.h"

#define POINTS     181u
#define TEXT_BYTES 4096u

static void append_message(void *user, mote_log_level level, const char *message) {
    char *text = user;
    (void)level;
    strncat(text, message, TEXT_BYTES - 1 - strlen(text));
}

/* A context that collects all messages. text [TEXT_BYTES] */
static mote_context *collecting_context(char *text) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 2;
    params.device = MOTE_DEVICE_CPU;
    params.log = append_message;
    params.log_user = text;
    text[0] = '\0';
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* A LAS file whose angles run from -90 to 90 degrees, and whose times start at first_time. */
static void make_file(mote_context *ctx, const char *name, int format, int minor, double first_time,
                      uint16_t encoding) {
    const bool steps = format >= 6;
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 0},
        {"y", MOTE_INT32, 0.01, 0},
        {"z", MOTE_INT32, 0.01, 0},
        {"gps_time", MOTE_FLOAT64, 0, 0},
        {steps ? "scan_angle" : "scan_angle_rank", steps ? MOTE_INT16 : MOTE_INT8, steps ? 0.006 : 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 5, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) {
        set_value(cloud, "x", i, (double)i);
        set_value(cloud, "gps_time", i, first_time == 0 ? 0 : first_time + (double)i);
        set_value(cloud, specs[4].name, i, steps ? 100.0 * (double)i - 9000 : (double)i - 90);
    }
    mote_write_params params = mote_write_defaults();
    params.las_format = format;
    params.las_version_minor = minor < 2 ? 2 : minor;
    write_ok(ctx, cloud, test_path(name), &params);
    mote_cloud_destroy(cloud);
    file_bytes file = load(test_path(name));
    file.data[25] = (uint8_t)minor;
    file.data[6] = (uint8_t)((file.data[6] & ~1u) | encoding);
    FILE *stream = fopen(test_path(name), "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file.data, 1, file.size, stream), file.size);
    fclose(stream);
    free(file.data);
}

static mote_status read_both(mote_context *ctx, const char *a, const char *b, const char *select, mote_cloud **cloud) {
    char where[2][256];
    snprintf(where[0], sizeof where[0], "%s", test_path(a));
    snprintf(where[1], sizeof where[1], "%s", test_path(b));
    const char *const paths[] = {where[0], where[1]};
    mote_read_params params = mote_read_defaults();
    params.select = select;
    return mote_cloud_read_many(ctx, paths, 2, &params, cloud);
}

static void degrees_become_steps(void **state) {
    (void)state;
    static const char *const names[] = {"old.las", "new.las"};
    char message[TEXT_BYTES];
    for (int order = 0; order < 2; order++) {
        for (int format = 0; format < 6; format++) {
            mote_context *ctx = collecting_context(message);
            mote_cloud *both = NULL;
            make_file(ctx, "old.las", format, 4, 0, 0);
            make_file(ctx, "new.las", 6 + format % 5, 4, 0, 1);
            assert_int_equal(read_both(ctx, names[order], names[1 - order], NULL, &both), MOTE_OK);
            assert_non_null(strstr(message, "whole degrees"));
            assert_null(mote_cloud_find(both, "scan_angle_rank"));
            const mote_column *angle = test_column(both, "scan_angle");
            assert_int_equal(angle->type, MOTE_INT16);
            assert_near(angle->scale, 0.006, 0);
            for (uint64_t i = 0; i < POINTS; i++) {
                const uint64_t old = order == 0 ? i : POINTS + i, new = order == 0 ? POINTS + i : i;
                assert_near(mote_column_value(angle, old), (double)i - 90, 0.0031);
                assert_int_equal(mote_column_integer(angle, new), 100 * (int64_t)i - 9000);
            }
            write_ok(ctx, both, test_path("both.las"), NULL);
            mote_cloud *back = read_ok(ctx, test_path("both.las"));
            assert_near(test_value(back, "scan_angle", 0), mote_column_value(angle, 0), 0);
            mote_cloud_destroy(back);
            mote_cloud_destroy(both);
            mote_context_destroy(ctx);
        }
    }
}

/* Angles of another file in doubles: the degrees as they are. */
static void degrees_meet_doubles(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                      {"y", MOTE_INT32, 0.01, 0},
                                      {"z", MOTE_INT32, 0.01, 0},
                                      {"scan_angle", MOTE_FLOAT64, 0, 0}};
    mote_cloud *cloud = NULL, *both = NULL;
    assert_int_equal(mote_cloud_create(ctx, 2, specs, 4, &cloud), MOTE_OK);
    set_value(cloud, "scan_angle", 1, 12.3456);
    write_ok(ctx, cloud, test_path("angles.ply"), NULL);
    make_file(ctx, "old.las", 1, 2, 0, 0);
    assert_int_equal(read_both(ctx, "old.las", "angles.ply", NULL, &both), MOTE_OK);
    assert_near(test_value(both, "scan_angle", 3), -87, 0);
    assert_near(test_value(both, "scan_angle", POINTS + 1), 12.3456, 0);
    mote_cloud_destroy(both);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Degrees with fractions, as PDAL writes ranks to PLY, are no whole degrees: all digits are there, in the cloud and in
   a LAS file, whose own dimension has the nearest step. */
static void fractions_are_kept(void **state) {
    (void)state;
    static const double degrees[] = {12.345, -7.1234, 0.001};
    char message[TEXT_BYTES];
    mote_context *ctx = collecting_context(message);
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                      {"y", MOTE_INT32, 0.01, 0},
                                      {"z", MOTE_INT32, 0.01, 0},
                                      {"scan_angle_rank", MOTE_FLOAT64, 0, 0}};
    mote_cloud *cloud = NULL, *both = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 4, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 3; i++) set_value(cloud, "scan_angle_rank", i, degrees[i]);
    write_ok(ctx, cloud, test_path("fractions.ply"), NULL);
    make_file(ctx, "new.las", 6, 4, 0, 1);
    for (int order = 0; order < 2; order++) {
        const uint64_t first = order == 0 ? POINTS : 0, of_las = order == 0 ? 1 : 4;
        message[0] = '\0';
        assert_int_equal(read_both(ctx, order == 0 ? "new.las" : "fractions.ply",
                                   order == 0 ? "fractions.ply" : "new.las", NULL, &both),
                         MOTE_OK);
        assert_null(strstr(message, "whole degrees"));
        assert_null(mote_cloud_find(both, "scan_angle_rank"));
        write_ok(ctx, both, test_path("both.las"), NULL);
        assert_non_null(strstr(message, "scan_angle cannot hold the values of the cloud's exactly"));
        mote_cloud *back = read_ok(ctx, test_path("both.las"));
        for (uint64_t i = 0; i < 3; i++) {
            assert_near(test_value(both, "scan_angle", first + i), degrees[i], 0);
            assert_near(test_value(back, "scan_angle", first + i), degrees[i], 0.0031);
            assert_near(test_value(back, "scan_angle_2", first + i), degrees[i], 0);
        }
        assert_near(test_value(back, "scan_angle", of_las), 0.006 * (100 - 9000), 0);
        assert_near(test_value(back, "scan_angle_2", of_las), 0.006 * (100 - 9000), 0);
        mote_cloud_destroy(back);
        mote_cloud_destroy(both);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Floats of whole degrees, as CloudCompare writes ranks, are ranks. */
static void whole_floats_become_steps(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                      {"y", MOTE_INT32, 0.01, 0},
                                      {"z", MOTE_INT32, 0.01, 0},
                                      {"scan_angle_rank", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL, *both = NULL;
    assert_int_equal(mote_cloud_create(ctx, 2, specs, 4, &cloud), MOTE_OK);
    set_value(cloud, "scan_angle_rank", 1, -12);
    write_ok(ctx, cloud, test_path("whole.ply"), NULL);
    make_file(ctx, "new.las", 6, 4, 0, 1);
    assert_int_equal(read_both(ctx, "new.las", "whole.ply", NULL, &both), MOTE_OK);
    assert_int_equal(test_column(both, "scan_angle")->type, MOTE_INT16);
    assert_near(test_value(both, "scan_angle", POINTS + 1), -12, 0.0031);
    mote_cloud_destroy(both);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* What an input's header and its times say. */
typedef struct timed {
    int minor;
    uint16_t encoding;
    double first;
    int kind; /* 0: none, 1: week, 2: adjusted */
} timed;

static void times_of_two_kinds_are_refused(void **state) {
    (void)state;
    static const timed kinds[] = {{2, 0, 0, 0},    {2, 0, 1000, 1}, {4, 0, 604000, 1}, {1, 0, 1000, 1},
                                  {2, 1, 3e8, 2},  {4, 1, 1000, 2}, {4, 1, -3e7, 2},   {1, 0, 3e8, 2},
                                  {1, 0, -5e7, 2}, {0, 0, 3e8, 2},  {2, 0, 3e8, 2},    {1, 1, 1000, 1}};
    const size_t count = sizeof kinds / sizeof kinds[0];
    mote_context *ctx = test_context(2);
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            mote_cloud *both = NULL;
            make_file(ctx, "a.las", 1, kinds[a].minor, kinds[a].first, kinds[a].encoding);
            make_file(ctx, "b.las", 3, kinds[b].minor, kinds[b].first, kinds[b].encoding);
            const bool clash = kinds[a].kind + kinds[b].kind == 3 && kinds[a].kind * kinds[b].kind == 2;
            const mote_status status = read_both(ctx, "a.las", "b.las", NULL, &both);
            if ((status != MOTE_OK) != clash)
                fail_msg("times %u and %u: %s", (unsigned)a, (unsigned)b, mote_context_message(ctx));
            if (clash) {
                assert_int_equal(status, MOTE_ERROR_ARGUMENT);
                assert_non_null(strstr(mote_context_message(ctx), "a.las"));
                assert_non_null(strstr(mote_context_message(ctx), "b.las"));
                assert_non_null(strstr(mote_context_message(ctx), "week"));
                mote_context_clear(ctx);
                assert_int_equal(read_both(ctx, "a.las", "b.las", "intensity", &both), MOTE_OK);
            } else {
                write_ok(ctx, both, test_path("both.las"), NULL);
                const file_bytes file = load(test_path("both.las"));
                const int kind = kinds[a].kind > kinds[b].kind ? kinds[a].kind : kinds[b].kind;
                if (kind == 2 && kinds[a].first * kinds[b].first > 2e6) assert_int_equal(file.data[6] & 1, 1);
                if (kind < 2) assert_int_equal(file.data[6] & 1, 0);
                free(file.data);
            }
            mote_cloud_destroy(both);
        }
    }
    mote_context_destroy(ctx);
}

/* LAS 1.0 and 1.1 have no bit for it: what the times say is kept, in one piece or many, by any way. */
static void old_times_say_what_they_are(void **state) {
    (void)state;
    static const char *const outputs[] = {"t.las", "t.laz", "t.copc.laz", "folder"};
    static const timed rows[] = {{1, 0, 3e8, 2}, {0, 0, -5e7, 2}, {1, 0, 1000, 1}, {0, 0, 604000, 1}, {1, 0, 0, 0}};
    char message[TEXT_BYTES];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t o = 0; o < 4; o++) {
            mote_context *ctx = collecting_context(message);
            make_file(ctx, "old.las", 3, rows[r].minor, rows[r].first, 0);
            mote_cloud *cloud = read_ok(ctx, test_path("old.las"));
            if (o < 2) {
                write_ok(ctx, cloud, test_path(outputs[o]), NULL);
            } else {
                mote_lod *lod = NULL;
                mote_lod_params params = mote_lod_defaults();
                params.max_node_points = 0;
                assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
                assert_int_equal(o == 2 ? mote_copc_write(ctx, lod, test_path(outputs[o]), NULL, NULL)
                                        : mote_potree_write(ctx, lod, test_path(outputs[o]), NULL, NULL),
                                 MOTE_OK);
                mote_lod_destroy(lod);
            }
            mote_cloud *between = read_ok(ctx, test_path(outputs[o]));
            write_ok(ctx, between, test_path("back.las"), NULL);
            const file_bytes file = load(test_path("back.las"));
            assert_int_equal(file.data[6] & 1, rows[r].kind == 2);
            assert_true((strstr(message, "no week holds") != NULL) == (rows[r].kind == 2));
            free(file.data);
            mote_cloud_destroy(between);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

static void old_times_in_pieces(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_reader *reader = NULL;
    mote_writer *writer = NULL;
    const mote_cloud *piece = NULL;
    make_file(ctx, "old.las", 1, 1, 3e8, 0);
    mote_cloud *whole = read_ok(ctx, test_path("old.las"));
    write_ok(ctx, whole, test_path("whole.laz"), NULL);
    assert_int_equal(mote_reader_open(ctx, test_path("old.las"), NULL, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    assert_int_equal(mote_writer_open(ctx, piece, POINTS, test_path("pieces.laz"), NULL, &writer), MOTE_OK);
    for (; piece != NULL; assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK)) {
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
    }
    assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_OK);
    mote_reader_close(reader);
    assert_same_file(test_path("whole.laz"), test_path("pieces.laz"));
    mote_cloud_destroy(whole);
    mote_context_destroy(ctx);
}

/* A group of channels is judged together, and those of another group are not of it. */
static void channels_are_of_their_group(void **state) {
    (void)state;
    static const char *const names[5] = {"nir", "intensity", "blue", "red", "green"};
    static const uint32_t expected[MERGE_COLORS] = {3, 1, 1};
    mote_context *ctx = test_context(1);
    mote_column_spec specs[5] = {{.name = NULL}};
    mote_cloud *cloud = NULL;
    for (int k = 0; k < 5; k++) {
        specs[k].name = names[k];
        specs[k].type = MOTE_UINT16;
    }
    assert_int_equal(mote_cloud_create(ctx, 1, specs, 5, &cloud), MOTE_OK);
    for (uint32_t group = 0; group < MERGE_COLORS; group++) {
        const mote_column *channels[8] = {NULL}; /* more than it may fill */
        assert_int_equal(merge_color_channels(cloud, group, channels), expected[group]);
        for (uint32_t k = 0; k < 8; k++) assert_int_equal(channels[k] != NULL, k < expected[group]);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(degrees_become_steps),
        cmocka_unit_test(degrees_meet_doubles),
        cmocka_unit_test(fractions_are_kept),
        cmocka_unit_test(whole_floats_become_steps),
        cmocka_unit_test(times_of_two_kinds_are_refused),
        cmocka_unit_test(old_times_say_what_they_are),
        cmocka_unit_test(old_times_in_pieces),
        cmocka_unit_test(channels_are_of_their_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
