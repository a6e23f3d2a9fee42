/* Copying host memory with all threads. */
#ifndef MOTE_CUDA_STAGING_H
#define MOTE_CUDA_STAGING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* memcpy in pieces. Between pageable and pinned memory it runs beside the device's copies, and one thread is slower
   than they are. */
void cuda_staging_copy(void *to, const void *from, uint64_t size_bytes, int threads);

#ifdef __cplusplus
}
#endif
#endif
