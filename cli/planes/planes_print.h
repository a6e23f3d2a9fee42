/* What mote planes found, for people and programs. */
#ifndef CLI_PLANES_PRINT_H
#define CLI_PLANES_PRINT_H

#include "files/json.h"
#include "session.h"

/* What was measured and chosen, the units of the cloud where they are known, then a line per plane. */
void planes_print_table(const mote_planes *planes, const mote_cloud *cloud);
/* What was refused, and why. */
void planes_print_refused(const mote_planes *planes);
/* A line of names, then one per plane. */
void planes_print_csv(const mote_planes *planes);
/* Members of the open object: "planes" and what was measured, chosen and done; explain: "refused", too. */
void planes_emit(const mote_planes *planes, bool explain, json_writer *json);
/* The hull of each plane as a face of a Wavefront OBJ. Returns an exit code. */
int planes_write_obj(session *s, const mote_planes *planes, const mote_cloud *cloud, const char *path);

#endif
