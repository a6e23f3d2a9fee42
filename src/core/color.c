/* The one rule for what the numbers of colours mean; color.h says it. */
#include "core/color.h"

#include <math.h>
#include <stdio.h>

#include "core/column_math.h"

#define SLACK         0.01 /* how far floats may lie beyond a limit, as a share of white */
#define MAX_CHANNELS  4u
#define WINDOW_POINTS (1u << 20) /* of a plain channel, between two looks whether enough was seen */

mote_color_range mote_color_nothing(void) {
    const mote_color_range range = {INFINITY, -INFINITY, 0, 0, 0};
    return range;
}

bool mote_color_is_plain(const mote_column *channel) {
    return (channel->type == MOTE_UINT8 || channel->type == MOTE_UINT16) && !mote_color_is_real(channel);
}

bool mote_color_is_real(const mote_column *channel) {
    return mote_type_is_float(channel->type) || channel->scale != 1 || channel->offset != 0;
}

void mote_color_see(const mote_context *ctx, const mote_column *channel, uint64_t count, mote_color_range *range) {
    double low = range->low, high = range->high;
    uint64_t missing = 0, infinite = 0, fractions = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low) reduction(max : high) \
    reduction(+ : missing, infinite, fractions)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double value = column_value(channel, (uint64_t)i);
        if (isnan(value)) {
            missing++;
        } else if (isinf(value)) {
            infinite++;
        } else {
            low = value < low ? value : low;
            high = value > high ? value : high;
            fractions += value != nearbyint(value);
        }
    }
    range->low = low;
    range->high = high;
    range->missing += missing;
    range->infinite += infinite;
    range->fractions += fractions;
}

/* Widens the range by the largest value of a plain channel, or that of the first window that needs more than 8 bits. */
static void see_plain(const mote_context *ctx, const mote_column *channel, uint64_t count, mote_color_range *range) {
    int64_t high = range->high > 0 ? (int64_t)range->high : 0;
    for (uint64_t first = 0; first < count && high <= MOTE_COLOR_MAX_8; first += WINDOW_POINTS) {
        const int64_t window = (int64_t)(count - first < WINDOW_POINTS ? count - first : WINDOW_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(max : high)
        for (int64_t i = 0; i < window; i++) {
            const int64_t value = column_integer(channel, first + (uint64_t)i);
            high = value > high ? value : high;
        }
    }
    if (count == 0) return;
    range->low = 0;
    range->high = fmax(range->high, (double)high);
}

static mote_color_depth depth_of(double high, bool is_real) {
    const double share = is_real ? 1 + SLACK : 1;
    if (is_real && high <= share) return MOTE_COLOR_UNIT;
    if (high <= MOTE_COLOR_MAX_8 * share) return MOTE_COLOR_8_BITS;
    return high <= MOTE_COLOR_MAX * share ? MOTE_COLOR_16_BITS : MOTE_COLOR_UNKNOWN;
}

static double white_of(mote_color_depth depth) {
    return depth == MOTE_COLOR_UNIT ? 1 : depth == MOTE_COLOR_8_BITS ? MOTE_COLOR_MAX_8 : MOTE_COLOR_MAX;
}

static mote_color_rule rule_of(const mote_color_range *range, bool is_real) {
    mote_color_rule rule = {.depth = MOTE_COLOR_BLACK,
                            .outside = range->infinite > 0,
                            .white = MOTE_COLOR_MAX,
                            .missing = range->missing,
                            .type = MOTE_UINT16};
    rule.whole = range->fractions + range->infinite == 0;
    if (range->low > range->high || (range->low == 0 && range->high == 0)) return rule;
    rule.depth = depth_of(range->high, is_real);
    rule.white = white_of(rule.depth);
    rule.high = range->high;
    const double lowest = is_real ? -SLACK * rule.white : 0;
    rule.outside = rule.outside || rule.depth == MOTE_COLOR_UNKNOWN || range->low < lowest;
    return rule;
}

mote_color_rule mote_color_judge(const mote_column *const *channels, uint32_t count, const mote_color_range *range) {
    const mote_column *first = NULL;
    bool is_real = false;
    for (uint32_t k = 0; k < count; k++) {
        if (channels[k] == NULL) continue;
        if (first == NULL) first = channels[k];
        is_real = is_real || mote_color_is_real(channels[k]);
    }
    mote_color_rule rule = rule_of(range, is_real);
    if (first != NULL) rule.type = is_real && !mote_type_is_float(first->type) ? MOTE_FLOAT64 : first->type;
    return rule;
}

void mote_color_see_together(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                             uint64_t point_count, mote_color_range *range) {
    bool all_plain = true;
    for (uint32_t k = 0; k < count; k++)
        all_plain = all_plain && (channels[k] == NULL || mote_color_is_plain(channels[k]));
    for (uint32_t k = 0; k < count; k++) {
        if (channels[k] == NULL) continue;
        if (all_plain) {
            see_plain(ctx, channels[k], point_count, range);
        } else {
            mote_color_see(ctx, channels[k], point_count, range);
        }
    }
}

mote_color_rule mote_color_find(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                                uint64_t point_count) {
    mote_color_range range = mote_color_nothing();
    mote_color_see_together(ctx, channels, count, point_count, &range);
    return mote_color_judge(channels, count, &range);
}

static mote_color_rule as_intensity(mote_color_rule rule) {
    if (!rule.whole || rule.depth == MOTE_COLOR_UNIT || rule.depth == MOTE_COLOR_BLACK) return rule;
    rule.depth = MOTE_COLOR_16_BITS;
    rule.white = MOTE_COLOR_MAX;
    return rule;
}

mote_color_rule mote_color_judge_intensity(const mote_column *intensity, const mote_color_range *range) {
    return as_intensity(mote_color_judge(&intensity, 1, range));
}

mote_color_rule mote_color_find_intensity(const mote_context *ctx, const mote_column *intensity, uint64_t point_count) {
    return as_intensity(mote_color_find(ctx, &intensity, 1, point_count));
}

mote_color_rule mote_color_unseen(const mote_column *channel) {
    const mote_color_rule unit = {MOTE_COLOR_UNIT, false, false, 1, 1, 0, MOTE_FLOAT32};
    const mote_color_rule wide = {MOTE_COLOR_16_BITS, false, true, MOTE_COLOR_MAX, MOTE_COLOR_MAX, 0, channel->type};
    return mote_color_is_real(channel) ? unit : wide;
}

static mote_color_rule plain_rule(mote_type type) {
    const bool narrow = type == MOTE_UINT8;
    const double white = narrow ? MOTE_COLOR_MAX_8 : MOTE_COLOR_MAX;
    const mote_color_rule rule = {narrow ? MOTE_COLOR_8_BITS : MOTE_COLOR_16_BITS, false, true, white, white, 0, type};
    return rule;
}

/* The channels of floats (real 1) or of integers (0) whose types do not say what they are; returns how many. */
static uint32_t find_alike(const mote_column *const *channels, uint32_t count, int real,
                           const mote_column *alike[MAX_CHANNELS]) {
    uint32_t alike_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        const bool plain = channels[k] == NULL || mote_color_is_plain(channels[k]);
        if (!plain && mote_color_is_real(channels[k]) == (real == 1)) alike[alike_count++] = channels[k];
    }
    return alike_count;
}

void mote_color_see_each(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                         uint64_t point_count, mote_color_range ranges[2]) {
    for (int real = 0; real < 2; real++) {
        const mote_column *alike[MAX_CHANNELS];
        const uint32_t alike_count = find_alike(channels, count, real, alike);
        for (uint32_t k = 0; k < alike_count; k++) mote_color_see(ctx, alike[k], point_count, &ranges[real]);
    }
}

void mote_color_judge_each(const mote_column *const *channels, uint32_t count, const mote_color_range ranges[2],
                           mote_color_rule *rules) {
    for (uint32_t k = 0; k < count; k++) {
        if (channels[k] == NULL || mote_color_is_plain(channels[k])) {
            rules[k] = plain_rule(channels[k] == NULL ? MOTE_UINT16 : channels[k]->type);
        } else {
            const mote_column *alike[MAX_CHANNELS];
            const int real = mote_color_is_real(channels[k]);
            const uint32_t alike_count = find_alike(channels, count, real, alike);
            rules[k] = mote_color_judge(alike, alike_count, &ranges[real]);
        }
    }
}

void mote_color_find_each(const mote_context *ctx, const mote_column *const *channels, uint32_t count,
                          uint64_t point_count, mote_color_rule *rules) {
    mote_color_range ranges[2] = {mote_color_nothing(), mote_color_nothing()};
    mote_color_see_each(ctx, channels, count, point_count, ranges);
    mote_color_judge_each(channels, count, ranges, rules);
}

mote_column mote_color_scaled(const mote_column *channel, const mote_color_rule *rule) {
    mote_column scaled = *channel;
    const bool as_stored = !mote_color_is_real(channel) && rule->white == MOTE_COLOR_MAX;
    if (mote_color_is_plain(channel) || as_stored) return scaled;
    scaled.scale = channel->scale / rule->white;
    scaled.offset = channel->offset / rule->white;
    /* Kernels read plain uint8 and uint16 without their scale. A field of all bits is the same number, but not plain.
     */
    const bool looks_plain = channel->type == MOTE_UINT8 || channel->type == MOTE_UINT16;
    if (looks_plain && channel->bit_count == 0) scaled.bit_count = (uint8_t)(8 * mote_type_size(channel->type));
    return scaled;
}

void mote_color_tell(mote_context *ctx, const char *of, const char *what, const mote_color_rule *rule) {
    static const char *const meaning[] = {"", "0..1: 1 is taken as 65535", "0..255: taken as 8 bits",
                                          "0..65535: taken as 16 bits"};
    char values[32], taken[96], cut[64] = "", missing[64] = "";
    if (rule->depth == MOTE_COLOR_BLACK && rule->missing == 0) return;
    if (mote_type_is_float(rule->type)) {
        snprintf(values, sizeof values, "floats");
    } else {
        snprintf(values, sizeof values, "%s", mote_type_name(rule->type));
    }
    if (rule->depth == MOTE_COLOR_UNKNOWN) {
        snprintf(taken, sizeof taken, "up to %g: taken as 16 bits", rule->high);
    } else {
        snprintf(taken, sizeof taken, "%s", rule->depth == MOTE_COLOR_BLACK ? "without values" : meaning[rule->depth]);
    }
    if (rule->outside) snprintf(cut, sizeof cut, "; what lies outside is cut");
    if (rule->missing > 0) {
        snprintf(missing, sizeof missing, "; %llu are NaN and become 0", (unsigned long long)rule->missing);
    }
    mote_warn(ctx, "%s%s%s are %s %s%s%s", of != NULL ? of : "", of != NULL ? ": " : "", what, values, taken, cut,
              missing);
}

void mote_color_tell_each(mote_context *ctx, const char *of, const mote_column *const *channels, uint32_t count,
                          const mote_color_rule *rules) {
    for (int real = 0; real < 2; real++) {
        for (uint32_t k = 0; k < count; k++) {
            if (channels[k] == NULL || mote_color_is_plain(channels[k])) continue;
            if (mote_type_is_float(rules[k].type) != (real == 1)) continue;
            mote_color_tell(ctx, of, "colours", &rules[k]);
            break;
        }
    }
}
