/* How far along a line, and how far beside it, a place is, seen from above. In whole steps, as region_math.h has them;
   on the ground in doubles, made of these alone. */
#ifndef MOTE_PROFILE_MATH_H
#define MOTE_PROFILE_MATH_H

#include "measure/measure_math.h"

/* A part of the line, from one position to the next. */
typedef struct profile_leg {
    int64_t from[2];
    double direction[2];  /* unit length, on the ground */
    double length, start; /* on the ground; start: of the line before it */
} profile_leg;

typedef struct profile_line {
    profile_leg *legs;
    uint32_t leg_count; /* those of some length */
    double steps_per_unit;
    double scale[2]; /* what one of a coordinate is on the ground */
    double half;     /* of the width */
    double slack;    /* a place that is farther by half a step still counts */
    double length;
} profile_line;

/* Whether a place belongs to the profile. */
static inline bool profile_place(const profile_line *line, int64_t x, int64_t y, double *along, double *aside) {
    double least = line->half + line->slack;
    bool is_beside = false;
    for (uint32_t i = 0; i < line->leg_count; i++) {
        const profile_leg *leg = &line->legs[i];
        const double u = (double)(x - leg->from[0]) / line->steps_per_unit * line->scale[0];
        const double v = (double)(y - leg->from[1]) / line->steps_per_unit * line->scale[1];
        const double forward = u * leg->direction[0] + v * leg->direction[1];
        const double right = u * leg->direction[1] - v * leg->direction[0];
        if (!(forward >= -line->slack && forward <= leg->length + line->slack)) continue;
        if (!(measure_size(right) < least || (!is_beside && measure_size(right) <= least))) continue;
        least = measure_size(right);
        is_beside = true;
        *along = leg->start + forward;
        *aside = right;
    }
    return is_beside;
}

#endif
