/* The inside of a connection: http_server.c and http_socket.c share it. */
#ifndef CLI_HTTP_CONNECTION_H
#define CLI_HTTP_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>

#include "view/http/http_server.h"

/* What a connection waits for; the first is given up first. */
typedef enum http_wait { HTTP_WAIT_HEAD, HTTP_WAIT_PEER, HTTP_WAIT_NONE } http_wait;

/* buffer  [0 … head_length) the head, cut into strings; [head_length … filled) what has come behind it: of the body,
 *         of the next request, or of the frames of a websocket */
struct http_connection {
    http_server *server;
    http_connection *next;
    int fd; /* does not block */
    char buffer[HTTP_HEAD_MAX];
    size_t filled, head_length;
    http_head head;
    uint64_t body_left;
    uint64_t body_got;
    double body_began;
    bool is_ending;          /* after the answer */
    bool has_unread;         /* bytes that are not worth reading may still come */
    bool is_socket;          /* a websocket, by now */
    unsigned unanswered;     /* pings */
    atomic_bool is_closed;   /* the end of the websocket has been said */
    pthread_mutex_t sending; /* of frames, which come from several threads */
    /* Under the lock of the server: */
    http_wait wait;
    double wait_since;
    bool is_given_up;
};

/// Waits until bytes can be read or sent.
/// events   POLLIN or POLLOUT
/// Returns  false at the time `until`, and where the connection has been given up
bool http_wait_for(http_connection *c, http_wait what, short events, double until);
/// Receives what is there into the free part of the buffer.
/// Returns  false where the peer went away
bool http_receive(http_connection *c);
/// Takes the head out of the buffer. What has come behind it stays.
void http_forget_request(http_connection *c);

#endif
