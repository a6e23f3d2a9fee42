/* What mote info --stats learns of a cloud as a survey: how its values are spread, how dense it is where it is, when it
   was taken, and what seems wrong with it. */
#ifndef CLI_INFO_SURVEY_H
#define CLI_INFO_SURVEY_H

#include "info/info_header.h"
#include "info/info_stats.h"

#define SURVEY_WARNINGS_MAX 12

typedef struct survey_warning {
    const char *what; /* a word for programs: "returns", "gps_time", … */
    char text[512];   /* what is wrong, and what to do */
} survey_warning;

typedef struct cloud_survey {
    double density;                     /* points per square unit of the covered area */
    bool has_time, is_date;             /* is_date: times since 1980, otherwise of a week */
    double first_time, last_time;       /* as stored */
    char first_date[40], last_date[40]; /* ISO 8601; GPS time, without leap seconds; is_date */
    survey_warning warnings[SURVEY_WARNINGS_MAX];
    int warning_count;
} cloud_survey;

/* What the survey is told. */
typedef struct survey_input {
    const mote_cloud *cloud; /* its attributes; maybe without points */
    const cloud_stats *stats;
    const header_facts *header;
    bool is_whole; /* the points are those of the file, as they are there: the header is of them */
} survey_input;

void cloud_survey_make(const survey_input *input, cloud_survey *survey);

/* ---- info_warnings.c */
void survey_find_warnings(const survey_input *input, cloud_survey *survey);

#endif
