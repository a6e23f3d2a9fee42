/* Which instructions of x86-64-v3 a processor lacks: all of the library but a few files is compiled for these. */
#ifndef MOTE_CPU_H
#define MOTE_CPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a processor of the kind x86-64 says of itself. */
typedef struct cpu_words {
    uint32_t leaf1_ecx, leaf7_ebx, extended_ecx; /* of cpuid 1, 7 and 0x80000001 */
    uint32_t xcr0;                               /* registers that the operating system keeps for each thread */
} cpu_words;

/* The name of the first thing that is not there, the best known first; NULL: all is. */
const char *cpu_words_lack(const cpu_words *words);

#ifdef __cplusplus
}
#endif
#endif
