/* The head of an HTTP/1.1 request: its first line and its fields. No sockets, no memory.
 *
 * Strict, because what two programs read differently lets one be taken in by the other: lines end in CRLF, a field is
 * "name: value" on one line, a name is a token, nothing holds control characters. */
#ifndef CLI_HTTP_HEAD_H
#define CLI_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX   16384u /* bytes */
#define HTTP_FIELDS_MAX 64u

typedef struct http_head {
    const char *method;
    const char *target; /* as it was sent: "/data/octree.bin?x" */
    struct {
        const char *name, *value;
    } fields[HTTP_FIELDS_MAX];
    size_t field_count;
    uint64_t body_bytes;
    bool has_body_bytes; /* the request says how long its body is */
    bool keeps_alive;    /* more requests may follow on the connection */
} http_head;

/// The bytes up to and with the empty line that ends a head; 0 where there is none yet.
/// from  bytes that are known to hold none
size_t http_head_length(const char *data, size_t size, size_t from);

/// Reads a head and cuts it into strings where it lies.
/// text     [length] as http_head_length says
/// Returns  0, or the HTTP status to refuse it with: 400, 411, 431, 505
int http_head_read(char *text, size_t length, http_head *head);

/// The value of a field, whatever the case of its name; NULL where there is none, the first where there are several.
const char *http_head_field(const http_head *head, const char *name);

/// Whether a list separated by commas ("keep-alive, Upgrade") holds a word, whatever the case. NULL holds none.
bool http_list_has(const char *list, const char *word);

#endif
