/* mote bench read: E57 read in pieces; and what choosing points and transforming them costs beside reading the same
   file as it is. Runs of the two take turns, so that what else the machine does meets both. Points a second of the
   clock, and a second that a core worked: that hardly depends on how many others want the cores. */
#define _GNU_SOURCE /* mkdtemp, clock_gettime */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

typedef enum read_file { FILE_LAZ, FILE_LAS, FILE_FLOATS, FILE_PACKED, FILES } read_file;
static const char *const file_names[FILES] = {"city.laz", "city.las", "floats.e57", "packed.e57"};
static const char *const file_kinds[FILES] = {"city", "city", "torus", "city"};

typedef struct read_case {
    const char *name;
    read_file file;
    const char *where, *to_crs; /* either, of LAZ: the time is compared with that without; of LAS, which costs next to
                                   nothing to read, it is that of the work itself */
} read_case;

static const read_case cases[] = {
    {"e57 floats", FILE_FLOATS, NULL, NULL},
    {"e57 packed", FILE_PACKED, NULL, NULL},
    {"laz", FILE_LAZ, NULL, NULL},
    {"where", FILE_LAZ, "classification == 2 && return_number == number_of_returns && z < 120.5", NULL},
    {"where all", FILE_LAZ, "true", NULL},
    {"crs utm", FILE_LAZ, NULL, "EPSG:25833"},
    {"crs proj", FILE_LAZ, NULL, "EPSG:3035"},
    {"las crs utm", FILE_LAS, NULL, "EPSG:25833"},
    {"las crs proj", FILE_LAS, NULL, "EPSG:3035"},
};
#define CASES (sizeof cases / sizeof cases[0])

typedef struct read_seconds {
    double clock, core; /* core: of all threads together */
} read_seconds;

/* rate, core_rate: of the case; ratio, core_ratio: its time by that of reading alone, of one run after the other. */
typedef struct read_runs {
    bench_runs rate, core_rate, ratio, core_ratio;
} read_runs;

static double core_seconds(void) {
    struct timespec at = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Reads all pieces. */
static mote_status run_once(mote_context *ctx, const char *path, const read_case *c, read_seconds *seconds) {
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    params.where = c->where;
    params.to_crs = c->to_crs;
    if (c->to_crs != NULL) params.crs = "EPSG:25832";
    const read_seconds begin = {seconds_now(), core_seconds()};
    mote_status status = mote_reader_open(ctx, path, &params, &reader);
    if (status == MOTE_OK) {
        do status = mote_reader_next(reader, &piece);
        while (status == MOTE_OK && piece != NULL);
    }
    mote_reader_close(reader);
    *seconds = (read_seconds){seconds_now() - begin.clock, core_seconds() - begin.core};
    return status;
}

static void add_run(bench_runs *runs, double value) { runs->values[runs->count++] = value; }

static mote_status run_pairs(mote_context *ctx, const bench_options *o, const char *path, const read_case *c,
                             read_runs *runs) {
    const read_case plain = {c->name, c->file, NULL, NULL};
    const bool is_compared = c->file == FILE_LAZ && (c->where != NULL || c->to_crs != NULL);
    read_seconds seconds, alone = {0, 0};
    mote_status status = run_once(ctx, path, c, &seconds); /* not counted */
    while (status == MOTE_OK && runs->rate.count < o->runs && !session_cancelled()) {
        if (is_compared) status = run_once(ctx, path, &plain, &alone);
        if (status == MOTE_OK) status = run_once(ctx, path, c, &seconds);
        add_run(&runs->rate, (double)o->count / seconds.clock / 1e6);
        add_run(&runs->core_rate, (double)o->count / seconds.core / 1e6);
        if (!is_compared) continue;
        add_run(&runs->ratio, seconds.clock / alone.clock);
        add_run(&runs->core_ratio, seconds.core / alone.core);
    }
    return status;
}

/* Prints one column of the table, and appends it to the history by a name of its own. */
static int show_runs(session *s, const bench_options *o, const read_case *c, const char *what, const char *unit,
                     int threads, const bench_runs *runs) {
    char name[64];
    if (runs->count == 0) return EXIT_DONE;
    snprintf(name, sizeof name, "%s%s", c->name, what);
    bench_result result = {.bench = "read", .name = name, .unit = unit, .points = o->count, .threads = threads};
    bench_summarize(runs, &result);
    printf("  %7.2f %7.2f – %-7.2f", result.median, result.low, result.high);
    return bench_record(s, o, &result);
}

static int run_case(session *s, const bench_options *o, const char *folder, const read_case *c, int threads) {
    char path[4200];
    read_runs runs;
    mote_context *ctx = NULL;
    memset(&runs, 0, sizeof runs);
    snprintf(path, sizeof path, "%s/%s", folder, file_names[c->file]);
    mote_status status = bench_context(s, threads, &ctx);
    if (status == MOTE_OK) status = run_pairs(ctx, o, path, c, &runs);
    int code = session_cancelled() ? EXIT_CANCELLED : EXIT_DONE;
    if (code == EXIT_DONE && status != MOTE_OK) {
        code = session_error(s, EXIT_FAILED, "%s", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    }
    mote_context_destroy(ctx);
    if (code != EXIT_DONE) return code;
    printf("%-12s %7d", c->name, threads);
    code = show_runs(s, o, c, "", "M points/s", threads, &runs.rate);
    if (code == EXIT_DONE) code = show_runs(s, o, c, ", core", "M points/core s", threads, &runs.core_rate);
    if (code == EXIT_DONE) code = show_runs(s, o, c, " by laz", "ratio", threads, &runs.ratio);
    if (code == EXIT_DONE) code = show_runs(s, o, c, " by laz, core", "ratio", threads, &runs.core_ratio);
    putchar('\n');
    fflush(stdout);
    return code;
}

static bool is_wanted(const bench_options *o, const read_case *c) {
    return o->only == NULL || strncmp(c->name, o->only, strlen(o->only)) == 0;
}

/* Makes only the files that some case asks for. */
static int make_files(session *s, const bench_options *o, const char *folder) {
    for (int file = 0; file < FILES; file++) {
        char path[4200];
        mote_cloud *cloud = NULL;
        bool is_needed = false;
        for (size_t c = 0; c < CASES; c++) is_needed |= (int)cases[c].file == file && is_wanted(o, &cases[c]);
        if (!is_needed) continue;
        snprintf(path, sizeof path, "%s/%s", folder, file_names[file]);
        mote_status status = mote_generate(s->ctx, file_kinds[file], o->count, NULL, &cloud);
        if (status == MOTE_OK) status = mote_cloud_write(s->ctx, cloud, path, NULL);
        mote_cloud_destroy(cloud);
        if (status != MOTE_OK) return session_fail(s, status, false);
    }
    return EXIT_DONE;
}

static int run_cases(session *s, const bench_options *o, const char *folder) {
    const int all = mote_context_threads(s->ctx);
    printf("%-12s %7s  %-26s %-26s %-26s %s\n", "case", "threads", "M points/s (low – high)", "a second of a core",
           "time by laz", "time of cores by laz");
    for (size_t c = 0; c < CASES; c++) {
        if (!is_wanted(o, &cases[c])) continue;
        int code = run_case(s, o, folder, &cases[c], 1);
        if (code == EXIT_DONE && all > 1) code = run_case(s, o, folder, &cases[c], all);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

int bench_read(session *s, const bench_options *o) {
    const char *names[CASES + 1] = {NULL};
    char folder[4096];
    bool any = false;
    for (size_t c = 0; c < CASES; c++) {
        names[c] = cases[c].name;
        any |= is_wanted(o, &cases[c]);
    }
    if (!any) return bench_no_case(o, names);
    snprintf(folder, sizeof folder, "%s/mote_bench_XXXXXX", o->scratch);
    if (mkdtemp(folder) == NULL) return session_error(s, EXIT_FAILED, "%s: cannot make a folder", o->scratch);
    int code = make_files(s, o, folder);
    if (code == EXIT_DONE) code = run_cases(s, o, folder);
    for (int file = 0; file < FILES; file++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", folder, file_names[file]);
        unlink(path);
    }
    rmdir(folder);
    return code;
}
