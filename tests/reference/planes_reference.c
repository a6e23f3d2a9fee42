/* Planes: the order of points, their votes, which directions are near each other, and which votes win. */
#include "reference/planes_reference.h"
#include "device/backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/column_math.h"
#include "reference/planes_reference_components.h"
#include "reference/planes_refine_reference.h"
#include "support/support.h"

/* ---- positions and their order */

static int compare_placed(const void *a, const void *b) {
    const planes_placed *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static uint64_t place_all(const planes_points *points, planes_placed *out) {
    static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    uint64_t count = 0;
    for (uint64_t i = 0; i < points->cloud->count; i++) {
        bool inside = true;
        planes_placed p = {0, i, {0, 0, 0}, 0};
        float normal[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++) {
            const double value = mote_column_value(mote_cloud_find(points->cloud, names[k]), i);
            const double q = rint((value - points->frame.centre[k]) / points->frame.step);
            inside = inside && q >= -8388608.0 && q <= 8388608.0;
            if (inside) p.q[k] = (float)q;
            if (points->normals) normal[k] = (float)mote_column_value(mote_cloud_find(points->cloud, names[3 + k]), i);
        }
        if (!inside) continue;
        p.code = planes_code(p.q[0], p.q[1], p.q[2]);
        if (points->normals) p.normal = planes_pack_normal(normal[0], normal[1], normal[2]);
        out[count++] = p;
    }
    qsort(out, count, sizeof *out, compare_placed);
    return count;
}

static void check_place(planes_run *run, planes_placed *all, const char *what) {
    planes_sample sample;
    const uint64_t count = place_all(run->points, all);
    fail_unless(run->points->count == count, what, "count of points", run->points->count);
    assert_int_equal(planes_sample_make(run->ctx, (uint32_t)count, &sample), MOTE_OK);
    assert_int_equal(run->ops->read_sample(run->points, (uint32_t)count, &sample), MOTE_OK);
    fail_unless(sample.count == count, what, "count of free points", sample.count);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = sample.x[i] == all[i].q[0] && sample.y[i] == all[i].q[1] && sample.z[i] == all[i].q[2];
        fail_unless(same && sample.place[i] == i && sample.normal[i] == all[i].normal, what, "sample", i);
    }
    planes_flatness_reference_check(run, &sample, what);
    planes_sample_free(run->ctx, &sample);
}

/* ---- votes */

static bool votes_for(const planes_directions *t, uint32_t direction, uint32_t normal) {
    if (t->cone == 0 || normal == 0) return true;
    int32_t dot = 0;
    for (int k = 0; k < 3; k++) dot += planes_normal_part(normal, k) * planes_normal_part(t->normal[direction], k);
    return abs(dot) >= t->cone;
}

/* The bin in double precision; the float's may be the other one where this is near a border. */
static void check_bin(const planes_directions *t, uint32_t d, const float q[3], uint32_t bin, const char *what) {
    const double rho = (double)t->a[d] * (double)q[0] + (double)t->b[d] * (double)q[1] +
                       (double)t->c[d] * (double)q[2] + (double)t->middle;
    fail_unless(fabs(rho - bin) <= 0.5 + 1e-6 * t->bins && bin < t->bins, what, "bin", d);
}

/* sample: who votes. peaks [how->max] out. */
static void check_votes(planes_run *run, const planes_voting *how, const planes_sample *sample,
                        const planes_placed *all, planes_peak *peaks, uint32_t *count, const char *what) {
    const planes_directions *t = run->table;
    const uint64_t cells = (uint64_t)t->directions * t->bins;
    uint32_t *mine = room_for(cells, sizeof *mine), *theirs = room_for(cells, sizeof *theirs);
    for (uint32_t i = 0; i < sample->count; i++) {
        const planes_placed *p = &all[sample->place[i]];
        for (uint32_t d = 0; d < t->directions; d++) {
            const uint32_t bin = planes_bin(p->q[0], p->q[1], p->q[2], t->a[d], t->b[d], t->c[d], t->middle);
            if ((i + d) % 61 == 0) check_bin(t, d, p->q, bin, what);
            if (votes_for(t, d, p->normal)) mine[(uint64_t)d * t->bins + bin]++;
        }
    }
    assert_int_equal(run->ops->vote(run->points, how, peaks, count), MOTE_OK);
    assert_int_equal(run->ops->read_votes(run->points, theirs), MOTE_OK);
    for (uint64_t c = 0; c < cells; c++) fail_unless(mine[c] == theirs[c], what, "votes", c);
    free(mine);
    free(theirs);
}

/* ---- directions and maxima */

static double cosine_of(const planes_directions *t, uint32_t a, uint32_t b) {
    const double dot =
        (double)t->a[a] * (double)t->a[b] + (double)t->b[a] * (double)t->b[b] + (double)t->c[a] * (double)t->c[b];
    return dot * t->bin * t->bin;
}

/* Every pair of directions, and each with the other end of the other, must be listed if near, or not. */
static void check_table(const planes_run *run, double radius_deg, const char *what) {
    const planes_directions *t = run->table;
    const double near = cos((radius_deg + 1e-3) * 3.14159265358979323846 / 180);
    const double surely = cos((radius_deg - 1e-3) * 3.14159265358979323846 / 180);
    for (uint32_t d = 0; d < t->directions; d += 1 + t->directions / 300) {
        uint8_t *listed = room_for(2 * (uint64_t)t->directions, 1);
        for (uint32_t i = t->first[d]; i < t->first[d + 1]; i++) listed[t->near[i]]++;
        for (uint32_t other = 0; other < t->directions; other++) {
            const double cosine = cosine_of(t, d, other);
            for (int end = 0; end < 2 && other != d; end++) {
                const double c = end == 0 ? cosine : -cosine;
                fail_unless(listed[2 * other + (uint32_t)end] <= (c >= near), what, "near directions", d);
                fail_unless(listed[2 * other + (uint32_t)end] >= (c >= surely), what, "near directions", d);
            }
        }
        free(listed);
    }
}

static bool beats(uint32_t votes, uint64_t cell, uint32_t other_votes, uint64_t other_cell) {
    return other_votes > votes || (other_votes == votes && other_cell < cell);
}

static bool is_beaten(const planes_directions *t, const uint32_t *counters, uint32_t d, uint32_t bin, uint32_t radius) {
    const uint64_t cell = (uint64_t)d * t->bins + bin;
    for (uint32_t i = t->first[d]; i <= t->first[d + 1]; i++) {
        const bool own = i == t->first[d + 1];
        const uint32_t other = own ? d : t->near[i] >> 1;
        const int64_t middle = !own && (t->near[i] & 1) != 0 ? (int64_t)t->bins - 1 - bin : bin;
        for (int64_t b = middle - radius; b <= middle + radius; b++) {
            const uint64_t at = (uint64_t)other * t->bins + (uint64_t)b;
            if (b < 0 || b >= t->bins || at == cell) continue;
            if (beats(counters[cell], cell, counters[at], at)) return true;
        }
    }
    return false;
}

static int compare_peaks(const void *a, const void *b) {
    const planes_peak *x = a, *y = b;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    return x->bin < y->bin ? -1 : 1;
}

static void check_peaks(planes_run *run, const planes_voting *how, const planes_peak *theirs, uint32_t their_count,
                        const char *what) {
    const planes_directions *t = run->table;
    const uint64_t cells = (uint64_t)t->directions * t->bins;
    planes_peak *mine = room_for(cells, sizeof *mine);
    uint32_t *counters = room_for(cells, sizeof *counters), count = 0;
    assert_int_equal(run->ops->read_votes(run->points, counters), MOTE_OK);
    for (uint32_t d = 0; d < t->directions; d++) {
        for (uint32_t b = 0; b < t->bins; b++) {
            const uint32_t votes = counters[(uint64_t)d * t->bins + b];
            if (votes == 0 || votes < how->min || is_beaten(t, counters, d, b, how->radius)) continue;
            mine[count++] = (planes_peak){votes, d, b};
        }
    }
    qsort(mine, count, sizeof *mine, compare_peaks);
    if (count > how->max) count = how->max;
    fail_unless(their_count == count, what, "number of peaks", their_count);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = mine[i].votes == theirs[i].votes && mine[i].direction == theirs[i].direction &&
                          mine[i].bin == theirs[i].bin;
        fail_unless(same, what, "peak", i);
    }
    free(mine);
    free(counters);
}

static void check_vote(planes_run *run, uint32_t voters, uint32_t radius, uint32_t min, const planes_placed *all,
                       const char *what) {
    enum { MAX_PEAKS = 40 };
    const planes_voting how = {voters, run->table, radius, min, MAX_PEAKS};
    planes_peak peaks[MAX_PEAKS];
    planes_sample sample;
    uint32_t count;
    assert_int_equal(planes_sample_make(run->ctx, voters, &sample), MOTE_OK);
    assert_int_equal(run->ops->read_sample(run->points, voters, &sample), MOTE_OK);
    check_votes(run, &how, &sample, all, peaks, &count, what);
    check_peaks(run, &how, peaks, count, what);
    planes_refine_reference_check(run, &sample, what);
    planes_sample_free(run->ctx, &sample);
}

/* ---- all of it */

static void check_planes(planes_run *run, const planes_placed *all, const char *what) {
    static const uint32_t counts[] = {0, 1, 7, 40};
    for (uint32_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const uint32_t count = counts[c];
        planes_plane *planes = room_for(count, sizeof *planes);
        int32_t *label = room_for(run->points->count, sizeof *label);
        planes_reference_random_planes(run, c, all, planes, count);
        planes_reference_check_sums(run, planes, count, all, what);
        if (count == 0) planes_reference_check_labels(run, planes, count, all, label, what);
        if (count > 0) planes_reference_check_footprints(run, planes, count, all, what);
        free(planes);
        free(label);
    }
}

void planes_reference_check(mote_device *device, const mote_cloud *cloud, const mote_planes_params *params,
                            const char *what) {
    planes_run run;
    memset(&run, 0, sizeof run);
    const mote_planes_ops *ops = device->backend->planes;
    mote_context *ctx = device->ctx;
    run.ctx = ctx;
    run.ops = ops;
    run.params = *params;
    assert_int_equal(ops->open(device, cloud, true, &run.points), MOTE_OK);
    if (run.points->finite > 0) {
        planes_placed *all = room_for(cloud->count, sizeof *all);
        assert_int_equal(planes_frame_points(&run), MOTE_OK);
        check_place(&run, all, what);
        const double bin = run.scale.radius / 20.3;
        assert_int_equal(planes_directions_open(ctx, params, run.scale.radius, bin, &run.table), MOTE_OK);
        assert_int_equal(planes_directions_fill(ctx, run.table), MOTE_OK);
        if (!run.points->normals) run.table->cone = 0;
        check_table(&run, params->suppress_deg, what);
        check_vote(&run, run.points->count, 1 + (uint32_t)cloud->count % 3, 1 + run.points->count / 50, all, what);
        check_vote(&run, 1 + run.points->count / 3, 2, 1, all, what);
        check_planes(&run, all, what);
        planes_directions_free(ctx, run.table);
        free(all);
    }
    ops->release(run.points);
}
