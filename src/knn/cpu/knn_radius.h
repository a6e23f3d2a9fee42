/* How far to look for the neighbours of some queries. A *reach* is a distance: all leaves within it of the queries' box
   are seen. */
#ifndef MOTE_KNN_RADIUS_H
#define MOTE_KNN_RADIUS_H

#include "knn/cpu/knn_search.h"
#include "math/search.h"

/* The most that a point of a node may be away from a query of the frame, which has not zoomed. */
static inline double knn_farthest(const knn_tree *tree, uint32_t level, uint64_t node, const knn_frame *frame) {
    const uint64_t at = knn_box_at(tree, level, node);
    double away[3];
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        away[k] = fmax(frame->high[k] - low, high - frame->low[k]) * frame->unit[k];
    }
    return knn_length(away) * (1 + 0x1p-40);
}

/* The leaf that is nearest to a group in the order. */
static inline uint32_t knn_leaf_near(const knn_search *search, uint32_t group) {
    if (search->query_codes == NULL) return group;
    const uint64_t code = search->query_codes[(uint64_t)KNN_GROUP * group];
    const uint32_t count = search->tree->points.count, place = (uint32_t)mote_lower_bound64(search->codes, count, code);
    return place < count ? place / KNN_LEAF : search->tree->nodes[0] - 1;
}

/* A reach within which every query of the frame has enough points: that of the smallest node around or near the group
   which has that number. */
static inline double knn_safe_radius(const knn_search *search, uint32_t group, const knn_frame *frame) {
    const knn_tree *tree = search->tree;
    const uint64_t enough = (uint64_t)search->k + 1; /* itself, which may not count */
    uint64_t points = KNN_LEAF;
    if (tree->points.count < enough) return INFINITY;
    uint64_t node = knn_leaf_near(search, group);
    for (uint32_t level = 0; level < tree->level_count; level++, node /= KNN_LEAF, points *= KNN_LEAF) {
        const uint64_t remaining = tree->points.count - node * points;
        if ((remaining < points ? remaining : points) >= enough) {
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
    double max = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        max = fmax(max, (high - low) * frame->unit[k]);
    }
    return fmin(max / 2, search->max_radius);
}

/* What the searches before tell. Queries that lie next to each other reach about as far; where the density changes, so
   does the size of a batch: the guess is between the last reaches and their ratio to the sizes of their batches, nearer
   to the former, with as much room on top as leaves one group in ten to be asked again. */
#define KNN_GUESS_NONE  0.4  /* of the safe reach, where there were none */
#define KNN_MARGIN_STEP 0.02 /* more room where it was too little */
#define KNN_MARGIN_RATE 0.1  /* groups for which it may be */

static inline double knn_guess(const knn_search *search, const knn_scratch *scratch, double safe) {
    const knn_history *history = &scratch->history;
    /* The roots of a reach as before, and of one by size: the guess is the first to 3/4 times the second to 1/4. */
    const double before = sqrt(history->search_radius), by_size = sqrt(history->ratio * history->diagonal);
    const double guess =
        history->known ? before * sqrt(before * by_size) * (1 + history->margin) : safe * KNN_GUESS_NONE;
    return fmin(fmin(guess, safe), search->max_radius);
}

/* max: how far the neighbours of a group were; enough: the guess did for it. */
static inline void knn_history_add(knn_scratch *scratch, double max, bool enough) {
    knn_history *history = &scratch->history;
    const double margin = history->margin + (enough ? -KNN_MARGIN_STEP * KNN_MARGIN_RATE : KNN_MARGIN_STEP);
    const double diagonal = history->diagonal, before = history->search_radius;
    history->margin = margin < 0 ? 0 : margin > 1 ? 1 : margin;
    if (!(max >= 0)) return;
    history->known = true;
    history->search_radius = before > 0.5 * max && before < 2 * max ? 0.75 * before + 0.25 * max : max;
    if (diagonal > 0)
        history->ratio = history->ratio > 0 ? 0.75 * history->ratio + 0.25 * max / diagonal : max / diagonal;
}

static inline bool knn_is_complete(const knn_search *search, const knn_best *best, double search_radius) {
    if (search_radius >= search->max_radius) return true;
    if (search->approximate) return best->count == search->k;
    return best->count == search->k && knn_key_units(search, best->list[best->count - 1].key) <= search_radius;
}

/* A reach that will do for a query that is not complete: that of its k-th so far, or infinite if there is none. */
static inline double knn_radius_for(const knn_search *search, const knn_best *best) {
    if (best->count < search->k || search->approximate) return INFINITY;
    return knn_key_units(search, best->list[best->count - 1].key);
}

/* The reach of the next look; wanted is the largest of knn_radius_for. */
static inline double knn_next_radius(const knn_search *search, double wanted, double search_radius, double safe) {
    double next = wanted;
    if (next == INFINITY && search_radius > 0 && 2 * search_radius < safe) {
        next = 2 * search_radius;
    } else if (next == INFINITY && safe > search_radius) {
        next = safe;
    }
    return fmin(next, search->max_radius);
}

#endif
