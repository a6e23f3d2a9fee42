/* LZF, the compression of binary_compressed PCD (the format of LibLZF).
   A control byte c begins each instruction:
     c < 32    c + 1 literal bytes follow
     c >= 32   a copy of (c >> 5) + 2 bytes; if c >> 5 is 7, the next byte adds to that. The low 5 bits of c and the
               byte that comes last are the distance back, less 1. A copy may run into what it writes. */
#include "io/pcd/pcd.h"

#define LITERALS_MAX 32u
#define COPY_MIN     3u
#define COPY_MAX     264u
#define DISTANCE_MAX 8192u
#define STEP_BYTES   16u
#define TABLE_BITS   14

/* ---- decoding */

/* writable: bytes from to on that may be written, length or more. Steps of a fixed size are one instruction each, so
   they run a little too far where there are bytes to spare; what they spoil is written later. */
static void copy_back(uint8_t *to, uint32_t distance, uint32_t length, uint64_t writable) {
    const uint8_t *const from = to - distance;
    if (distance >= STEP_BYTES && writable >= length + STEP_BYTES) {
        for (uint32_t i = 0; i < length; i += STEP_BYTES) memcpy(to + i, from + i, STEP_BYTES);
        return;
    }
    /* What is there repeats, so each step may take all that the ones before have made. */
    for (; length > distance; distance *= 2) {
        memcpy(to, from, distance);
        to += distance;
        length -= distance;
    }
    memcpy(to, from, length);
}

static const char *decode_literals(mote_lzf *lzf, uint32_t length) {
    if (length > lzf->in_bytes - lzf->in_at - 1) return "literal bytes run past the end of the compressed data";
    if (length > lzf->out_bytes - lzf->out_at) return "there are more points than the header says";
    uint8_t *const to = lzf->out + lzf->out_at;
    const uint8_t *const from = lzf->in + lzf->in_at + 1;
    if (lzf->out_bytes - lzf->out_at >= LITERALS_MAX && lzf->in_bytes - lzf->in_at > LITERALS_MAX) {
        memcpy(to, from, LITERALS_MAX);
    } else {
        memcpy(to, from, length);
    }
    lzf->in_at += 1 + length;
    lzf->out_at += length;
    return NULL;
}

static const char *decode_copy(mote_lzf *lzf) {
    const uint8_t *const in = lzf->in + lzf->in_at;
    uint32_t length = (uint32_t)(in[0] >> 5) + 2;
    const uint32_t bytes = length == 9 ? 3 : 2;
    if (bytes > lzf->in_bytes - lzf->in_at) return "a copy runs past the end of the compressed data";
    if (bytes == 3) length += in[1];
    const uint32_t distance = ((in[0] & 31u) << 8 | in[bytes - 1]) + 1;
    if (distance > lzf->out_at) return "a copy reaches back before the first byte";
    if (length > lzf->out_bytes - lzf->out_at) return "there are more points than the header says";
    copy_back(lzf->out + lzf->out_at, distance, length, lzf->out_bytes - lzf->out_at);
    lzf->in_at += bytes;
    lzf->out_at += length;
    return NULL;
}

const char *mote_lzf_decode(mote_lzf *lzf, uint64_t stop) {
    const char *error = NULL;
    while (lzf->out_at < stop && error == NULL) {
        if (lzf->in_at == lzf->in_bytes) return "the compressed data end before the last point";
        const uint8_t control = lzf->in[lzf->in_at];
        error = control < LITERALS_MAX ? decode_literals(lzf, control + 1u) : decode_copy(lzf);
    }
    return error;
}

/* ---- encoding */

uint64_t mote_lzf_bound(uint64_t size_bytes) { return size_bytes + size_bytes / LITERALS_MAX + 2; }

static uint8_t *put_literals(uint8_t *out, const uint8_t *from, uint64_t count) {
    while (count > 0) {
        const uint64_t run = count < LITERALS_MAX ? count : LITERALS_MAX;
        *out++ = (uint8_t)(run - 1);
        memcpy(out, from, run);
        out += run, from += run, count -= run;
    }
    return out;
}

static uint8_t *put_copy(uint8_t *out, uint64_t distance, uint64_t length) {
    const uint64_t back = distance - 1, code = length - 2;
    *out++ = (uint8_t)((code < 7 ? code : 7) << 5 | back >> 8);
    if (code >= 7) *out++ = (uint8_t)(code - 7);
    *out++ = (uint8_t)back;
    return out;
}

/* Where the table keeps the last place of these three bytes. */
static uint32_t *entry_of(uint32_t *table, const uint8_t *at) {
    const uint32_t bytes = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
    return &table[(bytes * 0x9E3779B1u) >> (32 - TABLE_BITS)];
}

static uint64_t match_length(const uint8_t *a, const uint8_t *b, uint64_t max) {
    uint64_t length = 0;
    while (length < max && a[length] == b[length]) length++;
    return length;
}

uint64_t mote_lzf_encode(const uint8_t *in, uint64_t size_bytes, uint8_t *out, uint32_t *table) {
    uint8_t *const begin = out;
    uint64_t at = 0, literals = 0; /* what lies between is not written yet */
    memset(table, 0, MOTE_LZF_TABLE_ENTRIES * sizeof *table);
    while (at + COPY_MIN <= size_bytes) {
        uint32_t *const entry = entry_of(table, in + at);
        const uint64_t before = *entry; /* + 1; 0: none */
        *entry = (uint32_t)at + 1;
        const uint64_t distance = at + 1 - before;
        const uint64_t max = size_bytes - at < COPY_MAX ? size_bytes - at : COPY_MAX;
        const bool near = before > 0 && distance <= DISTANCE_MAX;
        const uint64_t length = near ? match_length(in + at, in + before - 1, max) : 0;
        if (length < COPY_MIN) {
            at++;
            continue;
        }
        out = put_literals(out, in + literals, at - literals);
        out = put_copy(out, distance, length);
        at += length;
        literals = at;
        if (at + 1 <= size_bytes) *entry_of(table, in + at - 2) = (uint32_t)(at - 2) + 1;
    }
    return (uint64_t)(put_literals(out, in + literals, size_bytes - literals) - begin);
}
