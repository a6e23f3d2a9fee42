/* mote info: what is in a file. */
#define _GNU_SOURCE /* stat */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "info/info_facts.h"
#include "print.h"
#include "read_options.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote info FILE… [options]",
    "Says what is in point clouds: format, points, box, attributes, coordinate reference system, records, density.",
    "  mote info scan.las\n"
    "  mote info scan.las --stats     also reads all points: spread, classes, density, dates, what is wrong\n"
    "  mote info scan.las --stats --where \"classification == 2\"\n"
    "  mote info scan.mote --json\n"
    "  mote info --devices            what this machine and build compute on\n",
    "With --hash, the checksum of all attributes and points: the same for the same content in any layout.\n"
    "With --json and several files, the output is an array.\n",
    .no_output = "its result goes to standard output: mote info FILE >OUT",
};

typedef struct info_options {
    bool stats, salvage, devices;
    const char *poses;
} info_options;

/* The one format of all point files in a folder; "several" where they differ. */
static const char *format_within(session *s, const char *path) {
    const char *common = NULL;
    char inner[PATH_MAX];
    DIR *folder = opendir(path);
    for (const struct dirent *entry = NULL; folder != NULL && (entry = readdir(folder)) != NULL;) {
        struct stat info;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner) continue;
        if (stat(inner, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        const char *format = mote_file_format(s->ctx, inner);
        mote_context_clear(s->ctx);
        if (format != NULL) common = common == NULL || strcmp(common, format) == 0 ? format : "several";
    }
    if (folder != NULL) closedir(folder);
    return common;
}

/* Plain files can be looked at twice; a pipe cannot. */
static mote_status find_format(session *s, info_facts *f, const struct stat *info) {
    if (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)) {
        f->format = f->is_las ? "las" : "stream";
        return MOTE_OK;
    }
    const char *format = mote_file_format(s->ctx, f->path);
    if (format == NULL && S_ISDIR(info->st_mode)) {
        mote_context_clear(s->ctx); /* it is no Potree folder */
        format = format_within(s, f->path);
    } else if (format == NULL && mote_context_message(s->ctx)[0] != '\0') {
        return MOTE_ERROR_MEMORY; /* it was read a moment ago: what fails now is memory */
    }
    f->format = format != NULL ? format : "text";
    return MOTE_OK;
}

/* The levels of a Potree folder or COPC file. */
static mote_status look_at_levels(session *s, info_facts *f, const struct stat *info) {
    f->is_potree = strcmp(f->format, "potree") == 0;
    if (strcmp(f->format, "las") == 0 && S_ISREG(info->st_mode)) {
        const mote_status status = mote_copc_levels(s->ctx, f->path, f->copc_levels, INFO_LEVELS_MAX, &f->copc);
        if (status == MOTE_ERROR_DATA) {
            /* The points are there whatever the hierarchy says: the file is described as the LAZ that it is. */
            session_say(s, "warning: %s; the file is described without its octree", mote_context_message(s->ctx));
            mote_context_clear(s->ctx);
            memset(&f->copc, 0, sizeof f->copc);
            return MOTE_OK;
        }
        if (f->copc.is_copc) f->format = "copc";
        return status;
    }
    if (!f->is_potree) return MOTE_OK;
    f->is_las = false; /* it was once, and the folder remembers */
    return mote_potree_levels(s->ctx, f->path, f->levels, INFO_LEVELS_MAX, &f->potree);
}

/* The scans of an E57 file. */
static mote_status look_at_scans(session *s, info_facts *f, const struct stat *info) {
    f->is_e57 = strcmp(f->format, "e57") == 0 && S_ISREG(info->st_mode);
    if (!f->is_e57) return MOTE_OK;
    mote_status status = mote_e57_scans(s->ctx, f->path, NULL, 0, &f->e57);
    const uint32_t count = f->e57.scan_count < INFO_SCANS_MAX ? f->e57.scan_count : INFO_SCANS_MAX;
    if (status != MOTE_OK || count == 0) return status;
    f->scans = calloc(count, sizeof *f->scans);
    return f->scans != NULL ? mote_e57_scans(s->ctx, f->path, f->scans, count, &f->e57) : MOTE_ERROR_MEMORY;
}

static mote_status look_at_file(session *s, info_facts *f, const struct stat *info, bool hash) {
    mote_status status = look_at_levels(s, f, info);
    if (status == MOTE_OK) status = look_at_scans(s, f, info);
    if (status != MOTE_OK || !hash) return status;
    f->has_hash = true;
    return mote_cloud_hash(s->ctx, f->cloud, &f->hash);
}

/* Describes all points, which are read for this. */
static int look_at_points(session *s, info_facts *f, info_points *points, const info_options *o,
                          const header_facts *header) {
    cloud_stats *const stats = &f->stats;
    const common_options *const common = &s->options;
    const int code = cloud_stats_read(s, points, o->stats, stats);
    if (code != EXIT_DONE) return code;
    f->cloud = points_cloud(points);
    const double area = (stats->box.max[0] - stats->box.min[0]) * (stats->box.max[1] - stats->box.min[1]);
    if (stats->has_box && area > 0) f->density = (double)(stats->points - stats->skipped) / area;
    if (!o->stats) return EXIT_DONE;
    const bool is_whole = common->where == NULL && common->to_crs == NULL && !o->salvage;
    const survey_input input = {.cloud = f->cloud, .stats = stats, .header = header, .is_whole = is_whole};
    cloud_survey_make(&input, &f->survey);
    return EXIT_DONE;
}

static int describe_points(session *s, info_facts *f, info_points *points, const info_options *o, json_writer *json) {
    struct stat info = {0};
    header_facts header = {0};
    if (stat(f->path, &info) == 0 && S_ISREG(info.st_mode)) {
        f->file_bytes = (uint64_t)info.st_size;
        header_read(f->path, &header);
    }
    int code = look_at_points(s, f, points, o, &header);
    if (code != EXIT_DONE) return code;
    f->is_las = mote_cloud_las_facts(f->cloud, &f->las);
    mote_status status = find_format(s, f, &info);
    if (status == MOTE_OK) status = look_at_file(s, f, &info, s->options.hash);
    if (status == MOTE_OK) status = mote_cloud_check(f->cloud);
    if (status != MOTE_OK) return session_fail(s, status, true);
    progress_clear(&s->bar);
    if (json != NULL) {
        info_print_json(f, json);
    } else {
        info_print_text(f);
    }
    return EXIT_DONE;
}

static int describe(session *s, const char *path, const info_options *o, json_writer *json) {
    info_points points;
    mote_read_params reading = session_reading(s);
    reading.salvage = o->salvage;
    if (o->poses != NULL) parse_poses(o->poses, &reading.keep_poses);
    info_facts facts = {.path = path, .messages = s->messages};
    messages_clear(s->messages);
    int code = points_open(s, &path, &reading, !s->options.hash, &points);
    if (code == EXIT_DONE) code = describe_points(s, &facts, &points, o, json);
    cloud_stats_free(&facts.stats);
    free(facts.scans);
    points_close(&points);
    return code;
}

/* Describes all files, also after one that failed; the first failure is the exit code. */
static int describe_all(session *s, const arguments *words, const info_options *o) {
    json_writer json;
    const bool as_json = s->options.json;
    const bool many = words->count > 1;
    int code = EXIT_DONE;
    emit_start(&json, stdout, false);
    if (as_json && many) emit_open(&json, NULL, '[');
    for (int i = 0; i < words->count && code != EXIT_CANCELLED; i++) {
        if (!as_json && i > 0) putchar('\n');
        const int one = describe(s, words->words[i], o, as_json ? &json : NULL);
        mote_context_clear(s->ctx);
        if (code == EXIT_DONE || one == EXIT_CANCELLED) code = one;
    }
    if (as_json && many) emit_close(&json, ']');
    if (as_json && (many || code == EXIT_DONE)) emit_end(&json);
    return code;
}

#define DEVICES_MAX 64u

/* A device as --device takes it. */
typedef struct device_word {
    char chars[16];
} device_word;

static device_word word_of(const mote_device_info *device) {
    device_word word = {"cpu"};
    if (device->kind == MOTE_DEVICE_CPU) return word;
    snprintf(word.chars, sizeof word.chars, device->index > 0 ? "cuda:%d" : "cuda", device->index);
    return word;
}

static void print_device(const mote_device_info *device) {
    print_out("%-8s%s", word_of(device).chars, device->name);
    if (device->memory_bytes > 0) print_out(", %s", text_bytes(device->memory_bytes).chars);
    if (!device->usable) print_out(": not used: %s", device->reason);
    putchar('\n');
}

static void emit_device(json_writer *json, const mote_device_info *device) {
    emit_open(json, NULL, '{');
    emit_text(json, "device", word_of(device).chars);
    emit_text(json, "name", device->name);
    if (device->memory_bytes > 0) emit_count(json, "memory_bytes", device->memory_bytes);
    emit_bool(json, "usable", device->usable);
    if (!device->usable) emit_text(json, "reason", device->reason);
    emit_close(json, '}');
}

static void list_devices(bool as_json) {
    mote_device_info devices[DEVICES_MAX];
    uint32_t count = mote_devices(devices, DEVICES_MAX);
    if (count > DEVICES_MAX) count = DEVICES_MAX;
    json_writer json;
    emit_start(&json, stdout, false);
    if (as_json) emit_open(&json, NULL, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (as_json) {
            emit_device(&json, &devices[i]);
        } else {
            print_device(&devices[i]);
        }
    }
    if (as_json) emit_close(&json, ']');
    if (as_json) emit_end(&json);
}

static int check_usage(const info_options *o, const common_options *common, const arguments *words) {
    if (o->poses != NULL && !parse_poses(o->poses, NULL)) {
        return usage_error("info", "--poses: \"%s\" is not apply or keep", o->poses);
    }
    if (!o->devices && words->count == 0) return usage_error("info", "info needs a file");
    if (!o->devices) return EXIT_DONE;
    if (words->count > 0) return usage_error("info", "--devices lists devices, and looks at no file");
    if (!o->stats && !o->salvage && !common->hash && o->poses == NULL) return EXIT_DONE;
    return usage_error("info", "--devices looks at no file: --stats, --salvage, --poses and --hash are of files");
}

int cmd_info(int argc, char **argv) {
    info_options o = {0};
    const option rows[] = {
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "read all points"},
        {"salvage", 0, OPTION_FLAG, &o.salvage, NULL, NULL, "of a damaged or cut file what is whole"},
        {"poses", 0, OPTION_TEXT, &o.poses, NULL, "WORD", "E57: apply (the default) or keep, as for mote convert"},
        {"devices", 0, OPTION_FLAG, &o.devices, NULL, NULL, "list the backends"},
        {0},
    };
    common_options common;
    arguments words;
    const parse_result parsed = options_parse(
        &help, rows, COMMON_RUN | COMMON_JSON | COMMON_HASH | COMMON_WHERE | COMMON_CRS, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    int code = check_usage(&o, &common, &words);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "info", &common);
    if (code == EXIT_DONE && o.devices) list_devices(common.json);
    const unsigned given = (o.salvage ? READ_SALVAGE : 0u) | (o.poses != NULL ? READ_POSES : 0u);
    if (code == EXIT_DONE && !o.devices) code = check_read_options(&s, words.words, words.count, given);
    if (code == EXIT_DONE && !o.devices) code = describe_all(&s, &words, &o);
    return session_close(&s, code);
}
