/* Normals from wide neighbourhoods. Noise that is many spacings thick hides a surface from neighbourhoods that are not
   several times as wide as it is thick. All neighbours that reach so far are thousands; some hundreds of them, taken by
   chance, tell the plane as well as is asked for.

     one of STEP points ──▶ their normals, of MOST_K of them ──▶ each point's are the mean of its nearest in the sample

   The mean is weighted so that the farthest of these counts nothing: from point to point normals do not jump. */
#include "render/picture_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_patch.h"
#include "render/picture_places.h"

#define MOST_K         144u               /* the plane of a disc of 4 noises is 2.4 degrees off by chance */
#define LEAST_K        40u                /* of fewer variation is less by chance, which noise is told by */
#define MOST_NEIGHBORS UINT64_C(10000000) /* of all points of a sample together: a second on two cores */
#define BLENDED        9u                 /* nearest of a sample */
#define BLOCK          UINT64_C(65536)    /* points whose neighbours are in memory at once */

double picture_sample_step(uint64_t points, uint64_t k) {
    const double for_length = (double)k / MOST_K, for_all = sqrt((double)points * (double)k / (double)MOST_NEIGHBORS);
    const double step = fmax(1, fmax(for_length, for_all));
    return (double)k / step < LEAST_K ? 0 : step;
}

static uint64_t choose_rows(const mote_cloud *cloud, double step, uint64_t *rows) {
    const uint64_t points = mote_cloud_count(cloud), limit = (uint64_t)(0x1p32 / step);
    double places[3][VALUES_BLOCK];
    uint64_t count = 0;
    for (uint64_t first = 0; first < points; first += VALUES_BLOCK) {
        const uint64_t rest = points - first;
        const uint32_t some = rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK;
        picture_places_read(cloud, first, some, places);
        for (uint32_t i = 0; i < some; i++) {
            const double place[3] = {places[0][i], places[1][i], places[2][i]};
            if (picture_place_hash(place) >> 32 < limit) rows[count++] = first + i;
        }
    }
    return count;
}

mote_status picture_sample_take(session *s, const mote_cloud *cloud, mote_knn_index *index, uint64_t k, double step,
                                picture_sample *sample) {
    const uint64_t points = mote_cloud_count(cloud);
    memset(sample, 0, sizeof *sample);
    if (!(step > 1)) {
        *sample = (picture_sample){.index = index, .count = points, .k = (uint32_t)k};
        return MOTE_OK;
    }
    uint64_t *rows = malloc((points + 1) * sizeof *rows);
    mote_status status = rows != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        sample->count = choose_rows(cloud, step, rows);
        sample->k = (uint32_t)fmax((double)k * (double)sample->count / (double)points, BLENDED);
        status = mote_cloud_select(s->ctx, cloud, rows, sample->count, &sample->cloud);
    }
    free(rows);
    if (status == MOTE_OK) status = mote_knn_build(s->ctx, sample->cloud, &sample->index);
    if (status != MOTE_OK) picture_sample_free(sample);
    return status;
}

mote_status picture_sample_estimate(const picture_sample *sample, const picture_normals *out) {
    mote_normals_params params = mote_normals_defaults();
    mote_normals_result result;
    memset(&result, 0, sizeof result);
    params.k = sample->k;
    params.orient = MOTE_ORIENT_NONE;
    result.normal_x = out->normal[0];
    result.normal_y = out->normal[1];
    result.normal_z = out->normal[2];
    result.curvature = out->variation;
    return mote_normals_estimate(sample->index, &params, &result);
}

/* near, distance2: [BLENDED] of the sample, from near to far; the signs of their normals are those of the first. */
static void blend(const picture_normals *of, const uint32_t *near, const float *distance2, const picture_normals *out,
                  uint64_t row) {
    const double reach = (double)distance2[BLENDED - 1];
    double sum[3] = {0, 0, 0}, variation = 0, weights = 0;
    for (uint32_t j = 0; j < BLENDED && near[j] != UINT32_MAX; j++) {
        const double t = reach > 0 && reach < INFINITY ? 1 - (double)distance2[j] / reach : 1, weight = t * t;
        double cosine = 0;
        for (int k = 0; k < 3; k++) cosine += (double)of->normal[k][near[j]] * (double)of->normal[k][near[0]];
        for (int k = 0; k < 3; k++) sum[k] += (cosine < 0 ? -weight : weight) * (double)of->normal[k][near[j]];
        variation += weight * (double)of->variation[near[j]];
        weights += weight;
    }
    const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int k = 0; k < 3; k++) out->normal[k][row] = length > 0 ? (float)(sum[k] / length) : 0;
    out->variation[row] = weights > 0 ? (float)(variation / weights) : 0;
}

mote_status picture_sample_spread(session *s, const mote_cloud *cloud, const picture_sample *sample,
                                  const picture_normals *of, const picture_normals *out) {
    const uint64_t points = mote_cloud_count(cloud);
    uint64_t *rows = malloc(BLOCK * sizeof *rows);
    uint32_t *near = malloc(BLOCK * BLENDED * sizeof *near);
    float *distance2 = malloc(BLOCK * BLENDED * sizeof *distance2);
    mote_status status = rows != NULL && near != NULL && distance2 != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t first = 0; first < points && status == MOTE_OK; first += BLOCK) {
        const uint64_t count = points - first < BLOCK ? points - first : BLOCK;
        for (uint64_t i = 0; i < count; i++) rows[i] = first + i;
        status = picture_patch_near(s, cloud, sample->index, rows, count, BLENDED, near, distance2);
        if (status != MOTE_OK) break;
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
        for (int64_t i = 0; i < (int64_t)count; i++) {
            blend(of, near + (uint64_t)i * BLENDED, distance2 + (uint64_t)i * BLENDED, out, first + (uint64_t)i);
        }
    }
    free(rows);
    free(near);
    free(distance2);
    return status;
}

void picture_sample_free(picture_sample *sample) {
    if (sample->cloud != NULL) mote_knn_destroy(sample->index);
    mote_cloud_destroy(sample->cloud);
    memset(sample, 0, sizeof *sample);
}
