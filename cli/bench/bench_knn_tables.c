/* The tables of mote bench knn, beside figures of others. */
#include <stdio.h>

#include "bench/bench_knn.h"

#define LEFT 22 /* columns of a case's name */

/* All measured on the clouds of mote gen, k = 10 unless said. CPU: one thread of a 2.6 GHz Xeon, microseconds per
   query, in the order of cpu_names; GPU: one H200, milliseconds, in the order of gpu_names. All of them are exact. */
static const char *const cpu_names[KNN_CPU_PEERS] = {"nanofl.", "pico_tr", "FLANN", "PCL", "Open3D", "scipy"};
static const char *const gpu_names[KNN_GPU_PEERS] = {"jz-tree", "cuBQL", "cukd", "LBVH", "brute"};
static const knn_case cases[KNN_CASES] = {
    {.name = "torus",
     .kind = "torus",
     .points = 424000,
     .k = 10,
     .peers = {{2.1, 2.4, 2.2, 3.0, 0, 0}, {0.65, 0.64, 0.8, 1.3, 1.2, 1.4}},
     .gpu_peers = {"0.57 + 1.40", "0.96 + 1.11", "4.2 + 0.33", "0.50 + 12.6", NULL},
     .target_us = 0.35,
     .target_gpu_ms = 0.35},
    {.name = "uniform",
     .kind = "uniform",
     .points = 1000000,
     .k = 10,
     .peers = {{2.3, 2.7, 3.1, 4.7, 3.8, 6.5}, {0.87, 0.89, 1.2, 1.7, 1.6, 2.1}},
     .gpu_peers = {"0.76 + 3.3", "1.00 + 5.1", "8.7 + 1.41", "0.78 + 49.8", "476"},
     .target_us = 0.45,
     .target_us_2 = 0.25,
     .target_build_ms = 60,
     .target_gpu_ms = 0.9},
    {.name = "clusters",
     .kind = "clusters",
     .points = 1000000,
     .k = 10,
     .peers = {{3.1, 3.7, 3.4, 4.8, 0, 0}, {1.0, 0.96, 1.3, 1.7, 1.7, 2.2}},
     .gpu_peers = {"0.86 + 8.5", "2.2 + 5.8", "9.6 + 1.85", "0.77 + 29.6", NULL},
     .target_us = 0.5,
     .target_gpu_ms = 1.8},
    {.name = "uniform 10M",
     .kind = "uniform",
     .points = 10000000,
     .k = 10,
     .gpu_peers = {"4.0 + 22.3", "4.1 + 52", "94.9 + 14.7", "4.6 + 920", NULL},
     .target_gpu_ms = 7},
    {.name = "uniform k = 64",
     .kind = "uniform",
     .points = 1000000,
     .k = 64,
     .gpu_peers = {"0.88 + 9.6", "1.0 + 207", "8.2 + 26.7", NULL, NULL},
     .target_gpu_ms = 5},
    {.name = "9 and 15,000, k = 9", .points = 15009, .k = 9, .exclude_self = true},
    /* The kinds of search for many neighbours; no figures of others. */
    {.name = "tiers k = 32", .kind = "uniform", .points = 1000000, .k = 32, .extra = true},
    {.name = "tiers k = 100", .kind = "uniform", .points = 1000000, .k = 100, .extra = true},
    {.name = "tiers k = 200", .kind = "uniform", .points = 1000000, .k = 200, .extra = true},
    {.name = "tiers k = 1000", .kind = "uniform", .points = 100000, .k = 1000, .extra = true},
    {.name = "tiers brute", .kind = "uniform", .points = 100000, .k = 10, .brute = true, .extra = true},
};

const knn_case *knn_cases(void) { return cases; }

/* 10M, 424k, 15,009 */
static text short_count(uint64_t count) {
    text out = text_count(count);
    if (count == 0 || count % 1000 != 0) return out;
    const bool millions = count % 1000000 == 0;
    snprintf(out.chars, sizeof out.chars, "%llu%c", (unsigned long long)(count / (millions ? 1000000 : 1000)),
             millions ? 'M' : 'k');
    return out;
}

text knn_label(const knn_case *c, uint64_t points) {
    text out = {""};
    char k[20] = "";
    if (c->k != 10) snprintf(k, sizeof k, " k = %u", c->k);
    if (points == c->points) {
        snprintf(out.chars, sizeof out.chars, "%s", c->name);
    } else {
        snprintf(out.chars, sizeof out.chars, "%s %.16s%s%s", c->kind, short_count(points).chars, k,
                 c->brute ? " brute" : "");
    }
    return out;
}

/* A figure of a given width, or a dash where there is none. */
static void print_figure(double value, int width, int decimals) {
    if (value > 0) {
        printf(" %*.*f", width, decimals, value);
    } else {
        printf(" %*s", width, "-");
    }
}

static double us_per_query(const bench_result *r, double ms) {
    return r->points > 0 ? 1e3 * ms / (double)r->points : 0;
}

/* ---- the CPU: microseconds per query */

static void print_cpu_head(int threads, int runs) {
    printf("knn: all points ask for their neighbours, %d thread%s, median and spread of %d runs\n", threads,
           threads == 1 ? "" : "s", runs);
    printf("%-*s %-6s %9s %9s %17s %9s %8s |", LEFT, "case", "order", "build ms", "us/query", "lowest - highest",
           "both ms", "bytes/pt");
    for (int i = 0; i < KNN_CPU_PEERS; i++) printf(" %7s", cpu_names[i]);
    printf(" | %8s\n", "target");
}

static void print_cpu_row(const knn_case *c, int order, const knn_timing *t) {
    const bool is_own = t->search.points == c->points;
    const double search = us_per_query(&t->search, t->search.median), low = us_per_query(&t->search, t->search.low),
                 high = us_per_query(&t->search, t->search.high);
    const double target = t->search.threads == 1 ? c->target_us : t->search.threads == 2 ? c->target_us_2 : 0;
    printf("%-*s %-6s %9.1f %9.3f %7.3f - %-7.3f %9.1f %8.1f |", LEFT, knn_label(c, t->search.points).chars,
           order == 0 ? "file" : "Morton", t->build.median, search, low, high, t->both.median,
           t->both.peak_bytes_per_point);
    for (int i = 0; i < KNN_CPU_PEERS; i++)
        print_figure(is_own && t->search.threads == 1 ? c->peers[order][i] : 0, 7, 2);
    printf(" |");
    print_figure(is_own ? target : 0, 8, 2);
    if (is_own && t->search.threads == 1 && c->target_build_ms > 0) printf(", build %.0f ms", c->target_build_ms);
    putchar('\n');
}

/* ---- a GPU: milliseconds */

static void print_gpu_head(const session *s, int runs) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("knn on %s: points in its memory, all ask for their neighbours; milliseconds,\n"
           "median and spread of %d runs\n",
           device, runs);
    printf("%-*s %8s %8s %8s %17s %9s %8s |", LEFT, "case", "build", "search", "both", "lowest - highest", "fetched",
           "bytes/pt");
    for (int i = 0; i < KNN_GPU_PEERS; i++) printf(" %11s", gpu_names[i]);
    printf(" | %7s\n", "target");
}

static void print_gpu_row(const knn_case *c, const knn_timing *t) {
    const bool is_own = t->search.points == c->points;
    printf("%-*s %8.3f %8.3f %8.3f %7.3f - %-7.3f %9.3f %8.1f |", LEFT, knn_label(c, t->search.points).chars,
           t->build.median, t->search.median, t->both.median, t->both.low, t->both.high, t->fetched.median,
           t->both.peak_bytes_per_point);
    for (int i = 0; i < KNN_GPU_PEERS; i++) {
        const bool is_known = is_own && c->gpu_peers[i] != NULL;
        printf(" %11s", is_known ? c->gpu_peers[i] : "-");
    }
    printf(" |");
    print_figure(is_own ? c->target_gpu_ms : 0, 7, 2);
    putchar('\n');
}

void knn_print_head(const session *s, int threads, int runs) {
    if (bench_on_gpu(s)) {
        print_gpu_head(s, runs);
    } else {
        print_cpu_head(threads, runs);
    }
}

void knn_print_row(const session *s, const knn_case *c, int order, const knn_timing *timing) {
    if (bench_on_gpu(s)) {
        print_gpu_row(c, timing);
    } else {
        print_cpu_row(c, order, timing);
    }
    fflush(stdout);
}

void knn_print_end(const session *s) {
    if (bench_on_gpu(s)) {
        printf(
            "\nbuild, search: points and answer stay on the GPU; fetched: search, and 8 bytes per neighbour in arrays "
            "of the "
            "host.\n"
            "bytes/pt: peak of device memory beyond the points. Others, measured on an H200, build + search, exact:\n"
            "jz-tree, cuBQL, cukd (spatial, cct), the LBVH of cupy-knn, brute force.\n"
            "published, k = 10: grid of Leite et al. 2011 (GTX 480), bunny of 35,947 points 1.15 + 3.28 ms "
            "approximate,\n"
            "6.01 exact; dragon of 423,565 points 6.36 + 21.2 / 63.4. Shifted sorting, Bergholm & Kronvall 2016\n"
            "(GTX 970), 2 M x 2 M points, k = 64: 2016 queries/ms.\n");
        return;
    }
    printf("\nbytes/pt: peak of the library's memory beyond points and answer. Others, measured on one thread of a 2.6 "
           "GHz\n"
           "Xeon, us/query; their build of 1 M points in file / Morton order, ms: nanoflann 208 / 98, pico_tree 153 / "
           "45,\n"
           "FLANN 346 / 93, PCL 363 / 112, Open3D 552 / 297, scipy cKDTree 430 / 264.\n");
}

/* ---- by size */

void knn_print_scaling_head(const session *s, int threads, int runs) {
    char device[200];
    bench_device_name(s, device, sizeof device);
    printf("knn by size: uniform, k = 10, %s, %d CPU threads used, median of up to %d runs\n", device, threads, runs);
    printf("%14s %12s %12s %12s %12s %12s %10s\n", "points", "build ms", "search ms", "both ms", "ns/point",
           "M points/s", "bytes/pt");
}

void knn_print_scaling_row(const knn_timing *t) {
    const double n = (double)t->both.points;
    printf("%14s %12.3f %12.3f %12.3f %12.2f %12.2f %10.1f\n", text_count(t->both.points).chars, t->build.median,
           t->search.median, t->both.median, 1e6 * t->both.median / n, n / t->both.median / 1e3,
           t->both.peak_bytes_per_point);
    fflush(stdout);
}
