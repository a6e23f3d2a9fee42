/* The k nearest neighbours of a group of up to eight queries that lie together. They share one walk: all leaves within
   a *reach* of their box are seen, a guess from the groups before; a query whose k-th neighbour is not within that
   reach is asked again with one that is known to do. Answers are exact whatever was guessed.

   What is done with the neighbours of a query is the caller's: a function given as a constant, which the compiler
   takes in. */
#ifndef MOTE_KNN_GROUP_H
#define MOTE_KNN_GROUP_H

#include "knn/knn_best.h"
#include "knn/knn_quick.h"
#include "knn/knn_walk.h"

/* The neighbours of the query at a sorted place, best first. */
typedef void (*knn_visit)(const void *user, uint32_t query, const knn_near *list, uint32_t count);

typedef struct knn_search {
    const knn_tree *tree;
    const knn_points *queries;   /* of the tree's kind; the tree's own points for a search among themselves */
    const uint64_t *codes;       /* of the points, and of queries from elsewhere, by sorted place */
    const uint64_t *query_codes; /* NULL: the points themselves */
    uint32_t k;
    bool exclude_self;
    bool approximate;   /* the first shell with k points ends the search: see knn_shell */
    uint64_t limit;     /* the largest key that counts */
    double limit_reach; /* the same as a distance in units */
} knn_search;

/* What a thread works with. */
typedef struct knn_scratch {
    knn_walk walk;
    knn_frame frame;
    uint32_t group_count;
    float offset[3][KNN_LEAF]; /* of the queries */
    knn_chunk chunk;
    knn_quick quick;
    double reach; /* of the groups before; 0: there were none */
    knn_best best[KNN_LEAF];
    knn_near *lists; /* room for those */
} knn_scratch;

SIMD_INLINE void knn_frame_make(knn_kind kind, const knn_search *search, uint32_t group, knn_frame *frame) {
    const knn_metric *metric = &search->tree->metric;
    frame->size = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *row = knn_row(kind, search->queries->leaves, 3ull * group + k);
        double values[KNN_LEAF], low, high;
        for (int l = 0; l < 8; l++) {
            values[l] = kind == KNN_INT     ? ((const int32_t *)row)[l]
                        : kind == KNN_FLOAT ? (double)((const float *)row)[l]
                                            : ((const double *)row)[l];
        }
        low = high = values[0];
        for (int l = 1; l < 8; l++) {
            low = values[l] < low ? values[l] : low;
            high = values[l] > high ? values[l] : high;
        }
        frame->low[k] = low;
        frame->high[k] = high;
        frame->unit[k] = kind == KNN_DOUBLE ? fabs(metric->scale[k]) * metric->norm : 1;
        frame->size = fmax(frame->size, (high - low) * frame->unit[k]);
    }
}

/* ---- how far to look */

static inline double knn_box_value(const knn_tree *tree, uint64_t value) {
    switch (tree->metric.kind) {
    case KNN_INT: return ((const int32_t *)tree->boxes)[value];
    case KNN_FLOAT: return (double)((const float *)tree->boxes)[value];
    default: return ((const double *)tree->boxes)[value];
    }
}

/* The most that a point of a node may be away from a query of the frame. */
static inline double knn_farthest(const knn_tree *tree, uint32_t level, uint64_t node, const knn_frame *frame) {
    const uint64_t at = (tree->first_block[level] + node / KNN_LEAF) * 6 * KNN_LEAF + node % KNN_LEAF;
    double square = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        const double away = fmax(frame->high[k] - low, high - frame->low[k]) * frame->unit[k];
        square += away * away;
    }
    return sqrt(square) * (1 + 0x1p-40);
}

/* The leaf that is nearest to a group in the order. */
static inline uint32_t knn_leaf_near(const knn_search *search, uint32_t group) {
    if (search->query_codes == NULL) return group;
    const uint64_t code = search->query_codes[(uint64_t)KNN_LEAF * group];
    uint32_t low = 0, high = search->tree->points.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (search->codes[middle] < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < search->tree->points.count ? low / KNN_LEAF : search->tree->nodes[0] - 1;
}

/* A reach within which every query of the group has enough points: that of the smallest node around or near them which
   has so many. */
static inline double knn_safe_reach(const knn_search *search, uint32_t group, const knn_frame *frame) {
    const knn_tree *tree = search->tree;
    const uint64_t enough = (uint64_t)search->k + 1; /* itself, which may not count */
    uint64_t node = knn_leaf_near(search, group), points = KNN_LEAF;
    for (uint32_t level = 0; level < tree->level_count; level++, node /= KNN_LEAF, points *= KNN_LEAF) {
        const uint64_t left = tree->points.count - node * points;
        if ((left < points ? left : points) >= enough) return knn_farthest(tree, level, node, frame);
    }
    return INFINITY;
}

#define KNN_GUESS_ROOM 1.08 /* over the reach of the groups before */

/* Approximate searches know no guesses: a shell of a group is all leaves within half the largest side of the leaf that
   they are, or that is nearest to them in the order, and each shell after it is twice as wide. The first in which a
   query has k points ends its search: the best of all points of these leaves are its answer. */
static inline double knn_shell(const knn_search *search, uint32_t group, const knn_frame *frame) {
    const knn_tree *tree = search->tree;
    if (tree->level_count == 0) return INFINITY;
    const uint32_t leaf = knn_leaf_near(search, group);
    const uint64_t at = (uint64_t)(leaf / KNN_LEAF) * 6 * KNN_LEAF + leaf % KNN_LEAF;
    double most = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        most = fmax(most, (high - low) * frame->unit[k]);
    }
    return most / 2;
}

static inline double knn_first_reach(const knn_search *search, const knn_scratch *scratch, uint32_t group,
                                     double safe) {
    if (search->approximate) return fmin(knn_shell(search, group, &scratch->frame), search->limit_reach);
    const double guess = scratch->reach > 0 ? scratch->reach * KNN_GUESS_ROOM : safe * 0.4;
    return fmin(fmin(guess, safe), search->limit_reach);
}

static inline bool knn_is_complete(const knn_search *search, const knn_best *best, double reach) {
    if (reach >= search->limit_reach) return true;
    if (search->approximate) return best->count == search->k;
    return best->count == search->k && knn_units(&search->tree->metric, best->list[best->count - 1].key) <= reach;
}

/* A larger reach for the queries that are not complete. */
static inline double knn_next_reach(const knn_search *search, const knn_scratch *scratch, uint32_t pending,
                                    double reach, double safe) {
    double next = 0;
    for (; pending != 0; pending &= pending - 1) {
        const knn_best *best = &scratch->best[__builtin_ctz(pending)];
        const double found =
            best->count < search->k ? INFINITY : knn_units(&search->tree->metric, best->list[best->count - 1].key);
        next = fmax(next, found);
    }
    if (next == INFINITY) next = reach > 0 && 2 * reach < safe ? 2 * reach : safe > reach ? safe : INFINITY;
    return fmin(next, search->limit_reach);
}

/* Groups that lie next to each other reach about as far. */
static inline void knn_learn_reach(const knn_search *search, knn_scratch *scratch) {
    double most = 0;
    for (uint32_t q = 0; q < scratch->group_count; q++) {
        const knn_best *best = &scratch->best[q];
        if (best->count < search->k) continue;
        most = fmax(most, knn_units(&search->tree->metric, best->list[best->count - 1].key));
    }
    if (!(most > 0 && most < INFINITY)) return;
    const double before = scratch->reach;
    scratch->reach = before > 0.5 * most && before < 2 * most ? 0.75 * before + 0.25 * most : most;
}

/* ---- one pass over the leaves within reach */

/* The threshold of points: what lies out of reach is left to the next pass, or to nobody. */
static inline float knn_most(const knn_search *search, const knn_scratch *scratch) {
    if (!search->approximate) return scratch->walk.threshold;
    return knn_threshold(search->limit_reach, scratch->frame.size, search->tree->metric.norm);
}

/* One list of leaves for one query: what floats do not rule out is decided exactly. */
SIMD_INLINE void knn_stream(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t group, uint32_t q,
                            float most) {
    const knn_tree *tree = search->tree;
    const knn_chunk *chunk = &scratch->chunk;
    const simd_f x = simd_f_set(scratch->offset[0][q]), y = simd_f_set(scratch->offset[1][q]),
                 z = simd_f_set(scratch->offset[2][q]);
    const uint32_t self = search->exclude_self ? KNN_LEAF * group + q : UINT32_MAX;
    knn_best *const best = &scratch->best[q];
    knn_place mine, other;
    knn_place_of(kind, search->queries, (uint64_t)KNN_LEAF * group + q, &mine);
    float threshold =
        fminf(most, knn_threshold(knn_units(&tree->metric, best->limit), scratch->frame.size, tree->metric.norm));
    for (uint32_t i = 0; i < chunk->leaf_count; i++) {
        uint32_t hits = simd_f_at_most(knn_chunk_squares(chunk, i, x, y, z), simd_f_set(threshold));
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t at = knn_chunk_place(chunk, KNN_LEAF * i + (uint32_t)__builtin_ctz(hits));
            if (at >= tree->points.count || at == self) continue;
            knn_place_of(kind, &tree->points, at, &other);
            const uint64_t key = knn_key_of(kind, &tree->metric, &mine, &other);
            if (key > best->limit) continue;
            if (knn_best_take(best, key, at, tree->points.order[at])) {
                const double within = knn_units(&tree->metric, best->limit);
                threshold = fminf(most, knn_threshold(within, scratch->frame.size, tree->metric.norm));
            }
        }
    }
}

/* All lists of the walk, the first of which is there. */
SIMD_INLINE void knn_stream_all(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t group,
                                uint32_t queries) {
    const float most = knn_most(search, scratch), walked = scratch->walk.threshold;
    for (uint32_t left = queries; left != 0; left &= left - 1) {
        knn_best_reset(&scratch->best[__builtin_ctz(left)], search->limit);
    }
    bool loaded = true;
    while (scratch->chunk.leaf_count > 0) {
        if (!loaded) knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        loaded = false;
        uint64_t worst = 0;
        for (uint32_t left = queries; left != 0; left &= left - 1) {
            const uint32_t q = (uint32_t)__builtin_ctz(left);
            knn_stream(kind, search, scratch, group, q, most);
            worst = scratch->best[q].limit > worst ? scratch->best[q].limit : worst;
        }
        const double within = knn_units(&search->tree->metric, worst);
        scratch->walk.threshold = fminf(walked, knn_threshold(within, scratch->frame.size, search->tree->metric.norm));
        scratch->chunk.leaf_count = knn_walk_on(kind, &scratch->walk, scratch->chunk.leaves);
    }
    for (uint32_t left = queries; left != 0; left &= left - 1) { knn_best_finish(&scratch->best[__builtin_ctz(left)]); }
}

SIMD_INLINE void knn_look(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t group,
                          uint32_t pending, double reach) {
    knn_chunk *const chunk = &scratch->chunk;
    const uint32_t beside = search->k + (search->exclude_self ? 1 : 0);
    scratch->walk.threshold = knn_threshold(reach, scratch->frame.size, search->tree->metric.norm);
    knn_walk_begin(&scratch->walk);
    chunk->leaf_count = knn_walk_on(kind, &scratch->walk, chunk->leaves);
    knn_chunk_load(kind, chunk, search->tree, &scratch->frame);
    if (scratch->walk.waiting == 0 && beside <= KNN_QUICK_MOST) {
        knn_quick_ask ask;
        ask.points = &search->tree->points;
        ask.metric = &search->tree->metric;
        ask.queries = search->queries;
        ask.chunk = chunk;
        ask.frame = &scratch->frame;
        ask.offset = scratch->offset;
        ask.first = KNN_LEAF * group;
        ask.k = search->k;
        ask.beside = beside;
        ask.limit = search->limit;
        ask.threshold = knn_most(search, scratch);
        ask.exclude_self = search->exclude_self;
        pending = knn_quick_look(kind, &ask, &scratch->quick, pending, scratch->best);
    }
    if (pending != 0) knn_stream_all(kind, search, scratch, group, pending);
}

/* Frame and queries of a group. */
SIMD_INLINE void knn_group_begin(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t group) {
    const uint64_t left = search->queries->count - (uint64_t)KNN_LEAF * group;
    scratch->group_count = left < KNN_LEAF ? (uint32_t)left : KNN_LEAF;
    knn_frame_make(kind, search, group, &scratch->frame);
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *row = knn_row(kind, search->queries->leaves, 3ull * group + k);
        simd_f_store(scratch->offset[k], knn_offsets(kind, row, scratch->frame.low[k], scratch->frame.unit[k]));
    }
}

SIMD_INLINE void knn_search_group(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t group,
                                  knn_visit visit, const void *user) {
    knn_group_begin(kind, search, scratch, group);
    const uint32_t first = KNN_LEAF * group;
    uint32_t pending = (1u << scratch->group_count) - 1;
    const double safe = knn_safe_reach(search, group, &scratch->frame);
    double reach = knn_first_reach(search, scratch, group, safe);
    for (;;) {
        knn_look(kind, search, scratch, group, pending, reach);
        for (uint32_t asked = pending; asked != 0; asked &= asked - 1) {
            const uint32_t q = (uint32_t)__builtin_ctz(asked);
            const knn_best *best = &scratch->best[q];
            if (!knn_is_complete(search, best, reach)) continue;
            visit(user, first + q, best->list, best->count);
            pending &= ~(1u << q);
        }
        if (pending == 0) break;
        reach = knn_next_reach(search, scratch, pending, reach, safe);
    }
    knn_learn_reach(search, scratch);
}

#endif
