/* Wavefront OBJ and MTL: their lines as words, and what of them is left out. */
#include "io/scene/obj_lines.h"

#include <math.h>
#include <stdio.h>

#include "io/text/text.h"

obj_lines obj_lines_of(scene_draft *d, const char *path, const mote_input *input, obj_notes *notes) {
    obj_lines l;
    l.draft = d;
    l.path = path;
    l.notes = notes;
    l.at = input->data + mote_text_mark_bytes(input);
    l.end = input->data + input->size_bytes;
    l.line = 1;
    l.word[0] = '\0';
    return l;
}

/* ---- words */

static bool is_line_end(const obj_lines *l) { return l->at == l->end || *l->at == '\n' || *l->at == '\r'; }

/* The place behind the line end at `at`, which is LF, CRLF or CR. */
static const uint8_t *skip_line_end(const obj_lines *l, const uint8_t *at) {
    const bool both = *at == '\r' && at + 1 < l->end && at[1] == '\n';
    return at + (both ? 2 : 1);
}

/* A backslash and a line end at `at`. */
static bool is_continuation(const obj_lines *l, const uint8_t *at) {
    return *at == '\\' && at + 1 < l->end && (at[1] == '\n' || at[1] == '\r');
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

static void skip_blanks(obj_lines *l) {
    while (l->at < l->end) {
        if (is_blank(*l->at)) {
            l->at++;
        } else if (is_continuation(l, l->at)) {
            l->at = skip_line_end(l, l->at + 1);
            l->line++;
        } else {
            return;
        }
    }
}

bool obj_next_word(obj_lines *l) {
    if (!obj_has_word(l)) return false;
    const uint8_t *const begin = l->at;
    size_t length = 0;
    for (; !is_line_end(l) && !is_blank(*l->at) && *l->at != '#' && !is_continuation(l, l->at); l->at++) {
        if (length < OBJ_MAX_WORD) l->word[length++] = (char)*l->at;
    }
    l->word[length] = '\0';
    /* A zero byte would hide what follows it. */
    if (strlen(l->word) < length) mote_text_quote(begin, (uint64_t)(l->at - begin), l->word, sizeof l->word);
    return true;
}

/* Bytes of a mark or blank of Unicode that a line may begin with, or 0. */
static size_t unicode_blank(const obj_lines *l) {
    static const char *const blanks[] = {"\xEF\xBB\xBF", "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xAF",
                                         "\xE2\x81\x9F", "\xE2\x81\xA0", "\xE3\x80\x80"};
    const size_t left = (size_t)(l->end - l->at);
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        const size_t bytes = strlen(blanks[i]);
        if (left >= bytes && memcmp(l->at, blanks[i], bytes) == 0) return bytes;
    }
    const bool general = left >= 3 && l->at[0] == 0xE2 && l->at[1] == 0x80 && l->at[2] >= 0x80 && l->at[2] <= 0x8F;
    return general ? 3 : 0;
}

bool obj_next_keyword(obj_lines *l) {
    for (size_t bytes = 1; bytes > 0; l->at += bytes) {
        skip_blanks(l);
        bytes = unicode_blank(l);
    }
    return obj_next_word(l);
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
    l->at = skip_line_end(l, l->at);
    l->line++;
    return l->at < l->end;
}

bool obj_numbers(obj_lines *l, const char *what, uint32_t count, double *values) {
    for (uint32_t i = 0; i < count; i++) {
        mote_text_number number;
        if (!obj_next_word(l)) {
            obj_note(l, OBJ_NOTE_LINE, "%s has %u numbers, needs %u", what, i, count);
            return false;
        }
        const uint8_t *begin = (const uint8_t *)l->word, *end = begin + strlen(l->word);
        if (!mote_text_scan(begin, end, &number) || number.end != end || !mote_text_double(&number, &values[i]) ||
            !isfinite(values[i])) {
            obj_note(l, OBJ_NOTE_LINE, "%s: \"%.64s\" is not a finite number", what, l->word);
            return false;
        }
    }
    return true;
}

bool obj_is_option(const char *at) {
    return at[0] == '-' && ((at[1] >= 'a' && at[1] <= 'z') || (at[1] >= 'A' && at[1] <= 'Z'));
}

size_t obj_name_bytes(const char *name, bool options) {
    size_t length = 0;
    for (; name[length] != '\0'; length++) {
        const char *const at = name + length;
        if ((*at == ' ' || *at == '\t') && (at[1] == '#' || (options && obj_is_option(at + 1)))) return length;
    }
    return length;
}

/* ---- notes */

static void note(obj_lines *l, uint64_t line, obj_note_kind kind, const char *format, va_list arguments) {
    if (l->notes->counts[kind]++ > 0) return;
    char *const first = l->notes->first[kind];
    const bool other = strcmp(l->path, l->draft->path) != 0; /* a library */
    const int length = snprintf(first, OBJ_NOTE_BYTES, "%.*s%sline %llu: ", other ? 200 : 0, l->path, other ? ": " : "",
                                (unsigned long long)line);
    vsnprintf(first + length, OBJ_NOTE_BYTES - (size_t)length, format, arguments);
}

void obj_note(obj_lines *l, obj_note_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(l, l->line, kind, format, arguments);
    va_end(arguments);
}

void obj_note_at(obj_lines *l, uint64_t line, obj_note_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    note(l, line, kind, format, arguments);
    va_end(arguments);
}

double obj_color_white(double max) { return max <= 2 ? 1 : max <= 255 ? 255 : 65535; }

bool obj_forgive(obj_lines *l, obj_note_kind kind, mote_status status) {
    if (!scene_file_is_dispensable(status)) return false;
    obj_note(l, kind, "%s", mote_context_message(l->draft->ctx));
    mote_context_clear(l->draft->ctx);
    return true;
}

void obj_tell_notes(const scene_draft *d, const obj_notes *notes) {
    static const char *const words[OBJ_NOTE_KINDS] = {
        "lines that cannot be read are left out",
        "lines, points and curves are left out: faces alone are drawn",
        "corners have texture coordinates that are not there: 0 0 is taken",
        "files of materials cannot be read",
        "times usemtl names no material that is known: grey of 0.8 is taken",
        "textures cannot be read: the colour of the material is taken",
        "options of map_Kd have no effect",
        "properties of materials have no effect",
        "lines begin with a word that is not known, and are left out",
        "materials have Tr that is not believed: d says how opaque they are, or they would not be seen",
        "materials of glass have a texture, and are drawn as what it shows",
        "files have colours beyond 1",
    };
    for (int i = 0; i < OBJ_NOTE_KINDS; i++) {
        if (notes->counts[i] == 0) continue;
        mote_warn(d->ctx, "%s: %llu %s; the first: %s", d->path, (unsigned long long)notes->counts[i], words[i],
                  notes->first[i]);
    }
}
