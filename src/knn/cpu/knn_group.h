/* The k nearest neighbours of groups of queries that lie together. Groups of a batch share one walk: all leaves within
   a reach of their box are seen, a guess from the groups before. A query whose k-th neighbour is not within that reach
   is asked again with one that is known to do: answers are exact whatever was guessed.
   1. knn_search_batch: up to eight groups share a guess and a walk.
   2. knn_search_leaves: a group among the leaves that were found.
   3. knn_search_unresolved: groups whose reach was too short.
   4. knn_search_some with alone: queries one by one.

   Spheres or ellipsoids (a constant like the kind): an ellipsoid's distance is never below the sphere's, so
   walks and lists are those of spheres of the same reach, and each query takes its ellipsoid from the list.

   What is done with the neighbours of a query is the caller's, a function. That is called, and not taken in: a call for
   each query is nothing beside its search, and this file is compiled once and not for every caller. */
#ifndef MOTE_KNN_GROUP_H
#define MOTE_KNN_GROUP_H

#include "knn/cpu/knn_radius.h"
#include "knn/cpu/knn_ranked.h"
#include "knn/cpu/knn_stream.h"
#include "knn/knn_visit.h"

/* Queries of a group, by bit, that are still to be answered. */
typedef struct knn_unresolved {
    uint32_t group, queries;
    double search_radius; /* that was not enough; 0: not asked yet */
    double wanted;
} knn_unresolved;

/* ---- many neighbours, or many leaves: a list for each query, which keeps the best of what comes */

typedef struct knn_taking {
    const knn_search *search;
    float max;
} knn_taking;

SIMD_INLINE float knn_take_best(const void *user, knn_scratch *scratch, uint32_t q, uint64_t key, uint32_t at,
                                float threshold) {
    const knn_taking *to = user;
    const knn_search *search = to->search;
    knn_best *const best = &scratch->best[q];
    const uint32_t index = search->tree->points.order[at];
    if (!knn_best_wants(best, key, index) || !knn_best_take(best, key, at, index)) return threshold;
    const double within = knn_key_units(search, best->limit);
    return fminf(to->max, knn_stream_threshold(search->ellipsoids != NULL, search, scratch, within));
}

/* Points with larger keys than this, or with its key and a larger index, are neighbours of none of the queries. */
static inline knn_near knn_last_of(knn_scratch *scratch, uint32_t queries) {
    knn_near last = {0, 0, 0};
    for (; queries != 0; queries &= queries - 1) {
        knn_best *const best = &scratch->best[__builtin_ctz(queries)];
        if (best->count > best->k) knn_best_shrink(best);
        const knn_near worst = {best->limit, 0, best->limit_index};
        last = knn_before(&last, &worst) ? worst : last;
    }
    return last;
}

/* The rest of the walk for a group; the first list is there. */
SIMD_INLINE void knn_stream_all(knn_kind kind, bool ellipsoids, const knn_search *search, knn_scratch *scratch,
                                uint32_t queries, float max) {
    const float walked = scratch->traversal.threshold;
    const knn_taking to = {search, max};
    for (uint32_t remaining = queries; remaining != 0; remaining &= remaining - 1) {
        knn_best_reset(&scratch->best[__builtin_ctz(remaining)], scratch->last.key, scratch->last.index);
    }
    for (;;) {
        uint64_t worst = 0;
        if (ellipsoids) knn_list_boxes(scratch);
        for (uint32_t remaining = queries; remaining != 0; remaining &= remaining - 1) {
            const uint32_t q = (uint32_t)__builtin_ctz(remaining);
            const double within = knn_key_units(search, scratch->best[q].limit);
            const float threshold = fminf(max, knn_stream_threshold(ellipsoids, search, scratch, within));
            knn_stream(kind, ellipsoids, search, scratch, q, threshold, &scratch->best[q], knn_take_best, &to);
            worst = scratch->best[q].limit > worst ? scratch->best[q].limit : worst;
        }
        if (scratch->traversal.waiting == 0 || mote_stop(search->ctx)) break;
        if (search->tree->min_index != NULL) scratch->traversal.last = knn_last_of(scratch, queries);
        scratch->traversal.threshold = fminf(walked, knn_threshold(&scratch->frame, knn_key_units(search, worst)));
        knn_traverse_next(kind, &scratch->traversal, &scratch->frame, &scratch->chunk);
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        knn_list_make(&scratch->list, &scratch->chunk, scratch->traversal.threshold);
    }
    for (uint32_t remaining = queries; remaining != 0; remaining &= remaining - 1) {
        knn_best_finish(&scratch->best[__builtin_ctz(remaining)]);
    }
}

/* ---- a look at all leaves within a reach */

/* The first chunk of the leaves within a reach of the frame. */
SIMD_INLINE void knn_search_leaves_begin(knn_kind kind, knn_scratch *scratch, double search_radius) {
    knn_frame_zoom(kind, search_radius, &scratch->frame);
    scratch->traversal.threshold = knn_threshold(&scratch->frame, search_radius);
    knn_traversal_begin(&scratch->traversal);
    knn_traverse_next(kind, &scratch->traversal, &scratch->frame, &scratch->chunk);
}

/* The neighbours of a group among the leaves within reach; what is unresolved is to be searched again. Returns how far
   the k-th ones found are, -1 if none has k. */
SIMD_INLINE double knn_search_leaves(knn_kind kind, bool ellipsoids, const knn_search *search, knn_scratch *scratch,
                                     double search_radius, knn_unresolved *rest, knn_visit visit, const void *user) {
    const uint32_t beside = search->k + (search->exclude_self ? 1 : 0);
    const float within = knn_threshold(&scratch->frame, search_radius);
    /* Approximate: all points of the leaves seen count. Exact: what lies out of reach is left to the next look. */
    const float max = ellipsoids            ? knn_stream_threshold(true, search, scratch, search_radius)
                      : search->approximate ? knn_threshold(&scratch->frame, search->max_radius)
                                            : within;
    uint32_t slow = rest->queries;
    double farthest = -1;
    knn_group_make(kind, search, rest->group, rest->queries, scratch);
    knn_list_make(&scratch->list, &scratch->chunk, within);
    if (!ellipsoids && scratch->traversal.waiting == 0 && search->k <= KNN_RANKED_MAX) {
        slow = knn_ranked_search(kind, search, scratch, slow, beside, max);
    }
    if (slow != 0) knn_stream_all(kind, ellipsoids, search, scratch, slow, max);
    rest->wanted = 0;
    rest->search_radius = search_radius;
    for (uint32_t remaining = rest->queries; remaining != 0; remaining &= remaining - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(remaining);
        const knn_best *best = &scratch->best[q];
        const double far = knn_radius_for(search, best);
        if (far < INFINITY) farthest = fmax(farthest, far);
        if (knn_is_complete(search, best, search_radius)) {
            visit(user, scratch->group.first + q, best->list, best->count);
            rest->queries &= ~(1u << q);
        } else {
            rest->wanted = fmax(rest->wanted, far);
        }
    }
    return farthest;
}

/* Groups that see more leaves, and four for each neighbour, lie in several places: they are asked for one by one. */
#define KNN_SPLIT 128u

#define KNN_AROUND 4u /* leaves before and behind a query, beside those of k points */

/* A reach within which a query, the q-th of a group, has k points: that of the k nearest among the leaves around it in
   the order. A larger reach may include all points of a dense place, although the k-th neighbour is nearer than it. */
SIMD_INLINE double knn_radius_around(knn_kind kind, bool ellipsoid, const knn_search *search, knn_scratch *scratch,
                                     uint32_t group, uint32_t q) {
    const knn_tree *const tree = search->tree;
    const uint32_t query = KNN_GROUP * group + q, self = search->exclude_self ? query : UINT32_MAX;
    const uint32_t leaves = KNN_AROUND + search->k / KNN_LEAF, middle = knn_leaf_near(search, group);
    const uint64_t first = middle > leaves ? KNN_LEAF * (middle - leaves) : 0;
    const uint64_t last = KNN_LEAF * ((uint64_t)middle + leaves + 1), count = tree->points.count;
    knn_best *const best = &scratch->best[q];
    knn_ellipsoid of;
    knn_exact mine, other;
    knn_exact_of(kind, search->queries, query, &mine);
    if (ellipsoid) knn_ellipsoid_of_row(search->ellipsoids, search->queries->order[query], &of);
    knn_best_reset(best, search->limit, UINT32_MAX);
    for (uint64_t at = first; at < last && at < count; at++) {
        if (at == self) continue;
        knn_exact_of(kind, &tree->points, at, &other);
        const uint64_t key = ellipsoid ? knn_key_of_ellipsoid(kind, &tree->metric, &of, &mine, &other)
                                       : knn_key_between(kind, &tree->metric, &mine, &other);
        const uint32_t index = tree->points.order[at];
        if (knn_best_wants(best, key, index)) knn_best_take(best, key, (uint32_t)at, index);
    }
    knn_best_finish(best);
    if (best->count == search->k) scratch->last = best->list[best->count - 1];
    return knn_radius_for(search, best);
}

/* Some queries of a group until they are answered, each look with a walk of its own. Returns false if the
   remaining queries should be asked for one by one. alone: there is one query, and it is one of those. */
SIMD_INLINE bool knn_search_some(knn_kind kind, bool ellipsoids, const knn_search *search, knn_scratch *scratch,
                                 bool alone, knn_unresolved *rest, knn_visit visit, const void *user) {
    knn_frame *frame = &scratch->frame;
    double around = INFINITY;
    scratch->last = (knn_near){search->limit, 0, UINT32_MAX};
    if (alone && search->tree->points.count > 0) {
        around = knn_radius_around(kind, ellipsoids, search, scratch, rest->group, __builtin_ctz(rest->queries));
    }
    knn_frame_clear(kind, &search->tree->metric, knn_keys(search)->norm, frame);
    knn_frame_add(kind, search->queries, rest->group, rest->queries, frame);
    const double safe = fmin(knn_safe_radius(search, rest->group, frame), around);
    double search_radius = rest->search_radius > 0 ? knn_next_radius(search, rest->wanted, rest->search_radius, safe)
                           : !search->approximate  ? knn_guess(search, scratch, safe)
                                                   : knn_first_shell(search, rest->group, frame);
    search_radius = fmin(search_radius, around);
    const bool may_split = !search->approximate && !alone;
    for (;;) {
        const bool first = rest->search_radius == 0;
        knn_search_leaves_begin(kind, scratch, search_radius);
        if (may_split && (scratch->traversal.waiting > 0 || scratch->chunk.count > KNN_SPLIT + 4 * search->k)) {
            return false;
        }
        knn_chunk_load(kind, &scratch->chunk, search->tree, frame);
        const double farthest = knn_search_leaves(kind, ellipsoids, search, scratch, search_radius, rest, visit, user);
        if (first || rest->queries == 0) knn_history_add(scratch, farthest, rest->queries == 0);
        if (rest->queries == 0 || mote_stop(search->ctx)) return true;
        search_radius = knn_next_radius(search, rest->wanted, search_radius, safe);
    }
}

SIMD_INLINE void knn_search_unresolved(knn_kind kind, bool ellipsoids, const knn_search *search, knn_scratch *scratch,
                                       knn_unresolved *rest, knn_visit visit, const void *user) {
    bool split = false;
    for (uint32_t remaining = rest->queries; remaining != 0;) {
        knn_unresolved part = *rest;
        const uint32_t asked = part.queries = split ? remaining & -remaining : remaining;
        split = !knn_search_some(kind, ellipsoids, search, scratch, split, &part, visit, user) || split;
        remaining = (remaining & ~asked) | part.queries;
        if (remaining != 0 && mote_stop(search->ctx)) return;
    }
}

/* Up to KNN_BATCH groups from the first on: together while a guess and one chunk suffice, the rest one by one. */
SIMD_INLINE void knn_search_batch(knn_kind kind, bool ellipsoids, const knn_search *search, knn_scratch *scratch,
                                  uint32_t first, uint32_t groups, knn_visit visit, const void *user) {
    knn_unresolved rests[KNN_BATCH];
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t remaining = search->queries->count - KNN_GROUP * (first + g);
        rests[g].group = first + g;
        rests[g].queries = remaining < KNN_GROUP ? (1u << remaining) - 1 : (1u << KNN_GROUP) - 1;
        rests[g].search_radius = rests[g].wanted = 0;
    }
    knn_frame_clear(kind, &search->tree->metric, knn_keys(search)->norm, &scratch->frame);
    for (uint32_t g = 0; g < groups; g++) {
        knn_frame_add(kind, search->queries, first + g, (1u << KNN_GROUP) - 1, &scratch->frame);
    }
    scratch->history.diagonal = knn_frame_diagonal(&scratch->frame);
    const double guess = knn_guess(search, scratch, knn_safe_radius(search, first, &scratch->frame));
    double reaches[KNN_BATCH], widest = 0;
    for (uint32_t g = 0; g < groups; g++) {
        reaches[g] = search->approximate ? knn_first_shell(search, first + g, &scratch->frame) : guess;
        widest = fmax(widest, reaches[g]);
    }
    knn_search_leaves_begin(kind, scratch, widest);
    scratch->last = (knn_near){search->limit, 0, UINT32_MAX};
    if (scratch->traversal.waiting == 0) {
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        for (uint32_t g = 0; g < groups; g++) {
            const double farthest =
                knn_search_leaves(kind, ellipsoids, search, scratch, reaches[g], &rests[g], visit, user);
            knn_history_add(scratch, farthest, rests[g].queries == 0);
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        if (rests[g].queries != 0) knn_search_unresolved(kind, ellipsoids, search, scratch, &rests[g], visit, user);
    }
}

#endif
