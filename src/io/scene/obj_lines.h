/* Wavefront OBJ and MTL: their lines as words. */
#ifndef MOTE_OBJ_LINES_H
#define MOTE_OBJ_LINES_H

#include "io/scene/scene_draft.h"

#define OBJ_MAX_WORD 4096u

/* A place in a text. */
typedef struct obj_lines {
    mote_context *ctx;
    const char *path;
    const uint8_t *at, *end;
    uint64_t line; /* number of the line that at is in, from 1 */
    char word[OBJ_MAX_WORD + 1];
} obj_lines;

obj_lines obj_lines_of(mote_context *ctx, const char *path, const mote_input *input);
/* The next word of this line into word; false: there is none. A backslash at the end of a line joins it with the next;
   what follows # is a comment. Longer words are cut. */
bool obj_next_word(obj_lines *l);
/* Whether there is a next one; it is still to come. */
bool obj_has_word(obj_lines *l);
/* All that follows in this line as one word, without blanks around it. */
bool obj_next_rest(obj_lines *l);
/* To the start of the next line; false: there is none. */
bool obj_next_line(obj_lines *l);
/* count numbers of this line, which are finite. */
mote_status obj_numbers(obj_lines *l, const char *what, uint32_t count, double *values);
/* Notes MOTE_ERROR_DATA as "PATH: line N: why". */
__attribute__((format(printf, 2, 3))) mote_status obj_malformed(const obj_lines *l, const char *format, ...);

/* Materials by name. */
typedef struct obj_names {
    char **names; /* [count]; of material i */
    uint64_t count, capacity;
} obj_names;

/* The material of a name; UINT32_MAX: there is none. */
uint32_t obj_names_find(const obj_names *names, const char *name);
/* Adds a material of a name to the draft: diffuse, grey of 0.8. */
mote_status obj_names_add(scene_draft *d, obj_names *names, const char *name);
/* Reads a library of materials, which are appended to the draft's; of those of one name the last counts. */
mote_status obj_read_materials(scene_draft *d, const char *name, obj_names *names);
/* The same of an input that is open. */
mote_status obj_read_material_lines(scene_draft *d, obj_lines *lines, obj_names *names);

#endif
