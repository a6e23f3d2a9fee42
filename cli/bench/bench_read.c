/* mote bench read: E57 read in pieces; and what choosing points and transforming them costs beside reading the same
   file as it is. Runs of the two take turns, so that what else the machine does meets both. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

typedef enum read_file { FILE_LAZ, FILE_FLOATS, FILE_PACKED, FILES } read_file;
static const char *const file_names[FILES] = {"city.laz", "floats.e57", "packed.e57"};
static const char *const file_kinds[FILES] = {"city", "torus", "city"};

typedef struct read_case {
    const char *name;
    read_file file;
    const char *where, *to_crs; /* either: the time is compared with that without */
} read_case;

static const read_case cases[] = {
    {"e57 floats", FILE_FLOATS, NULL, NULL},
    {"e57 packed", FILE_PACKED, NULL, NULL},
    {"laz", FILE_LAZ, NULL, NULL},
    {"where", FILE_LAZ, "classification == 2 && return_number == number_of_returns && z < 120.5", NULL},
    {"where all", FILE_LAZ, "true", NULL},
    {"crs utm", FILE_LAZ, NULL, "EPSG:25833"},
    {"crs proj", FILE_LAZ, NULL, "EPSG:3035"},
};
#define CASES (sizeof cases / sizeof cases[0])

/* Reads all pieces. */
static mote_status run_once(mote_context *ctx, const char *path, const read_case *c, double *seconds) {
    mote_read_params params = mote_read_defaults();
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    params.where = c->where;
    params.to_crs = c->to_crs;
    if (c->to_crs != NULL) params.crs = "EPSG:25832";
    const double begin = seconds_now();
    mote_status status = mote_reader_open(ctx, path, &params, &reader);
    if (status == MOTE_OK) {
        do status = mote_reader_next(reader, &piece);
        while (status == MOTE_OK && piece != NULL);
    }
    mote_reader_close(reader);
    *seconds = seconds_now() - begin;
    return status;
}

/* rates: of the case; ratios: its time by that of reading alone, of one run after the other. */
static mote_status run_pairs(mote_context *ctx, const bench_options *o, const char *path, const read_case *c,
                             bench_runs *rates, bench_runs *ratios) {
    const read_case plain = {c->name, c->file, NULL, NULL};
    const bool is_compared = c->where != NULL || c->to_crs != NULL;
    double seconds, alone = 0;
    mote_status status = run_once(ctx, path, c, &seconds); /* not counted */
    while (status == MOTE_OK && rates->count < o->runs && !session_cancelled()) {
        if (is_compared) status = run_once(ctx, path, &plain, &alone);
        if (status == MOTE_OK) status = run_once(ctx, path, c, &seconds);
        rates->values[rates->count++] = (double)o->count / seconds / 1e6;
        if (is_compared) ratios->values[ratios->count++] = seconds / alone;
    }
    return status;
}

static int run_case(session *s, const bench_options *o, const char *folder, const read_case *c, int threads) {
    char path[4200], name[64];
    bench_runs rates = {.count = 0}, ratios = {.count = 0};
    bench_result rate = {
        .bench = "read", .name = c->name, .unit = "M points/s", .points = o->count, .threads = threads};
    bench_result ratio = {.bench = "read", .name = name, .unit = "ratio", .points = o->count, .threads = threads};
    mote_context *ctx = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, file_names[c->file]);
    snprintf(name, sizeof name, "%s by laz", c->name);
    mote_status status = bench_context(s, threads, &ctx);
    if (status == MOTE_OK) status = run_pairs(ctx, o, path, c, &rates, &ratios);
    int code = session_cancelled() ? EXIT_CANCELLED : EXIT_DONE;
    if (code == EXIT_DONE && status != MOTE_OK) {
        code = session_error(s, EXIT_FAILED, "%s", ctx != NULL ? mote_context_message(ctx) : mote_status_name(status));
    }
    mote_context_destroy(ctx);
    if (code != EXIT_DONE) return code;
    bench_summarize(&rates, &rate);
    printf("%-12s %7d %12.2f %8.2f – %-8.2f", c->name, threads, rate.median, rate.low, rate.high);
    if (ratios.count > 0) {
        bench_summarize(&ratios, &ratio);
        printf(" %8.2f %6.2f – %-6.2f", ratio.median, ratio.low, ratio.high);
    }
    putchar('\n');
    fflush(stdout);
    code = bench_record(s, o, &rate);
    return code == EXIT_DONE && ratios.count > 0 ? bench_record(s, o, &ratio) : code;
}

static bool is_wanted(const bench_options *o, const read_case *c) {
    return o->only == NULL || strncmp(c->name, o->only, strlen(o->only)) == 0;
}

/* Only the files that some case asks for. */
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
    printf("%-12s %7s %12s %19s %8s\n", "case", "threads", "M points/s", "low – high", "by laz");
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
