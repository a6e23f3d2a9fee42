/* What was found in a scene, held against what it was made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/planes_scenes.h"
#include "support/support.h"

/* How many points each pair of a plane found and a true one shares; the last column: points of none. */
typedef struct overlaps {
    uint32_t found, real;
    uint64_t *shared; /* [found · (real + 1)] */
    uint64_t *size;   /* [found] */
} overlaps;

static overlaps count_overlaps(const planes_scene *scene, const int32_t *labels, uint32_t count) {
    overlaps o = {count, scene->count, NULL, NULL};
    o.shared = planes_scene_array((uint64_t)count * (scene->count + 1), sizeof *o.shared);
    o.size = planes_scene_array(count, sizeof *o.size);
    memset(o.shared, 0, (uint64_t)count * (scene->count + 1) * sizeof *o.shared);
    memset(o.size, 0, count * sizeof *o.size);
    for (uint64_t i = 0; i < scene->points; i++) {
        if (labels[i] < 0) continue;
        const uint32_t real = scene->labels[i] < 0 ? scene->count : (uint32_t)scene->labels[i];
        o.shared[(uint64_t)labels[i] * (scene->count + 1) + real]++;
        o.size[labels[i]]++;
    }
    return o;
}

static uint64_t shared_of(const overlaps *o, uint32_t found, uint32_t real) {
    return o->shared[(uint64_t)found * (o->real + 1) + real];
}

static void measure_errors(const planes_scene_plane *real, const mote_plane *found, planes_scene_score *score) {
    double cross = 0, dot = 0, away = -found->offset;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        const double c = real->normal[p] * found->normal[q] - real->normal[q] * found->normal[p];
        cross += c * c;
        dot += real->normal[k] * found->normal[k];
        away += real->middle[k] * found->normal[k];
    }
    score->angle_deg = fmax(score->angle_deg, atan2(sqrt(cross), fabs(dot)) * 180 / 3.14159265358979323846);
    score->offset_m = fmax(score->offset_m, fabs(away));
}

/* The plane found that shares most points with a true one, by intersection over union; found: there is none. */
static uint32_t nearest_to(const planes_scene *scene, const overlaps *o, uint32_t real, double *share) {
    uint32_t nearest = o->found;
    *share = 0;
    for (uint32_t f = 0; f < o->found; f++) {
        const double both = (double)shared_of(o, f, real);
        const double iou = both / ((double)o->size[f] + (double)scene->planes[real].points - both);
        nearest = iou > *share ? f : nearest;
        *share = fmax(*share, iou);
    }
    return nearest;
}

/* Planes that have few points of any true one. */
static void print_false(const overlaps *o, const mote_planes *planes) {
    for (uint32_t f = 0; f < o->found; f++) {
        uint64_t most = 0;
        for (uint32_t r = 0; r < o->real; r++) most = shared_of(o, f, r) > most ? shared_of(o, f, r) : most;
        if (2 * most >= o->size[f]) continue;
        const mote_plane *p = mote_planes_at(planes, f);
        printf(
            "   false: plane %u of %llu points, normal %.3f %.3f %.3f, %.2f mm, %.2f square metres; a plane has %llu\n",
            f, (unsigned long long)o->size[f], p->normal[0], p->normal[1], p->normal[2], 1e3 * p->rms, p->area,
            (unsigned long long)most);
    }
}

void planes_scene_print_missed(const planes_scene *scene, const int32_t *labels, const mote_planes *planes) {
    const uint32_t count = mote_planes_count(planes);
    overlaps o = count_overlaps(scene, labels, count);
    print_false(&o, planes);
    for (uint32_t r = 0; r < scene->count; r++) {
        const planes_scene_plane *real = &scene->planes[r];
        double share;
        if (real->points < scene->support) continue;
        const uint32_t nearest = nearest_to(scene, &o, r, &share);
        if (share > 0.5) continue;
        printf("   missed: surface %u of %llu points, normal %.3f %.3f %.3f", r, (unsigned long long)real->points,
               real->normal[0], real->normal[1], real->normal[2]);
        if (nearest < count) {
            printf("; plane %u of %llu points has %llu of them", nearest, (unsigned long long)o.size[nearest],
                   (unsigned long long)shared_of(&o, nearest, r));
        }
        printf("\n");
    }
    free(o.shared);
    free(o.size);
}

planes_scene_score planes_scene_judge(const planes_scene *scene, const int32_t *labels, uint32_t count,
                                      const mote_planes *planes) {
    planes_scene_score score;
    overlaps o = count_overlaps(scene, labels, count);
    memset(&score, 0, sizeof score);
    for (uint32_t i = 0; i < scene->count; i++) score.planes += scene->planes[i].points >= scene->support;
    for (uint32_t f = 0; f < count; f++) {
        uint32_t best = scene->count;
        for (uint32_t r = 0; r < scene->count; r++) {
            if (best == scene->count || shared_of(&o, f, r) > shared_of(&o, f, best)) best = r;
        }
        const uint64_t both = best < scene->count ? shared_of(&o, f, best) : 0;
        const uint64_t either = best < scene->count ? o.size[f] + scene->planes[best].points - both : 1;
        /* Above one half only one found plane can be a true one's; exactly one half is taken as not found. */
        if (2 * both > either) {
            if (scene->planes[best].points < scene->support) continue;
            score.found++;
            if (planes != NULL) measure_errors(&scene->planes[best], mote_planes_at(planes, f), &score);
        } else {
            score.split += 2 * both >= o.size[f] && o.size[f] > 0;
            score.false_planes += 2 * both < o.size[f];
        }
    }
    free(o.shared);
    free(o.size);
    return score;
}
