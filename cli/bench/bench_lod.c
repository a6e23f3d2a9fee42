/* mote bench lod: file to finished folder, each run in a fresh process of this binary, so that memory is honest. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench_child.h"
#include "print.h"
#include "text.h"

#define WORDS_MAX 24

/* A row: the ending of the input, the options of mote lod, what the peer reaches and what we are out for, in M
   points/s. */
typedef struct lod_case {
    const char *name, *ending;
    const char *options[6];
    const char *peer;
    double target;
} lod_case;

/* Peer: PotreeConverter 2.1, CPU, 2 cores, 10 M points, LAS format 3, page cache warm; measured. */
static const lod_case cpu_cases[] = {
    {"random", ".las", {"--sampling", "random"}, "2.2", 8},
    {"poisson", ".las", {"--sampling", "poisson"}, "1.3", 4},
    {"brotli", ".las", {"--encoding", "brotli"}, "0.6 – 1.1", 2},
    {"gaussian", ".las", {"--scheme", "replacing", "--filter", "gaussian"}, "–", 2.5},
};
/* Targets: 100 M points, 16 cores. */
static const lod_case gpu_cases[] = {
    {"random", ".las", {"--sampling", "random"}, "–", 120},
    {"poisson", ".las", {"--sampling", "poisson"}, "–", 0},
    {"gaussian", ".las", {"--scheme", "replacing", "--filter", "gaussian"}, "–", 0},
    {"random laz", ".laz", {"--sampling", "random"}, "–", 60},
};

static const char published[] =
    "published, without input and output: Klaus 2023, table 5.2 (TITAN RTX, 119.7 M points, resident), M points/s\n"
    "                            first pick   random pick\n"
    "  no colour filter               418           182\n"
    "  intra-cell                     299           179\n"
    "  inter-cell                     188           134\n"
    "  inter-cell, weighted            75            64\n";

#define CASES 4
_Static_assert(sizeof cpu_cases / sizeof cpu_cases[0] == CASES && sizeof gpu_cases / sizeof gpu_cases[0] == CASES,
               "tables of one length");

/* The input, and the folder that a run makes. */
typedef struct lod_place {
    char input[4000], folder[4096];
    uint64_t points;
} lod_place;

/* What one run of the child tells. */
typedef struct lod_run {
    double seconds;
    double peak_bytes;     /* of the library's memory, the mapped input not included */
    double device_bytes;   /* peak of the GPU's memory */
    double resident_bytes; /* of the whole process, what it touched of the mapped input included */
} lod_run;

/* The number after "name": in the child's JSON; 0 if it is not there. */
static double json_number(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(json, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : 0;
}

/* mote lod of one case. The words point into buffers of the caller. */
static int run_lod(session *s, const lod_case *c, const lod_place *at, lod_run *run) {
    static char json[1 << 16];
    char threads[16];
    const char *words[WORDS_MAX] = {"mote",    "lod",       at->input, at->folder, "--json",
                                    "--quiet", "--threads", threads,   "--device", bench_child_device(s, at->points)};
    int count = 10;
    snprintf(threads, sizeof threads, "%d", mote_context_threads(s->ctx));
    for (int i = 0; i < 6 && c->options[i] != NULL; i++) words[count++] = c->options[i];
    words[count] = NULL;
    const double begin = seconds_now();
    struct rusage usage = {0};
    const int code = bench_run_child(words, json, sizeof json, &usage);
    run->seconds = seconds_now() - begin;
    run->peak_bytes = json_number(json, "peak_bytes");
    run->device_bytes = json_number(json, "device_peak_bytes");
    run->resident_bytes = (double)usage.ru_maxrss * 1024;
    if (code != EXIT_DONE) return session_error(s, code, "the run of case %s failed", c->name);
    if (bench_on_gpu(s) && strstr(json, "\"backend\": \"cuda\"") == NULL) {
        return session_error(s, EXIT_FAILED, "the run of case %s did not take the GPU", c->name);
    }
    return EXIT_DONE;
}

static void remove_folder(const char *folder) {
    static const char *const files[] = {"metadata.json", "hierarchy.bin", "octree.bin"};
    char path[4200];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* The most of each figure over the runs. */
static void keep_peaks(lod_run *max, const lod_run *run) {
    if (run->peak_bytes > max->peak_bytes) max->peak_bytes = run->peak_bytes;
    if (run->device_bytes > max->device_bytes) max->device_bytes = run->device_bytes;
    if (run->resident_bytes > max->resident_bytes) max->resident_bytes = run->resident_bytes;
}

static void print_head(const session *s, const char *input, uint64_t points, int runs) {
    print_out("lod: %s, %s points, file to finished folder, median and spread of %d runs, %d threads\n", input,
              text_count(points).chars, runs, mote_context_threads(s->ctx));
    printf("%-10s %12s %19s %12s %12s %10s %10s", "case", "M points/s", "lowest – highest", "bytes/point", "RSS/point",
           "peer", "target");
    puts(bench_on_gpu(s) ? "    GPU/point" : "");
}

static void print_row(const session *s, const lod_case *c, const bench_result *result, const lod_run *max) {
    const double n = result->points > 0 ? (double)result->points : 1;
    char target[16] = "–";
    if (c->target > 0) snprintf(target, sizeof target, "%.1f", c->target);
    printf("%-10s %12.2f %8.2f – %-8.2f %12.1f %12.1f %10s %10s", c->name, result->median, result->low, result->high,
           max->peak_bytes / n, max->resident_bytes / n, c->peer, target);
    if (bench_on_gpu(s)) printf(" %12.1f", max->device_bytes / n);
    putchar('\n');
    fflush(stdout);
}

static int run_case(session *s, const bench_options *o, const lod_case *c, const lod_place *at) {
    bench_runs runs = {.count = 0};
    char device[200];
    bench_result result = {.bench = "lod",
                           .name = c->name,
                           .unit = "M points/s",
                           .points = at->points,
                           .threads = mote_context_threads(s->ctx)};
    lod_run max = {0};
    if (bench_on_gpu(s)) {
        bench_device_name(s, device, sizeof device);
        result.device = device;
    }
    for (; runs.count < o->runs; runs.count++) {
        lod_run run = {0};
        const int code = run_lod(s, c, at, &run);
        remove_folder(at->folder);
        if (session_cancelled()) return EXIT_CANCELLED;
        if (code != EXIT_DONE) return code;
        runs.values[runs.count] = (double)at->points / run.seconds / 1e6;
        keep_peaks(&max, &run);
    }
    bench_summarize(&runs, &result);
    result.peak_bytes_per_point = max.peak_bytes / (at->points > 0 ? (double)at->points : 1);
    print_row(s, c, &result, &max);
    return bench_record(s, o, &result);
}

/* The input: --input, or a city that is made once and kept in the scratch folder. */
static int prepare_input(session *s, const bench_options *o, const char *ending, lod_place *at) {
    if (o->input != NULL) {
        snprintf(at->input, sizeof at->input, "%s", o->input);
    } else {
        snprintf(at->input, sizeof at->input, "%s/city-%llu%s", o->scratch, (unsigned long long)o->count, ending);
    }
    mote_cloud *cloud = NULL;
    mote_status status = MOTE_OK;
    if (o->input == NULL && access(at->input, R_OK) != 0) {
        session_say(s, "making %s", at->input);
        s->bar.points = o->count;
        status = mote_generate(s->ctx, "city", o->count, NULL, &cloud);
        if (status == MOTE_OK) status = mote_cloud_write(s->ctx, cloud, at->input, NULL);
        mote_cloud_destroy(cloud);
        if (status != MOTE_OK) return session_fail(s, status, false);
    }
    const char *paths[] = {at->input};
    const int code = session_read(s, paths, 1, NULL, &cloud);
    if (code != EXIT_DONE) return code;
    at->points = mote_cloud_count(cloud);
    mote_cloud_destroy(cloud);
    bench_warm_up(at->input);
    return EXIT_DONE;
}

/* --case chooses one; with --input all work on the same file, so one of LAZ would repeat another. */
static bool wanted(const bench_options *o, const lod_case *c) {
    return (o->only == NULL || strcmp(o->only, c->name) == 0) && (o->input == NULL || strcmp(c->ending, ".las") == 0);
}

/* Runs all cases; those on the same input follow each other. */
static int run_cases(session *s, const bench_options *o, lod_place *at) {
    const lod_case *cases = bench_on_gpu(s) ? gpu_cases : cpu_cases;
    const char *ending = NULL;
    int code = EXIT_DONE;
    for (size_t i = 0; i < CASES && code == EXIT_DONE; i++) {
        if (!wanted(o, &cases[i])) continue;
        if (ending == NULL || strcmp(ending, cases[i].ending) != 0) {
            ending = cases[i].ending;
            code = prepare_input(s, o, ending, at);
            progress_clear(&s->bar);
            if (code == EXIT_DONE) print_head(s, at->input, at->points, o->runs);
        }
        if (code == EXIT_DONE) code = run_case(s, o, &cases[i], at);
    }
    return code;
}

static void print_notes(const session *s) {
    printf("bytes/point: peak of the library's memory beyond the mapped input, target 90; peer 30 – 49, out of core\n"
           "RSS/point: of the whole process, the touched part of the mapped input included\n");
    if (bench_on_gpu(s)) {
        printf("GPU/point: peak of device memory, the uploaded input included\ntargets: 100 M points, 16 cores\n");
    } else {
        printf("peer: PotreeConverter 2.1 on 2 cores, 10 M points, LAS format 3, measured\n\n%s", published);
    }
}

static int check_case(const session *s, const bench_options *o) {
    const lod_case *cases = bench_on_gpu(s) ? gpu_cases : cpu_cases;
    const char *names[CASES + 1] = {NULL};
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i].name;
        if (wanted(o, &cases[i])) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

int bench_lod(session *s, const bench_options *o) {
    if (bench_on_gpu(s) && !o->from_files) return bench_lod_cuda(s, o);
    char place[4000];
    lod_place at = {.points = 0};
    if (check_case(s, o) != EXIT_DONE) return EXIT_USAGE;
    snprintf(place, sizeof place, "%s/mote-bench-XXXXXX", o->scratch);
    if (mkdtemp(place) == NULL) return session_error(s, EXIT_FAILED, "%s: cannot make a folder there", o->scratch);
    snprintf(at.folder, sizeof at.folder, "%s/out.mote", place);
    const int code = run_cases(s, o, &at);
    rmdir(place);
    if (code == EXIT_DONE) print_notes(s);
    return code;
}
