/* The cameras of a sequence of pictures: an orbit, or those of a file and what lies between them. */
#ifndef CLI_PICTURE_PATH_H
#define CLI_PICTURE_PATH_H

#include "render/picture_plan.h"

typedef struct picture_path {
    mote_camera *cameras; /* [count] of a file; of an orbit the first one */
    uint32_t count;
    uint32_t frames; /* 1: a single picture */
    bool orbit, closed;
    double axis[3]; /* of the orbit, through the target */
} picture_path;

/* Reads cameras from a file, a line each: "eye X Y Z target X Y Z", and if wanted "up X Y Z", "fov DEGREES",
   "height UNITS" (orthographic). Returns an exit code. */
int picture_path_read(session *s, const char *file, const picture_view *view, picture_path *path);
/* Places the camera of one picture, or of the first of an orbit. steep: see picture_camera_place. */
int picture_path_place(session *s, const picture_view *view, bool steep, mote_renderer *renderer,
                       const mote_render_params *params, picture_path *path);
/* The camera of a frame. */
/* Moves the cameras away from their targets, that many times as far. */
void picture_path_retreat(picture_path *path, double times);
mote_camera picture_path_at(const picture_path *path, uint32_t frame);
void picture_path_free(picture_path *path);

#endif
