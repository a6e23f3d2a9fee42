#include "support/parts_clouds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cloud.h"
#include "support/cloud_files.h"
#include "support/support.h"

const parts_kind parts_kinds[PARTS_KINDS] = {
    {"cloud", 60000, 0, 0, 0, false},   {"strays", 30000, 0.001, 0, 0, false}, {"duplicates", 20000, 0, 9000, 0, false},
    {"decades", 30000, 0, 0, 7, false}, {"lattice", 32768, 0, 0, 0, true},     {"one", 1, 0, 0, 0, false},
    {"equal", 3000, 0, 3000, 0, false}, {"empty", 0, 0, 0, 0, false},
};

static void fill(const parts_kind *kind, int32_t *xyz, uint64_t i, uint64_t *random) {
    for (int k = 0; k < 3; k++) {
        *random = *random * 6364136223846793005ull + 1442695040888963407ull;
        const double unit = (double)(*random >> 11) / 9007199254740992.0;
        double at = 1000000 * unit / (k == 2 ? 20 : 1);
        if (kind->decades > 0) at = 1e8 * exp2(-3.3 * kind->decades * unit);
        if (kind->is_lattice) at = 1000 * (double)(i >> 5 * k & 31);
        if (i < kind->equal) at = 5000;
        xyz[k] = (int32_t)at;
    }
    if (kind->strays > 0 && i % (uint64_t)(1 / kind->strays) == 7) xyz[0] = 2000000000 - (int32_t)i;
}

static mote_cloud *make(mote_context *ctx, const parts_kind *kind) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.001, 500000}, {"y", MOTE_INT32, 0.001, 5e6},        {"z", MOTE_INT32, 0.001, 0},
        {"intensity", MOTE_UINT16, 0, 0}, {"classification", MOTE_UINT8, 0, 0}, {"gps_time", MOTE_FLOAT64, 0, 0},
        {"red", MOTE_UINT16, 0, 0},       {"green", MOTE_UINT16, 0, 0},         {"blue", MOTE_UINT16, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, kind->points, specs, sizeof specs / sizeof specs[0], &cloud), MOTE_OK);
    uint64_t random = 17;
    uint8_t *columns[9];
    uint32_t strides[9];
    for (int c = 0; c < 9; c++) {
        columns[c] = mote_cloud_column_data(cloud, specs[c].name);
        strides[c] = mote_cloud_find(cloud, specs[c].name)->stride_bytes;
    }
    for (uint64_t i = 0; i < kind->points; i++) {
        int32_t xyz[3];
        fill(kind, xyz, i, &random);
        for (int k = 0; k < 3; k++) memcpy(columns[k] + i * strides[k], &xyz[k], 4);
        const uint16_t value = (uint16_t)(random >> 40);
        const double time = (double)i * 0.25;
        memcpy(columns[3] + i * strides[3], &value, 2);
        columns[4][i * strides[4]] = (uint8_t)(random >> 57 & 7);
        memcpy(columns[5] + i * strides[5], &time, 8);
        for (int c = 6; c < 9; c++) memcpy(columns[c] + i * strides[c], &(uint16_t){(uint16_t)(value * c)}, 2);
    }
    return cloud;
}

const char *parts_cloud_file(mote_context *ctx, const parts_kind *kind, const char *ending) {
    static char path[512]; /* those of test_path are lent for a while */
    mote_cloud *cloud = make(ctx, kind);
    snprintf(path, sizeof path, "parts_%s.%s", kind->name, ending);
    snprintf(path, sizeof path, "%s", test_path(path));
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
    return path;
}

/* ---- one piece */

mote_potree_report parts_in_one(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                                const char *folder) {
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, NULL, &cloud), MOTE_OK);
    mote_lod *lod = NULL;
    mote_potree_report report;
    mote_potree_params potree = mote_potree_defaults();
    potree.name = "parts";
    assert_int_equal(mote_lod_build(ctx, cloud, params, &lod), MOTE_OK);
    assert_int_equal(mote_potree_write(ctx, lod, folder, &potree, &report), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return report;
}
