#define _GNU_SOURCE /* unlink, rmdir */
#include "view/view_data.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void view_folder_remove(const char *folder) {
    static const char *const files[] = VIEW_FOLDER_FILES;
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, files[i]) < (int)sizeof path) unlink(path);
    }
    rmdir(folder);
}
