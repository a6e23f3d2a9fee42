/* How near an approximate answer of mote knn comes to the exact one. */
#ifndef CLI_KNN_RECALL_H
#define CLI_KNN_RECALL_H

#include "knn/knn_answer.h"

/* A neighbour counts as found if it is no farther than the farthest exact one: which of several at the same distance
   was taken does not matter. The factor is the distance of the farthest found neighbour over that of the farthest exact
   one, 1 where both are 0; queries with fewer neighbours than the exact answer have none. */
typedef struct knn_recall {
    double seconds;      /* of the exact search */
    double recall;       /* share of the exact neighbours that were found */
    double complete;     /* share of the queries with all of them */
    double mean, max;    /* of the factor */
    uint64_t with_fewer; /* queries that have fewer neighbours than the exact answer */
} knn_recall;

/* Finds all but the seconds, from two answers to the same queries. */
void knn_recall_compare(const knn_answer *found, const knn_answer *exact, knn_recall *recall);

/* Searches again, exactly, and compares. queries NULL: the points themselves. Returns an exit code. */
int knn_recall_measure(session *s, const knn_answer *found, mote_knn_index *index, const mote_cloud *queries,
                       const mote_knn_params *params, knn_recall *recall);

#endif
