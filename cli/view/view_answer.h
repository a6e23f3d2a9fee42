/* What answers of the server of `mote view` look like: their fields, and files.
 *
 * What the page consists of and what data consists of get different policies. A script of the page may do all that the
 * page needs, which is to read every open cloud, and to have files converted. A data set comes from anyone: whatever
 * its files hold, a browser must take them for data, and where one is opened by itself it has no rights at all. So do
 * refusals and reports, which hold words of files and requests. Every answer has one of the two, also one without a
 * body: the fields of a 304 replace those that the browser has kept. */
#ifndef MOTE_CLI_VIEW_ANSWER_H
#define MOTE_CLI_VIEW_ANSWER_H

#include "view/http/http_server.h"

/* Fields of data, refusals and reports. */
#define VIEW_FIELDS_OF_DATA                                                                                            \
    "X-Content-Type-Options: nosniff\r\n"                                                                              \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                                    \
    "Content-Security-Policy: default-src 'none'; sandbox; frame-ancestors 'none'\r\n"

/* An open file and what is said about it. */
typedef struct view_file {
    int fd;
    uint64_t bytes;
    char etag[64];
    const char *type;
    bool is_data; /* else it is of the page */
} view_file;

/// Answers with a status in words. extra: more fields, each with its CRLF. Returns the status.
int view_answer_status(http_connection *c, int status, const char *extra);
/// Answers with a text.
int view_answer_text(http_connection *c, int status, const char *type, const char *text);
/// Says what an open file is: its size, entity tag and type. Returns false where it is no plain file.
bool view_file_describe(view_file *file, const char *name, bool is_data);
/// Answers with a file, or with what of it is asked for. It is closed when it is sent.
int view_answer_file(http_connection *c, const view_file *file, const char *extra);
/// Answers with a whole file that is not kept by browsers. It is closed when it is sent.
int view_answer_once(http_connection *c, int fd, uint64_t bytes);

/// Writes a text as it stands between quotes in JSON. out: [size]; cut where it does not fit
void view_answer_quote(const char *text, char *out, size_t size);

#endif
