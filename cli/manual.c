/* Manual pages, in the language of man(7). */
#include "manual.h"

#include <ctype.h>
#include <mote/mote.h>
#include <stdio.h>
#include <string.h>

/* Text as it stands: no character of it is one of man's. */
static void put(const char *text, size_t length) {
    bool is_first = true;
    for (size_t i = 0; i < length; i++) {
        if (is_first && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
        is_first = text[i] == '\n';
        switch (text[i]) {
        case '\\': fputs("\\e", stdout); break;
        case '-': fputs("\\-", stdout); break;
        case '\'': fputs("\\(aq", stdout); break;
        case '~': fputs("\\(ti", stdout); break;
        case '^': fputs("\\(ha", stdout); break;
        default: putchar(text[i]);
        }
    }
}

static void put_text(const char *text) { put(text, strlen(text)); }

/* Lines of prose are filled; rows of tables, which begin with blanks, stand as they are. */
static void put_prose(const char *text) {
    bool in_table = false;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const bool is_row = text[0] == ' ';
        if (is_row != in_table) puts(is_row ? ".PP\n.nf" : ".fi\n.PP");
        in_table = is_row;
        if (length == 0) puts(".PP");
        put(text, length);
        if (length > 0) putchar('\n');
        text += length + (text[length] == '\n');
    }
    if (in_table) puts(".fi");
}

static void put_head(const char *title, const char *line) {
    fputs(".TH ", stdout);
    for (const char *c = title; *c != '\0'; c++) putchar(toupper((unsigned char)*c));
    printf(" 1 \"\" \"mote %s\" \"mote\"\n.SH NAME\n", mote_version());
    put_text(title);
    fputs(" \\- ", stdout);
    put_text(line);
    puts("\n.SH SYNOPSIS");
}

static void put_option(const option *row) {
    puts(".TP");
    if (row->letter != 0) printf("\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", stdout);
    put_text(row->name);
    fputs("\\fR", stdout);
    if (row->values != NULL) {
        fputs(" \\fI", stdout);
        put_text(row->values);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put_text(row->help);
    putchar('\n');
}

static void put_exit_codes(void) {
    puts(".SH EXIT STATUS\n"
         "0 done, 1 failed, 2 wrong usage, 3 wrong input, 4 out of memory or disk, 130 cancelled.");
}

void manual_print(const command_entry *of, const option_table *table) {
    char title[64];
    snprintf(title, sizeof title, "mote-%s", of->name);
    put_head(title, of->line);
    fputs(".B ", stdout);
    put_text(table->help->synopsis);
    puts("\n.SH DESCRIPTION");
    put_prose(table->help->summary);
    if (table->own > 0) puts(".SH OPTIONS");
    for (int i = 0; i < table->own; i++) put_option(&table->rows[i]);
    if (table->count > table->own) puts(".SH COMMON OPTIONS");
    for (int i = table->own; i < table->count; i++) put_option(&table->rows[i]);
    puts(".SH EXAMPLES\n.nf");
    put_text(table->help->examples);
    puts(".fi");
    if (table->help->notes != NULL) {
        puts(".SH NOTES");
        put_prose(table->help->notes);
    }
    put_exit_codes();
    puts(".SH SEE ALSO\n.BR mote (1)");
}

void manual_print_overview(const command_entry *commands, size_t count) {
    put_head("mote", "a point-cloud engine");
    puts(
        ".B mote\n.I COMMAND\ninputs\n.B \\-o\noutput [options]\n.SH DESCRIPTION\n"
        "Makes levels of detail, neighbours, normals, planes, measurements and pictures of point clouds, on the CPU or "
        "a GPU, with the same bytes.\n.SH COMMANDS");
    for (size_t i = 0; i < count; i++) {
        printf(".TP\n.BR mote\\-%s (1)\n", commands[i].name);
        put_text(commands[i].line);
        putchar('\n');
    }
    put_exit_codes();
    puts(".SH EXAMPLES\n.nf\n  mote info scan.las \\-\\-stats\n  mote lod scan.las \\-o scan.mote && mote view "
         "scan.mote\n.fi");
}
