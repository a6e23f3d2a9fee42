#define _GNU_SOURCE /* readlink, sigtimedwait */
#include "command.h"

#include "session.h"
#include "view/view_cache.h"
#include "view/view_server.h"

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

#define DEFAULT_PORT 8080

typedef struct view_options {
    const char *host;
    int port;
    bool port_given, no_open;
    double seconds; /* 0: until a signal */
} view_options;

static const command_help help = {
    .synopsis = "mote view DIR|FILE [options]",
    "Serves a Potree 2.0 folder, as \"mote lod\" writes it, together with the viewer, and prints the address.\n"
    "Any other file is converted first; the result is kept in $XDG_CACHE_HOME/mote or ~/.cache/mote and used\n"
    "again as long as the file does not change. Ctrl-C ends the server.",
    "  mote view scan.mote                    serve an octree and open the browser\n"
    "  mote view scan.las                     convert it first, into the cache\n"
    "  mote view scan.mote --no-open          only print the address\n"
    "  mote view scan.mote --host 0.0.0.0     let other machines of the network look, too\n",
    "The page is looked for in $MOTE_VIEWER, in ../share/mote/viewer beside the program, and in viewer/dist of\n"
    "the source tree that the program was built in.\n",
    .no_output = "it writes no file: \"mote lod IN -o DIR\" makes a folder to view",
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

/* Gives the Potree folder to serve: the input itself, the folder of a metadata.json, or a conversion. */
static int find_data(session *s, const char *input, char *out, size_t size) {
    static const char metadata[] = "metadata.json";
    struct stat info;
    if (stat(input, &info) != 0) { return session_error(s, EXIT_INPUT, "%s: cannot open: %s", input, strerror(errno)); }
    if (S_ISDIR(info.st_mode)) {
        if (snprintf(out, size, "%s", input) < (int)size && has_file(out, metadata)) return EXIT_DONE;
        return session_error(s, EXIT_INPUT, "%s: no metadata.json there. Make an octree of its files: mote lod %s DIR",
                             input, input);
    }
    const char *slash = strrchr(input, '/');
    if (strcmp(slash != NULL ? slash + 1 : input, metadata) == 0) {
        if (slash == NULL)
            snprintf(out, size, ".");
        else
            snprintf(out, size, "%.*s/", (int)(slash - input), input);
        return EXIT_DONE;
    }
    return view_convert_to_cache(s, input, out, size);
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
        const double remaining = end - (double)now.tv_sec - 1e-9 * (double)now.tv_nsec;
        if (remaining <= 0) return;
        struct timespec limit = {.tv_sec = (time_t)remaining,
                                 .tv_nsec = (long)(1e9 * (remaining - (double)(time_t)remaining))};
        if (sigtimedwait(signals, NULL, &limit) > 0) return;
    }
}

static int serve(session *s, const view_options *o, const char *viewer_dir, const char *data_dir) {
    const view_server_options options = {o->host, o->port, o->port_given, viewer_dir, data_dir};
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
    if (server == NULL) { return session_error(s, EXIT_FAILED, "%s", error); }
    const bool is_everywhere = strcmp(o->host, "0.0.0.0") == 0 || strcmp(o->host, "::") == 0;
    const char *name = is_everywhere ? "127.0.0.1" : o->host;
    const bool is_ipv6 = strchr(name, ':') != NULL;
    snprintf(url, sizeof url, is_ipv6 ? "http://[%s]:%d/" : "http://%s:%d/", name, view_server_port(server));
    printf("%s\n", url);
    fflush(stdout);
    if (is_everywhere) session_note(s, "everyone who reaches this machine can see this data set");
    session_say(s, "open this address in a browser; Ctrl-C ends the server");
    if (!o->no_open) open_browser(url);
    wait_for_end(&signals, o->seconds);
    view_server_stop(server);
    return EXIT_DONE;
}

static int find_and_serve(session *s, const view_options *o, const char *input) {
    char viewer_dir[PATH_MAX];
    char data_dir[PATH_MAX];
#ifndef MOTE_HAVE_CIVETWEB
    return session_error(s, EXIT_FAILED, "mote view was built without civetweb");
#endif
    if (!find_viewer(viewer_dir, sizeof viewer_dir)) {
        return session_error(s, EXIT_FAILED,
                             "the viewer page is not there. Build it (make viewer) or set MOTE_VIEWER to the folder of "
                             "its index.html");
    }
    const int code = find_data(s, input, data_dir, sizeof data_dir);
    return code != EXIT_DONE ? code : serve(s, o, viewer_dir, data_dir);
}

int cmd_view(int argc, char **argv) {
    view_options o = {.host = "127.0.0.1", .port = DEFAULT_PORT};
    const option rows[] = {
        {"port", 0, OPTION_INT, &o.port, &o.port_given, "N", "default 8080, or the next free one; 0: any free port"},
        {"host", 0, OPTION_TEXT, &o.host, NULL, "ADDR", "address to bind; default 127.0.0.1: only this machine"},
        {"no-open", 0, OPTION_FLAG, &o.no_open, NULL, NULL, "do not open a browser"},
        {"for", 0, OPTION_REAL, &o.seconds, NULL, "SECONDS", "end after this time; default when interrupted"},
        {0},
    };
    common_options common;
    arguments words;
    const parse_result parsed = options_parse(&help, rows, COMMON_RUN, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (words.count != 1) return usage_error("view", "view needs one folder or file");
    if (o.port < 0 || o.port > 65535) return usage_error("view", "--port is %d, not from 0 to 65535", o.port);
    if (!(o.seconds >= 0 && o.seconds < 1e9)) return usage_error("view", "--for needs a number of seconds");
    session s;
    int code = session_open(&s, "view", &common);
    if (code == EXIT_DONE) code = find_and_serve(&s, &o, words.words[0]);
    return session_close(&s, code);
}
