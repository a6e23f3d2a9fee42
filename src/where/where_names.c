/* The names of a program: which columns of a cloud they mean, and what is said where they mean none. */
#include <stdio.h>

#include "core/standard_names.h"
#include "where/where_program.h"

#define EXCERPT_COLUMNS 72u
#define WORD_BYTES      64u
#define LISTED_BYTES    160u

/* ---- messages */

/* Bytes of UTF-8 that begin a character. */
static bool begins_character(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

/* Below the message: the line of the text around the place, and a caret under it. */
static void show_place(const char *text, where_place place, char *out, size_t size_bytes) {
    uint32_t begin = 0, end = place.begin, columns = 0, before = 0, marked = 0;
    while (text[end] != '\0') end++;
    while (place.begin - begin > EXCERPT_COLUMNS / 2 && end - begin > EXCERPT_COLUMNS) begin++;
    while (!begins_character(text[begin])) begin++;
    size_t at = (size_t)snprintf(out, size_bytes, "\n  ");
    uint32_t i = begin;
    for (; text[i] != '\0' && at + 2 < size_bytes; i++) {
        if (begins_character(text[i]) && columns++ == EXCERPT_COLUMNS) break;
        if (begins_character(text[i]) && i < place.begin) before++;
        if (begins_character(text[i]) && i >= place.begin && i < place.end) marked++;
        out[at++] = (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    }
    at += (size_t)snprintf(out + at, size_bytes - at, "\n  %*s^", (int)before, "");
    for (uint32_t k = 1; k < marked && at + 1 < size_bytes; k++) out[at++] = '~';
    out[at < size_bytes ? at : size_bytes - 1] = '\0';
}

mote_status where_wrong(const where_program *program, const char *source, where_place place, const char *format, ...) {
    char why[512], shown[4 * EXCERPT_COLUMNS + EXCERPT_COLUMNS + 32];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    show_place(program->text, place, shown, sizeof shown);
    return mote_fail(program->ctx, MOTE_ERROR_ARGUMENT, "%s%s%s: %s%s", source != NULL ? source : "",
                     source != NULL ? ": " : "", program->title, why, shown);
}

static size_t smallest(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Levenshtein's distance, whatever the case, row by row. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[WORD_BYTES + 1];
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            const size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (lower(a[i]) != lower(b[j - 1])));
            diagonal = above;
        }
    }
    return row[length];
}

/* How far a name is from a word; SIZE_MAX: too far to be meant. */
static size_t distance_of(const char *word, const char *name) {
    const size_t length = strlen(word), limit = length / 3 + 2;
    if (length > WORD_BYTES || strlen(name) > WORD_BYTES) return SIZE_MAX;
    if (length >= 3 && strstr(name, word) != NULL) return 1; /* a part of it */
    const size_t distance = edit_distance(word, name);
    return distance < limit && distance < strlen(name) ? distance : SIZE_MAX;
}

void where_hint(const char *word, const char *const *names, char hint[WHERE_HINT_BYTES]) {
    const char *found[2] = {NULL, NULL};
    size_t best[2] = {SIZE_MAX, SIZE_MAX};
    hint[0] = '\0';
    for (size_t i = 0; names[i] != NULL; i++) {
        const size_t distance = distance_of(word, names[i]);
        const int place = distance < best[0] ? 0 : distance < best[1] ? 1 : 2;
        if (place == 0) {
            best[1] = best[0];
            found[1] = found[0];
        }
        if (place == 2) continue;
        best[place] = distance;
        found[place] = names[i];
    }
    if (found[0] == NULL) return;
    snprintf(hint, WHERE_HINT_BYTES,
             found[1] != NULL ? "; did you mean \"%.60s\" or \"%.60s\"?" : "; did you mean \"%.60s\"?", found[0],
             found[1]);
}

/* ---- columns */

/* x, y and z are the coordinates, whatever else is called so. */
static const mote_column *find_column(const mote_cloud *cloud, const char *name) {
    const char axis[2] = {(char)(name[0] | 0x20), '\0'};
    if (mote_names_axis(name)) return mote_cloud_find(cloud, axis);
    return mote_cloud_match(cloud, name);
}

/* "; there are x, y, z, …" */
static void list_columns(const mote_cloud *cloud, char *list, size_t size_bytes) {
    size_t at = (size_t)snprintf(list, size_bytes, "; there are ");
    for (uint64_t c = 0; c < cloud->column_count; c++) {
        const char *name = cloud->columns[c].name;
        if (at + strlen(name) + 8 > size_bytes) {
            snprintf(list + at, size_bytes - at, ", …");
            return;
        }
        at += (size_t)snprintf(list + at, size_bytes - at, "%s%s", c > 0 ? ", " : "", name);
    }
}

static mote_status unknown_name(const where_program *program, const mote_cloud *cloud, const char *source,
                                const where_name *name) {
    char hint[WHERE_HINT_BYTES];
    const char **names = mote_alloc(program->ctx, (cloud->column_count + 1) * sizeof *names, "expression");
    if (names == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t c = 0; c < cloud->column_count; c++) names[c] = cloud->columns[c].name;
    names[cloud->column_count] = NULL;
    where_hint(name->text, names, hint);
    mote_free(program->ctx, names);
    if (hint[0] == '\0') list_columns(cloud, hint, LISTED_BYTES);
    return where_wrong(program, source, name->place, "there is no attribute \"%.60s\"%s", name->text, hint);
}

static const uint8_t nothing[1]; /* what every point has of an attribute that may lack */

mote_status mote_where_bind(const where_program *program, const mote_cloud *cloud, const char *source,
                            where_bound *bound) {
    bound->program = program;
    bound->columns = mote_alloc_zero(program->ctx, program->name_count * sizeof *bound->columns, "expression");
    if (bound->columns == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < program->name_count; i++) {
        const mote_column *column = find_column(cloud, program->names[i].text);
        if (column == NULL && program->names[i].may_lack) {
            bound->columns[i].column = (mote_column){.data = nothing, .type = MOTE_UINT8, .scale = 1};
            continue;
        }
        if (column == NULL) return unknown_name(program, cloud, source, &program->names[i]);
        bound->columns[i].column = *column;
        mote_cloud_limits(cloud, column->name, &bound->columns[i].limits);
    }
    return MOTE_OK;
}

void mote_where_unbind(where_bound *bound) {
    if (bound->columns != NULL) mote_free(bound->program->ctx, bound->columns);
    bound->columns = NULL;
}

void mote_where_move(where_bound *bound, const uint8_t *from, const uint8_t *to) {
    for (uint64_t i = 0; i < bound->program->name_count; i++) {
        mote_column *column = &bound->columns[i].column;
        if (column->data == nothing) continue;
        column->data = to + ((const uint8_t *)column->data - from);
    }
}

void mote_where_mark(const where_program *program, const mote_cloud *cloud, bool *marks) {
    for (uint64_t i = 0; i < program->name_count; i++) {
        const mote_column *column = find_column(cloud, program->names[i].text);
        if (column != NULL) marks[column - cloud->columns] = true;
    }
}

char *mote_where_select(const where_program *program, const char *select, mote_status *status) {
    static const char angles[] = ",scan_angle,scan_angle_rank";
    *status = MOTE_OK;
    if (select == NULL) return NULL;
    uint64_t size_bytes = strlen(select) + sizeof angles;
    for (uint64_t i = 0; i < program->name_count; i++) {
        if (strchr(program->names[i].text, ',') != NULL) return NULL; /* no list can hold it */
        size_bytes += strlen(program->names[i].text) + 1;
    }
    char *list = mote_alloc(program->ctx, size_bytes, "expression");
    if (list == NULL) {
        *status = MOTE_ERROR_MEMORY;
        return NULL;
    }
    size_t at = (size_t)snprintf(list, size_bytes, "%s", select);
    bool angle = false;
    for (uint64_t i = 0; i < program->name_count; i++) {
        const char *meant = mote_standard_name(program->names[i].text);
        angle = angle || (meant != NULL && strncmp(meant, "scan_angle", strlen("scan_angle")) == 0);
        at += (size_t)snprintf(list + at, size_bytes - at, ",%s", program->names[i].text);
    }
    if (angle) snprintf(list + at, size_bytes - at, "%s", angles);
    return list;
}
