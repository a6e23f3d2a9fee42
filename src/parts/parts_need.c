/* What an octree in one piece would take. */
#include "parts/parts.h"

/* Bytes of a point that building the octree of a whole cloud takes, beside what reading it does, and of a fixed kind:
   24 at the peak, 8 for fine codes; cells are averaged in tables of their own (docs/lod.md, Cost). */
#define POINT_BYTES    34u
#define AVERAGED_BYTES 48u
#define DISTANCE_BYTES 59u /* candidates and their blocks */
#define FIXED_BYTES    (8ull << 20)

typedef struct parts_need {
    uint64_t points, read_bytes, widest; /* bytes of the widest record */
} parts_need;

static mote_status add_input(mote_context *ctx, const char *path, const mote_read_params *reading, parts_need *need) {
    mote_reader *reader = NULL;
    if (mote_is_dash(path) || mote_input_is_read_once(path)) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: can be read once", path);
    }
    MOTE_TRY(mote_reader_open(ctx, path, reading, &reader));
    mote_status status = MOTE_OK;
    if (reader->piece == NULL || reader->records == NULL) {
        status = mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: is read as a whole", path);
    } else {
        /* Those of a mapped file are the system's to hold. */
        const bool is_mapped = reader->is_las && !reader->source.header.compressed;
        const uint64_t points = mote_reader_count(reader), bytes = reader->stride_bytes;
        need->points += points;
        need->read_bytes += is_mapped ? 0 : points * bytes;
        need->widest = bytes > need->widest ? bytes : need->widest;
    }
    mote_reader_close(reader);
    return status;
}

/* each: bytes of a point beside what reading it takes */
static mote_status find_need(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                             const mote_read_params *reading, uint64_t each, uint64_t *bytes) {
    const mote_log_fn log = ctx->params.log;
    parts_need need = {0, 0, 0};
    mote_input_list list;
    *bytes = 0;
    ctx->params.log = NULL; /* what is to be told is told when the inputs are read */
    mote_status status = mote_inputs_find(ctx, inputs, input_count, &list);
    for (uint64_t i = 0; i < list.count && status == MOTE_OK; i++) {
        status = add_input(ctx, list.paths[i], reading, &need);
    }
    ctx->params.log = log;
    const uint64_t united = list.count > 1 ? need.points * need.widest : 0;
    if (status == MOTE_OK) *bytes = FIXED_BYTES + need.points * each + need.read_bytes + united;
    mote_inputs_free(ctx, &list);
    return status;
}

mote_status mote_lod_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                 const mote_read_params *reading, const mote_lod_params *params, uint64_t *bytes) {
    const mote_lod_params lod = params != NULL ? *params : mote_lod_defaults();
    const uint64_t each = lod.sampling == MOTE_LOD_POISSON     ? DISTANCE_BYTES
                          : lod.filter != MOTE_LOD_FILTER_NONE ? AVERAGED_BYTES
                                                               : POINT_BYTES;
    return find_need(ctx, inputs, input_count, reading, each, bytes);
}

mote_status mote_copc_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                  const mote_read_params *reading, const mote_lod_params *params, uint64_t *bytes) {
    MOTE_TRY(mote_lod_whole_bytes(ctx, inputs, input_count, reading, params, bytes));
    *bytes += PARTS_THREAD_COPC_BYTES * (uint64_t)ctx->threads;
    return MOTE_OK;
}

mote_status mote_search_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                    const mote_read_params *reading, uint32_t result_bytes, uint64_t *bytes) {
    return find_need(ctx, inputs, input_count, reading, PARTS_INDEX_BYTES + result_bytes, bytes);
}
