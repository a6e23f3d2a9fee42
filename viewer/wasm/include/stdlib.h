/* What the rule for up uses of <stdlib.h>; wasm/up.c has it. */
#ifndef MOTE_WASM_STDLIB_H
#define MOTE_WASM_STDLIB_H

#include <stddef.h>

#include <locale.h>

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *at);
void qsort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *));

unsigned long strtoul(const char *text, char **end, int base);
double strtod_l(const char *text, char **end, locale_t locale);
float strtof_l(const char *text, char **end, locale_t locale);

#endif
