/* A pipeline: stages of JSON, as PDAL's users write them, each of which hands its points to those after it.
 *
 *   ["a.laz", "b.laz", {"type": "filters.range", "limits": "Classification[2:2]"}, "ground.copc.laz"]
 *
 *   stage 0  readers.las ─┐
 *   stage 1  readers.las ─┴─ stage 2  filters.range ── stage 3  writers.copc
 *
 * A stage without "inputs" takes the points of the stage before it, and of all readers that stand before it and that no
 * other stage has taken. A stage with several inputs gets their points one after the other.
 */
#ifndef CLI_PIPELINE_H
#define CLI_PIPELINE_H

#include <stdint.h>

#include "files/json.h"
#include "session.h"
#include "stage.h"

struct json_t;

#define STAGE_PLACE 64   /* bytes of "/pipeline/12" */
#define STAGES_MAX  1024 /* of a pipeline */

typedef enum stage_role { ROLE_READER, ROLE_FILTER, ROLE_WRITER } stage_role;

typedef struct stage_call stage_call;

typedef struct stage_kind {
    const char *name; /* "filters.range" */
    stage_role role;
    int (*run)(stage_call *call);
    const char *summary;
    const char *format;              /* readers and writers: "las"; commands: their name, where it is another */
    int (*command)(int, char **);    /* of a stage that is a command of mote */
    const char *const (*presets)[2]; /* of it: options that the stage has anyway; ends with NULL */
    bool hands_on;                   /* of it: its output is points, for the next stage */
    bool frees_input;                /* of it: it changes and frees the points that it reads */
} stage_kind;

typedef struct pipeline_stage {
    const stage_kind *kind;
    struct json_t *json; /* its object */
    char place[STAGE_PLACE];
    const char *tag; /* NULL: none */
    uint32_t *inputs;
    uint32_t input_count;
    const char **files; /* of a reader, [file_count] */
    uint32_t file_count;
    bool is_folded;    /* its files are read by the reader before it */
    uint32_t uses;     /* stages that still want its cloud */
    mote_cloud *cloud; /* NULL before it ran, and after the last of these */
} pipeline_stage;

typedef struct pipeline {
    const char *title;   /* of messages: "pipeline.json" */
    struct json_t *root; /* owns all texts */
    pipeline_stage *stages;
    uint32_t count;
} pipeline;

/* One call of a stage's function: to describe its options, to check them, or to work. */
struct stage_call {
    session *s;
    const pipeline *pipeline;
    pipeline_stage *stage;
    const stage_kind *kind;
    json_writer *schema; /* describing: gets the options; NULL: not */
    bool checking;       /* nothing is done behind the check of the options */
    mote_cloud *cloud;   /* in and out */
    bool shares_cloud;   /* other stages will want it as it is */
    char *words[256];    /* made of numbers and lists; freed with the call */
    int word_count;
    int mistake; /* of a command's options: the exit code, which the command does not know */
};

/* Reads a pipeline: a file, "-", or the JSON itself. Returns an exit code; the mistake has been explained. */
int pipeline_read(session *s, const char *word, pipeline *p);
void pipeline_free(pipeline *p);
/* Which stages hand what to which; unknown types. Returns an exit code. */
int pipeline_plan(session *s, pipeline *p);
/* Checks the options of all stages, then runs them. Returns an exit code. */
int pipeline_run(session *s, pipeline *p, bool only_check);
/* Prints the JSON schema of pipelines. Returns an exit code. */
int pipeline_describe(session *s);

/* ---- kinds of stages */

const stage_kind *stage_kinds(uint32_t *count);
/* The kind of that name, or NULL. */
const stage_kind *stage_kind_find(const char *name);
/* Explains that mote has no such stage, and what would do the same. Returns an exit code. */
int stage_kind_unknown(session *s, const pipeline *p, const char *place, const char *name);
/* What does the same as an option of PDAL's that the stage has not; NULL: it is none that is known. */
const char *stage_other_option(const stage_kind *kind, const char *key);
/* The stage that PDAL takes a bare file name for: a reader, or as the last of a pipeline a writer. */
const stage_kind *stage_kind_of_file(const char *name, bool is_output);

/* ---- what the functions of stages call */

/* A mistake in the pipeline, at a key of the stage (NULL: the stage). Returns EXIT_USAGE. */
__attribute__((format(printf, 3, 4))) int stage_wrong(stage_call *call, const char *key, const char *format, ...);
/* Sets the targets of the rows from the stage's JSON. EXIT_DONE: go on; STAGE_STOP: they were described, which is all.
   Any other code: a mistake, which has been explained. */
int stage_options(stage_call *call, const option *rows);
/* A text that lives as long as the call; NULL without memory. */
char *stage_word(stage_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether a key of JSON is the option of that name: "min_points" and "min-points" are the same; so are they in any case
   of letters. */
bool stage_key_is(const char *key, const char *name);
/* Whether the JSON of the stage has that key. */
bool stage_has(const stage_call *call, const char *key);
/* Runs the command that the stage is. */
int stage_run_command(stage_call *call);
/* Sets the rows of a command, called by options_parse. */
parse_result stage_take_command(command_stage *stage, const option_table *table, common_options *common,
                                arguments *out);
/* Replaces the cloud of the call. */
void stage_replace(stage_call *call, mote_cloud *cloud);
/* A copy of the cloud. Returns an exit code. */
int stage_copy(stage_call *call, mote_cloud **out);
/* Makes the cloud the call's own, so that it may be changed. Returns an exit code. */
int stage_own(stage_call *call);

int stage_read(stage_call *call);
int stage_generate(stage_call *call);
int stage_write(stage_call *call);
int stage_range(stage_call *call);
int stage_expression(stage_call *call);
int stage_crop(stage_call *call);
int stage_head(stage_call *call);
int stage_tail(stage_call *call);
int stage_decimate(stage_call *call);
/* Keeps the points of rows first, first + step, …, count of them. */
int stage_keep_rows(stage_call *call, uint64_t first, uint64_t step, uint64_t count);
/* Keeps the points that meet a condition. */
int stage_keep_points(stage_call *call, const char *condition);
int stage_sort(stage_call *call);
int stage_morton_order(stage_call *call);
int stage_merge(stage_call *call);
int stage_assign(stage_call *call);
int stage_ferry(stage_call *call);
int stage_reproject(stage_call *call);
int stage_outlier(stage_call *call);
int stage_normal(stage_call *call);

#endif
