#include "view/view_http.h"

#include <string.h>
#include <strings.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Looks at the decoded path, so that "%2e%2e" is seen as what it is. */
static bool has_parent_part(const char *path) {
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0')) return true;
    }
    return false;
}

bool view_http_decode_path(const char *target, char *path, size_t size) {
    size_t length = 0;
    if (target == NULL || target[0] != '/') return false;
    for (const char *p = target; *p != '\0' && *p != '?' && *p != '#'; p++) {
        int c = (unsigned char)*p;
        if (c == '%') {
            const int high = hex_digit(p[1]);
            const int low = high < 0 ? -1 : hex_digit(p[2]);
            if (low < 0) return false;
            c = high * 16 + low;
            p += 2;
        }
        if (c < 0x20 || c == 0x7f || c == '\\' || length + 1 >= size) return false;
        path[length++] = (char)c;
    }
    path[length] = '\0';
    return !has_parent_part(path);
}

/* Reads decimal digits; false if there are none or they overflow. */
static bool read_number(const char **text, uint64_t *value) {
    const char *p = *text;
    uint64_t sum = 0;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *text = p;
    *value = sum;
    return true;
}

view_range_kind view_http_parse_range(const char *header, uint64_t file_bytes, uint64_t *first, uint64_t *last) {
    const char *p = header;
    uint64_t end = UINT64_MAX;
    if (p == NULL || strncasecmp(p, "bytes=", 6) != 0) return VIEW_RANGE_NONE;
    p += 6;
    if (*p == '-') { /* the last n bytes */
        p++;
        if (!read_number(&p, &end) || *p != '\0') return VIEW_RANGE_NONE;
        if (end == 0 || file_bytes == 0) return VIEW_RANGE_INVALID;
        *first = end >= file_bytes ? 0 : file_bytes - end;
        *last = file_bytes - 1;
        return VIEW_RANGE_PARTIAL;
    }
    if (!read_number(&p, first) || *p++ != '-') return VIEW_RANGE_NONE;
    if (*p != '\0' && !read_number(&p, &end)) return VIEW_RANGE_NONE;
    /* Several ranges, or an end before the start: RFC 9110 allows to answer with the whole file. */
    if (*p != '\0' || end < *first) return VIEW_RANGE_NONE;
    if (*first >= file_bytes) return VIEW_RANGE_INVALID;
    *last = end < file_bytes - 1 ? end : file_bytes - 1;
    return VIEW_RANGE_PARTIAL;
}

bool view_http_etag_matches(const char *list, const char *etag) {
    const size_t length = strlen(etag);
    if (list == NULL) return false;
    for (const char *p = list; *p != '\0';) {
        p += strspn(p, " \t,");
        if (*p == '*') return true;
        if (p[0] == 'W' && p[1] == '/') p += 2;
        if (strncmp(p, etag, length) == 0 && strchr(" \t,", p[length]) != NULL) return true;
        p += strcspn(p, ",");
    }
    return false;
}

const char *view_http_content_type(const char *path) {
    static const struct {
        const char *ending;
        const char *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".wasm", "application/wasm"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcasecmp(dot, types[i].ending) == 0) return types[i].type;
    }
    return "application/octet-stream";
}

const char *view_http_data_type(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".json") == 0 ? "application/json" : "application/octet-stream";
}

bool view_http_is_of_our_page(const char *origin, const char *host, const char *fetch_site) {
    static const char scheme[] = "http://";
    if (origin == NULL || host == NULL) return false;
    if (fetch_site != NULL && strcmp(fetch_site, "same-origin") != 0) return false;
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

const char *view_http_query_value(const char *query, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = query; at != NULL && *at != '\0'; at = strchr(at, '&')) {
        at += *at == '&';
        if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
    }
    return NULL;
}

void view_http_encode_name(const char *name, char *out, size_t size) {
    static const char hex[] = "0123456789ABCDEF";
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)name; *p != '\0' && n + 3 < size; p++) {
        const bool is_alphanumeric = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (is_alphanumeric || strchr("-._~", *p) != NULL) {
            out[n++] = (char)*p;
        } else {
            out[n++] = '%';
            out[n++] = hex[*p >> 4];
            out[n++] = hex[*p & 15];
        }
    }
    out[n] = '\0';
}
