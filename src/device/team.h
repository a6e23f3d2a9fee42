/* Work that is cut into items, and shared out to workers: contexts of their own, each with a thread, a part of the
   caller's threads and memory, and one of its GPUs.

     ctx      ┌ workers[0]  GPU 0   items 2, 0 …      the caller's thread waits: it reports progress of all, passes on
     waits    └ workers[1]  GPU 1   items 1, 3 …      what workers log, and cancels them all

   What the workers make does not depend on who makes what: an item writes to a place of its own. Of several failures
   the first is the caller's; the others are then cancelled. A team of one is the caller itself, without a thread. */
#ifndef MOTE_TEAM_H
#define MOTE_TEAM_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TEAM_MAX 64u

typedef struct mote_team {
    mote_context *ctx;
    uint32_t count;
    mote_context *workers[TEAM_MAX];
} mote_team;

typedef struct team_work {
    /* Does an item in the context of a worker, on its thread. */
    mote_status (*run)(void *user, mote_context *worker, uint32_t item);
    void *user;
    uint32_t item_count;
    const uint64_t *weights; /* [item_count] about how long each takes, as points: the longest begin first */
    bool is_bound;           /* item i is that of worker i, whose memory it is in */
} team_work;

/* How many workers a context has where nobody asks for a number: one for each of its GPUs; one on the CPU. */
uint32_t mote_team_default(const mote_context *ctx);
/* How many of count workers share a GPU, at most. */
uint32_t mote_team_device_sharers(const mote_context *ctx, uint32_t count);
/* Makes count workers. memory_bytes: that each may take; 0: no bound. Workers of one GPU share the
   context's limit for that. End it in any case. */
mote_status mote_team_begin(mote_context *ctx, uint32_t count, uint64_t memory_bytes, mote_team *team);
/* Does all items, and reports progress from 0 to 1 of the caller's share, as each item does of its own; returns when
   none is at work any more. */
mote_status mote_team_run(const mote_team *team, const team_work *work);
/* Frees the workers, of which everything must be freed before; what they used becomes the context's. */
void mote_team_end(mote_team *team);

#ifdef __cplusplus
}
#endif
#endif
