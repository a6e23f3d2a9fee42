/* Pages on websockets. */
#define _GNU_SOURCE /* getrandom */
#include "view/live/live_socket.h"

#include <mote_have.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool live_token_make(char token[LIVE_TOKEN_SIZE]) {
    unsigned char bytes[(LIVE_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

#if MOTE_HAVE_MICROHTTPD
#include "view/http/http_socket.h"
#include "view/live/live_message.h"
#include "view/view_http.h"

/* ---- who may connect */

/* A browser says which page asks, unless the page asks its own server plainly. What is no browser says nothing or
   anything: it is kept out by the token. */
static bool is_of_our_page(const http_connection *c, bool is_plain) {
    const char *origin = http_field(c, "Origin"), *host = http_field(c, "Host");
    if (origin == NULL) return is_plain && host != NULL;
    return view_http_is_of_our_page(origin, host, http_field(c, "Sec-Fetch-Site"));
}

/* Takes as long for any wrong token. */
static bool has_token(const http_connection *c, const char *token) {
    const char *query = strchr(http_target(c), '?');
    const char *given = query != NULL ? view_http_query_value(query + 1, "token") : NULL;
    unsigned different = 0;
    if (token[0] == '\0') return true;
    if (given == NULL || strcspn(given, "&") != LIVE_TOKEN_SIZE - 1) return false;
    for (size_t i = 0; i + 1 < LIVE_TOKEN_SIZE; i++) different |= (unsigned)(given[i] ^ token[i]);
    return different == 0;
}

/* ---- to and fro */

static bool send_packet(void *connection, live_packet packet, const void *data, size_t size) {
    http_socket *s = connection;
    if (packet == LIVE_PACKET_CLOSE) return http_socket_close(s, HTTP_CLOSE_GOING_AWAY, data);
    return http_socket_send(s, packet == LIVE_PACKET_TEXT ? HTTP_FRAME_TEXT : HTTP_FRAME_BYTES, data, size);
}

static void talk(void *hub, http_socket *s) {
    live_client *client = live_join(hub, send_packet, s);
    const char *refused = client == NULL ? "no room for one more page" : NULL;
    char data[LIVE_MESSAGE_MAX];
    size_t size;
    while (refused == NULL && http_socket_receive(s, data, sizeof data, &size)) {
        refused = live_receive(client, data, size);
    }
    if (refused != NULL) http_socket_close(s, HTTP_CLOSE_POLICY, refused);
    live_leave(client);
}

int live_socket_serve(live_hub *l, http_connection *c, const char *token) {
    const bool is_plain = http_field(c, "Upgrade") == NULL;
    if (!is_of_our_page(c, is_plain) || !has_token(c, token)) return 403;
    if (!live_has_room(l)) return 503;
    return is_plain ? 200 : http_socket_open(c, talk, l);
}

#endif
