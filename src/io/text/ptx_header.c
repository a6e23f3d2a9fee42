/* The headers of a PTX file: where each scan begins is known only from the counts of the one before. */
#include <inttypes.h>
#include <math.h>

#include "io/text/ptx.h"

const uint8_t mote_ptx_header_values[MOTE_PTX_HEADER_ROWS] = {1, 1, 3, 3, 3, 3, 4, 4, 4, 4};

/* What each line of a header holds. */
static const char *const line_names[MOTE_PTX_HEADER_ROWS] = {
    "the number of columns",       "the number of rows",           "the scanner's position",
    "the scanner's x axis",        "the scanner's y axis",         "the scanner's z axis",
    "the first row of the matrix", "the second row of the matrix", "the third row of the matrix",
    "the last row of the matrix",
};

/* A scan's header in reading. */
typedef struct ptx_header {
    uint64_t offset; /* of its first line */
    mote_text_number numbers[MOTE_PTX_HEADER_ROWS][4];
    double values[MOTE_PTX_HEADER_ROWS][4];
} ptx_header;

bool mote_ptx_is_header(const mote_text_table *table, uint64_t at) {
    const uint8_t *const data = table->input->data;
    uint64_t row, row_end, word, word_end;
    for (int line = 0; line < MOTE_PTX_HEADER_ROWS; line++) {
        uint32_t count = 0;
        if (!mote_text_next_row(table, &at, &row, &row_end)) return false;
        while (mote_text_next_field(table, &row, row_end, &word, &word_end)) {
            mote_text_number number;
            const uint8_t *const end = data + word_end;
            if (!mote_text_scan(data + word, end, &number) || number.end != end) return false;
            if (line < 2 && number.kind != MOTE_TEXT_INTEGER) return false;
            count++;
        }
        if (count != mote_ptx_header_values[line]) return false;
    }
    return true;
}

/* The numbers of one line, which must all be finite. */
static mote_status read_line(mote_context *ctx, const mote_text_table *table, uint64_t at, uint64_t end, int line,
                             ptx_header *header) {
    const uint8_t *const data = table->input->data;
    const uint32_t wanted = mote_ptx_header_values[line];
    uint64_t word, word_end;
    for (uint32_t i = 0; i < wanted; i++) {
        mote_text_number *const number = &header->numbers[line][i];
        double *const value = &header->values[line][i];
        if (!mote_text_next_field(table, &at, end, &word, &word_end)) {
            return mote_text_malformed(ctx, table, end, "%s needs %u numbers, the line has %u", line_names[line],
                                       wanted, i);
        }
        if (!mote_text_scan(data + word, data + word_end, number) || number->end != data + word_end ||
            !mote_text_double(number, value) || !isfinite(*value)) {
            return mote_text_malformed(ctx, table, word, "%s has a value that is no finite number", line_names[line]);
        }
    }
    if (!mote_text_next_field(table, &at, end, &word, &word_end)) return MOTE_OK;
    return mote_text_malformed(ctx, table, word, "%s has more than %u numbers", line_names[line], wanted);
}

static mote_status read_header(mote_context *ctx, const mote_text_table *table, mote_text_place *place,
                               ptx_header *header) {
    for (int line = 0; line < MOTE_PTX_HEADER_ROWS; line++, place->row++) {
        uint64_t row, row_end;
        if (!mote_text_next_row(table, &place->at, &row, &row_end)) {
            return mote_text_malformed(ctx, table, table->end, "the file ends before %s", line_names[line]);
        }
        if (line == 0) header->offset = row;
        MOTE_TRY(read_line(ctx, table, row, row_end, line, header));
    }
    return MOTE_OK;
}

/* The last column must be 0 0 0 1: the matrix turns, scales and moves. */
static mote_status set_matrix(mote_context *ctx, const mote_text_table *table, const ptx_header *header,
                              mote_ptx_scan *scan) {
    scan->whole = true;
    for (int i = 0; i < 4; i++) {
        const double *const row = header->values[6 + i];
        if (row[3] != (i == 3 ? 1 : 0)) {
            return mote_text_malformed(ctx, table, (uint64_t)(header->numbers[6 + i][3].begin - table->input->data),
                                       "the last column of the matrix is not 0 0 0 1");
        }
        for (int k = 0; k < 3; k++) {
            scan->matrix[i][k] = row[k];
            if (i < 3) scan->whole = scan->whole && row[k] == rint(row[k]);
            const uint32_t decimals = i == 3 ? mote_text_decimals(&header->numbers[9][k]) : 0;
            if (decimals > scan->decimals) scan->decimals = decimals;
        }
    }
    return MOTE_OK;
}

static mote_status set_counts(mote_context *ctx, const mote_text_table *table, const ptx_header *header,
                              uint64_t remaining_rows, mote_ptx_scan *scan) {
    uint64_t counts[2];
    for (int i = 0; i < 2; i++) {
        const mote_text_number *const number = &header->numbers[i][0];
        if (number->kind != MOTE_TEXT_INTEGER || !mote_text_store(number, MOTE_UINT64, &counts[i])) {
            return mote_text_malformed(ctx, table, (uint64_t)(number->begin - table->input->data),
                                       "%s is no whole number of 0 to 2^64 - 1", line_names[i]);
        }
    }
    scan->columns = counts[0];
    scan->rows = counts[1];
    const bool short_of_points = counts[0] > 0 && counts[1] > remaining_rows / counts[0];
    scan->count = short_of_points ? remaining_rows : counts[0] * counts[1];
    if (short_of_points && table->salvage) {
        mote_warn(ctx,
                  "%s: offset %" PRIu64 ": a scan of %" PRIu64 " × %" PRIu64 " points, of which the file has %" PRIu64,
                  table->input->path, header->offset, counts[0], counts[1], remaining_rows);
    } else if (short_of_points) {
        return mote_text_malformed(ctx, table, header->offset,
                                   "a scan of %" PRIu64 " × %" PRIu64 " points, but the file has %" PRIu64
                                   " lines left" MOTE_SALVAGE_HINT,
                                   counts[0], counts[1], remaining_rows);
    }
    return MOTE_OK;
}

/* Four values to a point, or seven. */
static mote_status look_at_points(mote_context *ctx, const mote_text_table *table, mote_ptx_scan *scan) {
    uint64_t at = scan->begin, row, row_end, field, field_end;
    uint32_t values = 0;
    if (!mote_text_next_row(table, &at, &row, &row_end)) return MOTE_OK;
    for (at = row; mote_text_next_field(table, &at, row_end, &field, &field_end);) values++;
    scan->color = values == 7;
    if (values == 4 || values == 7) return MOTE_OK;
    return mote_text_malformed(ctx, table, row, "a point of %u values, PTX has 4 (x y z intensity) or 7 (and a colour)",
                               values);
}

static mote_status add_scan(mote_context *ctx, mote_ptx_file *file, uint64_t line_count, mote_text_place *place) {
    ptx_header header;
    memset(&header, 0, sizeof header);
    if (!mote_reserve(ctx, (void **)&file->scans, &file->scan_capacity, file->scan_count + 1, sizeof *file->scans,
                      "PTX scans")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_ptx_scan *const scan = &file->scans[file->scan_count++];
    memset(scan, 0, sizeof *scan);
    MOTE_TRY(read_header(ctx, &file->table, place, &header));
    MOTE_TRY(set_matrix(ctx, &file->table, &header, scan));
    MOTE_TRY(set_counts(ctx, &file->table, &header, line_count - place->row, scan));
    const uint64_t count = scan->count;
    scan->first = file->point_count;
    scan->begin = place->at;
    if (count > 0) MOTE_TRY(look_at_points(ctx, &file->table, scan));
    mote_text_seek(&file->table, place->row + count, place);
    scan->end = place->at;
    file->point_count += count;
    file->color = file->color || scan->color;
    return MOTE_OK;
}

/* Whether a scan begins here, or, of a file to be salvaged, something else: then the scans end, with a warning. */
static bool begins_scan(mote_context *ctx, mote_ptx_file *file, uint64_t at) {
    if (!file->table.salvage || file->scan_count == 0 || mote_ptx_is_header(&file->table, at)) return true;
    mote_warn(ctx, "%s: offset %" PRIu64 ": what follows scan %" PRIu64 " is no scan and is left out",
              file->table.input->path, at, file->scan_count);
    return false;
}

mote_status mote_ptx_find_scans(mote_context *ctx, const mote_input *input, bool salvage, mote_ptx_file *file) {
    uint64_t line_count = 0;
    mote_text_place place = {0, mote_text_mark_bytes(input)};
    memset(file, 0, sizeof *file);
    file->table = (mote_text_table){.input = input, .begin = place.at, .end = input->size_bytes, .separator = ' '};
    file->table.lone_cr = mote_text_has_lone_cr(input, place.at);
    file->table.salvage = salvage;
    mote_text_leave_cut_line(ctx, &file->table);
    MOTE_TRY(mote_text_count(ctx, &file->table, &line_count));
    if (line_count == 0) return mote_malformed(ctx, input, 0, "the file has no line with a number of columns");
    while (place.row < line_count && begins_scan(ctx, file, place.at)) {
        MOTE_TRY(add_scan(ctx, file, line_count, &place));
    }
    const mote_ptx_scan *first = &file->scans[0];
    if (file->point_count > 0 || first->columns == 0 || first->rows == 0) return MOTE_OK;
    return mote_nothing_whole(ctx, input, first->begin, first->columns * first->rows);
}

void mote_ptx_close(mote_context *ctx, mote_ptx_file *file) {
    mote_text_close(ctx, &file->table);
    mote_free(ctx, file->scans);
}
