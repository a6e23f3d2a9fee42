/* PCD: what the reader's and the writer's parts share. Facts: docs/formats/pcd.md. */
#ifndef MOTE_PCD_H
#define MOTE_PCD_H

#include "core/standard_names.h"
#include "io/notes.h"
#include "io/rows.h"

#define MOTE_PCD_NAME_BYTES 91    /* of fields, with the zero: mote_cloud_free_name keeps 100 with an index */
#define MOTE_PCD_MAX_VALUES 8192u /* of a point */

/* The record that keeps a viewpoint which is not the default: seven numbers as text. */
#define MOTE_PCD_USER            "mote"
#define MOTE_PCD_VIEWPOINT       "PCD VIEWPOINT"
#define MOTE_PCD_VIEWPOINT_ID    1
#define MOTE_PCD_VIEWPOINT_BYTES 400

typedef enum mote_pcd_encoding { MOTE_PCD_ASCII, MOTE_PCD_BINARY, MOTE_PCD_COMPRESSED } mote_pcd_encoding;

typedef struct mote_pcd_field {
    char name[MOTE_PCD_NAME_BYTES];
    char kind; /* I, U, F */
    uint32_t size_bytes;
    mote_type type;
    uint32_t count;  /* of values */
    uint32_t offset; /* in a point */
    bool padding;    /* named "_": of no meaning */
} mote_pcd_field;

/* Is it x, y or z, in either case of letters? */
static inline bool mote_pcd_is_axis(const mote_pcd_field *field) { return mote_names_axis(field->name); }

/* A "# mote …" line: the bytes behind these words. */
typedef struct mote_pcd_note {
    uint64_t begin, end;
} mote_pcd_note;

typedef struct mote_pcd_header {
    mote_pcd_encoding encoding;
    mote_pcd_field *fields;
    uint64_t field_count, field_capacity;
    uint32_t value_count, point_bytes;
    uint64_t width, height, points;
    char viewpoint[MOTE_PCD_VIEWPOINT_BYTES]; /* "": the default, or none */
    mote_pcd_note *notes;
    uint64_t note_count, note_capacity;
    uint64_t lines[10]; /* offset + 1 of the line with each keyword; 0: there is none */
    uint64_t body;      /* offset of the points */
} mote_pcd_header;

/* Reads and checks the header: x, y, z, and counts that agree (salvage: else the smaller one). Close it in any case. */
mote_status mote_pcd_header_read(mote_context *ctx, const mote_input *input, bool salvage, mote_pcd_header *header);
void mote_pcd_header_close(mote_context *ctx, mote_pcd_header *header);
/* Offset of the line that states the number of points. */
uint64_t mote_pcd_points_line(const mote_pcd_header *header);

/* Where the values of a field lie: those of one point side by side, points stride apart. */
typedef struct mote_pcd_place {
    const uint8_t *data;
    uint32_t stride_bytes;
} mote_pcd_place;

/* Makes the columns. places: one per field. */
mote_status mote_pcd_add_columns(mote_context *ctx, const mote_input *input, const mote_pcd_header *header,
                                 const mote_pcd_place *places, mote_cloud *cloud);

/* Colours packed into 4 bytes: blue, green, red, alpha. The description of such columns says of what kind. */
typedef struct mote_pcd_color {
    const char *description;
    const char *field;
    mote_type type;
} mote_pcd_color;
#define MOTE_PCD_COLORS 6u
extern const mote_pcd_color mote_pcd_colors[MOTE_PCD_COLORS];

/* One field to write: a run of values in the row. */
typedef struct mote_pcd_target {
    const mote_column *source; /* the first column */
    char name[MOTE_PCD_NAME_BYTES];
    const mote_pcd_color *color; /* packed; NULL if not */
    const char *read_as;         /* the standard name that a reader gives it; NULL: its own */
    uint32_t first, count;       /* of the row's values */
    uint32_t offset, size_bytes; /* in the row, of all its values */
} mote_pcd_target;

/* The fields that a cloud becomes. */
typedef struct mote_pcd_plan {
    const mote_cloud *cloud;
    const mote_column **columns;
    uint32_t column_count;
    mote_pcd_target *targets;
    uint32_t target_count;
    mote_row_field *values;
    uint32_t value_count;
    uint32_t row_bytes;
} mote_pcd_plan;

/* names: the columns to write, separated by commas; NULL: all. Close it in any case. */
mote_status mote_pcd_plan_make(mote_context *ctx, const mote_cloud *cloud, const char *names, mote_pcd_plan *plan);
void mote_pcd_plan_close(mote_context *ctx, mote_pcd_plan *plan);

/* LZF: runs of literal bytes, and copies of 3 to 264 bytes from up to 8192 bytes back. */
typedef struct mote_lzf {
    const uint8_t *in;
    uint64_t in_at, in_bytes;
    uint8_t *out;
    uint64_t out_at, out_bytes;
} mote_lzf;
#define MOTE_LZF_EXPANSION     88u /* no input expands more: 3 bytes to 264 */
#define MOTE_LZF_TABLE_ENTRIES (1u << 14)

/* Goes on until stop bytes of out, or more, are there. NULL, or what is wrong at in_at. */
const char *mote_lzf_decode(mote_lzf *lzf, uint64_t stop);
/* The most that size_bytes bytes take when compressed. */
uint64_t mote_lzf_bound(uint64_t size_bytes);
/* Returns the size of out. table: [MOTE_LZF_TABLE_ENTRIES], scratch. size_bytes below 2^32 */
uint64_t mote_lzf_encode(const uint8_t *in, uint64_t size_bytes, uint8_t *out, uint32_t *table);

#endif
