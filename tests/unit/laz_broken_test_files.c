/* LAZ: the folder of broken files. */
#include "unit/laz_broken_test.h"

typedef struct broken_case {
    const char *name;
    const char *says; /* part of the error; NULL: works, and then with a warning but where warned is false */
    uint64_t count;
    const char *like; /* file with the same points, where it works */
} broken_case;

void real_broken_files(void **state) {
    (void)state;
    static const char seed[] = "laz/point-color-time.laz";
    static const broken_case cases[] = {
        {"bad-ellipsoid.copc.laz", "offset 96", 0, NULL},
        {"ign_interrupted_write_nok.laz", NULL, 0, NULL},
        {"laszip_broken_coder.laz", "coder 15", 0, NULL},
        {"laszip_broken_compressor.laz", "compressor 16", 0, NULL},
        {"laszip_broken_size.laz", "version 6", 0, NULL},
        {"laszip_broken_type.laz", "type 22", 0, NULL},
        {"laszip_broken_version.laz", "version 6", 0, NULL},
        {"gen/c01_ct_minus1.laz", NULL, 1065, seed},
        {"gen/c03_ct_in_header.laz", NULL, 1065, seed},
        {"gen/c05_ct_count_max.laz", NULL, 1065, seed},
        {"gen/c07_ct_cut.laz", NULL, 1065, seed},
        {"gen/c09_ct_count_0.laz", NULL, 1065, seed},
        {"gen/d01_half.laz", "offset 9916: chunk 1 of 1", 0, NULL},
        {"gen/d03_ff.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d11_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d13_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/d15_flip.laz", "chunk 1 of 1", 0, NULL},
        {"gen/h10_fmt_63.laz", "point format 63", 0, NULL},
        {"gen/h16_count64_2e63.laz", "the header says 9223372036854775808 points", 0, NULL},
        {"gen/v04_laszip_vlr_len_10.laz", "LASzip record has 10 bytes", 0, NULL},
        {"gen/v06_evlr_count_max.laz", NULL, 1000, NULL},
        {"gen/v08_eb_type_200.laz", NULL, 1065, NULL},
        {"gen/v10_eb_opaque_255.laz", NULL, 1065, NULL},
        {"gen/y02_layer_size_max.laz", "chunk 1 of 4", 0, NULL},
        {"gen/y04_layers_0.laz", "chunk 1 of 4", 0, NULL},
        {"gen/y10_flip.laz", "chunk ", 0, NULL},
        {"gen/y12_flip.laz", "chunk ", 0, NULL},
        {"gen/y14_flip.laz", "chunk ", 0, NULL},
        {"gen/z01_compressor_9.laz", "compressor 9", 0, NULL},
        {"gen/z03_chunk_0.laz", NULL, 1065, seed},
        {"gen/z05_chunk_variable.laz", NULL, 1065, seed},
        {"gen/z07_items_65535.laz", "65535 items", 0, NULL},
        {"gen/z09_item_size_0.laz", "0 bytes", 0, NULL},
        {"gen/z11_item_ver_9.laz", "version 9", 0, NULL},
        {"gen/z13_pointwise_flag.laz", "compressor 1 has no chunks", 0, NULL},
    };
    if (test_data("broken/no-points.las") == NULL) skip();
    listener l;
    mote_context *ctx = broken_context(&l, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[256];
        snprintf(name, sizeof name, "broken/%s", cases[i].name);
        const char *path = test_data(name);
        mote_cloud *cloud = NULL;
        mote_context_clear(ctx);
        l.warnings[0] = '\0';
        mote_context_memory_peak_reset(ctx);
        const mote_status status = mote_cloud_read(ctx, path, NULL, &cloud);
        assert_true(mote_context_memory_peak_bytes(ctx) < 64u << 20);
        const char *message = mote_context_message(ctx);
        if ((status == MOTE_OK) != (cases[i].says == NULL) ||
            (status != MOTE_OK && (strstr(message, cases[i].says) == NULL || strstr(message, path) == NULL))) {
            print_message("%s: \"%s\" lacks \"%s\"\n", name, message, cases[i].says);
            fail();
        }
        if (status != MOTE_OK) continue;
        assert_int_equal(cloud->count, cases[i].count);
        assert_string_not_equal(l.warnings, "");
        if (cases[i].like != NULL) {
            uint64_t hashes[2];
            mote_cloud *like = read_ok(ctx, test_data(cases[i].like));
            assert_int_equal(mote_cloud_hash(ctx, cloud, &hashes[0]), MOTE_OK);
            assert_int_equal(mote_cloud_hash(ctx, like, &hashes[1]), MOTE_OK);
            assert_int_equal(hashes[0], hashes[1]);
            mote_cloud_destroy(like);
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}
