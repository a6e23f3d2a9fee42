/* Cameras: their axes, fitting them to what they show, and paths through several. */
#include "render/camera/render_camera.h"

#include <float.h>
#include <math.h>

#define PI           3.14159265358979323846
#define FIT_MARGIN   0.02    /* of a picture, at each edge */
#define NEAR_SHARE   0x1p-20 /* of the distance to the target: what is nearer is a speck on the lens */
#define CENTER_STEPS 6
#define MAX_PLACE    0x1p80 /* far outside of any cloud: eyes stand back from what they see; floats hold such depths */
#define MIN_FIT_SIZE 1e-10  /* of a point's coordinates: how small a thing a camera is fitted to */

static double dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* False where there is no direction. */
static bool normalize(double v[3]) {
    const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0 && largest <= DBL_MAX)) return false;
    for (int k = 0; k < 3; k++) v[k] /= largest;
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) v[k] /= length;
    return true;
}

/* The axis that is least along a direction. */
static void least_axis(const double along[3], double axis[3]) {
    int least = 2;
    for (int k = 1; k >= 0; k--) {
        if (fabs(along[k]) < fabs(along[least])) least = k;
    }
    for (int k = 0; k < 3; k++) axis[k] = k == least;
}

/* Right and down of a camera that looks along forward. */
static void set_axes(const double up[3], render_view *view) {
    double upward[3] = {up[0], up[1], up[2]};
    bool known = normalize(upward);
    if (known) cross(view->forward, upward, view->right);
    known = known && dot(view->right, view->right) > 1e-20 && normalize(view->right);
    if (!known) {
        least_axis(view->forward, upward);
        cross(view->forward, upward, view->right);
        normalize(view->right);
    }
    cross(view->forward, view->right, view->down);
}

static bool is_finite3(const double v[3]) { return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]); }

static bool is_in_range(const double v[3]) { return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2]))) <= MAX_PLACE; }

static const char *set_view(const mote_camera *camera, uint32_t height, render_view *view) {
    if (!is_finite3(camera->eye) || !is_finite3(camera->target) || !is_finite3(camera->up)) {
        return "the camera's place is not finite";
    }
    if (!is_in_range(camera->eye) || !is_in_range(camera->target)) {
        return "the camera's eye or target is farther from 0 than 1.2e+24 (2^80)";
    }
    for (int k = 0; k < 3; k++) {
        view->eye[k] = camera->eye[k];
        view->forward[k] = camera->target[k] - camera->eye[k];
    }
    const double distance = sqrt(dot(view->forward, view->forward));
    if (!normalize(view->forward)) return "the camera looks at its own place";
    set_axes(camera->up, view);
    view->perspective = camera->projection == MOTE_PERSPECTIVE;
    if (view->perspective) {
        if (!(camera->angle_rad > 0 && camera->angle_rad < PI)) return "the camera's angle is out of range";
        view->focal = 0.5 * height / tan(0.5 * camera->angle_rad);
    } else {
        if (camera->projection != MOTE_ORTHOGRAPHIC) return "the camera's projection is out of range";
        if (!(camera->height > 0 && camera->height <= DBL_MAX)) return "the camera's height needs to be above 0";
        view->focal = height / camera->height;
    }
    if (!(view->focal > 0 && view->focal <= DBL_MAX)) return "the camera's angle or height is out of range";
    view->near_depth = camera->near_depth;
    if (!(camera->near_depth >= 0 && camera->far_depth >= 0)) return "near and far depth need 0 or more";
    if (camera->near_depth == 0) view->near_depth = view->perspective ? distance * NEAR_SHARE : -DBL_MAX;
    view->far_depth = camera->far_depth > 0 ? camera->far_depth : DBL_MAX;
    if (view->perspective && !(view->near_depth > 0)) return "the camera is too near to what it looks at";
    return NULL;
}

mote_status render_check_camera(mote_context *ctx, const mote_camera *camera, uint32_t height, render_view *view) {
    MOTE_TRY(
        mote_check_reserved(ctx, camera->reserved, sizeof camera->reserved, "mote_camera", "mote_camera_defaults()"));
    memset(view, 0, sizeof *view);
    const char *wrong = set_view(camera, height, view);
    return wrong == NULL ? MOTE_OK : mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s", wrong);
}

mote_status render_make_view(mote_context *ctx, const mote_camera *camera, const render_part *part, uint32_t samples,
                             render_view *view) {
    MOTE_TRY(render_check_camera(ctx, camera, part->picture_height * samples, view));
    view->center_u = 0.5 * part->picture_width * samples;
    view->center_v = 0.5 * part->picture_height * samples;
    view->left = part->x * samples;
    view->top = part->y * samples;
    view->width = part->width * samples;
    view->height = part->height * samples;
    return MOTE_OK;
}

/* ---- public: places and pixels */

bool mote_camera_project(const mote_camera *camera, uint32_t width, uint32_t height, const double place[3], double *x,
                         double *y, double *depth) {
    render_view view;
    memset(&view, 0, sizeof view);
    if (set_view(camera, height, &view) != NULL) return false;
    const render_place at = render_to_camera(&view, place[0], place[1], place[2]);
    const double scale = render_scale_at(&view, at.z);
    const double u = 0.5 * width + at.x * scale, v = 0.5 * height + at.y * scale;
    if (x != NULL) *x = u;
    if (y != NULL) *y = v;
    if (depth != NULL) *depth = at.z;
    return at.z >= view.near_depth && at.z <= view.far_depth && u >= 0 && u < width && v >= 0 && v < height;
}

void mote_camera_unproject(const mote_camera *camera, uint32_t width, uint32_t height, double x, double y, double depth,
                           double place[3]) {
    render_view view;
    memset(&view, 0, sizeof view);
    place[0] = place[1] = place[2] = NAN;
    if (set_view(camera, height, &view) != NULL) return;
    const double scale = render_scale_at(&view, depth);
    const double right = (x - 0.5 * width) / scale, down = (y - 0.5 * height) / scale;
    for (int k = 0; k < 3; k++) {
        place[k] = view.eye[k] + ((right * view.right[k] + down * view.down[k]) + depth * view.forward[k]);
    }
}

/* ---- fitting

   With its axes fixed, a camera sees a place where |x - ex| <= tx (z - ez), and likewise y: four planes. The farthest
   place beyond each of them, over all that is to be seen, says where the planes go, and two opposite planes meet in a
   line that the eye is on. Along the other pair there is room: the eye is moved until the margins are alike. */

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
    if (!normalize(direction)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no direction to look from");
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
    set_axes(camera->up, &fit->view);
    fit->view.perspective = camera->projection == MOTE_PERSPECTIVE;
    if (fit->view.perspective && !(camera->angle_rad > 0 && camera->angle_rad < PI)) {
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

mote_status render_fit_boxes(mote_context *ctx, mote_camera *camera, const mote_box *boxes, uint32_t count,
                             const mote_box *clip, const double from[3], uint32_t width, uint32_t height) {
    render_fit fit;
    MOTE_TRY(begin_fit(ctx, camera, from, clip, width, height, &fit));
    add_boxes(&fit, boxes, count, clip);
    if (!(fit.nearest <= fit.farthest && isfinite(fit.nearest) && isfinite(fit.farthest))) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "there is nothing to fit a camera to");
    }
    place_eye(&fit);
    for (int i = 0; i < CENTER_STEPS; i++) {
        add_boxes(&fit, boxes, count, clip);
        center_eye(&fit);
    }
    const double target_z = 0.5 * (fit.nearest + fit.farthest), wide = fit.end[0][1] - fit.end[0][0];
    const double high = fmax(fit.end[1][1] - fit.end[1][0], wide / fit.aspect);
    if (!fit.view.perspective) camera->height = fmax(high, least_size(&fit)) / (1 - 2 * FIT_MARGIN);
    for (int k = 0; k < 3; k++) {
        const double across = fit.eye[0] * fit.view.right[k] + fit.eye[1] * fit.view.down[k];
        camera->eye[k] = fit.view.eye[k] + (across + fit.eye[2] * fit.view.forward[k]);
        camera->target[k] = fit.view.eye[k] + (across + target_z * fit.view.forward[k]);
    }
    const double before = fit.nearest - fit.eye[2]; /* of a long thing, seen from its end, the near plane would cut */
    camera->near_depth = (target_z - fit.eye[2]) * NEAR_SHARE > 0.5 * before && fit.view.perspective ? 0.5 * before : 0;
    camera->far_depth = 0;
    return MOTE_OK;
}

mote_status mote_camera_fit(mote_context *ctx, mote_camera *camera, const mote_box *box, const double from[3],
                            uint32_t width, uint32_t height) {
    return render_fit_boxes(ctx, camera, box, 1, box, from, width, height);
}

/* ---- paths */

/* Through b at 0 and c at 1, on its way from a to d (Catmull, Rom 1974). */
static double spline(double a, double b, double c, double d, double t) {
    const double linear = 0.5 * (c - a), square = a - 2.5 * b + 2 * c - 0.5 * d, cube = 0.5 * (d - a) + 1.5 * (b - c);
    return ((cube * t + square) * t + linear) * t + b;
}

static double spline_log(double a, double b, double c, double d, double t) {
    return a > 0 && b > 0 && c > 0 && d > 0 ? exp(spline(log(a), log(b), log(c), log(d), t)) : b;
}

static const mote_camera *camera_at(const mote_camera *cameras, uint32_t count, bool closed, int64_t i) {
    const int64_t n = count;
    if (closed) return &cameras[((i % n) + n) % n];
    return &cameras[i < 0 ? 0 : i >= n ? n - 1 : i];
}

mote_camera mote_camera_on_path(const mote_camera *cameras, uint32_t count, bool closed, double place) {
    const double end = closed ? count : count - 1.0;
    const double at = place > 0 ? fmin(place, end) : 0, begin = fmin(floor(at), fmax(end - 1, 0)), t = at - begin;
    const mote_camera *c[4];
    for (int i = 0; i < 4; i++) c[i] = camera_at(cameras, count, closed, (int64_t)begin + i - 1);
    mote_camera camera = *c[1];
    if (t == 0) return camera;
    if (t == 1) return *c[2];
    for (int k = 0; k < 3; k++) {
        camera.eye[k] = spline(c[0]->eye[k], c[1]->eye[k], c[2]->eye[k], c[3]->eye[k], t);
        camera.target[k] = spline(c[0]->target[k], c[1]->target[k], c[2]->target[k], c[3]->target[k], t);
        camera.up[k] = spline(c[0]->up[k], c[1]->up[k], c[2]->up[k], c[3]->up[k], t);
    }
    camera.angle_rad = spline_log(c[0]->angle_rad, c[1]->angle_rad, c[2]->angle_rad, c[3]->angle_rad, t);
    camera.angle_rad = fmin(camera.angle_rad, 0.99 * PI);
    camera.height = spline_log(c[0]->height, c[1]->height, c[2]->height, c[3]->height, t);
    return camera;
}
