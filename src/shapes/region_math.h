/* Whether a polygon holds a place, exactly. All numbers are whole steps of a power of ten; a corner and a place are at
   most 2 * 10^15 steps from 0, so that differences fit into doubles exactly and their products into 128 bits. */
#ifndef MOTE_REGION_MATH_H
#define MOTE_REGION_MATH_H

#include <stdbool.h>
#include <stdint.h>

#define REGION_MAX_STEPS   1e15
#define REGION_MAX_DECIMAL 22          /* 10^22 is the largest power of ten that is a double exactly */
#define REGION_UNSURE      0x1p-50     /* of a difference of two rounded products, relative to their sizes */
#define REGION_LOW_WORD    0xFFFFFFFFu /* of 64 bits */

/* The nearest whole number; a half is rounded up. */
static inline int64_t region_round(double value) {
    const double raised = value + 0.5;
    const int64_t whole = (int64_t)raised;
    return whole - ((double)whole > raised);
}

/* The sizes of both factors, as 128 bits. */
static inline void region_multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
    const uint64_t a0 = a & REGION_LOW_WORD, a1 = a >> 32, b0 = b & REGION_LOW_WORD, b1 = b >> 32;
    const uint64_t lowest = a0 * b0, cross = a1 * b0 + (lowest >> 32);
    const uint64_t middle = a0 * b1 + (cross & REGION_LOW_WORD);
    *low = middle << 32 | (lowest & REGION_LOW_WORD);
    *high = a1 * b1 + (cross >> 32) + (middle >> 32);
}

/* Returns the steps of as many decimals as leave coordinates up to max, at most REGION_MAX_STEPS, fifteen digits. */
static inline double region_steps_for(double max) {
    double steps = 1;
    for (int i = 0; i < REGION_MAX_DECIMAL && max * (steps * 10) <= REGION_MAX_STEPS; i++) steps *= 10;
    return steps;
}

static inline uint64_t region_size(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/* The sign of a * b - c * d, of factors below 2^63. */
static inline int region_compare_exactly(int64_t a, int64_t b, int64_t c, int64_t d) {
    const int left = a == 0 || b == 0 ? 0 : (a < 0) == (b < 0) ? 1 : -1;
    const int right = c == 0 || d == 0 ? 0 : (c < 0) == (d < 0) ? 1 : -1;
    uint64_t high, low, other_high, other_low;
    if (left != right) return left < right ? -1 : 1;
    region_multiply(region_size(a), region_size(b), &high, &low);
    region_multiply(region_size(c), region_size(d), &other_high, &other_low);
    if (high != other_high) return (high < other_high ? -1 : 1) * left;
    return low == other_low ? 0 : (low < other_low ? -1 : 1) * left;
}

/* Compares a b with c d as above, but lets doubles decide where they can, which is nearly always. */
static inline int region_compare(int64_t a, int64_t b, int64_t c, int64_t d) {
    const double left = (double)a * (double)b, right = (double)c * (double)d;
    const double difference = left - right,
                 unsure = ((left < 0 ? -left : left) + (right < 0 ? -right : right)) * REGION_UNSURE;
    if (difference > unsure) return 1;
    if (difference < -unsure) return -1;
    return region_compare_exactly(a, b, c, d);
}

/* An edge of a polygon, from its lower end to its upper one. */
typedef struct region_edge {
    int64_t low[2], high[2]; /* x, y; low[1] <= high[1] */
    uint32_t polygon;
} region_edge;

typedef enum region_side { REGION_LEFT, REGION_ON, REGION_RIGHT, REGION_BESIDE } region_side;

/* Where a place is, as seen along the edge upwards. REGION_BESIDE: above it or below it, or at its upper end's height,
   where the next edge begins, so that a ray to the left crosses one of both. */
static inline region_side region_side_of(const region_edge *edge, int64_t x, int64_t y) {
    const int64_t *low = edge->low, *high = edge->high;
    if (y < low[1] || y > high[1]) return REGION_BESIDE;
    if (low[1] == high[1]) {
        const bool is_between = (x >= low[0] && x <= high[0]) || (x >= high[0] && x <= low[0]);
        return is_between ? REGION_ON : REGION_BESIDE;
    }
    const int sign = region_compare(x - low[0], high[1] - low[1], high[0] - low[0], y - low[1]);
    if (sign == 0) return REGION_ON;
    if (y == high[1]) return REGION_BESIDE;
    return sign < 0 ? REGION_LEFT : REGION_RIGHT;
}

#endif
