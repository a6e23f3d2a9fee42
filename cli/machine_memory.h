/* How much memory this process may take. */
#ifndef MOTE_MACHINE_MEMORY_H
#define MOTE_MACHINE_MEMORY_H

#include <stdint.h>

/* What the machine has free, or the least that a control group (cgroup, of version 1 or 2) of this process allows, less
   an eighth: for the program itself, its threads' stacks, page tables, and pages of files that cannot go at once. root
   in front of /proc and /sys: "" */
uint64_t machine_memory(const char *root);

/* From here on what is freed goes back to the system, so that a bound on what is held is one on what is resident:
   malloc would keep blocks that once were large for those that are small (a part of a COPC file: 68 MB instead of 46).
 */
void machine_memory_goes_back(void);

#endif
