/* Any text as an expression: it is refused with a message that shows the text, or chooses the same points of a cloud
   with one block as with its points one by one, all of which lie in its box. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "where/where_expression.h"

#define POINTS   700u /* more than a block */
#define SINGLE   37u  /* points that are looked at alone */
#define TEXT_MAX 4096u

static mote_cloud *make_cloud(mote_context *ctx) {
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 100}, {"y", MOTE_FLOAT32, 0, 0},
                                             {"z", MOTE_FLOAT64, 0, 0},    {"classification", MOTE_UINT8, 0, 0},
                                             {"a b", MOTE_INT16, 0, 0},    {"ring", MOTE_UINT64, 0, 0}};
    mote_cloud *cloud = NULL;
    fuzz_require(ctx, mote_cloud_create(ctx, POINTS, specs, 6, &cloud) == MOTE_OK, "a cloud");
    for (uint32_t c = 0; c < 6; c++) {
        const mote_column *column = mote_cloud_column(cloud, c);
        uint8_t *at = mote_cloud_column_data(cloud, column->name);
        for (uint64_t i = 0; i < POINTS; i++, at += column->stride_bytes) {
            const double wide = i % 17 == 3 ? (double)NAN : (double)(int64_t)(i % 29) - 9;
            const float narrow = (float)wide;
            const uint64_t whole = i * (c + 1) % 31;
            const void *value = column->type == MOTE_FLOAT64   ? (const void *)&wide
                                : column->type == MOTE_FLOAT32 ? (const void *)&narrow
                                                               : (const void *)&whole;
            memcpy(at, value, mote_type_size(column->type));
        }
    }
    mote_column_limits limits = {.has_no_data = true, .no_data = 3};
    fuzz_require(ctx, mote_cloud_set_limits(cloud, "a b", &limits) == MOTE_OK, "limits");
    return cloud;
}

static bool is_in_box(const mote_cloud *cloud, const mote_box *box, uint64_t i) {
    for (int k = 0; k < 3; k++) {
        const double at = mote_column_value(mote_cloud_find(cloud, mote_axis_names[k]), i);
        if (isfinite(at) && !(at >= box->min[k] && at <= box->max[k])) return false;
    }
    return true;
}

static bool is_finite(const mote_cloud *cloud, uint64_t i) {
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        finite = finite && isfinite(mote_column_value(mote_cloud_find(cloud, mote_axis_names[k]), i));
    }
    return finite;
}

static void try_condition(mote_context *ctx, const mote_cloud *cloud, const char *text) {
    where_program *program = NULL;
    where_bound bound = {0};
    bool chosen[POINTS];
    mote_box box;
    mote_status status = mote_where_condition(ctx, text, &program);
    if (status == MOTE_OK) status = mote_where_bind(program, cloud, "file", &bound);
    if (status == MOTE_OK) {
        where_scratch *scratch = malloc(sizeof *scratch);
        mote_where_choose(ctx, &bound, POINTS, chosen);
        mote_where_box(program, &box);
        for (uint64_t i = 0; i < POINTS; i++) {
            fuzz_require(ctx, !chosen[i] || !is_finite(cloud, i) || is_in_box(cloud, &box, i), "in the box");
        }
        for (uint64_t i = 0; i < SINGLE; i++) {
            uint8_t mask;
            mote_where_test(&bound, 13 * i, 1, scratch, &mask);
            fuzz_require(ctx, (mask == 1) == chosen[13 * i], "the same alone");
        }
        free(scratch);
    } else {
        fuzz_require(ctx, strchr(mote_context_message(ctx), '^') != NULL || strlen(text) > 1000, "a caret");
    }
    mote_where_unbind(&bound);
    mote_where_free(program);
    mote_context_clear(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    mote_cloud *cloud = make_cloud(ctx);
    char text[TEXT_MAX + 1];
    const size_t length = size < TEXT_MAX ? size : TEXT_MAX;
    uint64_t changed = 0;
    memcpy(text, data, length);
    text[length] = '\0';
    try_condition(ctx, cloud, text);
    if (mote_cloud_assign(ctx, &cloud, text, NULL, &changed) == MOTE_OK) fuzz_touch(ctx, cloud);
    mote_context_clear(ctx);
    fuzz_end(ctx, cloud);
    return 0;
}
