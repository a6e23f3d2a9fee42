/* mote bench render: from a file to a PNG, each run in a fresh process of this binary. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_child.h"
#include "bench/bench_render.h"
#include "print.h"
#include "render/picture_file.h"
#include "text.h"

#define ENDINGS 2

const char *const bench_render_files[ENDINGS + 1] = {"file las", "file laz", NULL};
static const char *const endings[ENDINGS] = {".las", ".laz"};

/* A file, and the picture that a run makes of it. */
typedef struct file_place {
    char input[4200], picture[4200];
    uint64_t points;
} file_place;

/* What runs took of the cores and of memory, at most. */
typedef struct file_cost {
    double cpu_s, resident_bytes;
} file_cost;

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

static int run_once(session *s, const file_place *at, double *ms, file_cost *max) {
    static char output[1 << 16];
    char threads[16];
    struct rusage usage = {0};
    const char *words[] = {"mote",
                           "render",
                           at->input,
                           "-o",
                           at->picture,
                           "--size",
                           "1920x1080",
                           "--force",
                           "--quiet",
                           "--threads",
                           threads,
                           "--device",
                           bench_child_device(s, at->points),
                           NULL};
    snprintf(threads, sizeof threads, "%d", mote_context_threads(s->ctx));
    const double begin = seconds_now();
    const int code = bench_run_child(words, output, sizeof output, &usage);
    *ms = 1e3 * (seconds_now() - begin);
    const double cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    const double resident_bytes = (double)usage.ru_maxrss * 1024;
    if (cpu_s > max->cpu_s) max->cpu_s = cpu_s;
    if (resident_bytes > max->resident_bytes) max->resident_bytes = resident_bytes;
    return code == EXIT_DONE ? code : session_error(s, code, "mote render of %s failed", at->input);
}

static int run_case(session *s, const bench_options *o, const char *name, const file_place *at) {
    bench_runs runs = {.count = 0};
    file_cost max = {0, 0};
    char device[200], spread[40];
    int code = EXIT_DONE;
    bench_warm_up(at->input);
    for (int i = 0; i < o->runs && code == EXIT_DONE; i++) {
        code = run_once(s, at, &runs.values[i], &max);
        runs.count = i + 1;
    }
    if (code != EXIT_DONE) return code;
    bench_device_name(s, device, sizeof device);
    bench_result line = {.bench = "render",
                         .name = name,
                         .unit = "ms",
                         .points = at->points,
                         .threads = mote_context_threads(s->ctx),
                         .device = bench_on_gpu(s) ? device : NULL};
    bench_summarize(&runs, &line);
    snprintf(spread, sizeof spread, "%.0f-%.0f", line.low, line.high);
    printf("%-18s %10llu %9.0f %17s %12.2f %9.2f %11.1f\n", name, (unsigned long long)at->points, line.median, spread,
           1e-3 * (double)at->points / line.median, max.cpu_s, max.resident_bytes / (double)at->points);
    fflush(stdout);
    return bench_record(s, o, &line);
}

/* Whether --case asks for a file. */
static bool is_wanted(const bench_options *o, int i) {
    return o->only == NULL || strncmp(bench_render_files[i], o->only, strlen(o->only)) == 0;
}

static int run_files(session *s, const bench_options *o, const mote_cloud *cloud, const char *folder) {
    file_place at = {.points = mote_cloud_count(cloud)};
    int code = EXIT_DONE;
    snprintf(at.picture, sizeof at.picture, "%s/city.png", folder);
    for (int i = 0; i < ENDINGS && code == EXIT_DONE; i++) {
        if (!is_wanted(o, i)) continue;
        snprintf(at.input, sizeof at.input, "%s/city%s", folder, endings[i]);
        const mote_status status = mote_cloud_write(s->ctx, cloud, at.input, NULL);
        progress_clear(&s->bar);
        code = status == MOTE_OK ? run_case(s, o, bench_render_files[i], &at) : session_fail(s, status, false);
        unlink(at.input);
        unlink(at.picture);
    }
    return code;
}

int bench_render_run_files(session *s, const bench_options *o) {
    char folder[4096];
    mote_cloud *cloud = NULL;
    if (!is_wanted(o, 0) && !is_wanted(o, 1)) return EXIT_DONE;
    if (picture_format_missing(PICTURE_PNG) != NULL) {
        print_out("files: not run: %s\n", picture_format_missing(PICTURE_PNG));
        return EXIT_DONE;
    }
    snprintf(folder, sizeof folder, "%s/mote-bench-XXXXXX", o->scratch);
    if (mkdtemp(folder) == NULL) return session_error(s, EXIT_FAILED, "%s: cannot make a folder there", o->scratch);
    printf("from a file to a PNG of 1920 x 1080, whole process, median and spread of %d runs\n", o->runs);
    printf("%-18s %10s %9s %17s %12s %9s %11s\n", "case", "points", "ms", "spread", "M points/s", "CPU s", "RSS/point");
    fflush(stdout);
    s->bar.points = o->count;
    const mote_status status = mote_generate(s->ctx, "city", o->count, NULL, &cloud);
    progress_clear(&s->bar);
    const int code = status == MOTE_OK ? run_files(s, o, cloud, folder) : session_fail(s, status, false);
    mote_cloud_destroy(cloud);
    rmdir(folder);
    return code;
}
