#include "machine_memory.h"

#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number alone in a file; "max", and what is not there, is no bound. */
static uint64_t read_limit(const char *path) {
    char text[64] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) return UINT64_MAX;
    const bool is_read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return is_read && text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* The least limit of a group and of those that it is in. A container may show its own group as the root: then the path
   leads nowhere, and the root answers. */
static uint64_t least_limit(const char *mount, const char *group, const char *name) {
    char path[PATH_MAX], below[PATH_MAX];
    uint64_t least = UINT64_MAX;
    snprintf(below, sizeof below, "%s", group);
    for (char *end = below + strlen(below);; *end = '\0') {
        if (snprintf(path, sizeof path, "%s%s/%s", mount, below, name) < (int)sizeof path) {
            const uint64_t limit = read_limit(path);
            least = limit < least ? limit : least;
        }
        if (end == below) return least;
        while (end > below && *--end != '/') {}
    }
}

/* Reads a line "number:controllers:path" of /proc/self/cgroup: version 2 has no controllers there. */
static uint64_t limit_of_line(const char *root, char *line) {
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) return UINT64_MAX;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return least_limit(mount, group, "memory.max");
    }
    if (strcmp(controllers, "memory") != 0) return UINT64_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return least_limit(mount, group, "memory.limit_in_bytes");
}

static uint64_t limit_of_groups(const char *root) {
    char line[PATH_MAX + 64];
    uint64_t least = UINT64_MAX;
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const uint64_t limit = limit_of_line(root, line);
        least = limit < least ? limit : least;
    }
    if (file != NULL) fclose(file);
    return least;
}

/* MemAvailable: what is free, and what would be if pages of files went. */
static uint64_t free_bytes(const char *root) {
    static const char name[] = "MemAvailable:";
    char line[PATH_MAX];
    uint64_t kilobytes = 0;
    snprintf(line, sizeof line, "%s/proc/meminfo", root);
    FILE *file = fopen(line, "r");
    while (file != NULL && kilobytes == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, sizeof name - 1) == 0) kilobytes = strtoull(line + sizeof name - 1, NULL, 10);
    }
    if (file != NULL) fclose(file);
    return kilobytes > 0 ? kilobytes * 1024 : UINT64_MAX;
}

uint64_t machine_memory(const char *root) {
    const uint64_t machine = free_bytes(root), groups = limit_of_groups(root);
    const uint64_t least = groups < machine ? groups : machine;
    return least == UINT64_MAX ? 0 : least - least / 8;
}

/* ---- giving back */

#define GIVEN_BACK_BYTES (1 << 20) /* blocks from here on are pages of their own; malloc would raise this by itself */

void machine_memory_goes_back(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, GIVEN_BACK_BYTES);
#endif
}
