/* mote bench: measures, beside published figures. */
#define _GNU_SOURCE /* access */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote bench NAME [FILE…] [options]",
    "Measures this build on this machine and prints the published figures beside it.",
    "  mote bench order                        the Morton order: codes and sort\n"
    "  mote bench lod                          file to finished folder, 10 M points of a city\n"
    "  mote bench lod --input scan.las --case poisson --runs 9\n"
    "  mote bench lod --device cuda            points and octree in the GPU's memory, 10 M and 100 M points\n"
    "  mote bench lod --device cuda --sizes 1M,10M,100M,1000M --case \"rgb random\"\n"
    "  mote bench lod --device cuda --case shapes -n 4M   rooms, strays, clusters, ties\n"
    "  mote bench lod --device cuda --files    file to finished folder with a GPU, 100 M points\n"
    "  mote bench laz                          LAZ decoded and encoded, 5 M points of a city\n"
    "  mote bench laz a.laz b.laz --case positions\n"
    "  mote bench laz --device cuda -n 100M    also decoded into the GPU's memory\n"
    "  mote bench knn                          nearest neighbours, file and Morton order, on the CPU\n"
    "  mote bench knn --device cuda            on the GPU, points in its memory\n"
    "  mote bench knn --scaling --sizes 10k,1M,100M\n"
    "  mote bench knn --case tiers             k = 32, 100, 200, 1000, and brute force\n"
    "  mote bench knn --case shapes            rooms, strays, clusters, ties, by k\n"
    "  mote bench knn --case \"shapes room\"     only those\n"
    "  mote bench shifted                      approximate neighbours, spheres and ellipsoids, 100 k points\n"
    "  mote bench shifted --device cuda --case clouds   2 M points and 2 M queries, as published\n"
    "  mote bench normals                      an index and normals from 16 neighbours, 1 M and 10 M points\n"
    "  mote bench dynamic                      neighbours of points that move each frame\n"
    "  mote bench planes                       Hough transform, and planes of a room\n"
    "  mote bench render                       pictures: points, averages, surfaces; 10 M points of a city\n"
    "  mote bench live                         pictures for a browser, 1 M points, on the loopback\n"
    "  mote bench read                         E57; --where and --to-crs beside reading alone, 2 M points of a city\n"
    "  mote bench photon --device cuda         photons emitted, gathered, and pictures of them\n",
    "Each run of lod from file to folder is a fresh process; with --device auto these tables are of the CPU. Nothing "
    "else\nshould run on the machine meanwhile.\n"
    "1000M points on the GPU take 52 GB of the host's memory while they are made; what does not fit is left out.\n",
    .no_output = "its table goes to standard output; --record appends the figures to --history FILE",
};

/* One row per benchmark. */
typedef struct bench {
    const char *name;
    int (*run)(session *s, const bench_options *o);
    uint64_t count;
    int runs;
} bench;
static const bench benches[] = {
    {"order", bench_order, 10000000, 7},    {"lod", bench_lod, 10000000, 5},
    {"laz", bench_laz, 5000000, 5},         {"knn", bench_knn, 1000000, 5},
    {"shifted", bench_shifted, 100000, 5},  {"normals", bench_normals, 1000000, 5},
    {"dynamic", bench_dynamic, 424000, 60}, {"planes", bench_planes, 1000000, 3},
    {"render", bench_render, 10000000, 15}, {"live", bench_live, 1000000, 5},
    {"photon", bench_photon, 1000000, 5},   {"read", bench_read, 2000000, 5},
};
#define NAMES       "order, lod, laz, knn, normals, shifted, dynamic, planes, render, live, photon or read"
#define BENCH_COUNT (sizeof benches / sizeof benches[0])

#define FILES_COUNT 100000000u /* lod --files with a GPU */
#define DEVICES_MAX 64

bool bench_on_gpu(const session *s) { return strncmp(s->options.device, "cuda", 4) == 0; }

/* The N of "cuda:N". */
static int gpu_index(const session *s) {
    const char *colon = strchr(s->options.device, ':');
    uint64_t index = 0;
    if (colon != NULL) parse_count(colon + 1, 0, &index);
    return (int)index;
}

/* The device that is computed on; false if it is not listed. */
static bool find_device(const session *s, mote_device_info *found) {
    mote_device_info devices[DEVICES_MAX];
    const mote_device_kind kind = bench_on_gpu(s) ? MOTE_DEVICE_CUDA : MOTE_DEVICE_CPU;
    const int index = bench_on_gpu(s) ? gpu_index(s) : 0;
    const uint32_t count = mote_devices(devices, DEVICES_MAX);
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        if (devices[i].kind != kind || devices[i].index != index) continue;
        *found = devices[i];
        return true;
    }
    return false;
}

void bench_device_name(const session *s, char *name, size_t size) {
    mote_device_info device;
    snprintf(name, size, "%s", find_device(s, &device) ? device.name : "unknown device");
}

uint64_t bench_device_bytes(const session *s) {
    mote_device_info device;
    return find_device(s, &device) ? device.memory_bytes : 0;
}

mote_context_params bench_context_params(const session *s, int threads) {
    mote_context_params params = mote_context_defaults();
    params.device = bench_on_gpu(s) ? MOTE_DEVICE_CUDA : MOTE_DEVICE_CPU;
    params.device_index = bench_on_gpu(s) ? gpu_index(s) : 0;
    params.threads = threads;
    return params;
}

mote_status bench_context(const session *s, int threads, mote_context **ctx) {
    const mote_context_params params = bench_context_params(s, threads);
    return mote_context_create(&params, ctx);
}

int bench_parse_sizes(const char *list, uint64_t sizes[BENCH_SIZES_MAX]) {
    char word[32];
    int count = 0;
    for (const char *at = list; *at != '\0'; at += at[0] == ',') {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof word || count == BENCH_SIZES_MAX) return 0;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (!parse_count(word, 1000, &sizes[count]) || sizes[count] < 1 || sizes[count] >= UINT32_MAX) return 0;
        at += length;
        count++;
    }
    return count;
}

int bench_sizes_error(const char *list) {
    return usage_error("bench", "--sizes: \"%s\" is no list like 1M,10M of up to %d sizes", list, BENCH_SIZES_MAX);
}

int bench_no_case(const bench_options *o, const char *const *names) {
    const char *near = text_nearest(o->only, names);
    return usage_error("bench", "there is no case \"%s\"; did you mean \"%s\"?", o->only,
                       near != NULL ? near : names[0]);
}

static const bench *find_bench(const char *name) {
    for (size_t i = 0; i < BENCH_COUNT; i++) {
        if (strcmp(benches[i].name, name) == 0) return &benches[i];
    }
    return NULL;
}

/* Options that would have no effect are mistakes. */
static int check_gpu_usage(const session *s, const bench_options *o, const bench *found) {
    const bool resident = found->run == bench_lod && bench_on_gpu(s) && !o->from_files;
    if (o->from_files && found->run != bench_lod) return usage_error("bench", "--files and --input are for lod");
    if (o->scaling && found->run != bench_knn) return usage_error("bench", "--scaling is for knn");
    if (o->sizes != NULL && !resident && !o->scaling) {
        return usage_error("bench", "--sizes is for lod --device cuda, without --files, and for knn --scaling");
    }
    if (o->history_given && !o->record) return usage_error("bench", "--history is for --record");
    if (o->scratch_given && found->run != bench_lod && found->run != bench_laz && found->run != bench_live &&
        found->run != bench_render && found->run != bench_read) {
        return usage_error("bench", "--scratch is for lod, laz, live, read and render: %s writes no files",
                           found->name);
    }
    if (o->only != NULL && found->run == bench_dynamic) return usage_error("bench", "dynamic has one case: no --case");
    if (o->count_given && found->run == bench_planes) return usage_error("bench", "planes has sizes of its own: no -n");
    if (o->stages && !resident) return usage_error("bench", "--stages is for lod --device cuda, without --files");
    if (o->sizes != NULL && o->count_given) return usage_error("bench", "--sizes and -n exclude each other");
    if (o->scaling && o->count_given) return usage_error("bench", "--scaling has many sizes: --sizes N,N,…, not -n");
    return EXIT_DONE;
}

int cmd_bench(int argc, char **argv) {
    const char *scratch = getenv("TMPDIR");
    bench_options o = {.scratch = scratch != NULL ? scratch : "/tmp", .history = "bench/results/history.jsonl"};
    bool runs_given = false;
    const option rows[] = {
        {"count", 'n', OPTION_COUNT, &o.count, &o.count_given, "N",
         "points; default 10M, laz 5M, read 2M, live and photon 1M,\nlod --files on a GPU 100M, knn, normals: of each "
         "cloud, "
         "shifted 100k (GPU 2M), dynamic 424k"},
        {"sizes", 0, OPTION_TEXT, &o.sizes, NULL, "N,N,…",
         "lod on a GPU: one table each; default 10M,100M.\nknn --scaling: a line each; default 10k,100k,1M,10M,100M"},
        {"runs", 0, OPTION_INT, &o.runs, &runs_given, "N",
         "of each case; default 7 (order), 3 (planes), 15 (render),\n5 (others);\n"
         "dynamic: frames, default 60; live: seconds, default 5"},
        {"case", 0, OPTION_TEXT, &o.only, NULL, "NAME",
         "only this one; laz: decode, positions, encode, or\n\"to device\" on a GPU; "
         "knn, normals, render, live, photon, read:\nthose whose name begins so;\n"
         "shifted: clouds, queries, points, k, lambda, compression"},
        {"stages", 0, OPTION_FLAG, &o.stages, NULL, NULL,
         "lod on a GPU: also milliseconds per stage and bytes per\nstructure, of the last run"},
        {"files", 0, OPTION_FLAG, &o.from_files, NULL, NULL,
         "lod on a GPU: from file to finished folder, as on the CPU"},
        {"input", 0, OPTION_TEXT, &o.input, NULL, "FILE", "lod: instead of a city; from file to folder"},
        {"scratch", 0, OPTION_TEXT, &o.scratch, &o.scratch_given, "DIR",
         "for inputs and outputs; default $TMPDIR or /tmp,\nlaz: /dev/shm"},
        {"scaling", 0, OPTION_FLAG, &o.scaling, NULL, NULL, "knn: by number of points"},
        {"record", 0, OPTION_FLAG, &o.record, NULL, NULL, "append a line per case to the history"},
        {"history", 0, OPTION_TEXT, &o.history, &o.history_given, "FILE", "default bench/results/history.jsonl"},
        {0},
    };
    arguments words;
    const parse_result parsed = options_parse(&help, rows, COMMON_RUN | COMMON_CRS, &o.common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (words.count < 1) return usage_error("bench", "bench needs a name: " NAMES);
    const bench *found = find_bench(words.words[0]);
    if (found == NULL) return usage_error("bench", "there is no benchmark \"%s\": " NAMES, words.words[0]);
    if (words.count > 1 && found->run != bench_laz) return usage_error("bench", "only laz takes files");
    if ((o.common.crs != NULL || o.common.to_crs != NULL) && o.input == NULL && words.count < 2) {
        return usage_error("bench", "--crs and --to-crs are of files: lod --input FILE, or laz FILE");
    }
    o.files = words.words + 1;
    o.file_count = words.count - 1;
    if (!o.scratch_given && found->run == bench_laz && access("/dev/shm", W_OK) == 0) o.scratch = "/dev/shm";
    if (!o.count_given) o.count = found->count;
    if (!runs_given) o.runs = found->runs;
    if (o.count < 1 || o.count >= UINT32_MAX) return usage_error("bench", "-n is not in 1..%u", UINT32_MAX - 1);
    if (o.runs < 1 || o.runs > BENCH_RUNS_MAX) return usage_error("bench", "--runs is not in 1..%d", BENCH_RUNS_MAX);
    session s;
    o.common.no_stages = !o.stages;
    int code = session_open(&s, "bench", &o.common);
    o.from_files |= o.input != NULL;
    if (code == EXIT_DONE) code = check_gpu_usage(&s, &o, found);
    if (code == EXIT_DONE && o.from_files && bench_on_gpu(&s) && !o.count_given) o.count = FILES_COUNT;
    if (code == EXIT_DONE) code = found->run(&s, &o);
    return session_close(&s, code);
}
