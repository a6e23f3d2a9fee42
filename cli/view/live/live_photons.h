/* A photon map that fills up: photons of a built-in scene fly in batches, and each batch adds to the cloud of where
 * photons met surfaces. Their colours are those of their light. */
#ifndef CLI_LIVE_PHOTONS_H
#define CLI_LIVE_PHOTONS_H

#include "session.h"

typedef struct live_photons live_photons;

/// Begins. scene: a name that mote_scene_builtin knows; count: photons to emit in all
/// Returns an exit code; *out NULL where it is not EXIT_DONE
int live_photons_open(session *s, const char *scene, uint64_t count, live_photons **out);
/// NULL is allowed.
void live_photons_close(live_photons *p);

/// Whether photons are still to fly.
bool live_photons_has_more(const live_photons *p);
/// Lets the next batch fly, and makes a cloud of all that were stored so far.
/// name  [size] out: the scene and how many have flown
mote_status live_photons_fly(live_photons *p, mote_context *ctx, mote_cloud **out, char *name, size_t size);

#endif
