/* Eight numbers at once on CPU cores. Comparisons give 0 or -1 in each lane. */
#ifndef MOTE_RENDER_LANES_CPU_H
#define MOTE_RENDER_LANES_CPU_H

#include <stdint.h>
#include <string.h>

#define RENDER_LANES 8u

typedef float render_floats __attribute__((vector_size(32)));
typedef int32_t render_ints __attribute__((vector_size(32)));
typedef uint32_t render_words __attribute__((vector_size(32)));

static inline render_floats render_load_floats(const float *from) {
    render_floats a;
    memcpy(&a, from, sizeof a);
    return a;
}

static inline render_words render_load_words(const uint32_t *from) {
    render_words a;
    memcpy(&a, from, sizeof a);
    return a;
}

/* Takes every other one of sixteen words, from the first (or the second) on. */
#if defined(__clang__)
#define RENDER_EVEN_WORDS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define RENDER_ODD_WORDS(a, b)  __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#else
#define RENDER_EVEN_WORDS(a, b) __builtin_shuffle(a, b, (render_words){0, 2, 4, 6, 8, 10, 12, 14})
#define RENDER_ODD_WORDS(a, b)  __builtin_shuffle(a, b, (render_words){1, 3, 5, 7, 9, 11, 13, 15})
#endif

static inline void render_keep_floats(float *to, render_floats a) { memcpy(to, &a, sizeof a); }

static inline render_floats render_select_floats(render_ints mask, render_floats a, render_floats b) {
    return (render_floats)((mask & (render_ints)a) | (~mask & (render_ints)b));
}

#endif
