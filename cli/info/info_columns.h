/* What one column of a cloud that comes in pieces is like. */
#ifndef CLI_INFO_COLUMNS_H
#define CLI_INFO_COLUMNS_H

#include "info/info_stats.h"

/* Sums of stored integers stay below 2^53 within a block of 32-bit values and are exact; blocks begin at multiples of
   their size and are added in order, so the mean depends neither on the number of threads nor on the pieces. */
typedef struct column_tally {
    bool is_open;
    int pass;
    double sum, block_sum, min, max; /* as stored */
    uint64_t points, values;
    rank_search ranks;
} column_tally;

/* Adds the values of a piece; false: no memory. */
bool tally_add(column_tally *tally, const mote_cloud *piece, const mote_column *column);
/* Ends a pass. *again: one more is needed. false: no memory. */
bool tally_end(column_tally *tally, const mote_column *column, bool *again);
void tally_tell(const column_tally *tally, const mote_column *column, column_stats *stats);
void tally_close(column_tally *tally);

/* Adds the values of the column of that name, if there is one. */
void histogram_add(histogram *to, const mote_cloud *piece, const char *name);

#endif
