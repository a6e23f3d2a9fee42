/* Memory in huge pages. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "large_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void *large_alloc(size_t size_bytes) {
    if (size_bytes < 2 * HUGE_PAGE_BYTES) return malloc(size_bytes + 1);
    const size_t whole_bytes = (size_bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *const memory = aligned_alloc(HUGE_PAGE_BYTES, whole_bytes);
    if (memory != NULL) (void)madvise(memory, whole_bytes, MADV_HUGEPAGE);
    return memory;
}
