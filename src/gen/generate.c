/* Synthetic clouds: the public entry and what all kinds share. */
#include <math.h>

#include "gen/gen_internal.h"

#define SEED_POINTS 20240611u
#define SEED_ROOM   20240117u

#define PIECE_POINTS  4096u      /* one turn of a thread */
#define WINDOW_POINTS (4u << 20) /* between two calls of the progress function */

typedef struct gen_kind {
    const char *name;
    uint64_t seed;
    mote_status (*make)(mote_context *ctx, uint64_t count, const mote_gen_params *params, mote_cloud **out);
} gen_kind;

static const gen_kind kinds[] = {
    {"uniform", SEED_POINTS, gen_uniform}, {"torus", SEED_POINTS, gen_torus}, {"clusters", SEED_POINTS, gen_clusters},
    {"lattice", SEED_POINTS, gen_lattice}, {"room", SEED_ROOM, gen_room},     {"box", SEED_POINTS, gen_box},
    {"city", SEED_POINTS, gen_city},
};

static const gen_kind *find_kind(const char *name) {
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    }
    return NULL;
}

mote_gen_params mote_gen_defaults(const char *kind) {
    const gen_kind *found = find_kind(kind);
    mote_gen_params params;
    memset(&params, 0, sizeof params);
    params.seed = found != NULL ? found->seed : SEED_POINTS;
    params.noise_m = 0.003;
    params.outlier_ratio = 0.1;
    return params;
}

mote_status mote_generate(mote_context *ctx, const char *kind, uint64_t count, const mote_gen_params *params,
                          mote_cloud **out) {
    *out = NULL;
    const gen_kind *found = find_kind(kind);
    if (found == NULL) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                         "\"%s\" is no kind of cloud; there are uniform, torus, clusters, lattice, room, box and city",
                         kind != NULL ? kind : "");
    }
    const mote_gen_params p = params != NULL ? *params : mote_gen_defaults(kind);
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_gen_params", "mote_gen_defaults()"));
    if (!(p.noise_m >= 0) || !isfinite(p.noise_m)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "noise is %g m, needs 0 or more", p.noise_m);
    }
    if (!(p.outlier_ratio >= 0 && p.outlier_ratio <= 1)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "outlier ratio is %g, needs 0..1", p.outlier_ratio);
    }
    mote_stage(ctx, "generating points");
    const mote_status status = found->make(ctx, count, &p, out);
    mote_stage(ctx, NULL);
    if (status != MOTE_OK) {
        mote_cloud_destroy(*out);
        *out = NULL;
    }
    return status;
}

mote_status gen_cloud_xyz(mote_context *ctx, uint64_t count, mote_cloud **out, float **xyz) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT32, 0, 0}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_FLOAT32, 0, 0}};
    MOTE_TRY(mote_cloud_create(ctx, count, specs, 3, out));
    *xyz = mote_cloud_column_data(*out, "x");
    return MOTE_OK;
}

mote_status gen_fill(mote_context *ctx, uint64_t count, gen_fill_fn fill, const void *shape, float *xyz) {
    for (uint64_t begin = 0; begin < count; begin += WINDOW_POINTS) {
        MOTE_TRY(mote_progress(ctx, (double)begin / (double)count, "generating points"));
        const uint64_t window = count - begin < WINDOW_POINTS ? count - begin : WINDOW_POINTS;
        const int64_t pieces = (int64_t)((window + PIECE_POINTS - 1) / PIECE_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
        for (int64_t piece = 0; piece < pieces; piece++) {
            const uint64_t from = (uint64_t)piece * PIECE_POINTS;
            const uint64_t size = window - from < PIECE_POINTS ? window - from : PIECE_POINTS;
            fill(shape, begin + from, size, xyz + 3 * (begin + from));
        }
    }
    return mote_progress(ctx, 1, "generating points");
}
