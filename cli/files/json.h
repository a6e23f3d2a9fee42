/* Writes JSON as it goes, to standard output or any stream; small enough to need no library. The functions begin
   with emit_, because json_ belongs to jansson, which the binary may link. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text.h"

typedef struct json_writer {
    FILE *to;
    int depth;
    bool filled[32]; /* whether the container at that depth has something in it */
    bool one_line;
} json_writer;

void emit_start(json_writer *json, FILE *to, bool one_line);
void emit_end(json_writer *json); /* the last line break */

/* name NULL: an element of an array, or the outermost value */
void emit_open(json_writer *json, const char *name, char bracket);
void emit_close(json_writer *json, char bracket);
/* Bytes that are no UTF-8 become U+FFFD. */
void emit_text(json_writer *json, const char *name, const char *value);
void emit_count(json_writer *json, const char *name, uint64_t value);
/* Infinite and NaN become null. */
void emit_real(json_writer *json, const char *name, double value);
void emit_reals(json_writer *json, const char *name, const double *values, uint32_t count);
/* A number that is formatted already; "nan" and "inf" become null. */
void emit_number(json_writer *json, const char *name, text number);
void emit_bool(json_writer *json, const char *name, bool value);

#endif
