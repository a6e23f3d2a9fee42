/* What of a cloud makes a surface, from the neighbours that each point has in the cloud.

     neighbours ──▶ normals and flatness, of as many neighbours as noise asks for ──▶ points that stand alone ──▶ rest

   Three kinds of points look alike where only a picture's pixels are compared, and are told apart here:

     on a surface      its neighbours lie on a plane, near or far: however sparse, it is part of it
     of a crowd        its neighbours lie all around, as near as theirs: leaves, wires, dust; a disc of its own size
     alone             much farther from its neighbours than these are from each other, and off their surface, or one of
                       a few that lie far apart and all around: a stray, which would be a large splat where nothing
                       is. The first sparse points behind the edge of a dense part lie on its surface. */
#include "render/picture_surface.h"
#include "pi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_patch.h"
#include "render/picture_places.h"
#include "render/picture_sample.h"
#include "text.h"

#define POINT_BYTES     88u /* half of it samples of a third at most, with their indexes and rows */
#define FIRST_K         16u
#define SHEET_K         8u    /* they reach 1.6 spacings; FIRST_K reach 2.3 */
#define WIDEST          24u   /* of so many points one at most is a neighbour: more are another side of what is small */
#define WIDEST_OF_FEW   144u  /* up to a quarter of all: at a tenth of a spacing noise is told from bends by so many */
#define LANDSCAPE_K     432u  /* the most in a landscape: what is thicker stands on its ground */
#define SURFACE_MOST    0.175 /* surface variation: of crowds it is 0.2 and more, up to WIDEST */
#define MORE            3u    /* times as many neighbours, while noise hides how flat a surface is */
#define FLAT_ENOUGH     0.004 /* surface variation: normals are a few degrees off at most */
#define SHEETS          0.05 /* surface variation of FIRST_K where two sheets are within their reach is 0.08 at least */
#define NOISE_FALLS     1.4  /* with thrice the neighbours noise is a third of it, and bends thrice as much: 6 : 1 */
#define CROWD_MOST      1.5  /* times the median distance to neighbours: size of what lies on no surface */
#define SPLAT_MOST      2.25 /* the same: of what lies on one, or seems to */
#define LEAF_SHARE      0.25 /* of a splat's width is that of a leaf with the same neighbours: render_splat_math.h */
#define MEAN_OF_NEAREST 1.1  /* spacings: the mean distance to OUTLIER_K others on a plane */
#define OFF_NOISE       2.0  /* times the median: so much lies off a surface that noise makes scattered */
#define FAR             3.0  /* times the median distance to neighbours: a point that may stand alone */
#define LONELY          2.5  /* times the median of its neighbours' own distances to theirs: it does */
#define NEAR            1.5  /* the same beside a clean surface, from which even a small splat stands off as a petal */
#define OFF_SURFACE     0.15 /* part of the way to its neighbours that goes across their surface; of one on it less */
#define OFF_NEAR        0.5  /* the same beside a clean surface */
#define MOST_ROUGH      0.005 /* of all points lie on no surface, though not far from others: more are leaves */
#define NOISY_ROUGH     0.1   /* the same of a noisy surface, which leaves some points off it */
#define FOLDED          0.05  /* the same of an object that has fine folds, not edges alone */
#define OUTLIER_K       8u    /* as mote outliers */
#define JUDGES          24u   /* neighbours that are asked about a point */
#define ROUNDS          3
#define MOST_STRAYS     0.1  /* of all points: more are no strays, the cloud is like that */
#define MOST_SCATTER    0.25 /* of all points: of a crowd, only lonely points are strays */

typedef struct survey {
    session *s;
    const mote_cloud *cloud;
    uint64_t points;
    const mote_column *axis[3];
    mote_knn_index *index;
    float *normal[3], *variation; /* [points] of k neighbours */
    float *next[4];               /* the same, of more */
    picture_sample sample;        /* of what points the estimates are, and the next */
    picture_sample next_sample;
    float *distance;  /* [points] mean, to OUTLIER_K others */
    double scattered; /* surface variation from which on a point lies on no surface */
    uint8_t *stray;   /* [points] 1: stands alone */
} survey;

static picture_normals normals_of(float *const normal[3], float *variation) {
    return (picture_normals){{normal[0], normal[1], normal[2]}, variation};
}

static void swap_arrays(survey *v) {
    const picture_sample sample = v->sample;
    for (int k = 0; k < 4; k++) {
        float **now = k < 3 ? &v->normal[k] : &v->variation, *other = v->next[k];
        v->next[k] = *now;
        *now = other;
    }
    v->sample = v->next_sample;
    v->next_sample = sample;
}

/* Of points as far around as k neighbours in the cloud reach, of a sample that has one of step points. */
static mote_status estimate(survey *v, uint64_t k, double step) {
    const picture_normals out = normals_of(v->next, v->next[3]);
    picture_sample_free(&v->next_sample);
    mote_status status = picture_sample_take(v->s, v->cloud, v->index, k, step, &v->next_sample);
    if (status == MOTE_OK) status = picture_sample_estimate(&v->next_sample, &out);
    swap_arrays(v);
    return status;
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

#define HALF_BITS 16u

/* The median of values that are not negative, exactly, so that the order of points decides nothing: such floats are in
   the order of their bits. Counted by the upper half of these, then, of those in the middle, by the lower. */
static double median_of(const float *values, uint64_t count, uint64_t *counts) {
    uint64_t below = 0;
    uint32_t found = 0;
    for (uint32_t shift = HALF_BITS, half = 0; half < 2 && count > 0; half++, shift = 0) {
        memset(counts, 0, sizeof *counts << HALF_BITS);
        for (uint64_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            if (half == 0 || bits >> HALF_BITS == found >> HALF_BITS) counts[bits >> shift & 0xFFFFu]++;
        }
        uint32_t bin = 0;
        while (below + counts[bin] <= count / 2) below += counts[bin++];
        found |= bin << shift;
    }
    float median;
    memcpy(&median, &found, sizeof median);
    return median;
}

static double share_above(const float *values, uint64_t count, double limit) {
    uint64_t above = 0;
    for (uint64_t i = 0; i < count; i++) above += values[i] > limit;
    return count > 0 ? (double)above / (double)count : 0;
}

/* The most neighbours that are tried. Of few points those around one are more of all, or there would be too few. */
static uint64_t widest_of(uint64_t points, bool is_landscape) {
    const uint64_t of_few = points / 4 < WIDEST_OF_FEW ? points / 4 : WIDEST_OF_FEW;
    const uint64_t widest = points / WIDEST > of_few ? points / WIDEST : of_few;
    return is_landscape && widest > LANDSCAPE_K ? LANDSCAPE_K : widest;
}

/* More neighbours than k, as many as make noise flat, or the same. flat: surface variation of k. Within the noise it
   first grows with their number, then falls; within a crowd it does not fall so far. */
static mote_status find_noise(survey *v, uint64_t widest, uint64_t *counts, uint64_t *k, double *flat) {
    mote_status status = MOTE_OK;
    double most = *flat;
    for (uint64_t tried = *k; *flat > FLAT_ENOUGH && tried < widest;) {
        tried = tried * MORE < widest ? tried * MORE : widest;
        const double step = picture_sample_step(v->points, tried);
        if (!(step > 0)) continue;
        status = estimate(v, tried, step);
        if (status != MOTE_OK) break;
        const double flatter = median_of(v->variation, v->sample.count, counts);
        most = fmax(most, flatter);
        if (flatter <= SURFACE_MOST && flatter * NOISE_FALLS <= most) {
            *flat = most = flatter;
            *k = tried;
            continue;
        }
        swap_arrays(v);
        if (*flat <= PICTURE_SCATTERED) break;
    }
    return status;
}

/* The estimates of a sample become those of all points. */
static mote_status spread(survey *v) {
    const picture_normals of = normals_of(v->normal, v->variation), all = normals_of(v->next, v->next[3]);
    if (v->sample.cloud == NULL) return MOTE_OK;
    const mote_status status = picture_sample_spread(v->s, v->cloud, &v->sample, &of, &all);
    picture_sample_free(&v->next_sample);
    swap_arrays(v);
    return status;
}

/* As many neighbours as make a noisy surface flat. Of sheets that are a few spacings apart so do fewer: noise is as
   thick around the nearest, and sheets are not. */
static mote_status find_normals(survey *v, const picture_plan *plan, bool is_landscape, uint64_t *counts,
                                picture_surface *surface) {
    uint64_t k = plan->has_k ? plan->params.k : FIRST_K;
    mote_status status = estimate(v, k, 1);
    double flat = status == MOTE_OK ? median_of(v->variation, v->points, counts) : 0;
    if (status == MOTE_OK && !plan->has_k && flat > SHEETS) {
        status = estimate(v, SHEET_K, 1);
        const double of_few = status == MOTE_OK ? median_of(v->variation, v->points, counts) : 0;
        if (of_few <= FLAT_ENOUGH) {
            flat = of_few;
            k = SHEET_K;
        } else {
            swap_arrays(v);
        }
    }
    if (status == MOTE_OK && !plan->has_k)
        status = find_noise(v, widest_of(v->points, is_landscape), counts, &k, &flat);
    if (status == MOTE_OK) status = spread(v);
    surface->k = (uint32_t)k;
    surface->is_noisy = k > FIRST_K || plan->has_k;
    v->scattered = k > FIRST_K && !plan->has_k ? fmax(PICTURE_SCATTERED, OFF_NOISE * flat) : PICTURE_SCATTERED;
    /* Points in a disc of radius r have a variance of r²/4 along either axis, and k of them r² = k/π spacings². */
    surface->noise = flat < 1.0 / 3 ? sqrt(flat / (1 - flat) * (double)k / (2 * PI)) : 0;
    return status;
}

/* ---- points that stand alone */

/* Which part of the way to its neighbours goes across their surfaces: 0 on one, 1 above it. */
static double off_surface(const survey *v, uint64_t row, const uint32_t *judges) {
    double at[3], across = 0, way = 0;
    picture_place_read(v->axis, row, at);
    for (uint32_t j = 0; j <= JUDGES; j++) {
        double other[3], along = 0, square = 0;
        if (judges[j] == UINT32_MAX || judges[j] == row) continue;
        picture_place_read(v->axis, judges[j], other);
        for (int k = 0; k < 3; k++) {
            along += (at[k] - other[k]) * (double)v->normal[k][judges[j]];
            square += (at[k] - other[k]) * (at[k] - other[k]);
        }
        across += fabs(along);
        way += sqrt(square);
    }
    return way > 0 ? across / way : 0;
}

/* Whether a point is farther from its neighbours than these are from theirs, by a factor. */
static bool is_apart(const survey *v, uint64_t row, const uint32_t *judges, double factor) {
    float theirs[JUDGES + 1];
    uint32_t n = 0;
    for (uint32_t j = 0; j <= JUDGES; j++) {
        if (judges[j] != UINT32_MAX && judges[j] != row) theirs[n++] = v->distance[judges[j]];
    }
    qsort(theirs, n, sizeof *theirs, compare_floats);
    return n > 0 && v->distance[row] > factor * theirs[n / 2];
}

static bool is_lonely(const survey *v, uint64_t row, const uint32_t *judges) {
    return is_apart(v, row, judges, LONELY) && off_surface(v, row, judges) > OFF_SURFACE;
}

enum { NOT_FAR, FAR_ON_SURFACE, FAR_ALONE };

/* What most of its neighbours that are far themselves are; where none is, what it seems to be. Of a sparse part of a
   surface, a few points seem to have neighbours all around; of strays, a few seem to lie on a plane. */
static uint8_t ask_judges(const survey *v, uint64_t row, const uint32_t *judges) {
    int alone = 0;
    for (uint32_t j = 0; j <= JUDGES; j++) {
        if (judges[j] == UINT32_MAX || judges[j] == row || v->stray[judges[j]] == NOT_FAR) continue;
        alone += v->stray[judges[j]] == FAR_ALONE ? 1 : -1;
    }
    return alone > 0 ? FAR_ALONE : alone < 0 ? FAR_ON_SURFACE : v->stray[row];
}

/* rows: [count] of points that are far from their neighbours. is_crowd: that most neighbours lie all around says
   nothing. lonely, next: [count] scratch */
static void judge(survey *v, const uint64_t *rows, uint64_t count, const uint32_t *judges, bool is_crowd,
                  uint8_t *lonely, uint8_t *next) {
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(v->s->ctx))
    for (int64_t c = 0; c < (int64_t)count; c++) {
        const uint64_t row = rows[c];
        lonely[c] = is_lonely(v, row, judges + (uint64_t)c * (JUDGES + 1));
        const bool alone = lonely[c] != 0 || (!is_crowd && v->variation[row] > v->scattered);
        v->stray[row] = alone ? FAR_ALONE : FAR_ON_SURFACE;
    }
    for (int round = 0; round < ROUNDS && !is_crowd; round++) {
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(v->s->ctx))
        for (int64_t c = 0; c < (int64_t)count; c++) {
            next[c] = lonely[c] != 0 ? FAR_ALONE : ask_judges(v, rows[c], judges + (uint64_t)c * (JUDGES + 1));
        }
        for (uint64_t c = 0; c < count; c++) v->stray[rows[c]] = next[c];
    }
    for (uint64_t c = 0; c < count; c++) v->stray[rows[c]] = v->stray[rows[c]] == FAR_ALONE;
}

/* The points that are farther from their neighbours than far. */
static uint64_t list_far(const survey *v, double far, uint64_t *rows) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < v->points; i++) {
        if (!(v->distance[i] > far)) continue;
        if (rows != NULL) rows[count] = i;
        count++;
    }
    return count;
}

/* Beside a clean surface, dense or sparse: what is apart from it, and off it, too. rows: [count] of points */
static void judge_near(survey *v, const uint64_t *rows, uint64_t count, const uint32_t *judges) {
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(v->s->ctx))
    for (int64_t c = 0; c < (int64_t)count; c++) {
        const uint32_t *const of = judges + (uint64_t)c * (JUDGES + 1);
        if (v->stray[rows[c]] != 0) continue;
        v->stray[rows[c]] = is_apart(v, rows[c], of, NEAR) && off_surface(v, rows[c], of) > OFF_NEAR;
    }
}

/* Of the points whose distance to their neighbours is above far. is_near: they lie beside a clean surface */
static mote_status judge_beyond(survey *v, double far, bool is_crowd, bool is_near) {
    const uint64_t count = list_far(v, far, NULL);
    uint64_t *rows = calloc(count + 1, sizeof *rows);
    uint32_t *judges = malloc((count + 1) * (JUDGES + 1) * sizeof *judges);
    uint8_t *scratch = malloc(2 * count + 1);
    mote_status status = rows != NULL && judges != NULL && scratch != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && count > 0) {
        list_far(v, far, rows);
        status = picture_patch_near(v->s, v->cloud, v->index, rows, count, JUDGES + 1, judges, NULL);
        if (status == MOTE_OK && is_near) judge_near(v, rows, count, judges);
        if (status == MOTE_OK && !is_near) judge(v, rows, count, judges, is_crowd, scratch, scratch + count);
    }
    free(rows);
    free(judges);
    free(scratch);
    return status;
}

/* Whether nearly all points that are not far from others lie on surfaces: no leaves or wires are among them. */
static bool is_smooth(const survey *v, double far) {
    uint64_t scattered = 0;
    for (uint64_t i = 0; i < v->points; i++) scattered += v->distance[i] <= far && v->variation[i] > v->scattered;
    return (double)scattered < MOST_ROUGH * (double)v->points;
}

static mote_status find_strays(survey *v, uint64_t *counts, picture_surface *surface) {
    mote_outliers_params params = mote_outliers_defaults();
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    picture_places_axes(v->cloud, v->axis);
    params.k = OUTLIER_K;
    result.distance = v->distance;
    mote_status status = mote_outliers_find(v->index, &params, &result);
    const double median = status == MOTE_OK ? median_of(v->distance, v->points, counts) : 0;
    const bool is_crowd = share_above(v->variation, v->points, v->scattered) > MOST_SCATTER;
    if (status == MOTE_OK) status = judge_beyond(v, FAR * median, is_crowd, false);
    if (status == MOTE_OK && !surface->is_noisy && !is_crowd && is_smooth(v, FAR * median)) {
        status = judge_beyond(v, NEAR * median, false, true);
    }
    for (uint64_t i = 0; i < v->points; i++) surface->strays += v->stray[i];
    if ((double)surface->strays <= MOST_STRAYS * (double)v->points) return status;
    memset(v->stray, 0, v->points);
    surface->strays = 0;
    return status;
}

/* ---- what stays */

static mote_status keep_rest(survey *v, picture_surface *surface) {
    const uint64_t rest = v->points - surface->strays;
    uint64_t *wide = malloc((rest + 1) * sizeof *wide), n = 0;
    surface->rows = malloc((rest + 1) * sizeof *surface->rows);
    mote_status status = wide != NULL && surface->rows != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < v->points && status == MOTE_OK; i++) {
        if (v->stray[i] != 0) continue;
        wide[n] = i;
        surface->rows[n++] = (uint32_t)i;
    }
    if (status == MOTE_OK) status = mote_cloud_select(v->s->ctx, v->cloud, wide, rest, &surface->kept);
    free(wide);
    return status;
}

/* Which points lie on a surface, and their sizes: into the arrays of estimates. Splats are as wide as the points' own
   neighbours say where enough lie on no surface; but folds that are as fine as an object's points are apart are closed
   better by the picture's own neighbours. */
static mote_status find_sizes(survey *v, bool is_landscape, picture_surface *surface) {
    const picture_points of = {
        v->cloud, v->index, {v->normal[0], v->normal[1], v->normal[2]}, v->variation, v->distance};
    uint64_t scattered = 0, leaves = 0;
    for (uint64_t i = 0; i < v->points; i++) scattered += v->stray[i] == 0 && v->variation[i] > v->scattered;
    surface->scattered = (double)scattered / (double)(v->points - surface->strays + 1);
    surface->is_rough = surface->scattered > (surface->is_noisy ? NOISY_ROUGH : MOST_ROUGH);
    surface->has_normals = surface->is_rough || surface->is_noisy;
    if (!surface->has_normals) return MOTE_OK;
    const mote_status status = picture_patch_find(v->s, &of, v->next[0], v->next[1], &leaves);
    const bool is_folded = surface->scattered > FOLDED && 2 * leaves < scattered;
    if (!surface->is_noisy && !is_landscape && is_folded) surface->is_rough = false;
    return status;
}

static bool is_on_surface(const survey *v, const picture_surface *surface, uint64_t row) {
    return surface->is_rough ? v->next[0][row] > 0 : v->variation[row] <= v->scattered;
}

/* How far a point of what is rough or noisy is from its neighbours, as its splat should know it: of a leaf or a wire
   less, of a mere noisy surface nothing. The picture's own neighbours tell that better: what noise moves out over the
   contour is apart, and is no larger there. */
static double spacing_of(const survey *v, const picture_surface *surface, uint64_t row, double median) {
    const bool is_surface = is_on_surface(v, surface, row);
    const double size = (double)v->next[1][row], most = (is_surface ? SPLAT_MOST : CROWD_MOST) * median;
    const double spacing = fmin(size, most) / MEAN_OF_NEAREST;
    if (is_surface && !surface->is_rough) return 0;
    return is_surface ? (LEAF_SHARE + (1 - LEAF_SHARE) * (double)v->next[0][row]) * spacing : spacing;
}

/* Normals and sizes of the points that stay. */
static void take_normals(survey *v, bool keeps_all, uint64_t *counts, picture_surface *surface) {
    const double median = median_of(v->distance, v->points, counts);
    uint64_t n = 0;
    for (uint64_t i = 0; i < v->points && surface->has_normals; i++) {
        if (!keeps_all && v->stray[i] != 0) continue;
        for (int k = 0; k < 3; k++) v->normal[k][n] = is_on_surface(v, surface, i) ? v->normal[k][i] : 0;
        v->distance[n++] = (float)spacing_of(v, surface, i, median);
    }
    for (int k = 0; k < 3; k++) {
        surface->normal[k] = v->normal[k];
        v->normal[k] = NULL;
    }
    surface->spacing = v->distance;
    v->distance = NULL;
}

static bool reserve(survey *v) {
    const size_t bytes = (size_t)v->points * sizeof(float) + 1;
    bool complete = (v->distance = malloc(bytes)) != NULL && (v->variation = malloc(bytes)) != NULL &&
                    (v->stray = calloc(1, (size_t)v->points + 1)) != NULL;
    for (int k = 0; k < 3 && complete; k++) complete = (v->normal[k] = malloc(bytes)) != NULL;
    for (int k = 0; k < 4 && complete; k++) complete = (v->next[k] = malloc(bytes)) != NULL;
    return complete;
}

static void release(survey *v) {
    for (int k = 0; k < 3; k++) free(v->normal[k]);
    for (int k = 0; k < 4; k++) free(v->next[k]);
    free(v->variation);
    free(v->distance);
    free(v->stray);
    picture_sample_free(&v->sample);
    picture_sample_free(&v->next_sample);
    mote_knn_destroy(v->index);
}

int picture_surface_find(session *s, const picture_plan *plan, const mote_cloud *cloud, bool is_landscape,
                         picture_surface *surface) {
    survey v = {.s = s, .cloud = cloud, .points = mote_cloud_count(cloud)};
    const uint64_t bytes = POINT_BYTES * v.points, max = s->options.memory_bytes;
    const bool fits = max == 0 || mote_context_memory_bytes(s->ctx) + bytes <= max;
    picture_surface_free(surface);
    if (v.points <= FIRST_K || v.points > PICTURE_SURFACE_MAX || !fits) return EXIT_DONE;
    uint64_t *counts = malloc(sizeof *counts << HALF_BITS);
    mote_status status = counts != NULL && reserve(&v) ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_knn_build(s->ctx, cloud, &v.index);
    if (status == MOTE_OK) status = picture_patch_thinness(s, cloud, v.index, &surface->thinness);
    if (status == MOTE_OK) status = find_normals(&v, plan, is_landscape, counts, surface);
    if (status == MOTE_OK) status = find_strays(&v, counts, surface);
    if (status == MOTE_OK) status = find_sizes(&v, is_landscape, surface);
    if (status == MOTE_OK && surface->strays > 0 && !plan->keep_strays) status = keep_rest(&v, surface);
    if (status == MOTE_OK) take_normals(&v, surface->kept == NULL, counts, surface);
    surface->known = status == MOTE_OK;
    release(&v);
    free(counts);
    if (status == MOTE_OK) return EXIT_DONE;
    picture_surface_free(surface);
    if (mote_context_message(s->ctx)[0] != '\0') return session_fail(s, status, false);
    return session_error(s, EXIT_RESOURCES, "out of memory: the surface of %s points", text_count(v.points).chars);
}

void picture_surface_tell(session *s, const picture_surface *surface, uint64_t points) {
    if (surface->kept == NULL) return;
    session_note(s,
                 "%s of %s points stand alone and are not drawn (\"mote outliers\" removes such); --keep-strays "
                 "draws them",
                 text_count(surface->strays).chars, text_count(points).chars);
}

void picture_surface_free(picture_surface *surface) {
    for (int k = 0; k < 3; k++) free(surface->normal[k]);
    free(surface->spacing);
    free(surface->rows);
    mote_cloud_destroy(surface->kept);
    memset(surface, 0, sizeof *surface);
}
