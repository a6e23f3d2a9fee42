/* Websockets (RFC 6455). */
#include "view/http/http_socket.h"

#include <mote_have.h>

#if MOTE_HAVE_MICROHTTPD
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "progress.h"
#include "view/http/http_connection.h"
#include "view/http/http_sha1.h"

#define SILENCE_S      3.0 /* after which the peer is asked whether it is there */
#define UNANSWERED_MAX 5u
#define FRAME_S        5.0  /* for a whole frame, from its first byte */
#define SEND_S         20.0 /* without a byte of a frame being taken */
#define LINGER_S       1.0  /* for reading what is not wanted, so that the end that is said arrives */
#define KEY_LENGTH     24u  /* 16 bytes in base64 */
#define REASON_MAX     100u
#define ACCEPT_SIZE    29u /* 20 bytes in base64, and a NUL */
#define OPCODE_PING    9
#define OPCODE_PONG    10
#define CONTROL_MAX    125u

/* buffer  [filled] what has come of frames; as large as what libmicrohttpd may have received of them */
struct http_socket {
    int fd;
    char buffer[HTTP_CONNECTION_BYTES];
    size_t filled;
    unsigned unanswered;     /* pings */
    atomic_bool is_closed;   /* the end has been said */
    pthread_mutex_t sending; /* of frames, which come from several threads */
};

/* ---- bytes */

/* Waits until bytes can be read or sent. events: POLLIN or POLLOUT. Returns false at the time `until`. */
static bool wait_for(const http_socket *s, short events, double until) {
    struct pollfd poll_fd = {.fd = s->fd, .events = events};
    const double left_s = until - seconds_now();
    if (left_s <= 0) return false;
    const int ready = poll(&poll_fd, 1, (int)(left_s * 1000) + 1);
    return ready > 0 || (ready < 0 && errno == EINTR);
}

static bool may_try_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Receives what is there into the free part of the buffer. Returns false where the peer went away. */
static bool receive(http_socket *s) {
    const ssize_t got = recv(s->fd, s->buffer + s->filled, sizeof s->buffer - s->filled, MSG_DONTWAIT);
    if (got > 0) s->filled += (size_t)got;
    return got > 0 || (got < 0 && may_try_again());
}

static bool write_all(const http_socket *s, const void *data, size_t size) {
    const char *at = data;
    double until = seconds_now() + SEND_S;
    while (size > 0) {
        const ssize_t sent = send(s->fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
            until = seconds_now() + SEND_S;
        } else if (sent < 0 && !may_try_again()) {
            return false;
        } else if (!wait_for(s, POLLOUT, until)) {
            return false;
        }
    }
    return true;
}

/* Reads what still comes for a moment: closing at once would reset the connection, and the end that was said would be
   lost. */
static void linger(http_socket *s) {
    const double until = seconds_now() + LINGER_S;
    shutdown(s->fd, SHUT_WR);
    do { s->filled = 0; } while (wait_for(s, POLLIN, until) && receive(s));
}

/* ---- the beginning */

/* The proof that the server knows what it was asked: the key and a text of the standard, hashed. */
static void accept_text(const char *key, char out[ACCEPT_SIZE]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[64];
    unsigned char hash[HTTP_SHA1_BYTES + 1] = {0};
    const int length = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    http_sha1(text, (size_t)length, hash);
    for (size_t i = 0; i < 7; i++) {
        const unsigned bits = (unsigned)hash[3 * i] << 16 | (unsigned)hash[3 * i + 1] << 8 | hash[3 * i + 2];
        for (size_t k = 0; k < 4; k++) out[4 * i + k] = digits[bits >> (18 - 6 * k) & 63];
    }
    out[27] = '='; /* of 20 bytes the last three digits hold two */
    out[28] = '\0';
}

int http_socket_open(http_connection *c, http_talk *talk, void *user) {
    const char *key = http_field(c, "Sec-WebSocket-Key");
    const char *version = http_field(c, "Sec-WebSocket-Version");
    const char *length = http_field(c, "Content-Length");
    char fields[128];
    char proof[ACCEPT_SIZE];
    if (strcmp(http_method(c), "GET") != 0 || (length != NULL && strcmp(length, "0") != 0)) return 400;
    if (!http_list_has(http_field(c, "Upgrade"), "websocket")) return 400;
    if (!http_list_has(http_field(c, "Connection"), "Upgrade")) return 400;
    if (key == NULL || strlen(key) != KEY_LENGTH) return 400;
    if (version == NULL || strcmp(version, "13") != 0) return 426;
    accept_text(key, proof);
    snprintf(fields, sizeof fields, "Upgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n", proof);
    http_answer_socket(c, fields, talk, user);
    return 0;
}

void http_socket_run(const http_connection *c, const char *early, size_t early_size) {
    const int yes = 1;
    http_socket s = {.fd = c->fd, .filled = early_size};
    if (early_size > sizeof s.buffer) return;
    memcpy(s.buffer, early, early_size);
    pthread_mutex_init(&s.sending, NULL);
    setsockopt(s.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    c->talk(c->talk_user, &s);
    linger(&s);
    pthread_mutex_destroy(&s.sending);
}

/* ---- out */

/* Writes a frame; the caller holds the lock of sending, since frames may not mix. */
static bool write_frame(http_socket *s, int opcode, const void *data, size_t size) {
    unsigned char head[10] = {(unsigned char)(0x80 | opcode)};
    size_t length = 2;
    if (size <= CONTROL_MAX) {
        head[1] = (unsigned char)size;
    } else if (size <= 0xffff) {
        head[1] = 126;
        length = 4;
    } else {
        head[1] = 127;
        length = 10;
    }
    for (size_t i = 2; i < length; i++) head[i] = (unsigned char)((uint64_t)size >> 8 * (length - 1 - i));
    return write_all(s, head, length) && write_all(s, data, size);
}

bool http_socket_send(http_socket *s, http_frame kind, const void *data, size_t size) {
    pthread_mutex_lock(&s->sending);
    const bool is_sent = !atomic_load(&s->is_closed) && write_frame(s, (int)kind, data, size);
    pthread_mutex_unlock(&s->sending);
    return is_sent;
}

/* Left out where a picture is being sent: that shows as well that the server is there. Returns false where it failed.
 */
static bool send_control(http_socket *s, int opcode, const void *data, size_t size) {
    if (pthread_mutex_trylock(&s->sending) != 0) return true;
    const bool is_sent = atomic_load(&s->is_closed) || write_frame(s, opcode, data, size);
    pthread_mutex_unlock(&s->sending);
    return is_sent;
}

bool http_socket_close(http_socket *s, int code, const char *reason) {
    char payload[2 + REASON_MAX + 1] = {(char)(code >> 8), (char)(code & 255)};
    bool is_sent = false;
    snprintf(payload + 2, sizeof payload - 2, "%s", reason);
    pthread_mutex_lock(&s->sending);
    if (!atomic_exchange(&s->is_closed, true)) {
        is_sent = write_frame(s, HTTP_FRAME_CLOSE, payload, 2 + strlen(payload + 2));
        shutdown(s->fd, SHUT_WR); /* the peer answers by closing, which the thread that reads sees */
    }
    pthread_mutex_unlock(&s->sending);
    return is_sent;
}

/* ---- in */

/* A frame whose header is in the buffer. */
typedef struct frame {
    int opcode;
    size_t header; /* bytes, with the mask */
    uint64_t size; /* of what follows */
} frame;

/* Returns whether the header is there. refused: out, why the frame is no good, or NULL */
static bool read_header(const http_socket *s, size_t max, frame *f, const char **refused) {
    const unsigned char *data = (const unsigned char *)s->buffer;
    const size_t there = s->filled;
    *refused = NULL;
    if (there < 2) return false;
    const unsigned length = data[1] & 127u;
    const size_t digits = length == 126 ? 2 : length == 127 ? 8 : 0;
    f->opcode = data[0] & 15;
    f->header = 2 + digits + 4;
    f->size = digits == 0 ? length : 0;
    const bool is_control = f->opcode >= HTTP_FRAME_CLOSE;
    if ((data[0] & 0x70) != 0 || (data[1] & 0x80) == 0 || f->opcode > OPCODE_PONG) {
        *refused = "not a frame of a client";
    } else if ((data[0] & 0x80) == 0 || (!is_control && f->opcode != HTTP_FRAME_TEXT)) {
        *refused = "not a message";
    } else if (is_control && length > CONTROL_MAX) {
        *refused = "control frame too long";
    }
    if (*refused != NULL || there < 2 + digits) return *refused != NULL;
    for (size_t i = 0; i < digits; i++) f->size = f->size << 8 | data[2 + i];
    if (f->size > max && !is_control) *refused = "message too long";
    return *refused != NULL || there >= f->header;
}

/* The frame, unmasked, out of the buffer. data: [f->size] */
static void take_frame(http_socket *s, const frame *f, char *data) {
    char *at = s->buffer;
    const size_t length = f->header + (size_t)f->size;
    for (size_t i = 0; i < f->size; i++) data[i] = (char)(at[f->header + i] ^ at[f->header - 4 + i % 4]);
    memmove(at, at + length, s->filled - length);
    s->filled -= length;
}

/* Waits for more bytes, and asks a peer that is silent between two frames whether it is there. Returns false at the end
   of the connection. */
static bool receive_more(http_socket *s, double frame_until) {
    const bool is_between = s->filled == 0;
    if (wait_for(s, POLLIN, is_between ? seconds_now() + SILENCE_S : frame_until)) return receive(s);
    if (!is_between || s->unanswered++ >= UNANSWERED_MAX) return false;
    return !atomic_load(&s->is_closed) && send_control(s, OPCODE_PING, "", 0);
}

/* A ping is answered, a pong has done its work, the end is said back. Returns false at the end. */
static bool take_control(http_socket *s, const frame *f) {
    char data[CONTROL_MAX];
    take_frame(s, f, data);
    if (f->opcode == OPCODE_PING) return send_control(s, OPCODE_PONG, data, (size_t)f->size);
    if (f->opcode == OPCODE_PONG) return true;
    http_socket_close(s, HTTP_CLOSE_NORMAL, "");
    return false;
}

bool http_socket_receive(http_socket *s, char *data, size_t max, size_t *size) {
    const char *refused = NULL;
    double until = seconds_now() + FRAME_S;
    for (;;) {
        frame f;
        const bool has_header = read_header(s, max, &f, &refused);
        if (refused != NULL) {
            http_socket_close(s, HTTP_CLOSE_POLICY, refused);
            return false;
        }
        if (!has_header || s->filled < f.header + f.size) {
            if (s->filled == 0) until = seconds_now() + SILENCE_S + FRAME_S;
            if (!receive_more(s, until)) return false;
            continue;
        }
        s->unanswered = 0;
        if (f.opcode == HTTP_FRAME_TEXT) {
            *size = (size_t)f.size;
            take_frame(s, &f, data);
            return true;
        }
        if (!take_control(s, &f)) return false;
    }
}

#endif
