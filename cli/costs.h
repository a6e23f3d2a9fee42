/* What a run took, for --stats and --json: bytes per structure, seconds per stage. */
#ifndef CLI_COSTS_H
#define CLI_COSTS_H

#include "files/json.h"
#include "session.h"

/* Structures with bytes per point, then stages with points per second, up to now.
   own  [own_count] what the command itself held and did beside the library; held throughout: it is added to the peak */
void costs_print(const session *s, const mote_usage *own, uint32_t own_count, uint64_t points);
/* Writes the costs as members of the JSON object that is open. */
void costs_emit(const session *s, const mote_usage *own, uint32_t own_count, json_writer *json);

#endif
