/* COPC by box and resolution: what is read is what the naive reader of the tests finds by looking at every point; and
   hierarchies that lie. */
#include "io/reader.h"
#include "support/copc_files.h"

static mote_cloud *read_part(mote_context *ctx, const char *path, const mote_box *box, double resolution) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    params.bounds = box;
    params.resolution = resolution;
    const mote_status status = mote_cloud_read(ctx, path, &params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

/* Levels down to the first whose spacing is no more than the resolution. */
static int32_t last_level(const copc_file *f, double resolution) {
    int32_t level = 0;
    double spacing = f->spacing;
    if (resolution <= 0) return INT32_MAX;
    for (; spacing > resolution && level < 31; level++) spacing /= 2;
    return level;
}

static uint64_t nodes_down_to(const copc_file *f, int32_t level) {
    uint64_t count = 0;
    for (size_t i = 0; i < f->count; i++) count += f->entries[i].points > 0 && f->entries[i].level <= level;
    return count;
}

/* Boxes of all sizes, some along faces of nodes, some flat, some beside the cloud. */
static mote_box some_box(const copc_file *f, const mote_cloud *all, uint64_t n) {
    static const char *const axes[3] = {"x", "y", "z"};
    mote_box box;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = f->center[k] - f->half, side = 2 * f->half;
        const double a = (double)(mote_hash64(n * 7 + k) >> 11) / 9007199254740992.0;
        const double b = (double)(mote_hash64(n * 7 + k + 100) >> 11) / 9007199254740992.0;
        const double size = side * pow(2, -(double)(n % 8)) * b;
        box.min[k] = low + a * side;
        box.max[k] = box.min[k] + size;
        if (n % 5 == 0) { /* faces of cells */
            const double cells = (double)(2u << n % 4);
            box.min[k] = low + floor(a * cells) * side / cells;
            box.max[k] = box.min[k] + side / cells;
        }
        if (n % 7 == 3 && k == 2) { /* seen from above */
            box.min[k] = -INFINITY;
            box.max[k] = INFINITY;
        }
        if (n % 11 == 4) box.max[k] = box.min[k] += 3 * side;
    }
    if (n % 2 == 1) return box;
    const uint64_t point = mote_hash64(n) % mote_cloud_count(all); /* moved to where points are */
    for (uint64_t k = 0; k < 3 && n % 5 != 0; k++) {
        const double at = mote_column_value(mote_cloud_find(all, axes[k]), point), size = box.max[k] - box.min[k];
        box.min[k] = isfinite(size) ? at - size / 3 : box.min[k];
        box.max[k] = isfinite(size) ? box.min[k] + size : box.max[k];
    }
    return box;
}

static void check_queries(mote_context *ctx, const char *path, uint64_t queries) {
    static const double parts[] = {0, 1, 0.7, 0.26};
    copc_file f = copc_load(ctx, path);
    uint64_t found = 0, fewer = 0;
    for (size_t r = 0; r < sizeof parts / sizeof parts[0]; r++) {
        const double resolution = parts[r] * f.spacing;
        const int32_t last = last_level(&f, resolution);
        mote_cloud *all = copc_points(ctx, &f, last);
        mote_cloud *level = read_part(ctx, path, NULL, resolution);
        assert_same_set(points_of(level, all, NULL, NULL), points_of(all, all, NULL, NULL));
        if (resolution > 0) assert_int_equal(level->las.chunk_count, nodes_down_to(&f, last));
        mote_cloud_destroy(level);
        for (uint64_t q = 0; q < queries; q++) {
            const mote_box box = some_box(&f, all, q);
            mote_cloud *part = read_part(ctx, path, &box, resolution);
            const point_set inside = points_of(all, all, &box, NULL);
            assert_same_set(points_of(part, all, NULL, NULL), inside);
            found += inside.count;
            fewer += part->las.chunk_count < nodes_down_to(&f, last);
            mote_cloud_destroy(part);
        }
        mote_cloud_destroy(all);
    }
    assert_true(found > 0);
    if (nodes_down_to(&f, INT32_MAX) > 8) assert_true(fewer > queries); /* most boxes need only some of the nodes */
    copc_unload(&f);
}

static void queries_of_shared_files(void **state) {
    (void)state;
    static const char *const names[] = {
        "1.2-with-color.copc.laz", "autzen_clip_4326.copc.laz", "autzen_clip_native.copc.laz", "ellipsoid.copc.laz",
        "lone-star.copc.laz",      "simple.copc.laz",           "simple_with_page.copc.laz"};
    if (test_data("MANIFEST.md") == NULL) skip();
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128], path[4096];
        snprintf(name, sizeof name, "copc/%s", names[i]);
        snprintf(path, sizeof path, "%s", test_data(name));
        print_message("%s\n", name);
        const bool large = strstr(name, "lone-star") != NULL || strstr(name, "ellipsoid") != NULL;
        check_queries(ctx, path, large ? 3 : test_watched(7, 21));
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- files of mote */

static const char *make_copc(mote_context *ctx, const char *name, const char *kind, uint64_t points, uint32_t merge) {
    const char *path = test_path(name);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_lod_params params = mote_lod_defaults();
    params.max_node_points = 0;
    params.merge_points = merge;
    assert_int_equal(mote_generate(ctx, kind, points, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    assert_int_equal(mote_copc_write(ctx, lod, path, NULL, NULL), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return path;
}

static void queries_of_own_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    check_queries(ctx, make_copc(ctx, "city.copc.laz", "city", 10000, 50), 21);
    check_queries(ctx, make_copc(ctx, "grid.copc.laz", "lattice", 4000, 25), 21);
    check_queries(ctx, make_copc(ctx, "pages.copc.laz", "city", 6000, 1), 5);
    mote_context_destroy(ctx);
}

/* Every node's own cube, and its middle: the places where a reader would miss points if cubes were wrong. */
static void boxes_of_nodes(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = make_copc(ctx, "nodes.copc.laz", "city", 5000, 100);
    copc_file f = copc_load(ctx, path);
    mote_cloud *all = copc_points(ctx, &f, INT32_MAX);
    for (size_t i = 0; i < f.count; i++) {
        const copc_entry *e = &f.entries[i];
        mote_box box;
        for (int k = 0; k < 3; k++) {
            const double side = 2 * f.half / (double)(1ull << e->level);
            box.min[k] = f.center[k] - f.half + e->cell[k] * side;
            box.max[k] = box.min[k] + side;
        }
        mote_cloud *part = read_part(ctx, path, &box, 0);
        assert_same_set(points_of(part, all, NULL, NULL), points_of(all, all, &box, NULL));
        mote_cloud_destroy(part);
    }
    mote_cloud_destroy(all);
    copc_unload(&f);
    mote_context_destroy(ctx);
}

static void pieces_by_box(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = make_copc(ctx, "pieces.copc.laz", "city", 20000, 100);
    copc_file f = copc_load(ctx, path);
    const mote_box box = {{f.center[0], f.center[1], -INFINITY}, {f.center[0] + f.half, INFINITY, INFINITY}};
    mote_cloud *whole = read_part(ctx, path, &box, f.spacing / 2);
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    point_set sum = {0, 0};
    params.bounds = &box;
    params.resolution = f.spacing / 2;
    assert_int_equal(mote_reader_open(ctx, path, &params, &reader), MOTE_OK);
    do {
        assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
        const point_set one = piece != NULL ? points_of(piece, piece, NULL, NULL) : (point_set){0, 0};
        sum.count += one.count;
        sum.sum += one.sum;
    } while (piece != NULL);
    mote_reader_close(reader);
    assert_true(sum.count > 0);
    assert_same_set(sum, points_of(whole, whole, NULL, NULL));
    mote_cloud_destroy(whole);
    copc_unload(&f);
    mote_context_destroy(ctx);
}

/* Of a file whose chunks have any number of points, some that lie apart come together in one piece, from any of them
   on: no piece has more points than there is room for. */
static void pieces_of_some_chunks(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = make_copc(ctx, "uneven.copc.laz", "city", 150000, 20000);
    ctx->params.memory_limit_bytes = 24u << 20; /* pieces of 50,000 points */
    for (uint64_t seed = 0; seed < 40; seed++) {
        mote_reader *reader = NULL;
        reader_span spans[64];
        uint64_t count = 0, wanted = 0, given = 0;
        const mote_cloud *piece = NULL;
        assert_int_equal(mote_reader_open(ctx, path, NULL, &reader), MOTE_OK);
        const las_chunks *chunks = &reader->source.chunks;
        const uint64_t room = mote_las_largest_piece(&reader->source);
        for (uint64_t c = 0; c < chunks->count && count < 64; c++) {
            if (test_random(seed, c) < 0.4) continue;
            spans[count++] = (reader_span){.first = c, .end = c + 1};
            wanted += chunks->list[c].points;
        }
        assert_true(mote_reader_take_spans(reader, spans, count, seed % 4 == 0));
        do {
            assert_int_equal(mote_reader_next(reader, &piece), MOTE_OK);
            if (piece == NULL) break;
            assert_true(mote_cloud_count(piece) <= room);
            given += mote_cloud_count(piece);
        } while (true);
        assert_true(given == wanted && count > 5);
        mote_reader_close(reader);
    }
    mote_context_destroy(ctx);
}

/* ---- facts */

static void levels_are_counted(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = make_copc(ctx, "levels.copc.laz", "city", 20000, 100);
    copc_file f = copc_load(ctx, path);
    mote_copc_level levels[32];
    mote_copc_facts facts;
    assert_int_equal(mote_copc_levels(ctx, path, levels, 32, &facts), MOTE_OK);
    assert_true(facts.is_copc && facts.level_count > 2);
    assert_int_equal(facts.points, 20000);
    assert_int_equal(facts.nodes, nodes_down_to(&f, INT32_MAX));
    assert_int_equal(facts.pages, f.pages);
    assert_true(facts.spacing == f.spacing && facts.halfsize == f.half && facts.center[1] == f.center[1]);
    for (uint32_t l = 0; l < facts.level_count; l++) {
        const uint64_t above = l > 0 ? nodes_down_to(&f, (int32_t)l - 1) : 0;
        assert_int_equal(levels[l].nodes, nodes_down_to(&f, (int32_t)l) - above);
        assert_true(levels[l].spacing == f.spacing / (double)(1u << l));
    }
    assert_int_equal(mote_copc_levels(ctx, path, NULL, 0, &facts), MOTE_OK);
    assert_int_equal(facts.points, 20000);
    copc_unload(&f);
    test_write_file(test_path("plain.xyz"), "1 2 3\n", 6);
    assert_int_equal(mote_copc_levels(ctx, test_path("plain.xyz"), levels, 32, &facts), MOTE_OK);
    assert_false(facts.is_copc);
    mote_context_destroy(ctx);
}

/* ---- hierarchies that lie */

/* By the octree: an error that says where. Without it: all points, if the chunks are there. */
static void check_refused(mote_context *ctx, const char *path, const char *cause, bool readable) {
    static const mote_box everything = {{-1e300, -1e300, -1e300}, {1e300, 1e300, 1e300}};
    mote_read_params params = mote_read_defaults();
    mote_copc_facts facts;
    mote_cloud *cloud = NULL;
    mote_context_clear(ctx);
    assert_int_equal(mote_copc_levels(ctx, path, NULL, 0, &facts), MOTE_ERROR_DATA);
    mote_context_clear(ctx);
    params.bounds = &everything;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_ERROR_DATA);
    const char *message = mote_context_message(ctx);
    assert_ptr_equal(strstr(message, path), message);
    assert_non_null(strstr(message, ": offset "));
    if (cause != NULL && strstr(message, cause) == NULL) fail_msg("%s does not say: %s", message, cause);
    mote_context_clear(ctx);
    params.bounds = NULL;
    params.resolution = 1;
    assert_int_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_ERROR_DATA);
    mote_context_clear(ctx);
    if (!readable) return;
    cloud = read_ok(ctx, path);
    assert_true(mote_cloud_count(cloud) > 1000);
    mote_cloud_destroy(cloud);
}

static void shared_broken_files(void **state) {
    (void)state;
    static const char *const names[] = {"k01_root_past_eof",  "k02_root_huge",   "k03_page_loop",
                                        "k04_negative_count", "k05_depth_100",   "k06_node_past_eof",
                                        "k07_halfsize_0",     "k08_halfsize_nan"};
    int files = 0;
    const char *folder = test_data("broken/gen");
    if (folder == NULL) skip();
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.copc.laz", folder, names[i]);
        FILE *there = fopen(path, "rb");
        if (there == NULL) continue; /* half of them are kept back */
        fclose(there);
        check_refused(ctx, path, NULL, true);
        files++;
    }
    assert_true(files >= 4);
    mote_context_destroy(ctx);
}

/* A change to a good file; at counts from the start of the info payload, or of the first page. */
typedef struct lie {
    const char *cause;
    bool in_page;
    uint32_t at, size_bytes;
    uint64_t value;
} lie;

static void lies_are_refused(void **state) {
    (void)state;
    const uint64_t nan = 0x7FF8000000000000, infinite = 0x7FF0000000000000, minus_1 = 0xBFF0000000000000;
    const lie lies[] = {
        {"starts past the end", false, 40, 8, 1ull << 62},
        {"cut short", false, 48, 8, 1ull << 40},
        {"entries of 32", false, 48, 8, 33},
        {"half size", false, 24, 8, 0},
        {"half size", false, 24, 8, nan},
        {"half size", false, 24, 8, minus_1},
        {"half size", false, 24, 8, infinite},
        {"spacing", false, 32, 8, 0},
        {"centre", false, 8, 8, nan},
        {"no octree has", true, 0, 4, 100},
        {"no octree has", true, 0, 4, 0xFFFFFFFF},
        {"no octree has", true, 4, 4, 1u << 30},
        {"no octree has", true, 12, 4, 0xFFFFFFFB},
        {"has -2 points", true, 28, 4, 0xFFFFFFFE},
        {"the header says", true, 28, 4, 0x7FFFFFFF},
        {"the chunk of node", true, 24, 4, 0},
        {"the chunk of node", true, 24, 4, 0x80000000},
        {"the chunk of node", true, 24, 4, 0x7FFFFFFF},
        {"the chunk of node", true, 16, 8, 5},
        {"the chunk of node", true, 16, 8, UINT64_MAX},
        {"overlap", true, 48, 8, 0}, /* the second node's chunk: set below */
        {"refers to itself", true, 28, 4, 0xFFFFFFFF},
        {"not within", true, 60, 4, 0xFFFFFFFF}, /* the second entry becomes a page, set below */
        {"stands in a page for", true, 92, 4, 0xFFFFFFFF},
    };
    mote_context *ctx = test_context(2);
    const file_bytes good = load(make_copc(ctx, "good.copc.laz", "city", 5000, 100));
    const uint64_t page_at = las_u64(good.data + 469), page_bytes = las_u64(good.data + 477);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t *bad = malloc(good.size);
        assert_non_null(bad);
        memcpy(bad, good.data, good.size);
        const lie *l = &lies[i];
        uint8_t *page = bad + page_at;
        las_put((l->in_page ? page : bad + 429) + l->at, l->value, l->size_bytes);
        if (strcmp(l->cause, "overlap") == 0) memcpy(page + 48, page + 16, 8);
        if (strcmp(l->cause, "refers to itself") == 0) {
            las_put(page + 16, page_at, 8);
            las_put(page + 24, page_bytes, 4);
        }
        if (strcmp(l->cause, "not within") == 0) {
            las_put(page + 48, good.size - 16, 8);
            las_put(page + 56, 32, 4);
        }
        if (strcmp(l->cause, "stands in a page for") == 0) { /* the third node has a page that starts with the root */
            las_put(page + 80, page_at, 8);
            las_put(page + 88, 64, 4);
        }
        test_write_file(test_path("lie.copc.laz"), bad, good.size);
        check_refused(ctx, test_path("lie.copc.laz"), l->cause, true);
        free(bad);
    }
    free(good.data);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* Many references to one page would unfold to more nodes than the file has bytes for. */
static void pages_used_twice(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const file_bytes good = load(make_copc(ctx, "twice.copc.laz", "city", 20000, 100));
    const uint64_t page_at = las_u64(good.data + 469), entries = las_u64(good.data + 477) / 32;
    const uint64_t own = entries / 2 * 32; /* the second half becomes the page of every node in the first half */
    for (uint64_t i = 0; i < entries; i++) {
        uint8_t *entry = good.data + page_at + 32 * i;
        memset(entry, 0, 32);
        if (32 * i >= own) continue;
        las_put(entry + 16, page_at + own, 8);
        las_put(entry + 24, 32 * entries - own, 4);
        las_put(entry + 28, UINT32_MAX, 4);
    }
    test_write_file(test_path("twice.copc.laz"), good.data, good.size);
    check_refused(ctx, test_path("twice.copc.laz"), "larger than the file", true);
    free(good.data);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_of_shared_files), cmocka_unit_test(queries_of_own_files),
        cmocka_unit_test(boxes_of_nodes),          cmocka_unit_test(pieces_by_box),
        cmocka_unit_test(pieces_of_some_chunks),   cmocka_unit_test(levels_are_counted),
        cmocka_unit_test(shared_broken_files),     cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(pages_used_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
