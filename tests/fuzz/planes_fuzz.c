/* Planes in clouds whose positions, normals, types, scales and parameters are the input's bytes. What must hold of any
   answer is looked at: labels, counts and least squares agree, and threads do not matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"

#define HEADER_BYTES 24
#define MAX_POINTS   600u
#define WINNERS      40u

/* Little memory bounds the accumulator, and with it the time. */
static mote_context *context_of(int threads) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = threads;
    params.device = MOTE_DEVICE_CPU;
    params.memory_limit_bytes = 8u << 20;
    if (mote_context_create(&params, &ctx) != MOTE_OK) abort();
    return ctx;
}

static double length_of(uint8_t byte) { return byte < 128 ? 0 : ldexp(1, (byte - 192) / 2); }

/* Not the grid: 32,400 directions take long, and only their list is another. */
static mote_planes_params params_of(const uint8_t *head) {
    mote_planes_params p = mote_planes_defaults();
    const uint8_t flags = head[6];
    p.votes = flags & 2 ? MOTE_PLANES_VOTE_NORMALS : MOTE_PLANES_VOTE_ALL;
    p.greedy = (flags & 4) != 0;
    p.whole = (flags & 8) != 0;
    p.components = (flags & 16) != 0;
    p.resolution_deg = 5 + head[7] % 21 * 0.25;
    p.cone_deg = 1 + head[8] % 90;
    p.normal_deg = flags & 1 ? 1 + head[9] % 90 : 90;
    p.min_points = head[10] % 40u;
    p.sample = head[11] < 128 ? 0 : head[11] == 255 ? UINT64_MAX : head[11] % 128u * 3;
    p.suppress_deg = head[12] % 46;
    p.suppress_bins = head[13] < 128 ? 0 : 1u << head[13] % 10;
    p.max_planes = head[14] % 5u;
    p.tolerance = length_of(head[15]);
    p.bin = length_of(head[16]);
    return p;
}

/* ---- one answer */

typedef struct answer {
    mote_context *ctx;
    mote_cloud *cloud;
    mote_planes *planes; /* NULL: refused */
    int32_t *labels;
} answer;

static answer find(const uint8_t *data, size_t size, int threads) {
    answer a = {context_of(threads), NULL, NULL, NULL};
    const mote_planes_params params = params_of(data);
    a.cloud = fuzz_cloud(a.ctx, data, data + HEADER_BYTES, size - HEADER_BYTES, MAX_POINTS);
    a.labels = malloc((mote_cloud_count(a.cloud) + 1) * sizeof *a.labels);
    if (a.labels == NULL) abort();
    const mote_status status = mote_planes_find(a.ctx, a.cloud, &params, a.labels, &a.planes);
    fuzz_require(a.ctx, (status == MOTE_OK) == (a.planes != NULL), "an answer without success");
    fuzz_require(a.ctx,
                 status == MOTE_OK || status == MOTE_ERROR_MEMORY || status == MOTE_ERROR_DATA ||
                     (status == MOTE_ERROR_ARGUMENT && params.bin > 0),
                 "another failure");
    fuzz_require(a.ctx, status == MOTE_OK || mote_context_message(a.ctx)[0] != '\0', "a failure without a message");
    return a;
}

static void answer_free(answer *a) {
    mote_planes_destroy(a->planes);
    free(a->labels);
    fuzz_end(a->ctx, a->cloud);
}

static bool is_unit(const double v[3]) { return fabs(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - 1) < 1e-9; }

/* The points of a plane are within the tolerance of what it was before the last fit, which is of least squares. */
static void check_plane(const answer *a, uint32_t i, const mote_planes_facts *facts) {
    const mote_plane *plane = mote_planes_at(a->planes, i);
    const double *n = plane->normal;
    mote_context *ctx = a->ctx;
    uint32_t corners;
    const double *hull = mote_planes_hull(a->planes, i, &corners);
    fuzz_require(ctx, is_unit(n), "a normal is not of unit length");
    fuzz_require(ctx, n[2] > 0 || (n[2] == 0 && (n[1] > 0 || (n[1] == 0 && n[0] > 0))), "a normal points down");
    fuzz_require(ctx, plane->inliers >= 3 && plane->inliers >= facts->min_points, "a plane has too few points");
    fuzz_require(ctx, i == 0 || plane->inliers <= plane[-1].inliers, "planes are not sorted");
    fuzz_require(ctx, plane->confidence >= 0 && plane->confidence <= 1, "the confidence is out of range");
    fuzz_require(ctx, plane->area >= 0 && plane->hull_area >= 0, "an area is below 0");
    fuzz_require(ctx, plane->rms >= 0 && plane->rms <= 1.001 * facts->tolerance, "points are far from their plane");
    fuzz_require(ctx, corners >= 1 && hull != NULL, "there is no hull");
}

static void check_answer(const answer *a) {
    const mote_planes_facts facts = mote_planes_get_facts(a->planes);
    const uint64_t count = mote_cloud_count(a->cloud);
    const uint32_t planes = mote_planes_count(a->planes);
    uint64_t *points = calloc(planes + 1, sizeof *points);
    if (points == NULL) abort();
    fuzz_require(a->ctx, facts.points == count && facts.skipped + facts.outside + facts.labelled <= count,
                 "counts do not add up");
    for (uint64_t i = 0; i < count; i++) {
        fuzz_require(a->ctx, a->labels[i] >= -1 && a->labels[i] < (int64_t)planes, "a label of no plane");
        points[a->labels[i] + 1]++;
    }
    fuzz_require(a->ctx, points[0] == count - facts.labelled, "labels are miscounted");
    for (uint32_t i = 0; i < planes; i++) {
        fuzz_require(a->ctx, points[i + 1] == mote_planes_at(a->planes, i)->inliers,
                     "points of a plane are miscounted");
        check_plane(a, i, &facts);
    }
    fuzz_require(a->ctx, mote_planes_at(a->planes, planes) == NULL, "one plane too many");
    free(points);
}

static void check_same(const answer *a, const answer *b) {
    const uint32_t planes = mote_planes_count(a->planes);
    fuzz_require(b->ctx, mote_planes_count(b->planes) == planes, "threads change how many planes there are");
    fuzz_require(b->ctx, memcmp(a->labels, b->labels, mote_cloud_count(a->cloud) * sizeof *a->labels) == 0,
                 "threads change labels");
    for (uint32_t i = 0; i < planes; i++) {
        uint32_t corners, others;
        const double *hull = mote_planes_hull(a->planes, i, &corners);
        const double *other = mote_planes_hull(b->planes, i, &others);
        fuzz_require(b->ctx,
                     memcmp(mote_planes_at(a->planes, i), mote_planes_at(b->planes, i), sizeof(mote_plane)) == 0,
                     "threads change a plane");
        fuzz_require(b->ctx, corners == others && memcmp(hull, other, 3 * (size_t)corners * sizeof *hull) == 0,
                     "threads change a hull");
    }
}

/* ---- the transform alone */

static void check_votes(const answer *a, const mote_planes_params *params) {
    mote_planes_peak peaks[WINNERS];
    mote_planes_facts facts;
    uint32_t count;
    const mote_status status = mote_planes_vote(a->ctx, a->cloud, params, WINNERS, peaks, &count, &facts);
    if (status != MOTE_OK) return;
    fuzz_require(a->ctx, count <= WINNERS, "too many peaks");
    for (uint32_t i = 0; i < count; i++) {
        fuzz_require(a->ctx, peaks[i].votes > 0 && peaks[i].votes <= facts.sample, "a peak of impossible votes");
        fuzz_require(a->ctx, i == 0 || peaks[i].votes <= peaks[i - 1].votes, "peaks are not sorted");
        fuzz_require(a->ctx, is_unit(peaks[i].normal), "a direction is not of unit length");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER_BYTES) return 0;
    const mote_planes_params params = params_of(data);
    answer a = find(data, size, 1);
    if (a.planes != NULL) {
        check_answer(&a);
        check_votes(&a, &params);
    }
    if (a.planes != NULL && (data[6] & 128) != 0) {
        answer b = find(data, size, 3);
        if (b.planes != NULL) check_same(&a, &b); /* threads take memory */
        answer_free(&b);
    }
    answer_free(&a);
    return 0;
}
