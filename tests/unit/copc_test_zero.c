/* COPC whose LASzip record has the chunk size 0, as some writers put it for chunks of varying size. */
#include "unit/copc_test.h"

static void clear_chunk_size(file_bytes *file) {
    uint64_t at = LAS_HEADER_BYTES_14;
    for (uint32_t i = 0; i < las_u32(file->data + 100); i++) {
        if (strcmp((const char *)file->data + at + 2, LAS_USER_LASZIP) == 0) {
            las_put(file->data + at + LAS_VLR_BYTES + 12, 0, 4);
        }
        at += LAS_VLR_BYTES + las_u16(file->data + at + 20);
    }
}

/* Whole, by box, by resolution, some attributes, in pieces, and what the levels hold. */
static void assert_reads_alike(mote_context *ctx, const char *path, const char *zero) {
    static const char *const selections[] = {NULL, "gps_time"};
    mote_cloud *all = read_ok(ctx, path);
    mote_box box;
    assert_int_equal(mote_cloud_bounds(ctx, all, &box, NULL), MOTE_OK);
    for (int k = 0; k < 3; k++) box.max[k] = (box.min[k] + box.max[k]) / 2;
    for (int kind = 0; kind < 8; kind++) {
        mote_read_params params = mote_read_defaults();
        mote_cloud *clouds[2] = {NULL, NULL};
        uint64_t hashes[2];
        params.bounds = kind & 1 ? &box : NULL;
        params.resolution = kind & 2 ? 0.5 : 0;
        params.select = selections[kind >> 2];
        for (int i = 0; i < 2; i++) {
            assert_int_equal(mote_cloud_read(ctx, i == 0 ? path : zero, &params, &clouds[i]), MOTE_OK);
            assert_int_equal(mote_cloud_hash(ctx, clouds[i], &hashes[i]), MOTE_OK);
        }
        assert_true(hashes[0] == hashes[1]);
        mote_reader *reader = NULL;
        const mote_cloud *piece = NULL;
        uint64_t points = 0;
        assert_int_equal(mote_reader_open(ctx, zero, &params, &reader), MOTE_OK);
        do {
            assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
            points += piece != NULL ? piece->count : 0;
        } while (piece != NULL);
        mote_reader_close(reader);
        assert_int_equal(points, clouds[0]->count);
        mote_cloud_destroy(clouds[0]);
        mote_cloud_destroy(clouds[1]);
    }
    mote_copc_facts facts;
    mote_copc_level levels[32];
    assert_int_equal(mote_copc_levels(ctx, zero, levels, 32, &facts), MOTE_OK);
    assert_int_equal(facts.points, all->count);
    mote_cloud_destroy(all);
}

void chunk_size_zero(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = copc_generated(ctx, "clusters", 50000);
    copc_write_ok(ctx, cloud, 1000, test_path("varying.copc.laz"));
    mote_cloud_destroy(cloud);
    const char *const real[] = {"copc/lone-star.copc.laz", "copc/simple_with_page.copc.laz", NULL};
    for (int i = 0; i < 3; i++) {
        const char *path = real[i] != NULL ? test_data(real[i]) : test_path("varying.copc.laz");
        if (path == NULL) continue;
        file_bytes file = load(path);
        clear_chunk_size(&file);
        test_write_file(test_path("zero.copc.laz"), file.data, file.size);
        assert_reads_alike(ctx, path, test_path("zero.copc.laz"));
        free(file.data);
    }
    mote_context_destroy(ctx);
}
