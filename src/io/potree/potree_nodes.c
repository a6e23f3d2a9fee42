/* Reads hierarchy.bin: chunks that refer to each other by proxies, followed without recursion. The work is bounded
   by the file: chunks may not overlap, so all records together are at most those that the file holds. */
#include "io/potree/potree.h"

enum { NODE_INNER = 0, NODE_LEAF = 1, NODE_PROXY = 2 };

/* A chunk still to be read, and the node that its first record describes. */
typedef struct chunk {
    uint64_t offset, size_bytes;
    uint32_t node;
} chunk;

typedef struct hierarchy_reader {
    const potree_layout *layout;
    const mote_input *input;
    potree_node *nodes;
    uint64_t node_count, node_capacity;
    chunk *chunks; /* first in, first out */
    uint64_t chunk_count, chunk_capacity;
    uint64_t chunk_bytes; /* of all chunks so far */
    uint64_t data_bytes;  /* of all nodes so far */
    uint64_t pointless;   /* nodes that announce points in no bytes */
} hierarchy_reader;

typedef struct node_record {
    uint8_t type, child_mask;
    uint32_t points;
    int64_t offset, size_bytes;
} node_record;

static node_record load_record(const uint8_t *at) {
    node_record record;
    record.type = at[0];
    record.child_mask = at[1];
    memcpy(&record.points, at + 2, 4);
    memcpy(&record.offset, at + 6, 8);
    memcpy(&record.size_bytes, at + 14, 8);
    return record;
}

static mote_status add_chunk(hierarchy_reader *reader, uint64_t at, int64_t offset, int64_t size_bytes, uint32_t node) {
    mote_context *ctx = reader->layout->ctx;
    const uint64_t file_bytes = reader->input->size_bytes;
    if (offset < 0 || size_bytes <= 0 || (uint64_t)offset > file_bytes ||
        (uint64_t)size_bytes > file_bytes - (uint64_t)offset) {
        return mote_malformed(ctx, reader->input, at, "a chunk of %lld bytes at %lld is not within the file of %llu",
                              (long long)size_bytes, (long long)offset, (unsigned long long)file_bytes);
    }
    if (size_bytes % POTREE_RECORD_BYTES != 0) {
        return mote_malformed(ctx, reader->input, at, "a chunk of %lld bytes is not made of records of %u",
                              (long long)size_bytes, POTREE_RECORD_BYTES);
    }
    reader->chunk_bytes += (uint64_t)size_bytes;
    if (reader->chunk_bytes > file_bytes) {
        return mote_malformed(ctx, reader->input, at, "chunks overlap or refer to each other in a loop");
    }
    if (!mote_reserve(ctx, (void **)&reader->chunks, &reader->chunk_capacity, reader->chunk_count + 1,
                      sizeof *reader->chunks, "hierarchy")) {
        return MOTE_ERROR_MEMORY;
    }
    const chunk added = {(uint64_t)offset, (uint64_t)size_bytes, node};
    reader->chunks[reader->chunk_count++] = added;
    return MOTE_OK;
}

static mote_status add_children(hierarchy_reader *reader, uint64_t at, uint32_t node) {
    uint32_t count = 0;
    for (uint32_t mask = reader->nodes[node].child_mask; mask != 0; mask &= mask - 1) count++;
    const uint64_t max = reader->input->size_bytes / POTREE_RECORD_BYTES;
    if (reader->node_count + count > max || max > UINT32_MAX) {
        return mote_malformed(reader->layout->ctx, reader->input, at, "more nodes than the file has records");
    }
    if (!mote_reserve(reader->layout->ctx, (void **)&reader->nodes, &reader->node_capacity, reader->node_count + count,
                      sizeof *reader->nodes, "hierarchy")) {
        return MOTE_ERROR_MEMORY;
    }
    reader->nodes[node].first_child = count > 0 ? (uint32_t)reader->node_count : 0;
    for (uint32_t c = 0; c < count; c++) {
        potree_node *child = &reader->nodes[reader->node_count++];
        memset(child, 0, sizeof *child);
        child->level = reader->nodes[node].level + 1;
    }
    return MOTE_OK;
}

/* Takes over where a node's data are, after checking that they are there. */
static mote_status set_data(hierarchy_reader *reader, uint64_t at, const node_record *record, potree_node *node) {
    const potree_layout *layout = reader->layout;
    const uint64_t file_bytes = layout->files->octree.size_bytes;
    node->child_mask = record->child_mask;
    if (record->size_bytes == 0 || record->points == 0) { /* viewers take such a node as empty, too */
        reader->pointless += record->points > 0;
        return MOTE_OK;
    }
    if (record->offset < 0 || record->size_bytes < 0 || (uint64_t)record->offset > file_bytes ||
        (uint64_t)record->size_bytes > file_bytes - (uint64_t)record->offset) {
        return mote_malformed(layout->ctx, reader->input, at, "a node of %lld bytes at %lld is not within %s of %llu",
                              (long long)record->size_bytes, (long long)record->offset, layout->files->octree.path,
                              (unsigned long long)file_bytes);
    }
    if (!layout->brotli && (uint64_t)record->size_bytes != (uint64_t)record->points * layout->stride_bytes) {
        return mote_malformed(layout->ctx, reader->input, at, "a node has %u points of %u bytes in %lld bytes",
                              record->points, layout->stride_bytes, (long long)record->size_bytes);
    }
    reader->data_bytes += (uint64_t)record->size_bytes;
    if (reader->data_bytes > file_bytes) {
        return mote_malformed(layout->ctx, reader->input, at, "nodes overlap in %s", layout->files->octree.path);
    }
    node->offset = (uint64_t)record->offset;
    node->size_bytes = (uint64_t)record->size_bytes;
    node->points = record->points;
    return MOTE_OK;
}

/* The first record is that of the chunk's own node; the others follow in the order in which nodes were added. */
static mote_status read_chunk(hierarchy_reader *reader, chunk c) {
    mote_context *ctx = reader->layout->ctx;
    const uint64_t first_added = reader->node_count, records = c.size_bytes / POTREE_RECORD_BYTES;
    for (uint64_t r = 0; r < records; r++) {
        const uint64_t at = c.offset + r * POTREE_RECORD_BYTES;
        const node_record record = load_record(reader->input->data + at);
        const uint64_t n = r == 0 ? c.node : first_added + r - 1;
        if (n >= reader->node_count) {
            return mote_malformed(ctx, reader->input, at, "a chunk has more records than its nodes have children");
        }
        if (record.type > NODE_PROXY || (r == 0 && record.type == NODE_PROXY)) {
            return mote_malformed(ctx, reader->input, at, "a node of type %u%s", record.type,
                                  r == 0 ? " at the top of a chunk" : "");
        }
        if (record.type == NODE_PROXY) {
            MOTE_TRY(add_chunk(reader, at, record.offset, record.size_bytes, (uint32_t)n));
        } else {
            MOTE_TRY(set_data(reader, at, &record, &reader->nodes[n]));
            MOTE_TRY(add_children(reader, at, (uint32_t)n));
        }
    }
    if (first_added + records - 1 != reader->node_count) {
        return mote_malformed(ctx, reader->input, c.offset, "a chunk of %llu records for %llu nodes",
                              (unsigned long long)records, (unsigned long long)(reader->node_count - first_added + 1));
    }
    return MOTE_OK;
}

static mote_status read_chunks(hierarchy_reader *reader) {
    const potree_layout *layout = reader->layout;
    if (!mote_reserve(layout->ctx, (void **)&reader->nodes, &reader->node_capacity, 1, sizeof *reader->nodes,
                      "hierarchy")) {
        return MOTE_ERROR_MEMORY;
    }
    memset(&reader->nodes[0], 0, sizeof reader->nodes[0]);
    reader->node_count = 1;
    MOTE_TRY(add_chunk(reader, 0, 0, (int64_t)layout->first_chunk_bytes, 0));
    for (uint64_t c = 0; c < reader->chunk_count; c++) MOTE_TRY(read_chunk(reader, reader->chunks[c]));
    if (reader->pointless > 0) {
        mote_warn(layout->ctx, "%s: nodes that announce points but have no bytes: %llu; they count as empty",
                  reader->input->path, (unsigned long long)reader->pointless);
    }
    return MOTE_OK;
}

/* Level by level: a node's children are appended when its turn comes. */
static mote_status sort_by_level(hierarchy_reader *reader) {
    potree_node *sorted = mote_alloc(reader->layout->ctx, reader->node_count * sizeof *sorted, "hierarchy");
    if (sorted == NULL) return MOTE_ERROR_MEMORY;
    sorted[0] = reader->nodes[0];
    uint32_t filled = 1;
    for (uint32_t n = 0; n < filled; n++) {
        const uint32_t from = sorted[n].first_child;
        if (sorted[n].child_mask == 0) continue;
        sorted[n].first_child = filled;
        uint32_t child = from;
        for (uint32_t mask = sorted[n].child_mask; mask != 0; mask &= mask - 1)
            sorted[filled++] = reader->nodes[child++];
    }
    mote_free(reader->layout->ctx, reader->nodes);
    reader->nodes = sorted;
    return MOTE_OK;
}

mote_status potree_nodes_read(const potree_layout *layout, potree_node **nodes, uint32_t *count) {
    hierarchy_reader reader;
    memset(&reader, 0, sizeof reader);
    reader.layout = layout;
    reader.input = &layout->files->hierarchy;
    mote_status status = read_chunks(&reader);
    if (status == MOTE_OK) status = sort_by_level(&reader);
    mote_free(layout->ctx, reader.chunks);
    *nodes = reader.nodes;
    *count = (uint32_t)reader.node_count;
    return status;
}
