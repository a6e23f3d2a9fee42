/* What the library told by notes and warnings, kept for --json: programs see there what people see on standard error.
 */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

#include "files/json.h"

#define MESSAGES_MAX 64u /* more are only counted */

typedef struct message_list {
    const char *kinds[MESSAGES_MAX]; /* "note", "warning" */
    char *texts[MESSAGES_MAX];
    uint64_t count;
} message_list;

/* list NULL: nothing is kept. A message that cannot be kept for lack of memory is only counted. */
void messages_add(message_list *list, const char *kind, const char *told);
void messages_clear(message_list *list);
/* Writes "messages", an array of objects, and "messages_left_out" where there were more; nothing if there are none. */
void messages_emit(const message_list *list, json_writer *json);

#endif
