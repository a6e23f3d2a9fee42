#define _GNU_SOURCE /* realpath, mkdtemp, O_CLOEXEC */
#include "view/view_server.h"

#include "view/view_host.h"

#include <mote_have.h>

bool view_server_is_local(const char *host) {
    view_host found;
    view_host_find(host, &found);
    return found.is_local;
}

#if !MOTE_HAVE_MICROHTTPD
#include <stdio.h>

view_server *view_server_start(const view_server_options *options, char *error, size_t size) {
    (void)options;
    snprintf(error, size, "mote view was built without libmicrohttpd");
    return NULL;
}

int view_server_port(const view_server *server) {
    (void)server;
    return 0;
}

const char *view_server_query(const view_server *server) {
    (void)server;
    return "";
}

bool view_server_made(view_server *server, size_t source, const char *folder) {
    (void)server;
    (void)source;
    (void)folder;
    return false;
}

void view_server_stop(view_server *server) { (void)server; }

#else

#include "view/http/http_server.h"
#include "view/live/live_socket.h"
#include "view/view_answer.h"
#include "view/view_cut.h"
#include "view/view_data.h"
#include "view/view_http.h"
#include "view/view_strip.h"
#include "view/view_upload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORTS_TO_TRY  20 /* after the first; then the system chooses */
#define PROBLEM_BYTES 256u
#define LOCATION_MAX  2500u /* of a field; the addresses of many clouds are longer, and have to be given */

struct view_server {
    http_server *http;
    view_host host;
    char *viewer_root; /* real paths, without a slash at the end */
    struct {
        _Atomic(char *) root; /* a folder, or a file where there is a name; NULL: it is not here, or not made yet */
        char *name;           /* by which the only file is asked for, or NULL */
        char *preview;        /* folder of a sample, or NULL */
        view_making *making;  /* with a preview */
    } sources[VIEW_SOURCES_MAX];
    view_marks marks;           /* their real paths */
    atomic_size_t source_count; /* grows when a dropped file has been converted */
    view_upload *upload;        /* of a local server; else NULL */
    atomic_bool is_ending;      /* cancels a strip that is being cut */
    atomic_flag is_cutting;     /* a strip; one at a time */
    view_cut *cut;              /* of a local server; else NULL */
    live_hub *live;
    const char *token;
    char *query; /* of the page's address, "?data=…" */
};

/* Tells the page that this server also cuts strips and other points out of its clouds, and reads GeoPackages. */
#if MOTE_HAVE_SQLITE && MOTE_HAVE_JANSSON
static const char TOOLS_HEADER[] = "X-Mote-Tools: strip, cut, vectors\r\n";
#else
static const char TOOLS_HEADER[] = "X-Mote-Tools: strip, cut\r\n";
#endif

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

/* The data set of a path ("/data/…", "/data2/…"; of a preview "/preview/…") and the name within it; NULL where the path
   is of the page. */
static const char *name_in_source(const view_server *server, const char *prefix, const char *path, size_t *source) {
    const size_t length = strlen(prefix);
    const char *at = path + length;
    if (strncmp(path, prefix, length) != 0) return NULL;
    size_t number = *at == '/' ? 1 : 0; /* the first one has no number */
    for (; number < VIEW_SOURCES_MAX && *at >= '0' && *at <= '9'; at++) number = 10 * number + (size_t)(*at - '0');
    if (*at != '/' || number < 1 || number > server->source_count) return NULL;
    *source = number - 1;
    return at + 1;
}

/* Opens a file of a data set: whatever else lies in its folder is not part of it. */
static int open_in_folder(const char *root, const char *name) {
    static const char *const files[] = VIEW_FOLDER_FILES;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(name, files[i]) == 0) return open_below(root, name);
    }
    return -1;
}

static int open_in_source(const view_server *server, size_t source, const char *name) {
    const char *root = server->sources[source].root;
    if (root == NULL) return -1; /* of another server */
    if (server->sources[source].name == NULL) return open_in_folder(root, name);
    if (strcmp(name, server->sources[source].name) != 0) return -1;
    return open(root, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/* Opens the file of marks of a path ("/marks1.geojson"); -1 where it is none. */
static int open_marks(const view_server *server, const char *path) {
    char name[64];
    for (size_t i = 0; i < server->marks.count; i++) {
        view_marks_name(i, name, sizeof name);
        if (strcmp(path + 1, name) != 0) continue;
        return open(server->marks.paths[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    }
    return -1;
}

static const char *page_of(const view_server *server) { return server->live != NULL ? "live.html" : "index.html"; }

static bool open_served(const view_server *server, const char *path, view_file *file) {
    size_t source = 0;
    const char *name = name_in_source(server, "/data", path, &source);
    const char *of_preview = name == NULL ? name_in_source(server, "/preview", path, &source) : NULL;
    const int marks = name == NULL ? open_marks(server, path) : -1;
    const bool is_data = name != NULL || of_preview != NULL || marks >= 0;
    if (name != NULL) {
        file->fd = open_in_source(server, source, name);
    } else if (of_preview != NULL) {
        name = of_preview;
        file->fd = server->sources[source].preview != NULL ? open_in_folder(server->sources[source].preview, name) : -1;
    } else {
        name = strcmp(path, "/") == 0 ? page_of(server) : path + 1;
        file->fd = marks >= 0 ? marks : open_below(server->viewer_root, name);
    }
    if (file->fd < 0) return false;
    if (view_file_describe(file, name, is_data)) return true;
    close(file->fd);
    return false;
}

/* Whether a path is of a cloud whose octree is still being made; its number. */
static bool is_being_made(const view_server *server, const char *path, size_t *number) {
    size_t source;
    if (name_in_source(server, "/data", path, &source) == NULL) return false;
    *number = source + 1;
    return server->sources[source].root == NULL && server->sources[source].making != NULL;
}

static int answer_being_made(http_connection *c, const view_server *server, size_t number) {
    char json[VIEW_MAKING_JSON_BYTES];
    view_making_json(server->sources[number - 1].making, number, json, sizeof json);
    return view_answer_text(c, 202, "application/json", json);
}

/* Whether a request comes from a page of this server. A page of another site cannot send here without asking first,
 * which is never answered; this refuses those that try. */
static bool is_of_our_page(const http_connection *c) {
    return view_http_is_of_our_page(http_field(c, "Origin"), http_field(c, "Host"), http_field(c, "Sec-Fetch-Site"));
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

static bool take_piece(void *upload, const void *data, size_t size) { return view_upload_take(upload, data, size); }

static void end_file(void *upload, http_connection *c, bool is_whole) {
    if (!is_whole) {
        view_upload_drop(upload);
        view_answer_status(c, 507, "");
        return;
    }
    view_upload_convert(upload);
    view_answer_text(c, 202, "application/json", "{}\n");
}

/* PUT /convert/NAME sends a file to be converted; GET /convert tells how far it is. */
static int handle_convert(http_connection *c, const view_server *server, const char *path) {
    view_upload *upload = server->upload;
    const http_body body = {take_piece, end_file, upload};
    char json[VIEW_UPLOAD_JSON_BYTES];
    if (strcmp(http_method(c), "GET") == 0) {
        view_upload_status(upload, json, sizeof json);
        return view_answer_text(c, 200, "application/json", json);
    }
    if (strcmp(http_method(c), "PUT") != 0 || strncmp(path, "/convert/", 9) != 0 || path[9] == '\0' ||
        strlen(path + 9) > NAME_MAX)
        return view_answer_status(c, 405, "");
    if (!is_of_our_page(c)) return view_answer_status(c, 403, "");
    if (http_field(c, "Content-Length") == NULL) return view_answer_status(c, 411, "");
    if (server->source_count >= VIEW_SOURCES_MAX)
        return view_answer_status(c, 503, ""); /* better than when converted */
    const int status = view_upload_begin(upload, path + 9);
    if (status != 202) return view_answer_status(c, status, "");
    http_receive(c, &body);
    return status;
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
    char folder[PATH_MAX];
    char out[PATH_MAX];
    uint64_t count;
    const char *from = server->sources[source].root;
    if (from == NULL || !make_temporary(folder, out)) {
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
static int handle_strip(http_connection *c, view_server *server, const char *path) {
    const char *query = strchr(http_target(c), '?');
    char error[512] = "";
    view_strip strip;
    struct stat info;
    char *end;
    const unsigned long number = strtoul(path, &end, 10);
    if (!is_of_our_page(c)) return view_answer_status(c, 403, "");
    if (end == path || *end != '\0' || number < 1 || number > server->source_count)
        return view_answer_status(c, 404, "");
    if (query == NULL || !view_strip_parse(query + 1, &strip)) return view_answer_status(c, 400, "");
    if (atomic_flag_test_and_set(&server->is_cutting)) return view_answer_status(c, 503, "Retry-After: 1\r\n");
    const int fd = cut_strip(server, number - 1, &strip, error, sizeof error);
    atomic_flag_clear(&server->is_cutting);
    if (fd < 0 || fstat(fd, &info) != 0) return view_answer_text(c, 500, "text/plain; charset=utf-8", error);
    return view_answer_once(c, fd, (uint64_t)info.st_size);
}

/* POST /cut/N: the points of the N-th cloud that its body asks for (view_cut.h). */
static int handle_cut(http_connection *c, view_server *server, const char *path) {
    char *end;
    const unsigned long number = strtoul(path, &end, 10);
    if (!is_of_our_page(c)) return view_answer_status(c, 403, "");
    if (end == path || *end != '\0' || number < 1 || number > server->source_count)
        return view_answer_status(c, 404, "");
    const char *root = server->sources[number - 1].root;
    if (root == NULL) return view_answer_status(c, 404, ""); /* of another server, or not made yet */
    view_cut_serve(server->cut, c, root);
    return 0;
}

/* POST /vectors: its body, a GeoPackage, as GeoJSON (view_cut.h). */
static int handle_vectors(http_connection *c, view_server *server) {
    if (!is_of_our_page(c)) return view_answer_status(c, 403, "");
    view_cut_serve_vectors(server->cut, c);
    return 0;
}

static int handle_post(http_connection *c, view_server *server, const char *path) {
    if (strncmp(path, "/strip/", 7) == 0) return handle_strip(c, server, path + 7);
    if (strcmp(path, "/vectors") == 0 && server->cut != NULL) return handle_vectors(c, server);
    if (strncmp(path, "/cut/", 5) == 0 && server->cut != NULL) return handle_cut(c, server, path + 5);
    return view_answer_status(c, 405, "");
}

static int handle_live(http_connection *c, view_server *server) {
    const int status = live_socket_serve(server->live, c, server->token);
    return status == 0 ? 0 : view_answer_status(c, status, status == 426 ? "Sec-WebSocket-Version: 13\r\n" : "");
}

/* "?data=" and what the page is to open, where it does not find that by itself, and its marks. NULL: no memory. */
static char *make_query(const view_source *sources, size_t count, size_t marks) {
    const size_t name_bytes = 3 * PATH_MAX, mark_bytes = 80,
                 size = count * (3 * name_bytes + 24) + marks * mark_bytes + 1;
    char *query = calloc(1, size), *name = malloc(name_bytes), *value = malloc(3 * name_bytes);
    const bool finds_it = count == 0 || (count == 1 && sources->file == NULL && sources->address == NULL);
    size_t length = 0;
    for (size_t i = 0; query != NULL && name != NULL && value != NULL && !finds_it && i < count; i++) {
        char folder[24] = "data/";
        if (i > 0) snprintf(folder, sizeof folder, "data%zu/", i + 1);
        if (sources[i].address != NULL) folder[0] = '\0';
        /* Once as a part of an address, and once more because that address is a value of the query. */
        if (sources[i].address != NULL)
            snprintf(name, name_bytes, "%s", sources[i].address);
        else
            view_http_encode_name(sources[i].file != NULL ? sources[i].file : "", name, name_bytes);
        view_http_encode_name(name, value, 3 * name_bytes);
        length += (size_t)snprintf(query + length, size - length, "%cdata=%s%s", i == 0 ? '?' : '&', folder, value);
    }
    for (size_t i = 0; query != NULL && i < marks; i++) {
        char file[64];
        view_marks_name(i, file, sizeof file);
        length += (size_t)snprintf(query + length, size - length, "%cmarks=%s", length == 0 ? '?' : '&', file);
    }
    const bool is_made = name != NULL && value != NULL;
    free(name);
    free(value);
    if (!is_made) free(query);
    return is_made ? query : NULL;
}

/* Whether the page is asked for without saying which data and marks. */
static bool lacks_data(const http_connection *c, const view_server *server, const char *path) {
    const char *query = strchr(http_target(c), '?');
    if (server->query[0] == '\0' || strlen(server->query) > LOCATION_MAX || strcmp(path, "/") != 0) return false;
    return query == NULL ||
           (view_http_query_value(query + 1, "data") == NULL && view_http_query_value(query + 1, "marks") == NULL);
}

/* Redirects to the same page with the query that names the data. What else the query says stays. */
static int lead_to_data(http_connection *c, const view_server *server) {
    const char *query = strchr(http_target(c), '?');
    char fields[2 * LOCATION_MAX];
    const bool says_more = query != NULL && query[1] != '\0' && strlen(query) < LOCATION_MAX / 2;
    snprintf(fields, sizeof fields, "Location: /%s%s%s\r\nCache-Control: no-store\r\n%s", server->query,
             says_more ? "&" : "", says_more ? query + 1 : "", VIEW_FIELDS_OF_DATA);
    http_answer(c, 302, fields, "");
    return 302;
}

static int handle_request(http_connection *c, view_server *server) {
    const char *method = http_method(c);
    char path[PATH_MAX];
    view_file file;
    size_t number;
    const bool is_read = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    const bool is_post = strcmp(method, "POST") == 0;
    if (server->host.is_local && !view_host_has(&server->host, http_field(c, "Host")))
        return view_answer_status(c, 403, "");
    if (!is_read && (server->upload == NULL || (!is_post && strcmp(method, "PUT") != 0)))
        return view_answer_status(c, 405, "Allow: GET, HEAD\r\n");
    if (!view_http_decode_path(http_target(c), path, sizeof path)) return view_answer_status(c, 400, "");
    if (server->live != NULL && strcmp(path, LIVE_PATH) == 0) return handle_live(c, server);
    if (is_post) return handle_post(c, server, path);
    if (is_read && server->cut != NULL && strcmp(path, "/cut") == 0) {
        view_cut_tell(server->cut, c);
        return 200;
    }
    if (server->upload != NULL && (!is_read || strcmp(path, "/convert") == 0)) return handle_convert(c, server, path);
    if (lacks_data(c, server, path)) return lead_to_data(c, server);
    if (is_being_made(server, path, &number)) return answer_being_made(c, server, number);
    if (!open_served(server, path, &file)) return view_answer_status(c, 404, "");
    return view_answer_file(c, &file, server->upload != NULL ? TOOLS_HEADER : "");
}

static void on_request(void *user, http_connection *c) { handle_request(c, user); }

static bool start_listening(view_server *server, const view_server_options *options, char *problem) {
    const int more = options->port_is_fixed || options->port == 0 ? 0 : PORTS_TO_TRY;
    http_server_options http = {server->host.plain, options->port, on_request, server, VIEW_FIELDS_OF_DATA};
    for (int i = 0; i <= more && server->http == NULL && options->port + i <= 65535; i++) {
        http.port = options->port + i;
        server->http = http_server_start(&http, problem, PROBLEM_BYTES);
    }
    http.port = 0;
    if (server->http == NULL && more > 0) server->http = http_server_start(&http, problem, PROBLEM_BYTES);
    return server->http != NULL;
}

/* What is served as one file may be named by a link; in a folder, links must not lead out. */
static bool open_root(view_server *server, size_t i, const view_source *source) {
    char path[PATH_MAX];
    const char *name = source->file != NULL ? source->file : "";
    server->source_count = i + 1;
    if (source->address != NULL) return true;
    if (source->folder == NULL) {
        server->sources[i].making = source->making;
        return (server->sources[i].preview = realpath(source->preview, NULL)) != NULL;
    }
    if (snprintf(path, sizeof path, "%s/%s", source->folder, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    server->sources[i].root = realpath(path, NULL);
    server->sources[i].name = source->file != NULL ? strdup(source->file) : NULL;
    return server->sources[i].root != NULL && (source->file == NULL || server->sources[i].name != NULL);
}

/* Returns the folder that cannot be opened, or NULL. */
static const char *open_roots(view_server *server, const view_server_options *options) {
    server->viewer_root = realpath(options->viewer_dir, NULL);
    if (server->viewer_root == NULL) return options->viewer_dir;
    for (size_t i = 0; i < options->source_count; i++) {
        const view_source *source = &options->sources[i];
        if (!open_root(server, i, source)) return source->folder != NULL ? source->folder : source->preview;
    }
    for (size_t i = 0; options->marks != NULL && i < options->marks->count; i++) {
        if (realpath(options->marks->paths[i], server->marks.paths[i]) == NULL) return options->marks->paths[i];
        server->marks.count = i + 1;
    }
    return NULL;
}

view_server *view_server_start(const view_server_options *options, char *error, size_t size) {
    view_server *server = calloc(1, sizeof *server);
    char problem[PROBLEM_BYTES] = "";
    if (server == NULL) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    view_host_find(options->host, &server->host);
    atomic_flag_clear(&server->is_cutting);
    server->live = options->live;
    server->token = options->token;
    if (server->host.is_local && server->live == NULL) {
        server->upload = view_upload_make(serve_converted, server);
        server->cut = view_cut_make(&server->is_ending);
    }
    const char *missing = open_roots(server, options);
    server->query = make_query(options->sources, options->source_count, server->marks.count);
    if (server->query == NULL) {
        snprintf(error, size, "out of memory");
    } else if (missing != NULL) {
        snprintf(error, size, "cannot open %s: %s", missing, strerror(errno));
    } else if (start_listening(server, options, problem)) {
        return server;
    } else {
        snprintf(error, size,
                 "cannot listen on %s port %d (%s): is another program using it? --port 0 takes any free one",
                 options->host, options->port, problem);
    }
    view_server_stop(server);
    return NULL;
}

bool view_server_made(view_server *server, size_t source, const char *folder) {
    char *root = realpath(folder, NULL);
    server->sources[source].root = root; /* only now do other threads look at it */
    return root != NULL;
}

const char *view_server_query(const view_server *server) { return server->query; }

int view_server_port(const view_server *server) { return http_server_port(server->http); }

void view_server_stop(view_server *server) {
    if (server == NULL) return;
    if (server->live != NULL) live_close(server->live);
    atomic_store(&server->is_ending, true);
    http_server_stop(server->http);
    view_upload_free(server->upload);
    view_cut_free(server->cut);
    free(server->viewer_root);
    free(server->query);
    for (size_t i = 0; i < server->source_count; i++) {
        free(server->sources[i].root);
        free(server->sources[i].name);
        free(server->sources[i].preview);
    }
    free(server);
}

#endif
