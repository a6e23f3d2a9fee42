/* A command that finds something for every point of a cloud and writes the cloud with it: what such have in common. */
#ifndef CLI_POINT_RUN_H
#define CLI_POINT_RUN_H

#include "costs.h"
#include "paths.h"
#include "text.h"

typedef struct point_run {
    const io_paths *paths;
    const char *output; /* for messages */
    mote_cloud *cloud;
    uint64_t points;  /* of the input */
    uint64_t written; /* of the output */
    uint64_t skipped; /* without a finite position */
    double work_s, write_s;
    mote_parts_report parts; /* parts.parts 0: it went in one piece */
    bool stats;
} point_run;

/* Whether --memory is given, does not hold all points of inputs, an index of their neighbours and results of so many
   bytes each; and the inputs are read in pieces. */
bool memory_needs_parts(session *s, const io_paths *paths, uint32_t result_bytes);
/* The same where sorting them would be done. */
bool memory_needs_parts_to_sort(session *s, const io_paths *paths, const mote_read_params *reading);
/* Whether what was tried in parts goes in one piece: as it cannot be done so, which is said, or as memory holds no
   part, and may hold the whole, of which a bound alone is known. The failure and the report are forgotten then. */
bool goes_in_one_piece(session *s, mote_status status, mote_parts_report *report);
/* " in 3 parts"; "" where it went in one piece. */
text point_run_in_parts(const mote_parts_report *report);
/* The same as members of --json. */
void point_run_emit_parts(json_writer *json, const mote_parts_report *report);

/* Whether it goes in parts: --memory is given, does not hold all points, an index of their neighbours and results of so
   many bytes each, and inputs and output are of formats for it. */
bool point_run_goes_in_parts(session *s, const io_paths *paths, uint32_t result_bytes);
/* Checks the output of a run that goes in parts, and says how it is written. Returns an exit code. */
int point_run_parts_begin(session *s, point_run *run, const io_paths *paths, mote_write_params *writing);
/* How it went in parts, from some time on; returns an exit code. *whole: it cannot be done so, and goes in one piece.
 */
int point_run_parts_worked(session *s, point_run *run, double begin, mote_status status, uint64_t written, bool *whole);

/* Checks the output and reads the inputs. Returns an exit code. */
int point_run_read(session *s, const io_paths *paths, point_run *run);
/* Tells the outcome of the work that began at some time; returns an exit code. */
int point_run_worked(session *s, point_run *run, double begin, mote_status status, uint64_t skipped);
/* Writes a cloud: the run's own, or its remaining points. Returns an exit code. */
int point_run_write(session *s, point_run *run, const mote_cloud *cloud);

/* What a column of count values of a type is filled through; NULL, and *code says why, when there is none. */
void *point_run_column(session *s, point_run *run, const char *name, mote_type type, int *code);

/* What the command itself knows: lines of --stats, members of --json. */
typedef struct point_facts {
    const void *user;
    void (*print)(const void *user);
    void (*emit)(const void *user, json_writer *json);
} point_facts;

/* Puts the output in place. Then one line on standard error, of what was found; then --stats, --json and --hash on
 * standard output. */
int point_run_report(session *s, const point_run *run, const char *found, const point_facts *facts);
void point_run_close(point_run *run);

#endif
