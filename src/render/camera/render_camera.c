/* Cameras: their axes, places in their pictures, and paths through several. */
#include "render/camera/render_camera.h"
#include "math/pi.h"

#include <float.h>
#include <math.h>

#define MAX_PLACE 0x1p80 /* far outside of any cloud: eyes stand back from what they see; floats hold such depths */

static double dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

bool render_normalize(double v[3]) {
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

void render_set_axes(const double up[3], render_view *view) {
    double upward[3] = {up[0], up[1], up[2]};
    bool known = render_normalize(upward);
    if (known) cross(view->forward, upward, view->right);
    known = known && dot(view->right, view->right) > 1e-20 && render_normalize(view->right);
    if (!known) {
        least_axis(view->forward, upward);
        cross(view->forward, upward, view->right);
        render_normalize(view->right);
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
    if (!render_normalize(view->forward)) return "the camera looks at its own place";
    render_set_axes(camera->up, view);
    view->perspective = camera->projection == MOTE_PERSPECTIVE;
    if (view->perspective) {
        if (!(camera->angle_rad > 0 && camera->angle_rad < MOTE_PI)) return "the camera's angle is out of range";
        view->focal = 0.5 * height / tan(0.5 * camera->angle_rad);
    } else {
        if (camera->projection != MOTE_ORTHOGRAPHIC) return "the camera's projection is out of range";
        if (!(camera->height > 0 && camera->height <= DBL_MAX)) return "the camera's height needs to be above 0";
        view->focal = height / camera->height;
    }
    if (!(view->focal > 0 && view->focal <= DBL_MAX)) return "the camera's angle or height is out of range";
    view->near_depth = camera->near_depth;
    if (!(camera->near_depth >= 0 && camera->far_depth >= 0)) return "near and far depth need 0 or more";
    if (camera->near_depth == 0) view->near_depth = view->perspective ? distance * RENDER_NEAR_SHARE : -DBL_MAX;
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
    camera.angle_rad = fmin(camera.angle_rad, 0.99 * MOTE_PI);
    camera.height = spline_log(c[0]->height, c[1]->height, c[2]->height, c[3]->height, t);
    return camera;
}
