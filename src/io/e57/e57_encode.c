/* Points to packets. Slots are packets in the making; a round fills as many as keep all threads busy, and what fills no
   packet stays in the first slot until more points come. */
#include <math.h>

#include "io/e57/e57_write.h"

#define PACKET_MAX       65532u
#define BLOCK_POINTS     1024u
#define SLOTS_PER_THREAD 4u
#define SLACK_BYTES      16u

/* ---- slots */

static uint64_t bytes_of(uint64_t records, uint32_t bits) { return (records * bits + 7) / 8; }

static uint64_t head_bytes(const e57_writer *w) { return E57_PACKET_BYTES + 2 * w->field_count; }

mote_status mote_e57_make_slots(e57_writer *w) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < w->field_count; i++) bits += w->fields[i].bits;
    const uint64_t room = head_bytes(w) < PACKET_MAX ? PACKET_MAX - head_bytes(w) : 0;
    w->packet_records = bits > 0 ? room * 8 / bits / 8 * 8 : 0;
    if (w->packet_records == 0) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED, "%s: %llu attributes are more than a packet of E57 holds",
                         w->path, (unsigned long long)w->field_count);
    }
    for (uint64_t i = 0; i < w->field_count; i++) {
        w->fields[i].at = w->stream_bytes;
        w->stream_bytes += bytes_of(w->packet_records, w->fields[i].bits) + SLACK_BYTES;
    }
    w->slot_count = SLOTS_PER_THREAD * (uint64_t)w->ctx->threads;
    w->slots = mote_alloc_zero(w->ctx, w->slot_count * sizeof *w->slots, "E57 packets");
    for (uint64_t i = 0; i < w->slot_count && w->slots != NULL; i++) {
        e57_slot *const slot = &w->slots[i];
        slot->streams = mote_alloc_zero(w->ctx, w->stream_bytes, "E57 packets");
        slot->packet = mote_alloc(w->ctx, E57_PACKET_MAX, "E57 packets");
        slot->ranges = mote_alloc(w->ctx, w->field_count * sizeof *slot->ranges, "E57 packets");
        if (slot->streams == NULL || slot->packet == NULL || slot->ranges == NULL) return MOTE_ERROR_MEMORY;
    }
    return w->slots != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void mote_e57_free_slots(e57_writer *w) {
    for (uint64_t i = 0; i < w->slot_count && w->slots != NULL; i++) {
        mote_free(w->ctx, w->slots[i].streams);
        mote_free(w->ctx, w->slots[i].packet);
        mote_free(w->ctx, w->slots[i].ranges);
    }
    mote_free(w->ctx, w->slots);
}

/* ---- values to bits */

/* Appends values at record number `record` of a stream that is zero from there on. */
static void pack(uint8_t *stream, uint64_t record, uint32_t bits, const uint64_t *values, uint32_t count) {
    uint64_t at = record * bits;
    for (uint32_t i = 0; i < count; i++, at += bits) {
        const uint64_t shift = at % 8;
        uint8_t *const to = stream + at / 8;
        uint64_t word;
        memcpy(&word, to, sizeof word);
        word |= values[i] << shift;
        memcpy(to, &word, sizeof word);
        if (shift + bits > 64) to[8] = (uint8_t)(values[i] >> (64 - shift));
    }
}

static void widen(e57_range *range, double value) {
    if (value < range->low) range->low = value;
    if (value > range->high) range->high = value;
}

static void encode_integers(const e57_out_field *field, uint64_t first, uint32_t count, uint64_t record, e57_slot *slot,
                            int64_t number) {
    int64_t values[BLOCK_POINTS];
    int64_t low = INT64_MAX, high = INT64_MIN;
    mote_column_read(field->column, first, count, MOTE_INT64, values);
    /* The only integers that E57 does not have are unsigned ones from 2^63 on, which are saturated here. */
    if (field->column->type == MOTE_UINT64) {
        uint64_t whole[BLOCK_POINTS];
        mote_column_read(field->column, first, count, MOTE_UINT64, whole);
        for (uint32_t i = 0; i < count; i++) {
            if (whole[i] > INT64_MAX) slot->beyond = number;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] += field->shift;
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
        values[i] = (int64_t)((uint64_t)values[i] - (uint64_t)field->minimum);
    }
    widen(&slot->ranges[number], (double)low);
    widen(&slot->ranges[number], (double)high);
    if (field->bits > 0) pack(slot->streams + field->at, record, field->bits, (const uint64_t *)values, count);
}

static void encode_reals(const e57_out_field *field, uint64_t first, uint32_t count, uint64_t record,
                         const bool *hidden, e57_slot *slot, int64_t number) {
    double values[BLOCK_POINTS];
    float singles[BLOCK_POINTS];
    const mote_column *const column = field->column;
    const bool single = field->kind == E57_SINGLE;
    mote_column_read(column, first, count, single ? MOTE_FLOAT32 : MOTE_FLOAT64,
                     single ? (void *)singles : (void *)values);
    for (uint32_t i = 0; i < count; i++) {
        if (single && hidden != NULL && hidden[i]) singles[i] = 0;
        if (single) values[i] = (double)singles[i];
        if (!single && (column->scale != 1 || column->offset != 0))
            values[i] = values[i] * column->scale + column->offset;
        if (!single && hidden != NULL && hidden[i]) values[i] = 0;
        if (isfinite(values[i]) && !(hidden != NULL && hidden[i])) widen(&slot->ranges[number], values[i]);
    }
    uint8_t *const to = slot->streams + field->at + record * (field->bits / 8);
    memcpy(to, single ? (const void *)singles : (const void *)values, (size_t)count * (field->bits / 8));
}

/* Points without a finite position are invalid to E57. */
static uint64_t find_hidden(const e57_writer *w, uint64_t first, uint32_t count, bool *hidden) {
    uint64_t total = 0;
    memset(hidden, false, count);
    for (int k = 0; k < 3; k++) {
        double values[BLOCK_POINTS];
        if (!mote_type_is_float(w->axes[k]->type)) continue;
        mote_column_read(w->axes[k], first, count, MOTE_FLOAT64, values);
        for (uint32_t i = 0; i < count; i++) hidden[i] = hidden[i] || !isfinite(values[i]);
    }
    for (uint32_t i = 0; i < count; i++) total += hidden[i];
    return total;
}

static void encode_block(const e57_writer *w, uint64_t first, uint32_t count, uint64_t record, e57_slot *slot) {
    bool hidden[BLOCK_POINTS] = {false};
    const bool has_state = w->fields[w->field_count - 1].column == NULL;
    if (has_state) slot->hidden += find_hidden(w, first, count, hidden);
    for (uint64_t i = 0; i < w->field_count; i++) {
        const e57_out_field *const field = &w->fields[i];
        if (field->column == NULL) {
            uint64_t states[BLOCK_POINTS];
            for (uint32_t k = 0; k < count; k++) states[k] = hidden[k] ? 2 : 0;
            pack(slot->streams + field->at, record, field->bits, states, count);
        } else if (field->kind == E57_SINGLE || field->kind == E57_DOUBLE) {
            const bool is_axis = has_state && strncmp(field->name, "cartesian", 9) == 0;
            encode_reals(field, first, count, record, is_axis ? hidden : NULL, slot, (int64_t)i);
        } else {
            encode_integers(field, first, count, record, slot, (int64_t)i);
        }
    }
}

/* ---- packets */

static void close_packet(const e57_writer *w, e57_slot *slot) {
    uint8_t *const packet = slot->packet;
    uint64_t at = head_bytes(w);
    const uint16_t count = (uint16_t)w->field_count;
    memset(packet, 0, E57_PACKET_BYTES);
    packet[0] = E57_PACKET_DATA;
    memcpy(packet + 4, &count, sizeof count);
    for (uint64_t i = 0; i < w->field_count; i++) {
        const uint16_t length = (uint16_t)bytes_of(slot->count, w->fields[i].bits);
        memcpy(packet + E57_PACKET_BYTES + 2 * i, &length, sizeof length);
        memcpy(packet + at, slot->streams + w->fields[i].at, length);
        at += length;
    }
    while (at % 4 != 0) packet[at++] = 0;
    const uint16_t last = (uint16_t)(at - 1);
    memcpy(packet + 2, &last, sizeof last);
    slot->packet_bytes = (uint32_t)at;
}

static mote_status write_packet(e57_writer *w, const e57_slot *slot) {
    e57_out_scan *const scan = &w->scans[w->scan_count - 1];
    if (!mote_reserve(w->ctx, (void **)&w->packets, &w->packet_capacity, w->packet_count + 1, sizeof *w->packets,
                      "E57 index")) {
        return MOTE_ERROR_MEMORY;
    }
    w->packets[w->packet_count++] = w->logical;
    for (uint64_t i = 0; i < w->field_count; i++) {
        widen(&scan->ranges[i], slot->ranges[i].low);
        widen(&scan->ranges[i], slot->ranges[i].high);
    }
    scan->count += slot->count;
    w->hidden += slot->hidden;
    if (slot->beyond >= 0) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: \"%s\" has values of 2^63 or more, which the integers of E57 do not reach", w->path,
                         w->fields[slot->beyond].column->name);
    }
    return mote_e57_append(w, slot->packet, slot->packet_bytes);
}

static void clear_slot(const e57_writer *w, e57_slot *slot) {
    memset(slot->streams, 0, w->stream_bytes);
    for (uint64_t i = 0; i < w->field_count; i++) slot->ranges[i] = (e57_range){INFINITY, -INFINITY};
    slot->count = slot->hidden = 0;
    slot->beyond = -1;
}

/* Appends points to a slot, and makes a packet of it when it is full. */
static void fill_slot(const e57_writer *w, uint64_t first, uint64_t count, e57_slot *slot) {
    if (slot->count == 0) clear_slot(w, slot);
    while (count > 0) {
        const uint32_t part = count < BLOCK_POINTS ? (uint32_t)count : BLOCK_POINTS;
        encode_block(w, first, part, slot->count, slot);
        slot->count += part;
        first += part;
        count -= part;
    }
    if (slot->count == w->packet_records) close_packet(w, slot);
}

/* Fills slots, of which the first may have records already; *taken: points. */
static mote_status encode_round(e57_writer *w, uint64_t first, uint64_t count, uint64_t *taken) {
    const uint64_t before = w->slots[0].count, size = w->packet_records;
    const uint64_t records = before + count < w->slot_count * size ? before + count : w->slot_count * size;
    const int64_t slots = (int64_t)((records + size - 1) / size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->ctx->threads) if (slots > 1)
    for (int64_t s = 0; s < slots; s++) {
        const uint64_t begin = s == 0 ? before : (uint64_t)s * size;
        const uint64_t end = records < ((uint64_t)s + 1) * size ? records : ((uint64_t)s + 1) * size;
        if (s > 0) w->slots[s].count = 0;
        fill_slot(w, first + (begin - before), end - begin, &w->slots[s]);
    }
    *taken = records - before;
    for (int64_t s = 0; s < slots; s++) {
        if (w->slots[s].count < size) {
            const e57_slot rest = w->slots[s];
            w->slots[s] = w->slots[0];
            w->slots[0] = rest;
            return MOTE_OK;
        }
        MOTE_TRY(write_packet(w, &w->slots[s]));
    }
    w->slots[0].count = 0;
    return MOTE_OK;
}

mote_status mote_e57_encode(e57_writer *w, uint64_t first, uint64_t count) {
    while (count > 0) {
        uint64_t taken;
        MOTE_TRY(encode_round(w, first, count, &taken));
        first += taken;
        count -= taken;
        w->added += taken;
        MOTE_TRY(mote_progress(w->ctx, (double)w->added / (double)(w->count > 0 ? w->count : 1), "writing E57"));
    }
    return MOTE_OK;
}

/* A scan without points has a packet all the same: readers look for one. */
mote_status mote_e57_encode_rest(e57_writer *w) {
    e57_slot *const slot = &w->slots[0];
    if (slot->count == 0 && w->packet_count > 0) return MOTE_OK;
    if (slot->count == 0) clear_slot(w, slot);
    close_packet(w, slot);
    const mote_status status = write_packet(w, slot);
    slot->count = 0;
    return status;
}
