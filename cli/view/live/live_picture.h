/* A picture on its way to a page, and its bytes as they are sent.
 *
 *    0  kind: 1 JPEG, 2 PNG, 3 red, green, blue
 *    4  number of the picture
 *    8  number of the view that it shows
 *   12  width, height (u16)
 *   16  mode, is still, columns and rows of the grid (u8)
 *   20  samples of a pixel, a side; holes closed up to, pixels (u16)
 *   24  seconds: drawn in, encoded in (float)
 *   32  version of the cloud
 *   36  diameter of points, hundredths of a pixel (u16); 0 (u16)
 *   40  depth of the nearest thing in each cell of a grid over the picture, float, infinity: nothing; then the picture
 *
 * All little-endian. */
#ifndef CLI_LIVE_PICTURE_H
#define CLI_LIVE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_GRID_COLUMNS 48u
#define LIVE_GRID_ROWS    27u
#define LIVE_HEADER_BYTES 40u

typedef enum live_encoding { LIVE_JPEG = 1, LIVE_PNG = 2, LIVE_RGB = 3 } live_encoding;

typedef struct live_picture {
    uint8_t *rgba; /* [4 * width * height] its own */
    size_t capacity_bytes;
    uint32_t width, height;
    float grid[LIVE_GRID_ROWS * LIVE_GRID_COLUMNS];
    uint32_t number, seq, scene;
    int mode;
    uint32_t samples, close_pixels;
    double point_pixels; /* diameter of points; 0: a sample each */
    bool is_still;       /* whole, and sent without loss */
    double draw_s;
} live_picture;

/// Makes place for a size. Returns false where memory has run out.
bool live_picture_size(live_picture *picture, uint32_t width, uint32_t height);
/// Fills the grid. depth: [width * height] of the picture
void live_picture_grid(live_picture *picture, const float *depth);
void live_picture_swap(live_picture *a, live_picture *b);
void live_picture_free(live_picture *picture);

/* Makes the bytes of pictures, one after another. */
typedef struct live_encoder {
    void *jpeg;
    uint8_t *bytes; /* [size] what is to be sent */
    size_t size, capacity;
} live_encoder;

/// Encodes a picture, whose colours are lost by it. Still pictures keep every bit, as do all where this build has no
/// JPEG. Returns false where memory has run out.
bool live_encode(live_encoder *encoder, live_picture *picture);
void live_encoder_free(live_encoder *encoder);
/// "JPEG, PNG", …: what this build sends moving and still pictures as.
const char *live_encodings(void);

#endif
