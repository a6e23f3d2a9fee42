/* Potree folders of octrees of the CPU and of the GPU, byte for byte; and the records that stay on the GPU. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/potree/potree.h"
#include "math/hash.h"
#include "parity/parity_support.h"
#include "reference/lod_reference.h"
#include "support/las_files.h"

#if MOTE_HAVE_JANSSON

/* ---- writing and comparing */

static const uint64_t batch_sizes[] = {0, 1, 20000}; /* 1: the fewest records that a piece can have */

static void write_source(mote_context *ctx, const mote_lod *lod, uint64_t batch_bytes, const char *path,
                         const mote_potree_params *params, mote_potree_report *report, const char *what) {
    potree_source source;
    mote_status status = potree_source_of_lod(ctx, lod, &source);
    source.batch_bytes = batch_bytes;
    if (status == MOTE_OK) status = potree_write_source(ctx, &source, path, params, report);
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

static void compare_file(const char *name, const char *what, uint64_t batch_bytes) {
    char a_path[600], b_path[600];
    snprintf(a_path, sizeof a_path, "%s/%s", test_path("cpu"), name);
    snprintf(b_path, sizeof b_path, "%s/%s", test_path("cuda"), name);
    const file_bytes a = load(a_path), b = load(b_path);
    size_t at = 0;
    while (at < a.size && at < b.size && a.data[at] == b.data[at]) at++;
    if (a.size != b.size || at < a.size) {
        fail_msg("%s, pieces of %llu: %s differs at %zu of %zu and %zu", what, (unsigned long long)batch_bytes, name,
                 at, a.size, b.size);
    }
    free(a.data);
    free(b.data);
}

/* The folder of cpu stands at "cpu" already. */
static void compare_folder(const parity_pair *on, const mote_lod *cuda, uint64_t batch_bytes,
                           const mote_potree_params *params, const mote_potree_report *expected, const char *what) {
    mote_potree_report report;
    write_source(on->cuda, cuda, batch_bytes, test_path("cuda"), params, &report, what);
    compare_file("octree.bin", what, batch_bytes);
    compare_file("hierarchy.bin", what, batch_bytes);
    compare_file("metadata.json", what, batch_bytes);
    assert_true(report.hash == expected->hash);
    assert_int_equal(report.points, expected->points);
    assert_int_equal(report.octree_bytes, expected->octree_bytes);
}

/* The records on the GPU are octree.bin; the folder of cpu stands at "cpu". */
static void compare_records(const parity_pair *on, mote_lod *cuda, const mote_potree_params *params, const char *what) {
    char path[600];
    const void *records = NULL;
    uint64_t size_bytes = 0;
    if (mote_potree_records(on->cuda, cuda, params, &records, &size_bytes) != MOTE_OK) {
        fail_msg("%s: %s", what, mote_context_message(on->cuda));
    }
    snprintf(path, sizeof path, "%s/octree.bin", test_path("cpu"));
    const file_bytes file = load(path);
    uint8_t *bytes = parity_download(on->cuda, records, size_bytes);
    assert_int_equal(size_bytes, file.size);
    if (memcmp(bytes, file.data, file.size) != 0) fail_msg("%s: the records differ from octree.bin", what);
    free(bytes);
    free(file.data);
}

static void compare_octree(const parity_pair *on, const mote_lod *cpu, const mote_potree_params *params,
                           const char *what) {
    mote_lod *cuda = parity_device_make(on->cuda, cpu, PARITY_COMPLETE);
    mote_potree_params p = *params;
    for (int brotli = 0; brotli < (potree_has_brotli() ? 2 : 1); brotli++) {
        mote_potree_report report;
        p.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
        p.name = "parity";
        write_source(on->cpu, cpu, 0, test_path("cpu"), &p, &report, what);
        for (int s = brotli; s < 3; s++) compare_folder(on, cuda, batch_sizes[s], &p, &report, what);
        if (!brotli) compare_records(on, cuda, &p, what);
    }
    mote_lod_destroy(cuda);
}

static void compare_cloud(const parity_pair *on, const mote_cloud *cloud, const mote_lod_params *lod_params,
                          const char *const *left_out, const char *what) {
    mote_lod *cpu = NULL;
    mote_potree_params params = mote_potree_defaults();
    params.attributes_left_out = left_out;
    if (mote_lod_build(on->cpu, cloud, lod_params, &cpu) != MOTE_OK) {
        fail_msg("%s: %s", what, mote_context_message(on->cpu));
    }
    compare_octree(on, cpu, &params, what);
    mote_lod_destroy(cpu);
    assert_int_equal(mote_context_device_bytes(on->cuda), 0);
}

static mote_lod_params small_nodes(void) {
    mote_lod_params params = mote_lod_defaults();
    params.grid = 8;
    params.merge_points = 60;
    return params;
}

static mote_lod_params filtered(mote_lod_filter filter) {
    mote_lod_params params = small_nodes();
    params.scheme = MOTE_LOD_REPLACING;
    params.filter = filter;
    return params;
}

/* ---- values */

/* Bits of all kinds; reals are also of those that are no numbers, zeros and huge. */
static uint64_t any_bits(uint64_t i, uint32_t of, mote_type type) {
    static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e300, 5e-324};
    const uint64_t bits = mote_hash_pair(i, of);
    double real = (double)(int64_t)bits / 4e18;
    if (bits % 16 == 0) real = odd[bits / 16 % 8];
    const float narrow = (float)real;
    uint64_t value = bits;
    if (type == MOTE_FLOAT32) memcpy(&value, &narrow, 4);
    if (type == MOTE_FLOAT64) memcpy(&value, &real, 8);
    return value;
}

/* Fills what mote_cloud_create and mote_cloud_add_column made. */
static void fill(mote_cloud *cloud, const char *name, uint64_t mask) {
    const mote_column *column = mote_cloud_find(cloud, name);
    uint8_t *at = mote_cloud_column_data(cloud, name);
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++, at += column->stride_bytes) {
        const uint64_t value = any_bits(i, (uint32_t)name[0] * 31u + (uint32_t)name[1], column->type) & mask;
        memcpy(at, &value, mote_type_size(column->type));
    }
}

static void fill_positions(mote_cloud *cloud, int64_t origin, uint64_t extent) {
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        const uint64_t place = i % 40 == 39 ? i - 1 : i; /* some twice */
        for (uint32_t k = 0; k < 3; k++) {
            const char name[2] = {(char)('x' + k), '\0'};
            set_value(cloud, name, i, (double)(origin + (int64_t)(mote_hash_pair(place, k) % (extent >> (k == 2)))));
        }
    }
}

static mote_cloud *make(mote_context *ctx, uint64_t count, const mote_column_spec *specs, uint32_t spec_count) {
    mote_cloud *cloud = NULL;
    if (mote_cloud_create(ctx, count, specs, spec_count, &cloud) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    for (uint32_t s = 3; s < spec_count; s++) fill(cloud, specs[s].name, UINT64_MAX);
    return cloud;
}

/* Makes the least value of a column its no-data value, so that it is in no range. */
static void hide_least(mote_cloud *cloud, const char *name) {
    const mote_column *column = mote_cloud_find(cloud, name);
    uint64_t least = 0;
    for (uint64_t i = 1; i < mote_cloud_count(cloud); i++) {
        if (mote_column_stored(column, i) < mote_column_stored(column, least)) least = i;
    }
    const mote_column_limits limits = {.has_no_data = true, .no_data = mote_limit_of_value(column, least)};
    assert_int_equal(mote_cloud_set_limits(cloud, name, &limits), MOTE_OK);
}

/* ---- tests */

static const mote_column_spec every_type[] = {
    {"x", MOTE_INT32, 0.001, 500000}, {"y", MOTE_INT32, 0.001, 5e6},    {"z", MOTE_INT32, 0.002, -10},
    {"intensity", MOTE_UINT16, 0, 0}, {"withheld", MOTE_UINT8, 0, 0},   {"classification", MOTE_UINT8, 0, 0},
    {"gps_time", MOTE_FLOAT64, 0, 0}, {"red", MOTE_UINT16, 0, 0},       {"green", MOTE_UINT16, 0, 0},
    {"blue", MOTE_UINT16, 0, 0},      {"normal_x", MOTE_FLOAT32, 0, 0}, {"e8", MOTE_INT8, 0, 0},
    {"f8", MOTE_UINT8, 0, 0},         {"e16", MOTE_INT16, 0.5, 3},      {"e32", MOTE_INT32, 0, 0},
    {"f32", MOTE_UINT32, 0, 0},       {"e64", MOTE_INT64, 0, 0},        {"f64", MOTE_UINT64, 0.25, 1},
    {"overlap", MOTE_INT16, 0, 0},    {"synthetic", MOTE_UINT8, 0, 0},  {"key_point", MOTE_FLOAT32, 0, 0}};

/* Interleaved in one block, and each in memory of its own. */
static void every_type_is_the_same(void **state) {
    const parity_pair *on = *state;
    const uint32_t spec_count = sizeof every_type / sizeof every_type[0];
    const char *const left_out[] = {"rgb", "intensity", "e32", NULL};
    for (int turn = 0; turn < 4; turn++) {
        const uint32_t together = turn % 2 == 0 ? spec_count : 3;
        mote_cloud *cloud = make(on->cpu, 700, every_type, together);
        for (uint32_t s = together; s < spec_count; s++) {
            assert_int_equal(mote_cloud_add_column(cloud, &every_type[s]), MOTE_OK);
            fill(cloud, every_type[s].name, UINT64_MAX);
        }
        fill(cloud, "withheld", turn < 2 ? 1 : 0); /* a flag, or zero everywhere */
        fill(cloud, "synthetic", 3);               /* no flag */
        for (uint32_t s = 10; s < 18 && turn % 2 == 1; s++) hide_least(cloud, every_type[s].name);
        fill_positions(cloud, turn < 2 ? 1000 : -70000, 200000);
        const mote_lod_params params = turn % 2 == 0 ? small_nodes() : filtered(MOTE_LOD_FILTER_CELL);
        compare_cloud(on, cloud, &params, turn == 3 ? left_out : NULL, "every type");
        mote_cloud_destroy(cloud);
    }
}

static void every_position_is_the_same(void **state) {
    static const struct {
        mote_type type;
        int64_t origin;
        uint64_t extent;
        double scale;
    } cases[] = {{MOTE_INT32, -2147483648ll, 4294967295ull, 0.01}, /* of more than 2^31 steps */
                 {MOTE_INT64, 1ll << 40, 1ull << 34, 0.001},
                 {MOTE_UINT16, 0, 65536, 1},
                 {MOTE_INT8, -100, 200, 0.5},
                 {MOTE_FLOAT32, -3000, 6000, 0},
                 {MOTE_FLOAT64, 1ll << 40, 1ull << 36, 0.1}, /* does not come back */
                 {MOTE_FLOAT64, 7, 100000, 0}};
    const parity_pair *on = *state;
    const mote_lod_params params = small_nodes();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const mote_column_spec specs[] = {{"x", cases[c].type, cases[c].scale, 3},
                                          {"y", cases[c].type, cases[c].scale, 0},
                                          {"z", cases[c].type, cases[c].scale, -1},
                                          {"n", MOTE_UINT8, 0, 0}};
        mote_cloud *cloud = make(on->cpu, 500, specs, 4);
        fill_positions(cloud, cases[c].origin, cases[c].extent);
        compare_cloud(on, cloud, &params, NULL, "positions");
        mote_cloud_destroy(cloud);
    }
}

/* Fields of integers of every size, and colours of other types than the format has; strides and places at odd bytes. */
static void every_field_is_the_same(void **state) {
    static const uint32_t strides[] = {45, 46, 48, 53, 150};
    const parity_pair *on = *state;
    for (size_t s = 0; s < sizeof strides / sizeof strides[0]; s++) {
        enum { COUNT = 500 };
        const uint32_t stride = strides[s], at = stride % 2;
        uint8_t *memory = malloc(COUNT * stride + 1);
        for (uint64_t i = 0; i <= COUNT * stride; i++) memory[i] = (uint8_t)mote_hash64(i);
        for (uint64_t i = 0; i < COUNT; i++) {
            for (uint32_t k = 0; k < 3; k++) {
                const uint64_t place = mote_hash_pair(i, k) % 100000;
                memcpy(memory + at + i * stride + 4 * k, &place, 4);
            }
        }
        const mote_type color = s % 2 == 0 ? MOTE_INT32 : MOTE_FLOAT32;
        const uint8_t *m = memory + at;
        const mote_column columns[] = {{"x", "", "", m, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"y", "", "", m + 4, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"z", "", "", m + 8, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"red", "", "", m + 12, stride, color, 0, 0, 0, 0},
                                       {"green", "", "", m + 16, stride, color, 0, 0, 1e-30, 0.25},
                                       {"blue", "", "", m + 20, stride, MOTE_INT64, 0, 0, 0, 0},
                                       {"key_point", "", "", m + 28, stride, MOTE_UINT32, 17, 1, 0, 0},
                                       {"withheld", "", "", m + 28, stride, MOTE_UINT8, 2, 1, 0, 0},
                                       {"overlap", "", "", m + 28, stride, MOTE_UINT8, 3, 1, 0, 0},
                                       {"scanner_channel", "", "", m + 28, stride, MOTE_UINT8, 4, 2, 0, 0},
                                       {"return_number", "", "", m + 32, stride, MOTE_UINT8, 0, 4, 0, 0},
                                       {"number_of_returns", "", "", m + 32, stride, MOTE_UINT8, 4, 4, 0, 0},
                                       {"classification", "", "", m + 33, stride, MOTE_UINT8, 0, 5, 0, 0},
                                       {"a", "", "", m + 33, stride, MOTE_INT16, 3, 9, 0, 0},
                                       {"b", "", "", m + 35, stride, MOTE_UINT64, 40, 20, 0, 0},
                                       {"c", "", "", m + 43, stride, MOTE_INT8, 1, 3, 0, 0},
                                       {"d", "", "", m + stride - 1, stride, MOTE_INT8, 0, 0, 0, 0}};
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_wrap(on->cpu, COUNT, columns, sizeof columns / sizeof columns[0], &cloud), MOTE_OK);
        const mote_lod_params params = s < 2 ? small_nodes() : filtered(MOTE_LOD_FILTER_NEIGHBORS);
        compare_cloud(on, cloud, &params, NULL, "fields");
        mote_cloud_destroy(cloud);
        free(memory);
    }
}

/* What a point format of LAS has, as far as it matters here. */
static uint32_t las_columns(int format, mote_column_spec specs[16]) {
    const bool timed = format != 0 && format != 2,
               colored = format == 2 || format == 3 || format == 5 || format == 7 || format == 8 || format == 10;
    const mote_column_spec all[] = {{"x", MOTE_INT32, 0.01, 500000},
                                    {"y", MOTE_INT32, 0.01, 5000000},
                                    {"z", MOTE_INT32, 0.01, 0},
                                    {"intensity", MOTE_UINT16, 0, 0},
                                    {"return_number", MOTE_UINT8, 0, 0},
                                    {"edge_of_flight_line", MOTE_UINT8, 0, 0},
                                    {"classification", MOTE_UINT8, 0, 0},
                                    {"user_data", MOTE_UINT8, 0, 0},
                                    {"point_source_id", MOTE_UINT16, 0, 0},
                                    {"extra", MOTE_INT64, 0, 0},
                                    {"gps_time", MOTE_FLOAT64, 0, 0},
                                    {"red", MOTE_UINT16, 0, 0},
                                    {"green", MOTE_UINT16, 0, 0},
                                    {"blue", MOTE_UINT16, 0, 0}};
    uint32_t count = 0;
    for (uint32_t s = 0; s < sizeof all / sizeof all[0]; s++) {
        if ((s == 10 && !timed) || (s > 10 && !colored)) continue;
        if (s == 9 && format % 3 == 0) continue; /* else lengths that LAS gives by itself */
        specs[count++] = all[s];
    }
    return count;
}

static void every_las_format_is_the_same(void **state) {
    const parity_pair *on = *state;
    for (int format = 0; format <= 10; format++) {
        mote_column_spec specs[16];
        char what[32];
        mote_cloud *cloud = make(on->cpu, 400, specs, las_columns(format, specs)), *las = NULL;
        fill_positions(cloud, format % 2 ? -5000 : 5000, 100000);
        fill(cloud, "return_number", 7);
        fill(cloud, "edge_of_flight_line", format % 3 == 0 ? 1 : 0);
        fill(cloud, "classification", 31);
        mote_write_params writing = mote_write_defaults();
        writing.las_format = format;
        write_ok(on->cpu, cloud, test_path("one.las"), &writing);
        las = read_ok(on->cpu, test_path("one.las"));
        snprintf(what, sizeof what, "LAS format %d", format);
        const mote_lod_params params = format % 2 ? small_nodes() : filtered(MOTE_LOD_FILTER_NONE);
        compare_cloud(on, las, &params, NULL, what);
        mote_cloud_destroy(las);
        mote_cloud_destroy(cloud);
    }
}

static void every_awkward_cloud_is_the_same(void **state) {
    const parity_pair *on = *state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += (uint32_t)parity_extent(5, 1, 1)) {
        mote_cloud *cloud = awkward_cloud_make(on->cpu, &awkward_clouds[c], parity_extent(300, 300, 3000), 0);
        const mote_lod_params params = c % 4 == 0 ? small_nodes() : filtered((mote_lod_filter)(c % 4));
        compare_cloud(on, cloud, &params, NULL, awkward_clouds[c].name);
        mote_cloud_destroy(cloud);
    }
}

/* Around the sizes of warps, tiles and pieces; and nodes larger than a piece. */
static void any_count_is_the_same(void **state) {
    static const uint64_t counts[] = {0, 1, 31, 32, 33, 255, 256, 257, 511, 513, 1100};
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},  {"y", MOTE_INT32, 0.01, 0},
                                      {"z", MOTE_INT32, 0.01, 0},  {"red", MOTE_UINT8, 0, 0},
                                      {"green", MOTE_UINT8, 0, 0}, {"blue", MOTE_UINT8, 0, 0}};
    const parity_pair *on = *state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        mote_cloud *cloud = make(on->cpu, counts[c], specs, 6);
        fill_positions(cloud, 0, 5000);
        mote_lod_params params = mote_lod_defaults();
        for (int turn = 0; turn < 2; turn++) {
            params.merge_points = turn == 0 ? 10000 : 300;
            compare_cloud(on, cloud, &params, NULL, "counts");
        }
        mote_cloud_destroy(cloud);
    }
}

/* Points at multiples of 16 bytes, of which the last ends with its last value; counts around tiles of moves. */
static void aligned_points_are_the_same(void **state) {
    static const uint64_t counts[] = {1, 3, 510, 512, 1027};
    const parity_pair *on = *state;
    for (size_t c = 0; c < 2 * sizeof counts / sizeof counts[0]; c++) {
        const uint64_t count = counts[c / 2];
        const uint32_t stride = c % 2 == 0 ? 16 : 48, last = stride - 2;
        uint8_t *m = malloc(count * stride - 1);
        for (uint64_t i = 0; i < count * stride - 1; i++) m[i] = (uint8_t)mote_hash64(i);
        for (uint64_t i = 0; i < 3 * count; i++) {
            const uint64_t place = mote_hash64(i) % 100000;
            memcpy(m + i / 3 * stride + 4 * (i % 3), &place, 4);
        }
        const mote_column columns[] = {{"x", "", "", m, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"y", "", "", m + 4, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"z", "", "", m + 8, stride, MOTE_INT32, 0, 0, 0.1, 0},
                                       {"red", "", "", m + 12, stride, MOTE_UINT8, 0, 0, 0, 0},
                                       {"green", "", "", m + 13, stride, MOTE_UINT8, 0, 0, 0, 0},
                                       {"blue", "", "", m + last, stride, MOTE_UINT8, 0, 0, 0, 0}};
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_wrap(on->cpu, count, columns, sizeof columns / sizeof columns[0], &cloud), MOTE_OK);
        const mote_lod_params plain = small_nodes(), averaged = filtered(MOTE_LOD_FILTER_CELL);
        compare_cloud(on, cloud, &plain, NULL, "aligned points");
        compare_cloud(on, cloud, &averaged, NULL, "aligned points, averaged");
        mote_cloud_destroy(cloud);
        free(m);
    }
}

/* So many columns that not all are fetched together, few records fit a tile, or none does. */
static void long_records_are_the_same(void **state) {
    static const uint32_t counts[] = {20, 90, 170, 400};
    const parity_pair *on = *state;
    const mote_lod_params params = small_nodes();
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        mote_column_spec specs[403] = {
            {"x", MOTE_INT32, 0.01, 0}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 0.01, 0}};
        char names[403][16];
        for (uint32_t s = 3; s < 3 + counts[c]; s++) {
            snprintf(names[s], sizeof names[s], "%u", s);
            const mote_column_spec spec = {names[s], s % 7 == 0 ? MOTE_INT64 : MOTE_FLOAT64, 0, 0};
            specs[s] = spec;
        }
        for (int turn = 0; turn < 2; turn++) { /* interleaved, and each by itself */
            const uint32_t together = turn == 0 ? 3 + counts[c] : 3;
            mote_cloud *cloud = make(on->cpu, 150, specs, together);
            for (uint32_t s = together; s < 3 + counts[c]; s++) {
                assert_int_equal(mote_cloud_add_column(cloud, &specs[s]), MOTE_OK);
                fill(cloud, specs[s].name, UINT64_MAX);
            }
            fill_positions(cloud, -10, 5000);
            compare_cloud(on, cloud, &params, NULL, "long records");
            mote_cloud_destroy(cloud);
        }
    }
}

/* COPC is made on the host: what the GPU kept of the octree comes back first. */
static void copc_is_the_same(void **state) {
    const parity_pair *on = *state;
    mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named("degrees and metres"), 600, 0);
    mote_lod_params params = small_nodes();
    mote_lod *cpu = NULL, *cuda = NULL;
    params.max_node_points = 0;
    assert_int_equal(mote_lod_build(on->cpu, cloud, &params, &cpu), MOTE_OK);
    params.on_device = true;
    if (mote_lod_build(on->cuda, cloud, &params, &cuda) != MOTE_OK) fail_msg("%s", mote_context_message(on->cuda));
    assert_int_equal(mote_copc_write(on->cpu, cpu, test_path("cpu.copc.laz"), NULL, NULL), MOTE_OK);
    if (mote_copc_write(on->cuda, cuda, test_path("cuda.copc.laz"), NULL, NULL) != MOTE_OK) {
        fail_msg("%s", mote_context_message(on->cuda));
    }
    assert_same_file(test_path("cpu.copc.laz"), test_path("cuda.copc.laz"));
    mote_lod_destroy(cuda);
    mote_lod_destroy(cpu);
    mote_cloud_destroy(cloud);
}

/* ---- where something goes wrong */

typedef struct cancel_at {
    int step, calls;
} cancel_at;

static bool count_steps(void *user, double done, const char *stage) {
    cancel_at *cancel = user;
    (void)done, (void)stage;
    return cancel->step == 0 || ++cancel->calls < cancel->step;
}

/* At each step in turn: nothing is left behind, neither memory nor files. */
static void can_be_cancelled(void **state) {
    const parity_pair *on = *state;
    mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named("far clusters"), 400, 0);
    mote_lod *cpu = NULL;
    const mote_lod_params lod_params = small_nodes();
    assert_int_equal(mote_lod_build(on->cpu, cloud, &lod_params, &cpu), MOTE_OK);
    for (int brotli = 0; brotli < (potree_has_brotli() ? 2 : 1); brotli++) {
        mote_status status = MOTE_CANCELLED;
        for (int step = 1; status == MOTE_CANCELLED; step++) {
            cancel_at cancel = {0, 0};
            mote_context_params params = mote_context_defaults();
            mote_context *ctx = NULL;
            params.device = MOTE_DEVICE_CUDA;
            params.threads = 2;
            params.progress = count_steps;
            params.progress_user = &cancel;
            assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
            mote_lod *cuda = parity_device_make(ctx, cpu, PARITY_COMPLETE);
            potree_source source;
            mote_potree_params writing = mote_potree_defaults();
            writing.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
            assert_int_equal(potree_source_of_lod(ctx, cuda, &source), MOTE_OK);
            source.batch_bytes = 2000;
            cancel.step = step;
            status = potree_write_source(ctx, &source, test_path("cancelled"), &writing, NULL);
            assert_true(status == MOTE_CANCELLED || (status == MOTE_OK && step > 1));
            assert_int_equal(access(test_path("cancelled"), F_OK) == 0, status == MOTE_OK);
            mote_lod_destroy(cuda);
            assert_int_equal(mote_context_device_bytes(ctx), 0);
            mote_context_destroy(ctx);
        }
        rename(test_path("cancelled"), test_path(brotli ? "done.brotli" : "done"));
    }
    mote_lod_destroy(cpu);
    mote_cloud_destroy(cloud);
}

static void says_what_it_cannot(void **state) {
    const parity_pair *on = *state;
    mote_cloud *cloud = awkward_cloud_make(on->cpu, awkward_cloud_named("far clusters"), 100, 0);
    mote_lod *cpu = NULL;
    const void *records = NULL;
    uint64_t size_bytes = 1;
    assert_int_equal(mote_lod_build(on->cpu, cloud, NULL, &cpu), MOTE_OK);
    assert_int_equal(mote_potree_records(on->cpu, cpu, NULL, &records, &size_bytes), MOTE_ERROR_UNSUPPORTED);
    assert_true(records == NULL && size_bytes == 0);
    mote_context_clear(on->cpu);
    mote_lod *cuda = parity_device_make(on->cuda, cpu, PARITY_COMPLETE);
    assert_int_equal(mote_potree_records(on->cuda, cuda, NULL, NULL, &size_bytes), MOTE_ERROR_ARGUMENT);
    mote_context_clear(on->cuda);
    assert_int_equal(mote_potree_write(on->cpu, cuda, test_path("other"), NULL, NULL), MOTE_ERROR_ARGUMENT);
    mote_context_clear(on->cpu);
    mote_lod_destroy(cuda);
    mote_lod_destroy(cpu);
    mote_cloud_destroy(cloud);
}

#endif

int main(void) {
#if MOTE_HAVE_JANSSON
    const struct CMUnitTest tests[] = {
        PARITY_TEST(every_type_is_the_same),
        PARITY_TEST(every_position_is_the_same),
        PARITY_TEST(every_field_is_the_same),
        PARITY_TEST(every_las_format_is_the_same),
        PARITY_TEST(every_awkward_cloud_is_the_same),
        PARITY_TEST(any_count_is_the_same),
        PARITY_TEST(aligned_points_are_the_same),
        PARITY_TEST(long_records_are_the_same),
        PARITY_TEST(copc_is_the_same),
        PARITY_TEST(can_be_cancelled),
        PARITY_TEST(says_what_it_cannot),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
#else
    print_message("[  SKIPPED ] built without jansson: no Potree folders\n");
    return PARITY_SKIPPED;
#endif
}
