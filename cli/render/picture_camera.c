/* Where pictures are taken from. */
#include "render/picture_camera.h"

#include <math.h>
#include <string.h>

/* iso: so far to the left and up, of a step to the front: 33 degrees aside, so that two sides are seen, one more than
   the other, and 24 or 38 above the horizon. */
#define ISO_LEFT     0.65
#define ISO_UP       0.53
#define ISO_STEEP_UP 0.93

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void normalize(double v[3]) {
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) v[k] /= length;
}

picture_axes picture_axes_of(const double up[3]) {
    picture_axes a;
    memcpy(a.up, up, sizeof a.up);
    normalize(a.up);
    const int first = fabs(a.up[0]) < 0.9 ? 0 : 1; /* x to the right, if that is not up */
    for (int k = 0; k < 3; k++) a.right[k] = (k == first) - a.up[first] * a.up[k];
    normalize(a.right);
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        a.front[k] = a.right[i] * a.up[j] - a.right[j] * a.up[i];
    }
    return a;
}

static void add_scaled(double to[3], const double v[3], double factor) {
    for (int k = 0; k < 3; k++) to[k] += v[k] * factor;
}

/* The direction from what is seen to the viewer, and what is up in the picture. */
static void find_direction(const picture_view *view, bool steep, double from[3], double up[3]) {
    const picture_axes a = picture_axes_of(view->up);
    memset(from, 0, 3 * sizeof *from);
    memcpy(up, a.up, sizeof a.up);
    switch (view->side) {
    case SIDE_ISO:
        add_scaled(from, a.front, 1);
        add_scaled(from, a.right, -ISO_LEFT);
        add_scaled(from, a.up, steep ? ISO_STEEP_UP : ISO_UP);
        break;
    case SIDE_TOP:
    case SIDE_BOTTOM:
        add_scaled(from, a.up, view->side == SIDE_TOP ? 1 : -1);
        for (int k = 0; k < 3; k++) up[k] = 0 - a.front[k];
        break;
    case SIDE_FRONT: add_scaled(from, a.front, 1); break;
    case SIDE_BACK: add_scaled(from, a.front, -1); break;
    case SIDE_LEFT: add_scaled(from, a.right, -1); break;
    case SIDE_RIGHT: add_scaled(from, a.right, 1); break;
    }
}

static void move_to_target(mote_camera *camera, const double target[3]) {
    for (int k = 0; k < 3; k++) {
        camera->eye[k] += target[k] - camera->target[k];
        camera->target[k] = target[k];
    }
}

static double distance(const double a[3], const double b[3]) {
    const double way[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot(way, way));
}

/* A picture that is drawn in parts may be larger than what is drawn at once; what it shows is not settled yet. */
mote_status picture_camera_fit(mote_renderer *renderer, mote_camera *camera, const double from[3],
                               const mote_render_params *params) {
    mote_render_params part = *params;
    part.part_width = part.part_height = 1;
    part.show = MOTE_RENDER_SHOW_COLOR;
    return mote_render_fit(renderer, camera, from, &part);
}

/* Fits a camera that looks from a direction. */
static int fit(session *s, const double from[3], mote_renderer *renderer, const mote_render_params *params,
               mote_camera *camera) {
    const mote_box box = mote_render_bounds(renderer);
    if (box.min[0] > box.max[0]) {
        return session_error(s, EXIT_INPUT,
                             "there is no point with a finite position to fit a camera to; --eye X,Y,Z with --target "
                             "X,Y,Z places one anyway");
    }
    const mote_status status = picture_camera_fit(renderer, camera, from, params);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* An eye of the caller's: it looks at the target, or at the middle of all. */
static int place_eye(session *s, const picture_view *view, mote_renderer *renderer, const mote_render_params *params,
                     mote_camera *camera) {
    const double *eye = view->eye;
    if (!view->has_target) {
        const int code = fit(s, camera->up, renderer, params, camera);
        if (code != EXIT_DONE) return code;
    } else {
        memcpy(camera->target, view->target, sizeof camera->target);
    }
    const double from[3] = {eye[0] - camera->target[0], eye[1] - camera->target[1], eye[2] - camera->target[2]};
    if (!(dot(from, from) > 0)) return session_error(s, EXIT_USAGE, "--eye and --target are the same place");
    if (view->fit) return fit(s, from, renderer, params, camera);
    memcpy(camera->eye, eye, sizeof camera->eye);
    return EXIT_DONE;
}

int picture_camera_place(session *s, const picture_view *view, bool steep, mote_renderer *renderer,
                         const mote_render_params *params, mote_camera *camera) {
    double from[3];
    *camera = mote_camera_defaults();
    camera->projection = view->orthographic ? MOTE_ORTHOGRAPHIC : MOTE_PERSPECTIVE;
    camera->angle_rad = view->angle_rad;
    find_direction(view, steep, from, camera->up);
    int code = EXIT_DONE;
    if (view->has_eye) {
        code = place_eye(s, view, renderer, params, camera);
        if (view->orthographic) camera->height = 2 * distance(camera->eye, camera->target) * tan(view->angle_rad / 2);
    } else {
        code = fit(s, from, renderer, params, camera);
        if (code == EXIT_DONE && view->has_target) move_to_target(camera, view->target);
    }
    if (view->gsd > 0) camera->height = view->gsd * params->height;
    return code;
}

/* A picture's half, as a vector at depth 1: its direction, and how many pixels a unit has. */
static double half_picture(const mote_camera *camera, const mote_render_params *p, double x, double y,
                           double direction[3]) {
    double from[3], to[3];
    mote_camera local = *camera; /* around the eye: large coordinates take no digits */
    for (int k = 0; k < 3; k++) {
        local.target[k] = camera->target[k] - camera->eye[k];
        local.eye[k] = 0;
    }
    mote_camera_unproject(&local, p->width, p->height, 0.5 * p->width, 0.5 * p->height, 1, from);
    mote_camera_unproject(&local, p->width, p->height, 0.5 * p->width + x, 0.5 * p->height + y, 1, to);
    for (int k = 0; k < 3; k++) direction[k] = to[k] - from[k];
    const double length = sqrt(dot(direction, direction));
    normalize(direction);
    return (x + y) / length;
}

picture_lens picture_lens_of(const mote_camera *camera, const mote_render_params *params) {
    picture_lens lens = {.perspective = camera->projection == MOTE_PERSPECTIVE};
    lens.middle[0] = 0.5 * params->width;
    lens.middle[1] = 0.5 * params->height;
    for (int k = 0; k < 3; k++) {
        lens.eye[k] = camera->eye[k];
        lens.forward[k] = camera->target[k] - camera->eye[k];
    }
    normalize(lens.forward);
    lens.scale = half_picture(camera, params, lens.middle[0], 0, lens.right);
    half_picture(camera, params, 0, lens.middle[1], lens.down);
    return lens;
}

void picture_lens_project(const picture_lens *lens, const double place[3], double at[3]) {
    const double way[3] = {place[0] - lens->eye[0], place[1] - lens->eye[1], place[2] - lens->eye[2]};
    at[2] = dot(way, lens->forward);
    const double scale = !lens->perspective ? lens->scale : at[2] > 0 ? lens->scale / at[2] : NAN;
    at[0] = lens->middle[0] + dot(way, lens->right) * scale;
    at[1] = lens->middle[1] + dot(way, lens->down) * scale;
}

#define FAR_AWAY   100.0 /* diagonals of the box: a step of depth is a hundred-thousandth of it */
#define DEPTH_STEP 0x1p-23

void picture_camera_tell_far(session *s, const mote_camera *camera, const mote_box *box) {
    double middle[3];
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (box->min[k] + box->max[k]);
    const double away = distance(camera->eye, middle), diagonal = distance(box->min, box->max);
    if (!(away > FAR_AWAY * diagonal) || !(diagonal > 0)) return;
    session_note(
        s,
        "the eye is %.6g away from points that are %.6g wide: depths have steps of %.2g, and of points that are "
        "nearer together the one behind may be seen; an eye that is closer tells them apart",
        away, diagonal, DEPTH_STEP * exp2(floor(log2(away))));
}
