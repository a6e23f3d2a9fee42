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

static void check_times(const survey_input *input, cloud_survey *survey) {
    if (!survey->has_time) return;
    if (survey->first_time == 0 && survey->last_time == 0) return; /* none were measured */
    const double before = survey->first_time, after = survey->last_time;
    if (input->header->clock == CLOCK_WEEK && (before < 0 || after > WEEK_S)) {
        warn(survey, "gps_time",
             "%s GPS times are in no week (0 to 604,800 s), and the header says that they are of a week: they may be "
             "adjusted standard time, whose bit of the header is not set",
             text_count(input->stats->wrong_times).chars);
    }
    if (input->header->clock == CLOCK_ADJUSTED && before >= 0 && after <= WEEK_S) {
        warn(survey, "gps_time",
             "all GPS times are below 604,800 s, and the header says that they count from 1980: they may be seconds of "
             "a week; the dates are then wrong");
    }
}

static void check_returns(const survey_input *input, cloud_survey *survey) {
    const column_stats *number = stats_of(input, "return_number"), *of = stats_of(input, "number_of_returns");
    if (number == NULL || of == NULL || (number->max == 0 && of->max == 0)) return;
    const uint64_t count = input->stats->wrong_returns;
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
    if (!input->stats->has_box) return;
    const mote_box *box = input->stats->strays.count > 0 ? &input->stats->strays.rest : &input->stats->box;
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

/* Axes whose ends in the header are off by more than the step that coordinates are rounded to. */
static void check_box(const survey_input *input, cloud_survey *survey) {
    static const char axes[] = "xyz";
    const mote_box *said = &input->header->box, *is = &input->stats->box;
    char wrong[768] = "";
    for (int k = 0; k < 3 && input->stats->has_box; k++) {
        const double step = fabs(input->header->scale[k]);
        if (fabs(said->min[k] - is->min[k]) <= step && fabs(said->max[k] - is->max[k]) <= step) continue;
        const size_t length = strlen(wrong);
        snprintf(wrong + length, sizeof wrong - length, "%s%c %s to %s and not %s to %s", length > 0 ? ", " : "",
                 axes[k], text_real(is->min[k]).chars, text_real(is->max[k]).chars, text_real(said->min[k]).chars,
                 text_real(said->max[k]).chars);
    }
    if (wrong[0] == '\0') return;
    warn(survey, "header_box",
         "points reach from %s as the header says: programs that trust it leave points out; mote convert writes the "
         "file anew with the right box",
         wrong);
}

static void check_return_counts(const survey_input *input, cloud_survey *survey) {
    const histogram *returns = &input->stats->returns;
    bool any_said = false;
    uint32_t first = 0;
    for (uint32_t r = 0; r < input->header->return_count; r++) {
        any_said = any_said || input->header->returns[r] > 0;
        if (first == 0 && input->header->returns[r] != returns->bins[r + 1]) first = r + 1;
    }
    if (!returns->present || first == 0 || input->stats->points == 0) return;
    if (!any_said) {
        warn(survey, "header_returns",
             "the header counts no returns: programs that trust it see none; mote convert writes the file anew with "
             "the right counts");
        return;
    }
    warn(survey, "header_returns",
         "the header counts %s points of return %u, there are %s: programs that trust it see others; mote convert "
         "writes the file anew with the right counts",
         text_count(input->header->returns[first - 1]).chars, first, text_count(returns->bins[first]).chars);
}

void survey_find_warnings(const survey_input *input, cloud_survey *survey) {
    check_times(input, survey);
    check_returns(input, survey);
    if (input->stats->strays.count > 0) {
        warn(survey, "strays", "%s points lie far from all others: see mote outliers, or choose by --bounds",
             text_count(input->stats->strays.count).chars);
    }
    if (input->stats->skipped > 0) {
        warn(survey, "positions",
             "%s points have no finite position: leave them out by --where \"known(x) and known(y) "
             "and known(z)\"",
             text_count(input->stats->skipped).chars);
    }
    check_steps(input, survey);
    if (input->stats->duplicates_known && input->stats->duplicates > 0) {
        warn(survey, "duplicates",
             "%s%s points stand where another one stands: a part may have been read twice, or coordinates are rounded",
             input->stats->duplicates_estimated ? "about " : "", text_count(input->stats->duplicates).chars);
    }
    check_system(input, survey);
    if (!input->header->is_las || !input->is_whole) return;
    check_box(input, survey);
    check_return_counts(input, survey);
}
