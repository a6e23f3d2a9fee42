/* Reading with a condition gives what choosing from the whole gives, by every reader. */
#include "where_test.h"

#include "core/cloud.h"

static mote_cloud *read_where(mote_context *ctx, const char *path, const char *condition, const char *select) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.where = condition;
    params.select = select;
    const mote_status status = mote_cloud_read(ctx, path, &params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

/* Reads in pieces, and joins them. */
static mote_cloud *read_pieces(mote_context *ctx, const char *path, const char *condition, const char *select) {
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    mote_cloud *all = NULL;
    params.where = condition;
    params.select = select;
    assert_int_equal(mote_reader_open(ctx, path, &params, &reader), MOTE_OK);
    for (;;) {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        if (piece == NULL) break;
        mote_cloud *parts[2] = {all, NULL}, *joined = NULL, *view = (mote_cloud *)(uintptr_t)piece;
        parts[all != NULL] = view;
        assert_int_equal(mote_cloud_join(ctx, parts, all != NULL ? 2 : 1, &joined), MOTE_OK);
        mote_cloud_destroy(all);
        all = joined;
    }
    mote_reader_close(reader);
    return all;
}

/* Order does not count where nodes are skipped: then points come node by node. */
static void check_file(mote_context *ctx, const char *path, const char *condition) {
    mote_cloud *whole = test_read(ctx, path), *expected = where_test_chosen(ctx, whole, condition);
    mote_cloud *part = read_where(ctx, path, condition, NULL);
    assert_int_equal(mote_cloud_count(part), mote_cloud_count(expected));
    if (test_hash(ctx, part) != test_hash(ctx, expected)) fail_msg("%s: %s", path, condition);
    mote_cloud_destroy(part);
    part = read_pieces(ctx, path, condition, NULL);
    if (part != NULL) assert_true(test_hash(ctx, part) == test_hash(ctx, expected));
    if (part == NULL) assert_int_equal(mote_cloud_count(expected), 0);
    mote_cloud_destroy(part);
    mote_cloud_destroy(expected);
    /* Only what is selected remains, whatever the condition names. */
    mote_read_params params = mote_read_defaults();
    mote_cloud *selected = NULL;
    params.select = "x,y,z,intensity";
    assert_int_equal(mote_cloud_read(ctx, path, &params, &selected), MOTE_OK);
    part = read_where(ctx, path, condition, params.select);
    test_same_columns(part, selected, false);
    mote_cloud_destroy(part);
    part = read_pieces(ctx, path, condition, params.select);
    if (part != NULL) test_same_columns(part, selected, false);
    mote_cloud_destroy(part);
    mote_cloud_destroy(selected);
    mote_cloud_destroy(whole);
}

/* A scan that fits LAS, ordered by time. layered: of point format 6, otherwise 1. */
static mote_cloud *scan(mote_context *ctx, uint64_t points, bool layered) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},           {"y", MOTE_INT32, 0.01, 0},
                                      {"z", MOTE_INT32, 0.01, 0},           {"intensity", MOTE_UINT16, 0, 0},
                                      {"classification", MOTE_UINT8, 0, 0}, {"gps_time", MOTE_FLOAT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, points, specs, 6, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < points; i++) {
        set_value(cloud, "x", i, (double)(i / 100));
        set_value(cloud, "y", i, (double)(i % 100));
        set_value(cloud, "z", i, floor(1000 * test_random(1, i)));
        set_value(cloud, "intensity", i, floor(500 * test_random(2, i)));
        set_value(cloud, "classification", i, floor(7 * test_random(3, i)));
        set_value(cloud, "gps_time", i, 1000 + (double)i / 1000);
    }
    const mote_las_origin origin = {.present = true, .version_minor = layered ? 4 : 2, .format = layered ? 6 : 1};
    cloud->las = origin;
    return cloud;
}

void where_reads_what_it_chooses(void **state) {
    (void)state;
    static const char *const files[] = {"a.las", "a.laz", "b.las", "b.laz", "b.ply", "b.pcd", "b.xyz", "b.csv"};
    static const char *const conditions[] = {"classification == 2 && z < 5.5", "intensity > 250 || x < 3",
                                             "gps_time > 1001 and gps_time < 1001.5", "z > 1e9", "true"};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        mote_cloud *cloud = scan(ctx, 3000, files[f][0] == 'b');
        test_write(ctx, cloud, test_path(files[f]), NULL);
        mote_cloud_destroy(cloud);
        for (size_t c = 0; c < sizeof conditions / sizeof conditions[0]; c++) {
            check_file(ctx, test_path(files[f]), conditions[c]);
        }
    }
    mote_context_destroy(ctx);
}

/* Chunks (twelve, where all is tried), ordered by time: most hold no point of a moment. */
void where_decodes_in_steps(void **state) {
    (void)state;
    static const char *const conditions[] = {"gps_time between 1100 and 1120", "gps_time > 1590 && classification == 3",
                                             "x < 1", "classification == 2", "intensity > 1000"};
    const uint64_t points = test_watched(160000, test_extent(450000, 600000));
    for (int threads = (int)test_watched(3, 1); threads <= 3; threads += 2) {
        mote_context *ctx = test_context(threads);
        for (int layered = 0; layered < 2; layered++) {
            mote_cloud *cloud = scan(ctx, points, layered == 1);
            test_write(ctx, cloud, test_path("steps.laz"), NULL);
            mote_cloud_destroy(cloud);
            for (size_t c = 0; c < sizeof conditions / sizeof conditions[0]; c++) {
                check_file(ctx, test_path("steps.laz"), conditions[c]);
            }
        }
        mote_context_destroy(ctx);
    }
}

static uint64_t nodes_read(mote_context *ctx, const char *path, const char *condition, const mote_cloud *whole) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *part = NULL, *expected = where_test_chosen(ctx, whole, condition);
    params.where = condition;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &part), MOTE_OK);
    assert_int_equal(mote_cloud_count(part), mote_cloud_count(expected));
    const uint64_t nodes = part->las.chunk_count;
    mote_cloud_destroy(part);
    mote_cloud_destroy(expected);
    return nodes;
}

void where_skips_nodes(void **state) {
    (void)state;
    static const char *const narrow[] = {"x < 2",
                                         "!(x >= 2)",
                                         "3 > x && z > 1",
                                         "x in (1:2, 3)",
                                         "y == 0.5 && z > 9 || x <= 1 && z > 8",
                                         "x between 1 and 2",
                                         "not (x > 2 or y < 0.25)",
                                         "z < 5 && z > 6",
                                         "X<2"};
    static const char *const wide[] = {
        "z < 1e9", "x != 2", "x + 0 < 2", "y == 0.5 || x <= 1", "classification == 2 || x < 2", "!(x == 2)"};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = scan(ctx, 100000, true);
    mote_lod *lod = NULL;
    mote_lod_params building = mote_lod_defaults();
    building.merge_points = 500;
    assert_int_equal(mote_lod_build(ctx, cloud, &building, &lod), MOTE_OK);
    assert_int_equal(mote_copc_write(ctx, lod, test_path("nodes.copc.laz"), NULL, NULL), MOTE_OK);
    assert_int_equal(mote_potree_write(ctx, lod, test_path("nodes"), NULL, NULL), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud *whole = test_read(ctx, test_path("nodes.copc.laz"));
    const uint64_t all = whole->las.chunk_count;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
        assert_true(nodes_read(ctx, test_path("nodes.copc.laz"), narrow[i], whole) < all / 2);
        nodes_read(ctx, test_path("nodes"), narrow[i], whole);
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        assert_int_equal(nodes_read(ctx, test_path("nodes.copc.laz"), wide[i], whole), all);
        nodes_read(ctx, test_path("nodes"), wide[i], whole);
    }
    mote_cloud_destroy(whole);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void where_reads_real_files(void **state) {
    (void)state;
    static const struct {
        const char *file, *condition;
    } cases[] = {{"las/1.2-with-color.las", "Classification == 2 && Red > 100"},
                 {"las/autzen_trim.las", "ReturnNumber == NumberOfReturns && z < 450"},
                 {"laz/autzen_trim.laz", "ReturnNumber == NumberOfReturns && z < 450"},
                 {"laz/test_semis_2021_0382_6565_LA93_IGN69_cropped.laz", "class in (2, 6) && !overlap"},
                 {"laz/ellipsoid-1.4.laz", "z > 0 && intensity >= 0"},
                 {"laz/extrabytes.laz", "time > 0 and intensity < 1000"},
                 {"copc/lone-star.copc.laz", "Intensity > 100"},
                 {"copc/ellipsoid.copc.laz", "Intensity >= 0 && ReturnNumber == 1"}};
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = test_data(cases[i].file);
        if (path == NULL) skip();
        check_file(ctx, path, cases[i].condition);
    }
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status read_pieces_work(mote_context *ctx, const mote_read_params *params, const char *path) {
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    mote_status status = mote_reader_open(ctx, path, params, &reader);
    if (status == MOTE_OK) status = mote_reader_next(reader, &piece);
    mote_reader_close(reader);
    return status;
}

typedef struct reading {
    const char *path;
    mote_read_params params;
} reading;

static mote_status read_work(mote_context *ctx, void *user) {
    const reading *r = user;
    mote_cloud *cloud = NULL;
    mote_status status = mote_cloud_read(ctx, r->path, &r->params, &cloud);
    mote_cloud_destroy(cloud);
    if (status == MOTE_OK) status = read_pieces_work(ctx, &r->params, r->path);
    return status;
}

void where_survives_failures(void **state) {
    (void)state;
    static const char *const files[] = {"fail.las", "fail.laz", "fail.ply"};
    mote_context *ctx = test_context(1);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        mote_cloud *cloud = scan(ctx, 700, true);
        test_write(ctx, cloud, test_path(files[f]), NULL);
        mote_cloud_destroy(cloud);
        reading r = {.path = test_path(files[f]), .params = mote_read_defaults()};
        r.params.where = "class in (1, 2:3) && (z < 5 || `intensity` > 100)";
        r.params.select = "x,y,z";
        test_each_allocation_fails(read_work, &r);
        test_each_step_cancels(read_work, &r);
        r.params.set = "classification = 4; intensity = intensity + 1 where z > 2";
        test_each_allocation_fails(read_work, &r);
        test_each_step_cancels(read_work, &r);
    }
    mote_context_destroy(ctx);
}

/* A damaged chunk is left out, and the points that the condition leaves out are no losses. */
void where_salvages(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES] = "";
    mote_context *ctx = test_context_listening(message);
    mote_cloud *cloud = scan(ctx, 120000, true), *part = NULL;
    test_write(ctx, cloud, test_path("cut.laz"), NULL);
    mote_cloud_destroy(cloud);
    file_bytes file = load(test_path("cut.laz"));
    test_write_file(test_path("cut.laz"), file.data, file.size / 2);
    free(file.data);
    mote_read_params params = mote_read_defaults();
    params.where = "z > 1e9";
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.laz"), &params, &part), MOTE_ERROR_DATA);
    mote_context_clear(ctx);
    params.salvage = true;
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.laz"), &params, &part), MOTE_OK);
    assert_int_equal(mote_cloud_count(part), 0);
    assert_non_null(strstr(message, "lost"));
    mote_cloud_destroy(part);
    params.where = "classification == 2";
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.laz"), &params, &part), MOTE_OK);
    params.where = NULL;
    mote_cloud *whole = NULL;
    assert_int_equal(mote_cloud_read(ctx, test_path("cut.laz"), &params, &whole), MOTE_OK);
    mote_cloud *expected = where_test_chosen(ctx, whole, "classification == 2");
    assert_true(test_hash(ctx, part) == test_hash(ctx, expected));
    mote_cloud_destroy(expected);
    mote_cloud_destroy(whole);
    mote_cloud_destroy(part);
    mote_context_destroy(ctx);
}
