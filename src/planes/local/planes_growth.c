/* Growth: from a patch to all of its plane. In turns the points near the plane so far are laid out on it in cells, the
   connected cells around the patch are fitted by least squares, and where that changes nothing, the plane is done.
   Points that another plane explains better do not take part. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_growth.h"

#define TURNS          16
#define MANY_POINTS    40000.0 /* near a growth: where there are more, it settles with fewer of them first */
#define LARGE_SAMPLE   65536u  /* points: in more, planes have few of all */
#define FIRST_REACH    4.0     /* times the points of its patch: about as many are near it at first */
#define FEW_A_CELL     4.0     /* points: of a cell, at least, where planes may have few points */
#define NOISE_GROWS    2.0     /* times the noise of the patch: with more, something else has grown */
#define NOISE_SHRINKS  0.3     /* of the noise of the patch: with less, it has fallen into thinner layers */
#define NEARLY_ALL     0.6     /* of the points of a patch: steps of a sensor share them out */
#define LAY_TURNS      2       /* the second with cells of as many points as the plane has where it is */
#define LAY_SHARE      0.35    /* of these points, a cell of the plane has */
#define SETTLED        0.01    /* of the points: a turn that changes fewer is the last */
#define ENOUGH_TO_TELL 400.0   /* points of a component, from which on it is told early that it comes to nothing */
#define FAR_STRUCTURE  0.4     /* share of the variance between cells, above which no growth became a plane later */
#define FAR_GOING_ON   0.3     /* share of the rim that goes on to one side in two turns: a centred growth ends then */

void planes_refuse_growth(const planes_local *s, const planes_growth *g, double points) {
    planes_refused refused;
    if (s->params.refusals == NULL) return;
    memset(&refused, 0, sizeof refused);
    refused.reason = g->reason;
    memcpy(refused.normal, g->normal, sizeof refused.normal);
    memcpy(refused.at, g->at, sizeof refused.at);
    refused.points = points;
    refused.noise = g->noise;
    refused.size = sqrt(g->area);
    refused.value = g->value;
    refused.limit = g->limit;
    planes_refuse(s->params.refusals, &refused);
}

/* ---- growth */

static void look_farther(planes_growth *g) {
    g->look = 2 * fmax(g->farthest, g->radius) + 3 * g->cell + GROWTH_BESIDE * g->noise;
}

void planes_find_axes(planes_growth *g) {
    const double *n = g->normal, *along = g->strip.along;
    double off = 0, length = 0;
    planes_perpendicular(n, g->u, g->v);
    if (!g->strip.bounded) return;
    for (int k = 0; k < 3; k++) off += along[k] * n[k];
    for (int k = 0; k < 3; k++) {
        g->u[k] = along[k] - off * n[k];
        length += g->u[k] * g->u[k];
    }
    for (int k = 0; k < 3; k++) g->u[k] /= sqrt(length);
    planes_cross(n, g->u, g->v);
}

/* Where planes may have few points, those that do have smaller cells, or it would be too few of them to be
   connected. */
static double next_cell(const planes_local *s, const planes_growth *g) {
    const double points = growth_has_few(s)
                              ? fmin(fmax(g->count / GROWTH_ENOUGH_CELLS, FEW_A_CELL), GROWTH_POINTS_A_CELL)
                              : GROWTH_POINTS_A_CELL;
    const double cell = g->cell * sqrt(points / fmax(g->crowding - g->strays, 0.5));
    return g->max_cell > 0 ? fmin(cell, g->max_cell) : cell;
}

static void begin(const planes_local *s, const planes_patch *patch, double max_noise, double max_cell, int32_t self,
                  planes_growth *g) {
    memset(g, 0, sizeof *g);
    memcpy(g->normal, patch->normal, sizeof g->normal);
    memcpy(g->at, patch->at, sizeof g->at);
    g->self = self;
    g->turned = patch->turned;
    g->centred = patch->centred;
    g->warped = patch->warped;
    g->role = patch->role;
    if (self >= 0) g->strip = s->planes[self].strip;
    g->max_noise = max_noise;
    g->max_cell = max_cell;
    g->noise = max_noise > 0 ? fmin(patch->noise, max_noise) : patch->noise;
    g->density = GROWTH_POINTS_A_CELL;
    g->radius = 1.5 * patch->size;
    growth_refuse(g, MOTE_PLANES_SCATTERED, 0, GROWTH_MIN_COMPONENT); /* unless something else is said */
    /* The patch as a disc: its radius is the root mean square distance to its middle times the root of 2. */
    const double area = 2 * MOTE_PI * patch->size * patch->size;
    g->cell = sqrt(GROWTH_POINTS_A_CELL * area / patch->count / patch->stride);
}

/* Whether nearly all points of a patch are on the plane that has grown of it. */
static bool has_patch(const planes_local *s, const planes_patch *p, const planes_growth *g) {
    uint32_t on = 0, on_both = 0, seen = 0;
    for (uint32_t i = p->first; i < p->first + p->window && seen < PLANES_LOCAL_WINDOW; i += p->stride, seen++) {
        if (!planes_is_on(s, p->normal, p->at, PLANES_PATCH_REACH * p->noise, i)) continue;
        on++;
        on_both += planes_is_on(s, g->normal, g->at, PLANES_REACH_NOISES * g->noise, i);
    }
    return on_both >= NEARLY_ALL * on;
}

/* Whether the growth has become something else than the patch: its noise rises, or it falls into thinner layers. */
static bool is_something_else(const planes_local *s, const planes_patch *patch, planes_growth *g) {
    const double max = fmax(NOISE_GROWS * patch->noise, 2 * s->params.floor), share = g->noise / patch->noise;
    const double noise = g->self >= 0 ? fmin(g->noise, g->measured_noise) : g->noise; /* others may be noisier */
    if (g->warped) return false;
    if (noise > max) return !growth_refuse(g, MOTE_PLANES_THICKENS, noise, max);
    if (share >= NOISE_SHRINKS || g->max_noise > 0) return false;
    if (growth_is_exact(s, g) && has_patch(s, patch, g)) return false;
    return !growth_refuse(g, MOTE_PLANES_STRUCTURE, 1 - share * share, 1 - NOISE_SHRINKS * NOISE_SHRINKS);
}

void planes_take_level(planes_growth *g, uint32_t level) {
    const double fewer = ldexp(1, (int)g->level - (int)level);
    g->cell /= sqrt(fewer);
    g->count *= fewer;
    g->level = level;
}

/* Whether planes have few of all points. */
static bool is_large(const planes_local *s) { return s->sample->count > LARGE_SAMPLE; }

/* Thins the points out where very many are near. near: of the sample, about. */
static void take_fewer(planes_growth *g, double near) {
    uint32_t level = 0;
    while (level + 1 < PLANES_LOCAL_LEVELS && near > MANY_POINTS * (double)(1u << level)) level++;
    if (level > g->level) planes_take_level(g, level);
}

/* The share of the variance between the cells of the component that was fitted last. Distances of cells are in the
   scratch. */
static double structure_so_far(const planes_local *s, const planes_growth *g) {
    double squares = 0;
    const uint32_t count = (uint32_t)g->count;
    for (uint32_t k = 0; k < count; k++) {
        const double distance = (double)s->near_distance[s->component[k]];
        squares += distance * distance;
    }
    return planes_structure_of(s, squares, count);
}

/* Whether what is centred must end where its points do. Faces of solids need not: those beside them leave at small
   angles, and whether they bend away is asked of all planes together (planes_bends.c). */
static bool ends_at_rim(const planes_local *s) { return s->facing.unknown == NULL; }

/* Whether a growth of many points, which would go on for long, will come to nothing: among planes of a known noise it
   is noisier, and bent; centred, among very many points, it goes on to one side.
   laid   the growth as its component was laid out
   first  it is in its first turn */
static bool is_in_vain(planes_local *s, const planes_growth *laid, bool first, planes_growth *g) {
    if (g->count < ENOUGH_TO_TELL || g->turned || g->self >= 0) return false;
    if (g->centred) {
        if (!is_large(s) || !ends_at_rim(s)) return false;
        planes_growth now = *g;
        now.noise = laid->noise;
        planes_sum_distances(s, &now);
        g->going_on = planes_going_on(s, &now);
        if (laid->going_on <= FAR_GOING_ON || g->going_on <= FAR_GOING_ON) return false;
        return !growth_refuse(g, MOTE_PLANES_STRUCTURE, g->going_on, GROWTH_MAX_GOING_ON);
    }
    if (first || g->max_noise <= 0 || g->measured_noise <= GROWTH_MAX_NOISE * g->max_noise) return false;
    planes_sum_distances(s, laid);
    g->structure = structure_so_far(s, g);
    if (g->structure <= FAR_STRUCTURE) return false;
    return !growth_refuse(g, MOTE_PLANES_UNLIKE, g->measured_noise, GROWTH_MAX_NOISE * g->max_noise);
}

/* Turns until it stays as it is. fewer: points may be thinned out. */
static bool settle(planes_local *s, const planes_patch *patch, bool fewer, planes_growth *g) {
    double before = 0, near = FIRST_REACH * (double)patch->count * patch->stride;
    for (int turn = 0; turn < TURNS; turn++) {
        if (fewer) take_fewer(g, near);
        planes_find_axes(g);
        look_farther(g);
        const bool found = planes_find_component(s, g, g->radius);
        g->work += s->near_count;
        if (!found) return false;
        const planes_growth laid = *g;
        if (!planes_fit_component(s, g) || is_something_else(s, patch, g)) return false;
        if (is_in_vain(s, &laid, turn == 0, g)) return false;
        const double points = planes_growth_points(g);
        const bool settled = fabs(points - before) < SETTLED * before && g->farthest + 2 * g->cell < g->look;
        g->cell = turn == 0 ? fmin(next_cell(s, g), 2 * g->cell) : next_cell(s, g);
        g->radius = fmax(g->radius, 0.3 * sqrt(g->area));
        before = points;
        near = ldexp(s->near_count, (int)g->level);
        if (turn >= 2 && settled) break;
    }
    planes_find_axes(g);
    look_farther(g);
    if (!planes_find_component(s, g, g->radius)) return false;
    if ((g->centred && ends_at_rim(s)) || g->warped || s->params.known_noise > 0) {
        planes_sum_distances(s, g);
        g->going_on = planes_going_on(s, g);
    }
    g->bending = g->max_noise > 0 || g->warped ? planes_bending_rim(s, g) : 0;
    return planes_describe_component(s, g);
}

/* Grows over few of the points first, if there are very many. */
static bool grow(planes_local *s, const planes_patch *patch, bool fewer, planes_growth *g) {
    if (!settle(s, patch, fewer, g)) return false;
    if (g->level == 0 || !planes_growth_stands(s, g)) return true;
    planes_take_level(g, 0);
    return settle(s, patch, false, g);
}

bool planes_grow(planes_local *s, const planes_patch *patch, double max_noise, double max_cell, int32_t self,
                 planes_growth *g) {
    begin(s, patch, max_noise, max_cell, self, g);
    if (!grow(s, patch, max_cell <= 0, g)) return false;
    if (g->level > 0 || !planes_growth_stands(s, g)) return true;
    return !planes_is_curve(s, g) && !planes_is_of_representation(s, g);
}

bool planes_grow_again(planes_local *s, planes_growth *g) { return planes_find_component(s, g, g->radius); }

uint32_t planes_list_free(planes_local *s, planes_growth *g) {
    const uint32_t listed = planes_grow_again(s, g) ? planes_list_component(s, g) : 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        if (s->owner[s->near_point[i]] < 0) s->component[count++] = i;
    }
    return count;
}

bool planes_lay_component(planes_local *s, planes_growth *g) {
    g->look = INFINITY;
    g->density = GROWTH_POINTS_A_CELL;
    g->strays = 0;
    planes_find_axes(g);
    if (!planes_find_component(s, g, INFINITY) || !planes_describe_component(s, g)) return false;
    g->cell = next_cell(s, g);
    return planes_find_component(s, g, INFINITY) && planes_describe_component(s, g);
}

/* Marks each cell that has min points and GROWTH_MIN_CONTRAST times as many as lie on its emptier side, and no others.
   The area and the count become those of the marked cells. */
static void mark_all(planes_local *s, planes_growth *g, double min) {
    uint32_t cells = 0;
    double points = 0;
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        const double beside = fmin(s->cell_beside[2 * cell], s->cell_beside[2 * cell + 1]);
        s->cell_mark[cell] = s->cell_in[cell] >= fmax(min, GROWTH_MIN_CONTRAST * beside);
        cells += s->cell_mark[cell];
        points += s->cell_mark[cell] != 0 ? s->cell_in[cell] : 0;
    }
    s->marked_first = 0;
    s->marked_end = g->columns * g->rows;
    g->area = cells * g->cell * g->cell;
    g->count = points;
}

bool planes_lay(planes_local *s, planes_growth *g) {
    double central = 0, shoulders[2] = {0, 0};
    g->look = INFINITY;
    g->density = GROWTH_POINTS_A_CELL;
    planes_find_axes(g);
    planes_take_near(s, g, GROWTH_BESIDE * g->noise);
    for (int turn = 0; turn < LAY_TURNS; turn++) {
        const double typical = turn > 0 ? fmin(g->crowding, GROWTH_POINTS_A_CELL) : 0;
        if (!planes_lay_grid(s, g)) return false;
        planes_count_cells(s, g);
        mark_all(s, g, fmax(GROWTH_MIN_CELL, LAY_SHARE * typical));
        if (!(g->count > 0) || !planes_describe_component(s, g)) return false;
        if (turn > 0) continue;
        /* Small cells are chosen by what they have in the middle: these know no more how the points lie about it. */
        central = g->central;
        memcpy(shoulders, g->shoulders, sizeof shoulders);
        g->cell = fmin(g->cell, next_cell(s, g));
    }
    g->central = central;
    memcpy(g->shoulders, shoulders, sizeof g->shoulders);
    return true;
}

bool planes_measure(planes_local *s, planes_growth *g, uint32_t *in) {
    g->look = INFINITY;
    g->density = GROWTH_POINTS_A_CELL;
    *in = 0;
    planes_find_axes(g);
    if (!planes_find_component(s, g, INFINITY) || !planes_fit_component(s, g)) return false;
    g->cell = next_cell(s, g); /* the axes stay: the place has hardly changed */
    if (!planes_find_component(s, g, INFINITY) || !planes_describe_component(s, g)) return false;
    for (uint32_t i = 0; i < s->near_count; i++) {
        *in += fabsf(s->near_distance[i]) <= (float)(PLANES_REACH_NOISES * g->noise);
    }
    return true;
}

/* ---- side by side */

/* Growths side by side: threads look at the same points and owners, each with a scratch of its own. None takes points
   meanwhile, so each growth becomes what it would become alone, whichever thread has it. */
planes_local *planes_worker(planes_local *s) {
    const int thread = mote_thread_number();
    return thread == 0 ? s : &s->workers[thread - 1];
}

/* A plane that a body was split into is known better than its points tell: where it fails for what lies to one side, as
   doors do that are set back a little, it is grown once more without that. */
static void grow_one(planes_local *s, planes_growing *one) {
    planes_patch patch = one->patch;
    planes_growth g;
    one->stands = planes_grow(s, &patch, one->max_noise, one->max_cell, one->self, &one->growth) &&
                  planes_growth_stands(s, &one->growth);
    if (one->stands || !patch.turned || patch.centred || one->growth.reason != MOTE_PLANES_STRUCTURE) return;
    patch.centred = true;
    if (!planes_grow(s, &patch, one->max_noise, one->max_cell, one->self, &g) || !planes_growth_stands(s, &g)) return;
    one->growth = g;
    one->stands = true;
}

void planes_grow_all(planes_local *s, planes_growing *growing, uint32_t count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->worker_count)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        growing[i].stands = false;
        if (!mote_stop(s->ctx)) grow_one(planes_worker(s), &growing[i]);
    }
}
