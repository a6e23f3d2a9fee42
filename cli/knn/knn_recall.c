/* How near an approximate answer of mote knn comes to the exact one. */
#include "knn/knn_recall.h"

#include <math.h>

/* Sums over queries, in their order. */
typedef struct recall_sums {
    uint64_t wanted, got, complete, measured, with_fewer;
    double factors, max;
} recall_sums;

static void add_query(recall_sums *sums, const knn_answer *found, const knn_answer *exact, uint64_t query) {
    const uint64_t base = query * exact->k;
    const uint32_t count = exact->rows.count[query], have = found->rows.count[query];
    if (count == 0) return;
    const double farthest = knn_answer_distance2(exact, base + count - 1);
    uint32_t got = 0;
    while (got < count && got < have && knn_answer_distance2(found, base + got) <= farthest) got++;
    sums->wanted += count;
    sums->got += got;
    sums->complete += got == count;
    if (have < count) {
        sums->with_fewer++;
        return;
    }
    const double last = knn_answer_distance2(found, base + count - 1);
    const double factor = last <= farthest ? 1 : sqrt(last / farthest);
    sums->measured++;
    sums->factors += factor;
    sums->max = fmax(sums->max, factor);
}

void knn_recall_compare(const knn_answer *found, const knn_answer *exact, knn_recall *recall) {
    recall_sums sums = {0};
    uint64_t with_neighbors = 0;
    for (uint64_t query = 0; query < exact->queries; query++) {
        with_neighbors += exact->rows.count[query] > 0;
        add_query(&sums, found, exact, query);
    }
    recall->recall = sums.wanted > 0 ? (double)sums.got / (double)sums.wanted : 1;
    recall->complete = with_neighbors > 0 ? (double)sums.complete / (double)with_neighbors : 1;
    recall->mean = sums.measured > 0 ? sums.factors / (double)sums.measured : 1;
    recall->max = sums.measured > 0 ? sums.max : 1;
    recall->with_fewer = sums.with_fewer;
}

int knn_recall_measure(session *s, const knn_answer *found, mote_knn_index *index, const mote_cloud *queries,
                       const mote_knn_params *params, knn_recall *recall) {
    knn_answer exact = {
        .points = found->points, .queries = found->queries, .k = found->k, .array_bytes = found->array_bytes};
    mote_knn_params exactly = *params;
    exactly.method = MOTE_KNN_GRID;
    exactly.approximate = false;
    int code = knn_answer_make_rows(s, &exact, found->rows.distance2_wide != NULL);
    if (code == EXIT_DONE) {
        const double begin = seconds_now();
        const mote_status status = mote_knn_search(index, queries, &exactly, &exact.rows);
        recall->seconds = seconds_now() - begin;
        if (status != MOTE_OK) code = session_fail(s, status, false);
    }
    if (code == EXIT_DONE) knn_recall_compare(found, &exact, recall);
    knn_answer_free(s, &exact);
    return code;
}
