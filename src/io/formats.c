/* The format table, and the public readers and writers on top of it. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "io/io_internal.h"

const mote_format mote_formats[] = {
    {"las", ".las .laz", mote_las_probe, mote_las_read, mote_las_write},
    {"ply", ".ply", mote_ply_probe, mote_ply_read, mote_ply_write},
    {"xyz", ".xyz .txt .csv .pts .asc", mote_xyz_probe, mote_xyz_read, mote_xyz_write},
};
const uint32_t mote_format_count = sizeof mote_formats / sizeof mote_formats[0];

mote_read_params mote_read_defaults(void) {
    mote_read_params params;
    memset(&params, 0, sizeof params);
    params.level = -1;
    return params;
}

mote_write_params mote_write_defaults(void) {
    mote_write_params params;
    memset(&params, 0, sizeof params);
    params.las_format = -1;
    return params;
}

static bool is_copc(const char *path) {
    const size_t length = strlen(path);
    return length >= 9 && strcasecmp(path + length - 9, ".copc.laz") == 0;
}

/* The format whose list of endings has the path's; NULL if none. COPC is LAZ to read; to write, an octree of its own.
 */
static const mote_format *format_by_ending(const char *path) {
    const char *dot = is_copc(path) ? NULL : strrchr(path, '.');
    if (dot == NULL || strlen(dot) > 8 || strchr(dot, ' ') != NULL) return NULL;
    char ending[16] = "";
    for (size_t i = 0; dot[i] != '\0'; i++) ending[i] = (char)tolower((unsigned char)dot[i]);
    const size_t length = strlen(ending);
    for (uint32_t f = 0; f < mote_format_count; f++) {
        const char *found = strstr(mote_formats[f].endings, ending);
        if (found != NULL && (found[length] == ' ' || found[length] == '\0')) return &mote_formats[f];
    }
    return NULL;
}

const char *mote_ending_format(const char *path) {
    const mote_format *format = format_by_ending(path);
    return format != NULL ? format->name : NULL;
}

static const mote_format *format_by_content(const mote_input *input) {
    for (uint32_t f = 0; f < mote_format_count; f++) {
        if (mote_formats[f].probe(input)) return &mote_formats[f];
    }
    return NULL;
}

const char *mote_file_format(mote_context *ctx, const char *path) {
    if (mote_potree_probe(path)) return "potree";
    mote_input input;
    if (mote_input_open(ctx, path, &input) != MOTE_OK) return NULL;
    const mote_format *format = format_by_content(&input);
    mote_input_close(ctx, &input);
    return format != NULL ? format->name : NULL;
}

static mote_status read_path(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    if (mote_potree_probe(path)) return mote_potree_read(ctx, path, params, out);
    mote_input input;
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const mote_format *format = format_by_content(&input);
    if (format == NULL) format = format_by_ending(path);
    mote_status status;
    if (format != NULL) {
        status = format->read(ctx, &input, params, out);
    } else {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: offset 0: neither LAS, PLY, text nor a Potree folder", path);
    }
    mote_input_close(ctx, &input);
    return status;
}

#define SHARE_OF_READING 0.9 /* of progress, where points are chosen behind it */

mote_status mote_cloud_read(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    const mote_read_params p = params != NULL ? *params : mote_read_defaults();
    const double first = ctx->progress_first, last = ctx->progress_last;
    const double middle = p.bounds != NULL ? first + SHARE_OF_READING * (last - first) : last;
    mote_cloud *cloud = NULL;
    *out = NULL;
    mote_progress_share(ctx, first, middle);
    mote_status status = read_path(ctx, path, &p, &cloud);
    if (status == MOTE_OK) mote_cloud_keep_columns(cloud, p.select);
    mote_progress_share(ctx, middle, last);
    if (status == MOTE_OK && p.bounds != NULL) status = mote_cloud_keep_inside(ctx, &cloud, p.bounds);
    mote_progress_share(ctx, first, last);
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        return status;
    }
    *out = cloud;
    return MOTE_OK;
}

mote_status mote_cloud_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                             const mote_write_params *params) {
    const mote_write_params p = params != NULL ? *params : mote_write_defaults();
    const mote_format *format = format_by_ending(path);
    if (format == NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: the ending names no format that mote writes (.las .laz .ply .xyz .csv)", path);
    }
    return format->write(ctx, cloud, path, &p);
}
