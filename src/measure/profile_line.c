#include "measure/profile_line.h"

static mote_status find_reach(mote_context *ctx, const double (*positions)[3], uint64_t count, double width,
                              const measure_unit *horizontal, profile_strip *out, measure_ground *ground) {
    const measure_unit none = {0, 0};
    double max = 0;
    for (uint64_t i = 0; i < count; i++) {
        for (int k = 0; k < 2; k++) {
            if (i == 0 || positions[i][k] < out->min[k]) out->min[k] = positions[i][k];
            if (i == 0 || positions[i][k] > out->max[k]) out->max[k] = positions[i][k];
        }
    }
    *ground = measure_ground_of(horizontal, &none, out->min[1] / 2 + out->max[1] / 2);
    const double margins[2] = {width / ground->x, width / ground->y};
    for (int k = 0; k < 2; k++) {
        out->min[k] -= margins[k];
        out->max[k] += margins[k];
        if (measure_size(out->min[k]) > max) max = measure_size(out->min[k]);
        if (measure_size(out->max[k]) > max) max = measure_size(out->max[k]);
    }
    if (!(max <= REGION_MAX_STEPS)) {
        return mote_fail(ctx, MOTE_ERROR_DATA, "the line and its width reach to a coordinate of %g; the largest is %g",
                         max, REGION_MAX_STEPS);
    }
    out->line.steps_per_unit = region_steps_for(max);
    return MOTE_OK;
}

mote_status profile_strip_make(mote_context *ctx, const double (*positions)[3], uint64_t count, double width,
                               const measure_unit *horizontal, profile_strip *out) {
    measure_ground ground;
    memset(out, 0, sizeof *out);
    if (!(width > 0))
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the width of a profile is %g, needs to be above 0", width);
    if (count < 2) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the line of a profile needs two positions");
    MOTE_TRY(find_reach(ctx, positions, count, width, horizontal, out, &ground));
    profile_line *line = &out->line;
    line->legs = mote_alloc(ctx, count * sizeof *line->legs, "profile");
    if (line->legs == NULL) return MOTE_ERROR_MEMORY;
    line->scale[0] = ground.x;
    line->scale[1] = ground.y;
    line->half = width / 2;
    line->slack = (ground.x > ground.y ? ground.x : ground.y) / line->steps_per_unit / 2;
    for (uint64_t i = 0; i + 1 < count; i++) {
        profile_leg *leg = &line->legs[line->leg_count];
        double way[2];
        for (int k = 0; k < 2; k++) {
            leg->from[k] = region_round(positions[i][k] * out->line.steps_per_unit);
            const int64_t steps = region_round(positions[i + 1][k] * line->steps_per_unit) - leg->from[k];
            way[k] = (double)steps / line->steps_per_unit * line->scale[k];
        }
        leg->length = __builtin_sqrt(way[0] * way[0] + way[1] * way[1]);
        leg->start = line->length;
        if (!(leg->length > 0)) continue;
        leg->direction[0] = way[0] / leg->length;
        leg->direction[1] = way[1] / leg->length;
        line->length += leg->length;
        line->leg_count++;
    }
    return MOTE_OK;
}

void profile_strip_free(mote_context *ctx, profile_strip *strip) { mote_free(ctx, strip->line.legs); }
