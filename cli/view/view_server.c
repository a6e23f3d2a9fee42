#define _GNU_SOURCE /* realpath, mkdtemp, O_CLOEXEC, st_mtim */
#include "view/view_server.h"

#include <mote_have.h>
#include <stdio.h>

#if !MOTE_HAVE_CIVETWEB

view_server *view_server_start(const view_server_options *options, char *error, size_t size) {
    (void)options;
    snprintf(error, size, "mote view was built without civetweb");
    return NULL;
}

int view_server_port(const view_server *server) {
    (void)server;
    return 0;
}

void view_server_stop(view_server *server) { (void)server; }

#else

#include "view/live/live_socket.h"
#include "view/view_http.h"
#include "view/view_strip.h"
#include "view/view_upload.h"

#include <civetweb.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES  (256u * 1024u) /* read and sent at a time */
#define PORTS_TO_TRY 20             /* after the first; then the system chooses */
#define THREADS                                                                                                        \
    "64" /* a browser keeps up to six connections open, and each holds a thread while it lives                         \
          */

struct view_server {
    struct mg_context *context;
    char *viewer_root; /* real paths, without a slash at the end */
    struct {
        char *root;
        char *file; /* the only one of root that is served, or NULL */
    } sources[VIEW_SOURCES_MAX];
    atomic_size_t source_count; /* grows when a dropped file has been converted */
    view_upload *upload;        /* of a local server; else NULL */
    bool is_local;              /* bound to loopback: only requests to a loopback name are answered */
    atomic_bool is_ending;      /* cancels a strip that is being cut */
    atomic_flag is_cutting;     /* a strip; one at a time */
    live_hub *live;
    const char *token;
    int port;
    char log[256]; /* the last message of civetweb, for a failed start */
};

/* One open file and what the headers say about it. */
typedef struct served_file {
    int fd;
    uint64_t bytes;
    char etag[64];
    const char *type;
} served_file;

static const char COMMON_HEADERS[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Content-Security-Policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' http: https: ws:; "
    "frame-ancestors 'self'\r\n";

/* Tells the page that this server also cuts strips out of its clouds. */
static const char TOOLS_HEADER[] = "X-Mote-Tools: strip\r\n";

static int send_status(struct mg_connection *conn, int status, const char *reason, const char *extra) {
    char body[64];
    const int length = snprintf(body, sizeof body, "%d %s\n", status, reason);
    const bool is_head = strcmp(mg_get_request_info(conn)->request_method, "HEAD") == 0;
    mg_printf(conn,
              "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n"
              "Cache-Control: no-store\r\n%s%s\r\n",
              status, reason, length, COMMON_HEADERS, extra);
    if (!is_head) mg_write(conn, body, (size_t)length);
    return status;
}

static int send_body(struct mg_connection *conn, int status, const char *reason, const char *type, const char *body) {
    mg_printf(conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n%s\r\n%s",
              status, reason, type, strlen(body), COMMON_HEADERS, body);
    return status;
}

/* Opens a file below root. The real path is compared, so a symbolic link cannot lead out; O_NOFOLLOW closes
 * the gap in which the last part could become one. */
static int open_below(const char *root, const char *path) {
    char joined[PATH_MAX];
    char real[PATH_MAX];
    const size_t root_length = strlen(root);
    const int length = snprintf(joined, sizeof joined, "%s/%s", root, path);
    if (length < 0 || (size_t)length >= sizeof joined || realpath(joined, real) == NULL) return -1;
    if (strncmp(real, root, root_length) != 0 || real[root_length] != '/') return -1;
    return open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/* The data set of a path ("/data/…", "/data2/…") and the name within it; NULL where the path is of the page. */
static const char *name_in_source(const view_server *server, const char *path, size_t *source) {
    static const char prefix[] = "/data";
    const char *at = path + sizeof prefix - 1;
    if (strncmp(path, prefix, sizeof prefix - 1) != 0) return NULL;
    size_t number = *at == '/' ? 1 : 0; /* the first one has no number */
    for (; number < VIEW_SOURCES_MAX && *at >= '0' && *at <= '9'; at++) number = 10 * number + (size_t)(*at - '0');
    if (*at != '/' || number < 1 || number > server->source_count) return NULL;
    *source = number - 1;
    return at + 1;
}

static const char *page_of(const view_server *server) { return server->live != NULL ? "live.html" : "index.html"; }

static bool open_served(const view_server *server, const char *path, served_file *file) {
    struct stat info;
    size_t source;
    const char *name = name_in_source(server, path, &source);
    if (name != NULL) {
        const char *only = server->sources[source].file;
        file->fd = only == NULL || strcmp(name, only) == 0 ? open_below(server->sources[source].root, name) : -1;
    } else {
        file->fd = open_below(server->viewer_root, strcmp(path, "/") == 0 ? page_of(server) : path + 1);
    }
    if (file->fd < 0) return false;
    if (fstat(file->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(file->fd);
        return false;
    }
    file->bytes = (uint64_t)info.st_size;
    file->type = view_http_content_type(strcmp(path, "/") == 0 ? ".html" : path);
    snprintf(file->etag, sizeof file->etag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"", (uint64_t)info.st_ino,
             file->bytes, (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec);
    return true;
}

/* Sends bytes first..last. A client that went away, or a file that shrank, ends the connection early, which
 * the client notices by the length that was promised. */
static void send_bytes(struct mg_connection *conn, int fd, uint64_t first, uint64_t last) {
    char *piece = malloc(PIECE_BYTES);
    uint64_t at = first;
    while (piece != NULL && at <= last) {
        const uint64_t remaining = last - at + 1;
        const ssize_t got = pread(fd, piece, remaining < PIECE_BYTES ? (size_t)remaining : PIECE_BYTES, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || mg_write(conn, piece, (size_t)got) != (int)got) break;
        at += (uint64_t)got;
    }
    free(piece);
}

static int send_file(struct mg_connection *conn, const served_file *file) {
    const char *range = mg_get_header(conn, "Range");
    const char *if_range = mg_get_header(conn, "If-Range");
    const view_server *server = mg_get_request_info(conn)->user_data;
    const char *tools = server->upload != NULL ? TOOLS_HEADER : "";
    char header[256];
    uint64_t first = 0;
    uint64_t last = file->bytes - 1; /* unused where the file is empty */
    int status = 200;
    if (view_http_etag_matches(mg_get_header(conn, "If-None-Match"), file->etag)) {
        mg_printf(conn, "HTTP/1.1 304 Not Modified\r\nETag: %s\r\nCache-Control: no-cache\r\n\r\n", file->etag);
        return 304;
    }
    if (if_range != NULL && strcmp(if_range, file->etag) != 0)
        range = NULL; /* the file changed since the client read the rest of it */
    switch (view_http_parse_range(range, file->bytes, &first, &last)) {
    case VIEW_RANGE_INVALID:
        snprintf(header, sizeof header, "Content-Range: bytes */%" PRIu64 "\r\n", file->bytes);
        return send_status(conn, 416, "Range Not Satisfiable", header);
    case VIEW_RANGE_PARTIAL:
        snprintf(header, sizeof header, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", first, last,
                 file->bytes);
        status = 206;
        break;
    case VIEW_RANGE_NONE:
        header[0] = '\0';
        first = 0;
        last = file->bytes - 1;
        break;
    }
    /* no-cache: kept, but asked for again, because a new conversion may replace the data set at any time. */
    mg_printf(conn,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %" PRIu64 "\r\nAccept-Ranges: bytes\r\n"
              "ETag: %s\r\nCache-Control: no-cache\r\n%s%s%s\r\n",
              status, status == 206 ? "Partial Content" : "OK", file->type,
              file->bytes == 0 ? UINT64_C(0) : last - first + 1, file->etag, header, tools, COMMON_HEADERS);
    if (file->bytes > 0 && strcmp(mg_get_request_info(conn)->request_method, "GET") == 0)
        send_bytes(conn, file->fd, first, last);
    return status;
}

/* A page of another site cannot send here without asking first, which is never answered; this refuses those that try.
 */
static bool is_of_our_page(struct mg_connection *conn) {
    const char *origin = mg_get_header(conn, "Origin");
    const char *host = mg_get_header(conn, "Host");
    static const char scheme[] = "http://";
    if (origin == NULL || host == NULL) return false;
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && strcmp(origin + sizeof scheme - 1, host) == 0;
}

static size_t serve_converted(void *user, const char *folder) {
    view_server *server = user;
    const size_t count = server->source_count;
    if (count >= VIEW_SOURCES_MAX) return 0;
    server->sources[count].root = realpath(folder, NULL);
    if (server->sources[count].root == NULL) return 0;
    server->source_count = count + 1; /* only now do other threads look at it */
    return count + 1;
}

/* The body of the request into the file. Returns NULL or what went wrong. */
static const char *receive(struct mg_connection *conn, int file, long long bytes) {
    char *piece = malloc(PIECE_BYTES);
    const char *error = piece == NULL ? "memory has run out" : NULL;
    while (error == NULL && bytes > 0) {
        const int got = mg_read(conn, piece, bytes < PIECE_BYTES ? (size_t)bytes : PIECE_BYTES);
        if (got <= 0) error = "the connection broke while the file was sent";
        for (int at = 0; error == NULL && at < got;) {
            const ssize_t n = write(file, piece + at, (size_t)(got - at));
            if (n < 0 && errno != EINTR) error = strerror(errno);
            if (n > 0) at += (int)n;
        }
        bytes -= got;
    }
    free(piece);
    return error;
}

/* PUT /convert/NAME sends a file to be converted; GET /convert tells how far it is. */
static int handle_convert(struct mg_connection *conn, view_upload *upload, const char *path) {
    const struct mg_request_info *request = mg_get_request_info(conn);
    char json[2048];
    int file;
    if (strcmp(request->request_method, "GET") == 0) {
        view_upload_status(upload, json, sizeof json);
        return send_body(conn, 200, "OK", "application/json", json);
    }
    static const char close_header[] = "Connection: close\r\n"; /* the body is not read */
    if (strcmp(request->request_method, "PUT") != 0 || strncmp(path, "/convert/", 9) != 0 || path[9] == '\0' ||
        strlen(path + 9) > NAME_MAX)
        return send_status(conn, 405, "Method Not Allowed", close_header);
    if (!is_of_our_page(conn)) return send_status(conn, 403, "Forbidden", close_header);
    if (request->content_length < 0) return send_status(conn, 411, "Length Required", close_header);
    const int status = view_upload_begin(upload, path + 9, &file);
    if (status == 409) return send_status(conn, 409, "Conflict", close_header);
    if (status != 202) return send_status(conn, 507, "Insufficient Storage", close_header);
    const char *error = receive(conn, file, request->content_length);
    if (error != NULL) {
        view_upload_drop(upload, error);
        return send_status(conn, 507, "Insufficient Storage", close_header);
    }
    view_upload_convert(upload);
    return send_body(conn, 202, "Accepted", "application/json", "{}\n");
}

/* A folder for one file, that no other program knows. out: the file's path, too. */
static bool make_temporary(char *folder, char *out) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/') base = "/tmp";
    if (snprintf(folder, PATH_MAX - 16, "%s/mote-strip-XXXXXX", base) >= PATH_MAX - 16) return false;
    if (mkdtemp(folder) == NULL) return false;
    snprintf(out, PATH_MAX, "%.*s/points.las", PATH_MAX - 16, folder);
    return true;
}

/* Cuts the strip out of a source into a file that goes when it is closed. Returns the file, or -1 and why. */
static int cut_strip(view_server *server, size_t source, const view_strip *strip, char *error, size_t size) {
    char from[PATH_MAX];
    char folder[PATH_MAX];
    char out[PATH_MAX];
    uint64_t count;
    const char *file = server->sources[source].file;
    const int length = snprintf(from, sizeof from, "%s%s%s", server->sources[source].root, file != NULL ? "/" : "",
                                file != NULL ? file : "");
    if (length >= (int)sizeof from || !make_temporary(folder, out)) {
        snprintf(error, size, "there is no place for the file");
        return -1;
    }
    const bool is_written = view_strip_write(from, strip, out, &server->is_ending, &count, error, size);
    const int fd = is_written ? open(out, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (is_written && fd < 0) snprintf(error, size, "%s", strerror(errno));
    unlink(out);
    rmdir(folder);
    return fd;
}

/* POST /strip/N?path=…&width=…: the points of the N-th cloud beside a path, as LAS (view_strip.h). */
static int handle_strip(struct mg_connection *conn, view_server *server, const char *path) {
    const char *query = mg_get_request_info(conn)->query_string;
    char error[512] = "";
    view_strip strip;
    struct stat info;
    char *end;
    const unsigned long number = strtoul(path, &end, 10);
    if (!is_of_our_page(conn)) return send_status(conn, 403, "Forbidden", "");
    if (end == path || *end != '\0' || number < 1 || number > server->source_count)
        return send_status(conn, 404, "Not Found", "");
    if (query == NULL || !view_strip_parse(query, &strip)) return send_status(conn, 400, "Bad Request", "");
    if (atomic_flag_test_and_set(&server->is_cutting))
        return send_status(conn, 503, "Service Unavailable", "Retry-After: 1\r\n");
    served_file file = {.fd = cut_strip(server, number - 1, &strip, error, sizeof error)};
    atomic_flag_clear(&server->is_cutting);
    if (file.fd < 0 || fstat(file.fd, &info) != 0)
        return send_body(conn, 500, "Internal Server Error", "text/plain; charset=utf-8", error);
    mg_printf(conn,
              "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %" PRIu64 "\r\n"
              "Cache-Control: no-store\r\n%s\r\n",
              (uint64_t)info.st_size, COMMON_HEADERS);
    send_bytes(conn, file.fd, 0, (uint64_t)info.st_size - 1);
    close(file.fd);
    return 200;
}

static int handle_request(struct mg_connection *conn) {
    const struct mg_request_info *request = mg_get_request_info(conn);
    view_server *server = request->user_data;
    char path[PATH_MAX];
    served_file file;
    const bool is_read = strcmp(request->request_method, "GET") == 0 || strcmp(request->request_method, "HEAD") == 0;
    const bool is_post = strcmp(request->request_method, "POST") == 0;
    if (!is_read && (server->upload == NULL || (!is_post && strcmp(request->request_method, "PUT") != 0)))
        return send_status(conn, 405, "Method Not Allowed", "Allow: GET, HEAD\r\nConnection: close\r\n");
    /* A page of another site could let its own host name point at 127.0.0.1 and so read private scans. */
    if (server->is_local && !view_http_is_loopback_host(mg_get_header(conn, "Host")))
        return send_status(conn, 403, "Forbidden", "");
    if (!view_http_decode_path(request->request_uri, path, sizeof path))
        return send_status(conn, 400, "Bad Request", "");
    if (server->live != NULL && strcmp(path, LIVE_PATH) == 0) {
        const int answer = live_socket_answer(server->live, conn, server->token);
        const char *reason = answer == 403 ? "Forbidden" : answer == 503 ? "Service Unavailable" : "OK";
        return answer == 0 ? 0 : send_status(conn, answer, reason, "Connection: close\r\n");
    }
    if (is_post) {
        if (strncmp(path, "/strip/", 7) == 0) return handle_strip(conn, server, path + 7);
        return send_status(conn, 405, "Method Not Allowed", "Connection: close\r\n");
    }
    if (server->upload != NULL && (!is_read || strcmp(path, "/convert") == 0))
        return handle_convert(conn, server->upload, path);
    if (!open_served(server, path, &file)) return send_status(conn, 404, "Not Found", "");
    const int status = send_file(conn, &file);
    close(file.fd);
    return status;
}

static int keep_log(const struct mg_connection *conn, const char *message) {
    const struct mg_context *context = mg_get_context(conn);
    view_server *server = context != NULL ? mg_get_user_data(context) : NULL;
    if (server != NULL && server->context == NULL) /* later messages come from several threads */
        snprintf(server->log, sizeof server->log, "%s", message);
    return 1; /* handled: the library prints nothing */
}

static struct mg_context *try_port(view_server *server, const char *host, int port) {
    const bool is_ipv6 = strchr(host, ':') != NULL && host[0] != '[';
    char address[300];
    snprintf(address, sizeof address, is_ipv6 ? "[%s]:%d" : "%s:%d", host, port);
    /* Paths are decoded here, once: view_http_decode_path() must see what was sent. */
    const char *settings[] = {"listening_ports",
                              address,
                              "decode_url",
                              "no",
                              "enable_directory_listing",
                              "no",
                              "num_threads",
                              THREADS,
                              "enable_keep_alive",
                              "yes",
                              "keep_alive_timeout_ms",
                              "5000",
                              "request_timeout_ms",
                              "30000",
                              "websocket_timeout_ms",
                              "3000",
                              "enable_websocket_ping_pong",
                              "yes",
                              "tcp_nodelay",
                              "1",
                              NULL};
    struct mg_callbacks callbacks = {0};
    callbacks.begin_request = handle_request;
    callbacks.log_message = keep_log;
    return mg_start(&callbacks, server, settings);
}

static bool start_listening(view_server *server, const view_server_options *options) {
    const int more = options->port_is_fixed || options->port == 0 ? 0 : PORTS_TO_TRY;
    for (int i = 0; i <= more && server->context == NULL && options->port + i <= 65535; i++)
        server->context = try_port(server, options->host, options->port + i);
    if (server->context == NULL && more > 0) server->context = try_port(server, options->host, 0);
    if (server->context == NULL) return false;
    struct mg_server_port ports[4];
    server->port = mg_get_server_ports(server->context, 4, ports) > 0 ? ports[0].port : options->port;
    if (server->live != NULL) live_socket_serve(server->live, server->context);
    return true;
}

/* Returns the folder that cannot be opened, or NULL. */
static const char *open_roots(view_server *server, const view_server_options *options) {
    server->viewer_root = realpath(options->viewer_dir, NULL);
    if (server->viewer_root == NULL) return options->viewer_dir;
    for (size_t i = 0; i < options->source_count; i++) {
        const view_source *source = &options->sources[i];
        server->sources[i].root = realpath(source->folder, NULL);
        server->sources[i].file = source->file != NULL ? strdup(source->file) : NULL;
        server->source_count = i + 1;
        if (server->sources[i].root == NULL || (source->file != NULL && server->sources[i].file == NULL))
            return source->folder;
    }
    return NULL;
}

view_server *view_server_start(const view_server_options *options, char *error, size_t size) {
    view_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    server->is_local = strcmp(options->host, "127.0.0.1") == 0 || strcmp(options->host, "localhost") == 0 ||
                       strcmp(options->host, "::1") == 0;
    atomic_flag_clear(&server->is_cutting);
    server->live = options->live;
    server->token = options->token;
    mg_init_library(MG_FEATURES_DEFAULT);
    if (server->is_local && server->live == NULL) server->upload = view_upload_make(serve_converted, server);
    const char *missing = open_roots(server, options);
    if (missing != NULL) {
        snprintf(error, size, "cannot open %s: %s", missing, strerror(errno));
    } else if (start_listening(server, options)) {
        return server;
    } else {
        snprintf(error, size,
                 "cannot listen on %s port %d (%s): is another program using it? --port 0 takes any free one",
                 options->host, options->port, server->log[0] != '\0' ? server->log : "no reason given");
    }
    view_server_stop(server);
    return NULL;
}

int view_server_port(const view_server *server) { return server->port; }

void view_server_stop(view_server *server) {
    if (server == NULL) return;
    if (server->live != NULL) live_close(server->live);
    atomic_store(&server->is_ending, true);
    if (server->context != NULL) mg_stop(server->context);
    view_upload_free(server->upload);
    mg_exit_library();
    free(server->viewer_root);
    for (size_t i = 0; i < server->source_count; i++) {
        free(server->sources[i].root);
        free(server->sources[i].file);
    }
    free(server);
}

#endif
