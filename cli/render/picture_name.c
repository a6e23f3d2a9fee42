/* Names of several pictures that one name stands for. */
#include "render/picture_name.h"

#include <stdio.h>
#include <string.h>

/* Puts a text before the ending. */
static bool insert(const char *name, const char *text, char out[PICTURE_NAME_MAX]) {
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    const int stem = dot != NULL && (slash == NULL || dot > slash) ? (int)(dot - name) : (int)strlen(name);
    return snprintf(out, PICTURE_NAME_MAX, "%.*s%s%s", stem, name, text, name + stem) < PICTURE_NAME_MAX;
}

bool picture_name_frame(const char *name, uint32_t frame, char out[PICTURE_NAME_MAX]) {
    const char *percent = strchr(name, '%');
    char text[16];
    int digits = 0, used = 0;
    if (percent == NULL) {
        snprintf(text, sizeof text, "_%04u", frame);
        return insert(name, text, out);
    }
    if (percent[1] == 'd') {
        used = 2;
    } else if (percent[1] == '0' && percent[2] >= '1' && percent[2] <= '9' && percent[3] == 'd') {
        digits = percent[2] - '0';
        used = 4;
    }
    if (used == 0 || strchr(percent + used, '%') != NULL) return false;
    return snprintf(out, PICTURE_NAME_MAX, "%.*s%0*u%s", (int)(percent - name), name, digits, frame, percent + used) <
           PICTURE_NAME_MAX;
}

bool picture_name_tile(const char *name, uint32_t column, uint32_t row, char out[PICTURE_NAME_MAX]) {
    char text[32];
    snprintf(text, sizeof text, "_%u_%u", column, row);
    return insert(name, text, out);
}
