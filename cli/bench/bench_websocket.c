/* A websocket client of the least kind (RFC 6455). */
#define _GNU_SOURCE /* MSG_NOSIGNAL */
#include "bench/bench_websocket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 4096u
#define FRAME_MAX  ((uint64_t)1 << 30)

static bool send_all(int fd, const void *data, size_t size) {
    const uint8_t *from = data;
    while (size > 0) {
        const ssize_t sent = send(fd, from, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        from += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, void *data, size_t size) {
    uint8_t *to = data;
    while (size > 0) {
        const ssize_t got = recv(fd, to, size, 0);
        if (got <= 0) return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

/* Asks for the upgrade; the answer ends with an empty line, behind which frames begin. */
static bool shake_hands(int fd, int port, const char *path) {
    char text[ANSWER_MAX];
    size_t size = 0;
    const int length = snprintf(text, sizeof text,
                                "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
                                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: bW90ZSBiZW5jaCBsaXZlIQ==\r\n\r\n",
                                path, port, port);
    if (!send_all(fd, text, (size_t)length)) return false;
    while (size + 1 < sizeof text && receive_all(fd, text + size, 1)) {
        text[++size] = '\0';
        if (size >= 4 && strcmp(text + size - 4, "\r\n\r\n") == 0) return strncmp(text, "HTTP/1.1 101", 12) == 0;
    }
    return false;
}

bool bench_socket_open(bench_socket *s, int port, const char *path) {
    const int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(s, 0, sizeof *s);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0) return false;
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(s->fd, (const struct sockaddr *)&address, sizeof address) == 0 && shake_hands(s->fd, port, path)) {
        return true;
    }
    bench_socket_close(s);
    return false;
}

/* Clients mask what they send; a mask of zeros changes nothing. */
bool bench_socket_send(const bench_socket *s, const char *text, size_t length) {
    uint8_t frame[8 + BENCH_TEXT_MAX] = {0x80 | BENCH_SOCKET_TEXT};
    size_t at = 2;
    if (length > BENCH_TEXT_MAX) return false;
    frame[1] = (uint8_t)(0x80 | (length < 126 ? length : 126));
    if (length >= 126) {
        frame[at++] = (uint8_t)(length >> 8);
        frame[at++] = (uint8_t)(length & 255);
    }
    at += 4;
    memcpy(frame + at, text, length);
    return send_all(s->fd, frame, at + length);
}

bool bench_socket_receive(bench_socket *s, bench_opcode *opcode) {
    uint8_t head[2], more[8];
    if (!receive_all(s->fd, head, 2)) return false;
    uint64_t length = head[1] & 127;
    const size_t wide = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (!receive_all(s->fd, more, wide)) return false;
    if (wide > 0) length = 0;
    for (size_t i = 0; i < wide; i++) length = length << 8 | more[i];
    if (length > FRAME_MAX) return false;
    if (length > s->capacity) {
        free(s->data);
        s->data = malloc((size_t)length);
        s->capacity = s->data != NULL ? (size_t)length : 0;
        if (s->data == NULL) return false;
    }
    s->size = (size_t)length;
    *opcode = (bench_opcode)(head[0] & 15);
    return receive_all(s->fd, s->data, s->size) && *opcode != BENCH_SOCKET_CLOSE;
}

void bench_socket_shut(const bench_socket *s) { shutdown(s->fd, SHUT_RDWR); }

void bench_socket_close(bench_socket *s) {
    if (s->fd >= 0) close(s->fd);
    free(s->data);
    memset(s, 0, sizeof *s);
    s->fd = -1;
}
