#define _GNU_SOURCE /* stat */
#include "view/view_marks.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (64u * 1024u * 1024u) /* the page reads no larger one */
#define HEAD_BYTES     512u

/* Whether a file begins as a JSON object does. What is in it is for the page to judge, which says what it leaves out.
 */
static bool is_object(FILE *file) {
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF}; /* of UTF-8, which some programs write */
    unsigned char head[HEAD_BYTES];
    const size_t length = fread(head, 1, sizeof head, file);
    size_t at = length >= sizeof mark && memcmp(head, mark, sizeof mark) == 0 ? sizeof mark : 0;
    while (at < length && isspace(head[at])) at++;
    return at < length && head[at] == '{';
}

static int check_file(session *s, const char *path) {
    struct stat info;
    FILE *file = session_open_file(s, path);
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        const int cause = errno;
        if (file != NULL) fclose(file);
        return session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(cause));
    }
    const bool is_plain = S_ISREG(info.st_mode);
    const bool is_marks = is_plain && is_object(file);
    fclose(file);
    if (!is_plain) return session_error(s, EXIT_INPUT, "%s: not a file", path);
    if (!is_marks) return session_error(s, EXIT_INPUT, "%s: no GeoJSON: it does not begin with {", path);
    if (info.st_size > (off_t)FILE_BYTES_MAX) {
        return session_error(s, EXIT_INPUT, "%s: marks of more than 64 MB are not read by the page", path);
    }
    return EXIT_DONE;
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
        const int code = check_file(s, path);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

void view_marks_name(size_t i, char *out, size_t size) { snprintf(out, size, "marks%zu.geojson", i + 1); }
