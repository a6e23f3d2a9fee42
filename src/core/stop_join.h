/* The end of a parallel region whose pieces may take long, and ask themselves whether to go on. Only the caller's
   thread can ask (mote_stop), so that it must not wait at the barrier, while another one has a long piece, without
   asking:

     mote_stop_join join;
     mote_stop_join_make(&join);
     #pragma omp parallel
     {
     #pragma omp for nowait
         for (...) { if (!mote_stop(ctx)) work(); }
         mote_stop_join_wait(ctx, &join);
     }
     mote_stop_join_free(&join);
     MOTE_TRY(mote_stopped(ctx)); */
#ifndef MOTE_STOP_JOIN_H
#define MOTE_STOP_JOIN_H

#include <semaphore.h>

#include "core/core.h"

typedef struct mote_stop_join {
    int arrived; /* threads, without the caller's */
    sem_t last;  /* is posted by the last of them */
} mote_stop_join;

void mote_stop_join_make(mote_stop_join *join);
/* On each thread of the region: the caller's returns when all others are there, or wants to stop. */
void mote_stop_join_wait(mote_context *ctx, mote_stop_join *join);
void mote_stop_join_free(mote_stop_join *join);

#endif
