/* LAZ files for tests, made by the encoder itself: records of a wandering scanner, chunks of a fixed or varying size,
   and the places of all that a test may want to damage. */
#ifndef MOTE_TEST_LAZ_FILES_H
#define MOTE_TEST_LAZ_FILES_H

#include "io/laz/laz.h"
#include "support/las_files.h"

#define LAZ_MADE_CHUNKS 64u

typedef struct laz_made {
    file_bytes file;
    uint8_t *records; /* what is in it */
    uint64_t points;
    uint32_t record_bytes, format, points_at, payload_at; /* payload_at: of the LASzip record */
    uint64_t table_at, chunk_at[LAZ_MADE_CHUNKS + 1], chunk_first[LAZ_MADE_CHUNKS + 1];
    uint32_t chunks;
} laz_made;

static inline uint32_t laz_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* Records with steps like those of real files: most values stay or move a little, now and then anything comes. */
static inline void laz_make_records(uint8_t *records, uint64_t count, uint32_t format, uint32_t record_bytes) {
    uint64_t seed = 42 + format;
    uint8_t now[4096] = {0};
    int32_t xyz[3] = {500000, 4000000, 1000};
    double time = 1e8;
    const uint32_t time_at = format < 6 ? 20 : 22;
    for (uint64_t i = 0; i < count; i++, records += record_bytes) {
        for (uint32_t k = 0; k < 3; k++) xyz[k] += (int32_t)(laz_random(&seed) % 101) - 50;
        memcpy(now, xyz, sizeof xyz);
        for (uint32_t at = 12; at < record_bytes; at++) {
            if (laz_random(&seed) % 9 == 0) now[at] = (uint8_t)(now[at] + laz_random(&seed) % 5 - 2);
            if (laz_random(&seed) % 999 == 0) now[at] = (uint8_t)laz_random(&seed);
        }
        time += 1e-4 * (laz_random(&seed) % 3);
        if (mote_las_has_gps_time(format)) memcpy(now + time_at, &time, 8);
        memcpy(records, now, record_bytes);
    }
}

static inline uint64_t laz_chunk_length(uint32_t chunk_points, uint32_t chunk, uint64_t remaining) {
    const uint64_t length = chunk_points != LAZ_VARIABLE ? chunk_points : 1 + 37 * chunk % 500;
    return length < remaining ? length : remaining;
}

static inline void laz_put_header(laz_made *m, const laz_schema *schema) {
    uint8_t *data = m->file.data;
    memcpy(data, "LASF", 4);
    data[24] = 1;
    data[25] = 4;
    las_put(data + 94, LAS_HEADER_BYTES_14, 2);
    las_put(data + 100, 1, 4);
    data[104] = (uint8_t)(m->format | 0x80);
    las_put(data + 105, m->record_bytes, 2);
    las_put(data + 247, m->points, 8);
    for (uint32_t k = 0; k < 3; k++) {
        las_put_f64(data + 131 + 8 * k, 0.01);
        las_put_f64(data + 179 + 16 * k, 1e6);
    }
    uint8_t *record = data + LAS_HEADER_BYTES_14;
    m->payload_at = LAS_HEADER_BYTES_14 + LAS_VLR_BYTES;
    memcpy(record + 2, LAS_USER_LASZIP, sizeof LAS_USER_LASZIP);
    las_put(record + 18, LAS_ID_LASZIP, 2);
    const uint32_t payload_bytes = mote_laz_schema_write(schema, data + m->payload_at);
    las_put(record + 20, payload_bytes, 2);
    m->points_at = m->payload_at + payload_bytes;
    las_put(data + 96, m->points_at, 4);
}

typedef void laz_records_maker(uint8_t *records, uint64_t count, uint32_t format, uint32_t record_bytes);

/* A file of points of a format with extra more bytes a record; free it by laz_free_made. version: of the items of
   layered formats, 0 for what mote writes. */
static inline laz_made laz_make_of(mote_context *ctx, uint32_t format, uint32_t extra, uint64_t points,
                                   uint32_t chunk_points, uint32_t version, laz_records_maker *maker) {
    laz_made m = {.format = format, .points = points, .record_bytes = mote_las_record_bytes(format) + extra};
    laz_schema schema;
    laz_encoder *encoder = NULL;
    laz_entry entries[LAZ_MADE_CHUNKS];
    mote_laz_schema_make(format, m.record_bytes, chunk_points, &schema);
    for (uint32_t i = 0; i < schema.item_count && version > 0; i++) schema.items[i].version = (uint16_t)version;
    m.file.data = calloc(1, 4096 + 32 * LAZ_MADE_CHUNKS + points * m.record_bytes * 3 + LAZ_MADE_CHUNKS * 4096);
    m.records = malloc(points * m.record_bytes + 1);
    maker(m.records, points, format, m.record_bytes);
    laz_put_header(&m, &schema);
    assert_int_equal(mote_laz_encoder_make(ctx, &schema, &encoder), MOTE_OK);
    uint64_t at = m.points_at + 8, first = 0;
    while (first < points) {
        assert_true(m.chunks < LAZ_MADE_CHUNKS);
        const uint8_t *coded;
        const uint64_t count = laz_chunk_length(chunk_points, m.chunks, points - first);
        laz_entry *entry = &entries[m.chunks];
        assert_int_equal(
            mote_laz_encode(encoder, m.records + first * m.record_bytes, count, &coded, &entry->size_bytes), MOTE_OK);
        memcpy(m.file.data + at, coded, entry->size_bytes);
        entry->points = count;
        m.chunk_at[m.chunks] = at;
        m.chunk_first[m.chunks++] = first;
        at += entry->size_bytes;
        first += count;
    }
    m.chunk_at[m.chunks] = m.table_at = at;
    m.chunk_first[m.chunks] = points;
    las_put(m.file.data + m.points_at, at, 8);
    las_put(m.file.data + at + 4, m.chunks, 4);
    m.file.size = at + 8 + mote_laz_table_encode(entries, m.chunks, chunk_points == LAZ_VARIABLE, m.file.data + at + 8);
    mote_laz_encoder_free(ctx, encoder);
    return m;
}

static inline laz_made laz_make(mote_context *ctx, uint32_t format, uint32_t extra, uint64_t points,
                                uint32_t chunk_points) {
    return laz_make_of(ctx, format, extra, points, chunk_points, 0, laz_make_records);
}

static inline void laz_free_made(laz_made *m) {
    free(m->file.data);
    free(m->records);
}

#endif
