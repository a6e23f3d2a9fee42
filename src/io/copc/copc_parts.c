#define _XOPEN_SOURCE 700 /* pread */
#include "io/copc/copc_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/cloud.h"
#include "io/output_calls.h"
#include "io/tree_join.h"
#include "lod/lod_octree.h"
#include "math/hash.h"

#define COPY_BYTES (8u << 20) /* read and written at once: long enough for a disk that turns */

void mote_copc_part_free(mote_context *ctx, copc_part *part) {
    mote_free(ctx, part->nodes);
    mote_free(ctx, part->places);
    memset(part, 0, sizeof *part);
}

/* ---- a part */

static mote_status keep_part(copc_job *job, copc_part *part) {
    part->node_count = job->node_count;
    part->finest = job->finest;
    part->nodes = mote_alloc(job->ctx, job->node_count * sizeof *part->nodes, "nodes of parts");
    if (part->nodes == NULL) return MOTE_ERROR_MEMORY;
    memcpy(part->nodes, job->nodes, job->node_count * sizeof *part->nodes);
    part->places = job->places;
    job->places = NULL;
    part->size_bytes = job->at;
    mote_copc_sum_workers(job);
    part->tally = job->workers[0].tally;
    part->gps_low = job->workers[0].gps_low;
    part->gps_high = job->workers[0].gps_high;
    return MOTE_OK;
}

static mote_status write_part(copc_job *job, const copc_job *whole, const mote_lod *lod, copc_part *part) {
    MOTE_TRY(mote_las_plan_again(job->ctx, &whole->plan, mote_lod_cloud(lod), &job->plan));
    MOTE_TRY(mote_copc_make_workers(job, &whole->records.schema));
    mote_copc_place_cube(job);
    MOTE_TRY(mote_copc_find_strays(job));
    mote_sample_make(false, job->nodes, job->node_count, &job->sample);
    MOTE_TRY(mote_copc_write_chunks(job));
    return keep_part(job, part);
}

mote_status mote_copc_part_write(mote_context *ctx, const copc_job *whole, const mote_lod *lod, const copc_range *range,
                                 mote_output *to, copc_part *part) {
    copc_job job;
    memset(&job, 0, sizeof job);
    memset(part, 0, sizeof *part);
    job.ctx = ctx;
    job.range = range;
    job.output = *to;
    mote_copc_take_lod(&job, lod);
    const mote_status status = write_part(&job, whole, lod, part);
    *to = job.output;
    mote_copc_end(&job);
    return status;
}

/* ---- the whole */

/* The points of a node that several parts have, in the order of the inputs. */
typedef struct copc_pool {
    uint64_t count, capacity; /* points */
    uint8_t *shares;          /* records as the parts have them, one part behind the other */
    uint8_t *records;         /* in the order of the inputs */
    double *share_times, *times;
    struct pool_point *points; /* [count] by number, once they are sorted */
    uint32_t *rank;            /* [count] of a point in the shares: its place in that order */
    uint8_t *is_stray;         /* [count] of the shares */
    uint32_t *curve;           /* ranks of the own points along the Morton curve */
    copc_stray *strays;
    uint64_t own;
} copc_pool;

typedef struct pool_point {
    uint64_t number;
    uint32_t at; /* in the shares */
} pool_point;

typedef struct copc_join {
    copc_job *job;
    const copc_part *parts;
    const int *files;
    uint32_t count;
    uint32_t *next;              /* [count] the first node of the level in each part */
    uint32_t *part_of, *node_of; /* by node of the whole: the first part that has it, and which node of it */
    uint8_t *is_pooled;          /* by node of the whole */
    uint64_t done_bytes, all_bytes;
    uint8_t *buffer;
    uint64_t from, held; /* bytes of the last part that wait to be copied */
    uint32_t from_part;
    copc_pool pool;
    mote_cloud *timed; /* one column, of the pool's times */
} copc_join;

static mote_status read_part(const copc_join *join, uint32_t part, uint64_t at, uint64_t size_bytes, void *to) {
    for (uint64_t done = 0; done < size_bytes;) {
        const ssize_t now = pread(join->files[part], (uint8_t *)to + done, size_bytes - done, (off_t)(at + done));
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return mote_system_error(join->job->ctx, "the scratch file of a part", "read");
        if (now == 0) return mote_fail(join->job->ctx, MOTE_ERROR_IO, "the scratch file of a part was cut by others");
        done += (uint64_t)now;
    }
    return MOTE_OK;
}

static mote_status advance(copc_join *join, uint64_t bytes) {
    join->done_bytes += bytes;
    return mote_progress(join->job->ctx, (double)join->done_bytes / (double)join->all_bytes, "joining parts");
}

/* Chunks that are beside each other in a part and in the file are copied together. */
static mote_status copy_held(copc_join *join) {
    copc_job *job = join->job;
    uint64_t to = job->at - join->held;
    while (join->held > 0) {
        const uint64_t now = join->held < COPY_BYTES ? join->held : COPY_BYTES;
        MOTE_TRY(read_part(join, join->from_part, join->from, now, join->buffer));
        MOTE_TRY(mote_output_write_at(job->ctx, &job->output, join->buffer, now, to));
        output_give_back(join->files[join->from_part], join->from, now);
        join->from += now;
        join->held -= now;
        to += now;
        MOTE_TRY(advance(join, now));
    }
    return MOTE_OK;
}

static mote_status hold_chunk(copc_join *join, uint32_t node) {
    copc_job *job = join->job;
    const uint32_t part = join->part_of[node];
    const copc_place *from = &join->parts[part].places[join->node_of[node]];
    copc_place *place = &job->places[node];
    *place = *from;
    place->at = 0;
    if (from->size_bytes == 0) return MOTE_OK;
    const bool follows = join->held > 0 && part == join->from_part && from->at == join->from + join->held;
    if (!follows) MOTE_TRY(copy_held(join));
    if (!follows) join->from = from->at;
    join->from_part = part;
    join->held += from->size_bytes;
    place->at = job->at;
    job->at += from->size_bytes;
    return MOTE_OK;
}

/* ---- a node that several parts have */

static void free_pool(mote_context *ctx, copc_pool *pool) {
    void *const owned[] = {pool->shares, pool->records,  pool->share_times, pool->times, pool->points,
                           pool->rank,   pool->is_stray, pool->curve,       pool->strays};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) mote_free(ctx, owned[i]);
    memset(pool, 0, sizeof *pool);
}

static mote_status reserve_pool(const copc_join *join, copc_pool *pool, uint64_t count) {
    mote_context *ctx = join->job->ctx;
    static const char structure[] = "COPC nodes";
    if (count <= pool->capacity) return MOTE_OK;
    free_pool(ctx, pool);
    pool->shares = mote_alloc(ctx, count * join->job->plan.record_bytes, structure);
    pool->records = mote_alloc(ctx, count * join->job->plan.record_bytes, structure);
    pool->share_times = mote_alloc(ctx, count * sizeof *pool->share_times, structure);
    pool->times = mote_alloc(ctx, count * sizeof *pool->times, structure);
    pool->points = mote_alloc(ctx, count * sizeof *pool->points, structure);
    pool->rank = mote_alloc(ctx, count * sizeof *pool->rank, structure);
    pool->is_stray = mote_alloc(ctx, count, structure);
    pool->curve = mote_alloc(ctx, count * sizeof *pool->curve, structure);
    pool->strays = mote_alloc(ctx, count * sizeof *pool->strays, structure);
    const bool had = pool->shares != NULL && pool->records != NULL && pool->share_times != NULL &&
                     pool->times != NULL && pool->points != NULL && pool->rank != NULL && pool->is_stray != NULL &&
                     pool->curve != NULL && pool->strays != NULL;
    pool->capacity = had ? count : 0;
    return had ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* The next part after *part that has points of the node; false: there is none. *of_part: which node of it */
static bool next_share(const copc_join *join, uint32_t node, uint32_t *part, uint32_t *of_part) {
    const mote_lod_node *n = &join->job->nodes[node];
    for (uint32_t p = *part + 1; p < join->count; p++) {
        const copc_part *from = &join->parts[p];
        const uint32_t m = join->next[p];
        if (m >= from->node_count || from->nodes[m].level != n->level) continue;
        if (from->nodes[m].prefix != n->prefix) return false;
        *part = p;
        *of_part = m;
        return true;
    }
    return false;
}

/* Reads a part's share behind those that are there. */
static mote_status read_share(copc_join *join, uint32_t part, uint32_t of_part) {
    copc_pool *pool = &join->pool;
    const copc_place *place = &join->parts[part].places[of_part];
    const uint64_t record_bytes = join->job->plan.record_bytes, points = place->points, before = pool->count;
    uint64_t at = place->at, counts[COPC_SHARE_COUNTS];
    if (points == 0) return MOTE_OK;
    MOTE_TRY(read_part(join, part, at, sizeof counts, counts));
    at += sizeof counts;
    MOTE_TRY(read_part(join, part, at, points * record_bytes, pool->shares + before * record_bytes));
    at += points * record_bytes;
    uint64_t *numbers = (uint64_t *)join->buffer;
    for (uint64_t done = 0; done < points;) {
        const uint64_t rest = points - done, most = COPY_BYTES / sizeof *numbers, now = rest < most ? rest : most;
        MOTE_TRY(read_part(join, part, at + done * sizeof *numbers, now * sizeof *numbers, numbers));
        for (uint64_t i = 0; i < now; i++) {
            const uint64_t p = before + done + i;
            pool->points[p] = (pool_point){numbers[i], (uint32_t)p};
            pool->is_stray[p] = done + i >= counts[0];
        }
        done += now;
    }
    at += points * sizeof *numbers;
    MOTE_TRY(read_part(join, part, at, points * sizeof(double), pool->share_times + before));
    pool->count += points;
    output_give_back(join->files[part], place->at, place->size_bytes);
    return advance(join, place->size_bytes);
}

static int by_number(const void *a, const void *b) {
    const pool_point *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Puts the points into the order of the inputs, in which their places say which was first. */
static void sort_pool(const copc_join *join, copc_pool *pool, uint32_t node) {
    const uint64_t record_bytes = join->job->plan.record_bytes;
    uint64_t strays = 0;
    qsort(pool->points, pool->count, sizeof *pool->points, by_number);
    for (uint64_t i = 0; i < pool->count; i++) {
        const uint32_t at = pool->points[i].at;
        pool->rank[at] = (uint32_t)i;
        pool->times[i] = pool->share_times[at];
        memcpy(pool->records + i * record_bytes, pool->shares + at * record_bytes, record_bytes);
        if (pool->is_stray[at]) pool->strays[strays++] = (copc_stray){node, (uint32_t)i};
    }
    pool->own = 0;
    for (uint64_t at = 0; at < pool->count; at++) {
        if (!pool->is_stray[at]) pool->curve[pool->own++] = pool->rank[at];
    }
}

static void points_of_pool(const void *user, uint32_t node, uint32_t *indices) {
    const copc_pool *pool = user;
    (void)node;
    memcpy(indices, pool->curve, pool->own * sizeof *indices);
}

/* Encodes the node as one whose points are the pool's: records that are there already, and their times. */
static mote_status encode_pool(copc_join *join, uint32_t node) {
    copc_job *job = join->job, pooled = *job;
    copc_pool *pool = &join->pool;
    const uint32_t record_bytes = job->plan.record_bytes;
    las_run run = {pool->records, record_bytes, 0, record_bytes};
    copc_place *place = &job->places[node];
    const uint8_t *data = NULL;
    if (join->timed->column_count > 0) join->timed->columns[0].data = pool->times;
    pooled.plan.cloud = join->timed;
    pooled.plan.runs = &run;
    pooled.plan.run_count = 1;
    pooled.plan.item_count = 0;
    pooled.node_points = points_of_pool;
    pooled.points_of = pool;
    pooled.strays = pool->strays;
    pooled.stray_count = pool->count - pool->own;
    pooled.has_strays = true;
    MOTE_TRY(mote_copc_encode(&pooled, &job->workers[0], node, &data, place));
    if (place->size_bytes == 0) return MOTE_OK;
    place->at = job->at;
    job->at += place->size_bytes;
    return mote_output_write_at(job->ctx, &job->output, data, place->size_bytes, place->at);
}

static mote_status join_shares(copc_join *join, uint32_t node) {
    copc_pool *pool = &join->pool;
    uint32_t part = join->part_of[node], of_part = join->node_of[node];
    uint64_t points = join->parts[part].places[of_part].points;
    while (next_share(join, node, &part, &of_part)) points += join->parts[part].places[of_part].points;
    if (points > UINT32_MAX) {
        return mote_fail(join->job->ctx, MOTE_ERROR_UNSUPPORTED, "more than 2^32 points in a node");
    }
    MOTE_TRY(reserve_pool(join, pool, points));
    pool->count = 0;
    part = join->part_of[node];
    of_part = join->node_of[node];
    do { MOTE_TRY(read_share(join, part, of_part)); } while (next_share(join, node, &part, &of_part));
    sort_pool(join, pool, node);
    MOTE_TRY(copy_held(join));
    return encode_pool(join, node);
}

/* ---- all nodes */

static void take_node(void *user, uint64_t node, uint32_t part, uint32_t of_part, bool is_more) {
    copc_join *join = user;
    if (is_more) return;
    join->part_of[node] = part;
    join->node_of[node] = of_part;
    join->is_pooled[node] = join->parts[part].places[of_part].is_share;
}

static mote_status write_nodes(copc_join *join) {
    copc_job *job = join->job;
    job->at = job->layout.points_at + LAZ_POINTER_BYTES;
    for (uint32_t n = 0; n < job->node_count;) {
        const uint8_t level = job->nodes[n].level;
        for (; n < job->node_count && job->nodes[n].level == level; n++) {
            MOTE_TRY(join->is_pooled[n] ? join_shares(join, n) : hold_chunk(join, n));
            job->hash = mote_hash_pair(job->hash, job->places[n].hash);
        }
        for (uint32_t p = 0; p < join->count; p++) {
            const copc_part *part = &join->parts[p];
            while (join->next[p] < part->node_count && part->nodes[join->next[p]].level == level) join->next[p]++;
        }
    }
    return copy_held(join);
}

static mote_status make_timed(copc_join *join) {
    const mote_cloud *cloud = join->job->plan.cloud;
    MOTE_TRY(mote_cloud_new(join->job->ctx, 0, &join->timed));
    join->timed->las = cloud->las;
    if (mote_cloud_find(cloud, "gps_time") == NULL) return MOTE_OK;
    mote_column times = {
        .name = "gps_time", .type = MOTE_FLOAT64, .stride_bytes = sizeof(double), .scale = 1, .data = join->buffer};
    return mote_cloud_add_view(join->timed, &times);
}

static mote_status join_trees(copc_join *join) {
    mote_context *ctx = join->job->ctx;
    mote_lod_node *nodes = NULL;
    uint64_t most = 0, node_count = 0;
    tree_part *trees = mote_alloc(ctx, join->count * sizeof *trees, "nodes");
    for (uint32_t p = 0; p < join->count && trees != NULL; p++) {
        trees[p] = (tree_part){join->parts[p].nodes, join->parts[p].node_count};
        most += trees[p].node_count;
        join->all_bytes += join->parts[p].size_bytes;
    }
    join->next = mote_alloc_zero(ctx, join->count * sizeof *join->next, "nodes");
    join->part_of = mote_alloc(ctx, most * sizeof *join->part_of, "nodes");
    join->node_of = mote_alloc(ctx, most * sizeof *join->node_of, "nodes");
    join->is_pooled = mote_alloc(ctx, most, "nodes");
    join->buffer = mote_alloc(ctx, COPY_BYTES, "buffers");
    mote_status status = MOTE_ERROR_MEMORY;
    if (trees != NULL && join->next != NULL && join->part_of != NULL && join->node_of != NULL &&
        join->is_pooled != NULL && join->buffer != NULL) {
        status = mote_tree_join(ctx, trees, join->count, take_node, join, &nodes, &node_count);
    }
    mote_free(ctx, trees);
    join->job->nodes = nodes;
    join->job->node_count = (uint32_t)node_count;
    return status;
}

/* The join's first worker knows of the nodes that it made; here it learns of the others. */
static void learn_of_parts(copc_join *join) {
    copc_worker *sum = &join->job->workers[0];
    for (uint32_t p = 0; p < join->count; p++) {
        mote_las_tally_add(&sum->tally, &join->parts[p].tally);
        sum->gps_low = fmin(sum->gps_low, join->parts[p].gps_low);
        sum->gps_high = fmax(sum->gps_high, join->parts[p].gps_high);
    }
}

static mote_status write_joined(copc_join *join, mote_copc_report *report) {
    copc_job *job = join->job;
    MOTE_TRY(join_trees(join));
    MOTE_TRY(make_timed(join));
    MOTE_TRY(mote_copc_make_workers(job, &job->records.schema));
    mote_copc_place_cube(job);
    MOTE_TRY(write_nodes(join));
    learn_of_parts(join);
    return mote_copc_finish(job, report);
}

mote_status mote_copc_parts_join(copc_job *whole, const copc_part *parts, const int *files, uint32_t count,
                                 mote_copc_report *report) {
    mote_context *ctx = whole->ctx;
    copc_join join = {.job = whole, .parts = parts, .files = files, .count = count};
    for (uint32_t p = 0; p < count; p++)
        whole->finest = parts[p].finest > whole->finest ? parts[p].finest : whole->finest;
    const mote_status status = write_joined(&join, report);
    free_pool(ctx, &join.pool);
    mote_cloud_destroy(join.timed);
    mote_free(ctx, (void *)whole->nodes);
    whole->nodes = NULL;
    mote_free(ctx, join.next);
    mote_free(ctx, join.part_of);
    mote_free(ctx, join.node_of);
    mote_free(ctx, join.is_pooled);
    mote_free(ctx, join.buffer);
    return status;
}
