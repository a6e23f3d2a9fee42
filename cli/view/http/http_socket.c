/* Websockets (RFC 6455). */
#include "view/http/http_socket.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "progress.h"
#include "view/http/http_connection.h"
#include "view/http/http_sha1.h"

#define SILENCE_S      3.0 /* after which the peer is asked whether it is there */
#define UNANSWERED_MAX 5u
#define FRAME_S        5.0 /* for a whole frame, from its first byte */
#define KEY_LENGTH     24u /* 16 bytes in base64 */
#define REASON_MAX     100u
#define ACCEPT_SIZE    29u /* 20 bytes in base64, and a NUL */
#define OPCODE_PING    9
#define OPCODE_PONG    10
#define CONTROL_MAX    125u

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

int http_socket_open(http_connection *c) {
    const http_head *head = &c->head;
    const char *key = http_head_field(head, "Sec-WebSocket-Key");
    const char *version = http_head_field(head, "Sec-WebSocket-Version");
    char fields[256];
    char proof[ACCEPT_SIZE];
    if (strcmp(head->method, "GET") != 0 || head->body_bytes > 0) return 400;
    if (!http_list_has(http_head_field(head, "Upgrade"), "websocket")) return 400;
    if (!http_list_has(http_head_field(head, "Connection"), "Upgrade")) return 400;
    if (key == NULL || strlen(key) != KEY_LENGTH) return 400;
    if (version == NULL || strcmp(version, "13") != 0) return 426;
    accept_text(key, proof);
    snprintf(fields, sizeof fields, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n", proof);
    c->is_ending = false; /* else the answer would say so */
    http_answer(c, 101, fields);
    http_forget_request(c); /* all of the buffer is for frames */
    c->is_socket = true;
    c->is_ending = true; /* no request follows */
    c->has_unread = true;
    return 0;
}

/* ---- out */

/* With the lock of sending. */
static bool write_frame(http_connection *c, int opcode, const void *data, size_t size) {
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
    return http_write(c, head, length) && http_write(c, data, size);
}

bool http_socket_send(http_connection *c, http_frame kind, const void *data, size_t size) {
    pthread_mutex_lock(&c->sending);
    const bool is_sent = !atomic_load(&c->is_closed) && write_frame(c, (int)kind, data, size);
    pthread_mutex_unlock(&c->sending);
    return is_sent;
}

/* Left out where a picture is being sent: that shows as well that the server is there. Returns false where it failed.
 */
static bool send_control(http_connection *c, int opcode, const void *data, size_t size) {
    if (pthread_mutex_trylock(&c->sending) != 0) return true;
    const bool is_sent = atomic_load(&c->is_closed) || write_frame(c, opcode, data, size);
    pthread_mutex_unlock(&c->sending);
    return is_sent;
}

bool http_socket_close(http_connection *c, int code, const char *reason) {
    char payload[2 + REASON_MAX + 1] = {(char)(code >> 8), (char)(code & 255)};
    bool is_sent = false;
    snprintf(payload + 2, sizeof payload - 2, "%s", reason);
    pthread_mutex_lock(&c->sending);
    if (!atomic_exchange(&c->is_closed, true)) {
        is_sent = write_frame(c, HTTP_FRAME_CLOSE, payload, 2 + strlen(payload + 2));
        shutdown(c->fd, SHUT_WR); /* the peer answers by closing, which the thread that reads sees */
    }
    pthread_mutex_unlock(&c->sending);
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
static bool read_header(const http_connection *c, size_t max, frame *f, const char **refused) {
    const unsigned char *data = (const unsigned char *)c->buffer + c->head_length;
    const size_t there = c->filled - c->head_length;
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
static void take_frame(http_connection *c, const frame *f, char *data) {
    char *at = c->buffer + c->head_length;
    const size_t length = f->header + (size_t)f->size;
    for (size_t i = 0; i < f->size; i++) data[i] = (char)(at[f->header + i] ^ at[f->header - 4 + i % 4]);
    memmove(at, at + length, c->filled - c->head_length - length);
    c->filled -= length;
}

/* Waits for more bytes, and asks a peer that is silent between two frames whether it is there. Returns false at the end
   of the connection. */
static bool receive_more(http_connection *c, double frame_until) {
    const bool is_between = c->filled == c->head_length;
    if (http_wait_for(c, HTTP_WAIT_NONE, POLLIN, is_between ? seconds_now() + SILENCE_S : frame_until))
        return http_receive(c);
    if (!is_between || c->unanswered++ >= UNANSWERED_MAX) return false;
    return !atomic_load(&c->is_closed) && send_control(c, OPCODE_PING, "", 0);
}

/* A ping is answered, a pong has done its work, the end is said back. Returns false at the end. */
static bool take_control(http_connection *c, const frame *f) {
    char data[CONTROL_MAX];
    take_frame(c, f, data);
    if (f->opcode == OPCODE_PING) return send_control(c, OPCODE_PONG, data, (size_t)f->size);
    if (f->opcode == OPCODE_PONG) return true;
    http_socket_close(c, HTTP_CLOSE_NORMAL, "");
    return false;
}

bool http_socket_receive(http_connection *c, char *data, size_t max, size_t *size) {
    const char *refused = NULL;
    double until = seconds_now() + FRAME_S;
    for (;;) {
        frame f;
        const bool has_header = read_header(c, max, &f, &refused);
        if (refused != NULL) {
            http_socket_close(c, HTTP_CLOSE_POLICY, refused);
            return false;
        }
        if (!has_header || c->filled - c->head_length < f.header + f.size) {
            if (c->filled == c->head_length) until = seconds_now() + SILENCE_S + FRAME_S;
            if (!receive_more(c, until)) return false;
            continue;
        }
        c->unanswered = 0;
        if (f.opcode == HTTP_FRAME_TEXT) {
            *size = (size_t)f.size;
            take_frame(c, &f, data);
            return true;
        }
        if (!take_control(c, &f)) return false;
    }
}
