/* The tables of mote bench lod --device cuda, beside published and measured figures of others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_lod_cuda.h"
#include "text.h"

#define LEFT 22 /* columns of a case's name */

/* P. Klaus 2023, table 5.2, implicit and explicit random pick; what its program reaches on an H200 with a city of 100 M
   points, measured; the cases of ours that do the same. */
typedef struct published_row {
    const char *name;
    double ms[2], rate[2]; /* M points/s; first, random */
    double on_h200[2];
    const char *ours[2];
} published_row;
static const published_row published[] = {
    {"none", {286.1, 658.4}, {418, 182}, {777, 468}, {"rgb first", "rgb random"}},
    {"intra-cell", {401.5, 668.7}, {299, 179}, {499, 455}, {"rgb cell first", "rgb cell"}},
    {"inter-cell", {636.1, 894.7}, {188, 134}, {350, 336}, {"rgb neighbors first", "rgb neighbors"}},
    {"distance weighted", {1596.7, 1881.4}, {75, 64}, {246, 228}, {"rgb gaussian first", "rgb gaussian"}},
};

/* A figure, or a dash where there is none. */
static text figure(double value, int decimals) {
    text t;
    snprintf(t.chars, sizeof t.chars, "-");
    if (value > 0) snprintf(t.chars, sizeof t.chars, "%.*f", decimals, value);
    return t;
}

/* Figures of others are for 10 M and 100 M points. */
static double at_size(const double figures[2], uint64_t points) {
    return points == 10000000 ? figures[0] : points == 100000000 ? figures[1] : 0;
}

void resident_print_head(const char *device, uint64_t points, int runs) {
    printf("lod on %s: %s points of a city, from device memory to octree.bin in device memory,\n"
           "median and spread of %d runs\n",
           device, text_count(points).chars, runs);
    printf("%-*s %11s %19s %10s %12s %8s %8s\n", LEFT, "case", "G points/s", "lowest – highest", "ms", "bytes/point",
           "peer", "target");
}

void resident_print_row(const resident_case *c, const bench_result *r) {
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%.1f", r->peak_bytes_per_point);
    printf("%-*s %11.3f %8.3f – %-8.3f %10.3f %12s %8s %8s", LEFT, c->name, r->median, r->low, r->high,
           (double)r->points / r->median / 1e6, bytes, figure(at_size(c->peer, r->points), 2).chars,
           figure(at_size(c->target, r->points), 0).chars);
    if (c->target_bytes > 0) printf("  target %.0f bytes/point, peer %.0f", c->target_bytes, c->peer_bytes);
    putchar('\n');
}

/* The rates of a size by case, 0 where it was not run. */
static double rate_of(const resident_table *table, int size, const char *name) {
    for (size_t i = 0; i < RESIDENT_CASES; i++) {
        if (strcmp(resident_cases()[i].name, name) == 0) return table->results[size * RESIDENT_CASES + (int)i].median;
    }
    return 0;
}

static bool was_run(const resident_table *table, const char *name) {
    for (int k = 0; k < table->count; k++) {
        if (rate_of(table, k, name) > 0) return true;
    }
    return false;
}

static void print_scaling(const resident_table *table) {
    printf("\n%-*s", LEFT, "G points/s by size");
    for (int k = 0; k < table->count; k++) printf(" %14s", text_count(table->sizes[k]).chars);
    putchar('\n');
    for (size_t i = 0; i < RESIDENT_CASES; i++) {
        const char *name = resident_cases()[i].name;
        if (!was_run(table, name)) continue;
        printf("%-*s", LEFT, name);
        for (int k = 0; k < table->count; k++) printf(" %14s", figure(rate_of(table, k, name), 3).chars);
        putchar('\n');
    }
}

/* The size nearest to the 100 M points of the peers, by ratio. */
static int nearest_size(const resident_table *table) {
    int nearest = 0;
    for (int k = 1; k < table->count; k++) {
        const double off = fabs(log((double)table->sizes[k] / 1e8)),
                     best = fabs(log((double)table->sizes[nearest] / 1e8));
        if (off < best) nearest = k;
    }
    return nearest;
}

static text pair(double first, double random, int decimals) {
    text t;
    snprintf(t.chars, sizeof t.chars, "%.20s / %.20s", figure(first, decimals).chars, figure(random, decimals).chars);
    return t;
}

static void print_published(const resident_table *table) {
    const int size = nearest_size(table);
    const double m = (double)table->sizes[size] / 1e6;
    printf(
        "\nPublished: P. Klaus 2023, table 5.2 (TITAN RTX, Morro Bay, 119.7 M points); its program on an H200 (city,\n"
        "100 M points, measured); mote (city, %s points). First pick / random pick.\n",
        text_count(table->sizes[size]).chars);
    printf("%-18s %17s %17s %17s %17s %17s\n", "", "table 5.2, ms", "M points/s", "H200, M points/s", "mote, ms",
           "mote, M points/s");
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const published_row *row = &published[i];
        const double first = 1e3 * rate_of(table, size, row->ours[0]),
                     random = 1e3 * rate_of(table, size, row->ours[1]);
        printf("%-18s %17s %17s %17s %17s %17s\n", row->name, pair(row->ms[0], row->ms[1], 1).chars,
               pair(row->rate[0], row->rate[1], 0).chars, pair(row->on_h200[0], row->on_h200[1], 0).chars,
               pair(first > 0 ? 1e3 * m / first : 0, random > 0 ? 1e3 * m / random : 0, 2).chars,
               pair(first, random, 0).chars);
    }
}

void resident_print_end(const resident_table *table) {
    printf(
        "\nrgb: records of 16 bytes, x y z int32 and red green blue uint8; all attributes: LAS format 7, 36 bytes.\n"
        "none, poisson: additive; cell, neighbors, gaussian: replacing. All memory is of the context's pool; a run\n"
        "that is not counted warms up. bytes/point: peak of device memory beyond the input, the records made "
        "included.\n"
        "peer, measured on an H200 with a city of as many points: CudaLOD (first, random, average for cell, weighted\n"
        "for gaussian; RGB only), and the program of Klaus 2023 for neighbors and for filters of the first pick.\n");
    if (table->count > 1) print_scaling(table);
    bool any = false;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        any |= was_run(table, published[i].ours[0]) || was_run(table, published[i].ours[1]);
    }
    if (any) print_published(table);
}
