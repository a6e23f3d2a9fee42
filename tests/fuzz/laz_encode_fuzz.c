/* Any records of a schema that the first bytes pick: encoded in chunks and decoded again they are the same, and so is
   a table of any chunks. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/laz_fuzz_support.h"

#define MAX_POINTS  3000u
#define MAX_CHUNKS  3u /* beginning one is what takes a fuzzer's time */
#define MAX_ENTRIES 200u

/* Encoded chunks, one behind the other. */
typedef struct stream {
    uint8_t *bytes;
    uint64_t size_bytes;
    laz_entry entries[MAX_CHUNKS];
    uint32_t count;
} stream;

static void *exact(uint64_t size_bytes) {
    void *memory = malloc(size_bytes > 0 ? (size_t)size_bytes : 1);
    if (memory == NULL) abort();
    return memory;
}

/* Each record is the one before with some bytes changed, so that small inputs are many points that are alike. A byte
   of the input below 240 says which byte changes, the next one how; 240 and above end so many records. */
static uint64_t make_alike(const uint8_t *data, size_t size, uint32_t record_bytes, uint8_t *records) {
    uint8_t *record = exact(record_bytes);
    memset(record, 0, record_bytes);
    uint64_t count = 0;
    for (size_t at = 0; at < size && count < MAX_POINTS; at++) {
        if (data[at] < 240) {
            record[data[at] % record_bytes] ^= at + 1 < size ? data[at + 1] : 1;
            at++;
            continue;
        }
        for (uint32_t i = 239; i < data[at] && count < MAX_POINTS; i++) {
            memcpy(records + count++ * record_bytes, record, record_bytes);
        }
    }
    free(record);
    return count;
}

static uint64_t make_records(const laz_fuzz_head *head, const uint8_t *data, size_t size, uint32_t record_bytes,
                             uint8_t **out) {
    *out = exact((uint64_t)MAX_POINTS * record_bytes);
    if (head->own[0] & 1) return make_alike(data, size, record_bytes, *out);
    uint64_t count = size / record_bytes;
    if (count > MAX_POINTS) count = MAX_POINTS;
    if (count > 0) memcpy(*out, data, (size_t)(count * record_bytes));
    return count;
}

static laz_encoder *encoder_of(const laz_schema *schema) {
    static laz_encoder *encoder;
    static laz_schema made;
    mote_context *ctx = laz_fuzz_context();
    if (encoder != NULL && memcmp(&made, schema, sizeof made) == 0) return encoder;
    mote_laz_encoder_free(ctx, encoder);
    fuzz_require(ctx, mote_laz_encoder_make(ctx, schema, &encoder) == MOTE_OK, "no encoder");
    made = *schema;
    return encoder;
}

static void encode(const laz_schema *schema, const uint8_t *records, uint64_t count, uint64_t chunk_points, stream *s) {
    laz_encoder *encoder = encoder_of(schema);
    memset(s, 0, sizeof *s);
    for (uint64_t first = 0; first < count; s->count++) {
        laz_entry *entry = &s->entries[s->count];
        const uint8_t *bytes = NULL;
        entry->points = count - first < chunk_points ? count - first : chunk_points;
        fuzz_require(laz_fuzz_context(),
                     mote_laz_encode(encoder, records + first * schema->record_bytes, entry->points, &bytes,
                                     &entry->size_bytes) == MOTE_OK,
                     "not encoded");
        s->bytes = realloc(s->bytes, (size_t)(s->size_bytes + entry->size_bytes));
        if (s->bytes == NULL) abort();
        memcpy(s->bytes + s->size_bytes, bytes, (size_t)entry->size_bytes);
        s->size_bytes += entry->size_bytes;
        first += entry->points;
    }
}

static void check_decoded(const laz_schema *schema, const uint8_t *records, uint64_t count, const stream *s) {
    static laz_fuzz_cache cache;
    const laz_selection whole = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema->record_bytes};
    laz_chunk chunks[MAX_CHUNKS];
    uint8_t *decoded = exact(count * schema->record_bytes);
    uint64_t at = 0, first = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        chunks[i] = (laz_chunk){.data = s->bytes + at,
                                .size_bytes = s->entries[i].size_bytes,
                                .points = s->entries[i].points,
                                .records = decoded + first * schema->record_bytes};
        at += s->entries[i].size_bytes;
        first += s->entries[i].points;
    }
    mote_laz_decode(laz_fuzz_decoder(&cache, schema, &whole), chunks, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        fuzz_require(laz_fuzz_context(), chunks[i].fault == NULL && chunks[i].done == chunks[i].points, "not decoded");
        fuzz_require(laz_fuzz_context(), chunks[i].used_bytes == chunks[i].size_bytes, "bytes are left over");
    }
    fuzz_require(laz_fuzz_context(), memcmp(records, decoded, (size_t)(count * schema->record_bytes)) == 0,
                 "other records");
    free(decoded);
}

/* A table of any chunks, eight bytes of the input each. */
static void check_table(const uint8_t *data, size_t size, bool variable) {
    static uint8_t bytes[16 * MAX_ENTRIES + 64];
    laz_entry entries[MAX_ENTRIES], back[MAX_ENTRIES];
    uint32_t count = 0;
    memset(entries, 0, sizeof entries);
    memset(back, 0, sizeof back);
    for (; count < MAX_ENTRIES && size - count * 8u >= 8; count++) {
        uint32_t pair[2];
        memcpy(pair, data + count * 8u, sizeof pair);
        entries[count] = (laz_entry){.points = pair[0], .size_bytes = pair[1]};
    }
    const uint64_t size_bytes = mote_laz_table_encode(entries, count, variable, bytes);
    fuzz_require(laz_fuzz_context(), size_bytes <= 16 * count + 64, "a table too large");
    fuzz_require(laz_fuzz_context(), mote_laz_table_decode(bytes, size_bytes, variable, count, back) == NULL,
                 "the table is not read again");
    for (uint32_t i = 0; i < count; i++) {
        fuzz_require(laz_fuzz_context(), back[i].size_bytes == entries[i].size_bytes, "another size of a chunk");
        fuzz_require(laz_fuzz_context(), !variable || back[i].points == entries[i].points, "other points");
    }
}

/* own: [0] bit 0 records alike, bit 1 a table of variable chunks; [1] points of a chunk, if that is not too few: else
   all are one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    laz_fuzz_head head;
    laz_schema schema;
    uint8_t *records = NULL;
    stream s;
    if (!laz_fuzz_head_take(&data, &size, &head)) return 0;
    head.versions = 0; /* the encoder writes the newest only */
    laz_fuzz_schema(&head, &schema);
    const uint64_t count = make_records(&head, data, size, schema.record_bytes, &records);
    const uint64_t min = count / MAX_CHUNKS + 1; /* points of a chunk */
    encode(&schema, records, count, head.own[1] > min ? head.own[1] : count, &s);
    check_decoded(&schema, records, count, &s);
    check_table(data, size, (head.own[0] & 2) != 0);
    free(s.bytes);
    free(records);
    return 0;
}
