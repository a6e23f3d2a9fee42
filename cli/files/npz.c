/* Arrays as numpy's .npz. PKWARE's APPNOTE 6.3.10 (zip, 4.5.3 zip64). */
#include "files/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/crc.h"
#include "files/npy.h"

#define ALIGNMENT     64u
#define LOCAL_BYTES   30u
#define CENTRAL_BYTES 46u
#define END_BYTES     (56u + 20u + 22u) /* zip64 record, its locator, end record */
#define ZIP64_FIELD   0x0001u
#define ALIGN_FIELD   0xA11Eu /* of Apache Commons Compress: alignment, then filling */
#define NAME_MAX      64u
#define HEADER_MAX    512u
#define PIECE_BYTES   (4u << 20)
#define BATCH_PIECES  64 /* between two looks at progress */

/* One .npy in the file. */
typedef struct member {
    const npz_array *array;
    char name[NAME_MAX];
    uint64_t offset; /* of its local header */
    uint64_t start;  /* of the .npy */
    uint64_t size_bytes;
    uint32_t crc;
    bool is_large; /* zip64 */
    uint8_t npy[NPY_BYTES];
} member;

/* The whole file. */
typedef struct npz_file {
    mote_context *ctx;
    mote_output *output;
    const npz_params *params;
    member members[NPZ_ARRAYS_MAX];
    int count;
    uint64_t central; /* offset of the central directory */
    uint64_t all_bytes, done_bytes;
    crc_tables tables;
} npz_file;

uint64_t npz_count(const npz_array *array) {
    return array->dimensions == 1 ? array->shape[0] : array->shape[0] * array->shape[1];
}

uint64_t npz_bytes(const npz_array *array) { return npz_count(array) * (uint64_t)(array->type[2] - '0'); }

/* Little-endian numbers, one behind the other. */
static uint8_t *put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (uint8_t)(value >> 8 * i);
    return at;
}

static uint8_t *put_name(uint8_t *at, const member *m) {
    const size_t length = strlen(m->name);
    memcpy(at, m->name, length);
    return at + length;
}

/* ---- where everything goes */

/* Bytes between a local header's fixed part with its name and the .npy. */
static uint64_t extra_bytes(const member *m) {
    const uint64_t min = (m->is_large ? 20u : 0u) + 6u;
    const uint64_t end = m->offset + LOCAL_BYTES + strlen(m->name) + min;
    return min + (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
}

static void plan_file(npz_file *f, const npz_array *arrays) {
    uint64_t at = 0;
    for (int i = 0; i < f->count; i++) {
        member *m = &f->members[i];
        m->array = &arrays[i];
        snprintf(m->name, sizeof m->name, "%s.npy", arrays[i].name);
        npy_header(arrays[i].type, arrays[i].dimensions, arrays[i].shape, m->npy);
        m->offset = at;
        m->size_bytes = NPY_BYTES + npz_bytes(m->array);
        m->is_large = m->size_bytes >= f->params->zip64_from || at >= f->params->zip64_from;
        m->start = at + LOCAL_BYTES + strlen(m->name) + extra_bytes(m);
        at = m->start + m->size_bytes;
        f->all_bytes += m->size_bytes;
    }
    f->central = at;
}

/* ---- values */

static bool report(npz_file *f, uint64_t bytes) {
    f->done_bytes += bytes;
    if (f->params->progress == NULL) return true;
    return f->params->progress(f->params->user, (double)f->done_bytes / (double)f->all_bytes);
}

/* Writes the values [first, first + bytes) of a member, several pieces at a time, and adds them to its checksum. */
static mote_status write_batch(npz_file *f, member *m, const uint8_t *data, uint64_t first, uint64_t bytes) {
    uint32_t sums[BATCH_PIECES];
    const int pieces = (int)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    int error = 0;
#pragma omp parallel for schedule(dynamic) num_threads(f->params->threads) reduction(max : error)
    for (int i = 0; i < pieces; i++) {
        const uint64_t at = (uint64_t)i * PIECE_BYTES;
        const uint64_t size = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        sums[i] = crc_of(&f->tables, data + at, (size_t)size);
        const int failed =
            (int)mote_output_write_at(f->ctx, f->output, data + at, size, m->start + NPY_BYTES + first + at);
        if (failed > error) error = failed;
    }
    for (int i = 0; i < pieces; i++) {
        const uint64_t at = (uint64_t)i * PIECE_BYTES;
        m->crc = crc_join(m->crc, sums[i], bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
    }
    return (mote_status)error;
}

/* Of rows from first on; the array's data begins there. */
static mote_status write_rows(npz_file *f, member *m, uint64_t first, uint64_t count) {
    const uint64_t row_bytes = m->array->shape[0] > 0 ? npz_bytes(m->array) / m->array->shape[0] : 0;
    const uint64_t bytes = count * row_bytes, max = (uint64_t)PIECE_BYTES * BATCH_PIECES;
    for (uint64_t at = 0; at < bytes; at += max) {
        const uint64_t some = bytes - at < max ? bytes - at : max;
        const mote_status status =
            write_batch(f, m, (const uint8_t *)m->array->data + at, first * row_bytes + at, some);
        if (status != MOTE_OK) return status;
        if (!report(f, some)) return MOTE_CANCELLED;
    }
    return MOTE_OK;
}

static mote_status write_blocks(npz_file *f) {
    const uint64_t rows = f->count > 0 ? f->members[0].array->shape[0] : 0, each = f->params->block_rows;
    mote_status status = MOTE_OK;
    for (uint64_t first = 0; first < rows && status == MOTE_OK; first += each) {
        const uint64_t count = rows - first < each ? rows - first : each;
        status = f->params->load(f->params->user, first, count);
        for (int i = 0; i < f->count && status == MOTE_OK; i++) status = write_rows(f, &f->members[i], first, count);
    }
    return status;
}

static mote_status write_values(npz_file *f) {
    mote_status status = MOTE_OK;
    for (int i = 0; i < f->count; i++) f->members[i].crc = crc_of(&f->tables, f->members[i].npy, NPY_BYTES);
    if (f->params->load != NULL) return write_blocks(f);
    for (int i = 0; i < f->count && status == MOTE_OK; i++) {
        status = write_rows(f, &f->members[i], 0, f->members[i].array->shape[0]);
    }
    return status;
}

/* ---- headers */

/* What local and central header have in common: version needed … extra length. */
static uint8_t *put_common(uint8_t *at, const member *m, uint64_t extra) {
    const uint64_t size_bytes = m->is_large ? UINT32_MAX : m->size_bytes;
    at = put(at, m->is_large ? 45 : 20, 2);
    at = put(at, 0, 2);          /* flags */
    at = put(at, 0, 2);          /* stored */
    at = put(at, 0x00210000, 4); /* 1980-01-01, 00:00: the same bytes every day */
    at = put(at, m->crc, 4);
    at = put(at, size_bytes, 4);
    at = put(at, size_bytes, 4);
    at = put(at, strlen(m->name), 2);
    return put(at, extra, 2);
}

/* The local header, filled up to the .npy, and the header of that. */
static mote_status write_local(const npz_file *f, const member *m) {
    uint8_t bytes[HEADER_MAX] = {0};
    const uint64_t extra = extra_bytes(m), filled = extra - (m->is_large ? 20u : 0u);
    uint8_t *at = put(bytes, 0x04034B50, 4);
    at = put_name(put_common(at, m, extra), m);
    if (m->is_large) {
        at = put(put(at, ZIP64_FIELD, 2), 16, 2);
        at = put(put(at, m->size_bytes, 8), m->size_bytes, 8);
    }
    at = put(put(at, ALIGN_FIELD, 2), filled - 4, 2);
    at = put(at, ALIGNMENT, 2) + (filled - 6);
    memcpy(at, m->npy, NPY_BYTES);
    return mote_output_write_at(f->ctx, f->output, bytes, (uint64_t)(at + NPY_BYTES - bytes), m->offset);
}

static uint8_t *put_central(uint8_t *at, const member *m) {
    at = put(put(at, 0x02014B50, 4), 3 << 8 | 45, 2); /* made on Unix */
    at = put_common(at, m, m->is_large ? 28 : 0);
    at = put(put(put(at, 0, 2), 0, 2), 0, 2); /* no comment, disk 0, binary */
    at = put(at, 0100644u << 16, 4);
    at = put_name(put(at, m->is_large ? UINT32_MAX : m->offset, 4), m);
    if (!m->is_large) return at;
    at = put(put(at, ZIP64_FIELD, 2), 24, 2);
    return put(put(put(at, m->size_bytes, 8), m->size_bytes, 8), m->offset, 8);
}

/* The end of a file with zip64 fields: the record and where it is. */
static uint8_t *put_end64(uint8_t *at, const npz_file *f, uint64_t directory_bytes) {
    const uint64_t count = (uint64_t)f->count;
    at = put(put(at, 0x06064B50, 4), 44, 8);
    at = put(put(at, 3 << 8 | 45, 2), 45, 2);
    at = put(put(at, 0, 4), 0, 4);
    at = put(put(at, count, 8), count, 8);
    at = put(put(at, directory_bytes, 8), f->central, 8);
    at = put(put(at, 0x07064B50, 4), 0, 4);
    return put(put(at, f->central + directory_bytes, 8), 1, 4);
}

static mote_status write_directory(const npz_file *f) {
    uint8_t bytes[NPZ_ARRAYS_MAX * (CENTRAL_BYTES + NAME_MAX + 28) + END_BYTES];
    uint8_t *at = bytes;
    for (int i = 0; i < f->count; i++) at = put_central(at, &f->members[i]);
    const uint64_t directory_bytes = (uint64_t)(at - bytes), count = (uint64_t)f->count;
    const bool is_large = f->central >= f->params->zip64_from;
    if (is_large) at = put_end64(at, f, directory_bytes);
    at = put(put(put(at, 0x06054B50, 4), 0, 2), 0, 2);
    at = put(put(at, count, 2), count, 2);
    at = put(put(at, directory_bytes, 4), is_large ? UINT32_MAX : f->central, 4);
    at = put(at, 0, 2);
    return mote_output_write_at(f->ctx, f->output, bytes, (uint64_t)(at - bytes), f->central);
}

mote_status npz_write(mote_context *ctx, mote_output *output, const npz_array *arrays, int count,
                      const npz_params *params) {
    npz_file *f = calloc(1, sizeof *f);
    if (f == NULL) return MOTE_ERROR_MEMORY;
    f->ctx = ctx;
    f->output = output;
    f->params = params;
    f->count = count < NPZ_ARRAYS_MAX ? count : NPZ_ARRAYS_MAX;
    crc_prepare(&f->tables);
    plan_file(f, arrays);
    mote_status status = write_values(f);
    for (int i = 0; i < f->count && status == MOTE_OK; i++) status = write_local(f, &f->members[i]);
    if (status == MOTE_OK) status = write_directory(f);
    free(f);
    return status;
}
