/* Defaults of cameras and pictures. */
#include <string.h>

#include "math/pi.h"
#include "mote/render.h"

mote_camera mote_camera_defaults(void) {
    mote_camera camera;
    memset(&camera, 0, sizeof camera);
    camera.projection = MOTE_PERSPECTIVE;
    camera.eye[1] = -1;
    camera.up[2] = 1;
    camera.angle_rad = 40 * MOTE_PI / 180;
    camera.height = 1;
    return camera;
}

mote_render_params mote_render_defaults(void) {
    static const double upper_left[3] = {-0.4, 0.6, 1};
    mote_render_params params;
    memset(&params, 0, sizeof params);
    params.mode = MOTE_RENDER_POINTS;
    params.width = 1920;
    params.height = 1080;
    params.samples = 1;
    memset(params.background, 255, sizeof params.background);
    params.edl_strength = 1;
    params.edl_radius = 1.4;
    params.light_count = 1;
    memcpy(params.lights[0].toward, upper_left, sizeof upper_left);
    params.lights[0].strength = 0.8;
    memset(params.lights[0].color, 255, sizeof params.lights[0].color);
    params.ambient = 0.25;
    params.specular = 0.1;
    params.tolerance = 2;
    params.k = 8;
    params.share = 12;
    params.layers = 2;
    return params;
}
