/* The public writer in pieces. */
#include "io/las/write/las_write.h"

struct mote_writer {
    las_writer las;
};

mote_status mote_writer_open(mote_context *ctx, const mote_cloud *piece, uint64_t count, const char *path,
                             const mote_write_params *params, mote_writer **out) {
    const mote_write_params p = params != NULL ? *params : mote_write_defaults();
    const mote_format *format;
    const las_job pieces = {piece, count, true};
    *out = NULL;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_write_params", "mote_write_defaults()"));
    MOTE_TRY(mote_cloud_need_host(ctx, piece, path));
    MOTE_TRY(mote_written_format(ctx, path, &p, &format));
    if (strcmp(format->name, "las") != 0) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: only .las and .laz can be written in pieces", path);
    }
    mote_writer *writer = mote_alloc(ctx, sizeof *writer, "LAS blocks");
    if (writer == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = mote_las_writer_open(ctx, &pieces, path, &p, &writer->las);
    if (status != MOTE_OK) return mote_writer_close(writer, status);
    *out = writer;
    return MOTE_OK;
}

mote_status mote_writer_add(mote_writer *writer) { return mote_las_writer_add(&writer->las); }

mote_status mote_writer_close(mote_writer *writer, mote_status status) {
    if (writer == NULL) return status;
    mote_context *ctx = writer->las.ctx;
    status = mote_las_writer_close(&writer->las, status);
    mote_free(ctx, writer);
    return status;
}
