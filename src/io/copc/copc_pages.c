/* The hierarchy of COPC as pages: subtrees of up to some thousand nodes, so that a reader gets those around a place
   with one request. Cut from the leaves upwards: where a subtree grows too large, its children become pages. */
#include "io/copc/copc_write.h"

typedef struct page_plan {
    const copc_job *job;
    const mote_lod_node *nodes;
    uint32_t node_count;
    uint32_t *page;  /* [node_count] the page in which the node's entry stands */
    uint32_t *size;  /* [node_count] entries of the subtree in its page; then, by page, entries in it */
    uint64_t *first; /* [page_count] entries before those of the page */
    uint32_t page_count;
} page_plan;

#define STARTS_PAGE UINT32_MAX /* in page, until pages have numbers */

static void cut_subtrees(page_plan *p) {
    for (uint32_t n = p->node_count; n-- > 0;) {
        const mote_lod_node *node = &p->nodes[n];
        const uint32_t children = (uint32_t)__builtin_popcount(node->child_mask);
        uint64_t entries = 1;
        p->page[n] = 0;
        for (uint32_t c = node->first_child; c < node->first_child + children; c++) entries += p->size[c];
        const bool cut = entries > COPC_PAGE_ENTRIES;
        for (uint32_t c = node->first_child; c < node->first_child + children && cut; c++) {
            if (p->size[c] > 1) p->page[c] = STARTS_PAGE;
        }
        p->size[n] = cut ? 1 + children : (uint32_t)entries;
    }
    p->page[0] = STARTS_PAGE;
}

/* Gives pages their numbers, coarse ones first, and counts their entries. */
static void number_pages(page_plan *p) {
    p->page_count = 0;
    for (uint32_t n = 0; n < p->node_count; n++) {
        if (p->page[n] == STARTS_PAGE) {
            p->page[n] = p->page_count++;
        } else {
            p->page[n] = p->page[p->nodes[n].parent];
        }
    }
    memset(p->size, 0, p->node_count * sizeof *p->size);
    for (uint32_t n = 0; n < p->node_count; n++) {
        p->size[p->page[n]]++;
        if (n > 0 && p->page[n] != p->page[p->nodes[n].parent]) p->size[p->page[p->nodes[n].parent]]++;
    }
}

static void put_entry(const copc_job *job, uint32_t node, uint64_t at, uint64_t size_bytes, int64_t points,
                      uint8_t *out) {
    copc_key key;
    mote_copc_key(job, node, &key);
    las_put(out + COPC_ENTRY_AT_LEVEL, key.level, 4);
    for (uint32_t k = 0; k < 3; k++) las_put(out + COPC_ENTRY_AT_CELL + 4 * k, key.cell[k], 4);
    las_put(out + COPC_ENTRY_AT_PLACE, at, 8);
    las_put(out + COPC_ENTRY_AT_SIZE, size_bytes, 4);
    las_put(out + COPC_ENTRY_AT_POINTS, (uint64_t)points, 4);
}

static void fill_pages(page_plan *p, uint64_t at, uint8_t *data) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < p->page_count; i++) {
        p->first[i] = before;
        before += p->size[i];
    }
    /* From here on first moves: where the next entry of a page goes. A page gets its entries in the order of nodes, so
       the reference to a page is put before its own first entry. */
    for (uint32_t n = 0; n < p->node_count; n++) {
        const uint32_t page = p->page[n], above = n > 0 ? p->page[p->nodes[n].parent] : page;
        const uint64_t page_at = at + p->first[page] * COPC_ENTRY_BYTES;
        if (page != above) {
            put_entry(p->job, n, page_at, (uint64_t)p->size[page] * COPC_ENTRY_BYTES, COPC_PAGE,
                      data + p->first[above]++ * COPC_ENTRY_BYTES);
        }
        const copc_place *place = &p->job->places[n];
        put_entry(p->job, n, place->at, place->size_bytes, (int64_t)place->points,
                  data + p->first[page]++ * COPC_ENTRY_BYTES);
    }
}

mote_status mote_copc_pages_make(const copc_job *job, uint64_t at, uint8_t **data, uint64_t *size_bytes,
                                 uint64_t *root_bytes) {
    mote_context *ctx = job->ctx;
    const uint32_t node_count = job->node_count;
    page_plan p = {.job = job, .nodes = job->nodes, .node_count = node_count};
    *data = NULL;
    p.page = mote_alloc(ctx, node_count * sizeof *p.page, "COPC");
    p.size = mote_alloc_zero(ctx, node_count * sizeof *p.size, "COPC");
    if (p.page != NULL && p.size != NULL) {
        cut_subtrees(&p);
        number_pages(&p);
        *size_bytes = ((uint64_t)node_count + p.page_count - 1) * COPC_ENTRY_BYTES;
        *root_bytes = (uint64_t)p.size[0] * COPC_ENTRY_BYTES;
        p.first = mote_alloc(ctx, p.page_count * sizeof *p.first, "COPC");
        if (p.first != NULL) *data = mote_alloc(ctx, *size_bytes, "COPC");
    }
    if (*data != NULL) fill_pages(&p, at, *data);
    mote_free(ctx, p.page);
    mote_free(ctx, p.size);
    mote_free(ctx, p.first);
    return *data != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}
