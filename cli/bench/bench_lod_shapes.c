/* mote bench lod --device cuda --case shapes: octrees of clouds whose shape or density is unlike a uniform one's. */
#include <stdio.h>

#include "bench/bench_lod_cuda.h"
#include "bench/bench_shapes.h"
#include "text.h"

#define LEFT 30 /* columns of a cloud's name */

static const resident_case samplings[] = {
    {"random", false, MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, {0, 0}, {0, 0}, 0, 0},
    {"first", false, MOTE_LOD_ADDITIVE, MOTE_LOD_FIRST, MOTE_LOD_FILTER_NONE, {0, 0}, {0, 0}, 0, 0},
    {"poisson", false, MOTE_LOD_ADDITIVE, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE, {0, 0}, {0, 0}, 0, 0},
};
#define SAMPLINGS (sizeof samplings / sizeof samplings[0])

static void print_head(const char *device, uint64_t count, int runs) {
    printf("lod of clouds of many shapes on %s: %s points in doubles, from device memory to octree.bin in device\n"
           "memory, milliseconds, median of %d runs; in brackets: times that of uniform\n",
           device, text_count(count).chars, runs);
    printf("%-*s", LEFT, "cloud");
    for (size_t i = 0; i < SAMPLINGS; i++) printf(" %18s", samplings[i].name);
    putchar('\n');
}

/* A line of the table. uniform_ms: those of the first cloud */
static int run_shape(session *s, const bench_options *o, const bench_shape *of, const mote_cloud *points,
                     const char *device, double uniform_ms[SAMPLINGS]) {
    printf("%-*s", LEFT, of->name);
    for (size_t i = 0; i < SAMPLINGS; i++) {
        char name[80];
        bench_result result = {.bench = "lod shapes",
                               .name = name,
                               .unit = "G points/s",
                               .device = device,
                               .points = o->count,
                               .threads = mote_context_threads(s->ctx)};
        snprintf(name, sizeof name, "%s, %s", of->name, samplings[i].name);
        const mote_status status = resident_measure(s, o, &samplings[i], points, &result, NULL);
        if (status != MOTE_OK) {
            putchar('\n');
            return resident_case_failed(s, name, status);
        }
        const double ms = (double)o->count / result.median / 1e6;
        if (of == bench_shapes()) uniform_ms[i] = ms;
        printf(" %10.3f (%5.2f)", ms, uniform_ms[i] > 0 ? ms / uniform_ms[i] : 0);
        fflush(stdout);
        const int code = bench_record(s, o, &result);
        if (code != EXIT_DONE) return code;
    }
    putchar('\n');
    return EXIT_DONE;
}

int bench_lod_shapes(session *s, const bench_options *o) {
    double uniform_ms[SAMPLINGS] = {0};
    char device[200];
    int code = EXIT_DONE;
    bench_device_name(s, device, sizeof device);
    print_head(device, o->count, o->runs);
    for (size_t i = 0; i < BENCH_SHAPES && code == EXIT_DONE; i++) {
        const bench_shape *of = &bench_shapes()[i];
        mote_cloud *cloud = NULL, *points = NULL;
        if (!bench_shape_wanted(of, o->only)) continue;
        mote_status status = bench_shape_cloud(s, of, o->count, &cloud);
        if (status == MOTE_OK) status = mote_cloud_to_device(s->ctx, cloud, &points);
        code = status == MOTE_OK ? run_shape(s, o, of, points, device, uniform_ms)
                                 : resident_case_failed(s, of->name, status);
        mote_cloud_destroy(points);
        mote_cloud_destroy(cloud);
    }
    if (code == EXIT_DONE) bench_shapes_print_end();
    return code;
}
