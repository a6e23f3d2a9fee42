/* Stages that keep some of the points. */
#define _GNU_SOURCE /* memfd_create */
#include <inttypes.h>
#include <math.h>
#include <mote_have.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "edits/convert_edits.h"
#include "edits/point_select.h"
#include "run/pdal_text.h"
#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON

void stage_replace(stage_call *call, mote_cloud *cloud) {
    if (!call->shares_cloud) mote_cloud_destroy(call->cloud);
    call->cloud = cloud;
    call->shares_cloud = false;
}

static int no_memory(stage_call *call) {
    return session_error(call->s, EXIT_RESOURCES, "out of memory: the list of the chosen points");
}

int stage_keep_rows(stage_call *call, uint64_t first, uint64_t step, uint64_t count) {
    uint64_t *indices = malloc((size_t)count * sizeof *indices + 1);
    mote_cloud *chosen = NULL;
    if (indices == NULL) return no_memory(call);
    for (uint64_t i = 0; i < count; i++) indices[i] = first + i * step;
    const mote_status status = mote_cloud_select(call->s->ctx, call->cloud, indices, count, &chosen);
    free(indices);
    if (status != MOTE_OK) return session_fail(call->s, status, false);
    stage_replace(call, chosen);
    return EXIT_DONE;
}

int stage_copy(stage_call *call, mote_cloud **out) {
    const uint64_t count = mote_cloud_count(call->cloud);
    uint64_t *indices = malloc((size_t)count * sizeof *indices + 1);
    if (indices == NULL) return no_memory(call);
    for (uint64_t i = 0; i < count; i++) indices[i] = i;
    const mote_status status = mote_cloud_select(call->s->ctx, call->cloud, indices, count, out);
    free(indices);
    return status == MOTE_OK ? EXIT_DONE : session_fail(call->s, status, false);
}

int stage_own(stage_call *call) {
    mote_cloud *copy = NULL;
    if (!call->shares_cloud) return EXIT_DONE;
    const int code = stage_copy(call, &copy);
    if (code == EXIT_DONE) stage_replace(call, copy);
    return code;
}

static int keep_flagged(stage_call *call, const uint8_t *flags) {
    mote_cloud *chosen = NULL;
    const mote_status status = point_select(call->s->ctx, call->cloud, flags, &chosen);
    if (status == MOTE_ERROR_MEMORY) return no_memory(call);
    if (status != MOTE_OK) return session_fail(call->s, status, false);
    stage_replace(call, chosen);
    return EXIT_DONE;
}

int stage_keep_points(stage_call *call, const char *condition) {
    uint64_t count = 0;
    bool *chosen = malloc((size_t)mote_cloud_count(call->cloud) + 1);
    if (chosen == NULL) return no_memory(call);
    const mote_status status = mote_cloud_where(call->s->ctx, call->cloud, condition, chosen, &count);
    const int code =
        status == MOTE_OK ? keep_flagged(call, (const uint8_t *)chosen) : session_fail(call->s, status, false);
    free(chosen);
    return code;
}

int stage_range(stage_call *call) {
    const char *limits = NULL;
    char why[PDAL_WHY];
    const option rows[] = {
        {"limits", 0, OPTION_TEXT, &limits, NULL, "RANGES",
         "as in Classification[2:2],Z(0:100]; default: none, which is a mistake"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (limits == NULL) return stage_wrong(call, NULL, "filters.range needs \"limits\"");
    char *condition = pdal_ranges(limits, why);
    if (condition == NULL && why[0] == '\0') return no_memory(call);
    if (condition == NULL) return stage_wrong(call, "limits", "%s", why);
    if (!call->checking) code = stage_keep_points(call, condition);
    free(condition);
    return code;
}

int stage_expression(stage_call *call) {
    const char *condition = NULL;
    const option rows[] = {
        {"expression", 0, OPTION_TEXT, &condition, NULL, "EXPR", "points that meet it are kept, as by --where"},
        {"where", 0, OPTION_TEXT, &condition, NULL, "EXPR", "the same"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (condition == NULL) return stage_wrong(call, NULL, "filters.expression needs \"expression\"");
    return call->checking ? EXIT_DONE : stage_keep_points(call, condition);
}

/* Some at one end of the cloud, or all but these. */
static int keep_end(stage_call *call, bool last, const char *what) {
    uint64_t count = 10;
    bool invert = false;
    const option rows[] = {
        {"count", 0, OPTION_COUNT, &count, NULL, "N", what},
        {"invert", 0, OPTION_FLAG, &invert, NULL, NULL, "all others instead"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE || call->checking) return code;
    const uint64_t all = mote_cloud_count(call->cloud), some = count < all ? count : all;
    const uint64_t kept = invert ? all - some : some;
    return stage_keep_rows(call, last == invert ? 0 : all - kept, 1, kept);
}

int stage_head(stage_call *call) { return keep_end(call, false, "the first N points; default 10"); }

int stage_tail(stage_call *call) { return keep_end(call, true, "the last N points; default 10"); }

int stage_decimate(stage_call *call) {
    uint64_t step = 1, offset = 0, limit = UINT64_MAX;
    const option rows[] = {
        {"step", 0, OPTION_COUNT, &step, NULL, "N", "every N-th point; default 1"},
        {"offset", 0, OPTION_COUNT, &offset, NULL, "I", "the first one, from 0; default 0"},
        {"limit", 0, OPTION_COUNT, &limit, NULL, "I", "none from here on; default: to the end"},
        {0},
    };
    const int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    if (step < 1) return stage_wrong(call, "step", "1 or more");
    if (call->checking) return EXIT_DONE;
    const uint64_t all = mote_cloud_count(call->cloud), end = limit < all ? limit : all;
    return stage_keep_rows(call, offset, step, end > offset ? (end - offset - 1) / step + 1 : 0);
}

/* ---- crop */

typedef struct crop_options {
    const char *bounds, *polygon, *point;
    double distance;
    bool distance_given, outside;
} crop_options;

/* The box as a condition, for free(); NULL and a code where it is none. */
static char *box_condition(stage_call *call, const char *bounds, bool outside, int *code) {
    double box[6] = {0};
    int axes = 0;
    char why[PDAL_WHY], *condition = malloc(400);
    if (condition == NULL) *code = no_memory(call);
    if (condition != NULL && !pdal_bounds(bounds, box, &axes, why)) *code = stage_wrong(call, "bounds", "%s", why);
    if (*code != EXIT_DONE) {
        free(condition);
        return NULL;
    }
    int at = snprintf(condition, 400, "%s(x >= %.17g and x <= %.17g and y >= %.17g and y <= %.17g",
                      outside ? "not " : "", box[0], box[3], box[1], box[4]);
    if (axes == 3) at += snprintf(condition + at, 400 - (size_t)at, " and z >= %.17g and z <= %.17g", box[2], box[5]);
    snprintf(condition + at, 400 - (size_t)at, ")");
    return condition;
}

/* "POINT(x y)", "x,y" or with heights, as the condition of a circle or a ball. */
static char *ball_condition(stage_call *call, const crop_options *o, int *code) {
    double place[3] = {0};
    int axes = 0;
    const char *at = o->point;
    at += strspn(at, " ");
    const bool is_wkt = strncmp(at, "POINT", 5) == 0;
    at += is_wkt ? strcspn(at, "(") : 0;
    at += is_wkt && *at == '(';
    for (; axes < 3; axes++) {
        char *end;
        place[axes] = strtod(at, &end);
        if (end == at) break;
        at = end + strspn(end, " ,");
    }
    at += is_wkt && *at == ')';
    char *condition = malloc(400);
    if (condition == NULL) {
        *code = no_memory(call);
    } else if (axes < 2 || *at != '\0') {
        *code = stage_wrong(call, "point", "\"%s\" is not POINT(x y) or POINT(x y z)", o->point);
    } else if (!(o->distance > 0)) {
        *code = stage_wrong(call, "distance", "above 0, in units of the points");
    } else {
        const double d = o->distance;
        int n = snprintf(condition, 400, "%s((x - (%.17g)) * (x - (%.17g)) + (y - (%.17g)) * (y - (%.17g))",
                         o->outside ? "not " : "", place[0], place[0], place[1], place[1]);
        if (axes == 3)
            n += snprintf(condition + n, 400 - (size_t)n, " + (z - (%.17g)) * (z - (%.17g))", place[2], place[2]);
        snprintf(condition + n, 400 - (size_t)n, " <= %.17g)", d * d);
        return condition;
    }
    free(condition);
    return NULL;
}

static int crop_polygon(stage_call *call, const crop_options *o) {
    convert_area area;
    int code = convert_area_open(call->s, o->polygon, NULL, &area);
    if (code == EXIT_DONE && o->outside) {
        const uint64_t all = mote_cloud_count(call->cloud);
        const mote_column *x = mote_cloud_find(call->cloud, "x"), *y = mote_cloud_find(call->cloud, "y");
        uint8_t *flags = malloc((size_t)all + 1);
        for (uint64_t i = 0; i < all && flags != NULL; i++) {
            flags[i] = !mote_region_contains(area.region, mote_column_value(x, i), mote_column_value(y, i));
        }
        code = flags != NULL ? keep_flagged(call, flags) : no_memory(call);
        free(flags);
    } else if (code == EXIT_DONE) {
        code = stage_own(call);
        if (code == EXIT_DONE) code = convert_area_select(call->s, &area, &call->cloud);
    }
    convert_area_close(&area);
    return code;
}

/* A polygon of well-known text is GeoJSON in a file without a name. */
static int crop_text(stage_call *call, const crop_options *o) {
    char why[PDAL_WHY], path[64];
    char *geojson = pdal_polygon(o->polygon, why);
    if (geojson == NULL && why[0] != '\0') return stage_wrong(call, "polygon", "%s", why);
    if (geojson == NULL) return no_memory(call);
    const int file = call->checking ? -1 : memfd_create("polygon", MFD_CLOEXEC);
    const size_t size = strlen(geojson);
    const bool is_written = file >= 0 && write(file, geojson, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0;
    free(geojson);
    if (call->checking) return EXIT_DONE;
    crop_options of_file = *o;
    of_file.polygon = path;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int code = is_written ? crop_polygon(call, &of_file) : no_memory(call);
    if (file >= 0) close(file);
    return code;
}

int stage_crop(stage_call *call) {
    crop_options o = {0};
    const option rows[] = {
        {"bounds", 0, OPTION_TEXT, &o.bounds, NULL, "BOX",
         "([min x, max x], [min y, max y], [min z, max z]), borders included"},
        {"polygon", 0, OPTION_TEXT, &o.polygon, NULL, "FILE",
         "a GeoJSON file, or POLYGON ((x y, …)); holes count, borders are\nincluded"},
        {"point", 0, OPTION_TEXT, &o.point, NULL, "POINT", "POINT(x y) or POINT(x y z), with distance"},
        {"distance", 0, OPTION_REAL, &o.distance, &o.distance_given, "R", "how far from the point"},
        {"outside", 0, OPTION_FLAG, &o.outside, NULL, NULL, "keeps what is outside instead"},
        {0},
    };
    int code = stage_options(call, rows);
    if (code != EXIT_DONE) return code;
    const int areas = (o.bounds != NULL) + (o.polygon != NULL) + (o.point != NULL);
    if (areas != 1) return stage_wrong(call, NULL, "filters.crop needs one of \"bounds\", \"polygon\", \"point\"");
    if ((o.point != NULL) != o.distance_given) return stage_wrong(call, NULL, "\"point\" and \"distance\" go together");
    if (o.polygon != NULL && strchr(o.polygon, '(') != NULL) return crop_text(call, &o);
    if (o.polygon != NULL) return call->checking ? EXIT_DONE : crop_polygon(call, &o);
    char *condition =
        o.bounds != NULL ? box_condition(call, o.bounds, o.outside, &code) : ball_condition(call, &o, &code);
    if (code == EXIT_DONE && !call->checking) code = stage_keep_points(call, condition);
    free(condition);
    return code;
}

#endif
