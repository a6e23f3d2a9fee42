/* COPC files seen by a naive reader of the tests' own: it walks the pages, decodes each chunk by itself and puts the
   records into a plain LAS file, which the LAS reader knows. */
#ifndef MOTE_TEST_COPC_FILES_H
#define MOTE_TEST_COPC_FILES_H

#include "io/copc/copc.h"
#include "io/laz/laz.h"
#include "math/hash.h"
#include "support/las_files.h"

typedef struct copc_entry {
    int32_t level, cell[3];
    uint64_t at;
    int32_t size_bytes, points;
} copc_entry;

typedef struct copc_file {
    file_bytes file;
    copc_entry *entries; /* of nodes, also those without points */
    size_t count, pages, largest_page;
    double center[3], half, spacing;
    uint32_t points_at;
    uint16_t record_bytes;
    uint8_t format;
    laz_schema schema;
} copc_file;

static inline void copc_walk(copc_file *f, uint64_t at, uint64_t size_bytes) {
    assert_true(at + size_bytes <= f->file.size);
    assert_int_equal(size_bytes % sizeof(copc_entry), 0);
    f->pages++;
    if (size_bytes > f->largest_page) f->largest_page = size_bytes;
    for (uint64_t i = 0; i < size_bytes; i += sizeof(copc_entry)) {
        copc_entry entry;
        memcpy(&entry, f->file.data + at + i, sizeof entry);
        if (entry.points == -1) {
            copc_walk(f, entry.at, (uint64_t)entry.size_bytes);
            continue;
        }
        f->entries = test_grow(f->entries, f->count, sizeof entry);
        f->entries[f->count++] = entry;
    }
}

static inline void copc_find_schema(mote_context *ctx, copc_file *f) {
    const mote_input input = {.path = "test", .data = f->file.data, .size_bytes = f->file.size};
    uint64_t at = 375;
    bool found = false;
    for (uint32_t i = 0; i < las_u32(f->file.data + 100); i++) {
        const uint16_t size_bytes = las_u16(f->file.data + at + 20);
        if (strcmp((const char *)f->file.data + at + 2, "laszip encoded") == 0) {
            assert_int_equal(mote_laz_schema_read(ctx, &input, f->file.data + at + 54, size_bytes, f->format,
                                                  f->record_bytes, &f->schema),
                             MOTE_OK);
            found = true;
        }
        at += 54u + size_bytes;
    }
    assert_true(found);
    assert_int_equal(at, f->points_at);
}

static inline copc_file copc_load(mote_context *ctx, const char *path) {
    copc_file f;
    memset(&f, 0, sizeof f);
    f.file = load(path);
    const uint8_t *data = f.file.data;
    assert_true(f.file.size > 589);
    f.points_at = las_u32(data + 96);
    f.format = data[104] & 0x3F;
    f.record_bytes = las_u16(data + 105);
    for (int k = 0; k < 3; k++) f.center[k] = las_f64(data + 429 + 8 * k);
    f.half = las_f64(data + 453);
    f.spacing = las_f64(data + 461);
    copc_walk(&f, las_u64(data + 469), las_u64(data + 477));
    copc_find_schema(ctx, &f);
    return f;
}

static inline void copc_unload(copc_file *f) {
    free(f->file.data);
    free(f->entries);
}

/* The records of a node's chunk, for free. */
static inline uint8_t *copc_decode(mote_context *ctx, const copc_file *f, const copc_entry *entry) {
    const laz_selection all = {.wanted = LAZ_WANT_ALL, .stride_bytes = f->record_bytes};
    laz_decoder *decoder = NULL;
    laz_chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    assert_true(entry->at + (uint64_t)entry->size_bytes <= f->file.size);
    chunk.data = f->file.data + entry->at;
    chunk.size_bytes = (uint64_t)entry->size_bytes;
    chunk.points = (uint64_t)entry->points;
    chunk.records = malloc(chunk.points * f->record_bytes);
    assert_non_null(chunk.records);
    assert_int_equal(mote_laz_decoder_make(ctx, &f->schema, &all, &decoder), MOTE_OK);
    mote_laz_decode(decoder, &chunk, 1);
    if (chunk.fault != NULL) print_message("%s\n", chunk.fault);
    assert_null(chunk.fault);
    assert_int_equal(chunk.done, chunk.points);
    assert_int_equal(chunk.used_bytes, chunk.size_bytes);
    mote_laz_decoder_free(ctx, decoder);
    return chunk.records;
}

/* The points of all nodes down to a level, as a cloud read from plain LAS. */
static inline mote_cloud *copc_points(mote_context *ctx, const copc_file *f, int32_t last_level) {
    const char *path = test_path("naive.las");
    uint64_t count = 0;
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f->file.data, 1, f->points_at, out), f->points_at);
    for (size_t i = 0; i < f->count; i++) {
        if (f->entries[i].points == 0 || f->entries[i].level > last_level) continue;
        uint8_t *records = copc_decode(ctx, f, &f->entries[i]);
        fwrite(records, f->record_bytes, (size_t)f->entries[i].points, out);
        count += (uint64_t)f->entries[i].points;
        free(records);
    }
    uint8_t header[375];
    memcpy(header, f->file.data, sizeof header);
    header[104] = f->format;
    las_put(header + 235, 0, 8);
    las_put(header + 243, 0, 4);
    las_put(header + 247, count, 8);
    las_put(header + 107, 0, 4);
    rewind(out);
    fwrite(header, 1, sizeof header, out);
    assert_int_equal(fclose(out), 0);
    return read_ok(ctx, path);
}

/* ---- clouds as sets of points */

typedef struct point_set {
    uint64_t count, sum;
} point_set;

static inline bool point_is_in(const mote_column *const axes[3], uint64_t i, const mote_box *box) {
    for (int k = 0; k < 3 && box != NULL; k++) {
        const double at = mote_column_value(axes[k], i);
        if (!(at >= box->min[k] && at <= box->max[k])) return false;
    }
    return true;
}

/* The points in a box (NULL: all), by the values of those columns that like has too and that are not in except
   (names between commas; may be NULL). Their order does not matter. */
static inline point_set points_of(const mote_cloud *cloud, const mote_cloud *like, const mote_box *box,
                                  const char *except) {
    const mote_column *axes[3] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y"),
                                  mote_cloud_find(cloud, "z")};
    const mote_column *columns[128];
    uint32_t column_count = 0;
    point_set set = {0, 0};
    for (uint32_t c = 0; c < mote_cloud_column_count(like) && column_count < 128; c++) {
        char word[64];
        snprintf(word, sizeof word, ",%s,", mote_cloud_column(like, c)->name);
        if (except != NULL && strstr(except, word) != NULL) continue;
        columns[column_count] = mote_cloud_find(cloud, mote_cloud_column(like, c)->name);
        assert_non_null(columns[column_count++]);
    }
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        if (!point_is_in(axes, i, box)) continue;
        uint64_t hash = 0;
        for (uint32_t c = 0; c < column_count; c++) {
            const double value = mote_column_value(columns[c], i);
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = mote_hash_pair(hash, bits);
        }
        set.count++;
        set.sum += mote_hash64(hash);
    }
    return set;
}

static inline void assert_same_set(point_set a, point_set b) {
    assert_int_equal(a.count, b.count);
    assert_true(a.sum == b.sum);
}

#endif
