/* What the parts of the test of pictures share. */
#ifndef MOTE_RENDER_TEST_H
#define MOTE_RENDER_TEST_H

#include "reference/render_reference.h"
#include "support/support.h"

#define PI     3.14159265358979323846
#define WIDTH  37u
#define HEIGHT 29u
#define PIXELS (WIDTH * HEIGHT)

typedef struct frame {
    uint8_t color8[4 * PIXELS];
    uint16_t color16[4 * PIXELS];
    float depth[PIXELS], normal[3 * PIXELS];
    uint32_t index[PIXELS];
    mote_render_result result;
} frame;

void open_frame(frame *f);
mote_render_params small_picture(mote_render_mode mode);
void must(mote_context *ctx, mote_status status);
/* Random points of random colours in a cube at an offset. */
mote_cloud *colored_cloud(mote_context *ctx, uint64_t count, const double offset[3], double size);
/* Each pixel shows the point that the reference names, where it is not nearly another's. */
void compare_points(const frame *f, const render_reference_pixel *expected, const mote_cloud *cloud,
                    const mote_camera *camera, const char *what);

/* render_test_cameras.c */
void fitted_cameras_see_everything(void **state);
void cameras_are_fitted_to_points(void **state);
void places_come_back_from_pixels(void **state);
void paths_pass_through_their_cameras(void **state);
void cameras_within_and_far_away(void **state);

/* render_test_refuse.c */
void what_is_wrong_is_refused(void **state);
void allocations_may_fail(void **state);

/* render_test_exposure.c */
void dark_colors_are_found(void **state);
void exposure_makes_colors_brighter(void **state);
void clouds_without_colors_have_no_exposure(void **state);
void exposing_may_fail(void **state);

/* render_test_large.c */
void parts_of_large_pictures_are_right(void **state);
void pictures_beyond_memory_are_refused(void **state);

#endif
