#include "device/cuda/cuda_staging.h"

#include <string.h>

#define PIECE_BYTES (256u << 10) /* below, starting threads costs more than copying */

void cuda_staging_copy(void *to, const void *from, uint64_t size_bytes, int threads) {
    const int64_t pieces = (int64_t)((size_bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    if (pieces < threads) threads = pieces > 0 ? (int)pieces : 1;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t at = (uint64_t)i * PIECE_BYTES, remaining = size_bytes - at;
        memcpy((uint8_t *)to + at, (const uint8_t *)from + at, remaining < PIECE_BYTES ? remaining : PIECE_BYTES);
    }
}
