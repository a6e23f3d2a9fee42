/* Memory that may stop being there while it is read: pages of a mapped file that another process cuts, or that a disk
   cannot deliver. Reading them raises SIGBUS, which ends the process. While a range is guarded, such a page becomes
   zeros instead, from there to the end of the range, and the range remembers where; whoever reads it asks afterwards.

   The handler of SIGBUS is installed with the first range and taken back with the last. What does not concern a guarded
   range goes to the handler that was there before. docs/decisions/0013-mapped-files-are-guarded.md */
#ifndef MOTE_GUARDED_RANGE_H
#define MOTE_GUARDED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct guarded_range guarded_range;

/* Guards [memory, memory + size_bytes), which starts at a page. NULL when there is no memory for it. */
guarded_range *guard_begin(const void *memory, uint64_t size_bytes);
/* Ends it, before the memory is unmapped. NULL is allowed. */
void guard_end(guarded_range *range);
/* Whether something of the range was missing; *offset: the lowest place that was. From any thread. */
bool guard_found_missing(const guarded_range *range, uint64_t *offset);
/* How many pages of any range were found missing since the process began: as long as it stays the same, no range needs
   to be asked. */
uint64_t guard_missing_count(void);

#endif
