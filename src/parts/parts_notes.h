/* Notes of points: the cells that they are in, and how many are; of a plan, of each unit of the inputs. */
#ifndef PARTS_NOTES_H
#define PARTS_NOTES_H

#include "parts/parts.h"

/* A note: a cell and how many points are in it. */
#define NOTE_COUNT_BITS 43u /* beside 21 for the cell: 3 for each of PARTS_LEVEL */
static inline uint64_t note_of(uint64_t cell, uint64_t points) { return cell << NOTE_COUNT_BITS | points; }
static inline uint64_t cell_of(uint64_t note) { return note >> NOTE_COUNT_BITS; }
static inline uint64_t points_of(uint64_t note) { return note & ((1ull << NOTE_COUNT_BITS) - 1); }

/* What walks may read without the rest of an input. */
typedef struct parts_unit {
    reader_span span;                  /* first == end: all of the input, which has no units */
    uint64_t given;                    /* points that reading it gives */
    uint64_t first, count;             /* in parts_notes.list */
    uint64_t first_count, count_count; /* in parts_notes.counts */
    uint32_t input;
    bool is_shared;  /* its points are in the file of those that the plan has read for several parts */
    bool is_counted; /* a walk has counted what each part has of it: what notes say may be too much */
} parts_unit;

/* What a part has of a unit. */
typedef struct unit_count {
    uint64_t points;
    uint32_t part;
} unit_count;

/* Points of a piece that are of one unit. */
typedef struct notes_piece {
    reader_span span;
    uint64_t first, end; /* in the piece */
    uint64_t count;      /* of notes */
} notes_piece;

typedef struct parts_notes {
    bool keeps;        /* a plan: notes are kept by unit; else points are counted by them, and no more */
    parts_unit *units; /* in the order of their points */
    uint64_t unit_count, unit_capacity;
    uint64_t *list; /* of each unit: cells and points, by cell */
    uint64_t count, capacity;
    uint32_t coarser; /* levels that cells are coarser than those that are counted */
    unit_count *counts;
    uint64_t counts_count, counts_capacity;
    /* Of the piece that is looked at. */
    notes_piece *pieces;
    uint64_t piece_capacity;
    uint64_t *found;
    uint64_t found_capacity;
} parts_notes;

mote_status parts_notes_begin(parts_run *run, bool keeps);
/* Before a walk: forgets those before. */
void parts_notes_restart(parts_run *run);
/* Counts the points of a piece of the source: run->first. */
mote_status parts_notes_see(parts_run *run, const uint64_t *codes, uint64_t count);
void parts_notes_end(parts_run *run);
uint64_t parts_notes_bytes(const parts_run *run);

/* ---- parts_chosen.c: what parts have of units, and a walk over some of them */
/* A note, once ranges are cut. */
typedef struct parts_note {
    uint64_t first_code, end_code;
    uint64_t points;
    uint32_t first_part, last_part; /* that the codes between are of */
} parts_note;
parts_note parts_note_of(const parts_run *run, const parts_unit *unit, uint64_t i);
/* What each part has of a unit, by part; of notes that a border divides, all that these have. Returns how many parts.
   list: [part_count] */
uint64_t parts_unit_counts(const parts_run *run, const parts_unit *unit, unit_count *list);

typedef struct parts_chosen {
    parts_spans *spans; /* [inputs] */
    reader_span *list;  /* theirs */
    bool *wanted;       /* [inputs] */
    uint64_t *units;    /* [count] of the notes */
    uint64_t count;
    uint64_t next, left; /* the unit that comes next; points that are to come of the one before */
    uint64_t *tally;     /* [part_count] of that */
} parts_chosen;

/* Chooses units, and lets walks of the run's source give these alone. */
typedef bool (*parts_chooses)(const parts_run *run, const parts_unit *unit);
mote_status parts_choose_units(parts_run *run, parts_chooses chooses, parts_chosen *chosen);
/* Looks at the points of a piece. parts: [count] of each; PARTS_NONE: it has no place */
mote_status parts_chosen_see(parts_run *run, const uint16_t *parts, uint64_t count);
/* After a walk: all chosen units are counted. status: of the walk */
mote_status parts_chosen_end(parts_run *run, parts_chosen *chosen, mote_status status);

#endif
