/* Maps: a picture from above whose pixels have a place in the world, in tiles where it is large. */
#ifndef CLI_PICTURE_MAP_H
#define CLI_PICTURE_MAP_H

#include "render/picture_canvas.h"
#include "render/picture_plan.h"

/* A picture is one tile, unless it is larger than PICTURE_MAX_SIDE or tiles were asked for. */
typedef struct picture_tiles {
    uint32_t side;          /* pixels; 0: one tile, the whole picture */
    uint32_t columns, rows; /* 1, 1 */
} picture_tiles;

/* Gives a map without --size the size that its points need at the scale, so that pixels of two maps of one scale lie on
   one grid; and divides it into tiles. Returns an exit code. */
int picture_map_measure(session *s, picture_plan *plan, const mote_box *box, picture_tiles *tiles);
/* Looks down on the middle of what was measured. */
void picture_map_place(const picture_plan *plan, const mote_box *box, mote_camera *camera);
picture_region picture_tile_region(const picture_tiles *tiles, const mote_render_params *params, uint32_t column,
                                   uint32_t row);

/* Whether a world file describes what the camera shows: from above, north up. */
bool picture_map_has_world(const mote_camera *camera);
/* Writes the world file of a region beside its picture: OUT.png has OUT.pgw. Returns an exit code. */
int picture_map_write_world(session *s, const char *picture, const mote_camera *camera,
                            const mote_render_params *params, const picture_region *region);

#endif
