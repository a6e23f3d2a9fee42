/* The walk: all leaves that may hold a neighbour of some queries, a chunk at a time, and what of a chunk concerns a
   group of them. */
#ifndef MOTE_KNN_TRAVERSAL_H
#define MOTE_KNN_TRAVERSAL_H

#include "knn/cpu/knn_best.h"
#include "knn/cpu/knn_bounds.h"

#define KNN_CHUNK 512u                 /* leaves of a chunk */
#define KNN_STACK (8u * KNN_MAX_LEVEL) /* blocks that wait: at most eight a level */

/* Leaves, and their boxes and points less the frame's origin, in units of distance. */
typedef struct knn_chunk {
    uint32_t count;
    uint32_t leaves[KNN_CHUNK + KNN_LEAF];
    float box[6][KNN_CHUNK + KNN_LEAF]; /* min x y z, max x y z */
    float offset[3][KNN_CHUNK * KNN_LEAF];
} knn_chunk;

typedef struct knn_traversal {
    const knn_tree *tree;
    float threshold;     /* may sink while the walk goes on */
    uint32_t copies_max; /* after as many leaves of copies further ones have nothing to offer; above 255: all have */
    bool ellipsoids;
    knn_near last; /* points behind it, by key and index, are not wanted; used if the tree has min_index */
    uint32_t waiting;
    uint32_t block[KNN_STACK];
    uint8_t level[KNN_STACK];
} knn_traversal;

SIMD_INLINE void knn_traversal_begin(knn_traversal *traversal) {
    traversal->last.key = UINT64_MAX;
    traversal->last.index = UINT32_MAX;
    traversal->waiting = 0;
    if (traversal->tree->level_count == 0) return;
    traversal->level[traversal->waiting] = (uint8_t)(traversal->tree->level_count - 1);
    traversal->block[traversal->waiting++] = 0;
}

/* Whether all points within KNN_NEAR of those of a node have the same key for any query of the frame. Keys grow with
   each difference, so those of the least and the largest differences tell; an ellipsoid's are all 0 where these
   vanish. */
static inline bool knn_is_near(const knn_traversal *traversal, const knn_frame *frame, uint32_t level, uint64_t node) {
    const knn_tree *const tree = traversal->tree;
    const uint64_t at = knn_box_at(tree, level, node);
    double min[3], max[3], largest = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        const double scale = fabs(tree->metric.scale[k]);
        min[k] = fmax(fmax(low - frame->high[k], frame->low[k] - high) * scale - 2 * KNN_NEAR, 0);
        max[k] = fmax(high - frame->low[k], frame->high[k] - low) * scale + 2 * KNN_NEAR;
        largest = fmax(largest, max[k]);
    }
    if (traversal->ellipsoids) return largest <= 4 * KNN_NEAR;
    return knn_key_real(min[0], min[1], min[2]) == knn_key_real(max[0], max[1], max[2]);
}

/* Whether all points of a node are behind the last that matters, by keys and indices. Keys grow with each difference,
   and an ellipsoid's is never below the sphere's. */
static inline bool knn_is_behind(const knn_traversal *traversal, const knn_frame *frame, uint32_t level,
                                 uint64_t node) {
    const knn_tree *const tree = traversal->tree;
    const uint64_t at = knn_box_at(tree, level, node);
    knn_near nearest = {0, 0, tree->min_index[tree->first_block[level] * KNN_LEAF + node]};
    double min[3];
    for (uint64_t k = 0; k < 3; k++) {
        const double low = knn_box_value(tree, at + KNN_LEAF * k), high = knn_box_value(tree, at + KNN_LEAF * (3 + k));
        min[k] = fmax(fmax(low - frame->high[k], frame->low[k] - high), 0) * fabs(tree->metric.scale[k]);
    }
    nearest.key = knn_key_real(min[0], min[1], min[2]);
    return knn_before(&traversal->last, &nearest);
}

/* The nodes less those that hold later copies alone: only the first k of a place can be neighbours. */
static inline uint32_t knn_without_copies(const knn_traversal *traversal, const knn_frame *frame, uint32_t level,
                                          uint32_t block, uint32_t nodes) {
    const knn_tree *const tree = traversal->tree;
    const uint64_t first = (tree->first_block[level] + block) * KNN_LEAF;
    const uint8_t *const copies = tree->copies.counts, *const near = tree->near.counts;
    const bool is_bounded = tree->min_index != NULL && traversal->last.key != UINT64_MAX;
    for (uint32_t rest = nodes; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        const bool are_copies = copies != NULL && copies[first + i] >= traversal->copies_max;
        const uint64_t node = (uint64_t)KNN_LEAF * block + i;
        const bool are_near =
            near != NULL && near[first + i] >= traversal->copies_max && knn_is_near(traversal, frame, level, node);
        if (are_copies || are_near || (is_bounded && knn_is_behind(traversal, frame, level, node))) nodes &= ~(1u << i);
    }
    return nodes;
}

/* Adds leaves of a block, and their boxes. */
SIMD_INLINE void knn_chunk_add(knn_kind kind, knn_chunk *chunk, const knn_tree *tree, uint32_t block, uint32_t nodes,
                               const knn_frame *frame) {
    const simd_i mask = simd_mask(nodes);
    simd_compress_indices(chunk->leaves + chunk->count, KNN_LEAF * block, mask);
    for (uint64_t row = 0; row < 6; row++) {
        const simd_f offsets = knn_offsets(kind, knn_row(kind, tree->boxes, 6ull * block + row), frame->low[row % 3],
                                           frame->unit[row % 3]);
        simd_f_compress(chunk->box[row] + chunk->count, offsets, mask);
    }
    chunk->count += (uint32_t)__builtin_popcount(nodes);
}

/* Fills a chunk with the leaves that come next; one that is empty ends the walk. */
SIMD_INLINE void knn_traverse_next(knn_kind kind, knn_traversal *traversal, const knn_frame *frame, knn_chunk *chunk) {
    const knn_tree *const tree = traversal->tree;
    const bool has_copies = tree->copies.counts != NULL || tree->near.counts != NULL;
    chunk->count = 0;
    while (traversal->waiting > 0 && chunk->count + KNN_LEAF <= KNN_CHUNK) {
        const uint32_t level = traversal->level[--traversal->waiting], block = traversal->block[traversal->waiting];
        const uint64_t at = tree->first_block[level] + block;
        const uint32_t remaining = tree->nodes[level] - KNN_LEAF * block;
        uint32_t nodes = knn_boxes_within(kind, tree->boxes, at, frame, traversal->threshold);
        if (remaining < KNN_LEAF) nodes &= (1u << remaining) - 1;
        if (has_copies && nodes != 0) nodes = knn_without_copies(traversal, frame, level, block, nodes);
        if (level == 0) {
            knn_chunk_add(kind, chunk, tree, block, nodes, frame);
            continue;
        }
        for (uint32_t i = KNN_LEAF; i-- > 0;) { /* the first on top */
            if ((nodes >> i & 1) == 0) continue;
            traversal->level[traversal->waiting] = (uint8_t)(level - 1);
            traversal->block[traversal->waiting++] = KNN_LEAF * block + i;
        }
    }
}

/* The last leaf's missing points are put where they are nobody's. */
static inline void knn_chunk_blank(knn_chunk *chunk, uint32_t leaf, uint32_t from) {
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t l = from; l < KNN_LEAF; l++) chunk->offset[k][KNN_LEAF * leaf + l] = KNN_FAR;
    }
}

/* The points of the leaves. */
SIMD_INLINE void knn_chunk_load(knn_kind kind, knn_chunk *chunk, const knn_tree *tree, const knn_frame *frame) {
    const uint32_t last = tree->points.count % KNN_LEAF, last_leaf = last == 0 ? UINT32_MAX : tree->nodes[0] - 1;
    for (uint32_t i = 0; i < chunk->count; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            const uint8_t *row = knn_row(kind, tree->points.leaves, 3ull * chunk->leaves[i] + k);
            simd_f_store(chunk->offset[k] + KNN_LEAF * i, knn_offsets(kind, row, frame->low[k], frame->unit[k]));
        }
        if (chunk->leaves[i] == last_leaf) knn_chunk_blank(chunk, i, last);
    }
}

/* ---- what concerns one group */

typedef struct knn_list {
    uint32_t count;
    uint32_t at[KNN_CHUNK + KNN_LEAF]; /* leaves of the chunk */
    float low[3], high[3];             /* box of the group, as offsets */
} knn_list;

/* The leaves of a chunk within the threshold of a group's box. */
SIMD_INLINE void knn_list_make(knn_list *list, const knn_chunk *chunk, float threshold) {
    list->count = 0;
    for (uint32_t i = 0; i < chunk->count; i += KNN_LEAF) {
        simd_f square = simd_f_set(0);
        for (int k = 0; k < 3; k++) {
            const simd_f above = simd_f_sub(simd_f_load(chunk->box[k] + i), simd_f_set(list->high[k]));
            const simd_f below = simd_f_sub(simd_f_set(list->low[k]), simd_f_load(chunk->box[3 + k] + i));
            const simd_f gap = simd_f_max(simd_f_max(above, below), simd_f_set(0));
            square = simd_f_fma(gap, gap, square);
        }
        uint32_t leaves = simd_f_at_most(square, simd_f_set(threshold));
        if (chunk->count - i < KNN_LEAF) leaves &= (1u << (chunk->count - i)) - 1;
        simd_compress_indices(list->at + list->count, i, simd_mask(leaves));
        list->count += (uint32_t)__builtin_popcount(leaves);
    }
}

SIMD_INLINE uint32_t knn_list_place(const knn_list *list, const knn_chunk *chunk, uint32_t slot) {
    return KNN_LEAF * chunk->leaves[list->at[slot / KNN_LEAF]] + slot % KNN_LEAF;
}

/* Squared distances of a query to the points of a leaf of the chunk. */
SIMD_INLINE simd_f knn_squares(const knn_chunk *chunk, uint32_t leaf, simd_f x, simd_f y, simd_f z) {
    const simd_f dx = simd_f_sub(simd_f_load(chunk->offset[0] + KNN_LEAF * leaf), x);
    const simd_f dy = simd_f_sub(simd_f_load(chunk->offset[1] + KNN_LEAF * leaf), y);
    const simd_f dz = simd_f_sub(simd_f_load(chunk->offset[2] + KNN_LEAF * leaf), z);
    return simd_f_fma(dz, dz, simd_f_fma(dy, dy, simd_f_mul(dx, dx)));
}

#endif
