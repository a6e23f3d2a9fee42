/* mote bench dynamic: points that move each frame; the index is made anew in place and all neighbours are found
   again. */
#define _GNU_SOURCE /* aligned_alloc under -std=c17 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "text.h"

#define ALIGNMENT 64u

/* Positions of the caller's, and the arrays that each frame fills again. */
typedef struct frame_data {
    mote_context *ctx;
    uint64_t count;
    float *rest, *positions; /* [3 · count]; rest: before the wave */
    float *on_gpu;           /* positions on the GPU, if that computes; then rows are there too */
    mote_cloud *cloud;       /* looks at positions, where they are searched */
    mote_knn_index *index;
    mote_knn_params params;
    mote_knn_result rows;
    atomic_ullong allocations;
} frame_data;

/* ---- an allocator that counts */

static void *count_allocate(void *user, size_t size_bytes) {
    frame_data *data = user;
    atomic_fetch_add(&data->allocations, 1);
    return aligned_alloc(ALIGNMENT, (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void count_release(void *user, void *memory, size_t size_bytes) {
    (void)user;
    (void)size_bytes;
    free(memory);
}

/* ---- begin and end */

static mote_status take_memory(frame_data *data) {
    const size_t places = (size_t)data->count * data->params.k;
    data->rest = calloc((size_t)data->count + 1, 12);
    data->positions = malloc((size_t)data->count * 12 + 1);
    if (data->rows.on_device) {
        data->on_gpu = mote_device_alloc(data->ctx, data->count * 12);
        data->rows.index32 = mote_device_alloc(data->ctx, places * 4);
        data->rows.distance2 = mote_device_alloc(data->ctx, places * 4);
    } else {
        data->rows.index32 = malloc(places * 4 + 1);
        data->rows.distance2 = malloc(places * 4 + 1);
    }
    const bool has_all = data->rest && data->positions && data->rows.index32 && data->rows.distance2;
    return has_all && (data->on_gpu || !data->rows.on_device) ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* The torus as floats, and a cloud that looks at where the wave will move them. */
static mote_status make_points(session *s, frame_data *data) {
    static const char *const names[] = {"x", "y", "z"};
    mote_column columns[3];
    const float *positions = data->rows.on_device ? data->on_gpu : data->positions;
    mote_cloud *torus = NULL;
    mote_status status = mote_generate(s->ctx, "torus", data->count, NULL, &torus);
    progress_clear(&s->bar);
    for (uint32_t axis = 0; axis < 3 && status == MOTE_OK; axis++) {
        const mote_column *from = mote_cloud_find(torus, names[axis]);
        for (uint64_t i = 0; i < data->count; i++) {
            mote_column_read(from, i, 1, MOTE_FLOAT32, data->rest + 3 * i + axis);
        }
        const mote_column column = {
            .name = names[axis], .data = positions + axis, .stride_bytes = 12, .type = MOTE_FLOAT32};
        columns[axis] = column;
    }
    mote_cloud_destroy(torus);
    if (status != MOTE_OK) return status;
    return data->rows.on_device ? mote_cloud_wrap_device(data->ctx, data->count, columns, 3, &data->cloud)
                                : mote_cloud_wrap(data->ctx, data->count, columns, 3, &data->cloud);
}

static mote_status prepare(session *s, const bench_options *o, int threads, frame_data *data) {
    data->count = o->count;
    data->params = mote_knn_defaults();
    mote_context_params params = bench_context_params(s, threads);
    const mote_allocator counting = {data, count_allocate, count_release};
    params.allocator = counting;
    data->rows.on_device = bench_on_gpu(s);
    mote_status status = mote_context_create(&params, &data->ctx);
    if (status == MOTE_OK) status = take_memory(data);
    if (status == MOTE_OK) status = make_points(s, data);
    return status;
}

/* ---- frames */

/* A wave runs through the torus and lifts its points. */
static void move_points(frame_data *data, int frame) {
    const float phase = 0.3F * (float)frame;
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(data->ctx))
    for (int64_t i = 0; i < (int64_t)data->count; i++) {
        const float *from = data->rest + 3 * i;
        float *to = data->positions + 3 * i;
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2] + 0.05F * sinf(8 * from[0] + phase);
    }
}

/* What a frame took: index, search, both. */
typedef struct frame_costs {
    double ms[3];
    uint64_t allocations[2];
} frame_costs;

/* Brings points to the GPU, if that computes. The frame's time leaves it out: points would move there by themselves. */
static mote_status bring_points(frame_data *data) {
    if (!data->rows.on_device) return MOTE_OK;
    const mote_status status = mote_device_copy(data->ctx, data->on_gpu, data->positions, data->count * 12);
    return status == MOTE_OK ? mote_context_wait(data->ctx) : status;
}

static mote_status run_frame(frame_data *data, int frame, frame_costs *costs) {
    move_points(data, frame);
    mote_status status = bring_points(data);
    if (status != MOTE_OK) return status;
    const uint64_t before = atomic_load(&data->allocations);
    const double begin = seconds_now();
    status = data->index == NULL ? mote_knn_build(data->ctx, data->cloud, &data->index) : mote_knn_rebuild(data->index);
    if (status == MOTE_OK) status = mote_context_wait(data->ctx);
    const double middle = seconds_now();
    const uint64_t between = atomic_load(&data->allocations);
    if (status == MOTE_OK) status = mote_knn_search(data->index, NULL, &data->params, &data->rows);
    if (status == MOTE_OK) status = mote_context_wait(data->ctx);
    const double end = seconds_now();
    costs->ms[0] = 1e3 * (middle - begin);
    costs->ms[1] = 1e3 * (end - middle);
    costs->ms[2] = 1e3 * (end - begin);
    costs->allocations[0] = between - before;
    costs->allocations[1] = atomic_load(&data->allocations) - between;
    return status;
}

/* Whether an index made from nothing finds the same as the one of many frames. */
static mote_status check_last(frame_data *data, bool *is_same) {
    const size_t bytes = (size_t)data->count * data->params.k * 4;
    mote_knn_result fresh = {.index32 = malloc(bytes + 1)};
    uint32_t *last = malloc(bytes + 1);
    mote_status status = fresh.index32 != NULL && last != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_knn(data->ctx, data->cloud, NULL, &data->params, &fresh);
    if (status == MOTE_OK && data->rows.on_device) {
        status = mote_device_copy(data->ctx, last, data->rows.index32, bytes);
    } else if (status == MOTE_OK) {
        memcpy(last, data->rows.index32, bytes);
    }
    *is_same = status == MOTE_OK && memcmp(fresh.index32, last, bytes) == 0;
    free(fresh.index32);
    free(last);
    return status;
}

static int print_part(session *s, const bench_options *o, const frame_data *data, const char *name,
                      const bench_runs *runs) {
    char device[200];
    bench_result result = {.bench = "dynamic",
                           .name = name,
                           .unit = "ms",
                           .points = data->count,
                           .threads = mote_context_threads(data->ctx)};
    bench_summarize(runs, &result);
    bench_device_name(s, device, sizeof device);
    if (bench_on_gpu(s)) result.device = device;
    printf("%-10s %10.3f %9.3f - %-9.3f", name, result.median, result.low, result.high);
    if (strcmp(name, "frame") == 0) printf(" %10.1f frames/s", 1e3 / result.median);
    putchar('\n');
    return bench_record(s, o, &result);
}

/* What the frames after the first cost; then whether they kept their promises. */
static int report(session *s, const bench_options *o, frame_data *data, const bench_runs runs[3],
                  const uint64_t allocations[2], uint64_t grown_bytes) {
    static const char *const names[3] = {"rebuild", "search", "frame"};
    bool is_same = false;
    int code = EXIT_DONE;
    printf("dynamic: torus of %s points moved by a wave, index made anew and k = %u neighbours of all found again;\n"
           "%s, median and spread of %d frames after the first, ms\n",
           text_count(data->count).chars, data->params.k,
           bench_on_gpu(s) ? "points and answer in its memory, which they are brought to before" : "on the CPU",
           runs[0].count);
    for (int m = 0; m < 3 && code == EXIT_DONE; m++) code = print_part(s, o, data, names[m], &runs[m]);
    if (code != EXIT_DONE) return code;
    const double frames = runs[0].count;
    printf(
        "allocations per frame: %.1f of the index, %.1f of the search, 0 is the aim; memory held: %s more than after\n"
        "the first frame\n",
        (double)allocations[0] / frames, (double)allocations[1] / frames, text_bytes(grown_bytes).chars);
    const mote_status status = check_last(data, &is_same);
    if (status != MOTE_OK) return session_error(s, EXIT_FAILED, "dynamic: %s", mote_status_name(status));
    if (!is_same) return session_error(s, EXIT_FAILED, "dynamic: a new index finds other neighbours");
    if (grown_bytes > 0) return session_error(s, EXIT_FAILED, "dynamic: later frames hold more memory");
    return EXIT_DONE;
}

static uint64_t held_bytes(const frame_data *data) {
    return mote_context_memory_bytes(data->ctx) + mote_context_device_bytes(data->ctx);
}

static int run_frames(session *s, const bench_options *o, frame_data *data) {
    bench_runs runs[3] = {{.count = 0}};
    frame_costs costs;
    uint64_t allocations[2] = {0, 0};
    mote_status status = run_frame(data, 0, &costs);
    const uint64_t held = held_bytes(data);
    for (int i = 0; i < o->runs && status == MOTE_OK && !session_cancelled(); i++) {
        status = run_frame(data, i + 1, &costs);
        for (int part = 0; part < 2; part++) allocations[part] += costs.allocations[part];
        for (int m = 0; m < 3; m++) {
            runs[m].values[i] = costs.ms[m];
            runs[m].count = i + 1;
        }
    }
    if (session_cancelled()) return EXIT_CANCELLED;
    if (status != MOTE_OK) {
        return session_error(s, EXIT_FAILED, "dynamic: %s: %s", mote_status_name(status),
                             mote_context_message(data->ctx));
    }
    const uint64_t now = held_bytes(data);
    return report(s, o, data, runs, allocations, now > held ? now - held : 0);
}

int bench_dynamic(session *s, const bench_options *o) {
    frame_data data = {.count = 0};
    const mote_status status = prepare(s, o, mote_context_threads(s->ctx), &data);
    int code = EXIT_DONE;
    if (status != MOTE_OK) code = session_error(s, EXIT_FAILED, "dynamic: %s", mote_status_name(status));
    if (code == EXIT_DONE) code = run_frames(s, o, &data);
    mote_knn_destroy(data.index);
    mote_cloud_destroy(data.cloud);
    if (data.rows.on_device) {
        mote_device_free(data.ctx, data.on_gpu);
        mote_device_free(data.ctx, data.rows.index32);
        mote_device_free(data.ctx, data.rows.distance2);
    } else {
        free(data.rows.index32);
        free(data.rows.distance2);
    }
    mote_context_destroy(data.ctx);
    free(data.rest);
    free(data.positions);
    return code;
}
