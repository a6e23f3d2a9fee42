/* mote bench lod: file to finished folder, each run in a fresh process of this binary, so that memory is honest. */
#define _GNU_SOURCE /* wait4, pipe, mkdtemp */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "text.h"

#define WORDS_MOST 24

/* A row: the options of mote lod, what the peer reaches and what we are out for, in M points/s. */
typedef struct lod_case {
    const char *name;
    const char *options[6];
    const char *peer;
    double target;
} lod_case;

/* Peer: PotreeConverter 2.1, CPU, 2 cores, 10 M points, LAS format 3, page cache warm; measured. */
static const lod_case cases[] = {
    {"random", {"--sampling", "random"}, "2.2", 8},
    {"poisson", {"--sampling", "poisson"}, "1.3", 4},
    {"brotli", {"--encoding", "brotli"}, "0.6 – 1.1", 2},
    {"gaussian", {"--scheme", "replacing", "--filter", "gaussian"}, "–", 2.5},
};

static const char published[] =
    "published, without input and output: Klaus 2023, table 5.2 (TITAN RTX, 119.7 M points, resident), M points/s\n"
    "                            first pick   random pick\n"
    "  no colour filter               418           182\n"
    "  intra-cell                     299           179\n"
    "  inter-cell                     188           134\n"
    "  inter-cell, weighted            75            64\n";

/* What one run of the child tells. */
typedef struct lod_run {
    double seconds;
    double peak_bytes;     /* of the library's memory, the mapped input not included */
    double resident_bytes; /* of the whole process, what it touched of the mapped input included */
} lod_run;

/* The number after "name": in the child's JSON; 0 if it is not there. */
static double json_number(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(json, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : 0;
}

static void run_child(const char **words, int output) {
    dup2(output, STDOUT_FILENO);
    execv("/proc/self/exe", (char *const *)(uintptr_t)words);
    _exit(127);
}

/* Runs the words as a command of this binary; collects its standard output. Returns its exit code. */
static int run_words(const char **words, char *text_out, size_t size, struct rusage *usage) {
    int ends[2];
    size_t length = 0;
    if (pipe(ends) != 0) return EXIT_FAILED;
    const pid_t child = fork();
    if (child == 0) run_child(words, ends[1]);
    close(ends[1]);
    for (;;) {
        const ssize_t got = read(ends[0], text_out + length, size - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        length += (size_t)got;
    }
    text_out[length] = '\0';
    close(ends[0]);
    int status = 0;
    while (child > 0 && wait4(child, &status, 0, usage) < 0 && errno == EINTR) continue;
    if (child < 0) return EXIT_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* mote lod of one case. The words point into buffers of the caller. */
static int run_lod(session *s, const lod_case *c, const char *input, const char *folder, lod_run *run) {
    static char json[1 << 16];
    char threads[16];
    const char *words[WORDS_MOST] = {"mote",    "lod",       input,   folder,     "--json",
                                     "--quiet", "--threads", threads, "--device", s->options.device};
    int count = 10;
    snprintf(threads, sizeof threads, "%d", mote_context_threads(s->ctx));
    for (int i = 0; i < 6 && c->options[i] != NULL; i++) words[count++] = c->options[i];
    words[count] = NULL;
    const double begin = seconds_now();
    struct rusage usage = {0};
    const int code = run_words(words, json, sizeof json, &usage);
    run->seconds = seconds_now() - begin;
    run->peak_bytes = json_number(json, "peak_bytes");
    run->resident_bytes = (double)usage.ru_maxrss * 1024;
    if (code != EXIT_DONE) return session_error(s, code, "the run of case %s failed", c->name);
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

/* Reads the input once, so that the first run finds it in the page cache like the others. */
static void warm_up(const char *path) {
    static char piece[1 << 20];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && read(file, piece, sizeof piece) > 0) continue;
    if (file >= 0) close(file);
}

static int run_case(session *s, const bench_options *o, const lod_case *c, const char *input, const char *folder,
                    uint64_t points) {
    bench_runs runs = {.count = 0};
    bench_result result = {.bench = "lod",
                           .name = c->name,
                           .unit = "M points/s",
                           .points = points,
                           .threads = mote_context_threads(s->ctx)};
    double peak_bytes = 0, resident_bytes = 0;
    for (; runs.count < o->runs; runs.count++) {
        lod_run run = {0};
        const int code = run_lod(s, c, input, folder, &run);
        remove_folder(folder);
        if (session_cancelled()) return EXIT_CANCELLED;
        if (code != EXIT_DONE) return code;
        runs.values[runs.count] = (double)points / run.seconds / 1e6;
        if (run.peak_bytes > peak_bytes) peak_bytes = run.peak_bytes;
        if (run.resident_bytes > resident_bytes) resident_bytes = run.resident_bytes;
    }
    bench_summarize(&runs, &result);
    result.peak_bytes_per_point = peak_bytes / (points > 0 ? (double)points : 1);
    const double n = points > 0 ? (double)points : 1;
    printf("%-10s %12.2f %8.2f – %-8.2f %12.1f %12.1f %10s %10.1f\n", c->name, result.median, result.low, result.high,
           peak_bytes / n, resident_bytes / n, c->peer, c->target);
    fflush(stdout);
    return bench_record(s, o, &result);
}

/* The input: --input, or a city that is made once and kept in the scratch folder. */
static int prepare_input(session *s, const bench_options *o, char *path, size_t size, uint64_t *points) {
    if (o->input != NULL) {
        snprintf(path, size, "%s", o->input);
    } else {
        snprintf(path, size, "%s/city-%llu.las", o->scratch, (unsigned long long)o->count);
    }
    mote_cloud *cloud = NULL;
    mote_status status = MOTE_OK;
    if (o->input == NULL && access(path, R_OK) != 0) {
        session_say(s, "making %s", path);
        s->bar.points = o->count;
        status = mote_generate(s->ctx, "city", o->count, NULL, &cloud);
        if (status == MOTE_OK) status = mote_cloud_write(s->ctx, cloud, path, NULL);
        mote_cloud_destroy(cloud);
        if (status != MOTE_OK) return session_fail(s, status, false);
    }
    const char *paths[] = {path};
    const int code = session_read(s, paths, 1, NULL, &cloud);
    if (code != EXIT_DONE) return code;
    *points = mote_cloud_count(cloud);
    mote_cloud_destroy(cloud);
    warm_up(path);
    return EXIT_DONE;
}

static int run_cases(session *s, const bench_options *o, const char *input, const char *folder, uint64_t points) {
    int code = EXIT_DONE;
    printf("lod: %s, %s points, file to finished folder, median and spread of %d runs, %d threads\n", input,
           text_count(points).chars, o->runs, mote_context_threads(s->ctx));
    printf("%-10s %12s %19s %12s %12s %10s %10s\n", "case", "M points/s", "lowest – highest", "bytes/point",
           "RSS/point", "peer", "target");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && code == EXIT_DONE; i++) {
        if (o->only != NULL && strcmp(o->only, cases[i].name) != 0) continue;
        code = run_case(s, o, &cases[i], input, folder, points);
    }
    if (code != EXIT_DONE) return code;
    printf("bytes/point: peak of the library's memory beyond the mapped input, target 90; peer 30 – 49, out of core\n"
           "RSS/point: of the whole process, the touched part of the mapped input included\n"
           "peer: PotreeConverter 2.1 on 2 cores, 10 M points, LAS format 3, measured\n\n%s",
           published);
    return EXIT_DONE;
}

int bench_lod(session *s, const bench_options *o) {
    char input[4000], place[4000], folder[4096];
    uint64_t points = 0;
    int code = prepare_input(s, o, input, sizeof input, &points);
    progress_clear(&s->bar);
    if (code != EXIT_DONE) return code;
    snprintf(place, sizeof place, "%s/mote-bench-XXXXXX", o->scratch);
    if (mkdtemp(place) == NULL) return session_error(s, EXIT_FAILED, "%s: cannot make a folder there", o->scratch);
    snprintf(folder, sizeof folder, "%s/out.mote", place);
    code = run_cases(s, o, input, folder, points);
    rmdir(place);
    return code;
}
