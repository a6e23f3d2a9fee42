/* What mote info says of one input, and the two forms of saying it. */
#ifndef CLI_INFO_FACTS_H
#define CLI_INFO_FACTS_H

#include "files/json.h"
#include "info/info_survey.h"
#include "messages.h"

#define INFO_LEVELS_MAX 32
#define INFO_SCANS_MAX  1000u /* of E57 files: more are only counted */

typedef struct info_facts {
    const char *path;
    const char *format; /* "las", "copc", "ply", … */
    uint64_t file_bytes;
    const mote_cloud *cloud; /* its attributes and records; maybe without points */
    bool is_las;
    mote_las_facts las;
    double density; /* points per square unit of the box seen from above; 0 if unknown */
    bool has_hash;
    uint64_t hash;
    bool is_potree;
    mote_potree_facts potree;
    mote_potree_level levels[INFO_LEVELS_MAX];
    mote_copc_facts copc; /* is_copc: a LAZ file with an octree */
    mote_copc_level copc_levels[INFO_LEVELS_MAX];
    bool is_e57;
    mote_e57_facts e57;
    mote_e57_scan *scans;         /* [INFO_SCANS_MAX] at most; NULL: it is none, or there was no memory */
    const message_list *messages; /* that were told of it; NULL: they are not kept */
    cloud_stats stats;
    cloud_survey survey; /* where the stats are full */
} info_facts;

/* The CRS in a line: "EPSG:25832", or the name and code inside a WKT. "" if unknown. */
void crs_in_short(const char *crs, char *line, size_t size);

/* ---- info_survey_print.c: what stands in both forms of the survey; NULL: nothing. */
void survey_print(const info_facts *facts, int name_width);
void survey_emit(const info_facts *facts, json_writer *json);
/* The percentiles of a column, within its object. */
void survey_emit_column(const info_facts *facts, uint32_t column, json_writer *json);

void info_print_text(const info_facts *facts);
void info_print_json(const info_facts *facts, json_writer *json);

#endif
