/* Colours of what is no quantity. */
#include "render/picture_apart.h"

#include <stdlib.h>
#include <string.h>

/* What a draw needs besides its result. */
typedef struct apart_scratch {
    uint8_t *flat;   /* [4 * points] one colour for all */
    uint32_t *index; /* [pixels] */
    void *black;     /* [4 * pixels] in the type of the result */
} apart_scratch;

static mote_status draw_flat(const picture_apart *apart, mote_renderer *renderer, const mote_camera *camera,
                             const mote_render_params *params, uint8_t shade, uint8_t *flat,
                             mote_render_result *result) {
    memset(flat, shade, 4 * (size_t)apart->points);
    for (uint64_t i = 0; i < apart->points; i++) flat[4 * i + 3] = 255;
    const mote_status status = mote_render_set_colors(renderer, flat, false);
    return status == MOTE_OK ? mote_render_draw(renderer, camera, params, result) : status;
}

/* Between black and white, rounded; of a white that is darker nothing is left. */
static uint32_t mix(uint32_t black, uint32_t white, uint32_t color) {
    return white > black ? black + ((white - black) * color + 127) / 255 : white;
}

static void combine(const picture_apart *apart, const uint32_t *index, const void *black, size_t pixels,
                    const mote_render_result *result) {
    const uint8_t *const black8 = black;
    const uint16_t *const black16 = black;
    for (size_t i = 0; i < pixels; i++) {
        if (index[i] == MOTE_RENDER_NO_POINT) continue;
        const uint8_t *const color = apart->rgba + 4 * (size_t)index[i];
        for (size_t k = 4 * i; k < 4 * i + 3; k++) {
            if (result->color16 != NULL) {
                result->color16[k] = (uint16_t)mix(black16[k], result->color16[k], color[k % 4]);
            } else {
                result->color8[k] = (uint8_t)mix(black8[k], result->color8[k], color[k % 4]);
            }
        }
    }
}

mote_status picture_apart_draw(const picture_apart *apart, mote_renderer *renderer, const mote_camera *camera,
                               const mote_render_params *params, mote_render_result *result) {
    const uint32_t width = params->part_width > 0 ? params->part_width : params->width;
    const uint32_t height = params->part_height > 0 ? params->part_height : params->height;
    const size_t pixels = (size_t)width * height;
    apart_scratch scratch = {malloc(4 * (size_t)apart->points + 1), malloc(pixels * sizeof *scratch.index + 1),
                             malloc(4 * pixels * sizeof(uint16_t) + 1)};
    mote_render_result black;
    memset(&black, 0, sizeof black);
    if (result->color16 != NULL) {
        black.color16 = scratch.black;
    } else {
        black.color8 = scratch.black;
    }
    black.index = scratch.index;
    mote_status status =
        scratch.flat != NULL && scratch.index != NULL && scratch.black != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = draw_flat(apart, renderer, camera, params, 0, scratch.flat, &black);
    if (status == MOTE_OK) status = draw_flat(apart, renderer, camera, params, 255, scratch.flat, result);
    if (status == MOTE_OK) combine(apart, scratch.index, scratch.black, pixels, result);
    free(scratch.flat);
    free(scratch.index);
    free(scratch.black);
    return status;
}

void picture_apart_free(picture_apart *apart) {
    free(apart->rgba);
    memset(apart, 0, sizeof *apart);
}
