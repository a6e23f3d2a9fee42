/* An octree that was built in parts, ranges of Morton codes, becomes a folder. As the records of a node are in Morton
   order, too, those of a level of the whole are those of the parts one after the other (io/tree_join.h). */
#define _XOPEN_SOURCE 700 /* pread */
#include <errno.h>
#include <unistd.h>

#include "io/output_calls.h"
#include "io/potree/potree.h"
#include "io/tree_join.h"
#include "io/turns.h"

#define COPY_BYTES        (8u << 20) /* read and written at once: long enough for a disk that turns; of all threads */
#define LEAST_COPY_BYTES  (1u << 20) /* of a thread */
#define COPIES_PER_THREAD 8u         /* between two reports of progress */

void potree_part_free(mote_context *ctx, potree_part_tree *tree) {
    mote_free(ctx, tree->nodes);
    mote_free(ctx, tree->places);
    memset(tree, 0, sizeof *tree);
}

/* ---- a part */

static void learn(const potree_plan *plan, potree_stats *all, potree_stats *part) {
    potree_stats two[2] = {*all, *part};
    potree_stats_merge(plan, two, 2);
    *all = two[0];
}

static mote_status write_records(mote_context *ctx, const potree_source *source, const potree_plan *plan,
                                 mote_output *to, potree_stats *stats, potree_part_tree *tree) {
    potree_stats *own = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *own, "potree");
    mote_sample sample;
    mote_sample_make(false, source->nodes, source->node_count, &sample);
    mote_status status = own != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads && status == MOTE_OK; t++) status = potree_stats_make(plan, &own[t]);
    if (status == MOTE_OK && stats->ranges == NULL) status = potree_stats_make(plan, stats);
    if (status == MOTE_OK) {
        potree_octree octree = {ctx, source, plan, to, tree->places, own, 0, &sample};
        status = (plan->device_ops != NULL ? potree_octree_write_batches : potree_octree_write)(&octree);
    }
    for (int t = 0; t < ctx->threads && status == MOTE_OK; t++) learn(plan, stats, &own[t]);
    for (int t = 0; t < ctx->threads && own != NULL; t++) mote_free(ctx, own[t].ranges);
    mote_free(ctx, own);
    return status;
}

mote_status potree_part_write(mote_context *ctx, const potree_source *source, const mote_potree_params *params,
                              mote_output *to, potree_stats *stats, potree_part_tree *tree) {
    potree_plan plan;
    memset(tree, 0, sizeof *tree);
    tree->node_count = source->node_count;
    tree->finest = source->finest;
    tree->nodes = mote_alloc(ctx, source->node_count * sizeof *tree->nodes, "nodes of parts");
    tree->places = mote_alloc_zero(ctx, source->node_count * sizeof *tree->places, "nodes of parts");
    if (tree->nodes == NULL || tree->places == NULL) return MOTE_ERROR_MEMORY;
    memcpy(tree->nodes, source->nodes, source->node_count * sizeof *tree->nodes);
    mote_status status = potree_plan_make(ctx, source, params, &plan);
    if (status == MOTE_OK) status = write_records(ctx, source, &plan, to, stats, tree);
    for (uint32_t n = 0; n < tree->node_count; n++) tree->size_bytes += tree->places[n].size_bytes;
    potree_plan_free(&plan);
    return status;
}

/* ---- the whole */

/* Records of a part that go to a place of octree.bin. */
typedef struct potree_copy {
    uint32_t part;
    uint64_t from, at, size_bytes;
} potree_copy;

typedef struct potree_join {
    mote_context *ctx;
    const potree_part_tree *parts;
    const int *files;
    uint32_t count;
    uint32_t *next; /* [count] node of each part whose records come next */
    mote_lod_node *nodes;
    potree_place *places;
    uint8_t *is_shared; /* records from several parts */
    uint64_t node_count;
    uint64_t done_bytes, all_bytes; /* done: or waiting */
    potree_copy *copies;            /* [COPIES_PER_THREAD · threads] that wait */
    uint32_t copy_count;
    uint8_t *buffers; /* [threads · buffer_bytes] */
    uint64_t buffer_bytes;
    mote_output *to;
} potree_join;

static void take_node(void *user, uint64_t node, uint32_t part, uint32_t of_part, bool is_more) {
    potree_join *join = user;
    const potree_place *place = &join->parts[part].places[of_part];
    if (is_more) {
        join->places[node].size_bytes += place->size_bytes;
        join->is_shared[node] = 1;
    } else {
        join->places[node] = *place;
        join->places[node].offset = 0;
    }
}

static mote_status join_trees(potree_join *join) {
    mote_context *ctx = join->ctx;
    uint64_t most = 0;
    tree_part *trees = mote_alloc(ctx, join->count * sizeof *trees, "nodes");
    for (uint32_t p = 0; p < join->count && trees != NULL; p++) {
        trees[p] = (tree_part){join->parts[p].nodes, join->parts[p].node_count};
        most += trees[p].node_count;
    }
    join->next = mote_alloc_zero(ctx, join->count * sizeof *join->next, "nodes");
    join->places = mote_alloc(ctx, most * sizeof *join->places, "nodes");
    join->is_shared = mote_alloc_zero(ctx, most, "nodes");
    mote_status status = MOTE_ERROR_MEMORY;
    if (trees != NULL && join->next != NULL && join->places != NULL && join->is_shared != NULL) {
        status = mote_tree_join(ctx, trees, join->count, take_node, join, &join->nodes, &join->node_count);
    }
    mote_free(ctx, trees);
    for (uint64_t n = 0; n < join->node_count; n++) {
        join->places[n].offset = join->all_bytes;
        join->all_bytes += join->places[n].size_bytes;
    }
    return status;
}

/* ---- its records */

static mote_status read_part(const potree_join *join, uint32_t part, uint64_t at, uint64_t size_bytes, void *to) {
    for (uint64_t done = 0; done < size_bytes;) {
        const ssize_t now = pread(join->files[part], (uint8_t *)to + done, size_bytes - done, (off_t)(at + done));
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return mote_system_error(join->ctx, "the scratch file of a part", "read");
        if (now == 0) return mote_fail(join->ctx, MOTE_ERROR_IO, "the scratch file of a part was cut by others");
        done += (uint64_t)now;
    }
    return MOTE_OK;
}

/* Copies what waits, a thread with a buffer each. */
static mote_status copy_waiting(potree_join *join) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(join->ctx->threads)
    for (uint32_t c = 0; c < join->copy_count; c++) {
        const potree_copy *copy = &join->copies[c];
        uint8_t *buffer = join->buffers + (uint64_t)mote_thread_number() * join->buffer_bytes;
        if (mote_stop(join->ctx)) continue;
        if (read_part(join, copy->part, copy->from, copy->size_bytes, buffer) != MOTE_OK) continue;
        mote_output_write_at(join->ctx, join->to, buffer, copy->size_bytes, copy->at);
        output_give_back(join->files[copy->part], copy->from, copy->size_bytes);
    }
    join->copy_count = 0;
    MOTE_TRY(mote_stopped(join->ctx));
    MOTE_TRY(mote_context_status(join->ctx));
    const double done = join->all_bytes > 0 ? (double)join->done_bytes / (double)join->all_bytes : 1;
    return mote_progress(join->ctx, done, "joining parts");
}

/* Puts records of a part behind those of the parts before. */
static mote_status copy_records(potree_join *join, uint32_t part, uint64_t from, uint64_t end) {
    while (from < end) {
        const uint64_t now = end - from < join->buffer_bytes ? end - from : join->buffer_bytes;
        join->copies[join->copy_count++] = (potree_copy){part, from, join->done_bytes, now};
        from += now;
        join->done_bytes += now;
        if (join->copy_count == COPIES_PER_THREAD * (uint32_t)join->ctx->threads) MOTE_TRY(copy_waiting(join));
    }
    return MOTE_OK;
}

static mote_status hash_share(potree_join *join, uint32_t part, const potree_place *share, potree_hash *hash) {
    for (uint64_t done = 0; done < share->size_bytes; done += join->buffer_bytes) {
        const uint64_t rest = share->size_bytes - done, now = rest < join->buffer_bytes ? rest : join->buffer_bytes;
        MOTE_TRY(read_part(join, part, share->offset + done, now, join->buffers));
        potree_hash_add(hash, join->buffers, now);
    }
    return MOTE_OK;
}

/* The checksum of a node's records, wherever they are: of each part's share in turn. */
static mote_status hash_shared(potree_join *join, const uint32_t *nodes, uint64_t prefix, uint8_t level,
                               potree_place *place) {
    potree_hash hash = potree_hash_begin();
    for (uint32_t p = 0; p < join->count; p++) {
        const potree_part_tree *part = &join->parts[p];
        for (uint32_t n = nodes[p]; n < part->node_count && part->nodes[n].level == level; n++) {
            if (part->nodes[n].prefix == prefix) MOTE_TRY(hash_share(join, p, &part->places[n], &hash));
        }
    }
    place->hash = potree_hash_end(&hash);
    return MOTE_OK;
}

static mote_status write_levels(potree_join *join) {
    uint32_t *first = join->next;
    memset(first, 0, join->count * sizeof *first);
    uint64_t n = 0;
    while (n < join->node_count) {
        const uint8_t level = join->nodes[n].level;
        for (; n < join->node_count && join->nodes[n].level == level; n++) {
            if (!join->is_shared[n]) continue;
            MOTE_TRY(hash_shared(join, first, join->nodes[n].prefix, level, &join->places[n]));
        }
        for (uint32_t p = 0; p < join->count; p++) {
            const potree_part_tree *part = &join->parts[p];
            const uint32_t begin = first[p];
            while (first[p] < part->node_count && part->nodes[first[p]].level == level) first[p]++;
            if (begin == first[p]) continue;
            const potree_place *last = &part->places[first[p] - 1];
            MOTE_TRY(copy_records(join, p, part->places[begin].offset, last->offset + last->size_bytes));
        }
    }
    return copy_waiting(join);
}

static mote_status write_joined(potree_join *join, potree_source *whole, const potree_stats *stats,
                                const mote_potree_params *params, mote_potree_output *output,
                                mote_potree_report *report) {
    mote_context *ctx = join->ctx;
    potree_plan plan;
    memset(&plan, 0, sizeof plan);
    MOTE_TRY(join_trees(join));
    whole->nodes = join->nodes;
    whole->node_count = (uint32_t)join->node_count;
    const uint64_t threads = (uint64_t)ctx->threads;
    join->to = &output->octree;
    join->buffer_bytes = COPY_BYTES / threads > LEAST_COPY_BYTES ? COPY_BYTES / threads : LEAST_COPY_BYTES;
    join->buffers = mote_alloc(ctx, threads * join->buffer_bytes, "potree buffers");
    join->copies = mote_alloc(ctx, threads * COPIES_PER_THREAD * sizeof *join->copies, "potree buffers");
    if (join->buffers == NULL || join->copies == NULL) return MOTE_ERROR_MEMORY;
    mote_output_expect(ctx, join->to, join->all_bytes);
    mote_status status = potree_plan_make(ctx, whole, params, &plan);
    if (status == MOTE_OK && stats->range_count != plan.element_count) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "the parts have other attributes than the whole");
    }
    if (status == MOTE_OK) status = mote_output_close(ctx, &output->octree, write_levels(join));
    if (status == MOTE_OK) {
        status = potree_write_tables(ctx, whole, join->places, stats, &plan, params, output, report);
    }
    potree_plan_free(&plan);
    return status;
}

mote_status potree_parts_join(mote_context *ctx, potree_source *whole, const potree_part_tree *parts, const int *files,
                              uint32_t count, const potree_stats *stats, const mote_potree_params *params,
                              mote_potree_output *output, mote_potree_report *report) {
    potree_join join = {.ctx = ctx, .parts = parts, .files = files, .count = count};
    for (uint32_t p = 0; p < count; p++) {
        whole->finest = parts[p].finest > whole->finest ? parts[p].finest : whole->finest;
    }
    const mote_status status = write_joined(&join, whole, stats, params, output, report);
    whole->nodes = NULL;
    mote_free(ctx, join.next);
    mote_free(ctx, join.nodes);
    mote_free(ctx, join.places);
    mote_free(ctx, join.is_shared);
    mote_free(ctx, join.buffers);
    mote_free(ctx, join.copies);
    return status;
}
