/* The packets of a scan's section. A round reads pages, checks them, walks along the packets in them, and appends what
   each has of a field to the stream of that field:

     packets   | head | x x x | y y | r |  head | x x x | y y | r | ...
     streams   x: x x x x x x ...    y: y y y y ...    r: r r ...

   All but the walk is done by many threads. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>

#include "io/e57/e57.h"

#define ROUND_PAGES   4096u
#define CHECKED_PAGES 64u    /* by a thread at a time */
#define CONSTANT_MAX  65536u /* records that need no bits: more are a lie */
#define PADDING_BYTES 8u     /* that writers leave at the end of a stream at most: a word */
#define SLACK_BYTES   16u    /* behind a stream: a word is read at its last byte */

enum { PAGE_RIGHT, PAGE_WRONG };

static uint16_t u16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* ---- the section */

/* What the header of a section says; where its page is damaged, that packets follow, up to the end of the file. */
static mote_status read_section(e57_packets *p, uint64_t section) {
    const uint64_t place = p->scan->place, page = section / E57_PAYLOAD_BYTES;
    const uint64_t last = (section + E57_SECTION_BYTES - 1) / E57_PAYLOAD_BYTES;
    uint64_t length, data;
    uint8_t head[E57_SECTION_BYTES];
    if (section + E57_SECTION_BYTES > p->file->logical_bytes) {
        return mote_malformed(p->ctx, p->input, place, "the file ends within the header of a scan's points");
    }
    bool damaged = false;
    for (uint64_t i = page; i <= last; i++) {
        damaged = damaged || !mote_e57_page_is_right(p->input->data + i * E57_PAGE_BYTES);
    }
    if (damaged && p->salvage) {
        p->at = section + E57_SECTION_BYTES;
        p->end = p->file->logical_bytes;
        return MOTE_OK;
    }
    MOTE_TRY(mote_e57_read_payload(p->ctx, p->input, section, sizeof head, head));
    memcpy(&length, head + 8, sizeof length);
    memcpy(&data, head + 16, sizeof data);
    if (head[0] != E57_SECTION_KIND) {
        return mote_malformed(p->ctx, p->input, place, "a section of kind %u, where the points of a scan should be",
                              head[0]);
    }
    const uint64_t held = p->file->logical_bytes - section;
    if (length < E57_SECTION_BYTES || (length > held && !p->salvage)) {
        return mote_malformed(p->ctx, p->input, place, "a section of %" PRIu64 " bytes, where %" PRIu64 " are left%s",
                              length, held, length > held ? MOTE_SALVAGE_HINT : "");
    }
    p->end = section + (length < held ? length : held);
    MOTE_TRY(mote_e57_place(p->ctx, p->input, p->file, data, place, "the first packet of a scan", &p->at));
    if (p->at >= section + E57_SECTION_BYTES && p->at < p->end) return MOTE_OK;
    return mote_malformed(p->ctx, p->input, place, "the first packet is at offset %" PRIu64 ", outside of its section",
                          data);
}

/* Refuses more records than can be in so few bytes. */
static mote_status check_count(const e57_packets *p) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < p->scan->field_count; i++) bits += p->scan->fields[i].bits;
    const uint64_t bytes = p->end - p->at;
    const uint64_t max = bits == 0 ? CONSTANT_MAX : bytes / bits * 8 + bytes % bits * 8 / bits;
    if (p->scan->count <= max || (p->salvage && bits > 0)) return MOTE_OK;
    return mote_malformed(p->ctx, p->input, p->scan->stated_at,
                          "%" PRIu64 " records of %" PRIu64 " bits are stated, but there are %" PRIu64 " bytes%s",
                          p->scan->count, bits, bytes, bits > 0 ? MOTE_SALVAGE_HINT : "");
}

void mote_e57_packets_close(e57_packets *p) {
    if (p->ctx == NULL) return;
    for (uint64_t i = 0; i < p->scan->field_count && p->streams != NULL; i++) mote_free(p->ctx, p->streams[i].bytes);
    mote_free(p->ctx, p->streams);
    mote_free(p->ctx, p->ends);
    mote_free(p->ctx, p->lengths);
    mote_free(p->ctx, p->pages);
    mote_free(p->ctx, p->page_states);
    mote_free(p->ctx, p->pieces);
    mote_free(p->ctx, p->losses);
    memset(p, 0, sizeof *p);
}

uint64_t mote_e57_records_ready(const e57_packets *p) {
    uint64_t end = p->scan->count;
    for (uint64_t i = 0; i < p->scan->field_count; i++) {
        const uint32_t bits = p->scan->fields[i].bits;
        if (!p->wanted[i] || bits == 0) continue;
        const uint64_t records = p->ends[i] / bits * 8 + p->ends[i] % bits * 8 / bits;
        if (records < end) end = records;
    }
    return end > p->next ? end - p->next : 0;
}

void mote_e57_packets_take(e57_packets *p, uint64_t end) { p->next = end; }

/* ---- pages of a round */

static mote_status load_pages(e57_packets *p) {
    p->page_first = p->at / E57_PAYLOAD_BYTES;
    const uint64_t remaining = (p->end + E57_PAYLOAD_BYTES - 1) / E57_PAYLOAD_BYTES - p->page_first;
    p->page_count = remaining < p->page_capacity ? remaining : p->page_capacity;
    const int64_t parts = (int64_t)((p->page_count + CHECKED_PAGES - 1) / CHECKED_PAGES);
    int failed = MOTE_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->ctx->threads) if (parts > 1)
    for (int64_t part = 0; part < parts; part++) {
        const uint64_t first = (uint64_t)part * CHECKED_PAGES, left = p->page_count - first;
        const uint64_t count = left < CHECKED_PAGES ? left : CHECKED_PAGES;
        uint8_t *const pages = p->pages + first * E57_PAGE_BYTES;
        const mote_status status =
            mote_input_copy(p->ctx, p->input, (p->page_first + first) * E57_PAGE_BYTES, count * E57_PAGE_BYTES, pages);
        if (status != MOTE_OK) {
#pragma omp atomic write
            failed = (int)status;
        }
        for (uint64_t i = 0; i < count && status == MOTE_OK; i++) {
            const bool right = mote_e57_page_is_right(pages + i * E57_PAGE_BYTES);
            p->page_states[first + i] = right ? PAGE_RIGHT : PAGE_WRONG;
        }
    }
    return (mote_status)failed;
}

/* Where the payload that was loaded ends. */
static uint64_t loaded_end(const e57_packets *p) {
    const uint64_t end = (p->page_first + p->page_count) * E57_PAYLOAD_BYTES;
    return end < p->end ? end : p->end;
}

/* Copies payload that is loaded. */
static void copy_payload(const e57_packets *p, uint64_t logical, uint64_t size_bytes, uint8_t *out) {
    while (size_bytes > 0) {
        const uint64_t page = logical / E57_PAYLOAD_BYTES - p->page_first, from = logical % E57_PAYLOAD_BYTES;
        const uint64_t rest = E57_PAYLOAD_BYTES - from, part = size_bytes < rest ? size_bytes : rest;
        memcpy(out, p->pages + page * E57_PAGE_BYTES + from, part);
        out += part;
        logical += part;
        size_bytes -= part;
    }
}

/* The first damaged page of payload that is loaded; UINT64_MAX: it is whole. */
static uint64_t find_damage(const e57_packets *p, uint64_t logical, uint64_t size_bytes) {
    const uint64_t last = (logical + size_bytes - 1) / E57_PAYLOAD_BYTES;
    for (uint64_t page = logical / E57_PAYLOAD_BYTES; page <= last; page++) {
        if (p->page_states[page - p->page_first] != PAGE_RIGHT) return page;
    }
    return UINT64_MAX;
}

/* ---- walking along packets */

typedef struct e57_packet {
    uint32_t kind, length, head_bytes;
} e57_packet;

/* What is wrong with the packets from here on. Salvage goes without them. */
static mote_status give_up(e57_packets *p, const char *why) {
    const uint64_t at = p->at;
    p->is_over = true;
    if (p->lost_at == UINT64_MAX) p->lost_at = e57_physical(at);
    if (p->salvage) return MOTE_OK;
    return mote_malformed(p->ctx, p->input, e57_physical(at), "%s" MOTE_SALVAGE_HINT, why);
}

/* The head of the packet at p->at, as far as it is loaded. *lengths: of its streams, into p->lengths. NULL, or what is
   wrong with it. */
static const char *read_packet(const e57_packets *p, uint64_t loaded, e57_packet *packet, uint32_t *lengths,
                               bool *whole) {
    uint8_t head[E57_PACKET_BYTES];
    *whole = false;
    if (p->end - p->at < 4) return "the section ends within a packet";
    if (loaded - p->at < E57_PACKET_BYTES && loaded < p->end) return NULL;
    const uint64_t held = loaded - p->at < E57_PACKET_BYTES ? 4 : E57_PACKET_BYTES;
    memset(head, 0, sizeof head);
    copy_payload(p, p->at, held, head);
    packet->kind = head[0];
    packet->length = u16(head + 2) + 1u;
    if (packet->kind > E57_PACKET_EMPTY) return "there is no packet of this kind";
    if (packet->length < 4 || packet->length > p->end - p->at)
        return "a packet is longer than what is left of its section";
    if (packet->kind != E57_PACKET_DATA) {
        *whole = packet->length <= loaded - p->at;
        return NULL;
    }
    const uint64_t count = u16(head + 4);
    packet->head_bytes = (uint32_t)(E57_PACKET_BYTES + 2 * count);
    if (count != p->scan->field_count) return "a packet has not as many streams as the scan has fields";
    if (packet->head_bytes > packet->length) return "a packet ends within its head";
    if (packet->length > loaded - p->at) return NULL;
    uint64_t sum = packet->head_bytes;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t length[2];
        copy_payload(p, p->at + E57_PACKET_BYTES + 2 * i, sizeof length, length);
        lengths[i] = u16(length);
        sum += lengths[i];
    }
    if (sum > packet->length) return "the streams of a packet are longer than it is";
    *whole = true;
    return NULL;
}

static mote_status lose_records(e57_packets *p, const uint32_t *lengths) {
    for (uint64_t i = 0; i < p->scan->field_count; i++) {
        const uint32_t bits = p->scan->fields[i].bits;
        if (!p->wanted[i] || bits == 0 || lengths[i] == 0) continue;
        void *memory = p->losses;
        const bool held =
            mote_reserve(p->ctx, &memory, &p->loss_capacity, p->loss_count + 1, sizeof *p->losses, "E57 packets");
        p->losses = memory;
        if (!held) return MOTE_ERROR_MEMORY;
        const uint64_t end = p->ends[i] + lengths[i];
        p->losses[p->loss_count++] = (e57_loss){p->ends[i] / bits * 8 + p->ends[i] % bits * 8 / bits,
                                                end / bits * 8 + (end % bits * 8 + bits - 1) / bits};
    }
    return MOTE_OK;
}

/* Notes where a data packet has the pieces of all streams. */
static mote_status add_packet(e57_packets *p, const e57_packet *packet, const uint32_t *lengths, uint64_t *count) {
    const uint64_t fields = p->scan->field_count, entry = fields + 1;
    void *memory = p->pieces;
    const bool held =
        mote_reserve(p->ctx, &memory, &p->piece_capacity, (*count + 1) * entry, sizeof *p->pieces, "E57 packets");
    p->pieces = memory;
    if (!held) return MOTE_ERROR_MEMORY;
    uint64_t *const piece = p->pieces + *count * entry;
    piece[0] = p->at + packet->head_bytes;
    for (uint64_t i = 0; i < fields; i++) piece[1 + i] = p->ends[i] += lengths[i];
    (*count)++;
    return MOTE_OK;
}

/* A damaged packet: its records are lost, and those behind it are not, as long as it is known how many it had. Where
   its head is damaged, too, that is uncertain: what is there is taken if it could be true, else the packet is taken to
   be like the one before. page: the first that is damaged. *wrong: what is wrong with the packet as it is taken. */
static mote_status pass_damaged(e57_packets *p, uint64_t page, uint64_t loaded, e57_packet *packet, uint32_t *lengths,
                                const char **wrong) {
    const uint64_t fields = p->scan->field_count, head = E57_PACKET_BYTES + 2 * fields;
    const bool head_is_damaged = page <= (p->at + head - 1) / E57_PAYLOAD_BYTES;
    if (p->lost_at == UINT64_MAX) p->lost_at = page * E57_PAGE_BYTES;
    if (head_is_damaged && p->uncertain_at == UINT64_MAX) p->uncertain_at = p->at;
    const bool has_data = *wrong == NULL && packet->kind == E57_PACKET_DATA;
    if (head_is_damaged && !has_data && p->last_length > 0 && p->last_length <= loaded - p->at) {
        *packet = (e57_packet){E57_PACKET_DATA, p->last_length, (uint32_t)head};
        memcpy(lengths, p->lengths, fields * sizeof *lengths);
        *wrong = NULL;
    }
    return *wrong == NULL && packet->kind == E57_PACKET_DATA ? lose_records(p, lengths) : MOTE_OK;
}

/* The packets that are loaded whole; *count: how many of them have data. */
static mote_status walk(e57_packets *p, uint32_t *lengths, uint64_t *count) {
    const uint64_t loaded = loaded_end(p);
    *count = 0;
    while (p->at < p->end) {
        e57_packet packet = {0, 0, 0};
        bool whole;
        const char *wrong = read_packet(p, loaded, &packet, lengths, &whole);
        if (wrong == NULL && !whole) return MOTE_OK;
        const uint64_t held = loaded - p->at, head = E57_PACKET_BYTES + 2 * p->scan->field_count;
        const uint64_t page = find_damage(p, p->at, whole ? packet.length : held < head ? held : head);
        if (page != UINT64_MAX && !p->salvage) return mote_e57_bad_page(p->ctx, p->input, page, true);
        if (page != UINT64_MAX) MOTE_TRY(pass_damaged(p, page, loaded, &packet, lengths, &wrong));
        if (wrong == NULL && p->at >= p->trusted_end)
            wrong = "how many records the packets from here on lack is not known";
        if (wrong != NULL) return give_up(p, wrong);
        if (packet.kind == E57_PACKET_DATA) {
            MOTE_TRY(add_packet(p, &packet, lengths, count));
            memcpy(p->lengths, lengths, p->scan->field_count * sizeof *lengths);
            p->last_length = packet.length;
        }
        p->at += packet.length;
    }
    p->is_over = true;
    return MOTE_OK;
}

/* Walks along all packets of a scan that is to be salvaged. Where heads are damaged, the streams tell in the end
   whether what they were taken for is right: they are as long as the records need. Otherwise packets are trusted up to
   the first such head. */
static mote_status survey(e57_packets *p) {
    const uint64_t fields = p->scan->field_count, begin = p->at;
    uint32_t *const lengths = mote_alloc_zero(p->ctx, fields * sizeof *lengths, "E57 packets");
    mote_status status = lengths != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    uint64_t count;
    while (status == MOTE_OK && !p->is_over) {
        status = load_pages(p);
        if (status == MOTE_OK) status = walk(p, lengths, &count);
        if (status == MOTE_OK) status = mote_progress_again(p->ctx);
    }
    bool fits = true;
    for (uint64_t i = 0; i < fields && status == MOTE_OK; i++) {
        const uint32_t bits = p->scan->fields[i].bits;
        const uint64_t bytes = p->scan->count / 8 * bits + (p->scan->count % 8 * bits + 7) / 8;
        fits = fits && (bits == 0 || (p->ends[i] >= bytes && p->ends[i] - bytes <= PADDING_BYTES));
        p->ends[i] = 0;
    }
    if (!fits) p->trusted_end = p->uncertain_at;
    p->at = begin;
    p->is_over = false;
    p->loss_count = p->last_length = 0;
    p->lost_at = UINT64_MAX;
    mote_free(p->ctx, lengths);
    return status;
}

mote_status mote_e57_packets_open(mote_context *ctx, const mote_input *input, const e57_file *file,
                                  const e57_scan *scan, const bool *wanted, bool salvage, e57_packets *p) {
    uint64_t section;
    memset(p, 0, sizeof *p);
    p->ctx = ctx;
    p->input = input;
    p->file = file;
    p->scan = scan;
    p->salvage = salvage;
    p->wanted = wanted;
    p->lost_at = p->uncertain_at = p->trusted_end = UINT64_MAX;
    MOTE_TRY(mote_e57_place(ctx, input, file, scan->place, scan->stated_at, "a scan", &section));
    MOTE_TRY(read_section(p, section));
    MOTE_TRY(check_count(p));
    const uint64_t pages = (p->end + E57_PAYLOAD_BYTES - 1) / E57_PAYLOAD_BYTES - p->at / E57_PAYLOAD_BYTES;
    p->page_capacity = pages < ROUND_PAGES ? pages : ROUND_PAGES;
    p->pages = mote_alloc(ctx, p->page_capacity * E57_PAGE_BYTES, "E57 packets");
    p->page_states = mote_alloc(ctx, p->page_capacity, "E57 packets");
    p->streams = mote_alloc_zero(ctx, scan->field_count * sizeof *p->streams, "E57 packets");
    p->ends = mote_alloc_zero(ctx, scan->field_count * sizeof *p->ends, "E57 packets");
    p->lengths = mote_alloc_zero(ctx, scan->field_count * sizeof *p->lengths, "E57 packets");
    const bool held =
        p->pages != NULL && p->page_states != NULL && p->streams != NULL && p->ends != NULL && p->lengths != NULL;
    if (!held) return MOTE_ERROR_MEMORY;
    return salvage ? survey(p) : MOTE_OK;
}

/* ---- streams */

/* Drops what was decoded, and makes room for what this round brings. */
static mote_status make_room(e57_packets *p) {
    for (uint64_t i = 0; i < p->scan->field_count; i++) {
        e57_stream *const stream = &p->streams[i];
        const uint32_t bits = p->scan->fields[i].bits;
        if (!p->wanted[i] || bits == 0) continue;
        uint64_t first = p->next / 8 * bits + p->next % 8 * bits / 8;
        if (first > stream->end) first = stream->end;
        const uint64_t kept = stream->end - first;
        if (kept > 0) memmove(stream->bytes, stream->bytes + (first - stream->begin), kept);
        void *memory = stream->bytes;
        const bool held =
            mote_reserve(p->ctx, &memory, &stream->capacity, p->ends[i] - first + SLACK_BYTES, 1, "E57 streams");
        stream->bytes = memory;
        if (!held) return MOTE_ERROR_MEMORY;
        stream->begin = first;
        stream->end = p->ends[i];
        memset(stream->bytes + (stream->end - stream->begin), 0, SLACK_BYTES);
    }
    return MOTE_OK;
}

static void gather(const e57_packets *p, uint64_t number, const uint64_t *begins) {
    const uint64_t fields = p->scan->field_count;
    const uint64_t *const piece = p->pieces + number * (fields + 1);
    const uint64_t *const before = number > 0 ? piece - fields : begins;
    uint64_t at = piece[0];
    for (uint64_t i = 0; i < fields; i++) {
        const uint64_t length = piece[1 + i] - before[i];
        const e57_stream *const stream = &p->streams[i];
        if (p->wanted[i] && p->scan->fields[i].bits > 0)
            copy_payload(p, at, length, stream->bytes + (before[i] - stream->begin));
        at += length;
    }
}

mote_status mote_e57_packets_read(e57_packets *p) {
    const uint64_t fields = p->scan->field_count, before = p->at;
    uint64_t count = 0;
    MOTE_TRY(load_pages(p));
    uint32_t *const lengths = mote_alloc_zero(p->ctx, fields * sizeof *lengths, "E57 packets");
    uint64_t *const begins = mote_alloc(p->ctx, fields * sizeof *begins, "E57 packets");
    mote_status status = lengths != NULL && begins != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) memcpy(begins, p->ends, fields * sizeof *begins);
    if (status == MOTE_OK) status = walk(p, lengths, &count);
    if (status == MOTE_OK && p->at == before && !p->is_over) status = give_up(p, "a packet does not end");
    if (status == MOTE_OK) status = make_room(p);
    if (status == MOTE_OK) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(p->ctx->threads) if (count > 8)
        for (int64_t i = 0; i < (int64_t)count; i++) gather(p, (uint64_t)i, begins);
    }
    mote_free(p->ctx, lengths);
    mote_free(p->ctx, begins);
    return status;
}
