/* Fitting cameras to what they show.

   With its axes fixed, a camera sees a place where |x - ex| <= tx (z - ez), and likewise y: four planes. The farthest
   place beyond each of them, over all that is to be seen, says where the planes go, and two opposite planes meet in a
   line that the eye is on. Along the other pair there is room: the eye is moved until the margins are alike.

   Few of the points decide: those that are the farthest in some direction. A camera is fitted to the boxes of ranges of
   points, which tells nearly where it will be. From there the points at the ends of the picture are found, of the
   ranges whose boxes reach that far, and it is fitted to these alone; again, until no point is beyond them.

     boxes ──▶ fit ──▶ points at the ends ──▶ fit to all that were found ──▶ points at the ends ──▶ …  none is new */
#include <float.h>
#include <math.h>

#include "core/cloud.h"
#include "core/column_math.h"
#include "math/pi.h"
#include "render/renderer.h"

#define FIT_MARGIN   0.02 /* of a picture, at each edge */
#define CENTER_STEPS 6
#define MIN_FIT_SIZE 1e-10 /* of a point's coordinates: how small a thing a camera is fitted to */
#define FIT_ROUNDS   16    /* three or four find all ends; a margin is left for what the last has not */
#define FIT_SLACK    1e-9  /* of the picture, or of the depths: nearer to an end than this is at it */
#define RANGE_POINTS 1024u /* of a cloud in the order of its rows, that have a box */

typedef struct render_fit {
    render_view view; /* its eye is a place in the middle of things */
    double aspect, slope[2];
    double size;         /* the largest coordinate of the box */
    double beyond[2][2]; /* [x or y][low or high side] */
    double nearest, farthest;
    double eye[3];                     /* in the axes of view */
    double end[2][2], end_depth[2][2]; /* [x or y][low or high side] where the contents end, as slopes from eye */
} render_fit;

static void add_place(render_fit *fit, const double place[3]) {
    const render_place at = render_to_camera(&fit->view, place[0], place[1], place[2]);
    const double x[2] = {at.x, at.y};
    for (int k = 0; k < 2; k++) {
        const double slope = fit->view.perspective ? fit->slope[k] : 0;
        fit->beyond[k][0] = fmax(fit->beyond[k][0], -x[k] - slope * at.z);
        fit->beyond[k][1] = fmax(fit->beyond[k][1], x[k] - slope * at.z);
        for (int side = 0; side < 2; side++) { /* where the picture's contents end, seen from eye */
            const double depth = fit->view.perspective ? at.z - fit->eye[2] : 1;
            const double end = (x[k] - fit->eye[k]) / depth;
            if (side == 0 ? end >= fit->end[k][0] : end <= fit->end[k][1]) continue;
            fit->end[k][side] = end;
            fit->end_depth[k][side] = depth;
        }
    }
    fit->nearest = fmin(fit->nearest, at.z);
    fit->farthest = fmax(fit->farthest, at.z);
}

static void forget_places(render_fit *fit) {
    for (int k = 0; k < 2; k++) {
        fit->beyond[k][0] = fit->beyond[k][1] = -DBL_MAX;
        fit->end[k][0] = DBL_MAX;
        fit->end[k][1] = -DBL_MAX;
    }
    fit->nearest = DBL_MAX;
    fit->farthest = -DBL_MAX;
}

/* Corners of all boxes, cut to the clip. */
static void add_boxes(render_fit *fit, const mote_box *boxes, uint32_t count, const mote_box *clip) {
    forget_places(fit);
    for (uint32_t b = 0; b < count; b++) {
        double low[3], high[3];
        bool empty = false;
        for (int k = 0; k < 3; k++) {
            low[k] = fmax(boxes[b].min[k], clip->min[k]);
            high[k] = fmin(boxes[b].max[k], clip->max[k]);
            empty = empty || low[k] > high[k];
        }
        for (int corner = 0; corner < 8 && !empty; corner++) {
            const double place[3] = {(corner & 1) != 0 ? high[0] : low[0], (corner & 2) != 0 ? high[1] : low[1],
                                     (corner & 4) != 0 ? high[2] : low[2]};
            add_place(fit, place);
        }
    }
}

static mote_status begin_fit(mote_context *ctx, const mote_camera *camera, const double from[3], const mote_box *clip,
                             uint32_t width, uint32_t height, render_fit *fit) {
    memset(fit, 0, sizeof *fit);
    double direction[3] = {from[0], from[1], from[2]};
    if (width == 0 || height == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a picture needs pixels");
    if (!render_normalize(direction)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no direction to look from");
    for (int k = 0; k < 3; k++) {
        if (!(clip->min[k] <= clip->max[k]) || !isfinite(clip->max[k] - clip->min[k])) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the box is empty or not finite");
        }
        fit->size = fmax(fit->size, fmax(fabs(clip->min[k]), fabs(clip->max[k])));
        fit->view.eye[k] = 0.5 * clip->min[k] + 0.5 * clip->max[k];
        fit->view.forward[k] = 0.0 - direction[k];
    }
    if (fit->size > MOTE_RENDER_MAX_COORDINATE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the box reaches farther from 0 than %g (2^60)",
                         MOTE_RENDER_MAX_COORDINATE);
    }
    render_set_axes(camera->up, &fit->view);
    fit->view.perspective = camera->projection == MOTE_PERSPECTIVE;
    if (fit->view.perspective && !(camera->angle_rad > 0 && camera->angle_rad < MOTE_PI)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the camera's angle is out of range");
    }
    fit->aspect = (double)width / height;
    fit->slope[1] = (1 - 2 * FIT_MARGIN) * tan(0.5 * camera->angle_rad);
    fit->slope[0] = fit->slope[1] * fit->aspect;
    return MOTE_OK;
}

/* How much of the world, at its size, a camera can be near to without its numbers running out. A world that is one
   place, at 0, may be seen from anywhere. */
static double least_size(const render_fit *fit) { return MIN_FIT_SIZE * (fit->size > 0 ? fit->size : 1); }

/* The eye from which the four planes hold all places. */
static void place_eye(render_fit *fit) {
    const double size = least_size(fit);
    double z = DBL_MAX;
    for (int k = 0; k < 2; k++) {
        fit->eye[k] = 0.5 * (fit->beyond[k][1] - fit->beyond[k][0]);
        if (fit->view.perspective) z = fmin(z, -0.5 * (fit->beyond[k][0] + fit->beyond[k][1]) / fit->slope[k]);
    }
    if (!fit->view.perspective) z = fit->nearest - fmax(fit->farthest - fit->nearest, size);
    fit->eye[2] = fmin(z, fit->nearest - size);
}

/* Moves the eye sideways so that margins are alike at opposite edges, as seen from where it is now. */
static void center_eye(render_fit *fit) {
    for (int k = 0; k < 2; k++) {
        const double off = fit->end[k][0] + fit->end[k][1];
        fit->eye[k] += off / (1 / fit->end_depth[k][0] + 1 / fit->end_depth[k][1]);
    }
}

/* The eye that holds some places, with margins that are alike. */
static mote_status fit_to(mote_context *ctx, render_fit *fit, const mote_box *boxes, uint32_t count,
                          const mote_box *clip) {
    add_boxes(fit, boxes, count, clip);
    if (!(fit->nearest <= fit->farthest && isfinite(fit->nearest) && isfinite(fit->farthest))) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "there is nothing to fit a camera to");
    }
    place_eye(fit);
    for (int i = 0; i < CENTER_STEPS; i++) {
        add_boxes(fit, boxes, count, clip);
        center_eye(fit);
    }
    return MOTE_OK;
}

static void take_camera(const render_fit *fit, mote_camera *camera) {
    const double target_z = 0.5 * (fit->nearest + fit->farthest), wide = fit->end[0][1] - fit->end[0][0];
    const double high = fmax(fit->end[1][1] - fit->end[1][0], wide / fit->aspect);
    if (!fit->view.perspective) camera->height = fmax(high, least_size(fit)) / (1 - 2 * FIT_MARGIN);
    for (int k = 0; k < 3; k++) {
        const double across = fit->eye[0] * fit->view.right[k] + fit->eye[1] * fit->view.down[k];
        camera->eye[k] = fit->view.eye[k] + (across + fit->eye[2] * fit->view.forward[k]);
        camera->target[k] = fit->view.eye[k] + (across + target_z * fit->view.forward[k]);
    }
    const double before = fit->nearest - fit->eye[2]; /* of a long thing, from its end, the near plane would cut */
    const bool cuts = (target_z - fit->eye[2]) * RENDER_NEAR_SHARE > 0.5 * before && fit->view.perspective;
    camera->near_depth = cuts ? 0.5 * before : 0;
    camera->far_depth = 0;
}

mote_status mote_camera_fit(mote_context *ctx, mote_camera *camera, const mote_box *box, const double from[3],
                            uint32_t width, uint32_t height) {
    render_fit fit;
    MOTE_TRY(begin_fit(ctx, camera, from, box, width, height, &fit));
    MOTE_TRY(fit_to(ctx, &fit, box, 1, box));
    take_camera(&fit, camera);
    return MOTE_OK;
}

/* ---- points at the ends */

#define ENDS 10 /* beyond each of four planes; at each of four edges, seen from the eye; nearest, farthest */

/* Points, in ranges that have a box each. */
typedef struct fit_points {
    const double *at[3]; /* by place; NULL: columns by row */
    const mote_column *axes[3];
    uint64_t count;
    const mote_box *boxes;
    uint32_t box_count, range;
} fit_points;

/* How far out a place is, and where it is, for each end. */
typedef struct fit_ends {
    double value[ENDS];
    double place[ENDS][3];
} fit_ends;

static void measure_ends(const render_fit *fit, const double place[3], double value[ENDS]) {
    const render_place at = render_to_camera(&fit->view, place[0], place[1], place[2]);
    const double x[2] = {at.x, at.y}, depth = fit->view.perspective ? at.z - fit->eye[2] : 1;
    for (int k = 0; k < 2; k++) {
        const double slope = fit->view.perspective ? fit->slope[k] : 0;
        const double end = (x[k] - fit->eye[k]) / depth;
        value[2 * k] = -x[k] - slope * at.z;
        value[2 * k + 1] = x[k] - slope * at.z;
        value[4 + 2 * k] = depth > 0 ? -end : -DBL_MAX; /* behind the eye: the nearest end will tell */
        value[5 + 2 * k] = depth > 0 ? end : -DBL_MAX;
    }
    value[8] = -at.z;
    value[9] = at.z;
}

/* Takes, of places that are as far out, the first by content, so that their order does not matter. */
static void take_place(fit_ends *ends, int e, double value, const double place[3]) {
    if (!(value >= ends->value[e])) return;
    bool first = value > ends->value[e];
    for (int k = 0; k < 3 && !first; k++) {
        if (place[k] > ends->place[e][k]) return;
        first = place[k] < ends->place[e][k];
    }
    ends->value[e] = value;
    memcpy(ends->place[e], place, sizeof ends->place[e]);
}

/* Whether a box may hold a place that is as far out as those that are known. */
static bool reaches(const render_fit *fit, const mote_box *box, const fit_ends *ends) {
    double most[ENDS], value[ENDS];
    bool behind = false;
    if (!(box->min[0] <= box->max[0])) return false;
    for (int e = 0; e < ENDS; e++) most[e] = -DBL_MAX;
    for (int corner = 0; corner < 8; corner++) {
        const double place[3] = {(corner & 1) != 0 ? box->max[0] : box->min[0],
                                 (corner & 2) != 0 ? box->max[1] : box->min[1],
                                 (corner & 4) != 0 ? box->max[2] : box->min[2]};
        measure_ends(fit, place, value);
        behind = behind || value[4] == -DBL_MAX;
        for (int e = 0; e < ENDS; e++) most[e] = fmax(most[e], value[e]);
    }
    for (int e = 0; e < ENDS; e++) {
        if (most[e] >= ends->value[e]) return true;
    }
    return behind;
}

static bool is_within(const mote_box *box, const double place[3]) {
    for (int k = 0; k < 3; k++) {
        if (!(place[k] >= box->min[k] && place[k] <= box->max[k])) return false;
    }
    return true;
}

static void read_place(const fit_points *points, uint64_t i, double place[3]) {
    for (int k = 0; k < 3; k++) {
        place[k] = points->at[k] != NULL ? points->at[k][i] : column_value(points->axes[k], i);
    }
}

static void search_range(const render_fit *fit, const fit_points *points, uint32_t b, const mote_box *clip,
                         fit_ends *ends) {
    const uint64_t first = (uint64_t)b * points->range, rest = points->count - first;
    const uint64_t end = first + (rest < points->range ? rest : points->range);
    for (uint64_t i = first; i < end; i++) {
        double place[3], value[ENDS];
        read_place(points, i, place);
        if (!is_within(clip, place)) continue;
        measure_ends(fit, place, value);
        for (int e = 0; e < ENDS; e++) take_place(ends, e, value[e], place);
    }
}

static void find_ends(mote_context *ctx, const render_fit *fit, const fit_points *points, const mote_box *clip,
                      fit_ends *ends) {
    for (int e = 0; e < ENDS; e++) ends->value[e] = -DBL_MAX;
    memset(ends->place, 0, sizeof ends->place);
#pragma omp parallel num_threads(ctx->threads)
    {
        fit_ends own = *ends;
#pragma omp for schedule(dynamic, 64)
        for (int64_t b = 0; b < (int64_t)points->box_count; b++) {
            if (reaches(fit, &points->boxes[b], &own)) search_range(fit, points, (uint32_t)b, clip, &own);
        }
#pragma omp critical(render_fit_ends)
        for (int e = 0; e < ENDS; e++) {
            if (own.value[e] > -DBL_MAX) take_place(ends, e, own.value[e], own.place[e]);
        }
    }
}

/* Adds the places that are beyond those that the camera was fitted to; false if none is. fit: of these, as add_boxes
   leaves it. */
static bool add_ends(const render_fit *fit, const fit_ends *ends, mote_box *known, uint32_t *count) {
    const double size = *count > 0 ? fabs(fit->beyond[0][0]) + fabs(fit->beyond[0][1]) : 0;
    const double across = *count > 0 ? fmax(fit->end[0][1] - fit->end[0][0], fit->end[1][1] - fit->end[1][0]) : 0;
    const double depths = *count > 0 ? fit->farthest - fit->nearest : 0;
    const double room[3] = {FIT_SLACK * (size + depths), FIT_SLACK * across, FIT_SLACK * (size + depths)};
    const double now[ENDS] = {fit->beyond[0][0], fit->beyond[0][1], fit->beyond[1][0], fit->beyond[1][1],
                              -fit->end[0][0],   fit->end[0][1],    -fit->end[1][0],   fit->end[1][1],
                              -fit->nearest,     fit->farthest};
    bool found = false;
    for (int e = 0; e < ENDS; e++) {
        if (!(ends->value[e] > now[e] + room[e / 4])) continue;
        for (int k = 0; k < 3; k++) known[*count].min[k] = known[*count].max[k] = ends->place[e][k];
        ++*count;
        found = true;
    }
    return found;
}

static mote_status fit_points_to(mote_context *ctx, mote_camera *camera, const fit_points *points, const mote_box *clip,
                                 const double from[3], uint32_t width, uint32_t height) {
    mote_box known[ENDS * FIT_ROUNDS];
    uint32_t count = 0;
    render_fit fit;
    fit_ends ends;
    MOTE_TRY(begin_fit(ctx, camera, from, clip, width, height, &fit));
    MOTE_TRY(fit_to(ctx, &fit, points->boxes, points->box_count, clip));
    for (int round = 0; round < FIT_ROUNDS; round++) {
        if (count == 0) forget_places(&fit);
        if (count > 0) add_boxes(&fit, known, count, clip);
        find_ends(ctx, &fit, points, clip, &ends);
        if (!(ends.value[9] > -DBL_MAX) || !add_ends(&fit, &ends, known, &count)) break;
        MOTE_TRY(fit_to(ctx, &fit, known, count, clip));
    }
    if (count == 0) MOTE_TRY(fit_to(ctx, &fit, points->boxes, points->box_count, clip));
    take_camera(&fit, camera);
    return MOTE_OK;
}

/* ---- points of a renderer */

/* Boxes of ranges of rows, of points with a finite position. */
static void bound_rows(mote_context *ctx, fit_points *points, mote_box *boxes) {
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < (int64_t)points->box_count; b++) {
        const uint64_t first = (uint64_t)b * points->range, rest = points->count - first;
        mote_box box = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
        for (uint64_t i = 0; i < rest && i < points->range; i++) {
            double place[3];
            read_place(points, first + i, place);
            if (!isfinite(place[0]) || !isfinite(place[1]) || !isfinite(place[2])) continue;
            for (int k = 0; k < 3; k++) {
                box.min[k] = fmin(box.min[k], place[k]);
                box.max[k] = fmax(box.max[k], place[k]);
            }
        }
        boxes[b] = box;
    }
}

/* The points are those of the renderer where the host has them, else the rows of a cloud that the host has; of a cloud
   on a GPU boxes are enough. */
mote_status render_fit_renderer(mote_renderer *renderer, mote_camera *camera, const mote_box *clip,
                                const double from[3], uint32_t width, uint32_t height) {
    mote_context *ctx = renderer->ctx;
    fit_points points = {.boxes = renderer->boxes, .box_count = renderer->points.batch_count, .range = RENDER_BATCH};
    mote_box *rows = NULL;
    if (mote_cloud_on_device(renderer->cloud)) {
        render_fit fit;
        MOTE_TRY(begin_fit(ctx, camera, from, clip, width, height, &fit));
        MOTE_TRY(fit_to(ctx, &fit, points.boxes, points.box_count, clip));
        take_camera(&fit, camera);
        return MOTE_OK;
    }
    if (renderer->device->ops == NULL) {
        for (int k = 0; k < 3; k++) points.at[k] = renderer->points.at[k];
        points.count = renderer->points.count;
    } else {
        MOTE_TRY(mote_cloud_positions(ctx, renderer->cloud, points.axes));
        points.count = renderer->cloud->count;
        points.range = RANGE_POINTS;
        points.box_count = (uint32_t)((points.count + RANGE_POINTS - 1) / RANGE_POINTS);
        rows = mote_alloc(ctx, (uint64_t)points.box_count * sizeof *rows, "fitting a camera");
        if (rows == NULL) return MOTE_ERROR_MEMORY;
        bound_rows(ctx, &points, rows);
        points.boxes = rows;
    }
    const mote_status status = fit_points_to(ctx, camera, &points, clip, from, width, height);
    mote_free(ctx, rows);
    return status;
}
