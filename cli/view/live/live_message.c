/* What a page says to a server of live pictures. */
#include "view/live/live_message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values */

static bool read_whole(const char *word, uint64_t max, uint32_t *out) {
    uint64_t value = 0;
    if (*word == '\0' || strlen(word) > 10 || strspn(word, "0123456789") != strlen(word)) return false;
    for (const char *p = word; *p != '\0'; p++) value = 10 * value + (uint64_t)(*p - '0');
    *out = (uint32_t)value;
    return value <= max;
}

/* Numbers as JavaScript writes them: no hexadecimal, no "inf", no blanks. */
static bool read_real(const char *word, double *out) {
    char *end = NULL;
    if (*word == '\0' || strspn(word, "0123456789+-.eE") != strlen(word)) return false;
    *out = strtod(word, &end);
    return *end == '\0' && isfinite(*out);
}

/* Divides a word at each mark into numbers: exactly count of them. */
static bool read_reals(const char *word, char mark, int count, double *out) {
    char part[LIVE_TEXT_MAX];
    for (int i = 0; i < count; i++) {
        const char *end = i + 1 < count ? strchr(word, mark) : word + strlen(word);
        if (end == NULL || (size_t)(end - word) >= sizeof part) return false;
        snprintf(part, sizeof part, "%.*s", (int)(end - word), word);
        if (!read_real(part, &out[i])) return false;
        word = end + 1;
    }
    return true;
}

/* Three numbers, kept as they were written. */
static bool read_place(const char *word, char *out) {
    double place[3];
    if (strlen(word) >= LIVE_TEXT_MAX || !read_reals(word, ',', 3, place)) return false;
    snprintf(out, LIVE_TEXT_MAX, "%s", word);
    return true;
}

static bool read_choice(const char *word, const char *const *names, int *out) {
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        *out = i;
        return true;
    }
    return false;
}

static int hex_value(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* A name as encodeURIComponent writes it. */
static bool read_name(const char *word, char *out) {
    size_t n = 0;
    for (const char *p = word; *p != '\0'; p++) {
        int c = (unsigned char)*p;
        if (c == '%') {
            const int high = hex_value(p[1]), low = high < 0 ? -1 : hex_value(p[2]);
            if (low < 0) return false;
            c = 16 * high + low;
            p += 2;
        }
        if (c < 0x20 || c == 0x7F || n + 1 >= LIVE_NAME_MAX) return false;
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return true;
}

/* "NAME:LOW:HIGH;…", names as encodeURIComponent writes them. */
static bool read_ranges(const char *word, live_filter *filter) {
    for (filter->range_count = 0; filter->range_count < LIVE_FILTERS;) {
        live_range *range = &filter->ranges[filter->range_count++];
        char part[3 * LIVE_NAME_MAX + 2 * LIVE_TEXT_MAX];
        double ends[2];
        const size_t length = strcspn(word, ";"), name = strcspn(word, ":");
        if (length >= sizeof part || name >= length) return false;
        snprintf(part, sizeof part, "%.*s", (int)length, word);
        part[name] = '\0';
        if (!read_name(part, range->name) || !read_reals(part + name + 1, ':', 2, ends)) return false;
        range->low = ends[0];
        range->high = ends[1];
        if (word[length] == '\0') return range->low <= range->high;
        if (!(range->low <= range->high)) return false;
        word += length + 1;
    }
    return false;
}

/* "2,7,18" */
static bool read_classes(const char *word, bool hidden[LIVE_CLASSES]) {
    char part[4];
    for (;;) {
        const size_t length = strcspn(word, ",");
        uint32_t code;
        if (length >= sizeof part) return false;
        snprintf(part, sizeof part, "%.*s", (int)length, word);
        if (!read_whole(part, LIVE_CLASSES - 1, &code)) return false;
        hidden[code] = true;
        if (word[length] == '\0') return true;
        word += length + 1;
    }
}

static bool read_background(const char *word, char out[8]) {
    if (strlen(word) != 6 || strspn(word, "0123456789abcdefABCDEF") != 6) return false;
    snprintf(out, 8, "#%.6s", word);
    return true;
}

static bool read_size(const char *word, live_view *view) {
    double side[2];
    if (!read_reals(word, ',', 2, side)) return false;
    for (int k = 0; k < 2; k++) {
        if (!(side[k] >= 1 && side[k] <= LIVE_SIDE_MAX) || side[k] != floor(side[k])) return false;
    }
    view->width = (uint32_t)side[0];
    view->height = (uint32_t)side[1];
    return (uint64_t)view->width * view->height <= LIVE_PIXELS_MAX;
}

static bool read_range(const char *word, char *out) {
    double ends[2];
    if (strlen(word) >= LIVE_TEXT_MAX || !read_reals(word, ':', 2, ends)) return false;
    snprintf(out, LIVE_TEXT_MAX, "%s", word);
    return ends[0] < ends[1] && isfinite(ends[1] - ends[0]);
}

static bool read_between(const char *word, double min, double max, double *out) {
    return read_real(word, out) && *out >= min && *out <= max;
}

/* ---- fields */

static const char *const mode_names[] = {"points", "average", "surface", "auto", NULL};
static const char *const show_names[] = {"color", "normals", "depth", "radius", "iterations", "normal-error", NULL};
static const char *const map_names[] = {"spectrum", "viridis", "magma", "terrain", "grey", NULL};
static const char *const no_yes[] = {"0", "1", NULL};

typedef enum live_field {
    FIELD_SEQ,
    FIELD_SIZE,
    FIELD_EYE,
    FIELD_TARGET,
    FIELD_UP,
    FIELD_FOV,
    FIELD_ORTHO,
    FIELD_MODE,
    FIELD_SHOW,
    FIELD_MAP,
    FIELD_COLOR,
    FIELD_RANGE,
    FIELD_EDL,
    FIELD_BACKGROUND,
    FIELD_KEEP,
    FIELD_HIDE,
    FIELD_FRAME,
    FIELD_ID,
    FIELD_X,
    FIELD_Y
} live_field;

static const char *const field_names[] = {"seq",  "size", "eye",   "target", "up",    "fov", "ortho",
                                          "mode", "show", "map",   "color",  "range", "edl", "background",
                                          "keep", "hide", "frame", "id",     "x",     "y",   NULL};

#define BIT(field) (1u << (unsigned)(field))
#define VIEW_REQUIRED                                                                                                  \
    (BIT(FIELD_SEQ) | BIT(FIELD_SIZE) | BIT(FIELD_EYE) | BIT(FIELD_TARGET) | BIT(FIELD_UP) | BIT(FIELD_FOV))
#define VIEW_OPTIONAL                                                                                                  \
    (BIT(FIELD_ORTHO) | BIT(FIELD_MODE) | BIT(FIELD_SHOW) | BIT(FIELD_MAP) | BIT(FIELD_COLOR) | BIT(FIELD_RANGE) |     \
     BIT(FIELD_EDL) | BIT(FIELD_BACKGROUND) | BIT(FIELD_KEEP) | BIT(FIELD_HIDE))
#define PICK_REQUIRED (BIT(FIELD_ID) | BIT(FIELD_X) | BIT(FIELD_Y))

/* What a kind of message needs, and what it may have. */
static const struct {
    const char *name;
    unsigned required, optional;
} kinds[] = {{"view", VIEW_REQUIRED, VIEW_OPTIONAL}, {"shown", BIT(FIELD_FRAME), 0}, {"pick", PICK_REQUIRED, 0}};

static bool read_field(live_field field, const char *word, live_message *m) {
    live_view *view = &m->view;
    int choice = 0;
    switch (field) {
    case FIELD_SEQ: return read_whole(word, UINT32_MAX, &view->seq);
    case FIELD_SIZE: return read_size(word, view);
    case FIELD_EYE: return read_place(word, view->eye);
    case FIELD_TARGET: return read_place(word, view->target);
    case FIELD_UP: return read_place(word, view->up);
    case FIELD_FOV: return read_between(word, 1, 170, &view->fov_deg);
    case FIELD_ORTHO:
        if (!read_choice(word, no_yes, &choice)) return false;
        view->is_orthographic = choice == 1;
        return true;
    case FIELD_MODE: return read_choice(word, mode_names, &view->mode);
    case FIELD_SHOW: return read_choice(word, show_names, &view->show);
    case FIELD_MAP: return read_choice(word, map_names, &view->map);
    case FIELD_COLOR: return read_name(word, view->color);
    case FIELD_RANGE: return read_range(word, view->range);
    case FIELD_EDL: view->has_edl = true; return read_between(word, 0, 100, &view->edl);
    case FIELD_BACKGROUND: return read_background(word, view->background);
    case FIELD_KEEP: return read_ranges(word, &view->filter);
    case FIELD_HIDE: return read_classes(word, view->filter.hidden);
    case FIELD_FRAME: return read_whole(word, UINT32_MAX, &m->frame);
    case FIELD_ID: return read_whole(word, UINT32_MAX, &m->pick_id);
    case FIELD_X: return read_whole(word, LIVE_SIDE_MAX - 1, &m->pick_x);
    case FIELD_Y: return read_whole(word, LIVE_SIDE_MAX - 1, &m->pick_y);
    }
    return false;
}

/* "name=value"; each at most once. */
static bool read_pair(char *word, unsigned allowed, unsigned *seen, live_message *message) {
    char *value = strchr(word, '=');
    int field = 0;
    if (value == NULL) return false;
    *value++ = '\0';
    if (!read_choice(word, field_names, &field)) return false;
    const unsigned bit = BIT(field);
    if ((allowed & bit) == 0 || (*seen & bit) != 0) return false;
    *seen |= bit;
    return read_field((live_field)field, value, message);
}

/* A direction to look in, and one that is up. */
static bool is_a_view(const live_view *view) {
    double eye[3] = {0}, target[3] = {0}, up[3] = {0}, way = 0, length = 0;
    read_reals(view->eye, ',', 3, eye);
    read_reals(view->target, ',', 3, target);
    read_reals(view->up, ',', 3, up);
    for (int k = 0; k < 3; k++) {
        way += (eye[k] - target[k]) * (eye[k] - target[k]);
        length += up[k] * up[k];
    }
    return way > 0 && isfinite(way) && length > 0 && isfinite(length);
}

bool live_message_read(const char *data, size_t size, live_message *message) {
    char line[LIVE_MESSAGE_MAX + 1];
    char *rest = NULL;
    unsigned seen = 0;
    size_t kind = 0;
    if (size == 0 || size > LIVE_MESSAGE_MAX || memchr(data, '\0', size) != NULL) return false;
    memcpy(line, data, size);
    line[size] = '\0';
    memset(message, 0, sizeof *message);
    message->view.mode = 3;
    snprintf(message->view.background, sizeof message->view.background, "#ffffff");
    const char *name = strtok_r(line, " ", &rest);
    while (name != NULL && kind < sizeof kinds / sizeof kinds[0] && strcmp(name, kinds[kind].name) != 0) kind++;
    if (name == NULL || kind == sizeof kinds / sizeof kinds[0]) return false;
    message->kind = (live_message_kind)kind;
    for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (!read_pair(word, kinds[kind].required | kinds[kind].optional, &seen, message)) return false;
    }
    if ((seen & kinds[kind].required) != kinds[kind].required) return false;
    return message->kind != LIVE_VIEW || is_a_view(&message->view);
}
