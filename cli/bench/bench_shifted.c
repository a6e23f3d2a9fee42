/* mote bench shifted: approximate neighbours by shifted sorting, of spheres and ellipsoids, beside the figures of
   Bergholm and Kronvall (2016) and beside the exact search by the grid. */
#include "bench/bench_shifted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "knn/knn_recall.h"
#include "print.h"
#include "text.h"

#define PAPER_POINTS   2000000u
#define CPU_POINTS     100000u
#define SAMPLE_QUERIES 128u /* whose factor is measured, as in the paper */
#define SMALLEST       128u

/* One row of a table. */
typedef struct shifted_case {
    const char *table, *kind, *name;
    uint64_t points, queries;
    mote_knn_params params;
    double paper; /* queries per millisecond; 0: the paper has no number */
} shifted_case;

/* Clouds, and where the answer goes. */
typedef struct shifted_job {
    mote_context *ctx;
    const shifted_case *of;
    mote_cloud *points, *queries;               /* in the host's memory */
    mote_cloud *device_points, *device_queries; /* NULL on the CPU */
    mote_knn_result rows;
    float *sample;          /* distances of the first queries */
    uint32_t *sample_count; /* their numbers of neighbours */
} shifted_job;

typedef struct shifted_timing {
    bench_result build, search, both;
    knn_recall near;
    bool is_near_known;
} shifted_timing;

/* ---- one case */

static uint64_t sample_of(const shifted_case *c) { return c->queries < SAMPLE_QUERIES ? c->queries : SAMPLE_QUERIES; }

static void *take(const shifted_job *job, uint64_t size_bytes) {
    return job->device_points != NULL ? mote_device_alloc(job->ctx, size_bytes + 1) : malloc((size_t)size_bytes + 1);
}

static void drop(const shifted_job *job, void *memory) {
    if (job->device_points != NULL) {
        mote_device_free(job->ctx, memory);
    } else {
        free(memory);
    }
}

static mote_status open_job(const session *s, const shifted_case *c, shifted_job *job) {
    const uint64_t places = c->queries * c->params.k, sample = sample_of(c);
    mote_status status = shifted_clouds_make(job->ctx, c->kind, c->points, c->queries, &job->points, &job->queries);
    if (status == MOTE_OK && bench_on_gpu(s)) {
        status = mote_cloud_to_device(job->ctx, job->points, &job->device_points);
        if (status == MOTE_OK) status = mote_cloud_to_device(job->ctx, job->queries, &job->device_queries);
    }
    if (status != MOTE_OK) return status;
    job->rows.on_device = bench_on_gpu(s);
    job->rows.index32 = take(job, places * 4);
    job->rows.distance2 = take(job, places * 4);
    job->rows.count = take(job, c->queries * 4);
    job->sample = malloc((size_t)(sample * c->params.k * 4 + 1));
    job->sample_count = malloc((size_t)(sample * 4 + 1));
    return job->rows.index32 && job->rows.distance2 && job->rows.count && job->sample && job->sample_count
               ? MOTE_OK
               : MOTE_ERROR_MEMORY;
}

static void close_job(shifted_job *job) {
    drop(job, job->rows.index32);
    drop(job, job->rows.distance2);
    drop(job, job->rows.count);
    free(job->sample);
    free(job->sample_count);
    mote_cloud_destroy(job->device_queries);
    mote_cloud_destroy(job->device_points);
    mote_cloud_destroy(job->queries);
    mote_cloud_destroy(job->points);
    mote_context_destroy(job->ctx);
}

/* Builds and searches once, as the i-th run; i < 0: to warm up. */
static mote_status run_once(shifted_job *job, int i, bench_runs runs[3]) {
    const bool on_gpu = job->device_points != NULL;
    mote_knn_index *index = NULL;
    const double begin = seconds_now();
    mote_status status = mote_knn_build(job->ctx, on_gpu ? job->device_points : job->points, &index);
    if (status == MOTE_OK) status = mote_context_wait(job->ctx);
    const double built = seconds_now();
    if (status == MOTE_OK) {
        status = mote_knn_search(index, on_gpu ? job->device_queries : job->queries, &job->of->params, &job->rows);
    }
    if (status == MOTE_OK) status = mote_context_wait(job->ctx);
    const double done = seconds_now();
    mote_knn_destroy(index);
    const double ms[3] = {1e3 * (built - begin), 1e3 * (done - built), 1e3 * (done - begin)};
    for (int m = 0; m < 3 && i >= 0; m++) {
        runs[m].values[i] = ms[m];
        runs[m].count = i + 1;
    }
    return status;
}

static mote_status fetch_sample(shifted_job *job) {
    const uint64_t sample = sample_of(job->of), bytes = sample * job->of->params.k * 4;
    if (job->device_points == NULL) {
        memcpy(job->sample, job->rows.distance2, bytes);
        memcpy(job->sample_count, job->rows.count, sample * 4);
        return MOTE_OK;
    }
    const mote_status status = mote_device_copy(job->ctx, job->sample, job->rows.distance2, bytes);
    return status == MOTE_OK ? mote_device_copy(job->ctx, job->sample_count, job->rows.count, sample * 4) : status;
}

/* The first queries against the exact answer, which the CPU finds. */
static mote_status measure_nearness(shifted_job *job, knn_recall *recall) {
    const uint64_t sample = sample_of(job->of);
    const uint32_t k = job->of->params.k;
    mote_context_params on_cpu = mote_context_defaults();
    mote_context *ctx = NULL;
    mote_cloud *queries = NULL;
    mote_knn_params exactly = job->of->params;
    uint64_t first[SAMPLE_QUERIES];
    knn_answer found = {.queries = sample, .k = k}, exact = found;
    found.rows.distance2 = job->sample;
    found.rows.count = job->sample_count;
    exact.rows.distance2 = malloc((size_t)(sample * k * 4 + 1));
    exact.rows.count = malloc((size_t)(sample * 4 + 1));
    exactly.method = MOTE_KNN_GRID;
    on_cpu.device = MOTE_DEVICE_CPU;
    for (uint64_t i = 0; i < sample; i++) first[i] = i;
    mote_status status = fetch_sample(job);
    if (status == MOTE_OK && !(exact.rows.distance2 && exact.rows.count)) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_context_create(&on_cpu, &ctx);
    if (status == MOTE_OK) status = mote_cloud_select(ctx, job->queries, first, sample, &queries);
    if (status == MOTE_OK) status = mote_knn(ctx, job->points, queries, &exactly, &exact.rows);
    if (status == MOTE_OK) knn_recall_compare(&found, &exact, recall);
    mote_cloud_destroy(queries);
    if (ctx != NULL) mote_context_destroy(ctx);
    free(exact.rows.distance2);
    free(exact.rows.count);
    return status;
}

static mote_status measure(session *s, const bench_options *o, const shifted_case *c, shifted_timing *timing,
                           shifted_job *job) {
    bench_runs runs[3] = {{.count = 0}};
    bench_result *const parts[3] = {&timing->build, &timing->search, &timing->both};
    const bench_result base = {
        .bench = "shifted", .unit = "ms", .points = c->queries, .threads = mote_context_threads(s->ctx)};
    mote_status status = open_job(s, c, job);
    if (status == MOTE_OK) status = run_once(job, -1, runs);
    for (int i = 0; i < o->runs && status == MOTE_OK && !session_cancelled(); i++) status = run_once(job, i, runs);
    if (status != MOTE_OK || session_cancelled()) return status != MOTE_OK ? status : MOTE_CANCELLED;
    for (int m = 0; m < 3; m++) {
        *parts[m] = base;
        bench_summarize(&runs[m], parts[m]);
    }
    timing->is_near_known = c->params.method == MOTE_KNN_SHIFTED;
    return timing->is_near_known ? measure_nearness(job, &timing->near) : MOTE_OK;
}

/* ---- tables */

static void print_head(const session *s, const bench_options *o, const char *table) {
    static bool is_first = true;
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("%sshifted sorting, %s, on %s%s, median of %d runs\n", is_first ? "" : "\n", table, device,
           bench_on_gpu(s) ? ", points and answer in its memory" : "", o->runs);
    is_first = false;
    printf("%-10s %-24s %11s %11s %5s | %9s %9s %10s %17s | %10s %8s | %8s %8s %8s\n", "cloud", "what", "points",
           "queries", "k", "build ms", "search ms", "queries/ms", "lowest - highest", "paper", "times", "recall",
           "factor", "largest");
}

static void print_row(const shifted_case *c, const shifted_timing *t) {
    const double q = (double)c->queries, rate = q / t->both.median;
    printf("%-10s %-24s %11s %11s %5u | %9.2f %9.2f %10.1f %8.1f - %-6.1f |", c->kind, c->name,
           text_count(c->points).chars, text_count(c->queries).chars, c->params.k, t->build.median, t->search.median,
           rate, q / t->both.high, q / t->both.low);
    if (c->paper > 0 && c->queries == PAPER_POINTS && c->points == PAPER_POINTS) {
        printf(" %10.0f %8.1f |", c->paper, rate / c->paper);
    } else {
        printf(" %10s %8s |", "-", "-");
    }
    if (t->is_near_known) {
        printf(" %8.4f %8.4f %8.4f\n", t->near.recall, t->near.mean, t->near.max);
    } else {
        printf(" %8s %8s %8s\n", "exact", "1", "1");
    }
    fflush(stdout);
}

static int record(session *s, const bench_options *o, const shifted_case *c, const shifted_timing *t) {
    char name[160], device[200];
    bench_result line = t->both;
    bench_device_name(s, device, sizeof device);
    snprintf(name, sizeof name, "%s, %s, %s, %s points, k = %u", c->table, c->kind, c->name,
             text_count(c->points).chars, c->params.k);
    line.name = name;
    line.device = bench_on_gpu(s) ? device : NULL;
    return bench_record(s, o, &line);
}

/* What a machine cannot run, or holds no memory for, is left out. */
static int case_failed(session *s, const shifted_case *c, mote_context *ctx, mote_status status) {
    if (status != MOTE_ERROR_MEMORY && status != MOTE_ERROR_UNSUPPORTED) {
        return session_error(s, EXIT_FAILED, "%s, %s: %s", c->kind, c->name, mote_status_name(status));
    }
    const char *message = ctx != NULL ? mote_context_message(ctx) : "";
    print_out("%-10s %-24s not run: %s\n", c->kind, c->name, message[0] != '\0' ? message : mote_status_name(status));
    fflush(stdout);
    return EXIT_DONE;
}

static int run_case(session *s, const bench_options *o, const shifted_case *c) {
    shifted_timing timing;
    shifted_job job;
    memset(&timing, 0, sizeof timing);
    memset(&job, 0, sizeof job);
    job.of = c;
    int code = EXIT_DONE;
    mote_status status = bench_context(s, mote_context_threads(s->ctx), &job.ctx);
    if (status != MOTE_OK) return session_error(s, EXIT_FAILED, "%s", mote_status_name(status));
    status = measure(s, o, c, &timing, &job);
    if (status == MOTE_OK) {
        print_row(c, &timing);
        code = record(s, o, c, &timing);
    } else {
        code = case_failed(s, c, job.ctx, status);
    }
    close_job(&job);
    return code;
}

/* ---- what the paper varied */

static shifted_case case_of(const char *table, const char *kind, uint64_t points, uint64_t queries, uint32_t k) {
    shifted_case c = {.table = table, .kind = kind, .points = points, .queries = queries};
    c.params = mote_knn_defaults();
    c.params.method = MOTE_KNN_SHIFTED;
    c.params.k = k;
    return c;
}

/* Spheres, ellipsoids, ellipsoids with buckets: the paper's three, and its figures for 2 M points and queries. */
static int run_three(session *s, const bench_options *o, shifted_case c) {
    static const char *const names[3] = {"spheres", "c = 4", "c = 4, buckets"};
    static const double paper[3] = {2016, 1738, 1130};
    int code = EXIT_DONE;
    for (int i = 0; i < 3 && code == EXIT_DONE; i++) {
        c.name = names[i];
        c.params.compression = i == 0 ? 1 : 4;
        c.params.buckets = i == 2;
        c.paper = c.params.k == 64 && c.params.lambda == 1 ? paper[i] : 0;
        code = run_case(s, o, &c);
    }
    return code;
}

static int run_clouds(session *s, const bench_options *o) {
    int code = EXIT_DONE;
    print_head(s, o, "clouds");
    for (int i = 0; i < SHIFTED_CLOUDS && code == EXIT_DONE; i++) {
        shifted_case c = case_of("clouds", shifted_clouds[i], o->count, o->count, 64);
        code = run_three(s, o, c);
        c.params.method = MOTE_KNN_GRID;
        c.name = "spheres, exact, grid";
        if (code == EXIT_DONE) code = run_case(s, o, &c);
        c.params.compression = 4;
        c.name = "c = 4, exact, grid";
        if (code == EXIT_DONE) code = run_case(s, o, &c);
    }
    return code;
}

/* 128, 2 k, 32 k … and the number asked for. */
static uint64_t next_size(uint64_t size, uint64_t max) {
    return size >= max ? max + 1 : size > max / 16 ? max : size * 16;
}

static int run_queries(session *s, const bench_options *o) {
    int code = EXIT_DONE;
    print_head(s, o, "number of queries");
    for (uint64_t n = SMALLEST; n <= o->count && code == EXIT_DONE; n = next_size(n, o->count)) {
        code = run_three(s, o, case_of("queries", "box", o->count, n, 64));
    }
    return code;
}

static int run_points(session *s, const bench_options *o) {
    int code = EXIT_DONE;
    print_head(s, o, "number of points");
    for (uint64_t n = SMALLEST; n <= o->count && code == EXIT_DONE; n = next_size(n, o->count)) {
        code = run_three(s, o, case_of("points", "box", n, o->count / 2, 64));
    }
    return code;
}

static int run_k(session *s, const bench_options *o) {
    static const uint32_t ks[] = {10, 20, 40, 60, 80, 100, 130, 160};
    int code = EXIT_DONE;
    print_head(s, o, "k");
    for (size_t i = 0; i < sizeof ks / sizeof ks[0] && code == EXIT_DONE; i++) {
        code = run_three(s, o, case_of("k", "box", o->count / 2, o->count / 2, ks[i]));
    }
    return code;
}

static int run_lambda(session *s, const bench_options *o) {
    int code = EXIT_DONE;
    print_head(s, o, "lambda");
    for (uint32_t lambda = 1; lambda <= 4 && code == EXIT_DONE; lambda++) {
        char name[32];
        shifted_case c = case_of("lambda", "box", o->count / 2, o->count / 2, 32);
        snprintf(name, sizeof name, "c = 4, lambda = %u", lambda);
        c.name = name;
        c.params.compression = 4;
        c.params.lambda = lambda;
        code = run_case(s, o, &c);
    }
    return code;
}

static int run_compression(session *s, const bench_options *o) {
    static const char *const kinds[2] = {"uniform", "box"};
    int code = EXIT_DONE;
    print_head(s, o, "compression (the paper's factor for the photon map at c = 4: 1.029)");
    for (int i = 0; i < 2 * 8 * 2 && code == EXIT_DONE; i++) {
        char name[32];
        shifted_case c = case_of("compression", kinds[i / 16], o->count / 2, SAMPLE_QUERIES, 256);
        c.params.compression = 1 + i / 2 % 8;
        c.params.buckets = i % 2 != 0;
        if (c.params.buckets && !(c.params.compression > 1)) continue;
        snprintf(name, sizeof name, "c = %g%s", c.params.compression, c.params.buckets ? ", buckets" : "");
        c.name = name;
        code = run_case(s, o, &c);
    }
    return code;
}

static const struct {
    const char *name;
    int (*run)(session *s, const bench_options *o);
} tables[] = {{"clouds", run_clouds}, {"queries", run_queries}, {"points", run_points},
              {"k", run_k},           {"lambda", run_lambda},   {"compression", run_compression}};
#define TABLES (sizeof tables / sizeof tables[0])

int bench_shifted(session *s, const bench_options *given) {
    bench_options o = *given;
    const char *names[TABLES + 1] = {NULL};
    bool any = false;
    int code = EXIT_DONE;
    if (!o.count_given) o.count = bench_on_gpu(s) ? PAPER_POINTS : CPU_POINTS;
    if (o.count < 2 * SMALLEST) return usage_error("bench", "shifted: -n is not in %u..", 2 * SMALLEST);
    for (size_t i = 0; i < TABLES && code == EXIT_DONE; i++) {
        names[i] = tables[i].name;
        if (o.only != NULL && strcmp(o.only, tables[i].name) != 0) continue;
        any = true;
        code = tables[i].run(s, &o);
    }
    if (code != EXIT_DONE) return code;
    if (!any) {
        const char *near = text_nearest(o.only, names);
        return usage_error("bench", "there is no case \"%s\"; did you mean \"%s\"?", o.only,
                           near != NULL ? near : names[0]);
    }
    printf(
        "\nqueries/ms: index and search, rows of indices, distances and counts written. factor: distance of the k-th\n"
        "neighbour found over that of the true one, mean and largest of 128 queries. paper: Bergholm and Kronvall\n"
        "2016, GTX 970, 2 M points and 2 M queries, k = 64, c = 4; 18 buckets there are 9 spaces here.\n");
    return EXIT_DONE;
}
