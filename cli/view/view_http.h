/* The parts of HTTP that `mote view` needs, as plain functions of strings: paths, ranges, types. No
   sockets. */
#ifndef MOTE_CLI_VIEW_HTTP_H
#define MOTE_CLI_VIEW_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes the path of a request target ("/data/octree.bin?x") and checks it.
/// target    as sent by the client; a query or fragment is cut off
/// path      [size] out: decoded, starting with '/'
/// Returns   false if it is malformed, too long, or holds a NUL, a control character, a backslash or a ".."
/// part
bool view_http_decode_path(const char *target, char *path, size_t size);

typedef enum view_range_kind {
    VIEW_RANGE_NONE,    /* no range, or one that may be ignored: send everything */
    VIEW_RANGE_PARTIAL, /* 206 */
    VIEW_RANGE_INVALID  /* 416 */
} view_range_kind;

/// Reads a Range header for a file.
/// header      "bytes=0-99", "bytes=100-", "bytes=-50"; NULL where there is none
/// file_bytes  size of the file
/// first, last out: inclusive byte positions if PARTIAL
view_range_kind view_http_parse_range(const char *header, uint64_t file_bytes, uint64_t *first, uint64_t *last);

/// Whether an If-None-Match list ("*", "\"a\", W/\"b\"") holds this entity tag (with its quotes).
bool view_http_etag_matches(const char *list, const char *etag);

/// The value of a name in a query ("a=1&b=2"), up to the next '&' or the end; NULL where it has none.
const char *view_http_query_value(const char *query, const char *name);

/// Writes a file name as a part of a URL: what is not a letter, a digit or one of "-._~" as %XX.
/// out      [size]; cut where it does not fit
void view_http_encode_name(const char *name, char *out, size_t size);

/// Content type of a file of the page by its ending; "application/octet-stream" where it says nothing.
const char *view_http_content_type(const char *path);

/// Content type of a file of a data set: nothing that a browser would show as a document or run.
const char *view_http_data_type(const char *name);

/// Whether a request that changes or computes something comes from a page of this server: its Origin is the Host that
/// was asked, and the browser does not say that another site asks. NULL where a field is missing.
bool view_http_is_of_our_page(const char *origin, const char *host, const char *fetch_site);

#endif
