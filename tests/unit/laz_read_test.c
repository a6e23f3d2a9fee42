/* LAZ: reading whole, in part, in pieces and by bounds gives what the plain file holds. */
#include <dirent.h>

#include "support/laz_files.h"

static uint64_t hash_of(mote_context *ctx, const mote_cloud *cloud) {
    uint64_t hash;
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
    return hash;
}

static mote_cloud *read_with(mote_context *ctx, const char *path, const mote_read_params *params) {
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(ctx, path, params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

/* Stored values of count points are equal. */
static void assert_same_values(const mote_column *a, uint64_t first_a, const mote_column *b, uint64_t first_b,
                               uint64_t count) {
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->bit_count, b->bit_count);
    assert_true(a->scale == b->scale && a->offset == b->offset);
    const uint32_t size = mote_type_size(a->type);
    uint8_t left[8 * 256], right[8 * 256];
    for (uint64_t i = 0; i < count; i += 256) {
        const uint64_t part = count - i < 256 ? count - i : 256;
        mote_column_read(a, first_a + i, part, a->type, left);
        mote_column_read(b, first_b + i, part, a->type, right);
        assert_memory_equal(left, right, part * size);
    }
}

static const char *write_made(const laz_made *m, const char *name) {
    const char *path = test_path(name);
    test_write_file(path, m->file.data, m->file.size);
    return path;
}

/* ---- whole files */

static void made_files_come_back(void **state) {
    (void)state;
    static const struct {
        uint64_t points;
        uint32_t chunk_points;
    } cases[] = {{0, 100}, {1, 100}, {99, 100}, {100, 100}, {101, 100}, {2500, 100}, {2500, LAZ_VARIABLE}, {3, 1}};
    mote_context *ctx = test_context(3);
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            laz_made m = laz_make(ctx, format, c % 2 != 0 ? 5 : 0, cases[c].points, cases[c].chunk_points);
            mote_cloud *cloud = read_with(ctx, write_made(&m, "made.laz"), NULL);
            assert_int_equal(cloud->count, m.points);
            const mote_column *x = mote_cloud_find(cloud, "x");
            assert_int_equal(x->stride_bytes, m.record_bytes);
            assert_memory_equal(x->data, m.records, m.points * m.record_bytes);
            mote_cloud_destroy(cloud);
            laz_free_made(&m);
        }
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void check_pair(mote_context *ctx, const char *las, const char *laz) {
    mote_cloud *plain = read_with(ctx, las, NULL), *packed = read_with(ctx, laz, NULL);
    assert_int_equal(hash_of(ctx, plain), hash_of(ctx, packed));
    const mote_column *a = mote_cloud_find(plain, "x"), *b = mote_cloud_find(packed, "x");
    assert_int_equal(a->stride_bytes, b->stride_bytes);
    assert_memory_equal(a->data, b->data, plain->count * a->stride_bytes);
    /* Written plain, both give the same points and CRS. */
    write_ok(ctx, plain, test_path("plain.las"), NULL);
    write_ok(ctx, packed, test_path("packed.las"), NULL);
    const file_bytes p = load(test_path("plain.las")), q = load(test_path("packed.las"));
    const uint64_t bytes = plain->count * a->stride_bytes;
    assert_int_equal(p.data[104], q.data[104]);
    assert_memory_equal(p.data + las_u32(p.data + 96), q.data + las_u32(q.data + 96), bytes);
    assert_string_equal(mote_cloud_crs(plain), mote_cloud_crs(packed));
    free(p.data);
    free(q.data);
    mote_cloud_destroy(plain);
    mote_cloud_destroy(packed);
}

static void pairs_are_equal(void **state) {
    (void)state;
    if (test_data("laz") == NULL) skip();
    char folder[4096], name[256];
    snprintf(folder, sizeof folder, "%s", test_data("laz"));
    DIR *entries = opendir(folder);
    mote_context *ctx = test_context(2);
    int pairs = 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char laz[4400], las[4800];
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".laz") != 0) continue;
        snprintf(name, sizeof name, "las/%.*s.las", (int)length - 4, entry->d_name);
        snprintf(laz, sizeof laz, "%s/%s", folder, entry->d_name);
        snprintf(las, sizeof las, "%.4000s/../%s", folder, name);
        FILE *plain = fopen(las, "rb");
        if (plain == NULL) continue;
        fclose(plain);
        check_pair(ctx, las, laz);
        pairs++;
    }
    closedir(entries);
    assert_int_equal(pairs, 20);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    static const char *const names[] = {"laz/autzen_trim.laz", "laz/lone-star.laz", "copc/lone-star.copc.laz",
                                        "laz/test_semis_2021_0382_6565_LA93_IGN69_cropped.laz"};
    if (test_data("laz") == NULL) skip();
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        uint64_t hashes[3];
        static const int threads[3] = {1, 2, 7};
        for (int t = 0; t < 3; t++) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = read_with(ctx, test_data(names[n]), NULL);
            hashes[t] = hash_of(ctx, cloud);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        assert_int_equal(hashes[0], hashes[1]);
        assert_int_equal(hashes[0], hashes[2]);
    }
}

/* What a file holds by its manifest. */
static void all_real_files_are_read(void **state) {
    (void)state;
    const char *manifest_path = test_data("MANIFEST.md");
    if (manifest_path == NULL) skip();
    mote_context *ctx = test_context(2);
    FILE *manifest = fopen(manifest_path, "r");
    char line[4096], name[256];
    int files = 0;
    while (fgets(line, sizeof line, manifest) != NULL) {
        unsigned long long points;
        if (sscanf(line, "| %255s | %*u | %*s | %llu |", name, &points) != 2) continue;
        if (strncmp(name, "laz/", 4) != 0 && strncmp(name, "copc/", 5) != 0) continue;
        mote_cloud *cloud = read_with(ctx, test_data(name), NULL);
        assert_int_equal(cloud->count, points);
        mote_cloud_destroy(cloud);
        files++;
    }
    fclose(manifest);
    assert_true(files > 40);
    mote_context_destroy(ctx);
}

/* ---- attributes */

static bool is_listed(const char *list, const char *name) {
    char comma_list[1024], comma_name[160];
    snprintf(comma_list, sizeof comma_list, ",x,y,z,%s,", list);
    snprintf(comma_name, sizeof comma_name, ",%s,", name);
    return strstr(comma_list, comma_name) != NULL;
}

/* Each name of an angle means the angle of the file's version of LAS. */
static bool is_chosen(const char *list, const char *name) {
    const bool is_angle = strcmp(name, "scan_angle") == 0 || strcmp(name, "scan_angle_rank") == 0;
    return is_listed(list, name) || (is_angle && (is_listed(list, "scan_angle") || is_listed(list, "scan_angle_rank")));
}

static void check_select(mote_context *ctx, const char *path, const mote_cloud *whole, const char *list) {
    mote_read_params params = mote_read_defaults();
    params.select = list;
    mote_cloud *part = read_with(ctx, path, &params);
    uint32_t expected = 0;
    assert_int_equal(part->count, whole->count);
    for (uint32_t c = 0; c < whole->column_count; c++) {
        const mote_column *column = &whole->columns[c];
        const mote_column *found = mote_cloud_find(part, column->name);
        assert_int_equal(found != NULL, is_chosen(list, column->name));
        if (found == NULL) continue;
        assert_same_values(column, 0, found, 0, whole->count);
        expected++;
    }
    assert_int_equal(part->column_count, expected);
    mote_cloud_destroy(part);
}

/* Each column alone, and lists picked at random. */
static void selected_columns_are_those_of_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    uint64_t seed = 7;
    for (uint32_t format = 0; format < LAS_FORMATS; format++) {
        laz_made m = laz_make(ctx, format, 7, 1500, 400);
        char path[512];
        snprintf(path, sizeof path, "%s", write_made(&m, "select.laz"));
        mote_cloud *whole = read_with(ctx, path, NULL);
        check_select(ctx, path, whole, "");
        check_select(ctx, path, whole, "no_such_name");
        for (uint32_t c = 0; c < whole->column_count; c++) check_select(ctx, path, whole, whole->columns[c].name);
        for (int k = 0; k < 10; k++) {
            char list[1024] = "x";
            for (uint32_t c = 3; c < whole->column_count; c++) {
                if (laz_random(&seed) % 3 == 0) strcat(strcat(list, ","), whole->columns[c].name);
            }
            check_select(ctx, path, whole, list);
        }
        mote_cloud_destroy(whole);
        laz_free_made(&m);
    }
    mote_context_destroy(ctx);
}

/* More separate runs of bytes than a selection has room for. */
static void many_runs_are_joined(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    laz_made m = laz_make(ctx, 7, 200, 500, 200);
    char path[512], list[8192] = "x";
    snprintf(path, sizeof path, "%s", write_made(&m, "runs.laz"));
    mote_cloud *whole = read_with(ctx, path, NULL);
    uint32_t chosen = 3;
    for (uint32_t c = 3; c < whole->column_count; c += 2, chosen++) strcat(strcat(list, ","), whole->columns[c].name);
    mote_read_params params = mote_read_defaults();
    params.select = list;
    mote_cloud *part = read_with(ctx, path, &params);
    assert_int_equal(part->column_count, chosen);
    for (uint32_t c = 0; c < part->column_count; c++) {
        assert_same_values(mote_cloud_find(whole, part->columns[c].name), 0, &part->columns[c], 0, whole->count);
    }
    mote_cloud_destroy(part);
    mote_cloud_destroy(whole);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

static void selected_real_files(void **state) {
    (void)state;
    static const char *const names[] = {"laz/autzen_trim.laz", "laz/ellipsoid-1.4.laz",
                                        "laz/fullwave.laz",    "laz/las_with_several_extra_byte_bloc.laz",
                                        "las/extrabytes.las",  "ply/bunny_bun_zipper.ply"};
    static const char *const lists[] = {"",         "intensity",      "classification,gps_time",
                                        "red,blue", "scan_angle,nir", "wave_packet_index,user_data"};
    mote_context *ctx = test_context(2);
    int files = 0;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        if (test_data(names[n]) == NULL) continue;
        char path[4096];
        snprintf(path, sizeof path, "%s", test_data(names[n]));
        mote_cloud *whole = read_with(ctx, path, NULL);
        for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) check_select(ctx, path, whole, lists[l]);
        mote_cloud_destroy(whole);
        files++;
    }
    mote_context_destroy(ctx);
    if (files == 0) skip();
}

/* ---- bounds */

static bool inside(const mote_cloud *cloud, uint64_t i, const mote_box *box) {
    static const char *const axes[] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        const double value = mote_column_value(mote_cloud_find(cloud, axes[k]), i);
        if (!(value >= box->min[k] && value <= box->max[k])) return false;
    }
    return true;
}

static void check_bounds(mote_context *ctx, const char *path, const mote_cloud *whole, const mote_box *box) {
    mote_read_params params = mote_read_defaults();
    params.bounds = box;
    mote_cloud *part = read_with(ctx, path, &params);
    uint64_t found = 0;
    for (uint64_t i = 0; i < whole->count; i++) {
        if (!inside(whole, i, box)) continue;
        assert_true(found < part->count);
        for (uint32_t c = 0; c < whole->column_count; c++) {
            assert_same_values(&whole->columns[c], i, &part->columns[c], found, 1);
        }
        found++;
    }
    assert_int_equal(part->count, found);
    mote_cloud_destroy(part);
}

/* A box around points [from, to] of the cloud, so that some lie on its borders. */
static mote_box box_around(const mote_cloud *cloud, uint64_t from, uint64_t to) {
    mote_box box;
    for (uint32_t k = 0; k < 3; k++) {
        const double a = mote_column_value(&cloud->columns[k], from), b = mote_column_value(&cloud->columns[k], to);
        box.min[k] = a < b ? a : b;
        box.max[k] = a < b ? b : a;
    }
    return box;
}

static void bounds_keep_what_is_inside(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    laz_made m = laz_make(ctx, 3, 2, 20000, 1000);
    char path[512];
    snprintf(path, sizeof path, "%s", write_made(&m, "bounds.laz"));
    mote_cloud *whole = read_with(ctx, path, NULL);
    mote_box all, one;
    assert_int_equal(mote_cloud_bounds(ctx, whole, &all, NULL), MOTE_OK);
    check_bounds(ctx, path, whole, &all);
    one = box_around(whole, 777, 777);
    check_bounds(ctx, path, whole, &one);
    for (uint64_t i = 0; i < 5; i++) {
        const mote_box some = box_around(whole, 1000 * i, 19999 - 777 * i);
        check_bounds(ctx, path, whole, &some);
    }
    mote_box wrong = one;
    wrong.max[1] = wrong.min[1] - 1;
    mote_read_params params = mote_read_defaults();
    params.bounds = &wrong;
    mote_cloud *none = NULL;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &none), MOTE_ERROR_ARGUMENT);
    assert_null(none);
    mote_context_clear(ctx);
    wrong.max[1] = NAN;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &none), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(whole);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

static void bounds_of_other_formats(void **state) {
    (void)state;
    static const char text[] = "x,y,z\n0,0,0\n1,1,1\nnan,0,0\n2,2,2\n1,1,1.5\n";
    mote_context *ctx = test_context(2);
    test_write_file(test_path("some.csv"), text, sizeof text - 1);
    mote_cloud *whole = read_with(ctx, test_path("some.csv"), NULL);
    const mote_box box = {{0, 0, 0}, {1, 1, 1}};
    check_bounds(ctx, test_path("some.csv"), whole, &box);
    mote_read_params params = mote_read_defaults();
    params.bounds = &box;
    mote_cloud *part = read_with(ctx, test_path("some.csv"), &params);
    assert_int_equal(part->count, 2);
    mote_cloud_destroy(part);
    mote_cloud_destroy(whole);
    /* Of several inputs each is cut. */
    const char *paths[2] = {test_path("some.csv"), test_path("some.csv")};
    assert_int_equal(mote_cloud_read_many(ctx, paths, 2, &params, &part), MOTE_OK);
    assert_int_equal(part->count, 4);
    mote_cloud_destroy(part);
    mote_context_destroy(ctx);
}

/* ---- pieces */

/* All pieces together are the cloud that is read at once; returns how many there are. */
static int check_pieces(mote_context *ctx, const char *path, const mote_read_params *params) {
    mote_cloud *whole = read_with(ctx, path, params);
    mote_reader *reader = NULL;
    assert_int_equal(mote_reader_open(ctx, path, params, &reader), MOTE_OK);
    const mote_cloud *piece = NULL, *first = NULL;
    const void *x = NULL;
    uint64_t points = 0;
    int pieces = 0;
    for (;; pieces++) {
        const mote_status status = mote_reader_next(reader, &piece);
        if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
        assert_int_equal(status, MOTE_OK);
        if (piece == NULL) break;
        if (first == NULL) first = piece, x = mote_cloud_find(piece, "x")->data;
        assert_ptr_equal(piece, first);
        assert_ptr_equal(mote_cloud_find(piece, "x")->data, x);
        assert_int_equal(piece->column_count, whole->column_count);
        assert_true(points + piece->count <= whole->count);
        for (uint32_t c = 0; c < whole->column_count; c++) {
            assert_same_values(&whole->columns[c], points, &piece->columns[c], 0, piece->count);
        }
        points += piece->count;
    }
    assert_int_equal(points, whole->count);
    if (params == NULL || params->bounds == NULL) assert_int_equal(mote_reader_count(reader), points);
    assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
    assert_null(piece);
    mote_reader_close(reader);
    mote_cloud_destroy(whole);
    return pieces;
}

static void pieces_are_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const uint32_t formats[] = {1, 3, 7, 10};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f += test_extent(3, 1)) {
        laz_made m = laz_make(ctx, formats[f], 3, 450000, 30000);
        char path[512];
        snprintf(path, sizeof path, "%s", write_made(&m, "pieces.laz"));
        assert_int_equal(check_pieces(ctx, path, NULL), 3);
        mote_cloud *whole = read_with(ctx, path, NULL);
        const mote_box box = box_around(whole, 100, 300000);
        mote_read_params params = mote_read_defaults();
        params.bounds = &box;
        assert_true(check_pieces(ctx, path, &params) > 0);
        params.select = "intensity,extra_1";
        assert_true(check_pieces(ctx, path, &params) > 0);
        params.bounds = NULL;
        assert_int_equal(check_pieces(ctx, path, &params), 3);
        write_ok(ctx, whole, test_path("pieces.las"), NULL);
        assert_int_equal(check_pieces(ctx, test_path("pieces.las"), NULL), 3);
        assert_int_equal(check_pieces(ctx, test_path("pieces.las"), &params), 3);
        mote_cloud_destroy(whole);
        laz_free_made(&m);
    }
    /* Memory follows the piece, not the file. */
    mote_reader *reader = NULL;
    mote_context_memory_peak_reset(ctx);
    assert_int_equal(mote_reader_open(ctx, test_path("pieces.las"), NULL, &reader), MOTE_OK);
    assert_true(mote_context_memory_peak_bytes(ctx) < 200000ull * 71);
    mote_reader_close(reader);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void pieces_of_other_formats(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    test_write_file(test_path("few.csv"), "x,y,z,w\n1,2,3,4\n5,6,7,8\n", 24);
    assert_int_equal(check_pieces(ctx, test_path("few.csv"), NULL), 1);
    mote_read_params params = mote_read_defaults();
    params.select = "w";
    assert_int_equal(check_pieces(ctx, test_path("few.csv"), &params), 1);
    mote_reader *reader = NULL;
    assert_int_equal(mote_reader_open(ctx, test_path("missing.laz"), NULL, &reader), MOTE_ERROR_IO);
    assert_null(reader);
    mote_context_clear(ctx);
    laz_made m = laz_make(ctx, 1, 0, 0, 100);
    assert_int_equal(check_pieces(ctx, write_made(&m, "empty.laz"), NULL), 0);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

/* ---- together with others */

static void inputs_are_merged(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    laz_made a = laz_make(ctx, 3, 0, 1000, 300), b = laz_make(ctx, 7, 4, 500, 200);
    char one[512], two[512];
    snprintf(one, sizeof one, "%s", write_made(&a, "one.laz"));
    snprintf(two, sizeof two, "%s", write_made(&b, "two.laz"));
    const char *paths[] = {one, two};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_read_many(ctx, paths, 2, NULL, &cloud), MOTE_OK);
    assert_int_equal(cloud->count, 1500);
    mote_cloud_destroy(cloud);
    laz_free_made(&a);
    laz_free_made(&b);
    mote_context_destroy(ctx);
}

static void facts_are_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    laz_made m = laz_make(ctx, 7, 4, 500, 200);
    mote_cloud *cloud = read_with(ctx, write_made(&m, "facts.laz"), NULL);
    mote_las_facts facts;
    assert_true(mote_cloud_las_facts(cloud, &facts));
    assert_int_equal(facts.compressor, 3);
    assert_int_equal(facts.chunk_points, 200);
    assert_int_equal(facts.chunk_count, 3);
    assert_int_equal(facts.compressed_bytes, m.table_at - m.points_at - 8);
    assert_string_equal(facts.items, "POINT14 v3, RGB14 v3, BYTE14 v3");
    assert_int_equal(mote_cloud_record_count(cloud), 0); /* the LASzip record has done its work */
    mote_cloud_destroy(cloud);
    laz_free_made(&m);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_files_come_back),
        cmocka_unit_test(pairs_are_equal),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(all_real_files_are_read),
        cmocka_unit_test(selected_columns_are_those_of_the_whole),
        cmocka_unit_test(many_runs_are_joined),
        cmocka_unit_test(selected_real_files),
        cmocka_unit_test(bounds_keep_what_is_inside),
        cmocka_unit_test(bounds_of_other_formats),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(pieces_of_other_formats),
        cmocka_unit_test(inputs_are_merged),
        cmocka_unit_test(facts_are_kept),
    };
    return cmocka_run_group_tests_name("laz_read", tests, NULL, NULL);
}
