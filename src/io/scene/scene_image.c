/* Textures: PNG by libpng, JPEG by libturbojpeg. */
#include "io/scene/scene_draft.h"
#include "photon/photon_scene.h"

#include <mote_have.h>

#if MOTE_HAVE_PNG
#include <png.h>
#endif
#if MOTE_HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif

#if MOTE_HAVE_PNG || MOTE_HAVE_TURBOJPEG
/* No compression of either format makes more texels of a byte: deflate at best 1032 bytes of one, of 8 texels each. */
#define MAX_TEXELS_PER_BYTE 8256u

/* Checks the size that a header states before any memory is taken. */
static mote_status take_texels(mote_context *ctx, const char *name, uint64_t width, uint64_t height,
                               uint64_t size_bytes, uint32_t channels, uint8_t **texels) {
    if (width < 1 || height < 1 || width > MOTE_TEXTURE_MAX_SIDE || height > MOTE_TEXTURE_MAX_SIDE) {
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s: an image of %llu x %llu texels, needs 1 to %u", name,
                         (unsigned long long)width, (unsigned long long)height, MOTE_TEXTURE_MAX_SIDE);
    }
    if (width * height / MAX_TEXELS_PER_BYTE > size_bytes) {
        return mote_fail(ctx, MOTE_ERROR_DATA, "%s: %llu x %llu texels cannot be in %llu bytes", name,
                         (unsigned long long)width, (unsigned long long)height, (unsigned long long)size_bytes);
    }
    *texels = mote_alloc(ctx, width * height * channels, "scene textures");
    return *texels != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}
#endif

#if MOTE_HAVE_PNG
static mote_status decode_png(mote_context *ctx, const char *name, const uint8_t *data, uint64_t size_bytes,
                              mote_texture *texture) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    uint8_t *texels = NULL;
    mote_status status = MOTE_OK;
    if (!png_image_begin_read_from_memory(&image, data, size_bytes)) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no PNG that can be read: %s", name, image.message);
    }
    if (status == MOTE_OK) status = take_texels(ctx, name, image.width, image.height, size_bytes, 4, &texels);
    image.format = PNG_FORMAT_RGBA; /* alpha is read and dropped: without it, libpng would lay it over a background */
    if (status == MOTE_OK && !png_image_finish_read(&image, NULL, texels, 0, NULL)) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no PNG that can be read: %s", name, image.message);
    }
    for (uint64_t i = 0; i < (uint64_t)image.width * image.height && status == MOTE_OK; i++) {
        memmove(texels + 3 * i, texels + 4 * i, 3);
    }
    texture->srgb = texels;
    texture->width = image.width;
    texture->height = image.height;
    png_image_free(&image);
    return status;
}
#endif

#if MOTE_HAVE_TURBOJPEG
static mote_status decode_jpeg(mote_context *ctx, const char *name, const uint8_t *data, uint64_t size_bytes,
                               mote_texture *texture) {
    tjhandle decoder = tjInitDecompress();
    int width = 0, height = 0, sampling, space;
    uint8_t *texels = NULL;
    mote_status status = MOTE_OK;
    if (decoder == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "%s: no memory to decode it", name);
    if (tjDecompressHeader3(decoder, data, size_bytes, &width, &height, &sampling, &space) != 0) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no JPEG that can be read: %s", name, tjGetErrorStr2(decoder));
    }
    if (status == MOTE_OK) {
        status = take_texels(ctx, name, (uint64_t)width, (uint64_t)height, size_bytes, 3, &texels);
    }
    if (status == MOTE_OK && tjDecompress2(decoder, data, size_bytes, texels, width, 0, height, TJPF_RGB, 0) != 0) {
        const char *why = tjGetErrorStr2(decoder);
        const bool cut = strncmp(why, "Premature end", 13) == 0; /* which the library only warns of */
        if (cut || tjGetErrorCode(decoder) == TJERR_FATAL) {
            status = mote_fail(ctx, MOTE_ERROR_DATA, "%s: no JPEG that can be read: %s", name, why);
        }
    }
    texture->srgb = texels;
    texture->width = (uint32_t)width;
    texture->height = (uint32_t)height;
    tjDestroy(decoder);
    return status;
}
#endif

mote_status scene_image_decode(mote_context *ctx, const char *name, const uint8_t *data, uint64_t size_bytes,
                               mote_texture *texture, bool *known) {
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, jpeg[3] = {0xff, 0xd8, 0xff};
    const bool is_png = size_bytes >= sizeof png && memcmp(data, png, sizeof png) == 0;
    const bool is_jpeg = size_bytes >= sizeof jpeg && memcmp(data, jpeg, sizeof jpeg) == 0;
    (void)texture; /* where there is neither library */
    *known = true;
#if MOTE_HAVE_PNG
    if (is_png) return decode_png(ctx, name, data, size_bytes, texture);
#endif
#if MOTE_HAVE_TURBOJPEG
    if (is_jpeg) return decode_jpeg(ctx, name, data, size_bytes, texture);
#endif
    *known = false;
    if (is_png || is_jpeg) {
        mote_warn(ctx, "%s: the texture is left out: mote was built without %s", name,
                  is_png ? "libpng" : "libturbojpeg");
    } else {
        mote_warn(ctx, "%s: the texture is left out: it is neither PNG nor JPEG", name);
    }
    return MOTE_OK;
}

void scene_image_mean(const mote_texture *texture, double mean[3]) {
    const uint64_t count = (uint64_t)texture->width * texture->height;
    double linear[256], sum[3] = {0, 0, 0};
    for (int i = 0; i < 256; i++) linear[i] = (double)photon_linear_of((uint8_t)i);
    for (uint64_t i = 0; i < 3 * count; i++) sum[i % 3] += linear[texture->srgb[i]];
    for (int k = 0; k < 3; k++) mean[k] = sum[k] / (double)count;
}
