/* What mote knn prints besides doing its work: --stats, --recall, --json. */
#ifndef CLI_KNN_PRINT_H
#define CLI_KNN_PRINT_H

#include "knn/knn_recall.h"

typedef struct knn_report {
    const char *output;
    const knn_answer *answer;
    const knn_recall *recall; /* NULL: not asked for */
    uint64_t bytes;           /* of the file */
    uint64_t hash;
    double build_s, search_s, write_s;
    mote_parts_report parts; /* parts.parts 0: it went in one piece */
    bool stats;
} knn_report;

/* What the run did, on standard error; then what was asked for, on standard output. */
void knn_print(session *s, const knn_report *report);

#endif
