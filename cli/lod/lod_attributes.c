/* --attributes: which columns of a cloud an octree has. */
#include "lod/lod_attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NAME_MAX_BYTES 128

/* Attributes of the Potree format that several columns make up. */
typedef struct attribute_group {
    const char *name;
    const char *columns[4];
} attribute_group;
static const attribute_group groups[] = {
    {"rgb", {"red", "green", "blue"}},
    {"classification flags", {"synthetic", "key_point", "withheld", "overlap"}},
};
#define GROUP_COUNT (sizeof groups / sizeof groups[0])

/* The list with the names that its attributes have in the cloud, of whatever spelling; for free, NULL without memory.
 */
static char *meant_names(const mote_cloud *cloud, const char *list) {
    char word[128];
    size_t words = 1, at_byte = 0;
    for (const char *c = list; *c != '\0'; c++) words += *c == ',';
    const size_t size = words * (NAME_MAX_BYTES + 1) + 1;
    char *const names = malloc(size);
    if (names == NULL) return NULL;
    names[0] = '\0';
    for (const char *at = list; *at != '\0'; at += at[0] == ',') {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        const mote_column *column = mote_cloud_match(cloud, word);
        at_byte += (size_t)snprintf(names + at_byte, size - at_byte, "%s%.*s", at_byte > 0 ? "," : "", NAME_MAX_BYTES,
                                    column != NULL ? column->name : word);
    }
    return names;
}

/* Whether the list names the group or one of its columns. */
static bool list_has_group(const char *list, const attribute_group *group) {
    bool found = text_list_has(list, group->name);
    for (size_t i = 0; i < 4 && group->columns[i] != NULL; i++) found |= text_list_has(list, group->columns[i]);
    return found;
}

static bool list_has_column(const char *list, const char *column) {
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        for (size_t i = 0; i < 4 && groups[g].columns[i] != NULL; i++) {
            if (strcmp(groups[g].columns[i], column) == 0) return list_has_group(list, &groups[g]);
        }
    }
    return text_list_has(list, column);
}

/* Refuses a word of the list that is neither a column nor a group. names: of all columns. */
static int check_attributes(session *s, const char *list, const char *const *names) {
    char word[128];
    for (const char *at = list; *at != '\0'; at += at[0] == ',') {
        const size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        bool known = word[0] == '\0';
        for (size_t i = 0; names[i] != NULL; i++) known |= strcmp(names[i], word) == 0;
        if (known) continue;
        const char *near = text_nearest(word, names);
        return session_error(s, EXIT_USAGE, "--attributes: there is no attribute \"%s\"%s%s%s", word,
                             near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                             near != NULL ? "\"?" : "");
    }
    return EXIT_DONE;
}

int lod_attributes_left_out(session *s, const char *typed, const mote_cloud *cloud,
                            const char *left_out[LOD_NAMES_MAX + 1]) {
    const char *names[LOD_NAMES_MAX + 1];
    uint32_t count = 0, out = 0;
    char *list = meant_names(cloud, typed);
    if (list == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: --attributes");
    for (; count < mote_cloud_column_count(cloud) && count < LOD_NAMES_MAX - GROUP_COUNT; count++) {
        names[count] = mote_cloud_column(cloud, count)->name;
        const bool position = strlen(names[count]) == 1 && strchr("xyz", names[count][0]) != NULL;
        if (!position && !list_has_column(list, names[count])) left_out[out++] = names[count];
    }
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        names[count++] = groups[g].name;
        if (!list_has_group(list, &groups[g])) left_out[out++] = groups[g].name;
    }
    names[count] = left_out[out] = NULL;
    const int code = check_attributes(s, list, names);
    free(list);
    return code;
}

char *lod_columns_but(const mote_cloud *cloud, const char *const *left_out) {
    size_t size = 1;
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) size += strlen(mote_cloud_column(cloud, i)->name) + 1;
    char *list = malloc(size);
    if (list == NULL) return NULL;
    char *at = list;
    *at = '\0';
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const char *name = mote_cloud_column(cloud, i)->name;
        bool is_left_out = false;
        for (size_t k = 0; left_out[k] != NULL; k++) is_left_out |= strcmp(left_out[k], name) == 0;
        if (!is_left_out) at += snprintf(at, size - (size_t)(at - list), "%s,", name);
    }
    return list;
}
