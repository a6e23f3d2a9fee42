/* The k nearest neighbours of groups of queries that lie together. Groups of a batch share one walk: all leaves within
   a reach of their box are seen, a guess from the groups before. A query whose k-th neighbour is not within that reach
   is asked again with one that is known to do: answers are exact whatever was guessed.

   What is done with the neighbours of a query is the caller's: a function given as a constant, which the compiler
   takes in. */
#ifndef MOTE_KNN_GROUP_H
#define MOTE_KNN_GROUP_H

#include "knn/knn_quick.h"
#include "knn/knn_reach.h"

/* The neighbours of the query at a sorted place, best first. */
typedef void (*knn_visit)(const void *user, uint32_t query, const knn_near *list, uint32_t count);

/* Queries of a group, by bit, that are still to be answered. */
typedef struct knn_rest {
    uint32_t group, queries;
    double reach; /* that was not enough; 0: not asked yet */
    double wanted;
} knn_rest;

/* ---- many neighbours, or many leaves: a list for each query, which keeps the best of what comes */

/* One list of leaves for one query: what floats do not rule out is decided exactly. */
SIMD_INLINE void knn_stream(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t q, float most) {
    const knn_tree *tree = search->tree;
    const knn_list *list = &scratch->list;
    const simd_f x = simd_f_set(scratch->group.offset[0][q]), y = simd_f_set(scratch->group.offset[1][q]),
                 z = simd_f_set(scratch->group.offset[2][q]);
    const uint32_t query = scratch->group.first + q, self = search->exclude_self ? query : UINT32_MAX;
    knn_best *const best = &scratch->best[q];
    knn_place mine, other;
    knn_place_of(kind, search->queries, query, &mine);
    float threshold = fminf(most, knn_threshold_of(search, scratch, knn_units(&tree->metric, best->limit)));
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t hits = simd_f_at_most(knn_squares(&scratch->chunk, list->at[i], x, y, z), simd_f_set(threshold));
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t slot = KNN_LEAF * i + (uint32_t)__builtin_ctz(hits);
            const uint32_t at = knn_list_place(list, &scratch->chunk, slot);
            if (at >= tree->points.count || at == self) continue;
            knn_place_of(kind, &tree->points, at, &other);
            const uint64_t key = knn_key_of(kind, &tree->metric, &mine, &other);
            if (key > best->limit) continue;
            if (knn_best_take(best, key, at, tree->points.order[at])) {
                threshold = fminf(most, knn_threshold_of(search, scratch, knn_units(&tree->metric, best->limit)));
            }
        }
    }
}

/* The rest of the walk for a group; the first list is there. */
SIMD_INLINE void knn_stream_all(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t queries,
                                float most) {
    const float walked = scratch->walk.threshold;
    for (uint32_t left = queries; left != 0; left &= left - 1) {
        knn_best_reset(&scratch->best[__builtin_ctz(left)], search->limit);
    }
    for (;;) {
        uint64_t worst = 0;
        for (uint32_t left = queries; left != 0; left &= left - 1) {
            const uint32_t q = (uint32_t)__builtin_ctz(left);
            knn_stream(kind, search, scratch, q, most);
            worst = scratch->best[q].limit > worst ? scratch->best[q].limit : worst;
        }
        if (scratch->walk.waiting == 0) break;
        const double within = knn_units(&search->tree->metric, worst);
        scratch->walk.threshold = fminf(walked, knn_threshold_of(search, scratch, within));
        knn_walk_on(kind, &scratch->walk, &scratch->frame, &scratch->chunk);
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        knn_list_make(&scratch->list, &scratch->chunk, scratch->walk.threshold);
    }
    for (uint32_t left = queries; left != 0; left &= left - 1) { knn_best_finish(&scratch->best[__builtin_ctz(left)]); }
}

/* ---- a look at all leaves within a reach */

/* The first chunk of the leaves within a reach of the frame. */
SIMD_INLINE void knn_begin_look(knn_kind kind, const knn_search *search, knn_scratch *scratch, double reach) {
    scratch->walk.threshold = knn_threshold_of(search, scratch, reach);
    knn_walk_begin(&scratch->walk);
    knn_walk_on(kind, &scratch->walk, &scratch->frame, &scratch->chunk);
}

/* The neighbours of a group among the leaves within reach; what is left of it to be asked again. Returns how far the
   k-th ones found are, -1 if none has k. */
SIMD_INLINE double knn_look(knn_kind kind, const knn_search *search, knn_scratch *scratch, double reach, knn_rest *rest,
                            knn_visit visit, const void *user) {
    const uint32_t beside = search->k + (search->exclude_self ? 1 : 0);
    const float within = knn_threshold_of(search, scratch, reach);
    /* Approximate: all points of the leaves seen count. Exact: what lies out of reach is left to the next look. */
    const float most = search->approximate ? knn_threshold_of(search, scratch, search->limit_reach) : within;
    uint32_t slow = rest->queries;
    double farthest = -1;
    knn_group_make(kind, search, rest->group, scratch);
    knn_list_make(&scratch->list, &scratch->chunk, within);
#ifdef KNN_STATS
    extern uint64_t st_looks, st_leaves, st_queries, st_slow;
    st_looks++;
    st_leaves += scratch->list.count;
    st_queries += __builtin_popcount(slow);
#endif
    if (scratch->walk.waiting == 0 && search->k <= KNN_QUICK_MOST) {
        slow = knn_quick_look(kind, search, scratch, slow, beside, most);
    }
#ifdef KNN_STATS
    st_slow += __builtin_popcount(slow);
#endif
    if (slow != 0) knn_stream_all(kind, search, scratch, slow, most);
    rest->wanted = 0;
    rest->reach = reach;
    for (uint32_t asked = rest->queries; asked != 0; asked &= asked - 1) {
        const uint32_t q = (uint32_t)__builtin_ctz(asked);
        const knn_best *best = &scratch->best[q];
        const double far = knn_reach_for(search, best);
        if (far < INFINITY) farthest = fmax(farthest, far);
        if (knn_is_complete(search, best, reach)) {
            visit(user, scratch->group.first + q, best->list, best->count);
            rest->queries &= ~(1u << q);
        } else {
            rest->wanted = fmax(rest->wanted, far);
        }
    }
    return farthest;
}

/* What is left of a group, each look of it with a walk of its own. */
SIMD_INLINE void knn_search_rest(knn_kind kind, const knn_search *search, knn_scratch *scratch, knn_rest *rest,
                                 knn_visit visit, const void *user) {
    knn_frame_make(kind, search, rest->group, 1, &scratch->frame);
    const double safe = knn_safe_reach(search, rest->group, &scratch->frame);
    double reach = rest->reach > 0        ? knn_next_reach(search, rest->wanted, rest->reach, safe)
                   : !search->approximate ? knn_guess(search, scratch, safe)
                                          : fmin(knn_shell(search, rest->group, &scratch->frame), search->limit_reach);
    for (;;) {
        const bool first = rest->reach == 0;
        knn_begin_look(kind, search, scratch, reach);
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        const double farthest = knn_look(kind, search, scratch, reach, rest, visit, user);
        if (first || rest->queries == 0) knn_learn(scratch, farthest, !first || rest->queries == 0);
        if (rest->queries == 0) break;
        reach = knn_next_reach(search, rest->wanted, reach, safe);
    }
}

/* Up to KNN_BATCH groups from the first on: together as far as a guess and one chunk do, then what is left. */
SIMD_INLINE void knn_search_batch(knn_kind kind, const knn_search *search, knn_scratch *scratch, uint32_t first,
                                  uint32_t groups, knn_visit visit, const void *user) {
    knn_rest rests[KNN_BATCH];
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t left = search->queries->count - KNN_GROUP * (first + g);
        rests[g].group = first + g;
        rests[g].queries = left < KNN_GROUP ? (1u << left) - 1 : (1u << KNN_GROUP) - 1;
        rests[g].reach = rests[g].wanted = 0;
    }
    if (!search->approximate) {
        knn_frame_make(kind, search, first, groups, &scratch->frame);
        scratch->past.diagonal = knn_frame_diagonal(&scratch->frame);
        const double reach = knn_guess(search, scratch, knn_safe_reach(search, first, &scratch->frame));
        knn_begin_look(kind, search, scratch, reach);
        if (scratch->walk.waiting == 0) {
            knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
            for (uint32_t g = 0; g < groups; g++) {
                const double farthest = knn_look(kind, search, scratch, reach, &rests[g], visit, user);
                knn_learn(scratch, farthest, rests[g].queries == 0);
            }
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        if (rests[g].queries != 0) knn_search_rest(kind, search, scratch, &rests[g], visit, user);
    }
}

#endif
