/* LAZ: what is salvaged of files that are damaged, cut, or were never finished. */
#include "unit/laz_broken_test.h"

static void spoil(laz_made *m, uint32_t chunk) {
    const uint64_t from = m->chunk_at[chunk] + m->record_bytes + 4, to = m->chunk_at[chunk + 1];
    for (uint64_t at = from; at < to; at++) m->file.data[at] = 0xFF;
}

void damaged_chunks_are_left_out(void **state) {
    (void)state;
    listener l;
    static const uint32_t formats[] = {0, 3, 5, 6, 7, 10};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (int threads = 1; threads < 4; threads += 2) {
            mote_context *ctx = broken_context(&l, threads);
            laz_made m = laz_make(ctx, formats[f], 3, 1000, 100);
            spoil(&m, 2);
            spoil(&m, 9);
            mote_cloud *cloud = NULL;
            assert_int_equal(broken_read(ctx, &l, m.file.data, m.file.size, false, &cloud), MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), "chunk 3 of 10, point 2"));
            assert_null(cloud);
            assert_int_equal(broken_read(ctx, &l, m.file.data, m.file.size, true, &cloud), MOTE_OK);
            assert_int_equal(cloud->count, 800);
            assert_true(broken_same_records(cloud, 0, &m, 0, 200));
            assert_true(broken_same_records(cloud, 200, &m, 300, 600));
            assert_non_null(strstr(l.warnings, "200 points are lost with 2 damaged chunks of 10 (3, 10)"));
            mote_cloud_destroy(cloud);
            for (uint32_t c = 0; c < m.chunks; c++) spoil(&m, c);
            cloud = NULL;
            assert_int_equal(broken_read(ctx, &l, m.file.data, m.file.size, true, &cloud), MOTE_ERROR_DATA);
            assert_non_null(strstr(mote_context_message(ctx), "nothing is left to be salvaged"));
            laz_free_made(&m);
            mote_context_destroy(ctx);
        }
    }
}

/* All whole chunks before the end, and of a chunk that is cut the points before that: in layers, those that all layers
   still have. */
void cut_files_keep_what_is_there(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = broken_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1000, 100);
        for (uint32_t c = 1; c <= m.chunks; c++) {
            mote_cloud *cloud = NULL;
            const uint64_t bytes = m.chunk_at[c] - m.chunk_at[c - 1];
            const uint64_t max = formats[f] == 3 ? m.chunk_at[c - 1] + bytes * 3 / 4 : m.chunk_at[c] - bytes / 20;
            assert_int_equal(broken_read(ctx, &l, m.file.data, m.chunk_at[c], true, &cloud), MOTE_OK);
            assert_int_equal(cloud->count, m.chunk_first[c]);
            assert_true(broken_same_records(cloud, 0, &m, 0, cloud->count));
            mote_cloud_destroy(cloud);
            cloud = NULL;
            assert_int_equal(broken_read(ctx, &l, m.file.data, max, true, &cloud), MOTE_OK);
            assert_in_range(cloud->count, m.chunk_first[c - 1] + 10, m.chunk_first[c] - 1);
            assert_true(broken_same_records(cloud, 0, &m, 0, cloud->count));
            assert_non_null(strstr(l.warnings, "lost"));
            mote_cloud_destroy(cloud);
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Header and table were never written: count 0, offset 0. */
void interrupted_writes(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = broken_context(&l, 2);
    static const uint32_t formats[] = {3, 7};
    for (size_t f = 0; f < 2; f++) {
        laz_made m = laz_make(ctx, formats[f], 0, 1000, 300);
        las_put(m.file.data + m.points_at, 0, 8);
        las_put(m.file.data + 247, 0, 8);
        for (int cut = 0; cut < 2; cut++) {
            for (int salvage = 0; salvage < 2; salvage++) {
                const uint64_t size = m.table_at - (cut ? (m.table_at - m.chunk_at[3]) / 20 : 0);
                mote_cloud *cloud = NULL;
                assert_int_equal(broken_read(ctx, &l, m.file.data, size, salvage, &cloud), MOTE_OK);
                assert_true(broken_same_records(cloud, 0, &m, 0, cloud->count));
                assert_non_null(strstr(l.warnings, "was its writer interrupted?"));
                if (cut && (formats[f] == 3 || !salvage)) assert_int_equal(cloud->count, 900);
                if (!cut) assert_int_equal(cloud->count, 1000);
                if (formats[f] == 7 && cut && salvage) assert_in_range(cloud->count, 901, 999);
                mote_cloud_destroy(cloud);
            }
        }
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

void salvage_in_pieces(void **state) {
    (void)state;
    listener l;
    mote_context *ctx = broken_context(&l, 1);
    laz_made m = laz_make(ctx, 3, 0, 500000, 50000);
    spoil(&m, 1);
    spoil(&m, 8);
    test_write_file(test_path("spoiled.laz"), m.file.data, m.file.size);
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    assert_int_equal(mote_reader_open(ctx, test_path("spoiled.laz"), &params, &reader), MOTE_OK);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_ERROR_DATA);
    assert_non_null(strstr(mote_context_message(ctx), "chunk 2 of 10"));
    mote_reader_close(reader);
    mote_context_clear(ctx);
    params.salvage = true;
    uint64_t points = 0;
    assert_int_equal(mote_reader_open(ctx, test_path("spoiled.laz"), &params, &reader), MOTE_OK);
    do {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        if (piece != NULL) points += piece->count;
    } while (piece != NULL);
    mote_reader_close(reader);
    assert_int_equal(points, 400000);
    assert_non_null(strstr(l.warnings, "100000 points are lost with 2 damaged chunks of 10 (2, 9)"));
    laz_free_made(&m);
    mote_context_destroy(ctx);
}
