/* Any bytes as the info record of a COPC file and what follows it: pages and chunks. Whatever nodes come out lie in the
   file, do not overlap and are no more than the file has bytes for. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "io/copc/copc.h"

#define POINTS_MAX 1000000u /* what the header says */

/* A file of which only the header is ours. */
static uint8_t *make_file(const uint8_t *data, size_t size, size_t *file_bytes) {
    *file_bytes = COPC_INFO_AT + (size > COPC_INFO_BYTES ? size : COPC_INFO_BYTES);
    uint8_t *file = calloc(1, *file_bytes);
    if (file == NULL) return NULL;
    memcpy(file, "LASF", 4);
    file[24] = 1;
    file[25] = 4;
    las_put(file + 94, LAS_HEADER_BYTES_14, 2);
    las_put(file + 96, COPC_INFO_AT + COPC_INFO_BYTES, 4);
    las_put(file + 100, 1, 4);
    las_put(file + 247, POINTS_MAX, 8);
    for (uint32_t k = 0; k < 3; k++) las_put_f64(file + 131 + 8 * k, 0.01);
    memcpy(file + LAS_HEADER_BYTES_14 + 2, COPC_USER, sizeof COPC_USER);
    las_put(file + LAS_HEADER_BYTES_14 + 18, COPC_ID_INFO, 2);
    las_put(file + LAS_HEADER_BYTES_14 + 20, COPC_INFO_BYTES, 2);
    memcpy(file + COPC_INFO_AT, data, size);
    return file;
}

static void check_nodes(mote_context *ctx, const mote_input *input, const copc_nodes *nodes) {
    uint64_t points = 0, end = 0;
    fuzz_require(ctx, nodes->in_file <= input->size_bytes / COPC_ENTRY_BYTES, "more nodes than entries");
    for (uint64_t i = 0; i < nodes->count; i++) {
        const copc_node *node = &nodes->nodes[i];
        fuzz_require(ctx, node->at >= end && node->size_bytes > 0, "chunks overlap");
        fuzz_require(ctx, node->at < input->size_bytes && node->size_bytes <= input->size_bytes - node->at, "outside");
        fuzz_require(ctx, node->key.level < COPC_LEVELS_MAX, "level");
        for (int k = 0; k < 3; k++) fuzz_require(ctx, (uint64_t)node->key.cell[k] >> node->key.level == 0, "cell");
        end = node->at + node->size_bytes;
        points += node->points;
    }
    fuzz_require(ctx, points <= POINTS_MAX, "more points than the header says");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const mote_box box = {{-1, -1, -1}, {1, 1, 1}};
    size_t file_bytes = 0;
    uint8_t *file = make_file(data, size, &file_bytes);
    if (file == NULL) return 0;
    mote_context *ctx = fuzz_context();
    const mote_input input = {.path = "fuzz", .data = file, .size_bytes = file_bytes};
    for (int way = 0; way < 3; way++) {
        mote_read_params params = mote_read_defaults();
        copc_nodes nodes;
        if (way != 0) params.bounds = &box;
        if (way == 2) params.resolution = 0.25;
        mote_context_clear(ctx);
        fuzz_require(ctx, mote_copc_probe(&input), "not recognised");
        if (mote_copc_filter(ctx, &input, &params, &nodes) == MOTE_OK) check_nodes(ctx, &input, &nodes);
        mote_free(ctx, nodes.nodes);
    }
    mote_copc_info_note(ctx, &input);
    fuzz_end(ctx, NULL);
    free(file);
    return 0;
}
