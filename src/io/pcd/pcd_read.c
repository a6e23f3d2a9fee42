/* Reading PCD. Binary points are looked at where they lie in the file; compressed ones are unpacked into one block,
   field after field as they are stored; text is parsed into records. */
#include <inttypes.h>

#include "io/pcd/pcd.h"

#define PROBE_BYTES    (64u << 10)
#define PAGE_BYTES     4096u
#define UNPACKED_BYTES (16ull << 20) /* between two reports of progress */
#define LONGEST_STEP   33u           /* bytes of LZF: a control byte and 32 literal ones */

/* What the parts of the reader share. */
typedef struct pcd_reader {
    mote_context *ctx;
    mote_input *input;
    mote_pcd_header header;
    bool salvage;
    mote_pcd_place *places; /* [field_count] */
    mote_cloud *cloud;
} pcd_reader;

/* ---- is it such a file? */

/* The first word that is not in a comment. A file named .pcd is one whatever it holds: if its header is missing, it
   is not to be taken for a table of numbers. */
bool mote_pcd_probe(const mote_input *input) {
    static const char *const first[] = {"VERSION", "FIELDS", "COLUMNS"};
    const uint64_t size_bytes = input->size_bytes < PROBE_BYTES ? input->size_bytes : PROBE_BYTES;
    if (mote_path_has_ending(input->path, ".pcd")) return true;
    uint64_t at = mote_text_mark_bytes(input), word, word_end;
    while (at < size_bytes) {
        uint64_t end = at;
        while (end < size_bytes && input->data[end] != '\n' && input->data[end] != '\r') end++;
        if (mote_notes_next_word(input, &at, end, &word, &word_end) && input->data[word] != '#') {
            bool found = false;
            for (int i = 0; i < 3; i++) found |= mote_notes_word_is(input, word, word_end, first[i]);
            return found;
        }
        at = end + 1;
    }
    return false;
}

/* ---- salvage */

/* The file holds fewer points than the header says, or, of text, more. at: from where on they are missing. */
static mote_status keep_points(pcd_reader *r, uint64_t at, uint64_t kept) {
    const uint64_t stated = r->header.points;
    if (kept == 0) return mote_nothing_whole(r->ctx, r->input, at, stated);
    if (kept < stated) mote_warn_of_loss(r->ctx, r->input, at, kept, stated);
    r->header.points = r->cloud->count = kept;
    r->header.height = 1; /* no grid has that number of points */
    return MOTE_OK;
}

/* ---- text */

static uint64_t count_values(const pcd_reader *r, mote_text_field *fields) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < r->header.field_count; i++) {
        const mote_pcd_field *const field = &r->header.fields[i];
        for (uint32_t k = 0; k < field->count; k++) {
            mote_text_field *const value = &fields[count++];
            *value = (mote_text_field){.type = field->type, .skipped = field->padding};
            value->offset = field->offset + k * field->size_bytes;
            value->decimals = mote_pcd_is_axis(field);
            value->watched = value->decimals && field->type == MOTE_FLOAT32;
        }
    }
    return count;
}

/* Commas or semicolons if the first row has them. */
static char find_separator(const pcd_reader *r, const mote_text_table *table) {
    uint64_t at = table->begin, row, row_end;
    if (!mote_text_next_row(table, &at, &row, &row_end)) return ' ';
    if (memchr(r->input->data + row, ';', row_end - row) != NULL) return ';';
    return memchr(r->input->data + row, ',', row_end - row) != NULL ? ',' : ' ';
}

/* Positions that are declared as floats but written with more digits. */
static void widen_positions(pcd_reader *r) {
    uint32_t offset = 0;
    mote_warn(r->ctx,
              "%s: the positions have more digits than the 4-byte floats of the header hold; they are read "
              "as doubles",
              r->input->path);
    for (uint64_t i = 0; i < r->header.field_count; i++) {
        mote_pcd_field *const field = &r->header.fields[i];
        if (mote_pcd_is_axis(field) && field->type == MOTE_FLOAT32) {
            field->type = MOTE_FLOAT64;
            field->size_bytes = 8;
        }
        field->offset = offset;
        offset += field->count * field->size_bytes;
    }
    r->header.point_bytes = offset;
}

static void place_in_records(pcd_reader *r, const uint8_t *records) {
    for (uint64_t i = 0; i < r->header.field_count; i++) {
        r->places[i] = (mote_pcd_place){records + r->header.fields[i].offset, r->header.point_bytes};
    }
}

static bool positions_are_doubles(const pcd_reader *r) {
    int doubles = 0;
    for (uint64_t i = 0; i < r->header.field_count; i++) {
        const mote_pcd_field *const field = &r->header.fields[i];
        doubles += mote_pcd_is_axis(field) && field->type == MOTE_FLOAT64;
    }
    return doubles == 3;
}

/* Parses the rows; *wide: positions need doubles instead. */
static mote_status parse_rows(pcd_reader *r, const mote_text_table *table, bool *wide) {
    mote_text_field *const fields = mote_alloc(r->ctx, r->header.value_count * sizeof *fields, "PCD columns");
    uint8_t *const records = mote_alloc(r->ctx, r->header.points * r->header.point_bytes, "cloud");
    mote_status status = fields != NULL && records != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    mote_text_rows rows = {.count = r->header.points, .fields = fields, .records = records};
    rows.record_bytes = r->header.point_bytes;
    if (status == MOTE_OK) {
        rows.field_count = (uint32_t)count_values(r, fields);
        status = mote_text_parse(r->ctx, table, &rows);
    }
    mote_free(r->ctx, fields);
    *wide = rows.wide;
    if (status == MOTE_OK && !rows.wide && rows.count < r->header.points) {
        status = keep_points(r, table->begin, rows.count);
    }
    if (status != MOTE_OK || rows.wide) {
        mote_free(r->ctx, records);
        return status;
    }
    if (positions_are_doubles(r) && rows.decimals <= 9 && r->header.points > 0) {
        r->cloud->position_step = 1.0 / (double)mote_text_power10[rows.decimals];
    }
    place_in_records(r, records);
    return mote_cloud_adopt(r->cloud, records);
}

static mote_status read_rows(pcd_reader *r, mote_text_table *table) {
    uint64_t row_count = 0;
    bool wide = false;
    mote_text_leave_cut_line(r->ctx, table);
    MOTE_TRY(mote_text_count(r->ctx, table, &row_count));
    if (r->salvage && row_count > r->header.points) {
        mote_warn(r->ctx, "%s: the header says %" PRIu64 " points, the file has %" PRIu64 " rows, which are taken",
                  r->input->path, r->header.points, row_count);
    }
    if (r->salvage && row_count != r->header.points) MOTE_TRY(keep_points(r, table->end, row_count));
    if (row_count < r->header.points) {
        return mote_malformed(r->ctx, r->input, table->end,
                              "the file ends after %" PRIu64 " of %" PRIu64 " points" MOTE_SALVAGE_HINT, row_count,
                              r->header.points);
    }
    if (row_count > r->header.points) {
        mote_warn(r->ctx, "%s: %" PRIu64 " rows behind the last point are left out", r->input->path,
                  row_count - r->header.points);
    }
    MOTE_TRY(parse_rows(r, table, &wide));
    if (!wide) return MOTE_OK;
    widen_positions(r);
    return parse_rows(r, table, &wide);
}

static mote_status read_text(pcd_reader *r) {
    mote_text_table table = {.input = r->input, .begin = r->header.body, .end = r->input->size_bytes};
    table.lone_cr = mote_text_has_lone_cr(r->input, table.begin);
    const uint64_t bytes = table.end - table.begin + 1; /* the last line may lack its end */
    table.salvage = r->salvage;
    if (!r->salvage && r->header.points > bytes / (2ull * r->header.value_count)) {
        return mote_malformed(r->ctx, r->input, mote_pcd_points_line(&r->header),
                              "%" PRIu64 " points of %u values need at least %u bytes each, the file has %" PRIu64
                              " left" MOTE_SALVAGE_HINT,
                              r->header.points, r->header.value_count, 2 * r->header.value_count, bytes - 1);
    }
    table.separator = find_separator(r, &table);
    const mote_status status = read_rows(r, &table);
    mote_text_close(r->ctx, &table);
    return status;
}

/* ---- binary */

/* PCL fills its files up to a page of memory; anything else behind the points is worth a word. */
static void warn_of_rest(const pcd_reader *r, uint64_t begin) {
    const uint64_t remaining = r->input->size_bytes - begin;
    bool zero = remaining < PAGE_BYTES;
    for (uint64_t i = begin; i < r->input->size_bytes && zero; i++) zero = r->input->data[i] == 0;
    if (zero) return;
    mote_warn(r->ctx, "%s: %" PRIu64 " bytes behind the last point are left out", r->input->path, remaining);
}

static mote_status read_binary(pcd_reader *r) {
    const uint64_t remaining = r->input->size_bytes - r->header.body, held = remaining / r->header.point_bytes;
    if (r->salvage && r->header.points > held) {
        MOTE_TRY(keep_points(r, r->header.body + held * r->header.point_bytes, held));
    }
    if (r->header.points > held) {
        return mote_malformed(r->ctx, r->input, r->header.body,
                              "%" PRIu64 " points of %u bytes, but the file has %" PRIu64 " bytes left%s",
                              r->header.points, r->header.point_bytes, remaining, held > 0 ? MOTE_SALVAGE_HINT : "");
    }
    const uint64_t size_bytes = r->header.points * r->header.point_bytes;
    warn_of_rest(r, r->header.body + size_bytes);
    place_in_records(r, r->input->data + r->header.body);
    return MOTE_OK;
}

/* ---- binary_compressed */

/* The two sizes before the compressed data are checked against each other, the header and the file, before memory of
   such a size is asked for. */
static mote_status check_sizes(const pcd_reader *r, uint64_t packed, uint64_t unpacked) {
    const uint64_t body = r->header.body, remaining = r->input->size_bytes - body - 8;
    if (r->header.points != unpacked / r->header.point_bytes || unpacked % r->header.point_bytes != 0) {
        return mote_malformed(r->ctx, r->input, body + 4,
                              "%" PRIu64 " bytes uncompressed, but %" PRIu64 " points of %u bytes", unpacked,
                              r->header.points, r->header.point_bytes);
    }
    if (packed > remaining) {
        return mote_malformed(r->ctx, r->input, body,
                              "%" PRIu64 " compressed bytes, but the file has %" PRIu64 " left" MOTE_SALVAGE_HINT,
                              packed, remaining);
    }
    if (unpacked > packed * MOTE_LZF_EXPANSION) {
        return mote_malformed(r->ctx, r->input, body, "%" PRIu64 " compressed bytes cannot become %" PRIu64, packed,
                              unpacked);
    }
    warn_of_rest(r, body + 8 + packed);
    return MOTE_OK;
}

/* Takes literal bytes; where the end of the file cuts them, those before it. */
static void take_literals(mote_lzf *lzf) {
    const uint64_t remaining = lzf->in_bytes - lzf->in_at, space = lzf->out_bytes - lzf->out_at;
    if (remaining < 2 || lzf->in[lzf->in_at] >= 32) return;
    const uint64_t count = remaining - 1 < space ? remaining - 1 : space;
    memcpy(lzf->out + lzf->out_at, lzf->in + lzf->in_at + 1, count);
    lzf->out_at += count;
}

/* Some writers store as they are bytes that LZF does not make smaller, and the two sizes are equal. What LZF unpacks to
   that very size is LZF all the same. cut: where the data end too early, so do the bytes. */
static void take_stored(mote_lzf *lzf, bool cut) {
    mote_lzf trial = *lzf;
    const char *const error = mote_lzf_decode(&trial, trial.out_bytes);
    const bool ends = trial.in_bytes - trial.in_at <= LONGEST_STEP;
    if (cut ? ends : error == NULL && trial.in_at == trial.in_bytes) return;
    memcpy(lzf->out, lzf->in, lzf->in_bytes);
    lzf->in_at = lzf->in_bytes;
    lzf->out_at = lzf->in_bytes;
}

static mote_status unpack(const pcd_reader *r, mote_lzf *lzf, bool cut) {
    while (lzf->out_at < lzf->out_bytes) {
        const uint64_t remaining = lzf->out_bytes - lzf->out_at;
        const char *const error =
            mote_lzf_decode(lzf, remaining < UNPACKED_BYTES ? lzf->out_bytes : lzf->out_at + UNPACKED_BYTES);
        if (error != NULL && cut) take_literals(lzf);
        if (error != NULL && cut) return MOTE_OK;
        if (error != NULL) return mote_malformed(r->ctx, r->input, r->header.body + 8 + lzf->in_at, "%s", error);
        MOTE_TRY(mote_progress(r->ctx, (double)lzf->out_at / (double)lzf->out_bytes, "reading PCD"));
    }
    if (lzf->in_at == lzf->in_bytes) return MOTE_OK;
    return mote_malformed(r->ctx, r->input, r->header.body + 8 + lzf->in_at,
                          "the last point is complete, but compressed data are left");
}

/* Where the header's count is off, that of the compressed data counts. */
static mote_status take_unpacked(pcd_reader *r, uint64_t unpacked) {
    const uint64_t held = unpacked / r->header.point_bytes;
    if (!r->salvage || unpacked % r->header.point_bytes != 0 || held == r->header.points) return MOTE_OK;
    mote_warn(r->ctx, "%s: the header says %" PRIu64 " points, the compressed data have %" PRIu64 ", which are taken",
              r->input->path, r->header.points, held);
    return keep_points(r, r->header.body, held);
}

/* Fields are stored one after the other: of data that are cut, those points are whole that the last field has. */
static mote_status keep_unpacked(pcd_reader *r, const mote_lzf *lzf) {
    const mote_pcd_field *const last = &r->header.fields[r->header.field_count - 1];
    const uint64_t begin = last->offset * r->header.points;
    const uint64_t held = lzf->out_at > begin ? (lzf->out_at - begin) / (last->count * last->size_bytes) : 0;
    return keep_points(r, r->input->size_bytes, held);
}

static mote_status read_compressed(pcd_reader *r) {
    uint32_t sizes[2] = {0, 0};
    const uint64_t remaining = r->input->size_bytes - r->header.body;
    bool cut = false, stored = false;
    if (remaining >= sizeof sizes) {
        memcpy(sizes, r->input->data + r->header.body, sizeof sizes);
        MOTE_TRY(take_unpacked(r, sizes[1]));
        stored = sizes[0] == sizes[1];
        cut = r->salvage && sizes[0] > remaining - sizeof sizes;
        if (cut) sizes[0] = (uint32_t)(remaining - sizeof sizes);
        const bool hopeless = cut && sizes[1] > (uint64_t)sizes[0] * MOTE_LZF_EXPANSION;
        if (hopeless) return mote_nothing_whole(r->ctx, r->input, r->input->size_bytes, r->header.points);
        MOTE_TRY(check_sizes(r, sizes[0], sizes[1]));
    } else if (r->header.points > 0) {
        return mote_malformed(r->ctx, r->input, r->header.body, "the file ends before the compressed data");
    }
    mote_lzf lzf = {.in = r->input->data + r->header.body + sizeof sizes, .in_bytes = sizes[0], .out_bytes = sizes[1]};
    lzf.out = mote_alloc(r->ctx, lzf.out_bytes, "cloud");
    MOTE_TRY(mote_cloud_adopt(r->cloud, lzf.out));
    for (uint64_t i = 0; i < r->header.field_count; i++) {
        const mote_pcd_field *const field = &r->header.fields[i];
        r->places[i].data = lzf.out + field->offset * r->header.points;
        r->places[i].stride_bytes = field->count * field->size_bytes;
    }
    if (stored) take_stored(&lzf, cut);
    MOTE_TRY(unpack(r, &lzf, cut));
    return cut ? keep_unpacked(r, &lzf) : MOTE_OK;
}

/* ---- all of it */

static mote_status read_points(pcd_reader *r) {
    MOTE_TRY(mote_pcd_header_read(r->ctx, r->input, r->salvage, &r->header));
    r->places = mote_alloc_zero(r->ctx, r->header.field_count * sizeof *r->places, "PCD columns");
    if (r->places == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_cloud_new(r->ctx, r->header.points, &r->cloud));
    switch (r->header.encoding) {
    case MOTE_PCD_ASCII: MOTE_TRY(read_text(r)); break;
    case MOTE_PCD_BINARY: MOTE_TRY(read_binary(r)); break;
    case MOTE_PCD_COMPRESSED: MOTE_TRY(read_compressed(r)); break;
    }
    MOTE_TRY(mote_pcd_add_columns(r->ctx, r->input, &r->header, r->places, r->cloud));
    /* Where the scanner stood is kept as a record. */
    const mote_record record = {.user_id = MOTE_PCD_USER,
                                .description = MOTE_PCD_VIEWPOINT,
                                .record_id = MOTE_PCD_VIEWPOINT_ID,
                                .size_bytes = strlen(r->header.viewpoint),
                                .data = r->header.viewpoint};
    MOTE_TRY(record.size_bytes > 0 ? mote_cloud_add_record(r->cloud, &record) : MOTE_OK);
    if (r->header.height > 1 && r->header.points > 0)
        MOTE_TRY(mote_cloud_set_grid(r->cloud, r->header.width, r->header.height));
    return r->header.encoding == MOTE_PCD_BINARY ? mote_input_give(r->ctx, r->input, r->cloud) : MOTE_OK;
}

mote_status mote_pcd_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    pcd_reader r = {.ctx = ctx, .input = input, .salvage = params != NULL && params->salvage};
    *out = NULL;
    mote_stage(ctx, "read PCD");
    const mote_status status = read_points(&r);
    mote_stage(ctx, NULL);
    mote_free(ctx, r.places);
    mote_pcd_header_close(ctx, &r.header);
    if (status != MOTE_OK) {
        mote_cloud_destroy(r.cloud);
        return status;
    }
    *out = r.cloud;
    return MOTE_OK;
}
