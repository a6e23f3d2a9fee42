/* Salvage of LAZ: cut files, and chunk tables that are missing, cut or wild. */
#include "support/laz_files.h"
#include "unit/salvage_test.h"

static void assert_first_records(const mote_cloud *cloud, const laz_made *m) {
    assert_true(cloud->count <= m->points);
    assert_memory_equal(mote_cloud_find(cloud, "x")->data, m->records, cloud->count * m->record_bytes);
}

void laz_cut_anywhere(void **state) {
    (void)state;
    mote_context *ctx = salvage_context(1);
    static const uint32_t formats[] = {0, 3, 6, 8};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        const uint32_t format = formats[f];
        laz_made m = laz_make(ctx, format, format % 2, 40, 15);
        const uint64_t first = m.chunk_at[1] + (format < 6 ? m.record_bytes + 8 : 0);
        assert_int_equal(salvage_cuts(ctx, "cut.laz", &m.file, first, m.table_at, test_extent(11, 3)), 40);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* Each byte of the table and of its offset set to anything: all points, or an error with a hint and then all points
   with salvage. */
void laz_tables(void **state) {
    (void)state;
    static const uint32_t sizes[] = {30, LAZ_VARIABLE};
    static const uint8_t changes[] = {0xFF, 0x01};
    mote_context *ctx = salvage_context(1);
    for (uint32_t format = 1; format < LAS_FORMATS; format += 5) {
        for (size_t s = 0; s < 2; s++) {
            laz_made m = laz_make(ctx, format, 1, 200, sizes[s]);
            for (uint64_t i = 0; i < 8 + (m.file.size - m.table_at); i++) {
                const uint64_t at = i < 8 ? m.points_at + i : m.table_at + i - 8;
                for (size_t c = 0; c < test_watched(1, sizeof changes); c++) {
                    m.file.data[at] ^= changes[c];
                    mote_cloud *part = salvage_read(ctx, "table.laz", m.file.data, m.file.size, false);
                    if (part == NULL) assert_non_null(strstr(mote_context_message(ctx), "--salvage"));
                    if (part != NULL) assert_int_equal(part->count, 200);
                    mote_cloud_destroy(part);
                    part = salvage_read(ctx, "table.laz", m.file.data, m.file.size, true);
                    const bool lost = sizes[s] == LAZ_VARIABLE && format < 6 && at >= m.table_at;
                    if (part == NULL && !lost) {
                        fail_msg("format %u, byte %llu ^ %u: %s", format, (unsigned long long)at, changes[c],
                                 mote_context_message(ctx));
                    }
                    if (part != NULL) assert_first_records(part, &m);
                    if (part != NULL && !lost) assert_int_equal(part->count, 200);
                    mote_cloud_destroy(part);
                    m.file.data[at] ^= changes[c];
                }
            }
            laz_free_made(&m);
        }
    }
    mote_context_destroy(ctx);
}

/* A header's count that is too small or too large, with and without the table. */
void laz_counts(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 29, 30, 31, 60, 61, 69, 71, 89, 90, 91, 1000, UINT32_MAX, 1ull << 63};
    mote_context *ctx = salvage_context(1);
    for (uint32_t format = 0; format < LAS_FORMATS; format += 3) {
        for (int table = 0; table < 2; table++) {
            laz_made m = laz_make(ctx, format, 0, 70, 30);
            if (table == 0) las_put(m.file.data + m.points_at, 0, 8);
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                las_put(m.file.data + 247, counts[c], 8);
                mote_cloud *part = salvage_read(ctx, "counts.laz", m.file.data, m.file.size, true);
                if (part == NULL) fail_msg("format %u: %s", format, mote_context_message(ctx));
                assert_first_records(part, &m);
                assert_true(part->count >= (counts[c] < 60 ? counts[c] : 60));
                if (format >= 6 && counts[c] >= 70) assert_int_equal(part->count, 70);
                assert_string_not_equal(salvage_warnings(), "");
                mote_cloud_destroy(part);
            }
            laz_free_made(&m);
        }
    }
    mote_context_destroy(ctx);
}

/* Real files without their tables' offset: other writers' chunks are walked as well. */
void laz_real_files(void **state) {
    (void)state;
    static const char *const names[] = {"laz/autzen_trim.laz",    "laz/lone-star.laz",  "laz/ellipsoid.laz",
                                        "laz/ellipsoid-1.4.laz",  "laz/extrabytes.laz", "laz/fullwave.laz",
                                        "laz/pdrf10-1.4.laz",     "laz/plane.laz",      "copc/simple.copc.laz",
                                        "copc/lone-star.copc.laz"};
    static const uint64_t offsets[] = {0, UINT64_MAX, 1u << 30, 400};
    mote_context *ctx = salvage_context(2);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const char *path = test_data(names[n]);
        if (path == NULL) skip();
        const file_bytes file = load(path);
        mote_cloud *whole = read_ok(ctx, path);
        uint64_t hashes[2];
        assert_int_equal(mote_cloud_hash(ctx, whole, &hashes[0]), MOTE_OK);
        mote_cloud_destroy(whole);
        for (size_t o = 0; o < test_extent(1, 2); o++) {
            mote_cloud *walked = NULL;
            mote_read_params params = mote_read_defaults();
            params.salvage = true;
            las_put(file.data + las_u32(file.data + 96), offsets[o], 8);
            test_write_file(test_path("walked.laz"), file.data, file.size);
            if (mote_cloud_read(ctx, test_path("walked.laz"), &params, &walked) != MOTE_OK) {
                fail_msg("%s: %s", names[n], mote_context_message(ctx));
            }
            assert_int_equal(mote_cloud_hash(ctx, walked, &hashes[1]), MOTE_OK);
            assert_true(hashes[0] == hashes[1]);
            mote_cloud_destroy(walked);
        }
        free(file.data);
    }
    mote_context_destroy(ctx);
}
