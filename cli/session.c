/* One run of a command: its context, messages, cancellation and exit code. */
#define _GNU_SOURCE /* sigaction */
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine_memory.h"
#include "messages.h"
#include "paths.h"
#include "print.h"
#include "stage.h"
#include "text.h"

#define USAGE_LINES  256
#define PLACE_BYTES  4400 /* of a stage: a path, and where in the file */
#define NAMES_BYTES  4200 /* of inputs: a path, or several short ones */
#define SAME_WISH_MS 1000 /* signals so near to the first one say nothing new */

/* Written by a handler and by any thread, read by all of them: so they are atomic, and without a lock. */
static atomic_bool stop_wanted;
static atomic_llong stopped_at_ms; /* when a signal asked first; 0: none did */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2, "handlers of signals may take no lock");

/* The first signal asks to stop, a later one kills. What comes with the first is the same wish: a shell, or timeout,
   sends one to the process and one to its group. */
static void on_signal(int number) {
    struct timespec now;
    long long never = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long now_ms = 1000ll * now.tv_sec + now.tv_nsec / 1000000 + 1;
    const bool is_first = atomic_compare_exchange_strong(&stopped_at_ms, &never, now_ms);
    atomic_store(&stop_wanted, true);
    if (is_first || now_ms - never < SAME_WISH_MS) return;
    signal(number, SIG_DFL);
    raise(number);
}

bool session_cancelled(void) { return atomic_load(&stop_wanted); }
void session_cancel(void) { atomic_store(&stop_wanted, true); }

static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        /* nohup asks to go on without a terminal */
        if (numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
}

/* The session that a message is for: that of the command which is a stage of a pipeline, or the context's own. */
static session *session_running(session *own) {
    const command_stage *stage = stage_now();
    return stage != NULL && stage->inner != NULL ? stage->inner : own;
}

static bool on_progress(void *user, double done, const char *stage) {
    session *s = session_running(user);
    progress_update(&s->bar, done, stage);
    if (s->watch != NULL) s->watch(s->watch_user, done, stage);
    return !session_cancelled();
}

/* ---- messages */

static void print_message(session *s, const char *kind, const char *format, va_list values) {
    progress_clear(&s->bar);
    print_to(stderr, "mote: %s", kind);
    print_values(stderr, format, values);
    print_to(stderr, "\n");
}

/* The message, with how much memory would do, where it lacks some and does not say so. */
static const char *hint_memory(const session *s, const char *message, char hinted[NAMES_BYTES]) {
    if (s->options.memory_bytes == 0 || strstr(message, "would do") != NULL) return message;
    if (s->enough_bytes > 0) {
        snprintf(hinted, NAMES_BYTES, "%s; %s--memory %s or more would do", message,
                 s->enough_in_parts ? "in parts, " : "", text_memory(s->enough_bytes).chars);
    } else {
        snprintf(hinted, NAMES_BYTES, "%s; a larger --memory would do", message);
    }
    return hinted;
}

int session_error(session *s, int exit_code, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char kind[PLACE_BYTES], hinted[NAMES_BYTES];
    snprintf(kind, sizeof kind, "error: %s", stage_place());
    if (strncmp(format, "out of memory", 13) == 0) format = hint_memory(s, format, hinted);
    print_message(s, kind, format, values);
    va_end(values);
    return exit_code;
}

void session_note(session *s, const char *format, ...) {
    if (s->options.quiet) return;
    va_list values;
    va_start(values, format);
    print_message(s, "note: ", format, values);
    va_end(values);
}

void session_say(session *s, const char *format, ...) {
    if (s->options.quiet) return;
    va_list values;
    va_start(values, format);
    print_message(s, "", format, values);
    va_end(values);
}

static void on_log(void *user, mote_log_level level, const char *message) {
    session *s = session_running(user);
    if (s->ctx == NULL) { /* the device cannot be used: session_open says so */
        snprintf(s->refusal, sizeof s->refusal, "%s", message);
        return;
    }
    if (level == MOTE_LOG_WARNING && strstr(message, "extra bytes") != NULL) s->extra_bytes = true;
    const bool is_told = level == MOTE_LOG_WARNING || level == MOTE_LOG_NOTE;
    if (is_told) messages_add(s->messages, level == MOTE_LOG_WARNING ? "warning" : "note", message);
    if (s->options.quiet || (level == MOTE_LOG_INFO && !s->options.verbose)) return;
    /* What is noted of many inputs is printed once. */
    if (level == MOTE_LOG_NOTE && strncmp(s->noted, message, sizeof s->noted - 1) == 0) return;
    if (level == MOTE_LOG_NOTE) snprintf(s->noted, sizeof s->noted, "%s", message);
    progress_clear(&s->bar);
    const char *kind = level == MOTE_LOG_WARNING ? "warning: " : level == MOTE_LOG_NOTE ? "note: " : "";
    print_to(stderr, "mote: %s%s\n", kind, message);
}

/* What the library calls an input in its messages. */
static const char *input_title(const char *input) { return strcmp(input, "-") == 0 ? "standard input" : input; }

/* Whether the message begins with the name of an input, or of a file in it: inputs that are looked at where they are
   may fail as late as while the output is written. */
static bool is_of_input(const session *s, const char *message) {
    for (int list = 0; list < SESSION_INPUTS; list++) {
        for (int i = 0; i < s->input_counts[list]; i++) {
            const char *input = input_title(s->inputs[list][i]);
            const size_t length = strlen(input);
            if (strncmp(message, input, length) == 0 && strchr(":/", message[length]) != NULL) return true;
        }
    }
    return false;
}

/* The names of the inputs, to put before what is wrong with the points of one of them. */
static void name_inputs(const session *s, char *names, size_t size_bytes) {
    size_t at = 0;
    names[0] = '\0';
    for (int list = SESSION_INPUTS - 1; list >= 0; list--) {
        for (int i = 0; i < s->input_counts[list] && at < size_bytes; i++) {
            const int length =
                snprintf(names + at, size_bytes - at, "%s%s", at > 0 ? ", " : "", input_title(s->inputs[list][i]));
            if (length > 0) at += (size_t)length;
        }
    }
}

/* A mistake in an expression is shown in lines below the message: the expression, and a caret. */
static const char *find_caret(const char *message) {
    const char *last = strrchr(message, '\n');
    if (last == NULL || last[1 + strspn(last + 1, " ")] != '^') return NULL;
    while (last > message && last[-1] != '\n') last--;
    return last > message ? last : NULL;
}

static void print_failure(session *s, const char *names, const char *message) {
    const char *colon = names[0] != '\0' ? ": " : "", *below = find_caret(message);
    if (below == NULL) {
        session_error(s, 0, "%s%s%s", names, colon, message);
        return;
    }
    const char *caret = strrchr(message, '\n') + 1;
    session_error(s, 0, "%s%s%.*s\n%.*s\n%s", names, colon, (int)(below - message) - 1, message,
                  (int)(caret - below) - 1, below, caret);
}

int session_fail(session *s, mote_status status, bool reading) {
    const char *message = mote_context_message(s->ctx);
    if (status == MOTE_ERROR_CLOSED) return EXIT_FAILED; /* as "| head" does: nothing to complain of */
    if (message[0] == '\0') message = mote_status_name(status);
    if (status == MOTE_CANCELLED) {
        session_say(s, "%s", message);
        return EXIT_CANCELLED;
    }
    char names[NAMES_BYTES] = "";
    /* Readers name the file themselves; who computes something of a cloud does not know where it came from. */
    if (status == MOTE_ERROR_DATA && !reading && !is_of_input(s, message)) name_inputs(s, names, sizeof names);
    char hinted[NAMES_BYTES];
    print_failure(s, names, status == MOTE_ERROR_MEMORY ? hint_memory(s, message, hinted) : message);
    switch (status) {
    case MOTE_OK: return EXIT_DONE;
    case MOTE_ERROR_ARGUMENT: return EXIT_USAGE;
    case MOTE_ERROR_DATA:
    case MOTE_ERROR_CHANGED: return EXIT_INPUT;
    case MOTE_ERROR_MEMORY:
    case MOTE_ERROR_DISK: return EXIT_RESOURCES;
    case MOTE_ERROR_IO: return reading || is_of_input(s, message) ? EXIT_INPUT : EXIT_FAILED;
    default: return EXIT_FAILED;
    }
}

/* ---- begin and end */

#define DEVICES_MAX 64u
#define GPUS_MAX    8 /* that a context takes */

/* A bit for each GPU that can be used; where there is none, making the context says why. */
static uint64_t all_gpus(void) {
    mote_device_info devices[DEVICES_MAX];
    const uint32_t count = mote_devices(devices, DEVICES_MAX);
    uint64_t gpus = 0;
    for (uint32_t i = 0, found = 0; i < count && i < DEVICES_MAX && found < GPUS_MAX; i++) {
        if (devices[i].kind != MOTE_DEVICE_CUDA || !devices[i].usable) continue;
        gpus |= 1ull << devices[i].index;
        found++;
    }
    return gpus;
}

/* "0,1": a bit for each of several GPUs. */
static bool parse_gpus(const char *list, uint64_t *gpus) {
    char word[8];
    uint64_t index;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length >= sizeof word || !parse_count(word, 0, &index) || index >= 64) return false;
        if ((*gpus >> index & 1) != 0) return false; /* named twice */
        *gpus |= 1ull << index;
        at += length;
        if (*at == '\0') return __builtin_popcountll(*gpus) <= GPUS_MAX;
    }
}

/* "auto", "cpu", "cuda", "cuda:1", "cuda:0,1", "cuda:all". */
static bool parse_device(const char *word, mote_context_params *params) {
    uint64_t index = 0;
    if (strcmp(word, "auto") == 0) {
        params->device = MOTE_DEVICE_AUTO;
    } else if (strcmp(word, "cpu") == 0) {
        params->device = MOTE_DEVICE_CPU;
    } else if (strcmp(word, "cuda") == 0) {
        params->device = MOTE_DEVICE_CUDA;
    } else if (strcmp(word, "cuda:all") == 0) {
        params->device = MOTE_DEVICE_CUDA;
        params->gpus = all_gpus();
    } else if (strncmp(word, "cuda:", 5) == 0 && strchr(word, ',') != NULL) {
        params->device = MOTE_DEVICE_CUDA;
        return parse_gpus(word + 5, &params->gpus);
    } else if (strncmp(word, "cuda:", 5) == 0 && parse_count(word + 5, 0, &index) && index < 1024) {
        params->device = MOTE_DEVICE_CUDA;
    } else {
        return false;
    }
    params->device_index = (int)index;
    return true;
}

/* A stage of a pipeline works in the pipeline's context. */
static int open_in_stage(session *s, command_stage *stage, const char *command, const common_options *options) {
    *s = *stage->outer;
    s->command = command;
    s->options = *options;
    s->started = seconds_now();
    stage->inner = s;
    return stage->check_only ? STAGE_STOP : EXIT_DONE;
}

int session_open(session *s, const char *command, const common_options *options) {
    if (stage_now() != NULL && stage_now()->outer != NULL) return open_in_stage(s, stage_now(), command, options);
    memset(s, 0, sizeof *s);
    s->command = command;
    s->options = *options;
    s->started = seconds_now();
    mote_context_params params = mote_context_defaults();
    if (!parse_device(options->device, &params)) {
        return usage_error(command, "--device: \"%s\" is not auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all",
                           options->device);
    }
    s->has_several_gpus = __builtin_popcountll(params.gpus) > 1;
    params.threads = options->threads;
    params.memory_limit_bytes = options->memory_bytes;
    params.device_memory_limit_bytes = options->device_memory_bytes;
    if (options->memory_bytes > 0) machine_memory_goes_back();
    params.device_stages = !options->no_stages;
    params.progress = on_progress;
    params.log = on_log;
    params.progress_user = params.log_user = s;
    progress_start(&s->bar, !options->quiet);
    if (options->json) s->messages = calloc(1, sizeof *s->messages);
    catch_signals();
    const mote_status status = mote_context_create(&params, &s->ctx);
    if (status != MOTE_OK && s->refusal[0] != '\0') {
        return session_error(s, status == MOTE_ERROR_MEMORY ? EXIT_RESOURCES : EXIT_FAILED, "--device %s: %s",
                             options->device, s->refusal);
    }
    if (status != MOTE_OK) return session_error(s, EXIT_FAILED, "cannot start: %s", mote_status_name(status));
    return EXIT_DONE;
}

static void print_bytes(const char *name, bool on_device, uint64_t bytes) {
    char label[64];
    snprintf(label, sizeof label, "%s%s", name, on_device ? " (GPU)" : "");
    print_to(stderr, "mote:   %-28s %14s at most\n", label, text_bytes(bytes).chars);
}

static void print_usage(const session *s) {
    mote_usage lines[USAGE_LINES]; /* of its own: live pictures have several sessions, in several threads */
    uint32_t count = mote_context_usage(s->ctx, lines, USAGE_LINES);
    if (count > USAGE_LINES) count = USAGE_LINES;
    print_to(stderr, "mote: %s on %d threads, %s in all\n", mote_context_backend(s->ctx), mote_context_threads(s->ctx),
             text_seconds(seconds_now() - s->started).chars);
    for (uint32_t i = 0; i < count; i++) {
        if (lines[i].peak_bytes > 0) {
            print_bytes(lines[i].name, lines[i].on_device, lines[i].peak_bytes);
        } else if (lines[i].seconds > 0) {
            print_to(stderr, "mote:   %-28s %14s\n", lines[i].name, text_seconds(lines[i].seconds).chars);
        }
    }
    const uint64_t device_bytes = mote_context_device_peak_bytes(s->ctx);
    print_bytes("all memory", false, mote_context_memory_peak_bytes(s->ctx));
    if (device_bytes > 0) print_bytes("all GPU memory", false, device_bytes);
}

void session_printing(const session *s) {
    if (!s->data_on_stdout) return;
    fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

int session_hold(session *s) {
    if (stage_now() != NULL) return EXIT_DONE; /* the pipeline holds the outputs of all its stages */
    const mote_status status = mote_outputs_hold(s->ctx);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

int session_commit(session *s) {
    if (stage_now() != NULL) return EXIT_DONE;
    const mote_status status = mote_outputs_release(s->ctx, MOTE_OK);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

int session_close(session *s, int exit_code) {
    progress_clear(&s->bar);
    if (stage_now() != NULL) {
        stage_now()->inner = NULL;
        return exit_code;
    }
    if (s->ctx != NULL)
        mote_outputs_release(s->ctx, MOTE_CANCELLED); /* of a command that failed before session_commit */
    if (s->ctx != NULL && s->options.verbose) print_usage(s);
    mote_context_destroy(s->ctx);
    s->ctx = NULL;
    messages_clear(s->messages);
    free(s->messages);
    s->messages = NULL;
    return exit_code;
}

FILE *session_open_file(session *s, const char *path) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL || mote_outputs_note_input(s->ctx, path) == MOTE_OK) return file;
    fclose(file);
    errno = ENOMEM;
    return NULL;
}

void session_note_inputs(session *s, const char *const *paths, int count) {
    memmove(s->inputs + 1, s->inputs, sizeof s->inputs - sizeof s->inputs[0]);
    memmove(s->input_counts + 1, s->input_counts, sizeof s->input_counts - sizeof s->input_counts[0]);
    s->inputs[0] = paths;
    s->input_counts[0] = count;
}

void session_forget_inputs(session *s) { memset(s->input_counts, 0, sizeof s->input_counts); }

mote_read_params session_reading(const session *s) {
    mote_read_params params = mote_read_defaults();
    params.where = s->options.where;
    params.crs = s->options.crs;
    params.to_crs = s->options.to_crs;
    params.crs_ballpark = s->options.crs_ballpark;
    params.where_in_to_crs = s->options.where_in == 1;
    return params;
}

void session_note_none(session *s, const char *path, const mote_read_params *params) {
    if (params->where == NULL) return;
    session_note(s, "%s: no point%s meets --where \"%s\"", path_title(path),
                 params->bounds != NULL ? " within the bounds" : "", params->where);
}

int session_read(session *s, const char *const *paths, int count, const mote_read_params *params, mote_cloud **out) {
    const mote_read_params own = session_reading(s);
    const int code = session_read_any(s, paths, count, params, out);
    if (code == EXIT_DONE && mote_cloud_count(*out) == 0) {
        session_note_none(s, paths[0], params != NULL ? params : &own);
    }
    return code;
}

int session_read_any(session *s, const char *const *paths, int count, const mote_read_params *params,
                     mote_cloud **out) {
    *out = NULL;
    command_stage *const stage = stage_now();
    if (stage != NULL && stage->cloud != NULL && count == 1 && strcmp(paths[0], stage->title) == 0) {
        *out = stage->cloud;
        if (stage->gives) stage->cloud = NULL;
        s->bar.points = mote_cloud_count(*out);
        return EXIT_DONE;
    }
    session_note_inputs(s, paths, count);
    const mote_read_params own = session_reading(s);
    const mote_status status =
        mote_cloud_read_many(s->ctx, paths, (uint32_t)count, params != NULL ? params : &own, out);
    if (status != MOTE_OK) return session_fail(s, status, true);
    s->bar.points = mote_cloud_count(*out);
    return EXIT_DONE;
}
