/* Progressive photon mapping: the mean of passes, each with photons of its own and smaller discs.

     pass   1    2    3   ...      photons and the camera's samples are new in each; only the sum is kept
     disc   ###  ##   ##           its area shrinks by (i + alpha) / (i + 1) after pass i

   Areas shrink slowly enough that the noise of the mean goes to 0, and the blur with them (Hachisuka et al. 2008, in
   the form of Knaus and Zwicker 2011, who need no numbers of each pixel). A pass has as many photons as any other: the
   disc's area is proportional to the number of photons that are gathered, and so it is this that shrinks. */
#include <math.h>

#include "photon/scene/photon_scene.h"

#define ALPHA 0.7 /* as in the paper */
#define MIN_K 3u  /* the estimate from 2 has no variance */

/* Reports of a pass are a part of those of all passes. */
typedef struct pass_progress {
    mote_progress_fn report;
    void *user;
    double first, share;
    double done; /* reported last: a step that is searched once more starts again, but nothing goes back */
} pass_progress;

static bool report_pass(void *user, double done, const char *stage) {
    pass_progress *p = user;
    p->done = fmax(p->done, p->first + p->share * done);
    return p->report(p->user, p->done, stage);
}

static mote_status render_pass(mote_scene *scene, const mote_camera *camera, const mote_photon_emission *emission,
                               const mote_photon_params *params, pass_progress *progress, float *rgb) {
    mote_photon_map *map = NULL;
    progress->share *= 0.5; /* emission is the first half */
    mote_status status = mote_photon_emit(scene, emission, &map);
    progress->first += progress->share;
    if (status == MOTE_OK) status = mote_photon_render(scene, map, camera, params, rgb);
    mote_photon_destroy(map);
    return status;
}

static mote_status render_passes(mote_scene *scene, const mote_camera *camera, const mote_photon_emission *emission,
                                 const mote_photon_params *params, uint32_t passes, double *sum, float *rgb) {
    mote_context *ctx = scene->ctx;
    const uint64_t values = 3ull * params->width * params->height;
    const mote_progress_fn report = ctx->params.progress;
    void *const user = ctx->params.progress_user;
    double area = 1;
    mote_status status = MOTE_OK;
    for (uint32_t i = 1; i <= passes && status == MOTE_OK; i++) {
        mote_photon_emission e = *emission;
        mote_photon_params p = *params;
        pass_progress progress = {report, user, (double)(i - 1) / passes, 1.0 / passes, 0};
        e.seed = mote_hash_pair(emission->seed, i);
        p.seed = mote_hash_pair(params->seed, i);
        p.gathering.k = (uint32_t)(area * params->gathering.k + 0.5);
        if (p.gathering.k < MIN_K) p.gathering.k = params->gathering.k < MIN_K ? params->gathering.k : MIN_K;
        p.gathering.radius = params->gathering.radius * sqrt(area);
        ctx->params.progress = report != NULL ? report_pass : NULL;
        ctx->params.progress_user = &progress;
        status = render_pass(scene, camera, &e, &p, &progress, rgb);
        ctx->params.progress = report;
        ctx->params.progress_user = user;
        for (uint64_t j = 0; j < values && status == MOTE_OK; j++) sum[j] += (double)rgb[j];
        area *= (i + ALPHA) / (i + 1);
    }
    for (uint64_t j = 0; j < values && status == MOTE_OK; j++) rgb[j] = (float)(sum[j] / passes);
    return status;
}

mote_status mote_photon_render_progressive(mote_scene *scene, const mote_camera *camera,
                                           const mote_photon_emission *emission, const mote_photon_params *params,
                                           uint32_t passes, float *rgb) {
    const mote_photon_emission e = emission != NULL ? *emission : mote_photon_emission_defaults();
    mote_photon_params p = params != NULL ? *params : mote_photon_defaults();
    mote_context *ctx = scene->ctx;
    if (params == NULL) p.method = MOTE_PHOTON_MAP;
    if (passes < 1 || passes > MOTE_PHOTON_MAX_PASSES) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%u passes, needs 1 to %u", passes, MOTE_PHOTON_MAX_PASSES);
    }
    if (p.method != MOTE_PHOTON_MAP && p.method != MOTE_PHOTON_DIRECT) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "passes of a method other than MAP and DIRECT");
    }
    if (p.width > MOTE_RENDER_MAX_SIZE || p.height > MOTE_RENDER_MAX_SIZE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a picture of %u x %u pixels, needs 1 to %u", p.width, p.height,
                         MOTE_RENDER_MAX_SIZE);
    }
    double *sum = mote_alloc_zero(ctx, 3ull * p.width * p.height * sizeof *sum, "picture");
    if (sum == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = render_passes(scene, camera, &e, &p, passes, sum, rgb);
    mote_free(ctx, sum);
    return status;
}
