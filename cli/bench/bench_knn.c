/* mote bench knn: nearest neighbours of all points, index and search, on the clouds that others were measured on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_knn.h"
#include "bench/bench_shapes.h"
#include "large_memory.h"
#include "print.h"

#define SAMPLE_QUERIES 64     /* compared with brute force */
#define BRUTE_POINTS   20000u /* so few are compared all */
#define PATIENCE_S     30     /* --scaling: no more runs of a size after this */
#define SCALING_SIZES  "10k,100k,1M,10M,100M"

/* A cloud and the answer of its points. */
typedef struct knn_job {
    mote_context *ctx;
    const mote_cloud *points; /* what is searched: on the GPU if that computes */
    const mote_cloud *host;   /* the same in the host's memory */
    uint64_t count;
    mote_knn_params params;
    mote_knn_result rows;   /* in the host's memory */
    mote_knn_result device; /* the same arrays on the GPU, if that computes */
    uint64_t held_bytes;    /* beyond these the memory is the library's work */
} knn_job;

/* ---- clouds */

/* Fifteen thousand points in a unit cube and nine far from it: with k = 9 and without itself, each of the nine needs a
   point from the cube, the weak case of uniform grids (Leite et al. 2011, figure 7). */
static mote_status make_two_clusters(session *s, mote_cloud **out) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT32, 1, 0}, {"y", MOTE_FLOAT32, 1, 0}, {"z", MOTE_FLOAT32, 1, 0}};
    mote_cloud *cube = NULL;
    mote_status status = mote_generate(s->ctx, "uniform", 15000, NULL, &cube);
    if (status == MOTE_OK) status = mote_cloud_create(s->ctx, 15009, specs, 3, out);
    for (uint32_t axis = 0; axis < 3 && status == MOTE_OK; axis++) {
        const mote_column *from = mote_cloud_find(cube, specs[axis].name),
                          *to = mote_cloud_find(*out, specs[axis].name);
        uint8_t *at = mote_cloud_column_data(*out, specs[axis].name);
        for (uint64_t i = 0; i < 15009; i++, at += to->stride_bytes) {
            float value = 0;
            mote_column_read(from, i < 15000 ? i : i - 15000, 1, MOTE_FLOAT32, &value);
            if (i >= 15000) value = 100 + value / 10;
            memcpy(at, &value, 4);
        }
    }
    mote_cloud_destroy(cube);
    return status;
}

/* The points in Morton order, in place of those in the order of the file. */
static mote_status sort_cloud(session *s, mote_cloud **cloud) {
    const uint64_t count = mote_cloud_count(*cloud);
    mote_lattice lattice;
    mote_cloud *sorted = NULL;
    uint64_t *codes = malloc((size_t)count * 8 + 1), *places = malloc((size_t)count * 8 + 1);
    uint32_t *order = malloc((size_t)count * 4 + 1);
    mote_status status = codes != NULL && places != NULL && order != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_order_lattice(s->ctx, *cloud, &lattice, NULL);
    if (status == MOTE_OK) status = mote_order_codes(s->ctx, *cloud, &lattice, codes);
    if (status == MOTE_OK) status = mote_order_sort(s->ctx, codes, order, count);
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) places[i] = order[i];
    if (status == MOTE_OK) status = mote_cloud_select(s->ctx, *cloud, places, count, &sorted);
    free(codes);
    free(places);
    free(order);
    if (status != MOTE_OK) return status;
    mote_cloud_destroy(*cloud);
    *cloud = sorted;
    return MOTE_OK;
}

static mote_status make_cloud(session *s, const knn_case *c, uint64_t count, mote_cloud **out) {
    *out = NULL;
    s->bar.points = count;
    const mote_status status =
        c->kind != NULL ? mote_generate(s->ctx, c->kind, count, NULL, out) : make_two_clusters(s, out);
    progress_clear(&s->bar);
    return status;
}

/* ---- one case */

static bool take_arrays(knn_job *job) {
    const size_t places = (size_t)job->count * job->params.k;
    if (mote_cloud_on_device(job->points)) {
        job->device.on_device = true;
        job->device.index32 = mote_device_alloc(job->ctx, places * 4);
        job->device.distance2 = mote_device_alloc(job->ctx, places * 4);
        job->device.count = mote_device_alloc(job->ctx, job->count * 4);
        if (!job->device.index32 || !job->device.distance2 || !job->device.count) return false;
    }
    job->rows.index32 = large_alloc(places * 4);
    job->rows.distance2 = large_alloc(places * 4);
    job->rows.count = large_alloc((size_t)job->count * 4);
    return job->rows.index32 != NULL && job->rows.distance2 != NULL && job->rows.count != NULL;
}

static void free_arrays(knn_job *job) {
    mote_device_free(job->ctx, job->device.index32);
    mote_device_free(job->ctx, job->device.distance2);
    mote_device_free(job->ctx, job->device.count);
    free(job->rows.index32);
    free(job->rows.distance2);
    free(job->rows.count);
}

static uint64_t peak_bytes(const knn_job *job) {
    const uint64_t peak = mote_cloud_on_device(job->points) ? mote_context_device_peak_bytes(job->ctx)
                                                            : mote_context_memory_peak_bytes(job->ctx);
    return peak - job->held_bytes;
}

/* Milliseconds from a moment until the GPU has done all that was asked of it. */
static mote_status end_step(knn_job *job, mote_status status, double begin, double *ms) {
    if (status == MOTE_OK) status = mote_context_wait(job->ctx);
    *ms = 1e3 * (seconds_now() - begin);
    return status;
}

/* An index and a search, each waited for; and on a GPU a search whose answer goes to the host's memory. */
static mote_status time_steps(knn_job *job, double ms[4]) {
    const bool on_gpu = mote_cloud_on_device(job->points);
    mote_knn_index *index = NULL;
    double begin = seconds_now();
    mote_status status = end_step(job, mote_knn_build(job->ctx, job->points, &index), begin, &ms[0]);
    mote_knn_result *const rows = on_gpu ? &job->device : &job->rows;
    begin = seconds_now();
    if (status == MOTE_OK) status = end_step(job, mote_knn_search(index, NULL, &job->params, rows), begin, &ms[1]);
    ms[2] = ms[0] + ms[1];
    begin = seconds_now();
    if (status == MOTE_OK && on_gpu) {
        status = end_step(job, mote_knn_search(index, NULL, &job->params, &job->rows), begin, &ms[3]);
    }
    mote_knn_destroy(index);
    return status;
}

/* Times index and search together on a GPU, as a program asks for them: it waits at the end only. */
static mote_status time_both(knn_job *job, double *ms) {
    mote_knn_index *index = NULL;
    const double begin = seconds_now();
    mote_status status = mote_knn_build(job->ctx, job->points, &index);
    if (status == MOTE_OK) status = mote_knn_search(index, NULL, &job->params, &job->device);
    status = end_step(job, status, begin, ms);
    mote_knn_destroy(index);
    return status;
}

/* Builds and searches, as the i-th run; i < 0: only to warm up. */
static mote_status run_once(knn_job *job, int i, bench_runs runs[4]) {
    double ms[4] = {0};
    mote_status status = time_steps(job, ms);
    if (status == MOTE_OK && mote_cloud_on_device(job->points)) status = time_both(job, &ms[2]);
    for (int m = 0; m < 4 && i >= 0; m++) {
        runs[m].values[i] = ms[m];
        runs[m].count = i + 1;
    }
    return status;
}

/* The measured answer against that of the other way, brute force or the grid, on some queries. */
static mote_status check_answer(knn_job *job, bool *is_right) {
    const uint64_t step = job->count > BRUTE_POINTS ? job->count / SAMPLE_QUERIES : 1;
    const uint64_t sample = job->count > BRUTE_POINTS ? SAMPLE_QUERIES : job->count;
    const uint32_t k = job->params.k;
    uint32_t *index = malloc((size_t)sample * k * 4 + 1);
    uint64_t places[SAMPLE_QUERIES];
    mote_cloud *queries = NULL;
    mote_knn_params other = job->params;
    mote_knn_result rows = {.index32 = index};
    mote_status status = index != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    other.method = job->params.method == MOTE_KNN_BRUTE ? MOTE_KNN_GRID : MOTE_KNN_BRUTE;
    for (uint64_t i = 0; i < SAMPLE_QUERIES; i++) places[i] = i * step;
    if (status == MOTE_OK && step > 1) status = mote_cloud_select(job->ctx, job->host, places, sample, &queries);
    if (status == MOTE_OK) status = mote_knn(job->ctx, job->points, queries, &other, &rows);
    *is_right = status == MOTE_OK;
    for (uint64_t i = 0; i < sample && *is_right; i++) {
        *is_right = memcmp(index + i * k, job->rows.index32 + i * step * k, k * sizeof *index) == 0;
    }
    mote_cloud_destroy(queries);
    free(index);
    return status;
}

static void summarize(const knn_job *job, const bench_runs runs[4], bench_result base, knn_timing *timing) {
    bench_result *const parts[4] = {&timing->build, &timing->search, &timing->both, &timing->fetched};
    base.points = job->count;
    base.peak_bytes_per_point = (double)peak_bytes(job) / (double)job->count;
    for (int m = 0; m < 4; m++) {
        *parts[m] = base;
        bench_summarize(&runs[m], parts[m]);
    }
}

/* Runs of one job: the first warms up and does not count. patience_s: there are fewer after this many seconds. */
static mote_status measure(const bench_options *o, knn_job *job, double patience_s, bench_result base,
                           knn_timing *timing, bool *is_right) {
    bench_runs runs[4] = {{.count = 0}};
    const double begin = seconds_now();
    mote_context_memory_peak_reset(job->ctx);
    job->held_bytes =
        mote_cloud_on_device(job->points) ? mote_context_device_bytes(job->ctx) : mote_context_memory_bytes(job->ctx);
    mote_status status = run_once(job, -1, runs);
    for (int i = 0; i < o->runs && status == MOTE_OK && !session_cancelled(); i++) {
        status = run_once(job, i, runs);
        if (seconds_now() - begin > patience_s) break;
    }
    if (session_cancelled()) return MOTE_CANCELLED;
    if (status != MOTE_OK) return status;
    summarize(job, runs, base, timing);
    return check_answer(job, is_right);
}

mote_status knn_measure_cloud(session *s, const bench_options *o, const knn_case *c, const mote_cloud *cloud,
                              int threads, double patience_s, knn_timing *timing, bool *is_right) {
    knn_job job = {.host = cloud, .points = cloud, .count = mote_cloud_count(cloud), .params = mote_knn_defaults()};
    const bench_result base = {.bench = "knn", .name = c->name, .unit = "ms", .threads = threads};
    mote_context *own = NULL;
    mote_cloud *uploaded = NULL;
    job.params.k = c->k;
    job.params.exclude_self = c->exclude_self;
    job.params.method = c->brute ? MOTE_KNN_BRUTE : MOTE_KNN_GRID;
    mote_status status = bench_on_gpu(s) ? MOTE_OK : bench_context(s, threads, &own);
    job.ctx = own != NULL ? own : s->ctx;
    if (status == MOTE_OK && bench_on_gpu(s)) {
        status = mote_cloud_to_device(s->ctx, cloud, &uploaded);
        job.points = status == MOTE_OK ? uploaded : cloud;
    }
    if (status == MOTE_OK && !take_arrays(&job)) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = measure(o, &job, patience_s, base, timing, is_right);
    free_arrays(&job);
    mote_cloud_destroy(uploaded);
    mote_context_destroy(own);
    progress_clear(&s->bar);
    return status;
}

int knn_case_failed(session *s, const char *name, mote_status status) {
    if (status != MOTE_ERROR_MEMORY && status != MOTE_ERROR_UNSUPPORTED) {
        if (mote_context_message(s->ctx)[0] != '\0' || status == MOTE_CANCELLED) return session_fail(s, status, false);
        return session_error(s, EXIT_FAILED, "%s: %s", name, mote_status_name(status));
    }
    const char *message = mote_context_message(s->ctx);
    print_out("%-22s not run: %s\n", name, message[0] != '\0' ? message : mote_status_name(status));
    fflush(stdout);
    mote_context_clear(s->ctx);
    return EXIT_DONE;
}

int knn_record(session *s, const bench_options *o, const knn_case *c, const char *order, const knn_timing *timing) {
    const bench_result *const parts[4] = {&timing->build, &timing->search, &timing->both, &timing->fetched};
    static const char *const names[4] = {"build", "search", "both", "fetched"};
    char device[200], name[120];
    int code = EXIT_DONE;
    bench_device_name(s, device, sizeof device);
    for (int m = 0; m < (bench_on_gpu(s) ? 4 : 3) && code == EXIT_DONE; m++) {
        bench_result line = *parts[m];
        snprintf(name, sizeof name, "%s, %s order, k = %u, %s%s", c->kind != NULL ? c->kind : "9 and 15,000", order,
                 c->k, c->brute ? "brute, " : "", names[m]);
        line.name = name;
        line.device = bench_on_gpu(s) ? device : NULL;
        code = bench_record(s, o, &line);
    }
    return code;
}

int knn_wrong_answer(session *s, const char *name) {
    return session_error(s, EXIT_FAILED, "%s: the grid and brute force find different neighbours", name);
}

/* ---- all cases */

/* One cloud in one order, for each number of threads. */
static int run_order(session *s, const bench_options *o, const knn_case *c, const mote_cloud *cloud, int order,
                     int threads) {
    knn_timing timing;
    bool is_right = false;
    const text label = knn_label(c, mote_cloud_count(cloud));
    const mote_status status = knn_measure_cloud(s, o, c, cloud, threads, 1e9, &timing, &is_right);
    if (status != MOTE_OK) return knn_case_failed(s, label.chars, status);
    knn_print_row(s, c, order, &timing);
    if (!is_right) return knn_wrong_answer(s, label.chars);
    return knn_record(s, o, c, order == 0 ? "file" : "Morton", &timing);
}

/* A GPU sorts as fast as it reads: the order matters to the CPU. */
static int run_case(session *s, const bench_options *o, const knn_case *c, int threads) {
    mote_cloud *cloud = NULL;
    const uint64_t count = o->count_given && c->kind != NULL ? o->count : c->points;
    const text label = knn_label(c, count);
    mote_status status = make_cloud(s, c, count, &cloud);
    int code = status == MOTE_OK ? run_order(s, o, c, cloud, 0, threads) : knn_case_failed(s, label.chars, status);
    if (code == EXIT_DONE && status == MOTE_OK && !bench_on_gpu(s)) {
        status = sort_cloud(s, &cloud);
        code = status == MOTE_OK ? run_order(s, o, c, cloud, 1, threads) : knn_case_failed(s, label.chars, status);
    }
    mote_cloud_destroy(cloud);
    return code;
}

static bool wanted(const bench_options *o, const knn_case *c) {
    return o->only == NULL ? !c->extra : strncmp(c->name, o->only, strlen(o->only)) == 0;
}

static int check_case(const bench_options *o) {
    const char *names[KNN_CASES + 2] = {NULL};
    for (size_t i = 0; i < KNN_CASES; i++) {
        names[i] = knn_cases()[i].name;
        if (wanted(o, &knn_cases()[i])) return EXIT_DONE;
    }
    names[KNN_CASES] = BENCH_SHAPES_CASE;
    return bench_no_case(o, names);
}

static int run_cases(session *s, const bench_options *o, int threads) {
    int code = EXIT_DONE;
    knn_print_head(s, threads, o->runs);
    for (size_t i = 0; i < KNN_CASES && code == EXIT_DONE; i++) {
        if (wanted(o, &knn_cases()[i])) code = run_case(s, o, &knn_cases()[i], threads);
    }
    return code;
}

static int run_scaling(session *s, const bench_options *o, int threads) {
    uint64_t sizes[BENCH_SIZES_MAX];
    const knn_case c = {.name = "uniform", .kind = "uniform", .k = 10};
    const int count = bench_parse_sizes(o->sizes != NULL ? o->sizes : SCALING_SIZES, sizes);
    if (count == 0) return bench_sizes_error(o->sizes);
    knn_print_scaling_head(s, threads, o->runs);
    int code = EXIT_DONE;
    for (int i = 0; i < count && code == EXIT_DONE; i++) {
        mote_cloud *cloud = NULL;
        knn_timing timing;
        bool is_right = false;
        mote_status status = make_cloud(s, &c, sizes[i], &cloud);
        if (status == MOTE_OK) status = knn_measure_cloud(s, o, &c, cloud, threads, PATIENCE_S, &timing, &is_right);
        mote_cloud_destroy(cloud);
        if (status != MOTE_OK) {
            code = knn_case_failed(s, text_count(sizes[i]).chars, status);
            continue;
        }
        knn_print_scaling_row(&timing);
        code = is_right ? knn_record(s, o, &c, "file", &timing) : knn_wrong_answer(s, text_count(sizes[i]).chars);
    }
    return code;
}

int bench_knn(session *s, const bench_options *o) {
    const int all = mote_context_threads(s->ctx);
    if (o->scaling) return run_scaling(s, o, all);
    if (bench_shapes_wanted(o->only)) return bench_knn_shapes(s, o, all);
    int code = check_case(o);
    if (code == EXIT_DONE && !bench_on_gpu(s) && all > 1) {
        code = run_cases(s, o, 1);
        putchar('\n');
    }
    if (code == EXIT_DONE) code = run_cases(s, o, all);
    if (code == EXIT_DONE) knn_print_end(s);
    return code;
}
