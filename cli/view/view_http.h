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

/// Writes a file name as a part of a URL: what is not a letter, a digit or one of "-._~" as %XX.
/// out      [size]; cut where it does not fit
void view_http_encode_name(const char *name, char *out, size_t size);

/// Content type by file ending; "application/octet-stream" where it says nothing.
const char *view_http_content_type(const char *path);

/// Whether a Host header names this machine's loopback, with or without a port.
bool view_http_is_loopback_host(const char *host);

#endif
