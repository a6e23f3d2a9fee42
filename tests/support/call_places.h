/* Places that call something, told apart by their call stacks. */
#ifndef MOTE_TEST_CALL_PLACES_H
#define MOTE_TEST_CALL_PLACES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* An allocation in a loop fails as its neighbour does: of those that one place makes only the first few must fail for
 * all code behind a failure to run. A program that works again and again, failing once each time, asks of each call
 * whether it is its turn:
 *
 *   place     calls of a run      turns of runs 1, 2, 3, ... with most = 2
 *   A         A1 A2 A3 ... A200   A1, A2
 *   A in B    a1                          a1
 *   C         C1 C2                           C1, C2
 *
 * The runs end when no place has a turn left. */
typedef struct call_place {
    uint64_t stack;       /* hash of the return addresses; 0: free */
    uint64_t calls, run;  /* the calls in this run */
    uint64_t turns_taken; /* in all runs */
} call_place;

#define CALL_PLACES_MAX 8192u /* a power of two */

typedef struct call_places {
    uint64_t most, run; /* turns of one place, and the run from 1 */
    bool has_turned;    /* in this run */
    pthread_mutex_t lock;
    call_place places[CALL_PLACES_MAX];
} call_places;

/* Of each place at most so many calls have a turn. Fails the test when memory runs out; for free(). */
call_places *call_places_make(uint64_t most);
void call_places_begin_run(call_places *places);
/* Whether the call from here is the one that has its turn in this run. */
bool call_places_turn(call_places *places);

#endif
