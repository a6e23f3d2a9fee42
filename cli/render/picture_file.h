/* A picture, or an array of its pixels, as a file that is written row after row. */
#ifndef CLI_PICTURE_FILE_H
#define CLI_PICTURE_FILE_H

#include <mote/mote.h>

typedef enum picture_format { PICTURE_PNG, PICTURE_PPM, PICTURE_NPY, PICTURE_RAW } picture_format;
#define PICTURE_FORMATS 4

/* What a pixel is. */
typedef enum pixel_kind {
    PIXEL_COLOR8,  /* red, green, blue, alpha: 4 bytes */
    PIXEL_COLOR16, /* the same, 16 bits each */
    PIXEL_DEPTH,   /* float */
    PIXEL_NORMAL,  /* x, y, z: 3 floats */
    PIXEL_INDEX,   /* uint32_t */
    PIXEL_GRAY16   /* uint16_t */
} pixel_kind;
#define PIXEL_KINDS 6

uint32_t pixel_bytes(pixel_kind kind);

typedef struct picture_shape {
    uint32_t width, height;
    pixel_kind kind;
    bool transparent; /* colours: alpha is written too */
} picture_shape;

typedef struct picture_file picture_file;

/* "png", "ppm", "npy", "raw"; false if it is none of these. */
bool picture_format_find(const char *name, picture_format *format);
const char *picture_format_name(picture_format format);
/* Why this build cannot write a format; NULL if it can. */
const char *picture_format_missing(picture_format format);

/* Opens it. PNG holds colours and PIXEL_GRAY16; PPM and raw rows hold colours; NPY holds all.
   Returns as mote_output_create */
mote_status picture_file_open(mote_context *ctx, const char *path, picture_format format, const picture_shape *shape,
                              picture_file **out);
/* Appends rows, from the top down. */
mote_status picture_file_rows(picture_file *file, const void *rows, uint32_t count);
/* Completes it (status MOTE_OK and all rows are there) or removes it; frees it. NULL is allowed. */
mote_status picture_file_finish(picture_file *file, mote_status status);

#endif
