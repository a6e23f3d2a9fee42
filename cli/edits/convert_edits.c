#include "edits/convert_edits.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edits/edit_list.h"
#include "edits/point_select.h"
#include "systems_note.h"
#include "text.h"

/* The box around the region, endless in height, wide enough for what coordinates lose when they are computed. */
static mote_box box_around(const mote_region *region) {
    double min[2], max[2];
    mote_box box = {{0, 0, -INFINITY}, {0, 0, INFINITY}};
    mote_region_bounds(region, min, max);
    for (int k = 0; k < 2; k++) {
        const double slack = 64 * DBL_EPSILON * fmax(fabs(min[k]), fabs(max[k]));
        box.min[k] = min[k] - slack;
        box.max[k] = max[k] + slack;
    }
    return box;
}

int convert_area_open(session *s, const char *path, const mote_box *bounds, convert_area *area) {
    mote_shapes *shapes = NULL;
    *area = (convert_area){.path = path};
    if (path == NULL) return EXIT_DONE;
    mote_status status = mote_shapes_read(s->ctx, path, &shapes);
    if (status == MOTE_OK) status = mote_region_create(s->ctx, shapes, MOTE_ALL_FEATURES, &area->region);
    if (status == MOTE_OK) {
        snprintf(area->crs, sizeof area->crs, "%s", mote_shapes_crs(shapes));
        area->box = box_around(area->region);
    }
    mote_shapes_destroy(shapes);
    if (status != MOTE_OK) return session_fail(s, status, true);
    for (int k = 0; bounds != NULL && k < 3; k++) {
        area->box.min[k] = fmax(area->box.min[k], bounds->min[k]);
        area->box.max[k] = fmin(area->box.max[k], bounds->max[k]);
        if (area->box.min[k] > area->box.max[k]) area->box.min[k] = area->box.max[k]; /* apart: no point is in both */
    }
    return EXIT_DONE;
}

void convert_area_close(convert_area *area) { mote_region_destroy(area->region); }

int convert_area_select(session *s, const convert_area *area, mote_cloud **cloud) {
    if (area->path == NULL) return EXIT_DONE;
    const int64_t points = (int64_t)mote_cloud_count(*cloud);
    const mote_column *x = mote_cloud_find(*cloud, "x");
    const mote_column *y = mote_cloud_find(*cloud, "y");
    mote_cloud *chosen = NULL;
    uint8_t *flags = malloc((size_t)points + 1);
    if (flags == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: which points are in the polygon");
    systems_note(s, area->path, area->crs, mote_cloud_crs(*cloud));
#pragma omp parallel for
    for (int64_t i = 0; i < points; i++) {
        flags[i] =
            mote_region_contains(area->region, mote_column_value(x, (uint64_t)i), mote_column_value(y, (uint64_t)i));
    }
    const mote_status status = point_select(s->ctx, *cloud, flags, &chosen);
    free(flags);
    if (status == MOTE_ERROR_MEMORY)
        return session_error(s, EXIT_RESOURCES, "out of memory: the points in the polygon");
    if (status != MOTE_OK) return session_fail(s, status, false);
    mote_cloud_destroy(*cloud);
    *cloud = chosen;
    return EXIT_DONE;
}

int convert_edits_apply(session *s, const char *path, mote_cloud *cloud) {
    char error[POINT_TEST_ERROR];
    uint64_t changed;
    if (path == NULL) return EXIT_DONE;
    edit_list *list = edit_list_read(s->ctx, path, error);
    if (list == NULL) return session_error(s, EXIT_INPUT, "%s", error);
    int code = EXIT_DONE;
    if (edit_list_count(list) == 0) {
        code = session_error(s, EXIT_INPUT, "%s: none of its features has a \"class\"", path);
    } else if (!edit_list_classify(s->ctx, list, cloud, &changed, error)) {
        code = session_error(s, EXIT_INPUT, "%s: %s", path, error);
    } else {
        const size_t edits = edit_list_count(list);
        session_say(s, "%s: %zu edit%s gave %s points another class", path, edits, edits == 1 ? "" : "s",
                    text_count(changed).chars);
    }
    edit_list_free(list);
    return code;
}
