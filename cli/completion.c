/* Completion for shells: scripts in which the tables of options stand. */
#include "completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether the value of an option is a file, as its name in help tells: FILE, OUT.png, DIR. */
static bool takes_file(const option *row) {
    static const char *const names[] = {"FILE", "OUT", "DIR", "IN", "SITE"};
    if (row->kind != OPTION_TEXT && row->kind != OPTION_LIST) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(row->values, names[i], length) == 0 && !isalpha((unsigned char)row->values[length])) return true;
    }
    return false;
}

/* The words of a choice, with blanks between; nothing of other options. */
static void put_choices(const option *row) {
    for (const char *c = row->values; *c != '\0'; c++) putchar(*c == '|' ? ' ' : *c);
}

/* What an option does, up to the first end of a thought, without characters that mean something in quotes. */
static void put_remark(const char *help, const char *unwanted) {
    for (const char *c = help; *c != '\0' && *c != ';'; c++) {
        if (*c == '\n') {
            putchar(' ');
        } else if (strchr(unwanted, *c) == NULL) {
            putchar(*c);
        }
    }
}

/* ---- bash */

static void bash_begin(const command_entry *commands, size_t count) {
    puts("# Completion of mote for bash, made by \"mote help --completion bash\".\n"
         "_mote() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
         "    [[ $word == \"=\" ]] && word=\n"
         "    [[ $before == \"=\" ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    COMPREPLY=()");
    fputs("    if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then\n        words=\"", stdout);
    for (size_t i = 0; i < count; i++) printf("%s ", commands[i].name);
    puts("help --help --version\"\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "        return\n    fi");
}

static void bash_begin_pass(int pass) {
    if (pass == 0) puts("    case ${COMP_WORDS[1]}:$before in");
    if (pass == 1) {
        puts("    esac\n"
             "    if [[ -n $words ]]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
             "        return\n    fi\n"
             "    [[ $word == -* ]] || return\n"
             "    case ${COMP_WORDS[1]} in");
    }
}

static void bash_print_choices(const command_entry *of, const option_table *table) {
    for (int i = 0; i < table->count; i++) {
        const option *row = &table->rows[i];
        if (row->kind != OPTION_CHOICE) continue;
        printf("        %s:--%s) words=\"", of->name, row->name);
        put_choices(row);
        puts("\" ;;");
    }
}

static void bash_print_options(const command_entry *of, const option_table *table) {
    printf("        %s) words=\"", of->name);
    for (int i = 0; i < table->count; i++) printf("--%s ", table->rows[i].name);
    puts("--help\" ;;");
}

static void bash_end(void) {
    puts("    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o default -o bashdefault -F _mote mote");
}

/* ---- zsh */

#define ZSH_UNWANTED "'[]:\\`$\"" /* in a remark of _arguments, in single quotes */

static void zsh_begin(const command_entry *commands, size_t count) {
    puts("#compdef mote\n"
         "# Completion of mote for zsh, made by \"mote help --completion zsh\".\n"
         "_mote() {\n"
         "    local -a commands\n"
         "    commands=(");
    for (size_t i = 0; i < count; i++) {
        printf("        '%s:", commands[i].name);
        put_remark(commands[i].line, ZSH_UNWANTED);
        puts("'");
    }
    puts("        'help:explains a command'\n    )\n"
         "    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
         "        _describe command commands\n"
         "        return\n    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    ((CURRENT -= 1))\n"
         "    case $command in");
}

static void begin_nothing(int pass) { (void)pass; }

static void zsh_print(const command_entry *of, const option_table *table) {
    printf("        %s)\n            _arguments -s", of->name);
    for (int i = 0; i < table->count; i++) {
        const option *row = &table->rows[i];
        const bool has_value = row->kind != OPTION_FLAG;
        fputs(" \\\n                ", stdout);
        if (row->letter != 0) {
            printf("'%s(-%c --%s)'{-%c%s,--%s%s}", row->kind == OPTION_LIST ? "*" : "", row->letter, row->name,
                   row->letter, has_value ? "+" : "", row->name, has_value ? "=" : "");
        } else {
            printf("'%s--%s%s'", row->kind == OPTION_LIST ? "*" : "", row->name, has_value ? "=" : "");
        }
        fputs("'[", stdout);
        put_remark(row->help, ZSH_UNWANTED);
        fputs("]", stdout);
        if (row->kind == OPTION_CHOICE) {
            fputs(":word:(", stdout);
            put_choices(row);
            fputs(")", stdout);
        } else if (has_value) {
            printf(":%s:%s", "value", takes_file(row) ? "_files" : "");
        }
        fputs("'", stdout);
    }
    puts(" \\\n                '--help[explains the command]' '*:file:_files' ;;");
}

/* Ends the file: in a folder of fpath it is the function itself, elsewhere it is read once and defines it. */
static void zsh_end(void) {
    puts("    esac\n}\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _mote \"$@\"; else compdef _mote mote; fi");
}

/* ---- fish */

#define FISH_UNWANTED "'\\"

static void fish_begin(const command_entry *commands, size_t count) {
    puts("# Completion of mote for fish, made by \"mote help --completion fish\".");
    for (size_t i = 0; i < count; i++) {
        printf("complete -c mote -n __fish_use_subcommand -x -a %s -d '", commands[i].name);
        put_remark(commands[i].line, FISH_UNWANTED);
        puts("'");
    }
    fputs("complete -c mote -n __fish_use_subcommand -x -a help -d 'explains a command'\n"
          "complete -c mote -n '__fish_seen_subcommand_from help' -x -a '",
          stdout);
    for (size_t i = 0; i < count; i++) printf("%s%s", i > 0 ? " " : "", commands[i].name);
    puts("'");
}

static void fish_print(const command_entry *of, const option_table *table) {
    for (int i = 0; i < table->count; i++) {
        const option *row = &table->rows[i];
        printf("complete -c mote -n '__fish_seen_subcommand_from %s' -l %s", of->name, row->name);
        if (row->letter != 0) printf(" -s %c", row->letter);
        if (row->kind == OPTION_CHOICE) {
            fputs(" -x -a '", stdout);
            put_choices(row);
            putchar('\'');
        } else if (row->kind != OPTION_FLAG) {
            fputs(takes_file(row) ? " -r -F" : " -x", stdout);
        }
        fputs(" -d '", stdout);
        put_remark(row->help, FISH_UNWANTED);
        puts("'");
    }
}

static void end_nothing(void) {}

static const completion_shell shells[] = {
    {"bash", 2, bash_begin, bash_begin_pass, {bash_print_choices, bash_print_options}, bash_end},
    {"zsh", 1, zsh_begin, begin_nothing, {zsh_print, NULL}, zsh_end},
    {"fish", 1, fish_begin, begin_nothing, {fish_print, NULL}, end_nothing},
};

const completion_shell *completion_find(const char *name) {
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, name) == 0) return &shells[i];
    }
    return NULL;
}
