/* What was refused: the list. */
#include "planes/planes_refused.h"

#include <math.h>

#define SAME_COSINE 0.985 /* 10 degrees */
#define SAME_NOISES 3.0
#define SAME_RATIO  4.0 /* of noises */

static double dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

/* Whether two candidates are one: parallel, about as thick, and the middle of the smaller one is on the other and
 * within its size. */
static bool is_same(const planes_refused *a, const planes_refused *b) {
    const double away[3] = {a->at[0] - b->at[0], a->at[1] - b->at[1], a->at[2] - b->at[2]};
    const double noise = fmax(a->noise, b->noise), size = fmax(a->size, b->size);
    if (noise > SAME_RATIO * fmin(a->noise, b->noise)) return false;
    return fabs(dot(a->normal, b->normal)) >= SAME_COSINE && dot(away, away) <= size * size &&
           fmax(fabs(dot(away, a->normal)), fabs(dot(away, b->normal))) <= SAME_NOISES * noise;
}

void planes_refuse(planes_refusals *list, const planes_refused *candidate) {
    uint32_t smallest = 0;
    if (list == NULL) return;
    planes_refused taken = *candidate;
    taken.points *= list->share;
    if (taken.points < 3) return; /* what others have taken all points of */
    for (uint32_t i = 0; i < list->count; i++) {
        if (is_same(&taken, &list->list[i])) {
            if (taken.points >= list->list[i].points) list->list[i] = taken;
            return;
        }
        if (list->list[i].points < list->list[smallest].points) smallest = i;
    }
    if (list->count < PLANES_REFUSED_MAX) {
        list->list[list->count++] = taken;
    } else if (taken.points > list->list[smallest].points) {
        list->list[smallest] = taken;
    }
}
