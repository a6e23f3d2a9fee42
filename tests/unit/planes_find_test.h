/* What the parts of the test of finding planes share. */
#ifndef MOTE_PLANES_FIND_TEST_H
#define MOTE_PLANES_FIND_TEST_H

#include "support/support.h"

/* Zeros, and room for one more than count; for free(). */
void *planes_find_room(uint64_t count, size_t size);

typedef struct planes_answer {
    mote_planes *planes;
    int32_t *labels;
} planes_answer;

planes_answer planes_find_answer(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params);
void planes_answer_free(planes_answer *a);

/* Degrees. */
double planes_find_angle(const double a[3], const double b[3]);
/* A rectangle of 4 x 3 with its middle there, and some points anywhere around. */
mote_cloud *planes_find_make(mote_context *ctx, const double normal[3], const double middle[3], double noise,
                             uint64_t count, uint64_t strays, uint64_t seed);
/* The one plane found in it is the one that it was made of: by degrees, at its middle, and by its noise at most. */
void planes_find_check(const mote_cloud *cloud, const double normal[3], const double middle[3], double angle,
                       double distance, double rms);
/* About normal, standard deviation 1. */
double planes_find_gauss(uint64_t i, uint64_t what);

/* planes_find_test_strays.c */
void what_is_not_flat_has_no_planes(void **state);
void beams_are_no_planes(void **state);
void small_clouds_have_none(void **state);
void strays_are_few(void **state);
void strays_and_nan_do_no_harm(void **state);
void places_far_away_do_no_harm(void **state);
void what_is_refused_is_told(void **state);

/* planes_find_test_scans.c */
void real_scans_have_floors_and_walls(void **state);
void steps_of_a_sensor_are_not_noise(void **state);
void roofs_are_found_beside_the_ground(void **state);
void slabs_are_no_planes_of_a_town(void **state);
void layers_of_a_sensor_are_no_planes(void **state);
void rows_of_a_raster_are_no_planes(void **state);

/* planes_find_test_noise.c */
void walls_may_be_spread_evenly(void **state);
void walls_have_a_noise_of_their_own(void **state);
void lines_far_apart_make_planes(void **state);
void uneven_floors_may_bend(void **state);
void faces_that_turn_little_are_planes(void **state);

/* planes_find_test_wrong.c */
void survives_failing_allocations(void **state);
void cancels_at_every_step(void **state);
void progress_goes_forward(void **state);
void refuses_wrong_parameters(void **state);

#endif
