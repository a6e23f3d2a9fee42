#define _GNU_SOURCE /* st_mtim */
#include "view/view_answer.h"

#include <mote_have.h>
#include <stdio.h>

void view_answer_quote(const char *text, char *out, size_t size) {
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0' && n + 8 < size; p++) {
        if (*p == '"' || *p == '\\') out[n++] = '\\';
        if (*p < 0x20)
            n += (size_t)snprintf(out + n, size - n, "\\u%04x", *p);
        else
            out[n++] = (char)*p;
    }
    out[n] = '\0';
}

#if MOTE_HAVE_MICROHTTPD
#include "view/view_http.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields of the page. Data may come from other servers, and styles are set by scripts. */
static const char fields_of_page[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' http: https: ws:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'\r\n";

int view_answer_text(http_connection *c, int status, const char *type, const char *text) {
    char fields[1024];
    snprintf(fields, sizeof fields, "Content-Type: %s\r\nCache-Control: no-store\r\n%s", type, VIEW_FIELDS_OF_DATA);
    http_answer(c, status, fields, text);
    return status;
}

int view_answer_status(http_connection *c, int status, const char *extra) {
    char fields[1024];
    char body[64];
    snprintf(body, sizeof body, "%d %s\n", status, http_reason(status));
    snprintf(fields, sizeof fields, "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n%s%s",
             VIEW_FIELDS_OF_DATA, extra);
    http_answer(c, status, fields, body);
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

int view_answer_file(http_connection *c, const view_file *file, const char *extra) {
    const char *range = http_field(c, "Range");
    const char *if_range = http_field(c, "If-Range");
    char fields[2048];
    char content_range[80] = "";
    uint64_t first = 0;
    uint64_t last = file->bytes - 1; /* unused where the file is empty */
    int status = 200;
    const bool is_known = view_http_etag_matches(http_field(c, "If-None-Match"), file->etag);
    if (if_range != NULL && strcmp(if_range, file->etag) != 0)
        range = NULL; /* the file changed since the client read the rest of it */
    switch (is_known ? VIEW_RANGE_NONE : view_http_parse_range(range, file->bytes, &first, &last)) {
    case VIEW_RANGE_INVALID:
        close(file->fd);
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
    if (is_known) status = 304; /* without a body; its length is said */
    if (!is_known) snprintf(content, sizeof content, "Content-Type: %s\r\nAccept-Ranges: bytes\r\n", file->type);
    /* no-cache: kept, but asked for again, because a new conversion may replace the data set at any time. */
    snprintf(fields, sizeof fields, "%sETag: %s\r\nCache-Control: no-cache\r\n%s%s%s", content, file->etag,
             content_range, file->is_data ? VIEW_FIELDS_OF_DATA : fields_of_page, extra);
    http_answer_file(c, status, fields, file->fd, first, file->bytes == 0 ? 0 : last - first + 1);
    return status;
}

int view_answer_once(http_connection *c, int fd, uint64_t bytes) {
    char fields[1024];
    snprintf(fields, sizeof fields, "Content-Type: application/octet-stream\r\nCache-Control: no-store\r\n%s",
             VIEW_FIELDS_OF_DATA);
    http_answer_file(c, 200, fields, fd, 0, bytes);
    return 200;
}

#endif
