/* mote run: a pipeline of stages, in memory. */
#include <mote_have.h>

#include "run/pipeline.h"

static const command_help help = {
    .synopsis = "mote run PIPELINE.json [options]",
    "Runs a pipeline, an array of stages as PDAL's users write them: readers, filters, writers, and mote's own "
    "commands.\n"
    "Points go from stage to stage in memory. All outputs appear together, when the last stage is done.\n"
    "PIPELINE is a file, \"-\" for standard input, or the JSON itself.",
    "  mote run pipeline.json\n"
    "  mote run pipeline.json --check                          names mistakes, and reads no points\n"
    "  mote run - <pipeline.json\n"
    "  mote run '[\"scan.las\", {\"type\": \"outliers\"}, \"clean.laz\"]'\n"
    "  mote run '[\"scan.las\", \"scan.copc.laz\"]'\n"
    "  mote run --describe >schema.json                        all stages and options, as a JSON schema\n",
    "Stages: readers.*, writers.*, filters.range expression crop head tail decimation merge sort assign ferry\n"
    "reprojection outlier normal stats info, and normals outliers planes info measure knn lod render gen with the\n"
    "options of the commands. A stage that mote has not is refused, with what would do the same: docs/run.md.\n",
    .no_output = "its outputs are stages: {\"type\": \"writers.las\", \"filename\": \"out.las\"}",
};

typedef struct run_options {
    bool describe, check;
} run_options;

#if MOTE_HAVE_JANSSON

static int run(session *s, const run_options *o, const char *word) {
    pipeline p = {.title = ""};
    if (o->describe) return pipeline_describe(s);
    int code = pipeline_read(s, word, &p);
    if (code == EXIT_DONE) code = pipeline_plan(s, &p);
    if (code == EXIT_DONE) code = pipeline_run(s, &p, o->check);
    pipeline_free(&p);
    return code;
}

#else

static int run(session *s, const run_options *o, const char *word) {
    (void)o, (void)word;
    return session_error(s, EXIT_FAILED, "this mote was built without jansson, which reads pipelines");
}

#endif

int cmd_run(int argc, char **argv) {
    run_options o = {0};
    const option rows[] = {
        {"describe", 0, OPTION_FLAG, &o.describe, NULL, NULL, "print the JSON schema of pipelines"},
        {"check", 0, OPTION_FLAG, &o.check, NULL, NULL, "check the pipeline, and run nothing"},
        {0},
    };
    common_options common;
    arguments words;
    const parse_result parsed = options_parse(&help, rows, COMMON_RUN, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (o.describe && (words.count > 0 || o.check)) return usage_error("run", "--describe runs no pipeline");
    if (!o.describe && words.count == 0) return usage_error("run", "run needs a pipeline");
    if (words.count > 1) {
        return usage_error("run", "run takes one pipeline; \"%s\" is a second one: files are named in it",
                           words.words[1]);
    }
    session s;
    int code = session_open(&s, "run", &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) code = run(&s, &o, words.count > 0 ? words.words[0] : "");
    return session_close(&s, code);
}
