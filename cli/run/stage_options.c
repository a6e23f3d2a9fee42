/* The options of a stage: the same tables as on the command line, filled from JSON. */
#define _GNU_SOURCE
#include <ctype.h>
#include <mote_have.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/pipeline.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

#define KEY_BYTES 128

/* ---- mistakes */

int stage_wrong(stage_call *call, const char *key, const char *format, ...) {
    va_list values;
    char message[3000];
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    command_stage *const before = stage_now();
    stage_set(NULL); /* this message names a place of its own */
    session_error(call->s, EXIT_USAGE, "%s: %s%s%s: %s", call->pipeline->title, call->stage->place,
                  key != NULL ? "/" : "", key != NULL ? key : "", message);
    stage_set(before);
    return EXIT_USAGE;
}

/* ---- words */

static char *keep_word(stage_call *call, char *word) {
    if (word == NULL) return NULL;
    if (call->word_count == (int)(sizeof call->words / sizeof call->words[0])) {
        free(word);
        return NULL;
    }
    call->words[call->word_count++] = word;
    return word;
}

char *stage_word(stage_call *call, const char *format, ...) {
    va_list values;
    char *word = NULL;
    va_start(values, format);
    const int length = vasprintf(&word, format, values);
    va_end(values);
    return length < 0 ? NULL : keep_word(call, word);
}

bool stage_has(const stage_call *call, const char *key) {
    return call->stage != NULL && json_object_get(call->stage->json, key) != NULL;
}

/* A value as it would be typed: 5, 0.25, true, or a list with commas. "" for what cannot be typed. */
static const char *type_value(stage_call *call, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING: return json_string_value(value);
    case JSON_INTEGER: return stage_word(call, "%lld", (long long)json_integer_value(value));
    case JSON_REAL: return stage_word(call, "%s", text_real(json_real_value(value)).chars);
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_ARRAY: {
        const char *list = "";
        for (size_t i = 0; i < json_array_size(value) && list != NULL; i++) {
            const json_t *item = json_array_get(value, i);
            if (json_is_array(item) || json_is_object(item) || json_is_null(item)) return "";
            const char *word = type_value(call, item);
            list = word != NULL ? stage_word(call, "%s%s%s", list, i > 0 ? "," : "", word) : NULL;
        }
        return list;
    }
    default: return "";
    }
}

static const char *type_of(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_NULL: return "null";
    default: return "a value";
    }
}

/* ---- one option */

bool stage_key_is(const char *key, const char *name) {
    for (; *name != '\0' && *key != '\0'; name++, key++) {
        const int a = *name == '-' ? '_' : tolower((unsigned char)*name);
        const int b = *key == '-' ? '_' : tolower((unsigned char)*key);
        if (a != b) return false;
    }
    return *name == *key;
}

static bool is_called(const option *row, const char *key) {
    return (row->letter != 0 && key[0] == row->letter && key[1] == '\0') || stage_key_is(key, row->name);
}

static int no_memory(stage_call *call) {
    return session_error(call->s, EXIT_RESOURCES, "out of memory, or too many words: the options");
}

static int set_word(stage_call *call, const option *row, const char *key, const char *word) {
    if (word == NULL) return no_memory(call);
    if (row->kind == OPTION_FLAG) {
        const bool no = strcmp(word, "false") == 0;
        if (!no && strcmp(word, "true") != 0) return stage_wrong(call, key, "\"%s\" is not true or false", word);
        *(bool *)row->target = !no;
    } else if (!option_store(row, word)) {
        return stage_wrong(call, key, "\"%s\" is not %s%s", word, row->kind == OPTION_CHOICE ? "one of " : "",
                           option_wants(row));
    }
    if (row->given != NULL) *row->given = true;
    return EXIT_DONE;
}

static int set_option(stage_call *call, const option *row, const char *key, const json_t *value) {
    const bool is_list = row->kind == OPTION_TEXT || row->kind == OPTION_LIST;
    if (json_is_object(value) || json_is_null(value) || (json_is_array(value) && !is_list)) {
        return stage_wrong(call, key, "%s is not %s", type_of(value),
                           row->kind == OPTION_FLAG ? "true or false" : option_wants(row));
    }
    if (row->kind != OPTION_LIST || !json_is_array(value)) {
        const char *word = type_value(call, value);
        if (word != NULL && word[0] == '\0' && json_is_array(value)) {
            return stage_wrong(call, key, "a list of numbers or texts is expected");
        }
        return set_word(call, row, key, word);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        const char *word = json_is_array(item) ? "" : type_value(call, item);
        char place[KEY_BYTES];
        snprintf(place, sizeof place, "%s/%zu", key, i);
        if (word != NULL && word[0] == '\0') return stage_wrong(call, place, "%s is not a text", type_of(item));
        const int code = set_word(call, row, place, word);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

/* ---- all of them */

/* What every stage has. */
static bool is_of_all(const stage_call *call, const char *key) {
    static const char *const keys[] = {"type", "tag", "inputs", "user_data", NULL};
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (strcmp(key, keys[i]) == 0) return true;
    }
    return call->kind->role == ROLE_READER && call->kind->command == NULL && strcmp(key, "filename") == 0;
}

#define ROWS_SHOWN 80
#define NAME_BYTES 32 /* of an option */

static int unknown_key(stage_call *call, const option *rows, int count, const char *key) {
    char names[ROWS_SHOWN][NAME_BYTES], all[ROWS_SHOWN * (NAME_BYTES + 2)] = "";
    const char *list[ROWS_SHOWN + 1];
    int shown = 0;
    for (int i = 0; i < count && shown < ROWS_SHOWN; i++, shown++) {
        snprintf(names[shown], NAME_BYTES, "%s", rows[i].name);
        for (char *c = names[shown]; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
        list[shown] = names[shown];
        if (shown > 0) strcat(all, ", ");
        strcat(all, names[shown]);
    }
    list[shown] = NULL;
    if (strcmp(key, "where") == 0) {
        return stage_wrong(call, key, "%s works on all points; a filters.expression before it chooses some",
                           call->kind->name);
    }
    const char *other = stage_other_option(call->kind, key);
    if (other != NULL) return stage_wrong(call, key, "%s has no such option; %s", call->kind->name, other);
    const char *near = text_nearest(key, list);
    if (near != NULL)
        return stage_wrong(call, key, "%s has no such option; did you mean \"%s\"?", call->kind->name, near);
    if (shown == 0) return stage_wrong(call, key, "%s has no options", call->kind->name);
    return stage_wrong(call, key, "%s has no such option; it has %s", call->kind->name, all);
}

static void emit_type(json_writer *json, const option *row) {
    const bool is_whole =
        row->kind == OPTION_COUNT || row->kind == OPTION_BYTES || row->kind == OPTION_MEMORY || row->kind == OPTION_INT;
    emit_open(json, "type", '[');
    if (row->kind == OPTION_FLAG) emit_text(json, NULL, "boolean");
    if (is_whole) emit_text(json, NULL, "integer");
    if (row->kind == OPTION_REAL || row->kind == OPTION_TEXT) emit_text(json, NULL, "number");
    if (row->kind == OPTION_TEXT || row->kind == OPTION_LIST) emit_text(json, NULL, "array");
    emit_text(json, NULL, "string");
    emit_close(json, ']');
}

static void describe_row(json_writer *json, const option *row) {
    char name[KEY_BYTES], help[400];
    snprintf(name, sizeof name, "%s", row->name);
    for (char *c = name; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
    snprintf(help, sizeof help, "%s", row->help);
    for (char *c = help; *c != '\0'; c++) *c = *c == '\n' ? ' ' : *c;
    emit_open(json, name, '{');
    if (row->kind == OPTION_CHOICE) {
        emit_open(json, "enum", '[');
        for (const char *at = row->values; *at != '\0'; at += at[0] == '|') {
            char word[KEY_BYTES];
            const size_t length = strcspn(at, "|");
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            emit_text(json, NULL, word);
            at += length;
        }
        emit_close(json, ']');
    } else {
        emit_type(json, row);
    }
    emit_text(json, "description", help);
    emit_close(json, '}');
}

static int take_rows(stage_call *call, const option *rows, int count) {
    const char *key;
    json_t *value;
    json_object_foreach(call->stage->json, key, value) {
        int i = 0;
        if (is_of_all(call, key)) continue;
        while (i < count && !is_called(&rows[i], key)) i++;
        const int code = i < count ? set_option(call, &rows[i], key, value) : unknown_key(call, rows, count, key);
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

int stage_options(stage_call *call, const option *rows) {
    int count = 0;
    while (rows[count].name != NULL) count++;
    if (call->schema == NULL) return take_rows(call, rows, count);
    for (int i = 0; i < count; i++) describe_row(call->schema, &rows[i]);
    return STAGE_STOP;
}

/* ---- commands */

#define COMMAND_ROWS 80

static bool is_preset(const stage_call *call, const char *name) {
    for (size_t i = 0; call->kind->presets != NULL && call->kind->presets[i][0] != NULL; i++) {
        if (strcmp(call->kind->presets[i][0], name) == 0) return true;
    }
    return false;
}

/* What a stage has of a command's table: all of its own options; of the common ones not those that are the pipeline's,
   or that are about reading. */
static int choose_rows(const stage_call *call, const option_table *table, option rows[COMMAND_ROWS + 1]) {
    static const char *const of_files[] = {"output", "format", "hash", NULL};
    int count = 0;
    for (int i = 0; i < table->count && count < COMMAND_ROWS; i++) {
        const option *row = &table->rows[i];
        bool wanted = i < table->own || strcmp(row->name, "seed") == 0 || strcmp(row->name, "json") == 0;
        for (size_t k = 0; !call->kind->hands_on && of_files[k] != NULL; k++)
            wanted |= strcmp(row->name, of_files[k]) == 0;
        if (!wanted || is_preset(call, row->name)) continue;
        rows[count] = *row;
        if (strcmp(row->name, "output") == 0) rows[count].name = "filename";
        count++;
    }
    rows[count] = (option){0};
    return count;
}

static int set_presets(stage_call *call, const option_table *table) {
    for (size_t i = 0; call->kind->presets != NULL && call->kind->presets[i][0] != NULL; i++) {
        const char *const *preset = call->kind->presets[i];
        for (int k = 0; k < table->count; k++) {
            if (strcmp(table->rows[k].name, preset[0]) != 0) continue;
            const int code = set_word(call, &table->rows[k], preset[0], preset[1]);
            if (code != EXIT_DONE) return code;
        }
    }
    return EXIT_DONE;
}

parse_result stage_take_command(command_stage *stage, const option_table *table, common_options *common,
                                arguments *out) {
    stage_call *const call = stage->user;
    option rows[COMMAND_ROWS + 1];
    choose_rows(call, table, rows);
    call->mistake = stage_options(call, rows);
    if (call->mistake == STAGE_STOP) return PARSE_HELP;
    if (call->mistake == EXIT_DONE) call->mistake = set_presets(call, table);
    if (call->mistake != EXIT_DONE) return PARSE_WRONG;
    const common_options *own = &call->s->options;
    common->device = own->device;
    common->threads = own->threads;
    common->memory_bytes = own->memory_bytes;
    common->device_memory_bytes = own->device_memory_bytes;
    common->quiet = own->quiet;
    common->no_stages = own->no_stages;
    if (call->kind->role == ROLE_WRITER && common->output == NULL && !stage_has(call, "plan")) {
        call->mistake = stage_wrong(call, NULL, "%s needs \"filename\"", call->kind->name);
        return PARSE_WRONG;
    }
    if (stage->hands_on) common->output = stage_word(call, "stage %s (%s)", call->stage->place, call->kind->name);
    if (stage->hands_on && common->output == NULL) {
        call->mistake = no_memory(call);
        return PARSE_WRONG;
    }
    out->words = (const char **)&stage->title;
    out->count = 1;
    return PARSE_RUN;
}

/* What the command may change and free. Returns an exit code. */
static int give_cloud(stage_call *call, command_stage *stage) {
    stage->gives = call->kind->frees_input;
    if (!stage->gives || call->schema != NULL || call->checking) {
        stage->cloud = call->cloud;
        return EXIT_DONE;
    }
    if (!call->shares_cloud && call->stage->uses == 0) {
        stage->cloud = call->cloud;
        call->cloud = NULL;
        return EXIT_DONE;
    }
    return stage_copy(call, &stage->cloud);
}

int stage_run_command(stage_call *call) {
    command_stage *const stage = stage_now();
    char *words[] = {(char *)(uintptr_t)(call->kind->format != NULL ? call->kind->format : call->kind->name), NULL};
    int code = EXIT_DONE;
    if (call->schema == NULL && !call->checking && call->kind->hands_on) code = stage_own(call);
    if (code == EXIT_DONE) code = give_cloud(call, stage);
    if (code != EXIT_DONE) return code;
    stage->hands_on = call->kind->hands_on;
    stage->take = stage_take_command;
    stage->user = call;
    stage->check_only = call->checking;
    stage->result = NULL;
    code = call->kind->command(1, words);
    stage->hands_on = false;
    mote_cloud *const result = stage->result;
    if (stage->gives) mote_cloud_destroy(stage->cloud); /* it failed before it took the points */
    stage->cloud = stage->result = NULL;
    if (result != NULL && result != call->cloud) stage_replace(call, result);
    if (call->mistake != EXIT_DONE && call->mistake != STAGE_STOP) return call->mistake;
    return code == STAGE_STOP ? EXIT_DONE : code;
}

#endif
