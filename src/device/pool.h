/* Memory of a device handed out in pieces. A few large segments are taken from the device and kept, because taking
   memory from a device is slow and waits for it. Used from one thread at a time. */
#ifndef MOTE_POOL_H
#define MOTE_POOL_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POOL_ALIGNMENT     256u
#define POOL_SEGMENT_BYTES (64ull << 20) /* the least that is taken from the device at once, if it has that much */

/* Where a pool gets its segments: the driver's memory, or what a test puts in its place. */
typedef struct pool_source {
    void *user;
    void *(*allocate)(void *user, uint64_t size_bytes); /* aligned to POOL_ALIGNMENT; NULL: there is none */
    void (*release)(void *user, void *memory, uint64_t size_bytes);
    uint64_t (*remaining)(void *user); /* what allocate may still give, for messages and pool_available */
} pool_source;

typedef struct pool pool;

/* NULL when there is no memory for it (noted). */
pool *pool_make(mote_device *device, const pool_source *source);
/* Gives all segments back, also those in use. NULL is allowed. */
void pool_destroy(pool *p);

/* Memory aligned to POOL_ALIGNMENT; NULL when there is none (noted). It counts as what was asked for. */
void *pool_take(pool *p, uint64_t size_bytes, const char *structure);
/* NULL is allowed. */
void pool_give(pool *p, void *memory);
/* What the source, the free parts of segments and what steps keep (mote_cache_put) hold together, within the limit of
   the context. */
uint64_t pool_available(const pool *p);

#ifdef __cplusplus
}
#endif
#endif
