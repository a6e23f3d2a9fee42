#define _GNU_SOURCE /* asprintf, O_CLOEXEC, dirfd */
#include "view/view_export.h"

#include "view/view_data.h"
#include "view/view_http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (1024u * 1024u)

/* Where in index.html the name of a COPC file goes; the page reads it as it reads ?data= */
#define PAGE_HEAD "<head>"

static const char readme[] =
    "1. Put this folder where a web server finds it: nginx, Apache, Caddy, an object store, any that answers Range "
    "requests.\n"
    "2. Let it send .laz and .bin files as they are, without compressing them on the way.\n"
    "3. Open its address in a browser. On this machine: python3 -m http.server shows small scans, mote view large "
    "ones.\n";

/* A folder that is being written, and the first thing that went wrong. */
typedef struct export_job {
    session *s;
    char folder[PATH_MAX];
    int code;
} export_job;

static void fail(export_job *job, const char *what, const char *path) {
    if (job->code != 0) return;
    const int code = errno == ENOSPC || errno == EDQUOT ? EXIT_RESOURCES : EXIT_FAILED;
    job->code = session_error(job->s, code, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool join(export_job *job, char *out, const char *folder, const char *name) {
    if (snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    fail(job, "write", name);
    return false;
}

static void write_all(export_job *job, int file, const char *path, const void *data, size_t size) {
    const char *at = data;
    while (size > 0 && job->code == 0) {
        const ssize_t n = write(file, at, size);
        if (n < 0 && errno != EINTR) fail(job, "write", path);
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
}

static int create(export_job *job, const char *path) {
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) fail(job, "write", path);
    return file;
}

static void finish(export_job *job, int file, const char *path) {
    if (close(file) != 0) fail(job, "write", path);
}

static void copy_file(export_job *job, const char *from_folder, const char *name, const char *to_folder) {
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (job->code != 0 || !join(job, from, from_folder, name) || !join(job, to, to_folder, name)) return;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        fail(job, "read", from);
        return;
    }
    const int out = create(job, to);
    char *piece = malloc(PIECE_BYTES);
    if (piece == NULL) job->code = session_error(job->s, EXIT_RESOURCES, "out of memory");
    while (job->code == 0) {
        const ssize_t n = read(in, piece, PIECE_BYTES);
        if (n < 0 && errno != EINTR) fail(job, "read", from);
        if (n == 0) break;
        if (n > 0) write_all(job, out, to, piece, (size_t)n);
    }
    free(piece);
    if (out >= 0) finish(job, out, to);
    close(in);
}

static void write_text(export_job *job, const char *folder, const char *name, const char *text) {
    char path[PATH_MAX];
    if (job->code != 0 || !join(job, path, folder, name)) return;
    const int file = create(job, path);
    if (file < 0) return;
    write_all(job, file, path, text, strlen(text));
    finish(job, file, path);
}

/* index.html with a line that names the data. */
static void write_index(export_job *job, const char *viewer_dir, const char *data_file) {
    char path[PATH_MAX];
    if (job->code != 0 || !join(job, path, viewer_dir, "index.html")) return;
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fail(job, "read", path);
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
        char name[3 * NAME_MAX + 1];
        char *text = NULL;
        view_http_encode_name(data_file, name, sizeof name); /* letters, digits, "-._~" and "%": safe in an attribute */
        head += strlen(PAGE_HEAD);
        if (asprintf(&text, "%.*s\n<meta name=\"mote-data\" content=\"data/%s\">%s", (int)(head - page), page, name,
                     head) < 0)
            job->code = session_error(job->s, EXIT_RESOURCES, "out of memory");
        else
            write_text(job, job->folder, "index.html", text);
        free(text);
    }
    free(page);
}

/* All plain files of the page's folder. */
static void copy_page(export_job *job, const char *viewer_dir, const char *data_file) {
    DIR *folder = opendir(viewer_dir);
    if (folder == NULL) {
        fail(job, "read", viewer_dir);
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL && job->code == 0; entry = readdir(folder)) {
        char path[PATH_MAX];
        struct stat info;
        if (!join(job, path, viewer_dir, entry->d_name) || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (strncmp(entry->d_name, "live.", 5) == 0) continue; /* needs a server that draws */
        if (data_file != NULL && strcmp(entry->d_name, "index.html") == 0)
            write_index(job, viewer_dir, data_file);
        else
            copy_file(job, viewer_dir, entry->d_name, job->folder);
    }
    closedir(folder);
}

static void make_folder(export_job *job, const char *path) {
    if (job->code == 0 && mkdir(path, 0777) != 0) fail(job, "create", path);
}

/* What an export has written, and nothing else. */
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

int view_export(session *s, const char *viewer_dir, const char *data_dir, const char *data_file, const char *site) {
    static const char *const potree[] = VIEW_FOLDER_FILES;
    export_job job = {.s = s};
    char data[PATH_MAX];
    size_t length = strlen(site);
    while (length > 1 && site[length - 1] == '/') length--;
    if (access(site, F_OK) == 0) return session_error(s, EXIT_FAILED, "%s: exists already", site);
    if (snprintf(job.folder, sizeof job.folder, "%.*s.part-%ld", (int)length, site, (long)getpid()) >= PATH_MAX - 8)
        return session_error(s, EXIT_FAILED, "%s: the path is too long", site);
    snprintf(data, sizeof data, "%.*s/data", PATH_MAX - 8, job.folder);
    make_folder(&job, job.folder);
    if (job.code != 0) return job.code;
    make_folder(&job, data);
    copy_page(&job, viewer_dir, data_file);
    write_text(&job, job.folder, "README", readme);
    if (data_file != NULL) copy_file(&job, data_dir, data_file, data);
    for (size_t i = 0; data_file == NULL && i < sizeof potree / sizeof potree[0]; i++)
        copy_file(&job, data_dir, potree[i], data);
    if (job.code == 0 && rename(job.folder, site) != 0) fail(&job, "write", site);
    if (job.code != 0) {
        remove_folder(data);
        remove_folder(job.folder);
        return job.code;
    }
    session_say(s, "%s: a folder for any web server; see its README", site);
    return EXIT_DONE;
}
