/* Potree folders, read naively: names of nodes from order and child masks alone. What it finds wrong fails the test. */
#ifndef MOTE_POTREE_REFERENCE_H
#define MOTE_POTREE_REFERENCE_H

#include "mote/lod.h"

#include <mote_have.h>

#if MOTE_HAVE_JANSSON
#include <jansson.h>

typedef struct potree_reference_file {
    uint8_t *data;
    size_t size;
} potree_reference_file;

typedef struct potree_reference_node {
    char name[300];
    uint8_t mask;
    uint32_t points;
    uint64_t offset, size;
} potree_reference_node;

typedef struct potree_reference {
    json_t *json;
    potree_reference_file hierarchy, octree;
    potree_reference_node *nodes;
    uint32_t count;
    uint32_t chunks;
} potree_reference;

potree_reference potree_reference_open(const char *folder);
void potree_reference_close(potree_reference *set);

/* Nodes fill octree.bin without gap or overlap, coarse levels first. Sorts them by offset. */
void potree_reference_check_places(potree_reference *set);
/* The folder has what the octree has; by encoding DEFAULT every point lies in its node. */
void potree_reference_check(const char *folder, const mote_lod *lod, bool brotli);
/* The files of two folders are the same. */
void potree_reference_same_folders(const char *a, const char *b);

/* The i-th number of the array KEY, or of INNER in the object KEY. */
double potree_reference_number(const json_t *object, const char *key, const char *inner, size_t i);

#endif
#endif
