/* PNG by libpng, row after row into an output. */
#ifndef CLI_PICTURE_PNG_H
#define CLI_PICTURE_PNG_H

#include "render/picture_file.h"

typedef struct picture_png picture_png;

/* Whether libpng was there when this was built. */
extern const bool picture_png_built;

mote_status picture_png_begin(mote_context *ctx, mote_output *output, const picture_shape *shape, picture_png **out);
mote_status picture_png_rows(picture_png *png, const uint8_t *rows, uint32_t count);
/* Writes the end, if complete; frees it. NULL is allowed. */
mote_status picture_png_end(picture_png *png, bool complete);

#endif
