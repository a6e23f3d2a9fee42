/* Writing points as text: .csv with commas and a plain header line; .pts with its count and its seven columns;
   .xyz, .txt and .asc with blanks and a header comment that states names and types. */
#include <stdio.h>

#include "io/crs/crs_written.h"
#include "io/text/text.h"

typedef struct xyz_writer {
    mote_context *ctx;
    const mote_cloud *cloud;
    const mote_column **columns;
    uint32_t column_count;
    mote_column_limits *limits; /* of each column */
    mote_output output;
} xyz_writer;

static mote_status put_text(xyz_writer *w, const char *text) {
    return mote_output_write(w->ctx, &w->output, text, strlen(text));
}

static mote_status put_escaped(xyz_writer *w, const char *text, const char *also) {
    char *const escaped = mote_alloc(w->ctx, 3 * strlen(text) + 1, "texts");
    if (escaped == NULL) return MOTE_ERROR_MEMORY;
    mote_text_escape(text, also, escaped);
    const mote_status status = put_text(w, escaped);
    mote_free(w->ctx, escaped);
    return status;
}

/* The type that holds the values as they are written. */
static mote_type written_type(const mote_column *column, const mote_column_limits *limits) {
    if (limits->has_no_data && !mote_type_is_float(column->type)) return MOTE_FLOAT64; /* some are nan */
    if (column->scale != 1 || column->offset != 0) return MOTE_FLOAT64;
    if (column->bit_count == 0) return column->type;
    return column->bit_count <= 8    ? MOTE_UINT8
           : column->bit_count <= 16 ? MOTE_UINT16
           : column->bit_count <= 32 ? MOTE_UINT32
                                     : MOTE_UINT64;
}

/* "# x y z red:uint8 …": positions are doubles unless they say otherwise. */
static mote_status put_typed_header(xyz_writer *w) {
    char *crs = NULL;
    mote_status status = mote_crs_written(w->ctx, w->cloud, &crs);
    if (status == MOTE_OK && crs[0] != '\0') {
        status = put_text(w, "# mote crs ");
        if (status == MOTE_OK) status = put_escaped(w, crs, "");
        if (status == MOTE_OK) status = put_text(w, "\n");
    }
    mote_free(w->ctx, crs);
    MOTE_TRY(status);
    MOTE_TRY(put_text(w, "#"));
    for (uint32_t i = 0; i < w->column_count; i++) {
        const mote_column *const column = w->columns[i];
        const mote_type type = written_type(column, &w->limits[i]);
        MOTE_TRY(put_text(w, " "));
        MOTE_TRY(put_escaped(w, column->name, "\"#/;[("));
        if (mote_text_is_axis(column->name) && type == MOTE_FLOAT64) continue;
        MOTE_TRY(put_text(w, ":"));
        MOTE_TRY(put_text(w, mote_type_name(type)));
    }
    return put_text(w, "\n");
}

/* Names that hold a comma, a quote or a blank stand in quotes. */
static mote_status put_csv_header(xyz_writer *w) {
    for (uint32_t i = 0; i < w->column_count; i++) {
        const char *const name = w->columns[i]->name;
        if (i > 0) MOTE_TRY(put_text(w, ","));
        if (strpbrk(name, ",;\" \t\r\n") == NULL) {
            MOTE_TRY(put_text(w, name));
            continue;
        }
        MOTE_TRY(put_text(w, "\""));
        for (const char *p = name; *p != '\0'; p++) {
            const char c = *p == '\n' || *p == '\r' ? ' ' : *p;
            if (c == '"') MOTE_TRY(put_text(w, "\""));
            MOTE_TRY(mote_output_write(w->ctx, &w->output, &c, 1));
        }
        MOTE_TRY(put_text(w, "\""));
    }
    return put_text(w, "\n");
}

static mote_status put_count(xyz_writer *w) {
    char line[32];
    snprintf(line, sizeof line, "%llu\n", (unsigned long long)w->cloud->count);
    return put_text(w, line);
}

/* PTS knows x y z, intensity and colours, in this order; the rest is left out, with a warning. */
static void keep_pts_columns(xyz_writer *w, const char *path) {
    static const char *const names[] = {"x", "y", "z", "intensity", "red", "green", "blue"};
    const mote_column *kept[7];
    uint32_t count = 0, colors = 0;
    for (size_t n = 0; n < 7; n++) {
        for (uint32_t i = 0; i < w->column_count; i++) {
            if (strcmp(w->columns[i]->name, names[n]) != 0) continue;
            kept[count++] = w->columns[i];
            colors += n > 3;
        }
    }
    if (colors < 3) count -= colors;
    for (uint32_t i = 0; i < w->column_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count; k++) found |= kept[k] == w->columns[i];
        if (!found) mote_warn(w->ctx, "%s: PTS cannot hold %s; it is left out", path, w->columns[i]->name);
    }
    for (uint32_t k = 0; k < count; k++) w->columns[k] = kept[k];
    w->column_count = count;
}

static mote_status put_rows(xyz_writer *w, char separator) {
    mote_text_column *const columns = mote_alloc(w->ctx, w->column_count * sizeof *columns, "output");
    if (columns == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->column_count; i++) {
        columns[i] = mote_text_column_of(w->columns[i], !mote_text_is_axis(w->columns[i]->name));
        if (w->limits[i].has_no_data) columns[i].limits = &w->limits[i];
    }
    const mote_status status =
        mote_text_write(w->ctx, &w->output, w->cloud->count, columns, w->column_count, separator, "writing text");
    mote_free(w->ctx, columns);
    return status;
}

static mote_status write_file(xyz_writer *w, const char *path, const mote_write_params *params) {
    MOTE_TRY(mote_text_pick_columns(w->ctx, w->cloud, params->columns, &w->columns, &w->column_count));
    const bool csv = mote_writes_as(path, params, ".csv"), pts = mote_writes_as(path, params, ".pts");
    if (pts && params->columns == NULL) keep_pts_columns(w, path);
    w->limits = mote_alloc(w->ctx, w->column_count * sizeof *w->limits, "output");
    if (w->limits == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->column_count; i++) mote_cloud_limits(w->cloud, w->columns[i]->name, &w->limits[i]);
    if ((csv || pts) && mote_cloud_crs(w->cloud)[0] != '\0') {
        mote_warn(w->ctx, "%s: the coordinate reference system is left out", path);
    }
    MOTE_TRY(mote_output_open_in_order(w->ctx, path, &w->output));
    mote_status status = csv ? put_csv_header(w) : pts ? put_count(w) : put_typed_header(w);
    if (status == MOTE_OK) status = put_rows(w, csv ? ',' : ' ');
    return mote_output_close(w->ctx, &w->output, status);
}

mote_status mote_xyz_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    xyz_writer w = {.ctx = ctx, .cloud = cloud};
    mote_stage(ctx, "write text");
    const mote_status status = write_file(&w, path, params);
    mote_stage(ctx, NULL);
    mote_free(ctx, w.limits);
    mote_free(ctx, w.columns);
    return status;
}
