/* A websocket client of the least kind, for benchmarks of a server on this machine: it sends short texts at once (no
   Nagle, as browsers do) and receives frames. No TLS, no fragments, no pings. */
#ifndef CLI_BENCH_WEBSOCKET_H
#define CLI_BENCH_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TEXT_MAX 1024u /* bytes */

typedef enum bench_opcode { BENCH_SOCKET_TEXT = 1, BENCH_SOCKET_BINARY = 2, BENCH_SOCKET_CLOSE = 8 } bench_opcode;

typedef struct bench_socket {
    int fd;
    uint8_t *data; /* [size] the last frame */
    size_t size, capacity;
} bench_socket;

/// Connects to 127.0.0.1 as a page of that server would. Returns false where that is refused.
bool bench_socket_open(bench_socket *socket, int port, const char *path);
/// Sends a text of at most BENCH_TEXT_MAX bytes. From one thread at a time, which need not be the one that receives.
bool bench_socket_send(const bench_socket *socket, const char *text, size_t length);
/// Waits for a frame. Returns false at the end of the connection.
bool bench_socket_receive(bench_socket *socket, bench_opcode *opcode);
/// Lets a waiting bench_socket_receive return false.
void bench_socket_shut(const bench_socket *socket);
void bench_socket_close(bench_socket *socket);

#endif
