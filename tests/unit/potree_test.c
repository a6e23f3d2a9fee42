/* Potree folders: what the writer writes, seen by the naive reader and by mote's. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "io/potree/potree.h"
#include "lod/lod_octree.h"
#include "lod/lod_ops.h"
#include "reference/potree_reference.h"
#include "unit/potree_test.h"

#if MOTE_HAVE_JANSSON

/* ---- clouds */

static uint64_t random_state = 20240611;

uint32_t potree_random_below(uint32_t below) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 32) * below >> 32);
}

void potree_fill_random(mote_cloud *cloud, const char *name) {
    const mote_column *column = mote_cloud_find(cloud, name);
    uint8_t *to = mote_cloud_column_data(cloud, name);
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++, to += column->stride_bytes) {
        uint8_t bytes[8];
        for (int b = 0; b < 8; b++) bytes[b] = (uint8_t)potree_random_below(256);
        const double real = (double)potree_random_below(2000000) / 7 - 1000;
        const float narrow = (float)real;
        const int64_t wide = (int64_t)(potree_random_below(1u << 30)) * (1 << 20) - (1ll << 40); /* fits a double */
        if (column->type == MOTE_FLOAT32) memcpy(bytes, &narrow, 4);
        if (column->type == MOTE_FLOAT64) memcpy(bytes, &real, 8);
        if (column->type == MOTE_INT64) memcpy(bytes, &wide, 8);
        if (column->type == MOTE_UINT64) memcpy(bytes, &(uint64_t){(uint64_t)wide & 0xFFFFFFFFFFull}, 8);
        memcpy(to, bytes, mote_type_size(column->type));
    }
}

/* LAS-like positions within extent steps from origin, on a wavy surface, with duplicates. */
static void fill_positions(mote_cloud *cloud, int32_t origin, uint32_t extent) {
    const uint32_t stride = mote_cloud_find(cloud, "x")->stride_bytes;
    uint8_t *to = mote_cloud_column_data(cloud, "x");
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++, to += stride) {
        int32_t p[3] = {origin + (int32_t)potree_random_below(extent), origin + (int32_t)potree_random_below(extent),
                        origin};
        p[2] += (int32_t)((double)extent / 8 * (1 + sin((double)(p[0] - origin) * 9 / extent)));
        memcpy(to, i % 50 == 49 ? to - stride : (uint8_t *)p, 12);
    }
}

static mote_cloud *cloud_of_all_types(mote_context *ctx, uint64_t count) {
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 500000},
                                             {"y", MOTE_INT32, 0.001, 5e6},
                                             {"z", MOTE_INT32, 0.002, -10},
                                             {"intensity", MOTE_UINT16, 0, 0},
                                             {"return_number", MOTE_UINT8, 0, 0},
                                             {"withheld", MOTE_UINT8, 0, 0},
                                             {"classification", MOTE_UINT8, 0, 0},
                                             {"scan_angle", MOTE_INT16, 0, 0},
                                             {"gps_time", MOTE_FLOAT64, 0, 0},
                                             {"red", MOTE_UINT16, 0, 0},
                                             {"green", MOTE_UINT16, 0, 0},
                                             {"blue", MOTE_UINT16, 0, 0},
                                             {"nir", MOTE_UINT16, 0, 0},
                                             {"normal_x", MOTE_FLOAT32, 0, 0},
                                             {"e int8", MOTE_INT8, 0, 0},
                                             {"e uint8", MOTE_UINT8, 0, 0},
                                             {"e int16", MOTE_INT16, 0.5, 3},
                                             {"e uint16", MOTE_UINT16, 0, 0},
                                             {"e int32", MOTE_INT32, 0, 0},
                                             {"e uint32", MOTE_UINT32, 0, 0},
                                             {"e int64", MOTE_INT64, 0, 0},
                                             {"e uint64", MOTE_UINT64, 0.25, 1},
                                             {"e float", MOTE_FLOAT32, 0, 0},
                                             {"e double", MOTE_FLOAT64, 0, 0},
                                             {"gps-time", MOTE_UINT8, 0, 0},
                                             {"bad \xC3\x28 \"name\"\n", MOTE_INT8, 0, 0},
                                             {"zero", MOTE_INT16, 0, 0}};
    const uint32_t spec_count = sizeof specs / sizeof specs[0];
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, spec_count, &cloud), MOTE_OK);
    for (uint32_t s = 3; s + 1 < spec_count; s++) potree_fill_random(cloud, specs[s].name);
    uint8_t *withheld = mote_cloud_column_data(cloud, "withheld");
    for (uint64_t i = 0; i < count; i++) withheld[i * mote_cloud_find(cloud, "withheld")->stride_bytes] &= 1;
    fill_positions(cloud, 1000, 400000);
    return cloud;
}

/* ---- comparing clouds */

uint32_t *potree_order(const mote_lod *lod, int level) {
    const mote_lod_node *nodes = mote_lod_nodes(lod);
    const bool replacing = mote_lod_parameters(lod)->scheme == MOTE_LOD_REPLACING;
    uint32_t *order = malloc(4 * (mote_cloud_count(mote_lod_cloud(lod)) + 1) * 2);
    uint64_t used = 0;
    for (uint32_t n = 0; n < mote_lod_node_count(lod); n++) {
        const bool wanted = level >= 0 ? nodes[n].level == level : !replacing || nodes[n].child_mask == 0;
        if (!wanted) continue;
        mote_lod_node_points(lod, n, order + used, NULL);
        used += nodes[n].point_count;
    }
    return order;
}

static bool is_flag(const char *name) {
    return strcmp(name, "scanner_channel") == 0 || strcmp(name, "scan_direction_flag") == 0 ||
           strcmp(name, "edge_of_flight_line") == 0 || strcmp(name, "synthetic") == 0 ||
           strcmp(name, "key_point") == 0 || strcmp(name, "withheld") == 0 || strcmp(name, "overlap") == 0;
}

/* Type, scale, offset and every value. Only flags may be missing, and must be zero in the source. */
static void assert_same_points(const mote_cloud *source, const mote_cloud *back, const uint32_t *order) {
    for (uint32_t c = 0; c < mote_cloud_column_count(source); c++) {
        const mote_column *from = mote_cloud_column(source, c), *to = mote_cloud_find(back, from->name);
        const bool wide = to != NULL && from->type == MOTE_UINT64 && to->type == MOTE_FLOAT64; /* beyond 2^53 */
        if (to == NULL) assert_true(is_flag(from->name));
        if (c < 3 && from->scale != to->scale) continue; /* spans more steps than the format has */
        if (to != NULL && !wide) assert_int_equal(from->type, to->type);
        if (to != NULL) assert_true(from->scale == to->scale && from->offset == to->offset);
        for (uint64_t i = 0; i < mote_cloud_count(back); i++) {
            if (to == NULL) {
                assert_true(mote_column_stored(from, order[i]) == 0);
            } else if (wide) {
                assert_true(mote_column_stored(from, order[i]) == mote_column_stored(to, i));
            } else if (from->bit_count == 0 && to->bit_count == 0) {
                assert_memory_equal(mote_column_at(from, order[i]), mote_column_at(to, i), mote_type_size(to->type));
            } else {
                assert_int_equal(mote_column_integer(from, order[i]), mote_column_integer(to, i));
            }
        }
    }
}

mote_lod *potree_build(mote_context *ctx, const mote_cloud *cloud, mote_lod_scheme scheme, mote_lod_filter filter) {
    mote_lod_params params = mote_lod_defaults();
    params.scheme = scheme;
    params.filter = filter;
    params.grid = 8;
    params.merge_points = 50;
    mote_lod *lod = NULL;
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    return lod;
}

mote_cloud *potree_read_back(mote_context *ctx, const char *path, int level) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.level = level;
    const mote_status status = mote_cloud_read(ctx, path, &params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

static mote_potree_params encoding_params(int brotli) {
    mote_potree_params params = mote_potree_defaults();
    params.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
    params.name = "test";
    return params;
}

void potree_write_ok(mote_context *ctx, const mote_lod *lod, const char *path, int brotli, mote_potree_report *report) {
    const mote_potree_params params = encoding_params(brotli);
    const mote_status status = mote_potree_write(ctx, lod, path, &params, report);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
}

static int encodings(void) { return potree_has_brotli() ? 2 : 1; }

void potree_check_round_trip(mote_context *ctx, const mote_cloud *cloud) {
    mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_ADDITIVE, MOTE_LOD_FILTER_NONE);
    for (int brotli = 0; brotli < encodings(); brotli++) {
        const char *path = test_path(brotli ? "trip.brotli" : "trip.default");
        mote_potree_report report;
        potree_write_ok(ctx, lod, path, brotli, &report);
        assert_int_equal(report.points, mote_cloud_count(cloud) - mote_lod_skipped(lod));
        potree_reference_check(path, lod, brotli);
        mote_cloud *back = potree_read_back(ctx, path, -1);
        assert_int_equal(mote_cloud_count(back), report.points);
        uint32_t *order = potree_order(lod, -1);
        assert_same_points(cloud, back, order);
        free(order);
        mote_cloud_destroy(back);
    }
    mote_lod_destroy(lod);
}

/* ---- tests */

static void keeps_every_type(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = cloud_of_all_types(ctx, 6000);
    potree_check_round_trip(ctx, cloud);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    mote_potree_report first = {0}, report;
    for (int run = 0; run < 6; run++) {
        static const int threads[3] = {1, 2, 7};
        random_state = 1;
        mote_context *ctx = test_context(threads[run / 2]);
        mote_cloud *cloud = cloud_of_all_types(ctx, 20000);
        mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_ADDITIVE, MOTE_LOD_FILTER_NONE);
        const int brotli = run % 2 < encodings() ? run % 2 : 0;
        char name[32];
        snprintf(name, sizeof name, "threads.%d", run);
        potree_write_ok(ctx, lod, test_path(name), brotli, &report);
        if (run == 0) first = report;
        if (run > 1) potree_reference_same_folders(test_path(run % 2 ? "threads.1" : "threads.0"), test_path(name));
        if (run > 1 && run % 2 == 0) assert_true(report.hash == first.hash);
        if (run == 1 && brotli) assert_true(report.hash != first.hash);
        mote_lod_destroy(lod);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* 0, 1, all equal, heavy duplicates. */
static void survives_few_and_equal_points(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const struct {
        uint64_t count;
        uint32_t extent;
    } cases[] = {{0, 1}, {1, 1}, {2, 1}, {5000, 1}, {5000, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                          {"y", MOTE_INT32, 0.01, 0},
                                          {"z", MOTE_INT32, 0.01, 0},
                                          {"a", MOTE_FLOAT64, 0, 0}};
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_create(ctx, cases[c].count, specs, 4, &cloud), MOTE_OK);
        if (cases[c].count > 0) fill_positions(cloud, -77, cases[c].extent);
        potree_check_round_trip(ctx, cloud);
        mote_cloud_destroy(cloud);
    }
    potree_reference set = potree_reference_open(test_path("trip.default"));
    const json_t *a = json_array_get(json_object_get(set.json, "attributes"), 1);
    assert_true(potree_reference_number(a, "min", NULL, 0) <
                potree_reference_number(a, "max", NULL, 0)); /* 8-byte types must differ */
    potree_reference_close(&set);
    mote_context_destroy(ctx);
}

/* Averages stand in inner nodes; the whole cloud is the leaves; a level is what a level is. */
static void replaces(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = cloud_of_all_types(ctx, 8000);
    mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_REPLACING, MOTE_LOD_FILTER_CELL);
    for (int brotli = 0; brotli < encodings(); brotli++) {
        potree_write_ok(ctx, lod, test_path("replacing"), brotli, NULL);
        potree_reference_check(test_path("replacing"), lod, brotli);
        mote_cloud *back = potree_read_back(ctx, test_path("replacing"), -1);
        assert_int_equal(mote_cloud_count(back), 8000);
        uint32_t *order = potree_order(lod, -1);
        assert_same_points(cloud, back, order);
        free(order);
        mote_cloud_destroy(back);
        mote_cloud *root = potree_read_back(ctx, test_path("replacing/metadata.json"), 0);
        const uint64_t count = mote_lod_nodes(lod)[0].point_count;
        uint32_t *indices = malloc(count * 4);
        uint16_t *colors = malloc(count * 6);
        mote_lod_node_points(lod, 0, indices, colors);
        assert_int_equal(mote_cloud_count(root), count);
        for (uint64_t i = 0; i < count; i++) {
            assert_int_equal(mote_column_integer(mote_cloud_find(root, "red"), i), colors[3 * i]);
            assert_int_equal(mote_column_integer(mote_cloud_find(root, "blue"), i), colors[3 * i + 2]);
            assert_int_equal(mote_column_integer(mote_cloud_find(root, "x"), i),
                             mote_column_integer(mote_cloud_find(cloud, "x"), indices[i]));
        }
        free(indices);
        free(colors);
        mote_cloud_destroy(root);
    }
    mote_read_params params = mote_read_defaults();
    params.level = 99;
    mote_cloud *none = NULL;
    assert_int_equal(mote_cloud_read(ctx, test_path("replacing"), &params, &none), MOTE_ERROR_ARGUMENT);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A real LAS file comes back with all it had. */
static void gives_a_scan_back(void **state) {
    (void)state;
    static const char *const names[] = {"las/point10.las",     "las/1.2-with-color.las", "las/extrabytes.las",
                                        "las/pdrf4-1.3.las",   "las/pdrf5-1.3.las",      "las/pdrf8-1.4.las",
                                        "las/pdrf9-1.4.las",   "las/pdrf10-1.4.las",     "las/5points_14.las",
                                        "las/1_4_w_evlr.las",  "las/epsg_4326.las",      "las/no-points-1.3.las",
                                        "las/autzen_trim.las", "las/lots_of_vlr.las"};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof names / sizeof names[0]; f++) {
        const char *path = test_data(names[f]);
        mote_cloud *cloud = NULL;
        if (path == NULL) continue;
        if (mote_cloud_read(ctx, path, NULL, &cloud) != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
        assert_non_null(cloud);
        potree_check_round_trip(ctx, cloud);
        mote_cloud *back = potree_read_back(ctx, test_path("trip.default"), -1);
        assert_int_equal(mote_cloud_record_count(back), mote_cloud_record_count(cloud));
        for (uint32_t r = 0; r < mote_cloud_record_count(cloud); r++) {
            const mote_record *a = mote_cloud_record(cloud, r), *b = mote_cloud_record(back, r);
            assert_string_equal(a->user_id, b->user_id);
            assert_string_equal(a->description, b->description);
            assert_true(a->record_id == b->record_id && a->extended == b->extended && a->size_bytes == b->size_bytes);
            assert_memory_equal(a->data, b->data, a->size_bytes);
        }
        assert_string_equal(mote_cloud_crs(cloud), mote_cloud_crs(back));
        assert_memory_equal(&cloud->las, &back->las, sizeof cloud->las);
        mote_cloud_destroy(back);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* What the header of a LAS file says of its origin, in all digits. */
static void keeps_the_origin_of_las(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = cloud_of_all_types(ctx, 10);
    static const uint8_t guid[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                     0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
    cloud->las = (mote_las_origin){.present = true,
                                   .version_minor = 4,
                                   .format = 10,
                                   .file_source_id = 65535,
                                   .global_encoding = 17,
                                   .creation_day = 366,
                                   .creation_year = 2027};
    memcpy(cloud->las.guid, guid, sizeof guid);
    snprintf(cloud->las.system_id, sizeof cloud->las.system_id, "a sensor");
    snprintf(cloud->las.software, sizeof cloud->las.software, "thirty-two bytes of one software");
    potree_check_round_trip(ctx, cloud);
    mote_cloud *back = potree_read_back(ctx, test_path("trip.default"), -1);
    assert_memory_equal(&back->las, &cloud->las, sizeof cloud->las);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static bool view_nothing(const mote_lod *lod, lod_device_view *view) {
    (void)lod;
    memset(view, 0, sizeof *view);
    return true;
}

/* Levels of detail on a GPU are in the memory of the context that built them: another one is refused. */
static void trees_of_another_gpu_are_refused(void **state) {
    (void)state;
    mote_context *ctx = test_context(1), *other = test_context(1);
    mote_cloud *cloud = cloud_of_all_types(ctx, 10);
    mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_ADDITIVE, MOTE_LOD_FILTER_NONE);
    mote_lod on_device = *lod;
    const mote_lod_ops ops = {.view = view_nothing}; /* refused before anybody looks there */
    on_device.ops = &ops;
    assert_int_equal(mote_potree_write(other, &on_device, test_path("other"), NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(other), "another context's GPU"));
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(other);
    mote_context_destroy(ctx);
}

/* ---- trees that no builder makes */

static void hand_points(const void *lod, uint32_t node, uint32_t *indices, uint16_t *colors) {
    (void)colors;
    const potree_source *source = lod;
    for (uint64_t i = 0; i < source->nodes[node].point_count; i++)
        indices[i] = (uint32_t)(source->nodes[node].first + i);
}

/* A chain of 40 nodes, with a point in every third and two leaves at its end: proxies at 4, 8 … 36, empty nodes. */
static void writes_deep_chains(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    enum { DEPTH = 40, NODES = DEPTH + 2, POINTS = 16 };
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 1, 0}, {"y", MOTE_INT32, 1, 0}, {"z", MOTE_INT32, 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 3, &cloud), MOTE_OK);
    mote_lattice lattice;
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, NULL), MOTE_OK);
    static mote_lod_node nodes[NODES];
    uint64_t used = 0;
    for (uint32_t n = 0; n < NODES; n++) {
        nodes[n].level = (uint8_t)(n < DEPTH ? n : DEPTH);
        nodes[n].child_mask = n + 1 < DEPTH ? 1 : n < DEPTH ? 0x81 : 0;
        nodes[n].first_child = n < DEPTH ? n + 1 : 0;
        nodes[n].first = used;
        nodes[n].point_count = n % 3 == 0 || n >= DEPTH ? 1 : 0;
        used += nodes[n].point_count;
    }
    assert_true(used <= POINTS);
    const mote_lod_params lod_params = mote_lod_defaults();
    potree_source source = {.cloud = cloud,
                            .lattice = &lattice,
                            .params = &lod_params,
                            .nodes = nodes,
                            .node_count = NODES,
                            .node_points = hand_points};
    source.lod = &source;
    mote_potree_params params = encoding_params(0);
    mote_potree_report report;
    assert_int_equal(potree_write_source(ctx, &source, test_path("chain"), &params, &report), MOTE_OK);
    potree_reference set = potree_reference_open(test_path("chain"));
    assert_int_equal(set.count, NODES);
    assert_int_equal(set.chunks, DEPTH / 4);
    potree_reference_check_places(&set);
    potree_reference_close(&set);
    mote_cloud *back = potree_read_back(ctx, test_path("chain"), -1);
    assert_int_equal(mote_cloud_count(back), used);
    mote_cloud_destroy(back);
    back = potree_read_back(ctx, test_path("chain"), DEPTH);
    assert_int_equal(mote_cloud_count(back), 2);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void leaves_out_what_is_asked(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = cloud_of_all_types(ctx, 100);
    mote_lod *lod = potree_build(ctx, cloud, MOTE_LOD_ADDITIVE, MOTE_LOD_FILTER_NONE);
    static const char *const names[] = {"rgb", "gps_time", "e int64", "classification flags", NULL};
    mote_potree_params params = encoding_params(0);
    params.attributes_left_out = names;
    assert_int_equal(mote_potree_write(ctx, lod, test_path("less"), &params, NULL), MOTE_OK);
    mote_cloud *back = potree_read_back(ctx, test_path("less"), -1);
    static const char *const gone[] = {"red", "green", "blue", "gps_time", "e int64", "withheld"};
    for (size_t g = 0; g < sizeof gone / sizeof gone[0]; g++) assert_null(mote_cloud_find(back, gone[g]));
    assert_non_null(mote_cloud_find(back, "e uint64"));
    assert_non_null(mote_cloud_find(back, "gps-time"));
    mote_cloud_destroy(back);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* The checksum of bytes is the same in whatever pieces they come, and that of other bytes another one. */
static void checksums_go_by_bytes(void **state) {
    (void)state;
    uint8_t bytes[200];
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 37 + 11);
    for (uint64_t size = 0; size <= sizeof bytes; size += 7) {
        potree_hash one = potree_hash_begin(), changed = potree_hash_begin();
        potree_hash_add(&one, bytes, size);
        const uint64_t expected = potree_hash_end(&one);
        for (uint64_t step = 1; step <= 70; step++) {
            potree_hash sum = potree_hash_begin();
            for (uint64_t at = 0; at < size; at += step) {
                potree_hash_add(&sum, bytes + at, size - at < step ? size - at : step);
                assert_int_equal(potree_hash_end(&sum), potree_hash_end(&sum)); /* asking changes nothing */
            }
            if (potree_hash_end(&sum) != expected) fail_msg("%d bytes in steps of %d", (int)size, (int)step);
        }
        if (size == 0) continue;
        bytes[size - 1] ^= 1;
        potree_hash_add(&changed, bytes, size);
        assert_int_not_equal(potree_hash_end(&changed), expected);
        bytes[size - 1] ^= 1;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_every_type),
                                       cmocka_unit_test(same_bytes_for_any_threads),
                                       cmocka_unit_test(survives_few_and_equal_points),
                                       cmocka_unit_test(keeps_positions_of_any_type),
                                       cmocka_unit_test(rounds_to_the_nearest_step),
                                       cmocka_unit_test(packs_and_leaves_out_flags),
                                       cmocka_unit_test(replaces),
                                       cmocka_unit_test(gives_a_scan_back),
                                       cmocka_unit_test(keeps_the_origin_of_las),
                                       cmocka_unit_test(trees_of_another_gpu_are_refused),
                                       cmocka_unit_test(writes_deep_chains),
                                       cmocka_unit_test(codes_are_as_defined),
                                       cmocka_unit_test(checksums_go_by_bytes),
                                       cmocka_unit_test(leaves_out_what_is_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    print_message("built without jansson: no Potree folders\n");
    return 0;
}

#endif
