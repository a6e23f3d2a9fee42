/* Bodies: what has grown and is no plane, but may be several. They are noted while planes are selected, cut where they
   fall into steps, slabs and parts (planes_composites.c, planes_creases.c), and told apart as sheets or taken as one
   plane as thick as these. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_local.h"

#define MIN_BODY      2.0 /* times the points of a plane: of what may be several */
#define BODY_FLATNESS 0.1
#define SAME_BODY     0.97 /* cosine */
#define SHEETS_THICK  1.4  /* times the noise, that sheets are at least: no plane of one noise is */
#define SHEETS_CENTRAL                                                                                                 \
    0.38 /* of two sheets 4 and 6 noises apart 0.31 and 0.19 are in the middle, of even points 0.39 */
#define SHEETS_SHOULDER  0.2  /* density 2.25 noises off, to the middle's: of two sheets 0.02 and less */
#define SHEETS_STRUCTURE 0.05 /* share of the variance between cells */

/* Whether the middle of b is in a, and they are about parallel. */
static bool is_same_body(const planes_growth *a, const planes_growth *b) {
    const double away[3] = {b->at[0] - a->at[0], b->at[1] - a->at[1], b->at[2] - a->at[2]};
    return fabs(planes_dot(a->normal, b->normal)) >= SAME_BODY && fabs(planes_dot(away, a->normal)) <= a->noise &&
           planes_dot(away, away) <= 0.25 * a->area;
}

/* Keeps a growth among bodies, if it has the points of two planes. */
static void keep_body(const planes_local *s, const planes_growth *g, planes_bodies *bodies) {
    planes_growth *growths = bodies->growths;
    uint32_t at = bodies->count;
    const double points = planes_growth_points(g);
    if (points < MIN_BODY * s->params.min_points) return;
    for (uint32_t i = 0; i < bodies->count; i++) {
        if (is_same_body(&growths[i], g)) return;
    }
    while (at > 0 && planes_growth_points(&growths[at - 1]) < points) at--;
    if (at == bodies->max) return;
    if (bodies->count < bodies->max) bodies->count++;
    memmove(&growths[at + 1], &growths[at], (bodies->count - 1 - at) * sizeof *growths);
    growths[at] = *g;
    planes_take_level(&growths[at], 0);
}

void planes_note_body(const planes_local *s, const planes_growth *g, planes_bodies *bodies) {
    const bool thicker = g->reason == MOTE_PLANES_THICKENS || g->reason == MOTE_PLANES_UNLIKE;
    const bool several = g->reason == MOTE_PLANES_NO_PEAK || g->reason == MOTE_PLANES_STRUCTURE ||
                         (thicker && g->noise < BODY_FLATNESS * sqrt(g->area));
    if (several) keep_body(s, g, bodies);
}

void planes_note_sheets(planes_local *s, const planes_growth *g) {
    const bool thicker = g->reason == MOTE_PLANES_UNLIKE || g->reason == MOTE_PLANES_NO_PEAK;
    if (thicker && g->area > 0 && g->structure <= planes_one_structure(g)) keep_body(s, g, &s->sheets);
}

/* Whether the points lie in sheets along each other everywhere, as where a floor was scanned twice: fewer of them in
   the middle than of something that fills its thickness, next to none beyond, and the same in all cells. */
static bool is_of_sheets(const planes_growth *g) {
    const double central = SHEETS_CENTRAL - 1 / sqrt(g->count);
    return g->reason == MOTE_PLANES_NO_PEAK && g->central < central && g->shoulders[1] <= SHEETS_SHOULDER &&
           g->structure <= SHEETS_STRUCTURE;
}

bool planes_grow_body(planes_local *s, const planes_growth *body, bool warped, planes_growth *g) {
    planes_patch patch;
    memset(&patch, 0, sizeof patch);
    memcpy(patch.normal, body->normal, sizeof patch.normal);
    memcpy(patch.at, body->at, sizeof patch.at);
    patch.noise = body->noise;
    patch.size = 0.5 * sqrt(body->area);
    patch.count = (uint32_t)body->count;
    patch.stride = 1;
    patch.warped = warped;
    return planes_grow(s, &patch, 0, 0, -1, g);
}

mote_status planes_find_sheets(planes_local *s, double noise) {
    planes_bodies *sheets = &s->sheets, grown;
    double points = 0;
    grown.count = 0;
    grown.max = PLANES_LOCAL_SHEETS;
    for (uint32_t i = 0; i < sheets->count; i++) {
        planes_growth g;
        const bool is_grown = planes_grow_body(s, &sheets->growths[i], false, &g);
        const bool stands = is_grown && planes_growth_stands(s, &g);
        if (!is_grown || (!stands && g.reason != MOTE_PLANES_NO_PEAK) || g.noise <= SHEETS_THICK * noise) continue;
        if (g.structure > planes_one_structure(&g) || !planes_is_supported(s, &g, PLANES_ALONG)) continue;
        keep_body(s, &g, &grown);
    }
    for (uint32_t i = 0; i < grown.count; i++) points += grown.growths[i].count;
    return points > planes_owned_points(s) ? MOTE_OK : planes_part_sheets(s, &grown, noise);
}

void planes_take_sheets(planes_local *s) {
    for (uint32_t i = 0; i < s->bodies.count && s->plane_count < PLANES_LOCAL_MAX; i++) {
        const planes_growth *body = &s->bodies.growths[i];
        planes_growth g;
        uint32_t won = 0;
        if (body->reason != MOTE_PLANES_NO_PEAK || !planes_grow_body(s, body, false, &g)) continue;
        if (planes_growth_stands(s, &g) || !is_of_sheets(&g) || !planes_is_supported(s, &g, PLANES_ALONG)) continue;
        planes_claim_points(s, &g, -1, &won);
        if (2 * won > g.count) planes_add_growth(s, &g);
    }
}
