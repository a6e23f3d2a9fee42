/* Orientation along the minimum spanning tree, by Kruskal's algorithm: edges from cheap to dear, ties with those first
   whose normals agree, then by the place of the edge among all (its point, then its rank among that point's
   neighbours), each of which joins two parts or is left out. A part is a tree of points that know whether they are
   flipped against their parent, so joining two parts is flipping one root, and no tree is ever walked from the top. */
#include "normals/normals_orient.h"

#include "core/cloud.h"
#include "device/backend.h"
#include "normals/normals_math.h"
#include "order/order_ops.h"

#define FLIPPED 0x80000000u /* in parent: 2^31 points at most */

typedef struct graph {
    mote_context *ctx;
    mote_device *device; /* sorts the edges */
    const mote_column *z;
    mote_normals_result *normals;
    uint32_t k;
    uint64_t points;
    const uint32_t *neighbours; /* [points · k]: a place in it is an edge */
    uint64_t *costs;            /* [points · k], sorted: the cost, then a bit: normals disagree; UINT64_MAX: no edge */
    uint32_t *edges;            /* [points · k], by cost */
    uint32_t *parents;          /* [points], and whether flipped against it */
    uint32_t *top;              /* [points], of roots: the topmost point of the part */
} graph;

static bool has_normal(const graph *g, uint64_t i) {
    const mote_normals_result *n = g->normals;
    return n->normal_x[i] != 0 || n->normal_y[i] != 0 || n->normal_z[i] != 0;
}

mote_status normals_make_graph(mote_knn_index *index, uint32_t graph_k, uint32_t **neighbours) {
    const uint64_t points = index->cloud->count;
    if (points > FLIPPED || points * graph_k >= UINT32_MAX) {
        return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%llu points with %u edges each: orientation along a graph takes up to 4,294,967,294 edges",
                         (unsigned long long)points, graph_k);
    }
    *neighbours = mote_alloc(index->ctx, points * graph_k * sizeof **neighbours, "normal graph");
    return *neighbours != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* ---- edges */

static bool is_neighbour_of(const graph *g, uint64_t j, uint64_t i) {
    for (uint32_t r = 0; r < g->k; r++) {
        if (g->neighbours[i * g->k + r] == j) return true;
    }
    return false;
}

/* Where two points are each other's neighbours, the edge is the first one's: it would count twice. */
static uint64_t cost_of(const graph *g, uint64_t i, uint32_t j) {
    if (j == UINT32_MAX || !has_normal(g, i) || !has_normal(g, j)) return UINT64_MAX;
    if (j < i && is_neighbour_of(g, i, j)) return UINT64_MAX;
    const mote_normals_result *n = g->normals;
    const double x = (double)n->normal_x[i] * (double)n->normal_x[j];
    const double y = (double)n->normal_y[i] * (double)n->normal_y[j];
    const double z = (double)n->normal_z[i] * (double)n->normal_z[j];
    const double agree = (x + y) + z;
    return (uint64_t)normals_edge_cost(agree) << 1 | (agree < 0);
}

#define EDGE_POINTS 4096u /* whose edges are made at once, a millisecond or two */

static mote_status make_edges(graph *g) {
    const uint64_t blocks = (g->points + EDGE_POINTS - 1) / EDGE_POINTS;
#pragma omp parallel for schedule(static) num_threads(g->ctx->threads)
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t first = b * EDGE_POINTS,
                       last = g->points - first < EDGE_POINTS ? g->points : first + EDGE_POINTS;
        if (mote_stop(g->ctx)) continue;
        for (uint64_t i = first; i < last; i++) {
            for (uint32_t r = 0; r < g->k; r++) g->costs[i * g->k + r] = cost_of(g, i, g->neighbours[i * g->k + r]);
        }
    }
    return mote_stopped(g->ctx);
}

/* ---- parts */

/* The root of a point's part, and whether the point is flipped against it; paths are halved on the way. */
static uint32_t find_root(uint32_t *parents, uint32_t i, bool *flipped) {
    uint32_t turn = 0;
    for (;;) {
        const uint32_t link = parents[i], parent = link & ~FLIPPED;
        if (parent == i) break;
        const uint32_t above = parents[parent];
        turn ^= link & FLIPPED;
        if ((above & ~FLIPPED) != parent) parents[i] = above ^ (link & FLIPPED);
        i = parent;
    }
    *flipped = turn != 0;
    return i;
}

/* z, then the lower index. */
static bool is_higher(const graph *g, uint32_t a, uint32_t b) {
    const double za = mote_column_value(g->z, a), zb = mote_column_value(g->z, b);
    return za != zb ? za > zb : a < b;
}

/* The root with the lower index stays one. */
static void join(graph *g, uint32_t edge, bool differ) {
    const uint32_t i = edge / g->k, j = g->neighbours[edge];
    bool flipped_i, flipped_j;
    uint32_t a = find_root(g->parents, i, &flipped_i), b = find_root(g->parents, j, &flipped_j);
    if (a == b) return;
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    g->parents[high] = low | (flipped_i ^ flipped_j ^ differ ? FLIPPED : 0);
    if (is_higher(g, g->top[high], g->top[low])) g->top[low] = g->top[high];
}

#define STEP_EDGES  (1u << 18) /* between two reports of progress */
#define STEP_POINTS (1u << 18) /* the same, where points are gone through */

static mote_status join_all(graph *g) {
    const uint64_t places = g->points * g->k;
    for (uint64_t i = 0; i < g->points; i++) g->parents[i] = g->top[i] = (uint32_t)i;
    for (uint64_t e = 0; e < places && g->costs[e] != UINT64_MAX; e++) {
        join(g, g->edges[e], (g->costs[e] & 1) != 0);
        if (e % STEP_EDGES == STEP_EDGES - 1) {
            MOTE_TRY(mote_progress(g->ctx, 0.6 + 0.3 * (double)e / (double)places, "orienting normals"));
        }
    }
    return mote_progress(g->ctx, 0.9, "orienting normals");
}

/* ---- turning */

static bool looks_down(const graph *g, uint64_t i) {
    const mote_normals_result *n = g->normals;
    const double normal[3] = {(double)n->normal_x[i], (double)n->normal_y[i], (double)n->normal_z[i]};
    return normals_is_down(normal);
}

static void flip(mote_normals_result *n, uint64_t i) {
    n->normal_x[i] = 0.0f - n->normal_x[i];
    n->normal_y[i] = 0.0f - n->normal_y[i];
    n->normal_z[i] = 0.0f - n->normal_z[i];
}

/* Whether a part is to be turned, at its root: its top, which has the sign that it came with, looks down against the
   root's frame. Before any normal is flipped. */
static mote_status settle_roots(graph *g) {
    g->normals->parts = 0;
    for (uint64_t i = 0; i < g->points; i++) {
        if (i % STEP_POINTS == 0) MOTE_TRY(mote_progress(g->ctx, 0.9, "orienting normals"));
        if ((g->parents[i] & ~FLIPPED) != i || !has_normal(g, i)) continue;
        bool flipped;
        find_root(g->parents, g->top[i], &flipped);
        g->top[i] = looks_down(g, g->top[i]) != flipped;
        g->normals->parts++;
    }
    return MOTE_OK;
}

static mote_status turn_all(graph *g) {
    for (uint64_t i = 0; i < g->points; i++) {
        if (i % STEP_POINTS == 0) MOTE_TRY(mote_progress(g->ctx, 0.95, "orienting normals"));
        bool flipped;
        if (!has_normal(g, i)) continue;
        const uint32_t root = find_root(g->parents, (uint32_t)i, &flipped);
        if (flipped != (g->top[root] != 0)) flip(g->normals, i);
    }
    return MOTE_OK;
}

static mote_status propagate(graph *g) {
    mote_context *ctx = g->ctx;
    mote_stage(ctx, "edges");
    /* The edges between neighbours, with their costs. */
    const uint64_t places = g->points * g->k;
    g->costs = mote_alloc(g->ctx, places * sizeof *g->costs, "normal edges");
    g->edges = mote_alloc(g->ctx, places * sizeof *g->edges, "normal edges");
    g->parents = mote_alloc(g->ctx, g->points * sizeof *g->parents, "normal tree");
    g->top = mote_alloc(g->ctx, g->points * sizeof *g->top, "normal tree");
    const bool complete = g->costs != NULL && g->edges != NULL && g->parents != NULL && g->top != NULL;
    if (!complete) return MOTE_ERROR_MEMORY;
    MOTE_TRY(make_edges(g));
    mote_stage(ctx, "edge sort");
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.6);
    const mote_status status = g->device->backend->order->sort(g->device, g->costs, g->edges, g->points * g->k);
    mote_progress_leave(ctx, whole);
    MOTE_TRY(status);
    mote_stage(ctx, "orientation");
    MOTE_TRY(join_all(g));
    MOTE_TRY(settle_roots(g));
    MOTE_TRY(turn_all(g));
    return mote_progress(ctx, 1, "orienting normals");
}

mote_status normals_propagate(mote_knn_index *index, const uint32_t *neighbours, uint32_t graph_k,
                              mote_normals_result *result) {
    graph g;
    memset(&g, 0, sizeof g);
    g.ctx = index->ctx;
    g.device = index->device;
    g.z = mote_cloud_find(index->cloud, "z");
    g.normals = result;
    g.k = graph_k;
    g.points = index->cloud->count;
    g.neighbours = neighbours;
    const mote_status status = propagate(&g);
    mote_free(g.ctx, g.costs);
    mote_free(g.ctx, g.edges);
    mote_free(g.ctx, g.parents);
    mote_free(g.ctx, g.top);
    return status;
}
