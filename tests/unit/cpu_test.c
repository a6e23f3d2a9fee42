/* What a processor lacks: each feature alone, by what the processor would say. */
#include <string.h>

#include "core/cpu.h"
#include "support/support.h"

/* Haswell, all registers kept. */
static const cpu_words haswell = {0x7FFAFBFF, 0x000027AB, 0x00000021, 7};

static void lacks_nothing(void **state) {
    (void)state;
    assert_null(cpu_words_lack(&haswell));
    assert_null(mote_cpu_lacks()); /* or this test would not run */
}

static void names_what_is_not_there(void **state) {
    (void)state;
    static const struct without {
        cpu_words cleared;
        const char *name;
    } cases[] = {
        {{0, 1u << 5, 0, 0}, "AVX2"},
        {{1u << 28, 0, 0, 0}, "AVX"},
        {{1u << 12, 0, 0, 0}, "FMA"},
        {{0, 1u << 3, 0, 0}, "BMI1"},
        {{0, 1u << 8, 0, 0}, "BMI2"},
        {{1u << 29, 0, 0, 0}, "F16C"},
        {{0, 0, 1u << 5, 0}, "LZCNT"},
        {{1u << 22, 0, 0, 0}, "MOVBE"},
        {{1u << 27, 0, 0, 7}, "AVX registers in its operating system"},
        {{0, 0, 0, 2}, "AVX registers in its operating system"},
        {{0, 0, 0, 4}, "AVX registers in its operating system"},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, 7}, "AVX2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cpu_words words = {
            haswell.leaf1_ecx & ~cases[i].cleared.leaf1_ecx, haswell.leaf7_ebx & ~cases[i].cleared.leaf7_ebx,
            haswell.extended_ecx & ~cases[i].cleared.extended_ecx, haswell.xcr0 & ~cases[i].cleared.xcr0};
        const char *lacks = cpu_words_lack(&words);
        assert_non_null(lacks);
        assert_string_equal(lacks, cases[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lacks_nothing), cmocka_unit_test(names_what_is_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
