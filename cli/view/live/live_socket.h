/* Pages on websockets: who may connect, and what goes to and fro. */
#ifndef CLI_LIVE_SOCKET_H
#define CLI_LIVE_SOCKET_H

#include "view/http/http_server.h"
#include "view/live/live.h"

#define LIVE_PATH       "/live"
#define LIVE_TOKEN_SIZE 33u /* hexadecimal digits of 128 bits, and a NUL */

/// Makes a token. Returns false where the system gives no random bytes.
bool live_token_make(char token[LIVE_TOKEN_SIZE]);

/// Serves a request for LIVE_PATH: it becomes a websocket. A page whose websocket was closed asks for the same
/// without one, and so learns why.
/// token    that the address must hold; "": none
/// Returns  0: it is served; else the HTTP status to answer with: 403 is a wrong token or origin, 503 too many pages,
///          200 neither, 400 and 426 no request for a websocket
int live_socket_serve(live_hub *l, http_connection *c, const char *token);

#endif
