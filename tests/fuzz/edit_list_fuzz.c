/* Any file as a list of edits and of what is kept: what is read is applied to a small cloud, whose points keep their
 * number, and of which no point outside the bounds is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edits/edit_list.h"
#include "fuzz/fuzz_support.h"

#define SIDE 40u

static void require(bool holds) {
    if (!holds) abort();
}

static mote_cloud *make_grid(mote_context *ctx) {
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.5, 0},
                                             {"y", MOTE_INT32, 0.5, 0},
                                             {"z", MOTE_INT32, 0.5, 0},
                                             {"classification", MOTE_UINT8, 0, 0},
                                             {"intensity", MOTE_UINT16, 0, 0},
                                             {"return_number", MOTE_UINT8, 0, 0},
                                             {"number_of_returns", MOTE_UINT8, 0, 0}};
    mote_cloud *cloud = NULL;
    require(mote_cloud_create(ctx, SIDE * SIDE, specs, 7, &cloud) == MOTE_OK);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const int32_t place[3] = {(int32_t)(i % SIDE), (int32_t)(i / SIDE), (int32_t)(i % 7)};
        for (int k = 0; k < 3; k++) {
            char *at = mote_cloud_column_data(cloud, (const char *const[]){"x", "y", "z"}[k]);
            memcpy(at + (size_t)i * mote_cloud_column(cloud, 0)->stride_bytes, &place[k], sizeof place[k]);
        }
    }
    return cloud;
}

static void check_bounds(const mote_cloud *kept, const mote_box *box) {
    for (uint64_t i = 0; i < mote_cloud_count(kept); i++) {
        for (int k = 0; k < 3; k++) {
            const double v = mote_column_value(mote_cloud_find(kept, (const char *const[]){"x", "y", "z"}[k]), i);
            require(v >= box->min[k] && v <= box->max[k]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[POINT_TEST_ERROR] = "";
    mote_context *ctx = fuzz_context();
    const char *path = fuzz_path("edits.geojson");
    FILE *file = fopen(path, "wb");
    require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    edit_list *list = edit_list_read(ctx, path, error);
    require(list != NULL || error[0] != '\0');
    if (list != NULL) {
        mote_cloud *cloud = make_grid(ctx), *kept = NULL;
        mote_box box;
        uint64_t changed = 0;
        edit_list_bounds(list, &box);
        if (edit_list_classify(ctx, list, cloud, &changed, error)) {
            require(changed <= SIDE * SIDE && mote_cloud_count(cloud) == SIDE * SIDE);
            if (edit_list_select(ctx, list, cloud, &kept, error)) check_bounds(kept, &box);
        }
        mote_cloud_destroy(kept);
        mote_cloud_destroy(cloud);
        edit_list_free(list);
    }
    fuzz_end(ctx, NULL);
    return 0;
}
