/* The codec of formats 6 to 10: real files against their uncompressed twins and against the bytes that LASzip made of
   them, round trips of records of every kind, selective reads, damaged chunks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/laz/laz_codec.h"
#include "support/las_files.h"
#include "support/laz_records.h"
#include "support/support.h"

#define CHUNKS_MAX 64u

/* ---- Coding */

/* Decodes chunks of a schema; all must succeed. */
static void decode_ok(mote_context *ctx, const laz_schema *schema, laz_chunk *chunks, uint32_t count) {
    const laz_selection selection = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema->record_bytes};
    laz_decoder *decoder = NULL;
    assert_int_equal(mote_laz_decoder_make(ctx, schema, &selection, &decoder), MOTE_OK);
    mote_laz_decode(decoder, chunks, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_null(chunks[i].fault);
        assert_int_equal(chunks[i].done, chunks[i].points);
        assert_int_equal(chunks[i].used_bytes, chunks[i].size_bytes);
    }
    mote_laz_decoder_free(ctx, decoder);
}

/* A copy of what the encoder makes, in memory of its exact size. */
static uint8_t *encode_chunk(laz_encoder *encoder, const uint8_t *records, uint64_t count, uint64_t *size_bytes) {
    const uint8_t *out;
    assert_int_equal(mote_laz_encode(encoder, records, count, &out, size_bytes), MOTE_OK);
    uint8_t *copy = malloc(*size_bytes);
    memcpy(copy, out, *size_bytes);
    return copy;
}

static uint8_t *encode(mote_context *ctx, const laz_schema *schema, const uint8_t *records, uint64_t count,
                       uint64_t *size_bytes) {
    laz_encoder *encoder = NULL;
    assert_int_equal(mote_laz_encoder_make(ctx, schema, &encoder), MOTE_OK);
    uint8_t *copy = encode_chunk(encoder, records, count, size_bytes);
    mote_laz_encoder_free(ctx, encoder);
    return copy;
}

static void round_trip(mote_context *ctx, const laz_schema *schema, const uint8_t *records, uint32_t points,
                       uint32_t chunk_points) {
    const uint32_t count = (points + chunk_points - 1) / chunk_points;
    laz_chunk *chunks = calloc(count, sizeof *chunks);
    uint8_t **data = calloc(count, sizeof *data), *back = malloc((uint64_t)points * schema->record_bytes);
    laz_encoder *encoder = NULL; /* of one chunk after the other, as a file's */
    assert_int_equal(mote_laz_encoder_make(ctx, schema, &encoder), MOTE_OK);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t first = (uint64_t)i * chunk_points * schema->record_bytes;
        const uint32_t remaining = points - i * chunk_points;
        chunks[i].points = remaining < chunk_points ? remaining : chunk_points;
        data[i] = encode_chunk(encoder, records + first, chunks[i].points, &chunks[i].size_bytes);
        chunks[i].data = data[i];
        chunks[i].records = back + first;
    }
    mote_laz_encoder_free(ctx, encoder);
    decode_ok(ctx, schema, chunks, count);
    assert_memory_equal(back, records, (uint64_t)points * schema->record_bytes);
    for (uint32_t i = 0; i < count; i++) free(data[i]);
    free(data), free(chunks), free(back);
}

static void records_come_back(void **state) {
    (void)state;
    static const uint32_t extras[] = {0, 1, 3, 25}, sizes[] = {1, 2, 3, 256, 257, 50000};
    mote_context *ctx = test_context(1);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        for (uint32_t format = 6; format <= 10; format++) {
            for (uint32_t e = (uint32_t)test_extent(format % 2, 0); e < 4; e += (uint32_t)test_extent(2, 1)) {
                const laz_schema schema = laz_schema_of(format, extras[e], 3 + (format + kind + e) % 2);
                uint8_t *records = malloc((uint64_t)1100 * schema.record_bytes);
                laz_make_kind(records, 1100, schema.record_bytes, format, kind);
                for (uint32_t s = 0; s < 6; s += (uint32_t)test_extent(1 + (kind + e) % 2, 1)) {
                    round_trip(ctx, &schema, records, sizes[s] < 4 ? 7 : 1100, sizes[s]);
                }
                free(records);
            }
        }
    }
    mote_context_destroy(ctx);
}

/* What LASzip 3.5 makes of the same 600 records, by the sum of its chunk: the channels switch, and version 3 has its
   oddities there. */
static uint64_t sum_of(const uint8_t *data, uint64_t size_bytes) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < size_bytes; i++) sum = (sum ^ data[i]) * UINT64_C(1099511628211);
    return sum;
}

static void chunks_are_laszips(void **state) {
    (void)state;
    static const struct {
        uint32_t format, version;
        uint64_t size_bytes, sum;
    } made[] = {{6, 3, 7385, UINT64_C(0x1DEDB84850E2C506)},   {6, 4, 7385, UINT64_C(0x1DEDB84850E2C506)},
                {7, 3, 9832, UINT64_C(0xFB8E1FCA80550461)},   {7, 4, 10440, UINT64_C(0xB4D0F411B68D4C62)},
                {8, 3, 10457, UINT64_C(0xD13BD965D666B269)},  {8, 4, 11106, UINT64_C(0x14EAE304FF1B91E4)},
                {9, 3, 19872, UINT64_C(0x83A3BF39DA01FF7B)},  {9, 4, 19731, UINT64_C(0x55A3D8386EEF91C4)},
                {10, 3, 23532, UINT64_C(0x83605531CF177EF2)}, {10, 4, 23738, UINT64_C(0x472032172A35B47F)}};
    mote_context *ctx = test_context(1);
    for (uint32_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        const laz_schema schema = laz_schema_of(made[i].format, 0, made[i].version);
        uint8_t *records = malloc((uint64_t)600 * schema.record_bytes);
        uint64_t size_bytes;
        laz_seed = made[i].format;
        laz_make_kind(records, 600, schema.record_bytes, made[i].format, SURVEY);
        uint8_t *data = encode(ctx, &schema, records, 600, &size_bytes);
        assert_int_equal(size_bytes, made[i].size_bytes);
        assert_true(sum_of(data, size_bytes) == made[i].sum);
        free(data), free(records);
    }
    mote_context_destroy(ctx);
}

/* ---- Real files */
typedef struct laz_file {
    file_bytes bytes;
    laz_schema schema;
    uint64_t points, sum; /* of all records */
    uint32_t chunk_count;
    laz_chunk chunks[CHUNKS_MAX];
    uint8_t *records;
} laz_file;

static void find_schema(mote_context *ctx, laz_file *f) {
    const uint8_t *data = f->bytes.data, *at = data + laz_get(data + 94, 2);
    const mote_input input = {.path = "real.laz", .data = data, .size_bytes = f->bytes.size};
    while (laz_get(at + 18, 2) != 22204 || memcmp(at + 2, "laszip encoded", 14) != 0) at += 54 + laz_get(at + 20, 2);
    assert_int_equal(mote_laz_schema_read(ctx, &input, at + 54, laz_get(at + 20, 2), data[104] & 63u,
                                          (uint32_t)laz_get(data + 105, 2), &f->schema),
                     MOTE_OK);
}

static void find_chunks(laz_file *f) {
    const uint8_t *data = f->bytes.data, *at = data + laz_get(data + 96, 4), *table = data + laz_get(at, 8);
    laz_entry entries[CHUNKS_MAX];
    const bool variable = f->schema.chunk_points == LAZ_VARIABLE;
    uint64_t remaining = f->points = laz_get(data + 247, 8);
    f->chunk_count = (uint32_t)laz_get(table + 4, 4);
    assert_true(f->chunk_count <= CHUNKS_MAX);
    assert_null(mote_laz_table_decode(table + 8, f->bytes.size - (uint64_t)(table + 8 - data), variable, f->chunk_count,
                                      entries));
    uint8_t *to = f->records = malloc(f->points * f->schema.record_bytes);
    at += 8;
    for (uint32_t i = 0; i < f->chunk_count; i++) {
        const uint64_t fixed = remaining < f->schema.chunk_points ? remaining : f->schema.chunk_points;
        const uint64_t points = variable ? entries[i].points : fixed;
        f->chunks[i] = (laz_chunk){.data = at, .size_bytes = entries[i].size_bytes, .points = points, .records = to};
        at += entries[i].size_bytes;
        to += points * f->schema.record_bytes;
        remaining -= points;
    }
    assert_int_equal(remaining, 0);
}

/* A file, decoded; NULL: the folder of real data is not there. */
static laz_file *open_laz(mote_context *ctx, const char *name) {
    const char *path = test_data(name);
    if (path == NULL) return NULL;
    laz_file *f = calloc(1, sizeof *f);
    f->bytes = load(path);
    find_schema(ctx, f);
    find_chunks(f);
    decode_ok(ctx, &f->schema, f->chunks, f->chunk_count);
    return f;
}

static void close_laz(laz_file *f) { free(f->bytes.data), free(f->records), free(f); }

static void real_files_match_their_twins(void **state) {
    (void)state;
    static const char *const names[] = {"pdrf6-1.4", "pdrf7-v4-1.4", "pdrf8-1.4",
                                        "pdrf9-1.4", "pdrf10-1.4",   "1_4_w_evlr"};
    mote_context *ctx = test_context(1);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "laz/%s.laz", names[i]);
        laz_file *f = open_laz(ctx, path);
        if (f == NULL) skip();
        snprintf(path, sizeof path, "las/%s.las", names[i]);
        file_bytes twin = load(test_data(path));
        const uint8_t *records = twin.data + laz_get(twin.data + 96, 4);
        assert_memory_equal(f->records, records, f->points * f->schema.record_bytes);
        free(twin.data);
        close_laz(f);
    }
    mote_context_destroy(ctx);
}

/* Without a twin: coding the records again gives the very bytes of LASzip. */
static void real_files_are_written_alike(void **state) {
    (void)state;
    static const char *const names[] = {"laz/pdrf6-1.4.laz",
                                        "laz/pdrf7-v4-1.4.laz",
                                        "laz/pdrf8-1.4.laz",
                                        "laz/pdrf9-1.4.laz",
                                        "laz/pdrf10-1.4.laz",
                                        "laz/1_4_w_evlr.laz",
                                        "laz/append-bug.laz",
                                        "laz/ellipsoid-1.4.laz",
                                        "laz/fullwave.laz",
                                        "laz/crop_duplicate.laz",
                                        "laz/myria3d_single_point_fmt8_25eb.laz",
                                        "laz/test_semis_2021_0382_6565_LA93_IGN69_cropped.laz",
                                        "laz/test_data_0436_6384_LA93_IGN69_single_point.laz",
                                        "laz/test_semis_2023_0292_6833_LA93_IGN69_extra_dims.laz"};
    mote_context *ctx = test_context(1);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        laz_file *f = open_laz(ctx, names[i]);
        if (f == NULL) skip();
        for (uint32_t c = 0; c < f->chunk_count; c++) {
            uint64_t size_bytes;
            uint8_t *data = encode(ctx, &f->schema, f->chunks[c].records, f->chunks[c].points, &size_bytes);
            assert_int_equal(size_bytes, f->chunks[c].size_bytes);
            assert_memory_equal(data, f->chunks[c].data, size_bytes);
            free(data);
        }
        close_laz(f);
    }
    mote_context_destroy(ctx);
}

/* ---- Parts of records */
static const struct {
    uint32_t wanted;
    laz_run run;
} fields[] = {{0, {0, 0, 8}},
              {LAZ_WANT_Z, {8, 8, 4}},
              {LAZ_WANT_INTENSITY, {12, 12, 2}},
              {0, {14, 14, 1}},
              {LAZ_WANT_FLAGS, {15, 15, 1}},
              {LAZ_WANT_CLASSIFICATION, {16, 16, 1}},
              {LAZ_WANT_USER_DATA, {17, 17, 1}},
              {LAZ_WANT_SCAN_ANGLE, {18, 18, 2}},
              {LAZ_WANT_POINT_SOURCE, {20, 20, 2}},
              {LAZ_WANT_GPS_TIME, {22, 22, 8}},
              {LAZ_WANT_RGB, {30, 30, 6}},
              {LAZ_WANT_NIR, {36, 36, 2}},
              {LAZ_WANT_WAVEPACKET, {38, 38, 29}},
              {LAZ_WANT_EXTRA, {67, 67, 3}}};

static void read_field(mote_context *ctx, const laz_schema *schema, const laz_chunk *whole, const uint8_t *records,
                       uint32_t field) {
    laz_selection selection = {.wanted = fields[field].wanted, .stride_bytes = 32, .run_count = 1};
    laz_chunk chunks[2] = {*whole, *whole};
    laz_decoder *decoder = NULL;
    selection.runs[0] = fields[field].run;
    selection.runs[0].to = 0;
    for (uint32_t i = 0; i < 2; i++) chunks[i].records = malloc(whole->points * 32);
    assert_int_equal(mote_laz_decoder_make(ctx, schema, &selection, &decoder), MOTE_OK);
    mote_laz_decode(decoder, chunks, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_null(chunks[i].fault);
        for (uint64_t p = 0; p < whole->points; p++) {
            const uint8_t *want = records + p * schema->record_bytes + fields[field].run.from;
            assert_memory_equal(chunks[i].records + p * 32, want, fields[field].run.size_bytes);
        }
        free(chunks[i].records);
    }
    mote_laz_decoder_free(ctx, decoder);
}

static void fields_are_read_alone(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const laz_schema schema = laz_schema_of(10, 3, 3 + kind % 2);
        uint8_t *records = malloc((uint64_t)700 * schema.record_bytes);
        laz_chunk chunk = {.points = 700};
        laz_make_kind(records, 700, schema.record_bytes, 10, kind);
        uint8_t *data = encode(ctx, &schema, records, 700, &chunk.size_bytes);
        chunk.data = data;
        for (uint32_t f = 0; f < sizeof fields / sizeof fields[0]; f++) read_field(ctx, &schema, &chunk, records, f);
        free(data), free(records);
    }
    mote_context_destroy(ctx);
}

/* ---- Damage */

/* Decodes a damaged chunk beside a sound one, which must not suffer; returns the points that came before the fault. */
static uint64_t decode_damaged(laz_decoder *decoder, const laz_schema *schema, const uint8_t *damaged, uint64_t size,
                               const laz_chunk *sound, const uint8_t *records, const char **fault) {
    const uint64_t record_bytes = sound->points * schema->record_bytes;
    laz_chunk chunks[2] = {*sound, *sound};
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, damaged, size);
    chunks[0].data = exact;
    chunks[0].size_bytes = size;
    for (uint32_t i = 0; i < 2; i++) chunks[i].records = malloc(record_bytes);
    mote_laz_decode(decoder, chunks, 2);
    assert_null(chunks[1].fault);
    assert_memory_equal(chunks[1].records, records, record_bytes);
    assert_true(chunks[0].fault != NULL || chunks[0].done == chunks[0].points);
    assert_true(chunks[0].fault_at <= size);
    *fault = chunks[0].fault;
    for (uint32_t i = 0; i < 2; i++) free(chunks[i].records);
    free(exact);
    return chunks[0].done;
}

static void damaged_chunks_do_no_harm(void **state) {
    (void)state;
    const laz_schema schema = laz_schema_of(10, 3, 3);
    const laz_selection selection = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema.record_bytes};
    const uint32_t layers = 15, sizes_at = schema.record_bytes + 4;
    mote_context *ctx = test_context(1);
    laz_chunk sound = {.points = 600};
    laz_decoder *decoder = NULL;
    const char *fault;
    uint8_t *records = malloc((uint64_t)600 * schema.record_bytes);
    laz_make_kind(records, 600, schema.record_bytes, 10, SURVEY);
    uint8_t *data = encode(ctx, &schema, records, 600, &sound.size_bytes);
    uint8_t *bad = malloc(sound.size_bytes);
    sound.data = data;
    assert_int_equal(mote_laz_decoder_make(ctx, &schema, &selection, &decoder), MOTE_OK);
    for (uint64_t size = 0; size < sound.size_bytes; size += 1 + size / 40) { /* cut off */
        assert_int_equal(decode_damaged(decoder, &schema, data, size, &sound, records, &fault), 0);
        assert_non_null(fault);
    }
    for (uint32_t i = 0; i < test_extent(400, 1500); i++) { /* bits turned */
        memcpy(bad, data, sound.size_bytes);
        for (uint32_t n = 0; n <= i % 3; n++) bad[laz_random_bits() % sound.size_bytes] ^= (uint8_t)(1u << i % 8);
        decode_damaged(decoder, &schema, bad, sound.size_bytes, &sound, records, &fault);
    }
    for (uint32_t l = 0; l < layers; l++) { /* wild sizes */
        static const uint32_t wild[] = {UINT32_MAX, 0x80000000u, 0x7FFFFFFFu, 0, 1, 5};
        for (uint32_t w = 0; w < 6; w++) {
            memcpy(bad, data, sound.size_bytes);
            laz_put(bad + sizes_at + 4 * l, wild[w], 4);
            decode_damaged(decoder, &schema, bad, sound.size_bytes, &sound, records, &fault);
            assert_true(fault != NULL || wild[w] < 6);
        }
    }
    memcpy(bad, data, sound.size_bytes); /* another count */
    bad[schema.record_bytes] ^= 1;
    assert_int_equal(decode_damaged(decoder, &schema, bad, sound.size_bytes, &sound, records, &fault), 0);
    assert_non_null(fault);
    mote_laz_decoder_free(ctx, decoder);
    free(bad), free(data), free(records);
    mote_context_destroy(ctx);
}

/* The last layer cut short: all points before it ran out are good, and their number is exact whatever the other chunk
   beside it does. */
static void good_points_before_a_fault_are_kept(void **state) {
    (void)state;
    const laz_schema schema = laz_schema_of(6, 1, 3);
    const laz_selection selection = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema.record_bytes};
    const uint32_t last_size_at = schema.record_bytes + 4 + 4 * 9;
    mote_context *ctx = test_context(1);
    uint8_t *records = malloc((uint64_t)2000 * schema.record_bytes);
    laz_chunk chunks[2] = {{.points = 2000}, {.points = 2000}};
    laz_decoder *decoder = NULL;
    laz_make_kind(records, 2000, schema.record_bytes, 6, SURVEY);
    uint8_t *data = encode(ctx, &schema, records, 2000, &chunks[0].size_bytes), *longer = malloc(chunks[0].size_bytes);
    memcpy(longer, data, chunks[0].size_bytes);
    const uint64_t last = laz_get(data + last_size_at, 4);
    laz_put(data + last_size_at, last / 2, 4);
    laz_put(longer + last_size_at, last / 2 + 3, 4);
    chunks[1].size_bytes = chunks[0].size_bytes;
    chunks[0].data = data, chunks[1].data = longer;
    assert_int_equal(mote_laz_decoder_make(ctx, &schema, &selection, &decoder), MOTE_OK);
    for (uint32_t together = 1; together <= 2; together++) {
        static uint64_t done[2];
        for (uint32_t i = 0; i < 2; i++) chunks[i].records = malloc((uint64_t)2000 * schema.record_bytes);
        for (uint32_t i = 0; i < 2; i += together) mote_laz_decode(decoder, chunks + i, together);
        for (uint32_t i = 0; i < 2; i++) {
            assert_non_null(chunks[i].fault);
            assert_in_range(chunks[i].done, 900, 1200);
            assert_memory_equal(chunks[i].records, records, (chunks[i].done - 3) * schema.record_bytes);
            if (together == 2) assert_int_equal(chunks[i].done, done[i]);
            done[i] = chunks[i].done;
            free(chunks[i].records);
        }
        assert_true(done[0] < done[1]);
    }
    mote_laz_decoder_free(ctx, decoder);
    free(data), free(longer), free(records);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(chunks_are_laszips),
        cmocka_unit_test(real_files_match_their_twins),
        cmocka_unit_test(real_files_are_written_alike),
        cmocka_unit_test(fields_are_read_alone),
        cmocka_unit_test(damaged_chunks_do_no_harm),
        cmocka_unit_test(good_points_before_a_fault_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
