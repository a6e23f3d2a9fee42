/* An HTTP/1.1 server that others cannot hold up: listening, and who has to make room. */
#define _GNU_SOURCE /* getaddrinfo */
#include "view/http/http_server.h"

#include <mote_have.h>

#if MOTE_HAVE_MICROHTTPD
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "progress.h"
#include "view/http/http_connection.h"

#define LISTENERS_MAX (sizeof((http_server *)NULL)->daemons / sizeof(struct MHD_Daemon *))
#define STACK_BYTES   (2u * 1024u * 1024u)

/* ---- connections */

void http_set_wait(http_connection *c, http_wait wait) {
    pthread_mutex_lock(&c->server->lock);
    c->wait = wait;
    c->wait_since = seconds_now();
    pthread_mutex_unlock(&c->server->lock);
}

/* Makes room by ending the connection that has waited longest for its peer. Under the lock. */
static void give_one_up(http_server *s) {
    http_connection *oldest = NULL;
    for (http_connection *c = s->connections; c != NULL; c = c->next) {
        if (c->wait == HTTP_WAIT_NONE || c->is_given_up) continue;
        if (oldest == NULL || c->wait < oldest->wait || (c->wait == oldest->wait && c->wait_since < oldest->wait_since))
            oldest = c;
    }
    if (oldest == NULL) return;
    oldest->is_given_up = true;
    shutdown(oldest->fd, SHUT_RDWR); /* wakes its thread */
}

static void *begin_connection(http_server *s, struct MHD_Connection *mhd) {
    http_connection *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL; /* http_on_request then refuses */
    *c = (http_connection){.server = s, .mhd = mhd, .wait = HTTP_WAIT_HEAD, .wait_since = seconds_now()};
    c->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    pthread_mutex_lock(&s->lock);
    if (++s->connection_count > s->connections_max) give_one_up(s);
    c->next = s->connections;
    s->connections = c;
    pthread_mutex_unlock(&s->lock);
    return c;
}

/* Its file is still open: nobody ends another one that has got its number. */
static void end_connection(http_server *s, http_connection *c) {
    pthread_mutex_lock(&s->lock);
    http_connection **at = &s->connections;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    s->connection_count--;
    pthread_mutex_unlock(&s->lock);
    free(c->target);
    free(c);
}

static void on_connection(void *server, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = begin_connection(server, mhd);
    else if (*context != NULL)
        end_connection(server, *context);
}

/* ---- begin and end */

static int port_of(int fd) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    struct sockaddr *any = (struct sockaddr *)&address;
    char digits[NI_MAXSERV] = "0";
    if (getsockname(fd, any, &size) != 0) return 0;
    if (getnameinfo(any, size, NULL, 0, digits, sizeof digits, NI_NUMERICSERV) != 0) return 0;
    return (int)strtol(digits, NULL, 10);
}

static int listen_on(const struct addrinfo *to) {
    const int yes = 1;
    const int no = 0; /* "::" is all addresses, also those of IPv4 */
    const int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (to->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, to->ai_addr, to->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    const int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

/* Serves what comes to a listening socket. Beyond connections_max, room is made: that takes a moment, and the limit of
   libmicrohttpd, at which it accepts no more for that moment, is beyond. Files of a number that select does not take
   are refused. Returns whether it could be started. */
static bool serve(http_server *s, int fd) {
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_ALLOW_UPGRADE;
    const unsigned limit = (unsigned)(s->connections_max + s->connections_max / 4);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, http_on_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, limit,
        MHD_OPTION_CONNECTION_TIMEOUT, HTTP_SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_CONNECTION_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_STRICT_FOR_CLIENT,
        0, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_URI_LOG_CALLBACK, http_on_target, s,
        MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, s, MHD_OPTION_END);
    if (daemon == NULL) {
        close(fd);
        return false;
    }
    s->daemons[s->daemon_count++] = daemon;
    return true;
}

/* A name may have several addresses: all that this machine has are listened on, with one port. Where another program
   has the port of one of them, browsers might ask that program instead. Returns 0, or why not. */
static int open_listeners(http_server *s, const struct addrinfo *addresses) {
    int cause = EADDRNOTAVAIL;
    for (const struct addrinfo *at = addresses; at != NULL && s->daemon_count < LISTENERS_MAX; at = at->ai_next) {
        if (s->daemon_count > 0) { /* the port that the first one was given */
            struct sockaddr *a = at->ai_addr;
            if (a->sa_family == AF_INET6) ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)s->port);
            if (a->sa_family == AF_INET) ((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)s->port);
        }
        const int fd = listen_on(at);
        if (fd >= 0) {
            s->port = port_of(fd);
            if (!serve(s, fd)) return ENOMEM;
        } else {
            cause = errno;
            if (cause == EADDRINUSE) return cause;
        }
    }
    return s->daemon_count > 0 ? 0 : cause;
}

static bool start_listening(http_server *s, char *error, size_t size) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses;
    char port[16];
    snprintf(port, sizeof port, "%d", s->options.port);
    const int problem = getaddrinfo(s->options.host, port, &hints, &addresses);
    if (problem != 0) {
        snprintf(error, size, "%s", gai_strerror(problem));
        return false;
    }
    const int cause = open_listeners(s, addresses);
    if (cause != 0) snprintf(error, size, "%s", strerror(cause));
    freeaddrinfo(addresses);
    return cause == 0;
}

/* A connection needs its own file and one that is sent, and the process needs some beside. */
static size_t connections_allowed(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= 3 * HTTP_CONNECTIONS_MAX + 64)
        return HTTP_CONNECTIONS_MAX;
    return files.rlim_cur > 112 ? (files.rlim_cur - 64) / 3 : 16;
}

http_server *http_server_start(const http_server_options *options, char *error, size_t size) {
    http_server *s = calloc(1, sizeof *s);
    snprintf(error, size, "out of memory");
    if (s == NULL) return NULL;
    s->options = *options;
    s->connections_max = connections_allowed();
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
    if (start_listening(s, error, size)) return s;
    http_server_stop(s);
    return NULL;
}

int http_server_port(const http_server *s) { return s->port; }

/* libmicrohttpd asks that its websockets have ended before it does. */
static void end_all(http_server *s) {
    pthread_mutex_lock(&s->lock);
    s->is_ending = true;
    for (http_connection *c = s->connections; c != NULL; c = c->next) shutdown(c->fd, SHUT_RDWR);
    while (s->socket_count > 0) pthread_cond_wait(&s->freed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void http_server_stop(http_server *s) {
    if (s == NULL) return;
    end_all(s);
    for (size_t i = 0; i < s->daemon_count; i++) MHD_stop_daemon(s->daemons[i]);
    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

#endif
