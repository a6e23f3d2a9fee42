/* Room at the edges of a picture for what points are drawn as: cameras are fitted to points, and discs and splats reach
   beyond them. */
#ifndef CLI_PICTURE_ROOM_H
#define CLI_PICTURE_ROOM_H

#include "render/picture_path.h"

/* What a picture is of. */
typedef struct picture_contents {
    const mote_cloud *cloud;
    const mote_box *box; /* of the points that count: those far from all others do not */
    mote_renderer *renderer;
} picture_contents;

/* Moves the cameras of a path so that the splats and discs that they draw end at the margins. reach: how many pixels a
   splat reaches beyond its point at most; within the margin nothing is done, and *has_moved stays false. Returns an
   exit code. */
int picture_room_make(session *s, const picture_plan *plan, const picture_contents *contents, double reach,
                      picture_path *path, bool *has_moved);
/* The same after the settings that depend on the camera's distance have followed it: a step back, if an edge cuts. */
int picture_room_keep(session *s, const picture_plan *plan, mote_renderer *renderer, picture_path *path,
                      bool *has_moved);

#endif
