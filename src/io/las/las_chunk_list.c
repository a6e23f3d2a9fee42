/* The list of chunks that are to be decoded. */
#include "io/las/las_source.h"

uint64_t mote_las_chunks_at(const las_source *source) {
    const uint64_t at = (uint64_t)source->header.points_at + LAS_TABLE_OFFSET_BYTES;
    return at < source->input->size_bytes ? at : source->input->size_bytes;
}

mote_status mote_las_add_chunk(las_source *source, const las_chunk *chunk) {
    las_chunks *chunks = &source->chunks;
    if (!mote_reserve(source->ctx, (void **)&chunks->list, &chunks->capacity, chunks->count + 1, sizeof *chunks->list,
                      "LAZ chunks")) {
        return MOTE_ERROR_MEMORY;
    }
    las_chunk *added = &chunks->list[chunks->count++];
    *added = *chunk;
    added->number = ++chunks->in_file;
    added->first = chunks->points;
    chunks->points += chunk->points;
    return MOTE_OK;
}
