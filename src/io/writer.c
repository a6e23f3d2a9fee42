/* The public writer in pieces. */
#include "io/writer.h"

#include "io/e57/e57_write.h"

struct mote_writer {
    mote_context *ctx;
    bool is_e57;
    las_writer las;
    e57_writer e57;
};

static mote_status open_writer(mote_writer *writer, const mote_cloud *piece, uint64_t count, const las_pieces *pieces,
                               const char *path, const mote_write_params *params) {
    const las_job job = {piece, count, true, pieces};
    if (writer->is_e57) return mote_e57_writer_open(writer->ctx, piece, count, true, path, params, &writer->e57);
    return mote_las_writer_open(writer->ctx, &job, path, params, &writer->las);
}

mote_status mote_writer_open(mote_context *ctx, const mote_cloud *piece, uint64_t count, const char *path,
                             const mote_write_params *params, mote_writer **out) {
    return mote_writer_open_pieces(ctx, piece, count, NULL, path, params, out);
}

mote_status mote_writer_open_pieces(mote_context *ctx, const mote_cloud *piece, uint64_t count,
                                    const las_pieces *pieces, const char *path, const mote_write_params *params,
                                    mote_writer **out) {
    const mote_write_params p = params != NULL ? *params : mote_write_defaults();
    const mote_format *format;
    *out = NULL;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_write_params", "mote_write_defaults()"));
    MOTE_TRY(mote_cloud_need_host(ctx, piece, path));
    MOTE_TRY(mote_written_format(ctx, path, &p, &format));
    const bool is_e57 = strcmp(format->name, "e57") == 0;
    if (!is_e57 && strcmp(format->name, "las") != 0) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: only .las, .laz and .e57 can be written in pieces", path);
    }
    mote_writer *writer = mote_alloc(ctx, sizeof *writer, "output");
    if (writer == NULL) return MOTE_ERROR_MEMORY;
    writer->ctx = ctx;
    writer->is_e57 = is_e57;
    const mote_status status = open_writer(writer, piece, count, pieces, path, &p);
    if (status != MOTE_OK) return mote_writer_close(writer, status);
    *out = writer;
    return MOTE_OK;
}

mote_status mote_writer_add(mote_writer *writer) {
    return writer->is_e57 ? mote_e57_writer_add(&writer->e57) : mote_las_writer_add(&writer->las);
}

mote_status mote_writer_close(mote_writer *writer, mote_status status) {
    if (writer == NULL) return status;
    mote_context *const ctx = writer->ctx;
    status = writer->is_e57 ? mote_e57_writer_close(&writer->e57, status) : mote_las_writer_close(&writer->las, status);
    mote_free(ctx, writer);
    return status;
}
