/* For parts of the library that are left out when linking. */
#ifndef MOTE_WASM_INTTYPES_H
#define MOTE_WASM_INTTYPES_H
#include <stdint.h>
#define PRIu64 "llu"
#endif
