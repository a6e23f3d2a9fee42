/* What the decoder uses of <string.h>: instructions of WebAssembly (bulk memory) instead of a C library. */
#ifndef MOTE_WASM_STRING_H
#define MOTE_WASM_STRING_H

#include <stddef.h>

#define memcpy(to, from, size)  __builtin_memcpy(to, from, size)
#define memmove(to, from, size) __builtin_memmove(to, from, size)
#define memset(to, value, size) __builtin_memset(to, value, size)

int memcmp(const void *a, const void *b, size_t size);
size_t strlen(const char *text);
size_t strspn(const char *text, const char *these);
size_t strcspn(const char *text, const char *these);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);
char *strchr(const char *text, int c);
char *strstr(const char *text, const char *part);

#endif
