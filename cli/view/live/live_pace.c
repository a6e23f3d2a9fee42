/* How many pixels a moving picture may have, so that enough of them come in a second. */
#include "view/live/live_pace.h"

#include <math.h>
#include <string.h>

#define PICTURES_MIN 3    /* before the scale changes again */
#define ON_THE_WAY   1    /* pictures that still have the old scale when it has changed, and do not count */
#define FAR_TOO_SLOW 6    /* times the target: one picture is enough to see it */
#define WEIGHT       0.35 /* of the newest picture in the mean */
#define TOO_SLOW     1.15 /* of the target; between the two nothing changes */
#define FAST_ENOUGH  0.7
#define STEP_MIN     0.5 /* of the scale, at once */
#define STEP_MAX     1.25
#define HELPED       0.9 /* of the cost before: fewer pixels were worth it */
#define VAIN_MAX     60  /* pictures after which fewer pixels are tried again: what is slow may have changed */

void live_pace_start(live_pace *pace, double pictures_per_second) {
    memset(pace, 0, sizeof *pace);
    pace->target_s = 1 / pictures_per_second;
    pace->scale = 1;
    pace->pictures = -ON_THE_WAY; /* the first one may also have made what later ones keep */
}

static void set_scale(live_pace *pace, double scale) {
    pace->scale = fmin(1, fmax(LIVE_SCALE_MIN, scale));
    pace->pictures = -ON_THE_WAY;
}

/* The cost is taken to go with the number of pixels. */
static double wanted_step(const live_pace *pace) { return sqrt(0.9 * pace->target_s / pace->cost_s); }

void live_pace_add(live_pace *pace, double cost_s) {
    if (pace->pictures++ < 0) return;
    pace->cost_s = pace->pictures == 1 ? cost_s : (1 - WEIGHT) * pace->cost_s + WEIGHT * cost_s;
    if (pace->pictures < PICTURES_MIN && pace->cost_s < FAR_TOO_SLOW * pace->target_s) return;
    const bool is_slow = pace->cost_s > TOO_SLOW * pace->target_s;
    if (pace->is_trial && is_slow && pace->cost_s > HELPED * pace->cost_before) {
        pace->is_trial = false;
        pace->is_in_vain = true;
        set_scale(pace, pace->scale_before);
        return;
    }
    pace->is_trial = false;
    if (!is_slow || pace->pictures > VAIN_MAX) pace->is_in_vain = false;
    if (is_slow && !pace->is_in_vain && pace->scale > LIVE_SCALE_MIN) {
        pace->is_trial = true;
        pace->scale_before = pace->scale;
        pace->cost_before = fmax(pace->cost_s, cost_s); /* the mean lags behind what has just become slow */
        set_scale(pace, pace->scale * fmax(STEP_MIN, wanted_step(pace)));
    } else if (pace->cost_s < FAST_ENOUGH * pace->target_s && pace->scale < 1) {
        set_scale(pace, pace->scale * fmin(STEP_MAX, wanted_step(pace)));
    }
}
