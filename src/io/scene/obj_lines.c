/* Wavefront OBJ and MTL: their lines as words. */
#include "io/scene/obj_lines.h"

#include <math.h>
#include <stdio.h>

#include "io/text/text.h"

obj_lines obj_lines_of(mote_context *ctx, const char *path, const mote_input *input) {
    obj_lines l;
    l.ctx = ctx;
    l.path = path;
    l.at = input->data;
    l.end = input->data + input->size_bytes;
    l.line = 1;
    l.word[0] = '\0';
    return l;
}

static bool is_line_end(const obj_lines *l) { return l->at == l->end || *l->at == '\n'; }

static void skip_blanks(obj_lines *l) {
    while (l->at < l->end) {
        if (*l->at == ' ' || *l->at == '\t' || *l->at == '\r' || *l->at == '\v' || *l->at == '\f') {
            l->at++;
            continue;
        }
        const uint8_t *next = l->at + 1;
        if (*l->at != '\\') return;
        while (next < l->end && *next == '\r') next++;
        if (next == l->end || *next != '\n') return;
        l->at = next + 1;
        l->line++;
    }
}

bool obj_next_word(obj_lines *l) {
    size_t length = 0;
    skip_blanks(l);
    if (is_line_end(l) || *l->at == '#') return false;
    const uint8_t *begin = l->at;
    while (l->at<l->end && * l->at> ' ' &&
           !(*l->at == '\\' && l->at > begin && l->at + 1 < l->end && (l->at[1] == '\n' || l->at[1] == '\r'))) {
        if (length < OBJ_MAX_WORD) l->word[length++] = (char)*l->at;
        l->at++;
    }
    if (l->at == begin) l->at++; /* a control character is a word of no length */
    l->word[length] = '\0';
    return true;
}

bool obj_has_word(obj_lines *l) {
    skip_blanks(l);
    return !is_line_end(l) && *l->at != '#';
}

bool obj_next_rest(obj_lines *l) {
    size_t length = 0;
    skip_blanks(l);
    for (; !is_line_end(l); l->at++) {
        if (length < OBJ_MAX_WORD && *l->at != '\0') l->word[length++] = (char)*l->at;
    }
    while (length > 0 && (uint8_t)l->word[length - 1] <= ' ') length--;
    l->word[length] = '\0';
    return length > 0;
}

bool obj_next_line(obj_lines *l) {
    while (!is_line_end(l)) l->at++;
    if (l->at == l->end) return false;
    l->at++;
    l->line++;
    return l->at < l->end;
}

mote_status obj_malformed(const obj_lines *l, const char *format, ...) {
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mote_fail(l->ctx, MOTE_ERROR_DATA, "%s: line %llu: %s", l->path, (unsigned long long)l->line, why);
}

mote_status obj_numbers(obj_lines *l, const char *what, uint32_t count, double *values) {
    for (uint32_t i = 0; i < count; i++) {
        mote_text_number number;
        if (!obj_next_word(l)) return obj_malformed(l, "%s has %u numbers, needs %u", what, i, count);
        const uint8_t *begin = (const uint8_t *)l->word, *end = begin + strlen(l->word);
        if (!mote_text_scan(begin, end, &number) || number.end != end || !mote_text_double(&number, &values[i]) ||
            !isfinite(values[i])) {
            return obj_malformed(l, "%s: \"%.64s\" is not a finite number", what, l->word);
        }
    }
    return MOTE_OK;
}
