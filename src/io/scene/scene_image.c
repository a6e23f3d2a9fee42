/* Textures: PNG by libpng, JPEG by libturbojpeg. */
#include "io/scene/scene_draft.h"

#include <mote_have.h>
#include <setjmp.h>
#include <stdio.h>

#if MOTE_HAVE_PNG
#include <png.h>
#endif
#if MOTE_HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif

#if MOTE_HAVE_PNG || MOTE_HAVE_TURBOJPEG
/* No compression of either format makes more texels of a byte: deflate at best 1032 bytes of one, of 8 texels each. */
#define MAX_TEXELS_PER_BYTE 8256u

/* Checks the size that a header states before any memory is taken. A few kilobytes can be a gigabyte of texels: all
   images of a scene together are bounded, too. */
static mote_status take_texels(scene_draft *d, const char *name, uint64_t width, uint64_t height, uint64_t size_bytes,
                               uint32_t channels, uint8_t **texels) {
    mote_context *const ctx = d->ctx;
    if (width < 1 || height < 1 || width > MOTE_TEXTURE_MAX_SIDE || height > MOTE_TEXTURE_MAX_SIDE) {
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s: an image of %llu x %llu texels, needs 1 to %u", name,
                         (unsigned long long)width, (unsigned long long)height, MOTE_TEXTURE_MAX_SIDE);
    }
    if (width * height / MAX_TEXELS_PER_BYTE > size_bytes) {
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s: %llu x %llu texels cannot be in %llu bytes", name,
                         (unsigned long long)width, (unsigned long long)height, (unsigned long long)size_bytes);
    }
    if (width * height > MOTE_SCENE_MAX_TEXELS - d->texel_count) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: %llu x %llu texels more than the %u that a scene may have",
                         name, (unsigned long long)width, (unsigned long long)height, MOTE_SCENE_MAX_TEXELS);
    }
    d->texel_count += width * height;
    *texels = mote_alloc(ctx, width * height * channels, "scene textures");
    return *texels != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}
#endif

#if MOTE_HAVE_PNG
/* What libpng calls back with. */
typedef struct png_source {
    const uint8_t *at, *end;
    jmp_buf failed;
    char why[128];
} png_source;

static void png_take(png_structp png, png_bytep to, size_t count) {
    png_source *const source = png_get_io_ptr(png);
    if (count > (size_t)(source->end - source->at)) png_error(png, "it ends too early");
    memcpy(to, source->at, count);
    source->at += count;
}

static void png_fail(png_structp png, const char *why) {
    png_source *const source = png_get_error_ptr(png);
    snprintf(source->why, sizeof source->why, "%s", why);
    longjmp(source->failed, 1);
}

static void png_pass_over(png_structp png, const char *warning) {
    (void)png;
    (void)warning;
}

/* Red, green, blue and alpha of 8 bits, whatever is stored. glTF says that gamma, white point and profiles of the file
   do not count: no chunk but those of the samples themselves has an effect. */
static void png_ask_for_rgba(png_structp png, png_infop info) {
    png_set_scale_16(png);
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* The samples are image->srgb, four bytes each, when it returns. What libpng cannot read comes back by longjmp. */
static mote_status read_png(scene_draft *d, const char *title, png_source *source, png_structp png, png_infop info,
                            scene_image *image) {
    const uint64_t size_bytes = (uint64_t)(source->end - source->at);
    png_set_user_limits(png, MOTE_TEXTURE_MAX_SIDE, MOTE_TEXTURE_MAX_SIDE);
    png_set_read_fn(png, source, png_take);
    png_read_info(png, info);
    image->width = png_get_image_width(png, info);
    image->height = png_get_image_height(png, info);
    const int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    png_ask_for_rgba(png, info);
    MOTE_TRY(take_texels(d, title, image->width, image->height, size_bytes, 4, &image->srgb));
    for (int pass = 0; pass < passes; pass++) {
        for (uint64_t y = 0; y < image->height; y++) { png_read_row(png, image->srgb + 4 * y * image->width, NULL); }
    }
    return MOTE_OK;
}

/* Four bytes become three, and alpha by itself, if anything is not opaque. */
static mote_status split_alpha(mote_context *ctx, scene_image *image) {
    const uint64_t count = (uint64_t)image->width * image->height;
    uint8_t *const texels = image->srgb;
    uint8_t least = 255;
    for (uint64_t i = 0; i < count; i++) least &= texels[4 * i + 3];
    if (least < 255) {
        image->alpha = mote_alloc(ctx, count, "scene textures");
        if (image->alpha == NULL) return MOTE_ERROR_MEMORY;
        for (uint64_t i = 0; i < count; i++) image->alpha[i] = texels[4 * i + 3];
    }
    for (uint64_t i = 0; i < count; i++) memmove(texels + 3 * i, texels + 4 * i, 3);
    return MOTE_OK;
}

static mote_status decode_png(scene_draft *d, const char *title, const uint8_t *data, uint64_t size_bytes,
                              scene_image *image) {
    png_source source = {.at = data, .end = data + size_bytes};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, png_fail, png_pass_over);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    mote_status status = MOTE_ERROR_MEMORY;
    if (info == NULL) {
        mote_fail(d->ctx, MOTE_ERROR_MEMORY, "%s: no memory to decode it", title);
    } else if (setjmp(source.failed) == 0) {
        status = read_png(d, title, &source, png, info, image);
    } else {
        status = mote_fail(d->ctx, MOTE_ERROR_DATA, "%s: no PNG that can be read: %s", title, source.why);
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status == MOTE_OK ? split_alpha(d->ctx, image) : status;
}
#endif

#if MOTE_HAVE_TURBOJPEG
static mote_status decode_jpeg(scene_draft *d, const char *name, const uint8_t *data, uint64_t size_bytes,
                               scene_image *image) {
    mote_context *const ctx = d->ctx;
    tjhandle decoder = tjInitDecompress();
    int width = 0, height = 0, sampling, space;
    uint8_t *texels = NULL;
    mote_status status = MOTE_OK;
    if (decoder == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "%s: no memory to decode it", name);
    if (tjDecompressHeader3(decoder, data, size_bytes, &width, &height, &sampling, &space) != 0) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no JPEG that can be read: %s", name, tjGetErrorStr2(decoder));
    }
    if (status == MOTE_OK) { status = take_texels(d, name, (uint64_t)width, (uint64_t)height, size_bytes, 3, &texels); }
    if (status == MOTE_OK && tjDecompress2(decoder, data, size_bytes, texels, width, 0, height, TJPF_RGB, 0) != 0) {
        const char *why = tjGetErrorStr2(decoder);
        const bool cut = strncmp(why, "Premature end", 13) == 0; /* which the library only warns of */
        if (cut || tjGetErrorCode(decoder) == TJERR_FATAL) {
            status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no JPEG that can be read: %s", name, why);
        }
    }
    image->srgb = texels;
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    tjDestroy(decoder);
    return status;
}
#endif

static mote_status decode(scene_draft *d, const char *title, const uint8_t *data, uint64_t size_bytes,
                          scene_image *image) {
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, jpeg[3] = {0xff, 0xd8, 0xff};
    const bool is_png = size_bytes >= sizeof png && memcmp(data, png, sizeof png) == 0;
    const bool is_jpeg = size_bytes >= sizeof jpeg && memcmp(data, jpeg, sizeof jpeg) == 0;
    (void)image; /* where there is neither library */
#if MOTE_HAVE_PNG
    if (is_png) return decode_png(d, title, data, size_bytes, image);
#endif
#if MOTE_HAVE_TURBOJPEG
    if (is_jpeg) return decode_jpeg(d, title, data, size_bytes, image);
#endif
    if (is_png || is_jpeg) {
        return mote_fail(d->ctx, MOTE_ERROR_UNSUPPORTED, "%s: mote was built without %s", title,
                         is_png ? "libpng" : "libturbojpeg");
    }
    return mote_fail(d->ctx, MOTE_ERROR_DATA, "%s: it is neither PNG nor JPEG", title);
}

/* ---- images of a draft */

uint32_t scene_image_find(const scene_draft *d, const char *key, uint64_t key_bytes) {
    return scene_names_find(&d->image_names, key, key_bytes);
}

mote_status scene_image_add(scene_draft *d, const char *key, uint64_t key_bytes, const char *title, const uint8_t *data,
                            uint64_t size_bytes, uint32_t *image) {
    if (!mote_reserve(d->ctx, (void **)&d->images, &d->image_capacity, d->image_count + 1, sizeof *d->images,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    scene_image *const to = &d->images[d->image_count];
    memset(to, 0, sizeof *to);
    *image = (uint32_t)d->image_count++;
    MOTE_TRY(scene_names_set(d->ctx, &d->image_names, key, key_bytes, *image));
    if (data == NULL) return MOTE_OK;
    const mote_status status = decode(d, title, data, size_bytes, to);
    if (status == MOTE_OK) return MOTE_OK;
    mote_free(d->ctx, to->srgb);
    mote_free(d->ctx, to->alpha);
    to->srgb = to->alpha = NULL;
    return status;
}
