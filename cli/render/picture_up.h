/* What is up in a cloud, where no option says it. */
#ifndef CLI_PICTURE_UP_H
#define CLI_PICTURE_UP_H

#include "render/picture_plan.h"
#include "render/up_rule.h"

typedef struct picture_up {
    double direction[3];
    up_reason reason;
} picture_up;

/* Finds it. Maps have heights along z. box: of the points, without those far from all others. */
picture_up picture_up_find(session *s, const picture_plan *plan, const mote_cloud *cloud, const mote_box *box);
/* The same where no option has a say. input: the path that the cloud is from, or the first of them. */
picture_up picture_up_search(session *s, const mote_cloud *cloud, const mote_box *box, const char *input);
/* Whether its heights are along z: it has a reference system, or a laser's several returns. */
bool picture_up_is_survey(const mote_cloud *cloud);
/* Says what was found, where that is not z or was not asked for: once for each run. */
void picture_up_tell(session *s, const picture_up *up);
/* "asked", "custom", "survey", "camera", "standing" */
const char *picture_up_reason(const picture_up *up);

#endif
