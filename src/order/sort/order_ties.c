/* Ties of the Morton order, broken by content. Runs of one code are short except those of duplicates, which are
   found to be in order already. */
#include "order/sort/order_ties.h"

#include "core/core.h"
#include "order/order_fine.h"

#define TIES_ON_STACK     64u /* runs up to here need no memory */
#define SHARES_PER_THREAD 16u /* of the order, dealt out to the threads */

typedef struct tie {
    uint32_t xyz[3], index;
} tie;

static bool before(const tie *a, const tie *b) {
    for (int k = 0; k < 3; k++) {
        if (a->xyz[k] != b->xyz[k]) return a->xyz[k] < b->xyz[k];
    }
    return a->index < b->index;
}

static void swap(tie *a, tie *b) {
    const tie kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(tie *ties, uint64_t at, uint64_t count) {
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(&ties[child], &ties[child + 1])) child++;
        if (!before(&ties[at], &ties[child])) return;
        swap(&ties[at], &ties[child]);
        at = child;
    }
}

/* Heap sort: no two ties are equal, so that it need not be stable. */
static void sort_ties(tie *ties, uint64_t count) {
    bool sorted = true;
    for (uint64_t i = 1; i < count && sorted; i++) sorted = before(&ties[i - 1], &ties[i]);
    if (sorted) return;
    for (uint64_t i = count / 2; i-- > 0;) sink(ties, i, count);
    for (uint64_t last = count - 1; last > 0; last--) {
        swap(&ties[0], &ties[last]);
        sink(ties, 0, last);
    }
}

static mote_status settle_run(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                              uint32_t *indices, uint64_t count) {
    tie on_stack[TIES_ON_STACK], *ties = on_stack;
    if (count > TIES_ON_STACK) ties = mote_alloc(ctx, count * sizeof *ties, "order ties");
    if (ties == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        ties[i].index = indices[i];
        mote_order_coordinates(cloud, lattice, &indices[i], 1, ties[i].xyz);
    }
    sort_ties(ties, count);
    for (uint64_t i = 0; i < count; i++) indices[i] = ties[i].index;
    if (ties != on_stack) mote_free(ctx, ties);
    return MOTE_OK;
}

/* The runs that begin in [first, last). */
static mote_status settle_share(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                                const uint64_t *codes, uint32_t *indices, uint64_t count, uint64_t first,
                                uint64_t last) {
    while (first > 0 && first < last && codes[first] == codes[first - 1]) first++;
    while (first < last) {
        uint64_t end = first + 1;
        while (end < count && codes[end] == codes[first]) end++;
        if (end - first > 1) MOTE_TRY(settle_run(ctx, cloud, lattice, indices + first, end - first));
        first = end;
    }
    return MOTE_OK;
}

mote_status order_settle_ties(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                              const uint64_t *codes, uint32_t *indices, uint64_t count) {
    if (!order_is_divisible(lattice)) return MOTE_OK;
    const uint64_t shares = SHARES_PER_THREAD * (uint64_t)ctx->threads;
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        const uint64_t first = count * s / shares, last = count * (s + 1) / shares;
        if (settle_share(ctx, cloud, lattice, codes, indices, count, first, last) != MOTE_OK) {
            __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
        }
    }
    return failed ? MOTE_ERROR_MEMORY : MOTE_OK;
}
