/* What read parameters leave out of a cloud: columns that nobody selected, points outside of a box. */
#include "io/io_internal.h"

#define BLOCK_POINTS 4096

const char *mote_list_next(const char *list, char name[MOTE_NAME_BYTES]) {
    if (list == NULL || *list == '\0') return NULL;
    const size_t length = strcspn(list, ","), kept = length < MOTE_NAME_BYTES ? length : MOTE_NAME_BYTES - 1;
    memcpy(name, list, kept);
    name[kept] = '\0';
    return list + length + (list[length] == ',');
}

const char *mote_list_mark(const mote_cloud *cloud, const char *list, bool *marks) {
    char name[MOTE_NAME_BYTES];
    const char *missing = NULL;
    for (const char *at = list, *next; (next = mote_list_next(at, name)) != NULL; at = next) {
        const mote_column *column = name[0] != '\0' ? mote_cloud_match(cloud, name) : NULL;
        if (column != NULL) marks[column - cloud->columns] = true;
        if (column == NULL && name[0] != '\0' && missing == NULL) missing = at;
    }
    return missing;
}

mote_status mote_cloud_keep_columns(mote_cloud *cloud, const char *select) {
    uint64_t kept = 0;
    if (select == NULL) return MOTE_OK;
    bool *stays = mote_alloc_zero(cloud->ctx, cloud->column_count * sizeof *stays, "columns");
    if (stays == NULL) return MOTE_ERROR_MEMORY;
    mote_list_mark(cloud, select, stays);
    mote_list_mark(cloud, "x,y,z", stays);
    for (uint64_t c = 0; c < cloud->column_count; c++) {
        if (stays[c]) cloud->columns[kept++] = cloud->columns[c];
    }
    cloud->column_count = kept;
    mote_free(cloud->ctx, stays);
    return MOTE_OK;
}

/* ---- points in a box */

typedef struct box_test {
    const mote_cloud *cloud;
    const mote_column *axes[3];
    mote_box box;
} box_test;

static mote_status start_test(mote_context *ctx, const mote_cloud *cloud, const mote_box *box, box_test *test) {
    test->cloud = cloud;
    test->box = *box;
    for (int k = 0; k < 3; k++) {
        test->axes[k] = mote_cloud_find(cloud, mote_axis_names[k]);
        if (test->axes[k] == NULL) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "points are to be chosen by a box, but there is no %s",
                             mote_axis_names[k]);
        }
        if (!(box->min[k] <= box->max[k])) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the box to choose points by has %s from %g to %g",
                             mote_axis_names[k], box->min[k], box->max[k]);
        }
    }
    return MOTE_OK;
}

/* Which points of a block are inside; NaN never is. Returns how many. */
static uint64_t test_block(const box_test *test, uint64_t first, uint64_t count, bool *inside) {
    double values[BLOCK_POINTS];
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) inside[i] = true;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = test->axes[k];
        const double low = test->box.min[k], high = test->box.max[k];
        mote_column_read(column, first, count, MOTE_FLOAT64, values);
        for (uint64_t i = 0; i < count; i++) {
            const double value = values[i] * column->scale + column->offset;
            inside[i] = inside[i] && value >= low && value <= high;
        }
    }
    for (uint64_t i = 0; i < count; i++) found += inside[i];
    return found;
}

static uint64_t block_length(const mote_cloud *cloud, int64_t block) {
    const uint64_t remaining = cloud->count - (uint64_t)block * BLOCK_POINTS;
    return remaining < BLOCK_POINTS ? remaining : BLOCK_POINTS;
}

static void list_inside(const mote_context *ctx, const box_test *test, int64_t blocks, const uint64_t *starts,
                        uint64_t *indices) {
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < blocks; b++) {
        bool inside[BLOCK_POINTS];
        const uint64_t first = (uint64_t)b * BLOCK_POINTS, count = block_length(test->cloud, b);
        if (starts[b + 1] == starts[b]) continue;
        test_block(test, first, count, inside);
        uint64_t *to = indices + starts[b];
        for (uint64_t i = 0; i < count; i++) {
            if (inside[i]) *to++ = first + i;
        }
    }
}

mote_status mote_cloud_find_inside(mote_context *ctx, const mote_cloud *cloud, const mote_box *box, uint64_t **indices,
                                   uint64_t *count) {
    box_test test;
    *indices = NULL;
    MOTE_TRY(start_test(ctx, cloud, box, &test));
    const int64_t blocks = (int64_t)((cloud->count + BLOCK_POINTS - 1) / BLOCK_POINTS);
    /* [blocks + 1], where each block's points go among the chosen ones. */
    uint64_t *starts = mote_alloc(ctx, (uint64_t)(blocks + 1) * sizeof *starts, "chosen points");
    if (starts == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < blocks; b++) {
        bool inside[BLOCK_POINTS];
        starts[b + 1] = test_block(&test, (uint64_t)b * BLOCK_POINTS, block_length(test.cloud, b), inside);
    }
    starts[0] = 0;
    for (int64_t b = 0; b < blocks; b++) starts[b + 1] += starts[b];
    *count = starts[blocks];
    *indices = mote_alloc(ctx, *count * sizeof **indices, "chosen points");
    if (*indices != NULL) list_inside(ctx, &test, blocks, starts, *indices);
    mote_free(ctx, starts);
    return *indices != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status mote_cloud_keep_inside(mote_context *ctx, mote_cloud **cloud, const mote_box *box) {
    uint64_t *indices = NULL, count = 0;
    mote_cloud *chosen = NULL;
    MOTE_TRY(mote_cloud_find_inside(ctx, *cloud, box, &indices, &count));
    mote_status status = MOTE_OK;
    if (count < (*cloud)->count) status = mote_cloud_select(ctx, *cloud, indices, count, &chosen);
    mote_free(ctx, indices);
    if (status != MOTE_OK || chosen == NULL) return status;
    mote_cloud_destroy(*cloud);
    *cloud = chosen;
    return MOTE_OK;
}
