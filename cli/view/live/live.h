/* Live pictures: a cloud is drawn here, and pages show the pictures.
 *
 *   source ──> loader ──> scene ──> painter ──> client 1: pending ──> its thread: encodes, sends ──> page 1
 *              (thread)             (thread)    client 2: pending ──> …                              page 2
 *
 * One painter draws for all clients in turn, with all cores or the GPU; while it draws, the threads of the clients
 * encode and send. A client has at most LIVE_ON_THE_WAY pictures that its page has not shown yet: a page, a network or
 * an encoder that is slow gets fewer pictures, and nothing ever waits in a line. A view that is replaced before its
 * turn is never drawn. When a view has not changed for a while, it is drawn once more, whole and without loss.
 *
 * Nothing here knows of sockets: what sends is the caller's (live_socket.h). */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "session.h"

#define LIVE_CLIENTS_MAX 32u

typedef struct live_hub live_hub;
typedef struct live_client live_client;

typedef enum live_packet { LIVE_PACKET_TEXT, LIVE_PACKET_BYTES, LIVE_PACKET_CLOSE } live_packet;

/// Sends a message to a page; for LIVE_PACKET_CLOSE data is the reason. May block for as long as the caller bears.
/// Returns  false where the page is gone
typedef bool live_send(void *connection, live_packet packet, const void *data, size_t size);

typedef struct live_options {
    const char *const *inputs; /* [count] files, a folder or a pipe of frames */
    int count;
    const char *scene; /* whose photons fly instead; NULL: none */
    uint64_t photons;
    double pictures_per_second; /* that moving pictures are made small enough for */
} live_options;

/// Reads the first cloud, unless the source is a folder or pipe that has none yet, and starts to watch the source.
/// Returns an exit code; *out NULL where it is not EXIT_DONE
int live_start(session *s, const live_options *options, live_hub **out);
/// Tells all pages that the server ends. After it none is taken.
void live_close(live_hub *l);
/// Ends all threads and frees all. No client may be there. NULL is allowed.
void live_stop(live_hub *l);

/// Whether one more page may come.
bool live_has_room(live_hub *l);
/// A page has connected. It is served by a thread of its own until live_leave.
/// connection  for send; must live until live_leave has returned
/// Returns  NULL where there is no room or no memory
live_client *live_join(live_hub *l, live_send *send, void *connection);
/// A message of a page has come.
/// Returns  NULL, or why the connection is to be closed
const char *live_receive(live_client *client, const char *data, size_t size);
/// The connection has ended. Waits for what is being drawn or sent. NULL is allowed.
void live_leave(live_client *client);

#endif
