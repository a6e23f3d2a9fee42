/* What the benchmarks share: repeated runs, a table beside published figures, a history. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "session.h"

#define BENCH_RUNS_MAX  99
#define BENCH_SIZES_MAX 8

typedef struct bench_options {
    common_options common;
    uint64_t count; /* points */
    bool count_given;
    const char *sizes;  /* lod on a GPU, knn by size: numbers of points, separated by commas; NULL: the default */
    int runs;           /* of each case */
    const char *input;  /* NULL: generated */
    const char **files; /* [file_count] inputs; none: generated */
    int file_count;
    const char *scratch; /* folder for inputs and outputs */
    const char *only;    /* NULL, or the one case to run */
    bool from_files;     /* lod: from file to folder, also on a GPU */
    bool stages;         /* lod on a GPU: also seconds per stage, bytes per structure */
    bool scaling;        /* knn: by size */
    bool record;         /* append to the history */
    const char *history;
    bool history_given, scratch_given;
} bench_options;

/* Runs of one case, in the case's unit: a rate (more is better), or milliseconds. */
typedef struct bench_runs {
    double values[BENCH_RUNS_MAX];
    int count;
} bench_runs;

/* A benchmark's result of one case. */
typedef struct bench_result {
    const char *bench, *name, *unit;
    const char *device; /* the GPU's name; NULL: on the CPU */
    double median, low, high;
    double peak_bytes_per_point; /* 0 if not measured */
    uint64_t points;
    int threads;
} bench_result;

void bench_summarize(const bench_runs *runs, bench_result *result);
/* Appends one line of JSON to the history. Returns an exit code. */
int bench_record(session *s, const bench_options *o, const bench_result *result);

/* Whether a GPU was asked for by name: --device cuda, cuda:N. What auto stands for is the CPU: its tables stay. */
bool bench_on_gpu(const session *s);
/* The name of that GPU, else of the CPU. */
void bench_device_name(const session *s, char *name, size_t size);
/* Returns the memory of the device; 0 if that is not known. */
uint64_t bench_device_bytes(const session *s);

/* A context like the session's with its own number of threads. */
mote_context_params bench_context_params(const session *s, int threads);
mote_status bench_context(const session *s, int threads, mote_context **ctx);

/* "1M,10M" as numbers of points. Returns how many; 0 if it is no such list. */
int bench_parse_sizes(const char *list, uint64_t sizes[BENCH_SIZES_MAX]);
/* Says so. */
int bench_sizes_error(const char *list);
/* Says that --case names none of these cases, which end with NULL. Returns an exit code. */
int bench_no_case(const bench_options *o, const char *const *names);

int bench_order(session *s, const bench_options *o);
int bench_lod(session *s, const bench_options *o);
int bench_lod_cuda(session *s, const bench_options *o);
int bench_laz(session *s, const bench_options *o);
int bench_knn(session *s, const bench_options *o);
int bench_shifted(session *s, const bench_options *given);
int bench_normals(session *s, const bench_options *o);
int bench_dynamic(session *s, const bench_options *o);
int bench_planes(session *s, const bench_options *o);
int bench_render(session *s, const bench_options *o);
int bench_live(session *s, const bench_options *o);
int bench_photon(session *s, const bench_options *o);
int bench_read(session *s, const bench_options *o);

#endif
