/* Profiles, made often: thousands of directions for a body. Places in the histogram are found for many points at once
   and counted after that; a blur makes 32 bins at once. Each float is the sum of the same numbers in the same order as
   one bin after the other would be. */
#include "planes/local/planes_composites.h"

#include <math.h>
#include <string.h>

#include "math/simd.h"

#define LANES    8u
#define PIECE    256u /* points whose bins are found at once */
#define GROUPS   4u   /* of lanes: bins that are blurred at once */
#define ROUNDING 1e-3 /* of all that is summed up: far more than floats lose in 2,048 sums */

/* ---- blur */

planes_blur planes_blur_of(double deviation) {
    planes_blur blur;
    const int wanted = deviation > 0 ? (int)ceil(COMPOSITE_TRUNCATED * deviation) : 0;
    const int reach = wanted < PLANES_MAX_BLUR ? wanted : PLANES_MAX_BLUR;
    double sum = 0;
    memset(&blur, 0, sizeof blur);
    blur.reach = reach;
    for (int k = -reach; k <= reach; k++) {
        const double at = k / fmax(deviation, 0.3);
        blur.weights[k + reach] = (float)exp(-0.5 * at * at);
        sum += (double)blur.weights[k + reach];
    }
    for (int k = 0; k <= 2 * reach; k++) blur.weights[k] /= (float)sum;
    return blur;
}

/* What bins give to the first and the last, with all that would go beyond. */
static void blur_ends(const float *from, int bins, const planes_blur *blur, float *to) {
    const int reach = blur->reach;
    float low = 0, high = 0;
    for (int i = 0; i <= reach && i < bins; i++) {
        for (int k = -reach; k <= -i && from[i] != 0; k++) low += from[i] * blur->weights[k + reach];
    }
    for (int i = bins - 1 > reach ? bins - 1 - reach : 0; i < bins; i++) {
        for (int k = bins - 1 - i; k <= reach && from[i] != 0; k++) high += from[i] * blur->weights[k + reach];
    }
    to[0] = low;
    to[bins - 1] = high;
}

void planes_blur_bins(const float *from, uint32_t bins, const planes_blur *blur, float *to) {
    /* Bin i is at i + reach, between zeros: they are added, but change no sum. */
    float padded[PLANES_PROFILE_BINS + 2 * PLANES_MAX_BLUR + GROUPS * LANES];
    const uint32_t reach = (uint32_t)blur->reach, span = 2 * reach;
    memset(padded, 0, reach * sizeof *padded);
    memcpy(padded + reach, from, bins * sizeof *padded);
    memset(padded + reach + bins, 0, (reach + GROUPS * LANES) * sizeof *padded);
    for (uint32_t first = 0; first < bins; first += GROUPS * LANES) {
        simd_f sums[GROUPS];
        for (uint32_t g = 0; g < GROUPS; g++) sums[g] = simd_f_set(0);
        for (uint32_t k = 0; k <= span; k++) {
            const simd_f weight = simd_f_set(blur->weights[span - k]);
            for (uint32_t g = 0; g < GROUPS; g++) {
                const simd_f counts = simd_f_load(padded + first + k + g * LANES);
                sums[g] = simd_f_add(sums[g], simd_f_mul(counts, weight));
            }
        }
        for (uint32_t g = 0; g < GROUPS; g++) simd_f_store(to + first + g * LANES, sums[g]);
    }
    blur_ends(from, (int)bins, blur, to);
}

/* ---- histograms */

static void measure(const composite_columns *points, const float n[3], float *distance) {
    const float *x = points->x, *y = points->y, *z = points->z;
    for (uint32_t i = 0; i < points->count; i++) distance[i] = fmaf(n[0], x[i], fmaf(n[1], y[i], n[2] * z[i]));
}

/* Two of each, for points that follow each other are often in one bin. */
typedef struct bin_counters {
    uint16_t counts[2][PLANES_PROFILE_BINS], along[2][PLANES_PROFILE_BINS];
} bin_counters;

static void count_bins(const int32_t *bin, const int32_t *along, uint32_t count, bin_counters *counters) {
    uint32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        counters->counts[0][bin[i]]++;
        counters->along[0][along[i]]++;
        counters->counts[1][bin[i + 1]]++;
        counters->along[1][along[i + 1]]++;
    }
    if (i == count) return;
    counters->counts[0][bin[i]]++;
    counters->along[0][along[i]]++;
}

/* off  the direction's part along the normal of the body */
static void count_points(const composite_columns *points, const planes_profile *p, const float *distance,
                         const float off[3], bin_counters *counters) {
    const float by = (float)(1 / p->bin), low = (float)p->low;
    const int32_t last = (int32_t)p->bins - 1;
    for (uint32_t first = 0; first < points->count; first += PIECE) {
        const uint32_t rest = points->count - first, count = rest < PIECE ? rest : PIECE;
        const float *x = points->x + first, *y = points->y + first, *z = points->z + first, *at = distance + first;
        int32_t bin[PIECE], along[PIECE];
        for (uint32_t i = 0; i < count; i++) {
            const float away = fmaf(off[0], x[i], fmaf(off[1], y[i], off[2] * z[i]));
            const int32_t place = (int32_t)((at[i] - away - low) * by), cut = place < 0 ? 0 : place;
            bin[i] = (int32_t)((at[i] - low) * by);
            along[i] = cut < last ? cut : last;
        }
        count_bins(bin, along, count, counters);
    }
}

bool planes_profile_make(const composite_body *body, const composite_columns *points, const double n[3], double bin,
                         const planes_blur *blur, planes_profile *p) {
    float distance[COMPOSITE_MAX_POINTS], along[PLANES_PROFILE_BINS], low, high;
    bin_counters counters;
    const double *normal = body->normal, slope = planes_dot(n, normal);
    const float direction[3] = {(float)n[0], (float)n[1], (float)n[2]};
    const float off[3] = {(float)(slope * normal[0]), (float)(slope * normal[1]), (float)(slope * normal[2])};
    measure(points, direction, distance);
    planes_find_ends(distance, points->count, &low, &high);
    const double margin = COMPOSITE_TRUNCATED * body->noise, width = (double)high - (double)low + 2 * margin;
    if (!(width < (PLANES_PROFILE_BINS - 2) * bin)) return false;
    p->low = (double)low - margin;
    p->bin = bin;
    p->bins = (uint32_t)(width / bin) + 2;
    for (int k = 0; k < 2; k++) {
        memset(counters.counts[k], 0, p->bins * sizeof *counters.counts[k]);
        memset(counters.along[k], 0, p->bins * sizeof *counters.along[k]);
    }
    count_points(points, p, distance, off, &counters);
    for (uint32_t i = 0; i < p->bins; i++) {
        p->counts[i] = (float)((int32_t)counters.counts[0][i] + counters.counts[1][i]);
        along[i] = (float)((int32_t)counters.along[0][i] + counters.along[1][i]);
    }
    for (uint32_t i = p->bins; i % LANES != 0; i++) p->counts[i] = 0;
    planes_blur_bins(along, p->bins, blur, p->expected);
    return true;
}

double planes_profile_score(const planes_profile *p) {
    double nats = 0;
    for (uint32_t i = 0; i < p->bins; i++) {
        const double count = (double)p->counts[i], expected = (double)p->expected[i] + 0.25;
        if (count > 0) nats += count * log(count / expected);
        nats -= count - expected + (count > 0 ? 0.5 : 0);
    }
    return nats;
}

/* log x is at most (x - 1) / sqrt x from 1 on, and at most 2 (x - 1) / (x + 1) below; the other one is less. */
double planes_profile_bound(const planes_profile *p) {
    float nats[LANES], sizes[LANES];
    double sum = 0, size = 0;
    const simd_f zero = simd_f_set(0), one = simd_f_set(1);
    simd_f sums = zero, all = zero;
    for (uint32_t i = 0; i < p->bins; i += LANES) {
        const simd_f count = simd_f_load(p->counts + i);
        const simd_f expected = simd_f_add(simd_f_load(p->expected + i), simd_f_set(0.25f));
        const simd_f ratio = simd_f_div(count, expected), above = simd_f_sub(ratio, one);
        const simd_f from_one = simd_f_div(above, simd_f_sqrt(simd_f_max(ratio, simd_f_set(0.01f))));
        const simd_f below_one = simd_f_div(simd_f_add(above, above), simd_f_add(ratio, one));
        const simd_f gain = simd_f_mul(count, simd_f_max(from_one, below_one));
        const simd_f chance = simd_f_min(simd_f_mul(count, simd_f_set(0.5f)), simd_f_set(0.5f));
        sums = simd_f_add(sums, simd_f_sub(gain, simd_f_add(simd_f_sub(count, expected), chance)));
        all = simd_f_add(all, simd_f_add(simd_f_max(gain, simd_f_sub(zero, gain)), simd_f_add(count, expected)));
    }
    simd_f_store(nats, sums);
    simd_f_store(sizes, all);
    for (uint32_t l = 0; l < LANES; l++) {
        sum += (double)nats[l];
        size += (double)sizes[l];
    }
    return sum + ROUNDING * size;
}
