/* mote bench lod --device cuda: from points in the memory of the GPU to the bytes of octree.bin there, in this
   process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_lod_cuda.h"
#include "bench/bench_shapes.h"
#include "print.h"
#include "text.h"

#define RGB_BYTES     16u /* x y z int32, red green blue uint8, one unused */
#define PIECE_POINTS  65536u
#define DEFAULT_SIZES "10M,100M"

/* Peers: CudaLOD on the same GPU and scene (first, random, average, weighted), and "neighbors" the paper's program;
   both measured. Figures in G points/s; 0: none. */
static const resident_case cases[RESIDENT_CASES] = {
    {"rgb random", false, MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, {2.2, 6.6}, {6, 10}, 56, 86},
    {"rgb first", false, MOTE_LOD_ADDITIVE, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, {3.6, 10.3}, {0, 0}, 0, 0},
    {"rgb poisson", false, MOTE_LOD_ADDITIVE, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, {0, 0}, {0, 0}, 0, 0},
    {"rgb cell", false, MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_CELL, {1.7, 5.7}, {0, 8}, 0, 0},
    {"rgb neighbors", false, MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NEIGHBORS, {0, 0.336}, {0, 5}, 0, 0},
    {"rgb gaussian", false, MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN, {0.71, 2.2}, {0, 4}, 0, 0},
    {"rgb cell first", false, MOTE_LOD_REPLACING, MOTE_LOD_FIRST, MOTE_LOD_FILTER_CELL, {0, 0.499}, {0, 0}, 0, 0},
    {"rgb neighbors first",
     false,
     MOTE_LOD_REPLACING,
     MOTE_LOD_FIRST,
     MOTE_LOD_FILTER_NEIGHBORS,
     {0, 0.350},
     {0, 0},
     0,
     0},
    {"rgb gaussian first",
     false,
     MOTE_LOD_REPLACING,
     MOTE_LOD_FIRST,
     MOTE_LOD_FILTER_GAUSSIAN,
     {0, 0.246},
     {0, 0},
     0,
     0},
    {"all attributes random", true, MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, {0, 0}, {0, 6}, 0, 0},
};

const resident_case *resident_cases(void) { return cases; }

static bool wanted(const bench_options *o, const resident_case *c) {
    return o->only == NULL || strcmp(o->only, c->name) == 0;
}

static bool any_wanted(const bench_options *o, bool all_attributes) {
    for (size_t i = 0; i < RESIDENT_CASES; i++) {
        if (cases[i].all_attributes == all_attributes && wanted(o, &cases[i])) return true;
    }
    return false;
}

/* ---- the points */

/* Fills the records of the points from first on; the city's colours have 16 bits. */
static void fill_records(const mote_column *const columns[6], uint64_t first, uint64_t count, uint8_t *records) {
    static const mote_type types[6] = {MOTE_INT32, MOTE_INT32, MOTE_INT32, MOTE_UINT16, MOTE_UINT16, MOTE_UINT16};
    for (uint64_t done = 0; done < count; done += 256) {
        const uint64_t some = count - done < 256 ? count - done : 256;
        for (uint32_t c = 0; c < 6; c++) {
            union {
                int32_t positions[256];
                uint16_t colors[256];
            } values;
            mote_column_read(columns[c], first + done, some, types[c], &values);
            uint8_t *at = records + (first + done) * RGB_BYTES + (c < 3 ? 4 * c : 9 + c);
            for (uint64_t i = 0; i < some; i++, at += RGB_BYTES) {
                if (c < 3) {
                    memcpy(at, &values.positions[i], 4);
                } else {
                    *at = (uint8_t)(values.colors[i] >> 8);
                }
            }
        }
    }
}

/* The city's positions and colours as a cloud of 16-byte records, which look at records: for free after it. */
static mote_status make_rgb(session *s, const mote_cloud *city, uint8_t **records, mote_cloud **out) {
    static const char *const names[6] = {"x", "y", "z", "red", "green", "blue"};
    const mote_column *from[6];
    mote_column columns[6];
    const uint64_t count = mote_cloud_count(city);
    const int64_t pieces = (int64_t)((count + PIECE_POINTS - 1) / PIECE_POINTS);
    uint8_t *block = *records = calloc((size_t)count + 1, RGB_BYTES);
    if (block == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t c = 0; c < 6; c++) {
        from[c] = mote_cloud_find(city, names[c]);
        columns[c] = *from[c];
        columns[c].data = block + (c < 3 ? 4 * c : 9 + c);
        columns[c].stride_bytes = RGB_BYTES;
        columns[c].type = c < 3 ? MOTE_INT32 : MOTE_UINT8;
    }
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t first = (uint64_t)i * PIECE_POINTS;
        fill_records(from, first, count - first < PIECE_POINTS ? count - first : PIECE_POINTS, block);
    }
    return mote_cloud_wrap(s->ctx, count, columns, 6, out);
}

/* The city on the GPU, all of it or as RGB. */
static mote_status upload(session *s, const mote_cloud *city, bool all_attributes, mote_cloud **device) {
    if (all_attributes) return mote_cloud_to_device(s->ctx, city, device);
    uint8_t *records = NULL;
    mote_cloud *rgb = NULL;
    mote_status status = make_rgb(s, city, &records, &rgb);
    if (status == MOTE_OK) status = mote_cloud_to_device(s->ctx, rgb, device);
    mote_cloud_destroy(rgb);
    free(records);
    return status;
}

/* ---- one case */

/* Points in device memory → bytes of octree.bin in device memory. */
static mote_status run_once(session *s, const resident_case *c, const mote_cloud *points, double *seconds) {
    mote_lod_params params = mote_lod_defaults();
    const mote_potree_params potree = mote_potree_defaults();
    mote_lod *lod = NULL;
    const void *records = NULL;
    uint64_t size_bytes = 0;
    params.scheme = c->scheme;
    params.sampling = c->sampling;
    params.filter = c->filter;
    params.on_device = true;
    mote_status status = mote_context_wait(s->ctx);
    const double begin = seconds_now();
    if (status == MOTE_OK) status = mote_lod_build(s->ctx, points, &params, &lod);
    if (status == MOTE_OK) status = mote_potree_records(s->ctx, lod, &potree, &records, &size_bytes);
    if (status == MOTE_OK) status = mote_context_wait(s->ctx);
    *seconds = seconds_now() - begin;
    mote_lod_destroy(lod);
    return status;
}

static void take_usage(const session *s, usage_lines *usage) {
    usage->count = mote_context_usage(s->ctx, usage->lines, USAGE_LINES);
    if (usage->count > USAGE_LINES) usage->count = USAGE_LINES;
}

static double stage_seconds(const usage_lines *usage, const char *name) {
    for (uint32_t i = 0; i < usage->count; i++) {
        if (usage->lines[i].seconds > 0 && strcmp(usage->lines[i].name, name) == 0) return usage->lines[i].seconds;
    }
    return 0;
}

/* --stages: what the run between the two cost. */
static void print_stages(const usage_lines *before, const usage_lines *after, uint64_t points) {
    for (uint32_t i = 0; i < after->count; i++) {
        const mote_usage *line = &after->lines[i];
        const double seconds = line->seconds - stage_seconds(before, line->name);
        if (line->seconds > 0 && seconds > 0) printf("    %-30s %12.3f ms\n", line->name, 1e3 * seconds);
    }
    for (uint32_t i = 0; i < after->count; i++) {
        const mote_usage *line = &after->lines[i];
        if (!line->on_device || line->peak_bytes == 0) continue;
        printf("    %-30s %12s bytes %8.2f bytes/point\n", line->name, text_count(line->peak_bytes).chars,
               (double)line->peak_bytes / (double)points);
    }
}

mote_status resident_measure(session *s, const bench_options *o, const resident_case *c, const mote_cloud *points,
                             bench_result *result, usage_lines *before) {
    const uint64_t count = mote_cloud_count(points), input_bytes = mote_context_device_bytes(s->ctx);
    bench_runs runs = {.count = 0};
    uint64_t peak_bytes = 0;
    double seconds = 0;
    mote_status status = run_once(s, c, points, &seconds);
    for (; runs.count < o->runs && status == MOTE_OK && !session_cancelled(); runs.count++) {
        if (runs.count == o->runs - 1 && before != NULL) take_usage(s, before);
        mote_context_memory_peak_reset(s->ctx);
        status = run_once(s, c, points, &seconds);
        runs.values[runs.count] = (double)count / seconds / 1e9;
        const uint64_t peak = mote_context_device_peak_bytes(s->ctx) - input_bytes;
        if (peak > peak_bytes) peak_bytes = peak;
    }
    if (session_cancelled()) return MOTE_CANCELLED;
    if (status != MOTE_OK) return status;
    bench_summarize(&runs, result);
    result->peak_bytes_per_point = (double)peak_bytes / (double)count;
    return MOTE_OK;
}

/* ---- all cases */

int resident_case_failed(session *s, const char *name, mote_status status) {
    if (status != MOTE_ERROR_MEMORY && status != MOTE_ERROR_UNSUPPORTED) return session_fail(s, status, false);
    const char *message = mote_context_message(s->ctx);
    print_out("%-22s not run: %s\n", name, message[0] != '\0' ? message : mote_status_name(status));
    fflush(stdout);
    mote_context_clear(s->ctx);
    return EXIT_DONE;
}

static int run_case(session *s, const bench_options *o, const resident_case *c, const mote_cloud *points,
                    const char *device, bench_result *out) {
    bench_result result = {.bench = "lod resident",
                           .name = c->name,
                           .unit = "G points/s",
                           .device = device,
                           .points = mote_cloud_count(points),
                           .threads = mote_context_threads(s->ctx)};
    usage_lines before, after;
    const mote_status status = resident_measure(s, o, c, points, &result, &before);
    progress_clear(&s->bar);
    if (status != MOTE_OK) return resident_case_failed(s, c->name, status);
    take_usage(s, &after);
    resident_print_row(c, &result);
    if (o->stages) print_stages(&before, &after, result.points);
    fflush(stdout);
    *out = result;
    return bench_record(s, o, &result);
}

/* The cases on one form of the points. The city is no longer needed after the second form. */
static int run_form(session *s, const bench_options *o, bool all_attributes, mote_cloud **city, const char *device,
                    bench_result results[RESIDENT_CASES]) {
    mote_cloud *points = NULL;
    if (!any_wanted(o, all_attributes)) return EXIT_DONE;
    const mote_status status = upload(s, *city, all_attributes, &points);
    if (all_attributes) {
        mote_cloud_destroy(*city);
        *city = NULL;
    }
    int code = EXIT_DONE;
    if (status != MOTE_OK) code = resident_case_failed(s, all_attributes ? "all attributes" : "rgb", status);
    for (size_t i = 0; i < RESIDENT_CASES && code == EXIT_DONE && points != NULL; i++) {
        if (cases[i].all_attributes != all_attributes || !wanted(o, &cases[i])) continue;
        code = run_case(s, o, &cases[i], points, device, &results[i]);
    }
    mote_cloud_destroy(points);
    return code;
}

static int run_size(session *s, const bench_options *o, uint64_t count, const char *device,
                    bench_result results[RESIDENT_CASES]) {
    mote_cloud *city = NULL;
    session_say(s, "making a city of %s points", text_count(count).chars);
    s->bar.points = count;
    const mote_status status = mote_generate(s->ctx, "city", count, NULL, &city);
    progress_clear(&s->bar);
    if (status != MOTE_OK) return resident_case_failed(s, "city", status);
    resident_print_head(device, count, o->runs);
    int code = run_form(s, o, false, &city, device, results);
    if (code == EXIT_DONE) code = run_form(s, o, true, &city, device, results);
    mote_cloud_destroy(city);
    return code;
}

/* --sizes, -n, or the default. */
static int choose_sizes(const bench_options *o, uint64_t sizes[BENCH_SIZES_MAX]) {
    sizes[0] = o->count;
    if (o->count_given && o->sizes == NULL) return 1;
    return bench_parse_sizes(o->sizes != NULL ? o->sizes : DEFAULT_SIZES, sizes);
}

static int check_case(const bench_options *o) {
    if (any_wanted(o, false) || any_wanted(o, true)) return EXIT_DONE;
    const char *names[RESIDENT_CASES + 2] = {NULL};
    for (size_t i = 0; i < RESIDENT_CASES; i++) names[i] = cases[i].name;
    names[RESIDENT_CASES] = BENCH_SHAPES_CASE;
    return bench_no_case(o, names);
}

int bench_lod_cuda(session *s, const bench_options *o) {
    if (bench_shapes_wanted(o->only)) return bench_lod_shapes(s, o);
    resident_table table = {.count = 0};
    char device[200];
    table.count = choose_sizes(o, table.sizes);
    if (table.count == 0) return bench_sizes_error(o->sizes);
    int code = check_case(o);
    if (code != EXIT_DONE) return code;
    bench_result *results = calloc((size_t)table.count * RESIDENT_CASES, sizeof *results);
    if (results == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the table of results");
    table.results = results;
    bench_device_name(s, device, sizeof device);
    for (int i = 0; i < table.count && code == EXIT_DONE; i++) {
        code = run_size(s, o, table.sizes[i], device, results + i * RESIDENT_CASES);
    }
    if (code == EXIT_DONE) resident_print_end(&table);
    free(results);
    return code;
}
