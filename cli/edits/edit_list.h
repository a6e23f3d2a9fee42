/* What the page asks to be done with a cloud, as a GeoJSON file: a list of edits, and what is kept.
 *
 *   {"type": "FeatureCollection",
 *    "mote": {"filter": {…}},                              only points that pass (point_test.h)
 *    "features": [
 *      {"geometry": polygon, "properties": {}},            only points in one of those without a class
 *      {"geometry": polygon, "properties": {"class": 6}}]} an edit: points in it get this class
 *
 * A polygon may have holes and several parts; "up": "x" or "y" says that its coordinates are those of the two other
 * axes. An edit may have "low" and "high", heights along that axis, and a "filter". Edits follow each other: a filter
 * sees the classes that those before it gave. What is kept is decided last. */
#ifndef CLI_EDIT_LIST_H
#define CLI_EDIT_LIST_H

#include "edits/point_test.h"

typedef struct edit_list edit_list;

/// Reads a file.
/// error    [POINT_TEST_ERROR] out: file, place and cause
/// Returns  NULL where it cannot be
edit_list *edit_list_read(mote_context *ctx, const char *path, char *error);
/// NULL is allowed.
void edit_list_free(edit_list *list);

/// How many edits it has.
size_t edit_list_count(const edit_list *list);
/// Whether it says that only some points are kept.
bool edit_list_keeps_some(const edit_list *list);
/// The box that all points lie in which it can keep; endless where it says none.
void edit_list_bounds(const edit_list *list, mote_box *box);

/// Gives points their classes, in the memory of the cloud, which gets a column of its own for that; files are not
/// changed.
/// changed  out: points whose class is another one now
/// error    [POINT_TEST_ERROR] out
bool edit_list_classify(mote_context *ctx, const edit_list *list, mote_cloud *cloud, uint64_t *changed, char *error);

/// Makes a cloud of the points that are kept.
bool edit_list_select(mote_context *ctx, const edit_list *list, const mote_cloud *cloud, mote_cloud **out, char *error);

#endif
