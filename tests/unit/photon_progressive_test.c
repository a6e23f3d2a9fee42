/* Progressive photon mapping goes to what the path tracer says. */
#include <math.h>
#include <string.h>

#include "support/support.h"

#define SIDE   10
#define VALUES (3 * SIDE * SIDE)

static mote_photon_params small_params(void) {
    mote_photon_params params = mote_photon_defaults();
    params.method = MOTE_PHOTON_MAP;
    params.width = params.height = SIDE;
    params.samples = 2;
    params.gathering.k = 200;
    return params;
}

static double error_of(mote_scene *scene, uint32_t passes, const float *reference) {
    float rgb[VALUES];
    double sum = 0, total = 0;
    mote_photon_emission emission = mote_photon_emission_defaults();
    const mote_photon_params params = small_params();
    const mote_camera camera = mote_scene_camera(scene);
    emission.photons = 4000;
    assert_int_equal(mote_photon_render_progressive(scene, &camera, &emission, &params, passes, rgb), MOTE_OK);
    for (int i = 0; i < VALUES; i++) {
        sum += fabs((double)(rgb[i] - reference[i]));
        total += (double)reference[i];
    }
    return sum / total;
}

/* The error falls with the cube root of the number of passes: to a third with 27 of them. */
static void passes_converge(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = NULL;
    float reference[VALUES];
    mote_photon_params params = small_params();
    params.method = MOTE_PHOTON_PATH;
    params.samples = 40;
    assert_int_equal(mote_scene_builtin(ctx, "cornell-empty", &scene), MOTE_OK);
    const mote_camera camera = mote_scene_camera(scene);
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, reference), MOTE_OK);
    const double one = error_of(scene, 1, reference), many = error_of(scene, 27, reference);
    if (!(many < 0.5 * one)) fail_msg("%g of one pass, %g of 27", one, many);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static mote_status two_passes(mote_context *ctx, void *user) {
    (void)user;
    float rgb[VALUES];
    mote_scene *scene = NULL;
    mote_photon_emission emission = mote_photon_emission_defaults();
    const mote_photon_params params = small_params();
    emission.photons = 50;
    mote_status status = mote_scene_builtin(ctx, "cornell", &scene);
    if (status == MOTE_OK) {
        const mote_camera camera = mote_scene_camera(scene);
        status = mote_photon_render_progressive(scene, &camera, &emission, &params, 2, rgb);
    }
    mote_scene_destroy(scene);
    return status;
}

static void passes_fail_and_stop(void **state) {
    (void)state;
    test_progress progress;
    long calls = 0;
    /* What is kept for the next call is released where memory runs short: so some failures do no harm. */
    for (long n = 2, done = 0; !done; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 2);
        const mote_status status = two_passes(ctx, NULL);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        calls += status != MOTE_OK;
        done = allocator.calls < n;
    }
    assert_true(calls > 20);
    test_each_step_cancels(two_passes, NULL);
    mote_context *ctx = test_context_watched(&progress);
    mote_scene *scene = NULL;
    float nothing[VALUES];
    assert_int_equal(mote_scene_builtin(ctx, "cornell", &scene), MOTE_OK);
    memset(&progress, 0, sizeof progress);
    memset(nothing, 0, sizeof nothing);
    error_of(scene, 2, nothing);
    assert_true(progress.calls > 4 && !progress.backwards);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void refuses_other_methods(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene *scene = NULL;
    float rgb[VALUES];
    mote_photon_params params = small_params();
    assert_int_equal(mote_scene_builtin(ctx, "furnace", &scene), MOTE_OK);
    const mote_camera camera = mote_scene_camera(scene);
    assert_int_equal(mote_photon_render_progressive(scene, &camera, NULL, &params, 0, rgb), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    params.method = MOTE_PHOTON_FULL;
    assert_int_equal(mote_photon_render_progressive(scene, &camera, NULL, &params, 2, rgb), MOTE_ERROR_ARGUMENT);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_converge),
        cmocka_unit_test(passes_fail_and_stop),
        cmocka_unit_test(refuses_other_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
