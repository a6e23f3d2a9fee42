/* The caller's thread waits for the others, and asks meanwhile. */
#include "core/stop_join.h"

#include <omp.h>
#include <time.h>

#define ASKED_EVERY_NS 10000000 /* as often as mote_stop asks */

void mote_stop_join_make(mote_stop_join *join) {
    join->arrived = 0;
    sem_init(&join->last, 0, 0);
}

/* Of the clock that may be set: where that is done, the next question comes sooner or later once. */
static struct timespec next_question(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += ASKED_EVERY_NS;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    return at;
}

void mote_stop_join_wait(mote_context *ctx, mote_stop_join *join) {
    const int others = omp_get_num_threads() - 1;
    if (mote_thread_number() != 0) {
        if (__atomic_add_fetch(&join->arrived, 1, __ATOMIC_ACQ_REL) == others) sem_post(&join->last);
        return;
    }
    if (others == 0 || ctx->params.progress == NULL) return;
    for (;;) {
        const struct timespec until = next_question();
        if (sem_timedwait(&join->last, &until) == 0 || mote_stop(ctx)) return;
    }
}

void mote_stop_join_free(mote_stop_join *join) { sem_destroy(&join->last); }
