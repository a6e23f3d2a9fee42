/* Planes: sums and labels, point by point, and 128 bits wide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "reference/planes_reference_components.h"
#include "reference/planes_refine_reference.h"

/* Every other plane ends, around a point of its own: axes are any two directions, rectangles small and large. */
static void bound_some(const planes_run *run, uint32_t i, const double normal[3], const planes_placed *through,
                       planes_reach *reach) {
    double u[3], v[3];
    memset(reach, 0, sizeof *reach);
    if (i % 2 == 0) return;
    planes_perpendicular(normal, u, v);
    for (int k = 0; k < 3; k++) {
        reach->u[k] = (float)u[k];
        reach->v[k] = (float)v[k];
    }
    const float half = (float)(run->scale.radius / (1 + i % 5));
    reach->low[0] = planes_along(reach->u, through->q[0], through->q[1], through->q[2]) - half;
    reach->low[1] = planes_along(reach->v, through->q[0], through->q[1], through->q[2]) - half;
    reach->high[0] = reach->low[0] + 2 * half;
    reach->high[1] = reach->low[1] + half;
    reach->bounded = 1;
}

void planes_reference_random_planes(const planes_run *run, uint64_t seed, const planes_placed *all,
                                    planes_plane *planes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const planes_placed *through = &all[mote_hash_pair(seed, i) % run->points->count];
        double n[3], length = 0;
        for (uint64_t k = 0; k < 3; k++) {
            n[k] = (double)(mote_hash_pair(seed + 1 + k, i) >> 40) - (double)(1 << 23);
            if (i % 3 == 0) n[k] = k == i / 3 % 3; /* along an axis */
            length += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) n[k] /= sqrt(length);
        planes[i].a = (float)n[0];
        planes[i].b = (float)n[1];
        planes[i].c = (float)n[2];
        planes[i].d = planes[i].a * through->q[0] + planes[i].b * through->q[1] + planes[i].c * through->q[2];
        planes[i].tolerance = (float)(run->scale.radius * (i % 2 == 0 ? 0.01 : 0.1));
        planes[i].guard = planes[i].tolerance * (float)(1 + i % 3);
        planes[i].normal = planes_pack_normal(planes[i].a, planes[i].b, planes[i].c);
        planes[i].cone = run->points->normals ? 150000 : 0;
        bound_some(run, i, n, through, &planes[i].reach);
    }
}

/* Whether the point is above or below the plane's rectangle. */
static bool reaches(const planes_plane *plane, const planes_placed *p) {
    const planes_reach *r = &plane->reach;
    const float u = fmaf(r->u[2], p->q[2], fmaf(r->u[1], p->q[1], r->u[0] * p->q[0]));
    const float v = fmaf(r->v[2], p->q[2], fmaf(r->v[1], p->q[1], r->v[0] * p->q[0]));
    return !r->bounded || (u >= r->low[0] && u <= r->high[0] && v >= r->low[1] && v <= r->high[1]);
}

static int32_t nearest_of(const planes_plane *planes, uint32_t count, const planes_placed *p, int32_t *first) {
    int32_t best = -1;
    float min = INFINITY;
    *first = -1;
    for (uint32_t i = 0; i < count; i++) {
        const float size = fabsf(planes_distance(&planes[i], p->q[0], p->q[1], p->q[2]));
        if (size > planes[i].tolerance || !planes_normal_allows(p->normal, planes[i].normal, planes[i].cone)) continue;
        if (!reaches(&planes[i], p)) continue;
        if (*first < 0) *first = (int32_t)i;
        if (size >= min) continue;
        min = size;
        best = (int32_t)i;
    }
    return best;
}

__extension__ typedef __int128 wide;

typedef struct plain_sums {
    uint64_t count, own, inner, in_bands[2];
    wide first[3], products[PLANES_PRODUCTS];
} plain_sums;

static void add_point(plain_sums *to, const planes_placed *p, int32_t times) {
    int at = 0;
    to->count += (uint64_t)times;
    for (int k = 0; k < 3; k++) {
        to->first[k] += times * (int64_t)p->q[k];
        for (int l = k; l < 3; l++) to->products[at++] += (wide)times * (int64_t)p->q[k] * (int64_t)p->q[l];
    }
}

static bool same_sums(const plain_sums *mine, const planes_sums *theirs) {
    bool same = mine->count == theirs->count && mine->own == theirs->own && mine->inner == theirs->inner &&
                mine->in_bands[0] == theirs->in_bands[0] && mine->in_bands[1] == theirs->in_bands[1];
    for (int k = 0; k < 3; k++) same = same && mine->first[k] == theirs->first[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        same = same && mine->products[k] == (wide)theirs->low[k] + (wide)theirs->high[k] * ((wide)1 << 32);
    }
    return same;
}

static void sum_point(const planes_plane *planes, uint32_t count, const planes_placed *p, plain_sums *sums) {
    int32_t first;
    const int32_t best = nearest_of(planes, count, p, &first);
    if (best >= 0) {
        const float distance = planes_distance(&planes[best], p->q[0], p->q[1], p->q[2]);
        add_point(&sums[best], p, 1);
        sums[best].own += best == first;
        sums[best].inner += best == first && fabsf(distance) <= 0.5f * planes[best].tolerance;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const float distance = planes_distance(&planes[i], p->q[0], p->q[1], p->q[2]);
        const float t = planes[i].tolerance;
        if (!reaches(&planes[i], p)) continue;
        sums[i].in_bands[0] += distance < -t && distance >= -3.0f * t;
        sums[i].in_bands[1] += distance > t && distance <= 3.0f * t;
    }
}

void planes_reference_check_sums(planes_run *run, const planes_plane *planes, uint32_t count, const planes_placed *all,
                                 const char *what) {
    plain_sums *mine = room_for(count, sizeof *mine);
    planes_sums *theirs = room_for(count, sizeof *theirs);
    for (uint32_t i = 0; i < run->points->count; i++) sum_point(planes, count, &all[i], mine);
    const planes_assignment how = {planes, NULL, count, theirs, NULL};
    assert_int_equal(run->ops->assign(run->points, &how), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "sums", i);
    free(mine);
    free(theirs);
}

void planes_reference_check_labels(planes_run *run, const planes_plane *planes, uint32_t count,
                                   const planes_placed *all, int32_t *label, const char *what) {
    const uint64_t points = run->points->cloud->count;
    int32_t *mine = room_for(points, sizeof *mine), *theirs = room_for(points, sizeof *theirs), first;
    uint32_t *free_places = room_for(run->points->count, sizeof *free_places);
    uint64_t free_count = 0, their_free;
    memset(mine, 0xFF, points * sizeof *mine);
    for (uint32_t i = 0; i < run->points->count; i++) {
        bool held = false;
        label[i] = mine[all[i].index] = nearest_of(planes, count, &all[i], &first);
        for (uint32_t k = 0; k < count; k++) {
            const float distance = planes_distance(&planes[k], all[i].q[0], all[i].q[1], all[i].q[2]);
            held = held || (fabsf(distance) <= planes[k].guard &&
                            planes_normal_allows(all[i].normal, planes[k].normal, planes[k].cone) &&
                            reaches(&planes[k], &all[i]));
        }
        if (!held) free_places[free_count++] = i;
    }
    const planes_assignment how = {planes, NULL, count, NULL, &their_free};
    assert_int_equal(run->ops->assign(run->points, &how), MOTE_OK);
    assert_int_equal(run->ops->read_labels(run->points, theirs), MOTE_OK);
    fail_unless(their_free == free_count, what, "number of free points", their_free);
    for (uint64_t i = 0; i < points; i++) fail_unless(mine[i] == theirs[i], what, "labels", i);
    for (uint32_t max = 1; max < 2 * run->points->count; max = 3 * max + 1) {
        planes_sample sample;
        const uint64_t wanted = max < free_count ? max : free_count;
        assert_int_equal(planes_sample_make(run->ctx, max, &sample), MOTE_OK);
        assert_int_equal(run->ops->read_sample(run->points, max, &sample), MOTE_OK);
        fail_unless(sample.count == wanted, what, "size of a sample", max);
        for (uint64_t i = 0; i < wanted; i++) {
            const uint64_t rank = max < free_count ? (2 * i + 1) * free_count / (2 * (uint64_t)max) : i;
            fail_unless(sample.place[i] == free_places[rank], what, "sample", i);
        }
        planes_sample_free(run->ctx, &sample);
    }
    free(mine);
    free(theirs);
    free(free_places);
}

void planes_reference_check_relabelled(planes_run *run, uint32_t planes, const planes_placed *all, const int32_t *label,
                                       const char *what) {
    plain_sums *mine = room_for(planes, sizeof *mine);
    planes_sums *theirs = room_for(planes, sizeof *theirs);
    int32_t *labels = room_for(run->points->cloud->count, sizeof *labels);
    assert_int_equal(run->ops->read_labels(run->points, labels), MOTE_OK);
    for (uint32_t i = 0; i < run->points->count; i++) {
        fail_unless(labels[all[i].index] == label[i], what, "relabel", i);
        if (label[i] >= 0) add_point(&mine[label[i]], &all[i], 1);
    }
    const planes_assignment how = {NULL, NULL, planes, theirs, NULL};
    assert_int_equal(run->ops->assign(run->points, &how), MOTE_OK);
    for (uint32_t i = 0; i < planes; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "sums of labels", i);
    free(mine);
    free(theirs);
    free(labels);
}

void planes_reference_check_weighted(planes_run *run, const planes_plane *planes, uint32_t count,
                                     const planes_placed *all, const int32_t *label, const uint8_t *odds,
                                     const char *what) {
    plain_sums *mine = room_for(count, sizeof *mine);
    planes_sums *theirs = room_for(count, sizeof *theirs);
    planes_mixture *mixtures = room_for(count, sizeof *mixtures);
    for (uint32_t i = 0; i < count; i++) {
        const float deviation = planes[i].tolerance * (i % 3 == 0 ? 0.3f : 4.0f);
        mixtures[i] = (planes_mixture){planes[i], 1 / (128 * deviation * deviation), 0.01f * (float)(1 + i % 70)};
    }
    for (uint32_t i = 0; i < run->points->count; i++) {
        if (label[i] < 0) continue;
        const planes_mixture *m = &mixtures[label[i]];
        const float distance = planes_distance(&m->plane, all[i].q[0], all[i].q[1], all[i].q[2]);
        add_point(&mine[label[i]], &all[i], planes_weight(m, distance, odds[i]));
    }
    const planes_assignment how = {NULL, mixtures, count, theirs, NULL};
    assert_int_equal(run->ops->assign(run->points, &how), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) fail_unless(same_sums(&mine[i], &theirs[i]), what, "weighted sums", i);
    free(mixtures);
    free(mine);
    free(theirs);
}
