/* Which attributes inputs have together, before any of their points is read. */
#include "core/cloud.h"
#include "io/merge/inputs.h"
#include "io/reader.h"

/* Adds the columns that no input before had. A cloud without points looks at any memory. */
static mote_status add_columns(mote_cloud *to, const mote_cloud *from, uint64_t columns, uint8_t *nothing) {
    for (uint64_t c = 0; c < columns; c++) {
        mote_column view = from->columns[c];
        if (mote_cloud_find(to, view.name) != NULL) continue;
        view.data = nothing;
        view.stride_bytes = 0;
        MOTE_TRY(mote_cloud_add_view(to, &view));
    }
    return MOTE_OK;
}

static mote_status add_input(mote_context *ctx, const char *path, const mote_read_params *reading, mote_cloud *to,
                             uint8_t *nothing) {
    mote_reader *reader = NULL;
    MOTE_TRY(mote_reader_open(ctx, path, reading, &reader));
    const mote_cloud *cloud = reader->piece != NULL ? reader->piece : reader->whole;
    const uint64_t columns = reader->piece != NULL ? reader->shown_columns : cloud->column_count;
    const mote_status status = add_columns(to, cloud, columns, nothing);
    mote_reader_close(reader);
    return status;
}

mote_status mote_inputs_attributes(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                   const mote_read_params *params, mote_cloud **out) {
    mote_input_list list;
    const mote_log_fn log = ctx->params.log;
    mote_status status = mote_cloud_new(ctx, 0, out);
    if (status != MOTE_OK) return status;
    uint8_t *nothing = mote_alloc_zero(ctx, sizeof(uint64_t), "columns");
    status = mote_cloud_adopt(*out, nothing);
    ctx->params.log = NULL; /* what is to be told is told when the inputs are read */
    memset(&list, 0, sizeof list);
    if (status == MOTE_OK) status = mote_inputs_find(ctx, paths, path_count, &list);
    for (uint64_t i = 0; i < list.count && status == MOTE_OK; i++) {
        status = add_input(ctx, list.paths[i], params, *out, nothing);
    }
    ctx->params.log = log;
    mote_inputs_free(ctx, &list);
    if (status == MOTE_OK) return MOTE_OK;
    mote_cloud_destroy(*out);
    *out = NULL;
    return status;
}
