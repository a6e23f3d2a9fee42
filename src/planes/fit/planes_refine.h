/* What refinement of peaks and the measuring of their noise share. Host only. */
#ifndef PLANES_REFINE_H
#define PLANES_REFINE_H

#include "planes/planes.h"

/* The voters of the last vote, and those of them that no plane has yet. */
typedef struct refine_job {
    mote_context *ctx;
    planes_sample sample, free; /* place in free: the number of the voter */
    const planes_refining *how;
    uint8_t *claimed; /* [free] points that a plane has taken since free was made */
    struct planes_pools *pools;
    int threads;
} refine_job;

/* close: also on failure */
mote_status refine_open(refine_job *job, planes_run *run, const planes_refining *how);
void refine_close(const refine_job *job);

/* Two samples that are this thread's: the points near a plane, and scratch behind it. */
planes_sample *refine_pool(const refine_job *job);
/* Takes points that planes have claimed out of the free ones. Before pools are taken. */
void refine_drop_claimed(refine_job *job);
/* The pool: free points within reach of a plane. near: the first of a pool. */
void refine_take_pool(const refine_job *job, const planes_fit *fit, double reach, planes_sample *near);
/* Sums over the points of the pool within reach of a plane whose normal it allows: inner is how many of them are within
   half of it, in_bands[0] how many more are within twice the reach. */
void refine_sum_pool(const refine_job *job, const planes_sample *near, const planes_fit *fit, double reach,
                     planes_sums *sums);
/* The plane that a start leads to; valid says whether there is one. */
planes_fit refine_peak(const refine_job *job, const planes_start *start, planes_sample *near);
/* Counts the free points in and beside a plane, as planes_bands has them. */
void refine_count(const refine_job *job, const planes_plane *plane, planes_candidate *counted);
/* Counts the points in a plane, free or not. */
uint32_t refine_count_all(const refine_job *job, const planes_plane *plane);
/* Points within a plane's guard are free no more. */
void refine_claim(const refine_job *job, const planes_plane *plane);

#endif
