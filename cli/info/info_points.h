/* The points of an input, as often as they are wanted: LAS, LAZ, COPC and E57 files come in pieces, so that memory is
   bounded; of everything else the whole cloud is the one piece. */
#ifndef CLI_INFO_POINTS_H
#define CLI_INFO_POINTS_H

#include "session.h"

typedef struct info_points {
    session *s;
    mote_cloud *whole;
    mote_reader *reader; /* NULL: the cloud is whole */
    mote_cloud *header;  /* what the reader's pieces are like, without points */
    bool is_given;       /* whole was given in this pass */
    uint64_t expected;   /* points; with --where there may be fewer */
} info_points;

/* can_stream: the whole cloud is not needed. Returns an exit code. */
int points_open(session *s, const char *const *path, const mote_read_params *reading, bool can_stream,
                info_points *points);
/* The next piece; NULL after the last one. */
mote_status points_next(info_points *points, const mote_cloud **piece);
void points_rewind(info_points *points);
/* Attributes, reference system and records. It may be without points. */
const mote_cloud *points_cloud(const info_points *points);
void points_close(info_points *points);

#endif
