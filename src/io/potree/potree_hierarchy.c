/* Writes hierarchy.bin: chunks of POTREE_STEP levels, those of coarse nodes first. As nodes are stored level by level
   and in Morton order, the nodes of a chunk are one range per level. */
#include "io/potree/potree.h"

enum { NODE_INNER = 0, NODE_LEAF = 1, NODE_PROXY = 2 };

typedef struct node_range {
    uint32_t begin, end;
} node_range;

static bool has_children(const mote_lod_node *node) { return node->child_mask != 0; }

static uint32_t child_count(const mote_lod_node *node) {
    uint32_t count = 0;
    for (uint32_t mask = node->child_mask; mask != 0; mask &= mask - 1) count++;
    return count;
}

/* The children of a range, themselves a range; empty if there is none. */
static node_range children_of(const mote_lod_node *nodes, node_range range) {
    node_range below = {0, 0};
    for (uint32_t n = range.begin; n < range.end; n++) {
        if (!has_children(&nodes[n])) continue;
        if (below.end == 0) below.begin = nodes[n].first_child;
        below.end = nodes[n].first_child + child_count(&nodes[n]);
    }
    return below;
}

/* The nodes of the chunk at root, level by level; fewer ranges where the tree ends. */
static uint32_t chunk_ranges(const mote_lod_node *nodes, uint32_t root, node_range ranges[POTREE_STEP + 1]) {
    uint32_t count = 1;
    ranges[0].begin = root;
    ranges[0].end = root + 1;
    while (count <= POTREE_STEP) {
        ranges[count] = children_of(nodes, ranges[count - 1]);
        if (ranges[count].begin == ranges[count].end) break;
        count++;
    }
    return count;
}

static bool is_chunk_root(const mote_lod_node *node) {
    return node->level % POTREE_STEP == 0 && (node->level == 0 || has_children(node));
}

typedef struct hierarchy_writer {
    const potree_source *source;
    const potree_place *places;
    uint64_t *chunk_offsets; /* [node_count + 1]: of the chunk at a node, for chunk roots; at the end, all bytes */
    mote_output *output;
    uint64_t hash; /* chain over the records */
} hierarchy_writer;

static void store_record(uint8_t record[POTREE_RECORD_BYTES], uint8_t type, const mote_lod_node *node, uint64_t offset,
                         uint64_t size_bytes) {
    const uint32_t points = (uint32_t)node->point_count;
    record[0] = type;
    record[1] = node->child_mask;
    memcpy(record + 2, &points, 4);
    memcpy(record + 6, &offset, 8);
    memcpy(record + 14, &size_bytes, 8);
}

static uint64_t chunk_bytes(const mote_lod_node *nodes, uint32_t root) {
    node_range ranges[POTREE_STEP + 1];
    const uint32_t count = chunk_ranges(nodes, root, ranges);
    uint64_t records = 0;
    for (uint32_t r = 0; r < count; r++) records += ranges[r].end - ranges[r].begin;
    return records * POTREE_RECORD_BYTES;
}

static mote_status write_chunk(mote_context *ctx, hierarchy_writer *writer, uint32_t root) {
    const mote_lod_node *nodes = writer->source->nodes;
    uint8_t record[POTREE_RECORD_BYTES];
    node_range ranges[POTREE_STEP + 1];
    const uint32_t count = chunk_ranges(nodes, root, ranges);
    for (uint32_t r = 0; r < count; r++) {
        for (uint32_t n = ranges[r].begin; n < ranges[r].end; n++) {
            const potree_place *place = &writer->places[n];
            if (r == POTREE_STEP && has_children(&nodes[n])) {
                store_record(record, NODE_PROXY, &nodes[n], writer->chunk_offsets[n], chunk_bytes(nodes, n));
            } else {
                const uint8_t type = has_children(&nodes[n]) ? NODE_INNER : NODE_LEAF;
                store_record(record, type, &nodes[n], place->offset, place->size_bytes);
            }
            MOTE_TRY(mote_output_write(ctx, writer->output, record, sizeof record));
            writer->hash = potree_hash_chain(writer->hash, record, sizeof record);
        }
    }
    return MOTE_OK;
}

mote_status potree_hierarchy_write(mote_context *ctx, const potree_source *source, const potree_place *places,
                                   mote_output *output, uint64_t *first_chunk_bytes, uint64_t *hash) {
    hierarchy_writer writer = {source, places, NULL, output, 0};
    writer.chunk_offsets = mote_alloc(ctx, (source->node_count + 1ull) * sizeof(uint64_t), "potree");
    if (writer.chunk_offsets == NULL) return MOTE_ERROR_MEMORY;
    uint64_t offset = 0;
    const uint32_t count = source->node_count;
    for (uint32_t n = 0; n < count; n++) {
        writer.chunk_offsets[n] = offset;
        if (is_chunk_root(&source->nodes[n])) offset += chunk_bytes(source->nodes, n);
    }
    writer.chunk_offsets[count] = offset;
    mote_status status = MOTE_OK;
    for (uint32_t n = 0; n < count && status == MOTE_OK; n++) {
        if (is_chunk_root(&source->nodes[n])) status = write_chunk(ctx, &writer, n);
    }
    *first_chunk_bytes = chunk_bytes(source->nodes, 0);
    *hash = writer.hash;
    mote_free(ctx, writer.chunk_offsets);
    return status;
}
