/* Nearest neighbours: what mote bench knn measures, and how it is printed. */
#ifndef CLI_BENCH_KNN_H
#define CLI_BENCH_KNN_H

#include "bench/bench.h"
#include "text.h"

#define KNN_CASES     11
#define KNN_CPU_PEERS 6
#define KNN_GPU_PEERS 5

typedef struct knn_case {
    const char *name;
    const char *kind; /* of mote gen; NULL: two clusters, of 15,000 points and of 9 */
    uint64_t points;
    uint32_t k;
    bool exclude_self;
    bool brute;                            /* every pair is looked at */
    bool extra;                            /* only if asked for */
    double peers[2][KNN_CPU_PEERS];        /* microseconds per query on one thread, file and Morton order; 0: none */
    const char *gpu_peers[KNN_GPU_PEERS];  /* milliseconds, "build + search"; NULL: none */
    double target_us, target_us_2;         /* per query, 1 and 2 threads; 0: none */
    double target_build_ms, target_gpu_ms; /* the latter of both; 0: none */
} knn_case;
/* [KNN_CASES] */
const knn_case *knn_cases(void);
/* Returns the name of a case in a table: another where it is measured with this many points instead of its own. */
text knn_label(const knn_case *c, uint64_t points);

/* Milliseconds of one case. */
typedef struct knn_timing {
    bench_result build, search, both;
    bench_result fetched; /* GPU: search and its answer in the host's memory */
} knn_timing;

/* Measures a cloud of the host, which goes to the GPU first where that is to compute.
   patience_s  there are fewer runs after this many seconds
   is_right    out: some answers are those of brute force */
mote_status knn_measure_cloud(session *s, const bench_options *o, const knn_case *c, const mote_cloud *cloud,
                              int threads, double patience_s, knn_timing *timing, bool *is_right);
/* A case that does not fit is no reason to leave out the others. These return exit codes. */
int knn_case_failed(session *s, const char *name, mote_status status);
int knn_wrong_answer(session *s, const char *name);
/* Lines of the history: build, search, both; of a GPU also fetched. */
int knn_record(session *s, const bench_options *o, const knn_case *c, const char *order, const knn_timing *timing);

/* Measures the cases of a table of its own: bench_shapes.h. */
int bench_knn_shapes(session *s, const bench_options *o, int threads);

void knn_print_head(const session *s, int threads, int runs);
/* order: 0 as in the file, 1 Morton. The figures of others are for the case's own number of points. */
void knn_print_row(const session *s, const knn_case *c, int order, const knn_timing *timing);
/* What the figures of others are. */
void knn_print_end(const session *s);

void knn_print_scaling_head(const session *s, int threads, int runs);
void knn_print_scaling_row(const knn_timing *timing);

#endif
