/* What is up in a cloud, where no option says it: the points that the rule (up_rule.c) is asked about. */
#include "render/picture_up.h"

#include <stdlib.h>
#include <string.h>

#include "render/picture_places.h"

#define SAMPLE_POINTS (1u << 17) /* of larger clouds, about as many */

/* A number that a place always has, wherever in the cloud its point stands. */
static uint64_t hash_of(const double place[3]) {
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        uint64_t bits;
        memcpy(&bits, &place[k], sizeof bits);
        hash = (hash ^ bits ^ bits >> 32) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Points of a block that are taken: those in the box, of larger clouds by a hash of their place. */
static uint32_t take_block(const mote_cloud *cloud, const mote_box *box, uint64_t block, uint64_t step,
                           float taken[3][VALUES_BLOCK]) {
    const uint64_t points = mote_cloud_count(cloud), first = block * VALUES_BLOCK, rest = points - first;
    const uint32_t count = rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK;
    double places[3][VALUES_BLOCK];
    uint32_t n = 0;
    picture_places_read(cloud, first, count, places);
    for (uint32_t i = 0; i < count; i++) {
        const double place[3] = {places[0][i], places[1][i], places[2][i]};
        bool inside = step == 1 || hash_of(place) % step == 0;
        for (int k = 0; k < 3; k++) {
            inside = inside && place[k] >= box->min[k] && place[k] <= box->max[k];
            taken[k][n] = (float)(place[k] - box->min[k]);
        }
        n += inside;
    }
    return n;
}

/* Which points are taken does not hang on their order, nor on threads; a few places of very many points each may be
   more than a sample holds, and then say nothing. */
static bool take_sample(const mote_cloud *cloud, const mote_box *box, int threads, up_sample *out) {
    const uint64_t points = mote_cloud_count(cloud), blocks = (points + VALUES_BLOCK - 1) / VALUES_BLOCK;
    const uint64_t step = points / SAMPLE_POINTS + 1, most = 2 * (uint64_t)SAMPLE_POINTS;
    bool complete = true;
    uint64_t count = 0;
    for (int k = 0; k < 3; k++) {
        out->at[k] = malloc(most * sizeof(float));
        complete = complete && out->at[k] != NULL;
    }
    if (!complete) return false;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t b = 0; b < (int64_t)blocks; b++) {
        float taken[3][VALUES_BLOCK];
        const uint32_t n = take_block(cloud, box, (uint64_t)b, step, taken);
        uint64_t at;
#pragma omp atomic capture
        {
            at = count;
            count += n;
        }
        for (int k = 0; k < 3 && at + n <= most; k++) memcpy(out->at[k] + at, taken[k], n * sizeof(float));
    }
    out->count = count <= most ? (uint32_t)count : 0;
    return true;
}

static void free_sample(up_sample *points) {
    for (int k = 0; k < 3; k++) free(points->at[k]);
}

bool picture_up_is_survey(const mote_cloud *cloud) {
    const mote_column *returns = mote_cloud_find(cloud, "number_of_returns");
    const uint64_t count = mote_cloud_count(cloud);
    uint8_t values[VALUES_BLOCK];
    const char *crs = mote_cloud_crs(cloud);
    if (crs != NULL && crs[0] != '\0') return true;
    for (uint64_t first = 0; returns != NULL && first < count; first += VALUES_BLOCK) {
        const uint64_t some = count - first < VALUES_BLOCK ? count - first : VALUES_BLOCK;
        mote_column_read(returns, first, some, MOTE_UINT8, values);
        for (uint64_t i = 0; i < some; i++) {
            if (values[i] > 1) return true;
        }
    }
    return false;
}

picture_up picture_up_search(session *s, const mote_cloud *cloud, const mote_box *box, const char *input) {
    up_found found = {2, 1, UP_CUSTOM};
    up_sample points = {{NULL, NULL, NULL}, 0};
    const bool is_empty = !(box->min[0] <= box->max[0]);
    if (!is_empty && picture_up_is_survey(cloud)) {
        found.reason = UP_SURVEY;
    } else if (!is_empty && mote_cloud_count(cloud) >= UP_MIN_POINTS) {
        const char *format = input != NULL ? mote_file_format(s->ctx, input) : NULL;
        const bool is_pcd = format != NULL && strcmp(format, "pcd") == 0;
        mote_context_clear(s->ctx); /* what cannot be looked into again, as a pipe, has no format */
        if (take_sample(cloud, box, mote_context_threads(s->ctx), &points)) found = up_rule_find(&points, box, is_pcd);
    }
    free_sample(&points);
    picture_up up = {{0, 0, 0}, found.reason};
    up.direction[found.axis] = found.sign;
    return up;
}

picture_up picture_up_find(session *s, const picture_plan *plan, const mote_cloud *cloud, const mote_box *box) {
    picture_up up = {{0, 0, 1}, UP_CUSTOM};
    if (plan->view.has_up) {
        memcpy(up.direction, plan->view.up, sizeof up.direction);
        up.reason = UP_ASKED;
    }
    if (plan->view.has_up || plan->is_map) return up;
    return picture_up_search(s, cloud, box, plan->paths->inputs[0]);
}

const char *picture_up_reason(const picture_up *up) {
    static const char *const names[] = {"asked", "custom", "survey", "camera", "standing"};
    return names[up->reason];
}

void picture_up_tell(session *s, const picture_up *up) {
    static const char *const axes[3] = {"x", "y", "z"};
    const char *why = up->reason == UP_CAMERA ? "all is seen from one side, as by a depth camera"
                                              : "what it stands on lies across that axis";
    if (up->reason != UP_CAMERA && up->reason != UP_STANDING) return;
    for (int k = 0; k < 3; k++) {
        if (up->direction[k] == 0) continue;
        session_note(s, "up is taken to be %s%s: %s; --up z for what is along z", up->direction[k] < 0 ? "-" : "",
                     axes[k], why);
    }
}
