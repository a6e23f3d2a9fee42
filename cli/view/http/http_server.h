/* An HTTP/1.1 server that others cannot hold up, on libmicrohttpd, which reads requests and sends answers. Without that
 * library (MOTE_HAVE_MICROHTTPD is 0) http_server_start fails and says so.
 *
 *   http_server.c    listening, connections: who has to make room (http_connection.h)
 *   http_request.c   a request: its fields, its body, its answer
 *   http_socket.c    websockets
 *
 * A connection is a thread, because handlers wait for files and compute. Nobody can keep all of them: a connection that
 * is silent ends soon, a body has to come at some rate; and where all places are taken, a new connection gets the place
 * of the one that has waited longest for its peer, first of all of one that has not said yet what it wants. A
 * connection that is being worked for, or is a websocket, keeps its place.
 *
 * Memory is bounded by the number of connections: each has HTTP_CONNECTION_BYTES for heads and pieces of bodies. */
#ifndef CLI_HTTP_SERVER_H
#define CLI_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_CONNECTIONS_MAX  256u
#define HTTP_CONNECTION_BYTES 32768u

typedef struct http_server http_server;
typedef struct http_connection http_connection;

/// Says how a request is answered: by one of http_answer…, by http_receive, or by http_socket_open. Called from the
/// thread of the connection.
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

/// The method of the request that is being handled.
const char *http_method(const http_connection *c);
/// Its target as it was sent: "/data/octree.bin?x".
const char *http_target(const http_connection *c);
/// The value of a field, whatever the case of its name; NULL where there is none.
const char *http_field(const http_connection *c, const char *name);
/// Whether a list separated by commas ("keep-alive, Upgrade") holds a word, whatever the case. NULL holds none.
bool http_list_has(const char *list, const char *word);

/* What takes the body of a request. */
typedef struct http_body {
    bool (*take)(void *user, const void *data, size_t size); /* a piece; false: no more are wanted */
    /* Answers. is_whole: all of it was taken; else it broke off, came too slowly, or no more of it was wanted. Called
       once. */
    void (*end)(void *user, http_connection *c, bool is_whole);
    void *user;
} http_body;

/// Has the body received. A body that nobody receives is thrown away.
void http_receive(http_connection *c, const http_body *body);
/// Answers with a text, which is copied.
/// fields   lines, each with its CRLF; the length of the text is said by itself
void http_answer(http_connection *c, int status, const char *fields, const char *text);
/// Answers with bytes first … first + bytes - 1 of a file, which it closes.
void http_answer_file(http_connection *c, int status, const char *fields, int fd, uint64_t first, uint64_t bytes);
/// Whether the peer has closed the connection: it waits for no answer any more.
bool http_is_gone(const http_connection *c);
/// The words of a status: "Not Found".
const char *http_reason(int status);

#endif
