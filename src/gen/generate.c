/* Synthetic clouds: the public entry and the table of kinds. */
#include <math.h>

#include "gen/gen_internal.h"

#define SEED_POINTS 20240611u
#define SEED_ROOM   20240117u

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
