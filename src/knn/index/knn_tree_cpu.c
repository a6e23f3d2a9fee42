/* Boxes over leaves, eight by eight up to one block. */
#include "knn/index/knn_tree_cpu.h"

#include "knn/index/knn_points_cpu.h"

#define BLOCK        (6 * KNN_LEAF) /* values of eight boxes */
#define COPIES_WORTH 32u            /* leaves of copies before their numbers are kept */

/* A block of eight boxes, of leaves (three rows of eight a leaf) or of blocks of boxes (six rows); the last, incomplete
   one is filled up with its last box. */
#define FOLD(name, type)                                                                                               \
    static void name(const type below[], uint64_t rows, uint64_t first, uint64_t last, type block[]) {                 \
        const uint64_t high_row = rows == 3 ? 0 : 3;                                                                   \
        for (uint64_t j = 0; j < KNN_LEAF; j++) {                                                                      \
            const uint64_t node = first + j < last ? first + j : last - 1;                                             \
            for (uint64_t k = 0; k < 3; k++) {                                                                         \
                const uint64_t low = (rows * node + k) * KNN_LEAF, high = low + high_row * KNN_LEAF;                   \
                type min = below[low], max = below[high];                                                              \
                for (uint64_t l = 1; l < KNN_LEAF; l++) {                                                              \
                    min = below[low + l] < min ? below[low + l] : min;                                                 \
                    max = below[high + l] > max ? below[high + l] : max;                                               \
                }                                                                                                      \
                block[KNN_LEAF * k + j] = min;                                                                         \
                block[KNN_LEAF * (3 + k) + j] = max;                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
FOLD(fold_int, int32_t)
FOLD(fold_float, float)
FOLD(fold_double, double)
#undef FOLD

/* Where the boxes of count points stand. Returns how many blocks they take. */
static uint64_t place_levels(knn_tree *tree, uint64_t count) {
    uint64_t blocks = 0, nodes = (count + KNN_LEAF - 1) / KNN_LEAF;
    tree->level_count = 0;
    while (nodes > 0) {
        tree->nodes[tree->level_count] = (uint32_t)nodes;
        tree->first_block[tree->level_count++] = blocks;
        blocks += (nodes + KNN_LEAF - 1) / KNN_LEAF;
        if (nodes <= KNN_LEAF) break;
        nodes = (nodes + KNN_LEAF - 1) / KNN_LEAF;
    }
    return blocks;
}

static void fold_level(mote_context *ctx, const knn_tree *tree, uint32_t level) {
    const uint64_t rows = level == 0 ? 3 : 6, last = tree->nodes[level];
    const uint64_t below = level == 0 ? 0 : tree->first_block[level - 1] * BLOCK;
    const void *source = level == 0 ? tree->points.leaves : tree->boxes;
    const uint64_t blocks = (last + KNN_LEAF - 1) / KNN_LEAF;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t at = (tree->first_block[level] + b) * BLOCK;
        switch (tree->metric.kind) {
        case KNN_INT:
            fold_int((const int32_t *)source + below, rows, KNN_LEAF * b, last, (int32_t *)tree->boxes + at);
            break;
        case KNN_FLOAT:
            fold_float((const float *)source + below, rows, KNN_LEAF * b, last, (float *)tree->boxes + at);
            break;
        case KNN_DOUBLE:
            fold_double((const double *)source + below, rows, KNN_LEAF * b, last, (double *)tree->boxes + at);
        }
    }
}

/* ---- copies */

static bool same_value(const knn_tree *tree, const void *values, uint64_t a, uint64_t b) {
    switch (tree->metric.kind) {
    case KNN_INT: return ((const int32_t *)values)[a] == ((const int32_t *)values)[b];
    case KNN_FLOAT: return ((const float *)values)[a] == ((const float *)values)[b];
    case KNN_DOUBLE: return ((const double *)values)[a] == ((const double *)values)[b];
    }
    return false;
}

/* Whether a box has no size: all its points are copies of one. */
static bool is_one_point(const knn_tree *tree, uint32_t level, uint64_t node) {
    const uint64_t at = (tree->first_block[level] + node / KNN_LEAF) * BLOCK + node % KNN_LEAF;
    for (uint64_t k = 0; k < 3; k++) {
        if (!same_value(tree, tree->boxes, at + KNN_LEAF * k, at + KNN_LEAF * (3 + k))) return false;
    }
    return true;
}

/* Whether two leaves begin with the same point. */
static bool begin_alike(const knn_tree *tree, uint64_t a, uint64_t b) {
    for (uint64_t k = 0; k < 3; k++) {
        if (!same_value(tree, tree->points.leaves, (3 * a + k) * KNN_LEAF, (3 * b + k) * KNN_LEAF)) return false;
    }
    return true;
}

static bool follows_copies(const knn_tree *tree, uint64_t leaf) {
    return is_one_point(tree, 0, leaf) && leaf > 0 && is_one_point(tree, 0, leaf - 1) &&
           begin_alike(tree, leaf - 1, leaf);
}

static uint64_t count_copies(mote_context *ctx, const knn_tree *tree) {
    uint64_t found = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : found)
    for (uint64_t i = 0; i < tree->nodes[0]; i++) found += follows_copies(tree, i);
    return found;
}

static mote_status note_copies(mote_context *ctx, knn_tree *tree, uint64_t blocks) {
    const uint64_t all = blocks * KNN_LEAF;
    tree->copies = NULL;
    if (tree->level_count == 0 || count_copies(ctx, tree) < COPIES_WORTH) return MOTE_OK;
    if (!mote_reserve_scratch(ctx, &tree->copies_memory, &tree->copies_bytes, all, 1, "knn copies"))
        return MOTE_ERROR_MEMORY;
    uint8_t *const copies = tree->copies_memory;
    memset(copies, 0, all);
    for (uint64_t i = 1; i < tree->nodes[0]; i++) {
        const uint8_t before = copies[i - 1];
        if (follows_copies(tree, i)) copies[i] = before < UINT8_MAX ? before + 1 : UINT8_MAX;
    }
    for (uint32_t level = 1; level < tree->level_count; level++) {
        uint8_t *mine = copies + tree->first_block[level] * KNN_LEAF;
        const uint8_t *below = copies + tree->first_block[level - 1] * KNN_LEAF;
        for (uint64_t i = 0; i < tree->nodes[level]; i++) {
            mine[i] = is_one_point(tree, level, i) ? below[KNN_LEAF * i] : 0;
        }
    }
    tree->copies = copies;
    return MOTE_OK;
}

/* ---- all of it */

static bool reserve_boxes(mote_context *ctx, knn_tree *tree, uint64_t blocks, uint64_t value_bytes) {
    return mote_reserve_scratch(ctx, &tree->boxes, &tree->box_bytes, blocks * BLOCK * value_bytes, 1, "knn boxes");
}

mote_status knn_tree_reserve(mote_context *ctx, knn_tree *tree, uint64_t count) {
    const bool buffer = knn_points_reserve(ctx, &tree->points, count, sizeof(float)) &&
                        reserve_boxes(ctx, tree, place_levels(tree, count), sizeof(float));
    return buffer ? MOTE_OK : MOTE_ERROR_MEMORY;
}

order_scratch knn_tree_lend(const knn_tree *tree) {
    const order_scratch buffer = {tree->points.leaves, tree->boxes, tree->box_bytes / sizeof *buffer.counters};
    return buffer;
}

mote_status knn_tree_build(mote_context *ctx, knn_tree *tree) {
    const uint64_t blocks = place_levels(tree, tree->points.count);
    const uint64_t value_bytes = tree->metric.kind == KNN_DOUBLE ? sizeof(double) : sizeof(float);
    if (!reserve_boxes(ctx, tree, blocks, value_bytes)) return MOTE_ERROR_MEMORY;
    for (uint32_t level = 0; level < tree->level_count; level++) fold_level(ctx, tree, level);
    return note_copies(ctx, tree, blocks);
}

void knn_tree_free(mote_context *ctx, knn_tree *tree) {
    mote_free(ctx, tree->points.leaves);
    mote_free(ctx, tree->boxes);
    mote_free(ctx, tree->copies_memory);
    memset(tree, 0, sizeof *tree);
}
