/* What a run took, for --stats and --json: bytes per structure, seconds per stage; and what it was told. */
#ifndef CLI_COSTS_H
#define CLI_COSTS_H

#include "files/json.h"
#include "session.h"

/* Structures with bytes per point, then stages with points per second, up to now.
   own  [own_count] what the command itself held and did beside the library; held throughout: it is added to the peak */
void costs_print(const session *s, const mote_usage *own, uint32_t own_count, uint64_t points);
/* Writes the costs as members of the JSON object that is open, and before them what was told (told_emit). */
void costs_emit(const session *s, const mote_usage *own, uint32_t own_count, json_writer *json);
/* The systems that --crs and --to-crs gave, and the notes and warnings so far, as members of that object. */
void told_emit(const session *s, json_writer *json);

#endif
