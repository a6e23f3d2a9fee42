/* Parts of a file that are read without the rest: of LAZ some chunks, of LAS some records.

     chunks of the file     0  1  2  3  4  5  6  7
     spans                     └──┘     └─────┘         first, end
     chunks that are read      1  2     4  5  6         the others leave the list; "next" counts in what remains */
#include "io/reader.h"

/* Units of LAS are records, and a block of them is what is looked at together: half of a usual chunk of LAZ. Smaller
   ones are as seldom of one part: 95 % of those of 5,000, 25,000 and 50,000 records have points of several of 8 parts
   of a city of 10 M points. */
#define BLOCK_RECORDS 25000u

static bool is_laz(const mote_reader *reader) { return reader->is_las && reader->source.header.compressed; }

static uint64_t unit_count(const mote_reader *reader) {
    return is_laz(reader) ? reader->source.chunks.count : reader->is_las ? reader->count : 0;
}

static bool are_spans(const mote_reader *reader, const reader_span *spans, uint64_t count) {
    uint64_t end = 0;
    for (uint64_t s = 0; s < count; s++) {
        if (spans[s].first < end || spans[s].end <= spans[s].first) return false;
        end = spans[s].end;
    }
    return end <= unit_count(reader);
}

static uint64_t find_points_end(const mote_reader *reader) {
    const las_source *source = &reader->source;
    uint64_t end = source->header.points_at;
    if (!is_laz(reader)) return end + reader->count * source->header.point_bytes;
    for (uint64_t c = 0; c < source->chunks.count; c++) {
        const las_chunk *chunk = &source->chunks.list[c];
        if (chunk->at + chunk->size_bytes > end) end = chunk->at + chunk->size_bytes;
    }
    return end;
}

static void keep_chunks(mote_reader *reader, const reader_span *spans, uint64_t count) {
    las_chunks *chunks = &reader->source.chunks;
    uint64_t kept = 0;
    reader->count = 0;
    for (uint64_t s = 0; s < count; s++) {
        for (uint64_t c = spans[s].first; c < spans[s].end; c++) {
            chunks->list[kept++] = chunks->list[c];
            reader->count += chunks->list[kept - 1].points;
        }
    }
    chunks->count = kept;
}

bool mote_reader_take_spans(mote_reader *reader, const reader_span *spans, uint64_t count, bool apart) {
    if (!are_spans(reader, spans, count)) return false;
    reader->points_end = find_points_end(reader);
    if (is_laz(reader)) keep_chunks(reader, spans, count);
    reader->spans = spans;
    reader->span_count = count;
    reader->spans_apart = apart;
    return true;
}

/* Begins span s: of LAZ at the next chunk of those that are read. */
static void begin_span(mote_reader *reader, uint64_t s) {
    const reader_span *span = &reader->spans[s];
    reader->span = s;
    reader->span_given = reader->given;
    if (!is_laz(reader)) reader->next = span->first;
    reader->span_end = reader->next + (span->end - span->first);
}

uint64_t mote_reader_next_units(mote_reader *reader, uint64_t most) {
    if (reader->spans == NULL) return most;
    if (reader->kept == 0 && reader->next == 0 && reader->span_count > 0) begin_span(reader, 0);
    while (reader->next >= reader->span_end && reader->span + 1 < reader->span_count) {
        begin_span(reader, reader->span + 1);
    }
    if (is_laz(reader) && !reader->spans_apart) return most;
    const uint64_t remaining = reader->span_end > reader->next ? reader->span_end - reader->next : 0;
    return most < remaining ? most : remaining;
}

reader_span mote_reader_units_of(const mote_reader *reader, uint64_t i, uint64_t *end) {
    const las_chunk *list = reader->source.chunks.list;
    const uint64_t count = reader->piece->count, first = reader->piece_first;
    reader_span all = {first, reader->piece_end, reader->place, reader->place + count};
    uint64_t points = 0, at = 0;
    *end = count;
    for (uint64_t u = first; u < all.end && is_laz(reader); u++) points += list[u].points;
    if (!is_laz(reader)) points = all.end - first;
    if (points != count || unit_count(reader) == 0) return all; /* some were left out: which is not known */
    uint64_t units = is_laz(reader) ? 1 : BLOCK_RECORDS, u = first;
    if (is_laz(reader)) {
        while (at + list[u].points <= i) at += list[u++].points;
    } else {
        at = i / BLOCK_RECORDS * BLOCK_RECORDS;
        u = first + at;
        units = all.end - u < units ? all.end - u : units;
    }
    *end = at + (is_laz(reader) ? list[u].points : units);
    return (reader_span){u, u + units, reader->place + at, reader->place + *end};
}

/* ---- their bytes */

/* No farther than the file goes: one that was cut names more. */
static void mark(const mote_reader *reader, uint64_t from, uint64_t to, uint64_t block_bytes, bool *blocks) {
    const uint64_t size_bytes = reader->input.size_bytes, end = to < size_bytes ? to : size_bytes;
    for (uint64_t b = from / block_bytes; from < end && b * block_bytes < end; b++) blocks[b] = true;
}

void mote_reader_mark_blocks(const mote_reader *reader, uint64_t block_bytes, bool *blocks) {
    const las_source *source = &reader->source;
    const uint64_t size_bytes = reader->input.size_bytes, record_bytes = source->header.point_bytes;
    if (reader->spans == NULL) {
        mark(reader, 0, size_bytes, block_bytes, blocks);
        return;
    }
    mark(reader, 0, source->header.points_at, block_bytes, blocks);
    mark(reader, reader->points_end, size_bytes, block_bytes, blocks);
    for (uint64_t c = 0; c < source->chunks.count && is_laz(reader); c++) {
        const las_chunk *chunk = &source->chunks.list[c];
        mark(reader, chunk->at, chunk->at + chunk->size_bytes, block_bytes, blocks);
    }
    for (uint64_t s = 0; s < reader->span_count && !is_laz(reader); s++) {
        const uint64_t at = source->header.points_at;
        mark(reader, at + reader->spans[s].first * record_bytes, at + reader->spans[s].end * record_bytes, block_bytes,
             blocks);
    }
}
