/* Boxes over leaves, eight by eight up to one block.

     leaves   [0][1] ... [7] | [8] ...      8 points each: x[8] y[8] z[8]
     level 0   \_ block 0 _/                the boxes of 8 leaves: min x[8] y[8] z[8], max x[8] y[8] z[8]
     level 1   \_________ block 0 ... _/    the boxes of 8 blocks, and so on

   The last, incomplete block is filled up with its last box. */
#include "knn/cpu/knn_build_cpu.h"

#define BLOCK        (6 * KNN_LEAF) /* values of eight boxes */
#define COPIES_WORTH 32u            /* leaves of copies before their numbers are kept */

/* A block of eight boxes, of leaves (three rows of eight a leaf) or of blocks of boxes (six rows). */
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

/* ---- copies: see knn_tree */

typedef struct knn_box {
    double low[3], high[3];
} knn_box;

static knn_box box_of_leaf(const knn_tree *tree, uint64_t leaf) {
    const uint64_t at = knn_box_at(tree, 0, leaf);
    knn_box box;
    for (uint64_t k = 0; k < 3; k++) {
        box.low[k] = knn_box_value(tree, at + KNN_LEAF * k);
        box.high[k] = knn_box_value(tree, at + KNN_LEAF * (3 + k));
    }
    return box;
}

/* Whether all points of a box are copies, or as near. */
static bool is_place(const knn_tree *tree, const knn_box *box, double size) {
    bool is = true;
    for (int k = 0; k < 3; k++) is = is && (box->high[k] - box->low[k]) * fabs(tree->metric.scale[k]) <= size;
    return is;
}

/* Widens a box by that of the next leaf. Returns whether it is still a place, and the points of that leaf and of the
   one before stand in the order of their indices. */
static bool widen(const knn_tree *tree, knn_box *place, uint64_t leaf, double size) {
    const knn_box box = box_of_leaf(tree, leaf);
    const uint64_t first = (leaf - 1) * KNN_LEAF + 1, last = (leaf + 1) * KNN_LEAF, count = tree->points.count;
    for (uint64_t k = 0; k < 3; k++) {
        place->low[k] = fmin(place->low[k], box.low[k]);
        place->high[k] = fmax(place->high[k], box.high[k]);
    }
    bool same = is_place(tree, place, size);
    for (uint64_t i = first; same && i < last && i < count; i++) {
        same = tree->points.order[i - 1] < tree->points.order[i];
    }
    return same;
}

/* Counts the leaves whose points are all in one place. */
static uint64_t count_places(const mote_context *ctx, const knn_tree *tree, double size) {
    uint64_t found = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : found)
    for (uint64_t i = 0; i < tree->nodes[0]; i++) {
        const knn_box box = box_of_leaf(tree, i);
        found += is_place(tree, &box, size);
    }
    return found;
}

/* How many leaves of the same place stand just before each leaf, 255 at most; returns for how many any do. */
static uint64_t count_copies(const knn_tree *tree, double size, uint8_t *counts) {
    uint64_t found = 0;
    knn_box place = box_of_leaf(tree, 0);
    counts[0] = 0;
    for (uint64_t i = 1; i < tree->nodes[0]; i++) {
        const bool follows = widen(tree, &place, i, size);
        if (!follows) place = box_of_leaf(tree, i);
        counts[i] = !follows ? 0 : counts[i - 1] < UINT8_MAX ? counts[i - 1] + 1 : UINT8_MAX;
        found += follows;
    }
    return found;
}

/* Counts of leaves, and of nodes the least of their leaves; none where they are too few to matter. */
static mote_status note_copies(mote_context *ctx, knn_tree *tree, double size, knn_copies *copies) {
    const uint64_t all = (tree->first_block[tree->level_count - 1] + 1) * KNN_LEAF;
    copies->counts = NULL;
    if (count_places(ctx, tree, size) < COPIES_WORTH) return MOTE_OK;
    if (!mote_reserve_scratch(ctx, &copies->memory, &copies->capacity_bytes, all, 1, "knn copies")) {
        return MOTE_ERROR_MEMORY;
    }
    uint8_t *const counts = copies->memory;
    if (count_copies(tree, size, counts) < COPIES_WORTH) return MOTE_OK;
    for (uint32_t level = 1; level < tree->level_count; level++) {
        const uint8_t *below = counts + tree->first_block[level - 1] * KNN_LEAF;
        for (uint64_t i = 0; i < tree->nodes[level - 1]; i++) {
            uint8_t *const mine = &counts[tree->first_block[level] * KNN_LEAF + i / KNN_LEAF];
            *mine = i % KNN_LEAF == 0 || below[i] < *mine ? below[i] : *mine;
        }
    }
    copies->counts = counts;
    return MOTE_OK;
}

/* The smallest index of the points of each leaf and of each node. */
static mote_status find_min_indices(mote_context *ctx, knn_tree *tree) {
    const uint64_t all = (tree->first_block[tree->level_count - 1] + 1) * KNN_LEAF, count = tree->points.count;
    if (!mote_reserve_scratch(ctx, &tree->min_index_memory, &tree->min_index_bytes, all, sizeof *tree->min_index,
                              "knn indices")) {
        return MOTE_ERROR_MEMORY;
    }
    uint32_t *const min_index = tree->min_index_memory;
    const uint32_t *below = tree->points.order;
    for (uint32_t level = 0; level < tree->level_count; level++) {
        uint32_t *const of = min_index + tree->first_block[level] * KNN_LEAF;
        const uint64_t from = level == 0 ? count : tree->nodes[level - 1];
        for (uint64_t i = 0; i < from; i++) {
            of[i / KNN_LEAF] = i % KNN_LEAF == 0 || below[i] < of[i / KNN_LEAF] ? below[i] : of[i / KNN_LEAF];
        }
        below = of;
    }
    tree->min_index = min_index;
    return MOTE_OK;
}

/* ---- all of it */

static bool reserve_boxes(mote_context *ctx, knn_tree *tree, uint64_t blocks, uint64_t value_bytes) {
    return mote_reserve_scratch(ctx, &tree->boxes, &tree->box_bytes, blocks * BLOCK * value_bytes, 1, "knn boxes");
}

mote_status knn_tree_reserve(mote_context *ctx, knn_tree *tree, uint64_t count) {
    const bool made = knn_points_reserve(ctx, &tree->points, count, sizeof(float)) &&
                      reserve_boxes(ctx, tree, place_levels(tree, count), sizeof(float));
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

order_scratch knn_tree_lend(const knn_tree *tree) {
    const order_scratch scratch = {tree->points.leaves, tree->boxes, tree->box_bytes / sizeof *scratch.counters};
    return scratch;
}

mote_status knn_tree_build(mote_context *ctx, bool dense, knn_tree *tree) {
    const uint64_t blocks = place_levels(tree, tree->points.count);
    const uint64_t value_bytes = tree->metric.kind == KNN_DOUBLE ? sizeof(double) : sizeof(float);
    tree->copies.counts = tree->near.counts = NULL;
    tree->min_index = NULL;
    if (!reserve_boxes(ctx, tree, blocks, value_bytes)) return MOTE_ERROR_MEMORY;
    for (uint32_t level = 0; level < tree->level_count; level++) fold_level(ctx, tree, level);
    if (blocks == 0) return MOTE_OK;
    MOTE_TRY(note_copies(ctx, tree, 0, &tree->copies));
    if (dense) MOTE_TRY(note_copies(ctx, tree, KNN_NEAR, &tree->near));
    return tree->near.counts != NULL ? find_min_indices(ctx, tree) : MOTE_OK;
}

void knn_tree_free(mote_context *ctx, knn_tree *tree) {
    mote_free(ctx, tree->points.leaves);
    mote_free(ctx, tree->boxes);
    mote_free(ctx, tree->copies.memory);
    mote_free(ctx, tree->near.memory);
    mote_free(ctx, tree->min_index_memory);
    memset(tree, 0, sizeof *tree);
}
