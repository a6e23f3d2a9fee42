/* COPC as mote writes it, seen by the naive reader of the tests: one file is valid, holds every point once and with
   all that it had, in the cube of its node. */
#include "unit/copc_test.h"
#include "lod/lod_octree.h"
#include "reference/awkward_clouds.h"

mote_lod *copc_build(mote_context *ctx, const mote_cloud *cloud, uint32_t merge) {
    mote_lod_params params = mote_lod_defaults();
    mote_lod *lod = NULL;
    params.max_node_points = 0;
    params.merge_points = merge;
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    return lod;
}

mote_copc_report copc_write_ok(mote_context *ctx, const mote_cloud *cloud, uint32_t merge, const char *path) {
    mote_lod *lod = copc_build(ctx, cloud, merge);
    mote_copc_report report;
    const mote_status status = mote_copc_write(ctx, lod, path, NULL, &report);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    mote_lod_destroy(lod);
    return report;
}

mote_cloud *copc_generated(mote_context *ctx, const char *kind, uint64_t count) {
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, kind, count, NULL, &cloud), MOTE_OK);
    return cloud;
}

/* ---- what must hold of every file */

static int by_key(const void *a, const void *b) { return memcmp(a, b, 16); }

static bool has_key(const copc_file *sorted, int32_t level, int32_t x, int32_t y, int32_t z) {
    const copc_entry wanted = {level, {x, y, z}, 0, 0, 0};
    return bsearch(&wanted, sorted->entries, sorted->count, sizeof wanted, by_key) != NULL;
}

/* Keys are unique, and each node but the root has a parent. */
static void check_keys(copc_file *f) {
    copc_file sorted = *f;
    sorted.entries = malloc(f->count * sizeof *sorted.entries);
    assert_non_null(sorted.entries);
    memcpy(sorted.entries, f->entries, f->count * sizeof *sorted.entries);
    qsort(sorted.entries, f->count, sizeof *sorted.entries, by_key);
    for (size_t i = 0; i < f->count; i++) {
        const copc_entry *e = &sorted.entries[i];
        if (i > 0) assert_int_not_equal(by_key(e - 1, e), 0);
        if (e->level == 0) continue;
        assert_true(has_key(&sorted, e->level - 1, e->cell[0] / 2, e->cell[1] / 2, e->cell[2] / 2));
    }
    free(sorted.entries);
}

/* The chunks lie one behind the other as the chunk table says, level by level. */
static void check_table(const copc_file *f) {
    const uint64_t table_at = las_u64(f->file.data + f->points_at);
    const uint32_t chunks = las_u32(f->file.data + table_at + 4);
    laz_entry *table = malloc((chunks + 1) * sizeof *table);
    assert_non_null(table);
    assert_int_equal(las_u32(f->file.data + table_at), 0);
    if (chunks > 0) {
        assert_null(
            mote_laz_table_decode(f->file.data + table_at + 8, f->file.size - table_at - 8, true, chunks, table));
    }
    assert_int_equal(f->schema.chunk_points, LAZ_VARIABLE);
    uint64_t at = f->points_at + 8;
    int32_t level = 0;
    for (uint32_t c = 0; c < chunks; c++) {
        const copc_entry *found = NULL;
        for (size_t i = 0; i < f->count && found == NULL; i++) {
            if (f->entries[i].at == at && f->entries[i].points > 0) found = &f->entries[i];
        }
        assert_non_null(found);
        assert_int_equal(found->points, table[c].points);
        assert_int_equal(found->size_bytes, table[c].size_bytes);
        assert_true(found->level >= level);
        level = found->level;
        at += table[c].size_bytes;
    }
    assert_int_equal(at, table_at);
    free(table);
}

/* The cube of a node, found in the two ways that readers use: by its cell, and halving from the root. */
static void node_cube(const copc_file *f, const copc_entry *e, bool by_halves, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = f->center[k] - f->half;
        high[k] = f->center[k] + f->half;
        if (!by_halves) {
            const double side = 2 * f->half / (double)(1ull << e->level);
            high[k] = low[k] + (e->cell[k] + 1) * side;
            low[k] += e->cell[k] * side;
        }
        for (int32_t l = e->level - 1; l >= 0 && by_halves; l--) {
            const double middle = (low[k] + high[k]) / 2;
            if ((e->cell[k] >> l & 1) != 0) {
                low[k] = middle;
            } else {
                high[k] = middle;
            }
        }
    }
}

static void check_cubes(mote_context *ctx, const copc_file *f) {
    uint64_t outside = 0, points = 0;
    for (size_t i = 0; i < f->count; i++) {
        const copc_entry *e = &f->entries[i];
        if (e->points == 0) continue;
        uint8_t *records = copc_decode(ctx, f, e);
        for (int way = 0; way < 2; way++) {
            double low[3], high[3];
            node_cube(f, e, way == 1, low, high);
            for (int32_t p = 0; p < e->points; p++) {
                int32_t xyz[3];
                memcpy(xyz, records + (size_t)p * f->record_bytes, sizeof xyz);
                for (int k = 0; k < 3; k++) {
                    const double at =
                        xyz[k] * las_f64(f->file.data + 131 + 8 * k) + las_f64(f->file.data + 155 + 8 * k);
                    outside += at < low[k] || at > high[k];
                }
            }
        }
        points += (uint64_t)e->points;
        free(records);
    }
    assert_int_equal(outside, 0);
    assert_int_equal(points, las_u64(f->file.data + 247));
}

/* Box, returns and times of the header are those of the points. */
static void check_header(const copc_file *f, const mote_cloud *points) {
    static const char *const axes[3] = {"x", "y", "z"};
    const uint8_t *data = f->file.data;
    assert_int_equal(data[25], 4);
    assert_true(f->format >= 6 && f->format <= 8 && (data[104] & 0x80) != 0);
    assert_memory_equal(data + 377, "copc\0\0\0\0\0\0\0\0\0\0\0\0\1\0", 18);
    assert_int_equal(las_u16(data + 395), 160);
    for (int i = 0; i < 11; i++) assert_int_equal(las_u64(data + 501 + 8 * i), 0);
    assert_int_equal(las_u64(data + 227), 0);
    assert_memory_equal(data + las_u64(data + 235) + 2, "copc\0", 5);
    assert_int_equal(las_u16(data + las_u64(data + 235) + 18), 1000);
    assert_int_equal(las_u64(data + 469), las_u64(data + 235) + 60);
    const uint64_t count = mote_cloud_count(points);
    if (count == 0) return;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double gps_low = INFINITY, gps_high = -INFINITY;
    uint64_t returns[16] = {0};
    for (uint64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            const double at = mote_column_value(mote_cloud_find(points, axes[k]), i);
            low[k] = fmin(low[k], at);
            high[k] = fmax(high[k], at);
        }
        gps_low = fmin(gps_low, mote_column_value(mote_cloud_find(points, "gps_time"), i));
        gps_high = fmax(gps_high, mote_column_value(mote_cloud_find(points, "gps_time"), i));
        returns[(int)mote_column_value(mote_cloud_find(points, "return_number"), i)]++;
    }
    for (int k = 0; k < 3; k++) {
        assert_true(las_f64(data + 179 + 16 * k) == high[k] && las_f64(data + 187 + 16 * k) == low[k]);
    }
    for (int r = 1; r < 16; r++) assert_int_equal(las_u64(data + 247 + 8 * r), returns[r]);
    assert_true(las_f64(data + 485) == gps_low && las_f64(data + 493) == gps_high);
}

/* Everything about a file; its points as a cloud. */
static mote_cloud *check_file(mote_context *ctx, const char *path, const mote_copc_report *report) {
    copc_file f = copc_load(ctx, path);
    uint64_t nodes = 0;
    check_keys(&f);
    check_table(&f);
    check_cubes(ctx, &f);
    mote_cloud *points = copc_points(ctx, &f, INT32_MAX);
    check_header(&f, points);
    for (size_t i = 0; i < f.count; i++) nodes += f.entries[i].points > 0;
    assert_int_equal(report->nodes, nodes);
    assert_int_equal(report->points, mote_cloud_count(points));
    assert_int_equal(report->file_bytes, f.file.size);
    assert_true(report->hierarchy_bytes == (f.count + f.pages - 1) * 32);
    assert_true(f.largest_page <= (COPC_PAGE_ENTRIES + 8) * 32);
    copc_unload(&f);
    return points;
}

/* ---- clouds */

static void check_cloud(mote_context *ctx, const mote_cloud *cloud, uint32_t merge, const char *except) {
    const char *path = test_path("out.copc.laz");
    const mote_copc_report report = copc_write_ok(ctx, cloud, merge, path);
    mote_cloud *points = check_file(ctx, path, &report);
    assert_same_set(points_of(points, cloud, NULL, except), points_of(cloud, cloud, NULL, except));
    assert_string_equal(mote_cloud_crs(points), mote_cloud_crs(cloud));
    mote_cloud_destroy(points);
}

static void real_files_are_written(void **state) {
    (void)state;
    static const char *const names[] = {"las/autzen_trim.las", "las/1.2-with-color.las", "las/autzen-bmx-2023.las",
                                        "las/extrabytes.las",  "las/4_6_crop.las",       "las/1815.las"};
    if (test_data("MANIFEST.md") == NULL) skip();
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = test_data(names[i]);
        print_message("%s\n", names[i]);
        mote_cloud *cloud = read_ok(ctx, path);
        check_cloud(ctx, cloud, 500, ",scan_angle_rank,");
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void generated_clouds_are_written(void **state) {
    (void)state;
    static const char *const kinds[] = {"city", "clusters", "lattice", "room"};
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        mote_cloud *cloud = copc_generated(ctx, kinds[i], 30000);
        /* Floats get the lattice of LAS: only integers come back as they were. */
        const char *except = i == 0 ? NULL : ",x,y,z,";
        check_cloud(ctx, cloud, 300, except);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void awkward_clouds_are_written(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t kind = 0; kind < awkward_cloud_count; kind++) {
        const awkward_cloud *row = &awkward_clouds[kind];
        mote_cloud *cloud = awkward_cloud_make(ctx, row, test_extent(500, 2000), 0);
        mote_lod *lod = copc_build(ctx, cloud, 20);
        mote_copc_report report;
        const mote_status status = mote_copc_write(ctx, lod, test_path("awkward.copc.laz"), NULL, &report);
        mote_lod_destroy(lod);
        if (status != MOTE_OK) { /* what LAS cannot hold, either */
            print_message("%s: %s\n", row->name, mote_context_message(ctx));
            assert_int_equal(status, MOTE_ERROR_UNSUPPORTED);
            mote_context_clear(ctx);
        } else {
            mote_cloud_destroy(check_file(ctx, test_path("awkward.copc.laz"), &report));
        }
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* Steps of x, y and z that differ: cells of the octree and cubes of COPC do not agree to the last step. */
static void steps_that_differ(void **state) {
    (void)state;
    static const double steps[][3] = {{0.001, 0.001, 0.01}, {1e-7, 1e-7, 0.01}, {0.0003, 0.001, 0.00071}};
    mote_context *ctx = test_context(2);
    for (size_t s = 0; s < 3; s++) {
        const mote_column_spec specs[] = {{"x", MOTE_INT32, steps[s][0], 12.5},
                                          {"y", MOTE_INT32, steps[s][1], -5e6},
                                          {"z", MOTE_INT32, steps[s][2], 0},
                                          {"ring", MOTE_UINT16, 0, 0}};
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_create(ctx, 20000, specs, 4, &cloud), MOTE_OK);
        for (uint64_t i = 0; i < 20000; i++) {
            for (uint32_t k = 0; k < 3; k++) {
                const double at = (double)(mote_hash64(3 * i + k) % 9973) * 0.01;
                set_value(cloud, specs[k].name, i, floor(at / steps[s][k] / (s == 1 ? 100 : 1)));
            }
            set_value(cloud, "ring", i, (double)(i % 1000));
        }
        check_cloud(ctx, cloud, 10, NULL);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* No point, one point, many in one place, NaN positions. */
static void small_clouds(void **state) {
    (void)state;
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},
                                             {"y", MOTE_FLOAT64, 0, 0},
                                             {"z", MOTE_FLOAT64, 0, 0},
                                             {"gps_time", MOTE_FLOAT64, 0, 0}};
    static const uint64_t counts[] = {0, 1, 30000};
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < 3; i++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_create(ctx, counts[i], specs, 4, &cloud), MOTE_OK);
        for (uint64_t p = 0; p < counts[i]; p++) {
            for (uint32_t k = 0; k < 3; k++) set_value(cloud, specs[k].name, p, 1.5 + k);
            set_value(cloud, "gps_time", p, 1e6 + (double)p);
        }
        check_cloud(ctx, cloud, 1000, NULL);
        if (counts[i] > 1) { /* the points without a place are left out */
            set_value(cloud, "x", 7, NAN);
            set_value(cloud, "z", 9, INFINITY);
            const mote_copc_report report = copc_write_ok(ctx, cloud, 1000, test_path("nan.copc.laz"));
            assert_int_equal(report.points, counts[i] - 2);
            mote_cloud_destroy(check_file(ctx, test_path("nan.copc.laz"), &report));
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Thousands of nodes: several pages. */
static void many_nodes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = copc_generated(ctx, "city", 25000);
    const mote_copc_report report = copc_write_ok(ctx, cloud, 1, test_path("pages.copc.laz"));
    copc_file f = copc_load(ctx, test_path("pages.copc.laz"));
    assert_true(f.count > 2 * COPC_PAGE_ENTRIES && f.pages > 2 && f.pages < f.count / 100);
    assert_true(report.hierarchy_bytes == (f.count + f.pages - 1) * 32);
    check_keys(&f);
    check_cubes(ctx, &f);
    copc_unload(&f);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- attributes */

static void records_and_crs_stay(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = tiny_cloud(ctx);
    copc_write_ok(ctx, cloud, 3, test_path("records.copc.laz"));
    const file_bytes file = load(test_path("records.copc.laz"));
    const uint64_t behind = las_u64(file.data + 235);
    assert_int_equal(las_u32(file.data + 243), 2);
    const uint64_t second = behind + 60 + las_u64(file.data + behind + 20);
    assert_string_equal((const char *)file.data + second + 2, "test");
    assert_memory_equal(file.data + second + 60, "behind", 6);
    assert_true((file.data[6] & 0x10) != 0); /* the CRS is WKT */
    free(file.data);
    copc_file f = copc_load(ctx, test_path("records.copc.laz"));
    mote_cloud *points = copc_points(ctx, &f, INT32_MAX);
    assert_string_equal(mote_cloud_crs(points), TINY_WKT);
    assert_same_set(points_of(points, cloud, NULL, NULL), points_of(cloud, cloud, NULL, NULL));
    mote_cloud_destroy(points);
    copc_unload(&f);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void waveforms_become_extra_bytes(void **state) {
    (void)state;
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                             {"y", MOTE_INT32, 0.01, 0},
                                             {"z", MOTE_INT32, 0.01, 0},
                                             {"wave_packet_index", MOTE_UINT8, 0, 0},
                                             {"wave_packet_size", MOTE_UINT32, 0, 0},
                                             {"wave_x", MOTE_FLOAT32, 0, 0},
                                             {"nir", MOTE_UINT16, 0, 0}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 50, specs, 7, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 50; i++) {
        for (uint32_t k = 0; k < 7; k++) set_value(cloud, specs[k].name, i, (double)(i * (k + 1)));
    }
    check_cloud(ctx, cloud, 10, NULL);
    const file_bytes file = load(test_path("out.copc.laz"));
    assert_int_equal(file.data[104], 0x80 | 8);
    free(file.data);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void columns_can_be_chosen(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = copc_generated(ctx, "city", 2000);
    mote_lod *lod = copc_build(ctx, cloud, 100);
    mote_copc_params params = mote_copc_defaults();
    params.columns = "x,y,z,intensity";
    assert_int_equal(mote_copc_write(ctx, lod, test_path("few.copc.laz"), &params, NULL), MOTE_OK);
    const file_bytes file = load(test_path("few.copc.laz"));
    assert_int_equal(file.data[104] & 0x3F, 7); /* that of the cloud's origin, or 6 */
    free(file.data);
    params.columns = "x,y,z,nothing";
    assert_int_equal(mote_copc_write(ctx, lod, test_path("none.copc.laz"), &params, NULL), MOTE_ERROR_ARGUMENT);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_are_written),
        cmocka_unit_test(generated_clouds_are_written),
        cmocka_unit_test(awkward_clouds_are_written),
        cmocka_unit_test(steps_that_differ),
        cmocka_unit_test(small_clouds),
        cmocka_unit_test(many_nodes),
        cmocka_unit_test(records_and_crs_stay),
        cmocka_unit_test(waveforms_become_extra_bytes),
        cmocka_unit_test(columns_can_be_chosen),
        cmocka_unit_test(octrees_that_copc_cannot_hold),
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(scans_are_in_the_order_of_time),
        cmocka_unit_test(every_allocation_can_fail),
        cmocka_unit_test(every_step_can_be_cancelled),
        cmocka_unit_test(chunk_size_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
