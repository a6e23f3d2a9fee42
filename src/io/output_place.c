#define _GNU_SOURCE /* O_PATH, O_TMPFILE */
#include "io/output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINKS_MAX    40u   /* as the system follows */
#define ATTEMPTS_MAX 1000u /* at a temporary name that no other output has */
#define SUFFIX_BYTES 40u   /* ".PID-ATTEMPT.part" and a margin */

/* ---- what a name stands for */

bool mote_is_dash(const char *path) { return strcmp(path, "-") == 0; }

int mote_path_descriptor(const char *path, int dash) {
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (mote_is_dash(path)) return dash;
    for (int i = 0; i < 3; i++) {
        if (strcmp(path, names[i]) == 0) return i;
    }
    for (int i = 0; i < 2; i++) {
        const char *digits = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) != 0) continue;
        const size_t length = strspn(digits, "0123456789");
        if (length > 0 && length < 9 && digits[length] == '\0') return (int)strtol(digits, NULL, 10);
    }
    return -1;
}

/* Replaces path by what the link there points at, from the link's folder. Returns 0 or errno. */
static int follow(char path[PATH_MAX], const char *target) {
    const char *slash = strrchr(path, '/');
    const size_t folder_bytes = target[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - path);
    const size_t target_bytes = strlen(target) + 1;
    if (folder_bytes + target_bytes > PATH_MAX) return ENAMETOOLONG;
    memmove(path + folder_bytes, target, target_bytes);
    return 0;
}

int output_place_find(const char *path, output_place *place) {
    char target[PATH_MAX];
    memset(place, 0, sizeof *place);
    if (strlen(path) >= PATH_MAX) return ENAMETOOLONG;
    memcpy(place->path, path, strlen(path) + 1);
    for (unsigned links = 0; links <= LINKS_MAX; links++) {
        place->descriptor = mote_path_descriptor(place->path, STDOUT_FILENO);
        place->exists = stat(place->path, &place->info) == 0;
        place->is_stream =
            place->descriptor >= 0 || (place->exists && !S_ISREG(place->info.st_mode) && !S_ISDIR(place->info.st_mode));
        const ssize_t length = place->is_stream ? -1 : readlink(place->path, target, sizeof target - 1);
        if (length < 0) {
            const char *slash = strrchr(place->path, '/');
            place->name = slash != NULL ? slash + 1 : place->path;
            return place->is_stream || errno == EINVAL || errno == ENOENT ? 0 : errno;
        }
        target[length] = '\0';
        const int failed = follow(place->path, target);
        if (failed != 0) return failed;
    }
    return ELOOP;
}

int output_place_folder(const output_place *place) {
    char folder[PATH_MAX];
    const size_t length = (size_t)(place->name - place->path);
    memcpy(folder, place->path, length);
    folder[length] = '\0';
    return open(length > 0 ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- temporary files */

void output_temporary_name(const char *name, long process, unsigned attempt, const char *ending,
                           char out[NAME_MAX + 1]) {
    char suffix[SUFFIX_BYTES];
    int suffix_bytes = snprintf(suffix, sizeof suffix, ".%ld", process);
    if (attempt > 0) suffix_bytes += snprintf(suffix + suffix_bytes, sizeof suffix - 20, "-%u", attempt);
    suffix_bytes += snprintf(suffix + suffix_bytes, 8, ".%s", ending);
    size_t length = strlen(name);
    if (length > NAME_MAX - (size_t)suffix_bytes) {
        length = NAME_MAX - (size_t)suffix_bytes;
        while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80) length--; /* not within a letter of UTF-8 */
    }
    memcpy(out, name, length);
    memcpy(out + length, suffix, (size_t)suffix_bytes + 1);
}

/* Others may not read what they may not read of the file that is replaced. What cannot be kept is not. */
static void keep_mode(int file, const output_place *place) {
    if (!place->exists) return;
    const struct stat *old = &place->info;
    struct stat now;
    if (fstat(file, &now) == 0 && (now.st_uid != old->st_uid || now.st_gid != old->st_gid)) {
        const bool kept = fchown(file, old->st_uid, old->st_gid) == 0 || fchown(file, (uid_t)-1, old->st_gid) == 0;
        (void)kept;
    }
    (void)fchmod(file, old->st_mode & 0777);
}

int output_temporary_file(int folder, const output_place *place, char temporary[NAME_MAX + 1]) {
    int file = -1;
    errno = EEXIST;
    for (unsigned attempt = 0; file < 0 && errno == EEXIST && attempt < ATTEMPTS_MAX; attempt++) {
        output_temporary_name(place->name, (long)getpid(), attempt, "part", temporary);
        file = openat(folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, place->exists ? 0600 : 0666);
    }
    if (file >= 0) keep_mode(file, place);
    return file;
}

int output_spool_file(void) {
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] == '\0') folder = "/tmp";
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    if (snprintf(path, sizeof path, "%s/mote-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}
