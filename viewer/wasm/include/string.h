/* What the decoder uses of <string.h>: instructions of WebAssembly (bulk memory) instead of a C library. */
#ifndef MOTE_WASM_STRING_H
#define MOTE_WASM_STRING_H

#include <stddef.h>

#define memcpy(to, from, size)  __builtin_memcpy(to, from, size)
#define memmove(to, from, size) __builtin_memmove(to, from, size)
#define memset(to, value, size) __builtin_memset(to, value, size)

int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);

#endif
