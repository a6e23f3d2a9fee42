/* Selection and sorting of neighbours. No two are equal, for their indices differ. */
#include "knn/search/knn_best.h"

#define FEW 24u /* up to here insertion wins */

static void sink(knn_near *list, uint64_t at, uint64_t count) {
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && knn_before(&list[child], &list[child + 1])) child++;
        if (!knn_before(&list[at], &list[child])) return;
        knn_swap(&list[at], &list[child]);
        at = child;
    }
}

static void heap_sort(knn_near *list, uint64_t count) {
    for (uint64_t i = count / 2; i-- > 0;) sink(list, i, count);
    for (uint64_t last = count; last-- > 1;) {
        knn_swap(&list[0], &list[last]);
        sink(list, 0, last);
    }
}

/* Parts a list of three or more around the median of three of its items, whose place it returns. */
static uint64_t part(knn_near *list, uint64_t count) {
    knn_near *const middle = &list[count / 2], *const last = &list[count - 1];
    if (knn_before(middle, list)) knn_swap(middle, list);
    if (knn_before(last, list)) knn_swap(last, list);
    if (knn_before(last, middle)) knn_swap(last, middle);
    knn_swap(middle, &list[1]);
    const knn_near pivot = list[1];
    uint64_t i = 1, j = count - 1;
    for (;;) {
        do i++;
        while (knn_before(&list[i], &pivot));
        do j--;
        while (knn_before(&pivot, &list[j]));
        if (i >= j) break;
        knn_swap(&list[i], &list[j]);
    }
    knn_swap(&list[1], &list[j]);
    return j;
}

/* How many bad partings are borne before the heap takes over. */
static uint32_t patience(uint64_t count) { return 2 * (64 - (uint32_t)__builtin_clzll(count | 1)); }

static void sort_patiently(knn_near *list, uint64_t count, uint32_t remaining) {
    while (count > FEW) {
        if (remaining-- == 0) {
            heap_sort(list, count);
            return;
        }
        const uint64_t middle = part(list, count);
        sort_patiently(list + middle + 1, count - middle - 1, remaining);
        count = middle;
    }
    knn_insertion_sort(list, count);
}

void knn_sort(knn_near *list, uint64_t count) { sort_patiently(list, count, patience(count)); }

void knn_select(knn_near *list, uint64_t count, uint64_t k) {
    for (uint32_t remaining = patience(count); count > FEW; remaining--) {
        if (remaining == 0) {
            heap_sort(list, count);
            return;
        }
        const uint64_t middle = part(list, count);
        if (middle >= k) {
            count = middle;
        } else {
            list += middle + 1;
            count -= middle + 1;
            k -= middle + 1;
        }
        if (k == 0) return;
    }
    knn_insertion_sort(list, count);
}

void knn_best_shrink(knn_best *best) {
    knn_select(best->list, best->count, best->k);
    best->count = best->k;
    best->limit = 0;
    for (uint32_t i = 0; i < best->k; i++)
        best->limit = best->list[i].key > best->limit ? best->list[i].key : best->limit;
}
