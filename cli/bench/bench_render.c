/* mote bench render: frames of points, averages and surfaces, from a camera that moves a little from frame to frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_render.h"

#define TURN       0.003 /* radians from frame to frame */
#define GPU_POINTS 100000000u

/* Whether points move. A wave runs through them then: each frame reads them anew, from memory of the host or of the
   GPU, where a simulation may have put them. */
typedef enum render_moving { STILL, ON_HOST, ON_GPU } render_moving;

/* Where a camera stands: its direction from the middle of the cloud, and its distance, over that at which the cloud
   fills the picture. */
typedef struct render_case {
    const char *name, *kind; /* of mote gen */
    uint64_t points;         /* 0: -n */
    mote_render_mode mode;
    uint32_t width, height;
    double from[3], distance;
    double of_others; /* G points/s of the best measured, or published ms; 0: none */
    render_moving moving;
} render_case;

#define MANY 1000000000u /* only on a GPU, or where --case names them */

static const render_case cases[] = {
    {"points far", "city", 0, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.6}, 8, 325, STILL},
    {"points overview", "city", 0, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.6}, 0.8, 287, STILL},
    {"points street", "city", 0, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.1}, 0.12, 408, STILL},
    {"points close-up", "city", 0, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.1}, 0.06, 556, STILL},
    {"average far", "city", 0, MOTE_RENDER_AVERAGE, 1920, 1080, {-0.6, -1, 0.6}, 8, 128, STILL},
    {"average overview", "city", 0, MOTE_RENDER_AVERAGE, 1920, 1080, {-0.6, -1, 0.6}, 0.8, 87, STILL},
    {"average street", "city", 0, MOTE_RENDER_AVERAGE, 1920, 1080, {-0.6, -1, 0.1}, 0.12, 203, STILL},
    {"average close-up", "city", 0, MOTE_RENDER_AVERAGE, 1920, 1080, {-0.6, -1, 0.1}, 0.06, 282, STILL},
    {"many far", "city", MANY, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.6}, 8, 369, STILL},
    {"many overview", "city", MANY, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.6}, 0.8, 358, STILL},
    {"many street", "city", MANY, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.1}, 0.12, 501, STILL},
    {"many close-up", "city", MANY, MOTE_RENDER_POINTS, 1920, 1080, {-0.6, -1, 0.1}, 0.06, 749, STILL},
    {"surface 36k", "torus", 35947, MOTE_RENDER_SURFACE, 1024, 1024, {-0.6, -1, 0.6}, 0.8, 3.76, STILL},
    {"surface 36k close", "torus", 35947, MOTE_RENDER_SURFACE, 1024, 1024, {-0.6, -1, 0.6}, 0.35, 3.76, STILL},
    {"surface 424k", "torus", 423565, MOTE_RENDER_SURFACE, 1024, 1024, {-0.6, -1, 0.6}, 0.8, 14.37, STILL},
    {"surface 424k close", "torus", 423565, MOTE_RENDER_SURFACE, 1024, 1024, {-0.6, -1, 0.6}, 0.35, 14.37, STILL},
    {"surface 14M", "torus", 14000000, MOTE_RENDER_SURFACE, 1920, 1080, {-0.6, -1, 0.6}, 0.8, 0, STILL},
    {"moving 424k", "torus", 423565, MOTE_RENDER_SURFACE, 1280, 720, {-0.6, -1, 0.6}, 0.8, 55.6, ON_HOST},
    {"moving 424k on GPU", "torus", 423565, MOTE_RENDER_SURFACE, 1280, 720, {-0.6, -1, 0.6}, 0.8, 55.6, ON_GPU},
};
#define CASES (sizeof cases / sizeof cases[0])

/* A renderer and where its frames go. */
typedef struct render_work {
    mote_context *ctx;
    mote_renderer *renderer;
    mote_camera camera;
    mote_render_params params;
    mote_render_result result;
    bool on_gpu;
    double *rest, *positions; /* [3 · points] of a cloud that moves; rest: before the wave */
    double *there;            /* the same in memory of the GPU, where the renderer reads them there */
    uint64_t points;
} render_work;

/* A cloud, and what draws it: made once for the cases that draw it. */
typedef struct render_subject {
    const char *kind;
    uint64_t points;
    mote_cloud *cloud;
    mote_context *ctx; /* of the renderer */
    mote_renderer *renderer;
    mote_context *cpu; /* of the renderer that pictures of a GPU are compared to; NULL: not made yet */
    mote_renderer *expected;
} render_subject;

#define MAX_COMPARED 200000000u /* points; of more, the CPU's picture takes minutes and as much memory again */

/* ---- points that move */

/* A copy of a cloud's positions, which the wave may change. */
static mote_status make_moving(render_work *work, const mote_cloud *from, mote_cloud **out) {
    static const mote_column_spec specs[3] = {
        {"x", MOTE_FLOAT64, 0, 0}, {"y", MOTE_FLOAT64, 0, 0}, {"z", MOTE_FLOAT64, 0, 0}};
    const uint64_t count = mote_cloud_count(from);
    work->points = count;
    work->rest = malloc((size_t)count * 3 * sizeof(double));
    if (work->rest == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = mote_cloud_create(work->ctx, count, specs, 3, out);
    if (status != MOTE_OK) return status;
    work->positions = mote_cloud_column_data(*out, "x");
    for (uint64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            mote_column_read(mote_cloud_find(from, specs[k].name), i, 1, MOTE_FLOAT64, work->rest + 3 * i + k);
        }
    }
    memcpy(work->positions, work->rest, (size_t)count * 3 * sizeof(double));
    return MOTE_OK;
}

/* Sends the points to where the renderer reads them, and waits until they are there. */
static mote_status send_points(const render_work *work) {
    double last = 0;
    if (work->there == NULL) return MOTE_OK;
    const mote_status status =
        mote_device_copy(work->ctx, work->there, work->positions, work->points * 3 * sizeof(double));
    if (status != MOTE_OK) return status;
    return mote_device_copy(work->ctx, &last, work->there + 3 * work->points - 1, sizeof last);
}

/* The renderer of moving points, and the cloud in memory of the GPU that it reads, if the case asks for one. */
static mote_status open_moving(render_work *work, const render_case *c, const mote_cloud *cloud, mote_cloud **there,
                               mote_renderer **renderer) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column columns[3];
    if (c->moving != ON_GPU) return mote_render_create(work->ctx, cloud, renderer);
    work->there = mote_device_alloc(work->ctx, work->points * 3 * sizeof(double));
    if (work->there == NULL) return MOTE_ERROR_MEMORY;
    for (int k = 0; k < 3; k++) {
        columns[k] = *mote_cloud_find(cloud, names[k]);
        columns[k].data = work->there + k;
    }
    mote_status status = send_points(work);
    if (status == MOTE_OK) status = mote_cloud_wrap_device(work->ctx, work->points, columns, 3, there);
    return status == MOTE_OK ? mote_render_create(work->ctx, *there, renderer) : status;
}

static void move_points(render_work *work, int frame) {
    const double phase = 0.3 * frame;
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(work->ctx))
    for (int64_t i = 0; i < (int64_t)work->points; i++) {
        const double *from = work->rest + 3 * i;
        work->positions[3 * i + 2] = from[2] + 0.05 * sin(8 * from[0] + phase);
    }
}

static mote_status open_arrays(render_work *work) {
    const uint64_t pixels = (uint64_t)work->params.width * work->params.height;
    work->result.on_device = work->on_gpu;
    work->result.color8 = work->on_gpu ? mote_device_alloc(work->ctx, 4 * pixels) : malloc((size_t)(4 * pixels));
    work->result.depth =
        work->on_gpu ? mote_device_alloc(work->ctx, pixels * sizeof(float)) : malloc((size_t)pixels * sizeof(float));
    return work->result.color8 != NULL && work->result.depth != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void close_arrays(render_work *work) {
    if (work->on_gpu) {
        mote_device_free(work->ctx, work->result.color8);
        mote_device_free(work->ctx, work->result.depth);
    } else {
        free(work->result.color8);
        free(work->result.depth);
    }
}

static mote_status set_camera(render_work *work, const render_case *c) {
    work->camera = mote_camera_defaults();
    const mote_status status = mote_render_fit(work->renderer, &work->camera, c->from, &work->params);
    for (int k = 0; k < 3; k++) {
        work->camera.eye[k] = work->camera.target[k] + (work->camera.eye[k] - work->camera.target[k]) * c->distance;
    }
    return status;
}

static void turn_camera(mote_camera *camera) {
    const double x = camera->eye[0] - camera->target[0], y = camera->eye[1] - camera->target[1];
    camera->eye[0] = camera->target[0] + cos(TURN) * x - sin(TURN) * y;
    camera->eye[1] = camera->target[1] + sin(TURN) * x + cos(TURN) * y;
}

/* What the GPU drew last against what the CPU draws. */
static mote_status compare_frame(const render_work *work, mote_renderer *expected, bool *is_right) {
    const size_t bytes = (size_t)work->params.width * work->params.height * 4;
    mote_render_result drawn = {.color8 = malloc(bytes)};
    uint8_t *found = malloc(bytes);
    mote_status status = drawn.color8 != NULL && found != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_render_draw(expected, &work->camera, &work->params, &drawn);
    if (status == MOTE_OK) status = mote_device_copy(work->ctx, found, work->result.color8, bytes);
    *is_right = status == MOTE_OK && memcmp(found, drawn.color8, bytes) == 0;
    free(found);
    free(drawn.color8);
    return status;
}

static mote_status open_expected(const session *s, const mote_cloud *cloud, mote_context **ctx,
                                 mote_renderer **expected) {
    mote_context_params params = bench_context_params(s, mote_context_threads(s->ctx));
    params.device = MOTE_DEVICE_CPU;
    const mote_status status = mote_context_create(&params, ctx);
    return status == MOTE_OK ? mote_render_create(*ctx, cloud, expected) : status;
}

/* moving: a cloud of this case alone; NULL: that of the subject. */
static mote_status check_frame(const session *s, const render_work *work, render_subject *subject,
                               const mote_cloud *moving, bool *is_right) {
    mote_context *ctx = NULL;
    mote_renderer *expected = NULL;
    mote_status status = MOTE_OK;
    *is_right = true;
    if (!work->on_gpu || subject->points > MAX_COMPARED) return MOTE_OK;
    if (moving != NULL) {
        status = open_expected(s, moving, &ctx, &expected);
    } else if (subject->expected == NULL) {
        status = open_expected(s, subject->cloud, &subject->cpu, &subject->expected);
    }
    if (status == MOTE_OK) status = compare_frame(work, moving != NULL ? expected : subject->expected, is_right);
    mote_render_destroy(expected);
    mote_context_destroy(ctx);
    return status;
}

/* A first frame, which takes memory, then one for each run. */
static mote_status draw_frames(const bench_options *o, render_work *work, bench_runs *runs) {
    mote_status status = mote_render_draw(work->renderer, &work->camera, &work->params, &work->result);
    for (int i = 0; i < o->runs && status == MOTE_OK && !session_cancelled(); i++) {
        turn_camera(&work->camera);
        if (work->positions != NULL) move_points(work, i);
        status = send_points(work);
        const double begin = seconds_now();
        if (work->positions != NULL && status == MOTE_OK) status = mote_render_update(work->renderer);
        if (status == MOTE_OK) status = mote_render_draw(work->renderer, &work->camera, &work->params, &work->result);
        runs->values[i] = 1e3 * (seconds_now() - begin);
        runs->count = i + 1;
    }
    return session_cancelled() ? MOTE_CANCELLED : status;
}

static void set_params(render_work *work, const render_case *c) {
    work->params = mote_render_defaults();
    work->params.mode = c->mode;
    work->params.width = c->width;
    work->params.height = c->height;
    if (c->mode != MOTE_RENDER_SURFACE) work->params.edl_strength = 0;
    if (c->moving != STILL) work->params.k = 6;
}

static mote_status measure_case(session *s, const bench_options *o, const render_case *c, render_subject *subject,
                                bench_runs *runs, render_work *work, bool *is_right) {
    mote_cloud *moving = NULL, *there = NULL;
    mote_renderer *own = NULL;
    memset(work, 0, sizeof *work);
    work->on_gpu = bench_on_gpu(s);
    work->ctx = subject->ctx;
    set_params(work, c);
    mote_status status = c->moving != STILL ? make_moving(work, subject->cloud, &moving) : MOTE_OK;
    if (status == MOTE_OK && moving != NULL) status = open_moving(work, c, moving, &there, &own);
    if (status == MOTE_OK && moving == NULL && subject->renderer == NULL) {
        status = mote_render_create(work->ctx, subject->cloud, &subject->renderer);
    }
    work->renderer = own != NULL ? own : subject->renderer;
    if (status == MOTE_OK) status = open_arrays(work);
    if (status == MOTE_OK) status = set_camera(work, c);
    if (status == MOTE_OK) status = draw_frames(o, work, runs);
    if (status == MOTE_OK) status = check_frame(s, work, subject, moving, is_right);
    close_arrays(work);
    mote_render_destroy(own);
    mote_cloud_destroy(there);
    mote_device_free(work->ctx, work->there);
    mote_cloud_destroy(moving);
    free(work->rest);
    progress_clear(&s->bar);
    return status;
}

/* ---- the table */

static void print_head(const session *s, int runs) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("render: %s, %d CPU threads used, a moving camera, median and spread of %d frames, ms\n", device,
           mote_context_threads(s->ctx), runs);
    printf("%-18s %10s %9s %17s %9s %9s %9s   %s\n", "case", "points", "ms", "spread", "G pts/s", "covered", "batches",
           "others");
}

static void print_row(const render_case *c, const bench_result *line, const mote_render_result *result) {
    char spread[32], others[48] = "-";
    const double pixels = (double)c->width * c->height;
    snprintf(spread, sizeof spread, "%.2f-%.2f", line->low, line->high);
    if (c->of_others > 0) {
        snprintf(others, sizeof others,
                 c->moving != STILL               ? "%g ms (GTX 480)"
                 : c->mode == MOTE_RENDER_SURFACE ? "%g ms (GTX 970)"
                                                  : "%g G pts/s (H200)",
                 c->of_others);
    }
    printf("%-18s %10llu %9.2f %17s %9.2f %8.1f%% %8.1f%%   %s\n", c->name, (unsigned long long)line->points,
           line->median, spread, 1e-6 * (double)line->points / line->median, 100 * (double)result->covered / pixels,
           100 * (double)result->batches_drawn / (double)(result->batches > 0 ? result->batches : 1), others);
    fflush(stdout);
}

static void drop_subject(const session *s, render_subject *subject) {
    mote_render_destroy(subject->renderer);
    mote_render_destroy(subject->expected);
    mote_context_destroy(subject->cpu);
    mote_cloud_destroy(subject->cloud);
    if (subject->ctx != s->ctx) mote_context_destroy(subject->ctx);
    memset(subject, 0, sizeof *subject);
}

/* The cloud of a case: that of the last one, if it is the same. */
static mote_status take_subject(session *s, const char *kind, uint64_t points, render_subject *subject) {
    if (subject->cloud != NULL && subject->points == points && strcmp(subject->kind, kind) == 0) return MOTE_OK;
    drop_subject(s, subject);
    subject->kind = kind;
    subject->points = points;
    s->bar.points = points;
    subject->ctx = s->ctx;
    mote_status status = bench_on_gpu(s) ? MOTE_OK : bench_context(s, mote_context_threads(s->ctx), &subject->ctx);
    if (status == MOTE_OK) status = mote_generate(s->ctx, kind, points, NULL, &subject->cloud);
    progress_clear(&s->bar);
    return status;
}

static int run_case(session *s, const bench_options *o, const render_case *c, render_subject *subject) {
    bench_runs runs = {.count = 0};
    render_work work;
    char device[200], name[80];
    bool is_right = false;
    const uint64_t all = o->count_given ? o->count : bench_on_gpu(s) ? GPU_POINTS : o->count;
    const uint64_t points = c->points == 0 || (o->count_given && o->count < c->points) ? all : c->points;
    mote_status status = take_subject(s, c->kind, points, subject);
    if (status == MOTE_OK) status = measure_case(s, o, c, subject, &runs, &work, &is_right);
    if (status == MOTE_CANCELLED) return session_fail(s, status, false);
    if (status == MOTE_ERROR_MEMORY) {
        printf("%-18s not run: out of memory\n", c->name);
        mote_context_clear(s->ctx);
        return EXIT_DONE;
    }
    if (status != MOTE_OK) return session_error(s, EXIT_FAILED, "%s: %s", c->name, mote_status_name(status));
    if (!is_right) return session_error(s, EXIT_FAILED, "%s: the picture is not that of the CPU", c->name);
    bench_device_name(s, device, sizeof device);
    bench_result line = {.bench = "render",
                         .unit = "ms",
                         .points = points,
                         .threads = mote_context_threads(s->ctx),
                         .device = bench_on_gpu(s) ? device : NULL};
    bench_summarize(&runs, &line);
    print_row(c, &line, &work.result);
    snprintf(name, sizeof name, "%s, %u x %u", c->name, c->width, c->height);
    line.name = name;
    return bench_record(s, o, &line);
}

/* What needs the memory of a GPU runs there, or where it was named. */
static bool is_wanted(const session *s, const bench_options *o, const render_case *c) {
    if (o->only == NULL && c->points == MANY && !bench_on_gpu(s)) return false;
    if (c->moving == ON_GPU && !bench_on_gpu(s)) return false;
    return o->only == NULL || strncmp(c->name, o->only, strlen(o->only)) == 0;
}

int bench_render(session *s, const bench_options *o) {
    const char *names[CASES + 3] = {NULL};
    bool any = false, any_frame = false;
    render_subject subject;
    memset(&subject, 0, sizeof subject);
    for (size_t i = 0; i < CASES; i++) {
        names[i] = cases[i].name;
        any_frame = any_frame || is_wanted(s, o, &cases[i]);
    }
    any = any_frame;
    for (size_t i = 0; bench_render_files[i] != NULL; i++) {
        names[CASES + i] = bench_render_files[i];
        any = any || o->only == NULL || strncmp(names[CASES + i], o->only, strlen(o->only)) == 0;
    }
    if (!any) return bench_no_case(o, names);
    int code = EXIT_DONE;
    if (any_frame) print_head(s, o->runs);
    for (size_t i = 0; i < CASES && code == EXIT_DONE; i++) {
        if (is_wanted(s, o, &cases[i])) code = run_case(s, o, &cases[i], &subject);
    }
    drop_subject(s, &subject);
    return code == EXIT_DONE ? bench_render_run_files(s, o) : code;
}
