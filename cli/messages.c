/* What the library told by notes and warnings, kept for --json. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

void messages_add(message_list *list, const char *kind, const char *told) {
    if (list == NULL) return;
    if (list->count < MESSAGES_MAX) {
        list->kinds[list->count] = kind;
        list->texts[list->count] = strdup(told);
    }
    list->count++;
}

void messages_clear(message_list *list) {
    if (list == NULL) return;
    for (uint64_t i = 0; i < list->count && i < MESSAGES_MAX; i++) free(list->texts[i]);
    list->count = 0;
}

void messages_emit(const message_list *list, json_writer *json) {
    if (list == NULL || list->count == 0) return;
    uint64_t shown = 0;
    emit_open(json, "messages", '[');
    for (uint64_t i = 0; i < list->count && i < MESSAGES_MAX; i++) {
        if (list->texts[i] == NULL) continue;
        emit_open(json, NULL, '{');
        emit_text(json, "kind", list->kinds[i]);
        emit_text(json, "text", list->texts[i]);
        emit_close(json, '}');
        shown++;
    }
    emit_close(json, ']');
    if (shown < list->count) emit_count(json, "messages_left_out", list->count - shown);
}
