/* Reading of an octree what a picture shows and no more. */
#define _GNU_SOURCE /* stat */
#include "render/picture_octree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "render/picture_camera.h"
#include "render/picture_places.h"

#define SLICES_MAX  24
#define WHOLE_DEPTH 4.0  /* far by near: a view no deeper is one slice, for boxes of slices overlap */
#define NEAREST     1e-3 /* of the box: a camera in the middle of things sees nothing nearer than so many diagonals */
#define MARGIN      0.03 /* of the picture, at each edge: what reaches in from outside */

/* A part of the view between two depths. */
typedef struct view_slice {
    const mote_camera *camera;
    const mote_render_params *params;
    double near, far;
    double resolution;
    mote_box box;
} view_slice;

/* ---- what it is */

picture_octree picture_octree_find(session *s, const io_paths *paths) {
    picture_octree octree = {.is_octree = false};
    struct stat info;
    if (paths->input_count != 1 || stat(paths->inputs[0], &info) != 0) return octree;
    const char *format =
        S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) ? mote_file_format(s->ctx, paths->inputs[0]) : NULL;
    if (format != NULL && strcmp(format, "potree") == 0) {
        mote_potree_facts facts = {.points = 0};
        octree.is_octree = mote_potree_levels(s->ctx, paths->inputs[0], NULL, 0, &facts) == MOTE_OK;
        octree.points = facts.points;
    } else if (format != NULL && strcmp(format, "las") == 0) {
        mote_copc_facts facts = {.is_copc = false};
        octree.is_copc = mote_copc_levels(s->ctx, paths->inputs[0], NULL, 0, &facts) == MOTE_OK && facts.is_copc;
        octree.is_octree = octree.is_copc;
        octree.points = facts.points;
        octree.spacing = facts.spacing;
    }
    mote_context_clear(s->ctx); /* what is wrong with it is said when it is read */
    return octree;
}

int picture_octree_read_root(session *s, const picture_octree *octree, const io_paths *paths, const char *select,
                             mote_cloud **out) {
    mote_read_params reading = session_reading(s);
    reading.select = select;
    if (octree->is_copc) {
        reading.resolution = octree->spacing;
    } else {
        reading.level = 0;
    }
    return session_read_any(s, paths->inputs, paths->input_count, &reading, out);
}

/* Reads a part, down to where points are so far apart, both as they are drawn. bounds: NULL for all of it. */
static int read_part(session *s, const io_paths *paths, const char *select, const picture_stretch *stretch,
                     const mote_box *bounds, double resolution, mote_cloud **out) {
    mote_read_params reading = session_reading(s);
    mote_box box;
    reading.select = select;
    reading.resolution = resolution / fmax(stretch->by[0], stretch->by[1]);
    if (bounds != NULL) {
        box = *bounds;
        picture_unstretch_place(stretch, box.min);
        picture_unstretch_place(stretch, box.max);
        reading.bounds = &box;
    }
    const int code = session_read_any(s, paths->inputs, paths->input_count, &reading, out);
    return code == EXIT_DONE ? picture_stretch_cloud(s, stretch, *out) : code;
}

/* ---- slices of the view */

/* How far apart two pixels' places are at a depth. */
static double pixel_size(const mote_camera *camera, const mote_render_params *params, double depth) {
    const double height =
        camera->projection == MOTE_PERSPECTIVE ? 2 * depth * tan(camera->angle_rad / 2) : camera->height;
    return height / params->height;
}

/* Between which depths a box lies. */
static void find_depths(const mote_camera *camera, const mote_render_params *params, const mote_box *box, double *near,
                        double *far) {
    const picture_lens lens = picture_lens_of(camera, params);
    const double *forward = lens.forward;
    *near = *far = 0;
    for (int k = 0; k < 3; k++) {
        const double a = (box->min[k] - camera->eye[k]) * forward[k], b = (box->max[k] - camera->eye[k]) * forward[k];
        *near += fmin(a, b);
        *far += fmax(a, b);
    }
}

/* The box of what a slice shows, cut to the box of all; false if nothing. */
static bool bound_slice(view_slice *slice, const mote_box *all) {
    const double width = slice->params->width, height = slice->params->height;
    mote_box *box = &slice->box;
    for (int k = 0; k < 3; k++) {
        box->min[k] = DBL_MAX;
        box->max[k] = -DBL_MAX;
    }
    for (int corner = 0; corner < 8; corner++) {
        const double x = (corner & 1) != 0 ? width * (1 + MARGIN) : -width * MARGIN;
        const double y = (corner & 2) != 0 ? height * (1 + MARGIN) : -height * MARGIN;
        double place[3];
        mote_camera_unproject(slice->camera, slice->params->width, slice->params->height, x, y,
                              (corner & 4) != 0 ? slice->far : slice->near, place);
        for (int k = 0; k < 3; k++) {
            box->min[k] = fmin(box->min[k], place[k]);
            box->max[k] = fmax(box->max[k], place[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        box->min[k] = fmax(box->min[k], all->min[k]);
        box->max[k] = fmin(box->max[k], all->max[k]);
        if (!(box->min[k] <= box->max[k])) return false;
    }
    return true;
}

/* The root's points do not reach to the ends of the box of all: nodes are looked for around it, too. */
static mote_box grow(const mote_box *box, double by) {
    mote_box grown = *box;
    for (int k = 0; k < 3; k++) {
        grown.min[k] -= by;
        grown.max[k] += by;
    }
    return grown;
}

static int make_slices(const mote_camera *camera, const mote_render_params *params, const mote_box *root,
                       view_slice slices[SLICES_MAX]) {
    double near, far, squares = 0;
    int count = 0;
    for (int k = 0; k < 3; k++) squares += (root->max[k] - root->min[k]) * (root->max[k] - root->min[k]);
    const double diagonal = sqrt(squares);
    const mote_box around = grow(root, diagonal);
    find_depths(camera, params, root, &near, &far);
    const double first = fmax(near, NEAREST * diagonal), end = far + 2 * diagonal;
    if (camera->projection == MOTE_ORTHOGRAPHIC || !(first > 0)) {
        const double size = pixel_size(camera, params, camera->projection == MOTE_ORTHOGRAPHIC ? 1 : 0);
        const view_slice whole = {camera, params, near - 2 * diagonal, end + 1, size, *root};
        slices[0] = whole;
        return bound_slice(&slices[0], &around) ? 1 : 0;
    }
    const double step = far <= WHOLE_DEPTH * first ? WHOLE_DEPTH : 2;
    for (double from = first; from <= far && count < SLICES_MAX; from *= 2) {
        const bool last = step * from >= far || count == SLICES_MAX - 1;
        const view_slice slice = {camera,
                                  params,
                                  from == first ? 0 : from,
                                  last ? fmax(2 * from, end) : 2 * from,
                                  pixel_size(camera, params, from),
                                  *root};
        slices[count] = slice;
        if (bound_slice(&slices[count], &around)) count++;
        if (last) break;
    }
    return count;
}

/* ---- points of a slice */

static bool is_inside(const view_slice *slice, const picture_lens *lens, const double place[3]) {
    const double width = slice->params->width, height = slice->params->height;
    double at[3];
    picture_lens_project(lens, place, at);
    return at[2] >= slice->near && at[2] < slice->far && at[0] >= -width * MARGIN && at[0] <= width * (1 + MARGIN) &&
           at[1] >= -height * MARGIN && at[1] <= height * (1 + MARGIN);
}

/* Marks the points of a block that are in a slice. */
static void mark_block(const view_slice *slice, const picture_lens *lens, const mote_cloud *cloud, uint64_t first,
                       uint32_t count, uint8_t *inside) {
    double places[3][VALUES_BLOCK];
    picture_places_read(cloud, first, count, places);
    for (uint32_t i = 0; i < count; i++) {
        const double place[3] = {places[0][i], places[1][i], places[2][i]};
        inside[first + i] = is_inside(slice, lens, place);
    }
}

/* Replaces a cloud by its points in a slice. */
static int keep_inside(session *s, const view_slice *slice, mote_cloud **cloud) {
    const uint64_t count = mote_cloud_count(*cloud);
    const int64_t blocks = (int64_t)((count + VALUES_BLOCK - 1) / VALUES_BLOCK);
    const picture_lens lens = picture_lens_of(slice->camera, slice->params);
    uint64_t *chosen = malloc((size_t)count * sizeof *chosen + 1), kept = 0;
    uint8_t *inside = malloc((size_t)count + 1);
    mote_cloud *part = NULL;
    mote_status status = MOTE_ERROR_MEMORY;
    if (chosen != NULL && inside != NULL) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(mote_context_threads(s->ctx))
        for (int64_t b = 0; b < blocks; b++) {
            const uint64_t first = (uint64_t)b * VALUES_BLOCK, rest = count - first;
            mark_block(slice, &lens, *cloud, first, rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK, inside);
        }
        for (uint64_t i = 0; i < count; i++) {
            if (inside[i]) chosen[kept++] = i;
        }
        status = mote_cloud_select(s->ctx, *cloud, chosen, kept, &part);
    }
    free(chosen);
    free(inside);
    if (status != MOTE_OK) return session_fail(s, status, false);
    mote_cloud_destroy(*cloud);
    *cloud = part;
    return EXIT_DONE;
}

static int read_slice(session *s, const io_paths *paths, const char *select, const picture_stretch *stretch,
                      const view_slice *slice, mote_cloud **out) {
    const int code = read_part(s, paths, select, stretch, &slice->box, slice->resolution, out);
    return code == EXIT_DONE ? keep_inside(s, slice, out) : code;
}

static int read_slices(session *s, const io_paths *paths, const char *select, const picture_stretch *stretch,
                       const view_slice *slices, int count, mote_cloud **out) {
    mote_cloud *clouds[SLICES_MAX] = {NULL};
    int code = EXIT_DONE;
    for (int i = 0; i < count && code == EXIT_DONE; i++) {
        code = read_slice(s, paths, select, stretch, &slices[i], &clouds[i]);
    }
    const mote_status status = code == EXIT_DONE ? mote_cloud_join(s->ctx, clouds, (uint32_t)count, out) : MOTE_OK;
    if (status != MOTE_OK) code = session_fail(s, status, true);
    for (int i = 0; i < count; i++) mote_cloud_destroy(clouds[i]);
    return code;
}

/* ---- */

/* Several pictures, and one in which all is seen, take all of the cloud, as fine as the nearest picture needs. */
static int read_for_all(session *s, const io_paths *paths, const char *select, const picture_path *path,
                        const mote_render_params *params, const mote_box *box, const picture_stretch *stretch,
                        mote_cloud **out) {
    view_slice slices[SLICES_MAX];
    double resolution = DBL_MAX; /* the root alone: nothing is seen */
    for (uint32_t frame = 0; frame < path->frames; frame++) {
        const mote_camera camera = picture_path_at(path, frame);
        const int count = make_slices(&camera, params, box, slices);
        if (count == 0) continue;
        resolution = fmin(resolution, slices[0].resolution);
    }
    return read_part(s, paths, select, stretch, NULL, resolution, out);
}

int picture_octree_read_seen(session *s, const picture_plan *plan, const char *select, const picture_path *path,
                             const mote_box *box, const picture_stretch *stretch, mote_cloud **out) {
    const io_paths *paths = plan->paths;
    const mote_render_params *params = &plan->params;
    view_slice slices[SLICES_MAX];
    const mote_camera camera = picture_path_at(path, 0);
    const bool some =
        path->frames == 1 && !picture_plan_shows_all(plan); /* the root does not reach to the ends of all */
    const int count = some ? make_slices(&camera, params, box, slices) : 0;
    if (count == 0) return read_for_all(s, paths, select, path, params, box, stretch, out);
    return read_slices(s, paths, select, stretch, slices, count, out);
}
