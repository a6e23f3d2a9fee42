/* Points as the build sees them: their views, and cells. For .cu files only. */
#ifndef MOTE_KNN_VIEW_CUDA_H
#define MOTE_KNN_VIEW_CUDA_H

#include <math.h>

#include "core/column_math.h"
#include "device/cuda/cuda_kernel.cuh"
#include "knn/cuda/knn_cuda.h"
#include "math/morton.h"

static __device__ inline int64_t knn_integer_of(const mote_column *axis, uint64_t i) {
    const uint64_t value = (uint64_t)column_integer(axis, i);
    return (int64_t)(axis->type == MOTE_UINT64 ? value ^ 1ull << 63 : value);
}

template <bool PLAIN> static __device__ inline int64_t knn_step_of(const knn_cuda_reading *from, int k, uint64_t i) {
    return PLAIN ? __ldg((const int32_t *)column_at(&from->axes[k], i)) : knn_integer_of(&from->axes[k], i);
}

template <bool PLAIN> static __device__ inline float knn_float_of(const knn_cuda_reading *from, int k, uint64_t i) {
    const uint8_t *at = column_at(&from->axes[k], i);
    return PLAIN ? __ldg((const float *)at) : (float)column_real(at, MOTE_FLOAT32);
}

static __device__ inline double knn_double_of(const knn_cuda_reading *from, int k, uint64_t i) {
    return from->world ? column_value(&from->axes[k], i) : column_stored(&from->axes[k], i);
}

static __device__ inline bool knn_is_finite(float value) { return value - value == 0; }

/* The view of a point; false if it is not finite. */
template <int KIND, bool PLAIN>
static __device__ inline bool knn_view_of(const knn_cuda_reading *from, uint64_t i, float view[3]) {
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        if (KIND == KNN_INT) {
            view[k] = (float)(int64_t)((uint64_t)knn_step_of<PLAIN>(from, k, i) - (uint64_t)from->middle[k]);
        } else if (KIND == KNN_FLOAT) {
            view[k] = knn_float_of<PLAIN>(from, k, i);
            finite = finite && knn_is_finite(view[k]);
        } else {
            const double away = (knn_double_of(from, k, i) - from->center[k]) * from->unit[k];
            view[k] = fmaxf(fminf((float)away, KNN_FAR), -KNN_FAR);
        }
        if (KIND != KNN_FLOAT && !PLAIN) finite = finite && isfinite(column_value(&from->axes[k], i));
    }
    return finite;
}

/* A reading's kind and whether it is plain, as constants; calls launch with them: of.kind, of.plain. */
template <int KIND, bool PLAIN> struct knn_reading_of {
    static constexpr int kind = KIND;
    static constexpr bool plain = PLAIN;
};

template <class LAUNCH> static inline void knn_for_reading(const knn_cuda_reading *from, const LAUNCH &launch) {
    if (from->kind == KNN_FLOAT && from->plain) {
        launch(knn_reading_of<KNN_FLOAT, true>());
    } else if (from->kind == KNN_FLOAT) {
        launch(knn_reading_of<KNN_FLOAT, false>());
    } else if (from->kind == KNN_INT && from->plain) {
        launch(knn_reading_of<KNN_INT, true>());
    } else if (from->kind == KNN_INT) {
        launch(knn_reading_of<KNN_INT, false>());
    } else {
        launch(knn_reading_of<KNN_DOUBLE, false>());
    }
}

static __device__ inline uint32_t knn_cell_of(float away, float factor, uint32_t cells) {
    return (uint32_t)fminf(fmaxf(away * factor, 0), (float)(cells - 1));
}

#endif
