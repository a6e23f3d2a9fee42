/* Sampling by distance, of all parts together (parts_distance.c), and what of it a run that was killed goes on with
   (parts_distance_kept.c): the files of lists and levels under names of their own, and a journal, to which an entry is
   added when what it says is in them.

     OUT.parts/distance            | listed 3 | listed 1 | ... | begun | piece 1 | piece 2 | ... | ended | begun | ...
               distance.list0.xyz, distance.list0.level      13 bytes a point, by part
               distance.levels0                              a byte a point
               distance.list1.xyz, ...                       those that go on, until that round has ended */
#ifndef PARTS_DISTANCE_H
#define PARTS_DISTANCE_H

#include "parts/parts_listed.h"

#define ROUNDS_MAX (ORDER_FINE_BITS + 1u)

typedef struct distance_round {
    uint32_t first;     /* its coarsest level */
    uint64_t count;     /* points of its list */
    mote_output levels; /* [count] */
} distance_round;

typedef enum distance_listed { DISTANCE_UNLISTED, DISTANCE_BY_CODES, DISTANCE_BY_FINE_CODES } distance_listed;

/* What the pieces of a round follow from: with the same of each, a run goes on with the next piece. */
typedef struct distance_cut {
    uint64_t room_bytes, most, pieces;
    uint32_t first;
} distance_cut;

/* How far a round has come. */
typedef struct distance_progress {
    uint64_t pieces; /* chosen */
    uint64_t done;   /* points of the list that these have */
    uint64_t kept;   /* of the next list */
} distance_progress;

struct parts_distance {
    const char *output;
    parts_listed list; /* of the round that runs */
    uint64_t *counts;  /* [part_count] points of list 0 by part */
    uint8_t *finest;   /* [part_count] greatest level of them */
    uint8_t *listed;   /* [part_count] distance_listed: parts that are */
    distance_round rounds[ROUNDS_MAX];
    uint32_t round_count;       /* that have ended, or run */
    uint32_t taken;             /* this round and later ones have the levels of those behind them */
    distance_cut cut;           /* of a round that an earlier run had begun */
    distance_progress progress; /* of it */
    int journal;                /* -1: nothing is kept */
};

/* ---- parts_distance_room.c */
/* Cells around a piece that are tried first, and at least: of 400 pieces 16 need more than 4, and none more than 6. */
#define DISTANCE_REACH_FIRST 8u
#define DISTANCE_REACH_LEAST 6u
#define DISTANCE_MARKS_SHARE 16u /* marks of a list have one part in so many of the room */
uint64_t distance_marks_bytes(const parts_run *run);
/* Points of a piece, with those around it, that memory holds. */
uint64_t distance_most_points(const parts_run *run);
/* The failure where it holds fewer than some piece has. */
mote_status distance_fail_room(const parts_run *run, uint64_t most);

/* ---- parts_distance_kept.c */
/* Each adds an entry to the journal, if there is one. */
mote_status distance_note_listed(const parts_run *run, uint32_t part);
mote_status distance_note_begun(const parts_run *run, const distance_cut *cut);
mote_status distance_note_piece(const parts_run *run, const distance_progress *progress);
/* The round that runs; points: of the next list */
mote_status distance_note_ended(const parts_run *run, uint64_t points);
/* A round has the levels of those behind it. */
mote_status distance_note_taken(const parts_run *run, uint32_t round);

/* Opens the journal of run->kept_folder, and the files of what it says; where it says nothing of this plan, or these
   are not there, all begins anew. */
mote_status distance_take_up(parts_run *run);
/* Removes a file that is kept and not needed any more: a list, or the levels of a round. */
void distance_remove(const parts_run *run, const char *what, uint32_t number);

#endif
