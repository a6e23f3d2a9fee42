/* The XML of an E57 file as it is parsed: which element we are in. */
#ifndef MOTE_E57_XML_H
#define MOTE_E57_XML_H

#include <stdio.h>

#include "io/e57/e57.h"

#define E57_XML_DEPTH 32

/* An element that is open. */
typedef struct e57_element {
    size_t path_length; /* of the one around it */
    uint64_t place;     /* physical */
    char type[20];      /* "Integer", "Structure" … */
    e57_field field;    /* in a prototype; of limits scale and offset */
} e57_element;

typedef struct e57_xml {
    mote_context *ctx;
    const mote_input *input;
    e57_file *file;
    struct XML_ParserStruct *parser;
    uint8_t *chunk;
    uint64_t fed_bytes, event_bytes; /* of the XML: given to the parser, and before the last event */
    uint64_t place;                  /* physical, of the last event */
    e57_element elements[E57_XML_DEPTH];
    int depth;
    char path[1024]; /* "/e57Root/data3D/vectorChild" */
    size_t path_length;
    char *text;
    uint64_t text_capacity, text_length;
    mote_status status;
} e57_xml;

/* ---- e57_elements.c: what elements mean. */
/* Keeps an error at the place of the current event: what else there is in the XML does not count. */
__attribute__((format(printf, 2, 3))) void mote_e57_xml_fail(e57_xml *x, const char *format, ...);
void mote_e57_xml_no_memory(e57_xml *x);
/* The innermost element has begun. attributes: name, value, name, value … NULL. */
void mote_e57_xml_begin(e57_xml *x, const char *name, const char *const *attributes);
/* It ends; its text is x->text. */
void mote_e57_xml_end(e57_xml *x);

#endif
