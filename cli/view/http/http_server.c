/* An HTTP/1.1 server that others cannot hold up. */
#define _GNU_SOURCE /* accept4, eventfd */
#include "view/http/http_server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "view/http/http_connection.h"

#define LISTENERS_MAX   8u
#define HEAD_S          10.0    /* for a whole head; also for how long a connection may rest between two requests */
#define BODY_PATIENCE_S 5.0     /* without a byte of a body, and more than its rate allows */
#define BODY_RATE       16384.0 /* bytes a second that a body comes with at least, on average */
#define SEND_S          20.0    /* without a byte of an answer being taken */
#define LINGER_S        1.0     /* for reading what is not wanted, so that the answer to it arrives */
#define STACK_BYTES     (2u * 1024u * 1024u)

struct http_server {
    http_server_options options;
    int listeners[LISTENERS_MAX];
    size_t listener_count;
    int port;
    int wake; /* an eventfd: the accepting thread is to end */
    size_t connections_max;
    pthread_t accepting;
    pthread_mutex_t lock;
    pthread_cond_t freed; /* a connection has ended */
    http_connection *connections;
    size_t connection_count;
    bool is_ending;
};

/* ---- waiting */

bool http_wait_for(http_connection *c, http_wait what, short events, double until) {
    http_server *s = c->server;
    struct pollfd poll_fd = {.fd = c->fd, .events = events};
    const double left_s = until - seconds_now();
    if (left_s <= 0) return false;
    if (!c->is_socket) { /* a websocket has two threads, and keeps its place */
        pthread_mutex_lock(&s->lock);
        c->wait = what;
        c->wait_since = seconds_now();
        pthread_mutex_unlock(&s->lock);
    }
    const int ready = poll(&poll_fd, 1, (int)(left_s * 1000) + 1);
    pthread_mutex_lock(&s->lock);
    if (!c->is_socket) c->wait = HTTP_WAIT_NONE;
    const bool goes_on = !c->is_given_up;
    pthread_mutex_unlock(&s->lock);
    return goes_on && (ready > 0 || (ready < 0 && errno == EINTR));
}

bool http_receive(http_connection *c) {
    const ssize_t got = recv(c->fd, c->buffer + c->filled, sizeof c->buffer - c->filled, 0);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    c->filled += (size_t)got;
    return got > 0;
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

/* ---- a request */

const http_head *http_request(const http_connection *c) { return &c->head; }

const char *http_reason(int status) {
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {101, "Switching Protocols"},
        {200, "OK"},
        {202, "Accepted"},
        {206, "Partial Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {411, "Length Required"},
        {416, "Range Not Satisfiable"},
        {426, "Upgrade Required"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status) return reasons[i].reason;
    }
    return "";
}

bool http_write(http_connection *c, const void *data, size_t size) {
    const char *at = data;
    double until = seconds_now() + SEND_S;
    while (size > 0) {
        const ssize_t sent = send(c->fd, at, size, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            until = seconds_now() + SEND_S;
        } else if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            break;
        } else if (!http_wait_for(c, HTTP_WAIT_PEER, POLLOUT, until)) {
            break;
        }
    }
    if (size > 0) c->is_ending = true; /* what follows would be taken for the rest */
    return size == 0;
}

int http_answer(http_connection *c, int status, const char *fields) {
    char text[4096];
    if (c->body_left > 0) { /* it is not wanted */
        c->is_ending = true;
        c->has_unread = true;
    }
    const int length = snprintf(text, sizeof text, "HTTP/1.1 %d %s\r\n%s%s\r\n", status, http_reason(status),
                                c->is_ending ? "Connection: close\r\n" : "", fields);
    http_write(c, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
    return status;
}

void http_end(http_connection *c) { c->is_ending = true; }

/* Refuses what is no request. */
static void refuse(http_connection *c, int status) {
    char fields[2048];
    c->is_ending = true;
    c->has_unread = true;
    snprintf(fields, sizeof fields, "Content-Length: 0\r\nCache-Control: no-store\r\n%s", c->server->options.fields);
    http_answer(c, status, fields);
}

/* curl and others wait for this before they send a large body. */
static void say_continue(http_connection *c) {
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const char *expect = http_head_field(&c->head, "Expect");
    if (c->body_began > 0 || expect == NULL || strcasecmp(expect, "100-continue") != 0) return;
    http_write(c, text, sizeof text - 1);
}

/* Bytes of the body that came along with the head. */
static ssize_t take_buffered(http_connection *c, void *data, size_t size) {
    const size_t there = c->filled - c->head_length;
    if (size > there) size = there;
    memcpy(data, c->buffer + c->head_length, size);
    memmove(c->buffer + c->head_length, c->buffer + c->head_length + size, there - size);
    c->filled -= size;
    return (ssize_t)size;
}

ssize_t http_read(http_connection *c, void *data, size_t size) {
    if (size > c->body_left) size = (size_t)c->body_left;
    if (size == 0) return 0;
    ssize_t got = take_buffered(c, data, size);
    if (got == 0) say_continue(c);
    if (c->body_began == 0) c->body_began = seconds_now();
    while (got == 0) {
        const double due = c->body_began + BODY_PATIENCE_S + (double)c->body_got / BODY_RATE;
        const double patience = seconds_now() + BODY_PATIENCE_S;
        got = recv(c->fd, data, size, 0);
        if (got > 0) break;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return -1;
        got = 0;
        if (!http_wait_for(c, HTTP_WAIT_PEER, POLLIN, due < patience ? due : patience)) return -1;
    }
    c->body_left -= (uint64_t)got;
    c->body_got += (uint64_t)got;
    return got;
}

/* ---- a connection */

/* Waits for a request; refuses what is none. Returns whether there is one. */
static bool read_head(http_connection *c) {
    const double until = seconds_now() + HEAD_S;
    size_t seen = 0;
    while ((c->head_length = http_head_length(c->buffer, c->filled, seen)) == 0) {
        seen = c->filled;
        if (c->filled == sizeof c->buffer) {
            refuse(c, 431);
            return false;
        }
        if (!http_wait_for(c, HTTP_WAIT_HEAD, POLLIN, until)) {
            if (c->filled > 0 && seconds_now() >= until) refuse(c, 408);
            return false;
        }
        if (!http_receive(c)) return false;
    }
    const int status = http_head_read(c->buffer, c->head_length, &c->head);
    c->body_left = c->head.body_bytes;
    c->body_got = 0;
    c->body_began = 0;
    c->is_ending = !c->head.keeps_alive;
    if (status != 0) refuse(c, status);
    return status == 0;
}

void http_forget_request(http_connection *c) {
    c->filled -= c->head_length;
    memmove(c->buffer, c->buffer + c->head_length, c->filled);
    c->head_length = 0;
    c->head = (http_head){.method = ""};
}

/* Reads what still comes for a moment: closing at once would reset the connection, and the answer would be lost. */
static void linger(http_connection *c) {
    const double until = seconds_now() + LINGER_S;
    ssize_t got;
    shutdown(c->fd, SHUT_WR);
    do {
        if (!http_wait_for(c, HTTP_WAIT_HEAD, POLLIN, until)) return;
        got = recv(c->fd, c->buffer, sizeof c->buffer, 0);
    } while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
}

static void end_connection(http_connection *c) {
    http_server *s = c->server;
    pthread_mutex_lock(&s->lock);
    http_connection **at = &s->connections;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    close(c->fd); /* under the lock: nobody ends another one that has got its number */
    pthread_mutex_destroy(&c->sending);
    free(c);
    s->connection_count--;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

static void *serve(void *user) {
    http_connection *c = user;
    while (read_head(c)) {
        c->server->options.handler(c->server->options.user, c);
        if (c->is_ending || c->body_left > 0) break;
        http_forget_request(c);
    }
    if (c->has_unread || c->body_left > 0) linger(c);
    end_connection(c);
    return NULL;
}

static bool start_thread(http_connection *c) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    const bool is_started = pthread_create(&thread, &attributes, serve, c) == 0;
    pthread_attr_destroy(&attributes);
    return is_started;
}

static struct timespec in_seconds(double seconds) {
    const double at = seconds_now() + seconds;
    return (struct timespec){.tv_sec = (time_t)at, .tv_nsec = (long)((at - (double)(time_t)at) * 1e9)};
}

/* Whether there is room for one more connection, which another one may have to make. Under the lock. */
static bool make_room(http_server *s) {
    const struct timespec until = in_seconds(LINGER_S);
    if (s->connection_count < s->connections_max) return true;
    give_one_up(s);
    while (s->connection_count >= s->connections_max && !s->is_ending) {
        if (pthread_cond_timedwait(&s->freed, &s->lock, &until) == ETIMEDOUT) break;
    }
    return s->connection_count < s->connections_max;
}

/* Takes the file of a new connection over. */
static void add_connection(http_server *s, int fd) {
    const int yes = 1;
    http_connection *c = calloc(1, sizeof *c);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    pthread_mutex_lock(&s->lock);
    if (c == NULL || !make_room(s)) {
        pthread_mutex_unlock(&s->lock);
        free(c);
        close(fd);
        return;
    }
    c->server = s;
    c->fd = fd;
    c->wait = HTTP_WAIT_NONE;
    pthread_mutex_init(&c->sending, NULL);
    c->next = s->connections;
    s->connections = c;
    s->connection_count++;
    pthread_mutex_unlock(&s->lock);
    if (!start_thread(c)) end_connection(c);
}

/* Where the process may open no more files, one that waits is ended, and the new one is asked again. */
static void accept_one(http_server *s, int listener) {
    const struct timespec moment = {.tv_nsec = 10000000};
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        add_connection(s, fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pthread_mutex_lock(&s->lock);
        give_one_up(s);
        pthread_mutex_unlock(&s->lock);
        nanosleep(&moment, NULL);
    }
}

static void *accept_all(void *user) {
    http_server *s = user;
    struct pollfd polled[LISTENERS_MAX + 1];
    for (size_t i = 0; i < s->listener_count; i++) polled[i] = (struct pollfd){.fd = s->listeners[i], .events = POLLIN};
    polled[s->listener_count] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    for (;;) {
        if (poll(polled, s->listener_count + 1, -1) < 0 && errno != EINTR) return NULL;
        if (polled[s->listener_count].revents != 0) return NULL;
        for (size_t i = 0; i < s->listener_count; i++) {
            if (polled[i].revents != 0) accept_one(s, s->listeners[i]);
        }
    }
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

/* A name may have several addresses: all that this machine has are listened on, with one port. Where another program
   has the port of one of them, browsers might ask that program instead. Returns 0, or why not. */
static int open_listeners(http_server *s, const struct addrinfo *addresses) {
    int cause = EADDRNOTAVAIL;
    for (const struct addrinfo *at = addresses; at != NULL && s->listener_count < LISTENERS_MAX; at = at->ai_next) {
        if (s->listener_count > 0) { /* the port that the first one was given */
            struct sockaddr *a = at->ai_addr;
            if (a->sa_family == AF_INET6) ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)s->port);
            if (a->sa_family == AF_INET) ((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)s->port);
        }
        const int fd = listen_on(at);
        if (fd >= 0) {
            s->listeners[s->listener_count++] = fd;
            s->port = port_of(fd);
        } else {
            cause = errno;
            if (cause == EADDRINUSE) return cause;
        }
    }
    return s->listener_count > 0 ? 0 : cause;
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
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= 2 * HTTP_CONNECTIONS_MAX + 64)
        return HTTP_CONNECTIONS_MAX;
    return files.rlim_cur > 96 ? (files.rlim_cur - 64) / 2 : 16;
}

static void free_server(http_server *s) {
    for (size_t i = 0; i < s->listener_count; i++) close(s->listeners[i]);
    if (s->wake >= 0) close(s->wake);
    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

http_server *http_server_start(const http_server_options *options, char *error, size_t size) {
    pthread_condattr_t attributes;
    http_server *s = calloc(1, sizeof *s);
    snprintf(error, size, "out of memory");
    if (s == NULL) return NULL;
    s->options = *options;
    s->connections_max = connections_allowed();
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->freed, &attributes);
    pthread_condattr_destroy(&attributes);
    s->wake = eventfd(0, EFD_CLOEXEC);
    if (s->wake >= 0 && start_listening(s, error, size) && pthread_create(&s->accepting, NULL, accept_all, s) == 0)
        return s;
    free_server(s);
    return NULL;
}

int http_server_port(const http_server *s) { return s->port; }

void http_server_stop(http_server *s) {
    if (s == NULL) return;
    const uint64_t one = 1;
    pthread_mutex_lock(&s->lock);
    s->is_ending = true;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
    while (write(s->wake, &one, sizeof one) < 0 && errno == EINTR) {}
    pthread_join(s->accepting, NULL);
    pthread_mutex_lock(&s->lock);
    for (http_connection *c = s->connections; c != NULL; c = c->next) {
        c->is_given_up = true;
        shutdown(c->fd, SHUT_RDWR);
    }
    while (s->connection_count > 0) pthread_cond_wait(&s->freed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    free_server(s);
}
