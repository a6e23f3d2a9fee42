/* The lattice of a cloud: 2^24 steps over its extent. A few strays far from all else would make these steps, and the
   bins of rho, too wide for the rest; they are left out. */
#include <float.h>
#include <stdlib.h>

#include "planes/planes.h"

#define LATTICE_STEPS 8388600.0 /* on either side of the centre; a few fewer than PLANES_REACH, for rounding */
#define STRAY_SAMPLE  8192u
#define STRAY_SHARE   1000u /* at most one in so many at either end of an axis are strays */
#define STRAY_TIMES   16.0  /* a cloud that reaches so many times as far as the rest has strays */
#define STRAY_MARGIN  2.0   /* times as far as the rest reaches, the lattice does */

static planes_frame frame_of(const double centre[3], double half) {
    planes_frame frame;
    int exponent = 0;
    frexp(half / LATTICE_STEPS, &exponent); /* the power of two above */
    exponent = exponent < -900 ? -900 : exponent;
    for (int k = 0; k < 3; k++) frame.centre[k] = centre[k];
    frame.step = half > 0 ? ldexp(1, exponent) : 1;
    frame.inverse = 1 / frame.step;
    return frame;
}

static planes_frame frame_of_box(const mote_box *box) {
    double centre[3], half = 0;
    for (int k = 0; k < 3; k++) {
        const double size = 0.5 * box->max[k] - 0.5 * box->min[k];
        centre[k] = 0.5 * box->min[k] + 0.5 * box->max[k];
        half = size > half ? size : half;
    }
    return frame_of(centre, half);
}

/* The same order as integers. */
static uint32_t key_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits >> 31) != 0 ? ~bits : bits | 1u << 31;
}

static float value_of(uint32_t key) {
    const uint32_t bits = (key >> 31) != 0 ? key & ~(1u << 31) : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By radix, a byte a pass: four times as fast as qsort. keys and others: room for count each. */
static void sort_floats(float *values, uint32_t count, uint32_t *keys, uint32_t *others) {
    for (uint32_t i = 0; i < count; i++) keys[i] = key_of(values[i]);
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        uint32_t first[257] = {0}, *passed = keys;
        for (uint32_t i = 0; i < count; i++) first[(keys[i] >> shift & 255) + 1]++;
        for (uint32_t b = 1; b < 257; b++) first[b] += first[b - 1];
        for (uint32_t i = 0; i < count; i++) others[first[keys[i] >> shift & 255]++] = keys[i];
        keys = others;
        others = passed;
    }
    for (uint32_t i = 0; i < count; i++) values[i] = value_of(keys[i]);
}

/* What most points are in, of one axis, and the mean square of their distance to the centre. Sorts the values; the
   sample's normals and places become something else. */
static double spread(planes_sample *sample, float *values, double most[2]) {
    const uint32_t count = sample->count, cut = count / STRAY_SHARE;
    double squares = 0;
    sort_floats(values, count, sample->normal, sample->place);
    most[0] = values[cut];
    most[1] = values[count - 1 - cut];
    for (uint32_t i = cut; i < count - cut; i++) squares += (double)values[i] * values[i];
    return squares / (count - 2 * cut);
}

/* A smaller frame where strays blur this one. typical: how far points are from the centre. */
static bool without_strays(const planes_points *points, planes_sample *sample, planes_frame *frame, double *typical) {
    float *axes[3] = {sample->x, sample->y, sample->z};
    double centre[3], most_half = 0, all_half = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        double most[2];
        square += spread(sample, axes[k], most);
        /* The sample may miss the strays; the box does not. */
        const double half = 0.5 * (points->box.max[k] - points->box.min[k]) * frame->inverse;
        centre[k] = frame->centre[k] + 0.5 * (most[0] + most[1]) * frame->step;
        most_half = fmax(most_half, 0.5 * (most[1] - most[0]));
        all_half = fmax(all_half, fmin(half, PLANES_REACH));
    }
    *typical = sqrt(square);
    most_half = fmax(most_half, 0.5); /* all in one step: it is looked into */
    if (all_half < STRAY_TIMES * most_half) return false;
    const planes_frame smaller = frame_of(centre, STRAY_MARGIN * most_half * frame->step);
    if (smaller.step >= frame->step) return false;
    *frame = smaller;
    return true;
}

/* ---- radius and resolution */

static void measure_radius(planes_run *run) {
    const planes_points *points = run->points;
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double low = points->box.min[k] - points->frame.centre[k];
        const double high = points->box.max[k] - points->frame.centre[k];
        const double half = fmin(fmax(fabs(low), fabs(high)) * points->frame.inverse, PLANES_REACH);
        square += half * half;
    }
    run->scale.radius = sqrt(square) + 2;
}

/* How far apart two positions of an axis are that the source tells apart; largest: of its coordinates. */
static double axis_resolution(const mote_cloud *cloud, const char *name, double largest) {
    const mote_column *axis = mote_cloud_find(cloud, name);
    if (axis->type == MOTE_FLOAT32) return fmax(largest * FLT_EPSILON, cloud->position_step);
    if (axis->type == MOTE_FLOAT64) return fmax(largest * DBL_EPSILON, cloud->position_step);
    return fabs(axis->scale);
}

static void measure_resolution(planes_run *run) {
    static const char *const names[3] = {"x", "y", "z"};
    const planes_frame *frame = &run->points->frame;
    double most = frame->step;
    for (int k = 0; k < 3; k++) {
        const double largest = fabs(frame->centre[k]) + run->scale.radius * frame->step;
        most = fmax(most, axis_resolution(run->points->cloud, names[k], largest));
    }
    run->scale.resolution = most * frame->inverse;
}

mote_status planes_frame_points(planes_run *run) {
    planes_points *points = run->points;
    planes_frame frame = frame_of_box(&points->box);
    planes_sample sample;
    mote_progress_share(run->ctx, 0, 0.1);
    MOTE_TRY(run->ops->place(points, &frame));
    mote_progress_share(run->ctx, 0.1, 0.15);
    mote_status status = planes_sample_make(run->ctx, STRAY_SAMPLE, &sample);
    /* Strays may hide others that are less far out. */
    for (int turn = 0; turn < 6 && status == MOTE_OK; turn++) {
        status = run->ops->choose(points, STRAY_SAMPLE, &sample);
        if (status != MOTE_OK || sample.count == 0 || !without_strays(points, &sample, &frame, &run->scale.typical))
            break;
        status = run->ops->place(points, &frame);
    }
    mote_progress_share(run->ctx, 0, 1);
    planes_sample_free(run->ctx, &sample);
    measure_radius(run);
    measure_resolution(run);
    return status;
}
