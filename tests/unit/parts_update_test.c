/* Folders whose inputs change: after each change the three files are those of a fresh build of the list. */
#define _GNU_SOURCE /* flock, O_DIRECTORY, utimensat */
#include <fcntl.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cloud.h"
#include "reference/potree_reference.h"
#include "support/cloud_files.h"
#include "support/support.h"

#if MOTE_HAVE_JANSSON

#define PATH  512
#define TILES 5u
#define OVER  (TILES * TILES) /* a file of points over all tiles */
#define INNER (OVER + 1)      /* one within a tile */
#define FRAME (OVER + 2)      /* one of two points that hold the cube */
#define FILES (OVER + 3)
#define MID   (OVER / 2) /* the tile in the middle */
#define SIDE  1000000    /* steps of the square that all tiles lie in */

/* ---- files */

/* What a file of the tests holds: a tile, points of all tiles in between, or the same places with other values. */
typedef struct test_content {
    int32_t low[2], high[2];
    uint64_t points, seed;
    uint64_t equal; /* of them in one place that other files have too */
    double offset;  /* of x */
    bool has_nir;   /* an attribute more than others */
    bool overlap;   /* some points have the flag */
} test_content;

static uint64_t draw(uint64_t *random) {
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    return *random >> 11;
}

static void put(mote_cloud *cloud, const char *name, uint64_t i, const void *value, size_t size) {
    uint8_t *column = mote_cloud_column_data(cloud, name);
    memcpy(column + i * mote_cloud_find(cloud, name)->stride_bytes, value, size);
}

static void write_file(mote_context *ctx, const char *path, const test_content *content) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, content->offset},
                                      {"y", MOTE_INT32, 0.001, 5e6},
                                      {"z", MOTE_INT32, 0.001, 0},
                                      {"intensity", MOTE_UINT16, 0, 0},
                                      {"classification", MOTE_UINT8, 0, 0},
                                      {"overlap", MOTE_UINT8, 0, 0},
                                      {"gps_time", MOTE_FLOAT64, 0, 0},
                                      {"red", MOTE_UINT16, 0, 0},
                                      {"green", MOTE_UINT16, 0, 0},
                                      {"blue", MOTE_UINT16, 0, 0},
                                      {"nir", MOTE_UINT16, 0, 0}};
    mote_cloud *cloud = NULL;
    uint64_t random = content->seed;
    assert_int_equal(mote_cloud_create(ctx, content->points, specs, content->has_nir ? 11 : 10, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < content->points; i++) {
        int32_t xyz[3];
        for (int k = 0; k < 2; k++) {
            const int32_t width = content->high[k] - content->low[k];
            xyz[k] = content->low[k] + (int32_t)(draw(&random) % (uint64_t)width);
        }
        xyz[2] = (int32_t)(draw(&random) % 40000);
        if (i < content->equal) xyz[0] = xyz[1] = SIDE / 2 + 3, xyz[2] = 777;
        xyz[0] -= (int32_t)((content->offset - 500000) * 1000);
        for (int k = 0; k < 3; k++) put(cloud, mote_axis_names[k], i, &xyz[k], 4);
        const uint16_t value = (uint16_t)draw(&random);
        const uint8_t class = (uint8_t)(draw(&random) % 7), flag = content->overlap && i % 3 == 0;
        const double time = (double)i * 0.25;
        put(cloud, "intensity", i, &value, 2);
        put(cloud, "classification", i, &class, 1);
        put(cloud, "overlap", i, &flag, 1);
        put(cloud, "gps_time", i, &time, 8);
        for (int c = 0; c < 3; c++) {
            static const char *const names[3] = {"red", "green", "blue"};
            put(cloud, names[c], i, &(uint16_t){(uint16_t)(value + 1000 * c)}, 2);
        }
        if (content->has_nir) put(cloud, "nir", i, &value, 2);
    }
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
}

/* ---- a folder and its list */

typedef struct test_list {
    char paths[FILES][PATH];
    const char *items[FILES]; /* the list that the folder is to be made of */
    uint32_t count;
    char folder[PATH], fresh[PATH];
    mote_lod_params params;
} test_list;

static void build(mote_context *ctx, const test_list *t, const char *folder) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    const mote_potree_origin origin = {.inputs = t->items, .input_count = t->count};
    mote_potree_params potree = mote_potree_defaults();
    potree.name = "parts";
    potree.origin = &origin;
    assert_int_equal(mote_cloud_read_many(ctx, t->items, t->count, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, &t->params, &lod), MOTE_OK);
    assert_int_equal(mote_potree_write(ctx, lod, folder, &potree, NULL), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
}

static void compare(mote_context *ctx, const test_list *t) {
    build(ctx, t, t->fresh);
    potree_reference_same_folders(t->fresh, t->folder);
}

static mote_status change(mote_context *ctx, const test_list *t, const char *add, const char *remove,
                          const char *replace, mote_lod_update_report *report) {
    const mote_lod_changes changes = {.add = &add,
                                      .add_count = add != NULL,
                                      .remove = &remove,
                                      .remove_count = remove != NULL,
                                      .replace = &replace,
                                      .replace_count = replace != NULL};
    return mote_lod_update(ctx, t->folder, &changes, NULL, report);
}

static void expect(mote_context *ctx, mote_status status) {
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
}

static test_content content_of(uint32_t file, uint64_t version) {
    test_content content = {{0, 0}, {SIDE, SIDE}, 1000, 100 * file + version + 1, 0, 500000, false, false};
    if (file < OVER) {
        for (int k = 0; k < 2; k++) {
            const int32_t tile = (int32_t)(k == 0 ? file % TILES : file / TILES);
            content.low[k] = tile * (SIDE / (int32_t)TILES);
            content.high[k] = content.low[k] + SIDE / (int32_t)TILES;
        }
        if (file == MID) content.equal = 20;
        if (version % 2 == 1) content.points = 500;
    } else if (file == OVER) {
        content.points = 900;
        content.equal = 30;
    } else if (file == INNER) {
        content.low[0] = content.low[1] = SIDE / 10;
        content.high[0] = content.high[1] = SIDE / 10 + SIDE / 50;
        content.points = 200;
    }
    return content;
}

/* far: the cube is so large that codes tell few steps apart */
static void write_frame(mote_context *ctx, const char *path, bool far) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 500000},     {"y", MOTE_INT32, 0.001, 5e6},
                                      {"z", MOTE_INT32, 0.001, 0},          {"intensity", MOTE_UINT16, 0, 0},
                                      {"classification", MOTE_UINT8, 0, 0}, {"overlap", MOTE_UINT8, 0, 0},
                                      {"gps_time", MOTE_FLOAT64, 0, 0},     {"red", MOTE_UINT16, 0, 0},
                                      {"green", MOTE_UINT16, 0, 0},         {"blue", MOTE_UINT16, 0, 0}};
    const int32_t places[2][3] = {{-10, -10, -10}, {far ? 1000 * SIDE : SIDE + 10, SIDE + 10, 50000}};
    static const uint8_t flag = 1;
    static const uint16_t red = 60000;
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 2, specs, sizeof specs / sizeof specs[0], &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) put(cloud, mote_axis_names[k], i, &places[i][k], 4);
        put(cloud, "overlap", i, &flag, 1);
        put(cloud, "red", i, &red, 2);
    }
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
}

/* A list of the frame and some tiles, and a folder of it. */
static void begin(mote_context *ctx, test_list *t, uint32_t tiles, const char *ending) {
    memset(t, 0, sizeof *t);
    t->params = mote_lod_defaults();
    t->params.merge_points = 200;
    snprintf(t->folder, PATH, "%s", test_path("update_folder"));
    snprintf(t->fresh, PATH, "%s", test_path("update_fresh"));
    for (uint32_t f = 0; f < FILES; f++) {
        char name[64];
        snprintf(name, sizeof name, "update_%u.%s", f, ending);
        snprintf(t->paths[f], PATH, "%s", test_path(name));
        const test_content content = content_of(f, 0);
        if (f == FRAME) {
            write_frame(ctx, t->paths[f], false);
        } else {
            write_file(ctx, t->paths[f], &content);
        }
    }
    t->items[t->count++] = t->paths[FRAME];
    for (uint32_t f = 0; f < tiles; f++) t->items[t->count++] = t->paths[f];
}

static uint32_t place_of(const test_list *t, const char *path) {
    uint32_t i = 0;
    while (i < t->count && strcmp(t->items[i], path) != 0) i++;
    return i;
}

/* ---- changes */

/* A file of the tests joins the list, leaves it, or becomes another one. Returns whether all was built. */
static bool change_one(mote_context *ctx, test_list *t, uint32_t file, uint64_t version, bool leaves,
                       mote_lod_update_report *report) {
    const char *path = t->paths[file];
    const uint32_t place = place_of(t, path);
    if (place == t->count) {
        expect(ctx, change(ctx, t, path, NULL, NULL, report));
        t->items[t->count++] = path;
    } else if (leaves) {
        expect(ctx, change(ctx, t, NULL, path, NULL, report));
        memmove(&t->items[place], &t->items[place + 1], (--t->count - place) * sizeof t->items[0]);
    } else {
        const test_content content = content_of(file, version);
        write_file(ctx, path, &content);
        expect(ctx, change(ctx, t, NULL, NULL, path, report));
    }
    compare(ctx, t);
    return report->whole != NULL;
}

/* Changes drawn at random; nearly all of them take over what they do not reach. */
static void change_often(mote_context *ctx, test_list *t, uint64_t seed, uint32_t steps) {
    uint32_t whole = 0, kept = 0;
    uint64_t random = seed;
    mote_lod_update_report report;
    build(ctx, t, t->folder);
    assert_false(change_one(ctx, t, INNER, 0, false, &report)); /* all is looked at, which a file that goes needs */
    for (uint32_t step = 0; step < steps; step++) {
        const uint32_t file = (uint32_t)(draw(&random) % FRAME);
        const bool leaves = draw(&random) % 2 == 0 && t->count > 3;
        if (change_one(ctx, t, file, draw(&random) % 4, leaves, &report) && file != OVER) {
            print_message("%u: %s\n", file, report.whole);
            whole++;
        }
        kept += report.kept_points > 0;
        assert_int_equal(report.inputs, t->count);
        assert_true(report.whole != NULL || report.parts.points >= report.kept_points);
    }
    assert_int_equal(whole, 0);
    assert_true(kept > steps / 3);
}

static void any_changes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t variant = 0; variant < 6; variant++) {
        test_list t;
        begin(ctx, &t, OVER - 3, variant % 2 ? "laz" : "las");
        if (variant == 1) t.params.scheme = MOTE_LOD_REPLACING;
        if (variant == 2) t.params.sampling = MOTE_LOD_FIRST;
        if (variant == 3) {
            t.params.scheme = MOTE_LOD_REPLACING;
            t.params.filter = MOTE_LOD_FILTER_CELL;
        }
        if (variant == 4) t.params.grid = 8;
        if (variant == 5) t.params.merge_points = 1000;
        change_often(ctx, &t, 40 + variant, (uint32_t)test_extent(4, 8));
    }
    mote_context_destroy(ctx);
}

/* What joins reads nothing but itself: the other files may be as they are, but are not asked. */
static void a_file_that_joins_meets_the_folder(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_lod_update_report report;
    test_list t;
    begin(ctx, &t, OVER, "las");
    build(ctx, &t, t.folder);
    assert_false(change_one(ctx, &t, INNER, 0, false, &report));
    assert_true(report.kept_points > report.parts.points * 3 / 4);
    /* The tile's points are damaged, its size and time are not: nothing reads them. */
    struct stat info;
    assert_int_equal(stat(t.paths[0], &info), 0);
    assert_false(change_one(ctx, &t, INNER, 0, true, &report));
    FILE *file = fopen(t.paths[0], "r+b");
    fseek(file, -20, SEEK_END);
    fputs("damage", file);
    fclose(file);
    const struct timespec times[2] = {info.st_atim, info.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, t.paths[0], times, 0), 0);
    expect(ctx, change(ctx, &t, t.paths[INNER], NULL, NULL, &report));
    /* Asked for, it is found. */
    const mote_lod_changes changes = {.add = (const char *const[]){t.paths[OVER]}, .add_count = 1, .verify = true};
    assert_int_equal(mote_lod_update(ctx, t.folder, &changes, NULL, &report), MOTE_ERROR_CHANGED);
    assert_non_null(strstr(mote_context_message(ctx), "update_0.las"));
    mote_context_destroy(ctx);
}

/* The folder knows but one file, whose records are no union's. */
static void one_file_becomes_two(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_lod_update_report report;
    test_list t;
    begin(ctx, &t, 0, "laz");
    const test_content all = {{-10, -10}, {SIDE + 11, SIDE + 11}, 20000, 5, 0, 500000, false, true};
    write_file(ctx, t.paths[FRAME], &all);
    build(ctx, &t, t.folder);
    assert_false(change_one(ctx, &t, INNER, 0, false, &report));
    assert_true(report.kept_points > 10000);
    assert_true(change_one(ctx, &t, INNER, 0, true, &report)); /* to read the one file once more takes as long */
    assert_non_null(strstr(report.whole, "reach into"));
    mote_context_destroy(ctx);
}

/* What cannot be taken over is built anew, and says why. */
static void what_stays_nothing(void **state) {
    (void)state;
    static const char *const reasons[] = {"cube", "attributes", "sampling by distance chooses", "too dense"};
    mote_context *ctx = test_context(2);
    for (int kind = 0; kind < 4; kind++) {
        mote_lod_update_report report;
        test_list t;
        begin(ctx, &t, OVER - 1, "las");
        if (kind == 2) t.params.sampling = MOTE_LOD_POISSON;
        if (kind == 3) write_frame(ctx, t.paths[FRAME], true), t.params.merge_points = 1000;
        build(ctx, &t, t.folder);
        test_content content = content_of(OVER - 1, 0);
        if (kind == 0) content.high[0] = 2 * SIDE;
        if (kind == 1) content.has_nir = true;
        if (kind == 3) content.points = 3000, content.equal = 2000; /* more than a leaf holds */
        write_file(ctx, t.paths[OVER - 1], &content);
        if (!change_one(ctx, &t, OVER - 1, 0, false, &report)) fail_msg("%s: was taken over", reasons[kind]);
        if (strstr(report.whole, reasons[kind]) == NULL) fail_msg("%s: %s", reasons[kind], report.whole);
        assert_int_equal(report.kept_points, 0);
        /* And goes on from there. */
        assert_true(change_one(ctx, &t, OVER - 1, 0, true, &report));
        if (kind != 2) assert_false(change_one(ctx, &t, INNER, 0, false, &report));
    }
    mote_context_destroy(ctx);
}

/* Where steps are coarser than cells, what lies in one place lies in one leaf, however many. */
static void many_in_one_place(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_lod_update_report report;
    test_list t;
    begin(ctx, &t, OVER, "las");
    for (uint32_t f = MID; f <= OVER; f += OVER - MID) {
        test_content content = content_of(f, 0);
        content.equal = content.points / 2;
        write_file(ctx, t.paths[f], &content);
    }
    build(ctx, &t, t.folder);
    assert_false(change_one(ctx, &t, OVER, 0, false, &report));
    assert_false(change_one(ctx, &t, MID, 0, true, &report));
    assert_false(change_one(ctx, &t, MID, 0, false, &report));
    t.params.max_node_points = 300; /* now a chain of nodes, of which nothing is taken over */
    build(ctx, &t, t.folder);
    assert_true(change_one(ctx, &t, INNER, 0, false, &report));
    mote_context_destroy(ctx);
}

/* Steps and origins of the inputs differ: those that join are brought to the others' lattice. */
static void other_origins(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_lod_update_report report;
    test_list t;
    begin(ctx, &t, OVER - 2, "las");
    test_content content = content_of(OVER - 1, 0);
    content.offset = 500100;
    write_file(ctx, t.paths[OVER - 1], &content);
    build(ctx, &t, t.folder);
    assert_false(change_one(ctx, &t, OVER - 1, 0, false, &report));
    assert_false(change_one(ctx, &t, OVER - 2, 0, false, &report));
    assert_false(change_one(ctx, &t, 3, 0, true, &report));
    /* The origin is that of the first file: without it all numbers are others. */
    expect(ctx, change(ctx, &t, NULL, t.paths[0], NULL, &report));
    mote_context_destroy(ctx);
}

/* Parts of any size, one at a time and several, and as little memory as there may be. */
static void little_memory(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const uint64_t sizes[] = {500, 3000, 0, 2000}, workers[] = {1, 0, 3, 2};
    for (int s = 0; s < 4; s++) {
        mote_lod_update_report report;
        test_list t;
        begin(ctx, &t, OVER, "las");
        build(ctx, &t, t.folder);
        mote_parts_params parts = mote_parts_defaults();
        parts.part_points = sizes[s];
        parts.workers = workers[s];
        const mote_lod_changes changes = {.add = (const char *const[]){t.paths[OVER]}, .add_count = 1};
        expect(ctx, mote_lod_update(ctx, t.folder, &changes, &parts, &report));
        t.items[t.count++] = t.paths[OVER];
        assert_true(report.whole == NULL && report.parts.parts > 2);
        assert_int_equal(report.parts.workers, workers[s] > 0 ? workers[s] : 1);
        compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

/* ---- what is refused */

static void refuse(mote_context *ctx, const test_list *t, const char *add, const char *remove, const char *replace,
                   mote_status status, const char *message) {
    mote_lod_update_report report;
    assert_int_equal(change(ctx, t, add, remove, replace, &report), status);
    if (strstr(mote_context_message(ctx), message) == NULL) fail_msg("%s", mote_context_message(ctx));
    mote_context_clear(ctx);
    potree_reference_same_folders(t->fresh, t->folder);
}

static void rewrite(const char *folder, const char *from, const char *to) {
    char path[PATH + 32];
    snprintf(path, sizeof path, "%s/inputs.json", folder);
    FILE *file = fopen(path, "r+b");
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    char *at = strstr(text, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    rewind(file);
    fputs(text, file);
    fclose(file);
}

static void refusals(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    test_list t;
    begin(ctx, &t, 4, "las");
    build(ctx, &t, t.folder);
    build(ctx, &t, t.fresh);
    refuse(ctx, &t, t.paths[2], NULL, NULL, MOTE_ERROR_ARGUMENT, "is in ");
    refuse(ctx, &t, NULL, t.paths[7], NULL, MOTE_ERROR_ARGUMENT, "is none of the files");
    refuse(ctx, &t, NULL, NULL, t.paths[7], MOTE_ERROR_ARGUMENT, "is none of the files");
    refuse(ctx, &t, NULL, t.paths[1], t.paths[1], MOTE_ERROR_ARGUMENT, "is named twice");
    refuse(ctx, &t, NULL, "*", NULL, MOTE_ERROR_ARGUMENT, "");
    refuse(ctx, &t, "nowhere.las", NULL, NULL, MOTE_ERROR_IO, "nowhere.las");
    refuse(ctx, &t, "-", NULL, NULL, MOTE_ERROR_ARGUMENT, "is no file");
    /* At the same time. */
    const int lock = open(t.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_IO, "another update");
    close(lock);
    assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_ARGUMENT, "outputs that are held");
    mote_outputs_release(ctx, MOTE_CANCELLED);
    /* A file that stays was written to. */
    const test_content content = content_of(1, 3);
    write_file(ctx, t.paths[1], &content);
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_CHANGED, "update_1.las: was changed since");
    /* Of another version, damaged, without. */
    rewrite(t.folder, "\"mote_inputs\": 1", "\"mote_inputs\": 2");
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_UNSUPPORTED, "version 2");
    rewrite(t.folder, "\"mote_inputs\": 2", "\"mote_inputs\": 1");
    rewrite(t.folder, "\"random\"", "\"rendum\"");
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_DATA, "\"octree\"");
    rewrite(t.folder, "{", "[");
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_DATA, "line ");
    char path[PATH + 32];
    snprintf(path, sizeof path, "%s/inputs.json", t.folder);
    unlink(path);
    refuse(ctx, &t, t.paths[5], NULL, NULL, MOTE_ERROR_UNSUPPORTED, "no inputs.json");
    mote_context_destroy(ctx);
}

/* ---- failures */

static mote_status update_again(mote_context *ctx, void *user) {
    const test_list *t = user;
    mote_lod_update_report report;
    return change(ctx, t, NULL, NULL, t->paths[2], &report);
}

/* The folder is as it was, or as it is to be. */
static void failures_change_nothing(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    test_list t;
    mote_lod_update_report report;
    begin(ctx, &t, 0, "las");
    for (uint32_t f = 2; f < OVER; f += 10) { /* three that do not touch */
        test_content content = content_of(f, 0);
        content.points = 100;
        write_file(ctx, t.paths[f], &content);
        t.items[t.count++] = t.paths[f];
    }
    build(ctx, &t, t.folder);
    build(ctx, &t, t.fresh);
    test_each_allocation_fails(update_again, &t); /* the first update, which looks at all files */
    potree_reference_same_folders(t.fresh, t.folder);
    expect(ctx, change(ctx, &t, NULL, NULL, t.paths[2], &report)); /* what there is to learn is learnt */
    assert_true(report.kept_points > 0);
    test_each_allocation_fails(update_again, &t);
    test_each_step_cancels(update_again, &t);
    potree_reference_same_folders(t.fresh, t.folder);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_changes),
        cmocka_unit_test(a_file_that_joins_meets_the_folder),
        cmocka_unit_test(one_file_becomes_two),
        cmocka_unit_test(what_stays_nothing),
        cmocka_unit_test(many_in_one_place),
        cmocka_unit_test(other_origins),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failures_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }
#endif
