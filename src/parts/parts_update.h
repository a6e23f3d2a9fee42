/* An octree whose inputs change: what stays of the folder that is there is taken from it, the rest is built as parts.

     old inputs   a b c d        points of a, b and d in cells that neither c nor e reaches: their nodes stay
     new inputs   a b   d e      c's cells: read from the inputs that reach there; e's: what is there, and e

   src/parts/parts_update.c has the steps in their order. */
#ifndef PARTS_UPDATE_H
#define PARTS_UPDATE_H

#include "parts/parts_old.h"

#define PARTS_NEW UINT32_MAX

/* What an update has to know of an input, so that it need not be read again. */
typedef struct parts_known {
    uint64_t points;
    int64_t low[3], high[3]; /* stored positions of the union; low > high: it has no points */
    uint64_t flags[POTREE_MERGED];
    uint64_t conversion; /* how its values become those of the union: the same number, the same records */
} parts_known;

typedef struct parts_update {
    mote_context *ctx;
    const char *folder;
    const mote_parts_params *params;
    mote_lod_update_report *report;
    potree_inputs was, is; /* lists of inputs */
    parts_known *known_was, *known_is;
    uint32_t *from;    /* [is.count] its place in the list that was; PARTS_NEW: it was not there, or is replaced */
    bool *is_new;      /* [is.count] */
    bool *joins;       /* [is.count] it comes behind all that stay */
    bool *is_gone;     /* [was.count] it leaves, or is replaced */
    bool *wanted;      /* [is.count] inputs that a walk reads */
    uint8_t *changed;  /* [cell_count] parts_change */
    uint64_t *cells;   /* [cell_count] points of the folder that is there */
    const char *whole; /* why all has to be built; NULL: nothing is in the way */
    parts_run run;
    parts_old old;
} parts_update;

/* ---- parts_list.c: the list of files */
/* Makes the new list, and arrays of it and of the old one, of which all but from are zero; reads no file. */
mote_status parts_find_list(parts_update *update, const mote_lod_changes *changes);
/* Whether a file of the old list is what the folder was made of: by size and time, or by its checksum where the time
   is another, or where verify asks for that. */
mote_status parts_is_same(parts_update *update, const potree_input *was, bool verify, bool *is_same);
/* Fails where a file that stays is another. */
mote_status parts_check_kept(parts_update *update, bool verify);
/* Fails where a file of the new list changed while it was read: asked for when all is made. */
mote_status parts_check_again(parts_update *update);

/* ---- parts_learn.c: what is known of inputs */
/* Whether all inputs of the list have what was learnt of them. */
bool parts_is_learnt(const potree_inputs *inputs);
/* Reads the inputs of an open source that have nothing learnt, unites all, and fills known and what the list has
   learnt. wanted: [list->count] scratch */
mote_status parts_learn(potree_inputs *list, parts_source *source, bool *wanted, parts_known *known);
/* Takes what was learnt. *ok false: it is damaged */
void parts_take_known(const potree_inputs *list, uint64_t i, parts_known *known, bool *ok);
/* The checksum that was learnt of an input; false: none was. */
bool parts_learnt_hash(const potree_input *input, uint64_t *hash);

/* ---- parts_dirty.c: which cells change */
/* Fills changed, and the run's counts of all cells. */
mote_status parts_find_changed(parts_update *update);

#endif
