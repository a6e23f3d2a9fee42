/* The history of benchmarks: one line of JSON per case, with commit, date and machine. */
#define _GNU_SOURCE /* popen, gmtime_r, mkdir */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "files/json.h"

static int compare_values(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_summarize(const bench_runs *runs, bench_result *result) {
    double sorted[BENCH_RUNS_MAX];
    memcpy(sorted, runs->values, sizeof sorted);
    qsort(sorted, (size_t)runs->count, sizeof *sorted, compare_values);
    const int middle = runs->count / 2;
    result->median = runs->count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    result->low = sorted[0];
    result->high = sorted[runs->count - 1];
}

static void first_line(const char *shell, char *line, size_t size) {
    snprintf(line, size, "unknown");
    FILE *pipe = popen(shell, "r");
    if (pipe == NULL) return;
    char got[160];
    if (fgets(got, sizeof got, pipe) != NULL && got[0] != '\n') {
        snprintf(line, size, "%.*s", (int)strcspn(got, "\n"), got);
    }
    pclose(pipe);
}

/* "AMD EPYC, 2 cores" */
static void machine_name(char *name, size_t size) {
    char line[200], model[120] = "unknown CPU";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file != NULL) fclose(file);
    snprintf(name, size, "%s, %ld cores", model, sysconf(_SC_NPROCESSORS_ONLN));
}

/* Makes the folder that the path lies in, one level. */
static void make_parent(const char *path) {
    char parent[1024];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) return;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    mkdir(parent, 0777);
}

/* The commit of the tree in which this program was built, else of that in which it is called. */
static const char describe[] = "{ git -C \"$(dirname \"$(readlink /proc/$PPID/exe)\")\" describe --always --dirty ||"
                               " git describe --always --dirty; } 2>/dev/null";

int bench_record(session *s, const bench_options *o, const bench_result *result) {
    if (!o->record) return EXIT_DONE;
    make_parent(o->history);
    FILE *file = fopen(o->history, "a");
    if (file == NULL) return session_error(s, EXIT_FAILED, "%s: cannot append", o->history);
    char commit[64], cpu[200], machine[400], date[32];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    first_line(describe, commit, sizeof commit);
    machine_name(cpu, sizeof cpu);
    snprintf(machine, sizeof machine, "%s%s%s", result->device != NULL ? result->device : "",
             result->device != NULL ? "; " : "", cpu);
    json_writer json;
    emit_start(&json, file, true);
    emit_open(&json, NULL, '{');
    emit_text(&json, "commit", commit);
    emit_text(&json, "version", mote_version());
    emit_text(&json, "date", date);
    emit_text(&json, "machine", machine);
    emit_text(&json, "backend", result->device != NULL ? "cuda" : "cpu");
    if (result->device != NULL) emit_text(&json, "device", result->device);
    emit_text(&json, "bench", result->bench);
    emit_text(&json, "case", result->name);
    emit_count(&json, "points", result->points);
    emit_count(&json, "threads", (uint64_t)result->threads);
    emit_text(&json, "unit", result->unit);
    emit_real(&json, "median", result->median);
    emit_real(&json, "low", result->low);
    emit_real(&json, "high", result->high);
    if (result->peak_bytes_per_point > 0) emit_real(&json, "peak_bytes_per_point", result->peak_bytes_per_point);
    emit_close(&json, '}');
    emit_end(&json);
    if (fclose(file) != 0) return session_error(s, EXIT_RESOURCES, "%s: cannot write", o->history);
    return EXIT_DONE;
}
