/* Any bytes as the head of a request: what is taken is whole, and is read in the same way however it arrives. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz_support.h"
#include "view/http/http_head.h"
#include "view/view_http.h"

static void require(bool holds) {
    if (!holds) abort();
}

/* The length that is found where the bytes come one by one, as far as the end that is found at once. */
static void require_same_length(const char *data, size_t size, size_t length) {
    size_t found = 0;
    for (size_t n = 1; n <= size && found == 0; n++) found = http_head_length(data, n, n - 1);
    require(found == length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    http_head head;
    char path[256];
    if (size > HTTP_HEAD_MAX) return 0;
    char *text = malloc(size + 1); /* a byte too many would be seen by the sanitizer */
    memcpy(text, data, size);
    const size_t length = http_head_length(text, size, 0);
    require_same_length(text, size, length);
    if (length > 0 && http_head_read(text, length, &head) == 0) {
        require(head.method[0] != '\0' && head.target[0] != '\0' && strpbrk(head.target, " \t\r\n") == NULL);
        require(head.field_count <= HTTP_FIELDS_MAX);
        for (size_t i = 0; i < head.field_count; i++) {
            require(http_head_field(&head, head.fields[i].name) != NULL);
            require(strpbrk(head.fields[i].value, "\r\n") == NULL);
        }
        require(http_head_field(&head, "Transfer-Encoding") == NULL);
        require(head.has_body_bytes || head.body_bytes == 0);
        if (view_http_decode_path(head.target, path, sizeof path))
            require(path[0] == '/' && strstr(path, "/../") == NULL);
    }
    free(text);
    return 0;
}
