/* A CUDA runtime for tests without a GPU: its device memory is the host's, and all work waits in its stream until
   someone waits for it. What ought to be put in order and is not comes out wrong. It launches nothing. */
#ifndef MOTE_LATE_RUNTIME_H
#define MOTE_LATE_RUNTIME_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the n-th call fails, and the device is lost: every later call fails too. 0: none. */
void late_runtime_fail_at(long n);
bool late_runtime_has_failed(void);
/* How many allocations, streams and events are open. */
long late_runtime_open(void);

#ifdef __cplusplus
}
#endif
#endif
