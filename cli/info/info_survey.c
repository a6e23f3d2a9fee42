/* When a cloud was taken, and how dense it is. */
#include "info/info_survey.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define GPS_EPOCH_S 315964800.0 /* 1980-01-06 in seconds since 1970 */

/* Writes a date of at most three thousand years from then; find_times sees to that. */
static void write_date(double seconds_since_1970, char *date, size_t size) {
    const time_t seconds = (time_t)floor(seconds_since_1970);
    struct tm parts;
    date[0] = '\0';
    if (gmtime_r(&seconds, &parts) != NULL) strftime(date, size, "%Y-%m-%dT%H:%M:%S", &parts);
}

static void find_times(const survey_input *input, cloud_survey *survey) {
    for (uint32_t c = 0; c < mote_cloud_column_count(input->cloud); c++) {
        const column_stats *stats = &input->stats->columns[c];
        if (strcmp(mote_cloud_column(input->cloud, c)->name, "gps_time") != 0 || stats->values == 0) continue;
        survey->has_time = isfinite(stats->min) && isfinite(stats->max);
        survey->first_time = stats->min;
        survey->last_time = stats->max;
    }
    survey->is_date = survey->has_time && input->header->clock == CLOCK_ADJUSTED && fabs(survey->first_time) < 1e11 &&
                      fabs(survey->last_time) < 1e11;
    if (!survey->is_date) return;
    write_date(survey->first_time + 1e9 + GPS_EPOCH_S, survey->first_date, sizeof survey->first_date);
    write_date(survey->last_time + 1e9 + GPS_EPOCH_S, survey->last_date, sizeof survey->last_date);
}

void cloud_survey_make(const survey_input *input, cloud_survey *survey) {
    const cloud_stats *stats = input->stats;
    find_times(input, survey);
    if (stats->covered > 0) survey->density = (double)(stats->points - stats->skipped) / stats->covered;
    survey_find_warnings(input, survey);
}
