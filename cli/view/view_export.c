#define _GNU_SOURCE /* asprintf, open_memstream, O_CLOEXEC, dirfd, renameat2 */
#include "view/view_export.h"

#include "print.h"
#include "view/view_data.h"
#include "view/view_http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES  (1024u * 1024u)
#define ATTEMPTS_MAX 100u /* at a name that other exports take at the same time */
#define DATA_FILES   3u

static const char *const potree_files[DATA_FILES] = VIEW_FOLDER_FILES;

/* Where in index.html the name of a COPC file goes; the page reads it as it reads ?data= */
#define PAGE_HEAD "<head>"

static const char readme[] =
    "1. Put this folder where a web server finds it: nginx, Apache, Caddy, an object store, any that answers Range "
    "requests.\n"
    "2. Let it send .laz and .bin files as they are, without compressing them on the way.\n"
    "3. Open its address in a browser. On this machine: python3 -m http.server shows small scans, mote view large "
    "ones.\n";

/* The data: the files of a Potree folder, or one COPC file, and what they were before they were looked into. */
typedef struct export_data {
    const char *folder;
    const char *names[DATA_FILES];
    struct stat states[DATA_FILES];
    size_t count;
    bool is_copc;
} export_data;

/* A folder that is being written, and the first thing that went wrong. */
typedef struct export_job {
    session *s;
    char site[PATH_MAX], folder[PATH_MAX], data_folder[PATH_MAX];
    export_data data;
    const view_marks *marks;
    int code;
} export_job;

static void fail_with(export_job *job, int code, const char *what, const char *path) {
    if (job->code == 0) job->code = session_error(job->s, code, "cannot %s %s: %s", what, path, strerror(errno));
}

/* What is under the temporary name is called by the final one. */
static void fail_to_write(export_job *job, const char *path) {
    const bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    const size_t length = strlen(job->folder);
    char final[2 * PATH_MAX];
    if (path == NULL) path = job->folder; /* what has no name of its own is the site's */
    const bool is_inside = strncmp(path, job->folder, length) == 0;
    snprintf(final, sizeof final, "%s%s", is_inside ? job->site : path, is_inside ? path + length : "");
    fail_with(job, is_full ? EXIT_RESOURCES : EXIT_FAILED, "write", final);
}

static void fail_to_read(export_job *job, const char *path) { fail_with(job, EXIT_INPUT, "read", path); }

static bool join(export_job *job, char *out, const char *folder, const char *name) {
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    fail_to_write(job, name);
    return false;
}

static void write_all(export_job *job, int file, const char *path, const void *data, size_t size) {
    const char *at = data;
    while (size > 0 && job->code == 0) {
        const ssize_t n = write(file, at, size);
        if (n < 0 && errno != EINTR) fail_to_write(job, path);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
}

static int create(export_job *job, const char *path) {
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) fail_to_write(job, path);
    return file;
}

static void finish(export_job *job, int file, const char *path) {
    if (close(file) != 0) fail_to_write(job, path);
}

/* Whether the user wants no more of it. */
static bool is_cancelled(export_job *job) {
    if (job->code != 0 || !session_cancelled()) return false;
    session_say(job->s, "cancelled while writing the site");
    job->code = EXIT_CANCELLED;
    return true;
}

static uint64_t copy_bytes(export_job *job, int in, const char *from, int out, const char *to) {
    char *piece = malloc(PIECE_BYTES);
    uint64_t copied = 0;
    if (piece == NULL && job->code == 0) job->code = session_error(job->s, EXIT_RESOURCES, "out of memory");
    while (job->code == 0 && !is_cancelled(job)) {
        const ssize_t n = read(in, piece, PIECE_BYTES);
        if (n < 0 && errno != EINTR) fail_to_read(job, from);
        if (n == 0) break;
        if (n > 0) write_all(job, out, to, piece, (size_t)n);
        if (n > 0) copied += (uint64_t)n;
    }
    free(piece);
    return copied;
}

static bool is_same_state(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* before: what the file was when it was looked into; NULL: it was not. */
static void copy_path(export_job *job, const char *from, const char *to, const struct stat *before) {
    struct stat begin = {0}, end = {0};
    const int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe is not waited for */
    if (in < 0 || fstat(in, &begin) != 0) fail_to_read(job, from);
    const int out = job->code == 0 ? create(job, to) : -1;
    const uint64_t copied = copy_bytes(job, in, from, out, to);
    if (job->code == 0 && fstat(in, &end) != 0) fail_to_read(job, from);
    if (job->code == 0 && (copied != (uint64_t)begin.st_size || !is_same_state(&begin, &end) ||
                           (before != NULL && !is_same_state(before, &begin)))) {
        job->code = session_error(job->s, EXIT_INPUT, "%s: the file was changed while it was read", from);
    }
    if (out >= 0) finish(job, out, to);
    if (in >= 0) close(in);
}

static void copy_file(export_job *job, const char *from_folder, const char *name, const char *to_folder,
                      const struct stat *before) {
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (job->code != 0 || !join(job, from, from_folder, name) || !join(job, to, to_folder, name)) return;
    copy_path(job, from, to, before);
}

static void copy_marks(export_job *job) {
    for (size_t i = 0; i < job->marks->count && job->code == 0; i++) {
        char name[64], to[PATH_MAX];
        view_marks_name(i, name, sizeof name);
        if (join(job, to, job->folder, name)) copy_path(job, job->marks->paths[i], to, NULL);
    }
}

static void write_text(export_job *job, const char *folder, const char *name, const char *text) {
    char path[PATH_MAX];
    if (job->code != 0 || !join(job, path, folder, name)) return;
    const int file = create(job, path);
    if (file < 0) return;
    write_all(job, file, path, text, strlen(text));
    finish(job, file, path);
}

/* The lines of index.html that name the data and the marks. false: memory has run out. */
static bool head_lines(const export_job *job, const char *data_file, char **lines) {
    size_t size;
    FILE *text = open_memstream(lines, &size);
    if (text == NULL) return false;
    if (data_file != NULL) {
        char name[3 * NAME_MAX + 1];
        view_http_encode_name(data_file, name, sizeof name); /* letters, digits, "-._~" and "%": safe in an attribute */
        print_to(text, "\n<meta name=\"mote-data\" content=\"data/%s\">", name);
    }
    for (size_t i = 0; i < job->marks->count; i++) {
        char name[64];
        view_marks_name(i, name, sizeof name);
        print_to(text, "\n<meta name=\"mote-marks\" content=\"%s\">", name);
    }
    return fclose(text) == 0;
}

/* index.html with lines that name what is not found by itself. */
static void write_index(export_job *job, const char *viewer_dir, const char *data_file) {
    char path[PATH_MAX];
    if (job->code != 0 || !join(job, path, viewer_dir, "index.html")) return;
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fail_to_read(job, path);
        return;
    }
    char *page = malloc(PIECE_BYTES);
    const size_t length = page != NULL ? fread(page, 1, PIECE_BYTES - 1, in) : 0;
    fclose(in);
    if (page != NULL) page[length] = '\0';
    char *head = page != NULL ? strstr(page, PAGE_HEAD) : NULL;
    if (head == NULL) {
        job->code = session_error(job->s, EXIT_FAILED, "%s is not the page of the viewer", path);
    } else {
        char *lines = NULL;
        char *text = NULL;
        head += strlen(PAGE_HEAD);
        if (!head_lines(job, data_file, &lines) ||
            asprintf(&text, "%.*s%s%s", (int)(head - page), page, lines, head) < 0)
            job->code = session_error(job->s, EXIT_RESOURCES, "out of memory");
        else
            write_text(job, job->folder, "index.html", text);
        free(text);
        free(lines);
    }
    free(page);
}

/* All plain files of the page's folder. */
static void copy_page(export_job *job, const char *viewer_dir, const char *data_file) {
    DIR *folder = opendir(viewer_dir);
    if (folder == NULL) {
        fail_to_read(job, viewer_dir);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL && job->code == 0; entry = readdir(folder)) {
        char path[PATH_MAX];
        struct stat info;
        if (!join(job, path, viewer_dir, entry->d_name) || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (strncmp(entry->d_name, "live.", 5) == 0) continue; /* needs a server that draws */
        const bool is_named = data_file != NULL || job->marks->count > 0;
        if (is_named && strcmp(entry->d_name, "index.html") == 0)
            write_index(job, viewer_dir, data_file);
        else
            copy_file(job, viewer_dir, entry->d_name, job->folder, NULL);
    }
    closedir(folder);
}

static void make_folder(export_job *job, const char *path) {
    if (job->code == 0 && mkdir(path, 0777) != 0) fail_to_write(job, path);
}

/* Removes the plain files of an export's folder, and then the folder, which stays if anything else is in it. */
static void remove_folder(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0); /* of a folder this fails */
    }
    closedir(folder);
    rmdir(path);
}

/* ---- the data */

static void list_data(export_job *job, const char *folder, const char *copc) {
    export_data *data = &job->data;
    data->folder = folder;
    data->is_copc = copc != NULL;
    data->count = data->is_copc ? 1 : DATA_FILES;
    for (size_t i = 0; i < data->count; i++) {
        char path[PATH_MAX];
        data->names[i] = data->is_copc ? copc : potree_files[i];
        if (!join(job, path, folder, data->names[i])) return;
        if (stat(path, &data->states[i]) != 0) {
            fail_to_read(job, path);
        } else if (!S_ISREG(data->states[i].st_mode)) {
            job->code = session_error(job->s, EXIT_INPUT, "%s: is not a file", path);
        }
    }
}

/* What is not whole is not given out. Reading the root alone looks at the place of every node, and costs little. */
static void check_data(export_job *job) {
    const export_data *data = &job->data;
    char file[PATH_MAX];
    const char *path = data->is_copc ? file : data->folder;
    mote_read_params root = mote_read_defaults();
    mote_cloud *cloud = NULL;
    root.level = data->is_copc ? -1 : 0;
    root.resolution = data->is_copc ? DBL_MAX : 0;
    root.select = "x,y,z";
    if (job->code != 0 || !join(job, file, data->folder, data->names[0])) return;
    const mote_status status = mote_cloud_read(job->s->ctx, path, &root, &cloud);
    progress_clear(&job->s->bar);
    if (status != MOTE_OK) job->code = session_fail(job->s, status, true);
    mote_cloud_destroy(cloud);
}

static void copy_data(export_job *job) {
    const export_data *data = &job->data;
    for (size_t i = 0; i < data->count; i++) {
        copy_file(job, data->folder, data->names[i], job->data_folder, &data->states[i]);
    }
}

/* ---- the name */

/* Whether another export has taken the name meanwhile. */
static bool is_site(const char *folder) {
    char path[PATH_MAX], text[sizeof readme] = "";
    if (snprintf(path, sizeof path, "%s/README", folder) >= (int)sizeof path) return false;
    FILE *file = fopen(path, "rb");
    const size_t length = file != NULL ? fread(text, 1, sizeof text, file) : 0;
    if (file != NULL) fclose(file);
    return length == sizeof readme - 1 && memcmp(text, readme, length) == 0;
}

static bool take_free_name(const export_job *job) {
    if (renameat2(AT_FDCWD, job->folder, AT_FDCWD, job->site, RENAME_NOREPLACE) == 0) return true;
    return (errno == EINVAL || errno == ENOSYS) && rename(job->folder, job->site) == 0;
}

/* Gives the export its name. Of several exports to one new name at once the last one stays. *is_swapped: what was there
   before has the temporary name now. */
static void take_name(export_job *job, bool *is_swapped) {
    const char *site = job->site;
    *is_swapped = false;
    for (unsigned attempt = 0; job->code == 0 && attempt < ATTEMPTS_MAX; attempt++) {
        if (take_free_name(job)) return;
        const bool is_taken = errno == EEXIST || errno == ENOTEMPTY;
        if (is_taken && is_site(site)) {
            *is_swapped = renameat2(AT_FDCWD, job->folder, AT_FDCWD, site, RENAME_EXCHANGE) == 0;
            if (*is_swapped) return;
        } else if (is_taken) {
            job->code = session_error(job->s, EXIT_FAILED, "%s: exists already", site);
        } else if (errno != ENOENT) {
            fail_to_write(job, site);
        }
    }
    if (job->code == 0) fail_to_write(job, site);
}

int view_export(session *s, const char *viewer_dir, const char *data_dir, const char *data_file,
                const view_marks *marks, const char *site) {
    export_job job = {.s = s, .marks = marks};
    bool is_swapped = false;
    size_t length = strlen(site);
    while (length > 1 && site[length - 1] == '/') length--;
    if (access(site, F_OK) == 0) return session_error(s, EXIT_FAILED, "%s: exists already", site);
    if (snprintf(job.folder, sizeof job.folder, "%.*s.part-%ld", (int)length, site, (long)getpid()) >= PATH_MAX - 8)
        return session_error(s, EXIT_FAILED, "%s: the path is too long", site);
    snprintf(job.site, sizeof job.site, "%.*s", (int)length, site);
    snprintf(job.data_folder, sizeof job.data_folder, "%.*s/data", PATH_MAX - 8, job.folder);
    list_data(&job, data_dir, data_file);
    check_data(&job);
    make_folder(&job, job.folder);
    if (job.code != 0) return job.code;
    make_folder(&job, job.data_folder);
    copy_page(&job, viewer_dir, data_file);
    copy_marks(&job);
    write_text(&job, job.folder, "README", readme);
    copy_data(&job);
    take_name(&job, &is_swapped);
    if (job.code != 0 || is_swapped) {
        remove_folder(job.data_folder);
        remove_folder(job.folder);
    }
    if (job.code != 0) return job.code;
    session_say(s, "%s: a folder for any web server; see its README", site);
    return EXIT_DONE;
}
