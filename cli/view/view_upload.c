#define _GNU_SOURCE /* mkdtemp, O_CLOEXEC */
#include "view/view_upload.h"

#include "view/view_answer.h"
#include "view/view_data.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mote/mote.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING_MAX 12u
#define TOLD_BYTES 2048u /* of warnings and notes; what there is no room for is counted */

typedef enum upload_state { NONE, RECEIVING, CONVERTING, DONE, FAILED } upload_state;

static const char *const state_names[] = {"none", "receiving", "converting", "done", "failed"};

/*  root/              made at the first file, removed at the end
 *    in.laz           the file as it was received; removed when it is converted
 *    1/ 2/ …          a Potree folder of each file                                  */
struct view_upload {
    pthread_mutex_t lock; /* of all below */
    pthread_t thread;
    bool has_thread; /* to be joined */
    upload_state state;
    bool is_cancelled;
    double done;
    char stage[64], error[512], name[NAME_MAX + 1];
    char told[TOLD_BYTES]; /* warnings and notes of the conversion, a line each */
    size_t untold;
    char root[PATH_MAX], input[PATH_MAX];
    int file;       /* being received, or -1 */
    int cause;      /* errno: why it cannot be kept; 0: it can */
    size_t folders; /* that are kept; what is being converted gets the next number */
    size_t cloud;
    view_upload_done *tell;
    void *user;
};

view_upload *view_upload_make(view_upload_done *done, void *user) {
    view_upload *u = calloc(1, sizeof *u);
    if (u == NULL) return NULL;
    pthread_mutex_init(&u->lock, NULL);
    u->file = -1;
    u->tell = done;
    u->user = user;
    return u;
}

static void folder_path(const view_upload *u, size_t number, char *out) {
    snprintf(out, PATH_MAX, "%.*s/%zu", PATH_MAX - 32, u->root, number);
}

void view_upload_free(view_upload *u) {
    if (u == NULL) return;
    pthread_mutex_lock(&u->lock);
    u->is_cancelled = true;
    pthread_mutex_unlock(&u->lock);
    if (u->has_thread) pthread_join(u->thread, NULL);
    if (u->file >= 0) close(u->file);
    if (u->input[0] != '\0') unlink(u->input);
    for (size_t i = 1; i <= u->folders; i++) {
        char folder[PATH_MAX];
        folder_path(u, i, folder);
        view_folder_remove(folder);
    }
    if (u->root[0] != '\0') rmdir(u->root);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

/* ".laz" of "A.LAZ"; "" where the ending is none. */
static void ending_of(const char *name, char out[ENDING_MAX]) {
    const char *dot = strrchr(name, '.');
    size_t n = 0;
    out[0] = '\0';
    if (dot == NULL || strlen(dot) >= ENDING_MAX) return;
    for (out[n++] = '.', dot++; isalnum((unsigned char)*dot); dot++) out[n++] = (char)tolower((unsigned char)*dot);
    out[*dot == '\0' ? n : 0] = '\0';
}

static bool make_root(view_upload *u) {
    if (u->root[0] != '\0') return true;
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/') base = "/tmp";
    if (snprintf(u->root, PATH_MAX - 64, "%s/mote-view-XXXXXX", base) >= PATH_MAX - 64 || mkdtemp(u->root) == NULL)
        u->root[0] = '\0';
    return u->root[0] != '\0';
}

int view_upload_begin(view_upload *u, const char *name) {
    int status = 202;
    char ending[ENDING_MAX];
    pthread_mutex_lock(&u->lock);
    if (u->state == RECEIVING || u->state == CONVERTING) {
        status = 409;
    } else if (!make_root(u)) {
        status = 507;
    } else {
        ending_of(name, ending);
        snprintf(u->name, sizeof u->name, "%s", name);
        snprintf(u->input, sizeof u->input, "%.*s/in%s", PATH_MAX - 32, u->root, ending);
        u->file = open(u->input, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        status = u->file < 0 ? 507 : 202;
    }
    if (status == 202) {
        u->state = RECEIVING;
        u->done = 0;
        u->cause = 0;
        u->stage[0] = u->error[0] = u->told[0] = '\0';
        u->untold = 0;
    }
    pthread_mutex_unlock(&u->lock);
    return status;
}

/* Tells the page how far the conversion is; false ends it. */
static bool progress(void *user, double done, const char *stage) {
    view_upload *u = user;
    pthread_mutex_lock(&u->lock);
    u->done = done;
    snprintf(u->stage, sizeof u->stage, "%s", stage != NULL ? stage : "");
    const bool goes_on = !u->is_cancelled;
    pthread_mutex_unlock(&u->lock);
    return goes_on;
}

/* number: of the cloud that has come of the file; 0: none has, and error says why. */
static void end(view_upload *u, size_t number, const char *error) {
    unlink(u->input);
    pthread_mutex_lock(&u->lock);
    u->input[0] = '\0'; /* another file may come */
    u->cloud = number;
    u->folders += number > 0;
    u->state = number > 0 ? DONE : FAILED;
    snprintf(u->error, sizeof u->error, "%s", number > 0 ? "" : error);
    pthread_mutex_unlock(&u->lock);
}

/* The messages of the library name the file where it was received; people know it by its own name. */
static void name_in(const view_upload *u, const char *message, char *out, size_t size) {
    const size_t length = strlen(u->input);
    const bool is_named = strncmp(message, u->input, length) == 0;
    snprintf(out, size, "%s%s", is_named ? u->name : "", is_named ? message + length : message);
}

/* Keeps what the library has to say of the file, for the page: nobody reads the server's standard error. */
static void keep_told(void *user, mote_log_level level, const char *message) {
    view_upload *u = user;
    char line[512];
    if (level != MOTE_LOG_WARNING && level != MOTE_LOG_NOTE) return;
    name_in(u, message, line, sizeof line);
    pthread_mutex_lock(&u->lock);
    const size_t length = strlen(u->told);
    if (length + strlen(line) + 2 <= sizeof u->told) {
        snprintf(u->told + length, sizeof u->told - length, "%s%s", length > 0 ? "\n" : "", line);
    } else {
        u->untold++;
    }
    pthread_mutex_unlock(&u->lock);
}

static void *convert(void *user) {
    view_upload *u = user;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    char folder[PATH_MAX];
    char error[sizeof u->error] = "it cannot be converted: memory has run out";
    params.progress = progress;
    params.progress_user = u;
    params.log = keep_told;
    params.log_user = u;
    folder_path(u, u->folders + 1, folder);
    mote_status status = mote_context_create(&params, &ctx);
    if (status == MOTE_OK) status = mote_cloud_read(ctx, u->input, NULL, &cloud);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, NULL, &lod);
    if (status == MOTE_OK) {
        mote_potree_params writing = mote_potree_defaults();
        writing.name = u->name;
        status = mote_potree_write(ctx, lod, folder, &writing, NULL);
    }
    if (status != MOTE_OK && ctx != NULL) name_in(u, mote_context_message(ctx), error, sizeof error);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    const size_t number = status == MOTE_OK ? u->tell(u->user, folder) : 0;
    if (status == MOTE_OK && number == 0) snprintf(error, sizeof error, "no more clouds can be served");
    if (number == 0) view_folder_remove(folder); /* the next file gets its number */
    end(u, number, error);
    return NULL;
}

void view_upload_convert(view_upload *u) {
    const bool is_closed = close(u->file) == 0;
    u->file = -1;
    if (!is_closed) {
        end(u, 0, "there is no place for the file");
        return;
    }
    pthread_mutex_lock(&u->lock);
    const bool had_thread = u->has_thread;
    const pthread_t before = u->thread; /* of the file before: it has ended, or is about to */
    u->state = CONVERTING;
    u->has_thread = pthread_create(&u->thread, NULL, convert, u) == 0;
    const bool has_thread = u->has_thread;
    pthread_mutex_unlock(&u->lock);
    if (had_thread) pthread_join(before, NULL);
    if (!has_thread) end(u, 0, "no thread could be started");
}

void view_upload_drop(view_upload *u) {
    close(u->file);
    u->file = -1;
    end(u, 0, u->cause != 0 ? strerror(u->cause) : "the connection broke while the file was sent");
}

bool view_upload_take(view_upload *u, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        const ssize_t n = write(u->file, at, size);
        if (n < 0 && errno != EINTR) {
            u->cause = errno;
            return false;
        }
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

void view_upload_status(view_upload *u, char *json, size_t size) {
    char stage[2 * sizeof u->stage];
    char error[2 * sizeof u->error];
    char told[2 * sizeof u->told];
    pthread_mutex_lock(&u->lock);
    view_answer_quote(u->stage, stage, sizeof stage);
    view_answer_quote(u->error, error, sizeof error);
    view_answer_quote(u->told, told, sizeof told);
    snprintf(json, size,
             "{\"state\": \"%s\", \"done\": %.3f, \"stage\": \"%s\", \"error\": \"%s\", \"told\": \"%s\", "
             "\"untold\": %zu, \"cloud\": %zu}\n",
             state_names[u->state], u->done, stage, error, told, u->untold, u->cloud);
    pthread_mutex_unlock(&u->lock);
}
