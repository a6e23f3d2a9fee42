/* For parts of the library that are left out when linking. */
#ifndef MOTE_WASM_STDIO_H
#define MOTE_WASM_STDIO_H
#include <stddef.h>
int snprintf(char *out, size_t size, const char *format, ...);
#endif
