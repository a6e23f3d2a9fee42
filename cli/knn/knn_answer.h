/* The neighbours that mote knn found: the arrays, and how they are written. */
#ifndef CLI_KNN_ANSWER_H
#define CLI_KNN_ANSWER_H

#include "files/npz.h"
#include "session.h"

typedef struct knn_answer {
    uint64_t points; /* of the cloud */
    uint64_t queries;
    uint32_t k;           /* neighbours in a row; of lists 0 */
    mote_knn_result rows; /* its arrays: index32 or index64, distance2 or distance2_wide, count */
    mote_knn_rows *disk;  /* NULL: rows has all; else the queries [first, first + held), as they are loaded */
    uint64_t first, held;
    mote_knn_lists *lists; /* NULL: rows */
    uint64_t array_bytes;  /* of rows and counts */
    uint64_t neighbors;    /* in all */
    uint64_t incomplete;   /* queries with fewer than k */
    uint64_t skipped;      /* points without a finite position */
} knn_answer;

/* Makes the arrays of rows. is_wide: indices of 64 bits and distances in double precision; indices of 64 bits also
   where 32 do not hold them with -1. Returns an exit code. */
int knn_answer_make_rows(session *s, knn_answer *a, bool is_wide);
/* The same for rows that are on the disk, a block of them at a time; the rows become the answer's. */
int knn_answer_take_rows(session *s, knn_answer *a, mote_knn_rows *disk, bool is_wide);
/* Makes the arrays those of the queries from first on, as many as are held, and counts their neighbours: all at once,
   or where the rows are on the disk block by block, from 0 on. */
mote_status knn_answer_load(knn_answer *a, uint64_t first);
/* Makes the array of counts alone, for lists, whose neighbours are in arrays of their own. */
int knn_answer_make_counts(session *s, knn_answer *a);
void knn_answer_free(session *s, knn_answer *a);
/* The squared distance at a place of the rows, whichever array has it. */
static inline double knn_answer_distance2(const knn_answer *a, uint64_t place) {
    return a->rows.distance2_wide != NULL ? a->rows.distance2_wide[place] : (double)a->rows.distance2[place];
}

/* The arrays of the .npz. Returns how many. */
int knn_answer_arrays(const knn_answer *a, npz_array arrays[NPZ_ARRAYS_MAX]);
/* A checksum of them, whatever file they go to. Returns an exit code. */
int knn_answer_hash(session *s, const knn_answer *a, uint64_t *hash);
/* Writes them, as .csv or as .npz. Returns an exit code. */
int knn_answer_write(session *s, knn_answer *a, const char *path, bool as_csv);

/* Text: a line of names, then "query,rank,index,distance2" per neighbour. */
mote_status knn_csv_write(session *s, knn_answer *a, mote_output *output);

#endif
