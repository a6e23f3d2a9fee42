/* What a run made, as it says it. */
#ifndef CLI_PICTURE_REPORT_H
#define CLI_PICTURE_REPORT_H

#include "render/picture_color.h"
#include "render/picture_plan.h"
#include "render/picture_up.h"

typedef struct picture_report {
    const picture_plan *plan;
    picture_up up;
    uint64_t points;        /* read */
    uint64_t octree_points; /* that the octree holds; 0: all were read */
    uint32_t pictures;
    char first[4096];    /* the first picture's name */
    picture_facts facts; /* of all; normal errors of the last */
    double read_s, load_s, draw_s;
} picture_report;

void picture_report_begin(picture_report *report, const picture_plan *plan);
/* Adds what a picture took, once it is made. */
void picture_report_add(picture_report *report, const picture_facts *facts, const char *name);
/* One line on standard error; then --stats, --json and --hash on standard output. */
void picture_report_print(session *s, const picture_report *report, const mote_camera *camera,
                          const picture_colors *colors);

#endif
