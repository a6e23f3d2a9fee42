#define _GNU_SOURCE /* readlink, sigtimedwait */
#include "cmd_view.h"

#include "view_cache.h"
#include "view_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3 };

#define DEFAULT_PORT 8080

typedef struct view_options {
    const char *input;
    const char *host;
    int port;
    bool port_is_fixed;
    bool open_browser;
    double seconds; /* 0: until a signal */
} view_options;

static const char HELP[] =
    "Examples\n"
    "  mote view scan.mote                    serve an octree and open the browser\n"
    "  mote view scan.las                     convert it first, into the cache\n"
    "  mote view scan.mote --no-open          only print the address\n"
    "  mote view scan.mote --host 0.0.0.0     let other machines of the network look, too\n"
    "\n"
    "Usage: mote view [options] DIR|FILE\n"
    "\n"
    "Serves a Potree 2.0 folder, as `mote lod` writes it, together with the viewer, and prints the address.\n"
    "Any other file is converted first; the result is kept in $XDG_CACHE_HOME/mote or ~/.cache/mote and "
    "used\n"
    "again as long as the file does not change. Ctrl-C ends the server.\n"
    "\n"
    "Options\n"
    "  --port N       port to serve on (8080, or the next free one); 0: any free port\n"
    "  --host ADDR    address to bind (127.0.0.1: only this machine)\n"
    "  --no-open      do not open a browser\n"
    "  --for SECONDS  end after this time\n"
    "  --help         this text\n"
    "\n"
    "The page is looked for in $MOTE_VIEWER, in ../share/mote/viewer beside the program, and in viewer/dist "
    "of\n"
    "the source tree that the program was built in.\n";

static int usage_error(const char *what, const char *value) {
    fprintf(stderr, "mote view: %s%s%s. See: mote view --help\n", what, value != NULL ? ": " : "",
            value != NULL ? value : "");
    return EXIT_USAGE;
}

/* The value of "--name value" or "--name=value"; NULL if this argument is not that option. */
static const char *option_value(const char *name, int argc, char **argv, int *i, bool *is_missing) {
    const size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) return NULL;
    if (argv[*i][length] == '=') return argv[*i] + length + 1;
    if (argv[*i][length] != '\0') return NULL;
    if (*i + 1 >= argc) {
        *is_missing = true;
        return "";
    }
    return argv[++*i];
}

static bool read_port(const char *text, int *port) {
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0 || value > 65535) return false;
    *port = (int)value;
    return true;
}

static bool read_seconds(const char *text, double *seconds) {
    char *end = NULL;
    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds > 0 && *seconds < 1e9;
}

/* Returns EXIT_DONE if all is understood. */
static int parse_options(int argc, char **argv, view_options *o) {
    bool is_missing = false;
    for (int i = 1; i < argc; i++) {
        const char *given = argv[i];
        const char *value = NULL;
        if ((value = option_value("--port", argc, argv, &i, &is_missing)) != NULL) {
            if (!is_missing && !read_port(value, &o->port)) return usage_error("not a port from 0 to 65535", value);
            o->port_is_fixed = true;
        } else if ((value = option_value("--host", argc, argv, &i, &is_missing)) != NULL) {
            o->host = value;
        } else if ((value = option_value("--for", argc, argv, &i, &is_missing)) != NULL) {
            if (!is_missing && !read_seconds(value, &o->seconds)) return usage_error("not a number of seconds", value);
        } else if (strcmp(given, "--no-open") == 0) {
            o->open_browser = false;
        } else if (given[0] == '-' && given[1] != '\0') {
            return usage_error("unknown option", given);
        } else if (o->input != NULL) {
            return usage_error("only one folder or file can be shown; this is one too many", given);
        } else {
            o->input = given;
        }
        if (is_missing) return usage_error("this option needs a value", given);
    }
    return o->input != NULL ? EXIT_DONE : usage_error("no folder or file is given", NULL);
}

static bool has_file(const char *folder, const char *name) {
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, R_OK) == 0;
}

/* Finds the folder of the page; see HELP for the order. */
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

/* Gives the Potree folder to serve: the input itself, the folder of a metadata.json, or a conversion. */
static int find_data(const char *input, char *out, size_t size) {
    static const char metadata[] = "metadata.json";
    struct stat info;
    if (stat(input, &info) != 0) {
        fprintf(stderr, "mote view: cannot open %s: %s\n", input, strerror(errno));
        return EXIT_INPUT;
    }
    if (S_ISDIR(info.st_mode)) {
        if (snprintf(out, size, "%s", input) < (int)size && has_file(out, metadata)) return EXIT_DONE;
        fprintf(stderr, "mote view: %s holds no metadata.json. Make an octree of its files first: mote lod %s DIR\n",
                input, input);
        return EXIT_INPUT;
    }
    const char *slash = strrchr(input, '/');
    if (strcmp(slash != NULL ? slash + 1 : input, metadata) == 0) {
        if (slash == NULL)
            snprintf(out, size, ".");
        else
            snprintf(out, size, "%.*s/", (int)(slash - input), input);
        return EXIT_DONE;
    }
    return view_convert_to_cache(input, out, size);
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
    /* Forked twice, so that the browser is nobody's zombie and outlives the server. */
    if (fork() != 0) _exit(0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    const int null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; null_fd >= 0 && fd < 3; fd++) dup2(null_fd, fd);
    execlp(program, program, url, (char *)NULL);
    _exit(127);
}

/* Sleeps until one of the signals or the end of the time. */
static void wait_for_end(const sigset_t *signals, double seconds) {
    if (seconds <= 0) {
        while (sigwaitinfo(signals, NULL) < 0 && errno == EINTR) {}
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        const double left = end - (double)now.tv_sec - 1e-9 * (double)now.tv_nsec;
        if (left <= 0) return;
        struct timespec limit = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - (double)(time_t)left))};
        if (sigtimedwait(signals, NULL, &limit) > 0) return;
    }
}

static int serve(const view_options *o, const char *viewer_dir, const char *data_dir) {
    const view_server_options options = {o->host, o->port, o->port_is_fixed, viewer_dir, data_dir};
    char error[512];
    char url[320];
    sigset_t signals;
    /* Blocked before the server starts its threads, which inherit it: only wait_for_end receives them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    view_server *server = view_server_start(&options, error, sizeof error);
    if (server == NULL) {
        fprintf(stderr, "mote view: %s\n", error);
        return EXIT_FAILED;
    }
    const bool is_everywhere = strcmp(o->host, "0.0.0.0") == 0 || strcmp(o->host, "::") == 0;
    const char *name = is_everywhere ? "127.0.0.1" : o->host;
    const bool is_ipv6 = strchr(name, ':') != NULL;
    snprintf(url, sizeof url, is_ipv6 ? "http://[%s]:%d/" : "http://%s:%d/", name, view_server_port(server));
    printf("%s\n", url);
    fflush(stdout);
    if (is_everywhere) fprintf(stderr, "mote view: everyone who reaches this machine can see this data set\n");
    if (o->open_browser) open_browser(url);
    wait_for_end(&signals, o->seconds);
    view_server_stop(server);
    return EXIT_DONE;
}

int cmd_view(int argc, char **argv) {
    view_options o = {.host = "127.0.0.1", .port = DEFAULT_PORT, .open_browser = true};
    char viewer_dir[PATH_MAX];
    char data_dir[PATH_MAX];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(HELP, stdout);
            return EXIT_DONE;
        }
    }
    int code = parse_options(argc, argv, &o);
    if (code != EXIT_DONE) return code;
#ifndef MOTE_HAVE_CIVETWEB
    fprintf(stderr, "mote view was built without civetweb\n");
    return EXIT_FAILED;
#endif
    if (!find_viewer(viewer_dir, sizeof viewer_dir)) {
        fprintf(stderr, "mote view: the viewer page is not there. Build it (cd viewer && npm ci && npm run build) or "
                        "set MOTE_VIEWER to the folder of its index.html\n");
        return EXIT_FAILED;
    }
    code = find_data(o.input, data_dir, sizeof data_dir);
    return code != EXIT_DONE ? code : serve(&o, viewer_dir, data_dir);
}
