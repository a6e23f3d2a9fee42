/* What stands for the memory of a GPU. */
#ifndef MOTE_DEVICE_MEMORY_H
#define MOTE_DEVICE_MEMORY_H

#include <stdint.h>

/* Aligned to 256 bytes, filled with 0xA5; NULL when there is none. */
void *device_memory_take(uint64_t size_bytes);
/* Returns what was asked for; aborts when memory is not what device_memory_take gave. */
uint64_t device_memory_give_back(void *memory);
/* Whether a pointer leads into such memory, or to its end. */
bool device_memory_has(const void *pointer);

#endif
