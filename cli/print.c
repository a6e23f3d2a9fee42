/* What the command prints for people: nothing in it is a command to a terminal. */
#include "print.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

#define ESCAPED_MAX  4u /* bytes for each one that is escaped */
#define LAYOUT_BREAK '\001'

/* A text as formatted, and where its line breaks are those of the format: there `marked` holds LAYOUT_BREAK. */
typedef struct formatted {
    size_t size;
    char *plain, *marked;
    char *escaped; /* room for all of it */
} formatted;

/* Appends the character at a place of the text. length 0: no character begins there. */
static void add_character(formatted *f, size_t at, size_t length, uint32_t code, size_t *end) {
    char *out = f->escaped + *end;
    const char byte = f->plain[at];
    if (byte == '\n' && f->marked[at] == LAYOUT_BREAK) {
        *end += (size_t)sprintf(out, "\n");
    } else if (byte == '\n' || byte == '\t') {
        *end += (size_t)sprintf(out, byte == '\n' ? "\\n" : "\\t");
    } else if (length == 0 || code < 0x20 || code == 0x7F) {
        *end += (size_t)sprintf(out, "\\x%02x", (unsigned char)byte);
    } else if (text_is_hidden(code)) {
        *end += (size_t)sprintf(out, "\\u%04x", (unsigned)code);
    } else {
        memcpy(out, f->plain + at, length);
        *end += length;
    }
}

static void write_escaped(FILE *to, formatted *f) {
    size_t end = 0;
    for (size_t at = 0; at < f->size;) {
        uint32_t code = 0;
        const size_t length = text_character(f->plain + at, &code);
        add_character(f, at, length, code, &end);
        at += length > 0 ? length : 1;
    }
    fwrite(f->escaped, 1, end, to);
}

/* The format with other characters in the place of its line breaks. */
static void mark_breaks(const char *format, char *marked) {
    do *marked++ = *format == '\n' ? LAYOUT_BREAK : *format;
    while (*format++ != '\0');
}

/* Where memory has run out there is still something to say, and what is printed is still whole: texts of up to some
   thousand bytes take none. */
#define STACK_BYTES 24576u

void print_values(FILE *to, const char *format, va_list values) {
    va_list again, once_more;
    va_copy(again, values);
    va_copy(once_more, values);
    const int length = vsnprintf(NULL, 0, format, values);
    const size_t size = length > 0 ? (size_t)length : 0;
    char few[STACK_BYTES];
    const size_t text_bytes = (2 + ESCAPED_MAX) * (size + 1), bytes = text_bytes + strlen(format) + 1;
    char *const memory = bytes <= sizeof few ? few : malloc(bytes);
    if (memory != NULL && length > 0) {
        formatted f = {size, memory, memory + size + 1, memory + 2 * (size + 1)};
        char *const marked_format = memory + text_bytes;
        mark_breaks(format, marked_format);
        vsnprintf(f.plain, size + 1, format, again);
        vsnprintf(f.marked, size + 1, marked_format, once_more);
        write_escaped(to, &f);
    } else if (length > 0) {
        fputs("a message is not shown: memory has run out\n", to);
    }
    if (memory != few) free(memory);
    va_end(again);
    va_end(once_more);
}

void print_to(FILE *to, const char *format, ...) {
    va_list values;
    va_start(values, format);
    print_values(to, format, values);
    va_end(values);
}

void print_out(const char *format, ...) {
    va_list values;
    va_start(values, format);
    print_values(stdout, format, values);
    va_end(values);
}
