/* Sorting and selection of neighbours. */
#include "knn/cpu/knn_best.h"

#include "math/hash.h"

#define INSERTION_MAX 24u        /* up to here insertion is faster */
#define ASKED_ABOVE   (1u << 16) /* to sort fewer takes some milliseconds */

static void swap(knn_near *a, knn_near *b) {
    const knn_near kept = *a;
    *a = *b;
    *b = kept;
}

static void insertion_sort(knn_near *list, uint64_t count) {
    for (uint64_t i = 1; i < count; i++) {
        const knn_near moving = list[i];
        uint64_t j = i;
        for (; j > 0 && knn_before(&moving, &list[j - 1]); j--) list[j] = list[j - 1];
        list[j] = moving;
    }
}

/* Partitions a list of three or more around the median of three of its items, whose place it returns. The middle one is
   drawn by a hash, so that no order of the list makes the parts uneven again and again. */
static uint64_t partition(knn_near *list, uint64_t count) {
    const uint64_t drawn = 1 + mote_mul_high(mote_hash64(list[0].key ^ count), count - 2);
    knn_near *const middle = &list[drawn], *const last = &list[count - 1];
    if (knn_before(middle, list)) swap(middle, list);
    if (knn_before(last, list)) swap(last, list);
    if (knn_before(last, middle)) swap(last, middle);
    swap(middle, &list[1]);
    const knn_near pivot = list[1];
    uint64_t i = 1, j = count - 1;
    for (;;) {
        do i++;
        while (knn_before(&list[i], &pivot));
        do j--;
        while (knn_before(&pivot, &list[j]));
        if (i >= j) break;
        swap(&list[i], &list[j]);
    }
    swap(&list[1], &list[j]);
    return j;
}

void knn_sort(mote_context *ctx, knn_near *list, uint64_t count) {
    while (count > INSERTION_MAX) {
        if (count > ASKED_ABOVE && mote_stop(ctx)) return;
        const uint64_t middle = partition(list, count);
        knn_sort(ctx, list + middle + 1, count - middle - 1);
        count = middle;
    }
    insertion_sort(list, count);
}

void knn_select(knn_near *list, uint64_t count, uint64_t k) {
    while (count > INSERTION_MAX && k > 0) {
        const uint64_t middle = partition(list, count), after = middle + 1;
        if (middle >= k) {
            count = middle;
        } else {
            list += after;
            count -= after;
            k -= after;
        }
    }
    if (k > 0) insertion_sort(list, count);
}

void knn_best_shrink(knn_best *best) {
    knn_select(best->list, best->count, best->k);
    best->count = best->k;
    const knn_near *worst = best->list;
    for (uint32_t i = 1; i < best->k; i++) worst = knn_before(worst, &best->list[i]) ? &best->list[i] : worst;
    best->limit = worst->key;
    best->limit_index = worst->index;
}

void knn_best_finish(knn_best *best) {
    if (best->count > best->k) knn_best_shrink(best);
    knn_sort(NULL, best->list, best->count); /* k is at most a thousand */
}
