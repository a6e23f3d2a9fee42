/* The E57 writer: one file, whose points come at once or in pieces. */
#ifndef MOTE_E57_WRITE_H
#define MOTE_E57_WRITE_H

#include "io/e57/e57.h"

#define E57_NAME_BYTES 400u /* of a field: "mote:" and a name, of which each byte may need three */

/* A field of the records. Its values come from a column of the cloud, or say whether a point has a position. */
typedef struct e57_out_field {
    char name[E57_NAME_BYTES];
    const mote_column *column; /* NULL: cartesianInvalidState */
    e57_kind kind;
    uint32_t bits;
    int64_t minimum, maximum, shift; /* stored = the column's + shift, of integers */
    double scale, offset;
    bool is_extension; /* of mote's namespace */
    uint64_t at;       /* byte of its stream in a slot */
} e57_out_field;

/* The range of the values of a field in a scan. */
typedef struct e57_range {
    double low, high; /* low > high: there are none */
} e57_range;

typedef struct e57_out_scan {
    uint32_t source;  /* point_source_id; 0 where all points are one scan */
    uint64_t section; /* physical */
    uint64_t count;
    e57_range *ranges; /* [field_count] */
} e57_out_scan;

/* A packet that is being filled. Streams have room for a word more, so that whole words can be written. */
typedef struct e57_slot {
    uint8_t *streams, *packet;
    uint64_t count; /* of records */
    uint32_t packet_bytes;
    e57_range *ranges;
    int64_t beyond;  /* field of a value that E57 does not hold; -1: none */
    uint64_t hidden; /* points without a finite position */
} e57_slot;

/* A page that was written and is to be changed: its bytes. */
typedef struct e57_held_page {
    uint64_t number; /* UINT64_MAX: none */
    uint8_t bytes[E57_PAGE_BYTES];
} e57_held_page;

typedef struct e57_writer {
    mote_context *ctx;
    char *path;
    const mote_cloud *cloud;   /* or a piece of it */
    uint64_t count, added;     /* points: at most, and so far */
    const mote_column *source; /* point_source_id where it divides points into scans; else NULL */
    e57_out_field *fields;
    uint64_t field_count;
    const mote_column *axes[3];
    bool is_gps_time, has_normals, has_extension;
    uint64_t lost_texts; /* columns with a unit, a description or no-data, which E57 has no place for */
    mote_output output;
    uint8_t page[E57_PAGE_BYTES];
    uint64_t logical;    /* payload bytes so far */
    uint64_t section_at; /* logical: of the scan that is written */
    e57_held_page first, section;
    e57_out_scan *scans;
    uint64_t scan_count, scan_capacity;
    bool in_scan;
    uint64_t packet_records; /* of a full packet: a multiple of 8, so that all its streams end with a byte */
    uint64_t stream_bytes;   /* of a slot */
    e57_slot *slots;         /* the first has the records that do not fill a packet yet */
    uint64_t slot_count;
    uint64_t *packets; /* logical places of the packets of the scan */
    uint64_t packet_count, packet_capacity;
    char *xml;
    uint64_t xml_bytes, xml_capacity;
    uint64_t hidden;
} e57_writer;

/* ---- e57_write.c */
mote_status mote_e57_writer_open(mote_context *ctx, const mote_cloud *cloud, uint64_t count, bool in_pieces,
                                 const char *path, const mote_write_params *params, e57_writer *w);
/* Appends the points that the cloud holds now. */
mote_status mote_e57_writer_add(e57_writer *w);
/* Completes the file (status MOTE_OK) or removes it (any other); frees what the writer has. */
mote_status mote_e57_writer_close(e57_writer *w, mote_status status);

/* ---- e57_fields.c: which fields the columns become. */
/* The column that divides points into scans; NULL: all are one. */
const mote_column *mote_e57_source(const mote_cloud *cloud, const mote_write_params *params);
mote_status mote_e57_choose_fields(e57_writer *w, const mote_write_params *params);
/* Whether a record is that of a scan; see e57_station.c. */
bool mote_e57_is_station(const mote_record *record);

/* ---- e57_encode.c: points to packets. */
mote_status mote_e57_make_slots(e57_writer *w);
void mote_e57_free_slots(e57_writer *w);
/* Appends points [first, first + count) of the cloud to the scan. */
mote_status mote_e57_encode(e57_writer *w, uint64_t first, uint64_t count);
/* Writes the records that fill no packet. */
mote_status mote_e57_encode_rest(e57_writer *w);

/* ---- e57_out_pages.c: payload to pages. */
mote_status mote_e57_append(e57_writer *w, const void *bytes, uint64_t size_bytes);
/* Appends zeros up to a multiple of so many bytes. */
mote_status mote_e57_align(e57_writer *w, uint64_t multiple);
/* Writes over payload that the first page or the page of the section has. */
mote_status mote_e57_patch(e57_writer *w, uint64_t logical, const void *bytes, uint64_t size_bytes);
/* Fills up the last page and writes it. */
mote_status mote_e57_finish_pages(e57_writer *w);

/* ---- e57_write_xml.c */
/* Appends the XML to the payload. */
mote_status mote_e57_write_xml(e57_writer *w);

#endif
