/* mote bench laz: LAZ files decoded to clouds, whole and positions only, and encoded again; with --device cuda also
   into the memory of the GPU. Everything is in memory: the inputs in the page cache, the outputs in /dev/shm. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "text.h"

#define FORMAT_KEPT (-1)

/* Published: LASzip 3.5 decoding the whole records, one thread on one core of a machine like this one, M points/s. */
typedef struct laszip_figure {
    const char *file; /* begins with */
    int format;
    double decode;
} laszip_figure;
static const laszip_figure laszip_figures[] = {
    {"autzen", 2, 3.4},
    {"autzen", 7, 3.2},
    {"lone-star", 6, 3.9},
    {"indoor", 3, 5.5},
};

typedef enum laz_step { STEP_DECODE, STEP_POSITIONS, STEP_DEVICE, STEP_ENCODE, STEPS } laz_step;
static const char *const step_names[STEPS] = {"decode", "positions", "to device", "encode"};

/* A compressed file in one point format, ready to be measured. */
typedef struct laz_subject {
    char name[64];   /* of the file, without folder and ending */
    char path[4160]; /* the compressed file */
    char out[4160];  /* where encoding writes to */
    int format;
    uint64_t points, bytes;
} laz_subject;

static double laszip_decode(const laz_subject *subject) {
    for (size_t i = 0; i < sizeof laszip_figures / sizeof laszip_figures[0]; i++) {
        const laszip_figure *f = &laszip_figures[i];
        if (f->format == subject->format && strncmp(subject->name, f->file, strlen(f->file)) == 0) return f->decode;
    }
    return 0;
}

/* One timed step. encoded: the cloud that STEP_ENCODE writes. */
static mote_status run_once(mote_context *ctx, const laz_subject *subject, laz_step step, const mote_cloud *encoded,
                            double *seconds) {
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    if (step == STEP_POSITIONS) params.select = "x,y,z";
    params.to_device = step == STEP_DEVICE;
    const double begin = seconds_now();
    const mote_status status = step == STEP_ENCODE ? mote_cloud_write(ctx, encoded, subject->out, NULL)
                                                   : mote_cloud_read(ctx, subject->path, &params, &cloud);
    *seconds = seconds_now() - begin;
    mote_cloud_destroy(cloud);
    return status;
}

static mote_status run_all(mote_context *ctx, const bench_options *o, const laz_subject *subject, laz_step step,
                           bench_runs *runs) {
    mote_cloud *encoded = NULL;
    double seconds = 0;
    mote_status status = MOTE_OK;
    if (step == STEP_ENCODE) status = mote_cloud_read(ctx, subject->path, NULL, &encoded);
    if (status == MOTE_OK) status = run_once(ctx, subject, step, encoded, &seconds); /* not counted */
    while (status == MOTE_OK && runs->count < o->runs && !session_cancelled()) {
        status = run_once(ctx, subject, step, encoded, &seconds);
        runs->values[runs->count++] = (double)subject->points / seconds / 1e6;
    }
    mote_cloud_destroy(encoded);
    unlink(subject->out);
    return status;
}

static int run_step(session *s, const bench_options *o, const laz_subject *subject, laz_step step, int threads) {
    char name[128];
    bench_runs runs = {.count = 0};
    bench_result result = {.bench = "laz", .unit = "M points/s", .points = subject->points, .threads = threads};
    mote_context *ctx = NULL;
    mote_status status = bench_context(s, threads, &ctx);
    if (status == MOTE_OK) status = run_all(ctx, o, subject, step, &runs);
    int code = EXIT_DONE;
    if (session_cancelled()) {
        code = EXIT_CANCELLED;
    } else if (status != MOTE_OK) {
        code = session_error(s, EXIT_FAILED, "%s", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    }
    mote_context_destroy(ctx);
    if (code != EXIT_DONE) return code;
    snprintf(name, sizeof name, "%s %s format %d", step_names[step], subject->name, subject->format);
    result.name = name;
    bench_summarize(&runs, &result);
    const double bar = step == STEP_DECODE ? laszip_decode(subject) : 0;
    printf("%-28.28s %6d %-9s %7d %12.2f %8.2f – %-8.2f", subject->name, subject->format, step_names[step],
           result.threads, result.median, result.low, result.high);
    if (bar > 0) printf(" %8.1f %7.1f", bar, result.median / bar);
    putchar('\n');
    fflush(stdout);
    return bench_record(s, o, &result);
}

static bool is_wanted(const session *s, const bench_options *o, laz_step step) {
    if (step == STEP_DEVICE && !bench_on_gpu(s)) return false;
    return o->only == NULL || strcmp(o->only, step_names[step]) == 0;
}

static int run_steps(session *s, const bench_options *o, const laz_subject *subject) {
    const int all = mote_context_threads(s->ctx);
    int code = EXIT_DONE;
    for (int step = 0; step < STEPS && code == EXIT_DONE; step++) {
        if (!is_wanted(s, o, (laz_step)step)) continue;
        if (step != STEP_DEVICE || all == 1) code = run_step(s, o, subject, (laz_step)step, 1);
        if (code == EXIT_DONE && all > 1) code = run_step(s, o, subject, (laz_step)step, all);
    }
    return code;
}

/* The cloud as a compressed file of that format in the folder; then the steps. */
static int run_format(session *s, const bench_options *o, const mote_cloud *cloud, const char *name,
                      mote_write_params params, const char *folder) {
    laz_subject subject = {.points = mote_cloud_count(cloud)};
    snprintf(subject.name, sizeof subject.name, "%s", name);
    snprintf(subject.path, sizeof subject.path, "%s/in.laz", folder);
    snprintf(subject.out, sizeof subject.out, "%s/out.laz", folder);
    mote_cloud *generated = NULL;
    mote_las_facts facts = {0};
    mote_status status = mote_cloud_write(s->ctx, cloud, subject.path, &params);
    if (status == MOTE_OK) status = mote_cloud_read(s->ctx, subject.path, NULL, &generated);
    progress_clear(&s->bar);
    if (status == MOTE_OK) mote_cloud_las_facts(generated, &facts);
    mote_cloud_destroy(generated);
    subject.format = facts.format;
    const int code = status == MOTE_OK ? run_steps(s, o, &subject) : session_fail(s, status, false);
    unlink(subject.path);
    return code;
}

/* The formats that a file is measured in: its own, and the layered one that holds the same. */
static int run_cloud(session *s, const bench_options *o, const mote_cloud *cloud, const char *name,
                     const char *folder) {
    mote_las_facts facts = {.format = FORMAT_KEPT};
    mote_write_params params = mote_write_defaults();
    mote_cloud_las_facts(cloud, &facts);
    int code = run_format(s, o, cloud, name, params, folder);
    if (code != EXIT_DONE || facts.format < 0 || facts.format >= 6) return code;
    params.las_format = mote_cloud_find(cloud, "red") != NULL ? 7 : 6;
    return run_format(s, o, cloud, name, params, folder);
}

static int run_file(session *s, const bench_options *o, const char *path, const char *folder) {
    char name[64];
    const char *slash = strrchr(path, '/');
    mote_cloud *cloud = NULL;
    snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : path);
    char *ending = strrchr(name, '.');
    if (ending != NULL) *ending = '\0';
    int code = session_read(s, &path, 1, NULL, &cloud);
    if (code == EXIT_DONE) code = run_cloud(s, o, cloud, name, folder);
    mote_cloud_destroy(cloud);
    return code;
}

/* Measures format 2, with the attributes that it has, and 7 with all. */
static int run_city(session *s, const bench_options *o, const char *folder) {
    mote_cloud *cloud = NULL;
    mote_write_params params = mote_write_defaults();
    const mote_status status = mote_generate(s->ctx, "city", o->count, NULL, &cloud);
    int code = status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
    params.las_format = 2;
    params.columns = "intensity,return_number,number_of_returns,classification,point_source_id,red,green,blue";
    if (code == EXIT_DONE) code = run_format(s, o, cloud, "city", params, folder);
    params.las_format = 7;
    params.columns = NULL;
    if (code == EXIT_DONE) code = run_format(s, o, cloud, "city", params, folder);
    mote_cloud_destroy(cloud);
    return code;
}

static int run_inputs(session *s, const bench_options *o, const char *folder) {
    int code = EXIT_DONE;
    printf("laz: median and spread of %d runs; file in the page cache to cloud, cloud to file in %s\n", o->runs,
           o->scratch);
    printf("%-28s %6s %-9s %7s %12s %19s %8s %7s\n", "file", "format", "step", "threads", "M points/s",
           "lowest – highest", "LASzip", "times");
    if (o->file_count == 0) code = run_city(s, o, folder);
    for (int i = 0; i < o->file_count && code == EXIT_DONE; i++) code = run_file(s, o, o->files[i], folder);
    if (code != EXIT_DONE) return code;
    if (bench_on_gpu(s))
        printf("to device: whole records in the GPU's memory, from the page cache; decoded there where the chunks are "
               "many\n");
    printf("positions: x, y and z only. LASzip: 3.5, whole records, measured; it decodes with one thread\n");
    return EXIT_DONE;
}

static int check_case(const session *s, const bench_options *o) {
    const char *names[STEPS + 1] = {NULL};
    for (int step = 0; step < STEPS; step++) {
        names[step] = step_names[step];
        if (is_wanted(s, o, (laz_step)step)) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

int bench_laz(session *s, const bench_options *o) {
    char folder[4096];
    if (check_case(s, o) != EXIT_DONE) return EXIT_USAGE;
    snprintf(folder, sizeof folder, "%s/mote-bench-XXXXXX", o->scratch);
    if (mkdtemp(folder) == NULL) return session_error(s, EXIT_FAILED, "%s: cannot make a folder there", o->scratch);
    const int code = run_inputs(s, o, folder);
    rmdir(folder);
    return code;
}
