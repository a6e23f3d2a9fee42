/* How much memory this process may take. */
#ifndef MOTE_MACHINE_MEMORY_H
#define MOTE_MACHINE_MEMORY_H

#include <stdint.h>

/* What the machine has free, or the least that a control group (cgroup, of version 1 or 2) of this process allows, less
   an eighth: for the program itself, its threads' stacks, page tables, and pages of files that cannot go at once. root
   in front of /proc and /sys: "" */
uint64_t machine_memory(const char *root);

#endif
