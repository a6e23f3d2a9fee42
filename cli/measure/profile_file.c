#include "measure/profile_file.h"

#include <stdio.h>
#include <string.h>

#include "measure/profile_picture.h"
#include "render/picture_file.h"
#include "text.h"

#define LINE_BYTES 256

int profile_check(session *s, const io_paths *paths) {
    if (io_paths_written_as(paths, ".dxf") || io_paths_written_as(paths, ".png")) {
        const char *missing = io_paths_written_as(paths, ".png") ? picture_format_missing(PICTURE_PNG) : NULL;
        if (missing != NULL) return session_error(s, EXIT_USAGE, "%s: %s", paths->output, missing);
        return check_output_place(s, paths);
    }
    return check_output_file(s, paths);
}

/* ---- DXF: points whose x is the distance along the line, whose y is the height, and whose z is the distance aside */

/* A drawing has one unit: that of the distances, in which volumes count heights, too. */
static double height_size(const mote_units *units) {
    const double along = units->horizontal.radians > 0 ? 1 : units->horizontal.metres;
    return along > 0 && units->vertical.metres > 0 ? units->vertical.metres / along : 1;
}

static mote_status write_dxf(session *s, const char *path, const mote_profile *profile, const mote_units *units) {
    const double size = height_size(units);
    static const char begin[] = "0\nSECTION\n2\nHEADER\n9\n$ACADVER\n1\nAC1009\n0\nENDSEC\n0\nSECTION\n2\nENTITIES\n";
    static const char end[] = "0\nENDSEC\n0\nEOF\n";
    mote_output *output = NULL;
    mote_status status = mote_output_create(s->ctx, path, true, &output);
    if (status != MOTE_OK) return status;
    status = mote_output_write(s->ctx, output, begin, sizeof begin - 1);
    for (uint64_t i = 0; status == MOTE_OK && i < profile->count; i++) {
        char line[LINE_BYTES];
        const int length = snprintf(line, sizeof line, "0\nPOINT\n8\nprofile\n10\n%s\n20\n%s\n30\n%s\n",
                                    text_real(profile->along[i]).chars, text_real(profile->height[i] * size).chars,
                                    text_real(profile->aside[i]).chars);
        status = mote_output_write(s->ctx, output, line, (uint64_t)length);
    }
    if (status == MOTE_OK) status = mote_output_write(s->ctx, output, end, sizeof end - 1);
    return mote_output_finish(s->ctx, output, status);
}

/* ---- the points themselves */

static void put_column(mote_cloud *cloud, const char *name, const double *values) {
    uint8_t *at = mote_cloud_column_data(cloud, name);
    const uint32_t stride = mote_cloud_find(cloud, name)->stride_bytes;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) memcpy(at + i * stride, &values[i], sizeof values[i]);
}

/* Adds the distances as columns: in text a column may be anything. */
static mote_status add_distances(mote_cloud *cloud, const mote_profile *profile) {
    const mote_column_spec along = {"along", MOTE_FLOAT64, 0, 0}, aside = {"aside", MOTE_FLOAT64, 0, 0};
    mote_status status = mote_cloud_put_column(cloud, &along);
    if (status == MOTE_OK) status = mote_cloud_put_column(cloud, &aside);
    if (status != MOTE_OK) return status;
    put_column(cloud, "along", profile->along);
    put_column(cloud, "aside", profile->aside);
    return MOTE_OK;
}

static mote_status write_points(session *s, const io_paths *paths, const mote_cloud *cloud,
                                const mote_profile *profile) {
    mote_cloud *points = NULL;
    mote_write_params params = mote_write_defaults();
    const char *format = io_paths_format(paths);
    params.format = paths->format;
    mote_status status = mote_cloud_select(s->ctx, cloud, profile->indices, profile->count, &points);
    if (status == MOTE_OK && format != NULL && strcmp(format, "xyz") == 0) status = add_distances(points, profile);
    if (status == MOTE_OK) status = mote_cloud_write(s->ctx, points, paths->output, &params);
    mote_cloud_destroy(points);
    return status;
}

int profile_write(session *s, const io_paths *paths, const mote_cloud *cloud, const mote_profile *profile,
                  const mote_units *units) {
    mote_status status;
    if (io_paths_written_as(paths, ".dxf")) {
        status = write_dxf(s, paths->output, profile, units);
    } else if (io_paths_written_as(paths, ".png")) {
        status = profile_draw(s, paths->output, cloud, profile, units);
    } else {
        status = write_points(s, paths, cloud, profile);
    }
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}
