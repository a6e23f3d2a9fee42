/* A picture on its way to a page, and its bytes as they are sent. */
#include "view/live/live_picture.h"

#include <math.h>
#include <mote_have.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

#if MOTE_HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif
#if MOTE_HAVE_PNG
#include <png.h>
#endif

#define JPEG_QUALITY 82
#define BODY_AT      (LIVE_HEADER_BYTES + sizeof(float) * LIVE_GRID_ROWS * LIVE_GRID_COLUMNS)

/* ---- pictures */

bool live_picture_size(live_picture *picture, uint32_t width, uint32_t height) {
    const size_t bytes = (size_t)4 * width * height;
    if (bytes > picture->capacity_bytes) {
        free(picture->rgba);
        picture->rgba = malloc(bytes);
        picture->capacity_bytes = picture->rgba != NULL ? bytes : 0;
    }
    picture->width = width;
    picture->height = height;
    return picture->rgba != NULL;
}

void live_picture_grid(live_picture *picture, const float *depth) {
    for (uint32_t i = 0; i < LIVE_GRID_ROWS * LIVE_GRID_COLUMNS; i++) picture->grid[i] = INFINITY;
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint32_t row = (uint32_t)((uint64_t)y * LIVE_GRID_ROWS / picture->height);
        float *cells = picture->grid + (size_t)row * LIVE_GRID_COLUMNS;
        const float *from = depth + (size_t)y * picture->width;
        for (uint32_t column = 0; column < LIVE_GRID_COLUMNS; column++) {
            const uint32_t end = (uint32_t)((uint64_t)(column + 1) * picture->width / LIVE_GRID_COLUMNS);
            float least = cells[column];
            for (uint32_t x = (uint32_t)((uint64_t)column * picture->width / LIVE_GRID_COLUMNS); x < end; x++) {
                least = from[x] < least ? from[x] : least;
            }
            cells[column] = least;
        }
    }
}

void live_picture_swap(live_picture *a, live_picture *b) {
    const live_picture kept = *a;
    *a = *b;
    *b = kept;
}

void live_picture_free(live_picture *picture) {
    free(picture->rgba);
    memset(picture, 0, sizeof *picture);
}

/* ---- encodings: each writes behind the header, and sets the size */

static bool reserve(live_encoder *e, size_t bytes) {
    if (bytes <= e->capacity) return true;
    free(e->bytes);
    e->bytes = malloc(bytes);
    e->capacity = e->bytes != NULL ? bytes : 0;
    return e->bytes != NULL;
}

/* Red, green, blue without alpha, in place. */
static void pack(live_picture *picture) {
    const size_t pixels = (size_t)picture->width * picture->height;
    uint8_t *to = picture->rgba;
    for (size_t i = 0; i < pixels; i++, to += 3) memmove(to, picture->rgba + 4 * i, 3);
}

#if MOTE_HAVE_TURBOJPEG
static bool encode_jpeg(live_encoder *e, const live_picture *picture) {
    const int width = (int)picture->width, height = (int)picture->height;
    const size_t max = tjBufSize(width, height, TJSAMP_420);
    if (e->jpeg == NULL) e->jpeg = tjInitCompress();
    if (e->jpeg == NULL || !reserve(e, BODY_AT + max)) return false;
    unsigned char *to = e->bytes + BODY_AT;
    unsigned long bytes = max;
    if (tjCompress2(e->jpeg, picture->rgba, width, 0, height, TJPF_RGBX, &to, &bytes, TJSAMP_420, JPEG_QUALITY,
                    TJFLAG_NOREALLOC | TJFLAG_FASTDCT) != 0) {
        return false;
    }
    e->size = BODY_AT + bytes;
    return true;
}
#endif

#if MOTE_HAVE_PNG
static bool encode_png(live_encoder *e, live_picture *picture) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = picture->width;
    image.height = picture->height;
    image.format = PNG_FORMAT_RGB;
    image.flags = PNG_IMAGE_FLAG_FAST;
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    if (!reserve(e, BODY_AT + bytes)) return false;
    pack(picture);
    const bool is_done = png_image_write_to_memory(&image, e->bytes + BODY_AT, &bytes, 0, picture->rgba, 0, NULL) != 0;
    png_image_free(&image);
    e->size = BODY_AT + bytes;
    return is_done;
}
#else
static bool encode_rgb(live_encoder *e, live_picture *picture) {
    const size_t bytes = (size_t)3 * picture->width * picture->height;
    if (!reserve(e, BODY_AT + bytes)) return false;
    pack(picture);
    memcpy(e->bytes + BODY_AT, picture->rgba, bytes);
    e->size = BODY_AT + bytes;
    return true;
}
#endif

static bool encode(live_encoder *e, live_picture *picture, live_encoding *kind) {
#if MOTE_HAVE_TURBOJPEG
    *kind = LIVE_JPEG;
    if (!picture->is_still) return encode_jpeg(e, picture);
#endif
#if MOTE_HAVE_PNG
    *kind = LIVE_PNG;
    return encode_png(e, picture);
#else
    *kind = LIVE_RGB;
    return encode_rgb(e, picture);
#endif
}

const char *live_encodings(void) {
#if MOTE_HAVE_TURBOJPEG
    const bool has_jpeg = true;
#else
    const bool has_jpeg = false;
#endif
#if MOTE_HAVE_PNG
    return has_jpeg ? "JPEG, PNG when still" : "PNG";
#else
    return has_jpeg ? "JPEG, raw when still" : "raw";
#endif
}

/* ---- the header */

static void put_u32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof value); }
static void put_u16(uint8_t *to, uint32_t value) {
    const uint16_t half = (uint16_t)value;
    memcpy(to, &half, sizeof half);
}
static void put_float(uint8_t *to, double value) {
    const float single = (float)value;
    memcpy(to, &single, sizeof single);
}

bool live_encode(live_encoder *e, live_picture *picture) {
    const double begin = seconds_now();
    live_encoding kind;
    if (!encode(e, picture, &kind)) return false;
    uint8_t *to = e->bytes;
    put_u32(to, (uint32_t)kind);
    put_u32(to + 4, picture->number);
    put_u32(to + 8, picture->seq);
    put_u16(to + 12, picture->width);
    put_u16(to + 14, picture->height);
    to[16] = (uint8_t)picture->mode;
    to[17] = picture->is_still;
    to[18] = LIVE_GRID_COLUMNS;
    to[19] = LIVE_GRID_ROWS;
    put_u16(to + 20, picture->samples);
    put_u16(to + 22, picture->close_pixels);
    put_float(to + 24, picture->draw_s);
    put_float(to + 28, seconds_now() - begin);
    put_u32(to + 32, picture->scene);
    put_u16(to + 36, (uint32_t)(100 * picture->point_pixels + 0.5));
    put_u16(to + 38, 0);
    memcpy(to + LIVE_HEADER_BYTES, picture->grid, sizeof picture->grid);
    return true;
}

void live_encoder_free(live_encoder *e) {
#if MOTE_HAVE_TURBOJPEG
    if (e->jpeg != NULL) tjDestroy(e->jpeg);
#endif
    free(e->bytes);
    memset(e, 0, sizeof *e);
}
