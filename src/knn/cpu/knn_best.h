/* The k best by (key, index): a list that takes what comes and, when it is full, keeps the best of it. */
#ifndef MOTE_KNN_BEST_H
#define MOTE_KNN_BEST_H

#include "core/core.h"

/* A neighbour of a query. */
typedef struct knn_near {
    uint64_t key;   /* squared distance; see knn_metric.h */
    uint32_t at;    /* place in the order */
    uint32_t index; /* in the cloud */
} knn_near;

static inline bool knn_before(const knn_near *a, const knn_near *b) {
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

typedef struct knn_best {
    knn_near *list; /* [capacity], more than k */
    uint32_t count, capacity, k;
    uint64_t limit;       /* the largest key that is wanted, */
    uint32_t limit_index; /* and of points with that key the largest index */
} knn_best;

/* Sorts. No two are equal, for their indices differ. ctx is asked now and then whether to go on, and may be NULL where
   the list is short; once its caller wants to stop, the rest of the list stays as it is. */
void knn_sort(mote_context *ctx, knn_near *list, uint64_t count);
/* Moves the k best to the front, in any order; k ≤ count. */
void knn_select(knn_near *list, uint64_t count, uint64_t k);
/* Keeps the k best; then the worst of them is the limit. */
void knn_best_shrink(knn_best *best);
/* Leaves the at most k best, sorted. */
void knn_best_finish(knn_best *best);

/* Empties the list. Points with larger keys than the last, or with its key and a larger index, are not wanted. */
static inline void knn_best_reset(knn_best *best, uint64_t last_key, uint32_t last_index) {
    best->count = 0;
    best->limit = last_key;
    best->limit_index = last_index;
}

static inline bool knn_best_wants(const knn_best *best, uint64_t key, uint32_t index) {
    return key < best->limit || (key == best->limit && index <= best->limit_index);
}

/* Takes a point that is wanted. Returns true if the limit may have become smaller. Among points at distance 0 only
   indices decide, so the list is cut to k early: the sooner the limit is small, the more points are skipped. */
static inline bool knn_best_take(knn_best *best, uint64_t key, uint32_t at, uint32_t index) {
    const knn_near taken = {key, at, index};
    best->list[best->count++] = taken;
    if (best->count < best->capacity && !(best->limit == 0 && best->count >= 2 * best->k)) return false;
    knn_best_shrink(best);
    return true;
}

#endif
