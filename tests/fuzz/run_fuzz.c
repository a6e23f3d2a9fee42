/* Any text as a pipeline: it is read, planned and checked to the options of its last stage, and nothing is run. Also as
 * what PDAL writes as texts of its own: what comes of these is a condition that mote can read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz_support.h"
#include "run/pdal_text.h"
#include "run/pipeline.h"

#include <mote_have.h>

static void require(bool holds) {
    if (!holds) abort();
}

/* Whether the library understands a condition of attributes that a cloud may lack. */
static void require_condition(mote_context *ctx, const char *condition) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.5, 0}, {"y", MOTE_INT32, 0.5, 0}, {"z", MOTE_INT32, 0.5, 0}};
    mote_cloud *cloud = NULL;
    bool chosen[1];
    uint64_t count;
    require(mote_cloud_create(ctx, 1, specs, 3, &cloud) == MOTE_OK);
    if (mote_cloud_where(ctx, cloud, condition, chosen, &count) != MOTE_OK) {
        const char *why = mote_context_message(ctx);
        require(strstr(why, "there is no attribute") != NULL || strlen(condition) > 1000 ||
                strchr(condition, '\n') != NULL);
        mote_context_clear(ctx);
    }
    mote_cloud_destroy(cloud);
}

static void try_texts(mote_context *ctx, const char *word) {
    char why[PDAL_WHY];
    double box[6];
    int axes = 0;
    char *condition = pdal_ranges(word, why);
    require(condition != NULL || why[0] != '\0');
    if (condition != NULL) require_condition(ctx, condition);
    free(condition);
    free(pdal_assignment(word, why));
    free(pdal_polygon(word, why));
    if (pdal_bounds(word, box, &axes, why)) require(axes >= 2 && axes <= 3 && box[0] <= box[3] && box[1] <= box[4]);
}

#if MOTE_HAVE_JANSSON
/* A mistake is said on standard error, which is for the fuzzer. */
static void try_pipeline(const char *word) {
    const common_options options = {.device = "cpu", .threads = 1, .quiet = true};
    session s;
    pipeline p = {.title = ""};
    const int saved = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    require(saved >= 0 && nowhere >= 0);
    dup2(nowhere, STDERR_FILENO);
    int code = session_open(&s, "run", &options);
    if (code == EXIT_DONE) code = pipeline_read(&s, word, &p);
    if (code == EXIT_DONE) code = pipeline_plan(&s, &p);
    if (code == EXIT_DONE) code = pipeline_run(&s, &p, true);
    pipeline_free(&p);
    session_close(&s, code);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(nowhere);
    require(code == EXIT_DONE || code == EXIT_USAGE || code == EXIT_INPUT || code == EXIT_RESOURCES ||
            code == EXIT_FAILED);
}
#else
static void try_pipeline(const char *word) { (void)word; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mote_context *ctx = fuzz_context();
    char *word = malloc(size + 2);
    require(word != NULL);
    memcpy(word + 1, data, size);
    word[size + 1] = '\0';
    try_texts(ctx, word + 1);
    word[0] = ' ';
    if (size > 0 && strchr("[{", data[0]) != NULL) try_pipeline(word);
    free(word);
    fuzz_end(ctx, NULL);
    return 0;
}
