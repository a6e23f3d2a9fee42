/* The help of a command, laid out for a terminal of 80 columns. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#define WIDTH         80
#define OPTION_COLUMN 28 /* where what an option does begins */
#define REMARK_COLUMN 6  /* of an example, in a line of its own */

/* Columns on the terminal: bytes of UTF-8 that begin a character. */
static int text_width(const char *s, size_t size_bytes) {
    int width = 0;
    for (size_t i = 0; i < size_bytes; i++) width += ((unsigned char)s[i] & 0xC0) != 0x80;
    return width;
}

/* Prints words from a column on, a space before the first one where it is not the first of its line; further lines
   indented by indent. Returns the column behind the last word. */
static int print_words(const char *words, size_t size_bytes, int column, int indent) {
    for (size_t at = 0; at < size_bytes;) {
        const size_t gap = strspn(words + at, " \n");
        at += gap;
        if (at >= size_bytes) break;
        size_t length = strcspn(words + at, " \n");
        if (length > size_bytes - at) length = size_bytes - at;
        const int width = text_width(words + at, length);
        if (column > indent && column + 1 + width > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        fwrite(words + at, 1, length, stdout);
        column += width;
        at += length;
    }
    return column;
}

/* The indentation of a line, or of the second column of a table's row: behind two spaces or more. */
static int hanging_indent(const char *line, size_t length) {
    size_t at = strspn(line, " ");
    const int own = (int)at;
    for (; at + 1 < length; at++) {
        if (line[at] == ' ' && line[at + 1] == ' ') return text_width(line, at + strspn(line + at, " "));
    }
    return own;
}

/* Lines are joined into paragraphs, except for rows of tables, which begin with spaces, and after a sentence. */
static void print_paragraphs(const char *text) {
    int column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const char last = length > 0 ? text[length - 1] : '\n';
        if (text[0] == ' ' || length == 0) {
            if (column > 0) putchar('\n');
            column = 0;
            /* A row of a table: its first column as it stands, the second one wrapped. */
            const int indent = hanging_indent(text, length);
            size_t head = 0;
            while (head < length && text_width(text, head) < indent) head++;
            fwrite(text, 1, head, stdout);
            print_words(text + head, length - head, indent, indent);
            putchar('\n');
        } else {
            column = print_words(text, length, column, 0);
        }
        text += length + (text[length] == '\n');
        if (column > 0 && (last == '.' || last == ':' || *text == '\0')) {
            putchar('\n');
            column = 0;
        }
    }
}

/* "  mote …   remark": the remark goes below where the line would be too wide. */
static void print_example(const char *line, size_t length) {
    size_t command = strspn(line, " ");
    while (command < length && strncmp(line + command, "  ", 2) != 0) command++;
    const size_t remark = command < length ? command + strspn(line + command, " ") : length;
    if (text_width(line, length) <= WIDTH) {
        printf("%.*s\n", (int)length, line);
        return;
    }
    printf("%.*s\n", (int)command, line);
    if (remark < length) printf("%*s%.*s\n", REMARK_COLUMN, "", (int)(length - remark), line + remark);
}

static void print_option(const option *row) {
    char label[160];
    char letter[8] = "    ";
    if (row->letter != 0) snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(label, sizeof label, "  %s--%s%s%s", letter, row->name, row->values != NULL ? " " : "",
             row->values != NULL ? row->values : "");
    const int width = text_width(label, strlen(label));
    if (width + 2 <= OPTION_COLUMN) {
        printf("%s%*s", label, OPTION_COLUMN - width, "");
    } else {
        printf("%s\n%*s", label, OPTION_COLUMN, "");
    }
    print_words(row->help, strlen(row->help), OPTION_COLUMN, OPTION_COLUMN);
    putchar('\n');
}

void help_print(const command_help *help, const option *rows, int own_count, int row_count) {
    print_paragraphs(help->summary);
    printf("\nUsage: %s\n\nExamples:\n", help->synopsis);
    const char *lines = help->examples;
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        print_example(lines, length);
        lines += length + (lines[length] == '\n');
    }
    if (own_count > 0) printf("\nOptions:\n");
    for (int i = 0; i < own_count; i++) print_option(&rows[i]);
    if (row_count > own_count) printf("\nCommon options:\n");
    for (int i = own_count; i < row_count; i++) print_option(&rows[i]);
    if (help->notes == NULL) return;
    putchar('\n');
    print_paragraphs(help->notes);
}
