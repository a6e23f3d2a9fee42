/* mote bench knn --case shapes: clouds whose shape or density is unlike a uniform one's, beside that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_knn.h"
#include "bench/bench_shapes.h"

#define LEFT       30   /* columns of a cloud's name */
#define PATIENCE_S 3.0  /* no more runs of a search after this; */
#define LIMIT_MS   20e3 /* and none for more neighbours after one as slow as this */

static const uint32_t shape_k[] = {1, 10, 32, 100};
#define SHAPE_KS 4

/* ---- the table */

static void print_head(const session *s, uint64_t count, int threads, int runs) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("knn of clouds of many shapes, %s points in doubles, %s, %d CPU thread%s:\n"
           "index and search of all, milliseconds, median of up to %d runs; in brackets: times that of uniform\n",
           text_count(count).chars, device, threads, threads == 1 ? "" : "s", runs);
    printf("%-*s", LEFT, "cloud");
    for (int i = 0; i < SHAPE_KS; i++) {
        char head[20];
        snprintf(head, sizeof head, "k = %u", shape_k[i]);
        printf(" %18s", head);
    }
    putchar('\n');
}

/* One cloud: a line of the table. uniform: the milliseconds that the others are compared with; those of the first */
static int run_shape(session *s, const bench_options *o, const bench_shape *of, const mote_cloud *cloud, int threads,
                     double uniform[SHAPE_KS]) {
    double last = 0;
    printf("%-*s", LEFT, of->name);
    for (int i = 0; i < SHAPE_KS; i++) {
        const knn_case c = {.name = of->name, .kind = of->name, .k = shape_k[i]};
        knn_timing timing;
        bool is_right = false;
        if (last > LIMIT_MS) {
            printf(" %18s", "-");
            continue;
        }
        const mote_status status = knn_measure_cloud(s, o, &c, cloud, threads, PATIENCE_S, &timing, &is_right);
        if (status != MOTE_OK) {
            putchar('\n');
            return knn_case_failed(s, of->name, status);
        }
        last = timing.both.median;
        if (of == bench_shapes()) uniform[i] = last;
        printf(" %10.*f (%5.*f)", last < 100 ? 3 : 0, last, last < 10 * uniform[i] ? 2 : 0,
               uniform[i] > 0 ? last / uniform[i] : 0);
        fflush(stdout);
        if (!is_right) return knn_wrong_answer(s, of->name);
        const int code = knn_record(s, o, &c, "file", &timing);
        if (code != EXIT_DONE) return code;
    }
    putchar('\n');
    return EXIT_DONE;
}

int bench_knn_shapes(session *s, const bench_options *o, int threads) {
    double uniform[SHAPE_KS] = {0};
    int code = EXIT_DONE;
    print_head(s, o->count, threads, o->runs);
    for (size_t i = 0; i < BENCH_SHAPES && code == EXIT_DONE; i++) {
        const bench_shape *of = &bench_shapes()[i];
        mote_cloud *cloud = NULL;
        if (!bench_shape_wanted(of, o->only)) continue;
        const mote_status status = bench_shape_cloud(s, of, o->count, &cloud);
        code = status == MOTE_OK ? run_shape(s, o, of, cloud, threads, uniform) : knn_case_failed(s, of->name, status);
        mote_cloud_destroy(cloud);
    }
    if (code != EXIT_DONE) return code;
    bench_shapes_print_end();
    printf("-: not tried, as fewer neighbours took over %.0f s.\n", LIMIT_MS / 1e3);
    return code;
}
