/* What is painted over a picture: a legend of its colours, a scale bar. */
#ifndef CLI_PICTURE_LEGEND_H
#define CLI_PICTURE_LEGEND_H

#include "render/picture_canvas.h"
#include "render/picture_color.h"

/* The legend of a picture of a size: in its lower left corner. rgba NULL: the colours mean nothing, or no memory.
   dark: the background is. */
picture_overlay picture_legend_make(const picture_colors *colors, uint32_t width, uint32_t height, bool dark);
/* A bar of a round length, in the lower right corner; pixel_size: world units. unit: NULL if unknown. */
picture_overlay picture_scale_bar_make(double pixel_size, const char *unit, uint32_t width, uint32_t height, bool dark);

#endif
