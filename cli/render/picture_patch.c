/* A point lies on a surface if its neighbours do, in two ways, which leaves, branches and wires fail:

     flat      they lie near its plane: of leaves they are all around it
     agreeing  their planes are its plane: where leaves are flat by chance, and around a wire, they turn all ways

   At an edge neither is so. A point there joins a face beside it, if it lies on one: a leaf does not.

   Each is a share from 0 to 1, and the lower counts: so points that are nearly alike are drawn nearly alike. The lines
   of a scanner, whose near neighbours lie on one line, too, agree where they lie on a surface. */
#include "render/picture_patch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_places.h"

#define NEIGHBORS 16u
#define BLOCK     UINT64_C(65536) /* points whose neighbours are in memory at once */
/* What halving and doubling each does: docs/history/render.md, "Limits of a patch". */
#define NOT_FLAT     0.06  /* surface variation: of a plane 0 */
#define AGREEING     0.95  /* mean squared cosine between normals: of a surface that bends by 13 degrees */
#define NOT_AGREEING 0.6   /* the same at the edge of a cube; of normals at random 1/3 */
#define JOINED       0.33f /* share: so flat are points of a face; its edge is, as its splats should end there */
#define OFF_FACE     0.25  /* distances to neighbours: so far from a plane is a point of it */
#define APART        1.2   /* times the median distance of its neighbours: at an edge they lie on one side alone */

/* The flat point whose face another is part of. */
typedef struct face {
    uint64_t row;
    uint32_t of; /* UINT32_MAX: none */
} face;

static float share_between(double value, double none, double all) {
    return (float)fmin(fmax((value - none) / (all - none), 0), 1);
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* near: [NEIGHBORS + 1] the point's nearest, itself among them; UINT32_MAX: none */
static void judge_point(const picture_points *of, uint64_t row, const uint32_t *near, float *flat, float *size) {
    float distance[NEIGHBORS + 1];
    double agreement = 0;
    uint32_t count = 0;
    for (uint32_t j = 0; j <= NEIGHBORS; j++) {
        double cosine = 0;
        if (near[j] == UINT32_MAX || near[j] == row) continue;
        for (int k = 0; k < 3; k++) cosine += (double)of->normal[k][row] * (double)of->normal[k][near[j]];
        agreement += cosine * cosine;
        distance[count++] = of->distance[near[j]];
    }
    *flat = 0;
    *size = of->distance[row];
    if (count == 0) return;
    qsort(distance, count, sizeof *distance, compare_floats);
    *flat = fminf(share_between((double)of->variation[row], NOT_FLAT, 0),
                  share_between(agreement / count, NOT_AGREEING, AGREEING));
    *size = fminf(*size, (float)APART * distance[count / 2]);
}

/* A point at an edge, between two faces, is on that of its flattest neighbour of whose plane it is a part. */
static void join_face(const picture_points *of, const mote_column *const axis[3], uint64_t row, const uint32_t *near,
                      const float *flat, const float *size, face *found) {
    double at[3];
    uint32_t best = UINT32_MAX;
    picture_place_read(axis, row, at);
    for (uint32_t j = 0; j <= NEIGHBORS; j++) {
        double off = 0, place[3];
        if (near[j] == UINT32_MAX || flat[near[j]] < JOINED || (best != UINT32_MAX && flat[near[j]] <= flat[best]))
            continue;
        picture_place_read(axis, near[j], place);
        for (int k = 0; k < 3; k++) off += (at[k] - place[k]) * (double)of->normal[k][near[j]];
        if (fabs(off) <= OFF_FACE * (double)size[row]) best = near[j];
    }
    found->row = row;
    found->of = best;
}

mote_status picture_patch_near(session *s, const mote_cloud *cloud, mote_knn_index *index, const uint64_t *rows,
                               uint64_t count, uint32_t k, uint32_t *near, float *distance2) {
    mote_cloud *queries = NULL;
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    params.k = k;
    result.index32 = near;
    result.distance2 = distance2;
    mote_status status = mote_cloud_select(s->ctx, cloud, rows, count, &queries);
    if (status == MOTE_OK) status = mote_knn_search(index, queries, &params, &result);
    mote_cloud_destroy(queries);
    return status;
}

static bool is_leaf(const picture_points *of, uint64_t row, const uint32_t *near) {
    uint32_t others = 0, around = 0;
    for (uint32_t j = 0; j <= NEIGHBORS; j++) {
        if (near[j] == UINT32_MAX || near[j] == row) continue;
        around += of->variation[near[j]] > PICTURE_SCATTERED;
        others++;
    }
    return of->variation[row] > PICTURE_SCATTERED && 2 * around > others;
}

static mote_status judge_all(session *s, const picture_points *of, uint64_t *rows, uint32_t *near, float *flat,
                             float *size, uint64_t *leaves) {
    const uint64_t points = mote_cloud_count(of->cloud);
    mote_status status = MOTE_OK;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += BLOCK) {
        const uint64_t count = points - first < BLOCK ? points - first : BLOCK;
        for (uint64_t i = 0; i < count; i++) rows[i] = first + i;
        status = picture_patch_near(s, of->cloud, of->index, rows, count, NEIGHBORS + 1, near, NULL);
        if (status != MOTE_OK) break;
        uint64_t found = 0;
#pragma omp parallel for schedule(static) reduction(+ : found) num_threads(mote_context_threads(s->ctx))
        for (int64_t i = 0; i < (int64_t)count; i++) {
            const uint64_t row = rows[i];
            const uint32_t *const those = near + (uint64_t)i * (NEIGHBORS + 1);
            judge_point(of, row, those, &flat[row], &size[row]);
            found += is_leaf(of, row, those);
        }
        *leaves += found;
    }
    return status;
}

/* Faces are found for all points before one of them joins any. */
static mote_status join_faces(session *s, const picture_points *of, uint64_t *rows, uint32_t *near, float *flat,
                              const float *size, face *found, uint64_t *found_count) {
    const uint64_t points = mote_cloud_count(of->cloud);
    const mote_column *axis[3];
    mote_status status = MOTE_OK;
    *found_count = 0;
    picture_places_axes(of->cloud, axis);
    for (uint64_t next = 0; next < points && status == MOTE_OK;) {
        uint64_t count = 0;
        for (; next < points && count < BLOCK; next++) {
            if (flat[next] < JOINED) rows[count++] = next;
        }
        if (count == 0) break;
        status = picture_patch_near(s, of->cloud, of->index, rows, count, NEIGHBORS + 1, near, NULL);
        if (status != MOTE_OK) break;
        face *const to = found + *found_count;
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
        for (int64_t i = 0; i < (int64_t)count; i++) {
            join_face(of, axis, rows[i], near + (uint64_t)i * (NEIGHBORS + 1), flat, size, &to[i]);
        }
        *found_count += count;
    }
    return status;
}

mote_status picture_patch_find(session *s, const picture_points *of, float *flat, float *size, uint64_t *leaves) {
    const uint64_t points = mote_cloud_count(of->cloud);
    uint64_t *rows = malloc(BLOCK * sizeof *rows), count = 0;
    uint32_t *near = malloc(BLOCK * (NEIGHBORS + 1) * sizeof *near);
    face *faces = malloc((points + 1) * sizeof *faces);
    mote_status status = rows != NULL && near != NULL && faces != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    *leaves = 0;
    if (status == MOTE_OK) status = judge_all(s, of, rows, near, flat, size, leaves);
    if (status == MOTE_OK) status = join_faces(s, of, rows, near, flat, size, faces, &count);
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) {
        const uint64_t row = faces[i].row, of_face = faces[i].of;
        if (of_face == UINT32_MAX) continue;
        for (int k = 0; k < 3; k++) of->normal[k][row] = of->normal[k][of_face];
        flat[row] = JOINED;
    }
    free(rows);
    free(near);
    free(faces);
    return status;
}

/* ---- lines */

#define EARLY  4u
#define LATE   64u
#define SAMPLE UINT64_C(4096) /* points that are asked, about */

/* Returns how many rows there are, most at most. They are chosen by where they are, so that order decides nothing. */
static uint64_t choose_rows(const mote_cloud *cloud, uint64_t most, uint64_t *rows) {
    const uint64_t points = mote_cloud_count(cloud), step = points / SAMPLE + 1;
    double places[3][VALUES_BLOCK];
    uint64_t count = 0;
    for (uint64_t first = 0; first < points && count < most; first += VALUES_BLOCK) {
        const uint64_t rest = points - first;
        const uint32_t some = rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK;
        picture_places_read(cloud, first, some, places);
        for (uint32_t i = 0; i < some && count < most; i++) {
            const double place[3] = {places[0][i], places[1][i], places[2][i]};
            if (picture_place_hash(place) % step == 0) rows[count++] = first + i;
        }
    }
    return count;
}

static mote_status find_ratios(session *s, const mote_cloud *cloud, mote_knn_index *index, const uint64_t *rows,
                               uint64_t count, float *distance2, float *ratios, uint64_t *known) {
    const mote_status status = picture_patch_near(s, cloud, index, rows, count, LATE + 1, NULL, distance2);
    *known = 0;
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) {
        const float early = distance2[i * (LATE + 1) + EARLY], late = distance2[i * (LATE + 1) + LATE];
        if (early > 0 && late < INFINITY) ratios[(*known)++] = late / early;
    }
    return status;
}

mote_status picture_patch_thinness(session *s, const mote_cloud *cloud, mote_knn_index *index, double *thinness) {
    const uint64_t most = 4 * SAMPLE;
    uint64_t *rows = malloc(most * sizeof *rows), known = 0;
    float *distance2 = malloc(most * (LATE + 1) * sizeof *distance2), *ratios = malloc(most * sizeof *ratios);
    mote_status status = rows != NULL && distance2 != NULL && ratios != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    *thinness = 0;
    if (status == MOTE_OK && mote_cloud_count(cloud) > LATE) {
        const uint64_t count = choose_rows(cloud, most, rows);
        status = find_ratios(s, cloud, index, rows, count, distance2, ratios, &known);
    }
    if (status == MOTE_OK && known > 0) {
        qsort(ratios, known, sizeof *ratios, compare_floats);
        *thinness = sqrt((double)ratios[known / 2]);
    }
    free(rows);
    free(distance2);
    free(ratios);
    return status;
}
