/* Pictures of radiance: made into colours, written, read again and compared. */
#ifndef CLI_PHOTON_FILE_H
#define CLI_PHOTON_FILE_H

#include "session.h"

typedef struct radiance {
    uint32_t width, height;
    float *rgb; /* [3 · width · height] linear, the first row at the top */
} radiance;

typedef enum tone_curve { TONE_REINHARD, TONE_LINEAR } tone_curve;

/* The factor that makes a picture neither dark nor bright: its mean of logarithms becomes a middle grey. */
double radiance_exposure(const radiance *picture);
/* Writes it as OUT ends: .png and .ppm in sRGB by a curve, .npy and .pfm as it is. Returns an exit code. */
int radiance_write(session *s, const radiance *picture, const char *path, const char *format, double exposure,
                   tone_curve curve);
/* Reads a .pfm of colours; to be freed. Returns an exit code. */
int radiance_read(session *s, const char *path, radiance *picture);

typedef struct radiance_difference {
    double mean; /* of |a - b| over the mean of b */
    double bias; /* of a - b over the mean of b */
    double psnr; /* decibels; the peak is the largest value of b */
    double ssim; /* of luminance, Wang et al. 2004 */
} radiance_difference;

/* How far a picture is from a reference of the same size. */
radiance_difference radiance_compare(const radiance *picture, const radiance *reference);

#endif
