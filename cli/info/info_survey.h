/* What mote info --stats learns of a cloud as a survey: how its values are spread, how dense it is where it is, when it
   was taken, and what seems wrong with it. */
#ifndef CLI_INFO_SURVEY_H
#define CLI_INFO_SURVEY_H

#include "info/info_stats.h"

#define SURVEY_PERCENTILES 5
extern const double survey_percents[SURVEY_PERCENTILES];

#define SURVEY_WARNINGS_MAX 10

typedef struct survey_warning {
    const char *what; /* a word for programs: "returns", "gps_time", … */
    char text[320];   /* what is wrong, and what to do */
} survey_warning;

typedef struct cloud_survey {
    double (*percentiles)[SURVEY_PERCENTILES]; /* [columns], in the attribute's unit; NaN where it has no values */
    double covered;                            /* area of cells with points, square units; 0: unknown */
    double density;                            /* points per square unit of it */
    double cell;                               /* the side of a cell */
    bool has_time, is_date;                    /* is_date: times since 1980, otherwise of a week */
    double first_time, last_time;              /* as stored */
    char first_date[40], last_date[40];        /* ISO 8601; GPS time, without leap seconds; is_date */
    survey_warning warnings[SURVEY_WARNINGS_MAX];
    int warning_count;
} cloud_survey;

/* What a LAS header says that GPS times are. */
typedef enum survey_clock { CLOCK_UNKNOWN, CLOCK_WEEK, CLOCK_ADJUSTED } survey_clock;

/* What the survey is told: facts of the file, of which stats are of all columns. */
typedef struct survey_input {
    const mote_cloud *cloud;
    const cloud_stats *stats;
    survey_clock clock;
    const mote_box *box; /* of all points; NULL: unknown */
    const mote_strays *strays;
    uint64_t skipped; /* points without a finite position */
} survey_input;

/* Same result for any number of threads. Returns an exit code. */
int cloud_survey_make(session *s, const survey_input *input, cloud_survey *survey);
void cloud_survey_free(cloud_survey *survey);

/* ---- info_warnings.c */
void survey_find_warnings(session *s, const survey_input *input, cloud_survey *survey);

#endif
