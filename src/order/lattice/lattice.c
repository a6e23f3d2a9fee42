/* Brings positions of any type to integer coordinates in a cube. */
#include <float.h>
#include <math.h>

#include "core/cloud.h"
#include "core/column_math.h"
#include "mote/order.h"
#include "order/lattice/lattice.h"

#define MAX_STEPS     2147483647.0       /* 2^31 - 1: what a Potree position holds */
#define MAX_EXACT     4503599627370496.0 /* 2^52: integers a double tells apart, with room */
#define SMALLEST_STEP (-1074)            /* 2^-1074 is the smallest double: no two are nearer to each other */

/* Integers with a positive scale, and finite in the world whatever is stored: else each point must be looked at. */
bool lattice_is_integer(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = axes[k];
        if (mote_type_is_float(axis->type) || axis->type == MOTE_UINT64 || !(axis->scale > 0)) return false;
        if (!isfinite(ldexp(axis->scale, 64) + fabs(axis->offset))) return false;
    }
    return true;
}

bool lattice_is_plain(const mote_cloud *cloud, const mote_column *axes[3]) {
    if (!mote_cloud_find_positions(cloud, axes)) return false;
    for (int k = 0; k < 3; k++) {
        if (!lattice_axis_is_plain(axes[k])) return false;
    }
    return lattice_is_integer(axes);
}

/* Smallest and largest stored value of each axis. */
void lattice_integer_bounds(const mote_context *ctx, const mote_column *const axes[3], int64_t count, int64_t low[3],
                            int64_t high[3]) {
    int64_t x0 = INT64_MAX, y0 = INT64_MAX, z0 = INT64_MAX, x1 = INT64_MIN, y1 = INT64_MIN, z1 = INT64_MIN;
    const bool plain =
        lattice_axis_is_plain(axes[0]) && lattice_axis_is_plain(axes[1]) && lattice_axis_is_plain(axes[2]);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min                                      \
                                                                              : x0, y0, z0) reduction(max              \
                                                                                                      : x1, y1, z1)
    for (int64_t i = 0; i < count; i++) {
        int64_t v[3];
        for (int k = 0; k < 3; k++) {
            int32_t narrow;
            if (plain) memcpy(&narrow, mote_column_at(axes[k], (uint64_t)i), 4);
            v[k] = plain ? narrow : mote_column_integer(axes[k], (uint64_t)i);
        }
        x0 = v[0] < x0 ? v[0] : x0, x1 = v[0] > x1 ? v[0] : x1;
        y0 = v[1] < y0 ? v[1] : y0, y1 = v[1] > y1 ? v[1] : y1;
        z0 = v[2] < z0 ? v[2] : z0, z1 = v[2] > z1 ? v[2] : z1;
    }
    low[0] = x0, low[1] = y0, low[2] = z0;
    high[0] = x1, high[1] = y1, high[2] = z1;
}

/* The cube is as long as the longest extent in the world; each axis counts it in its own steps. */
static void set_sides(mote_lattice *lattice) {
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, (double)lattice->extent[k] * lattice->scale[k]);
    for (int k = 0; k < 3; k++) {
        const double steps = ceil(longest / lattice->scale[k] * (1 - 2 * DBL_EPSILON));
        const double max = MAX_EXACT / 2;
        lattice->side[k] = steps < 1 ? 1 : steps > max ? (uint64_t)max : (uint64_t)steps;
        if (lattice->side[k] < lattice->extent[k]) lattice->side[k] = lattice->extent[k];
    }
}

void lattice_of_box(const mote_column *const axes[3], const int64_t low[3], const int64_t high[3],
                    mote_lattice *lattice) {
    uint64_t widest = 0;
    memset(lattice, 0, sizeof *lattice);
    for (int k = 0; k < 3; k++) {
        const uint64_t extent = (uint64_t)high[k] - (uint64_t)low[k];
        widest = extent > widest ? extent : widest;
    }
    lattice->integer = true;
    while ((widest >> lattice->shift) + 1 >= (1ull << 31)) lattice->shift++;
    lattice->exact = lattice->shift == 0;
    for (int k = 0; k < 3; k++) {
        lattice->source_min[k] = low[k];
        lattice->extent[k] = lattice_step((uint64_t)high[k] - (uint64_t)low[k], lattice->shift);
        lattice->scale[k] = ldexp(axes[k]->scale, (int)lattice->shift);
        const bool moved = lattice->shift > 0;
        lattice->min[k] = moved ? 0 : low[k];
        lattice->offset[k] = axes[k]->offset + (moved ? (double)low[k] * axes[k]->scale : 0);
    }
    set_sides(lattice);
}

/* The step for real positions: the decimal one of the text if it fits, else the finest power of two that does. */
static double real_step(double decimal, const double low[3], const double high[3]) {
    double longest = 0, farthest = 0;
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, high[k] - low[k]);
        farthest = fmax(farthest, fmax(fabs(low[k]), fabs(high[k])));
    }
    if (decimal > 0 && longest / decimal < MAX_STEPS - 1 && farthest / decimal < MAX_EXACT) return decimal;
    /* One place has no extent to be divided: the finest step in which it is a whole number still. */
    if (!(longest > 0)) longest = farthest > 0 ? farthest * (MAX_STEPS / MAX_EXACT) : 1;
    int exponent;
    frexp(longest, &exponent); /* longest < 2^exponent */
    double step = ldexp(1, exponent - 31 > SMALLEST_STEP ? exponent - 31 : SMALLEST_STEP);
    while (longest / step > MAX_STEPS - 1 || farthest / step > MAX_EXACT) step *= 2;
    return step;
}

mote_status lattice_of_real_box(mote_context *ctx, const mote_column *const axes[3], double decimal,
                                const double low[3], const double high[3], mote_lattice *lattice) {
    for (int k = 0; k < 3; k++) {
        if (isfinite(2 * (high[k] - low[k]))) continue; /* twice: the cube is a step longer */
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s from %g to %g: no cube around that has a side in a double",
                         axes[k]->name, low[k], high[k]);
    }
    const double step = real_step(decimal, low, high);
    memset(lattice, 0, sizeof *lattice);
    for (int k = 0; k < 3; k++) {
        lattice->scale[k] = step;
        lattice->min[k] = (int64_t)rint(low[k] / step);
        lattice->extent[k] = (uint64_t)((int64_t)rint(high[k] / step) - lattice->min[k]);
    }
    set_sides(lattice);
    return MOTE_OK;
}

static mote_status real_lattice(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                mote_lattice *lattice, uint64_t *skipped) {
    const double origin[3] = {0, 0, 0}; /* a lattice of no points has to be somewhere */
    mote_box box;
    MOTE_TRY(mote_cloud_bounds(ctx, cloud, &box, skipped));
    const bool none = *skipped == cloud->count;
    return lattice_of_real_box(ctx, axes, cloud->position_step, none ? origin : box.min, none ? origin : box.max,
                               lattice);
}

mote_status mote_order_lattice(mote_context *ctx, const mote_cloud *cloud, mote_lattice *lattice, uint64_t *skipped) {
    const mote_column *axes[3];
    uint64_t left_out = 0;
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "the lattice of the Morton order"));
    memset(lattice, 0, sizeof *lattice);
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    if (lattice_is_integer(axes)) {
        const mote_prepared *prepared = &cloud->prepared;
        int64_t low[3] = {0}, high[3] = {0};
        if (cloud->count > 0 && !prepared->box_known)
            lattice_integer_bounds(ctx, axes, (int64_t)cloud->count, low, high);
        for (int k = 0; k < 3 && prepared->box_known; k++) {
            low[k] = prepared->low[k];
            high[k] = prepared->high[k];
        }
        lattice_of_box(axes, low, high, lattice);
    } else {
        MOTE_TRY(real_lattice(ctx, cloud, axes, lattice, &left_out));
    }
    if (skipped != NULL) *skipped = left_out;
    return mote_cloud_check(cloud);
}

/* One axis of up to LATTICE_BLOCK points; bad gets 1 where the coordinate is not finite. */
static void axis_steps(const mote_column *axis, const mote_lattice *lattice, int k, uint64_t first,
                       const uint32_t *indices, uint32_t count, uint32_t *steps, uint8_t *bad) {
    if (lattice->integer && lattice_axis_is_plain(axis) && lattice->shift == 0) {
        const uint32_t origin = (uint32_t)lattice->source_min[k]; /* differences are right modulo 2^32 */
        for (uint32_t j = 0; j < count; j++) {
            uint32_t v;
            memcpy(&v, mote_column_at(axis, indices != NULL ? indices[j] : first + j), 4);
            steps[j] = v - origin;
        }
        return;
    }
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t i = indices != NULL ? indices[j] : first + j;
        if (lattice->integer) {
            steps[j] = lattice_integer_step(mote_column_integer(axis, i), lattice->source_min[k], lattice->shift);
        } else {
            const double v = column_value(axis, i);
            bad[j] |= !isfinite(v);
            steps[j] = lattice_real_step(v, lattice->scale[k], lattice->min[k], lattice->extent[k]);
        }
    }
}

void lattice_block(const mote_cloud *cloud, const mote_lattice *lattice, uint64_t first, const uint32_t *indices,
                   uint32_t count, uint32_t steps[3][LATTICE_BLOCK], uint8_t bad[LATTICE_BLOCK]) {
    memset(bad, 0, count);
    for (int k = 0; k < 3; k++) {
        axis_steps(mote_cloud_find(cloud, mote_axis_names[k]), lattice, k, first, indices, count, steps[k], bad);
    }
}

void mote_order_coordinates(const mote_cloud *cloud, const mote_lattice *lattice, const uint32_t *indices,
                            uint64_t count, uint32_t *xyz) {
    uint32_t steps[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK];
    for (uint64_t first = 0; first < count; first += LATTICE_BLOCK) {
        const uint32_t n = count - first < LATTICE_BLOCK ? (uint32_t)(count - first) : LATTICE_BLOCK;
        lattice_block(cloud, lattice, first, indices != NULL ? indices + first : NULL, n, steps, bad);
        for (uint32_t j = 0; j < n; j++) {
            for (int k = 0; k < 3; k++) xyz[3 * (first + j) + (uint64_t)k] = bad[j] ? 0 : steps[k][j];
        }
    }
}
