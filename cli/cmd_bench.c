/* mote bench: measures, beside published figures. */
#define _GNU_SOURCE /* access */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "text.h"

static const command_help help = {
    "mote bench NAME [FILE…] [options]",
    "Measures this build on this machine and prints the published figures beside it.",
    "  mote bench order                        the Morton order: codes and sort\n"
    "  mote bench lod                          file to finished folder, 10 M points of a city\n"
    "  mote bench lod --input scan.las --case poisson --runs 9\n"
    "  mote bench laz                          LAZ decoded and encoded, 5 M points of a city\n"
    "  mote bench laz a.laz b.laz --case positions\n",
    "Each run of lod is a fresh process. Nothing else should run on the machine meanwhile.\n",
};

/* One row per benchmark. */
typedef struct bench {
    const char *name;
    int (*run)(session *s, const bench_options *o);
    uint64_t count;
    int runs;
} bench;
static const bench benches[] = {
    {"order", bench_order, 10000000, 7},
    {"lod", bench_lod, 10000000, 5},
    {"laz", bench_laz, 5000000, 5},
};
#define BENCH_COUNT (sizeof benches / sizeof benches[0])

mote_status bench_context(const session *s, int threads, mote_context **ctx) {
    mote_context_params params = mote_context_defaults();
    params.device = strcmp(mote_context_backend(s->ctx), "cuda") == 0 ? MOTE_DEVICE_CUDA : MOTE_DEVICE_CPU;
    params.threads = threads;
    return mote_context_create(&params, ctx);
}

static const bench *find_bench(const char *name) {
    for (size_t i = 0; i < BENCH_COUNT; i++) {
        if (strcmp(benches[i].name, name) == 0) return &benches[i];
    }
    return NULL;
}

int cmd_bench(int argc, char **argv) {
    const char *scratch = getenv("TMPDIR");
    bench_options o = {.scratch = scratch != NULL ? scratch : "/tmp", .history = "bench/results/history.jsonl"};
    bool count_given = false, runs_given = false, scratch_given = false;
    const option rows[] = {
        {"count", 'n', OPTION_COUNT, &o.count, &count_given, "N", "points; default 10M, laz 5M"},
        {"runs", 0, OPTION_INT, &o.runs, &runs_given, "N", "of each case; default 7 (order), 5 (others)"},
        {"case", 0, OPTION_TEXT, &o.only, NULL, "NAME", "only this one; laz: decode, positions or encode"},
        {"input", 0, OPTION_TEXT, &o.input, NULL, "FILE", "lod: instead of a city"},
        {"scratch", 0, OPTION_TEXT, &o.scratch, &scratch_given, "DIR",
         "for inputs and outputs; default $TMPDIR or /tmp,\nlaz: /dev/shm"},
        {"record", 0, OPTION_FLAG, &o.record, NULL, NULL, "append a line per case to the history"},
        {"history", 0, OPTION_TEXT, &o.history, NULL, "FILE", "default bench/results/history.jsonl"},
        {0},
    };
    arguments words;
    const parse_result parsed = options_parse(&help, rows, COMMON_RUN, &o.common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (words.count < 1) return usage_error("bench", "bench needs a name: order, lod or laz");
    const bench *found = find_bench(words.words[0]);
    if (found == NULL) return usage_error("bench", "there is no benchmark \"%s\": order, lod or laz", words.words[0]);
    if (words.count > 1 && found->run != bench_laz) return usage_error("bench", "only laz takes files");
    o.files = words.words + 1;
    o.file_count = words.count - 1;
    if (!scratch_given && found->run == bench_laz && access("/dev/shm", W_OK) == 0) o.scratch = "/dev/shm";
    if (!count_given) o.count = found->count;
    if (!runs_given) o.runs = found->runs;
    if (o.count < 1 || o.count >= UINT32_MAX) return usage_error("bench", "-n is not in 1..%u", UINT32_MAX - 1);
    if (o.runs < 1 || o.runs > BENCH_RUNS_MOST) return usage_error("bench", "--runs is not in 1..%d", BENCH_RUNS_MOST);
    session s;
    int code = session_open(&s, "bench", &o.common);
    if (code == EXIT_DONE) code = found->run(&s, &o);
    return session_close(&s, code);
}
