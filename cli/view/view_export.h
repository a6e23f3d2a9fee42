/* `mote view IN --export SITE`: the page and its data as plain files for any web server. */
#ifndef MOTE_CLI_VIEW_EXPORT_H
#define MOTE_CLI_VIEW_EXPORT_H

#include "view/view_marks.h"

/// Writes a folder of the page (index.html, …), data/ and a README; it appears when it is complete.
/// viewer_dir  folder of the page
/// data_dir    Potree folder, or the folder of data_file
/// data_file   a COPC file of data_dir, which index.html then names; NULL: the three files of a Potree folder
/// marks       files that go along, named in index.html
/// site        must not exist
/// Returns     0, or an exit code of the command after a message on standard error
int view_export(session *s, const char *viewer_dir, const char *data_dir, const char *data_file,
                const view_marks *marks, const char *site);

#endif
