/* mote bench planes: the transform as in the published slides, by points and by planes, and planes of a room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "text.h"

#define DIRECTIONS  32400.0 /* 180 x 180, the slides' */
#define SLIDES_BIN  0.1     /* a room of 18 m in about as many bins as the slides' 2 x 92 */
#define MAX_PEAKS   10
#define LARGE       10000000u /* from this many points on, a case is for GPUs that have the room */
#define LARGE_BYTES 64u       /* that a point may take there */

/* Votes, suppression and peaks. Published: Duca 2016, seconds, its best GPU version and its CPU. */
typedef struct vote_case {
    uint64_t points;
    double gpu_s, cpu_s;
} vote_case;
static const vote_case by_points[] = {{1, 0.047, 15},    {1000, 0.05, 17},    {10000, 0.1, 23},
                                      {100000, 0.7, 88}, {1000000, 6.8, 676}, {23000000, 152, 14400}};

typedef struct peak_case {
    uint32_t planes;
    double gpu_s, cpu_s;
} peak_case;
static const peak_case by_planes[] = {{2, 0.05, 16}, {5, 0.05, 16.5}, {10, 0.05, 17}};

/* Planes of a room, to the end. Measured on 2 cores: CGAL 5, efficient RANSAC and region growing, normals included. */
typedef struct room_case {
    const char *name;
    uint64_t points;
    double noise_m, outliers;
    const char *others;
} room_case;
static const room_case rooms[] = {
    {"room 100k", 100000, 0.003, 0.1, "CGAL RANSAC 0.195 s, region growing 0.34 s"},
    {"room 1M", 1000000, 0.003, 0.1, "CGAL RANSAC 3.7 s, region growing 6.6 s"},
    {"hard room 100k", 100000, 0.01, 0.6, "Open3D 3-6 of 8 planes"},
};

/* ---- running */

typedef struct planes_bench {
    session *s;
    const bench_options *o;
    mote_context *ctx;
    mote_cloud *cloud;
    char device[200];
} planes_bench;

static mote_status make_room(planes_bench *b, uint64_t points, double noise_m, double outliers) {
    mote_gen_params params = mote_gen_defaults("room");
    mote_cloud_destroy(b->cloud);
    params.noise_m = noise_m;
    params.outlier_ratio = outliers;
    return mote_generate(b->ctx, "room", points, &params, &b->cloud);
}

static mote_status vote_once(planes_bench *b, uint32_t planes, double *seconds) {
    mote_planes_params params = mote_planes_defaults();
    mote_planes_peak peaks[MAX_PEAKS];
    mote_planes_facts facts;
    uint32_t count;
    params.directions = MOTE_PLANES_GRID;
    params.bin = SLIDES_BIN;
    const double begin = seconds_now();
    const mote_status status = mote_planes_vote(b->ctx, b->cloud, &params, planes, peaks, &count, &facts);
    *seconds = seconds_now() - begin;
    return status;
}

static mote_status find_once(planes_bench *b, double *seconds, uint32_t *found) {
    mote_planes *planes;
    int32_t *labels = malloc((size_t)mote_cloud_count(b->cloud) * sizeof *labels);
    if (labels == NULL) return MOTE_ERROR_MEMORY;
    const double begin = seconds_now();
    const mote_status status = mote_planes_find(b->ctx, b->cloud, NULL, labels, &planes);
    *seconds = seconds_now() - begin;
    *found = status == MOTE_OK ? mote_planes_count(planes) : 0;
    mote_planes_destroy(planes);
    free(labels);
    return status;
}

/* Runs one case and summarises it; found: planes of a room, 0 peaks asked for. */
static int measure(planes_bench *b, const char *name, uint32_t peaks, uint32_t *found, bench_result *result) {
    bench_runs runs = {.count = 0};
    mote_status status = MOTE_OK;
    const bench_result empty = {.bench = "planes", .name = name, .unit = "s", .points = mote_cloud_count(b->cloud)};
    *result = empty;
    result->threads = mote_context_threads(b->ctx);
    if (bench_on_gpu(b->s)) result->device = b->device;
    for (; runs.count < b->o->runs && status == MOTE_OK && !session_cancelled(); runs.count++) {
        double *seconds = &runs.values[runs.count];
        status = peaks > 0 ? vote_once(b, peaks, seconds) : find_once(b, seconds, found);
    }
    if (session_cancelled()) return EXIT_CANCELLED;
    if (status != MOTE_OK) return session_error(b->s, EXIT_FAILED, "%s: %s", name, mote_context_message(b->ctx));
    bench_summarize(&runs, result);
    return EXIT_DONE;
}

static int failed(const planes_bench *b, mote_status status) {
    if (status == MOTE_OK) return EXIT_DONE;
    return session_error(b->s, EXIT_FAILED, "%s", mote_context_message(b->ctx));
}

static bool wanted(const bench_options *o, const char *name) {
    return o->only == NULL || strstr(name, o->only) != NULL;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The names of the cases of by_points and by_planes; those of rooms have theirs. */
typedef struct case_name {
    char chars[72];
} case_name;

static case_name votes_name(const vote_case *c) {
    case_name name;
    snprintf(name.chars, sizeof name.chars, "votes of %s", text_count(c->points).chars);
    return name;
}

static case_name planes_name(const peak_case *c) {
    case_name name;
    snprintf(name.chars, sizeof name.chars, "%u planes", c->planes);
    return name;
}

static int check_case(const bench_options *o) {
    case_name made[COUNT(by_points) + COUNT(by_planes)];
    const char *names[COUNT(by_points) + COUNT(by_planes) + COUNT(rooms) + 1] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < COUNT(by_points); i++) made[count++] = votes_name(&by_points[i]);
    for (size_t i = 0; i < COUNT(by_planes); i++) made[count++] = planes_name(&by_planes[i]);
    for (size_t i = 0; i < count; i++) names[i] = made[i].chars;
    for (size_t i = 0; i < COUNT(rooms); i++) names[count++] = rooms[i].name;
    for (size_t i = 0; i < count; i++) {
        if (wanted(o, names[i])) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

/* ---- the tables */

/* Cores would take hours for the largest. */
static bool is_feasible(const planes_bench *b, uint64_t points) {
    return points < LARGE || (bench_on_gpu(b->s) && bench_device_bytes(b->s) >= points * LARGE_BYTES);
}

static int table_by_points(planes_bench *b) {
    int code = EXIT_DONE;
    printf("%-12s %10s %21s %12s   %s\n", "points", "seconds", "lowest – highest", "G votes/s",
           "slides 2016: GPU, CPU");
    for (size_t i = 0; i < COUNT(by_points) && code == EXIT_DONE; i++) {
        const vote_case *c = &by_points[i];
        const case_name name = votes_name(c);
        uint32_t found;
        bench_result result;
        if (!wanted(b->o, name.chars) || !is_feasible(b, c->points)) continue;
        code = failed(b, make_room(b, c->points, 0.003, 0.1));
        if (code == EXIT_DONE) code = measure(b, name.chars, 5, &found, &result);
        if (code != EXIT_DONE) break;
        printf("%-12s %10.6f %9.6f – %-9.6f %12.2f   %g, %g s\n", text_count(c->points).chars, result.median,
               result.low, result.high, (double)c->points * DIRECTIONS / result.median / 1e9, c->gpu_s, c->cpu_s);
        fflush(stdout);
        code = bench_record(b->s, b->o, &result);
    }
    return code;
}

static int table_by_planes(planes_bench *b) {
    int code = failed(b, make_room(b, 1000, 0.003, 0.1));
    printf("\n%-12s %10s %21s   %s\n", "planes", "seconds", "lowest – highest", "slides 2016: GPU, CPU; 1,000 points");
    for (size_t i = 0; i < COUNT(by_planes) && code == EXIT_DONE; i++) {
        const peak_case *c = &by_planes[i];
        const case_name name = planes_name(c);
        uint32_t found;
        bench_result result;
        if (!wanted(b->o, name.chars)) continue;
        code = measure(b, name.chars, c->planes, &found, &result);
        if (code != EXIT_DONE) break;
        printf("%-12u %10.6f %9.6f – %-9.6f   %g, %g s\n", c->planes, result.median, result.low, result.high, c->gpu_s,
               c->cpu_s);
        code = bench_record(b->s, b->o, &result);
    }
    return code;
}

static int table_of_rooms(planes_bench *b) {
    int code = EXIT_DONE;
    printf("\n%-16s %10s %21s %8s   %s\n", "room", "seconds", "lowest – highest", "planes", "others, 2 cores");
    for (size_t i = 0; i < COUNT(rooms) && code == EXIT_DONE; i++) {
        const room_case *c = &rooms[i];
        uint32_t found = 0;
        bench_result result;
        if (!wanted(b->o, c->name)) continue;
        code = failed(b, make_room(b, c->points, c->noise_m, c->outliers));
        if (code == EXIT_DONE) code = measure(b, c->name, 0, &found, &result);
        if (code != EXIT_DONE) break;
        printf("%-16s %10.6f %9.6f – %-9.6f %8u   %s\n", c->name, result.median, result.low, result.high, found,
               c->others);
        fflush(stdout);
        code = bench_record(b->s, b->o, &result);
    }
    return code;
}

int bench_planes(session *s, const bench_options *o) {
    planes_bench b = {.s = s, .o = o};
    if (check_case(o) != EXIT_DONE) return EXIT_USAGE;
    bench_device_name(s, b.device, sizeof b.device);
    const mote_status status = bench_context(s, mote_context_threads(s->ctx), &b.ctx);
    int code = status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
    if (code == EXIT_DONE) {
        printf("planes: %s; median and spread of %d runs. 32,400 directions, bins of %g m; votes, suppression, peaks\n",
               b.device, o->runs, SLIDES_BIN);
        code = table_by_points(&b);
    }
    if (code == EXIT_DONE) code = table_by_planes(&b);
    if (code == EXIT_DONE) code = table_of_rooms(&b);
    mote_cloud_destroy(b.cloud);
    mote_context_destroy(b.ctx);
    return code;
}
