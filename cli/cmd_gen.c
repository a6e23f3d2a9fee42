/* mote gen: synthetic clouds by formula and seed. */
#include <stdio.h>
#include <string.h>

#include "paths.h"
#include "report.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote gen KIND -o OUT -n N [options]",
    "Makes a synthetic cloud. The same kind, count and seed give the same points on every machine.",
    "  mote gen city -o city.las -n 10M              a lidar scan of a made-up town\n"
    "  mote gen room -o room.ply -n 100k --noise 0.01   walls, floor and table with noise and outliers\n"
    "  mote gen torus -o torus.xyz -n 424000 --seed 7\n",
    "Kinds:\n"
    "  city      terrain, buildings, trees, power lines; about 10 points per m², UTM metres at 1 mm, "
    "RGB, intensity, classification, returns, GPS time, in flight-line order\n"
    "  room      8 planes with noise along the normal and outliers; the column plane says which (-1: none)\n"
    "  box       a photon map: points with normals on the walls of a box and two spheres, dense near the light\n"
    "  uniform   in the unit cube\n"
    "  clusters  dense clumps of very different density\n"
    "  torus     a surface\n"
    "  lattice   a regular grid\n"
    "\nThe ending of OUT names the format: .las .laz .ply .pcd .e57 .xyz .csv\n",
};

#define KINDS "city, room, box, uniform, clusters, torus or lattice"

static const char *const kinds[] = {"city", "room", "box", "uniform", "clusters", "torus", "lattice", NULL};

typedef struct gen_options {
    uint64_t count;
    double noise_m, outlier_ratio;
    bool count_given, noise_given, outliers_given;
} gen_options;

static bool known_kind(const char *kind) {
    for (size_t i = 0; kinds[i] != NULL; i++) {
        if (strcmp(kind, kinds[i]) == 0) return true;
    }
    return false;
}

static int unknown_kind(const arguments *words) {
    const char *kind = words->words[0], *near = text_nearest(kind, kinds);
    if (words->count > 1 && known_kind(words->words[1])) {
        return usage_error("gen", "the kind comes first: mote gen %s %s", words->words[1], kind);
    }
    if (near != NULL) return usage_error("gen", "there is no kind \"%s\"; did you mean \"%s\"?", kind, near);
    return usage_error("gen", "there is no kind \"%s\": " KINDS, kind);
}

/* The kind and the output: where the output has an option, only one word. */
static int take_words(const common_options *common, const arguments *words, io_paths *paths) {
    const int wanted = common->output != NULL ? 1 : 2;
    if (words->count == 0) return usage_error("gen", "gen needs a kind and an output: mote gen city city.las -n 10M");
    if (!known_kind(words->words[0])) return unknown_kind(words);
    if (words->count > wanted) {
        return usage_error("gen", "gen needs a kind and one output; \"%s\" is too many", words->words[wanted]);
    }
    return io_paths_take("gen", common, words, false, paths);
}

static int check_usage(const gen_options *o, const common_options *common, const char *kind) {
    if (common->seed_given && strcmp(kind, "lattice") == 0) {
        return usage_error("gen", "--seed: a lattice has nothing random");
    }
    if (!o->count_given) return usage_error("gen", "how many points? -n N");
    if ((o->noise_given || o->outliers_given) && strcmp(kind, "room") != 0) {
        return usage_error("gen", "--noise and --outliers are for the kind room");
    }
    if (o->outliers_given && !(o->outlier_ratio >= 0 && o->outlier_ratio <= 1)) {
        return usage_error("gen", "--outliers: %g is not in 0..1", o->outlier_ratio);
    }
    if (o->noise_given && !(o->noise_m >= 0)) return usage_error("gen", "--noise: %g is below 0", o->noise_m);
    return EXIT_DONE;
}

static int generate(session *s, const gen_options *o, const char *kind, const io_paths *paths) {
    const char *path = paths->output;
    mote_gen_params params = mote_gen_defaults(kind);
    if (s->options.seed_given) params.seed = s->options.seed;
    if (o->noise_given) params.noise_m = o->noise_m;
    if (o->outliers_given) params.outlier_ratio = o->outlier_ratio;
    const io_paths files = {NULL, 0, path, paths->format, paths->may_replace}; /* a kind is no file */
    const int code = check_output_file(s, &files);
    if (code != EXIT_DONE) return code;
    mote_cloud *cloud = NULL;
    mote_write_params writing = mote_write_defaults();
    writing.format = paths->format;
    s->bar.points = o->count;
    mote_status status = mote_generate(s->ctx, kind, o->count, &params, &cloud);
    if (status == MOTE_OK) status = mote_cloud_write(s->ctx, cloud, path, &writing);
    mote_cloud_destroy(cloud);
    if (status != MOTE_OK) return session_fail(s, status, false);
    return report_output(s, path, o->count);
}

int cmd_gen(int argc, char **argv) {
    gen_options o = {0};
    const option rows[] = {
        {"count", 'n', OPTION_COUNT, &o.count, &o.count_given, "N", "points: 5000, 1.5k, 5M, 2G"},
        {"noise", 0, OPTION_REAL, &o.noise_m, &o.noise_given, "M",
         "room: standard deviation along the normal, metres; default 0.003"},
        {"outliers", 0, OPTION_REAL, &o.outlier_ratio, &o.outliers_given, "R", "room: share of outliers; default 0.1"},
        {0},
    };
    common_options common;
    arguments words;
    io_paths paths = {0};
    const parse_result parsed = options_parse(
        &help, rows, COMMON_RUN | COMMON_SEED | COMMON_JSON | COMMON_HASH | COMMON_OUTPUT, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    int code = take_words(&common, &words, &paths);
    if (code == EXIT_DONE) code = check_usage(&o, &common, words.words[0]);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "gen", &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) code = generate(&s, &o, words.words[0], &paths);
    return session_close(&s, code);
}
