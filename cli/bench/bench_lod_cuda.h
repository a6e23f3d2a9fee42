/* Levels of detail of points that are in the memory of a GPU: what is measured, and how it is printed. */
#ifndef CLI_BENCH_LOD_CUDA_H
#define CLI_BENCH_LOD_CUDA_H

#include "bench/bench.h"

#define RESIDENT_CASES 10

typedef struct resident_case {
    const char *name;
    bool all_attributes; /* of LAS format 7, 36 bytes; else positions and RGB, 16 bytes */
    mote_lod_scheme scheme;
    mote_lod_sampling sampling;
    mote_lod_filter filter;
    double peer[2], target[2];       /* G points/s at 10 M and 100 M points; 0: none */
    double target_bytes, peer_bytes; /* of device memory per point, beyond the input; 0: none */
} resident_case;
/* [RESIDENT_CASES] */
const resident_case *resident_cases(void);

/* What the context's record of stages and structures said. */
#define USAGE_LINES 256
typedef struct usage_lines {
    mote_usage lines[USAGE_LINES];
    uint32_t count;
} usage_lines;

/* Runs of one case: the first warms up and does not count. before: what was used up to the last run; may be NULL */
mote_status resident_measure(session *s, const bench_options *o, const resident_case *c, const mote_cloud *points,
                             bench_result *result, usage_lines *before);
/* A case that does not fit, or that the GPU cannot do, is no reason to leave out the others. Returns an exit code. */
int resident_case_failed(session *s, const char *name, mote_status status);

/* A table of its own: bench_shapes.h. */
int bench_lod_shapes(session *s, const bench_options *o);

/* Rates of each size and case; 0 where it was not run. */
typedef struct resident_table {
    uint64_t sizes[BENCH_SIZES_MAX];
    int count;
    const bench_result *results; /* [count][RESIDENT_CASES] */
} resident_table;

void resident_print_head(const char *device, uint64_t points, int runs);
void resident_print_row(const resident_case *c, const bench_result *result);
/* The cases by size, and what was published. */
void resident_print_end(const resident_table *table);

#endif
