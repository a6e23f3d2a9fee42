/* What mote lod prints besides doing its work: --stats, --plan, --json. */
#ifndef CLI_LOD_PRINT_H
#define CLI_LOD_PRINT_H

#include "session.h"

/* Nodes and points of one level. */
typedef struct level_stats {
    uint64_t nodes, inner, leaves, points;
    uint64_t node_min, node_median, node_p90, node_max; /* points per node */
} level_stats;

#define LEVELS_MAX 64

/* Fills levels[0 … count) and returns count; 0 when there is no memory. */
int lod_levels(const mote_lod *lod, level_stats levels[LEVELS_MAX]);

/* What was written: a Potree folder, or a COPC file. */
typedef struct lod_written {
    bool copc;
    uint64_t points; /* stored, representatives included */
    uint64_t bytes;  /* octree.bin, or the whole file */
    uint64_t hierarchy_bytes;
    uint64_t hash;
} lod_written;

void lod_print_stats(const session *s, const mote_lod *lod, const lod_written *written, uint64_t input_points);
void lod_print_json(const session *s, const mote_lod *lod, const lod_written *written, const char *output,
                    uint64_t input_points);

/* What --plan is asked about. */
typedef struct lod_question {
    const mote_cloud *cloud;
    mote_lod_params params;
    const char *output; /* NULL: its name is not known */
    bool copc;          /* a COPC file, else a Potree folder */
    mote_potree_params potree;
    mote_copc_params copc_params;
    bool is_begun_early; /* the run holds an output while it reads and builds the octree */
} lod_question;

/* --plan: what a conversion would take. Returns an exit code. */
int lod_print_plan(session *s, const lod_question *question);
/* What the encoders of all threads take. potree: NULL for COPC. */
double lod_encoder_bytes(const session *s, const mote_potree_params *potree);
/* Bytes of a point in octree.bin, at most: an attribute of the cloud that is zero everywhere may be left out. */
double lod_point_bytes(const mote_cloud *cloud);

#endif
