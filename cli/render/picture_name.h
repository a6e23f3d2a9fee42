/* Names of several pictures that one name stands for. */
#ifndef CLI_PICTURE_NAME_H
#define CLI_PICTURE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define PICTURE_NAME_MAX 4096

/* "orbit.png" becomes "orbit_0007.png"; "frame_%05d.png", "frame_00007.png". false: too long, or another % in it. */
bool picture_name_frame(const char *name, uint32_t frame, char out[PICTURE_NAME_MAX]);
/* "map.png" becomes "map_3_1.png": column 3, row 1, counted from 0 at the upper left. */
bool picture_name_tile(const char *name, uint32_t column, uint32_t row, char out[PICTURE_NAME_MAX]);

#endif
