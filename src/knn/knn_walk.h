/* The walk: all leaves that may hold a neighbour of a group of queries, a list at a time. */
#ifndef MOTE_KNN_WALK_H
#define MOTE_KNN_WALK_H

#include "knn/knn_leaf.h"

#define KNN_LIST  128u                  /* leaves of a list */
#define KNN_STACK (8u * KNN_MOST_LEVEL) /* blocks that wait: at most eight a level */
#define KNN_CHUNK (KNN_LIST * KNN_LEAF) /* points of a list */

typedef struct knn_walk {
    const knn_tree *tree;
    const knn_frame *frame;
    float threshold;      /* may sink while the walk goes on */
    uint32_t copies_most; /* nodes after so many leaves of copies have nothing to offer; above 255: all have */
    uint32_t waiting;
    uint32_t block[KNN_STACK];
    uint8_t level[KNN_STACK];
} knn_walk;

SIMD_INLINE void knn_walk_begin(knn_walk *walk) {
    walk->waiting = 0;
    if (walk->tree->level_count == 0) return;
    walk->level[walk->waiting] = (uint8_t)(walk->tree->level_count - 1);
    walk->block[walk->waiting++] = 0;
}

static inline uint32_t knn_without_copies(const knn_walk *walk, uint64_t first, uint32_t nodes) {
    for (uint32_t i = 0; i < KNN_LEAF; i++) {
        if (walk->tree->copies[first + i] >= walk->copies_most) nodes &= ~(1u << i);
    }
    return nodes;
}

/* Fills a list of up to KNN_LIST leaves and returns how many; 0: the walk is over. */
SIMD_INLINE uint32_t knn_walk_on(knn_kind kind, knn_walk *walk, uint32_t *leaves) {
    const knn_tree *const tree = walk->tree;
    uint32_t found = 0;
    while (walk->waiting > 0 && found + KNN_LEAF <= KNN_LIST) {
        const uint32_t level = walk->level[--walk->waiting], block = walk->block[walk->waiting];
        const uint64_t at = tree->first_block[level] + block;
        const uint32_t left = tree->nodes[level] - KNN_LEAF * block;
        uint32_t nodes = knn_boxes_within(kind, tree->boxes, at, walk->frame, walk->threshold);
        if (left < KNN_LEAF) nodes &= (1u << left) - 1;
        if (tree->copies != NULL && nodes != 0) nodes = knn_without_copies(walk, at * KNN_LEAF, nodes);
        for (; nodes != 0; nodes &= nodes - 1) {
            const uint32_t node = KNN_LEAF * block + (uint32_t)__builtin_ctz(nodes);
            if (level == 0) {
                leaves[found++] = node;
            } else {
                walk->level[walk->waiting] = (uint8_t)(level - 1);
                walk->block[walk->waiting++] = node;
            }
        }
    }
    return found;
}

/* ---- the points of a list, less the frame's origin */

typedef struct knn_chunk {
    uint32_t leaf_count;
    uint32_t leaves[KNN_LIST];
    float offset[3][KNN_CHUNK];
} knn_chunk;

/* The last leaf's missing points are put where they are nobody's. */
static inline void knn_chunk_blank(knn_chunk *chunk, uint32_t leaf, uint32_t from) {
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t l = from; l < KNN_LEAF; l++) chunk->offset[k][KNN_LEAF * leaf + l] = KNN_FAR;
    }
}

SIMD_INLINE void knn_chunk_load(knn_kind kind, knn_chunk *chunk, const knn_tree *tree, const knn_frame *frame) {
    const uint32_t last = tree->points.count % KNN_LEAF, last_leaf = last == 0 ? UINT32_MAX : tree->nodes[0] - 1;
    for (uint32_t i = 0; i < chunk->leaf_count; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            const uint8_t *row = knn_row(kind, tree->points.leaves, 3ull * chunk->leaves[i] + k);
            simd_f_store(chunk->offset[k] + KNN_LEAF * i, knn_offsets(kind, row, frame->low[k], frame->unit[k]));
        }
        if (chunk->leaves[i] == last_leaf) knn_chunk_blank(chunk, i, last);
    }
}

SIMD_INLINE uint32_t knn_chunk_place(const knn_chunk *chunk, uint32_t slot) {
    return KNN_LEAF * chunk->leaves[slot / KNN_LEAF] + slot % KNN_LEAF;
}

SIMD_INLINE simd_f knn_chunk_squares(const knn_chunk *chunk, uint32_t leaf, simd_f x, simd_f y, simd_f z) {
    const simd_f dx = simd_f_sub(simd_f_load(chunk->offset[0] + KNN_LEAF * leaf), x);
    const simd_f dy = simd_f_sub(simd_f_load(chunk->offset[1] + KNN_LEAF * leaf), y);
    const simd_f dz = simd_f_sub(simd_f_load(chunk->offset[2] + KNN_LEAF * leaf), z);
    return simd_f_fma(dz, dz, simd_f_fma(dy, dy, simd_f_mul(dx, dx)));
}

#endif
