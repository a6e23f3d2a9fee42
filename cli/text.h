/* Numbers as people read them, characters, and near misses of names. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mote/types.h>

/* Holds any formatted number; the functions return it, so that a call can stand in an argument list. */
typedef struct text {
    char chars[48];
} text;

/* 1,234,567 */
text text_count(uint64_t count);
/* 12 B, 3.4 kB, 1.2 GB: powers of 1000 */
text text_bytes(uint64_t bytes);
/* As --memory is given, rounded up: "44M". */
text text_memory(uint64_t bytes);
/* 0.012 s, 3.4 s, 2:05, 1:02:03 */
text text_seconds(double seconds);
/* 940, 3.2 M: for rates */
text text_rate(double per_second);
/* The shortest decimal that reads back as the same double; "nan", "inf" */
text text_real(double value);
/* A number of mote_column_limits. */
text text_limit(uint64_t limit, mote_type type);
/* The shortest decimal that reads back as the same float. */
text text_float(float value);
/* The 16 digits of a checksum. */
text text_hash(uint64_t hash);
/* Rounded to a number of decimals; text_real where a double cannot hold that number. */
text text_fixed(double value, int decimals);
/* The decimals that a step of that size can tell apart. */
int text_step_decimals(double step);
/* The decimals of the shortest text of value: 2 of 0.25, 0 of 1e20. */
int text_real_decimals(double value);

/* The well-formed UTF-8 character at the beginning of a text that is not empty. Returns its bytes; 0: there is none. */
size_t text_character(const char *at, uint32_t *code);
/* Whether a character does something else than being seen: control characters, line and paragraph separators, and those
   that turn the direction of writing. */
bool text_is_hidden(uint32_t code);

/* The candidate (of a NULL-terminated list) nearest to word by edit distance, or that word is the beginning of; NULL
   if none is near. */
const char *text_nearest(const char *word, const char *const *candidates);
/* Whether name stands in a list separated by commas. */
bool text_list_has(const char *list, const char *name);
/* Whether path ends in ending (".laz"), whatever the case. */
bool text_has_ending(const char *path, const char *ending);

#endif
