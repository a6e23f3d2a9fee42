/* Fibers: stacks of their own on one thread, with a guard page below each. */
#ifndef MOTE_FIBER_H
#define MOTE_FIBER_H

#include <stddef.h>

typedef struct fiber fiber;

/* The fiber that stands for the thread's own stack: the first to switch away from. */
fiber *fiber_of_thread(void);
/* One that begins with run() when it is first switched to; run must never return. Aborts when there is no memory. */
fiber *fiber_make(void (*run)(void));
/* Goes on in another fiber, until someone switches back to this one. */
void fiber_switch(fiber *from, fiber *to);

#endif
