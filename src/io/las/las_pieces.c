/* How much of a file is decoded at a time, where memory is to be bounded by that and not by the file. */
#include "io/las/las_source.h"

#define THREAD_POINTS 200000u    /* of a piece, per thread: four of the usual chunks */
#define PIECE_POINTS  (8u << 20) /* enough for any number of threads */
#define LEAST_POINTS  50000u     /* one of the usual chunks */
#define LIMIT_SHARE   16u /* of memory that is bounded: a piece is decoded, looked at and written beside others */

uint64_t mote_las_piece_points(const las_source *source) {
    return mote_piece_points(source->ctx, source->header.point_bytes);
}

uint64_t mote_piece_points(const mote_context *ctx, uint64_t record_bytes) {
    const uint64_t points = (uint64_t)ctx->threads * THREAD_POINTS;
    const uint64_t most = points < PIECE_POINTS ? points : PIECE_POINTS;
    const uint64_t limit = ctx->params.memory_limit_bytes;
    const uint64_t share = limit / LIMIT_SHARE / (record_bytes > 0 ? record_bytes : 1);
    if (limit == 0 || most <= share) return most;
    return share > LEAST_POINTS ? share : most < LEAST_POINTS ? most : LEAST_POINTS;
}

uint64_t mote_las_piece_chunks(const las_source *source, uint64_t first, uint64_t *points) {
    const las_chunks *chunks = &source->chunks;
    const uint64_t max = mote_las_piece_points(source);
    uint64_t end = first;
    *points = 0;
    while (end < chunks->count && (end == first || (*points < max && chunks->list[end].points <= max - *points))) {
        *points += chunks->list[end++].points;
    }
    return end - first;
}

uint64_t mote_las_largest_piece(const las_source *source) {
    const bool is_compressed = source->header.compressed;
    uint64_t all = is_compressed ? 0 : source->cloud->count, most = mote_las_piece_points(source);
    for (uint64_t c = 0; is_compressed && c < source->chunks.count; c++) {
        const uint64_t points = source->chunks.list[c].points;
        all += points;
        most = points > most ? points : most;
    }
    return all < most ? all : most;
}
