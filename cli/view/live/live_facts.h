/* What pages are told about a scene in words: JSON, on one line, freed by the caller; NULL where memory has run out. */
#ifndef CLI_LIVE_FACTS_H
#define CLI_LIVE_FACTS_H

#include "view/live/live_scene.h"

/// What there is: name, points, box, colours to choose from.
char *live_facts(const live_scene *scene);
/// What the colours of a picture mean; colors NULL: false colours, which mean the same everywhere.
char *live_legend(const picture_colors *colors);
/// What is at a pixel of a view, or nearest to it: its place and all attributes.
char *live_pick(live_scene *scene, const live_view *view, uint32_t id, uint32_t x, uint32_t y);
/// A sentence for people. kind: "note", "error"
char *live_words(const char *kind, const char *words);

#endif
