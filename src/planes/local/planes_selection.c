/* Selection: planes hold points against each other. A point's likelihood is the density of a plane's points where it
   is, or that of all points in the cloud's box; a plane is worth it if it raises the likelihood of the points that it
   wins by more than what it costs to describe one. The best patches are grown first; a plane that is found later may
   take the points of an earlier one, if it explains them better.

   The first pass tells the noise of the cloud, which is the same for most of its planes. In the second pass it is
   known: what would have been taken for a thicker plane, because others cross it, is then told apart. What is clearly
   flat may have another noise (planes_keep.c); it waits until sheets are told apart, for it may be some of them.

   Where the planes that were found have one noise, and there are no bodies, patches that came to nothing are tried
   again, centred: of parallel planes so near to each other that what grows freely leans over from one to the next.
   Where walls bend and sensors measure in steps, noises differ, and nothing grows centred.

   Faces of a solid whose noise is some hundredths of their size come to nothing in the first pass: at the edges the
   faces beside them are within reach, and the noise rises with the reach. Where few points have a plane after it,
   patches are tried again, without the points that face another way (planes_facing.c): freely, and where that is not
   enough, centred, for the way that they face does not tell faces apart that turn by little. By chance a few pieces of
   a curve pass as well: such planes count only if together they have much of the cloud, and those that grew centred
   only if they have creases. When a quarter of the points have come to nothing, it is told whether they will.

   A plane may fall when it is grown again: it was several that lie nearly in one, as the sides of containers on each
   other do. What falls is cut along its creases, as bodies are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define EXPLAINED_NOISE 3.0   /* times the noise of a patch: a thicker plane does not explain its points */
#define SAME_NOISE      2.0   /* times: planes of one place are the same */
#define ALIKE           1.4   /* times the middle noise, the first pass keeps; the second PLANES_ALIKE */
#define KNOWN_NOISE     1.2   /* times the middle noise: the largest, once that is known */
#define PATCH_NOISE     1.8   /* times the largest noise, of a patch */
#define ONE_NOISE       1.3   /* times the middle noise, at most, or so much less */
#define MOST_OF_ALL     0.9   /* points of the planes that have one noise, if all have */
#define MIN_OWNED       0.1   /* of the points, planes have that tell whether there is one noise */
#define MAX_OWNED       0.25  /* of the points, planes have, where it is asked which way points face */
#define MIN_FACED       0.4   /* of the points that face a known way, planes have then, or there are none */
#define MIN_KNOWN       0.05  /* of the points, face a known way, or a growth without the others is as it was */
#define MIN_SURFACE     0.5   /* the same, of what is a surface: clusters have 0.3, statues and triangles 0.67 to 1 */
#define MIN_TOLD        2.0   /* floors: a noise below may be that of the representation */
#define TRIED           0.25  /* of the points came to nothing, when it is asked whether a pass is hopeless */
#define HOPELESS        0.5   /* of MIN_FACED, planes have then of what was tried: statues 0.2 to 0.5, triangles 1 */
#define FAILURES        2     /* patches that came to nothing, and a point does not speak for another */
#define LARGER_CELLS    1.2   /* times: cells of a plane that is grown again */
#define MAX_IN_VAIN     300u  /* growths in a row that come to nothing, and the rest would */
#define POINTS_IN_VAIN  48u   /* or one for so many points, if those are more */
#define CENTRED_IN_VAIN 50u   /* the same of those that are centred */
#define WORK_IN_VAIN    2000u /* or of so much work, for each point: all growths of a town with 150 roofs take 700 */
#define LAST_CUT        2     /* turns of growth, once the noise is known, after which what fell is cut */
#define NO_NOISE        0.05  /* of the middle noise: layers of table_scene have 0.003 to 0.03, planes 0.1 and more */
#define MAX_AHEAD       256u  /* patches that are grown ahead of their turn */
#define REPORT          64u   /* patches, from one report of progress to the next */

/* ---- which plane a growth is */

/* The plane that owns most of the component's inner points; -1: none does. */
static int32_t main_owner(planes_local *s, const planes_growth *g) {
    uint32_t all = 0;
    memset(s->tally, 0, s->plane_count * sizeof *s->tally);
    for (uint32_t i = 0; i < s->near_count; i++) {
        if (fabs((double)s->near_distance[i]) > 2 * g->noise || s->cell_mark[s->near_cell[i]] == 0) continue;
        const int32_t owner = s->owner[s->near_point[i]];
        all++;
        if (owner >= 0) s->tally[owner]++;
    }
    for (uint32_t i = 0; i < s->plane_count; i++) {
        if (2 * s->tally[i] > all) return (int32_t)i;
    }
    return -1;
}

/* The plane that the growth is once more; -1: it is a new one. */
static int32_t same_plane(planes_local *s, const planes_growth *g) {
    const int32_t owner = main_owner(s, g);
    if (owner < 0) return -1;
    const double noise = s->planes[owner].noise;
    return g->noise <= SAME_NOISE * noise && noise <= SAME_NOISE * g->noise ? owner : -1;
}

/* ---- patches, the best first */

static bool is_on_patch(const planes_local *s, const planes_patch *p, uint32_t i) {
    return planes_is_on(s, p->normal, p->at, PLANES_PATCH_REACH * p->noise, i);
}

/* Whether most of a patch's points have a plane that is no thicker, or came to nothing before. */
static bool is_explained(const planes_local *s, const planes_patch *p) {
    uint32_t on = 0, owned = 0, failed = 0, seen = 0;
    for (uint32_t i = p->first; i < p->first + p->window && seen < PLANES_LOCAL_WINDOW; i += p->stride, seen++) {
        if (!is_on_patch(s, p, i)) continue;
        on++;
        owned += s->owner[i] >= 0 && s->planes[s->owner[i]].noise <= EXPLAINED_NOISE * p->noise;
        failed += s->failures[i] >= FAILURES;
    }
    return 2 * owned > on || 2 * failed > on;
}

/* Returns how many points of the patch have come to nothing by it: they do not speak for another one. */
static uint32_t note_failure(planes_local *s, const planes_patch *p) {
    uint32_t seen = 0, gone = 0;
    for (uint32_t i = p->first; i < p->first + p->window && seen < PLANES_LOCAL_WINDOW; i += p->stride, seen++) {
        if (!is_on_patch(s, p, i) || s->failures[i] == FAILURES) continue;
        s->failures[i]++;
        gone += s->failures[i] == FAILURES;
    }
    return gone;
}

/* Returns whether it has become a plane, or made one larger.
   ahead  what the patch grew to before it was its turn; NULL: it did not
   work   out, of its growth */
static bool try_patch(planes_local *s, const planes_patch *patch, double max_noise, const planes_growing *ahead,
                      uint64_t *work) {
    planes_growth g;
    const bool in_vain = ahead != NULL && !ahead->stands;
    if (in_vain) g = ahead->growth;
    const bool stands = !in_vain && planes_grow(s, patch, max_noise, 0, -1, &g) && planes_growth_stands(s, &g) &&
                        planes_is_supported(s, &g, PLANES_ALONG);
    *work = g.work;
    if (!stands) {
        planes_refuse_growth(s, &g, fmax(planes_growth_points(&g), (double)patch->count * patch->stride));
        if (max_noise <= 0 && !patch->centred) planes_note_body(s, &g, &s->bodies);
        planes_note_sheets(s, &g);
        return false;
    }
    const int32_t number = same_plane(s, &g);
    if (number < 0) return planes_add_growth(s, &g);
    if (g.count <= s->planes[number].count) return false;
    planes_commit(s, &g, number);
    return true;
}

/* Growths in a row that came to nothing: after so many, or so much work, the rest would, too. */
typedef struct growths_in_vain {
    uint32_t count, max_count;
    uint64_t work, max_work;
} growths_in_vain;

/* In a large cloud there are more places where nothing is flat. */
static growths_in_vain none_in_vain(const planes_local *s, bool centred) {
    const uint32_t max = centred ? CENTRED_IN_VAIN : MAX_IN_VAIN, of_many = s->sample->count / POINTS_IN_VAIN;
    const growths_in_vain none = {0, max > of_many ? max : of_many, 0, WORK_IN_VAIN * (uint64_t)s->sample->count};
    return none;
}

/* Whether a patch is not worth a growth. */
static bool is_passed_over(const planes_local *s, const planes_patch *patch, double max_noise) {
    return (max_noise > 0 && patch->noise > PATCH_NOISE * max_noise) || is_explained(s, patch);
}

/* Nearly all patches come to nothing, and until one becomes a plane, none changes what another grows to: so the next
   ones are grown side by side before it is their turn. What happened in the meantime is asked for in their turn. */
typedef struct patches_ahead {
    uint32_t count, at, size; /* how many were grown, the next of them, and how many are at once */
} patches_ahead;

static void grow_ahead(planes_local *s, uint64_t from, double max_noise, patches_ahead *ahead) {
    ahead->count = ahead->at = 0;
    for (uint64_t i = from; i < s->patch_count && ahead->count < ahead->size; i++) {
        planes_growing *one = &s->growing[ahead->count];
        memset(one, 0, sizeof *one);
        one->patch = s->patches[i];
        one->patch.centred = s->patches[from].centred;
        if (is_passed_over(s, &one->patch, max_noise)) continue;
        one->max_noise = max_noise;
        one->self = -1;
        one->number = i;
        ahead->count++;
    }
    planes_grow_all(s, s->growing, ahead->count);
    ahead->size = 2 * ahead->size < MAX_AHEAD ? 2 * ahead->size : MAX_AHEAD;
}

/* What a patch grew to ahead of its turn; NULL: one thread has nothing to gain by that. */
static const planes_growing *find_ahead(planes_local *s, uint64_t patch, double max_noise, patches_ahead *ahead) {
    if (s->worker_count == 1) return NULL;
    while (ahead->at < ahead->count && s->growing[ahead->at].number < patch) ahead->at++;
    if (ahead->at == ahead->count || s->growing[ahead->at].number != patch) grow_ahead(s, patch, max_noise, ahead);
    return &s->growing[ahead->at++];
}

/* How patches of a pass grow. */
typedef struct patches_pass {
    double max_noise; /* 0 if the noise is not known */
    bool centred;
    double first, last; /* of the progress */
    double min_share;   /* of the points that were tried, planes have, or the pass ends; 0: whatever they have */
} patches_pass;

/* Whether a pass will come to too little, by what planes have of the points that were tried so far. Points count once
   they speak for no other patch: of a solid the large patches, which come first, cross its edges, and fail. */
static bool is_hopeless(const planes_local *s, double failed, double min_share) {
    const double owned = planes_owned_points(s);
    return failed >= TRIED * s->sample->count && owned < min_share * (owned + failed);
}

/* A pass over the patches. */
static mote_status try_patches(planes_local *s, patches_pass pass) {
    const double max_noise = pass.max_noise;
    const growths_in_vain none = none_in_vain(s, pass.centred);
    growths_in_vain vain = none;
    patches_ahead ahead = {0, 0, s->worker_count};
    double failed = 0;
    memset(s->failures, 0, s->sample->count);
    for (uint64_t i = 0; i < s->patch_count && s->plane_count < PLANES_LOCAL_MAX; i++) {
        if (vain.count >= vain.max_count || vain.work >= vain.max_work || mote_stop(s->ctx)) break;
        planes_patch *patch = &s->patches[i];
        patch->centred = pass.centred;
        if (i % REPORT == 0) {
            const double done = pass.first + (pass.last - pass.first) * (double)i / (double)s->patch_count;
            MOTE_TRY(mote_progress(s->ctx, done, "growing planes"));
        }
        if (is_passed_over(s, patch, max_noise)) continue;
        uint64_t work;
        if (try_patch(s, patch, max_noise, find_ahead(s, i, max_noise, &ahead), &work)) {
            vain = none;
            ahead = (patches_ahead){0, 0, s->worker_count};
        } else {
            vain.count++;
            vain.work += work;
            failed += note_failure(s, patch);
            if (is_hopeless(s, failed, pass.min_share)) break;
        }
    }
    return mote_stopped(s->ctx);
}

static int compare_patches(const void *a, const void *b) {
    const planes_patch *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    if (x->window != y->window) return x->window < y->window ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->noise < y->noise ? -1 : x->noise > y->noise;
}

/* ---- planes, once all are there */

/* Whether a plane is one of a series of parallel ones of which no other stands, and none that grew freely does: then
   nothing says that what it is a slice of is no curve, and that its noise is that of planes. */
static bool is_left_alone(const planes_growing *growing, uint32_t count, uint32_t i) {
    const planes_growth *g = &growing[i].growth;
    if (!g->turned || g->max_noise <= 0) return false;
    for (uint32_t k = 0; k < count; k++) {
        const double cosine = planes_dot(growing[k].growth.normal, g->normal);
        if (k != i && growing[k].stands && (!growing[k].growth.turned || fabs(cosine) >= PLANES_SAME_BODY))
            return false;
    }
    return true;
}

/* The largest noise of a plane that is grown again; 0: any. */
static double noise_to_keep(const planes_local_plane *plane, double max_noise) {
    if (plane->role != PLANES_ALONE) return plane->noise;
    return max_noise > 0 ? fmax(max_noise, plane->noise) : 0;
}

/* Grows each plane again, without the points of the others; then they share the points out anew.
   fallen  out, what is no plane any more, but may be several; NULL: not asked for */
static mote_status grow_planes_again(planes_local *s, double max_noise, planes_bodies *fallen) {
    const uint32_t before = s->plane_count;
    if (fallen != NULL) {
        fallen->count = 0;
        fallen->max = PLANES_LOCAL_BODIES;
    }
    for (uint32_t i = 0; i < before; i++) {
        planes_growing *one = &s->growing[i];
        one->patch = planes_patch_of(&s->planes[i]);
        one->max_noise = noise_to_keep(&s->planes[i], max_noise);
        one->max_cell = LARGER_CELLS * s->planes[i].cell;
        one->self = (int32_t)i;
    }
    planes_grow_all(s, s->growing, before);
    MOTE_TRY(mote_stopped(s->ctx));
    for (uint32_t i = 0; i < before; i++) {
        const planes_growth *g = &s->growing[i].growth;
        if (s->growing[i].stands) continue;
        planes_refuse_growth(s, g, fmax(g->count, s->planes[i].count));
        planes_note_sheets(s, g);
        if (fallen == NULL || g->strip.bounded) continue;
        planes_note_body(s, g, fallen);
        if (g->role == PLANES_ALONE) planes_note_body(s, g, &s->bodies);
    }
    for (uint32_t i = 0; i < s->sample->count; i++) s->owner[i] = -1;
    s->plane_count = 0;
    for (uint32_t i = 0; i < before; i++) {
        planes_growth *g = &s->growing[i].growth;
        if (mote_stop(s->ctx)) break;
        if (!s->growing[i].stands || is_left_alone(s->growing, before, i)) continue;
        g->self = -1;
        if (!planes_grow_again(s, g)) continue;
        const int32_t same = g->strip.bounded ? -1 : same_plane(s, g);
        if (same >= 0 && fabs(planes_dot(g->normal, s->planes[same].normal)) >= PLANES_PARALLEL) continue;
        planes_commit(s, g, planes_add_empty(s));
    }
    return mote_stopped(s->ctx);
}

/* Whether nearly all points of planes are of planes with one noise, that is more than the representation's. */
static bool have_one_noise(const planes_local *s) {
    const double middle = planes_middle_noise(s);
    double all = 0, alike = 0;
    for (uint32_t i = 0; i < s->plane_count; i++) {
        const double noise = s->planes[i].noise, count = s->planes[i].count;
        all += count;
        alike += noise <= ONE_NOISE * middle && middle <= ONE_NOISE * noise ? count : 0;
    }
    return middle > MIN_TOLD * s->params.floor && all >= MIN_OWNED * s->sample->count && alike >= MOST_OF_ALL * all;
}

/* What grew centred may be a piece of a curve, which ends anywhere: it is a plane if it has creases. */
static mote_status keep_creased(planes_local *s) {
    MOTE_TRY(planes_find_bends(s));
    for (uint32_t i = 0; i < s->plane_count; i++) {
        planes_local_plane *plane = &s->planes[i];
        if (plane->centred && plane->bends > -PLANES_MAX_BENDS) plane->count = 0;
    }
    planes_keep(s, INFINITY, true);
    return MOTE_OK;
}

/* Tries patches with those points alone that may face along them, freely and then centred. If what they become has not
   much of the cloud, all is as it was. */
static mote_status try_facing(planes_local *s) {
    planes_owners before = {0, NULL, NULL, NULL};
    MOTE_TRY(planes_find_facing(s));
    const double known = s->facing.known_count;
    if (known < MIN_KNOWN * (double)s->sample->count || planes_owned_points(s) >= MIN_FACED * known) {
        planes_drop_facing(s); /* among strays the others have much of the cloud already */
        return MOTE_OK;
    }
    mote_status status = planes_keep_owners(s, &before);
    const int passes = known < MIN_SURFACE * s->sample->count ? 1 : 2;
    for (int centred = 0; centred < passes && status == MOTE_OK && planes_owned_points(s) < MIN_FACED * known;
         centred++) {
        planes_put_back(s, &before);
        status = try_patches(s, (patches_pass){0, centred == 1, 0.3, 0.35, HOPELESS * MIN_FACED});
        if (centred == 1 && status == MOTE_OK) status = keep_creased(s);
    }
    if (status == MOTE_OK && planes_owned_points(s) < MIN_FACED * known) {
        planes_put_back(s, &before);
        planes_drop_facing(s);
    }
    planes_free_owners(s->ctx, &before);
    return status;
}

/* ---- passes */

/* What passes know of those before them. */
typedef struct selection {
    double max_noise; /* of planes; 0: unknown */
    bool split;       /* bodies were split: parts of their planes would grow centred */
    bool changed;     /* planes have come since all were grown again */
} selection;

static mote_status grow_freely(planes_local *s, selection *x) {
    (void)x;
    return try_patches(s, (patches_pass){0, false, 0, 0.3, 0});
}

static mote_status split_bodies(planes_local *s, selection *x) {
    MOTE_TRY(planes_find_series(s, &x->split));
    if (!x->split) MOTE_TRY(planes_split_bodies(s, &x->split));
    x->changed = x->split;
    return MOTE_OK;
}

static mote_status cut_bodies(planes_local *s, selection *x) { return planes_cut_bodies(s, &s->bodies, &x->changed); }

static mote_status grow_again(planes_local *s, selection *x) {
    const bool changed = x->changed;
    x->changed = false;
    return changed ? grow_planes_again(s, 0, NULL) : MOTE_OK;
}

static mote_status grow_faces(planes_local *s, selection *x) {
    (void)x;
    return s->params.centred && planes_owned_points(s) < MAX_OWNED * s->sample->count ? try_facing(s) : MOTE_OK;
}

static mote_status grow_centred(planes_local *s, selection *x) {
    if (!s->params.centred || x->split || !have_one_noise(s)) return MOTE_OK;
    return try_patches(s, (patches_pass){0, true, 0.35, 0.4, 0});
}

static mote_status tell_noise(planes_local *s, selection *x) {
    planes_keep_alike(s, ALIKE, false);
    x->max_noise = KNOWN_NOISE * planes_middle_noise(s);
    x->changed = true;
    return MOTE_OK;
}

static mote_status grow_with_noise(planes_local *s, selection *x) {
    return x->max_noise > 0 ? try_patches(s, (patches_pass){x->max_noise, false, 0.4, 0.8, 0}) : MOTE_OK;
}

static mote_status find_sheets(planes_local *s, selection *x) {
    const double noise = x->max_noise / KNOWN_NOISE;
    return noise > MIN_TOLD * s->params.floor ? planes_find_sheets(s, noise) : MOTE_OK;
}

/* What was put aside, and has not become sheets, is a plane of its own noise. */
static mote_status take_aside(planes_local *s, selection *x) {
    (void)x;
    for (uint32_t i = 0; i < s->aside_count && s->plane_count < PLANES_LOCAL_MAX && !mote_stop(s->ctx); i++) {
        planes_growth g;
        if (!planes_grow(s, &s->aside[i], s->aside[i].noise, 0, -1, &g) || !planes_growth_stands(s, &g)) continue;
        if (planes_is_supported(s, &g, PLANES_ALONG) && same_plane(s, &g) < 0) planes_add_growth(s, &g);
    }
    return mote_stopped(s->ctx);
}

/* Twice, and as often again as something was cut: what falls is cut in the first turns. */
static mote_status settle_planes(planes_local *s, selection *x) {
    bool cut = false;
    for (int turn = 0; turn < 2 || cut; turn++) {
        planes_bodies fallen;
        MOTE_TRY(mote_progress(s->ctx, 0.8 + 0.05 * turn, "growing planes"));
        planes_keep_alike(s, PLANES_ALIKE, true);
        MOTE_TRY(grow_planes_again(s, x->max_noise, &fallen));
        cut = false;
        if (turn < LAST_CUT) MOTE_TRY(planes_cut_bodies(s, &fallen, &cut));
    }
    return MOTE_OK;
}

/* Planes that are thinner than planes of this cloud are, and have others around them within a cell, lose their points:
   they are layers of the steps in which a sensor measures. */
static void drop_layers(planes_local *s) {
    const double noise = planes_middle_noise(s), exact = fmax(GROWTH_TOLD_NOISE * s->params.floor, NO_NOISE * noise);
    for (uint32_t i = 0; i < s->plane_count && noise > exact; i++) {
        planes_local_plane *plane = &s->planes[i];
        planes_growth g;
        if (plane->noise > exact) continue;
        memset(&g, 0, sizeof g);
        memcpy(g.normal, plane->normal, sizeof g.normal);
        memcpy(g.at, plane->centroid, sizeof g.at);
        g.noise = plane->noise;
        g.cell = plane->cell;
        g.self = (int32_t)i;
        if (!planes_lay_component(s, &g)) continue;
        const double reach = PLANES_REACH_NOISES * g.noise;
        if (planes_share_of_layers(s, &g, reach, g.cell) > GROWTH_MAX_LAYERS) plane->count = 0;
    }
}

static mote_status drop_facets(planes_local *s, selection *x) {
    (void)x;
    planes_take_sheets(s);
    planes_keep(s, INFINITY, true);
    planes_claim_candidates(s);
    planes_keep(s, INFINITY, true);
    MOTE_TRY(planes_find_bends(s));
    for (uint32_t i = 0; i < s->plane_count; i++) {
        if (s->planes[i].role == PLANES_SCAFFOLD) s->planes[i].count = 0; /* it has done what it is for */
    }
    planes_keep(s, INFINITY, true);
    planes_take_warped(s);
    drop_layers(s);
    planes_keep(s, INFINITY, true);
    return MOTE_OK;
}

/* Bodies hide planes that grow freely, once they are split: so they come first. */
static const struct {
    bool with_noise; /* it comes even if the noise is known from the beginning */
    mote_status (*run)(planes_local *s, selection *x);
} passes[] = {
    {false, grow_freely}, {false, split_bodies}, {false, grow_again},   {false, cut_bodies}, {false, grow_again},
    {false, grow_faces},  {false, grow_centred}, {false, tell_noise},   {false, grow_again}, {true, grow_with_noise},
    {true, find_sheets},  {false, take_aside},   {true, settle_planes}, {true, drop_facets},
};

mote_status planes_select(planes_local *s) {
    selection x = {KNOWN_NOISE * s->params.known_noise, false, false};
    const bool known = x.max_noise > 0;
    MOTE_TRY(planes_share_candidates(s));
    s->bodies.max = PLANES_LOCAL_BODIES;
    s->sheets.max = PLANES_LOCAL_SHEETS;
    qsort(s->patches, s->patch_count, sizeof *s->patches, compare_patches);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (passes[i].with_noise || !known) MOTE_TRY(passes[i].run(s, &x));
    }
    return MOTE_OK;
}
