#define _GNU_SOURCE /* stat, mkdtemp */
#include "view/view_marks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <mote_have.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if MOTE_HAVE_JANSSON
#include <jansson.h>
#endif

#define FILE_BYTES_MAX (64u * 1024u * 1024u) /* the page reads no larger one */
#define HEAD_BYTES     512u

static const unsigned char utf8_mark[] = {0xEF, 0xBB, 0xBF}; /* of UTF-8, which some programs write */

#define RECORD_SEPARATOR 0x1e /* before each text of a sequence (RFC 8142) */

static bool is_between(int c) { return isspace(c) || c == RECORD_SEPARATOR; }

/* Whether a file begins as a JSON object does: what no JSON is, is told without reading all of it. */
static int check_head(session *s, const char *path, FILE *file) {
    unsigned char head[HEAD_BYTES];
    const size_t length = fread(head, 1, sizeof head, file);
    const char *const encoding = mote_text_encoding(head, length);
    size_t at = length >= sizeof utf8_mark && memcmp(head, utf8_mark, sizeof utf8_mark) == 0 ? sizeof utf8_mark : 0;
    if (encoding != NULL) {
        return session_error(s, EXIT_INPUT, "%s: the text is encoded as %s, mote reads UTF-8 and ASCII", path,
                             encoding);
    }
    if (fseek(file, (long)at, SEEK_SET) != 0) return session_error(s, EXIT_INPUT, "%s: cannot read", path);
    while (at < length && is_between(head[at])) at++;
    if (at < length && head[at] == '{') return EXIT_DONE;
    return session_error(s, EXIT_INPUT, "%s: no GeoJSON: it does not begin with {", path);
}

#if MOTE_HAVE_JANSSON
static int lines_before(FILE *file, long at) {
    int lines = 0;
    rewind(file);
    while (ftell(file) < at) lines += fgetc(file) == '\n';
    return lines;
}
#endif

/* Whether it is JSON, or several texts of it, a feature each. What is in it is for the page to judge, which says what
   it leaves out. */
static int check_json(session *s, const char *path, FILE *file) {
#if MOTE_HAVE_JANSSON
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK;
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        const long at = ftell(file);
        if (is_between(c)) continue;
        if (ungetc(c, file) != c) return session_error(s, EXIT_INPUT, "%s: cannot read", path);
        json_error_t problem;
        json_t *const root = json_loadf(file, flags, &problem);
        if (root == NULL && json_error_code(&problem) == json_error_out_of_memory)
            return session_error(s, EXIT_RESOURCES, "out of memory: %s", path);
        if (root == NULL)
            return session_error(s, EXIT_INPUT, "%s: line %d: %s", path, lines_before(file, at) + problem.line,
                                 problem.text);
        json_decref(root);
    }
#else
    (void)s, (void)path, (void)file;
#endif
    return EXIT_DONE;
}

/* GeoJSON of the GeoPackage, in a folder of our own: path becomes that of the GeoJSON. */
static int make_geojson(session *s, view_marks *marks, char *path) {
    const char *base = getenv("TMPDIR");
    char made[PATH_MAX], name[64];
    if (base == NULL || base[0] != '/') base = "/tmp";
    if (marks->folder[0] == '\0') {
        const int length = snprintf(marks->folder, sizeof marks->folder, "%s/mote-marks-XXXXXX", base);
        if (length >= (int)sizeof marks->folder || mkdtemp(marks->folder) == NULL) {
            marks->folder[0] = '\0';
            return session_error(s, EXIT_FAILED, "%s: cannot make a folder for marks: %s", base, strerror(errno));
        }
    }
    view_marks_name(marks->count - 1, name, sizeof name);
    snprintf(made, sizeof made, "%s/%s", marks->folder, name);
    const mote_status status = mote_geopackage_to_geojson(s->ctx, path, made);
    if (status != MOTE_OK) return session_fail(s, status, true);
    snprintf(path, PATH_MAX, "%s", made);
    return EXIT_DONE;
}

static bool is_geopackage(FILE *file) {
    char head[16] = "";
    const size_t length = fread(head, 1, sizeof head, file);
    rewind(file);
    return length == sizeof head && memcmp(head, "SQLite format 3", sizeof head) == 0;
}

/* path: [PATH_MAX] */
static int check_file(session *s, view_marks *marks, char *path) {
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe is not waited for */
    const bool is_plain = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const int cause = errno;
    if (fd >= 0) close(fd);
    if (fd < 0) return session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(cause));
    if (!is_plain) return session_error(s, EXIT_INPUT, "%s: not a file", path);
    if (info.st_size > (off_t)FILE_BYTES_MAX) {
        return session_error(s, EXIT_INPUT, "%s: marks of more than 64 MB are not read by the page", path);
    }
    FILE *const file = session_open_file(s, path);
    if (file == NULL) return session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(errno));
    const bool is_package = is_geopackage(file);
    int code = is_package ? make_geojson(s, marks, path) : check_head(s, path, file);
    if (code == EXIT_DONE && !is_package) code = check_json(s, path, file);
    fclose(file);
    return code;
}

int view_marks_find(session *s, const char *list, view_marks *marks) {
    marks->count = 0;
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (marks->count == VIEW_MARKS_MAX) {
            return session_error(s, EXIT_USAGE, "--marks: at most %u files", VIEW_MARKS_MAX);
        }
        char *path = marks->paths[marks->count++];
        if (length == 0 || length >= PATH_MAX)
            return session_error(s, EXIT_USAGE, "--marks: \"%s\" is no list of files", list);
        snprintf(path, PATH_MAX, "%.*s", (int)length, at);
        at += length;
        const int code = check_file(s, marks, path);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

void view_marks_drop(const view_marks *marks) {
    char name[64], path[PATH_MAX];
    if (marks->folder[0] == '\0') return;
    for (size_t i = 0; i < marks->count; i++) {
        view_marks_name(i, name, sizeof name);
        if (snprintf(path, sizeof path, "%s/%s", marks->folder, name) < (int)sizeof path) unlink(path);
    }
    rmdir(marks->folder);
}

void view_marks_name(size_t i, char *out, size_t size) { snprintf(out, size, "marks%zu.geojson", i + 1); }
