/* The LAZ codec: what a compressed file says of itself, and chunks of records coded and decoded.
   It knows nothing of LAS headers, files or columns; those are las_*.c. No function here keeps state between chunks:
   chunks are independent, and threads work on their own.
   Source: M. Isenburg, LASzip: lossless compression of LiDAR data, 2013; design/specification.rst of LASzip. */
#ifndef MOTE_LAZ_H
#define MOTE_LAZ_H

#include "io/io_internal.h"

#define LAZ_ITEMS_MAX       8u         /* the largest schema (format 10 with extra bytes) has 4 */
#define LAZ_CHUNK_POINTS    50000u     /* what mote writes */
#define LAZ_CODED_AHEAD     2u         /* chunks per thread that are coded or wait for their place */
#define LAZ_VARIABLE        UINT32_MAX /* chunk_points: each chunk's count stands in the chunk table; in files also 0 */
#define LAZ_POINTWISE       1u         /* compressors: one stream for the whole file */
#define LAZ_POINTWISE_CHUNK 2u
#define LAZ_LAYERED         3u

/* The kinds of items that a record is made of, by the numbers of the file. */
typedef enum laz_kind {
    LAZ_BYTE = 0, /* extra bytes of formats 0 to 5 */
    LAZ_POINT10 = 6,
    LAZ_GPSTIME11 = 7,
    LAZ_RGB12 = 8,
    LAZ_WAVEPACKET13 = 9,
    LAZ_POINT14 = 10,
    LAZ_RGB14 = 11,
    LAZ_RGBNIR14 = 12,
    LAZ_WAVEPACKET14 = 13,
    LAZ_BYTE14 = 14
} laz_kind;

typedef struct laz_item {
    uint16_t kind, size_bytes, version;
} laz_item;

/* How records are compressed. Made by mote_laz_schema_read (checked: the codec trusts it) or mote_laz_schema_make. */
typedef struct laz_schema {
    uint32_t compressor;   /* LAZ_POINTWISE, … */
    uint32_t chunk_points; /* 1 or more; LAZ_VARIABLE, also of LAZ_POINTWISE */
    uint32_t record_bytes; /* the sum of the items' */
    uint32_t item_count;
    laz_item items[LAZ_ITEMS_MAX];
} laz_schema;

/* Parts of a record, for reading only some. In the layered format the others are not even decoded; the first layer
   (x, y, returns, scanner channel) always is. */
enum {
    LAZ_WANT_Z = 1u << 0,
    LAZ_WANT_CLASSIFICATION = 1u << 1,
    LAZ_WANT_FLAGS = 1u << 2,
    LAZ_WANT_INTENSITY = 1u << 3,
    LAZ_WANT_SCAN_ANGLE = 1u << 4,
    LAZ_WANT_USER_DATA = 1u << 5,
    LAZ_WANT_POINT_SOURCE = 1u << 6,
    LAZ_WANT_GPS_TIME = 1u << 7,
    LAZ_WANT_RGB = 1u << 8,
    LAZ_WANT_NIR = 1u << 9,
    LAZ_WANT_WAVEPACKET = 1u << 10,
    LAZ_WANT_EXTRA = 1u << 11, /* all extra bytes */
    LAZ_WANT_ALL = (1u << 12) - 1
};

/* A run of bytes of the record that is kept, and where it goes in the record that is put out. */
typedef struct laz_run {
    uint16_t from, to, size_bytes;
} laz_run;

#define LAZ_RUNS_MAX 24u

/* What of each record is put out. run_count 0: the whole record as it is, stride record_bytes. */
typedef struct laz_selection {
    uint32_t wanted; /* LAZ_WANT_… that the runs touch */
    uint32_t stride_bytes;
    uint32_t run_count;
    laz_run runs[LAZ_RUNS_MAX];
} laz_selection;

/* One chunk to be decoded, and what became of it. */
typedef struct laz_chunk {
    const uint8_t *data; /* compressed bytes; nothing outside [data, data + size_bytes) is read */
    uint64_t size_bytes;
    uint64_t points;
    uint8_t *records; /* [points] of selection.stride_bytes */
    /* out */
    uint64_t done;       /* points decoded before the fault; == points if there is none */
    uint64_t used_bytes; /* of data, by the points decoded */
    bool ended;          /* a writer could have ended the chunk here; layered chunks say it themselves: false */
    const char *fault;   /* NULL, or what is wrong with the chunk, a static text */
    uint64_t fault_at;   /* byte of data where it showed */
} laz_chunk;

/* ---- laz_schema.c */
/* Reads and checks the payload of the LASzip record against the point format and size of the header. base: offset of
   the payload in the file, for the message. */
mote_status mote_laz_schema_read(mote_context *ctx, const mote_input *input, const uint8_t *payload,
                                 uint64_t size_bytes, uint32_t format, uint32_t record_bytes, laz_schema *schema);
/* What mote writes for a point format: compressor 2 for formats 0 to 5, 3 for 6 to 10; newest items. */
void mote_laz_schema_make(uint32_t format, uint32_t record_bytes, uint32_t chunk_points, laz_schema *schema);
/* The payload of its record; returns its bytes, at most LAZ_RECORD_MAX. */
#define LAZ_RECORD_MAX (34u + 6u * LAZ_ITEMS_MAX)
uint32_t mote_laz_schema_write(const laz_schema *schema, uint8_t *payload);
/* "POINT10 v2, RGB12 v2", cut to size. */
void mote_laz_schema_text(const laz_schema *schema, char *text, size_t size);

/* ---- laz_table.c: the chunk table's entries, coded with the integer compressor. */
typedef struct laz_entry {
    uint64_t points; /* only stored if the chunk size is variable */
    uint64_t size_bytes;
} laz_entry;
/* Decodes count entries from data. Returns NULL or what is wrong with it. */
const char *mote_laz_table_decode(const uint8_t *data, uint64_t size_bytes, bool variable, uint32_t count,
                                  laz_entry *entries);
/* Codes them behind out, which has room for 16 · count + 64 bytes; returns the bytes. */
uint64_t mote_laz_table_encode(const laz_entry *entries, uint32_t count, bool variable, uint8_t *out);

/* ---- laz_decode.c */
/* What one thread needs to decode chunks; reused from chunk to chunk, large (some MB). */
typedef struct laz_decoder laz_decoder;
mote_status mote_laz_decoder_make(mote_context *ctx, const laz_schema *schema, const laz_selection *selection,
                                  laz_decoder **out);
void mote_laz_decoder_free(mote_context *ctx, laz_decoder *decoder);
/* Decodes chunks; two at once are faster than one after the other. A fault in one does not harm the other.
   Never fails as a whole: see fault. Hostile bytes give wrong points or a fault, never a read or write outside. */
void mote_laz_decode(laz_decoder *decoder, laz_chunk *chunks, uint32_t chunk_count);
/* Decodes a pointwise chunk to the first place where a writer could have ended it, at most chunk->points points, each
   of them to records. True, and done and used_bytes set, if there is such a place. */
bool mote_laz_decode_to_end(laz_decoder *decoder, laz_chunk *chunk);

/* ---- laz_encode.c */
typedef struct laz_encoder laz_encoder;
mote_status mote_laz_encoder_make(mote_context *ctx, const laz_schema *schema, laz_encoder **out);
void mote_laz_encoder_free(mote_context *ctx, laz_encoder *encoder);
/* Codes count (1 or more) records of schema.record_bytes as one chunk. *out is the encoder's memory, valid until the
   next call. Returns MOTE_OK or MOTE_ERROR_MEMORY. */
mote_status mote_laz_encode(laz_encoder *encoder, const uint8_t *records, uint64_t count, const uint8_t **out,
                            uint64_t *size_bytes);

#endif
