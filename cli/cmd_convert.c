/* mote convert: from format to format, all points or some, all attributes or some. */
#define _GNU_SOURCE /* stat */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "paths.h"
#include "report.h"
#include "text.h"

#define BLOCK_POINTS 4096

static const command_help help = {
    "mote convert IN… OUT [options]",
    "Writes one or several clouds into one file of another (or the same) format. The ending of OUT names it:\n"
    ".las .laz .ply .xyz .csv .txt .pts .asc. Inputs: LAS, LAZ, PLY, text, Potree 2.0 folders; folders and patterns\n"
    "of them.",
    "  mote convert scan.las scan.ply\n"
    "  mote convert tiles/*.las all.las\n"
    "  mote convert scan.las centre.las --crop 500000,5800000,500100,5800100\n"
    "  mote convert scan.las small.xyz --thin 100 --select intensity,classification\n"
    "  mote convert scan.mote level3.las --level 3\n",
    "Without --crop, --thin and --select every point and attribute is kept, in order; LAS to LAS and PLY to PLY\n"
    "keep them bit for bit. --hash prints the checksum that \"mote info --hash OUT\" prints.\n",
};

typedef struct convert_options {
    const char *select, *crop, *columns, *separator, *las_version;
    uint64_t thin;
    int level, point_format;
    bool thin_given, level_given, ascii, big_endian, format_given;
    mote_box box;
} convert_options;

/* ---- the options' meaning */

/* "minx,miny[,minz],maxx,maxy[,maxz]" */
static bool parse_crop(const char *list, mote_box *box) {
    double values[6];
    int count = 0;
    const char *at = list;
    while (count < 6) {
        char *end;
        values[count++] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0')) return false;
        if (*end == '\0') break;
        at = end + 1;
        if (count == 6) return false;
    }
    if (count != 4 && count != 6) return false;
    for (int k = 0; k < 3; k++) {
        const bool flat = count == 4 && k == 2;
        box->min[k] = flat ? -INFINITY : values[k];
        box->max[k] = flat ? INFINITY : values[count / 2 + k];
        if (!(box->min[k] <= box->max[k])) return false;
    }
    return true;
}

static int check_usage(convert_options *o, const arguments *words, mote_write_params *params) {
    if (words->count < 2) return usage_error("convert", "convert needs one or more inputs and an output");
    if (o->crop != NULL && !parse_crop(o->crop, &o->box)) {
        return usage_error("convert", "--crop: \"%s\" is not minx,miny[,minz],maxx,maxy[,maxz] with min <= max",
                           o->crop);
    }
    if (o->thin_given && o->thin < 1) return usage_error("convert", "--thin: every how manieth point? 1 or more");
    if (o->level_given && o->level < 0) return usage_error("convert", "--level: %d is below 0", o->level);
    if (o->separator != NULL && strcmp(o->separator, "tab") == 0) o->separator = "\t";
    if (o->separator != NULL && (o->separator[0] == '\0' || o->separator[1] != '\0')) {
        return usage_error("convert", "--separator: \"%s\" is not one character", o->separator);
    }
    if (o->las_version != NULL) {
        const char *v = o->las_version;
        if (strncmp(v, "1.", 2) != 0 || v[2] < '2' || v[2] > '4' || v[3] != '\0') {
            return usage_error("convert", "--las-version: \"%s\" is not 1.2, 1.3 or 1.4", v);
        }
        params->las_version_minor = v[2] - '0';
    }
    if (o->format_given && (o->point_format < 0 || o->point_format > 10)) {
        return usage_error("convert", "--point-format: %d is not in 0..10", o->point_format);
    }
    if (o->format_given) params->las_format = o->point_format;
    if (o->ascii && o->big_endian) return usage_error("convert", "--ascii and --big-endian exclude each other");
    params->text = o->ascii;
    params->big_endian = o->big_endian;
    return EXIT_DONE;
}

/* Options that the output's format would ignore are mistakes. */
static int check_format_options(const convert_options *o, const char *output) {
    const char *format = mote_ending_format(output);
    if (format == NULL) return EXIT_DONE; /* explained later */
    if ((o->ascii || o->big_endian) && strcmp(format, "ply") != 0) {
        return usage_error("convert", "--ascii and --big-endian are for .ply");
    }
    if ((o->las_version != NULL || o->format_given) && strcmp(format, "las") != 0) {
        return usage_error("convert", "--las-version and --point-format are for .las and .laz");
    }
    return EXIT_DONE;
}

/* ---- choosing points */

/* Whether each of the points [first, first + count) lies in the box, along one axis. */
static void test_axis(const mote_column *column, double low, double high, uint64_t first, uint64_t count, bool *keep) {
    double values[BLOCK_POINTS];
    mote_column_read(column, first, count, MOTE_FLOAT64, values);
    for (uint64_t i = 0; i < count; i++) {
        const double value = values[i] * column->scale + column->offset;
        keep[i] = keep[i] && value >= low && value <= high;
    }
}

/* The points that --crop and then --thin keep. *indices is NULL when there is no memory. */
static uint64_t choose_points(const convert_options *o, const mote_cloud *cloud, uint64_t **indices) {
    const mote_column *axes[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                  mote_cloud_find(cloud, "z")};
    const uint64_t all = mote_cloud_count(cloud);
    const uint64_t step = o->thin_given ? o->thin : 1;
    uint64_t chosen = 0, inside = 0;
    *indices = malloc((size_t)(o->crop != NULL ? all : all / step + 1) * sizeof **indices + 1);
    if (*indices == NULL) return 0;
    for (uint64_t first = 0; first < all && !session_cancelled(); first += BLOCK_POINTS) {
        bool keep[BLOCK_POINTS];
        const uint64_t count = all - first < BLOCK_POINTS ? all - first : BLOCK_POINTS;
        for (uint64_t i = 0; i < count; i++) keep[i] = true;
        for (int k = 0; k < 3 && o->crop != NULL; k++) {
            test_axis(axes[k], o->box.min[k], o->box.max[k], first, count, keep);
        }
        for (uint64_t i = 0; i < count; i++) {
            if (keep[i] && inside++ % step == 0) (*indices)[chosen++] = first + i;
        }
    }
    return chosen;
}

/* Replaces the cloud by what --crop and --thin leave of it. */
static int subset(session *s, const convert_options *o, mote_cloud **cloud) {
    if (o->crop == NULL && !o->thin_given) return EXIT_DONE;
    if (mote_cloud_find(*cloud, "x") == NULL || mote_cloud_find(*cloud, "y") == NULL ||
        mote_cloud_find(*cloud, "z") == NULL) {
        return session_error(s, EXIT_INPUT, "the input has no x, y and z");
    }
    uint64_t *indices = NULL;
    mote_cloud *chosen = NULL;
    const uint64_t count = choose_points(o, *cloud, &indices);
    if (indices == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the list of chosen points");
    const mote_status status = mote_cloud_select(s->ctx, *cloud, indices, count, &chosen);
    free(indices);
    if (status != MOTE_OK) return session_fail(s, status, false);
    if (count == 0) session_note(s, "no point is left; the output is empty");
    mote_cloud_destroy(*cloud);
    *cloud = chosen;
    return EXIT_DONE;
}

/* ---- choosing attributes */

#define NAMES_MOST 512

static int unknown_attribute(session *s, const mote_cloud *cloud, const char *name) {
    const char *names[NAMES_MOST + 1];
    uint32_t count = 0;
    for (; count < mote_cloud_column_count(cloud) && count < NAMES_MOST; count++) {
        names[count] = mote_cloud_column(cloud, count)->name;
    }
    names[count] = NULL;
    const char *near = text_nearest(name, names);
    return session_error(s, EXIT_USAGE, "--select: there is no attribute \"%s\"%s%s%s", name,
                         near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

/* The list for the writer: what --select names, x, y and z in front if they are not among it. */
static int select_attributes(session *s, const convert_options *o, const mote_cloud *cloud, char **list) {
    *list = NULL;
    if (o->select == NULL) return EXIT_DONE;
    const size_t size = strlen(o->select) + 8;
    char *copy = malloc(size);
    *list = malloc(size);
    if (copy == NULL || *list == NULL) {
        free(copy);
        return session_error(s, EXIT_RESOURCES, "out of memory: the list of attributes");
    }
    (*list)[0] = '\0';
    for (const char *axis = "x\0y\0z\0"; *axis != '\0'; axis += 2) {
        if (text_list_has(o->select, axis)) continue;
        strcat(strcat(*list, axis), ",");
    }
    strcat(*list, o->select);
    int code = EXIT_DONE;
    strcpy(copy, o->select);
    for (char *name = copy, *next; name != NULL && code == EXIT_DONE; name = next) {
        next = strchr(name, ',');
        if (next != NULL) *next++ = '\0';
        if (mote_cloud_find(cloud, name) == NULL) code = unknown_attribute(s, cloud, name);
    }
    free(copy);
    return code;
}

/* ---- in pieces */

/* Whether nothing asks for all points at once. A pipe can be read only once, so its format is not looked at. */
static bool can_stream(const session *s, const convert_options *o, const arguments *words) {
    struct stat info;
    const char *input = words->words[0], *output = words->words[words->count - 1];
    if (words->count != 2 || o->crop != NULL || o->thin_given || o->select != NULL || s->options.hash) return false;
    if (strcmp(mote_ending_format(output), "las") != 0 || stat(input, &info) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    const char *format = mote_file_format(s->ctx, input);
    return format != NULL && strcmp(format, "las") == 0;
}

/* Writes piece by piece, the first of which has been read. *reading: whether it was the input that failed. */
static mote_status copy_pieces(mote_reader *reader, mote_writer *writer, const mote_cloud *piece, bool *reading) {
    mote_status status = MOTE_OK;
    while (status == MOTE_OK && piece != NULL) {
        *reading = false;
        status = mote_writer_add(writer);
        if (status != MOTE_OK) break;
        *reading = true;
        status = mote_reader_next(reader, &piece);
    }
    if (status == MOTE_OK) *reading = false;
    return mote_writer_close(writer, status);
}

/* Converts with memory for a few pieces only. *done: false where the cloud turns out to be needed as a whole. */
static int stream(session *s, const mote_read_params *params, const mote_write_params *writing, const char *input,
                  const char *output, bool *done) {
    mote_reader *reader = NULL;
    mote_writer *writer = NULL;
    const mote_cloud *piece = NULL;
    bool reading = true;
    mote_status status = mote_reader_open(s->ctx, input, params, &reader);
    const uint64_t points = status == MOTE_OK ? mote_reader_count(reader) : 0;
    s->bar.points = points;
    if (status == MOTE_OK) status = mote_reader_next(reader, &piece);
    if (status == MOTE_OK && piece != NULL) {
        reading = false;
        status = mote_writer_open(s->ctx, piece, points, output, writing, &writer);
    }
    *done = status != MOTE_ERROR_UNSUPPORTED && (status != MOTE_OK || writer != NULL);
    if (writer != NULL) status = copy_pieces(reader, writer, piece, &reading);
    mote_reader_close(reader);
    if (*done) return status != MOTE_OK ? session_fail(s, status, reading) : report_output(s, output, points);
    mote_context_clear(s->ctx);
    return EXIT_DONE;
}

/* ---- the command */

static int convert(session *s, const convert_options *o, mote_write_params *params, const arguments *words) {
    const int inputs = words->count - 1;
    const char *output = words->words[inputs];
    int code = check_output_file(s, words->words, inputs, output);
    if (code != EXIT_DONE) return code;
    mote_read_params reading = mote_read_defaults();
    if (o->level_given) reading.level = o->level;
    reading.columns = o->columns;
    if (o->separator != NULL) reading.separator = o->separator[0];
    if (can_stream(s, o, words)) {
        bool done = false;
        code = stream(s, &reading, params, words->words[0], output, &done);
        if (done) return code;
    }
    mote_cloud *cloud = NULL;
    char *list = NULL;
    code = session_read(s, words->words, inputs, &reading, &cloud);
    if (code == EXIT_DONE) code = select_attributes(s, o, cloud, &list);
    if (code == EXIT_DONE) code = subset(s, o, &cloud);
    if (code == EXIT_DONE) {
        params->columns = list;
        const uint64_t points = mote_cloud_count(cloud);
        s->bar.points = points;
        const mote_status status = mote_cloud_write(s->ctx, cloud, output, params);
        code = status != MOTE_OK ? session_fail(s, status, false) : report_output(s, output, points);
    }
    free(list);
    mote_cloud_destroy(cloud);
    return code;
}

int cmd_convert(int argc, char **argv) {
    convert_options o = {0};
    const option rows[] = {
        {"select", 0, OPTION_TEXT, &o.select, NULL, "A,B,…", "only these attributes, and x, y, z; default all"},
        {"crop", 0, OPTION_TEXT, &o.crop, NULL, "BOX",
         "only points in minx,miny[,minz],maxx,maxy[,maxz],\nworld units, borders included"},
        {"thin", 0, OPTION_COUNT, &o.thin, &o.thin_given, "N", "only every N-th point (after --crop)"},
        {"level", 0, OPTION_INT, &o.level, &o.level_given, "N", "Potree folders: only the nodes of this level"},
        {"ascii", 0, OPTION_FLAG, &o.ascii, NULL, NULL, ".ply: as text; default binary, little-endian"},
        {"big-endian", 0, OPTION_FLAG, &o.big_endian, NULL, NULL, ".ply: binary, big-endian"},
        {"las-version", 0, OPTION_TEXT, &o.las_version, NULL, "V",
         ".las, .laz: 1.2, 1.3 or 1.4; default what the attributes need"},
        {"point-format", 0, OPTION_INT, &o.point_format, &o.format_given, "N",
         ".las, .laz: 0..10; default what the attributes need"},
        {"columns", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…",
         "text inputs: names of the columns; default the header line"},
        {"separator", 0, OPTION_TEXT, &o.separator, NULL, "C",
         "text inputs: between columns, or \"tab\"; default found out"},
        {0},
    };
    common_options common;
    arguments words;
    const parse_result parsed =
        options_parse(&help, rows, COMMON_RUN | COMMON_JSON | COMMON_HASH, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    mote_write_params params = mote_write_defaults();
    int code = check_usage(&o, &words, &params);
    if (code == EXIT_DONE) code = check_format_options(&o, words.words[words.count - 1]);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "convert", &common);
    if (code == EXIT_DONE) code = convert(&s, &o, &params, &words);
    return session_close(&s, code);
}
