/* What `mote view` parses of a request: a line each for its target, its Range and its list of entity tags. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "view/view_http.h"

static void require(bool holds) {
    if (!holds) abort();
}

/* The path below a folder never leads out of it. */
static void require_path(const char *target) {
    char path[256];
    if (!view_http_decode_path(target, path, sizeof path)) return;
    require(path[0] == '/' && strlen(path) < sizeof path);
    require(strstr(path, "/../") == NULL && strpbrk(path, "\\\r\n") == NULL);
    require(strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

static void require_range(const char *range, uint64_t bytes) {
    uint64_t first;
    uint64_t last;
    if (view_http_parse_range(range, bytes, &first, &last) == VIEW_RANGE_PARTIAL)
        require(first <= last && last < bytes);
}

/* Cuts a line off. */
static const char *next_line(char **text) {
    const char *line = *text;
    *text += strcspn(*text, "\n");
    if (**text != '\0') *(*text)++ = '\0';
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); /* a byte too many would be seen by the sanitizer */
    char *rest = text;
    memcpy(text, data, size);
    text[size] = '\0';
    require_path(next_line(&rest));
    const char *range = next_line(&rest);
    require_range(range, 0);
    require_range(range, 1000);
    require_range(range, UINT64_MAX);
    view_http_etag_matches(next_line(&rest), "\"1-2\"");
    free(text);
    return 0;
}
