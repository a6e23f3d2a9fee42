/* Uniform, torus, clusters, lattice: the clouds of the published neighbour tables, bit for bit.
   All draw from one splitmix64 stream of the seed, so their points depend on nothing but the formulas below. */
#include <math.h>

#include "gen/gen_internal.h"

#define GAUSS_DRAWS 12u /* Irwin-Hall: the sum of 12 uniform numbers less 6 */

static double gauss(gen_stream *stream) {
    double sum = 0;
    for (unsigned i = 0; i < GAUSS_DRAWS; i++) sum += gen_unit(stream);
    return sum - 6.0;
}

/* ---- uniform: the unit cube */

static void fill_uniform(const void *shape, uint64_t first, uint64_t count, float *xyz) {
    gen_stream stream = gen_stream_at(*(const uint64_t *)shape, 3 * first);
    for (uint64_t i = 0; i < 3 * count; i++) xyz[i] = (float)gen_unit(&stream);
}

mote_status gen_uniform(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    float *xyz = NULL;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    return gen_fill(ctx, count, fill_uniform, &params->seed, xyz);
}

/* ---- lattice: an integer cube, full of exact ties */

static void fill_lattice(const void *shape, uint64_t first, uint64_t count, float *xyz) {
    const uint64_t side = *(const uint64_t *)shape;
    for (uint64_t i = 0; i < count; i++) {
        xyz[3 * i] = (float)((first + i) % side);
        const uint64_t layer = (first + i) / (side * side);
        xyz[3 * i + 1] = (float)((first + i) / side % side);
        xyz[3 * i + 2] = (float)layer;
    }
}

mote_status gen_lattice(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    (void)params;
    float *xyz = NULL;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    uint64_t side = 1;
    while (side * side * side < count) side++;
    return gen_fill(ctx, count, fill_lattice, &side, xyz);
}

/* ---- clusters: 50 Gaussian balls whose sizes span a factor of 1024 */

#define CLUSTER_COUNT 50u
#define CLUSTER_SIZES 11u
#define CLUSTER_DRAWS (1 + 3 * GAUSS_DRAWS) /* per point */

typedef struct clusters {
    uint64_t seed;
    double centers[CLUSTER_COUNT][3];
    double sigma[CLUSTER_COUNT];
} clusters;

static void fill_clusters(const void *shape, uint64_t first, uint64_t count, float *xyz) {
    const clusters *of = shape;
    gen_stream stream = gen_stream_at(of->seed, 3 * CLUSTER_COUNT + CLUSTER_DRAWS * first);
    for (uint64_t i = 0; i < count; i++) {
        const double u = gen_unit(&stream);
        const unsigned drawn = (unsigned)(50 * u * u); /* low clusters get more points */
        const unsigned c = drawn < CLUSTER_COUNT ? drawn : CLUSTER_COUNT - 1;
        for (int k = 0; k < 3; k++)
            xyz[3 * i + (unsigned)k] = (float)(of->centers[c][k] + of->sigma[c] * gauss(&stream));
    }
}

mote_status gen_clusters(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    float *xyz = NULL;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    clusters shape;
    shape.seed = params->seed;
    gen_stream stream = gen_stream_at(params->seed, 0);
    for (unsigned c = 0; c < CLUSTER_COUNT; c++) {
        for (int k = 0; k < 3; k++) shape.centers[c][k] = gen_unit(&stream);
        shape.sigma[c] = 0.1;
        for (unsigned k = 0; k < c % CLUSTER_SIZES; k++) shape.sigma[c] *= 0.5;
    }
    return gen_fill(ctx, count, fill_clusters, &shape, xyz);
}

/* ---- torus: uniform by area, with a little noise along the normal */

#define TORUS_RADIUS      1.0
#define TORUS_TUBE        0.35
#define TORUS_NOISE       0.0005
#define TORUS_MARK_POINTS 256u  /* the stream's state is noted so often … */
#define TORUS_MARKS       1024u /* … and this many times before the threads fill in: 2 ms of walking */

typedef struct direction {
    double cosine, sine;
} direction;

/* A random direction by rejection from the square. */
static direction draw_direction(gen_stream *stream) {
    double u, v, r;
    do {
        u = 2 * gen_unit(stream) - 1;
        v = 2 * gen_unit(stream) - 1;
        r = u * u + v * v;
    } while (r > 1 || r < 1e-12);
    r = sqrt(r);
    const direction drawn = {u / r, v / r};
    return drawn;
}

/* Directions around the axis and around the tube; the latter by rejection, as the outer side has more area. */
static void draw_directions(gen_stream *stream, direction *axis, direction *tube) {
    *axis = draw_direction(stream);
    do *tube = draw_direction(stream);
    while (gen_unit(stream) * (TORUS_RADIUS + TORUS_TUBE) > TORUS_RADIUS + TORUS_TUBE * tube->cosine);
}

static void fill_torus(gen_stream stream, uint64_t count, float *xyz) {
    for (uint64_t i = 0; i < count; i++) {
        direction axis, tube;
        draw_directions(&stream, &axis, &tube);
        const double radius = TORUS_TUBE + TORUS_NOISE * gauss(&stream);
        xyz[3 * i] = (float)((TORUS_RADIUS + radius * tube.cosine) * axis.cosine);
        xyz[3 * i + 1] = (float)((TORUS_RADIUS + radius * tube.cosine) * axis.sine);
        xyz[3 * i + 2] = (float)(radius * tube.sine);
    }
}

/* How many draws a point takes is only known by drawing. One thread walks ahead and notes the state at every mark;
   it jumps over the 12 of 19 draws that no decision hangs on. */
static void walk_torus(gen_stream *stream, uint64_t count, gen_stream *marks) {
    for (uint64_t i = 0; i < count; i++) {
        if (i % TORUS_MARK_POINTS == 0) marks[i / TORUS_MARK_POINTS] = *stream;
        direction axis, tube;
        draw_directions(stream, &axis, &tube);
        stream->state += GAUSS_DRAWS * MOTE_GOLDEN_GAMMA;
    }
}

mote_status gen_torus(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out) {
    float *xyz = NULL;
    MOTE_TRY(gen_cloud_xyz(ctx, count, out, &xyz));
    gen_stream *marks = mote_alloc(ctx, TORUS_MARKS * sizeof *marks, "torus marks");
    if (marks == NULL) return MOTE_ERROR_MEMORY;
    gen_stream stream = gen_stream_at(params->seed, 0);
    const uint64_t window_points = TORUS_MARKS * TORUS_MARK_POINTS;
    mote_status status = MOTE_OK;
    for (uint64_t begin = 0; begin < count && status == MOTE_OK; begin += window_points) {
        const uint64_t window = count - begin < window_points ? count - begin : window_points;
        walk_torus(&stream, window, marks);
        const int64_t pieces = (int64_t)((window + TORUS_MARK_POINTS - 1) / TORUS_MARK_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
        for (int64_t piece = 0; piece < pieces; piece++) {
            if (mote_stop(ctx)) continue;
            const uint64_t from = (uint64_t)piece * TORUS_MARK_POINTS;
            const uint64_t size = window - from < TORUS_MARK_POINTS ? window - from : TORUS_MARK_POINTS;
            fill_torus(marks[piece], size, xyz + 3 * (begin + from));
        }
        status = mote_stopped(ctx);
        if (status != MOTE_OK) break;
        status = mote_progress(ctx, (double)(begin + window) / (double)count, "generating points");
    }
    mote_free(ctx, marks);
    return status;
}
