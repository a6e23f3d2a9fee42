/* By which names a server may be asked.
 *
 * A page of another site can let its own host name point at an address of this machine, and then read what is served
 * there as if it were its own. It cannot change the Host that the browser sends: a server that only this machine
 * reaches answers only to the names that it has. */
#ifndef MOTE_CLI_VIEW_HOST_H
#define MOTE_CLI_VIEW_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define VIEW_HOST_NAMES_MAX 12u
#define VIEW_HOST_NAME_SIZE 256u

/* Names without a port; IPv6 addresses in brackets. */
typedef struct view_host {
    char plain[VIEW_HOST_NAME_SIZE]; /* what to listen on: without brackets */
    bool is_local;                   /* every address of it is of the loopback */
    size_t count;
    char names[VIEW_HOST_NAMES_MAX][VIEW_HOST_NAME_SIZE];
} view_host;

/// Looks a host up that is to be listened on: its addresses decide whether it is local, whatever its name is.
/// host  a name or an address, also an IPv6 address in brackets
void view_host_find(const char *host, view_host *found);

/// Whether a Host field names a local server. The port may be another one: a port can be forwarded by another program.
bool view_host_has(const view_host *host, const char *field);

#endif
