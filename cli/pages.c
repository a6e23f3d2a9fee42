/* Manual pages, Markdown, and completion for shells, made of the tables of options that --help prints. */
#include "pages.h"

#include <mote/mote.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "completion.h"
#include "manual.h"
#include "markdown.h"
#include "stage.h"

/* Prints something of a table, in place of what a line of words would do. */
typedef struct page_request {
    const command_entry *of;
    void (*print)(const command_entry *of, const option_table *table);
} page_request;

static parse_result take_table(command_stage *stage, const option_table *table, common_options *common,
                               arguments *out) {
    const page_request *request = stage->user;
    (void)common, (void)out;
    request->print(request->of, table);
    return PARSE_HELP;
}

static void print_of(const command_entry *of, void (*print)(const command_entry *of, const option_table *table)) {
    char name[32];
    page_request request = {of, print};
    command_stage stage = {.take = take_table, .user = &request};
    snprintf(name, sizeof name, "%s", of->name);
    char *words[] = {name, NULL};
    stage_set(&stage);
    of->run(1, words);
    stage_set(NULL);
}

static void print_of_all(void (*print)(const command_entry *of, const option_table *table)) {
    size_t count;
    const command_entry *commands = commands_all(&count);
    for (size_t i = 0; i < count; i++) print_of(&commands[i], print);
}

/* What a language of pages has: a page of a command, and one of all. */
typedef struct page_language {
    void (*print)(const command_entry *of, const option_table *table);
    void (*print_overview)(const command_entry *commands, size_t count);
} page_language;

static int print_page(page_language in, const char *name) {
    size_t count;
    const command_entry *commands = commands_all(&count);
    for (size_t i = 0; name != NULL && i < count; i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        print_of(&commands[i], in.print);
        return EXIT_DONE;
    }
    if (name != NULL) return usage_error("", "there is no command \"%s\"", name);
    in.print_overview(commands, count);
    return EXIT_DONE;
}

static int print_completion(const char *shell) {
    size_t count;
    const command_entry *commands = commands_all(&count);
    const completion_shell *known = completion_find(shell);
    if (known == NULL) return usage_error("", "--completion: \"%s\" is not bash, zsh or fish", shell);
    known->begin(commands, count);
    for (int pass = 0; pass < known->passes; pass++) {
        known->begin_pass(pass);
        print_of_all(known->print[pass]);
    }
    known->end();
    return EXIT_DONE;
}

int pages_print(int argc, char **argv) {
    size_t count;
    const command_entry *commands = commands_all(&count);
    if (strcmp(argv[0], "--names") == 0 && argc == 1) {
        for (size_t i = 0; i < count; i++) printf("%s\n", commands[i].name);
        return EXIT_DONE;
    }
    const char *name = argc > 1 ? argv[1] : NULL;
    const page_language manual = {manual_print, manual_print_overview};
    const page_language markdown = {markdown_print, markdown_print_overview};
    if (strcmp(argv[0], "--man") == 0 && argc <= 2) return print_page(manual, name);
    if (strcmp(argv[0], "--markdown") == 0 && argc <= 2) return print_page(markdown, name);
    if (strcmp(argv[0], "--completion") == 0 && argc == 2) return print_completion(argv[1]);
    return usage_error(
        "", "help takes a command, --man [COMMAND], --markdown [COMMAND], --completion bash|zsh|fish, or --names");
}
