/* The lattice of a cloud: 2^24 steps over its extent. A few strays far from all else would make these steps, and the
   bins of rho, too wide for the rest; they are left out. */
#include <float.h>
#include <stdlib.h>

#include "math/hash.h"
#include "planes/planes.h"

#define LATTICE_STEPS    8388600.0 /* on either side of the centre; a few fewer than PLANES_REACH, for rounding */
#define STRAY_SAMPLE     8192u
#define STRAY_SHARE      1000u /* at most one point in these, at either end of an axis, is a stray */
#define STRAYS_MAX       (STRAY_SAMPLE / STRAY_SHARE)
#define STRAY_TURNS      6      /* strays may hide others that are less far out */
#define GLANCE           256u   /* points of the sample that mostly tell that there are none */
#define STRAY_TIMES      16.0   /* a cloud that reaches these times as far as the rest has strays */
#define STRAY_MARGIN     2.0    /* times as far as the rest reaches, the lattice does */
#define CROWD_SHARE      0.75   /* of the places where points are: these are most */
#define CROWD_STEPS      2048.0 /* to either side of the middle of most: with fewer, noise is lost in them */
#define CROWD_MARGIN     32.0   /* times as far as most reach, for others may be farther out than they */
#define STEP_SAMPLE      384u   /* positions that are asked for a step */
#define STEP_VALUES      32u    /* differences that tell one: parallel planes without noise have fewer */
#define STEP_ERROR       4.0 /* times what an axis of floats tells apart: the error of a difference, and of a remainder */
#define STEP_ERROR_WHOLE 0.1 /* the same of an axis of integers */
#define STEP_ERRORS      8.0 /* errors: a step is larger */

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

/* ---- strays, seen in a sample of the cloud, evenly along it */

typedef struct stray_sample {
    double xyz[STRAY_SAMPLE][3];
    float axes[3][STRAY_SAMPLE]; /* steps of those that a frame reaches */
    uint32_t count;              /* of these */
} stray_sample;

/* Where the i-th of the sample stands among all points: somewhere in its share of them, for scans may have rows. */
static uint64_t place_in_cloud(uint64_t i, uint64_t points) {
    const uint64_t size = points < STRAY_SAMPLE ? points : STRAY_SAMPLE;
    return (i * points + mote_hash_pair(points, i) % points) / size;
}

/* Every step-th of the sample; returns how many that is, not checked for being finite. */
static mote_status look_at(planes_run *run, uint32_t step, stray_sample *sample, uint32_t *looked) {
    const uint64_t points = run->points->cloud->count, size = points < STRAY_SAMPLE ? points : STRAY_SAMPLE;
    uint64_t *at = mote_alloc(run->ctx, size * sizeof *at, "planes sample");
    *looked = 0;
    if (at == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < size; i += step) at[(*looked)++] = place_in_cloud(i, points);
    const mote_status status = run->ops->read_positions(run->points, at, *looked, sample->xyz[0]);
    mote_free(run->ctx, at);
    return status;
}

static int compare_places(const void *first, const void *second) {
    const double *a = first, *b = second;
    int k = 0;
    while (k < 2 && a[k] == b[k]) k++;
    return planes_compare_doubles(&a[k], &b[k]);
}

/* Where points of the sample are, each place once; returns how many that is. */
static uint32_t list_places(const stray_sample *sample, uint32_t looked, double places[2 * GLANCE][3]) {
    uint32_t finite = 0, count = 0;
    for (uint32_t i = 0; i < looked; i++) {
        const double *p = sample->xyz[i], zero = (p[0] - p[0]) + (p[1] - p[1]) + (p[2] - p[2]);
        if (zero == 0) memcpy(places[finite++], p, sizeof places[0]);
    }
    qsort(places, finite, sizeof places[0], compare_places);
    for (uint32_t i = 0; i < finite; i++) {
        if (count > 0 && compare_places(places[i], places[count - 1]) == 0) continue;
        memmove(places[count++], places[i], sizeof places[0]);
    }
    return count;
}

/* The least interval of an axis that most places are in. */
static void find_crowd(double places[2 * GLANCE][3], uint32_t count, int k, double *centre, double *half) {
    const uint32_t most = (uint32_t)(CROWD_SHARE * count);
    double values[2 * GLANCE];
    *half = INFINITY;
    for (uint32_t i = 0; i < count; i++) values[i] = places[i][k];
    qsort(values, count, sizeof *values, planes_compare_doubles);
    for (uint32_t i = 0; i + most < count; i++) {
        const double low = 0.5 * values[i], high = 0.5 * values[i + most];
        if (high - low >= *half) continue;
        *half = high - low;
        *centre = high + low;
    }
}

/* Where the points that are far from most of them are more than strays may be, but so far that all others are within
   few steps of the lattice, these others are looked at: where no sound came back, UTM coordinates may say 0, 0, 0,
   which is 5,000 km away. A place counts once, for this may be so of most points. */
static void shrink_to_crowd(const stray_sample *sample, uint32_t looked, planes_frame *frame) {
    double places[2 * GLANCE][3], centre[3] = {0, 0, 0}, max_half = 0;
    const uint32_t count = list_places(sample, looked, places);
    for (int k = 0; k < 3 && count > 0; k++) {
        double half;
        find_crowd(places, count, k, &centre[k], &half);
        max_half = fmax(max_half, half);
    }
    if (max_half > 0 && max_half * frame->inverse < CROWD_STEPS) *frame = frame_of(centre, CROWD_MARGIN * max_half);
}

static void place_sample(const planes_frame *frame, uint32_t looked, stray_sample *sample) {
    sample->count = 0;
    for (uint32_t i = 0; i < looked; i++) {
        float q[3];
        bool inside = true;
        for (int k = 0; k < 3; k++) inside = planes_step(frame, k, sample->xyz[i][k], &q[k]) && inside;
        for (int k = 0; k < 3; k++) sample->axes[k][sample->count] = q[k];
        sample->count += inside;
    }
}

/* The cut + 1 least and the cut + 1 largest of the values, each sorted outwards in. */
typedef struct value_ends {
    float min[STRAYS_MAX + 1], largest[STRAYS_MAX + 1];
} value_ends;

static void put_min(float *min, uint32_t cut, float value) {
    uint32_t at = cut;
    for (; at > 0 && value < min[at - 1]; at--) min[at] = min[at - 1];
    min[at] = value;
}

static value_ends ends_of(const float *values, uint32_t count, uint32_t cut) {
    value_ends ends;
    for (uint32_t i = 0; i <= cut; i++) ends.min[i] = ends.largest[i] = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] < ends.min[cut]) put_min(ends.min, cut, values[i]);
        if (-values[i] < ends.largest[cut]) put_min(ends.largest, cut, -values[i]);
    }
    for (uint32_t i = 0; i <= cut; i++) ends.largest[i] = -ends.largest[i];
    return ends;
}

static uint64_t square_of(float value) { return (uint64_t)((int64_t)value * (int64_t)value); }

/* What most points are in, of one axis, and the mean square of their distance to the centre. Values are whole numbers:
   sums are exact. */
static double spread(const float *values, uint32_t count, double max[2]) {
    const uint32_t cut = count / STRAY_SHARE;
    const value_ends ends = ends_of(values, count, cut);
    uint64_t squares = 0;
    max[0] = (double)ends.min[cut];
    max[1] = (double)ends.largest[cut];
    for (uint32_t i = 0; i < count; i++) squares += square_of(values[i]);
    for (uint32_t i = 0; i < cut; i++) squares -= square_of(ends.min[i]) + square_of(ends.largest[i]);
    return (double)squares / (count - 2 * cut);
}

/* How far the box reaches from the centre, in steps, on the axis where that is most. */
static double half_of_box(const planes_points *points, const planes_frame *frame) {
    double max = 0;
    for (int k = 0; k < 3; k++) {
        const double half = 0.5 * (points->box.max[k] - points->box.min[k]) * frame->inverse;
        max = fmax(max, fmin(half, PLANES_REACH));
    }
    return max;
}

/* Whether a glance tells that without_strays would say so: on an axis more than the strays lie far out on both
   sides. */
static bool surely_without(const stray_sample *sample, double half) {
    const double far = half / STRAY_TIMES + 1;
    for (int k = 0; k < 3; k++) {
        uint32_t below = 0, above = 0;
        for (uint32_t i = 0; i < sample->count; i++) {
            below += (double)sample->axes[k][i] <= -far;
            above += (double)sample->axes[k][i] >= far;
        }
        if (below > STRAYS_MAX && above > STRAYS_MAX) return true;
    }
    return false;
}

/* A smaller frame where strays blur this one. */
static bool shrink(const planes_points *points, const stray_sample *sample, planes_frame *frame) {
    double centre[3], max_half = 0;
    for (int k = 0; k < 3; k++) {
        double max[2];
        spread(sample->axes[k], sample->count, max);
        centre[k] = frame->centre[k] + 0.5 * (max[0] + max[1]) * frame->step;
        max_half = fmax(max_half, 0.5 * (max[1] - max[0]));
    }
    max_half = fmax(max_half, 0.5); /* all in one step: it is looked into */
    if (half_of_box(points, frame) < STRAY_TIMES * max_half) return false;
    const planes_frame smaller = frame_of(centre, STRAY_MARGIN * max_half * frame->step);
    if (smaller.step >= frame->step) return false;
    *frame = smaller;
    return true;
}

/* looked: out, how many positions of the sample were read */
static mote_status leave_out_strays(planes_run *run, stray_sample *sample, planes_frame *frame, uint32_t *looked) {
    const uint64_t points = run->points->cloud->count, size = points < STRAY_SAMPLE ? points : STRAY_SAMPLE;
    MOTE_TRY(look_at(run, size < 2 * GLANCE ? 1 : (uint32_t)size / GLANCE, sample, looked));
    shrink_to_crowd(sample, *looked, frame);
    if (size >= 2 * GLANCE) {
        place_sample(frame, *looked, sample);
        if (surely_without(sample, half_of_box(run->points, frame))) return MOTE_OK;
        MOTE_TRY(look_at(run, 1, sample, looked));
    }
    for (int turn = 0; turn < STRAY_TURNS; turn++) {
        place_sample(frame, *looked, sample);
        if (sample->count == 0 || !shrink(run->points, sample, frame)) break;
    }
    return MOTE_OK;
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

/* How far apart two positions of an axis are that the source tells apart; largest: of its coordinates.
   error  out: how far off a whole number of steps a difference of two positions may be. Those of floats were rounded,
          integers are exact but for their scale's own digits */
static double axis_resolution(const mote_cloud *cloud, const char *name, double largest, double *error) {
    const mote_column *axis = mote_cloud_find(cloud, name);
    const bool single = axis->type == MOTE_FLOAT32, real = single || axis->type == MOTE_FLOAT64;
    const double rounding = largest * (single ? (double)FLT_EPSILON : DBL_EPSILON);
    const double resolution = real ? fmax(rounding, cloud->position_step) : fabs(axis->scale);
    *error = resolution * (real ? STEP_ERROR : STEP_ERROR_WHOLE);
    return resolution;
}

/* The largest number of which both are multiples, where remainders of less than error are none. */
static double common_step(double a, double b, double error) {
    while (b > error) {
        const double rest = fabs(a - rint(a / b) * b);
        a = b;
        b = rest;
    }
    return a;
}

/* The step that the points' coordinates on an axis are multiples of, as those of voxels are, wherever these begin;
   0: there is none. Neighbouring values are few steps apart, so errors of theirs stay small. error: of a difference */
static double step_of_axis(const stray_sample *sample, uint32_t looked, int k, double error) {
    double values[STEP_SAMPLE], step = 0;
    uint32_t count = 0, differ = 0;
    for (uint32_t i = 0; i < looked && count < STEP_SAMPLE; i++) {
        const double value = sample->xyz[i][k];
        if (value - value == 0) values[count++] = value;
    }
    qsort(values, count, sizeof *values, planes_compare_doubles);
    for (uint32_t i = 1; i < count; i++) {
        const double gap = values[i] - values[i - 1];
        if (gap <= error) continue;
        step = differ++ == 0 ? gap : common_step(fmax(step, gap), fmin(step, gap), error);
        if (step <= STEP_ERRORS * error) return 0;
    }
    return differ >= STEP_VALUES ? step : 0;
}

/* What positions tell apart: no less than the source's type does, and no less than a step that all three axes have.
   (Where only one or two have it, as in a raster of heights, planes across them are as exact as the other axis.) */
static void measure_resolution(planes_run *run, const stray_sample *sample, uint32_t looked) {
    const planes_frame *frame = &run->points->frame;
    double of_type[3], max = frame->step, step = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double largest = fabs(frame->centre[k]) + run->scale.radius * frame->step;
        double error;
        of_type[k] = axis_resolution(run->points->cloud, mote_axis_names[k], largest, &error);
        max = fmax(max, of_type[k]);
        if (step > 0) step = fmin(step, step_of_axis(sample, looked, k, error));
    }
    run->scale.step = step > 2 * max ? step * frame->inverse : 0;
    run->scale.resolution = fmax(max, step) * frame->inverse;
    for (int k = 0; k < 3; k++) {
        run->scale.steps[k] = run->scale.step > 0 ? run->scale.step : of_type[k] * frame->inverse;
    }
}

/* How far points are from the centre, of a sample of those in the lattice. */
static mote_status measure_typical(planes_run *run) {
    planes_sample sample;
    double square = 0, max[2];
    mote_status status = planes_sample_make(run->ctx, STRAY_SAMPLE, &sample);
    if (status == MOTE_OK) status = run->ops->read_sample(run->points, STRAY_SAMPLE, &sample);
    if (status == MOTE_OK && sample.count > 0) {
        const float *axes[3] = {sample.x, sample.y, sample.z};
        for (int k = 0; k < 3; k++) square += spread(axes[k], sample.count, max);
    }
    run->scale.typical = sqrt(square);
    planes_sample_free(run->ctx, &sample);
    return status;
}

/* Places the points; resolved: whether what positions tell apart is measured as well, which takes as long as a vote of
   a thousand points. */
static mote_status place_and_measure(planes_run *run, bool ordered, bool resolved) {
    planes_frame frame = frame_of_box(&run->points->box);
    uint32_t looked = 0;
    stray_sample *sample = mote_alloc(run->ctx, sizeof *sample, "planes sample");
    mote_status status = sample != NULL ? leave_out_strays(run, sample, &frame, &looked) : MOTE_ERROR_MEMORY;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0, 0.15);
    if (status == MOTE_OK) status = run->ops->place(run->points, &frame, ordered);
    mote_progress_leave(run->ctx, whole);
    measure_radius(run);
    if (status == MOTE_OK && resolved) measure_resolution(run, sample, looked);
    mote_free(run->ctx, sample);
    return status;
}

mote_status planes_place_points(planes_run *run, bool ordered) { return place_and_measure(run, ordered, false); }

mote_status planes_frame_points(planes_run *run) {
    MOTE_TRY(place_and_measure(run, true, true));
    return measure_typical(run);
}
