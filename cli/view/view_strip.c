#include "view/view_strip.h"

#include "view/view_http.h"

#include <float.h>
#include <math.h>
#include <mote/mote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The two axes that do not point up, in the order in which the page names them. */
static void level_axes(int up, int axes[2]) {
    axes[0] = up == 0 ? 1 : 0;
    axes[1] = up == 2 ? 1 : 2;
}

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
    const char *up = view_http_query_value(query, "up");
    const char *stretch = view_http_query_value(query, "stretch");
    double axis = 2;
    *strip = (view_strip){.stretch = {1, 1}};
    if (path == NULL || width == NULL) return false;
    const size_t numbers = read_numbers(path, strip->path[0], 2 * VIEW_STRIP_POINTS_MAX);
    if (numbers == SIZE_MAX || numbers < 4 || numbers % 2 != 0) return false;
    strip->count = numbers / 2;
    if (read_numbers(width, &strip->width, 1) != 1 || !(strip->width > 0)) return false;
    if (up != NULL && (read_numbers(up, &axis, 1) != 1 || (axis != 0 && axis != 1 && axis != 2))) return false;
    if (stretch != NULL && read_numbers(stretch, strip->stretch, 2) != 2) return false;
    strip->up = (int)axis;
    return strip->stretch[0] > 0 && strip->stretch[1] > 0;
}

/* How far a place may lie outside and still count: what coordinates lose when they are computed, as drawn. */
static double slack_of(const view_strip *strip) {
    double largest = 0;
    for (size_t i = 0; i < strip->count; i++) {
        for (int k = 0; k < 2; k++) largest = fmax(largest, fabs(strip->path[i][k]) * strip->stretch[k]);
    }
    return 16 * DBL_EPSILON * largest;
}

/* The box of the path and half the width around it, endless in height. */
static mote_box box_of(const view_strip *strip) {
    int axes[2];
    mote_box box;
    level_axes(strip->up, axes);
    box.min[strip->up] = -DBL_MAX;
    box.max[strip->up] = DBL_MAX;
    for (int k = 0; k < 2; k++) {
        const double margin = (0.5 * strip->width + slack_of(strip)) / strip->stretch[k];
        double low = strip->path[0][k];
        double high = low;
        for (size_t i = 1; i < strip->count; i++) {
            low = fmin(low, strip->path[i][k]);
            high = fmax(high, strip->path[i][k]);
        }
        box.min[axes[k]] = low - margin;
        box.max[axes[k]] = high + margin;
    }
    return box;
}

/* Whether a place (seen from above, in coordinates of the file) lies beside one of the legs. */
static bool is_within(const view_strip *strip, double slack, double a, double b) {
    for (size_t i = 0; i + 1 < strip->count; i++) {
        const double *from = strip->path[i];
        const double *to = strip->path[i + 1];
        const double dx = (to[0] - from[0]) * strip->stretch[0];
        const double dy = (to[1] - from[1]) * strip->stretch[1];
        const double u = (a - from[0]) * strip->stretch[0];
        const double v = (b - from[1]) * strip->stretch[1];
        const double length = hypot(dx, dy);
        const double along = (u * dx + v * dy) / length; /* NaN where the leg has no length: not within */
        const double aside = fabs(u * dy - v * dx) / length;
        if (along >= -slack && along <= length + slack && aside <= 0.5 * strip->width + slack) return true;
    }
    return false;
}

/* The numbers of the points within the strip, in the order of the cloud; NULL where memory has run out. */
static uint64_t *find_within(const view_strip *strip, const mote_cloud *cloud, uint64_t *count) {
    int axes[2];
    level_axes(strip->up, axes);
    const uint64_t points = mote_cloud_count(cloud);
    const double slack = slack_of(strip);
    const mote_column *a = mote_cloud_find(cloud, (const char *const[]){"x", "y", "z"}[axes[0]]);
    const mote_column *b = mote_cloud_find(cloud, (const char *const[]){"x", "y", "z"}[axes[1]]);
    uint64_t *indices = malloc((points + 1) * sizeof *indices);
    *count = 0;
    for (uint64_t i = 0; indices != NULL && i < points; i++) {
        if (is_within(strip, slack, mote_column_value(a, i), mote_column_value(b, i))) indices[(*count)++] = i;
    }
    return indices;
}

static bool goes_on(void *user, double done, const char *stage) {
    const atomic_bool *cancelled = user;
    (void)done;
    (void)stage;
    return !atomic_load(cancelled);
}

bool view_strip_write(const char *source, const view_strip *strip, const char *out, const atomic_bool *cancelled,
                      uint64_t *count, char *error, size_t size) {
    const mote_box box = box_of(strip);
    mote_context_params params = mote_context_defaults();
    mote_read_params reading = mote_read_defaults();
    mote_context *ctx = NULL;
    mote_cloud *near = NULL;
    mote_cloud *within = NULL;
    uint64_t *indices = NULL;
    params.device = MOTE_DEVICE_CPU;
    params.progress = cancelled != NULL ? goes_on : NULL;
    params.progress_user = (void *)(uintptr_t)cancelled;
    reading.bounds = &box;
    *count = 0;
    mote_status status = mote_context_create(&params, &ctx);
    if (status == MOTE_OK) status = mote_cloud_read(ctx, source, &reading, &near);
    if (status == MOTE_OK) indices = find_within(strip, near, count);
    if (status == MOTE_OK && indices == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_cloud_select(ctx, near, indices, *count, &within);
    if (status == MOTE_OK) status = mote_cloud_write(ctx, within, out, NULL);
    const char *message = ctx != NULL ? mote_context_message(ctx) : "";
    if (status != MOTE_OK) snprintf(error, size, "%s", message[0] != '\0' ? message : "memory has run out");
    free(indices);
    mote_cloud_destroy(within);
    mote_cloud_destroy(near);
    mote_context_destroy(ctx);
    return status == MOTE_OK;
}
