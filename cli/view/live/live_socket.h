/* Pages on websockets of civetweb: who may connect, and what goes to and fro. */
#ifndef CLI_LIVE_SOCKET_H
#define CLI_LIVE_SOCKET_H

#include "view/live/live.h"

#define LIVE_PATH       "/live"
#define LIVE_TOKEN_SIZE 33u /* hexadecimal digits of 128 bits, and a NUL */

struct mg_connection;
struct mg_context;

/// Makes a token. Returns false where the system gives no random bytes.
bool live_token_make(char token[LIVE_TOKEN_SIZE]);

/// What a request for LIVE_PATH is answered: an HTTP status; 0: it goes on as a websocket. A page whose websocket was
/// closed asks for the same without one, and so learns why: 403 is a wrong token or origin, 503 too many pages, and
/// 200 neither.
/// token  that the address must hold; "": none
int live_socket_answer(live_hub *l, struct mg_connection *conn, const char *token);
/// Serves LIVE_PATH of a server.
void live_socket_serve(live_hub *l, struct mg_context *context);

#endif
