/* What mote lod prints besides doing its work: --stats, --plan, --json. */
#ifndef CLI_LOD_PRINT_H
#define CLI_LOD_PRINT_H

#include "session.h"

/* Nodes and points of one level. */
typedef struct level_stats {
    uint64_t nodes, inner, leaves, points;
    uint64_t node_min, node_median, node_p90, node_max; /* points per node */
} level_stats;

#define LEVELS_MOST 64

/* Fills levels[0 … count) and returns count; 0 when there is no memory. */
int lod_levels(const mote_lod *lod, level_stats levels[LEVELS_MOST]);

void lod_print_stats(const session *s, const mote_lod *lod, const mote_potree_report *report, uint64_t input_points);
void lod_print_json(const session *s, const mote_lod *lod, const mote_potree_report *report, const char *output,
                    uint64_t input_points);

/* --plan: what a conversion would take, estimated from a sample of the points. Returns an exit code. */
int lod_print_plan(session *s, const mote_cloud *cloud, const mote_lod_params *params,
                   const mote_potree_params *potree);

#endif
