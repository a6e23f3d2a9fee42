/* Percentiles of a column in bounded memory: a radix search for the values of given ranks, 16 bits of an
 * order-preserving key in each pass over the values.
 *
 *     key     |..16..|..16..|..16..|..16..|
 *     pass 1  [bins ]                          all values are counted
 *     pass 2         [bins ]                   of values that begin as a percentile does, a group for each such prefix
 *     pass 3                [bins ]            of 64-bit keys alone; beside each bin the least value in it
 *
 * Integers of up to 32 bits and floats are found exactly. Of doubles and 64-bit integers it is the least value of the
 * file that agrees in the first 48 bits, of which 36 are of the mantissa: within 2^-36 of the exact one. */
#ifndef CLI_INFO_RANKS_H
#define CLI_INFO_RANKS_H

#include <mote/mote.h>

#define RANKS_COUNT 5
extern const double rank_percents[RANKS_COUNT];

typedef struct rank_search {
    mote_type type;
    uint32_t key_bits;              /* 8, 16, 32 or 64 */
    uint32_t shift, width;          /* the bits of the key that are counted in this pass */
    bool is_done;                   /* values are found */
    uint32_t group_count;           /* of values with one prefix */
    uint64_t prefixes[RANKS_COUNT]; /* of each group */
    uint32_t groups[RANKS_COUNT];   /* of each percentile */
    uint64_t ranks[RANKS_COUNT];    /* of each percentile, within its group */
    uint64_t *bins;                 /* [groups][1 << width] */
    double *least;                  /* the same */
    double values[RANKS_COUNT];     /* as stored; NaN where there are none */
} rank_search;

/* false: no memory. */
bool ranks_open(rank_search *search, mote_type type);
/* Values as stored; NaN are passed over. */
void ranks_add(rank_search *search, const double *values, uint64_t count);
/* Ends a pass. count: values in all; descending: a negative scale turns their order around. false: no memory. */
bool ranks_end(rank_search *search, uint64_t count, bool descending);
void ranks_close(rank_search *search);

#endif
