#define _GNU_SOURCE /* getaddrinfo, strnlen */
#include "view/view_host.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static bool is_loopback_ipv4(uint32_t address) { return address >> 24 == 127; }

static bool is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return is_loopback_ipv4(ntohl(v4->sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6) return false;
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    uint32_t last;
    memcpy(&last, v6->s6_addr + 12, sizeof last);
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && is_loopback_ipv4(ntohl(last)));
}

static void add_name(view_host *host, const char *name, bool is_ipv6) {
    if (host->count == VIEW_HOST_NAMES_MAX || strlen(name) + 3 > VIEW_HOST_NAME_SIZE) return;
    snprintf(host->names[host->count++], VIEW_HOST_NAME_SIZE, is_ipv6 ? "[%s]" : "%s", name);
}

static void add_address(view_host *host, const struct addrinfo *address) {
    char text[NI_MAXHOST];
    if (getnameinfo(address->ai_addr, address->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
        add_name(host, text, address->ai_family == AF_INET6);
}

void view_host_find(const char *host, view_host *found) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *addresses = NULL;
    const size_t length = strlen(host);
    const bool has_brackets = host[0] == '[' && host[length - 1] == ']';
    *found = (view_host){.is_local = false};
    snprintf(found->plain, sizeof found->plain, "%.*s", (int)(has_brackets ? length - 2 : length), host + has_brackets);
    add_name(found, "localhost", false);
    add_name(found, "127.0.0.1", false);
    add_name(found, "::1", true);
    add_name(found, found->plain, strchr(found->plain, ':') != NULL);
    if (getaddrinfo(found->plain, NULL, &hints, &addresses) != 0) return; /* nothing will be listened on */
    found->is_local = true;
    for (const struct addrinfo *at = addresses; at != NULL; at = at->ai_next) {
        found->is_local = found->is_local && is_loopback(at->ai_addr);
        add_address(found, at);
    }
    freeaddrinfo(addresses);
}

/* ":8080" or nothing */
static bool is_port(const char *text) {
    if (*text == '\0') return true;
    const size_t digits = strspn(text + 1, "0123456789");
    return *text == ':' && digits >= 1 && digits <= 5 && text[1 + digits] == '\0';
}

bool view_host_has(const view_host *host, const char *field) {
    for (size_t i = 0; field != NULL && i < host->count; i++) {
        const size_t length = strlen(host->names[i]);
        if (strncasecmp(field, host->names[i], length) == 0 && is_port(field + length)) return true;
    }
    return false;
}
