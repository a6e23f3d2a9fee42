/* Every point format and version of LAS, with every attribute that it has, through every format that is read and
   written, and back to LAS. */
#include "io/potree/potree.h"
#include "math/hash.h"
#include "support/cloud_files.h"
#include "support/las_files.h"

#define POINTS 200u

typedef enum flag_kind { FLAGS_RANDOM, FLAGS_NONE, FLAGS_ONE } flag_kind;

static bool is_flag(const char *name) {
    for (int f = 0; f < 4; f++) {
        if (strcmp(name, potree_flag_columns[f]) == 0) return true;
    }
    return strcmp(name, "scanner_channel") == 0;
}

/* A value that the field holds; one per point where it is a position. */
static double field_value(const las_field *field, uint64_t i, uint32_t seed, flag_kind flags) {
    const uint64_t random = mote_hash_pair(i, seed);
    const uint32_t bits = field->bit_count != 0 ? field->bit_count : 8 * mote_type_size(field->type);
    if (seed < 3) return (double)(1000 * i + random % 1000);
    if (is_flag(field->name) && flags == FLAGS_NONE) return 0;
    if (is_flag(field->name) && flags == FLAGS_ONE)
        return strcmp(field->name, potree_flag_columns[seed % 3]) == 0 && i == 7;
    if (strcmp(field->name, "gps_time") == 0) return (double)(random % 604800000) / 1024;
    if (strcmp(field->name, "scan_angle_rank") == 0) return (double)(random % 181) - 90;
    if (strcmp(field->name, "scan_angle") == 0) return (double)(random % 60001) - 30000;
    if (mote_type_is_float(field->type)) return (double)(random % 100000) / 64 - 700;
    return (double)(random >> (64 - (bits < 53 ? bits : 53)));
}

/* A file test_path("source.las") with all that the format has; and the cloud of it. */
static mote_cloud *make_source(mote_context *ctx, int format, int minor, flag_kind flags) {
    las_field fields[LAS_FIELDS_MAX];
    mote_column_spec specs[LAS_FIELDS_MAX];
    const uint32_t count = mote_las_fields((uint32_t)format, fields);
    for (uint32_t f = 0; f < count; f++) {
        const mote_column_spec spec = {fields[f].name, fields[f].type, f < 3 ? 0.01 : fields[f].scale, 0};
        specs[f] = spec;
    }
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, count, &cloud), MOTE_OK);
    for (uint32_t f = 0; f < count; f++) {
        for (uint64_t i = 0; i < POINTS; i++) set_value(cloud, fields[f].name, i, field_value(&fields[f], i, f, flags));
    }
    mote_write_params params = mote_write_defaults();
    params.las_format = format;
    params.las_version_minor = minor;
    write_ok(ctx, cloud, test_path("source.las"), &params);
    mote_cloud_destroy(cloud);
    return read_ok(ctx, test_path("source.las"));
}

/* A way to another format. */
typedef struct route {
    const char *name;
    bool keeps_version; /* the LAS header travels along */
    bool to_copc;
} route;

static const route routes[] = {{"trip.laz", true, false},  {"trip", true, false},        {"trip_brotli", true, false},
                               {"trip.ply", false, false}, {"ascii.ply", false, false},  {"trip.pcd", false, false},
                               {"trip.xyz", false, false}, {"trip.copc.laz", true, true}};

static void write_route(mote_context *ctx, const mote_cloud *cloud, const route *by) {
    const bool folder = strchr(by->name, '.') == NULL;
    mote_write_params params = mote_write_defaults();
    params.text = strncmp(by->name, "ascii", 5) == 0;
    if (!folder && !by->to_copc) {
        write_ok(ctx, cloud, test_path(by->name), &params);
        return;
    }
    mote_lod_params lod_params = mote_lod_defaults();
    mote_potree_params potree = mote_potree_defaults();
    if (strstr(by->name, "brotli") != NULL) potree.encoding = MOTE_POTREE_BROTLI;
    if (by->to_copc) lod_params.max_node_points = 0;
    mote_lod *lod = NULL;
    assert_int_equal(mote_lod_build(ctx, cloud, &lod_params, &lod), MOTE_OK);
    const mote_status status = by->to_copc ? mote_copc_write(ctx, lod, test_path(by->name), NULL, NULL)
                                           : mote_potree_write(ctx, lod, test_path(by->name), &potree, NULL);
    if (status != MOTE_OK) fail_msg("%s: %s", by->name, mote_context_message(ctx));
    mote_lod_destroy(lod);
}

/* Rows of points by x, which no two share. */
static void find_rows(const mote_cloud *cloud, uint64_t rows[POINTS]) {
    assert_int_equal(mote_cloud_count(cloud), POINTS);
    for (uint64_t p = 0; p < POINTS; p++) rows[(uint64_t)(mote_column_integer(test_column(cloud, "x"), p) / 1000)] = p;
}

static void check_trip(const mote_cloud *from, const mote_cloud *back, const char *what) {
    uint64_t rows[2][POINTS];
    find_rows(from, rows[0]);
    find_rows(back, rows[1]);
    for (uint32_t c = 0; c < mote_cloud_column_count(from); c++) {
        const mote_column *column = mote_cloud_column(from, c), *other = mote_cloud_find(back, column->name);
        double tolerance = 0;
        if (other == NULL && strcmp(column->name, "scan_angle_rank") == 0) {
            other = mote_cloud_find(back, "scan_angle"); /* COPC */
            tolerance = 0.0031;
        }
        if (other == NULL) fail_msg("%s: lost %s", what, column->name);
        for (uint64_t i = 0; i < POINTS; i++) {
            const double a = mote_column_value(column, rows[0][i]), b = mote_column_value(other, rows[1][i]);
            if (!(fabs(a - b) <= tolerance))
                fail_msg("%s: %s of point %u is %g, was %g", what, column->name, (unsigned)i, b, a);
        }
    }
}

static void check_route(mote_context *ctx, const mote_cloud *source, const route *by, const char *what) {
    mote_las_facts before, after;
    write_route(ctx, source, by);
    mote_cloud *between = read_ok(ctx, test_path(by->name));
    write_ok(ctx, between, test_path("back.las"), NULL);
    mote_cloud *back = read_ok(ctx, test_path("back.las"));
    assert_true(mote_cloud_las_facts(source, &before) && mote_cloud_las_facts(back, &after));
    const int smallest = before.format >= 6 ? 4 : before.format >= 4 ? 3 : 2;
    if (!by->to_copc && after.format != before.format) fail_msg("%s: format %d", what, after.format);
    if (!by->to_copc && after.version_minor != (by->keeps_version ? before.version_minor : smallest)) {
        fail_msg("%s: version 1.%d", what, after.version_minor);
    }
    check_trip(source, back, what);
    mote_cloud_destroy(back);
    mote_cloud_destroy(between);
}

static void every_format_comes_back(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (int format = 0; format <= 10; format++) {
        for (int minor = format >= 6 ? 4 : format >= 4 ? 3 : 2; minor <= 4; minor++) {
            for (int flags = FLAGS_RANDOM; flags <= FLAGS_ONE; flags++) {
                mote_cloud *source = make_source(ctx, format, minor, (flag_kind)flags);
                for (size_t r = 0; r < sizeof routes / sizeof routes[0]; r++) {
                    char what[96];
                    snprintf(what, sizeof what, "1.%d format %d flags %d by %s", minor, format, flags, routes[r].name);
                    check_route(ctx, source, &routes[r], what);
                }
                mote_cloud_destroy(source);
            }
        }
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
