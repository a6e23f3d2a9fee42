/* Any bytes as two chunks of a schema that the first bytes pick. No byte outside the chunks is read; two lanes, one
   lane and only some parts of the records give the same points. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/laz_fuzz_support.h"

#define MAX_POINTS 2047u

/* Two chunks in memory that is exactly as large, so that a step outside is seen. */
typedef struct pair {
    uint8_t *data[2];
    laz_chunk chunks[2];
} pair;

static void *exact(uint64_t size_bytes) {
    void *memory = malloc(size_bytes > 0 ? (size_t)size_bytes : 1);
    if (memory == NULL) abort();
    return memory;
}

static void take_chunk(pair *p, uint32_t lane, const uint8_t *data, uint64_t size_bytes, uint64_t points) {
    p->data[lane] = exact(size_bytes);
    if (size_bytes > 0) memcpy(p->data[lane], data, (size_t)size_bytes);
    p->chunks[lane] = (laz_chunk){.data = p->data[lane], .size_bytes = size_bytes, .points = points};
}

/* What is tried beside decoding the whole records of one chunk; beginning a chunk is what takes a fuzzer's time. */
enum { TRY_LANES = 0x10, TRY_SELECTION = 0x20 };

/* own: [0] where the input is cut, in 256ths; [1], [2] points, of the second chunk less, or none. */
static pair take_pair(const laz_fuzz_head *head, const uint8_t *data, uint64_t size_bytes) {
    pair p;
    const bool both = (head->own[4] & TRY_LANES) != 0;
    const uint64_t cut = both ? size_bytes * head->own[0] / 256 : size_bytes;
    const uint64_t points = (head->own[1] | (uint64_t)head->own[2] << 8) & MAX_POINTS;
    take_chunk(&p, 0, data, cut, points);
    take_chunk(&p, 1, data + cut, size_bytes - cut, both ? points - points * (head->own[2] >> 4) / 15 : 0);
    return p;
}

/* Records that nothing was written to hold the filling. */
static void make_room(laz_chunk chunks[2], uint32_t stride_bytes, int filling) {
    for (uint32_t l = 0; l < 2; l++) {
        chunks[l].records = exact(chunks[l].points * stride_bytes);
        memset(chunks[l].records, filling, (size_t)(chunks[l].points * stride_bytes));
    }
}

static void check_chunk(const laz_chunk *c) {
    mote_context *ctx = laz_fuzz_context();
    fuzz_require(ctx, c->done <= c->points, "more points than there are");
    fuzz_require(ctx, (c->fault == NULL) == (c->done == c->points), "points are missing without a fault");
    fuzz_require(ctx, c->fault != NULL || c->used_bytes <= c->size_bytes, "more bytes were used than there are");
    fuzz_require(ctx, c->fault_at <= c->size_bytes, "a fault behind the end");
}

/* Both chunks gave the same bytes, and ended at the same place. */
static void check_same(const laz_chunk *a, const laz_chunk *b, uint32_t record_bytes) {
    mote_context *ctx = laz_fuzz_context();
    fuzz_require(ctx, a->done == b->done && a->fault == b->fault && a->fault_at == b->fault_at, "another end");
    fuzz_require(ctx, a->used_bytes == b->used_bytes, "other bytes were used");
    fuzz_require(ctx, memcmp(a->records, b->records, (size_t)(a->done * record_bytes)) == 0, "other records");
}

/* What was selected is what the whole records hold; a selection may get further, as it does not see all faults. */
static void check_selected(const laz_chunk *some, const laz_chunk *whole, const laz_selection *s,
                           uint32_t record_bytes) {
    const uint64_t count = some->done < whole->done ? some->done : whole->done;
    fuzz_require(laz_fuzz_context(), some->done >= whole->done, "a selection ends earlier");
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < s->run_count; r++) {
            const uint8_t *left = some->records + i * s->stride_bytes + s->runs[r].to;
            const uint8_t *right = whole->records + i * record_bytes + s->runs[r].from;
            const bool same = memcmp(left, right, s->runs[r].size_bytes) == 0;
            fuzz_require(laz_fuzz_context(), same, "a selection gives other values");
        }
    }
}

static void free_records(laz_chunk chunks[2]) {
    for (uint32_t l = 0; l < 2; l++) free(chunks[l].records);
}

static void decode_one_by_one(laz_decoder *decoder, const pair *p, const laz_schema *schema) {
    laz_chunk alone[2] = {p->chunks[0], p->chunks[1]};
    make_room(alone, schema->record_bytes, 0xAA);
    for (uint32_t l = 0; l < 2; l++) {
        mote_laz_decode(decoder, &alone[l], 1);
        check_same(&alone[l], &p->chunks[l], schema->record_bytes);
    }
    free_records(alone);
}

static void decode_selected(const pair *p, const laz_schema *schema, uint32_t wanted) {
    static laz_fuzz_cache cache;
    laz_selection selection;
    laz_chunk some[2] = {p->chunks[0], p->chunks[1]};
    laz_fuzz_selection(schema, wanted, &selection);
    make_room(some, selection.stride_bytes, 0x33);
    mote_laz_decode(laz_fuzz_decoder(&cache, schema, &selection), some, 2);
    for (uint32_t l = 0; l < 2; l++) {
        check_chunk(&some[l]);
        check_selected(&some[l], &p->chunks[l], &selection, schema->record_bytes);
    }
    free_records(some);
}

/* own[3], own[4]: which parts are selected; what is tried. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static laz_fuzz_cache cache;
    laz_fuzz_head head;
    laz_schema schema;
    if (!laz_fuzz_head_take(&data, &size, &head)) return 0;
    laz_fuzz_schema(&head, &schema);
    const laz_selection whole = {.wanted = LAZ_WANT_ALL, .stride_bytes = schema.record_bytes};
    laz_decoder *decoder = laz_fuzz_decoder(&cache, &schema, &whole);
    pair p = take_pair(&head, data, size);
    make_room(p.chunks, schema.record_bytes, 0x55);
    mote_laz_decode(decoder, p.chunks, 2);
    for (uint32_t l = 0; l < 2; l++) check_chunk(&p.chunks[l]);
    if (head.own[4] & TRY_LANES) decode_one_by_one(decoder, &p, &schema);
    if (head.own[4] & TRY_SELECTION)
        decode_selected(&p, &schema, (head.own[3] | (uint32_t)head.own[4] << 8) & LAZ_WANT_ALL);
    free_records(p.chunks);
    for (uint32_t l = 0; l < 2; l++) free(p.data[l]);
    return 0;
}
