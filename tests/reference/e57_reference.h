/* E57 files made by a naive writer: bit by bit, with packets cut wherever a test wants them. */
#ifndef MOTE_E57_REFERENCE_H
#define MOTE_E57_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct e57_reference_field {
    const char *name, *attributes; /* of its element: "type=\"Float\"" */
    uint32_t bits;                 /* 0: its stream is empty, or text */
    const uint64_t *values;        /* [records] of that many bits */
    const char *text;              /* the bytes of the whole stream instead; NULL: there are values */
} e57_reference_field;

typedef struct e57_reference_scan {
    const char *xml; /* elements of the scan before its points; may be "" */
    const e57_reference_field *fields;
    uint32_t field_count;
    uint64_t records, stated; /* stated 0: as many as there are */
    uint32_t cut;             /* bytes of a stream in a packet; each field has a few more than the one before */
    bool foreign;             /* index packets and empty ones stand before and between those of data */
} e57_reference_scan;

typedef struct e57_reference_file {
    const char *root; /* attributes of the root, " xmlns:…" */
    const char *xml;  /* elements behind the scans: images */
    const e57_reference_scan *scans;
    uint32_t scan_count;
} e57_reference_file;

/* The bytes of the file, for free(). */
uint8_t *e57_reference_make(const e57_reference_file *file, size_t *size);
/* A file of any XML and nothing else. */
uint8_t *e57_reference_xml(const char *xml, size_t *size);
/* Makes the checksums of pages right again. */
void e57_reference_seal(uint8_t *bytes, size_t size);
/* Offset in the file of the n-th packet of data (from 0) of the first scan; 0: there is none. */
size_t e57_reference_packet(const uint8_t *bytes, size_t size, uint32_t number);

#endif
