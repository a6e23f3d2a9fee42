#include "edits/edit_list.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edits/point_select.h"

#define KEEP        (-1) /* instead of a class */
#define REACH_SLACK 1e-6 /* directions are of length 1 but for what doubles lose */

/* A feature of the file. */
typedef struct edit {
    int class_code; /* or KEEP */
    int up;         /* the axis that its polygons are seen along */
    double low, high;
    mote_region *region;
    point_test test;
} edit;

struct edit_list {
    edit *edits; /* [count], in the order of the file */
    size_t count;
    point_test test; /* of what is kept */
};

void edit_list_free(edit_list *list) {
    if (list == NULL) return;
    for (size_t i = 0; i < list->count; i++) {
        mote_region_destroy(list->edits[i].region);
        point_test_free(&list->edits[i].test);
    }
    point_test_free(&list->test);
    free(list->edits);
    free(list);
}

static void level_axes(int up, int axes[2]) {
    axes[0] = up == 0 ? 1 : 0;
    axes[1] = up == 2 ? 1 : 2;
}

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* A number of an object, or what it is by default; false where it is none. */
static bool read_number(const json_t *object, const char *key, double *out) {
    const json_t *value = json_object_get(object, key);
    if (value == NULL) return true;
    if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
    *out = json_number_value(value);
    return true;
}

static bool read_edit(const json_t *properties, edit *e, char *error) {
    const json_t *class_code = json_object_get(properties, "class");
    const json_t *up = json_object_get(properties, "up");
    const char *axis = up != NULL ? json_string_value(up) : "z";
    *e = (edit){.class_code = KEEP, .low = -INFINITY, .high = INFINITY};
    if (class_code != NULL) {
        const json_int_t code = json_is_integer(class_code) ? json_integer_value(class_code) : -1;
        if (code < 0 || code > 255) {
            snprintf(error, POINT_TEST_ERROR, "class is not a whole number of 0 to 255");
            return false;
        }
        e->class_code = (int)code;
    }
    if (axis == NULL || strlen(axis) != 1 || axis[0] < 'x' || axis[0] > 'z') {
        snprintf(error, POINT_TEST_ERROR, "up is not x, y or z");
        return false;
    }
    e->up = axis[0] - 'x';
    if (!read_number(properties, "low", &e->low) || !read_number(properties, "high", &e->high)) {
        snprintf(error, POINT_TEST_ERROR, "low or high is no number");
        return false;
    }
    return point_test_parse(json_object_get(properties, "filter"), &e->test, error);
}

/* A region for each feature, which has a polygon; a line has no inside. */
static bool read_regions(mote_context *ctx, const char *path, edit_list *list, char *error) {
    mote_shapes *shapes = NULL;
    bool is_read = mote_shapes_read(ctx, path, &shapes) == MOTE_OK;
    for (size_t i = 0; is_read && i < list->count; i++)
        is_read = mote_region_create(ctx, shapes, (uint32_t)i, &list->edits[i].region) == MOTE_OK;
    if (!is_read) {
        snprintf(error, POINT_TEST_ERROR, "%s", mote_context_message(ctx));
        mote_context_clear(ctx);
    }
    mote_shapes_destroy(shapes);
    return is_read;
}

static bool read_features(const char *path, const json_t *features, edit_list *list, char *error) {
    char why[POINT_TEST_ERROR];
    const size_t count = json_array_size(features);
    list->edits = calloc(count + 1, sizeof *list->edits);
    if (list->edits == NULL) {
        snprintf(error, POINT_TEST_ERROR, "%s: memory has run out", path);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *properties = json_object_get(json_array_get(features, i), "properties");
        if (!read_edit(properties, &list->edits[i], why)) {
            snprintf(error, POINT_TEST_ERROR, "%s: features[%zu].properties: %.300s", path, i, why);
            return false;
        }
        list->count++;
    }
    return true;
}

/* Behind a byte order mark of UTF-8. NULL: *problem, of which line < 0 is a failure of the system; *encoding not NULL:
   another one than UTF-8. */
static json_t *load_json(const char *path, json_error_t *problem, const char **encoding) {
    char head[4];
    FILE *const file = fopen(path, "rb");
    *encoding = NULL;
    problem->line = -1;
    if (file == NULL) return NULL;
    const size_t size = fread(head, 1, sizeof head, file);
    *encoding = mote_text_encoding(head, size);
    const long begin = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    json_t *root = NULL;
    if (*encoding == NULL && fseek(file, begin, SEEK_SET) == 0) root = json_loadf(file, 0, problem);
    const int cause = errno;
    fclose(file);
    errno = cause;
    return root;
}

edit_list *edit_list_read(mote_context *ctx, const char *path, char *error) {
    json_error_t problem;
    char why[POINT_TEST_ERROR];
    const char *encoding;
    json_t *root = load_json(path, &problem, &encoding);
    edit_list *list = calloc(1, sizeof *list);
    const json_t *features = json_object_get(root, "features");
    bool is_read = false;
    if (list == NULL)
        snprintf(error, POINT_TEST_ERROR, "%s: memory has run out", path);
    else if (encoding != NULL)
        snprintf(error, POINT_TEST_ERROR, "%s: the text is encoded as %s, mote reads UTF-8 and ASCII", path, encoding);
    else if (root == NULL && problem.line < 0)
        snprintf(error, POINT_TEST_ERROR, "%s: cannot open: %s", path, strerror(errno));
    else if (root == NULL)
        snprintf(error, POINT_TEST_ERROR, "%s: line %d: %s", path, problem.line, problem.text);
    else if (!json_is_array(features))
        snprintf(error, POINT_TEST_ERROR, "%s: it has no list of features", path);
    else if (!point_test_parse(json_object_get(json_object_get(root, "mote"), "filter"), &list->test, why))
        snprintf(error, POINT_TEST_ERROR, "%s: %.400s", path, why);
    else
        is_read =
            read_features(path, features, list, error) && (list->count == 0 || read_regions(ctx, path, list, error));
    json_decref(root);
    if (is_read) return list;
    edit_list_free(list);
    return NULL;
}

#else

edit_list *edit_list_read(mote_context *ctx, const char *path, char *error) {
    (void)ctx;
    snprintf(error, POINT_TEST_ERROR, "%s: this mote was built without jansson, which reads edits", path);
    return NULL;
}

#endif

size_t edit_list_count(const edit_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) count += list->edits[i].class_code != KEEP;
    return count;
}

static bool has_test(const point_test *test) {
    return test->hides_any || test->returns != RETURNS_ALL || test->range_count > 0 || test->box_count > 0;
}

bool edit_list_keeps_some(const edit_list *list) {
    return has_test(&list->test) || edit_list_count(list) < list->count;
}

/* Makes the box as large as both together. */
static void widen(mote_box *box, const mote_box *other) {
    for (int k = 0; k < 3; k++) {
        box->min[k] = fmin(box->min[k], other->min[k]);
        box->max[k] = fmax(box->max[k], other->max[k]);
    }
}

static void cut(mote_box *box, const mote_box *other) {
    for (int k = 0; k < 3; k++) {
        box->min[k] = fmax(box->min[k], other->min[k]);
        box->max[k] = fmin(box->max[k], other->max[k]);
    }
}

static const mote_box endless = {{-DBL_MAX, -DBL_MAX, -DBL_MAX}, {DBL_MAX, DBL_MAX, DBL_MAX}};
static const mote_box nothing = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

/* What a coordinate loses when it is computed: a point on the border is inside. */
static double slack_of(double low, double high) { return 64 * DBL_EPSILON * fmax(fabs(low), fabs(high)); }

static mote_box box_of_edit(const edit *e) {
    int axes[2];
    double min[2], max[2];
    mote_box box = endless;
    level_axes(e->up, axes);
    mote_region_bounds(e->region, min, max);
    for (int k = 0; k < 2; k++) {
        const double slack = slack_of(min[k], max[k]);
        box.min[axes[k]] = min[k] - slack;
        box.max[axes[k]] = max[k] + slack;
    }
    box.min[e->up] = fmax(-DBL_MAX, e->low);
    box.max[e->up] = fmin(DBL_MAX, e->high);
    return box;
}

/* Around a turned box, seen from above a square as wide as its diagonal. */
static mote_box box_of_box(const point_box *b) {
    int axes[2];
    mote_box box;
    level_axes(b->up, axes);
    const double reach = (1 + REACH_SLACK) * hypot(b->half[axes[0]], b->half[axes[1]]);
    for (int k = 0; k < 3; k++) {
        const double half = (k == b->up ? b->half[k] : reach) / b->stretch[k];
        const double slack = slack_of(b->center[k] - half, b->center[k] + half);
        box.min[k] = b->center[k] - half - slack;
        box.max[k] = b->center[k] + half + slack;
    }
    return box;
}

void edit_list_bounds(const edit_list *list, mote_box *box) {
    mote_box polygons = nothing, boxes = nothing;
    bool has_polygons = false, has_boxes = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->edits[i].class_code != KEEP) continue;
        const mote_box own = box_of_edit(&list->edits[i]);
        widen(&polygons, &own);
        has_polygons = true;
    }
    for (size_t i = 0; i < list->test.box_count; i++) {
        if (list->test.boxes[i].out) continue;
        const mote_box own = box_of_box(&list->test.boxes[i]);
        widen(&boxes, &own);
        has_boxes = true;
    }
    *box = endless;
    for (size_t i = 0; i < list->test.range_count; i++) { /* a slice */
        const point_range *range = &list->test.ranges[i];
        const int k = range->name[0] - 'x';
        if (k < 0 || k > 2 || range->name[1] != '\0') continue;
        box->min[k] = range->low;
        box->max[k] = range->high;
    }
    if (has_polygons) cut(box, &polygons);
    if (has_boxes) cut(box, &boxes);
    for (int k = 0; k < 3; k++) { /* nothing is in both: a box without points, not one that is wrong */
        if (box->min[k] > box->max[k]) box->min[k] = box->max[k];
    }
}

/* ---- points */

typedef struct block {
    const mote_cloud *cloud;
    const mote_column *columns[3];
    uint64_t first;
    uint32_t count;
} block;

static block block_at(const mote_cloud *cloud, uint64_t index) {
    block b = {cloud,
               {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"), mote_cloud_find(cloud, "z")},
               index * POINT_TEST_BLOCK,
               POINT_TEST_BLOCK};
    const uint64_t remaining = mote_cloud_count(cloud) - b.first;
    if (remaining < POINT_TEST_BLOCK) b.count = (uint32_t)remaining;
    return b;
}

/* Sets the flags of the points in the polygons of an edit. */
static void find_inside(const edit *e, const block *b, uint8_t *flags) {
    int axes[2];
    level_axes(e->up, axes);
    for (uint32_t i = 0; i < b->count; i++) {
        const double height = mote_column_value(b->columns[e->up], b->first + i);
        if (!(height >= e->low && height <= e->high)) continue;
        const double u = mote_column_value(b->columns[axes[0]], b->first + i);
        const double v = mote_column_value(b->columns[axes[1]], b->first + i);
        if (mote_region_contains(e->region, u, v)) flags[i] = 1;
    }
}

static uint64_t classify_block(const edit_list *list, const block *b, uint8_t *classes) {
    uint8_t before[POINT_TEST_BLOCK], flags[POINT_TEST_BLOCK];
    uint64_t changed = 0;
    memcpy(before, classes, b->count);
    for (size_t i = 0; i < list->count; i++) {
        const edit *e = &list->edits[i];
        if (e->class_code == KEEP) continue;
        memset(flags, 0, b->count);
        find_inside(e, b, flags);
        point_test_apply(&e->test, b->cloud, b->first, b->count, classes, flags);
        for (uint32_t k = 0; k < b->count; k++) {
            if (flags[k] != 0) classes[k] = (uint8_t)e->class_code;
        }
    }
    for (uint32_t k = 0; k < b->count; k++) changed += before[k] != classes[k];
    return changed;
}

static void keep_block(const edit_list *list, const block *b, uint8_t *flags) {
    const bool has_polygons = edit_list_count(list) < list->count;
    memset(flags, !has_polygons, b->count);
    for (size_t i = 0; i < list->count; i++) {
        if (list->edits[i].class_code == KEEP) find_inside(&list->edits[i], b, flags);
    }
    point_test_apply(&list->test, b->cloud, b->first, b->count, NULL, flags);
}

static uint64_t block_count(const mote_cloud *cloud) {
    return (mote_cloud_count(cloud) + POINT_TEST_BLOCK - 1) / POINT_TEST_BLOCK;
}

static bool fail_with(mote_context *ctx, char *error) {
    const char *message = mote_context_message(ctx);
    snprintf(error, POINT_TEST_ERROR, "%s", message[0] != '\0' ? message : "memory has run out");
    return false;
}

bool edit_list_classify(mote_context *ctx, const edit_list *list, mote_cloud *cloud, uint64_t *changed, char *error) {
    const mote_column_spec spec = {"classification", MOTE_UINT8, 0, 0};
    const uint64_t points = mote_cloud_count(cloud);
    const int64_t blocks = (int64_t)block_count(cloud);
    const mote_column *old = mote_cloud_find(cloud, "classification");
    *changed = 0;
    if (edit_list_count(list) == 0) return true;
    uint8_t *classes = calloc((size_t)points + 1, 1);
    if (classes == NULL) return fail_with(ctx, error);
    if (old != NULL) mote_column_read(old, 0, points, MOTE_UINT8, classes);
    if (mote_cloud_put_column(cloud, &spec) != MOTE_OK) {
        free(classes);
        return fail_with(ctx, error);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (point_test_fits(&list->edits[i].test, cloud, error)) continue;
        free(classes);
        return false;
    }
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t k = 0; k < blocks; k++) {
        const block b = block_at(cloud, (uint64_t)k);
        sum += classify_block(list, &b, classes + b.first);
    }
    uint8_t *out = mote_cloud_column_data(cloud, "classification");
    const uint32_t stride = mote_cloud_find(cloud, "classification")->stride_bytes;
    for (uint64_t i = 0; i < points; i++) out[i * stride] = classes[i];
    free(classes);
    *changed = sum;
    return true;
}

bool edit_list_select(mote_context *ctx, const edit_list *list, const mote_cloud *cloud, mote_cloud **out,
                      char *error) {
    const int64_t blocks = (int64_t)block_count(cloud);
    if (!point_test_fits(&list->test, cloud, error)) return false;
    uint8_t *flags = malloc((size_t)mote_cloud_count(cloud) + 1);
    if (flags == NULL) return fail_with(ctx, error);
#pragma omp parallel for
    for (int64_t k = 0; k < blocks; k++) {
        const block b = block_at(cloud, (uint64_t)k);
        keep_block(list, &b, flags + b.first);
    }
    const mote_status status = point_select(ctx, cloud, flags, out);
    free(flags);
    return status == MOTE_OK || fail_with(ctx, error);
}
