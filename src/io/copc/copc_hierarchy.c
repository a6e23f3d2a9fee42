/* Reads the hierarchy of COPC: pages of entries, each a node's chunk or a reference to another page. Hostile pages end:
   a page may only refer to pages for nodes below its own, and all pages together have no more bytes than the file. */
#include <inttypes.h>
#include <stdlib.h>

#include "io/copc/copc.h"

/* A page to be read, for the nodes of a subtree. */
typedef struct page {
    copc_key root;
    bool first; /* the one that the info record names */
    uint64_t at, size_bytes;
} page;

typedef struct entry {
    int32_t level, cell[3];
    uint64_t at;
    int32_t size_bytes, points;
} entry;
_Static_assert(sizeof(entry) == COPC_ENTRY_BYTES, "as the file has it");

typedef struct hierarchy {
    mote_context *ctx;
    const mote_input *input;
    page *pages; /* first in, first out */
    uint64_t page_count, page_capacity, page_bytes;
    uint64_t points_at;
    copc_nodes *nodes;
} hierarchy;

static mote_status add_page(hierarchy *h, uint64_t refers_at, const page *added) {
    const uint64_t size_bytes = h->input->size_bytes;
    if (added->size_bytes % COPC_ENTRY_BYTES != 0) {
        return mote_malformed(h->ctx, h->input, refers_at,
                              "COPC: a page of %" PRIu64 " bytes is not made of entries of %u", added->size_bytes,
                              COPC_ENTRY_BYTES);
    }
    if (added->at > size_bytes || added->size_bytes > size_bytes - added->at) {
        return mote_malformed(h->ctx, h->input, refers_at,
                              "COPC: a page of %" PRIu64 " bytes at %" PRIu64 " is not within the file of %" PRIu64,
                              added->size_bytes, added->at, size_bytes);
    }
    h->page_bytes += added->size_bytes;
    if (h->page_bytes > size_bytes) {
        return mote_malformed(h->ctx, h->input, refers_at,
                              "COPC: the pages overlap: together they are larger than the file");
    }
    if (!mote_reserve(h->ctx, (void **)&h->pages, &h->page_capacity, h->page_count + 1, sizeof *h->pages, "COPC")) {
        return MOTE_ERROR_MEMORY;
    }
    h->pages[h->page_count++] = *added;
    return MOTE_OK;
}

static mote_status check_key(const hierarchy *h, uint64_t at, const entry *e, const page *in, copc_key *key) {
    bool inside = e->level >= 0 && e->level < (int32_t)COPC_LEVELS_MAX;
    key->level = (uint32_t)e->level;
    for (int k = 0; k < 3; k++) {
        inside = inside && e->cell[k] >= 0 && (uint64_t)e->cell[k] >> e->level == 0;
        key->cell[k] = (uint32_t)e->cell[k];
    }
    if (!inside) {
        return mote_malformed(h->ctx, h->input, at, "COPC: no octree has a node %d-%d-%d-%d", e->level, e->cell[0],
                              e->cell[1], e->cell[2]);
    }
    bool below = key->level >= in->root.level;
    for (int k = 0; k < 3 && below; k++) { below = key->cell[k] >> (key->level - in->root.level) == in->root.cell[k]; }
    if (below) return MOTE_OK;
    return mote_malformed(h->ctx, h->input, at, "COPC: node %d-%d-%d-%d stands in a page for node %u-%u-%u-%u",
                          e->level, e->cell[0], e->cell[1], e->cell[2], in->root.level, in->root.cell[0],
                          in->root.cell[1], in->root.cell[2]);
}

static mote_status add_reference(hierarchy *h, uint64_t at, const entry *e, const page *in, const copc_key *key) {
    if (key->level <= in->root.level && !in->first) {
        return mote_malformed(h->ctx, h->input, at, "COPC: the page of node %d-%d-%d-%d refers to itself or back",
                              e->level, e->cell[0], e->cell[1], e->cell[2]);
    }
    if (e->size_bytes <= 0) {
        return mote_malformed(h->ctx, h->input, at + COPC_ENTRY_AT_SIZE, "COPC: a page of %d bytes", e->size_bytes);
    }
    const page added = {*key, false, e->at, (uint64_t)e->size_bytes};
    return add_page(h, at, &added);
}

static mote_status add_node(hierarchy *h, uint64_t at, const entry *e, const copc_key *key) {
    const uint64_t end = h->input->size_bytes;
    if (e->size_bytes <= 0 || e->at < h->points_at || e->at > end || (uint64_t)e->size_bytes > end - e->at) {
        return mote_malformed(h->ctx, h->input, at,
                              "COPC: the chunk of node %u-%u-%u-%u, %d bytes at %" PRIu64
                              ", is not between the points' start at %" PRIu64 " and the end of the file at %" PRIu64,
                              key->level, key->cell[0], key->cell[1], key->cell[2], e->size_bytes, e->at, h->points_at,
                              end);
    }
    copc_nodes *nodes = h->nodes;
    if (!mote_reserve(h->ctx, (void **)&nodes->nodes, &nodes->capacity, nodes->count + 1, sizeof *nodes->nodes,
                      "COPC")) {
        return MOTE_ERROR_MEMORY;
    }
    const copc_node added = {*key, (uint32_t)e->points, e->at, (uint64_t)e->size_bytes, 0};
    nodes->nodes[nodes->count++] = added;
    return MOTE_OK;
}

static mote_status read_entry(hierarchy *h, uint64_t at, const page *in) {
    entry e;
    copc_key key;
    memcpy(&e, h->input->data + at, sizeof e);
    MOTE_TRY(check_key(h, at, &e, in, &key));
    if (e.points == COPC_PAGE) return add_reference(h, at, &e, in, &key);
    if (e.points > 0) return add_node(h, at, &e, &key);
    if (e.points == 0) return MOTE_OK;
    return mote_malformed(h->ctx, h->input, at + COPC_ENTRY_AT_POINTS, "COPC: node %u-%u-%u-%u has %d points",
                          key.level, key.cell[0], key.cell[1], key.cell[2], e.points);
}

static int by_place(const void *a, const void *b) {
    const copc_node *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* Chunks that overlap would let a small file unfold to any size. */
static mote_status check_chunks(const hierarchy *h) {
    copc_nodes *nodes = h->nodes;
    uint64_t points = 0;
    nodes->in_file = nodes->count;
    if (nodes->count > 0) qsort(nodes->nodes, nodes->count, sizeof *nodes->nodes, by_place);
    for (uint64_t i = 0; i < nodes->count; i++) {
        copc_node *node = &nodes->nodes[i];
        points += node->points;
        node->number = i + 1;
        if (i == 0 || node[-1].at + node[-1].size_bytes <= node->at) continue;
        return mote_malformed(h->ctx, h->input, node->at,
                              "COPC: the chunks of nodes %u-%u-%u-%u and %u-%u-%u-%u overlap", node[-1].key.level,
                              node[-1].key.cell[0], node[-1].key.cell[1], node[-1].key.cell[2], node->key.level,
                              node->key.cell[0], node->key.cell[1], node->key.cell[2]);
    }
    const uint64_t stated = las_u64(h->input->data + LAS_AT_COUNT);
    if (points > stated || (points == 0 && stated > 0)) {
        return mote_malformed(h->ctx, h->input, LAS_AT_COUNT,
                              "COPC: the nodes have %" PRIu64 " points, the header says %" PRIu64, points, stated);
    }
    if (points < stated) {
        mote_warn(h->ctx, "%s: offset %u: COPC: the nodes have %" PRIu64 " points, the header says %" PRIu64,
                  h->input->path, LAS_AT_COUNT, points, stated);
    }
    return MOTE_OK;
}

static mote_status read_pages(hierarchy *h, const copc_info *info) {
    const page first = {{0, {0, 0, 0}}, true, info->root_at, info->root_bytes};
    MOTE_TRY(add_page(h, COPC_INFO_AT, &first));
    for (uint64_t p = 0; p < h->page_count; p++) {
        const page now = h->pages[p]; /* the list grows while it is read */
        for (uint64_t at = now.at; at < now.at + now.size_bytes; at += COPC_ENTRY_BYTES) {
            MOTE_TRY(read_entry(h, at, &now));
        }
    }
    h->nodes->pages = h->page_count;
    return check_chunks(h);
}

mote_status mote_copc_nodes_read(mote_context *ctx, const mote_input *input, const copc_info *info, copc_nodes *nodes) {
    hierarchy h;
    memset(&h, 0, sizeof h);
    memset(nodes, 0, sizeof *nodes);
    h.ctx = ctx;
    h.input = input;
    h.points_at = las_u32(input->data + LAS_AT_POINTS_AT);
    h.nodes = nodes;
    const mote_status status = read_pages(&h, info);
    mote_free(ctx, h.pages);
    return status;
}
