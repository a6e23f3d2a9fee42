/* E57 (ASTM E2807): what the reader's and the writer's parts share. Facts: docs/formats/e57.md.

   A file is a row of pages of 1024 bytes, each with 1020 bytes of payload and a checksum. Places are offsets in the
   file ("physical") or in the payload alone ("logical"):

     physical  |0 ......... 1019|crc|1024 ........ 2043|crc| ...
     logical   |0 ......... 1019|    |1020 ....... 2039|    ...

   The payload holds a header, for each scan a section of packets, and XML that says what the packets hold. A packet has
   a piece of the byte stream of each field; the streams run on from packet to packet, so record i of a field of b bits
   begins at bit i · b of its stream, in whichever packet that is. */
#ifndef MOTE_E57_INTERNAL_H
#define MOTE_E57_INTERNAL_H

#include "io/io_internal.h"

#define E57_PAGE_BYTES    1024u
#define E57_PAYLOAD_BYTES 1020u
#define E57_SIGNATURE     "ASTM-E57"
#define E57_HEADER_BYTES  48u /* signature, version, file length, place and length of the XML, page size */
#define E57_SECTION_BYTES 32u /* kind, length, place of the first data packet and of the index */
#define E57_SECTION_KIND  1u  /* of compressed vectors */
#define E57_PACKET_BYTES  6u  /* kind, flags, length - 1, number of streams; then the length of each stream */
#define E57_PACKET_MAX    65536u
#define E57_INDEX_BYTES   16u /* kind, flags, length - 1, number of entries, level; then the entries */
#define E57_INDEX_ENTRIES 2048u
enum { E57_PACKET_INDEX = 0, E57_PACKET_DATA = 1, E57_PACKET_EMPTY = 2 };

#define E57_SCANS_MAX  65535u /* as many as point_source_id tells apart */
#define E57_FIELDS_MAX 4096u  /* of a scan */

/* Seconds between the beginnings of GPS time and of LAS's adjusted standard GPS time. */
#define E57_GPS_ADJUSTED 1e9

/* The record of a scan that travels with a cloud: text, see e57_station.c. */
#define E57_RECORD_USER        "mote"
#define E57_RECORD_DESCRIPTION "E57 scan"

/* The namespaces of extensions that mote writes. */
#define E57_NORMALS_URI "http://www.libe57.org/E57_NOR_surface_normals.txt"
#define E57_MOTE_URI    "urn:mote:attributes"

static inline uint64_t e57_physical(uint64_t logical) {
    return logical / E57_PAYLOAD_BYTES * E57_PAGE_BYTES + logical % E57_PAYLOAD_BYTES;
}

typedef enum e57_kind { E57_INTEGER, E57_SCALED, E57_SINGLE, E57_DOUBLE, E57_STRING } e57_kind;

/* A field of a scan's records. */
typedef struct e57_field {
    char *name; /* "cartesianX", "nor:normalX"; "a/b" within a structure */
    e57_kind kind;
    uint32_t bits; /* of a value in its stream; 0: strings, and what is always minimum */
    int64_t minimum, maximum;
    double scale, offset; /* of E57_SCALED: value = stored · scale + offset; else 1 and 0 */
} e57_field;

typedef struct e57_limits {
    bool has_min, has_max;
    double min, max;
} e57_limits;

typedef struct e57_pose {
    bool moves;         /* it is not the identity */
    double rotation[4]; /* w x y z, as the file has them */
    double translation[3];
    double matrix[3][3]; /* of the rotation, made a unit quaternion */
} e57_pose;

typedef struct e57_scan {
    char *name, *guid, *description, *vendor, *model, *serial; /* NULL: not stated */
    uint32_t station; /* point_source_id of its points: its number, from 1, unless the file says so */
    e57_pose pose;
    bool has_pose;
    bool is_applied; /* the coordinates have the pose in them: by mote */
    double start;    /* GPS time of its time stamps' 0, in seconds; 0: not stated */
    bool atomic;     /* start is of an atomic clock: it is GPS time indeed */
    e57_limits intensity, colors[3];
    uint64_t place;     /* physical, of the section */
    uint64_t stated_at; /* physical, of the element that states place and count; for messages */
    uint64_t count;     /* of records */
    bool has_points, has_prototype;
    e57_field *fields;
    uint64_t field_count, field_capacity;
} e57_scan;

/* What header and XML of a file say. */
typedef struct e57_file {
    uint64_t xml_at, xml_bytes; /* logical */
    uint64_t logical_bytes;
    char *library, *crs; /* NULL: not stated */
    e57_scan *scans;
    uint64_t scan_count, scan_capacity;
    uint64_t image_count;
    char *normals; /* the prefix that the file gives to the extension of normals; NULL: none */
} e57_file;

/* ---- e57_crc.c */
uint32_t mote_e57_crc(const uint8_t *bytes, size_t count);

/* ---- e57_pages.c */
/* Reads and checks the header of the file. */
mote_status mote_e57_read_header(mote_context *ctx, const mote_input *input, e57_file *file);
/* The logical place of a physical one that something at `stated` (physical) names; an error if it lies outside of the
   file or in a checksum. what: it is of what. */
mote_status mote_e57_place(mote_context *ctx, const mote_input *input, const e57_file *file, uint64_t physical,
                           uint64_t stated, const char *what, uint64_t *logical);
/* Whether the checksum of a page is right. */
bool mote_e57_page_is_right(const uint8_t *page);
mote_status mote_e57_bad_page(mote_context *ctx, const mote_input *input, uint64_t page, bool can_salvage);
/* Copies payload that the file has; a page with a wrong checksum is an error. */
mote_status mote_e57_read_payload(mote_context *ctx, const mote_input *input, uint64_t logical, uint64_t size_bytes,
                                  uint8_t *out);

/* ---- e57_xml.c */
/* Reads the XML. Close the file in any case. */
mote_status mote_e57_read_xml(mote_context *ctx, const mote_input *input, e57_file *file);
void mote_e57_file_close(mote_context *ctx, e57_file *file);

/* ---- e57_pose.c */
/* Makes matrix and moves of rotation and translation; false: the quaternion is none, and does not rotate. */
bool mote_e57_pose_settle(e57_pose *pose);

/* ---- e57_station.c: what a cloud remembers of a scan. */
/* Keeps a record of a scan. number: point_source_id of its points; 0: they have numbers of their own. applied: its pose
   is in the coordinates. */
mote_status mote_e57_keep_station(mote_cloud *cloud, const e57_scan *scan, uint32_t number, bool applied);

/* ---- e57_columns.c: how the fields of each scan become the columns of one cloud. */
typedef enum e57_how {
    E57_AS_INTEGER, /* stored + shift, in the type of the column */
    E57_AS_REAL,    /* the value, as a float or a double */
    E57_AS_COLOR,   /* (stored - low) of high - low, in 16 bits */
    E57_AS_STATION  /* the number of the scan */
} e57_how;

typedef struct e57_column {
    char name[MOTE_NAME_BYTES];
    char description[MOTE_NAME_BYTES]; /* the field, where the name does not say it */
    mote_type type;
    double scale, offset;
    uint32_t at;  /* in the record */
    bool is_kept; /* it is wanted: see mote_read_params.select */
    e57_how how;  /* its values come there, but for stations */
    mote_column_limits limits;
} e57_column;

/* Where a scan has the values of a column. */
typedef struct e57_source_field {
    int32_t field; /* -1: it has none, the values are 0 */
    e57_how how;
    int64_t shift;
    double low, high; /* E57_AS_COLOR; of E57_AS_REAL low is added */
} e57_source_field;

/* What is special about a scan. */
typedef struct e57_scan_plan {
    int32_t axes[3]; /* fields of the coordinates; spherical: range, azimuth, elevation */
    int32_t state;   /* field that tells invalid points; -1: none */
    bool is_spherical;
    bool is_moved;    /* the pose is applied */
    bool has_sources; /* a field says the point_source_id of each point */
    int32_t *columns; /* [field_count] of the fields; -1: none */
} e57_scan_plan;

#define E57_STATION_COLUMN 3u
typedef struct e57_plan {
    e57_column *columns; /* x, y, z, point_source_id, then the union of all others */
    uint64_t column_count, column_capacity;
    uint32_t record_bytes;
    bool is_native; /* coordinates are as stored; else doubles */
    e57_scan_plan *scans;
    uint64_t strings, second_coordinates; /* fields that are passed over */
    bool has_gps_times;                   /* all GPS times are adjusted standard time, by the clocks of the scans */
} e57_plan;

/* Decides on all columns. select: as mote_read_params has it. Close the plan in any case. */
mote_status mote_e57_plan_make(mote_context *ctx, const mote_input *input, const e57_file *file,
                               const mote_read_params *params, e57_plan *plan);
void mote_e57_plan_close(mote_context *ctx, const e57_file *file, e57_plan *plan);
/* Where one scan has the values of all columns. sources: [column_count] */
void mote_e57_plan_scan(const e57_file *file, const e57_plan *plan, uint64_t scan_number, e57_source_field *sources);
/* A cloud of no points yet with the columns that are kept, which look at records. These are the cloud's, also when this
   fails. */
mote_status mote_e57_make_cloud(mote_context *ctx, const e57_file *file, const e57_plan *plan,
                                const mote_read_params *params, uint8_t *records, mote_cloud **out);

/* ---- e57_packets.c: the byte streams of a scan, one round of packets after the other. */
/* A window of a stream, by bytes of the whole: [begin, end). */
typedef struct e57_stream {
    uint8_t *bytes; /* and some more, so that a word can be read at any of them */
    uint64_t capacity, begin, end;
} e57_stream;

/* Records that a damaged packet had. */
typedef struct e57_loss {
    uint64_t first, end;
} e57_loss;

typedef struct e57_packets {
    mote_context *ctx;
    const mote_input *input;
    const e57_file *file;
    const e57_scan *scan;
    bool salvage;
    const bool *wanted;  /* [field_count] fields whose streams are gathered */
    uint64_t at, end;    /* logical: the next packet, and the end of the section */
    bool is_over;        /* no packet is left */
    e57_stream *streams; /* [field_count] */
    uint64_t *ends;      /* [field_count] bytes of the whole streams so far, whether gathered or not */
    uint8_t *pages;      /* of a round */
    uint8_t *page_states;
    uint64_t page_first, page_count, page_capacity;
    uint64_t *pieces; /* of a round: for each packet where its streams begin, and for each field where they end */
    uint64_t piece_capacity;
    uint32_t *lengths;    /* [field_count] of the streams of the data packet before, */
    uint32_t last_length; /* and of that packet */
    e57_loss *losses;
    uint64_t loss_count, loss_capacity;
    uint64_t lost_at;      /* physical: where the first loss is; UINT64_MAX: none */
    uint64_t uncertain_at; /* logical: the first packet whose head is damaged; UINT64_MAX: none */
    uint64_t trusted_end;  /* logical: packets from here on are not used */
    uint64_t next;         /* number of the first record that is not decoded */
} e57_packets;

/* Finds the section of a scan. wanted: at least one field has bits. */
mote_status mote_e57_packets_open(mote_context *ctx, const mote_input *input, const e57_file *file,
                                  const e57_scan *scan, const bool *wanted, bool salvage, e57_packets *packets);
/* How many records could be decoded now: all fields have them. */
uint64_t mote_e57_records_ready(const e57_packets *packets);
/* Reads more packets; is_over says whether there are none. */
mote_status mote_e57_packets_read(e57_packets *packets);
/* Records up to number end are done. */
void mote_e57_packets_take(e57_packets *packets, uint64_t end);
void mote_e57_packets_close(e57_packets *packets);

/* ---- e57_decode.c */
typedef struct e57_counts {
    uint64_t invalid; /* points that the file calls invalid, or whose direction alone it knows */
    uint64_t zero;    /* points at 0 0 0 of the scanner in scans that call no point invalid */
    uint64_t lost;    /* records in damaged packets */
} e57_counts;

/* Decodes the next count records, which are ready, to records; *kept: how many of them are points. */
mote_status mote_e57_decode(mote_context *ctx, const e57_packets *packets, const e57_plan *plan,
                            const e57_source_field *sources, uint64_t scan_number, uint64_t count, uint8_t *records,
                            uint64_t *kept, e57_counts *counts);

/* ---- e57_read.c: a file opened for reading, whole or in pieces. */
typedef struct e57_source {
    mote_context *ctx;
    mote_input *input;
    mote_read_params params;
    e57_file file;
    e57_plan plan;
    uint64_t points;           /* of all scans, as stated */
    uint64_t scan_number;      /* the one that is read */
    bool is_open;              /* its packets are */
    bool *wanted;              /* of its fields */
    e57_source_field *sources; /* of its columns */
    e57_packets packets;
    uint64_t read; /* records of all scans so far */
    e57_counts counts;
    uint64_t missing;    /* records that scans state and do not have */
    uint64_t impossible; /* of these, records that the file has no room for */
    uint64_t missing_at; /* physical: where the first of them should be */
    uint64_t damaged_at; /* physical: the first page that is damaged */
    bool is_again;       /* it was read before, and what is to be told of damage was told */
} e57_source;

/* Whether the input begins as E57 files do. */
bool mote_e57_is_signed(const mote_input *input);
mote_status mote_e57_open(mote_context *ctx, mote_input *input, const mote_read_params *params, e57_source *source);
/* The next points, at most max of them; *count 0: there are no more. */
mote_status mote_e57_next(e57_source *source, uint8_t *records, uint64_t max, uint64_t *count);
/* Goes back to the first point. */
void mote_e57_rewind(e57_source *source);
/* Says what was left out, once all points are read. kept: points that were given. */
mote_status mote_e57_report(e57_source *source, uint64_t kept);
/* Warns where the reference system of the cloud, which is of the file, does not count in metres. */
void mote_e57_tell_unit(const e57_source *source, const mote_cloud *cloud);
void mote_e57_close(e57_source *source);

#endif
