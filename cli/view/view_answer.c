#define _GNU_SOURCE /* st_mtim, pread */
#include "view/view_answer.h"

#include "view/view_http.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (256u * 1024u) /* read and sent at a time */

/* Fields of the page. Data may come from other servers, and styles are set by scripts. */
static const char fields_of_page[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' http: https: ws:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'\r\n";

int view_answer_text(http_connection *c, int status, const char *type, const char *text) {
    char fields[1024];
    snprintf(fields, sizeof fields, "Content-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n%s", type,
             strlen(text), VIEW_FIELDS_OF_DATA);
    http_answer(c, status, fields);
    if (strcmp(http_request(c)->method, "HEAD") != 0) http_write(c, text, strlen(text));
    return status;
}

int view_answer_status(http_connection *c, int status, const char *extra) {
    char fields[1024];
    char body[64];
    const int length = snprintf(body, sizeof body, "%d %s\n", status, http_reason(status));
    snprintf(fields, sizeof fields,
             "Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nCache-Control: no-store\r\n%s%s", length,
             VIEW_FIELDS_OF_DATA, extra);
    http_answer(c, status, fields);
    if (strcmp(http_request(c)->method, "HEAD") != 0) http_write(c, body, (size_t)length);
    return status;
}

bool view_file_describe(view_file *file, const char *name, bool is_data) {
    struct stat info;
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    file->bytes = (uint64_t)info.st_size;
    file->is_data = is_data;
    file->type = is_data ? view_http_data_type(name) : view_http_content_type(name);
    snprintf(file->etag, sizeof file->etag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"", (uint64_t)info.st_ino,
             file->bytes, (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec);
    return true;
}

/* Sends bytes first..last. A client that went away, or a file that shrank, ends the connection early, which
 * the client notices by the length that was promised. */
static bool send_bytes(http_connection *c, int fd, uint64_t first, uint64_t last) {
    char *piece = malloc(PIECE_BYTES);
    uint64_t at = first;
    while (piece != NULL && at <= last) {
        const uint64_t remaining = last - at + 1;
        const ssize_t got = pread(fd, piece, remaining < PIECE_BYTES ? (size_t)remaining : PIECE_BYTES, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || !http_write(c, piece, (size_t)got)) break;
        at += (uint64_t)got;
    }
    free(piece);
    return at > last;
}

static void send_body(http_connection *c, int fd, uint64_t first, uint64_t last) {
    if (strcmp(http_request(c)->method, "HEAD") != 0 && !send_bytes(c, fd, first, last)) http_end(c);
}

int view_answer_file(http_connection *c, const view_file *file, const char *extra) {
    const http_head *request = http_request(c);
    const char *range = http_head_field(request, "Range");
    const char *if_range = http_head_field(request, "If-Range");
    char fields[2048];
    char content_range[80] = "";
    uint64_t first = 0;
    uint64_t last = file->bytes - 1; /* unused where the file is empty */
    int status = 200;
    const bool is_known = view_http_etag_matches(http_head_field(request, "If-None-Match"), file->etag);
    if (if_range != NULL && strcmp(if_range, file->etag) != 0)
        range = NULL; /* the file changed since the client read the rest of it */
    switch (is_known ? VIEW_RANGE_NONE : view_http_parse_range(range, file->bytes, &first, &last)) {
    case VIEW_RANGE_INVALID:
        snprintf(content_range, sizeof content_range, "Content-Range: bytes */%" PRIu64 "\r\n", file->bytes);
        return view_answer_status(c, 416, content_range);
    case VIEW_RANGE_PARTIAL:
        snprintf(content_range, sizeof content_range, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n",
                 first, last, file->bytes);
        status = 206;
        break;
    case VIEW_RANGE_NONE:
        first = 0;
        last = file->bytes - 1;
        break;
    }
    char content[128] = "";
    if (is_known) status = 304; /* has no body, and says nothing about one */
    if (!is_known)
        snprintf(content, sizeof content, "Content-Type: %s\r\nContent-Length: %" PRIu64 "\r\nAccept-Ranges: bytes\r\n",
                 file->type, file->bytes == 0 ? UINT64_C(0) : last - first + 1);
    /* no-cache: kept, but asked for again, because a new conversion may replace the data set at any time. */
    snprintf(fields, sizeof fields, "%sETag: %s\r\nCache-Control: no-cache\r\n%s%s%s", content, file->etag,
             content_range, file->is_data ? VIEW_FIELDS_OF_DATA : fields_of_page, extra);
    http_answer(c, status, fields);
    if (!is_known && file->bytes > 0) send_body(c, file->fd, first, last);
    return status;
}

int view_answer_once(http_connection *c, int fd, uint64_t bytes) {
    char fields[1024];
    snprintf(fields, sizeof fields,
             "Content-Type: application/octet-stream\r\nContent-Length: %" PRIu64 "\r\nCache-Control: no-store\r\n%s",
             bytes, VIEW_FIELDS_OF_DATA);
    http_answer(c, 200, fields);
    if (bytes > 0) send_body(c, fd, 0, bytes - 1);
    return 200;
}
