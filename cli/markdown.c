/* Pages for the site of make docs, in Markdown with definition lists. */
#include "markdown.h"

#include <mote/mote.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Text as it stands: no character of it is one of Markdown's. Lines of it are joined. */
static void put(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (strchr("\\`*_{}[]<>#|~$", text[i]) != NULL) putchar('\\');
        putchar(text[i] == '\n' ? ' ' : text[i]);
    }
}

static void put_text(const char *text) { put(text, strlen(text)); }

/* Lines of prose become paragraphs, which end with a sentence; rows of tables, which begin with blanks, stand as they
   are. */
static void put_prose(const char *text) {
    bool in_table = false;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const bool is_row = text[0] == ' ';
        if (is_row != in_table) puts(is_row ? "\n```text" : "```\n");
        in_table = is_row;
        if (is_row) {
            printf("%.*s\n", (int)length, text);
        } else {
            put(text, length);
            puts(length > 0 && text[length - 1] == '.' ? "\n" : "");
        }
        text += length + (text[length] == '\n');
    }
    if (in_table) puts("```");
}

/* "  mote …   remark": the remark goes above, as a comment of the shell. What continues a line has no remark. */
static void put_example(const char *line, size_t length) {
    const size_t begin = strspn(line, " ");
    size_t end = begin;
    while (end < length && strncmp(line + end, "  ", 2) != 0) end++;
    const size_t remark = end < length ? end + strspn(line + end, " ") : length;
    if (begin > 2 || remark >= length) {
        printf("%.*s\n", (int)(length - (begin > 2 ? 0 : begin)), line + (begin > 2 ? 0 : begin));
        return;
    }
    printf("# %.*s\n%.*s\n", (int)(length - remark), line + remark, (int)(end - begin), line + begin);
}

static void put_examples(const char *lines) {
    puts("\n## Examples\n```sh");
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        put_example(lines, length);
        lines += length + (lines[length] == '\n');
    }
    puts("```");
}

static void put_option(const option *row) {
    fputs("\n`", stdout);
    if (row->letter != 0) printf("-%c, ", row->letter);
    printf("--%s%s%s`\n: ", row->name, row->values != NULL ? " " : "", row->values != NULL ? row->values : "");
    put_text(row->help);
    putchar('\n');
}

void markdown_print(const command_entry *of, const option_table *table) {
    printf("# mote %s\n\n", of->name);
    put_prose(table->help->summary);
    printf("\n```text\n%s\n```\n", table->help->synopsis);
    put_examples(table->help->examples);
    if (table->own > 0) puts("\n## Options");
    for (int i = 0; i < table->own; i++) put_option(&table->rows[i]);
    if (table->count > table->own) puts("\n## Common options");
    for (int i = table->own; i < table->count; i++) put_option(&table->rows[i]);
    if (table->help->notes == NULL) return;
    puts("\n## Notes");
    put_prose(table->help->notes);
}

void markdown_print_overview(const command_entry *commands, size_t count) {
    puts("| command | does |\n|---|---|");
    for (size_t i = 0; i < count; i++) {
        printf("| [mote %s](mote-%s.md) | ", commands[i].name, commands[i].name);
        put_text(commands[i].line);
        puts(" |");
    }
}
