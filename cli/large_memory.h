/* Memory for answers whose rows are written in any order. */
#ifndef CLI_LARGE_MEMORY_H
#define CLI_LARGE_MEMORY_H

#include <stddef.h>

/* To be freed by free(). Where it is large the system is asked for huge pages: with pages of 4 KiB each row costs walks
   through page tables, a fifth of the time of a search for ten neighbours of a million points. */
void *large_alloc(size_t size_bytes);

#endif
