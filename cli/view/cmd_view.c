#define _GNU_SOURCE /* asprintf, readlink, sigtimedwait, strverscmp */
#include "command.h"

#include "print.h"
#include "session.h"
#include "view/live/live.h"
#include "view/live/live_socket.h"
#include "view/view_cache.h"
#include "view/view_data.h"
#include "view/view_export.h"
#include "view/view_http.h"
#include "view/view_marks.h"
#include "view/view_preview.h"
#include "view/view_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mote_have.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_PORT    8080
#define DEFAULT_PHOTONS 1000000
#define WAIT_S          0.2 /* between two looks at whether a signal went to another thread */
/* Of a COPC file: the first record behind its header of 375 bytes is named "copc". */
#define COPC_NAME_AT 377
#define COPC_NAME    "copc"

typedef struct view_options {
    const char *host, *export, *marks;
    const char *photons; /* with live: the scene */
    uint64_t photon_count;
    int port;
    bool port_given, no_open, live, count_given, fps_given;
    double seconds; /* 0: until a signal */
    double fps;     /* of live pictures */
} view_options;

/* What is served: a Potree folder (file is ""), or one COPC file of a folder; or what another server has (address). */
typedef struct view_data {
    char folder[PATH_MAX];
    char file[NAME_MAX + 1];
    const char *address;  /* NULL: it is here */
    view_cached *cached;  /* what is converted: folder is its octree, when that is made; NULL: it is here as it is */
    view_preview preview; /* that is shown meanwhile */
} view_data;

/* All that is served. */
typedef struct view_list {
    view_data data[VIEW_SOURCES_MAX];
    size_t count;
} view_list;

static const command_help help = {
    .synopsis = "mote view DIR|FILE|ADDRESS… [options]",
    "Serves a Potree 2.0 folder or a COPC file, as \"mote lod\" writes them, together with the viewer, and prints the\n"
    "address. Of any other file, and of all point files of a folder, an octree is made; it is kept in\n"
    "$XDG_CACHE_HOME/mote or ~/.cache/mote and used again as long as no file changes. Of LAS and LAZ a sample is "
    "shown\n"
    "until it is made: the first point of each chunk. Ctrl-C ends the server.",
    "  mote view scan.mote                    serve an octree and open the browser\n"
    "  mote view scan.copc.laz                the same of a COPC file\n"
    "  mote view a.mote b.copc.laz            several clouds in one picture\n"
    "  mote view tiles                        all COPC files and octrees of a folder\n"
    "  mote view https://host/scan/           a site of another server, if it allows that\n"
    "  mote view scan.las                     make an octree in the cache first\n"
    "  mote view survey                       all files of a folder as one cloud; a first picture in seconds\n"
    "  mote view --live scan.laz              draw here and send pictures, as it is\n"
    "  scanner | mote view --live -           the newest of the PLY, PCD, LAS or text frames that it writes\n"
    "  mote view --live --photons cornell     a photon map that fills up\n"
    "  mote view scan.mote --export site      page and data as files for a web server\n"
    "  mote view scan.mote --marks a.geojson  with what was measured and saved on its page\n"
    "  mote view scan.mote --no-open          only print the address\n"
    "  mote view scan.mote --host 0.0.0.0     let other machines of the network look, too\n",
    "The page is looked for in $MOTE_VIEWER, in ../share/mote/viewer beside the program, and in viewer/dist of\n"
    "the source tree that the program was built in.\n",
    .no_output = "it writes no file: \"mote lod IN -o DIR\" makes a folder to view, --export SITE one for a web server",
};

static bool has_file(const char *folder, const char *name) {
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, R_OK) == 0;
}

/* Finds the folder of the page; see help for the order. */
static bool find_viewer(char *out, size_t size) {
    const char *given = getenv("MOTE_VIEWER");
    if (given != NULL && given[0] != '\0')
        return snprintf(out, size, "%s", given) < (int)size && has_file(out, "index.html");
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    if (snprintf(out, size, "%s/../share/mote/viewer", program) < (int)size && has_file(out, "index.html")) return true;
    for (char *slash = program + strlen(program); slash != NULL; slash = strrchr(program, '/')) {
        *slash = '\0';
        if (snprintf(out, size, "%s/viewer/dist", program) < (int)size && has_file(out, "index.html")) return true;
    }
    return false;
}

/* Whether the page can read the file as it is: COPC, by its content, under a name that the page takes for one. */
static bool is_copc(const char *path) {
    const char *ending = strrchr(path, '.');
    if (ending == NULL || (strcasecmp(ending, ".laz") != 0 && strcasecmp(ending, ".las") != 0)) return false;
    char name[sizeof COPC_NAME] = "";
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false; /* a pipe would be waited for */
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    const bool is_read = fseek(file, COPC_NAME_AT, SEEK_SET) == 0 && fread(name, sizeof name, 1, file) == 1;
    fclose(file);
    return is_read && memcmp(name, COPC_NAME, sizeof name) == 0;
}

/* The folder of a file: what stands before its last slash, or ".". */
static void folder_of(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(out, size, ".");
    else
        snprintf(out, size, "%.*s/", (int)(slash - path), path);
}

/* The server gives files of the folder alone, so that a link does not lead out of it: what it would refuse later, when
   the page asks, is said now. */
static int check_folder(session *s, const char *folder) {
    static const char *const files[] = VIEW_FOLDER_FILES;
    char path[PATH_MAX], real[PATH_MAX], root[PATH_MAX];
    struct stat info;
    if (realpath(folder, root) == NULL) {
        return session_error(s, EXIT_INPUT, "%s: cannot open: %s", folder, strerror(errno));
    }
    const size_t length = strlen(root);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (snprintf(path, sizeof path, "%s/%s", root, files[i]) >= (int)sizeof path) {
            return session_error(s, EXIT_INPUT, "%s: its path is too long", folder);
        }
        if (realpath(path, real) == NULL || access(real, R_OK) != 0) {
            return session_error(s, EXIT_INPUT, "%s: cannot open its %s: %s", folder, files[i], strerror(errno));
        }
        if (strncmp(real, root, length) != 0 || real[length] != '/') {
            return session_error(s, EXIT_INPUT,
                                 "%s: its %s is a link out of the folder, to %s: only files in the folder are served",
                                 folder, files[i], real);
        }
        if (stat(real, &info) != 0 || !S_ISREG(info.st_mode)) { /* a pipe would be waited for */
            return session_error(s, EXIT_INPUT, "%s: its %s is not a file", folder, files[i]);
        }
    }
    return EXIT_DONE;
}

/* The next place of the list; NULL, and said, where there is none. */
static view_data *add_data(session *s, view_list *list) {
    if (list->count < VIEW_SOURCES_MAX) return memset(&list->data[list->count++], 0, sizeof(view_data));
    session_error(s, EXIT_USAGE, "at most %u clouds at once; \"mote lod IN… DIR\" makes one of many", VIEW_SOURCES_MAX);
    return NULL;
}

static int add_folder(session *s, const char *folder, view_list *list) {
    view_data *data = add_data(s, list);
    if (data == NULL) return EXIT_USAGE;
    snprintf(data->folder, sizeof data->folder, "%s", folder);
    return check_folder(s, folder);
}

/* A COPC file by its path. */
static int add_copc(session *s, const char *path, view_list *list) {
    const char *slash = strrchr(path, '/');
    view_data *data = add_data(s, list);
    if (data == NULL) return EXIT_USAGE;
    folder_of(path, data->folder, sizeof data->folder);
    snprintf(data->file, sizeof data->file, "%s", slash != NULL ? slash + 1 : path);
    return EXIT_DONE;
}

/* tile_9 before tile_10. */
static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* What is to be converted, or was before. */
static int add_conversion(session *s, const char *input, view_list *list) {
    view_data *data = add_data(s, list);
    if (data == NULL) return EXIT_USAGE;
    data->cached = calloc(1, sizeof *data->cached);
    if (data->cached == NULL) return session_error(s, EXIT_RESOURCES, "out of memory");
    const int code = view_cache_find(s, input, data->cached);
    snprintf(data->folder, sizeof data->folder, "%s", data->cached->folder);
    return code;
}

/* All COPC files and octrees of a folder that is no octree itself; where there are none, all its point files as one
   cloud. */
static int add_all_of(session *s, const char *folder, view_list *list) {
    static const char metadata[] = "metadata.json";
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, compare_names);
    const size_t before = list->count;
    int code = count >= 0 ? EXIT_DONE : session_error(s, EXIT_INPUT, "%s: cannot open: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        const bool fits = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < (int)sizeof path;
        const bool is_wanted = code == EXIT_DONE && fits && names[i]->d_name[0] != '.';
        if (is_wanted && is_copc(path))
            code = add_copc(s, path, list);
        else if (is_wanted && has_file(path, metadata))
            code = add_folder(s, path, list);
        free(names[i]);
    }
    free(names);
    return code != EXIT_DONE || list->count > before ? code : add_conversion(s, folder, list);
}

static bool is_address(const char *input) {
    return strncasecmp(input, "http://", 7) == 0 || strncasecmp(input, "https://", 8) == 0;
}

/* Adds what to serve: the folder or COPC file itself, those in a folder, the folder of a metadata.json, a conversion;
   or the address of another server. */
static int find_data(session *s, const char *input, view_list *list) {
    static const char metadata[] = "metadata.json";
    char folder[PATH_MAX];
    struct stat info;
    if (is_address(input)) {
        view_data *data = strlen(input) < PATH_MAX ? add_data(s, list) : NULL;
        if (data != NULL) data->address = input;
        return data != NULL ? EXIT_DONE : EXIT_USAGE;
    }
    if (stat(input, &info) != 0) { return session_error(s, EXIT_INPUT, "%s: cannot open: %s", input, strerror(errno)); }
    if (strlen(input) >= sizeof folder) return session_error(s, EXIT_INPUT, "%s: its path is too long", input);
    /* An octree of some points, or of points in another system. */
    if (s->options.where != NULL || s->options.crs != NULL || s->options.to_crs != NULL)
        return add_conversion(s, input, list);
    if (S_ISDIR(info.st_mode)) {
        return has_file(input, metadata) ? add_folder(s, input, list) : add_all_of(s, input, list);
    }
    if (is_copc(input)) return add_copc(s, input, list);
    const char *slash = strrchr(input, '/');
    if (strcmp(slash != NULL ? slash + 1 : input, metadata) == 0) {
        folder_of(input, folder, sizeof folder);
        return add_folder(s, folder, list);
    }
    return add_conversion(s, input, list);
}

/* Shows the address in the user's browser if there is a screen. Failing is not an error: the address is
 * printed. */
static void open_browser(const char *url) {
#ifdef __APPLE__
    const char *program = "open";
#else
    const char *program = "xdg-open";
    const char *x11 = getenv("DISPLAY");
    const char *wayland = getenv("WAYLAND_DISPLAY");
    if ((x11 == NULL || x11[0] == '\0') && (wayland == NULL || wayland[0] == '\0')) return;
#endif
    const pid_t child = fork();
    if (child < 0) return;
    if (child > 0) {
        waitpid(child, NULL, 0);
        return;
    }
    /* Forked twice, so that the browser is no zombie of ours and outlives the server. */
    if (fork() != 0) _exit(0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_DFL);
    setsid();
    const int null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; null_fd >= 0 && fd < 3; fd++) dup2(null_fd, fd);
    execlp(program, program, url, (char *)NULL);
    _exit(127);
}

/* Sleeps until one of the signals or the end of the time. A signal that came before they were blocked, or to a thread
   that was there before, has gone to the handler: so it is asked for now and then. */
static void wait_for_end(const sigset_t *signals, double seconds) {
    const double end = seconds_now() + seconds;
    while (!session_cancelled()) {
        const double remaining = seconds > 0 ? end - seconds_now() : WAIT_S;
        if (remaining <= 0) return;
        const double slice = remaining < WAIT_S ? remaining : WAIT_S;
        const struct timespec limit = {.tv_sec = (time_t)slice,
                                       .tv_nsec = (long)(1e9 * (slice - (double)(time_t)slice))};
        if (sigtimedwait(signals, NULL, &limit) > 0) return;
    }
}

/* ---- what is to be converted */

/* Makes the octrees that are not made. with_previews: of those that would be waited for, samples instead. */
static int convert(session *s, view_list *list, bool with_previews) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < list->count && code == EXIT_DONE; i++) {
        view_data *data = &list->data[i];
        if (data->cached == NULL || data->cached->is_made) continue;
        if (with_previews) code = view_preview_begin(s, data->cached, &data->preview);
        if (code == EXIT_DONE && data->preview.making == NULL) code = view_cache_make(s, data->cached);
    }
    progress_clear(&s->bar);
    return code;
}

/* Makes the octrees of what is served as a preview. One that cannot be made does not keep the others from being shown.
   Returns the first failure. */
static int finish_previews(session *s, view_list *list, view_server *server) {
    int code = EXIT_DONE;
    for (size_t i = 0; i < list->count; i++) {
        view_data *data = &list->data[i];
        if (data->preview.making == NULL) continue;
        const int own =
            session_cancelled() ? EXIT_CANCELLED : view_preview_finish(s, data->cached, &data->preview, server, i);
        if (own == EXIT_DONE) session_say(s, "%s: the octree is made, and shown", data->cached->title);
        if (code == EXIT_DONE) code = own;
    }
    return code;
}

static view_source source_of(const view_data *data) {
    if (data->preview.making != NULL)
        return (view_source){NULL, NULL, NULL, data->preview.folder, data->preview.making};
    return (view_source){data->folder, data->file[0] != '\0' ? data->file : NULL, data->address, NULL, NULL};
}

static void free_list(view_list *list) {
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        view_data *data = &list->data[i];
        view_preview_drop(&data->preview);
        if (data->cached != NULL) view_cache_free(data->cached);
        free(data->cached);
    }
    free(list);
}

/* list: what is served; empty where live is given. */
static int serve(session *s, const view_options *o, const char *viewer_dir, view_list *list, const view_marks *marks,
                 live_hub *live) {
    view_source sources[VIEW_SOURCES_MAX];
    for (size_t i = 0; i < list->count; i++) sources[i] = source_of(&list->data[i]);
    char token[LIVE_TOKEN_SIZE] = "";
    if (live != NULL && !view_server_is_local(o->host) && !live_token_make(token)) {
        return session_error(s, EXIT_FAILED, "the system gives no random numbers for a token");
    }
    const view_server_options options = {o->host,     o->port, o->port_given, viewer_dir, sources,
                                         list->count, live,    token,         marks};
    char error[512];
    char *url = NULL;
    sigset_t signals, before;
    /* Blocked before the server starts its threads, which inherit it: only wait_for_end receives them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    view_server *server = view_server_start(&options, error, sizeof error);
    if (server == NULL) { return session_error(s, EXIT_FAILED, "%s", error); }
    const bool is_everywhere = strcmp(o->host, "0.0.0.0") == 0 || strcmp(o->host, "::") == 0;
    const char *name = is_everywhere ? "127.0.0.1" : o->host;
    const bool is_ipv6 = strchr(name, ':') != NULL && name[0] != '[';
    const char *query = token[0] != '\0' ? "?token=" : view_server_query(server);
    if (asprintf(&url, is_ipv6 ? "http://[%s]:%d/%s%s" : "http://%s:%d/%s%s", name, view_server_port(server), query,
                 token) < 0) {
        view_server_stop(server);
        return session_error(s, EXIT_RESOURCES, "out of memory");
    }
    print_out("%s\n", url);
    fflush(stdout);
    if (is_everywhere && live == NULL) session_note(s, "everyone who reaches this machine can see this data set");
    session_say(s, "open this address in a browser; Ctrl-C ends the server");
    if (!o->no_open) open_browser(url);
    free(url);
    /* What is made meanwhile is interrupted by the handler, as in any command. */
    sigprocmask(SIG_SETMASK, &before, NULL);
    const int code = finish_previews(s, list, server);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    wait_for_end(&signals, o->seconds);
    if (live != NULL) session_cancel();
    view_server_stop(server);
    return code;
}

/* Writes one cloud that is here as a site. */
static int export_site(session *s, const view_options *o, const char *viewer_dir, view_list *list,
                       const view_marks *marks) {
    const view_data *data = &list->data[0];
    if (list->count != 1) return session_error(s, EXIT_USAGE, "--export writes one cloud, not %zu", list->count);
    if (data->address != NULL) return session_error(s, EXIT_USAGE, "--export writes clouds of this machine");
    const int code = convert(s, list, false);
    if (code != EXIT_DONE) return code;
    return view_export(s, viewer_dir, data->folder, data->file[0] != '\0' ? data->file : NULL, marks, o->export);
}

static int serve_live(session *s, const view_options *o, const char *viewer_dir, const arguments *inputs,
                      view_list *none) {
    live_hub *live = NULL;
    const live_options options = {inputs->words, inputs->count, o->photons, o->photon_count, o->fps};
    int code = live_start(s, &options, &live);
    if (code == EXIT_DONE) code = serve(s, o, viewer_dir, none, NULL, live);
    live_stop(live);
    return code;
}

static int find_and_serve(session *s, const view_options *o, const arguments *inputs) {
    char viewer_dir[PATH_MAX];
#if !MOTE_HAVE_MICROHTTPD
    if (o->export == NULL) return session_error(s, EXIT_FAILED, "mote view was built without libmicrohttpd");
#endif
    if (!find_viewer(viewer_dir, sizeof viewer_dir)) {
        return session_error(s, EXIT_FAILED,
                             "the viewer page is not there. Build it (make viewer) or set MOTE_VIEWER to the folder of "
                             "its index.html");
    }
    view_list *list = calloc(1, sizeof *list);
    view_marks *marks = calloc(1, sizeof *marks);
    if (list == NULL || marks == NULL) {
        free(list);
        free(marks);
        return session_error(s, EXIT_RESOURCES, "out of memory");
    }
    int code = view_marks_find(s, o->marks, marks);
    for (int i = 0; i < inputs->count && code == EXIT_DONE && !o->live; i++)
        code = find_data(s, inputs->words[i], list);
    if (code == EXIT_DONE && o->live)
        code = serve_live(s, o, viewer_dir, inputs, list);
    else if (code == EXIT_DONE && o->export != NULL)
        code = export_site(s, o, viewer_dir, list, marks);
    else if (code == EXIT_DONE && (code = convert(s, list, true)) == EXIT_DONE)
        code = serve(s, o, viewer_dir, list, marks, NULL);
    view_marks_drop(marks);
    free_list(list);
    free(marks);
    return code;
}

/* Options that would have no effect are mistakes. */
static int check_live_usage(const view_options *o, const arguments *words) {
    if (!o->live && o->photons != NULL) return usage_error("view", "--photons is for --live");
    if (!o->live && o->fps_given) return usage_error("view", "--fps is for --live");
    if (o->count_given && o->photons == NULL) return usage_error("view", "-n is for --photons");
    if (o->live && o->marks != NULL) return usage_error("view", "--live has no place for --marks");
    if (o->live && o->export != NULL) return usage_error("view", "--live needs a server: it cannot be exported");
    if (!(o->fps >= 1 && o->fps <= 1000)) return usage_error("view", "--fps is not in 1..1000");
    if (o->photon_count < 1 || o->photon_count > MOTE_PHOTON_MAX_PHOTONS) {
        return usage_error("view", "-n is not in 1..%u", MOTE_PHOTON_MAX_PHOTONS);
    }
    if (o->photons != NULL && words->count > 0) return usage_error("view", "--photons takes no files beside it");
    if (o->photons == NULL && words->count < 1) return usage_error("view", "view needs a folder or file");
    return EXIT_DONE;
}

int cmd_view(int argc, char **argv) {
    view_options o = {.host = "127.0.0.1", .port = DEFAULT_PORT, .fps = 30, .photon_count = DEFAULT_PHOTONS};
    const option rows[] = {
        {"port", 0, OPTION_INT, &o.port, &o.port_given, "N", "default 8080, or the next free one; 0: any free port"},
        {"host", 0, OPTION_TEXT, &o.host, NULL, "ADDR", "address to bind; default 127.0.0.1: only this machine"},
        {"live", 0, OPTION_FLAG, &o.live, NULL, NULL,
         "draw here and send pictures: any cloud, without preparing\nit; a folder or a pipe (-): its newest frame, as "
         "frames come"},
        {"photons", 0, OPTION_TEXT, &o.photons, NULL, "SCENE",
         "with --live, instead of inputs: the photon map of a scene\nof mote photon, while photons fly"},
        {"count", 'n', OPTION_COUNT, &o.photon_count, &o.count_given, "N", "of photons; default 1M"},
        {"fps", 0, OPTION_REAL, &o.fps, &o.fps_given, "N",
         "with --live: pictures a second for which moving ones are\nmade small enough; default 30"},
        {"no-open", 0, OPTION_FLAG, &o.no_open, NULL, NULL, "do not open a browser"},
        {"export", 0, OPTION_TEXT, &o.export, NULL, "SITE",
         "write page and data to a new folder, for any web server, and end"},
        {"marks", 0, OPTION_TEXT, &o.marks, NULL, "A,B,…",
         "files of marks and saved views (GeoJSON, GeoPackage):\nshown, or with --export in the folder"},
        {"for", 0, OPTION_REAL, &o.seconds, NULL, "SECONDS", "end after this time; default when interrupted"},
        {0},
    };
    common_options common;
    arguments words;
    const parse_result parsed =
        options_parse(&help, rows, COMMON_RUN | COMMON_WHERE | COMMON_CRS, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    const int usage = check_live_usage(&o, &words);
    if (usage != EXIT_DONE) return usage;
    if (words.count > 1 && o.export != NULL)
        return usage_error("view", "--export writes one cloud, not %d", words.count);
    if (o.port < 0 || o.port > 65535) return usage_error("view", "--port is %d, not from 0 to 65535", o.port);
    if (!(o.seconds >= 0 && o.seconds < 1e9)) return usage_error("view", "--for needs a number of seconds");
    session s;
    int code = session_open(&s, "view", &common);
    if (code == EXIT_DONE) code = find_and_serve(&s, &o, &words);
    return session_close(&s, code);
}
