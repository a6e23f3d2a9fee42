/* The codec of formats 0 to 5: real files against their uncompressed twins, against the bytes that LASzip made of them,
   round trips of records of every kind, and damaged chunks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/laz/laz_codec.h"
#include "io/laz/laz_integer.h"
#include "support/las_files.h"
#include "support/laz_old_chunk.h"
#include "support/support.h"

#define FORMATS      6u
#define CHUNKS_MAX   1024u
#define RECORD_BYTES 4096u

static const uint16_t format_bytes[FORMATS] = {20, 28, 26, 34, 57, 63};

/* ---- Schemas and files */
static void add_item(laz_schema *schema, uint32_t kind, uint32_t size_bytes, uint32_t version) {
    schema->items[schema->item_count++] = (laz_item){(uint16_t)kind, (uint16_t)size_bytes, (uint16_t)version};
    schema->record_bytes += size_bytes;
}

static laz_schema schema_of(uint32_t format, uint32_t extra_bytes) {
    laz_schema schema = {.compressor = LAZ_POINTWISE_CHUNK, .chunk_points = LAZ_CHUNK_POINTS};
    add_item(&schema, LAZ_POINT10, 20, 2);
    if (format == 1 || format >= 3) add_item(&schema, LAZ_GPSTIME11, 8, 2);
    if (format == 2 || format == 3 || format == 5) add_item(&schema, LAZ_RGB12, 6, 2);
    if (format >= 4) add_item(&schema, LAZ_WAVEPACKET13, 29, 1);
    assert_int_equal(schema.record_bytes, format_bytes[format]);
    if (extra_bytes > 0) add_item(&schema, LAZ_BYTE, extra_bytes, 2);
    return schema;
}

static laz_schema old_schema(uint32_t extra_bytes) {
    laz_schema schema = schema_of(3, extra_bytes);
    for (uint32_t i = 0; i < schema.item_count; i++) schema.items[i].version = 1;
    return schema;
}

static uint64_t number(const uint8_t *at, uint32_t size_bytes) {
    uint64_t value = 0;
    memcpy(&value, at, size_bytes);
    return value;
}

typedef struct laz_file {
    file_bytes bytes;
    uint32_t format;
    uint64_t points, points_at;
    laz_schema schema;
    uint32_t chunk_count;
    uint64_t chunk_points[CHUNKS_MAX], chunk_bytes[CHUNKS_MAX];
} laz_file;

static void read_header(laz_file *f) {
    const uint8_t *data = f->bytes.data;
    f->points_at = number(data + 96, 4);
    f->format = data[104] & 63u;
    f->points = number(data + 107, 4);
    if (data[25] == 4 && f->points == 0) f->points = number(data + 247, 8);
}

static void read_schema(laz_file *f) {
    const uint8_t *at = f->bytes.data + number(f->bytes.data + 94, 2);
    while (number(at + 18, 2) != 22204 || memcmp(at + 2, "laszip encoded", 14) != 0) at += 54 + number(at + 20, 2);
    at += 54;
    f->schema = (laz_schema){.compressor = (uint32_t)number(at, 2), .chunk_points = (uint32_t)number(at + 12, 4)};
    for (uint32_t i = 0; i < number(at + 32, 2); i++) {
        const uint8_t *item = at + 34 + 6 * i;
        add_item(&f->schema, (uint32_t)number(item, 2), (uint32_t)number(item + 2, 2), (uint32_t)number(item + 4, 2));
    }
}

static void read_table(laz_file *f) {
    const uint8_t *table = f->bytes.data + number(f->bytes.data + f->points_at, 8);
    laz_integer *integer = aligned_alloc(64, (sizeof *integer + 63) / 64 * 64);
    laz_reader r;
    uint32_t bits, points = 0, size_bytes = 0;
    f->chunk_count = (uint32_t)number(table + 4, 4);
    f->points_at += 8;
    assert_true(f->chunk_count <= CHUNKS_MAX);
    laz_reader_start(&r, table + 8, f->bytes.size - (uint64_t)(table + 8 - f->bytes.data));
    laz_integer_start(integer, 32, 2);
    for (uint32_t i = 0; i < f->chunk_count; i++) {
        const bool variable = f->schema.chunk_points == LAZ_VARIABLE;
        if (variable) points = laz_read_integer(&r, integer, 32, 0, points, &bits);
        size_bytes = laz_read_integer(&r, integer, 32, 1, size_bytes, &bits);
        const uint64_t remaining = f->points - (uint64_t)i * f->schema.chunk_points;
        f->chunk_points[i] = variable                             ? points
                             : remaining < f->schema.chunk_points ? remaining
                                                                  : f->schema.chunk_points;
        f->chunk_bytes[i] = size_bytes;
    }
    free(integer);
}

/* NULL: the folder of real data is not there. */
static laz_file *open_laz(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "laz/%s.laz", name);
    const char *found = test_data(path);
    if (found == NULL) return NULL;
    laz_file *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->bytes = load(found);
    read_header(f);
    read_schema(f);
    if (f->schema.compressor == LAZ_POINTWISE) {
        f->chunk_count = 1;
        f->chunk_points[0] = f->points;
        f->chunk_bytes[0] = f->bytes.size - f->points_at;
    } else {
        read_table(f);
    }
    return f;
}

static void close_laz(laz_file *f) {
    free(f->bytes.data);
    free(f);
}

/* ---- Coding */
static void decode(const laz_schema *schema, laz_chunk *chunks, uint32_t count) {
    mote_context *ctx = test_context(1);
    const laz_selection all = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema->record_bytes};
    laz_decoder *decoder = NULL;
    assert_int_equal(mote_laz_decoder_make(ctx, schema, &all, &decoder), MOTE_OK);
    mote_laz_decode(decoder, chunks, count);
    mote_laz_decoder_free(ctx, decoder);
    mote_context_destroy(ctx);
}

/* One chunk; the caller frees it. */
static file_bytes encode(const laz_schema *schema, const uint8_t *records, uint64_t count) {
    mote_context *ctx = test_context(1);
    laz_encoder *encoder = NULL;
    const uint8_t *out = NULL;
    file_bytes made = {NULL, 0};
    uint64_t size_bytes = 0;
    assert_int_equal(mote_laz_encoder_make(ctx, schema, &encoder), MOTE_OK);
    assert_int_equal(mote_laz_encode(encoder, records, count, &out, &size_bytes), MOTE_OK);
    made.size = size_bytes;
    made.data = malloc(made.size);
    memcpy(made.data, out, made.size);
    mote_laz_encoder_free(ctx, encoder);
    mote_context_destroy(ctx);
    return made;
}

/* All records of a file; the caller frees them. */
static uint8_t *decode_file(const laz_file *f) {
    laz_chunk *chunks = calloc(f->chunk_count + 1, sizeof *chunks);
    uint8_t *records = malloc(f->points * f->schema.record_bytes + 1);
    const uint8_t *at = f->bytes.data + f->points_at;
    uint64_t points = 0;
    for (uint32_t i = 0; i < f->chunk_count; i++) {
        chunks[i].data = at;
        chunks[i].size_bytes = f->chunk_bytes[i];
        chunks[i].points = f->chunk_points[i];
        chunks[i].records = records + points * f->schema.record_bytes;
        at += f->chunk_bytes[i];
        points += f->chunk_points[i];
    }
    assert_int_equal(points, f->points);
    decode(&f->schema, chunks, f->chunk_count);
    for (uint32_t i = 0; i < f->chunk_count; i++) {
        if (chunks[i].fault != NULL) fail_msg("chunk %u: %s", i, chunks[i].fault);
        assert_int_equal(chunks[i].done, chunks[i].points);
        assert_int_equal(chunks[i].used_bytes, chunks[i].size_bytes);
    }
    free(chunks);
    return records;
}

static bool has_data(const char *path) {
    FILE *stream = fopen(test_data(path), "rb");
    if (stream != NULL) fclose(stream);
    return stream != NULL;
}

/* ---- Real files */

/* FNV-1a of the records as the reference decoder gives them. */
typedef struct known_file {
    const char *name;
    uint64_t checksum;
} known_file;

static const known_file known_files[] = {
    {"1815", 0x35fbeb7cf9d825b3},
    {"autzen_trim", 0x77ffea0676ab2716},
    {"ellipsoid", 0xd1b2dfc5693ac9c8},
    {"extrabytes", 0x2779802fd6672310},
    {"indoor_808k", 0xefe6328ea49f30ca},
    {"laszip-generated_with2bytespadding", 0xac5ceed2077b659c},
    {"liblas-generated", 0xac5ceed2077b659c},
    {"lone-star", 0xeb88d8fe91dcc301},
    {"no-points-1.3", 0xcbf29ce484222325},
    {"pdrf4-1.3", 0xd578260fd954ebaf},
    {"pdrf5-1.3", 0x4e82404892cf13bf},
    {"plane", 0x7cab9fbef8fef539},
    {"point-color-time", 0x0360ceed3d71a2c2},
    {"point-color", 0x26383f83ef8721f5},
    {"point-time-1.4.las", 0x1732189c0d3744df},
    {"point-time", 0x1732189c0d3744df},
    {"point-version-1-point-wise", 0x3814f979b0c89b62},
    {"point10-1.0", 0x31cdb7a69539fb6a},
    {"point10-1.1", 0xd2856ea65f420a11},
    {"point10", 0xe4a447f17aba6024},
    {"ripple", 0x6dda8e6e44b43f5a},
    {"simple-laszip-compressor-version-1.2r0", 0xac5ceed2077b659c},
};

#define KNOWN_FILES (sizeof known_files / sizeof *known_files)

static uint64_t checksum(const uint8_t *data, uint64_t size_bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint64_t i = 0; i < size_bytes; i++) hash = (hash ^ data[i]) * 0x100000001b3;
    return hash;
}

static void decodes_as_the_reference(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN_FILES; i++) {
        laz_file *f = open_laz(known_files[i].name);
        if (f == NULL) skip();
        uint8_t *records = decode_file(f);
        if (checksum(records, f->points * f->schema.record_bytes) != known_files[i].checksum)
            fail_msg("%s decodes to other records", known_files[i].name);
        free(records);
        close_laz(f);
    }
}

static void decodes_as_the_uncompressed_twin(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN_FILES; i++) {
        char path[64];
        laz_file *f = open_laz(known_files[i].name);
        if (f == NULL) skip();
        snprintf(path, sizeof path, "las/%s.las", known_files[i].name);
        if (has_data(path)) {
            file_bytes las = load(test_data(path));
            uint8_t *records = decode_file(f);
            assert_memory_equal(records, las.data + number(las.data + 96, 4), f->points * f->schema.record_bytes);
            free(records);
            free(las.data);
        }
        close_laz(f);
    }
}

static void decodes_items_of_version_1(void **state) {
    (void)state;
    const laz_schema schema = old_schema(OLD_CHUNK_EXTRA_BYTES);
    uint8_t records[OLD_CHUNK_POINTS * (34 + OLD_CHUNK_EXTRA_BYTES)];
    assert_int_equal(sizeof records, OLD_CHUNK_POINTS * schema.record_bytes);
    laz_chunk chunk = {
        .data = old_chunk, .size_bytes = sizeof old_chunk, .points = OLD_CHUNK_POINTS, .records = records};
    decode(&schema, &chunk, 1);
    assert_null(chunk.fault);
    assert_int_equal(chunk.used_bytes, sizeof old_chunk);
    assert_true(checksum(records, sizeof records) == OLD_CHUNK_CHECKSUM);
}

static bool is_newest(const laz_schema *schema) {
    for (uint32_t i = 0; i < schema->item_count; i++) {
        if (schema->items[i].version == 1 && schema->items[i].kind != LAZ_WAVEPACKET13) return false;
    }
    return true;
}

static void encodes_as_the_reference(void **state) {
    (void)state;
    for (size_t i = 0; i < KNOWN_FILES; i++) {
        laz_file *f = open_laz(known_files[i].name);
        if (f == NULL) skip();
        uint8_t *records = decode_file(f), *next = records;
        const uint8_t *expected = f->bytes.data + f->points_at;
        for (uint32_t c = 0; is_newest(&f->schema) && c < f->chunk_count; c++) {
            file_bytes made = encode(&f->schema, next, f->chunk_points[c]);
            assert_int_equal(made.size, f->chunk_bytes[c]);
            assert_memory_equal(made.data, expected, made.size);
            free(made.data);
            next += f->chunk_points[c] * f->schema.record_bytes;
            expected += f->chunk_bytes[c];
        }
        free(records);
        close_laz(f);
    }
}

/* ---- Made records */
typedef enum pattern { NOISE, CONSTANT, EXTREMES, LIKELY, PATTERNS } pattern;

static uint64_t next_random(uint64_t *seed) {
    *seed += 0x9e3779b97f4a7c15;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void put(uint8_t *at, uint64_t value, uint32_t size_bytes) { memcpy(at, &value, size_bytes); }

/* Times as scanners give them, and as they should not: regular, still, far jumps, back to another sequence, NaN. */
static uint64_t next_time(uint64_t *seed, uint64_t last) {
    static const double bases[] = {1e5, 2.5e8, -3.0, 0.0, 7e-310, 1e300};
    const uint64_t dice = next_random(seed);
    double time = bases[dice >> 8 & 3] + (double)(dice >> 32 & 0xFFFF) * 1e-6;
    uint64_t bits;
    if (dice % 16 == 0) time = (dice >> 20 & 1) ? (double)NAN : bases[dice >> 8 & 1 ? 4 : 5];
    memcpy(&bits, &time, sizeof bits);
    if (dice % 8 < 4) return last + 1000 + (dice >> 40 & 7);
    if (dice % 8 == 4) return last;
    if (dice % 8 == 5) return last + (int64_t)(int32_t)(dice >> 32);
    if (dice % 8 == 6) return last + 1000 * (dice >> 40 & 0x3FF) - 10000;
    return bits;
}

static void make_likely(const laz_schema *schema, uint8_t *record, const uint8_t *last, uint64_t *seed) {
    const uint64_t dice = next_random(seed);
    memcpy(record, last, schema->record_bytes);
    for (uint32_t i = 0; i < 3; i++) put(record + 4 * i, number(last + 4 * i, 4) + (dice >> (8 * i) & 0xFF) - 100, 4);
    if (dice >> 32 & 1) record[14] = (uint8_t)(dice >> 40);
    if (dice >> 33 & 1) put(record + 12, dice >> 48, 2);
    if ((dice >> 34) % 8 == 0) put(record + 15, dice >> 20, 5);
    for (uint32_t k = 1, at = 20; k < schema->item_count; at += schema->items[k++].size_bytes) {
        const uint64_t more = next_random(seed);
        if (schema->items[k].kind == LAZ_GPSTIME11) put(record + at, next_time(seed, number(last + at, 8)), 8);
        if (schema->items[k].kind == LAZ_RGB12 && (more & 1)) put(record + at + 2 * (more >> 8 & 1), more >> 16, 4);
        if (schema->items[k].kind == LAZ_RGB12 && (more >> 1 & 3) == 0) memcpy(record + at + 2, record + at, 2);
        if (schema->items[k].kind == LAZ_RGB12 && (more >> 1 & 3) == 0) memcpy(record + at + 4, record + at, 2);
        if (schema->items[k].kind == LAZ_BYTE) record[at + more % schema->items[k].size_bytes] ^= more >> 32;
        if (schema->items[k].kind != LAZ_WAVEPACKET13) continue;
        const uint64_t step = (more & 3) == 0   ? 0
                              : (more & 3) == 1 ? number(last + at + 9, 4)
                              : (more & 3) == 2 ? more >> 50
                                                : more;
        put(record + at + 1, number(last + at + 1, 8) + step, 8);
        put(record + at + 9, more >> 2 & 1 ? more >> 20 : 256, 4);
    }
}

static void make_records(const laz_schema *schema, pattern kind, uint64_t count, uint64_t seed, uint8_t *records) {
    const uint32_t size_bytes = schema->record_bytes;
    for (uint64_t i = 0; i < count * size_bytes; i++) {
        const uint64_t dice = next_random(&seed);
        records[i] = (uint8_t)(kind == EXTREMES ? (dice & 1 ? 0xFF : dice & 2 ? 0 : dice & 4 ? 0x80 : 0x7F) : dice);
        if (kind == CONSTANT && i >= size_bytes) records[i] = records[i - size_bytes];
    }
    for (uint64_t i = 1; i < count && kind == LIKELY; i++)
        make_likely(schema, records + i * size_bytes, records + (i - 1) * size_bytes, &seed);
}

/* Extreme integers, four bytes alike: the differences are of 32 bits, up to -2^31. */
static void make_extreme_coordinates(const laz_schema *schema, uint64_t count, uint64_t seed, uint8_t *records) {
    static const uint32_t values[] = {0x80000000u, 0x7FFFFFFFu, 0, 0xFFFFFFFFu, 1, 0xC0000000u, 0x40000000u};
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 3; k++)
            put(records + i * schema->record_bytes + 4 * k, values[next_random(&seed) % 7], 4);
    }
}

static void round_trip(const laz_schema *schema, const uint8_t *records, uint64_t count) {
    file_bytes made = encode(schema, records, count);
    uint8_t *got = malloc(count * schema->record_bytes);
    laz_chunk chunk = {.data = made.data, .size_bytes = made.size, .points = count, .records = got};
    decode(schema, &chunk, 1);
    if (chunk.fault != NULL) fail_msg("%s", chunk.fault);
    assert_int_equal(chunk.done, count);
    assert_int_equal(chunk.used_bytes, made.size);
    assert_memory_equal(got, records, count * schema->record_bytes);
    free(made.data);
    free(got);
}

static void comes_back_as_it_was(void **state) {
    static const uint64_t counts[] = {1, 2, 3, 1000, LAZ_CHUNK_POINTS};
    static const uint32_t extras[] = {0, 1, 2, 27};
    (void)state;
    for (uint32_t format = 0; format < FORMATS; format++) {
        for (uint32_t n = 0; n < 5 * PATTERNS; n++) {
            const laz_schema schema = schema_of(format, extras[(format + n) % 4]);
            const uint64_t count = counts[n / PATTERNS];
            if (count == LAZ_CHUNK_POINTS && (format + n) % test_watched(3, 1) != 0) continue;
            uint8_t *records = malloc(count * schema.record_bytes);
            make_records(&schema, (pattern)(n % PATTERNS), count, n, records);
            if (n % PATTERNS == EXTREMES) make_extreme_coordinates(&schema, count, n, records);
            round_trip(&schema, records, count);
            free(records);
        }
    }
}

/* The lanes: chunks of different lengths side by side, one of them damaged, come out as each alone. */
static void chunks_do_not_disturb_each_other(void **state) {
    (void)state;
    const laz_schema schema = schema_of(5, 3);
    static const uint64_t counts[] = {700, 1, 900, 900, 2, 300, 500};
    enum { CHUNKS = 7, CUT = 3 };
    laz_chunk chunks[CHUNKS];
    uint8_t *records[CHUNKS];
    file_bytes made[CHUNKS];
    for (uint32_t i = 0; i < CHUNKS; i++) {
        records[i] = malloc(counts[i] * schema.record_bytes);
        make_records(&schema, LIKELY, counts[i], i, records[i]);
        made[i] = encode(&schema, records[i], counts[i]);
        chunks[i] = (laz_chunk){.data = made[i].data, .size_bytes = made[i].size, .points = counts[i]};
        chunks[i].records = malloc(counts[i] * schema.record_bytes);
    }
    chunks[CUT].size_bytes /= 2;
    decode(&schema, chunks, CHUNKS);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        if (i == CUT) {
            assert_non_null(chunks[i].fault);
            assert_in_range(chunks[i].done, counts[i] / 4, counts[i] - 1);
            assert_in_range(chunks[i].fault_at, chunks[i].size_bytes - 8, chunks[i].size_bytes);
        } else {
            assert_null(chunks[i].fault);
            assert_int_equal(chunks[i].done, counts[i]);
        }
        assert_memory_equal(chunks[i].records, records[i], chunks[i].done * schema.record_bytes);
        free(records[i]);
        free(made[i].data);
        free(chunks[i].records);
    }
}

/* ---- Damage. What must hold: an end, no read or write outside (the sanitizers see to that), sane results. */
static void decode_damaged(const laz_schema *schema, const uint8_t *data, uint64_t size_bytes, uint64_t count) {
    uint8_t *copy = malloc(size_bytes + 1), *got = malloc(count * schema->record_bytes);
    memcpy(copy, data, size_bytes);
    uint8_t *exact = realloc(copy, size_bytes > 0 ? size_bytes : 1); /* the byte behind is not ours */
    laz_chunk chunk = {.data = exact, .size_bytes = size_bytes, .points = count, .records = got};
    decode(schema, &chunk, 1);
    assert_in_range(chunk.done, 0, count);
    assert_in_range(chunk.used_bytes, 0, size_bytes);
    assert_in_range(chunk.fault_at, 0, size_bytes);
    assert_true((chunk.fault == NULL) == (chunk.done == count));
    free(exact);
    free(got);
}

static void damage_does_no_harm(void **state) {
    (void)state;
    enum { POINTS = 300 };
    for (uint32_t format = 0; format <= FORMATS; format++) {
        const laz_schema schema = schema_of(format < FORMATS ? format : 3, 5);
        const laz_schema read_as = format < FORMATS ? schema : old_schema(5);
        uint8_t *records = malloc(POINTS * schema.record_bytes);
        uint64_t seed = format;
        make_records(&schema, LIKELY, POINTS, seed, records);
        file_bytes made = encode(&schema, records, POINTS);
        for (uint64_t size = 0; size < made.size; size += 1 + size / 40)
            decode_damaged(&read_as, made.data, size, POINTS);
        for (uint32_t i = 0; i < test_extent(100, 300); i++) {
            const uint64_t bit = next_random(&seed) % (8 * made.size);
            made.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            decode_damaged(&read_as, made.data, made.size, POINTS);
            if (i % 3 != 0) made.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (uint32_t byte = 0; byte < 256; byte += (uint32_t)test_extent(51, 15)) { /* 0x00 and 0xFF among them */
            memset(made.data + schema.record_bytes, (int)byte, made.size - schema.record_bytes);
            decode_damaged(&read_as, made.data, made.size, POINTS);
        }
        free(made.data);
        free(records);
    }
}

static void a_short_chunk_has_its_first_point(void **state) {
    (void)state;
    const laz_schema schema = schema_of(2, 0);
    uint8_t records[3 * 26], got[3 * 26];
    make_records(&schema, NOISE, 3, 1, records);
    laz_chunk chunk = {.data = records, .size_bytes = 26, .points = 3, .records = got};
    decode(&schema, &chunk, 1);
    assert_non_null(chunk.fault);
    assert_in_range(chunk.done, 0, 1);
    chunk.size_bytes = 25;
    decode(&schema, &chunk, 1);
    assert_non_null(chunk.fault);
    assert_int_equal(chunk.done, 0);
    assert_int_equal(chunk.fault_at, 25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_as_the_reference),   cmocka_unit_test(decodes_as_the_uncompressed_twin),
        cmocka_unit_test(decodes_items_of_version_1), cmocka_unit_test(encodes_as_the_reference),
        cmocka_unit_test(comes_back_as_it_was),       cmocka_unit_test(chunks_do_not_disturb_each_other),
        cmocka_unit_test(damage_does_no_harm),        cmocka_unit_test(a_short_chunk_has_its_first_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
