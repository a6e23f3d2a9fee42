/* Short coordinates never say what doubles do not: of random batches, near and far, at UTM offsets, in pictures of all
   sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/camera/render_camera.h"
#include "render/points/render_short_math.h"
#include "support/support.h"

#define TRIALS 20000u
#define POINTS 64u

static double between(uint64_t row, uint64_t i, double low, double high) {
    return low + (high - low) * test_random(row, i);
}

/* A camera, and a part of a picture. */
static render_view random_view(mote_context *ctx, uint64_t t, double offset) {
    mote_camera camera = mote_camera_defaults();
    const uint32_t width = 16u << (uint32_t)between(1, t, 0, 9), part = t % 3 == 0 ? width / 4 : 0;
    const render_part whole = {width, width, part, part, width - part, width - part / 2};
    render_view view;
    camera.projection = t % 4 == 0 ? MOTE_ORTHOGRAPHIC : MOTE_PERSPECTIVE;
    for (uint64_t k = 0; k < 3; k++) {
        camera.eye[k] = offset + between(2 + k, t, -1, 1) * pow(10, between(5, t, -2, 3));
        camera.target[k] = offset + between(6 + k, t, -1, 1);
    }
    camera.height = between(9, t, 0.01, 10);
    assert_int_equal(render_make_view(ctx, &camera, &whole, 1 + (uint32_t)(t % 2), &view), MOTE_OK);
    return view;
}

static void short_coordinates_are_never_wrong(void **state) {
    mote_context *ctx = test_context(1);
    uint64_t sure = 0, outside = 0, all = 0;
    (void)state;
    for (uint64_t t = 0; t < TRIALS; t++) {
        const double offset = t % 5 == 0 ? 5.4e6 : t % 5 == 1 ? 1e9 : 0, size = pow(10, between(10, t, -4, 1));
        const render_view view = random_view(ctx, t, offset);
        double at[3][POINTS], min[3], max[3];
        for (uint64_t k = 0; k < 3; k++) {
            const double from = offset + between(11 + k, t, -1, 1);
            min[k] = INFINITY, max[k] = -INFINITY;
            for (uint64_t i = 0; i < POINTS; i++) {
                at[k][i] = from + size * test_random(20 + k, t * POINTS + i);
                min[k] = fmin(min[k], at[k][i]), max[k] = fmax(max[k], at[k][i]);
            }
        }
        const render_short s = render_make_short(&view, min, max);
        for (uint64_t i = 0; i < POINTS && s.usable != 0; i++, all++) {
            float local[3], nearest = 0;
            for (int k = 0; k < 3; k++) local[k] = (float)(at[k][i] - render_batch_middle(min[k], max[k]));
            const uint32_t sample = render_short_sample(&s, view.perspective, local[0], local[1], local[2], &nearest);
            const render_place place = render_to_camera(&view, at[0][i], at[1][i], at[2][i]);
            const uint32_t exact = render_sample_of(&view, place);
            if (sample != RENDER_UNSURE && sample != exact) fail_msg("trial %d: %u, not %u", (int)t, sample, exact);
            if (nearest > (float)place.z) fail_msg("trial %d: a depth of %g, not %g", (int)t, (double)nearest, place.z);
            sure += sample < RENDER_UNSURE;
            outside += sample == RENDER_OUTSIDE;
        }
    }
    print_message("%llu points: %.1f %% surely in a sample, %.1f %% surely outside\n", (unsigned long long)all,
                  100 * (double)sure / (double)all, 100 * (double)outside / (double)all);
    assert_true(all > TRIALS * POINTS / 4 && sure > all / 20 && outside > all / 20);
    assert_true(sure + outside > all * 9 / 10);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_coordinates_are_never_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
