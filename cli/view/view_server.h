/* The HTTP server of `mote view`: the page and clouds, read only, to browsers on (normally) this machine.
 *
 * "/" is the page, "/data/" the first cloud, "/data2/" the second, and so on, "/marks1.geojson" the first file of
 * marks; who asks for "/" alone is told which. Of a cloud whose octree is still being made "/data/" is answered with
 * 202 and how far that is, and "/preview/" has a sample of it until then. GET and HEAD, byte ranges, entity tags. Files
 * are sent in pieces and never held in memory. Of a data set only the files that it consists of are served, as data
 * (view_answer.h). No path leaves the folders, neither by "..", by encoding nor by a symbolic link. A server that only
 * this machine reaches answers only to its own names (view_host.h), and also takes files that are dropped on its page
 * (view_upload.h). What others send cannot hold it up or fill its memory (http/http_server.h). */
#ifndef MOTE_CLI_VIEW_SERVER_H
#define MOTE_CLI_VIEW_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "view/live/live.h"
#include "view/view_making.h"
#include "view/view_marks.h"

typedef struct view_server view_server;

#define VIEW_SOURCES_MAX 20u

/* A data set that is served, or one of another server, whose address the page gets. */
typedef struct view_source {
    const char *folder;  /* Potree folder, or the folder of file */
    const char *file;    /* the only file of it that is served, a COPC file; NULL: all are */
    const char *address; /* of another server, without folder and file; NULL: it is here */
    const char *preview; /* Potree folder of a sample, while folder is NULL: it is being made */
    view_making *making; /* with a preview: how far it is */
} view_source;

typedef struct view_server_options {
    const char *host;       /* address to bind, "127.0.0.1" */
    int port;               /* first port to try, 0..65535; 0: any free one */
    bool port_is_fixed;     /* false: take the next free port if this one is taken */
    const char *viewer_dir; /* folder of index.html */
    const view_source *sources;
    size_t source_count;     /* at most VIEW_SOURCES_MAX */
    live_hub *live;          /* NULL: none; else "/" is the page of live pictures */
    const char *token;       /* of live pictures, that the address must hold; "": none */
    const view_marks *marks; /* NULL: none */
} view_server_options;

/// Starts serving in threads of its own, which inherit the caller's signal mask.
/// error    [size] out: what went wrong, for people
/// Returns  the server, or NULL
view_server *view_server_start(const view_server_options *options, char *error, size_t size);

/// What the page's address says of the data, "?data=…"; "" where the page finds it by itself. A page that is asked for
/// without is led there.
const char *view_server_query(const view_server *server);

/// The port that is served.
int view_server_port(const view_server *server);

/// The octree of a source that has a preview is made: it is served from now on, and the preview all the same, for pages
/// that still have it.
/// Returns  false where the folder cannot be opened
bool view_server_made(view_server *server, size_t source, const char *folder);

/// Whether only this machine can reach what listens on a host.
bool view_server_is_local(const char *host);

/// Ends all connections and frees the server. NULL is allowed.
void view_server_stop(view_server *server);

#endif
