/* What the kinds of synthetic clouds share: an empty cloud, and filling it in parallel. */
#include "gen/gen_internal.h"

#define PIECE_POINTS  4096u      /* one turn of a thread */
#define WINDOW_POINTS (4u << 20) /* between two calls of the progress function */

mote_status gen_cloud_xyz(mote_context *ctx, uint64_t count, mote_cloud **out, float **xyz) {
    static const mote_column_spec specs[] = {
        {"x", MOTE_FLOAT32, 0, 0}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_FLOAT32, 0, 0}};
    MOTE_TRY(mote_cloud_create(ctx, count, specs, 3, out));
    *xyz = mote_cloud_column_data(*out, "x");
    return MOTE_OK;
}

mote_status gen_fill(mote_context *ctx, uint64_t count, gen_fill_fn fill, const void *shape, float *xyz) {
    for (uint64_t begin = 0; begin < count; begin += WINDOW_POINTS) {
        MOTE_TRY(mote_progress(ctx, (double)begin / (double)count, "generating points"));
        const uint64_t window = count - begin < WINDOW_POINTS ? count - begin : WINDOW_POINTS;
        const int64_t pieces = (int64_t)((window + PIECE_POINTS - 1) / PIECE_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
        for (int64_t piece = 0; piece < pieces; piece++) {
            if (mote_stop(ctx)) continue;
            const uint64_t from = (uint64_t)piece * PIECE_POINTS;
            const uint64_t size = window - from < PIECE_POINTS ? window - from : PIECE_POINTS;
            fill(shape, begin + from, size, xyz + 3 * (begin + from));
        }
        MOTE_TRY(mote_stopped(ctx));
    }
    return mote_progress(ctx, 1, "generating points");
}
