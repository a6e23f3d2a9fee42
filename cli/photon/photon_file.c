/* Pictures of radiance. */
#include "photon/photon_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"
#include "render/picture_file.h"

#define MIDDLE_GREY 0.18
#define MAX_SIDE    MOTE_RENDER_MAX_SIZE

static double luminance(const float *rgb) {
    return 0.2126 * (double)rgb[0] + 0.7152 * (double)rgb[1] + 0.0722 * (double)rgb[2];
}

static uint64_t pixel_count(const radiance *picture) { return (uint64_t)picture->width * picture->height; }

/* ---- to colours */

double radiance_exposure(const radiance *picture) {
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t i = 0; i < pixel_count(picture); i++) {
        const double y = luminance(picture->rgb + 3 * i);
        if (!(y > 0) || isinf(y)) continue;
        sum += log(y);
        count++;
    }
    return count > 0 ? MIDDLE_GREY / exp(sum / (double)count) : 1;
}

static uint8_t to_srgb(double value) {
    const double v = fmin(fmax(value, 0), 1);
    return (uint8_t)(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055) + 0.5);
}

/* Reinhard's curve, applied to the luminance, with 4 becoming white. */
static void to_pixel(const float *rgb, double exposure, tone_curve curve, uint8_t *pixel) {
    const double y = exposure * luminance(rgb);
    const double factor = curve == TONE_REINHARD && y > 0 ? (1 + y / 16) / (1 + y) : 1;
    for (int k = 0; k < 3; k++) pixel[k] = to_srgb(exposure * factor * (double)rgb[k]);
    pixel[3] = 255;
}

static mote_status write_colors(session *s, const radiance *picture, const char *path, picture_format format,
                                double exposure, tone_curve curve) {
    const picture_shape shape = {picture->width, picture->height, PIXEL_COLOR8, false};
    picture_file *file = NULL;
    uint8_t *row = malloc((size_t)picture->width * 4);
    mote_status status = row != NULL ? picture_file_open(s->ctx, path, format, &shape, &file) : MOTE_ERROR_MEMORY;
    for (uint32_t y = 0; y < picture->height && status == MOTE_OK; y++) {
        for (uint32_t x = 0; x < picture->width; x++) {
            to_pixel(picture->rgb + 3 * ((uint64_t)y * picture->width + x), exposure, curve, row + 4ull * x);
        }
        status = picture_file_rows(file, row, 1);
    }
    free(row);
    return picture_file_finish(file, status);
}

/* ---- as it is */

static mote_status write_floats(session *s, const radiance *picture, const char *path, bool pfm) {
    const uint64_t row_bytes = 12ull * picture->width, shape[3] = {picture->height, picture->width, 3};
    mote_output *output = NULL;
    uint8_t header[NPY_BYTES];
    uint64_t header_bytes = NPY_BYTES;
    if (pfm) {
        header_bytes =
            (uint64_t)snprintf((char *)header, sizeof header, "PF\n%u %u\n-1.0\n", picture->width, picture->height);
    } else {
        npy_header("<f4", 3, shape, header);
    }
    mote_status status = mote_output_create(s->ctx, path, true, &output);
    if (status != MOTE_OK) return status;
    status = mote_output_write(s->ctx, output, header, header_bytes);
    for (uint32_t i = 0; i < picture->height && status == MOTE_OK; i++) {
        const uint64_t y = pfm ? picture->height - 1 - i : i; /* PFM: the last row first */
        status = mote_output_write(s->ctx, output, picture->rgb + 3 * y * picture->width, row_bytes);
    }
    return mote_output_finish(s->ctx, output, status);
}

int radiance_write(session *s, const radiance *picture, const char *path, const char *format, double exposure,
                   tone_curve curve) {
    picture_format colors;
    mote_status status;
    if (strcmp(format, "pfm") == 0 || strcmp(format, "npy") == 0) {
        status = write_floats(s, picture, path, strcmp(format, "pfm") == 0);
    } else {
        picture_format_find(format, &colors);
        status = write_colors(s, picture, path, colors, exposure, curve);
    }
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* ---- reading */

static int refuse(session *s, const char *path, const char *why) {
    return session_error(s, EXIT_INPUT, "%s: %s", path, why);
}

static int read_rows(session *s, const char *path, FILE *file, bool swapped, radiance *picture) {
    const uint64_t row = 3ull * picture->width;
    picture->rgb = malloc(row * picture->height * sizeof(float));
    if (picture->rgb == NULL) return session_error(s, EXIT_RESOURCES, "%s: no memory for its pixels", path);
    for (uint64_t y = picture->height; y-- > 0;) {
        if (fread(picture->rgb + row * y, sizeof(float), row, file) != row) return refuse(s, path, "it ends too early");
    }
    for (uint64_t i = 0; i < row * picture->height && swapped; i++) {
        uint32_t bits;
        memcpy(&bits, picture->rgb + i, sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(picture->rgb + i, &bits, sizeof bits);
    }
    return EXIT_DONE;
}

int radiance_read(session *s, const char *path, radiance *picture) {
    char header[128];
    memset(picture, 0, sizeof *picture);
    FILE *file = session_open_file(s, path);
    if (file == NULL) return session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(errno));
    uint32_t length = 0, lines = 0; /* three lines, whatever is between their words */
    for (int c; length + 1 < sizeof header && lines < 3 && (c = fgetc(file)) != EOF;) {
        header[length++] = (char)c;
        lines += c == '\n';
    }
    header[length] = '\0';
    int code = EXIT_DONE;
    char *at = header + (lines == 3 && strncmp(header, "PF", 2) == 0 ? 2 : length);
    picture->width = (uint32_t)strtoul(at, &at, 10); /* 0 where there is none */
    picture->height = (uint32_t)strtoul(at, &at, 10);
    const double scale = strtod(at, &at);
    if (scale == 0) {
        code = refuse(s, path, "it is no PFM of colours");
    } else if (picture->width < 1 || picture->height < 1 || picture->width > MAX_SIDE || picture->height > MAX_SIDE) {
        code = refuse(s, path, "its size is out of range");
    }
    if (code == EXIT_DONE) code = read_rows(s, path, file, scale > 0, picture);
    fclose(file);
    return code;
}

/* ---- comparing */

#define SSIM_SIDE 8u

/* Returns the structural similarity of a window whose corner is a pixel. */
static double window_ssim(const radiance *a, const radiance *b, uint64_t x, uint64_t y, double peak) {
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    const double n = SSIM_SIDE * SSIM_SIDE, c1 = 0.0001 * peak * peak, c2 = 0.0009 * peak * peak;
    for (uint64_t j = y; j < y + SSIM_SIDE; j++) {
        for (uint64_t i = x; i < x + SSIM_SIDE; i++) {
            const double va = luminance(a->rgb + 3 * (j * a->width + i)),
                         vb = luminance(b->rgb + 3 * (j * b->width + i));
            sa += va;
            sb += vb;
            saa += va * va;
            sbb += vb * vb;
            sab += va * vb;
        }
    }
    const double ma = sa / n, mb = sb / n, va = saa / n - ma * ma, vb = sbb / n - mb * mb, both = sab / n - ma * mb;
    return (2 * ma * mb + c1) * (2 * both + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}

static double mean_ssim(const radiance *a, const radiance *b, double peak) {
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t y = 0; y + SSIM_SIDE <= a->height; y += SSIM_SIDE / 2) {
        for (uint64_t x = 0; x + SSIM_SIDE <= a->width; x += SSIM_SIDE / 2, count++) {
            sum += window_ssim(a, b, x, y, peak);
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

radiance_difference radiance_compare(const radiance *picture, const radiance *reference) {
    const uint64_t values = 3 * pixel_count(picture);
    double difference = 0, bias = 0, squares = 0, total = 0, peak = 0, peak_luminance = 0;
    for (uint64_t i = 0; i < values; i++) {
        const double a = (double)picture->rgb[i], b = (double)reference->rgb[i];
        difference += fabs(a - b);
        bias += a - b;
        squares += (a - b) * (a - b);
        total += b;
        peak = fmax(peak, b);
    }
    for (uint64_t i = 0; i < values; i += 3) peak_luminance = fmax(peak_luminance, luminance(reference->rgb + i));
    const radiance_difference d = {difference / total, bias / total,
                                   10 * log10(peak * peak / (squares / (double)values)),
                                   mean_ssim(picture, reference, peak_luminance)};
    return d;
}
