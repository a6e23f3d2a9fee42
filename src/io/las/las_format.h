/* What the LAS reader and writer share: the layout of header and records, and the parts each step supplies.
   Facts: ASPRS, LAS specification 1.0 to 1.5. */
#ifndef MOTE_LAS_FORMAT_H
#define MOTE_LAS_FORMAT_H

#include "io/io_internal.h"
#include "io/las/las_offsets.h"

#define LAS_FORMATS            11u  /* point formats 0..10 */
#define LAS_OLD_FORMAT         5u   /* has all dimensions of formats 0 to 5, */
#define LAS_MODERN_FORMAT      10u  /* and of 6 to 10 */
#define LAS_FIELDS_MAX         40u  /* more than any format has */
#define LAS_HEADER_BYTES       227u /* LAS 1.0 to 1.2 */
#define LAS_HEADER_BYTES_13    235u
#define LAS_HEADER_BYTES_14    375u
#define LAS_HEADER_BYTES_15    393u
#define LAS_VLR_BYTES          54u /* in front of a variable-length record */
#define LAS_EVLR_BYTES         60u /* in front of an extended one */
#define LAS_VLR_PAYLOAD_MAX    65535u
#define LAS_EXTRA_BYTES        192u /* one entry of the record that describes extra bytes */
#define LAS_COMPRESSED_BITS    0xC0u
#define LAS_ID_EXTRA_BYTES     4u
#define LAS_ID_WAVEFORM        65535u
#define LAS_ID_LASZIP          22204u
#define LAS_ID_WKT_TRANSFORM   2111u
#define LAS_ID_WKT             2112u
#define LAS_ID_GEO_KEYS        34735u
#define LAS_ID_GEO_DOUBLES     34736u
#define LAS_ID_GEO_ASCII       34737u
#define LAS_USER_SPEC          "LASF_Spec"
#define LAS_USER_LASZIP        "laszip encoded"
#define LAS_USER_PROJECTION    "LASF_Projection"
#define LAS_USER_LASZIP        "laszip encoded"
#define LAS_ENCODING_ADJUSTED  0x01u /* GPS times are adjusted standard time, not seconds of the week */
#define LAS_ENCODING_INTERNAL  0x02u /* waveforms in this file */
#define LAS_ENCODING_WKT       0x10u
#define LAS_ENCODING_TIME_BASE 0x40u /* 1.5: GPS times count from time_offset million seconds */

#define LAS_WEEK_SECONDS 604800.0 /* GPS times beyond are no seconds of the week */

/* One dimension of a point format. */
typedef struct las_field {
    const char *name, *unit;
    mote_type type;
    uint16_t at; /* byte of the record */
    uint8_t bit_shift, bit_count;
    double scale;
} las_field;

/* The header's facts, checked. */
typedef struct las_header {
    bool compressed;
    uint16_t header_bytes, point_bytes;
    uint32_t points_at, record_count;
    uint64_t legacy_count, long_count; /* long_count: LAS 1.4 and later, else 0 */
    uint64_t count;                    /* the number to go by, see mote_las_count */
    double scale[3], offset[3];
    uint64_t waveform_at, extended_at;
    uint32_t extended_count;
    uint16_t time_offset; /* LAS 1.5 */
    mote_las_origin origin;
} las_header;

static inline uint16_t las_u16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline uint32_t las_u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline uint64_t las_u64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline double las_f64(const uint8_t *at) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline void las_put(uint8_t *at, uint64_t value, uint32_t size_bytes) { memcpy(at, &value, size_bytes); }
static inline void las_put_f64(uint8_t *at, double value) { memcpy(at, &value, sizeof value); }

/* ---- las_format.c */
/* Bytes of a record without extra bytes. */
uint32_t mote_las_record_bytes(uint32_t format);
bool mote_las_has_gps_time(uint32_t format);
/* Where the time stands in a record of a format that has it. */
uint32_t mote_las_gps_time_at(uint32_t format);
bool mote_las_has_colors(uint32_t format);
bool mote_las_has_nir(uint32_t format);
bool mote_las_has_waveforms(uint32_t format);
/* The version that a format and a number of points need at least, 1.n. */
uint8_t mote_las_min_version(uint32_t format, uint64_t count);
/* The dimensions of a format in the order of the record; returns how many. fields has LAS_FIELDS_MAX. */
uint32_t mote_las_fields(uint32_t format, las_field *fields);
/* The dimension of that name; false if the format has none. */
bool mote_las_find_field(uint32_t format, const char *name, las_field *field);
/* The scan angle as whole degrees, formats 0 to 5, and in steps of 0.006 degrees. */
void mote_las_scan_angles(las_field *rank, las_field *steps);
/* Whether a format of the specification has a dimension of that name. */
bool mote_las_is_field(const char *name);
/* Whether a record is that of user and id. */
bool mote_las_record_is(const mote_record *record, const char *user, uint32_t id);
/* The waveform packets of the file. */
bool mote_las_record_is_waveforms(const mote_record *record);
/* Whether the writer makes the record anew or it has no meaning in what it writes. */
bool mote_las_record_is_ours(const mote_record *record);

/* ---- las_header.c */
mote_status mote_las_read_header(mote_context *ctx, const mote_input *input, las_header *header);
/* Where point data must end: at the records after it, else at the end of the file. */
uint64_t mote_las_points_end(const mote_input *input, const las_header *header);
/* Sets header->count to what the header says, with a warning where it says two things. */
void mote_las_stated_count(mote_context *ctx, const mote_input *input, las_header *header);
/* Settles header->count against the size of the file. salvage: a count that does not fit is replaced, with a
   warning. */
mote_status mote_las_count(mote_context *ctx, const mote_input *input, bool salvage, las_header *header);

/* ---- las_records.c: keeps the records of the file in cloud, as views of the input. The points do without them: a
   record that is not within the file ends its list, with a warning, and header then tells of those that are. */
mote_status mote_las_read_records(mote_context *ctx, const mote_input *input, las_header *header, mote_cloud *cloud);

/* ---- las_extra.c */
/* Adds columns for the bytes of a record after those of its format. Where their description is wrong, a warning says so
   and the bytes are kept without it. */
mote_status mote_las_read_extra(const mote_input *input, const las_header *header, mote_cloud *cloud);
/* Describes a column of a cloud as one entry of LAS_EXTRA_BYTES; name is already short and unique. */
void mote_las_describe_extra(const mote_cloud *cloud, const mote_column *column, const char *name, uint8_t *entry);
/* Cuts a column's name to the 32 bytes of an entry, such that it is none of the count entries before. */
void mote_las_extra_name(const char *name, const uint8_t *entries, uint64_t count, char out[33]);

/* ---- las_crs.c */
#define LAS_KEY_MODEL        1024u /* keys of GeoTIFF that more than one file asks for */
#define LAS_KEY_GEOGRAPHIC   2048u
#define LAS_KEY_PROJECTED    3072u
#define LAS_KEY_VERTICAL     4096u
#define LAS_KEY_HEIGHT_UNIT  4099u
#define LAS_MODEL_PROJECTED  1u
#define LAS_MODEL_GEOGRAPHIC 2u
#define LAS_MODEL_GEOCENTRIC 3u
#define LAS_GEO_USER_DEFINED 32767u
#define LAS_NO_GEO_KEY       UINT32_MAX
/* The value of a key whose value stands in the directory (place 0), or its index among those of the record `place`.
   LAS_NO_GEO_KEY where there is none. The stated number of keys is not believed: the record's size counts. */
uint32_t mote_las_geo_key(const mote_record *record, uint32_t key, uint32_t place);
/* The EPSG code that a key directory names; 0 if none. */
uint32_t mote_las_geo_code(const mote_record *record);
/* The CRS that records state: WKT, "EPSG:n" or "". text is for mote_free. */
mote_status mote_las_crs(mote_context *ctx, const mote_record *records, uint64_t count, char **text);
/* The record that states a CRS; data is for mote_free and NULL where LAS cannot hold the text. height_unit: EPSG code
   of the unit of heights, which keys state where the text has no system of heights; 0: not known. */
mote_status mote_las_crs_record(mote_context *ctx, const char *crs, uint32_t height_unit, mote_record *record);
bool mote_las_record_is_crs(const mote_record *record);

#endif
