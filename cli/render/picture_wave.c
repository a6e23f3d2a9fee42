/* A wave that runs through a cloud: pictures of points that move. */
#include "render/picture_wave.h"
#include "pi.h"

#include <math.h>
#include <stdlib.h>

#include "text.h"

#define HEIGHT 0.03 /* of the largest side */
#define LENGTH 0.5

static const char *const axes[3] = {"x", "y", "z"};

/* A direction across up: the world's x, or y where up is along x. */
static void find_along(const double up[3], double along[3]) {
    const int axis = fabs(up[0]) < 0.9 ? 0 : 1;
    double length2 = 0;
    for (int k = 0; k < 3; k++) {
        along[k] = (k == axis ? 1 : 0) - up[axis] * up[k];
        length2 += along[k] * along[k];
    }
    for (int k = 0; k < 3; k++) along[k] /= sqrt(length2);
}

/* Replaces an axis of the cloud by doubles of its own. */
static mote_status own_axis(const picture_wave *wave, mote_cloud *cloud, int axis) {
    const mote_column_spec spec = {axes[axis], MOTE_FLOAT64, 0, 0};
    const mote_column *column = mote_cloud_find(cloud, axes[axis]);
    for (uint64_t i = 0; i < wave->points; i++) { wave->rest[3 * i + (uint64_t)axis] = mote_column_value(column, i); }
    return mote_cloud_put_column(cloud, &spec);
}

int picture_wave_begin(session *s, mote_cloud *cloud, const mote_box *box, const double up[3], picture_wave *wave) {
    double size = 0, length2 = 0;
    wave->points = mote_cloud_count(cloud);
    const uint64_t bytes = 6 * sizeof(double) * wave->points, max = s->options.memory_bytes;
    const bool fits = max == 0 || mote_context_memory_bytes(s->ctx) + bytes <= max;
    wave->rest = fits ? malloc(3 * sizeof(double) * (size_t)wave->points + 1) : NULL;
    if (wave->rest == NULL) {
        return session_error(s, EXIT_RESOURCES, "out of memory: a wave of %s points", text_count(wave->points).chars);
    }
    for (int k = 0; k < 3; k++) {
        size = fmax(size, box->max[k] - box->min[k]);
        length2 += up[k] * up[k];
        wave->from[k] = box->min[k];
    }
    for (int k = 0; k < 3; k++) wave->up[k] = up[k] / sqrt(length2);
    find_along(wave->up, wave->along);
    wave->height = HEIGHT * size;
    wave->length = size > 0 ? LENGTH * size : 1;
    mote_status status = MOTE_OK;
    for (int k = 0; k < 3 && status == MOTE_OK; k++) status = own_axis(wave, cloud, k);
    if (status != MOTE_OK) return session_fail(s, status, false);
    picture_wave_move(s, wave, 0, cloud);
    return EXIT_DONE;
}

void picture_wave_move(session *s, const picture_wave *wave, double time, mote_cloud *cloud) {
    char *to[3];
    size_t stride[3];
    for (int k = 0; k < 3; k++) {
        to[k] = mote_cloud_column_data(cloud, axes[k]);
        if (to[k] == NULL) return;
        stride[k] = (size_t)mote_cloud_find(cloud, axes[k])->stride_bytes;
    }
#pragma omp parallel for schedule(static) num_threads(mote_context_threads(s->ctx))
    for (int64_t i = 0; i < (int64_t)wave->points; i++) {
        const double *rest = wave->rest + 3 * i;
        double far = 0;
        for (int k = 0; k < 3; k++) far += (rest[k] - wave->from[k]) * wave->along[k];
        const double lift = wave->height * sin(2 * PI * (far / wave->length - time));
        for (int k = 0; k < 3; k++) *(double *)(to[k] + (size_t)i * stride[k]) = rest[k] + lift * wave->up[k];
    }
}

void picture_wave_free(picture_wave *wave) { free(wave->rest); }
