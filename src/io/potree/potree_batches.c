/* octree.bin of an octree on a GPU: the records come in pieces, each written and summed by all threads while the GPU
   makes the next and they are on their way. */
#include "io/potree/potree.h"
#include "io/potree/potree_math.h"

#define BATCH_BYTES (16u << 20) /* stays in the last-level cache until it is written */
#define SLICE_BYTES (1u << 20)  /* that a thread writes at once */

/* ---- pieces */

mote_status potree_batches_open(const potree_octree *octree, potree_batches *batches) {
    const potree_plan *plan = octree->plan;
    const lod_device_view *view = &octree->source->device_view;
    const uint64_t batch_bytes = octree->source->batch_bytes > 0 ? octree->source->batch_bytes : BATCH_BYTES;
    const uint64_t items = batch_bytes / plan->stride_bytes;
    potree_encoding encoding;
    memset(batches, 0, sizeof *batches);
    batches->octree = octree;
    batches->max_items = items > 0 ? items : 1;
    if (plan->points == 0) return MOTE_OK;
    mote_status status = potree_encoding_make(plan, view, &encoding);
    if (status == MOTE_OK) {
        const uint64_t most = batches->max_items < view->item_count ? batches->max_items : view->item_count;
        status = plan->device_ops->open(plan->device, &encoding.program, most, &batches->stream);
    }
    potree_encoding_free(&encoding);
    return status;
}

/* Takes whole nodes as long as they fit, or of a node that does not fit as much as does. False: none is left. */
static bool cut_batch(potree_batches *batches, uint32_t end, potree_batch *batch) {
    const mote_lod_node *nodes = batches->octree->source->nodes;
    potree_batch *next = &batches->next;
    *batch = *next;
    batch->item_count = 0;
    for (; next->node < end; next->node++, next->point = 0) {
        const uint64_t remaining = nodes[next->node].point_count - next->point;
        if (batch->item_count + remaining > batches->max_items) break;
        batch->item_count += remaining;
    }
    if (batch->item_count == 0 && next->node < end) {
        batch->node = next->node; /* nodes without points may have come before */
        batch->point = next->point;
        batch->item_count = batches->max_items;
        next->point += batch->item_count;
    }
    next->first_item += batch->item_count;
    return batch->item_count > 0;
}

static mote_status list_parts(potree_batches *batches, const potree_batch *batch) {
    const potree_octree *octree = batches->octree;
    uint64_t first = batch->point, items = 0;
    batches->part_count = 0;
    for (uint32_t node = batch->node; items < batch->item_count; node++, first = 0) {
        const uint64_t there = octree->source->nodes[node].point_count - first, remaining = batch->item_count - items;
        if (there == 0) continue;
        if (!mote_reserve(octree->ctx, (void **)&batches->parts, &batches->part_capacity, batches->part_count + 1,
                          sizeof *batches->parts, "potree buffers")) {
            return MOTE_ERROR_MEMORY;
        }
        const potree_part part = {node, first, there < remaining ? there : remaining,
                                  items * octree->plan->stride_bytes};
        batches->parts[batches->part_count++] = part;
        items += part.count;
    }
    return MOTE_OK;
}

mote_status potree_batches_run(potree_batches *batches, uint32_t end, potree_batch_use use, void *user) {
    const mote_potree_ops *ops = batches->octree->plan->device_ops;
    potree_batch flight[POTREE_IN_FLIGHT];
    uint64_t begun = 0, used = 0;
    for (;; used++) {
        potree_batch batch;
        while (begun - used < POTREE_IN_FLIGHT && cut_batch(batches, end, &batch)) {
            MOTE_TRY(ops->begin(batches->stream, batch.first_item, batch.item_count));
            flight[begun++ % POTREE_IN_FLIGHT] = batch;
        }
        if (used == begun) return MOTE_OK;
        const uint8_t *records = NULL;
        MOTE_TRY(ops->take(batches->stream, &records));
        MOTE_TRY(list_parts(batches, &flight[used % POTREE_IN_FLIGHT]));
        MOTE_TRY(use(batches->parts, batches->part_count, records, user));
    }
}

/* ---- what was learnt of the points */

static void take_findings(const potree_octree *octree, uint64_t *memory) {
    const potree_plan *plan = octree->plan;
    const encode_findings findings = encode_findings_in(memory, plan->element_count);
    potree_stats *stats = &octree->stats[0];
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        for (uint32_t e = attribute->range; e < attribute->range + attribute->elements; e++) {
            if (findings.low[e] > findings.high[e]) continue;
            stats->ranges[e].min = potree_key_value(findings.low[e], attribute->type);
            stats->ranges[e].max = potree_key_value(findings.high[e], attribute->type);
        }
    }
    for (uint32_t c = 0; c < POTREE_CLASSES; c++) stats->classes[0][c] += findings.classes[c];
    stats->inexact = findings.inexact[0] != 0;
}

static mote_status fetch_findings(const potree_batches *batches) {
    const potree_octree *octree = batches->octree;
    const uint64_t count = encode_finding_count(octree->plan->element_count);
    uint64_t *memory = mote_alloc(octree->ctx, count * sizeof *memory, "potree");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = octree->plan->device_ops->findings(batches->stream, memory);
    if (status == MOTE_OK) take_findings(octree, memory);
    mote_free(octree->ctx, memory);
    return status;
}

mote_status potree_batches_close(potree_batches *batches, mote_status status) {
    if (batches->stream != NULL) {
        if (status == MOTE_OK) status = fetch_findings(batches);
        batches->octree->plan->device_ops->close(batches->stream);
    }
    if (batches->octree != NULL) mote_free(batches->octree->ctx, batches->parts);
    return status;
}

/* ---- encoding DEFAULT */

typedef struct piece_writer {
    const potree_octree *octree;
    potree_hash open; /* of the node that the next piece continues */
} piece_writer;

/* Only a piece of that node alone leaves it open, so one thread at a time is here with it. */
static void sum_part(piece_writer *writer, const potree_part *part, const uint8_t *records) {
    const potree_octree *octree = writer->octree;
    potree_hash hash = part->first > 0 ? writer->open : potree_hash_begin();
    potree_hash_add(&hash, records + part->at, part->count * octree->plan->stride_bytes);
    if (part->first + part->count < octree->source->nodes[part->node].point_count) {
        writer->open = hash;
    } else {
        octree->places[part->node].hash = potree_hash_end(&hash);
    }
}

static void write_slice(const potree_octree *octree, const uint8_t *records, uint64_t size_bytes, uint64_t slice,
                        uint64_t offset) {
    const uint64_t at = slice * SLICE_BYTES, remaining = size_bytes - at;
    if (mote_context_status(octree->ctx) != MOTE_OK) return;
    mote_output_write_at(octree->ctx, octree->output, records + at, remaining < SLICE_BYTES ? remaining : SLICE_BYTES,
                         offset + at);
}

static mote_status write_piece(const potree_part *parts, uint64_t part_count, const uint8_t *records, void *user) {
    piece_writer *writer = user;
    const potree_octree *octree = writer->octree;
    const uint64_t stride = octree->plan->stride_bytes;
    const potree_part *last = &parts[part_count - 1];
    const uint64_t size_bytes = last->at + last->count * stride, slices = (size_bytes + SLICE_BYTES - 1) / SLICE_BYTES;
    const uint64_t offset = octree->places[parts[0].node].offset + parts[0].first * stride;
    MOTE_TRY(mote_progress(octree->ctx, (double)offset / ((double)octree->plan->points * (double)stride + 1),
                           "writing nodes"));
#pragma omp parallel num_threads(octree->ctx->threads)
    {
#pragma omp for schedule(dynamic) nowait
        for (uint64_t s = 0; s < slices; s++) write_slice(octree, records, size_bytes, s, offset);
#pragma omp for schedule(dynamic)
        for (uint64_t p = 0; p < part_count; p++) sum_part(writer, &parts[p], records);
    }
    return mote_context_status(octree->ctx);
}

mote_status potree_octree_write_batches(potree_octree *octree) {
    piece_writer writer = {octree, potree_hash_begin()};
    potree_batches batches;
    potree_place_nodes(octree);
    mote_status status = potree_batches_open(octree, &batches);
    if (status == MOTE_OK) status = potree_batches_run(&batches, octree->source->node_count, write_piece, &writer);
    return potree_batches_close(&batches, status);
}
