/* Runs a program over a block of points: each operation is a loop over the block, which the compiler makes one of
   vectors. Comparisons with what is not known are false, except !=, as IEEE 754 has it. */
#include <math.h>

#include "where/where_program.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- numbers */

ALWAYS_INLINE void compute_all(where_kind kind, uint64_t count, const double *a, const double *b, double *to) {
    for (uint64_t i = 0; i < count; i++) to[i] = where_compute(kind, a[i], b[i]);
}

static void run_number(const where_bound *bound, const where_op *op, uint64_t first, uint64_t count,
                       where_scratch *scratch) {
    const double *a = scratch->numbers[op->a], *b = scratch->numbers[op->b < WHERE_SLOTS ? op->b : 0];
    double *to = scratch->numbers[op->to];
    switch (op->kind) {
    case WHERE_NUMBER:
        for (uint64_t i = 0; i < count; i++) to[i] = op->number;
        break;
    case WHERE_NAME: where_load(&bound->columns[op->name], first, count, to); break;
    case WHERE_NEGATE: compute_all(WHERE_NEGATE, count, a, b, to); break;
    case WHERE_ABS: compute_all(WHERE_ABS, count, a, b, to); break;
    case WHERE_FLOOR: compute_all(WHERE_FLOOR, count, a, b, to); break;
    case WHERE_CEIL: compute_all(WHERE_CEIL, count, a, b, to); break;
    case WHERE_SQRT: compute_all(WHERE_SQRT, count, a, b, to); break;
    case WHERE_ADD: compute_all(WHERE_ADD, count, a, b, to); break;
    case WHERE_SUBTRACT: compute_all(WHERE_SUBTRACT, count, a, b, to); break;
    case WHERE_MULTIPLY: compute_all(WHERE_MULTIPLY, count, a, b, to); break;
    case WHERE_DIVIDE: compute_all(WHERE_DIVIDE, count, a, b, to); break;
    case WHERE_MIN: compute_all(WHERE_MIN, count, a, b, to); break;
    case WHERE_MAX: compute_all(WHERE_MAX, count, a, b, to); break;
    default: /* calls, one by one */
        for (uint64_t i = 0; i < count; i++) to[i] = where_compute(op->kind, a[i], b[i]);
    }
}

/* ---- truths */

ALWAYS_INLINE bool compare(where_kind kind, double a, double b) {
    switch (kind) {
    case WHERE_EQUAL: return a == b;
    case WHERE_UNEQUAL: return a != b;
    case WHERE_LESS: return a < b;
    case WHERE_AT_MOST: return a <= b;
    case WHERE_GREATER: return a > b;
    default: return a >= b;
    }
}

ALWAYS_INLINE void compare_all(where_kind kind, const where_op *op, uint64_t count, const double *restrict a,
                               const double *restrict b, uint8_t *restrict to) {
    if (op->b_is_number) {
        const double number = op->number;
        for (uint64_t i = 0; i < count; i++) to[i] = compare(kind, a[i], number);
    } else {
        for (uint64_t i = 0; i < count; i++) to[i] = compare(kind, a[i], b[i]);
    }
}

static void run_in(const where_bound *bound, const where_op *op, uint64_t count, const double *restrict a,
                   uint8_t *restrict to) {
    memset(to, 0, count);
    for (uint32_t r = 0; r < op->range_count; r++) {
        const where_range range = bound->program->ranges[op->first_range + r];
        for (uint64_t i = 0; i < count; i++) to[i] |= a[i] >= range.low && a[i] <= range.high;
    }
}

static void run_truth(const where_bound *bound, const where_op *op, uint64_t count, where_scratch *scratch) {
    const double *a = scratch->numbers[op->a], *b = scratch->numbers[op->b < WHERE_SLOTS ? op->b : 0];
    const uint8_t *left = scratch->masks[op->a], *right = scratch->masks[op->b < WHERE_SLOTS ? op->b : 0];
    uint8_t *to = scratch->masks[op->to];
    switch (op->kind) {
    case WHERE_EQUAL: compare_all(WHERE_EQUAL, op, count, a, b, to); break;
    case WHERE_UNEQUAL: compare_all(WHERE_UNEQUAL, op, count, a, b, to); break;
    case WHERE_LESS: compare_all(WHERE_LESS, op, count, a, b, to); break;
    case WHERE_AT_MOST: compare_all(WHERE_AT_MOST, op, count, a, b, to); break;
    case WHERE_GREATER: compare_all(WHERE_GREATER, op, count, a, b, to); break;
    case WHERE_AT_LEAST: compare_all(WHERE_AT_LEAST, op, count, a, b, to); break;
    case WHERE_IN: run_in(bound, op, count, a, to); break;
    case WHERE_TRUTH:
        for (uint64_t i = 0; i < count; i++) to[i] = a[i] < 0 || a[i] > 0;
        break;
    case WHERE_KNOWN:
        for (uint64_t i = 0; i < count; i++) to[i] = a[i] == a[i];
        break;
    case WHERE_NOT:
        for (uint64_t i = 0; i < count; i++) to[i] = left[i] ^ 1;
        break;
    case WHERE_AND:
        for (uint64_t i = 0; i < count; i++) to[i] = left[i] & right[i];
        break;
    default:
        for (uint64_t i = 0; i < count; i++) to[i] = left[i] | right[i];
    }
}

static uint64_t sum_of(const uint8_t *mask, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += mask[i];
    return sum;
}

/* ---- a block */

void where_run(const where_bound *bound, where_code code, uint64_t first, uint64_t count, where_scratch *scratch) {
    for (uint32_t at = code.begin; at < code.end; at++) {
        const where_op *op = &bound->program->ops[at];
        if (op->kind == WHERE_SKIP_IF_NONE || op->kind == WHERE_SKIP_IF_ALL) {
            const uint64_t decided = op->kind == WHERE_SKIP_IF_NONE ? 0 : count;
            if (sum_of(scratch->masks[op->a], count) == decided) at = op->target - 1;
        } else if (op->kind == WHERE_AS_NUMBER) {
            for (uint64_t i = 0; i < count; i++) scratch->numbers[0][i] = scratch->masks[0][i];
        } else if (where_is_truth(op->kind)) {
            run_truth(bound, op, count, scratch);
        } else {
            run_number(bound, op, first, count, scratch);
        }
    }
}

uint64_t mote_where_test(const where_bound *bound, uint64_t first, uint64_t count, where_scratch *scratch,
                         uint8_t *mask) {
    where_run(bound, bound->program->statements[0].condition_code, first, count, scratch);
    memcpy(mask, scratch->masks[0], count);
    return sum_of(mask, count);
}
