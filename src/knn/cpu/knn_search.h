/* A search as all its parts see it, and what a thread works with. */
#ifndef MOTE_KNN_SEARCH_H
#define MOTE_KNN_SEARCH_H

#include "core/column_math.h"
#include "knn/cpu/knn_best.h"
#include "knn/cpu/knn_traversal.h"

#define KNN_GROUP 8u /* queries of a group: they lie together and are looked for in the same leaves */
#define KNN_BATCH 8u /* groups that share a walk */

/* Ellipsoids: each query's has a normal of its own. */
typedef struct knn_ellipsoids {
    const mote_column *normals[3]; /* by rows of queries */
    double compression;            /* above 1 */
    double normal_weight;          /* its square, less 1 */
    knn_metric keys;               /* see knn_metric_ellipsoid */
} knn_ellipsoids;

static inline void knn_ellipsoid_of_row(const knn_ellipsoids *ellipsoids, uint64_t row, knn_ellipsoid *of) {
    double n[3];
    for (int k = 0; k < 3; k++) n[k] = column_value(ellipsoids->normals[k], row);
    knn_unit_normal(n[0], n[1], n[2], of->normal);
    of->normal_weight = ellipsoids->normal_weight;
}

/* The largest key within a radius. */
static inline uint64_t knn_limit_of(const knn_metric *metric, const knn_ellipsoids *ellipsoids, double radius) {
    return ellipsoids != NULL ? knn_limit_ellipsoid(radius) : knn_key_limit(metric, radius);
}

typedef struct knn_search {
    mote_context *ctx; /* is asked whether to go on where one batch may take long */
    const knn_tree *tree;
    const knn_ellipsoids *ellipsoids; /* NULL: spheres */
    const knn_points *queries;        /* of the tree's kind; the tree's own points for a search among themselves */
    const uint64_t *codes;            /* of the points, and of queries from elsewhere, by sorted place */
    const uint64_t *query_codes;      /* NULL: the points themselves */
    uint32_t k;
    bool exclude_self;
    bool approximate;  /* the first shell with k points ends the search: see knn_first_shell */
    uint64_t limit;    /* the largest key that counts */
    double max_radius; /* the same as a distance in units */
} knn_search;

/* A group of queries, less the frame's origin. */
typedef struct knn_group {
    uint32_t first, count; /* queries, by sorted place */
    float offset[3][KNN_GROUP];
} knn_group;

#define KNN_SUBSETS         16u
#define KNN_RANKED_CAPACITY 256u /* points that may pass; see knn_ranked.h */

typedef struct knn_ranked {
    float squares[KNN_GROUP][KNN_CHUNK * KNN_LEAF + KNN_LEAF];
    float min[KNN_GROUP][KNN_SUBSETS];
    float bound[KNN_GROUP];
    uint8_t hits[KNN_CHUNK + 8];
    uint32_t slots[KNN_RANKED_CAPACITY + 8];
    uint64_t keys[KNN_RANKED_CAPACITY + 16];
    int32_t heads[KNN_RANKED_CAPACITY + 16], ranks[KNN_RANKED_CAPACITY + 16]; /* keys in short; see knn_key_head */
    uint32_t at[KNN_RANKED_CAPACITY + 16];
} knn_ranked;

/* What a thread learned from the groups before; see knn_radius.h. All zero: there were none. */
typedef struct knn_history {
    double search_radius; /* how far the last groups reached, about */
    double ratio;         /* of that to the diagonals of their batches */
    double margin;        /* room on top, relative */
    double diagonal;      /* of the batch at hand */
    bool known;           /* search_radius is, though it may be 0 */
} knn_history;

typedef struct knn_scratch {
    knn_traversal traversal;
    knn_frame frame;
    knn_chunk chunk;
    knn_group group;
    knn_list list;
    knn_ranked ranked;
    knn_history history;
    knn_near last; /* points behind it, by key and index, are not wanted in this walk */
    knn_best best[KNN_GROUP];
    float list_box[6][KNN_CHUNK + KNN_LEAF]; /* ellipsoids: the boxes of the list, as the chunk has them; */
    uint32_t disc_count;                     /* what of it concerns a query: leaves of the chunk */
    uint32_t disc_leaves[KNN_CHUNK + KNN_LEAF];
} knn_scratch;

/* How keys are read. */
static inline const knn_metric *knn_keys(const knn_search *search) {
    return search->ellipsoids != NULL ? &search->ellipsoids->keys : &search->tree->metric;
}

/* A key as a distance. */
static inline double knn_key_units(const knn_search *search, uint64_t key) { return knn_units(knn_keys(search), key); }

/* Within how much of a safe distance for spheres ellipsoids have as many points. */
static inline double knn_compression(const knn_search *search) {
    return search->ellipsoids != NULL ? search->ellipsoids->compression : 1;
}

/* The group's queries as offsets, and the box of those that are asked for. */
SIMD_INLINE void knn_group_make(knn_kind kind, const knn_search *search, uint32_t group, uint32_t queries,
                                knn_scratch *scratch) {
    const uint32_t remaining = search->queries->count - KNN_GROUP * group;
    scratch->group.first = KNN_GROUP * group;
    scratch->group.count = remaining < KNN_GROUP ? remaining : KNN_GROUP;
    for (uint64_t k = 0; k < 3; k++) {
        const uint8_t *row = knn_row(kind, search->queries->leaves, 3ull * group + k);
        const simd_f offsets = knn_offsets(kind, row, scratch->frame.low[k], scratch->frame.unit[k]);
        simd_f_store(scratch->group.offset[k], offsets);
        scratch->list.low[k] = simd_f_reduce_min(offsets);
        scratch->list.high[k] = simd_f_reduce_max(offsets);
        if (queries == (1u << KNN_GROUP) - 1) continue;
        scratch->list.low[k] = INFINITY;
        scratch->list.high[k] = -INFINITY;
        for (uint32_t waiting = queries; waiting != 0; waiting &= waiting - 1) {
            const float offset = scratch->group.offset[k][__builtin_ctz(waiting)];
            scratch->list.low[k] = offset < scratch->list.low[k] ? offset : scratch->list.low[k];
            scratch->list.high[k] = offset > scratch->list.high[k] ? offset : scratch->list.high[k];
        }
    }
}

#endif
