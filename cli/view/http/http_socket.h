/* Websockets (RFC 6455) on a connection of http_server.h: short messages in, anything out.
 *
 * The length of a frame is looked at before any of it is stored: what is longer than the caller wants is refused by its
 * header alone. Messages in pieces are refused, too: no page of ours sends any. */
#ifndef CLI_HTTP_SOCKET_H
#define CLI_HTTP_SOCKET_H

#include "view/http/http_server.h"

typedef enum http_frame { HTTP_FRAME_TEXT = 1, HTTP_FRAME_BYTES = 2, HTTP_FRAME_CLOSE = 8 } http_frame;

#define HTTP_SOCKET_MESSAGE_MAX 8192u /* bytes */

#define HTTP_CLOSE_NORMAL     1000
#define HTTP_CLOSE_GOING_AWAY 1001
#define HTTP_CLOSE_POLICY     1008

typedef struct http_socket http_socket;

/// Talks on a websocket; its end is the end of the connection. Called from the thread of the connection.
typedef void http_talk(void *user, http_socket *s);

/// Answers a request for a websocket with what it asks for; talk follows.
/// Returns  0, or the status to refuse it with: it asks for something else
int http_socket_open(http_connection *c, http_talk *talk, void *user);
/// Waits for a message, a text. Pings and answers pings. Refuses all else and ends the connection with it.
/// data     [max] out; max is at most HTTP_SOCKET_MESSAGE_MAX
/// Returns  false at the end of the connection
bool http_socket_receive(http_socket *s, char *data, size_t max, size_t *size);
/// Sends a message. Several threads may.
/// Returns  false where the peer went away or does not read
bool http_socket_send(http_socket *s, http_frame kind, const void *data, size_t size);
/// Says the end, with one of the codes above. The thread that receives sees it soon.
bool http_socket_close(http_socket *s, int code, const char *reason);

#endif
