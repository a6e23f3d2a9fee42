/* Writes JSON as it goes. */
#include "files/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void emit_start(json_writer *json, FILE *to, bool one_line) {
    memset(json, 0, sizeof *json);
    json->to = to;
    json->one_line = one_line;
}

void emit_end(json_writer *json) { fputc('\n', json->to); }

static void put_string(FILE *to, const char *value) {
    fputc('"', to);
    while (*value != '\0') {
        uint32_t code;
        const size_t length = text_character(value, &code);
        if (length == 0) {
            fputs("\\ufffd", to);
        } else if (*value == '"' || *value == '\\') {
            fprintf(to, "\\%c", *value);
        } else if (text_is_hidden(code)) {
            fprintf(to, "\\u%04x", (unsigned)code);
        } else {
            fwrite(value, 1, length, to);
        }
        value += length > 0 ? length : 1;
    }
    fputc('"', to);
}

/* Comma, line break, indentation and name: what comes before any value. */
static void begin_value(json_writer *json, const char *name) {
    if (json->depth > 0) {
        if (json->filled[json->depth]) fputc(',', json->to);
        json->filled[json->depth] = true;
        if (!json->one_line) fprintf(json->to, "\n%*s", 2 * json->depth, "");
    }
    if (name == NULL) return;
    put_string(json->to, name);
    fputs(json->one_line ? ":" : ": ", json->to);
}

void emit_open(json_writer *json, const char *name, char bracket) {
    begin_value(json, name);
    fputc(bracket, json->to);
    json->filled[++json->depth] = false;
}

void emit_close(json_writer *json, char bracket) {
    const bool filled = json->filled[json->depth--];
    if (filled && !json->one_line) fprintf(json->to, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->to);
}

void emit_text(json_writer *json, const char *name, const char *value) {
    begin_value(json, name);
    put_string(json->to, value);
}

void emit_count(json_writer *json, const char *name, uint64_t value) {
    begin_value(json, name);
    fprintf(json->to, "%llu", (unsigned long long)value);
}

void emit_real(json_writer *json, const char *name, double value) {
    begin_value(json, name);
    fputs(isfinite(value) ? text_real(value).chars : "null", json->to);
}

void emit_reals(json_writer *json, const char *name, const double *values, uint32_t count) {
    emit_open(json, name, '[');
    for (uint32_t i = 0; i < count; i++) emit_real(json, NULL, values[i]);
    emit_close(json, ']');
}

void emit_number(json_writer *json, const char *name, text number) {
    const double value = strtod(number.chars, NULL);
    begin_value(json, name);
    fputs(isfinite(value) ? number.chars : "null", json->to);
}

void emit_bool(json_writer *json, const char *name, bool value) {
    begin_value(json, name);
    fputs(value ? "true" : "false", json->to);
}
