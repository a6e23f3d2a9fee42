/* Pages on websockets of civetweb. */
#define _GNU_SOURCE /* getrandom */
#include "view/live/live_socket.h"

#include <mote_have.h>
#include <stdio.h>
#include <sys/random.h>

bool live_token_make(char token[LIVE_TOKEN_SIZE]) {
    unsigned char bytes[(LIVE_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

#if MOTE_HAVE_CIVETWEB

#include <civetweb.h>
#include <string.h>

#define CLOSE_GOING_AWAY 1001
#define CLOSE_POLICY     1008
#define REASON_MAX       100u

/* ---- who may connect */

/* A browser says which page asks, unless the page asks its own server plainly. What is no browser says nothing or
   anything: it is kept out by the token. */
static bool is_of_our_page(struct mg_connection *conn, bool is_plain) {
    static const char scheme[] = "http://";
    const char *origin = mg_get_header(conn, "Origin"), *host = mg_get_header(conn, "Host");
    if (origin == NULL || host == NULL) return is_plain && host != NULL;
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && strcmp(origin + sizeof scheme - 1, host) == 0;
}

/* Takes as long for any wrong token. */
static bool has_token(struct mg_connection *conn, const char *token) {
    const char *query = mg_get_request_info(conn)->query_string;
    char given[LIVE_TOKEN_SIZE + 1] = "";
    unsigned different = 0;
    if (token[0] == '\0') return true;
    if (query == NULL || mg_get_var(query, strlen(query), "token", given, sizeof given) != (int)LIVE_TOKEN_SIZE - 1) {
        return false;
    }
    for (size_t i = 0; i + 1 < LIVE_TOKEN_SIZE; i++) different |= (unsigned)(given[i] ^ token[i]);
    return different == 0;
}

int live_socket_answer(live_hub *l, struct mg_connection *conn, const char *token) {
    const bool is_plain = mg_get_header(conn, "Upgrade") == NULL;
    if (!is_of_our_page(conn, is_plain) || !has_token(conn, token)) return 403;
    if (!live_has_room(l)) return 503;
    return is_plain ? 200 : 0;
}

/* ---- to and fro */

static bool send_close(struct mg_connection *conn, int code, const char *reason, size_t length) {
    char payload[2 + REASON_MAX];
    if (length > REASON_MAX) length = REASON_MAX;
    payload[0] = (char)(code >> 8);
    payload[1] = (char)(code & 255);
    memcpy(payload + 2, reason, length);
    const bool is_sent = mg_websocket_write(conn, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, payload, length + 2) > 0;
    mg_close_connection(conn); /* the thread that reads looks at it */
    return is_sent;
}

static bool send_packet(void *connection, live_packet packet, const void *data, size_t size) {
    struct mg_connection *conn = connection;
    if (packet == LIVE_PACKET_CLOSE) return send_close(conn, CLOSE_GOING_AWAY, data, size);
    const int opcode = packet == LIVE_PACKET_TEXT ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY;
    return mg_websocket_write(conn, opcode, data, size) > 0;
}

static int on_connect(const struct mg_connection *conn, void *user) {
    (void)conn, (void)user;
    return 0; /* live_socket_answer has looked at it */
}

static void on_ready(struct mg_connection *conn, void *user) {
    static const char full[] = "no room for one more page";
    live_client *client = live_join(user, send_packet, conn);
    mg_set_user_connection_data(conn, client);
    if (client == NULL) send_close(conn, CLOSE_POLICY, full, sizeof full - 1);
}

/* A message in one piece of text; a ping is answered by civetweb. */
static int on_data(struct mg_connection *conn, int bits, char *data, size_t size, void *user) {
    (void)user;
    live_client *client = mg_get_user_connection_data(conn);
    const int opcode = bits & 15;
    if (opcode == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE || client == NULL) return 0;
    if (opcode == MG_WEBSOCKET_OPCODE_PING || opcode == MG_WEBSOCKET_OPCODE_PONG) return 1;
    const bool is_whole_text = bits == (0x80 | MG_WEBSOCKET_OPCODE_TEXT);
    const char *refused = is_whole_text ? live_receive(client, data, size) : "not a message";
    if (refused == NULL) return 1;
    send_close(conn, CLOSE_POLICY, refused, strlen(refused));
    return 0;
}

static void on_close(const struct mg_connection *conn, void *user) {
    (void)user;
    live_leave(mg_get_user_connection_data(conn));
    mg_set_user_connection_data((struct mg_connection *)conn, NULL);
}

void live_socket_serve(live_hub *l, struct mg_context *context) {
    mg_set_websocket_handler(context, LIVE_PATH, on_connect, on_ready, on_data, on_close, l);
}

#endif
