/* What a growth must show to be a plane, and why it is none: for planes_growth.c and planes_evidence.c. */
#ifndef MOTE_PLANES_EVIDENCE_H
#define MOTE_PLANES_EVIDENCE_H

#include "planes/local/planes_local.h"

#define POINTS_A_CELL 8.0
#define ENOUGH_CELLS  8.0 /* that a component of few points has, if it has FEW_A_CELL points for each */
#define TOLD_NOISE    1.5 /* floors: below, points say nothing of how they lie about the plane */

/* Whether planes may have so few points that they have small cells. */
static inline bool planes_has_few(const planes_local *s) { return s->params.min_points < ENOUGH_CELLS * POINTS_A_CELL; }

/* Whether the noise is that of the representation. */
static inline bool planes_is_exact(const planes_local *s, const planes_growth *g) {
    return g->noise <= TOLD_NOISE * s->params.floor;
}

/* Notes in a growth why it is no plane: a value and its limit. Returns false. */
bool planes_growth_refuse(planes_growth *growth, mote_planes_reason reason, double value, double limit);
/* Lists the component's points among those that are near, in the scratch. Returns how many. */
uint32_t planes_list_component(planes_local *search, const planes_growth *growth);
/* Whether the points are on a curve: a scanner's line is on a plane, too, but fills none. Refused then. */
bool planes_is_curve(planes_local *search, planes_growth *growth);
/* Whether a plane without noise is there because coordinates are whole steps: a layer of several. Refused then. */
bool planes_is_of_representation(planes_local *search, planes_growth *growth);

#endif
