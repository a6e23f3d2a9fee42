/* mote convert: from format to format, all points or some, all attributes or some. */
#define _GNU_SOURCE /* stat */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "edits/convert_edits.h"
#include "io_command.h"
#include "point_run.h"
#include "read_options.h"
#include "report.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote convert IN… -o OUT [options]",
    "Writes one or several clouds into one file of another (or the same) format. The ending of OUT names it:\n"
    ".las .laz .ply .pcd .e57 .xyz .csv .txt .pts .asc. Inputs: LAS, LAZ, PLY, PCD, PTX, E57, text, Potree 2.0\n"
    "folders; folders and patterns of them.",
    "  mote convert scan.las -o scan.ply\n"
    "  mote convert tiles/*.las -o all.las\n"
    "  mote convert scan.las -o centre.las --bounds 500000,5400000,500100,5400100\n"
    "  mote convert scan.las -o site.laz --polygon site.geojson\n"
    "  mote convert scan.laz -o ground.laz --where \"classification == 2 && z < 120.5\"\n"
    "  mote convert scan.laz -o mended.laz --set \"class = 6\" --where \"z > 120\"\n"
    "  mote convert scan.las -o small.xyz --thin 100 --select intensity\n"
    "  mote convert tiles/*.laz -o all.laz --sort --memory 4G   near points near each other, of a cloud of any size\n"
    "  mote convert station.e57 -o station.laz\n"
    "  mote convert scan.las -o utm33.las --crs EPSG:25832 --to-crs EPSG:25833\n"
    "  mote convert scan.mote -o level3.las --level 3\n"
    "  mote convert scan.copc.laz -o coarse.laz --resolution 0.5\n",
    "Without --where, --bounds, --thin, --sort and --select every point and attribute is kept, in order; LAS to LAS, "
    "PLY\n"
    "to PLY and PCD to PCD keep them bit for bit. --hash prints the checksum that \"mote info --hash OUT\" prints.\n",
};

typedef struct convert_options {
    const char *select, *bounds, *columns, *separator, *las_version, *polygon, *edits, *poses;
    uint64_t thin;
    int level, point_format, bounds_in;
    double resolution;
    text_list set;
    char *assignments; /* all of set, one after the other; NULL: none */
    uint64_t changed;
    bool bounds_in_given, thin_given, level_given, resolution_given, ascii, big_endian, compress, format_given, salvage,
        by_source, sort;
    mote_box box;
    mote_write_params params;
} convert_options;

/* ---- the options' meaning */

/* "minx,miny[,minz],maxx,maxy[,maxz]" */
static bool parse_bounds(const char *list, mote_box *box) {
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

/* Options that the output's format would ignore are mistakes. */
static int check_format_options(const convert_options *o, const io_paths *paths) {
    const char *format = io_paths_format(paths);
    if (format == NULL) return EXIT_DONE; /* explained later */
    if (o->ascii && strcmp(format, "ply") != 0 && strcmp(format, "pcd") != 0) {
        return usage_error("convert", "--ascii is for .ply and .pcd");
    }
    if (o->big_endian && strcmp(format, "ply") != 0) return usage_error("convert", "--big-endian is for .ply");
    if (o->compress && strcmp(format, "pcd") != 0) return usage_error("convert", "--compress is for .pcd");
    if (o->by_source && strcmp(format, "e57") != 0) return usage_error("convert", "--by-source is for .e57");
    if ((o->las_version != NULL || o->format_given) && strcmp(format, "las") != 0) {
        return usage_error("convert", "--las-version and --point-format are for .las and .laz");
    }
    return EXIT_DONE;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    convert_options *o = options;
    mote_write_params *params = &o->params;
    if (o->bounds_in_given && (o->bounds == NULL || common->to_crs == NULL)) {
        return usage_error("convert", "--bounds-in is for --bounds together with --to-crs");
    }
    if (o->bounds != NULL && !parse_bounds(o->bounds, &o->box)) {
        return usage_error("convert", "--bounds: \"%s\" is not minx,miny[,minz],maxx,maxy[,maxz] with min <= max",
                           o->bounds);
    }
    if (o->thin_given && o->thin < 1) return usage_error("convert", "--thin: every how manieth point? 1 or more");
    if (o->level_given && o->level < 0) return usage_error("convert", "--level: %d is below 0", o->level);
    if (o->resolution_given && !(o->resolution > 0 && isfinite(o->resolution))) {
        return usage_error("convert", "--resolution: a distance between points, above 0");
    }
    if (o->separator != NULL && strcmp(o->separator, "tab") == 0) o->separator = "\t";
    if (o->separator != NULL && (o->separator[0] == '\0' || o->separator[1] != '\0')) {
        return usage_error("convert", "--separator: \"%s\" is not one character", o->separator);
    }
    if (o->poses != NULL && !parse_poses(o->poses, NULL)) {
        return usage_error("convert", "--poses: \"%s\" is not apply or keep", o->poses);
    }
    if (o->poses != NULL && strcmp(o->poses, "keep") == 0 && common->to_crs != NULL) {
        return usage_error("convert", "--poses keep leaves coordinates as each scanner saw them, which are in no "
                                      "reference system: --to-crs is for --poses apply");
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
    if (o->ascii && o->compress) return usage_error("convert", "--ascii and --compress exclude each other");
    params->text = o->ascii;
    params->compress = o->compress;
    params->big_endian = o->big_endian;
    params->by_source = o->by_source;
    params->format = paths->format;
    if (o->edits != NULL && o->select != NULL && strstr(o->select, "class") == NULL) {
        return usage_error("convert", "--edits gives classes, and --select leaves out the classification");
    }
    return check_format_options(o, paths);
}

/* ---- choosing points */

/* Replaces the cloud by every --thin-th of its points. */
static int thin(session *s, const convert_options *o, mote_cloud **cloud) {
    if (!o->thin_given) return EXIT_DONE;
    const uint64_t all = mote_cloud_count(*cloud), count = all / o->thin + (all % o->thin != 0);
    uint64_t *indices = malloc((size_t)count * sizeof *indices + 1);
    mote_cloud *chosen = NULL;
    if (indices == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the list of chosen points");
    for (uint64_t i = 0; i < count; i++) indices[i] = i * o->thin;
    const mote_status status = mote_cloud_select(s->ctx, *cloud, indices, count, &chosen);
    free(indices);
    if (status != MOTE_OK) return session_fail(s, status, false);
    mote_cloud_destroy(*cloud);
    *cloud = chosen;
    return EXIT_DONE;
}

/* ---- choosing attributes */

#define NAMES_MAX 512

/* What the input has that is nearly called so; "" if nothing. */
static void nearest_attribute(session *s, const char *input, const char *name, char *near, size_t size) {
    const mote_cloud *cloud = NULL;
    mote_reader *reader = NULL;
    const char *names[NAMES_MAX + 1];
    uint32_t count = 0;
    near[0] = '\0';
    if (path_is_stream(input)) return; /* it was read, and is no more */
    mote_status status = mote_reader_open(s->ctx, input, NULL, &reader);
    if (status == MOTE_OK) status = mote_reader_next(reader, &cloud);
    while (status == MOTE_OK && cloud != NULL && count < mote_cloud_column_count(cloud) && count < NAMES_MAX) {
        names[count] = mote_cloud_column(cloud, count)->name;
        count++;
    }
    names[count] = NULL;
    const char *found = text_nearest(name, names);
    if (found != NULL) snprintf(near, size, "; did you mean \"%s\"?", found);
    mote_reader_close(reader);
}

/* Only what --select names was read; a name that is not there is a mistake. */
static int check_select(session *s, const convert_options *o, const char *input, const mote_cloud *cloud) {
    if (o->select == NULL) return EXIT_DONE;
    for (const char *at = o->select; *at != '\0'; at += at[0] == ',') {
        char name[128], near[160];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        at += length;
        if (mote_cloud_match(cloud, name) != NULL) continue;
        nearest_attribute(s, input, name, near, sizeof near);
        return session_error(s, EXIT_USAGE, "--select: there is no attribute \"%s\"%s", name, near);
    }
    return EXIT_DONE;
}

/* ---- in pieces */

/* Joins the values of all --set to one list. */
static char *join_assignments(const text_list *set) {
    size_t size = 1, at = 0;
    for (int i = 0; i < set->count; i++) size += strlen(set->items[i]) + 2;
    char *joined = malloc(size);
    for (int i = 0; i < set->count && joined != NULL; i++) {
        at += (size_t)snprintf(joined + at, size - at, "%s%s", i > 0 ? "; " : "", set->items[i]);
    }
    return joined;
}

static mote_read_params reading_params(const session *s, convert_options *o) {
    mote_read_params params = session_reading(s);
    params.set = o->assignments;
    params.changed = &o->changed;
    if (o->level_given) params.level = o->level;
    params.columns = o->columns;
    if (o->separator != NULL) params.separator = o->separator[0];
    params.select = o->select;
    if (o->bounds != NULL) params.bounds = &o->box;
    if (o->resolution_given) params.resolution = o->resolution;
    params.salvage = o->salvage;
    params.bounds_in_to_crs = o->bounds_in == 1;
    if (o->poses != NULL) parse_poses(o->poses, &params.keep_poses);
    return params;
}

static bool is_format(const char *format, const char *name) { return format != NULL && strcmp(format, name) == 0; }

/* Whether nothing asks for all points at once. A pipe can be read only once, so its format is not looked at. */
static bool can_stream(const session *s, const convert_options *o, const io_paths *paths) {
    struct stat info;
    const char *input = paths->inputs[0];
    if (o->polygon != NULL || o->edits != NULL || o->sort) return false;
    if (paths->input_count != 1 || o->thin_given || o->salvage || s->options.hash) return false;
    const char *const to = io_paths_format(paths);
    if ((!is_format(to, "las") && !is_format(to, "e57")) || stat(input, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    const char *const from = mote_file_format(s->ctx, input);
    return is_format(from, "las") || is_format(from, "e57");
}

/* Whether fewer points may be written than the input has. */
static bool leaves_out(const session *s, const convert_options *o) {
    return o->bounds != NULL || o->polygon != NULL || (s->options.where != NULL && o->assignments == NULL);
}

static int report_written(session *s, const convert_options *o, const char *output, uint64_t points) {
    const mote_read_params reading = {.where = s->options.where};
    const bool by_where = s->options.where != NULL && o->bounds == NULL && o->polygon == NULL && s->input_counts[0] > 0;
    if (points == 0 && leaves_out(s, o) && by_where) session_note_none(s, s->inputs[0][0], &reading);
    if (points == 0 && leaves_out(s, o) && !by_where) session_note(s, "no point remains; the output is empty");
    if (o->assignments != NULL) {
        session_note(s, "--set changed %s of %s points", text_count(o->changed).chars, text_count(points).chars);
    }
    return report_output(s, output, points);
}

/* Whether the first piece has what --select names. *any: whether there is a piece. */
static int check_selected(session *s, const convert_options *o, const char *input, mote_reader *reader, bool *any) {
    const mote_cloud *piece = NULL;
    if (o->select == NULL) return EXIT_DONE;
    const mote_status status = mote_reader_next(reader, &piece);
    if (status != MOTE_OK) return session_fail(s, status, true);
    *any = piece != NULL;
    return *any ? check_select(s, o, input, piece) : EXIT_DONE;
}

/* Converts with memory for a few pieces only. *done: false where the cloud turns out to be needed as a whole. */
static int stream(session *s, convert_options *o, const io_paths *paths, bool *done) {
    const char *input = paths->inputs[0], *output = paths->output;
    const mote_read_params reading_as = reading_params(s, o);
    uint64_t written = 0;
    mote_reader *reader = NULL;
    *done = true;
    session_note_inputs(s, paths->inputs, 1);
    mote_status status = mote_reader_open(s->ctx, input, &reading_as, &reader);
    int code = status == MOTE_OK ? check_selected(s, o, input, reader, done) : session_fail(s, status, true);
    if (code == EXIT_DONE && *done) {
        s->bar.points = mote_reader_count(reader);
        status = mote_reader_write(reader, output, &o->params, &written);
        *done = status != MOTE_ERROR_UNSUPPORTED;
        if (*done && status != MOTE_OK) code = session_fail(s, status, false);
    }
    mote_reader_close(reader);
    if (!*done) mote_context_clear(s->ctx);
    return !*done || code != EXIT_DONE ? code : report_written(s, o, output, written);
}

/* ---- sorted, in parts */

/* What is known of all points alone, or done to them when all are there. NULL: nothing. */
static const char *parts_refusal(const convert_options *o) {
    if (o->polygon != NULL) return "--polygon chooses among all points";
    if (o->edits != NULL) return "--edits changes points that are there";
    if (o->thin_given) return "--thin counts the points that others leave";
    if (o->assignments != NULL) return "--set changes points that are there";
    if (o->salvage) return "--salvage reads what is whole of a file";
    return NULL;
}

/* Whether an input has what --select names; a folder or pattern is not asked. */
static int check_selected_of(session *s, const convert_options *o, const char *input, const mote_read_params *reading) {
    mote_reader *reader = NULL;
    bool any = false;
    if (o->select == NULL) return EXIT_DONE;
    if (mote_reader_open(s->ctx, input, reading, &reader) != MOTE_OK) mote_context_clear(s->ctx);
    const int code = reader != NULL ? check_selected(s, o, input, reader, &any) : EXIT_DONE;
    mote_reader_close(reader);
    return code;
}

/* Where memory does not hold all points. *whole: it does, or they are needed as a whole. */
static int sort_in_parts(session *s, convert_options *o, const io_paths *paths, bool *whole) {
    const mote_read_params reading = reading_params(s, o);
    const char *refusal = parts_refusal(o);
    mote_parts_report report;
    *whole = !o->sort || !memory_needs_parts_to_sort(s, paths, &reading);
    if (*whole) return EXIT_DONE;
    if (refusal != NULL) {
        session_note(s, "it goes in one piece: %s", refusal);
        *whole = true;
        return EXIT_DONE;
    }
    const int code = check_selected_of(s, o, paths->inputs[0], &reading);
    if (code != EXIT_DONE) return code;
    session_note_inputs(s, paths->inputs, paths->input_count);
    const mote_status status = mote_order_write_parts(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading,
                                                      paths->output, &o->params, NULL, &report);
    progress_clear(&s->bar);
    *whole = goes_in_one_piece(s, status, &report);
    if (*whole) return EXIT_DONE;
    if (status != MOTE_OK) return session_fail(s, status, false);
    session_note(s, "sorted in %u parts", report.parts);
    return report_written(s, o, paths->output, report.points);
}

/* ---- the command */

static unsigned given_read_options(const convert_options *o) {
    return (o->level_given ? READ_LEVEL : 0u) | (o->resolution_given ? READ_RESOLUTION : 0u) |
           (o->columns != NULL ? READ_COLUMNS : 0u) | (o->separator != NULL ? READ_SEPARATOR : 0u) |
           (o->salvage ? READ_SALVAGE : 0u) | (o->poses != NULL ? READ_POSES : 0u);
}

/* How many points the output has: LAS cannot hold those without a finite position. */
static mote_status count_written(session *s, const mote_cloud *cloud, const io_paths *paths, uint64_t *points) {
    static const char *const axes[] = {"x", "y", "z"};
    const char *format = io_paths_format(paths);
    mote_box box;
    uint64_t skipped = 0;
    bool any_real = false;
    *points = mote_cloud_count(cloud);
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(cloud, axes[k]);
        any_real = any_real || (column != NULL && mote_type_is_float(column->type));
    }
    if (!any_real || format == NULL || strcmp(format, "las") != 0) return MOTE_OK;
    const mote_status status = mote_cloud_bounds(s->ctx, cloud, &box, &skipped);
    *points -= skipped;
    return status;
}

/* Brings the points to Morton order. */
static int sort(session *s, const convert_options *o, mote_cloud **cloud) {
    mote_cloud *sorted = NULL;
    if (!o->sort) return EXIT_DONE;
    const mote_status status = mote_order_cloud(s->ctx, *cloud, &sorted);
    progress_clear(&s->bar);
    if (status != MOTE_OK) return session_fail(s, status, false);
    mote_cloud_destroy(*cloud);
    *cloud = sorted;
    return EXIT_DONE;
}

/* Points of all inputs, or those that options choose, with the classes that --edits gives them. */
static int read_points(session *s, convert_options *o, const io_paths *paths, mote_cloud **cloud) {
    mote_read_params reading = reading_params(s, o);
    convert_area area;
    int code = convert_area_open(s, o->polygon, reading.bounds, &area);
    if (o->polygon != NULL) reading.bounds = &area.box;
    if (code == EXIT_DONE) code = session_read_any(s, paths->inputs, paths->input_count, &reading, cloud);
    if (code == EXIT_DONE) code = check_select(s, o, paths->inputs[0], *cloud);
    if (code == EXIT_DONE) code = convert_area_select(s, &area, cloud);
    if (code == EXIT_DONE) code = convert_edits_apply(s, o->edits, *cloud);
    if (code == EXIT_DONE) code = thin(s, o, cloud);
    if (code == EXIT_DONE) code = sort(s, o, cloud);
    convert_area_close(&area);
    return code;
}

static int check_files(session *s, const convert_options *o, const io_paths *paths) {
    const named_file files[] = {
        {"--polygon", o->polygon, true}, {"--edits", o->edits, true}, {"-o", paths->output, false}};
    const int code = check_output_file(s, paths);
    return code == EXIT_DONE ? check_distinct(s, files, sizeof files / sizeof files[0]) : code;
}

static int convert_all(session *s, convert_options *o, const io_paths *paths) {
    const char *output = paths->output;
    int code = check_files(s, o, paths);
    if (code == EXIT_DONE) code = check_read_options(s, paths->inputs, paths->input_count, given_read_options(o));
    if (code != EXIT_DONE) return code;
    bool done = false, whole = true;
    if (can_stream(s, o, paths)) code = stream(s, o, paths, &done);
    if (!done && code == EXIT_DONE) code = sort_in_parts(s, o, paths, &whole);
    if (done || code != EXIT_DONE || !whole) return code;
    o->changed = 0; /* by a stream that was given up */
    mote_cloud *cloud = NULL;
    code = read_points(s, o, paths, &cloud);
    if (code == EXIT_DONE) {
        uint64_t points = mote_cloud_count(cloud);
        s->bar.points = points;
        mote_status status = mote_cloud_write(s->ctx, cloud, output, &o->params);
        if (status == MOTE_OK) status = count_written(s, cloud, paths, &points);
        code = status != MOTE_OK ? session_fail(s, status, false) : report_written(s, o, output, points);
    }
    mote_cloud_destroy(cloud);
    return code;
}

static int convert(session *s, const void *options, const io_paths *paths) {
    convert_options own = *(const convert_options *)options, *const o = &own;
    if (o->set.count > 0) o->assignments = join_assignments(&o->set);
    if (o->set.count > 0 && o->assignments == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: --set");
    const int code = convert_all(s, o, paths);
    free(o->assignments);
    if (code == EXIT_DONE && o->format_given && s->extra_bytes) {
        session_note(s, "--select A,B,… writes only these attributes, others not as extra bytes either");
    }
    return code;
}

int cmd_convert(int argc, char **argv) {
    convert_options o = {.params = mote_write_defaults()};
    const option rows[] = {
        {"select", 0, OPTION_TEXT, &o.select, NULL, "A,B,…",
         "only these attributes, and x, y, z; default all.\nOf LAZ the others are not even decoded"},
        {"bounds", 0, OPTION_TEXT, &o.bounds, NULL, "BOX",
         "only points in minx,miny[,minz],maxx,maxy[,maxz],\nworld units, borders included"},
        {"bounds-in", 0, OPTION_CHOICE, &o.bounds_in, &o.bounds_in_given, "input|output",
         "with --to-crs: the system that --bounds is in;\ndefault that of the input"},
        {"crop", 0, OPTION_TEXT, &o.bounds, NULL, "BOX", "the same as --bounds"},
        {"polygon", 0, OPTION_TEXT, &o.polygon, NULL, "FILE",
         "only points in the polygons of a GeoJSON or GeoPackage file,\nseen from above; holes count, borders are "
         "included"},
        {"edits", 0, OPTION_TEXT, &o.edits, NULL, "FILE",
         "gives points the classes that the page of mote view, or\npolygons with a property \"class\", give them"},
        {"set", 0, OPTION_LIST, &o.set, NULL, "A=EXPR",
         "change values, as in \"classification = 6\", only of the\npoints that meet --where; all points are kept. May "
         "be\n"
         "given several times, and end in \" where CONDITION\""},
        {"thin", 0, OPTION_COUNT, &o.thin, &o.thin_given, "N", "only every N-th point (after --bounds)"},
        {"sort", 0, OPTION_FLAG, &o.sort, NULL, NULL,
         "points in Morton order, those of one code in that of the input;\nin parts, where --memory does not hold "
         "them"},
        {"resolution", 0, OPTION_REAL, &o.resolution, &o.resolution_given, "R",
         "COPC and Potree: no finer levels than needed for points\nthis far apart, world units"},
        {"salvage", 0, OPTION_FLAG, &o.salvage, NULL, NULL,
         "of a damaged or cut file what is whole, and say what\nis missing, instead of an error"},
        {"poses", 0, OPTION_TEXT, &o.poses, NULL, "WORD",
         "E57: apply what says where each scanner stood (the default),\nor keep coordinates as it saw them"},
        {"by-source", 0, OPTION_FLAG, &o.by_source, NULL, NULL,
         ".e57: a scan for each point_source_id; default if they\ncame from scans, else one scan"},
        {"level", 0, OPTION_INT, &o.level, &o.level_given, "N", "Potree folders: only the nodes of this level"},
        {"ascii", 0, OPTION_FLAG, &o.ascii, NULL, NULL, ".ply, .pcd: as text; default binary, little-endian"},
        {"big-endian", 0, OPTION_FLAG, &o.big_endian, NULL, NULL, ".ply: binary, big-endian"},
        {"compress", 0, OPTION_FLAG, &o.compress, NULL, NULL, ".pcd: binary_compressed; default binary"},
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
    const io_command command = {.help = &help, .rows = rows, .check = check_usage, .run = convert};
    return io_command_run(&command, &o, argc, argv);
}
