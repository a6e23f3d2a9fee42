/* Reserved fields of the caller's structs: a call refuses those that are not zero, and sets those that it only
   writes. */
#include <string.h>
#include <sys/stat.h>

#include "support/support.h"

#define FIELDS 8

/* What calls work on. */
typedef struct fixture {
    mote_context *ctx;
    mote_cloud *cloud;
    mote_lod *lod;
    mote_knn_index *index;
} fixture;

static void open_fixture(fixture *f) {
    f->ctx = test_context(1);
    assert_int_equal(mote_generate(f->ctx, "uniform", 100, NULL, &f->cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(f->ctx, f->cloud, NULL, &f->lod), MOTE_OK);
    assert_int_equal(mote_knn_build(f->ctx, f->cloud, &f->index), MOTE_OK);
}

static void close_fixture(fixture *f) {
    mote_knn_destroy(f->index);
    mote_lod_destroy(f->lod);
    mote_cloud_destroy(f->cloud);
    assert_int_equal(mote_context_memory_bytes(f->ctx), 0);
    mote_context_destroy(f->ctx);
}

static bool exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- calls with a struct whose reserved fields are these */

static mote_status generates(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_gen_params params = mote_gen_defaults("torus");
    mote_cloud *cloud = NULL;
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_generate(f->ctx, "torus", 10, &params, &cloud);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_write_params writing(const uint64_t reserved[FIELDS]) {
    mote_write_params params = mote_write_defaults();
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return params;
}

static mote_status writes(fixture *f, const uint64_t reserved[FIELDS]) {
    const mote_write_params params = writing(reserved);
    const mote_status status = mote_cloud_write(f->ctx, f->cloud, test_path("written.ply"), &params);
    assert_int_equal(exists(test_path("written.ply")), status == MOTE_OK);
    return status;
}

static mote_status writes_pieces(fixture *f, const uint64_t reserved[FIELDS]) {
    const mote_write_params params = writing(reserved);
    mote_writer *writer = NULL;
    mote_cloud *city = NULL;
    assert_int_equal(mote_generate(f->ctx, "city", 100, NULL, &city), MOTE_OK);
    assert_int_equal(mote_cloud_write(f->ctx, city, test_path("city.las"), NULL), MOTE_OK);
    mote_cloud_destroy(city);
    assert_int_equal(mote_cloud_read(f->ctx, test_path("city.las"), NULL, &city), MOTE_OK);
    mote_status status = mote_writer_open(f->ctx, city, 100, test_path("pieces.las"), &params, &writer);
    if (status == MOTE_OK) status = mote_writer_add(writer);
    status = mote_writer_close(writer, status);
    assert_int_equal(exists(test_path("pieces.las")), status == MOTE_OK);
    mote_cloud_destroy(city);
    return status;
}

static const char *a_file(fixture *f) {
    const char *path = test_path("read.ply");
    assert_int_equal(mote_cloud_write(f->ctx, f->cloud, path, NULL), MOTE_OK);
    return path;
}

static mote_read_params reading(const uint64_t reserved[FIELDS]) {
    mote_read_params params = mote_read_defaults();
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return params;
}

static mote_status reads(fixture *f, const uint64_t reserved[FIELDS]) {
    const mote_read_params params = reading(reserved);
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(f->ctx, a_file(f), &params, &cloud);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status reads_many(fixture *f, const uint64_t reserved[FIELDS]) {
    const mote_read_params params = reading(reserved);
    const char *paths[2] = {a_file(f), a_file(f)};
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read_many(f->ctx, paths, 2, &params, &cloud);
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status reads_pieces(fixture *f, const uint64_t reserved[FIELDS]) {
    const mote_read_params params = reading(reserved);
    mote_reader *reader = NULL;
    const mote_status status = mote_reader_open(f->ctx, a_file(f), &params, &reader);
    mote_reader_close(reader);
    return status;
}

static mote_status builds(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_lod_params params = mote_lod_defaults();
    mote_lod *lod = NULL;
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_lod_build(f->ctx, f->cloud, &params, &lod);
    mote_lod_destroy(lod);
    return status;
}

static mote_status writes_potree(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_potree_params params = mote_potree_defaults();
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_potree_write(f->ctx, f->lod, test_path("potree"), &params, NULL);
    assert_int_equal(exists(test_path("potree")), status == MOTE_OK);
    return status;
}

static mote_status makes_records(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_potree_params params = mote_potree_defaults();
    const void *records;
    uint64_t size_bytes;
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return mote_potree_records(f->ctx, f->lod, &params, &records, &size_bytes);
}

static mote_status writes_copc(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_copc_params params = mote_copc_defaults();
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_copc_write(f->ctx, f->lod, test_path("out.copc.laz"), &params, NULL);
    assert_int_equal(exists(test_path("out.copc.laz")), status == MOTE_OK);
    return status;
}

static mote_status searches(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return mote_knn_search(f->index, NULL, &params, &result);
}

static mote_status answers_neighbours(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    memcpy(result.reserved, reserved, sizeof result.reserved);
    return mote_knn(f->ctx, f->cloud, NULL, NULL, &result);
}

static mote_status estimates(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_normals_params params = mote_normals_defaults();
    mote_normals_result result;
    memset(&result, 0, sizeof result);
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return mote_normals_estimate(f->index, &params, &result);
}

static mote_status answers_normals(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_normals_result result;
    memset(&result, 0, sizeof result);
    memcpy(result.reserved, reserved, sizeof result.reserved);
    return mote_normals(f->ctx, f->cloud, NULL, &result);
}

static mote_status finds_outliers(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_outliers_params params = mote_outliers_defaults();
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    memcpy(params.reserved, reserved, sizeof params.reserved);
    return mote_outliers_find(f->index, &params, &result);
}

static mote_status answers_outliers(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    memcpy(result.reserved, reserved, sizeof result.reserved);
    return mote_outliers(f->ctx, f->cloud, NULL, &result);
}

static mote_status finds_planes(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_planes_params params = mote_planes_defaults();
    mote_planes *planes = NULL;
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_planes_find(f->ctx, f->cloud, &params, NULL, &planes);
    mote_planes_destroy(planes);
    return status;
}

static mote_status votes(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_planes_params params = mote_planes_defaults();
    mote_planes_peak winner;
    uint32_t count = 0;
    memcpy(params.reserved, reserved, sizeof params.reserved);
    const mote_status status = mote_planes_vote(f->ctx, f->cloud, &params, 1, &winner, &count, NULL);
    mote_context_trim(f->ctx);
    return status;
}

#define CALL(type, run)                                                                                                \
    { #type, sizeof(((type *)0)->reserved) / sizeof(uint64_t), run }
static const struct call {
    const char *type;
    size_t fields; /* that are still reserved */
    mote_status (*run)(fixture *f, const uint64_t reserved[FIELDS]);
} calls[] = {
    CALL(mote_gen_params, generates),
    CALL(mote_write_params, writes),
    CALL(mote_write_params, writes_pieces),
    CALL(mote_read_params, reads),
    CALL(mote_read_params, reads_many),
    CALL(mote_read_params, reads_pieces),
    CALL(mote_lod_params, builds),
    CALL(mote_potree_params, writes_potree),
    CALL(mote_potree_params, makes_records),
    CALL(mote_copc_params, writes_copc),
    CALL(mote_knn_params, searches),
    CALL(mote_knn_result, answers_neighbours),
    CALL(mote_normals_params, estimates),
    CALL(mote_normals_result, answers_normals),
    CALL(mote_outliers_params, finds_outliers),
    CALL(mote_outliers_result, answers_outliers),
    CALL(mote_planes_params, finds_planes),
    CALL(mote_planes_params, votes),
};

/* Each field in turn, so that all of them are looked at, then none. */
static void refuses_what_is_not_zero(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        const size_t fields = calls[c].fields;
        for (size_t i = 0; i <= fields; i++) {
            uint64_t reserved[FIELDS] = {0};
            if (i < fields) reserved[i] = i % 2 == 0 ? 1 : (uint64_t)1 << 63;
            const mote_status status = calls[c].run(&f, reserved);
            const char *message = mote_context_message(f.ctx);
            if ((status == MOTE_ERROR_ARGUMENT) != (i < fields)) {
                fail_msg("call %zu, %s.reserved[%zu]: status %d, \"%s\"", c, calls[c].type, i, (int)status, message);
            }
            if (i < fields) assert_non_null(strstr(message, calls[c].type));
            if (i < fields) assert_non_null(strstr(message, "reserved"));
            mote_context_clear(f.ctx);
        }
    }
    close_fixture(&f);
}

/* A log that must not be called: in a struct that was not initialised it points anywhere. */
static void must_not_log(void *user, mote_log_level level, const char *message) {
    (void)user;
    (void)level;
    fail_msg("called: %s", message);
}

static void refuses_params_of_a_context(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(((mote_context_params *)0)->reserved) / sizeof(uint64_t); i++) {
        mote_context_params params = mote_context_defaults();
        mote_context *ctx = NULL;
        params.log = must_not_log;
        params.reserved[i] = 1;
        assert_int_equal(mote_context_create(&params, &ctx), MOTE_ERROR_ARGUMENT);
        assert_null(ctx);
    }
}

static void check_zero(const uint64_t *reserved, size_t count) {
    for (size_t i = 0; i < count; i++) assert_true(reserved[i] == 0);
}
#define IS_ZERO(structure) check_zero((structure).reserved, sizeof(structure).reserved / sizeof(structure).reserved[0])

/* Structs that a call only writes have zeros after it, whatever they held before. */
static void sets_what_it_writes(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    mote_device_info devices[2];
    memset(devices, 0xFF, sizeof devices);
    const uint32_t device_count = mote_devices(devices, 2);
    for (uint32_t i = 0; i < device_count && i < 2; i++) IS_ZERO(devices[i]);

    mote_usage lines[64];
    memset(lines, 0xFF, sizeof lines);
    const uint32_t line_count = mote_context_usage(f.ctx, lines, 64);
    assert_true(line_count > 0);
    for (uint32_t i = 0; i < line_count && i < 64; i++) IS_ZERO(lines[i]);

    mote_copc_report copc_report;
    mote_copc_facts copc_facts;
    mote_copc_level copc_level;
    memset(&copc_report, 0xFF, sizeof copc_report);
    memset(&copc_facts, 0xFF, sizeof copc_facts);
    memset(&copc_level, 0xFF, sizeof copc_level);
    assert_int_equal(mote_copc_write(f.ctx, f.lod, test_path("set.copc.laz"), NULL, &copc_report), MOTE_OK);
    assert_int_equal(mote_copc_levels(f.ctx, test_path("set.copc.laz"), &copc_level, 1, &copc_facts), MOTE_OK);
    IS_ZERO(copc_report);
    IS_ZERO(copc_facts);
    IS_ZERO(copc_level);

    mote_las_facts las;
    mote_cloud *read = NULL;
    memset(&las, 0xFF, sizeof las);
    assert_int_equal(mote_cloud_read(f.ctx, test_path("set.copc.laz"), NULL, &read), MOTE_OK);
    assert_true(mote_cloud_las_facts(read, &las));
    IS_ZERO(las);
    mote_cloud_destroy(read);

    mote_potree_report potree_report;
    mote_potree_facts potree_facts;
    mote_potree_level potree_level;
    memset(&potree_report, 0xFF, sizeof potree_report);
    memset(&potree_facts, 0xFF, sizeof potree_facts);
    memset(&potree_level, 0xFF, sizeof potree_level);
    const mote_status written = mote_potree_write(f.ctx, f.lod, test_path("set"), NULL, &potree_report);
    if (written != MOTE_ERROR_UNSUPPORTED) {
        assert_int_equal(mote_potree_levels(f.ctx, test_path("set"), &potree_level, 1, &potree_facts), MOTE_OK);
        IS_ZERO(potree_report);
        IS_ZERO(potree_facts);
        IS_ZERO(potree_level);
    }
    mote_context_clear(f.ctx);

    mote_planes *planes = NULL;
    mote_planes_peak winner;
    mote_planes_facts facts;
    uint32_t count = 0;
    memset(&winner, 0xFF, sizeof winner);
    memset(&facts, 0xFF, sizeof facts);
    assert_int_equal(mote_planes_vote(f.ctx, f.cloud, NULL, 1, &winner, &count, &facts), MOTE_OK);
    assert_int_equal(count, 1);
    IS_ZERO(winner);
    IS_ZERO(facts);
    assert_int_equal(mote_planes_find(f.ctx, f.cloud, NULL, NULL, &planes), MOTE_OK);
    facts = mote_planes_get_facts(planes);
    IS_ZERO(facts);
    mote_planes_destroy(planes);
    mote_context_trim(f.ctx);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_not_zero),
        cmocka_unit_test(refuses_params_of_a_context),
        cmocka_unit_test(sets_what_it_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
