/* How many pixels a moving picture may have, so that enough of them come in a second. Plain numbers. */
#ifndef CLI_LIVE_PACE_H
#define CLI_LIVE_PACE_H

#include <stdbool.h>

#define LIVE_SCALE_MIN 0.25

typedef struct live_pace {
    double target_s; /* what a picture may take */
    double scale;    /* of width and height, LIVE_SCALE_MIN..1 */
    double cost_s;   /* of a picture at this scale, mean of the last ones */
    int pictures;    /* that the mean is of; below 0: how many are still to come with another scale */
    bool is_trial;   /* the scale was lowered, and whether that helps is not known yet */
    bool is_in_vain; /* it did not: the time goes with points, not with pixels */
    double scale_before, cost_before;
} live_pace;

void live_pace_start(live_pace *pace, double pictures_per_second);
/// A picture was made. cost_s: of the slowest of its steps, which run at once for several pictures
void live_pace_add(live_pace *pace, double cost_s);

#endif
