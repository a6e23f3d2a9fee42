/* Which planes are kept, between the passes of selection (planes_selection.c): those of enough points, of the noise
   that planes of this cloud have, or clearly flat with one of their own, and no facets of something curved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planes/local/planes_local.h"

static int compare_planes(const void *a, const void *b) {
    const planes_local_plane *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->number - y->number;
}

/* Notes that a plane is dropped: of too few points, too noisy, or a facet of a curve. */
static void refuse_plane(planes_local *s, const planes_local_plane *plane, double max_noise) {
    const bool few = plane->count<s->params.min_points, noisy = plane->noise> max_noise;
    planes_growth g;
    if (plane->role == PLANES_SCAFFOLD) return;
    memset(&g, 0, sizeof g);
    memcpy(g.normal, plane->normal, sizeof g.normal);
    memcpy(g.at, plane->centroid, sizeof g.at);
    g.noise = plane->noise;
    g.area = plane->area;
    g.cell = plane->cell;
    g.count = plane->count;
    g.reason = few ? MOTE_PLANES_FEW_POINTS : noisy ? MOTE_PLANES_UNLIKE : MOTE_PLANES_STRUCTURE;
    g.value = few ? plane->count : noisy ? plane->noise : plane->bends;
    g.limit = few ? s->params.min_points : noisy ? max_noise : PLANES_MAX_BENDS;
    planes_refuse_growth(s, &g, plane->count);
    planes_note_sheets(s, &g);
}

/* The nats of bends that a plane may have: fewer where others are facets, more where they are planes. The mean of what
   all points' planes have says so, within bounds; what is a facet by that has most. */
static double max_bends_of(const planes_local *s) {
    const double most = 2 * PLANES_MAX_BENDS;
    double prior = 0;
    for (int turn = 0; turn < 2; turn++) {
        double points = 0, nats = 0;
        for (uint32_t i = 0; i < s->plane_count; i++) {
            const planes_local_plane *plane = &s->planes[i];
            const bool facet = turn > 0 && plane->bends + prior > PLANES_MAX_BENDS;
            points += plane->count;
            nats += plane->count * (facet ? most : fmin(fmax(plane->bends, -most), most));
        }
        prior = points > 0 ? nats / points : 0;
    }
    return PLANES_MAX_BENDS - prior;
}

planes_patch planes_patch_of(const planes_local_plane *plane) {
    planes_patch patch;
    memset(&patch, 0, sizeof patch);
    memcpy(patch.normal, plane->normal, sizeof patch.normal);
    memcpy(patch.at, plane->centroid, sizeof patch.at);
    patch.noise = plane->noise;
    patch.size = 0.5 * sqrt(plane->area);
    patch.count = plane->count;
    patch.stride = 1;
    patch.turned = plane->turned;
    patch.centred = plane->centred;
    patch.role = plane->role;
    return patch;
}

/* Scanners are noisier far away, on dark walls and along them: what is flat is a plane. What is as thick as others are
   not, and no flatter than a lump may seem, is none. */
static bool is_clearly_flat(const planes_local_plane *plane) {
    return plane->noise <= PLANES_CLEARLY_FLAT * sqrt(plane->area);
}

void planes_keep(planes_local *s, double max_noise, bool own) {
    uint32_t kept = 0;
    const double max_bends = max_bends_of(s);
    for (uint32_t i = 0; i < s->plane_count; i++) {
        planes_local_plane *plane = &s->planes[i];
        const bool stands = plane->count >= s->params.min_points && plane->bends <= max_bends;
        const bool may = stands && plane->noise > max_noise && is_clearly_flat(plane);
        plane->number = (int32_t)i;
        s->renumber[i] = -1;
        if (stands && (plane->noise <= max_noise || (may && own))) {
            s->planes[kept++] = *plane;
            continue;
        }
        if (may && s->aside_count < PLANES_LOCAL_ASIDE) s->aside[s->aside_count++] = planes_patch_of(plane);
        refuse_plane(s, plane, max_noise);
    }
    s->plane_count = kept;
    qsort(s->planes, kept, sizeof *s->planes, compare_planes);
    for (uint32_t i = 0; i < kept; i++) s->renumber[s->planes[i].number] = (int32_t)i;
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (s->owner[i] >= 0) s->owner[i] = s->renumber[s->owner[i]];
    }
}

void planes_keep_alike(planes_local *s, double ratio, bool own) {
    planes_keep(s, INFINITY, true);
    planes_keep(s, ratio * planes_middle_noise(s), own);
}
