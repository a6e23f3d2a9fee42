/* Compiled for any processor, as are all functions that can be called before there is a context: see CMakeLists.txt. */
#include "core/cpu.h"

#include <stddef.h>

#include "mote/context.h"

typedef struct cpu_feature {
    const char *name;
    size_t word; /* where it is in cpu_words */
    uint32_t bits;
} cpu_feature;

#define LEAF_1   offsetof(cpu_words, leaf1_ecx)
#define LEAF_7   offsetof(cpu_words, leaf7_ebx)
#define EXTENDED offsetof(cpu_words, extended_ecx)
#define XCR0     offsetof(cpu_words, xcr0)

/* x86-64-v3 (System V ABI, AMD64 supplement); SSE4.2 and POPCNT came before AVX. */
static const cpu_feature features[] = {
    {"AVX2", LEAF_7, 1u << 5},
    {"AVX", LEAF_1, 1u << 28},
    {"FMA", LEAF_1, 1u << 12},
    {"BMI1", LEAF_7, 1u << 3},
    {"BMI2", LEAF_7, 1u << 8},
    {"F16C", LEAF_1, 1u << 29},
    {"LZCNT", EXTENDED, 1u << 5},
    {"MOVBE", LEAF_1, 1u << 22},
    {"AVX registers in its operating system", LEAF_1, 1u << 27}, /* OSXSAVE */
    {"AVX registers in its operating system", XCR0, 6},          /* of 128 bits, and their upper halves */
};

const char *cpu_words_lack(const cpu_words *words) {
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const uint32_t word = *(const uint32_t *)((const char *)words + features[i].word);
        if ((word & features[i].bits) != features[i].bits) return features[i].name;
    }
    return NULL;
}

#if defined(__x86_64__)
#include <cpuid.h>

const char *mote_cpu_lacks(void) {
    cpu_words words = {0, 0, 0, 0};
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) words.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) words.leaf7_ebx = b;
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) words.extended_ecx = c;
    if ((words.leaf1_ecx & 1u << 27) != 0) __asm__ volatile("xgetbv" : "=a"(words.xcr0), "=d"(d) : "c"(0));
    return cpu_words_lack(&words);
}
#else
const char *mote_cpu_lacks(void) { return NULL; }
#endif
