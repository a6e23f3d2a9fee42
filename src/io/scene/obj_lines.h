/* Wavefront OBJ and MTL: their lines as words, and what of them is left out. */
#ifndef MOTE_OBJ_LINES_H
#define MOTE_OBJ_LINES_H

#include "io/scene/scene_draft.h"

#define OBJ_MAX_WORD   4096u
#define OBJ_NOTE_BYTES 600u

/* What costs a line or a look, but not the scene. */
typedef enum obj_note_kind {
    OBJ_NOTE_LINE,
    OBJ_NOTE_ELEMENT,
    OBJ_NOTE_COORDINATES,
    OBJ_NOTE_LIBRARY,
    OBJ_NOTE_MATERIAL,
    OBJ_NOTE_TEXTURE,
    OBJ_NOTE_OPTION,
    OBJ_NOTE_PROPERTY,
    OBJ_NOTE_KEYWORD,
    OBJ_NOTE_OPACITY,
    OBJ_NOTE_GLASS,
    OBJ_NOTE_COLOR,
    OBJ_NOTE_KINDS
} obj_note_kind;

/* What was left out: of each kind how many there were, and where the first was, for one line in the log. */
typedef struct obj_notes {
    uint64_t counts[OBJ_NOTE_KINDS];
    char first[OBJ_NOTE_KINDS][OBJ_NOTE_BYTES];
} obj_notes;

/* A place in a text. */
typedef struct obj_lines {
    scene_draft *draft;
    const char *path;
    obj_notes *notes;
    const uint8_t *at, *end;
    uint64_t line; /* number of the line that at is in, from 1 */
    char word[OBJ_MAX_WORD + 1];
} obj_lines;

obj_lines obj_lines_of(scene_draft *d, const char *path, const mote_input *input, obj_notes *notes);
/* The next word of this line into word; false: there is none. A backslash at the end of a line joins it with the next;
   what follows # is a comment. Longer words are cut. */
bool obj_next_word(obj_lines *l);
/* The first word of a line, of which a byte order mark and blanks of Unicode in front of it are no part: they come
   where files were put one behind the other, and out of web pages. */
bool obj_next_keyword(obj_lines *l);
/* Whether there is a next one; it is still to come. */
bool obj_has_word(obj_lines *l);
/* All that follows in this line as one word, without blanks around it, for names may hold blanks and #. */
bool obj_next_rest(obj_lines *l);
/* To the start of the next line; false: there is none. Lines end in LF, CRLF or CR. */
bool obj_next_line(obj_lines *l);
/* count numbers of this line, which are finite. False: they are not, which was noted. */
bool obj_numbers(obj_lines *l, const char *what, uint32_t count, double *values);
/* Counts what this line costs; why is kept of the first of its kind. */
__attribute__((format(printf, 3, 4))) void obj_note(obj_lines *l, obj_note_kind kind, const char *format, ...);
/* Counts what another line of the file costs. */
__attribute__((format(printf, 4, 5))) void obj_note_at(obj_lines *l, uint64_t line, obj_note_kind kind,
                                                       const char *format, ...);
/* What white is in colours of a file whose largest number is this: 1, 255 or 65535. Up to 2 it is 1, and what lies
   above is cut. */
double obj_color_white(double max);
/* Whether a failure is one of a file beside the scene, which only costs that file: then it is noted, not failed. */
bool obj_forgive(obj_lines *l, obj_note_kind kind, mote_status status);
/* Warns of each kind once. */
void obj_tell_notes(const scene_draft *d, const obj_notes *notes);

/* How the texture of a material lies: coordinates u v of OBJ become scale · (u, v) + offset. */
typedef struct obj_mapping {
    double scale[2], offset[2];
} obj_mapping;

/* Materials by name. */
typedef struct obj_material {
    obj_mapping mapping;
    uint32_t statement, library; /* mtllib, and file of it, that it is of */
    uint32_t same, same_bare;    /* 1 + the material of the same name in the library before it; 0: there is none */
} obj_material;

typedef struct obj_materials {
    obj_material *list; /* [count]; of material i of the draft */
    uint64_t count, capacity;
    scene_names names, bare_names; /* of all, and without comments behind them: the last of a name */
    uint32_t statement, library;   /* of what is added */
} obj_materials;

/* The material of a name behind so many mtllib; UINT32_MAX: there is none. It is that of the last of these that has the
   name, else of the next one; of the files of one mtllib the first that has it counts. A comment behind either name
   does not count, if nothing is named with it. */
uint32_t obj_materials_find(const obj_materials *materials, const char *name, uint32_t statements);
/* Adds a material of a name to the draft: diffuse, grey of 0.8. */
mote_status obj_materials_add(scene_draft *d, obj_materials *materials, const char *name);
void obj_materials_free(mote_context *ctx, obj_materials *materials);
/* Reads a library of materials, which are appended to the draft's; of those of one name the last counts. */
mote_status obj_read_material_lines(scene_draft *d, obj_lines *lines, obj_materials *materials);
/* The texture that map_Kd names, of which the rest of the line is to be read; *place: 1 + its place in the draft, or as
   it was where there is none. */
mote_status obj_read_texture(scene_draft *d, obj_lines *l, obj_mapping *mapping, uint64_t *place);
/* Bytes of a name before a blank and #, or, options, before a blank and an option like -x; else all of it. */
size_t obj_name_bytes(const char *name, bool options);
/* Does an option begin here: a minus sign and a letter? */
bool obj_is_option(const char *at);

#endif
