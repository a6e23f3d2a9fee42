#include "reference/planes_refine_reference.h"

#include <math.h>
#include <string.h>

/* ---- accepted planes */

typedef struct points {
    const planes_sample *s;
    const planes_refining *how;
    bool *open; /* in no plane that was accepted */
} points;

static planes_candidate count_points(const points *p, const planes_plane *plane) {
    planes_candidate c;
    memset(&c, 0, sizeof c);
    for (uint32_t i = 0; i < p->s->count; i++) {
        const float d = planes_distance(plane, p->s->x[i], p->s->y[i], p->s->z[i]);
        if (!p->open[i] || !planes_normal_allows(p->s->normal[i], plane->normal, plane->cone)) continue;
        c.count += fabsf(d) <= plane->tolerance;
        c.inner += fabsf(d) <= 0.5f * plane->tolerance;
        c.in_bands[0] += planes_band_of(plane, d) == PLANES_BELOW;
        c.in_bands[1] += planes_band_of(plane, d) == PLANES_ABOVE;
    }
    return c;
}

static void claim(const points *p, const planes_plane *plane) {
    for (uint32_t i = 0; i < p->s->count; i++) {
        const bool allowed = planes_normal_allows(p->s->normal[i], plane->normal, plane->cone);
        const float d = planes_distance(plane, p->s->x[i], p->s->y[i], p->s->z[i]);
        if (allowed && fabsf(d) <= plane->guard) p->open[i] = false;
    }
}

/* Each has the points that it says, without those of the planes before it, and stands; no two are of one start. */
static void check_accepted(const points *p, const planes_candidate *accepted, uint32_t count, const char *what) {
    fail_unless(count <= p->how->max, what, "number of accepted planes", count);
    for (uint32_t i = 0; i < p->s->count; i++) p->open[i] = true;
    for (uint32_t i = 0; i < count; i++) {
        const planes_candidate *c = &accepted[i];
        const planes_plane plane = planes_plane_from(&c->fit, p->how->tolerance, p->how->guard, p->how->cone);
        const planes_candidate mine = count_points(p, &plane);
        const bool same = mine.count == c->count && mine.inner == c->inner && mine.in_bands[0] == c->in_bands[0] &&
                          mine.in_bands[1] == c->in_bands[1];
        fail_unless(same && c->fit.valid && c->votes > 0, what, "accepted plane", i);
        fail_unless(
            planes_stands(mine.count, mine.inner, mine.in_bands[0], mine.in_bands[1], p->how->min, p->how->peaked),
            what, "a plane that stands", i);
        claim(p, &plane);
    }
}

static void check_way(planes_run *run, const points *p, const planes_start *starts, uint32_t count, const char *what) {
    planes_candidate *accepted = room_for(PLANES_MAX_PEAKS, sizeof *accepted);
    planes_calibrated peaks[PLANES_CALIBRATED];
    const uint32_t measured = count < PLANES_CALIBRATED ? count : PLANES_CALIBRATED;
    uint32_t found;
    assert_int_equal(planes_refine(run, p->how, starts, count, accepted, &found), MOTE_OK);
    check_accepted(p, accepted, found, what);
    assert_int_equal(planes_measure_peaks(run, p->how, starts, measured, peaks), MOTE_OK);
    for (uint32_t i = 0; i < measured; i++) {
        const bool possible = peaks[i].weight >= 0 && peaks[i].weight <= p->s->count && peaks[i].noise >= 0 &&
                              peaks[i].noise <= 3 * fmax(p->how->bin, p->how->tolerance);
        fail_unless(possible, what, "peak", i);
    }
    planes_close_pools(run->ctx, run->pools);
    run->pools = NULL;
    free(accepted);
}

void planes_refine_reference_check(planes_run *run, const planes_sample *sample, const char *what) {
    enum { MOST = 40 };
    planes_peak peaks[MOST];
    planes_start starts[MOST];
    planes_refining how;
    uint32_t count;
    points p = {sample, &how, room_for(sample->count, 1)};
    const planes_voting voting = {sample->count, run->table, 1, 1, MOST};
    assert_int_equal(run->ops->vote(run->points, &voting, peaks, &count), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) {
        planes_directions_cell(run->table, peaks[i].direction, peaks[i].bin, starts[i].normal, &starts[i].offset);
        starts[i].votes = peaks[i].votes;
    }
    for (uint32_t way = 0; way < 2; way++) {
        how.resolution = planes_directions_resolution(&run->params);
        how.typical = run->scale.typical;
        how.bin = run->table->bin;
        how.tolerance = (way == 0 ? 0.01 : 0.06) * run->scale.radius;
        how.guard = (way == 0 ? 2 : 1) * how.tolerance;
        how.min = way == 0 ? 6 : 3 + sample->count / 40;
        how.max = way == 0 ? PLANES_MAX_PEAKS : 2;
        how.cone = run->points->normals && way == 0 ? 150000 : 0;
        how.peaked = way == 0;
        check_way(run, &p, starts, count, what);
    }
    free(p.open);
}

/* ---- windows */

/* A sum of products as planes_sums has it. */
static void put_product(planes_sums *sums, int k, planes_wide value) {
    sums->low[k] = (uint64_t)(value & 0xFFFFFFFF);
    sums->high[k] = (int64_t)(value >> 32);
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* The flatness of windows of one scale. */
static planes_flatness flatness_of(const planes_sample *all, uint32_t windows, uint32_t window, uint64_t step,
                                   double resolution) {
    float at[PLANES_WINDOW][3], min = INFINITY, sorted[PLANES_WINDOW];
    planes_plane plane, best;
    const planes_flatness none = {0, 0, false};
    memset(&best, 0, sizeof best);
    const uint32_t middle = planes_window_place(all->count, windows, window, step, PLANES_WINDOW / 2);
    for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
        const uint32_t place = planes_window_place(all->count, windows, window, step, i);
        fail_unless(place < all->count, "windows", "place", place);
        at[i][0] = all->x[place] - all->x[middle];
        at[i][1] = all->y[place] - all->y[middle];
        at[i][2] = all->z[place] - all->z[middle];
    }
    for (uint32_t t = 0; t < PLANES_TRIALS; t++) {
        const float *corner[3];
        for (int k = 0; k < 3; k++) corner[k] = at[planes_trial_corner(window, t, k)];
        if (!planes_through(corner[0], corner[1], corner[2], &plane)) continue;
        for (uint32_t i = 0; i < PLANES_WINDOW; i++)
            sorted[i] = fabsf(planes_distance(&plane, at[i][0], at[i][1], at[i][2]));
        qsort(sorted, PLANES_WINDOW, sizeof *sorted, compare_floats);
        if (sorted[PLANES_QUANTILE] >= min) continue;
        min = sorted[PLANES_QUANTILE];
        best = plane;
    }
    if (isinf(min)) return none;
    planes_window_fit fit = planes_window_begin(min, resolution);
    for (int turn = 0; turn < PLANES_WINDOW_FITS; turn++) {
        planes_wide products[PLANES_PRODUCTS] = {0};
        planes_sums sums;
        memset(&sums, 0, sizeof sums);
        if (turn > 0) best = planes_plane_from(&fit.fit, 0, 0, 0);
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) {
            int to = 0;
            if (fabsf(planes_distance(&best, at[i][0], at[i][1], at[i][2])) > (float)fit.reach) continue;
            sums.count++;
            for (int a = 0; a < 3; a++) {
                sums.first[a] += (int64_t)at[i][a];
                for (int b = a; b < 3; b++) products[to++] += (planes_wide)at[i][a] * (planes_wide)at[i][b];
            }
        }
        for (int k = 0; k < PLANES_PRODUCTS; k++) put_product(&sums, k, products[k]);
        if (!planes_window_next(&sums, resolution, &fit)) return none;
    }
    return planes_window_end(&fit, step);
}

void planes_flatness_reference_check(planes_run *run, const planes_sample *all, const char *what) {
    planes_flatness theirs[PLANES_WINDOWS];
    const uint32_t windows = all->count / PLANES_WINDOW < 20 ? all->count / PLANES_WINDOW : 20;
    if (windows == 0) return;
    assert_int_equal(planes_find_flatness(run, windows, theirs), MOTE_OK);
    for (uint32_t k = 0; k < windows; k++) {
        planes_flatness mine = flatness_of(all, windows, k, 1, run->scale.resolution);
        for (uint64_t step = 4; !mine.flat && step * PLANES_WINDOW * 4 <= all->count; step *= 4) {
            mine = flatness_of(all, windows, k, step, run->scale.resolution);
        }
        const bool same =
            mine.flat == theirs[k].flat && mine.noise == theirs[k].noise && mine.spacing == theirs[k].spacing;
        fail_unless(same, what, "flatness", k);
    }
}
