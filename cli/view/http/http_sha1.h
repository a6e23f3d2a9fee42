/* SHA-1 (FIPS 180-4), which the opening of a websocket asks for. It protects nothing here. */
#ifndef CLI_HTTP_SHA1_H
#define CLI_HTTP_SHA1_H

#include <stddef.h>

#define HTTP_SHA1_BYTES 20u

/// The hash of a text of at most 119 bytes.
void http_sha1(const char *text, size_t size, unsigned char hash[HTTP_SHA1_BYTES]);

#endif
