/* Reading PTX: scans as text, each with the matrix that moves it into the world. Cells of the scanner's grid without a
   return become points without a position, so that the grid stays. */
#include <math.h>

#include "io/text/ptx.h"

#define PROBE_BYTES  (64u << 10)
#define PIECE_POINTS (1 << 20) /* between two looks at the progress callback */

/* What the parts of the reader share: records of x y z, intensity, perhaps a colour, perhaps the number of the scan. */
typedef struct ptx_reader {
    mote_context *ctx;
    mote_input *input;
    mote_ptx_file file;
    mote_cloud *cloud;
    uint8_t *records;
    uint32_t record_bytes;
    uint32_t scan_offset;
    mote_type scan_type;
    uint32_t decimals;
} ptx_reader;

enum { AT_INTENSITY = 24, AT_COLOR = 28 };

/* A header by its numbers in ten lines. A file named .ptx is one whatever it holds, so that mistakes in its header are
   told. */
bool mote_ptx_probe(const mote_input *input) {
    mote_input first = *input;
    if (mote_path_has_ending(input->path, ".ptx")) return true;
    if (first.size_bytes > PROBE_BYTES) first.size_bytes = PROBE_BYTES;
    mote_text_table table = {.input = &first, .begin = mote_text_mark_bytes(&first), .end = first.size_bytes};
    table.lone_cr = mote_text_has_lone_cr(&first, table.begin);
    table.separator = ' ';
    return mote_ptx_is_header(&table, table.begin);
}

/* ---- points */

/* *count: points that are whole. */
static mote_status parse_points(ptx_reader *r, const mote_ptx_scan *scan, uint8_t *records, uint64_t *count) {
    mote_text_field fields[7] = {{.type = MOTE_FLOAT64, .offset = 0, .decimals = true},
                                 {.type = MOTE_FLOAT64, .offset = 8, .decimals = true},
                                 {.type = MOTE_FLOAT64, .offset = 16, .decimals = true},
                                 {.type = MOTE_FLOAT32, .offset = AT_INTENSITY}};
    for (uint32_t k = 0; k < 3; k++) fields[4 + k] = (mote_text_field){.type = MOTE_UINT8, .offset = AT_COLOR + k};
    mote_text_table table = {.input = r->input, .begin = scan->begin, .end = scan->end, .separator = ' '};
    table.lone_cr = r->file.table.lone_cr;
    table.salvage = r->file.table.salvage;
    mote_text_rows rows = {.prefix = true, .fields = fields, .field_count = scan->color ? 7 : 4, .records = records};
    rows.record_bytes = r->record_bytes;
    mote_status status = mote_text_count(r->ctx, &table, &rows.count);
    if (status == MOTE_OK) status = mote_text_parse(r->ctx, &table, &rows);
    mote_text_close(r->ctx, &table);
    *count = rows.count;
    const uint32_t decimals = rows.decimals > scan->decimals ? rows.decimals : scan->decimals;
    if (decimals > r->decimals) r->decimals = decimals;
    return status;
}

static mote_status move_points(const ptx_reader *r, uint64_t scan_number, uint64_t count, uint8_t *records) {
    const mote_ptx_scan *const scan = &r->file.scans[scan_number];
    const uint32_t number_bytes = r->file.scan_count > 1 ? mote_type_size(r->scan_type) : 0;
    for (int64_t first = 0; first < (int64_t)count; first += PIECE_POINTS) {
        const int64_t last = (int64_t)count - first < PIECE_POINTS ? (int64_t)count : first + PIECE_POINTS;
#pragma omp parallel for schedule(static) num_threads(r->ctx->threads) if (last - first > 10000)
        for (int64_t i = first; i < last; i++) {
            uint8_t *const record = records + (uint64_t)i * r->record_bytes;
            /* The scanner stands at 0 0 0 and measures no point there: that is a cell without a return. */
            double p[3], world[3];
            memcpy(p, record, sizeof p);
            const bool missing = p[0] == 0 && p[1] == 0 && p[2] == 0;
            for (int k = 0; k < 3; k++) {
                const double turned = p[0] * scan->matrix[0][k] + p[1] * scan->matrix[1][k] + p[2] * scan->matrix[2][k];
                world[k] = missing ? (double)NAN : turned + scan->matrix[3][k];
            }
            memcpy(record, world, sizeof world);
            if (r->file.color && !scan->color) memset(record + AT_COLOR, 0, 3);
            memcpy(record + r->scan_offset, &scan_number, number_bytes);
        }
        MOTE_TRY(mote_progress(r->ctx, (double)last / (double)count, "reading PTX"));
    }
    return MOTE_OK;
}

static mote_status read_scans(ptx_reader *r) {
    uint64_t kept, done = 0;
    bool whole = true, complete = true;
    r->records = mote_alloc(r->ctx, r->file.point_count * r->record_bytes, "cloud");
    MOTE_TRY(mote_cloud_adopt(r->cloud, r->records));
    for (uint64_t i = 0; i < r->file.scan_count && complete; i++) {
        const mote_ptx_scan *const scan = &r->file.scans[i];
        uint8_t *const records = r->records + scan->first * r->record_bytes;
        if (scan->count == 0) continue;
        MOTE_TRY(parse_points(r, scan, records, &kept));
        if (kept > 0) MOTE_TRY(move_points(r, i, kept, records));
        whole = whole && scan->whole;
        complete = kept == scan->count; /* otherwise nobody knows where the next scan begins */
        done = scan->first + kept;
    }
    if (done == 0 && r->file.point_count > 0) {
        return mote_nothing_whole(r->ctx, r->input, r->file.scans[0].begin, r->file.point_count);
    }
    r->cloud->count = done;
    if (whole && r->decimals <= 9 && r->file.point_count > 0) {
        r->cloud->position_step = 1.0 / (double)mote_text_power10[r->decimals];
    }
    return MOTE_OK;
}

static mote_status add_columns(const ptx_reader *r) {
    static const char *const names[] = {"x", "y", "z", "intensity", "red", "green", "blue", "scan"};
    const mote_type types[] = {MOTE_FLOAT64, MOTE_FLOAT64, MOTE_FLOAT64, MOTE_FLOAT32,
                               MOTE_UINT8,   MOTE_UINT8,   MOTE_UINT8,   r->scan_type};
    uint32_t offset = 0;
    for (int i = 0; i < 8; i++) {
        const bool is_color = i >= 4 && i < 7;
        if ((is_color && !r->file.color) || (i == 7 && r->file.scan_count < 2)) continue;
        const mote_column column = {
            .name = names[i], .data = r->records + offset, .stride_bytes = r->record_bytes, .type = types[i]};
        MOTE_TRY(mote_cloud_add_view(r->cloud, &column));
        offset += mote_type_size(types[i]);
    }
    return MOTE_OK;
}

static mote_status read_points(ptx_reader *r, bool salvage) {
    MOTE_TRY(mote_ptx_find_scans(r->ctx, r->input, salvage, &r->file));
    r->record_bytes = AT_COLOR + (r->file.color ? 3 : 0);
    r->scan_offset = r->record_bytes;
    r->scan_type = r->file.scan_count <= 1u << 16 ? MOTE_UINT16 : MOTE_UINT32;
    if (r->file.scan_count > 1) r->record_bytes += mote_type_size(r->scan_type);
    MOTE_TRY(mote_cloud_new(r->ctx, r->file.point_count, &r->cloud));
    MOTE_TRY(read_scans(r));
    MOTE_TRY(add_columns(r));
    /* The points stand sweep after sweep, so that a row of the grid is a column of the scanner. */
    const mote_ptx_scan *const scan = &r->file.scans[0];
    if (r->file.scan_count > 1 || r->file.point_count == 0) return MOTE_OK;
    if (r->cloud->count != scan->columns * scan->rows) return MOTE_OK; /* some are missing */
    return mote_cloud_set_grid(r->cloud, scan->rows, scan->columns);
}

mote_status mote_ptx_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    ptx_reader r = {.ctx = ctx, .input = input};
    *out = NULL;
    mote_stage(ctx, "read PTX");
    const mote_status status = read_points(&r, params != NULL && params->salvage);
    mote_stage(ctx, NULL);
    mote_ptx_close(ctx, &r.file);
    if (status != MOTE_OK) {
        mote_cloud_destroy(r.cloud);
        return status;
    }
    *out = r.cloud;
    return MOTE_OK;
}
