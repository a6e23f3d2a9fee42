/* The slow part of the models: done once in some hundred symbols. */
#include "io/laz/laz_model.h"

#define COUNT_MAX     (1u << LAZ_SHARE_BITS)
#define LIKELY_MIN    ((3u << LAZ_SHARE_BITS) / 4) /* below it, trying a symbol first costs more than it saves */
#define BIT_COUNT_MAX (1u << LAZ_BIT_SHARE_BITS)
#define BIT_CYCLE_MAX 64u

static uint32_t halve_counts(uint16_t *counts, uint32_t n) {
    uint32_t total = 0, i = 0;
    do { /* n is never 0 */
        total += counts[i] = (uint16_t)((counts[i] + 1u) >> 1);
    } while (++i < n);
    return total;
}

static void spread_shares(laz_model *m, uint32_t n, uint32_t layout) {
    const uint16_t *counts = laz_counts(m, layout);
    uint16_t *low = laz_low(m);
    const uint32_t scale = 0x80000000u / m[LAZ_TOTAL];
    uint32_t sum = 0, max = 0; /* the largest count, and its symbol in the low 16 bits: no branch to miss */
    for (uint32_t i = 0; i < n; i++) {
        low[i] = (uint16_t)(scale * sum >> (31 - LAZ_SHARE_BITS));
        sum += counts[i];
        const uint32_t key = (uint32_t)counts[i] << 16 | i;
        max = key > max ? key : max;
    }
    const uint32_t likely = max & 0xFFFFu;
    const uint32_t to = likely + 1 < n ? low[likely + 1] : 1u << LAZ_SHARE_BITS;
    const bool is_likely = to - low[likely] > LIKELY_MIN;
    m[LAZ_LIKELY] = (uint16_t)likely;
    m[LAZ_LIKELY_FROM] = low[likely];
    m[LAZ_LIKELY_TO] = is_likely ? (uint16_t)to : low[likely];
    if (layout <= LAZ_FLAT_MAX) return;
    uint16_t *coarse = laz_coarse(m, layout);
    for (uint32_t i = 0; i * 16 < n; i++) coarse[i] = low[i * 16];
}

void mote_laz_model_update(laz_model *m, uint32_t n, uint32_t layout) {
    const uint32_t cycle_max = (n + 6) * 8;
    uint32_t total = (uint32_t)m[LAZ_TOTAL] + m[LAZ_CYCLE];
    if (total > COUNT_MAX) total = halve_counts(laz_counts(m, layout), n);
    m[LAZ_TOTAL] = (uint16_t)total;
    spread_shares(m, n, layout);
    const uint32_t cycle = m[LAZ_CYCLE] * 5u >> 2;
    m[LAZ_LEFT] = m[LAZ_CYCLE] = (uint16_t)(cycle < cycle_max ? cycle : cycle_max);
}

void mote_laz_model_start(laz_model *m, uint32_t n, uint32_t layout) {
    uint16_t *counts = laz_counts(m, layout);
    memset(m, 0xFF, LAZ_MODEL_WORDS(layout) * sizeof *m);
    for (uint32_t i = 0; i < n; i++) counts[i] = 1;
    m[LAZ_TOTAL] = (uint16_t)n;
    spread_shares(m, n, layout);
    m[LAZ_LEFT] = m[LAZ_CYCLE] = (uint16_t)((n + 6) / 2);
}

static void share_bit(laz_model *m, uint32_t layout) {
    const uint32_t scale = 0x80000000u / m[LAZ_TOTAL];
    laz_low(m)[1] = (uint16_t)(laz_counts(m, layout)[0] * scale >> (31 - LAZ_BIT_SHARE_BITS));
}

void mote_laz_bit_start(laz_model *m, uint32_t layout) {
    mote_laz_model_start(m, LAZ_BIT_SYMBOLS, layout);
    share_bit(m, layout);
    m[LAZ_LEFT] = m[LAZ_CYCLE] = 4;
}

void mote_laz_bit_update(laz_model *m, uint32_t layout) {
    uint16_t *zeros = laz_counts(m, layout);
    uint32_t total = (uint32_t)m[LAZ_TOTAL] + m[LAZ_CYCLE];
    if (total > BIT_COUNT_MAX) {
        total = (total + 1) >> 1;
        *zeros = (uint16_t)((*zeros + 1u) >> 1);
        if (*zeros == total) total++;
    }
    m[LAZ_TOTAL] = (uint16_t)total;
    share_bit(m, layout);
    const uint32_t cycle = m[LAZ_CYCLE] * 5u >> 2;
    m[LAZ_LEFT] = m[LAZ_CYCLE] = (uint16_t)(cycle < BIT_CYCLE_MAX ? cycle : BIT_CYCLE_MAX);
}
