#define _GNU_SOURCE /* mkdtemp, O_CLOEXEC */
#include "view/view_cut.h"

#include <mote_have.h>

#if MOTE_HAVE_MICROHTTPD

#include "edits/edit_list.h"
#include "view/view_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EDITS_BYTES_MAX   (8u * 1024u * 1024u)  /* some ten thousand edits */
#define VECTORS_BYTES_MAX (64u * 1024u * 1024u) /* as of files of marks */
#define STEPS             1000.0

/* Makes the answer, cut->out, of the body. *status: of a failure, with words in error. */
typedef bool make_answer(view_cut *cut, mote_context *ctx, int *status, char *error);

/*  folder/     made for a request, gone when it is answered
 *    body      edits.geojson, or vectors.gpkg
 *    out       the answer, points.laz or vectors.geojson, open while it is sent and no longer there by name        */
struct view_cut {
    const atomic_bool *is_ending;
    atomic_flag is_busy;
    atomic_int done; /* thousandths; -1: nothing is being cut */
    /* Of the request that is being worked for: */
    make_answer *make;
    uint64_t max_bytes; /* of the body */
    const char *source; /* of points */
    http_connection *connection;
    char folder[PATH_MAX / 2], body[PATH_MAX], out[PATH_MAX];
    int file;
    uint64_t got;
    bool is_full; /* there is no place for the body */
};

view_cut *view_cut_make(const atomic_bool *is_ending) {
    view_cut *cut = calloc(1, sizeof *cut);
    if (cut == NULL) return NULL;
    cut->is_ending = is_ending;
    cut->file = -1;
    atomic_flag_clear(&cut->is_busy);
    atomic_store(&cut->done, -1);
    return cut;
}

void view_cut_free(view_cut *cut) { free(cut); }

static void clean_up(view_cut *cut) {
    if (cut->file >= 0) close(cut->file);
    cut->file = -1;
    unlink(cut->body);
    unlink(cut->out);
    rmdir(cut->folder);
    atomic_store(&cut->done, -1);
    atomic_flag_clear(&cut->is_busy);
}

static bool make_folder(view_cut *cut, const char *body, const char *out) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/') base = "/tmp";
    if (snprintf(cut->folder, sizeof cut->folder, "%s/mote-cut-XXXXXX", base) >= (int)sizeof cut->folder) return false;
    if (mkdtemp(cut->folder) == NULL) return false;
    snprintf(cut->body, sizeof cut->body, "%s/%s", cut->folder, body);
    snprintf(cut->out, sizeof cut->out, "%s/%s", cut->folder, out);
    cut->file = open(cut->body, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return cut->file >= 0;
}

static bool take(void *user, const void *data, size_t size) {
    view_cut *cut = user;
    const char *at = data;
    cut->got += size;
    if (cut->got > cut->max_bytes) return false;
    while (size > 0) {
        const ssize_t n = write(cut->file, at, size);
        cut->is_full = n < 0 && errno != EINTR;
        if (cut->is_full) return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static bool goes_on(void *user, double done, const char *stage) {
    view_cut *cut = user;
    (void)stage;
    atomic_store(&cut->done, (int)(STEPS * done));
    return !atomic_load(cut->is_ending) && !http_is_gone(cut->connection);
}

/* The message of a context, or that memory has run out, which has none. */
static bool fail(const mote_context *ctx, char *error) {
    const char *message = ctx != NULL ? mote_context_message(ctx) : "";
    snprintf(error, POINT_TEST_ERROR, "%s", message[0] != '\0' ? message : "memory has run out");
    return false;
}

static bool write_points(view_cut *cut, mote_context *ctx, const edit_list *list, char *error) {
    mote_read_params reading = mote_read_defaults();
    mote_cloud *cloud = NULL, *kept = NULL;
    mote_box box;
    uint64_t changed;
    if (edit_list_keeps_some(list)) {
        edit_list_bounds(list, &box);
        reading.bounds = &box;
    }
    bool is_done = mote_cloud_read(ctx, cut->source, &reading, &cloud) == MOTE_OK || fail(ctx, error);
    is_done = is_done && edit_list_classify(ctx, list, cloud, &changed, error);
    is_done = is_done && edit_list_select(ctx, list, cloud, &kept, error);
    mote_cloud_destroy(cloud);
    is_done = is_done && (mote_cloud_write(ctx, kept, cut->out, NULL) == MOTE_OK || fail(ctx, error));
    mote_cloud_destroy(kept);
    return is_done;
}

/* The request has no path that its sender knows. */
static void name_in(const view_cut *cut, char *error) {
    const size_t length = strlen(cut->body);
    if (strncmp(error, cut->body, length) == 0) memmove(error, error + length + 2, strlen(error + length + 2) + 1);
}

static bool make_points(view_cut *cut, mote_context *ctx, int *status, char *error) {
    edit_list *list = edit_list_read(ctx, cut->body, error);
    if (list == NULL) *status = 400;
    const bool is_made = list != NULL && write_points(cut, ctx, list, error);
    edit_list_free(list);
    return is_made;
}

static bool make_vectors(view_cut *cut, mote_context *ctx, int *status, char *error) {
    const mote_status code = mote_geopackage_to_geojson(ctx, cut->body, cut->out);
    if (code == MOTE_ERROR_DATA || code == MOTE_ERROR_UNSUPPORTED) *status = 400;
    return code == MOTE_OK || fail(ctx, error);
}

/* Returns the file of the answer, or -1; *status says whose fault that is. */
static int make_file(view_cut *cut, int *status, char *error) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CPU;
    params.progress = goes_on;
    params.progress_user = cut;
    int fd = -1;
    *status = 500;
    if (mote_context_create(&params, &ctx) != MOTE_OK) {
        fail(ctx, error);
        return -1;
    }
    if (cut->make(cut, ctx, status, error)) fd = open(cut->out, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    name_in(cut, error);
    mote_context_destroy(ctx);
    return fd;
}

/* The body has come, or not. */
static void end(void *user, http_connection *c, bool is_whole) {
    view_cut *cut = user;
    char error[POINT_TEST_ERROR] = "the file cannot be opened";
    struct stat info;
    int status = 500;
    int fd = -1;
    const bool is_closed = close(cut->file) == 0;
    cut->file = -1;
    cut->connection = c;
    if (is_whole && is_closed) fd = make_file(cut, &status, error);
    const bool is_large = cut->got > cut->max_bytes;
    const bool is_full = cut->is_full || !is_closed;
    clean_up(cut);
    if (!is_whole || !is_closed) {
        view_answer_status(c, is_large ? 413 : is_full ? 507 : 400, "");
    } else if (fd < 0 || fstat(fd, &info) != 0) {
        if (fd >= 0) close(fd);
        view_answer_text(c, status, "text/plain; charset=utf-8", error);
    } else {
        view_answer_once(c, fd, (uint64_t)info.st_size);
    }
}

/* Takes the body, and answers when it is there. wanted: make, max_bytes and source of the request */
static void serve(view_cut *cut, http_connection *c, const view_cut *wanted, const char *body_name, const char *out) {
    const http_body body = {take, end, cut};
    if (http_field(c, "Content-Length") == NULL) {
        view_answer_status(c, 411, "");
        return;
    }
    if (atomic_flag_test_and_set(&cut->is_busy)) {
        view_answer_status(c, 503, "Retry-After: 1\r\n");
        return;
    }
    cut->got = 0;
    cut->is_full = false;
    cut->make = wanted->make;
    cut->max_bytes = wanted->max_bytes;
    cut->source = wanted->source;
    atomic_store(&cut->done, 0);
    if (!make_folder(cut, body_name, out)) {
        clean_up(cut);
        view_answer_status(c, 507, "");
        return;
    }
    http_receive(c, &body);
}

void view_cut_serve(view_cut *cut, http_connection *c, const char *source) {
    const view_cut points = {.make = make_points, .max_bytes = EDITS_BYTES_MAX, .source = source};
    serve(cut, c, &points, "edits.geojson", "points.laz");
}

void view_cut_serve_vectors(view_cut *cut, http_connection *c) {
    const view_cut vectors = {.make = make_vectors, .max_bytes = VECTORS_BYTES_MAX};
    serve(cut, c, &vectors, "vectors.gpkg", "vectors.geojson");
}

void view_cut_tell(view_cut *cut, http_connection *c) {
    char json[64] = "{}\n";
    const int done = atomic_load(&cut->done);
    if (done >= 0) snprintf(json, sizeof json, "{\"done\": %.3f}\n", done / STEPS);
    view_answer_text(c, 200, "application/json", json);
}

#else

view_cut *view_cut_make(const atomic_bool *is_ending) {
    (void)is_ending;
    return NULL;
}

void view_cut_free(view_cut *cut) { (void)cut; }

#endif
