/* An HTTP/1.1 server that others cannot hold up, and that takes no more memory than it says.
 *
 *   accepting thread ──> connection 1: its thread reads a head, calls the handler, which reads a body and answers
 *                        connection 2: …                                          at most HTTP_CONNECTIONS_MAX
 *
 * A connection is a thread, because handlers wait for files and for slow readers. Nobody can keep all of them: a head
 * has to be there in time, a body has to come at some rate, an answer has to be taken; and where all connections are
 * in use, a new one takes the place of the one that has waited longest for its peer, first of all for one that has not
 * said yet what it wants. A connection that is being worked for, or is a websocket, keeps its place.
 *
 * Memory is bounded by the number of connections: each has a buffer of HTTP_HEAD_MAX bytes, in which heads and the
 * frames of websockets have to fit; a handler reads bodies in pieces (http_socket.h, http_head.h). */
#ifndef CLI_HTTP_SERVER_H
#define CLI_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "view/http/http_head.h"

#define HTTP_CONNECTIONS_MAX 256u

typedef struct http_server http_server;
typedef struct http_connection http_connection;

/// Answers a request, with http_answer and http_write. Called from the thread of the connection.
typedef void http_handler(void *user, http_connection *c);

typedef struct http_server_options {
    const char *host; /* name or address to listen on, without brackets */
    int port;         /* 0: any free one */
    http_handler *handler;
    void *user;
    const char *fields; /* lines that the server's own refusals carry, each with its CRLF */
} http_server_options;

/// Starts serving in threads of its own, which inherit the caller's signal mask.
/// error    [size] out: what went wrong, for people
/// Returns  the server, or NULL
http_server *http_server_start(const http_server_options *options, char *error, size_t size);
/// The port that is served.
int http_server_port(const http_server *server);
/// Ends all connections, waits for their handlers and frees the server. NULL is allowed.
void http_server_stop(http_server *server);

/// The request that is being handled.
const http_head *http_request(const http_connection *c);
/// Reads a piece of the body.
/// Returns  bytes, 0 at its end, -1 where the peer went away or is too slow
ssize_t http_read(http_connection *c, void *data, size_t size);
/// Sends the status line and the fields, each with its CRLF; http_write may follow.
/// Returns  the status
int http_answer(http_connection *c, int status, const char *fields);
/// The words of a status: "Not Found".
const char *http_reason(int status);
/// The connection ends after this answer: the rest of what it promises does not come.
void http_end(http_connection *c);
/// Sends bytes. Returns false where the peer went away or does not read.
bool http_write(http_connection *c, const void *data, size_t size);

#endif
