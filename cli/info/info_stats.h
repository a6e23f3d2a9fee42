/* What mote info --stats learns from all points. */
#ifndef CLI_INFO_STATS_H
#define CLI_INFO_STATS_H

#include "session.h"

typedef struct column_stats {
    double min, max, mean; /* in the attribute's unit; of the values that are there */
    uint64_t values;       /* how many those are */
    uint64_t nans;         /* NaN and no-data values */
} column_stats;

#define HISTOGRAM_BINS 256

typedef struct histogram {
    bool present;
    uint64_t bins[HISTOGRAM_BINS];
    uint64_t beyond; /* values outside 0..255 */
} histogram;

typedef struct cloud_stats {
    column_stats *columns; /* one per column of the cloud; free with cloud_stats_free */
    histogram classes, returns;
    uint64_t duplicates; /* points whose position an earlier point has */
    bool duplicates_known;
} cloud_stats;

/* Same result for any number of threads. Returns an exit code. */
int cloud_stats_compute(session *s, const mote_cloud *cloud, cloud_stats *stats);
void cloud_stats_free(cloud_stats *stats);

#endif
