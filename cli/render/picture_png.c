/* PNG by libpng, row after row into an output. */
#include "render/picture_png.h"

#include <mote_have.h>

#if MOTE_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

#define PNG_LEVEL 4 /* of zlib: more takes much longer and saves little */

const bool picture_png_built = true;

struct picture_png {
    mote_context *ctx;
    mote_output *output;
    picture_shape shape;
    png_structp write;
    png_infop info;
    mote_status status;
};

/* libpng ends a call that failed by a jump; what failed is in status: the output has said why. */
static void on_error(png_structp write, png_const_charp message) {
    picture_png *png = png_get_error_ptr(write);
    (void)message;
    if (png->status == MOTE_OK) png->status = MOTE_ERROR_MEMORY;
    png_longjmp(write, 1);
}

static void on_warning(png_structp write, png_const_charp message) { (void)write, (void)message; }

static void on_write(png_structp write, png_bytep data, size_t size_bytes) {
    picture_png *png = png_get_io_ptr(write);
    const mote_status status = mote_output_write(png->ctx, png->output, data, size_bytes);
    if (status == MOTE_OK) return;
    png->status = status;
    png_error(write, "output");
}

static void on_flush(png_structp write) { (void)write; }

static void write_header(picture_png *png) {
    const bool gray = png->shape.kind == PIXEL_GRAY16;
    const int depth = png->shape.kind == PIXEL_COLOR8 ? 8 : 16;
    const int type = gray ? PNG_COLOR_TYPE_GRAY : png->shape.transparent ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB;
    png_set_write_fn(png->write, png, on_write, on_flush);
    png_set_compression_level(png->write, PNG_LEVEL);
    png_set_filter(png->write, 0, PNG_FILTER_SUB);
    png_set_IHDR(png->write, png->info, png->shape.width, png->shape.height, depth, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!gray) png_set_sRGB(png->write, png->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png->write, png->info);
    if (depth == 16) png_set_swap(png->write);
    if (!gray && !png->shape.transparent) png_set_filler(png->write, 0, PNG_FILLER_AFTER);
}

mote_status picture_png_begin(mote_context *ctx, mote_output *output, const picture_shape *shape, picture_png **out) {
    picture_png *png = calloc(1, sizeof *png);
    *out = png;
    if (png == NULL) return MOTE_ERROR_MEMORY;
    png->ctx = ctx;
    png->output = output;
    png->shape = *shape;
    png->write = png_create_write_struct(PNG_LIBPNG_VER_STRING, png, on_error, on_warning);
    if (png->write != NULL) png->info = png_create_info_struct(png->write);
    if (png->info == NULL) return MOTE_ERROR_MEMORY;
    if (setjmp(png_jmpbuf(png->write)) != 0) return png->status;
    write_header(png);
    return MOTE_OK;
}

mote_status picture_png_rows(picture_png *png, const uint8_t *rows, uint32_t count) {
    const size_t row_bytes = (size_t)png->shape.width * pixel_bytes(png->shape.kind);
    if (setjmp(png_jmpbuf(png->write)) != 0) return png->status;
    for (uint32_t i = 0; i < count; i++) png_write_row(png->write, rows + i * row_bytes);
    return MOTE_OK;
}

static mote_status write_end(picture_png *png) {
    if (setjmp(png_jmpbuf(png->write)) != 0) return png->status;
    png_write_end(png->write, NULL);
    return MOTE_OK;
}

mote_status picture_png_end(picture_png *png, bool complete) {
    if (png == NULL) return MOTE_OK;
    const mote_status status = complete ? write_end(png) : MOTE_OK;
    if (png->write != NULL) png_destroy_write_struct(&png->write, &png->info);
    free(png);
    return status;
}
#else

const bool picture_png_built = false;

mote_status picture_png_begin(mote_context *ctx, mote_output *output, const picture_shape *shape, picture_png **out) {
    (void)ctx, (void)output, (void)shape;
    *out = NULL;
    return MOTE_ERROR_UNSUPPORTED;
}

mote_status picture_png_rows(picture_png *png, const uint8_t *rows, uint32_t count) {
    (void)png, (void)rows, (void)count;
    return MOTE_ERROR_UNSUPPORTED;
}

mote_status picture_png_end(picture_png *png, bool complete) {
    (void)png, (void)complete;
    return MOTE_OK;
}
#endif
