/* mote bench photon: emitting, gathering and pictures, and the sizes of a published thesis' figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "text.h"

#define SIDE        708u /* of the ground: 2 · 708² triangles */
#define RATIO_TRIAL 20000u

typedef struct photon_bench {
    session *s;
    const bench_options *o;
    mote_context *ctx;
    char device[200];
    mote_scene *scene;
    mote_photon_map *map;
    mote_cloud *queries;
    float *irradiance; /* of the device's memory, where there is a GPU */
} photon_bench;

static bool on_gpu(const photon_bench *b) { return bench_on_gpu(b->s); }

static int failed(const photon_bench *b, const char *name) {
    return session_error(b->s, EXIT_FAILED, "%s: %s", name, mote_context_message(b->ctx));
}

static bool is_wanted(const bench_options *o, const char *name) {
    return o->only == NULL || strncmp(name, o->only, strlen(o->only)) == 0;
}

/* ---- scenes */

/* A ground of waves under a spot light. */
static mote_status make_ground(photon_bench *b) {
    const uint64_t row = SIDE + 1;
    double *positions = malloc(3 * row * row * sizeof *positions);
    uint32_t *triangles = malloc(6ull * SIDE * SIDE * sizeof *triangles);
    const mote_material material = {.color = {0.6, 0.5, 0.4}};
    const mote_light light = {.kind = MOTE_LIGHT_SPOT,
                              .position = {0, 0, 60},
                              .direction = {0, 0, -1},
                              .intensity = {100, 100, 100},
                              .inner_rad = 0.5,
                              .outer_rad = 0.7};
    mote_scene_params params = {.positions = positions,
                                .position_count = row * row,
                                .triangles = triangles,
                                .triangle_count = 2ull * SIDE * SIDE,
                                .materials = &material,
                                .material_count = 1,
                                .lights = &light,
                                .light_count = 1,
                                .camera = mote_camera_defaults()};
    mote_status status = MOTE_ERROR_MEMORY;
    if (positions != NULL && triangles != NULL) {
        for (uint64_t i = 0; i < row * row; i++) {
            const uint64_t column = i % row, line = i / row;
            const double x = 100.0 * (double)column / SIDE - 50, y = 100.0 * (double)line / SIDE - 50;
            positions[3 * i] = x;
            positions[3 * i + 1] = y;
            positions[3 * i + 2] = 3 * sin(0.3 * x) * cos(0.4 * y) + 0.2 * sin(3 * x + 2 * y);
        }
        for (uint64_t i = 0; i < (uint64_t)SIDE * SIDE; i++) {
            const uint32_t at = (uint32_t)(i / SIDE * row + i % SIDE);
            const uint32_t corners[6] = {
                at, at + 1, at + 1 + (uint32_t)row, at, at + 1 + (uint32_t)row, at + (uint32_t)row};
            memcpy(triangles + 6 * i, corners, sizeof corners);
        }
        status = mote_scene_create(b->ctx, &params, &b->scene);
    }
    free(triangles);
    free(positions);
    return status;
}

static void drop_map(photon_bench *b) {
    mote_photon_destroy(b->map);
    b->map = NULL;
}

static mote_status make_scene(photon_bench *b, const char *name) {
    drop_map(b);
    mote_scene_destroy(b->scene);
    b->scene = NULL;
    return name != NULL ? mote_scene_builtin(b->ctx, name, &b->scene) : make_ground(b);
}

/* A map of the scene, of about that number of stored photons. */
static mote_status make_map(photon_bench *b, uint64_t stored) {
    mote_photon_emission emission = mote_photon_emission_defaults();
    emission.photons = RATIO_TRIAL;
    drop_map(b);
    const mote_status status = mote_photon_emit(b->scene, &emission, &b->map);
    if (status != MOTE_OK) return status;
    const double ratio = (double)mote_photon_map_facts(b->map).stored / RATIO_TRIAL;
    emission.photons = (uint64_t)((double)stored / ratio + 1);
    drop_map(b);
    return mote_photon_emit(b->scene, &emission, &b->map);
}

/* ---- runs */

static void begin_result(const photon_bench *b, const char *name, const char *unit, uint64_t points,
                         bench_result *result) {
    const bench_result empty = {.bench = "photon", .name = name, .unit = unit, .points = points};
    *result = empty;
    result->threads = mote_context_threads(b->ctx);
    if (on_gpu(b)) result->device = b->device;
}

/* What a GPU was asked to do is done. */
static mote_status wait_for(const photon_bench *b) { return on_gpu(b) ? mote_context_wait(b->ctx) : MOTE_OK; }

typedef mote_status (*timed_step)(photon_bench *b, const void *what);

/* Milliseconds of a step; the first run, which warms up, does not count. */
static int measure(photon_bench *b, const char *name, uint64_t points, timed_step step, const void *what,
                   bench_result *result) {
    bench_runs runs = {.count = 0};
    begin_result(b, name, "ms", points, result);
    for (int run = -1; run < b->o->runs; run++) {
        if (session_cancelled()) return EXIT_CANCELLED;
        const double begin = seconds_now();
        mote_status status = step(b, what);
        if (status == MOTE_OK) status = wait_for(b);
        if (status != MOTE_OK) return failed(b, name);
        if (run >= 0) runs.values[runs.count++] = 1e3 * (seconds_now() - begin);
    }
    bench_summarize(&runs, result);
    return EXIT_DONE;
}

/* ---- emission */

static mote_status emit_step(photon_bench *b, const void *what) {
    mote_photon_emission emission = mote_photon_emission_defaults();
    emission.photons = *(const uint64_t *)what;
    drop_map(b);
    return mote_photon_emit(b->scene, &emission, &b->map);
}

typedef struct emit_case {
    const char *name, *scene, *target;
} emit_case;
static const emit_case emissions[] = {{"emit cornell", "cornell", "0.8 ms for 1 M on an H200"},
                                      {"emit ground", NULL, "6 ms for 1 M on an H200"},
                                      {"emit ring", "ring", "-"}};

static int table_of_emission(photon_bench *b) {
    int code = EXIT_DONE;
    bool any = false;
    const uint64_t photons = on_gpu(b) || b->o->count < 5 ? b->o->count : b->o->count / 5;
    for (size_t i = 0; i < sizeof emissions / sizeof emissions[0] && code == EXIT_DONE; i++) {
        const emit_case *c = &emissions[i];
        bench_result result;
        if (!is_wanted(b->o, c->name)) continue;
        if (!any) {
            printf("%-16s %10s %10s %10s %21s   %s\n", "emission", "emitted", "stored", "ms", "lowest – highest",
                   "target; these have the index of neighbours too");
        }
        any = true;
        if (make_scene(b, c->scene) != MOTE_OK) return failed(b, c->name);
        code = measure(b, c->name, photons, emit_step, &photons, &result);
        if (code != EXIT_DONE) break;
        printf("%-16s %10s %10s %10.3f %9.3f – %-9.3f   %s\n", c->name, text_count(photons).chars,
               text_count(mote_photon_map_facts(b->map).stored).chars, result.median, result.low, result.high,
               c->target);
        fflush(stdout);
        code = bench_record(b->s, b->o, &result);
    }
    return code;
}

/* ---- gathering */

static void drop_queries(photon_bench *b) {
    mote_cloud_destroy(b->queries);
    if (on_gpu(b)) {
        mote_device_free(b->ctx, b->irradiance);
    } else {
        free(b->irradiance);
    }
    b->queries = NULL;
    b->irradiance = NULL;
}

/* Places and normals of some photons of the map, moved a little along the walls: a photon at the very place does not
   count. */
static mote_status choose_queries(photon_bench *b, uint64_t count, mote_cloud **out) {
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    mote_column_spec specs[6];
    const mote_cloud *photons = mote_photon_cloud(b->map);
    if (photons == NULL) return MOTE_ERROR_MEMORY;
    memset(specs, 0, sizeof specs);
    for (int k = 0; k < 6; k++) {
        specs[k].name = names[k];
        specs[k].type = MOTE_FLOAT32;
    }
    const mote_status status = mote_cloud_create(b->ctx, count, specs, 6, out);
    if (status != MOTE_OK) return status;
    const uint64_t stored = mote_cloud_count(photons);
    for (uint32_t k = 0; k < 6; k++) {
        const mote_column *from = mote_cloud_find(photons, names[k]);
        const mote_column *to = mote_cloud_column(*out, k);
        char *at = mote_cloud_column_data(*out, names[k]);
        for (uint64_t i = 0; i < count; i++, at += to->stride_bytes) {
            const uint64_t row = i * 7919 % stored;
            const double along = mote_column_value(mote_cloud_find(photons, names[3 + k % 3]), row);
            const double away = k < 3 && fabs(along) < 0.5 ? 0.0007 * (double)(1 + (i + k) % 5) : 0;
            const float value = (float)(mote_column_value(from, row) + away);
            memcpy(at, &value, sizeof value);
        }
    }
    return MOTE_OK;
}

static mote_status make_queries(photon_bench *b, uint64_t count) {
    mote_cloud *chosen = NULL;
    drop_queries(b);
    mote_status status = choose_queries(b, count, &chosen);
    if (status == MOTE_OK && on_gpu(b)) {
        status = mote_cloud_to_device(b->ctx, chosen, &b->queries);
        mote_cloud_destroy(chosen);
        b->irradiance = mote_device_alloc(b->ctx, 3 * count * sizeof(float));
    } else {
        b->queries = chosen;
        b->irradiance = malloc(3 * count * sizeof(float));
    }
    return status == MOTE_OK && b->irradiance == NULL ? MOTE_ERROR_MEMORY : status;
}

static mote_status gather_step(photon_bench *b, const void *what) {
    return mote_photon_gather(b->map, b->queries, what, b->irradiance);
}

/* Published: Bergholm and Kronvall 2016, k = 64 and c = 4 of 2 M photons on a GTX 970, 1,738 queries/ms; no other
   figure of theirs is printed as a number. */
typedef struct gather_case {
    const char *name, *figure;
    uint64_t queries, photons;
    uint32_t k;
    double compression;
} gather_case;
static const gather_case gatherings[] = {
    {"gather sphere", "speed", 1000000, 1000000, 64, 1},
    {"gather ellipsoid", "speed", 1000000, 1000000, 64, 4},
    {"gather 2M", "4.1: 1,738/ms", 2000000, 2000000, 64, 4},
    {"gather 128k", "4.1", 131072, 2000000, 64, 4},
    {"gather 8k", "4.1", 8192, 2000000, 64, 4},
    {"gather 128", "4.1", 128, 2000000, 64, 4},
    {"gather of 128k", "4.2", 1000000, 131072, 64, 4},
    {"gather of 8k", "4.2", 1000000, 8192, 64, 4},
    {"gather of 128", "4.2", 1000000, 128, 64, 4},
    {"gather k 8", "4.3", 1000000, 1000000, 8, 4},
    {"gather k 16", "4.3", 1000000, 1000000, 16, 4},
    {"gather k 32", "4.3, 4.4", 1000000, 1000000, 32, 4},
    {"gather k 128", "4.3", 1000000, 1000000, 128, 4},
    {"gather k 256", "4.3", 1000000, 1000000, 256, 4},
    {"gather k 512", "4.3", 1000000, 1000000, 512, 4},
    {"gather c 1", "4.5: 1.029", 1000000, 1000000, 256, 1},
    {"gather c 2", "4.5: 1.029", 1000000, 1000000, 256, 2},
    {"gather c 8", "4.5: 1.029", 1000000, 1000000, 256, 8},
};

static int gather_one(photon_bench *b, const gather_case *c, uint64_t *photons_now) {
    const uint64_t shrink = on_gpu(b) ? 1 : 10;
    const uint64_t scale = b->o->count, photons = c->photons * scale / 1000000 / shrink,
                   queries = c->queries * scale / 1000000 / shrink;
    mote_photon_gathering g = mote_photon_gathering_defaults();
    bench_result result;
    if (photons < 2 || queries < 1) return EXIT_DONE; /* too small for this -n */
    g.k = c->k;
    g.compression = c->compression;
    g.on_device = on_gpu(b);
    if (*photons_now != photons && make_map(b, photons) != MOTE_OK) return failed(b, c->name);
    *photons_now = photons;
    if (make_queries(b, queries) != MOTE_OK) return failed(b, c->name);
    int code = measure(b, c->name, queries, gather_step, &g, &result);
    if (code != EXIT_DONE) return code;
    printf("%-16s %-14s %10s %10s %5u %4g %12.0f %9.3f %9.3f – %-9.3f\n", c->name, c->figure, text_count(queries).chars,
           text_count(mote_photon_map_facts(b->map).stored).chars, c->k, c->compression,
           (double)queries / result.median, result.median, result.low, result.high);
    fflush(stdout);
    return bench_record(b->s, b->o, &result);
}

static int table_of_gathering(photon_bench *b) {
    int code = EXIT_DONE;
    uint64_t photons_now = 0;
    bool any = false;
    for (size_t i = 0; i < sizeof gatherings / sizeof gatherings[0] && code == EXIT_DONE; i++) {
        if (!is_wanted(b->o, gatherings[i].name)) continue;
        if (!any) {
            printf("%-16s %-14s %10s %10s %5s %4s %12s %9s %21s\n", "gathering", "figure", "queries", "photons", "k",
                   "c", "queries/ms", "ms", "lowest – highest");
            if (make_scene(b, "cornell") != MOTE_OK) return failed(b, "cornell");
        }
        any = true;
        code = gather_one(b, &gatherings[i], &photons_now);
    }
    drop_queries(b);
    if (any && code == EXIT_DONE) {
        printf("all found exactly: the factor of the radius is 1 at every k and c (4.5); there is no lambda (4.4)\n");
    }
    return code;
}

/* ---- pictures */

typedef struct picture_case {
    const char *name;
    mote_photon_method method;
    uint64_t photons;
    uint32_t size, samples, gather_rays, k;
    bool gpu;
    const char *target;
} picture_case;
static const picture_case pictures[] = {
    {"picture map", MOTE_PHOTON_MAP, 200000, 512, 1, 1, 128, false, "4 s on 2 cores"},
    {"picture map", MOTE_PHOTON_MAP, 1000000, 1024, 1, 1, 256, true, "15 ms on an H200"},
    {"picture full", MOTE_PHOTON_FULL, 200000, 128, 1, 16, 128, false, "-"},
    {"picture full", MOTE_PHOTON_FULL, 1000000, 1024, 1, 64, 128, true, "100 ms on an H200"},
    {"picture path", MOTE_PHOTON_PATH, 1, 128, 1, 1, 128, false, "-"},
    {"picture path", MOTE_PHOTON_PATH, 1, 1024, 4, 1, 128, true, "-"},
};

typedef struct picture_work {
    mote_photon_params params;
    float *rgb;
} picture_work;

static mote_status picture_step(photon_bench *b, const void *what) {
    const picture_work *w = what;
    const mote_camera camera = mote_scene_camera(b->scene);
    return mote_photon_render(b->scene, b->map, &camera, &w->params, w->rgb);
}

static int draw_one(photon_bench *b, const picture_case *c) {
    picture_work w = {mote_photon_defaults(), malloc(12ull * c->size * c->size)};
    bench_result result;
    if (w.rgb == NULL) return session_error(b->s, EXIT_RESOURCES, "no memory for the picture");
    w.params.method = c->method;
    w.params.width = w.params.height = c->size;
    w.params.samples = c->samples;
    w.params.gather_rays = c->gather_rays;
    w.params.gathering.k = c->k;
    int code = EXIT_DONE;
    if (make_scene(b, "cornell") != MOTE_OK || emit_step(b, &c->photons) != MOTE_OK) code = failed(b, c->name);
    if (code == EXIT_DONE) { code = measure(b, c->name, (uint64_t)c->size * c->size, picture_step, &w, &result); }
    if (code == EXIT_DONE) {
        printf("%-16s %5u² %8s %5u %8u %10.2f %9.2f – %-9.2f   %s\n", c->name, c->size, text_count(c->photons).chars,
               c->k, c->gather_rays, result.median, result.low, result.high, c->target);
        fflush(stdout);
        code = bench_record(b->s, b->o, &result);
    }
    free(w.rgb);
    return code;
}

static int table_of_pictures(photon_bench *b) {
    int code = EXIT_DONE;
    bool any = false;
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0] && code == EXIT_DONE; i++) {
        if (!is_wanted(b->o, pictures[i].name) || pictures[i].gpu != on_gpu(b)) continue;
        if (!any) {
            printf("%-16s %6s %8s %5s %8s %10s %21s   %s\n", "cornell", "pixels", "photons", "k", "rays", "ms",
                   "lowest – highest", "target");
        }
        any = true;
        code = draw_one(b, &pictures[i]);
    }
    return code;
}

/* ---- all of them */

static int check_case(const bench_options *o) {
    const char *names[40] = {NULL};
    size_t count = 0;
    for (size_t i = 0; i < sizeof emissions / sizeof emissions[0]; i++) names[count++] = emissions[i].name;
    for (size_t i = 0; i < sizeof gatherings / sizeof gatherings[0]; i++) names[count++] = gatherings[i].name;
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++) names[count++] = pictures[i].name;
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(o, names[i])) return EXIT_DONE;
    }
    return bench_no_case(o, names);
}

int bench_photon(session *s, const bench_options *o) {
    photon_bench b = {.s = s, .o = o};
    if (check_case(o) != EXIT_DONE) return EXIT_USAGE;
    bench_device_name(s, b.device, sizeof b.device);
    const mote_status status = bench_context(s, mote_context_threads(s->ctx), &b.ctx);
    int code = status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
    if (code == EXIT_DONE) {
        printf("photon: %s; median and spread of %d runs. %s\n", b.device, o->runs,
               on_gpu(&b) ? "Queries, photons and irradiance are in the memory of the GPU, pictures on the host"
                          : "On a CPU a tenth of the queries and photons");
        code = table_of_emission(&b);
    }
    if (code == EXIT_DONE) code = table_of_gathering(&b);
    if (code == EXIT_DONE) code = table_of_pictures(&b);
    drop_queries(&b);
    drop_map(&b);
    mote_scene_destroy(b.scene);
    mote_context_destroy(b.ctx);
    return code;
}
