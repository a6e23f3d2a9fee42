/* Potree folders that are broken: errors, and no memory for what they only claim. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "unit/potree_broken_test.h"

#if MOTE_HAVE_JANSSON

static void small_points(const void *lod, uint32_t node, uint32_t *indices, uint16_t *colors) {
    (void)colors;
    const small_cloud *small = lod;
    for (uint64_t i = 0; i < 40; i++) indices[i] = (uint32_t)(small->nodes[node].first + i);
}

mote_status small_make(mote_context *ctx, small_cloud *small) {
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},       {"y", MOTE_INT32, 0.01, 0},
                                             {"z", MOTE_INT32, 0.01, 0},       {"intensity", MOTE_UINT16, 0, 0},
                                             {"red", MOTE_UINT16, 0, 0},       {"green", MOTE_UINT16, 0, 0},
                                             {"blue", MOTE_UINT16, 0, 0},      {"withheld", MOTE_UINT8, 0, 0},
                                             {"gps_time", MOTE_FLOAT64, 0, 0}, {"wide", MOTE_INT64, 0, 0}};
    memset(small, 0, sizeof *small);
    MOTE_TRY(mote_cloud_create(ctx, POINTS, specs, 10, &small->cloud));
    uint8_t *data = mote_cloud_column_data(small->cloud, "x");
    const uint32_t stride = mote_cloud_column(small->cloud, 0)->stride_bytes;
    for (int32_t i = 0; i < POINTS; i++) {
        const int32_t p[3] = {i * 7 % 100, i * 31 % 100, i % 10};
        memcpy(data + (uint32_t)i * stride, p, 12);
        data[(uint32_t)i * stride + 12] = (uint8_t)i;
        data[(uint32_t)i * stride + 20] = i % 2;
    }
    static const char text[] = "a record";
    mote_record record = {"mote", "test", 7, true, sizeof text, text};
    MOTE_TRY(mote_cloud_add_record(small->cloud, &record));
    small->cloud->las.present = true;
    small->cloud->las.version_minor = 4;
    MOTE_TRY(mote_order_lattice(ctx, small->cloud, &small->lattice, NULL));
    small->lod_params = mote_lod_defaults();
    for (uint32_t n = 0; n < NODES; n++) {
        small->nodes[n].level = (uint8_t)n;
        small->nodes[n].child_mask = n + 1 < NODES ? 1 : 0;
        small->nodes[n].first_child = n + 1 < NODES ? n + 1 : 0;
        small->nodes[n].first = 40ull * n;
        small->nodes[n].point_count = 40;
    }
    const potree_source source = {.cloud = small->cloud,
                                  .lattice = &small->lattice,
                                  .params = &small->lod_params,
                                  .nodes = small->nodes,
                                  .node_count = NODES,
                                  .lod = small,
                                  .node_points = small_points};
    small->source = source;
    return MOTE_OK;
}

mote_status small_write(mote_context *ctx, const char *path, bool brotli) {
    small_cloud small;
    mote_potree_params params = mote_potree_defaults();
    params.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
    mote_status status = small_make(ctx, &small);
    if (status == MOTE_OK) status = potree_write_source(ctx, &small.source, path, &params, NULL);
    mote_cloud_destroy(small.cloud);
    return status;
}

set_bytes set_load(const char *folder) {
    static const char *const names[3] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    set_bytes set;
    for (int f = 0; f < 3; f++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, names[f]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        set.size[f] = (size_t)ftell(file);
        rewind(file);
        set.data[f] = malloc(set.size[f] + 1);
        assert_int_equal(fread(set.data[f], 1, set.size[f], file), set.size[f]);
        set.data[f][set.size[f]] = 0;
        fclose(file);
    }
    return set;
}

void set_free(set_bytes *set) {
    for (int f = 0; f < 3; f++) free(set->data[f]);
}

static set_bytes small_set(bool brotli) {
    mote_context *ctx = test_context(2);
    assert_int_equal(small_write(ctx, test_path("small"), brotli), MOTE_OK);
    mote_context_destroy(ctx);
    return set_load(test_path("small"));
}

static char warnings[2000];

static void on_log(void *user, mote_log_level level, const char *message) {
    (void)user;
    const size_t length = strlen(warnings);
    if (level == MOTE_LOG_WARNING) snprintf(warnings + length, sizeof warnings - length, "%s\n", message);
}

static void expect(const set_bytes *set, mote_status wanted, const char *file) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 2;
    params.log = on_log;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    warnings[0] = '\0';
    potree_files files;
    memset(&files, 0, sizeof files);
    mote_input *inputs[3] = {&files.metadata, &files.hierarchy, &files.octree};
    static const char *const names[3] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    for (int f = 0; f < 3; f++) {
        inputs[f]->path = names[f];
        inputs[f]->data = set->data[f];
        inputs[f]->size_bytes = set->size[f];
    }
    mote_cloud *cloud = NULL;
    const mote_read_params all = mote_read_defaults();
    const mote_status status = potree_parse(ctx, &files, &all, &cloud);
    if (status != wanted) print_message("%s: %s\n", mote_status_name(status), mote_context_message(ctx));
    assert_int_equal(status, wanted);
    assert_true((cloud != NULL) == (status == MOTE_OK));
    if (file != NULL) assert_non_null(strstr(mote_context_message(ctx), file));
    if (wanted == MOTE_ERROR_DATA) assert_non_null(strstr(mote_context_message(ctx), "offset"));
    assert_true(mote_context_memory_peak_bytes(ctx) < 32u << 20);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- broken metadata */

static void replace_text(set_bytes *set, const char *from, const char *to) {
    char *text = (char *)set->data[METADATA], *at = strstr(text, from);
    if (at == NULL) print_message("no %s\n", from);
    assert_non_null(at);
    const size_t size = set->size[METADATA] + strlen(to) - strlen(from);
    char *changed = malloc(size + 1);
    snprintf(changed, size + 1, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    set->data[METADATA] = (uint8_t *)changed;
    set->size[METADATA] = size;
}

static void refuses_broken_metadata(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        mote_status status;
    } cases[] = {
        {"0.01", "inf", MOTE_ERROR_DATA},
        {"0.01", "NaN", MOTE_ERROR_DATA},
        {"0.01", "1e999", MOTE_ERROR_DATA},
        {"0.01", "0", MOTE_ERROR_DATA},
        {"0.01", "\"0.01\"", MOTE_ERROR_DATA},
        {"\"version\": \"2.0\"", "\"version\": \"1.8\"", MOTE_ERROR_UNSUPPORTED},
        {"\"encoding\": \"DEFAULT\"", "\"encoding\": \"LZ4\"", MOTE_ERROR_UNSUPPORTED},
        {"\"encoding\": \"DEFAULT\"", "\"encoding\": 7", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 0", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": -22", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 109", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 88", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 132", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 9223372036854775807", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 1e300", MOTE_ERROR_DATA},
        {"\"firstChunkSize\": 110", "\"firstChunkSize\": 110.0", MOTE_OK},
        {"\"name\": \"position\"", "\"name\": \"positron\"", MOTE_ERROR_DATA},
        {"\"name\": \"intensity\"", "\"name\": \"position\"", MOTE_ERROR_DATA},
        {"\"name\": \"intensity\"", "\"name\": null", MOTE_ERROR_DATA},
        {"\"name\": \"intensity\"", "\"name\": \"rgb\"", MOTE_OK},
        {"\"name\": \"intensity\"", "\"name\": \"x\"", MOTE_OK},
        {"\"type\": \"int32\"", "\"type\": \"uint32\"", MOTE_ERROR_DATA},
        {"\"type\": \"uint16\"", "\"type\": \"quad\"", MOTE_ERROR_DATA},
        {"\"type\": \"uint16\"", "\"type\": \"double\"", MOTE_ERROR_DATA},
        {"\"size\": 2", "\"size\": 9223372036854775807", MOTE_ERROR_DATA},
        {"\"elementSize\": 2", "\"elementSize\": -2", MOTE_ERROR_DATA},
        {"\"numElements\": 1", "\"numElements\": 0", MOTE_ERROR_DATA},
        {"\"numElements\": 1", "\"numElements\": 4294967297", MOTE_ERROR_DATA},
        {"\"attributes\": [", "\"attributes\": [7, ", MOTE_ERROR_DATA},
        {"\"attributes\"", "\"atributes\"", MOTE_ERROR_DATA},
        {"\"data\": \"", "\"data\": \"*", MOTE_ERROR_DATA},
        {"\"record_id\": 7", "\"record_id\": 65536", MOTE_ERROR_DATA},
        {"\"version_minor\": 4", "\"version_minor\": 44", MOTE_ERROR_DATA},
        {"\"less\": [", "\"less\": [1.5, ", MOTE_ERROR_DATA},
        {"\"less\": [", "\"less\": [-9223372036854775807, ", MOTE_ERROR_DATA},
        {"\"less\": [", "\"less\": [2147483647, ", MOTE_ERROR_DATA},
        {"\"points\": 280", "\"points\": 281", MOTE_OK}, /* a warning: writers are known to miscount */
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        set_bytes set = small_set(false);
        replace_text(&set, cases[c].from, cases[c].to);
        expect(&set, cases[c].status, cases[c].status == MOTE_OK ? NULL : "");
        set_free(&set);
    }
    set_bytes set = small_set(false);
    for (size_t size = set.size[METADATA]; size-- > 0; size -= size > 9 ? 9 : 0) {
        uint8_t *cut = malloc(size + 1); /* exactly as large, so that a sanitizer sees a read past the end */
        memcpy(cut, set.data[METADATA], size);
        const set_bytes half = {{cut, set.data[HIERARCHY], set.data[OCTREE]}, {size, set.size[1], set.size[2]}};
        if (size + 2 < set.size[METADATA]) expect(&half, MOTE_ERROR_DATA, "metadata.json");
        free(cut);
    }
    set_free(&set);
}

/* ---- broken hierarchy and points */

static void refuses_broken_hierarchy(void **state) {
    (void)state;
    static const struct {
        uint32_t record, byte;
        uint64_t value;
        uint32_t size;
    } cases[] = {
        {4, 6, 0, 8},               /* the proxy points at the first chunk: a loop */
        {4, 6, 110, 8},             /* the chunk it should point at (works: see below) */
        {4, 6, 132, 8},             /* past the end */
        {4, 6, (uint64_t)-22, 8},   /* negative */
        {4, 14, 0, 8},              /* no bytes */
        {4, 14, 1ull << 63, 8},     /* 2^63 */
        {4, 14, INT64_MAX - 21, 8}, /* wraps */
        {4, 14, 65, 8},             /* no whole records */
        {4, 14, 44, 8},             /* too few records */
        {5, 0, 2, 1},               /* a proxy at the top of a chunk */
        {0, 0, 7, 1},               /* an unknown type */
        {0, 1, 0, 1},               /* no children: records too many */
        {0, 1, 255, 1},             /* eight children: records too few */
        {7, 1, 1, 1},               /* a leaf with a child */
        {1, 2, 41, 4},              /* points that don't fit the bytes */
        {1, 2, UINT32_MAX, 4},
        {1, 6, 1ull << 62, 8}, /* data past the end */
        {1, 6, (uint64_t)-1, 8},
        {1, 14, 1ull << 63, 8},
        {1, 14, 1ull << 40, 8},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        set_bytes set = small_set(false);
        assert_int_equal(set.size[HIERARCHY], 8 * RECORD);
        memcpy(set.data[HIERARCHY] + cases[c].record * RECORD + cases[c].byte, &cases[c].value, cases[c].size);
        expect(&set, c == 1 ? MOTE_OK : MOTE_ERROR_DATA, c == 1 ? NULL : "hierarchy.bin");
        set_free(&set);
    }
    set_bytes set = small_set(false);
    for (uint32_t points = 0; points < 3; points++) { /* a leaf that announces points, in no bytes */
        const uint64_t none = 0;
        memcpy(set.data[HIERARCHY] + 7 * RECORD + 2, &points, 4);
        memcpy(set.data[HIERARCHY] + 7 * RECORD + 14, &none, 8);
        expect(&set, MOTE_OK, NULL);
        assert_int_equal(strstr(warnings, "announce points but have no bytes: 1;") != NULL, points > 0);
    }
    set_free(&set);
    set = small_set(false);
    /* All nodes at the same place: a file can not stand for more points than it has bytes. */
    for (uint32_t r = 0; r < 8; r++) memset(set.data[HIERARCHY] + r * RECORD + 6, 0, r == 4 ? 0 : 8);
    expect(&set, MOTE_OK, NULL);
    set.size[OCTREE] = 3 * set.size[OCTREE] / 7;
    expect(&set, MOTE_ERROR_DATA, "octree.bin");
    set.size[HIERARCHY] = 21;
    expect(&set, MOTE_ERROR_DATA, "hierarchy.bin");
    set.size[HIERARCHY] = 0;
    expect(&set, MOTE_ERROR_DATA, "metadata.json");
    set_free(&set);
}

static void refuses_broken_streams(void **state) {
    (void)state;
    if (!potree_has_brotli()) return;
    set_bytes good = small_set(true);
    expect(&good, MOTE_OK, NULL);
    /* 2^32 - 1 points in a few bytes must not cost the memory of 2^32 - 1 points. */
    const uint32_t max = UINT32_MAX;
    memcpy(good.data[HIERARCHY] + RECORD + 2, &max, 4);
    expect(&good, MOTE_ERROR_DATA, "octree.bin");
    set_free(&good);
    for (uint32_t seed = 0; seed < 200; seed++) {
        set_bytes set = small_set(true);
        mote_context *ctx = test_context(1);
        set.data[OCTREE][seed * 7919u % set.size[OCTREE]] ^= (uint8_t)(1u << seed % 8);
        potree_files files;
        memset(&files, 0, sizeof files);
        mote_input *inputs[3] = {&files.metadata, &files.hierarchy, &files.octree};
        for (int f = 0; f < 3; f++) {
            inputs[f]->path = "set";
            inputs[f]->data = set.data[f];
            inputs[f]->size_bytes = set.size[f];
        }
        mote_cloud *cloud = NULL;
        const mote_read_params all = mote_read_defaults();
        const mote_status status =
            potree_parse(ctx, &files, &all, &cloud); /* brotli has no checksum: either is right */
        assert_true(status == MOTE_OK || status == MOTE_ERROR_DATA);
        mote_cloud_destroy(cloud);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
        set_free(&set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_broken_metadata),
                                       cmocka_unit_test(refuses_broken_hierarchy),
                                       cmocka_unit_test(refuses_broken_streams),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancels),
                                       cmocka_unit_test(respects_what_is_there),
                                       cmocka_unit_test(cleans_up_after_the_killed),
                                       cmocka_unit_test(full_disk_leaves_the_old),
                                       cmocka_unit_test(refuses_wrong_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    print_message("built without jansson: no Potree folders\n");
    return 0;
}

#endif
