#include "view/view_strip.h"

#include "view/view_http.h"

#include <math.h>
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers separated by commas, up to the next '&'. Returns how many; SIZE_MAX: no numbers, or too many. */
static size_t read_numbers(const char *text, double *numbers, size_t max) {
    for (size_t n = 0; n < max;) {
        char *end;
        numbers[n] = strtod(text, &end);
        if (end == text || !isfinite(numbers[n])) return SIZE_MAX;
        n++;
        if (*end == '\0' || *end == '&') return n;
        if (*end != ',') return SIZE_MAX;
        text = end + 1;
    }
    return SIZE_MAX;
}

bool view_strip_parse(const char *query, view_strip *strip) {
    const char *path = view_http_query_value(query, "path");
    const char *width = view_http_query_value(query, "width");
    const char *radians = view_http_query_value(query, "radians");
    double places[2 * VIEW_STRIP_POINTS_MAX];
    memset(strip, 0, sizeof *strip);
    if (path == NULL || width == NULL) return false;
    const size_t numbers = read_numbers(path, places, 2 * VIEW_STRIP_POINTS_MAX);
    if (numbers == SIZE_MAX || numbers < 4 || numbers % 2 != 0) return false;
    strip->count = numbers / 2;
    for (size_t i = 0; i < numbers; i++) strip->path[i / 2][i % 2] = places[i];
    if (read_numbers(width, &strip->width, 1) != 1 || !(strip->width > 0)) return false;
    return radians == NULL || (read_numbers(radians, &strip->radians, 1) == 1 && strip->radians >= 0);
}

static mote_units units_of(const view_strip *strip) {
    mote_units units;
    memset(&units, 0, sizeof units);
    units.horizontal.radians = strip->radians;
    return units;
}

static int compare(const void *a, const void *b) {
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* Cuts the strip out of a source and writes it, points in the order of the source. */
static mote_status cut(mote_context *ctx, const char *source, const view_strip *strip, const char *out,
                       uint64_t *count) {
    const uint64_t starts[2] = {0, strip->count};
    const mote_shape line = {.kind = MOTE_SHAPE_LINE,
                             .name = "",
                             .part_count = 1,
                             .part_starts = starts,
                             .positions = (const double(*)[3])strip->path};
    const mote_units units = units_of(strip);
    mote_read_params reading = mote_read_defaults();
    mote_box box;
    mote_cloud *near = NULL, *within = NULL;
    mote_profile *profile = NULL;
    uint64_t *indices = NULL;
    reading.bounds = &box;
    mote_status status = mote_profile_bounds(ctx, &line, strip->width, &units, &box);
    if (status == MOTE_OK) status = mote_cloud_read(ctx, source, &reading, &near);
    if (status == MOTE_OK) status = mote_profile_measure(ctx, near, &line, strip->width, &units, &profile);
    if (status == MOTE_OK) {
        indices = malloc(profile->count * sizeof *indices + 1);
        status = indices != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) {
        memcpy(indices, profile->indices, profile->count * sizeof *indices);
        qsort(indices, profile->count, sizeof *indices, compare);
        status = mote_cloud_select(ctx, near, indices, profile->count, &within);
    }
    if (status == MOTE_OK) status = mote_cloud_write(ctx, within, out, NULL);
    *count = status == MOTE_OK ? profile->count : 0;
    free(indices);
    mote_profile_destroy(ctx, profile);
    mote_cloud_destroy(within);
    mote_cloud_destroy(near);
    return status;
}

static bool goes_on(void *user, double done, const char *stage) {
    const atomic_bool *cancelled = user;
    (void)done;
    (void)stage;
    return !atomic_load(cancelled);
}

bool view_strip_write(const char *source, const view_strip *strip, const char *out, const atomic_bool *cancelled,
                      uint64_t *count, char *error, size_t size) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CPU;
    params.progress = cancelled != NULL ? goes_on : NULL;
    params.progress_user = (void *)(uintptr_t)cancelled;
    *count = 0;
    mote_status status = mote_context_create(&params, &ctx);
    if (status == MOTE_OK) status = cut(ctx, source, strip, out, count);
    const char *message = ctx != NULL ? mote_context_message(ctx) : "";
    if (status != MOTE_OK) snprintf(error, size, "%s", message[0] != '\0' ? message : "memory has run out");
    mote_context_destroy(ctx);
    return status == MOTE_OK;
}
