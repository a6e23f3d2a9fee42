/* Maps: a picture from above whose pixels have a place in the world. */
#include "render/picture_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/picture_camera.h"
#include "text.h"

#define TILE_SIDE 8192u /* where a map is too large for one file */
#define MAX_SIDE  1e9   /* of the whole map: the library counts pixels in 31 bits, samples too */

/* The extent of a box in the picture, from low to high, on multiples of the pixel size. */
static void find_extent(const picture_plan *plan, const mote_box *box, const double axis[3], double *low,
                        double *high) {
    double middle = 0, half = 0;
    for (int k = 0; k < 3; k++) {
        middle += axis[k] * 0.5 * (box->min[k] + box->max[k]);
        half += fabs(axis[k]) * 0.5 * (box->max[k] - box->min[k]);
    }
    *low = floor((middle - half) / plan->view.gsd) * plan->view.gsd;
    *high = (floor((middle + half) / plan->view.gsd) + 1) * plan->view.gsd;
}

/* Finds the directions to the right and up in the picture, and towards the viewer. */
static void find_axes(const picture_view *view, double right[3], double upward[3], double toward[3]) {
    const picture_axes a = picture_axes_of(view->up);
    for (int k = 0; k < 3; k++) {
        right[k] = a.right[k];
        upward[k] = a.up[k];
        toward[k] = a.front[k];
        if (view->side == SIDE_TOP) upward[k] = 0 - a.front[k], toward[k] = a.up[k];
        if (view->side == SIDE_BOTTOM) right[k] = 0 - a.right[k], upward[k] = 0 - a.front[k], toward[k] = 0 - a.up[k];
        if (view->side == SIDE_BACK) right[k] = 0 - a.right[k], toward[k] = 0 - a.front[k];
        if (view->side == SIDE_LEFT) right[k] = a.front[k], toward[k] = 0 - a.right[k];
        if (view->side == SIDE_RIGHT) right[k] = 0 - a.front[k], toward[k] = a.right[k];
    }
}

static uint32_t ceil_divide(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

int picture_map_measure(session *s, picture_plan *plan, const mote_box *box, picture_tiles *tiles) {
    mote_render_params *p = &plan->params;
    tiles->columns = tiles->rows = 1;
    tiles->side = plan->tile;
    if (plan->is_map) {
        double right[3], upward[3], toward[3], low[2], high[2];
        if (!(box->min[0] <= box->max[0])) {
            return session_error(s, EXIT_INPUT, "there is no point with a finite position to make a map of");
        }
        find_axes(&plan->view, right, upward, toward);
        find_extent(plan, box, right, &low[0], &high[0]);
        find_extent(plan, box, upward, &low[1], &high[1]);
        const double width = round((high[0] - low[0]) / plan->view.gsd);
        const double height = round((high[1] - low[1]) / plan->view.gsd);
        if (!(width >= 1 && height >= 1 && width <= MAX_SIDE / p->samples && height <= MAX_SIDE / p->samples)) {
            return session_error(s, EXIT_USAGE, "--gsd %g: a map of %.0f x %.0f pixels is too large", plan->view.gsd,
                                 width, height);
        }
        p->width = (uint32_t)width;
        p->height = (uint32_t)height;
    }
    if (tiles->side == 0 && p->width <= PICTURE_MAX_SIDE && p->height <= PICTURE_MAX_SIDE) return EXIT_DONE;
    if (tiles->side == 0) tiles->side = TILE_SIDE;
    tiles->columns = ceil_divide(p->width, tiles->side);
    tiles->rows = ceil_divide(p->height, tiles->side);
    return EXIT_DONE;
}

void picture_map_place(const picture_plan *plan, const mote_box *box, mote_camera *camera) {
    double axes[3][3], low[3], high[3];
    find_axes(&plan->view, axes[0], axes[1], axes[2]);
    for (int k = 0; k < 3; k++) find_extent(plan, box, axes[k], &low[k], &high[k]);
    const double depth = high[2] - low[2] + plan->view.gsd;
    *camera = mote_camera_defaults();
    camera->projection = MOTE_ORTHOGRAPHIC;
    camera->height = plan->view.gsd * plan->params.height;
    for (int k = 0; k < 3; k++) {
        camera->target[k] = 0;
        for (int a = 0; a < 3; a++) camera->target[k] += axes[a][k] * 0.5 * (low[a] + high[a]);
        camera->eye[k] = camera->target[k] + axes[2][k] * depth;
        camera->up[k] = axes[1][k];
    }
}

picture_region picture_tile_region(const picture_tiles *tiles, const mote_render_params *params, uint32_t column,
                                   uint32_t row) {
    const picture_region all = {0, 0, params->width, params->height};
    if (tiles->side == 0) return all;
    picture_region tile = {column * tiles->side, row * tiles->side, tiles->side, tiles->side};
    if (tile.width > all.width - tile.x) tile.width = all.width - tile.x;
    if (tile.height > all.height - tile.y) tile.height = all.height - tile.y;
    return tile;
}

/* ---- world files */

bool picture_map_has_world(const mote_camera *camera) {
    const bool down = camera->eye[0] == camera->target[0] && camera->eye[1] == camera->target[1] &&
                      camera->eye[2] > camera->target[2];
    return camera->projection == MOTE_ORTHOGRAPHIC && down && camera->up[0] == 0 && camera->up[1] > 0;
}

/* "map.png" has "map.pgw": the first and the last letter of the ending, and w. */
static void name_world(const char *picture, char *name, size_t size_bytes) {
    const char *dot = strrchr(picture, '.'), *slash = strrchr(picture, '/');
    if (dot == NULL || (slash != NULL && dot < slash) || strlen(dot) < 3) {
        snprintf(name, size_bytes, "%s.wld", picture);
    } else {
        snprintf(name, size_bytes, "%.*s.%c%cw", (int)(dot - picture), picture, dot[1], dot[strlen(dot) - 1]);
    }
}

/* Pixel size, two turns that are 0, minus the pixel size, and where the middle of the upper left pixel is. */
int picture_map_write_world(session *s, const char *picture, const mote_camera *camera,
                            const mote_render_params *params, const picture_region *region) {
    const double size = camera->height / params->height;
    const double left = camera->target[0] + size * (region->x + 0.5 - 0.5 * params->width);
    const double top = camera->target[1] - size * (region->y + 0.5 - 0.5 * params->height);
    char name[4200], lines[256];
    mote_output *output = NULL;
    name_world(picture, name, sizeof name);
    const int length = snprintf(lines, sizeof lines, "%s\n0\n0\n-%s\n%s\n%s\n", text_real(size).chars,
                                text_real(size).chars, text_real(left).chars, text_real(top).chars);
    mote_status status = mote_output_create(s->ctx, name, true, &output);
    if (status == MOTE_OK) status = mote_output_write(s->ctx, output, lines, (uint64_t)length);
    status = mote_output_finish(s->ctx, output, status);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}
