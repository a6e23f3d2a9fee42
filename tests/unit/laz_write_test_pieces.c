/* Writing LAS and LAZ in pieces: the same bytes as at once, and what is refused. */
#include <dirent.h>

#include "core/cloud.h"
#include "unit/laz_write_test.h"

/* A cloud with the columns of another one that looks at records of its own, and holds some of its points at a time. */
typedef struct test_piece {
    mote_cloud *cloud;
    const mote_cloud *whole;
    uint8_t *records;
    uint32_t stride_bytes;
} test_piece;

static test_piece make_piece(mote_context *ctx, const mote_cloud *whole, uint64_t max) {
    const mote_column *x = mote_cloud_find(whole, "x");
    test_piece piece = {.whole = whole, .stride_bytes = x->stride_bytes};
    piece.records = malloc(max * x->stride_bytes + 1);
    assert_int_equal(mote_cloud_new(ctx, 0, &piece.cloud), MOTE_OK);
    for (uint64_t i = 0; i < whole->column_count; i++) {
        mote_column column = whole->columns[i];
        column.data = piece.records + ((const uint8_t *)column.data - (const uint8_t *)x->data);
        assert_int_equal(mote_cloud_add_view(piece.cloud, &column), MOTE_OK);
    }
    assert_int_equal(mote_cloud_copy_extras(piece.cloud, whole), MOTE_OK);
    return piece;
}

static void take_points(test_piece *piece, uint64_t first, uint64_t count) {
    const uint8_t *from = mote_cloud_find(piece->whole, "x")->data;
    memcpy(piece->records, from + first * piece->stride_bytes, count * piece->stride_bytes);
    piece->cloud->count = count;
}

static void free_piece(test_piece *piece) {
    mote_cloud_destroy(piece->cloud);
    free(piece->records);
}

mote_status laz_write_pieces(mote_context *ctx, const mote_cloud *whole, const char *path, const uint64_t *sizes) {
    mote_writer *writer = NULL;
    test_piece piece = make_piece(ctx, whole, POINTS_MAX);
    mote_status status = mote_writer_open(ctx, piece.cloud, whole->count, path, NULL, &writer);
    uint64_t turn = 0;
    for (uint64_t done = 0; status == MOTE_OK && done < whole->count;) {
        if (sizes[turn] == 0) turn = 0;
        const uint64_t remaining = whole->count - done, count = sizes[turn] < remaining ? sizes[turn] : remaining;
        take_points(&piece, done, count);
        status = mote_writer_add(writer);
        done += count;
        turn++;
    }
    if (writer != NULL) status = mote_writer_close(writer, status);
    free_piece(&piece);
    return status;
}

void pieces_give_the_same_file(void **state) {
    (void)state;
    static const uint64_t sizes[][6] = {{50000, 0}, {30011, 0}, {100000, 0}, {1, 49999, 2, 50000, 0}, {7, 70001, 3, 0}};
    static const uint8_t formats[] = {3, 7};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof formats; f++) {
        laz_write_make(test_path("pieces.las"), formats[f], POINTS_MAX);
        mote_cloud *cloud = read_ok(ctx, test_path("pieces.las"));
        const uint64_t counts[] = {0, 1, 50000, 50001, POINTS_MAX};
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            cloud->count = counts[c];
            write_ok(ctx, cloud, test_path("whole.laz"), NULL);
            write_ok(ctx, cloud, test_path("whole.las"), NULL);
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                assert_int_equal(laz_write_pieces(ctx, cloud, test_path("part.laz"), sizes[s]), MOTE_OK);
                assert_same_file(test_path("whole.laz"), test_path("part.laz"));
                assert_int_equal(laz_write_pieces(ctx, cloud, test_path("part.las"), sizes[s]), MOTE_OK);
                assert_same_file(test_path("whole.las"), test_path("part.las"));
            }
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int laz_write_entries(const char *name) {
    int found = 0;
    DIR *entries = opendir(test_folder());
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        found += strncmp(entry->d_name, name, strlen(name)) == 0;
    }
    closedir(entries);
    return found;
}

static void assert_message(mote_context *ctx, const char *part) {
    if (strstr(mote_context_message(ctx), part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", mote_context_message(ctx), part);
    }
    mote_context_clear(ctx);
}

void pieces_that_are_refused(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_writer *writer = NULL;
    laz_write_make(test_path("refused_source.las"), 7, 100);
    mote_cloud *cloud = read_ok(ctx, test_path("refused_source.las"));
    mote_write_params params = mote_write_defaults();
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.ply"), NULL, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "only .las, .laz and .e57");
    params.las_format = 3;
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.laz"), &params, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    params = mote_write_defaults();
    params.las_version_minor = 3;
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.laz"), &params, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    mote_cloud *tiny = tiny_cloud(ctx);
    tiny->las.present = false;
    assert_int_equal(mote_writer_open(ctx, tiny, 10, test_path("refused.las"), NULL, &writer), MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    mote_cloud_destroy(tiny);
    const mote_column_spec angle = {"scan_angle_rank", MOTE_INT8, 0, 0};
    assert_int_equal(mote_cloud_add_column(cloud, &angle), MOTE_OK);
    assert_int_equal(mote_writer_open(ctx, cloud, 100, test_path("refused.las"), NULL, &writer),
                     MOTE_ERROR_UNSUPPORTED);
    assert_message(ctx, "in pieces");
    assert_null(writer);
    assert_int_equal(laz_write_entries("refused."), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void wrong_numbers_of_points(void **state) {
    (void)state;
    static const char *const names[] = {"number.las", "number.laz"};
    mote_context *ctx = test_context(2);
    laz_write_make(test_path("numbers.las"), 1, 60000);
    mote_cloud *cloud = read_ok(ctx, test_path("numbers.las"));
    for (int k = 0; k < 2; k++) {
        mote_writer *writer = NULL;
        assert_int_equal(mote_writer_open(ctx, cloud, 60001, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_ERROR_ARGUMENT);
        assert_message(ctx, "60000 points of 60001");
        assert_int_equal(mote_writer_open(ctx, cloud, 100000, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_ERROR_ARGUMENT);
        assert_message(ctx, "more points");
        assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_ERROR_ARGUMENT);
        mote_context_clear(ctx);
        assert_int_equal(mote_writer_open(ctx, cloud, 60000, test_path(names[k]), NULL, &writer), MOTE_OK);
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_writer_close(writer, MOTE_CANCELLED), MOTE_CANCELLED);
    }
    assert_int_equal(laz_write_entries("number."), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
