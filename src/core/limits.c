/* What files say of a column's stored values: no-data, minimum, maximum. */
#include "core/limits.h"

#include <math.h>

#include "core/column_math.h"

/* ---- numbers in 64 bits */

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t mote_limit_of_value(const mote_column *column, uint64_t i) {
    return column_is_real(column->type) ? bits_of(column_stored(column, i)) : (uint64_t)column_integer(column, i);
}

double mote_limit_real(uint64_t limit, mote_type type) {
    if (!column_is_real(type)) return mote_type_is_signed(type) ? (double)(int64_t)limit : (double)limit;
    double value;
    memcpy(&value, &limit, sizeof value);
    return value;
}

uint64_t mote_limit_of_real(double value, mote_type type) {
    return column_is_real(type) ? bits_of(value) : column_saturate(value, type);
}

/* ---- no-data */

/* Zeros are equal whatever their sign, and so are all NaN; a float is compared as the file can hold it. */
static bool is_real_no_data(const mote_column *column, uint64_t limit, uint64_t i) {
    const double stored = column_stored(column, i), stated = mote_limit_real(limit, column->type);
    const double no_data = column->type == MOTE_FLOAT32 ? (double)(float)stated : stated;
    return stored == no_data || (isnan(stored) && isnan(no_data));
}

bool mote_is_no_data(const mote_column *column, const mote_column_limits *limits, uint64_t i) {
    if (!limits->has_no_data) return false;
    if (column_is_real(column->type)) return is_real_no_data(column, limits->no_data, i);
    return (uint64_t)column_integer(column, i) == limits->no_data;
}

void mote_cloud_read_known(const mote_cloud *cloud, const mote_column *column, uint64_t first, uint64_t count,
                           double *out) {
    mote_column_limits limits;
    mote_column_read(column, first, count, MOTE_FLOAT64, out);
    if (!mote_cloud_limits(cloud, column->name, &limits) || !limits.has_no_data) return;
    for (uint64_t i = 0; i < count; i++) {
        if (mote_is_no_data(column, &limits, first + i)) out[i] = NAN;
    }
}

/* ---- normals */

/* values  [3 count] */
static void read_normals(const mote_cloud *cloud, const mote_column *const columns[3], double *values) {
    mote_column_limits limits[3];
    for (int k = 0; k < 3; k++) mote_cloud_limits(cloud, columns[k]->name, &limits[k]);
#pragma omp parallel for schedule(static) num_threads(cloud->ctx->threads)
    for (int64_t i = 0; i < (int64_t)cloud->count; i++) {
        double *const normal = values + 3 * i;
        bool missing = false;
        for (int k = 0; k < 3; k++) {
            normal[k] = column_value(columns[k], (uint64_t)i);
            missing = missing || mote_is_no_data(columns[k], &limits[k], (uint64_t)i);
        }
        if (missing) memset(normal, 0, 3 * sizeof *normal);
    }
}

mote_status mote_cloud_known_normals(mote_context *ctx, const mote_cloud *cloud, mote_cloud *view, void **memory) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    const mote_column *normals[3];
    bool any = false;
    *view = *cloud;
    *memory = NULL;
    for (int k = 0; k < 3; k++) {
        mote_column_limits limits;
        normals[k] = mote_cloud_find(cloud, names[k]);
        if (normals[k] == NULL) return MOTE_OK;
        any = any || (mote_cloud_limits(cloud, names[k], &limits) && limits.has_no_data);
    }
    if (!any || cloud->device != NULL) return MOTE_OK;
    const uint64_t column_bytes = cloud->column_count * sizeof *view->columns;
    *memory = mote_alloc(ctx, column_bytes + 3 * cloud->count * sizeof(double), "normals");
    if (*memory == NULL) return MOTE_ERROR_MEMORY;
    view->columns = *memory;
    view->uploads = NULL; /* they would outlive these values */
    memcpy(view->columns, cloud->columns, column_bytes);
    double *const values = (double *)(void *)((uint8_t *)*memory + column_bytes);
    read_normals(cloud, normals, values);
    for (int k = 0; k < 3; k++) {
        mote_column *const column = &view->columns[normals[k] - cloud->columns];
        column->data = values + k;
        column->stride_bytes = 3 * sizeof *values;
        column->type = MOTE_FLOAT64;
        column->bit_shift = column->bit_count = 0;
        column->scale = 1;
        column->offset = 0;
    }
    return MOTE_OK;
}
