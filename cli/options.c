/* The option parser that all commands share. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "help.h"
#include "machine_memory.h"
#include "print.h"
#include "stage.h"
#include "text.h"

#define ROWS_MAX 64

/* The rows of a command: its own and the common ones. */
typedef struct table {
    option rows[ROWS_MAX + 1];
    int own, count;
    const char *command;
    const command_help *help;
    const common_options *common;
} table;

int usage_error(const char *command, const char *format, ...) {
    va_list values;
    va_start(values, format);
    print_to(stderr, "mote: error: %s", stage_place());
    print_values(stderr, format, values);
    va_end(values);
    print_to(stderr, "\nmote: see \"mote help%s%s\"\n", command[0] != '\0' ? " " : "", command);
    return EXIT_USAGE;
}

/* ---- values */

#define BYTES_KILO 1024

/* How many units a letter stands for: "k" → kilo; 0 if it is none. "kB", "KiB" and "B" are allowed for bytes. */
static uint64_t suffix_factor(const char *suffix, uint64_t kilo) {
    uint64_t factor = 1;
    if (*suffix == '\0') return 1;
    if (kilo == 0) return 0;
    switch (*suffix) {
    case 'k':
    case 'K': factor = kilo; break;
    case 'm':
    case 'M': factor = kilo * kilo; break;
    case 'g':
    case 'G': factor = kilo * kilo * kilo; break;
    case 't':
    case 'T': factor = kilo * kilo * kilo * kilo; break;
    default: suffix--;
    }
    suffix++;
    if (kilo == BYTES_KILO && (strcmp(suffix, "B") == 0 || strcmp(suffix, "iB") == 0)) return factor;
    return *suffix == '\0' ? factor : 0;
}

bool parse_count(const char *word, uint64_t kilo, uint64_t *out) {
    char *end;
    if (word[0] < '0' || word[0] > '9') return false;
    errno = 0;
    const unsigned long long whole = strtoull(word, &end, 10);
    if (*end != '.' && *end != 'e') {
        const uint64_t factor = suffix_factor(end, kilo);
        if (errno != 0 || factor == 0 || whole > UINT64_MAX / factor) return false;
        *out = whole * factor;
        return true;
    }
    const double real = strtod(word, &end);
    const double value = real * (double)suffix_factor(end, kilo);
    if (suffix_factor(end, kilo) == 0 || !(value >= 0) || value >= 9e15) return false;
    if (kilo != BYTES_KILO && value != floor(value)) return false; /* bytes are rounded down, points are whole */
    *out = (uint64_t)value;
    return true;
}

/* 0 would mean no bound, to which a script that divides wrongly is not to come. */
static bool parse_bound(const char *word, uint64_t *out) { return parse_count(word, BYTES_KILO, out) && *out > 0; }

static bool parse_memory(const char *word, uint64_t *out) {
    if (strcmp(word, "auto") != 0) return parse_bound(word, out);
    *out = machine_memory("");
    return true;
}

bool parse_real(const char *word, double *out) {
    char *end;
    *out = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*out);
}

bool parse_place(const char *list, double place[3]) {
    for (int k = 0; k < 3; k++) {
        char *end;
        place[k] = strtod(list, &end);
        if (end == list || !isfinite(place[k]) || *end != (k < 2 ? ',' : '\0')) return false;
        list = end + 1;
    }
    return true;
}

static bool parse_int(const char *word, int *out) {
    char *end;
    errno = 0;
    const long value = strtol(word, &end, 10);
    if (end == word || *end != '\0' || errno != 0 || value < INT_MIN || value > INT_MAX) return false;
    *out = (int)value;
    return true;
}

static bool parse_choice(const char *word, const char *words, int *out) {
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = words; at != NULL; index++) {
        if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == '\0')) {
            *out = index;
            return true;
        }
        at = strchr(at, '|');
        if (at != NULL) at++;
    }
    return false;
}

/* A bound of nothing, which parse_bound refuses. */
static bool is_no_bound(const option *row, const char *word) {
    uint64_t bytes = 0;
    const bool is_bound = row->kind == OPTION_BYTES || row->kind == OPTION_MEMORY;
    return is_bound && parse_count(word, BYTES_KILO, &bytes) && bytes == 0;
}

static bool add_text(const char *word, text_list *list) {
    if (list->count == TEXT_LIST_MAX) return false;
    list->items[list->count++] = word;
    return true;
}

const char *option_wants(const option *row) {
    switch (row->kind) {
    case OPTION_CHOICE: return row->values;
    case OPTION_COUNT: return "a count like 5000, 1.5k or 5M";
    case OPTION_BYTES: return "a size like 800M or 4G";
    case OPTION_MEMORY: return "a size like 800M or 4G, or auto";
    case OPTION_INT: return "a whole number";
    case OPTION_REAL: return "a number";
    case OPTION_LIST: return "one of at most 32";
    default: return "a text";
    }
}

bool option_store(const option *row, const char *word) {
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)row->target = true; return true;
    case OPTION_TEXT: *(const char **)row->target = word; return true;
    case OPTION_COUNT: return parse_count(word, 1000, row->target);
    case OPTION_BYTES: return parse_bound(word, row->target);
    case OPTION_MEMORY: return parse_memory(word, row->target);
    case OPTION_INT: return parse_int(word, row->target);
    case OPTION_REAL: return parse_real(word, row->target);
    case OPTION_CHOICE: return parse_choice(word, row->values, row->target);
    case OPTION_LIST: return add_text(word, row->target);
    }
    return false;
}

/* ---- parsing */

static void add_row(table *all, option row) {
    if (all->count < ROWS_MAX) all->rows[all->count++] = row;
}

static void add_common(table *all, unsigned mask, common_options *c) {
    const option seed = {
        "seed", 0, OPTION_COUNT, &c->seed, &c->seed_given, "S", "start of all randomness; the default is fixed"};
    const option run[] = {
        {"device", 0, OPTION_TEXT, &c->device, NULL, "D",
         "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all; default auto"},
        {"threads", 0, OPTION_INT, &c->threads, &c->threads_given, "N", "CPU threads; default all cores"},
        {"memory", 0, OPTION_MEMORY, &c->memory_bytes, NULL, "SIZE|auto",
         "use at most this much memory; auto: what the machine\nor a control group leaves; default no bound"},
        {"device-memory", 0, OPTION_BYTES, &c->device_memory_bytes, NULL, "SIZE",
         "and this much of a GPU's; default as --memory"},
        {"quiet", 'q', OPTION_FLAG, &c->quiet, NULL, NULL, "no messages but errors, no progress bar"},
        {"verbose", 'v', OPTION_FLAG, &c->verbose, NULL, NULL, "seconds per stage and bytes per structure"},
    };
    const option output[] = {
        {"output", 'o', OPTION_TEXT, &c->output, NULL, "OUT",
         "the output, anywhere in the line; replaces what is\nthere. All other names are inputs then"},
        {"force", 0, OPTION_FLAG, &c->force, NULL, NULL,
         "an output that is the last name, without -o, may\nreplace what is there, too"},
        {"format", 0, OPTION_TEXT, &c->format, NULL, "NAME",
         "of the output: las, laz, csv, …; default by its ending.\nNeeded where there is none: -o - is standard "
         "output"},
    };
    const option where = {"where",
                          0,
                          OPTION_TEXT,
                          &c->where,
                          NULL,
                          "EXPR",
                          "only points that meet a condition, like\n\"classification == 2 && z < 120.5\""};
    const option crs[] = {
        {"crs", 0, OPTION_TEXT, &c->crs, NULL, "CRS",
         "the reference system of the inputs: EPSG:n (or n),\nEPSG:n+v with heights, WKT, PROJJSON, or a file of one"},
        {"to-crs", 0, OPTION_TEXT, &c->to_crs, NULL, "CRS",
         "bring all inputs to this reference system, each from\nits own"},
        {"crs-ballpark", 0, OPTION_FLAG, &c->crs_ballpark, NULL, NULL,
         "--to-crs also where only a rough operation is known, or\na grid is missing; default an error"},
    };
    const option where_in = {"where-in",
                             0,
                             OPTION_CHOICE,
                             &c->where_in,
                             &c->where_in_given,
                             "input|output",
                             "with --to-crs: the system whose x, y and z --where\nsees; default that of the input"};
    const option json = {"json", 0, OPTION_FLAG, &c->json, NULL, NULL, "print the result as JSON"};
    const option hash = {"hash", 0, OPTION_FLAG, &c->hash, NULL, NULL, "print a checksum of the result"};
    for (size_t i = 0; (mask & COMMON_OUTPUT) && i < sizeof output / sizeof output[0]; i++) add_row(all, output[i]);
    if (mask & COMMON_WHERE) add_row(all, where);
    if ((mask & COMMON_WHERE) && (mask & COMMON_CRS)) add_row(all, where_in);
    for (size_t i = 0; (mask & COMMON_CRS) && i < sizeof crs / sizeof crs[0]; i++) add_row(all, crs[i]);
    if (mask & COMMON_SEED) add_row(all, seed);
    if (mask & COMMON_JSON) add_row(all, json);
    if (mask & COMMON_HASH) add_row(all, hash);
    for (size_t i = 0; (mask & COMMON_RUN) && i < sizeof run / sizeof run[0]; i++) add_row(all, run[i]);
}

static const option *find_row(const table *all, const char *name, size_t length) {
    for (int i = 0; i < all->count; i++) {
        if (strncmp(all->rows[i].name, name, length) == 0 && all->rows[i].name[length] == '\0') return &all->rows[i];
    }
    return NULL;
}

static const option *find_letter(const table *all, char letter) {
    for (int i = 0; i < all->count; i++) {
        if (all->rows[i].letter == letter) return &all->rows[i];
    }
    return NULL;
}

/* What other programs call the options of this one. */
static const char *const other_names[][2] = {{"overwrite", "force"}, {"yes", "force"},      {"clobber", "force"},
                                             {"out", "output"},      {"outfile", "output"}, {"jobs", "threads"},
                                             {"gpu", "device"},      {"cuda", "device"}};

/* The name of the option that is nearest to a word without dashes; NULL if none is near. */
static const char *nearest_option(const table *all, const char *bare) {
    const char *names[ROWS_MAX + 2];
    int count = 0;
    for (; count < all->count; count++) names[count] = all->rows[count].name;
    names[count++] = "help";
    names[count] = NULL;
    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
        const char *own = other_names[i][1];
        if (strcmp(bare, other_names[i][0]) == 0 && find_row(all, own, strlen(own)) != NULL) return own;
    }
    return text_nearest(bare, names);
}

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words != NULL; words++) {
        if (strcmp(word, *words) == 0) return true;
    }
    return false;
}

static parse_result unknown_option(const table *all, const char *word) {
    static const char *const of_output[] = {"o", "output", "force", "out", "overwrite", NULL};
    static const char *const of_input[] = {"i", "input", "in", NULL};
    char bare[80];
    snprintf(bare, sizeof bare, "%s", word + strspn(word, "-"));
    bare[strcspn(bare, "=")] = '\0';
    const char *near = nearest_option(all, bare);
    if (all->help->no_output != NULL && is_one_of(bare, of_output)) {
        usage_error(all->command, "%s has no option \"%s\": %s", all->command, word, all->help->no_output);
    } else if (is_one_of(bare, of_input)) {
        usage_error(all->command, "%s has no option \"%s\": inputs are named without one", all->command, word);
    } else if (near != NULL) {
        usage_error(all->command, "%s has no option \"%s\"; did you mean \"--%s\"?", all->command, word, near);
    } else {
        usage_error(all->command, "%s has no option \"%s\"", all->command, word);
    }
    return PARSE_WRONG;
}

/* Whether a word is an option of the command, as it stands in its help. */
static bool is_option(const table *all, const char *word) {
    if (word[0] != '-' || word[1] == '\0') return false;
    if (word[1] == '-') return find_row(all, word + 2, strcspn(word + 2, "=")) != NULL;
    return word[2] == '\0' && find_letter(all, word[1]) != NULL;
}

/* Takes the option at argv[*at], and its value if that is the next word. */
static parse_result take_option(const table *all, int argc, char **argv, int *at) {
    const char *word = argv[*at], *value = NULL;
    const option *row;
    if (word[1] == '-') {
        const size_t length = strcspn(word + 2, "=");
        row = find_row(all, word + 2, length);
        if (word[2 + length] == '=') value = word + 3 + length;
    } else {
        row = find_letter(all, word[1]);
        if (word[2] != '\0') value = word + 2 + (word[2] == '=');
    }
    if (row == NULL || (row->kind == OPTION_FLAG && value != NULL && word[1] != '-')) return unknown_option(all, word);
    if (row->kind == OPTION_FLAG && value != NULL) {
        usage_error(all->command, "--%s takes no value", row->name);
        return PARSE_WRONG;
    }
    if (row->kind != OPTION_FLAG && value == NULL) {
        if (*at + 1 >= argc) {
            usage_error(all->command, "--%s needs a value: %s", row->name, row->values);
            return PARSE_WRONG;
        }
        value = argv[++*at];
        if (row->kind == OPTION_TEXT && is_option(all, value)) {
            usage_error(all->command, "--%s needs a value: %s; \"%s\" is an option (if it is meant: --%s=%s)",
                        row->name, row->values, value, row->name, value);
            return PARSE_WRONG;
        }
    }
    if (row->target == &all->common->output && all->common->output != NULL) {
        usage_error(all->command, "--output is given twice: %s and %s; there is one output", all->common->output,
                    value);
        return PARSE_WRONG;
    }
    if (row->target == &all->common->where && all->common->where != NULL) {
        usage_error(all->command, "--where is given twice; join the two conditions: \"(…) && (…)\"");
        return PARSE_WRONG;
    }
    if (is_no_bound(row, value)) {
        usage_error(all->command, "--%s: %s is no memory at all; leave --%s out for no bound", row->name, value,
                    row->name);
        return PARSE_WRONG;
    }
    if (!option_store(row, value)) {
        usage_error(all->command, "--%s: \"%s\" is not %s%s", row->name, value,
                    row->kind == OPTION_CHOICE ? "one of " : "", option_wants(row));
        return PARSE_WRONG;
    }
    if (row->given != NULL) *row->given = true;
    return PARSE_RUN;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

parse_result options_parse(const command_help *help, const option *rows, unsigned common_mask, common_options *common,
                           int argc, char **argv, arguments *out) {
    table all = {.command = argv[0], .help = help, .common = common};
    memset(common, 0, sizeof *common);
    common->device = "auto";
    for (; rows[all.own].name != NULL; all.own++) add_row(&all, rows[all.own]);
    add_common(&all, common_mask, common);
    command_stage *const stage = stage_now();
    if (stage != NULL) {
        const option_table shown = {argv[0], help, all.rows, all.own, all.count};
        return stage->take(stage, &shown, common, out);
    }
    if (asks_for_help(argc, argv)) {
        help_print(help, all.rows, all.own, all.count);
        return PARSE_HELP;
    }
    bool ended = false;
    out->words = (const char **)(argv + 1); /* words move to the front as they are found */
    out->count = 0;
    for (int i = 1; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0) {
            ended = true;
        } else if (!ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            const parse_result result = take_option(&all, argc, argv, &i);
            if (result != PARSE_RUN) return result;
        } else {
            argv[1 + out->count++] = argv[i];
        }
    }
    if (common->crs_ballpark && common->to_crs == NULL) {
        usage_error(all.command, "--crs-ballpark is for --to-crs");
        return PARSE_WRONG;
    }
    if (common->where_in_given && common->to_crs == NULL) {
        usage_error(all.command, "--where-in is for --where together with --to-crs");
        return PARSE_WRONG;
    }
    if (common->threads_given && (common->threads < 1 || common->threads > 4096)) {
        usage_error(all.command, "--threads: %d is not in 1..4096", common->threads);
        return PARSE_WRONG;
    }
    return PARSE_RUN;
}
