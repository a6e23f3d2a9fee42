/* The inside of a connection: http_server.c, http_request.c and http_socket.c share it. */
#ifndef CLI_HTTP_CONNECTION_H
#define CLI_HTTP_CONNECTION_H

#include <microhttpd.h>
#include <pthread.h>

#include "view/http/http_server.h"
#include "view/http/http_socket.h"

#define HTTP_SILENCE_S 10u /* without a byte of a head, also between two requests */

/* What a connection waits for; the first is given up first. */
typedef enum http_wait { HTTP_WAIT_HEAD, HTTP_WAIT_PEER, HTTP_WAIT_NONE } http_wait;

struct http_server {
    http_server_options options;
    struct MHD_Daemon *daemons[8]; /* one for each address that is listened on */
    size_t daemon_count;
    int port;
    size_t connections_max;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t freed; /* a websocket has ended */
    http_connection *connections;
    size_t connection_count, socket_count;
    bool is_ending;
};

struct http_connection {
    http_server *server;
    struct MHD_Connection *mhd;
    int fd;
    /* Of the request that is being handled: */
    const char *method;
    char *target;
    bool is_begun; /* the handler was called */
    http_body body;
    uint64_t body_got;
    double body_began;
    struct MHD_Response *response; /* to be sent when all of the body has come */
    int status;
    http_talk *talk; /* where it is to become a websocket */
    void *talk_user;
    /* Under the lock of the server: */
    http_connection *next;
    http_wait wait;
    double wait_since;
    bool is_given_up;
};

/// What libmicrohttpd calls for the target of a request, for the request and its body, and after its answer.
void *http_on_target(void *server, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_on_request(void *server, struct MHD_Connection *mhd, const char *url, const char *method,
                                const char *version, const char *data, size_t *size, void **state);
void http_on_completed(void *server, struct MHD_Connection *mhd, void **state, enum MHD_RequestTerminationCode how);

/// What a connection waits for from now on.
void http_set_wait(http_connection *c, http_wait wait);
/// Answers that the connection becomes a websocket.
void http_answer_socket(http_connection *c, const char *fields, http_talk *talk, void *user);
/// Talks on what has become a websocket, until it ends.
/// early    [early_size] what has come of its frames
void http_socket_run(const http_connection *c, const char *early, size_t early_size);

#endif
