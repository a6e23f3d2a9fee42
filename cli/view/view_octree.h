/* Octrees that `mote view` makes: the whole one, and that of a sample, which is shown until then. */
#ifndef MOTE_CLI_VIEW_OCTREE_H
#define MOTE_CLI_VIEW_OCTREE_H

#include "view/view_files.h"

/// Makes a Potree folder of all points of the files, with default options: in one piece, or in parts where memory does
/// not hold that. It appears when it is complete. Of a folder, files that cannot be read are left out, and of damaged
/// ones the points that are whole are taken.
/// title    of the data set
/// Returns  0, or an exit code of the command after a message on standard error
int view_octree_make(session *s, view_files *files, const char *title, const char *out_dir);

/// Makes a Potree folder of the first point of each chunk of the files, which says of itself what the whole one will:
/// its points and their box. Files that cannot be read are left out of the list.
/// *is_made  false: there is nothing to be seen in so few points, or the formats have no samples
/// Returns   0, or an exit code of the command after a message on standard error
int view_octree_sample(session *s, view_files *files, const char *title, const char *out_dir, bool *is_made);

#endif
