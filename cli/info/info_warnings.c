/* What seems wrong with a cloud, and what to do about it. Each test is one that a person would make on the figures. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info/info_survey.h"
#include "text.h"

#define WEEK_S        604800.0
#define COARSE_FACTOR 4.0 /* steps of coordinates that are larger than this part of the distance between points */

__attribute__((format(printf, 3, 4))) static void warn(cloud_survey *survey, const char *what, const char *format,
                                                       ...) {
    if (survey->warning_count == SURVEY_WARNINGS_MAX) return;
    survey_warning *warning = &survey->warnings[survey->warning_count++];
    va_list values;
    va_start(values, format);
    warning->what = what;
    vsnprintf(warning->text, sizeof warning->text, format, values);
    va_end(values);
}

static const column_stats *stats_of(const survey_input *input, const char *name) {
    for (uint32_t c = 0; c < mote_cloud_column_count(input->cloud); c++) {
        if (strcmp(mote_cloud_column(input->cloud, c)->name, name) == 0) return &input->stats->columns[c];
    }
    return NULL;
}

/* How many points meet a condition; 0 where the cloud lacks an attribute, or there is no memory. */
static uint64_t count_where(session *s, const mote_cloud *cloud, const char *condition) {
    bool *chosen = malloc(mote_cloud_count(cloud) + 1);
    uint64_t count = 0;
    if (chosen != NULL && mote_cloud_where(s->ctx, cloud, condition, chosen, &count) != MOTE_OK) {
        mote_context_clear(s->ctx);
        count = 0;
    }
    free(chosen);
    return count;
}

static void check_times(session *s, const survey_input *input, cloud_survey *survey) {
    if (!survey->has_time) return;
    if (survey->first_time == 0 && survey->last_time == 0) return; /* none were measured */
    const double before = survey->first_time, after = survey->last_time;
    if (input->clock == CLOCK_WEEK && (before < 0 || after > WEEK_S)) {
        const uint64_t count = count_where(s, input->cloud, "gps_time < 0 or gps_time > 604800");
        warn(survey, "gps_time",
             "%s GPS times are in no week (0 to 604,800 s), and the header says that they are of a week: they may be "
             "adjusted standard time, whose bit of the header is not set",
             text_count(count).chars);
    }
    if (input->clock == CLOCK_ADJUSTED && before >= 0 && after <= WEEK_S) {
        warn(survey, "gps_time",
             "all GPS times are below 604,800 s, and the header says that they count from 1980: they may be seconds of "
             "a week; the dates are then wrong");
    }
}

static void check_returns(session *s, const survey_input *input, cloud_survey *survey) {
    const column_stats *number = stats_of(input, "return_number"), *of = stats_of(input, "number_of_returns");
    if (number == NULL || of == NULL || (number->max == 0 && of->max == 0)) return;
    const uint64_t count = count_where(s, input->cloud, "return_number < 1 or return_number > number_of_returns");
    if (count == 0) return;
    warn(survey, "returns",
         "%s points have a return number of 0 or above their number of returns; leave them out: --where "
         "\"return_number between 1 and number_of_returns\"",
         text_count(count).chars);
}

static void check_steps(const survey_input *input, cloud_survey *survey) {
    const mote_column *x = mote_cloud_find(input->cloud, "x"), *y = mote_cloud_find(input->cloud, "y");
    if (x == NULL || y == NULL || !(survey->density > 0)) return;
    const double spacing = 1 / sqrt(survey->density), step = fmax(fabs(x->scale), fabs(y->scale));
    if (mote_type_is_float(x->type) || mote_type_is_float(y->type) || step * COARSE_FACTOR < spacing) return;
    warn(survey, "scale",
         "coordinates have steps of %s, and points are about %s apart: their places are rounded; take them from the "
         "source again with a finer scale",
         text_real(step).chars, text_real(strtod(text_fixed(spacing, 6).chars, NULL)).chars);
}

static void check_system(const survey_input *input, cloud_survey *survey) {
    mote_units units;
    mote_cloud_units(input->cloud, &units);
    if (input->box == NULL) return;
    const mote_box *box = input->strays != NULL && input->strays->count > 0 ? &input->strays->rest : input->box;
    const double x = fmax(fabs(box->min[0]), fabs(box->max[0])), y = fmax(fabs(box->min[1]), fabs(box->max[1]));
    const bool degrees = units.horizontal.radians > 0 && strcmp(units.horizontal.name, "degree") == 0;
    if (degrees && (x > 360 || y > 360)) {
        warn(survey, "crs",
             "the reference system counts in degrees, and coordinates reach %s: it is that of other points; assign the "
             "right one",
             text_real(fmax(x, y)).chars);
    }
    const double length = box->max[0] - box->min[0], depth = box->max[1] - box->min[1];
    const bool looks_geographic = x <= 180 && y <= 90 && x > 1 && y > 1 && length < 1 && depth < 1;
    if (units.horizontal.metres > 0 && mote_cloud_crs(input->cloud)[0] != '\0' && looks_geographic) {
        warn(survey, "crs",
             "the reference system counts in %s, and coordinates look like degrees: assign the right one",
             units.horizontal.name);
    }
}

void survey_find_warnings(session *s, const survey_input *input, cloud_survey *survey) {
    check_times(s, input, survey);
    check_returns(s, input, survey);
    if (input->strays != NULL && input->strays->count > 0) {
        warn(survey, "strays", "%s points lie far from all others: see mote outliers, or choose by --bounds",
             text_count(input->strays->count).chars);
    }
    if (input->skipped > 0) {
        warn(survey, "positions",
             "%s points have no finite position: leave them out by --where \"known(x) and known(y) "
             "and known(z)\"",
             text_count(input->skipped).chars);
    }
    check_steps(input, survey);
    if (input->stats->duplicates_known && input->stats->duplicates > 0) {
        warn(survey, "duplicates",
             "%s points stand where another one stands: a part may have been read twice, or coordinates are rounded",
             text_count(input->stats->duplicates).chars);
    }
    check_system(input, survey);
}
