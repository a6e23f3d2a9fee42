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
