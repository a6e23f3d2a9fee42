/* mote bench order: the Morton order, codes and sort, on uniform codes and on a city. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define TARGET_M_PAIRS 60.0 /* on 2 cores, 63-bit codes; docs/order.md */

/* What one case measures: runs once on codes (which it may overwrite) and is timed. */
typedef struct order_case {
    const char *name;
    bool city; /* the city's codes; else uniform 63-bit ones */
    bool codes_only;
} order_case;

static const order_case cases[] = {
    {"sort uniform 63-bit", false, false},
    {"sort city", true, false},
    {"codes of a city", true, true},
};
#define CASES (sizeof cases / sizeof cases[0])

/* The inputs of all cases, and memory for one run. */
typedef struct order_data {
    mote_cloud *city;
    mote_lattice lattice;
    uint64_t count;
    uint64_t *uniform, *city_codes, *work;
    uint32_t *indices;
} order_data;

/* splitmix64: the i-th number of a counter-based generator. */
static uint64_t random_bits(uint64_t i) {
    uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static mote_status prepare(session *s, const bench_options *o, order_data *data) {
    memset(data, 0, sizeof *data);
    data->count = o->count;
    data->uniform = malloc((size_t)o->count * 8);
    data->city_codes = malloc((size_t)o->count * 8);
    data->work = malloc((size_t)o->count * 8);
    data->indices = malloc((size_t)o->count * 4);
    if (!data->uniform || !data->city_codes || !data->work || !data->indices) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < o->count; i++) data->uniform[i] = random_bits(i) >> 1;
    mote_status status = mote_generate(s->ctx, "city", o->count, NULL, &data->city);
    if (status == MOTE_OK) status = mote_order_lattice(s->ctx, data->city, &data->lattice, NULL);
    if (status == MOTE_OK) status = mote_order_codes(s->ctx, data->city, &data->lattice, data->city_codes);
    return status;
}

static mote_status run_once(mote_context *ctx, const order_case *c, order_data *data, double *m_per_s) {
    if (!c->codes_only) memcpy(data->work, c->city ? data->city_codes : data->uniform, (size_t)data->count * 8);
    const double begin = seconds_now();
    const mote_status status = c->codes_only ? mote_order_codes(ctx, data->city, &data->lattice, data->work)
                                             : mote_order_sort(ctx, data->work, data->indices, data->count);
    *m_per_s = (double)data->count / (seconds_now() - begin) / 1e6;
    return status;
}

static int run_case(session *s, const bench_options *o, const order_case *c, order_data *data, int threads) {
    mote_context *ctx = NULL;
    bench_runs runs = {.count = 0};
    char device[200];
    bench_result result = {.bench = "order", .name = c->name, .unit = "M/s", .points = data->count, .threads = threads};
    if (bench_on_gpu(s)) {
        bench_device_name(s, device, sizeof device);
        result.device = device;
    }
    mote_status status = bench_context(s, threads, &ctx);
    double warm_up;
    if (status == MOTE_OK) status = run_once(ctx, c, data, &warm_up);
    for (; runs.count < o->runs && status == MOTE_OK && !session_cancelled(); runs.count++) {
        status = run_once(ctx, c, data, &runs.values[runs.count]);
    }
    mote_context_destroy(ctx);
    if (session_cancelled()) return EXIT_CANCELLED;
    if (status != MOTE_OK) return session_error(s, EXIT_FAILED, "%s: %s", c->name, mote_status_name(status));
    bench_summarize(&runs, &result);
    printf("%-24s %8d %12.1f %9.1f – %-9.1f", c->name, threads, result.median, result.low, result.high);
    if (!bench_on_gpu(s) && !c->codes_only && !c->city && threads > 1)
        printf("  target %.0f on 2 cores", TARGET_M_PAIRS);
    putchar('\n');
    fflush(stdout);
    return bench_record(s, o, &result);
}

static bool is_wanted(const bench_options *o, const order_case *c) {
    return o->only == NULL || strstr(c->name, o->only) != NULL;
}

static int check_case(const bench_options *o) {
    const char *names[CASES + 1] = {NULL};
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i].name;
        if (is_wanted(o, &cases[i])) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

int bench_order(session *s, const bench_options *o) {
    order_data data;
    if (check_case(o) != EXIT_DONE) return EXIT_USAGE;
    const mote_status status = prepare(s, o, &data);
    int code = EXIT_DONE;
    if (status != MOTE_OK) code = session_fail(s, status, false);
    if (code == EXIT_DONE) {
        printf("order: %llu points, median and spread of %d runs%s\n", (unsigned long long)o->count, o->runs,
               bench_on_gpu(s) ? "; on the GPU, from and to arrays of the host, copies included" : "");
        printf("%-24s %8s %12s %21s\n", "case", "threads", "M points/s", "lowest – highest");
    }
    const int all = mote_context_threads(s->ctx);
    const bool also_one = !bench_on_gpu(s) && all > 1; /* a GPU does not ask how many */
    for (size_t i = 0; i < CASES && code == EXIT_DONE; i++) {
        if (!is_wanted(o, &cases[i])) continue;
        if (also_one) code = run_case(s, o, &cases[i], &data, 1);
        if (code == EXIT_DONE) code = run_case(s, o, &cases[i], &data, all);
    }
    mote_cloud_destroy(data.city);
    free(data.uniform);
    free(data.city_codes);
    free(data.work);
    free(data.indices);
    return code;
}
