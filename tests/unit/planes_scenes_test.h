/* What the parts of the test of planes of scenes share. */
#ifndef MOTE_PLANES_SCENES_TEST_H
#define MOTE_PLANES_SCENES_TEST_H

#include "reference/planes_scenes.h"
#include "support/support.h"

/* Which scene a kind and a seed are. */
planes_scene_params planes_scenes_params(uint64_t kind, uint64_t seed, uint64_t points);
/* Makes a scene, finds its planes, and judges them; missed: prints what is wrong. seconds: added to. */
planes_scene_score planes_scenes_try(const planes_scene_params *p, int threads, bool missed, double *seconds);
void planes_scenes_add(planes_scene_score *all, const planes_scene_score *one);
void planes_scenes_print(const char *name, const planes_scene_score *s, double seconds);

/* planes_scenes_test_tables.c */

/* A hash of the answer to a scene: labels, planes, hulls, facts; of odd seeds also what was refused. seconds: added to.
 */
uint64_t planes_scenes_hash(const planes_scene_params *p, int threads, double *seconds);

/* The commands that planes_scenes_test.c describes. asked: out, whether there is one; returns the exit status. */
int planes_scenes_command(int argc, char **argv, bool *asked);

/* planes_scenes_test_bodies.c */
void bodies_split_alike(void **state);
void bodies_survive_failing_allocations(void **state);
void bodies_cancel_at_every_step(void **state);
void both_answers_survive_failing_allocations(void **state);
void facing_survives_failing_allocations(void **state);
void treads_that_lean_are_a_series(void **state);

#endif
