/* How far to look for the neighbours of some queries. A *reach* is a distance: all leaves within it of the queries' box
   are seen. */
#ifndef MOTE_KNN_REACH_H
#define MOTE_KNN_REACH_H

#include "knn/search/knn_search.h"

static inline double knn_box_value(const knn_tree *tree, uint64_t value) {
    switch (tree->metric.kind) {
    case KNN_INT: return ((const int32_t *)tree->boxes)[value];
    case KNN_FLOAT: return (double)((const float *)tree->boxes)[value];
    default: return ((const double *)tree->boxes)[value];
    }
}

static inline uint64_t knn_box_at(const knn_tree *tree, uint32_t level, uint64_t node) {
    return (tree->first_block[level] + node / KNN_LEAF) * 6 * KNN_LEAF + node % KNN_LEAF;
}

/* The most that a point of a node may be away from a query of the frame. */
static inline double knn_farthest(const knn_tree *tree, uint32_t level, uint64_t node, const knn_frame *frame) {
    const uint64_t at = knn_box_at(tree, level, node);
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
    const uint64_t code = search->query_codes[(uint64_t)KNN_GROUP * group];
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

/* A reach within which every query of the frame has enough points: that of the smallest node around or near the group
   which has so many. */
static inline double knn_safe_reach(const knn_search *search, uint32_t group, const knn_frame *frame) {
    const knn_tree *tree = search->tree;
    const uint64_t enough = (uint64_t)search->k + 1; /* itself, which may not count */
    uint64_t points = KNN_LEAF;
    if (tree->points.count < enough) return INFINITY;
    uint64_t node = knn_leaf_near(search, group);
    for (uint32_t level = 0; level < tree->level_count; level++, node /= KNN_LEAF, points *= KNN_LEAF) {
        const uint64_t left = tree->points.count - node * points;
        if ((left < points ? left : points) >= enough) {
            return knn_farthest(tree, level, node, frame) * knn_compression(search);
        }
    }
    return INFINITY;
}

/* Approximate searches know no guesses: a shell of a group is all leaves within half the largest side of the leaf that
   they are, or that is nearest to them in the order, and each shell after it is twice as wide. The first in which a
   query has k points ends its search: the best of all points of these leaves are its answer. */
static inline double knn_first_shell(const knn_search *search, uint32_t group, const knn_frame *frame) {
    const knn_tree *tree = search->tree;
    if (tree->level_count == 0) return INFINITY;
    const uint64_t at = knn_box_at(tree, 0, knn_leaf_near(search, group));
    double most = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        most = fmax(most, (high - low) * frame->unit[k]);
    }
    return fmin(most / 2, search->limit_reach);
}

/* What the searches before tell. Queries that lie next to each other reach about as far; where the density changes, so
   does the size of a batch: the guess is between the last reaches and their ratio to the sizes of their batches, nearer
   to the former, with as much room on top as leaves one group in ten to be asked again. */
#define KNN_GUESS_NONE 0.4  /* of the safe reach, where there were none */
#define KNN_ROOM_STEP  0.02 /* more room where it was too little */
#define KNN_ROOM_RATE  0.1  /* groups for which it may be */

static inline double knn_guess(const knn_search *search, const knn_scratch *scratch, double safe) {
    const knn_past *past = &scratch->past;
    const double by_size = past->ratio * past->diagonal;
    const double guess =
        past->known ? sqrt(past->reach * sqrt(past->reach * by_size)) * (1 + past->room) : safe * KNN_GUESS_NONE;
    return fmin(fmin(guess, safe), search->limit_reach);
}

/* most: how far the neighbours of a group were; enough: the guess did for it. */
static inline void knn_learn(knn_scratch *scratch, double most, bool enough) {
    knn_past *past = &scratch->past;
    const double room = past->room + (enough ? -KNN_ROOM_STEP * KNN_ROOM_RATE : KNN_ROOM_STEP);
    const double diagonal = past->diagonal, before = past->reach;
    past->room = room < 0 ? 0 : room > 1 ? 1 : room;
    if (!(most >= 0)) return;
    past->known = true;
    past->reach = before > 0.5 * most && before < 2 * most ? 0.75 * before + 0.25 * most : most;
    if (diagonal > 0) past->ratio = past->ratio > 0 ? 0.75 * past->ratio + 0.25 * most / diagonal : most / diagonal;
}

static inline bool knn_is_complete(const knn_search *search, const knn_best *best, double reach) {
    if (reach >= search->limit_reach) return true;
    if (search->approximate) return best->count == search->k;
    return best->count == search->k && knn_units(knn_keys(search), best->list[best->count - 1].key) <= reach;
}

/* A reach that will do for a query that is not complete: that of its k-th so far, or infinite if there is none. */
static inline double knn_reach_for(const knn_search *search, const knn_best *best) {
    if (best->count < search->k || search->approximate) return INFINITY;
    return knn_units(knn_keys(search), best->list[best->count - 1].key);
}

/* The reach of the next look; wanted is the largest of knn_reach_for. */
static inline double knn_next_reach(const knn_search *search, double wanted, double reach, double safe) {
    double next = wanted;
    if (next == INFINITY) next = reach > 0 && 2 * reach < safe ? 2 * reach : safe > reach ? safe : INFINITY;
    return fmin(next, search->limit_reach);
}

#endif
