/* Which thread of a writer encodes which node, and when; and which nodes a dry run encodes.
 *
 *   items, by size     [n0 n1 … | n8 n9 …]
 *                        |  |       \__/__ the next thread that is ready
 *                        |  thread 1
 *                        thread 0
 *
 * Each thread begins a round with one of the largest, so that none takes a larger one later: what the memory of the
 * threads grows to does not depend on which of them is faster, and a dry run can tell it. */
#ifndef MOTE_TURNS_H
#define MOTE_TURNS_H

#include "core/core.h"
#include "mote/lod.h"

typedef struct mote_turn {
    uint64_t size;
    uint32_t item;
} mote_turn;

/* Which nodes a dry run encodes. Nodes whose numbers of points have equally many bits are a class; of each class every
   steps[bits]-th node is encoded. */
#define MOTE_SAMPLE_CLASSES 65u
typedef struct mote_sample {
    bool is_whole;                       /* all nodes are encoded */
    uint32_t steps[MOTE_SAMPLE_CLASSES]; /* by bits */
} mote_sample;
void mote_sample_make(bool dry_run, const mote_lod_node *nodes, uint32_t count, mote_sample *sample);
/* The bytes of the nodes that were not encoded, in proportion to their points, as those of their class, and a little
   more. sizes: of all nodes, stride bytes apart; 0 where a node was not encoded. */
void mote_sample_guess(const mote_sample *sample, const mote_lod_node *nodes, uint32_t count, void *sizes,
                       size_t stride);

typedef struct mote_turns {
    const mote_sample *sample; /* NULL: all items take part */
    mote_turn *list;
    uint64_t capacity;
    uint32_t count;
} mote_turns;

/* Takes the items first … first + count as a round. sizes: of the first of them; the others follow every stride
   bytes. */
mote_status mote_turns_make(mote_context *ctx, const void *sizes, size_t stride, uint32_t first, uint32_t count,
                            mote_turns *turns);
/* Calls encode for each, on all threads; thread is the number of the one that calls. After the first failure, and once
   the caller wants to stop, the items that remain are left out. */
typedef void (*mote_turn_encode)(void *job, int thread, uint32_t item);
mote_status mote_turns_run(mote_context *ctx, const mote_turns *turns, mote_turn_encode encode, void *job);
void mote_turns_free(mote_context *ctx, mote_turns *turns);

#endif
