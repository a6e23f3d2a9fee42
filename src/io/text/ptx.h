/* PTX: what the reader's parts share. Facts: docs/formats/pcd.md. */
#ifndef MOTE_PTX_H
#define MOTE_PTX_H

#include "io/text/text.h"

#define MOTE_PTX_HEADER_ROWS 10

/* One scan of the file. */
typedef struct mote_ptx_scan {
    uint64_t columns, rows; /* of the scanner's grid; a column is one sweep, and its points stand one after the other */
    uint64_t count;         /* columns · rows, or fewer where the file was cut */
    uint64_t first;         /* number of its first point in the cloud */
    uint64_t begin, end;    /* bytes of its points */
    double matrix[4][3];    /* world = (x, y, z, 1) · matrix */
    bool color;             /* seven values to a point, not four */
    bool whole;             /* the matrix turns and scales by whole numbers: decimals stay decimals */
    uint32_t decimals;      /* of the matrix' last row */
} mote_ptx_scan;

typedef struct mote_ptx_file {
    mote_text_table table; /* all lines, counted */
    mote_ptx_scan *scans;
    uint64_t scan_count, scan_capacity;
    uint64_t point_count;
    bool color; /* any scan has it */
} mote_ptx_file;

/* Numbers in each line of a scan's header. */
extern const uint8_t mote_ptx_header_values[MOTE_PTX_HEADER_ROWS];

/* Finds all scans and reads their headers. salvage: up to where no scan can be. Close it in any case. */
mote_status mote_ptx_find_scans(mote_context *ctx, const mote_input *input, bool salvage, mote_ptx_file *file);
/* Whether the next lines are numbers as the header of a scan has them. */
bool mote_ptx_is_header(const mote_text_table *table, uint64_t at);
void mote_ptx_close(mote_context *ctx, mote_ptx_file *file);

#endif
