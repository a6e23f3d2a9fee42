/* Colours of what is no quantity.
 *
 * Between class 2 and class 6 lies no class 4, so colours of classes, labels and return numbers are not mixed where a
 * pixel shows several points: it has the colour of the point that covers it most. Light, background and edges are
 * those of any surface. A picture is linear in the colours of points: so the cloud is drawn white and black, and with
 * which point a pixel shows, and a colour c of that point makes it black + (white - black) c.
 */
#ifndef CLI_PICTURE_APART_H
#define CLI_PICTURE_APART_H

#include <mote/mote.h>

typedef struct picture_apart {
    uint8_t *rgba; /* [4 * points] of the renderer's points; NULL: colours are mixed */
    uint64_t points;
} picture_apart;

/* Draws as mote_render_draw does. The colours that the renderer was given are lost. */
mote_status picture_apart_draw(const picture_apart *apart, mote_renderer *renderer, const mote_camera *camera,
                               const mote_render_params *params, mote_render_result *result);
void picture_apart_free(picture_apart *apart);

#endif
