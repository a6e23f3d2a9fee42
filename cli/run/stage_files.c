/* Stages that read and write files, and those that make points. */
#include <inttypes.h>
#include <math.h>
#include <mote_have.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "read_options.h"
#include "report.h"
#include "run/pdal_text.h"
#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON

/* ---- reading */

typedef struct read_options {
    const char *where, *bounds, *crs, *columns, *separator, *select, *set, *default_crs, *poses;
    int level;
    double resolution;
    uint64_t count, start;
    bool level_given, resolution_given, count_given, salvage;
} read_options;

static int check_reading(stage_call *call, const read_options *o, mote_read_params *params, mote_box *box) {
    char why[PDAL_WHY];
    int axes = 0;
    double corners[6];
    if (o->resolution_given && !(o->resolution > 0)) return stage_wrong(call, "resolution", "above 0");
    if (o->level_given && o->level < 0) return stage_wrong(call, "level", "%d is below 0", o->level);
    if (o->separator != NULL && strcmp(o->separator, "tab") != 0 && strlen(o->separator) != 1) {
        return stage_wrong(call, "separator", "\"%s\" is not one character, nor tab", o->separator);
    }
    if (o->poses != NULL && !parse_poses(o->poses, &params->keep_poses)) {
        return stage_wrong(call, "poses", "\"%s\" is not apply or keep", o->poses);
    }
    if (o->bounds != NULL && !pdal_bounds(o->bounds, corners, &axes, why)) {
        return stage_wrong(call, "bounds", "%s", why);
    }
    for (int k = 0; k < 3; k++) {
        box->min[k] = k < axes ? corners[k] : -INFINITY;
        box->max[k] = k < axes ? corners[3 + k] : INFINITY;
    }
    params->where = o->where;
    params->set = o->set;
    params->crs = o->crs;
    params->columns = o->columns;
    params->select = o->select;
    params->salvage = o->salvage;
    if (o->bounds != NULL) params->bounds = box;
    if (o->level_given) params->level = o->level;
    if (o->resolution_given) params->resolution = o->resolution;
    if (o->separator != NULL) params->separator = strcmp(o->separator, "tab") == 0 ? '\t' : o->separator[0];
    return EXIT_DONE;
}

/* readers.las of a PLY file is a mistake, of one of the two. COPC is LAZ, and everything that has no format is text. */
static int check_formats(stage_call *call) {
    const char *wanted = call->kind->format;
    for (uint32_t i = 0; wanted != NULL && i < call->stage->file_count; i++) {
        const char *file = call->stage->files[i];
        if (path_is_stream(file) || strpbrk(file, "*?[") != NULL) continue;
        const char *format = mote_file_format(call->s->ctx, file);
        mote_context_clear(call->s->ctx);
        if (format == NULL || strcmp(format, wanted) == 0) continue;
        return stage_wrong(call, "type", "%s is no reader of %s, which is %s", call->kind->name, file, format);
    }
    return EXIT_DONE;
}

/* "count" points from "start" on. */
static int cut(stage_call *call, const read_options *o) {
    const uint64_t all = mote_cloud_count(call->cloud), start = o->start < all ? o->start : all;
    const uint64_t count = o->count_given && o->count < all - start ? o->count : all - start;
    if (count == all) return EXIT_DONE;
    return stage_keep_rows(call, start, 1, count);
}

static int read_files(stage_call *call, const read_options *o, const mote_read_params *params) {
    int code = check_formats(call);
    if (code == EXIT_DONE) {
        code = session_read(call->s, call->stage->files, (int)call->stage->file_count, params, &call->cloud);
    }
    if (code == EXIT_DONE && o->default_crs != NULL && mote_cloud_crs(call->cloud)[0] == '\0') {
        const mote_status status = mote_cloud_assign_crs(call->s->ctx, call->cloud, o->default_crs);
        if (status != MOTE_OK) code = session_fail(call->s, status, false);
    }
    return code == EXIT_DONE ? cut(call, o) : code;
}

int stage_read(stage_call *call) {
    read_options o = {0};
    mote_box box;
    mote_read_params params = mote_read_defaults();
    const option rows[] = {
        {"where", 0, OPTION_TEXT, &o.where, NULL, "EXPR", "only points that meet it; others are not even decoded"},
        {"bounds", 0, OPTION_TEXT, &o.bounds, NULL, "BOX",
         "only points in ([min x, max x], [min y, max y], [min z, max z])"},
        {"set", 0, OPTION_TEXT, &o.set, NULL, "A=EXPR", "changes values; then where says whose, and all are read"},
        {"select", 0, OPTION_TEXT, &o.select, NULL, "A,B,…", "only these attributes, and x, y, z"},
        {"count", 0, OPTION_COUNT, &o.count, &o.count_given, "N", "at most N points"},
        {"start", 0, OPTION_COUNT, &o.start, NULL, "I", "from the I-th on, from 0"},
        {"override-srs", 0, OPTION_TEXT, &o.crs, NULL, "CRS", "the reference system that they are in"},
        {"spatialreference", 0, OPTION_TEXT, &o.crs, NULL, "CRS", "the same"},
        {"crs", 0, OPTION_TEXT, &o.crs, NULL, "CRS", "the same"},
        {"default-srs", 0, OPTION_TEXT, &o.default_crs, NULL, "CRS", "the one where the file names none"},
        {"resolution", 0, OPTION_REAL, &o.resolution, &o.resolution_given, "R",
         "COPC and Potree: no finer levels than for points this far apart"},
        {"level", 0, OPTION_INT, &o.level, &o.level_given, "N", "Potree: only the nodes of this level"},
        {"columns", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…", "text: names of the columns; default the header line"},
        {"header", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…", "the same"},
        {"separator", 0, OPTION_TEXT, &o.separator, NULL, "C", "text: between columns, or \"tab\"; default found out"},
        {"salvage", 0, OPTION_FLAG, &o.salvage, NULL, NULL, "of a damaged file what is whole, instead of an error"},
        {"poses", 0, OPTION_TEXT, &o.poses, NULL, "WORD", "E57: apply or keep, as for mote convert"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code == EXIT_DONE) code = check_reading(call, &o, &params, &box);
    return code == EXIT_DONE && !call->checking ? read_files(call, &o, &params) : code;
}

int stage_generate(stage_call *call) {
    const char *kind = NULL;
    uint64_t count = 0, seed = 0;
    double noise = 0, outliers = 0;
    bool seed_given = false, noise_given = false, outliers_given = false;
    const option rows[] = {
        {"kind", 0, OPTION_TEXT, &kind, NULL, "KIND", "city, room, torus, …: as mote gen has them"},
        {"count", 0, OPTION_COUNT, &count, NULL, "N", "points"},
        {"seed", 0, OPTION_COUNT, &seed, &seed_given, "S", "start of all randomness; the default is fixed"},
        {"noise", 0, OPTION_REAL, &noise, &noise_given, "M",
         "room: standard deviation along the normal; default 0.003"},
        {"outliers", 0, OPTION_REAL, &outliers, &outliers_given, "R", "room: share of outliers; default 0.1"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (kind == NULL || count == 0) return stage_wrong(call, NULL, "gen needs \"kind\" and \"count\"");
    if (outliers_given && !(outliers >= 0 && outliers <= 1)) return stage_wrong(call, "outliers", "not in 0..1");
    if (noise_given && !(noise >= 0)) return stage_wrong(call, "noise", "%g is below 0", noise);
    if (call->checking) return EXIT_DONE;
    mote_gen_params params = mote_gen_defaults(kind);
    if (seed_given) params.seed = seed;
    if (noise_given) params.noise_m = noise;
    if (outliers_given) params.outlier_ratio = outliers;
    const mote_status status = mote_generate(call->s->ctx, kind, count, &params, &call->cloud);
    return status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
}

/* ---- writing */

typedef struct write_options {
    const char *file, *where, *columns, *crs, *forward, *extra_dims, *compression, *storage, *format;
    int minor, point_format;
    bool minor_given, point_format_given, by_source, hash;
} write_options;

static bool is_word(const char *word, const char *list) { return word != NULL && text_list_has(list, word); }

/* PDAL's words for what mote has. */
static int check_writing(stage_call *call, const write_options *o, mote_write_params *params) {
    if (o->minor_given && (o->minor < 2 || o->minor > 4)) return stage_wrong(call, "minor_version", "2, 3 or 4");
    if (o->point_format_given && (o->point_format < 0 || o->point_format > 10)) {
        return stage_wrong(call, "dataformat_id", "%d is not in 0..10", o->point_format);
    }
    if (o->forward != NULL && !is_word(o->forward, "all,none,header,vlr,scale,offset,format")) {
        return stage_wrong(call, "forward", "mote keeps header, scale and records of its input: \"all\"");
    }
    if (o->extra_dims != NULL && !is_word(o->extra_dims, "all")) {
        return stage_wrong(call, "extra_dims", "mote writes all attributes, or those of \"columns\": \"all\"");
    }
    params->las_version_minor = o->minor_given ? o->minor : 0;
    if (o->point_format_given) params->las_format = o->point_format;
    params->by_source = o->by_source;
    params->format = o->format;
    if (o->compression != NULL && is_word(call->kind->format, "las")) {
        if (!is_word(o->compression, "true,false,none,laszip,lazperf")) {
            return stage_wrong(call, "compression", "\"%s\" is not true, false, laszip, lazperf or none",
                               o->compression);
        }
        if (o->format == NULL) params->format = is_word(o->compression, "false,none") ? "las" : "laz";
    }
    if (o->compression != NULL && is_word(call->kind->format, "pcd")) {
        if (!is_word(o->compression, "ascii,binary,compressed,xyz")) {
            return stage_wrong(call, "compression", "\"%s\" is not ascii, binary or compressed", o->compression);
        }
        params->text = strcmp(o->compression, "ascii") == 0;
        params->compress = strcmp(o->compression, "compressed") == 0;
    }
    if (o->storage != NULL) {
        if (!is_word(o->storage, "ascii,little endian,big endian,default")) {
            return stage_wrong(call, "storage_mode", "\"%s\" is not ascii, little endian or big endian", o->storage);
        }
        params->text = strcmp(o->storage, "ascii") == 0;
        params->big_endian = strcmp(o->storage, "big endian") == 0;
    }
    return EXIT_DONE;
}

/* An output has to have the format of its writer, by its ending or by "format". */
static int check_ending(stage_call *call, const write_options *o, mote_write_params *params) {
    if (o->file == NULL) return stage_wrong(call, NULL, "%s needs \"filename\"", call->kind->name);
    char ending[40];
    if (o->format != NULL) snprintf(ending, sizeof ending, ".%s", o->format);
    const char *format = mote_ending_format(o->format != NULL ? ending : o->file);
    if (format == NULL && o->format == NULL) {
        params->format = strcmp(call->kind->format, "xyz") == 0 ? "csv" : call->kind->format; /* as PDAL has it */
        return EXIT_DONE;
    }
    if (format != NULL && strcmp(format, call->kind->format) == 0) return EXIT_DONE;
    return stage_wrong(call, o->format != NULL ? "format" : "filename", "%s writes no \"%s\"", call->kind->name,
                       o->format != NULL ? o->format : o->file);
}

/* The attributes of "columns" under the names that the points have for them, behind x, y and z. */
static int name_columns(stage_call *call, const char *list, const char **out) {
    *out = "x,y,z";
    for (const char *at = list; *at != '\0'; at += at[0] == ',') {
        char name[128];
        at += strspn(at, " ");
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        at += length;
        const mote_column *column = mote_cloud_match(call->cloud, name);
        if (column == NULL) return stage_wrong(call, NULL, "the points have no attribute \"%s\"", name);
        if (strlen(column->name) == 1 && strchr("xyz", column->name[0]) != NULL) continue;
        *out = stage_word(call, "%s,%s", *out, column->name);
        if (*out == NULL) return session_error(call->s, EXIT_RESOURCES, "out of memory: names of attributes");
    }
    return EXIT_DONE;
}

static int write_file(stage_call *call, const write_options *o, mote_write_params *params) {
    session *s = call->s;
    const io_paths paths = {NULL, 0, o->file, params->format, true};
    uint64_t hash = 0;
    int code = check_output_file(s, &paths);
    if (call->checking || code != EXIT_DONE) return code;
    if (o->where != NULL) code = stage_keep_points(call, o->where);
    if (code == EXIT_DONE && o->crs != NULL) {
        code = stage_own(call);
        const mote_status status = code == EXIT_DONE ? mote_cloud_assign_crs(s->ctx, call->cloud, o->crs) : MOTE_OK;
        if (status != MOTE_OK) code = session_fail(s, status, false);
    }
    if (code == EXIT_DONE && o->columns != NULL) code = name_columns(call, o->columns, &params->columns);
    if (code != EXIT_DONE) return code;
    const mote_status status = mote_cloud_write(s->ctx, call->cloud, o->file, params);
    if (status != MOTE_OK) return session_fail(s, status, false);
    if (mote_cloud_count(call->cloud) == 0) session_note(s, "%sno point remains; the output is empty", stage_place());
    if (o->hash) code = report_hash(s, o->file, &hash);
    if (code != EXIT_DONE) return code;
    session_say(s, "%s: %s points", path_title(o->file), text_count(mote_cloud_count(call->cloud)).chars);
    if (o->hash) session_say(s, "%s  %s", text_hash(hash).chars, path_title(o->file));
    return EXIT_DONE;
}

#define FILE_ROW                                                                                                       \
    { "filename", 0, OPTION_TEXT, &o.file, NULL, "FILE", "is replaced when all of the pipeline is done" }
#define WHERE_ROW                                                                                                      \
    { "where", 0, OPTION_TEXT, &o.where, NULL, "EXPR", "only points that meet it are written, and handed on" }
#define COLUMNS_ROW                                                                                                    \
    { "columns", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…", "only x, y, z and these attributes; default all" }
#define CRS_ROW                                                                                                        \
    { "a-srs", 0, OPTION_TEXT, &o.crs, NULL, "CRS", "the reference system that the file names" }
#define FORMAT_ROW                                                                                                     \
    { "format", 0, OPTION_TEXT, &o.format, NULL, "F", "instead of the ending: las, laz, ply, xyz, csv, …" }
#define HASH_ROW                                                                                                       \
    { "hash", 0, OPTION_FLAG, &o.hash, NULL, NULL, "also say the checksum of what the file holds" }
/* What every writer is asked. */
#define SHARED_ROWS FILE_ROW, WHERE_ROW, COLUMNS_ROW, CRS_ROW, FORMAT_ROW, HASH_ROW

int stage_write(stage_call *call) {
    write_options o = {0};
    mote_write_params params = mote_write_defaults();
    const option las[] = {
        SHARED_ROWS,
        {"minor-version", 0, OPTION_INT, &o.minor, &o.minor_given, "N",
         "of LAS 1.N: 2, 3 or 4; default what the attributes need"},
        {"dataformat-id", 0, OPTION_INT, &o.point_format, &o.point_format_given, "N",
         "0..10; default what the attributes need"},
        {"compression", 0, OPTION_TEXT, &o.compression, NULL, "WORD",
         "true or false: LAZ or LAS; default by the ending"},
        {"forward", 0, OPTION_TEXT, &o.forward, NULL, "all", "what is so in any case"},
        {"extra-dims", 0, OPTION_TEXT, &o.extra_dims, NULL, "all", "what is so in any case"},
        {0},
    };
    const option ply[] = {
        SHARED_ROWS,
        {"dims", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…", "the same as columns"},
        {"storage-mode", 0, OPTION_TEXT, &o.storage, NULL, "MODE",
         "ascii, little endian or big endian; default little endian"},
        {0},
    };
    const option pcd[] = {
        SHARED_ROWS,
        {"compression", 0, OPTION_TEXT, &o.compression, NULL, "WORD", "ascii, binary or compressed; default binary"},
        {0},
    };
    const option e57[] = {
        SHARED_ROWS,
        {"by-source", 0, OPTION_FLAG, &o.by_source, NULL, NULL, "a scan for each point_source_id"},
        {0},
    };
    const option lines[] = {
        SHARED_ROWS,
        {"order", 0, OPTION_TEXT, &o.columns, NULL, "A,B,…", "the same as columns"},
        {0},
    };
    const char *format = call->kind->format;
    const option *rows = strcmp(format, "las") == 0   ? las
                         : strcmp(format, "ply") == 0 ? ply
                         : strcmp(format, "pcd") == 0 ? pcd
                         : strcmp(format, "e57") == 0 ? e57
                                                      : lines;
    int code = stage_options(call, rows);
    if (code == EXIT_DONE) code = check_writing(call, &o, &params);
    if (code == EXIT_DONE) code = check_ending(call, &o, &params);
    return code == EXIT_DONE ? write_file(call, &o, &params) : code;
}

#endif
