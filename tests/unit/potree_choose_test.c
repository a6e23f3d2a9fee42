/* Potree folders by box and resolution: what is read is what reading all and looking at every point gives. */
#include "io/potree/potree.h"
#include "support/copc_files.h" /* clouds as sets of points */

#include <mote_have.h>

#if MOTE_HAVE_JANSSON

static const char *make_folder(mote_context *ctx, const char *name, mote_lod_scheme scheme) {
    const char *path = test_path(name);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_lod_params params = mote_lod_defaults();
    params.scheme = scheme;
    params.merge_points = 100;
    assert_int_equal(mote_generate(ctx, "city", 20000, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    assert_int_equal(mote_potree_write(ctx, lod, path, NULL, NULL), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return path;
}

static mote_cloud *read_with(mote_context *ctx, const char *path, const mote_read_params *params) {
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read(ctx, path, params, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    return cloud;
}

/* A text behind a key of metadata.json, as a number. */
static double metadata_number(const char *folder, const char *key) {
    char path[4096], word[64];
    snprintf(path, sizeof path, "%s/metadata.json", folder);
    const file_bytes file = load(path);
    file.data[file.size] = '\0';
    snprintf(word, sizeof word, "\"%s\":", key);
    const char *found = strstr((const char *)file.data, word);
    assert_non_null(found);
    const double value = strtod(found + strlen(word), NULL);
    free(file.data);
    return value;
}

static mote_box some_box(const mote_box *all, uint64_t n) {
    mote_box box;
    for (uint64_t k = 0; k < 3; k++) {
        const double side = all->max[k] - all->min[k];
        box.min[k] = all->min[k] + (double)(mote_hash64(n * 3 + k) % 1000) * side / 1000;
        box.max[k] = box.min[k] + side * pow(2, -(double)(n % 6));
        if (n % 10 == 9) box.max[k] = box.min[k] += 2 * side;
    }
    return box;
}

typedef struct counted {
    const mote_read_params *params;
    uint32_t all, chosen;
} counted;

static mote_status count_chosen(mote_context *ctx, const potree_files *files, void *user) {
    counted *c = user;
    potree_layout layout;
    potree_node *nodes = NULL;
    assert_int_equal(potree_layout_parse(ctx, files, &layout), MOTE_OK);
    assert_int_equal(potree_nodes_read(&layout, &nodes, &c->all), MOTE_OK);
    c->chosen = c->all;
    assert_int_equal(potree_filter(&layout, c->params, nodes, &c->chosen), MOTE_OK);
    mote_free(ctx, nodes);
    potree_layout_free(&layout);
    return MOTE_OK;
}

static void by_box(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = make_folder(ctx, "box.mote", MOTE_LOD_ADDITIVE);
    mote_cloud *all = read_ok(ctx, path);
    mote_box whole;
    uint64_t found = 0, fewer = 0;
    assert_int_equal(mote_cloud_bounds(ctx, all, &whole, NULL), MOTE_OK);
    for (uint64_t n = 0; n < 50; n++) {
        const mote_box box = some_box(&whole, n);
        mote_read_params params = mote_read_defaults();
        params.bounds = &box;
        mote_cloud *part = read_with(ctx, path, &params);
        assert_same_set(points_of(part, all, NULL, NULL), points_of(all, all, &box, NULL));
        found += mote_cloud_count(part);
        mote_cloud_destroy(part);
        counted c = {&params, 0, 0};
        assert_int_equal(potree_with_files(ctx, path, count_chosen, &c), MOTE_OK);
        fewer += c.chosen < c.all / 2;
    }
    assert_true(found > 0 && fewer > 10);
    mote_cloud_destroy(all);
    mote_context_destroy(ctx);
}

/* Additive: the levels down to the first whose spacing is fine enough. Replacing: the nodes that stand for all points
   at that level. */
static void by_resolution(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (int scheme = 0; scheme < 2; scheme++) {
        const char *path = make_folder(ctx, scheme == 0 ? "add.mote" : "replace.mote", (mote_lod_scheme)scheme);
        const double spacing = metadata_number(path, "spacing");
        mote_potree_level levels[32];
        mote_potree_facts facts;
        assert_int_equal(mote_potree_levels(ctx, path, levels, 32, &facts), MOTE_OK);
        uint64_t before = 0;
        for (uint32_t l = 0; l < facts.level_count; l++) {
            mote_read_params params = mote_read_defaults();
            params.resolution = spacing / pow(2, l) * (1 + (l % 2) * 0.3);
            mote_cloud *part = read_with(ctx, path, &params);
            const uint64_t count = mote_cloud_count(part);
            mote_cloud_destroy(part);
            if (scheme == 0) assert_int_equal(count, before + levels[l].points);
            if (scheme == 1 && l == 0) assert_int_equal(count, levels[0].points);
            if (scheme == 1) assert_true(count >= before);
            before = count;
        }
        assert_int_equal(before, 20000);
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_box), cmocka_unit_test(by_resolution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) { return 0; }
#endif
