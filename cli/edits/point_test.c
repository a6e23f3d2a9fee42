#include "edits/point_test.h"

#include <float.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 64u
#define BOXES_MAX  1000u
#define UNIT_SLACK 1e-9 /* of a direction, how far its length may be from 1 */
#define RANGE_SLACK                                                                                                    \
    (8 * DBL_EPSILON) /* of the larger end: what a stored integer loses when it is scaled, here and in the page */

void point_test_free(point_test *test) {
    free(test->ranges);
    free(test->boxes);
    test->ranges = NULL;
    test->boxes = NULL;
    test->range_count = test->box_count = 0;
}

#if MOTE_HAVE_JANSSON
#include <jansson.h>
#include <math.h>

static bool wrong(char *error, const char *what) {
    snprintf(error, POINT_TEST_ERROR, "%s", what);
    return false;
}

static bool read_numbers(const json_t *array, size_t count, double *out) {
    if (!json_is_array(array) || json_array_size(array) != count) return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
        out[i] = json_number_value(value);
    }
    return true;
}

static bool read_classes(const json_t *array, point_test *test) {
    if (!json_is_array(array)) return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 255) return false;
        test->hides[json_integer_value(value)] = true;
        test->hides_any = true;
    }
    return true;
}

static bool read_returns(const json_t *value, point_test *test) {
    static const char *const words[] = {"", "first", "last", "only", "between"};
    for (int i = RETURNS_FIRST; i <= RETURNS_BETWEEN; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), words[i]) == 0) test->returns = (point_returns)i;
    }
    return test->returns != RETURNS_ALL;
}

static bool read_ranges(json_t *object, point_test *test) {
    const char *name;
    json_t *value;
    if (!json_is_object(object) || json_object_size(object) > RANGES_MAX) return false;
    test->ranges = calloc(json_object_size(object) + 1, sizeof *test->ranges);
    if (test->ranges == NULL) return false;
    json_object_foreach(object, name, value) {
        point_range *range = &test->ranges[test->range_count];
        double ends[2];
        if (strlen(name) >= sizeof range->name || !read_numbers(value, 2, ends)) return false;
        snprintf(range->name, sizeof range->name, "%s", name);
        const double slack = RANGE_SLACK * fmax(fabs(ends[0]), fabs(ends[1]));
        range->low = ends[0] - slack;
        range->high = ends[1] + slack;
        test->range_count++;
    }
    return true;
}

static bool read_box(const json_t *object, point_box *box) {
    const json_t *cosine = json_object_get(object, "cos");
    const json_t *sine = json_object_get(object, "sin");
    const char *up = json_string_value(json_object_get(object, "up"));
    if (!read_numbers(json_object_get(object, "center"), 3, box->center) ||
        !read_numbers(json_object_get(object, "half"), 3, box->half) ||
        !read_numbers(json_object_get(object, "stretch"), 3, box->stretch) || !json_is_number(cosine) ||
        !json_is_number(sine) || up == NULL || strlen(up) != 1 || up[0] < 'x' || up[0] > 'z')
        return false;
    for (int k = 0; k < 3; k++) {
        if (!(box->stretch[k] > 0) || !(box->half[k] >= 0)) return false;
    }
    box->cosine = json_number_value(cosine);
    box->sine = json_number_value(sine);
    const double turned = box->cosine * box->cosine + box->sine * box->sine;
    if (!(fabs(turned - 1) < UNIT_SLACK)) return false;
    box->up = up[0] - 'x';
    box->out = json_is_true(json_object_get(object, "out"));
    return true;
}

static bool read_boxes(const json_t *array, point_test *test) {
    if (!json_is_array(array) || json_array_size(array) > BOXES_MAX) return false;
    test->boxes = calloc(json_array_size(array) + 1, sizeof *test->boxes);
    if (test->boxes == NULL) return false;
    for (; test->box_count < json_array_size(array); test->box_count++) {
        if (!read_box(json_array_get(array, test->box_count), &test->boxes[test->box_count])) return false;
    }
    return true;
}

bool point_test_parse(const json_t *json, point_test *test, char *error) {
    const char *key;
    json_t *value;
    *test = (point_test){.returns = RETURNS_ALL};
    if (json == NULL) return true;
    if (!json_is_object(json)) return wrong(error, "a filter is no object");
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        bool is_read = false;
        if (strcmp(key, "hide") == 0)
            is_read = read_classes(value, test);
        else if (strcmp(key, "returns") == 0)
            is_read = read_returns(value, test);
        else if (strcmp(key, "ranges") == 0)
            is_read = read_ranges(value, test);
        else if (strcmp(key, "boxes") == 0)
            is_read = read_boxes(value, test);
        if (is_read) continue;
        snprintf(error, POINT_TEST_ERROR, "a filter of which \"%.60s\" is not what it has to be", key);
        point_test_free(test);
        return false;
    }
    return true;
}

#else

bool point_test_parse(const struct json_t *json, point_test *test, char *error) {
    (void)json;
    *test = (point_test){.returns = RETURNS_ALL};
    snprintf(error, POINT_TEST_ERROR, "this mote was built without jansson, which reads filters");
    return false;
}

#endif

static const mote_column *return_number(const mote_cloud *cloud) { return mote_cloud_match(cloud, "return_number"); }
static const mote_column *return_count(const mote_cloud *cloud) { return mote_cloud_match(cloud, "number_of_returns"); }

bool point_test_fits(const point_test *test, const mote_cloud *cloud, char *error) {
    const char *missing = NULL;
    if (test->hides_any && mote_cloud_find(cloud, "classification") == NULL) missing = "classification";
    if (test->returns != RETURNS_ALL && (return_number(cloud) == NULL || return_count(cloud) == NULL))
        missing = "return_number";
    for (size_t i = 0; i < test->range_count; i++) {
        if (mote_cloud_match(cloud, test->ranges[i].name) == NULL) missing = test->ranges[i].name;
    }
    if (missing != NULL) snprintf(error, POINT_TEST_ERROR, "there is no attribute \"%s\"", missing);
    return missing == NULL;
}

/* ---- the test */

static void hide_classes(const point_test *test, const mote_cloud *cloud, uint64_t first, uint32_t count,
                         const uint8_t *classes, uint8_t *flags) {
    uint8_t own[POINT_TEST_BLOCK];
    if (classes == NULL) {
        mote_column_read(mote_cloud_find(cloud, "classification"), first, count, MOTE_UINT8, own);
        classes = own;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (test->hides[classes[i]]) flags[i] = 0;
    }
}

static bool is_of(point_returns returns, uint8_t number, uint8_t count) {
    switch (returns) {
    case RETURNS_FIRST: return number == 1;
    case RETURNS_LAST: return number >= count;
    case RETURNS_ONLY: return count == 1;
    case RETURNS_BETWEEN: return number > 1 && number < count;
    case RETURNS_ALL: break;
    }
    return true;
}

static void hide_returns(point_returns returns, const mote_cloud *cloud, uint64_t first, uint32_t count,
                         uint8_t *flags) {
    uint8_t numbers[POINT_TEST_BLOCK], counts[POINT_TEST_BLOCK];
    mote_column_read(return_number(cloud), first, count, MOTE_UINT8, numbers);
    mote_column_read(return_count(cloud), first, count, MOTE_UINT8, counts);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_of(returns, numbers[i], counts[i])) flags[i] = 0;
    }
}

/* What is NaN or no data lies in no range. */
static void hide_outside(const point_range *range, const mote_cloud *cloud, uint64_t first, uint32_t count,
                         uint8_t *flags) {
    double values[POINT_TEST_BLOCK];
    const mote_column *column = mote_cloud_match(cloud, range->name);
    mote_cloud_read_known(cloud, column, first, count, values);
    for (uint32_t i = 0; i < count; i++) {
        const double value = values[i] * column->scale + column->offset;
        if (!(value >= range->low && value <= range->high)) flags[i] = 0;
    }
}

static bool is_in_box(const point_box *box, const double place[3]) {
    const int a = box->up == 0 ? 1 : 0;
    const int b = box->up == 2 ? 1 : 2;
    double from[3];
    for (int k = 0; k < 3; k++) from[k] = (place[k] - box->center[k]) * box->stretch[k];
    const double u = from[a] * box->cosine + from[b] * box->sine;
    const double v = from[b] * box->cosine - from[a] * box->sine;
    /* Not fabs(…) > half, so that NaN is outside. */
    return from[box->up] <= box->half[box->up] && from[box->up] >= -box->half[box->up] && u <= box->half[a] &&
           u >= -box->half[a] && v <= box->half[b] && v >= -box->half[b];
}

static bool is_shown(const point_test *test, const double place[3]) {
    bool has_showing = false, is_in = false;
    for (size_t i = 0; i < test->box_count; i++) {
        const bool holds = is_in_box(&test->boxes[i], place);
        if (test->boxes[i].out && holds) return false;
        has_showing = has_showing || !test->boxes[i].out;
        is_in = is_in || (holds && !test->boxes[i].out);
    }
    return is_in || !has_showing;
}

static void hide_by_boxes(const point_test *test, const mote_cloud *cloud, uint64_t first, uint32_t count,
                          uint8_t *flags) {
    const mote_column *columns[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                     mote_cloud_find(cloud, "z")};
    for (uint32_t i = 0; i < count; i++) {
        if (flags[i] == 0) continue;
        double place[3];
        for (int k = 0; k < 3; k++) place[k] = mote_column_value(columns[k], first + i);
        if (!is_shown(test, place)) flags[i] = 0;
    }
}

void point_test_apply(const point_test *test, const mote_cloud *cloud, uint64_t first, uint32_t count,
                      const uint8_t *classes, uint8_t *flags) {
    if (test->hides_any) hide_classes(test, cloud, first, count, classes, flags);
    if (test->returns != RETURNS_ALL) hide_returns(test->returns, cloud, first, count, flags);
    for (size_t i = 0; i < test->range_count; i++) hide_outside(&test->ranges[i], cloud, first, count, flags);
    if (test->box_count > 0) hide_by_boxes(test, cloud, first, count, flags);
}
