/* A note where shapes are in another reference system than the points that they are laid over. */
#ifndef MOTE_SYSTEMS_NOTE_H
#define MOTE_SYSTEMS_NOTE_H

#include "session.h"

/* Coordinates are never transformed: shapes of another system hold nothing, or the wrong points. Nothing is said where
   a text is empty, or where one states a code and the other one does not, which may be the same system.
   path           of the shapes
   shapes, points texts of their systems */
void systems_note(session *s, const char *path, const char *shapes, const char *points);

#endif
