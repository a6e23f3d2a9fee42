/* A picture, or an array of its pixels, as a file that is written row after row. */
#include "render/picture_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"
#include "render/picture_png.h"

struct picture_file {
    mote_context *ctx;
    mote_output *output;
    picture_format format;
    picture_shape shape;
    picture_png *png;
    uint8_t *row; /* PPM: the bytes of one row */
};

/* How numpy sees a pixel. */
typedef struct pixel_layout {
    const char *type;
    uint32_t channels, channel_bytes;
} pixel_layout;

static const pixel_layout layouts[PIXEL_KINDS] = {{"|u1", 4, 1}, {"<u2", 4, 2}, {"<f4", 1, 4},
                                                  {"<f4", 3, 4}, {"<u4", 1, 4}, {"<u2", 1, 2}};

uint32_t pixel_bytes(pixel_kind kind) { return layouts[kind].channels * layouts[kind].channel_bytes; }

static const char *const format_names[PICTURE_FORMATS] = {"png", "ppm", "npy", "raw"};

bool picture_format_find(const char *name, picture_format *format) {
    for (int i = 0; i < PICTURE_FORMATS; i++) {
        if (strcmp(name, format_names[i]) != 0) continue;
        *format = (picture_format)i;
        return true;
    }
    return false;
}

const char *picture_format_name(picture_format format) { return format_names[format]; }

const char *picture_format_missing(picture_format format) {
    return format == PICTURE_PNG && !picture_png_built
               ? "PNG needs libpng, which was not there when this mote was built; .ppm and .npy are written without it"
               : NULL;
}

/* ---- headers */

static mote_status begin_npy(picture_file *file) {
    const pixel_layout *layout = &layouts[file->shape.kind];
    const uint64_t shape[3] = {file->shape.height, file->shape.width, layout->channels};
    uint8_t header[NPY_BYTES];
    npy_header(layout->type, layout->channels > 1 ? 3 : 2, shape, header);
    return mote_output_write(file->ctx, file->output, header, sizeof header);
}

static mote_status begin_ppm(picture_file *file) {
    char header[64];
    const int length = snprintf(header, sizeof header, "P6\n%u %u\n%d\n", file->shape.width, file->shape.height,
                                file->shape.kind == PIXEL_COLOR16 ? 65535 : 255);
    file->row = malloc((size_t)file->shape.width * 6);
    if (file->row == NULL) return MOTE_ERROR_MEMORY;
    return mote_output_write(file->ctx, file->output, header, (uint64_t)length);
}

static mote_status begin(picture_file *file) {
    switch (file->format) {
    case PICTURE_PNG: return picture_png_begin(file->ctx, file->output, &file->shape, &file->png);
    case PICTURE_PPM: return begin_ppm(file);
    case PICTURE_NPY: return begin_npy(file);
    case PICTURE_RAW: return MOTE_OK;
    }
    return MOTE_ERROR_UNSUPPORTED;
}

mote_status picture_file_open(mote_context *ctx, const char *path, picture_format format, const picture_shape *shape,
                              picture_file **out) {
    picture_file *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL) return MOTE_ERROR_MEMORY;
    file->ctx = ctx;
    file->format = format;
    file->shape = *shape;
    mote_status status = mote_output_create(ctx, path, true, &file->output);
    if (status == MOTE_OK) status = begin(file);
    if (status == MOTE_OK) {
        *out = file;
        return MOTE_OK;
    }
    return picture_file_finish(file, status);
}

/* ---- rows */

/* Red, green, blue, the upper byte of 16 bits first. */
static mote_status write_ppm_row(picture_file *file, const uint8_t *pixels) {
    const uint32_t step = pixel_bytes(file->shape.kind), wide = file->shape.kind == PIXEL_COLOR16;
    uint8_t *to = file->row;
    for (uint32_t x = 0; x < file->shape.width; x++, pixels += step) {
        for (uint32_t k = 0; k < 3; k++) {
            if (wide) *to++ = pixels[2 * k + 1];
            *to++ = pixels[wide ? 2 * k : k];
        }
    }
    return mote_output_write(file->ctx, file->output, file->row, (uint64_t)(to - file->row));
}

mote_status picture_file_rows(picture_file *file, const void *rows, uint32_t count) {
    const uint64_t row_bytes = (uint64_t)file->shape.width * pixel_bytes(file->shape.kind);
    if (file->format == PICTURE_PNG) return picture_png_rows(file->png, rows, count);
    if (file->format != PICTURE_PPM) return mote_output_write(file->ctx, file->output, rows, count * row_bytes);
    mote_status status = MOTE_OK;
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        status = write_ppm_row(file, (const uint8_t *)rows + i * row_bytes);
    }
    return status;
}

mote_status picture_file_finish(picture_file *file, mote_status status) {
    if (file == NULL) return status;
    const mote_status ended = picture_png_end(file->png, status == MOTE_OK);
    status = mote_output_finish(file->ctx, file->output, status != MOTE_OK ? status : ended);
    free(file->row);
    free(file);
    return status;
}
