/* PLY: what the reader's parts share. Facts: docs/formats/ply.md. */
#ifndef MOTE_PLY_H
#define MOTE_PLY_H

#include "core/standard_names.h"
#include "io/notes.h"
#include "io/rows.h"

#define MOTE_PLY_NAME_BYTES 104 /* of elements and properties, with the zero; mote_cloud_free_name keeps 100 */

typedef enum mote_ply_encoding { MOTE_PLY_ASCII, MOTE_PLY_LITTLE, MOTE_PLY_BIG } mote_ply_encoding;

typedef struct mote_ply_property {
    char name[MOTE_PLY_NAME_BYTES];
    mote_type type;
    mote_type count_type; /* of a list */
    bool list;
} mote_ply_property;

typedef struct mote_ply_element {
    char name[MOTE_PLY_NAME_BYTES];
    uint64_t offset; /* of its line */
    uint64_t count;
    uint32_t first_property, property_count;
} mote_ply_element;

/* A "comment mote …" line: the bytes behind these words. */
typedef struct mote_ply_note {
    uint64_t begin, end;
} mote_ply_note;

typedef struct mote_ply_header {
    mote_ply_encoding encoding;
    bool has_format;
    uint64_t body;   /* offset of the first element */
    uint32_t vertex; /* index of the element that holds the points */
    mote_ply_element *elements;
    uint64_t element_count, element_capacity;
    mote_ply_property *properties;
    uint64_t property_count, property_capacity;
    mote_ply_note *notes;
    uint64_t note_count, note_capacity;
} mote_ply_header;

/* Reads and checks the header: points with x, y and z, and counts that the file can hold, up to the points; salvage: up
   to what comes before them. Close it in any case. */
mote_status mote_ply_header_read(mote_context *ctx, const mote_input *input, bool salvage, mote_ply_header *header);
void mote_ply_header_close(mote_context *ctx, mote_ply_header *header);
/* Bytes of a binary row without lists' values; *fixed: it has no lists. */
uint64_t mote_ply_row_bytes(const mote_ply_header *header, const mote_ply_element *element, bool *fixed);
/* The type of that PLY name; false if there is none. */
bool mote_ply_type(const uint8_t *name, uint64_t length, mote_type *type);
/* The name that PLY gives a type; NULL for 64-bit integers. */
const char *mote_ply_type_name(mote_type type);

/* Where the scalar properties of the points lie in a record, and of what kind. */
typedef struct mote_ply_layout {
    uint32_t *offsets; /* [properties of the element]; UINT32_MAX for lists */
    uint32_t record_bytes;
} mote_ply_layout;

/* Makes the columns over records that lie stride bytes apart from base on. */
mote_status mote_ply_add_columns(mote_context *ctx, const mote_input *input, const mote_ply_header *header,
                                 const mote_ply_layout *layout, const uint8_t *base, mote_cloud *cloud);

/* The name that a column has in PLY files where nothing says another: normals are nx ny nz. */
const char *mote_ply_usual_name(const char *column);

#endif
