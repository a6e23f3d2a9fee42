#include <math.h>

#include "math/hash.h"
#include "math/simd.h"
#include "planes/planes.h"

#define SPREAD 11u /* key of the hash: no other step draws by it */
#define LANES  8u

/* One piece of memory, which begins with x. */
mote_status planes_sample_make(mote_context *ctx, uint32_t capacity, planes_sample *sample) {
    const uint64_t storage = ((uint64_t)capacity + LANES - 1) / LANES * LANES;
    memset(sample, 0, sizeof *sample);
    float *memory = mote_alloc(ctx, storage * (3 * sizeof *memory + 2 * sizeof(uint32_t)), "planes sample");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    sample->capacity = capacity;
    sample->x = memory;
    sample->y = sample->x + storage;
    sample->z = sample->y + storage;
    sample->normal = (uint32_t *)(void *)(sample->z + storage);
    sample->place = sample->normal + storage;
    return MOTE_OK;
}

void planes_sample_free(mote_context *ctx, planes_sample *sample) {
    mote_free(ctx, sample->x);
    memset(sample, 0, sizeof *sample);
}

void planes_sample_drop_copies(planes_sample *sample) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint32_t last = kept - 1;
        if (kept > 0 && sample->x[i] == sample->x[last] && sample->y[i] == sample->y[last] &&
            sample->z[i] == sample->z[last])
            continue;
        planes_sample_copy(sample, kept++, sample, i);
    }
    sample->count = kept;
}

void planes_sample_spread(planes_sample *sample, const double steps[3]) {
    float *const axes[3] = {sample->x, sample->y, sample->z};
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint64_t hash = mote_hash_pair(sample->place[i], SPREAD);
        for (int k = 0; k < 3; k++) {
            const double share = (double)(hash >> (21 * k) & 0x1FFFFF) / 0x200000 - 0.5;
            axes[k][i] += (float)rint(share * steps[k]);
        }
    }
}

void planes_find_ends(const float *values, uint32_t count, float *low, float *high) {
    simd_f min = simd_f_set(INFINITY), max = simd_f_set(-INFINITY);
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const simd_f value = simd_f_load(values + i);
        min = simd_f_min(min, value);
        max = simd_f_max(max, value);
    }
    *low = simd_f_reduce_min(min);
    *high = simd_f_reduce_max(max);
    for (; i < count; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
    }
}

int planes_compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double planes_weighted_median(const double *values, const double *weights, uint32_t count) {
    double all = 0, median = INFINITY;
    for (uint32_t i = 0; i < count; i++) all += weights[i];
    for (uint32_t i = 0; i < count; i++) {
        double below = 0;
        if (!(values[i] < median)) continue;
        for (uint32_t k = 0; k < count; k++) below += values[k] <= values[i] ? weights[k] : 0;
        if (below > 0 && 2 * below >= all) median = values[i];
    }
    return isfinite(median) ? median : 0;
}
