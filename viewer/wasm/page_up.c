/* The rule by which up is found, for the page. Compiled for WebAssembly without a C library; build.mjs says how.
     at = up_reserve(points)   put their x, y and z there, three rows of floats, from the lower corner of their box
     up_find(points, the box, …)                          the axis, + 3 where its negative end is up; + 8 by its reason
   There is one search at a time, and all its memory is free again with the next up_reserve(). */
#include "render/up_rule.h"

#include <stdlib.h>

#define PAGE_BYTES 65536u
#define ALIGNMENT  16u

extern uint8_t __heap_base; /* of the linker: behind the static data */

static uint64_t heap_end;

/* Memory is given out in a row, and never taken back one by one. */
void *malloc(size_t size) {
    const uint64_t begin = (heap_end + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1), end = begin + size;
    const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
    const uint64_t more = end > have ? (end - have + PAGE_BYTES - 1) / PAGE_BYTES : 0;
    if (end > UINT32_MAX || (more > 0 && __builtin_wasm_memory_grow(0, (uint32_t)more) == (size_t)-1)) return NULL;
    heap_end = end;
    return (void *)(uintptr_t)begin; // NOLINT
}

void *calloc(size_t count, size_t size) {
    const uint64_t bytes = (uint64_t)count * size;
    void *at = bytes <= UINT32_MAX ? malloc((size_t)bytes) : NULL;
    if (at != NULL) __builtin_memset(at, 0, (size_t)bytes);
    return at;
}

void free(void *at) { (void)at; }

/* Rows are whole words, as all are that the rule sorts. */
static void swap(uint8_t *a, uint8_t *b, size_t size) {
    uint32_t *const x = (uint32_t *)(void *)a, *const y = (uint32_t *)(void *)b;
    for (size_t i = 0; i < size / sizeof *x; i++) {
        const uint32_t kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Brings the element at a place down to where both below it are smaller. */
static void sift(uint8_t *base, size_t at, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0) child++;
        if (compare(base + at * size, base + child * size) >= 0) return;
        swap(base + at * size, base + child * size, size);
        at = child;
    }
}

/* Heapsort: what is compared as equal is equal here, so any sort gives the same row. */
void qsort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    for (size_t at = count / 2; at-- > 0;) sift(rows, at, count, size, compare);
    for (size_t left = count; left-- > 1;) {
        swap(rows, (uint8_t *)rows + left * size, size);
        sift(rows, 0, left, size, compare);
    }
}

__attribute__((export_name("up_reserve"))) float *up_reserve(uint32_t points) {
    heap_end = (uint64_t)(uintptr_t)&__heap_base;
    return malloc((size_t)points * 3 * sizeof(float));
}

__attribute__((export_name("up_find"))) int up_find(float *at, uint32_t points, double min_x, double min_y,
                                                    double min_z, double max_x, double max_y, double max_z) {
    up_sample sample = {{at, at + points, at + 2 * (size_t)points}, points};
    const mote_box box = {{min_x, min_y, min_z}, {max_x, max_y, max_z}};
    const up_found found = up_rule_find(&sample, &box, false);
    return found.axis + (found.sign < 0 ? 3 : 0) + 8 * (int)found.reason;
}
