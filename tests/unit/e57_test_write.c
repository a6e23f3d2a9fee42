/* Writing E57: what comes back, pieces, sources, and failures on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "e57_test.h"

/* Every type, fractions, bits of a byte, names that XML does not have. */
static mote_cloud *rich_cloud(mote_context *ctx, uint64_t count, bool floats) {
    static const struct {
        const char *name;
        mote_type type;
        double scale, offset;
    } columns[] = {
        {"intensity", MOTE_UINT16, 1, 0},
        {"red", MOTE_UINT8, 1, 0},
        {"green", MOTE_UINT8, 1, 0},
        {"blue", MOTE_UINT8, 1, 0},
        {"return_number", MOTE_UINT8, 1, 0},
        {"number_of_returns", MOTE_UINT8, 1, 0},
        {"classification", MOTE_UINT8, 1, 0},
        {"gps_time", MOTE_FLOAT64, 1, 0},
        {"normal_x", MOTE_FLOAT32, 1, 0},
        {"normal_y", MOTE_FLOAT32, 1, 0},
        {"normal_z", MOTE_FLOAT32, 1, 0},
        {"row_index", MOTE_UINT32, 1, 0},
        {"a", MOTE_INT8, 1, 0},
        {"b", MOTE_INT16, 1, 0},
        {"c", MOTE_INT32, 1, 0},
        {"d", MOTE_INT64, 1, 0},
        {"reflectance [dB] <Ω> __x", MOTE_INT16, 0.01, -20},
        {"2nd", MOTE_FLOAT64, 1, 0},
        {"point_source_id", MOTE_UINT16, 1, 0},
    };
    enum { OTHERS = sizeof columns / sizeof columns[0] };
    mote_column_spec specs[OTHERS + 3];
    mote_cloud *cloud = NULL;
    static const char *const axes[] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        specs[k] =
            (mote_column_spec){axes[k], floats ? MOTE_FLOAT64 : MOTE_INT32, floats ? 1 : 0.001, floats ? 0 : 1000 * k};
    }
    for (int k = 0; k < OTHERS; k++) {
        specs[3 + k] = (mote_column_spec){columns[k].name, columns[k].type, columns[k].scale, columns[k].offset};
    }
    assert_int_equal(mote_cloud_create(ctx, count, specs, OTHERS + 3, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < OTHERS + 3; c++) {
        const mote_column *const column = mote_cloud_column(cloud, c);
        const uint32_t bytes = mote_type_size(column->type);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t bits = mote_hash_pair(c, i);
            const double real = 2000 * test_random(c, i) - 1000;
            const float single = (float)real;
            if (column->type == MOTE_FLOAT64) memcpy(&bits, &real, sizeof real);
            if (column->type == MOTE_FLOAT32) memcpy(&bits, &single, sizeof single);
            memcpy((uint8_t *)mote_cloud_column_data(cloud, column->name) + i * column->stride_bytes, &bits, bytes);
        }
    }
    assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:25832"), MOTE_OK);
    return cloud;
}

/* All columns of a are in b, with the same values. */
static void check_same(const mote_cloud *a, const mote_cloud *b) {
    assert_int_equal(mote_cloud_count(a), mote_cloud_count(b));
    for (uint32_t c = 0; c < mote_cloud_column_count(a); c++) {
        const mote_column *const p = mote_cloud_column(a, c), *const q = test_column(b, p->name);
        assert_int_equal(p->type, q->type);
        assert_true(p->scale == q->scale && p->offset == q->offset);
        for (uint64_t i = 0; i < mote_cloud_count(a); i++) {
            uint64_t u = 0, v = 0;
            mote_column_read(p, i, 1, p->type, &u);
            mote_column_read(q, i, 1, q->type, &v);
            assert_true(u == v);
        }
    }
}

void comes_back_as_it_was(void **state) {
    (void)state;
    static const uint64_t counts[] = {0, 1, 7, 8, 9, 1000, 5003};
    mote_context *ctx = test_context(2);
    for (int floats = 0; floats < 2; floats++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            mote_cloud *const cloud = rich_cloud(ctx, counts[c], floats);
            test_write(ctx, cloud, test_path("rich.e57"), NULL);
            mote_cloud *const back = test_read(ctx, test_path("rich.e57"));
            assert_string_equal(mote_cloud_crs(back), "EPSG:25832");
            check_same(cloud, back);
            /* And once more, from a cloud that comes from E57. */
            test_write(ctx, back, test_path("again.e57"), NULL);
            mote_cloud *const again = test_read(ctx, test_path("again.e57"));
            check_same(cloud, again);
            mote_cloud_destroy(cloud);
            mote_cloud_destroy(back);
            mote_cloud_destroy(again);
        }
    }
    mote_context_destroy(ctx);
}

void e57_same_file(const char *a, const char *b) {
    size_t size_a = 0, size_b = 0;
    char *const p = test_load(a, &size_a), *const q = test_load(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(p, q, size_a);
    free(p);
    free(q);
}

static void copy_in_pieces(mote_context *ctx, const char *from, const char *to) {
    mote_reader *reader = NULL;
    mote_writer *writer = NULL;
    const mote_cloud *piece = NULL;
    assert_int_equal(mote_reader_open(ctx, from, NULL, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    assert_int_equal(mote_writer_open(ctx, piece, mote_reader_count(reader), to, NULL, &writer), MOTE_OK);
    while (piece != NULL) {
        assert_int_equal(mote_writer_add(writer), MOTE_OK);
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    }
    assert_int_equal(mote_writer_close(writer, MOTE_OK), MOTE_OK);
    mote_reader_close(reader);
}

void pieces_are_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, "city", 450000, NULL, &cloud), MOTE_OK);
    test_write(ctx, cloud, test_path("city.las"), NULL);
    mote_cloud_destroy(cloud);
    for (int threads = 1; threads <= 3; threads++) {
        mote_context *many = test_context(threads);
        mote_cloud *const whole = test_read(many, test_path("city.las"));
        test_write(many, whole, test_path("whole.e57"), NULL);
        if (threads == 1) test_write(many, whole, test_path("first.e57"), NULL);
        e57_same_file(test_path("whole.e57"), test_path("first.e57"));
        copy_in_pieces(many, test_path("city.las"), test_path("pieces.e57"));
        e57_same_file(test_path("whole.e57"), test_path("pieces.e57"));
        /* From E57, too, whose points have a source now. */
        mote_cloud *const back = test_read(many, test_path("pieces.e57"));
        test_write(many, back, test_path("second.e57"), NULL);
        copy_in_pieces(many, test_path("pieces.e57"), test_path("third.e57"));
        e57_same_file(test_path("second.e57"), test_path("third.e57"));
        mote_cloud_destroy(whole);
        mote_cloud_destroy(back);
        mote_context_destroy(many);
    }
    mote_context_destroy(ctx);
}

void a_scan_for_each_source(void **state) {
    (void)state;
    enum { POINTS = 6000, SOURCES = 7 };
    mote_context *ctx = test_context(2);
    mote_cloud *const cloud = rich_cloud(ctx, POINTS, true);
    uint16_t *const ids = mote_cloud_column_data(cloud, "point_source_id");
    const uint32_t stride = test_column(cloud, "point_source_id")->stride_bytes;
    uint64_t counts[SOURCES] = {0};
    for (uint64_t i = 0; i < POINTS; i++) {
        const uint16_t id = (uint16_t)(mote_hash64(i) % SOURCES * 9000);
        memcpy((uint8_t *)ids + i * stride, &id, sizeof id);
        counts[id / 9000]++;
    }
    mote_write_params params = mote_write_defaults();
    params.by_source = true;
    test_write(ctx, cloud, test_path("sources.e57"), &params);
    mote_e57_facts facts;
    mote_e57_scan scans[SOURCES];
    assert_int_equal(mote_e57_scans(ctx, test_path("sources.e57"), scans, SOURCES, &facts), MOTE_OK);
    assert_int_equal(facts.scan_count, SOURCES);
    mote_cloud *const back = test_read(ctx, test_path("sources.e57"));
    uint64_t at = 0, total = 0;
    for (uint32_t s = 0; s < SOURCES; s++) {
        const uint64_t first = at;
        const double id = test_value(back, "point_source_id", at);
        while (at < POINTS && test_value(back, "point_source_id", at) == id) at++;
        assert_int_equal(at - first, counts[(uint64_t)id / 9000]);
        assert_int_equal(scans[s].records, at - first);
        total += at - first;
        /* Within a source points keep their order. */
        uint64_t i = 0;
        for (uint64_t k = first; k < at; k++, i++) {
            while (test_value(cloud, "point_source_id", i) != id) i++;
            assert_true(test_value(back, "x", k) == test_value(cloud, "x", i));
        }
    }
    assert_int_equal(total, POINTS);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(back);
    mote_context_destroy(ctx);
}

void writes_what_the_standard_asks(void **state) {
    (void)state;
    char warning[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(warning);
    mote_cloud *const cloud = rich_cloud(ctx, 20000, true);
    /* Points without a finite position are invalid, and come back as none. */
    const double nan = NAN;
    for (uint64_t i = 0; i < 20000; i += 1000) {
        memcpy((uint8_t *)mote_cloud_column_data(cloud, "y") + i * test_column(cloud, "y")->stride_bytes, &nan,
               sizeof nan);
    }
    test_write(ctx, cloud, test_path("standard.e57"), NULL);
    assert_non_null(strstr(warning, "20 points without a finite position are written as invalid"));
    mote_cloud *const back = test_read(ctx, test_path("standard.e57"));
    assert_int_equal(mote_cloud_count(back), 20000 - 20);
    size_t size = 0;
    char *const bytes = test_load(test_path("standard.e57"), &size);
    static const char *const words[] = {"<cartesianBounds", "<intensityLimits",      "<colorLimits", "<indexBounds",
                                        "nor:normalX",      "recordCount=\"20000\"", "<images2D",    "EPSG:25832"};
    uint64_t length, xml, xml_bytes;
    memcpy(&length, bytes + 16, 8);
    memcpy(&xml, bytes + 24, 8);
    memcpy(&xml_bytes, bytes + 32, 8);
    assert_int_equal(length, size);
    assert_int_equal(size % 1024, 0);
    char *const text = calloc(1, xml_bytes + 1);
    assert_non_null(text);
    for (uint64_t i = 0, at = xml; i < xml_bytes; i++, at++) {
        if (at % 1024 == 1020) at += 4;
        text[i] = bytes[at];
    }
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) assert_non_null(strstr(text, words[w]));
    /* The index of the section has an entry for each packet. */
    uint64_t index, data;
    memcpy(&data, bytes + 48 + 16, 8);
    memcpy(&index, bytes + 48 + 24, 8);
    assert_int_equal(data, 80);
    assert_true(index > data && index < xml);
    assert_int_equal(bytes[index], 0);
    uint64_t first;
    memcpy(&first, bytes + index + 16 + 8, 8);
    if (index % 1024 + 32 <= 1020) assert_int_equal(first, 80);
    free(text);
    free(bytes);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(back);
    mote_context_destroy(ctx);
}

/* ---- failures */

static test_copy make_copy(const char *target, uint64_t records) {
    const test_copy copy = {test_path("copied.e57"), test_path(target), mote_write_defaults()};
    size_t size = 0;
    uint8_t *const bytes = e57_plain(records, 700, &size);
    test_write_file(copy.source, bytes, size);
    free(bytes);
    return copy;
}

void survives_failing_allocations(void **state) {
    (void)state;
    test_copy copy = make_copy("copy.e57", 3000);
    test_each_allocation_fails(test_copy_file, &copy);
    copy.target = test_path("copy.las");
    test_each_allocation_fails(test_copy_file, &copy);
}

void cancel_leaves_nothing(void **state) {
    (void)state;
    test_copy copy = make_copy("cancelled.e57", 300000);
    test_each_step_cancels(test_copy_file, &copy);
}

void full_disk_is_told(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *const cloud = rich_cloud(ctx, 20000, false);
    test_full_disk(ctx, cloud, "full.e57");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
