/* Columns of a cloud in host memory of which a device keeps copies, from one call to the next
   (mote_cloud_keep_uploads).

     cloud ── uploads   host   [ x y z intensity … | x y z intensity … | … ]      [ normal_x | normal_x | … ]
                                        │ a copy                                       │ a copy
                        device [ x y z intensity … | x y z intensity … | … ]      [ normal_x | normal_x | … ]
                                 users: 1, a view looks at it                     users: 0, idle

   A copy is found by where on the host it was made of: memory of a cloud is not given back before the cloud is. Copies
   that are idle are given back when memory of the device runs short, as all is that steps keep (core/cache.c). */
#ifndef MOTE_UPLOADS_H
#define MOTE_UPLOADS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_uploads mote_uploads; /* NULL: of a cloud that never kept any */

/* Makes what keeps them, for a cloud of this context, and begins to. */
mote_status mote_uploads_begin(mote_context *ctx, mote_uploads **out);
/* Whether what comes from here on is kept. */
void mote_uploads_keep(mote_uploads *uploads, bool keep);
/* Drops copies of values that may have changed; those in use are found no more, and go with their last user. */
void mote_uploads_forget(mote_uploads *uploads);
/* The cloud is no more. */
void mote_uploads_end(mote_uploads *uploads);
/* Whether what is uploaded to this device is kept: a device of the cloud's own context, for those of others end before
   the cloud does. */
bool mote_uploads_kept(const mote_uploads *uploads, const mote_device *device);

/* Where on the device a copy of the host's bytes [host, host + size_bytes) begins, which has one user more; NULL: there
   is none. */
const uint8_t *mote_uploads_use(mote_uploads *uploads, const void *host, uint64_t size_bytes);
/* Takes over memory from device_alloc, also where that fails: from first on it is a copy of the host's bytes, of which
   there is one user. memory NULL: MOTE_ERROR_MEMORY. */
mote_status mote_uploads_add(mote_uploads *uploads, mote_device *device, void *memory, const uint8_t *first,
                             const void *host, uint64_t size_bytes);
/* One user less of the copy in which this place of the device is. */
void mote_uploads_leave(mote_uploads *uploads, const uint8_t *place);

#ifdef __cplusplus
}
#endif
#endif
