#include "reference/planes_refine_reference.h"

#include <math.h>
#include <string.h>

/* ---- passes */

typedef struct points {
    const planes_sample *s;
    const planes_refining *how;
    bool *open;   /* in no plane that was accepted */
    bool *pooled; /* near the plane that a peak began with */
} points;

static float distance_of(const planes_sample *s, const planes_plane *plane, uint32_t i) {
    return planes_distance(plane, s->x[i], s->y[i], s->z[i]);
}

/* A sum of products as planes_sums has it. */
static void put_product(planes_sums *sums, int k, planes_wide value) {
    sums->low[k] = (uint64_t)(value & 0xFFFFFFFF);
    sums->high[k] = (int64_t)(value >> 32);
}

static planes_sums sum_points(const points *p, const planes_fit *fit, double reach) {
    const planes_plane plane = planes_pass_plane(p->how, fit, reach);
    planes_wide products[PLANES_PRODUCTS] = {0};
    planes_sums sums;
    memset(&sums, 0, sizeof sums);
    for (uint32_t i = 0; i < p->s->count; i++) {
        const float size = fabsf(distance_of(p->s, &plane, i));
        const int64_t q[3] = {(int64_t)p->s->x[i], (int64_t)p->s->y[i], (int64_t)p->s->z[i]};
        int to = 0;
        if (!p->pooled[i] || !planes_normal_allows(p->s->normal[i], plane.normal, plane.cone)) continue;
        sums.in_bands[0] += size > plane.tolerance && size <= 2 * plane.tolerance;
        if (size > plane.tolerance) continue;
        sums.count++;
        sums.inner += size <= plane.tolerance / 2;
        for (int a = 0; a < 3; a++) {
            sums.first[a] += q[a];
            for (int b = a; b < 3; b++) products[to++] += (planes_wide)q[a] * q[b];
        }
    }
    for (int k = 0; k < PLANES_PRODUCTS; k++) put_product(&sums, k, products[k]);
    return sums;
}

static uint32_t pool(points *p, const planes_fit *fit, double reach) {
    const planes_plane plane = planes_pass_plane(p->how, fit, reach);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->s->count; i++) {
        p->pooled[i] = p->open[i] && fabsf(distance_of(p->s, &plane, i)) <= plane.tolerance;
        count += p->pooled[i];
    }
    return count;
}

/* ---- one peak */

static void count_tilt(const points *p, const planes_refinement *r, const planes_level *level, uint32_t tilt,
                       uint32_t counts[PLANES_LEVEL_ROWS]) {
    const planes_plane plane = planes_pass_plane(p->how, &r->fit, r->reach);
    float direction[3];
    planes_level_bins(level, tilt, direction);
    for (uint32_t i = 0; i < p->s->count; i++) {
        const float x = p->s->x[i] - (float)level->pivot[0], y = p->s->y[i] - (float)level->pivot[1];
        const float z = p->s->z[i] - (float)level->pivot[2];
        if (!p->pooled[i] || planes_turn(i) > level->share) continue;
        if (fabsf(distance_of(p->s, &plane, i)) > plane.tolerance) continue;
        if (!planes_normal_allows(p->s->normal[i], plane.normal, plane.cone)) continue;
        const uint32_t row = planes_level_row(direction, x, y, z, (float)level->bins);
        assert_true(row < 2 * (uint32_t)level->bins + 3);
        counts[row]++;
    }
}

/* 0: no plane; 1: no more levels; 2: another. */
static int improve(const points *p, planes_refinement *r) {
    planes_level level;
    uint32_t max = 2, best_tilt = 0, best_row = 0;
    const planes_sums sums = sum_points(p, &r->fit, r->reach);
    if (!planes_level_begin(p->how, &sums, r, &level)) return 0;
    for (uint32_t tilt = 0; tilt < PLANES_TILTS; tilt++) {
        uint32_t counts[PLANES_LEVEL_ROWS] = {0};
        count_tilt(p, r, &level, tilt, counts);
        for (uint32_t row = 0; row + 1 < 2 * (uint32_t)level.bins; row++) {
            if (counts[row + 1] + counts[row + 2] <= max) continue;
            max = counts[row + 1] + counts[row + 2];
            best_tilt = tilt;
            best_row = row;
        }
    }
    if (max < 3) return 0;
    return planes_level_end(p->how, &level, best_tilt, best_row, r) ? 2 : 1;
}

static planes_fit refine(points *p, const planes_start *start) {
    planes_refinement r = planes_refinement_begin(p->how, start);
    if (pool(p, &r.fit, planes_pool_reach(p->how)) < p->how->min) return r.fit;
    for (int turn = 0; turn < PLANES_LEVELS; turn++) {
        const int next = improve(p, &r);
        if (next == 0) return r.fit;
        if (next == 1) break;
    }
    for (bool more = true; more;) {
        const planes_sums sums = sum_points(p, &r.fit, r.reach);
        more = planes_refinement_fit(p->how, &sums, &r);
    }
    return r.fit;
}

static void count_points(const points *p, planes_candidate *c) {
    const planes_plane plane = planes_plane_from(&c->fit, p->how->tolerance, p->how->guard, p->how->cone);
    const float t = plane.tolerance;
    c->count = c->inner = c->in_bands[0] = c->in_bands[1] = 0;
    for (uint32_t i = 0; i < p->s->count; i++) {
        const float d = distance_of(p->s, &plane, i);
        if (!p->open[i] || !planes_normal_allows(p->s->normal[i], plane.normal, plane.cone)) continue;
        c->count += fabsf(d) <= t;
        c->inner += fabsf(d) <= 0.5f * t;
        c->in_bands[0] += planes_band_of(&plane, d) == PLANES_BELOW;
        c->in_bands[1] += planes_band_of(&plane, d) == PLANES_ABOVE;
    }
}

static void claim(const points *p, const planes_plane *plane) {
    for (uint32_t i = 0; i < p->s->count; i++) {
        const bool allowed = planes_normal_allows(p->s->normal[i], plane->normal, plane->cone);
        if (allowed && fabsf(distance_of(p->s, plane, i)) <= plane->guard) p->open[i] = false;
    }
}

/* ---- rounds */

static uint32_t refine_all(points *p, const planes_start *starts, uint32_t count, planes_candidate *accepted) {
    uint32_t found = 0;
    planes_candidate batch[PLANES_MAX_PEAKS];
    bool tried[PLANES_MAX_PEAKS];
    for (uint32_t first = 0, size; first < count; first += size) {
        size = planes_batch_size(p->s->count, first, count);
        for (uint32_t i = 0; i < size; i++) {
            memset(&batch[i], 0, sizeof batch[i]);
            batch[i].fit = refine(p, &starts[first + i]);
            batch[i].votes = starts[first + i].votes;
            tried[i] = false;
            if (batch[i].fit.valid) count_points(p, &batch[i]);
        }
        planes_candidate before[PLANES_MAX_PEAKS]; /* whose counts say the order */
        memcpy(before, batch, sizeof before);
        for (uint32_t turn = 0; turn < size && found < p->how->max; turn++) {
            uint32_t next = UINT32_MAX;
            for (uint32_t i = 0; i < size; i++) {
                if (tried[i]) continue;
                if (next == UINT32_MAX || planes_goes_before(&before[i], i, &before[next], next)) next = i;
            }
            planes_candidate *c = &batch[next];
            tried[next] = true;
            if (!c->fit.valid || c->count < p->how->min) continue;
            count_points(p, c);
            if (!planes_stands(c->count, c->inner, c->in_bands[0], c->in_bands[1], p->how->min, p->how->peaked))
                continue;
            const planes_plane plane = planes_plane_from(&c->fit, p->how->tolerance, p->how->guard, p->how->cone);
            claim(p, &plane);
            accepted[found++] = *c;
        }
    }
    return found;
}

static planes_calibrated measure_peak(points *p, const planes_start *start, planes_fit *fit) {
    planes_calibrated calibrated = {0, 0, start->votes};
    double t = 0.5 * p->how->tolerance;
    bool last = false;
    pool(p, fit, 4 * fmax(t, p->how->bin));
    for (int turn = 0; turn < PLANES_TURNS && !last; turn++, t *= 1.3) {
        int fits = 0;
        last = t >= p->how->bin;
        if (last && turn > 0) { /* the last look is farther */
            t = 1.5 * p->how->bin;
            pool(p, fit, 6 * p->how->bin);
        }
        for (; fits < 2; fits++) {
            const planes_sums sums = sum_points(p, fit, t);
            const planes_fit next = planes_fit_sums(&sums);
            if (!next.valid) break;
            *fit = next;
        }
        if (fits < 2) continue;
        const planes_sums wide = sum_points(p, fit, 2 * t);
        if (planes_calibrated_within(&wide, fit, t, &calibrated)) break;
    }
    return calibrated;
}

static void keep_calibrated(points *p, planes_calibrated *calibrated_list, const planes_fit *fits, uint32_t size) {
    bool tried[PLANES_CALIBRATED_BATCH] = {false};
    planes_calibrated before[PLANES_CALIBRATED_BATCH];
    memcpy(before, calibrated_list, size * sizeof *calibrated_list);
    for (uint32_t turn = 0; turn < size; turn++) {
        uint32_t next = UINT32_MAX, in = 0, open = 0;
        for (uint32_t i = 0; i < size; i++) {
            if (tried[i]) continue;
            if (next == UINT32_MAX || planes_calibrated_goes_before(&before[i], i, &before[next], next)) next = i;
        }
        tried[next] = true;
        if (!(calibrated_list[next].weight > 0)) continue;
        const planes_plane plane = planes_calibrated_plane(p->how, &fits[next], &calibrated_list[next]);
        for (uint32_t i = 0; i < p->s->count; i++) {
            const bool allowed = planes_normal_allows(p->s->normal[i], plane.normal, plane.cone);
            const bool inside = allowed && fabsf(distance_of(p->s, &plane, i)) <= plane.tolerance;
            in += inside;
            open += inside && p->open[i];
        }
        if (planes_calibrated_is_new(in, open)) {
            claim(p, &plane);
        } else {
            calibrated_list[next].weight = 0;
        }
    }
}

static void calibrate_all(points *p, const planes_start *starts, uint32_t count, planes_calibrated *calibrated_list) {
    for (uint32_t first = 0; first < count; first += PLANES_CALIBRATED_BATCH) {
        const uint32_t size = count - first < PLANES_CALIBRATED_BATCH ? count - first : PLANES_CALIBRATED_BATCH;
        planes_fit fits[PLANES_CALIBRATED_BATCH];
        for (uint32_t i = 0; i < size; i++) {
            fits[i] = refine(p, &starts[first + i]);
            memset(&calibrated_list[first + i], 0, sizeof *calibrated_list);
            if (fits[i].valid) calibrated_list[first + i] = measure_peak(p, &starts[first + i], &fits[i]);
        }
        keep_calibrated(p, calibrated_list + first, fits, size);
    }
}

/* ---- comparing */

static bool same_fits(const planes_fit *a, const planes_fit *b) {
    return memcmp(a->normal, b->normal, sizeof a->normal) == 0 && a->offset == b->offset && a->rms == b->rms &&
           memcmp(a->centroid, b->centroid, sizeof a->centroid) == 0 && a->valid == b->valid;
}

static void open_all(const points *p) {
    for (uint32_t i = 0; i < p->s->count; i++) p->open[i] = true;
}

static void check_accepted(const points *p, const planes_candidate *mine, uint32_t count,
                           const planes_candidate *theirs, uint32_t their_count, const char *what) {
    fail_unless(their_count == count, what, "number of accepted planes", their_count);
    for (uint32_t i = 0; i < count; i++) {
        const planes_candidate *a = &mine[i], *b = &theirs[i];
        const bool same = same_fits(&a->fit, &b->fit) && a->votes == b->votes && a->count == b->count &&
                          a->inner == b->inner && a->in_bands[0] == b->in_bands[0] && a->in_bands[1] == b->in_bands[1];
        fail_unless(same, what, "accepted plane", i);
        fail_unless(p->how->min <= a->count && a->inner <= a->count, what, "count of a plane", i);
    }
}

static void check_way(planes_run *run, points *p, const planes_start *starts, uint32_t count, const char *what) {
    planes_candidate *mine = room_for(PLANES_MAX_PEAKS, sizeof *mine),
                     *theirs = room_for(PLANES_MAX_PEAKS, sizeof *mine);
    planes_calibrated calibrated_list[PLANES_CALIBRATED], their_peaks[PLANES_CALIBRATED];
    const uint32_t measured = count < PLANES_CALIBRATED ? count : PLANES_CALIBRATED;
    open_all(p);
    const uint32_t found = refine_all(p, starts, count, mine);
    uint32_t their_count;
    assert_int_equal(planes_refine(run, p->how, starts, count, theirs, &their_count), MOTE_OK);
    check_accepted(p, mine, found, theirs, their_count, what);
    open_all(p);
    calibrate_all(p, starts, measured, calibrated_list);
    assert_int_equal(planes_measure_peaks(run, p->how, starts, measured, their_peaks), MOTE_OK);
    for (uint32_t i = 0; i < measured; i++) {
        const bool same =
            calibrated_list[i].noise == their_peaks[i].noise && calibrated_list[i].weight == their_peaks[i].weight;
        fail_unless(same, what, "peak", i);
    }
    free(mine);
    free(theirs);
}

void planes_refine_reference_check(planes_run *run, const planes_sample *sample, const char *what) {
    enum { MOST = 40 };
    planes_peak peaks[MOST];
    planes_start starts[MOST];
    planes_refining how;
    uint32_t count;
    points p = {sample, &how, room_for(sample->count, 1), room_for(sample->count, 1)};
    const planes_voting voting = {sample->count, &run->table, 1, 1, MOST};
    assert_int_equal(run->ops->vote(run->points, &voting, peaks, &count), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) {
        planes_directions_cell(&run->table, peaks[i].direction, peaks[i].bin, starts[i].normal, &starts[i].offset);
        starts[i].votes = peaks[i].votes;
    }
    for (uint32_t way = 0; way < 2; way++) {
        how.resolution = planes_directions_resolution(&run->params);
        how.typical = run->scale.typical;
        how.bin = run->table.bin;
        how.tolerance = (way == 0 ? 0.01 : 0.06) * run->scale.radius;
        how.guard = (way == 0 ? 2 : 1) * how.tolerance;
        how.min = way == 0 ? 6 : 3 + sample->count / 40;
        how.max = way == 0 ? PLANES_MAX_PEAKS : 2;
        how.cone = run->points->normals && way == 0 ? 150000 : 0;
        how.peaked = way == 0;
        check_way(run, &p, starts, count, what);
    }
    free(p.open);
    free(p.pooled);
}

/* ---- windows */

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
        for (uint32_t i = 0; i < PLANES_WINDOW; i++) sorted[i] = planes_residual(&plane, at[i]);
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
            if (planes_residual(&best, at[i]) > (float)fit.reach) continue;
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
    assert_int_equal(run->ops->flatness(run->points, windows, run->scale.resolution, theirs), MOTE_OK);
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
