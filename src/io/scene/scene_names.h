/* Names and a number for each of them: a hash table, for files name tens of thousands of materials and images. */
#ifndef MOTE_SCENE_NAMES_H
#define MOTE_SCENE_NAMES_H

#include "core/core.h"

#define SCENE_NO_NAME UINT32_MAX

/* places [hash & mask] ─▶ 1 + number of an entry, or 0; what is taken already goes to the next place that is not.
   There are at least twice as many places as entries. */
typedef struct scene_name {
    char *bytes; /* [length], no zero behind them */
    uint64_t length, hash;
    uint32_t value;
} scene_name;

typedef struct scene_names {
    scene_name *list;
    uint64_t count, capacity;
    uint32_t *places; /* [place_count], a power of two */
    uint64_t place_count;
} scene_names;

/* The value of a name; SCENE_NO_NAME: it has none. */
uint32_t scene_names_find(const scene_names *names, const char *name, uint64_t length);
/* Gives a name a value, in place of the one that it had. */
mote_status scene_names_set(mote_context *ctx, scene_names *names, const char *name, uint64_t length, uint32_t value);
void scene_names_free(mote_context *ctx, scene_names *names);

#endif
