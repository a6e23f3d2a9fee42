/* mote bench normals: an index and the normals of all points. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "print.h"

#define CASES  6
#define ARRAYS 4 /* normal_x, normal_y, normal_z, curvature */

typedef struct normals_case {
    const char *name, *kind; /* of mote gen */
    uint64_t points;
} normals_case;
static const normals_case cases[CASES] = {
    {"uniform", "uniform", 1000000},      {"torus", "torus", 1000000},      {"clusters", "clusters", 1000000},
    {"uniform 10M", "uniform", 10000000}, {"torus 10M", "torus", 10000000}, {"clusters 10M", "clusters", 10000000},
};

/* A cloud and the normals of its points. */
typedef struct normals_job {
    mote_context *ctx;
    const mote_cloud *points; /* on the GPU if that computes */
    uint64_t count;
    mote_normals_result host, device; /* device: the same arrays on the GPU, if that computes */
    uint64_t held_bytes;              /* beyond these the memory is the library's work */
} normals_job;

enum { BUILD, ESTIMATE, BOTH, FETCHED, PARTS };
static const char *const part_names[PARTS] = {"build", "estimate", "both", "fetched"};

/* ---- arrays */

static void list_arrays(mote_normals_result *result, float **arrays[ARRAYS]) {
    float **const all[ARRAYS] = {&result->normal_x, &result->normal_y, &result->normal_z, &result->curvature};
    memcpy(arrays, all, sizeof all);
}

static bool take_host(uint64_t count, mote_normals_result *result) {
    float **arrays[ARRAYS];
    list_arrays(result, arrays);
    for (int a = 0; a < ARRAYS; a++) {
        if ((*arrays[a] = malloc((size_t)count * sizeof(float) + 1)) == NULL) return false;
    }
    return true;
}

static bool take_device(normals_job *job) {
    float **arrays[ARRAYS];
    list_arrays(&job->device, arrays);
    job->device.on_device = true;
    for (int a = 0; a < ARRAYS; a++) {
        if ((*arrays[a] = mote_device_alloc(job->ctx, job->count * sizeof(float))) == NULL) return false;
    }
    return true;
}

static void free_host(mote_normals_result *result) {
    float **arrays[ARRAYS];
    list_arrays(result, arrays);
    for (int a = 0; a < ARRAYS; a++) free(*arrays[a]);
}

/* ---- one case */

static mote_status time_estimate(normals_job *job, mote_knn_index *index, mote_normals_result *to, double *ms) {
    const double begin = seconds_now();
    mote_status status = mote_normals_estimate(index, NULL, to);
    if (status == MOTE_OK) status = mote_context_wait(job->ctx);
    *ms = 1e3 * (seconds_now() - begin);
    return status;
}

/* Does the i-th run; i < 0: only to warm up. What a GPU finds goes to its own memory, and once more to the host's. */
static mote_status run_once(normals_job *job, int i, bench_runs runs[PARTS]) {
    const bool on_gpu = mote_cloud_on_device(job->points);
    mote_knn_index *index = NULL;
    double ms[PARTS] = {0};
    const double begin = seconds_now();
    mote_status status = mote_knn_build(job->ctx, job->points, &index);
    if (status == MOTE_OK) status = mote_context_wait(job->ctx);
    ms[BUILD] = 1e3 * (seconds_now() - begin);
    if (status == MOTE_OK) status = time_estimate(job, index, on_gpu ? &job->device : &job->host, &ms[ESTIMATE]);
    ms[BOTH] = ms[BUILD] + ms[ESTIMATE];
    if (status == MOTE_OK && on_gpu) status = time_estimate(job, index, &job->host, &ms[FETCHED]);
    mote_knn_destroy(index);
    for (int p = 0; p < PARTS && i >= 0; p++) {
        runs[p].values[i] = ms[p];
        runs[p].count = i + 1;
    }
    return status;
}

/* What the GPU found against what the CPU finds. */
static mote_status check_answer(const session *s, const normals_job *job, const mote_cloud *cloud, bool *is_right) {
    mote_context_params params = bench_context_params(s, mote_context_threads(job->ctx));
    mote_context *ctx = NULL;
    mote_normals_result expected = {.skipped = 0}, found = job->host;
    float **a[ARRAYS], **b[ARRAYS];
    params.device = MOTE_DEVICE_CPU;
    list_arrays(&expected, a);
    list_arrays(&found, b);
    mote_status status = take_host(job->count, &expected) ? mote_context_create(&params, &ctx) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_normals(ctx, cloud, NULL, &expected);
    *is_right = status == MOTE_OK;
    for (int i = 0; i < ARRAYS && *is_right; i++) {
        *is_right = memcmp(*a[i], *b[i], (size_t)job->count * sizeof(float)) == 0;
    }
    free_host(&expected);
    mote_context_destroy(ctx);
    return status;
}

static uint64_t peak_bytes(const normals_job *job) {
    const uint64_t peak = mote_cloud_on_device(job->points) ? mote_context_device_peak_bytes(job->ctx)
                                                            : mote_context_memory_peak_bytes(job->ctx);
    return peak - job->held_bytes;
}

static mote_status measure(const bench_options *o, normals_job *job, bench_result base, bench_result parts[PARTS]) {
    bench_runs runs[PARTS] = {{.count = 0}};
    mote_context_memory_peak_reset(job->ctx);
    job->held_bytes =
        mote_cloud_on_device(job->points) ? mote_context_device_bytes(job->ctx) : mote_context_memory_bytes(job->ctx);
    mote_status status = run_once(job, -1, runs);
    for (int i = 0; i < o->runs && status == MOTE_OK && !session_cancelled(); i++) status = run_once(job, i, runs);
    if (session_cancelled()) return MOTE_CANCELLED;
    if (status != MOTE_OK) return status;
    base.points = job->count;
    base.peak_bytes_per_point = (double)peak_bytes(job) / (double)job->count;
    for (int p = 0; p < PARTS; p++) {
        parts[p] = base;
        bench_summarize(&runs[p], &parts[p]);
    }
    return MOTE_OK;
}

static mote_status measure_cloud(session *s, const bench_options *o, const normals_case *c, const mote_cloud *cloud,
                                 bench_result parts[PARTS], bool *is_right) {
    normals_job job = {.ctx = s->ctx, .points = cloud, .count = mote_cloud_count(cloud)};
    const bench_result base = {
        .bench = "normals", .name = c->name, .unit = "ms", .threads = mote_context_threads(s->ctx)};
    mote_context *own = NULL;
    mote_cloud *uploaded = NULL;
    mote_status status = bench_on_gpu(s) ? mote_cloud_to_device(s->ctx, cloud, &uploaded)
                                         : bench_context(s, mote_context_threads(s->ctx), &own);
    if (status == MOTE_OK && uploaded != NULL) job.points = uploaded;
    if (status == MOTE_OK && own != NULL) job.ctx = own;
    if (status == MOTE_OK && !take_host(job.count, &job.host)) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && bench_on_gpu(s) && !take_device(&job)) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = measure(o, &job, base, parts);
    *is_right = true;
    if (status == MOTE_OK && bench_on_gpu(s)) status = check_answer(s, &job, cloud, is_right);
    float **arrays[ARRAYS];
    list_arrays(&job.device, arrays);
    for (int a = 0; a < ARRAYS; a++) mote_device_free(job.ctx, *arrays[a]);
    free_host(&job.host);
    mote_cloud_destroy(uploaded);
    mote_context_destroy(own);
    progress_clear(&s->bar);
    return status;
}

/* ---- the table */

static void print_row(const session *s, const char *name, const bench_result parts[PARTS]) {
    const bench_result *both = &parts[BOTH];
    char spread[32], fetched[16] = "-";
    snprintf(spread, sizeof spread, "%.2f-%.2f", both->low, both->high);
    if (bench_on_gpu(s)) snprintf(fetched, sizeof fetched, "%.2f", parts[FETCHED].median);
    printf("%-14s %10.2f %10.2f %10.2f %19s %10.2f %10s %10.1f\n", name, parts[BUILD].median, parts[ESTIMATE].median,
           both->median, spread, 1e6 * both->median / (double)both->points, fetched, both->peak_bytes_per_point);
    fflush(stdout);
}

/* A case that does not fit is no reason to leave out the others. */
static int case_failed(session *s, const char *name, mote_status status) {
    const char *message = mote_context_message(s->ctx);
    if (status == MOTE_CANCELLED) return session_fail(s, status, false);
    if (status != MOTE_ERROR_MEMORY) {
        return session_error(s, EXIT_FAILED, "%s: %s: %s", name, mote_status_name(status), message);
    }
    print_out("%-14s not run: %s\n", name, message[0] != '\0' ? message : mote_status_name(status));
    fflush(stdout);
    mote_context_clear(s->ctx);
    return EXIT_DONE;
}

static int run_case(session *s, const bench_options *o, const normals_case *c) {
    bench_result parts[PARTS];
    mote_cloud *cloud = NULL;
    bool is_right = false;
    s->bar.points = o->count_given ? o->count : c->points;
    mote_status status = mote_generate(s->ctx, c->kind, s->bar.points, NULL, &cloud);
    progress_clear(&s->bar);
    if (status == MOTE_OK) status = measure_cloud(s, o, c, cloud, parts, &is_right);
    mote_cloud_destroy(cloud);
    if (status != MOTE_OK) return case_failed(s, c->name, status);
    print_row(s, c->name, parts);
    if (!is_right) return session_error(s, EXIT_FAILED, "%s: the normals are not those of the CPU", c->name);
    /* A line of the history for each part. */
    char device[200], name[80];
    int code = EXIT_DONE;
    bench_device_name(s, device, sizeof device);
    for (int p = 0; p < (bench_on_gpu(s) ? PARTS : FETCHED) && code == EXIT_DONE; p++) {
        bench_result line = parts[p];
        snprintf(name, sizeof name, "%s, k = 16, %s", parts[p].name, part_names[p]);
        line.name = name;
        line.device = bench_on_gpu(s) ? device : NULL;
        code = bench_record(s, o, &line);
    }
    return code;
}

/* ---- all cases */

static bool is_wanted(const bench_options *o, const normals_case *c) {
    return o->only == NULL || strncmp(c->name, o->only, strlen(o->only)) == 0;
}

static int check_case(const bench_options *o) {
    const char *names[CASES + 1] = {NULL};
    for (int i = 0; i < CASES; i++) {
        names[i] = cases[i].name;
        if (is_wanted(o, &cases[i])) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

int bench_normals(session *s, const bench_options *o) {
    int code = check_case(o);
    if (code != EXIT_DONE) return code;
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("normals: k = 16, %s, %d CPU threads used, median and spread of %d runs, ms\n", device,
           mote_context_threads(s->ctx), o->runs);
    printf("%-14s %10s %10s %10s %19s %10s %10s %10s\n", "case", "build", "estimate", "both", "spread", "ns/point",
           "fetched", "bytes/pt");
    for (int i = 0; i < CASES && code == EXIT_DONE; i++) {
        if (is_wanted(o, &cases[i])) code = run_case(s, o, &cases[i]);
    }
    return code;
}
