/* The head of an HTTP/1.1 request (RFC 9112). */
#define _GNU_SOURCE /* memmem */
#include "view/http/http_head.h"

#include <string.h>
#include <strings.h>

static const char line_end[] = "\r\n";

size_t http_head_length(const char *data, size_t size, size_t from) {
    static const char end[] = "\r\n\r\n";
    const size_t back = from < 3 ? from : 3; /* the end may have begun before */
    const char *found = memmem(data + from - back, size - from + back, end, sizeof end - 1);
    return found != NULL ? (size_t)(found - data) + sizeof end - 1 : 0;
}

static bool is_token(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_alphanumeric && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) return false;
    }
    return length > 0;
}

/* Tabs are white space in a value, and no part of a target. */
static bool has_control(const char *text, size_t length, bool may_have_tabs) {
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && !(c == '\t' && may_have_tabs)) || c == 0x7f) return true;
    }
    return false;
}

/* "GET /path HTTP/1.1" */
static int read_first_line(char *line, size_t length, http_head *head) {
    char *target = memchr(line, ' ', length);
    char *version = target != NULL ? memrchr(line, ' ', length) : NULL;
    if (version == NULL || version == target) return 400;
    line[length] = *target++ = *version++ = '\0';
    head->method = line;
    head->target = target;
    if (!is_token(line, (size_t)(target - 1 - line))) return 400;
    const size_t target_length = (size_t)(version - 1 - target);
    if (target_length == 0 || has_control(target, target_length, false) || strchr(target, ' ') != NULL) return 400;
    head->keeps_alive = strcmp(version, "HTTP/1.1") == 0;
    return head->keeps_alive || strcmp(version, "HTTP/1.0") == 0 ? 0 : 505;
}

static bool is_white(char c) { return c == ' ' || c == '\t'; }

static int read_field(char *line, size_t length, http_head *head) {
    char *value = memchr(line, ':', length);
    char *end = line + length;
    if (head->field_count == HTTP_FIELDS_MAX) return 431;
    if (value == NULL || !is_token(line, (size_t)(value - line))) return 400;
    *value++ = '\0';
    while (value < end && is_white(*value)) value++;
    while (end > value && is_white(end[-1])) end--;
    if (has_control(value, (size_t)(end - value), true)) return 400;
    *end = '\0';
    head->fields[head->field_count].name = line;
    head->fields[head->field_count++].value = value;
    return 0;
}

static size_t count_fields(const http_head *head, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < head->field_count; i++) count += strcasecmp(head->fields[i].name, name) == 0;
    return count;
}

/* How long the body is. A length that is said twice, or beside another way to say it, is what requests are smuggled
   with. */
static int read_body_length(http_head *head) {
    const char *digits = http_head_field(head, "Content-Length");
    if (http_head_field(head, "Transfer-Encoding") != NULL) return 411;
    if (digits == NULL) return 0;
    if (count_fields(head, "Content-Length") > 1 || *digits == '\0') return 400;
    for (; *digits != '\0'; digits++) {
        if (*digits < '0' || *digits > '9' || head->body_bytes > (UINT64_MAX - 9) / 10) return 400;
        head->body_bytes = 10 * head->body_bytes + (uint64_t)(*digits - '0');
    }
    head->has_body_bytes = true;
    return 0;
}

int http_head_read(char *text, size_t length, http_head *head) {
    char *line = text;
    char *const end = text + length - (sizeof line_end - 1); /* of the last line that says something */
    int status = 0;
    *head = (http_head){.method = ""};
    for (size_t i = 0; line < end && status == 0; i++) {
        char *next = memmem(line, (size_t)(text + length - line), line_end, sizeof line_end - 1);
        const size_t line_length = (size_t)(next - line);
        status = i == 0 ? read_first_line(line, line_length, head) : read_field(line, line_length, head);
        line = next + sizeof line_end - 1;
    }
    if (status != 0) return status;
    const size_t hosts = count_fields(head, "Host");
    if (head->target == NULL || hosts > 1 || (hosts == 0 && head->keeps_alive)) return 400;
    if (http_list_has(http_head_field(head, "Connection"), "close")) head->keeps_alive = false;
    return read_body_length(head);
}

const char *http_head_field(const http_head *head, const char *name) {
    for (size_t i = 0; i < head->field_count; i++) {
        if (strcasecmp(head->fields[i].name, name) == 0) return head->fields[i].value;
    }
    return NULL;
}

bool http_list_has(const char *list, const char *word) {
    const size_t length = strlen(word);
    while (list != NULL && *list != '\0') {
        list += strspn(list, " \t,");
        const size_t n = strcspn(list, " \t,");
        if (n == length && n > 0 && strncasecmp(list, word, n) == 0) return true;
        list += n;
    }
    return false;
}
