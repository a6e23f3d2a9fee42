/* Where the chunks of a LAZ file are and how many points each holds, by its chunk table. Nothing in the table is
   believed that the file has no room for. Source: M. Isenburg, LASzip.

     points_at                                                        table
      | offset of the table, 8 | chunk 0 | chunk 1 | ... | chunk n-1 | version 0, 4 | n, 4 | n entries, coded |
                                                                       an entry: bytes of a chunk, and its points where
                                                                       chunks differ; offset -1: in the last 8 bytes */
#include <inttypes.h>

#include "io/las/las_source.h"

#define OFFSET_AT_END UINT64_MAX /* -1: a writer that could not go back put it into the last bytes of the file */

/* The chunk table; problem: why it is of no use, NULL if it is. */
typedef struct chunk_table {
    uint64_t at, problem_at;
    uint32_t count;
    bool cut;     /* the file ends before the table should start */
    bool counted; /* the entries have the points of their chunks */
    const char *problem;
    laz_entry *entries;
} chunk_table;

/* ---- the table */

/* Finds the table and looks at its head. */
static void find_table(const las_source *source, chunk_table *table) {
    const mote_input *input = source->input;
    const uint64_t at = source->header.points_at, remaining = input->size_bytes - at;
    memset(table, 0, sizeof *table);
    table->problem_at = at;
    table->problem = "there is no room for the offset of the chunk table";
    if (remaining < LAS_TABLE_OFFSET_BYTES) return;
    table->at = las_u64(input->data + at);
    table->problem = "the chunk table would start outside of the point data";
    if (table->at == OFFSET_AT_END && remaining >= 2 * LAS_TABLE_OFFSET_BYTES) {
        table->problem_at = input->size_bytes - LAS_TABLE_OFFSET_BYTES;
        table->at = las_u64(input->data + table->problem_at);
    }
    table->cut = table->at > input->size_bytes - LAZ_TABLE_BYTES && table->at <= INT64_MAX;
    if (table->cut) table->problem = "the chunk table would start behind the end of the file";
    if (table->at < at + LAS_TABLE_OFFSET_BYTES || table->at > input->size_bytes - LAZ_TABLE_BYTES) return;
    table->problem_at = table->at;
    table->problem = "the version of the chunk table is unknown";
    if (las_u32(input->data + table->at) != 0) return;
    table->count = las_u32(input->data + table->at + LAZ_TABLE_AT_COUNT);
    const uint64_t space = table->at - at - LAS_TABLE_OFFSET_BYTES;
    table->problem = "the chunk table lists more chunks than there is room for";
    if (table->count > space / source->schema.record_bytes) return;
    table->problem = "the chunk table is empty";
    if (table->count == 0 && (space > 0 || source->header.count > 0)) return;
    table->problem = NULL;
}

/* Whether the chunks fill the space between the table's offset and the table. */
static const char *check_sizes(const las_source *source, const chunk_table *table) {
    const uint64_t space = table->at - source->header.points_at - LAS_TABLE_OFFSET_BYTES;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < table->count; i++) sum += table->entries[i].size_bytes;
    if (sum > space) return "the chunks of the chunk table are larger than the point data";
    return sum == space ? NULL : "the chunks of the chunk table do not fill the point data";
}

static const char *decode_entries(const las_source *source, chunk_table *table, bool counted) {
    const uint64_t at = table->at + LAZ_TABLE_BYTES;
    table->counted = counted;
    const char *wrong = mote_laz_table_decode(source->input->data + at, source->input->size_bytes - at, counted,
                                              table->count, table->entries);
    return wrong != NULL ? "the chunk table is damaged or cut short" : check_sizes(source, table);
}

/* Points of chunks of varying size whose table does not have them: a layered chunk says it itself, a single chunk holds
   all points, and several hold the usual number if that fits their count. False: nothing says it. */
static bool count_points(const las_source *source, chunk_table *table) {
    const uint64_t stated = source->header.count, whole = (uint64_t)table->count * LAZ_CHUNK_POINTS;
    const bool usual = stated <= whole && stated > whole - LAZ_CHUNK_POINTS;
    uint64_t at = mote_las_chunks_at(source), before = 0;
    for (uint32_t i = 0; i < table->count && stated <= UINT32_MAX; i++) {
        laz_entry *entry = &table->entries[i];
        uint64_t size_bytes;
        entry->points = table->count == 1 ? stated : 0;
        if (table->count > 1 && usual) entry->points = i + 1 < table->count ? LAZ_CHUNK_POINTS : stated - before;
        if (source->schema.compressor == LAZ_LAYERED) {
            entry->points =
                mote_las_layered_points(&source->schema, source->input->data + at, entry->size_bytes, &size_bytes);
        }
        if (entry->points == 0) return false;
        before += entry->points;
        at += entry->size_bytes;
    }
    return before > 0;
}

/* A writer may say that sizes vary, or give 0 for the size, and yet write the table of a fixed one. */
static const char *decode_uncounted(const las_source *source, chunk_table *table) {
    if (decode_entries(source, table, false) != NULL || !count_points(source, table)) return table->problem;
    mote_warn(source->ctx, "%s: offset %" PRIu64 ": the chunk table does not have the points of chunks of varying size",
              source->input->path, table->at);
    return NULL;
}

static mote_status read_table(const las_source *source, chunk_table *table) {
    find_table(source, table);
    if (table->problem != NULL) return MOTE_OK;
    table->entries = mote_alloc(source->ctx, (uint64_t)table->count * sizeof *table->entries, "LAZ chunks");
    if (table->entries == NULL) return MOTE_ERROR_MEMORY;
    const bool variable = source->schema.chunk_points == LAZ_VARIABLE && source->schema.compressor != LAZ_POINTWISE;
    table->problem = decode_entries(source, table, variable);
    if (table->problem != NULL && variable) table->problem = decode_uncounted(source, table);
    return MOTE_OK;
}

static mote_status take_entries(las_source *source, const chunk_table *table) {
    const uint64_t fixed = source->schema.chunk_points;
    las_chunk chunk = {.at = mote_las_chunks_at(source)};
    for (uint32_t i = 0; i < table->count; i++) {
        chunk.size_bytes = table->entries[i].size_bytes;
        chunk.points = fixed == LAZ_VARIABLE ? table->entries[i].points : fixed;
        MOTE_TRY(mote_las_add_chunk(source, &chunk));
        chunk.at += chunk.size_bytes;
    }
    return MOTE_OK;
}

/* ---- counts */

/* Points of the last chunk, where all others hold the same number; 0 if nothing tells. A layered chunk says it itself;
   of a pointwise one it is what the header has left. */
static uint64_t last_points(const las_source *source, const las_chunk *last) {
    const uint64_t stated = source->header.count, full = source->schema.chunk_points;
    if (source->schema.compressor == LAZ_LAYERED) {
        uint64_t size_bytes = 0;
        const uint64_t own =
            mote_las_layered_points(&source->schema, source->input->data + last->at, last->size_bytes, &size_bytes);
        if (own > 0 && own <= full) return own;
    }
    return stated > last->first && stated - last->first <= full ? stated - last->first : 0;
}

static void settle_last(las_source *source) {
    las_chunks *chunks = &source->chunks;
    if (source->schema.chunk_points == LAZ_VARIABLE || chunks->count == 0) return;
    las_chunk *last = &chunks->list[chunks->count - 1];
    last->points = last_points(source, last);
    chunks->points = last->first + last->points;
    if (last->points > 0) return;
    chunks->count--;
    mote_warn(source->ctx, "%s: offset %" PRIu64 ": nothing says how many points the last chunk holds; it is left out",
              source->input->path, last->at);
}

/* What the header says against what the chunks hold. More is taken, less is an error. */
static mote_status check_count(las_source *source) {
    const uint64_t stated = source->header.count, held = source->chunks.points;
    const uint32_t at = source->header.long_count != 0 ? 247 : 107;
    if (stated > held && !source->salvage) {
        return mote_malformed(source->ctx, source->input, at,
                              "the header says %" PRIu64 " points, the chunks in the file hold %" PRIu64 "%s", stated,
                              held, held > 0 ? MOTE_SALVAGE_HINT : "");
    }
    if (stated != held) {
        mote_warn(source->ctx,
                  "%s: offset %u: the header says %" PRIu64 " points, the chunks in the file hold %" PRIu64
                  ", which are taken%s",
                  source->input->path, at, stated, held, stated == 0 ? ": was its writer interrupted?" : "");
    }
    return MOTE_OK;
}

/* ---- the ways to find chunks */

/* All points as one chunk, of which nothing says where it ends: those of compressor 1; and for a sample, which looks
   at the first point alone, pointwise chunks, whose ends are known only when they are decoded. */
static mote_status take_rest(las_source *source, uint64_t at) {
    const uint64_t end = mote_las_points_end(source->input, &source->header);
    const las_chunk chunk = {
        .at = at, .size_bytes = end > at ? end - at : 0, .points = source->header.count, .open_end = true};
    return chunk.points > 0 ? mote_las_add_chunk(source, &chunk) : MOTE_OK;
}

/* Compressor 1: everything is one chunk, and nothing says where it ends. */
static mote_status take_stream(las_source *source) {
    chunk_table table;
    const mote_status status = read_table(source, &table);
    mote_free(source->ctx, table.entries);
    MOTE_TRY(status);
    if (table.problem == NULL && table.count > 0) {
        return mote_malformed(source->ctx, source->input, table.at,
                              "compressor 1 has no chunks, but here is the table of %u of them", table.count);
    }
    return take_rest(source, source->header.points_at);
}

/* Pointwise chunks of varying size: only a single one can be found without the table, if it ends where the table
   starts. */
static mote_status take_single(las_source *source, const chunk_table *table) {
    const uint64_t at = mote_las_chunks_at(source);
    const uint64_t stated = source->header.count;
    if (stated > 0 && stated <= UINT32_MAX && table->at > at && table->at < source->input->size_bytes) {
        MOTE_TRY(mote_las_scan_chunks(source, table->at));
        const las_chunk *first = source->chunks.list;
        const bool ends = source->chunks.count == 1 && !first->open_end && first->at + first->size_bytes == table->at;
        if (ends) {
            mote_warn(source->ctx, "%s: offset %" PRIu64 ": %s; all points are in one chunk", source->input->path,
                      table->problem_at, table->problem);
            return MOTE_OK;
        }
    }
    return mote_malformed(source->ctx, source->input, table->problem_at,
                          "%s, and without it chunks of varying size cannot be found" MOTE_SALVAGE_HINT,
                          table->problem);
}

static mote_status take_without_table(las_source *source, const chunk_table *table) {
    const bool variable = source->schema.chunk_points == LAZ_VARIABLE;
    const uint64_t end = mote_las_points_end(source->input, &source->header);
    if (source->header.count == 0 && mote_las_chunks_at(source) >= end) return MOTE_OK; /* no points, no table */
    const bool pointwise = source->schema.compressor == LAZ_POINTWISE_CHUNK;
    if (pointwise && source->is_sampled) return take_rest(source, mote_las_chunks_at(source));
    if (variable && pointwise && !source->salvage) return take_single(source, table);
    mote_warn(source->ctx, "%s: offset %" PRIu64 ": %s; the chunks are looked for one after the other",
              source->input->path, table->problem_at, table->problem);
    MOTE_TRY(mote_las_scan_chunks(source, end));
    if (source->chunks.count == 0) return MOTE_OK;
    las_chunk *last = &source->chunks.list[source->chunks.count - 1];
    last->cut = last->open_end && (table->cut || source->header.count == 0);
    const bool mend = last->cut && source->salvage && source->schema.compressor == LAZ_LAYERED;
    return mend ? mote_las_mend_chunk(source, last) : MOTE_OK;
}

mote_status mote_las_find_chunks(las_source *source) {
    chunk_table table;
    if (source->schema.compressor == LAZ_POINTWISE) return take_stream(source);
    mote_status status = read_table(source, &table);
    if (status == MOTE_OK && table.problem == NULL) {
        status = take_entries(source, &table);
        if (status == MOTE_OK) settle_last(source);
    } else if (status == MOTE_OK) {
        status = take_without_table(source, &table);
    }
    mote_free(source->ctx, table.entries);
    return status == MOTE_OK ? check_count(source) : status;
}
