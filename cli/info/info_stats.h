/* What mote info learns by reading all points, in passes over their pieces, in bounded memory. */
#ifndef CLI_INFO_STATS_H
#define CLI_INFO_STATS_H

#include "info/info_points.h"
#include "info/info_ranks.h"

typedef struct column_stats {
    double min, max, mean;           /* in the attribute's unit; of the values that are there */
    uint64_t values;                 /* how many those are */
    uint64_t nans;                   /* NaN and no-data values */
    double percentiles[RANKS_COUNT]; /* in the attribute's unit; NaN where there are no values */
} column_stats;

#define HISTOGRAM_BINS 256

typedef struct histogram {
    bool present;
    uint64_t bins[HISTOGRAM_BINS];
    uint64_t beyond; /* values outside 0..255 */
} histogram;

typedef struct cloud_stats {
    uint64_t points;
    /* Of the positions, where there are any: */
    bool has_box;
    mote_box box;
    uint64_t skipped; /* points without finite coordinates */
    mote_strays strays;
    /* Only where all was asked for: */
    bool is_full;
    column_stats *columns; /* one per column of the cloud; free with cloud_stats_free */
    histogram classes, returns;
    uint64_t duplicates; /* points whose position an earlier point has */
    bool duplicates_known, duplicates_estimated;
    uint64_t wrong_returns; /* points whose return number is 0 or above their number of returns */
    uint64_t wrong_times;   /* points whose GPS time is in no week */
    double covered, cell;   /* area of cells with points, square units; 0: unknown. The side of a cell */
} cloud_stats;

/* full: more than box and strays. Same result for any number of threads, in pieces as at once. Returns an exit code. */
int cloud_stats_read(session *s, info_points *points, bool full, cloud_stats *stats);
void cloud_stats_free(cloud_stats *stats);

#endif
