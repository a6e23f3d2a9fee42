/* Numbers as people read them, and near misses of names. */
#include "text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64 /* longer words are not worth a suggestion */

text text_count(uint64_t count) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    text out = {""};
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) out.chars[at++] = ',';
        out.chars[at++] = digits[i];
    }
    return out;
}

/* value with one decimal below 10 and a letter per factor of 1000; unit goes last. */
static text with_prefix(double value, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    while (value >= 999.5 && i + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        i++;
    }
    text out;
    snprintf(out.chars, sizeof out.chars, "%.*f%s%s%s", i > 0 && value < 99.95 ? 1 : 0, value,
             prefixes[i][0] != '\0' || unit[0] != '\0' ? " " : "", prefixes[i], unit);
    return out;
}

text text_bytes(uint64_t bytes) { return with_prefix((double)bytes, "B"); }
text text_memory(uint64_t bytes) {
    text out;
    snprintf(out.chars, sizeof out.chars, "%lluM", (unsigned long long)((bytes >> 20) + ((bytes & 0xfffff) != 0)));
    return out;
}

text text_rate(double per_second) { return with_prefix(per_second, ""); }

text text_seconds(double seconds) {
    text out;
    if (!(seconds >= 0) || seconds > 1e9) {
        snprintf(out.chars, sizeof out.chars, "?");
    } else if (seconds < 1) {
        snprintf(out.chars, sizeof out.chars, "%.3f s", seconds);
    } else if (seconds < 59.95) {
        snprintf(out.chars, sizeof out.chars, "%.1f s", seconds);
    } else {
        const unsigned long whole = (unsigned long)(seconds + 0.5);
        const unsigned long hours = whole / 3600, minutes = whole / 60 % 60;
        if (hours > 0) {
            snprintf(out.chars, sizeof out.chars, "%lu:%02lu:%02lu", hours, minutes, whole % 60);
        } else {
            snprintf(out.chars, sizeof out.chars, "%lu:%02lu", minutes, whole % 60);
        }
    }
    return out;
}

text text_real(double value) {
    text out;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out.chars, sizeof out.chars, "%.*g", digits, value);
        if (strtod(out.chars, NULL) == value || isnan(value)) break;
    }
    /* 5e+06 is a number, but 5000000 is what people write. */
    if (fabs(value) < 1e15 && strchr(out.chars, 'e') != NULL && value == floor(value)) {
        snprintf(out.chars, sizeof out.chars, "%.0f", value);
    }
    return out;
}

text text_limit(uint64_t limit, mote_type type) {
    text out;
    double real;
    memcpy(&real, &limit, sizeof real);
    if (mote_type_is_float(type)) return text_real(real);
    if (mote_type_is_signed(type)) {
        snprintf(out.chars, sizeof out.chars, "%lld", (long long)limit);
    } else {
        snprintf(out.chars, sizeof out.chars, "%llu", (unsigned long long)limit);
    }
    return out;
}

text text_float(float value) {
    text out;
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out.chars, sizeof out.chars, "%.*g", digits, (double)value);
        if (strtof(out.chars, NULL) == value || isnan(value)) break;
    }
    return isfinite(value) ? text_real(strtod(out.chars, NULL)) : out;
}

text text_hash(uint64_t hash) {
    text out;
    snprintf(out.chars, sizeof out.chars, "%016llx", (unsigned long long)hash);
    return out;
}

text text_fixed(double value, int decimals) {
    if (!isfinite(value) || fabs(value) > 1e15 || decimals > 20) return text_real(value);
    text out;
    snprintf(out.chars, sizeof out.chars, "%.*f", decimals, value);
    return out;
}

int text_real_decimals(double value) {
    if (!isfinite(value)) return 0;
    const text shortest = text_real(value);
    const char *dot = strchr(shortest.chars, '.'), *e = strchr(shortest.chars, 'e');
    const int behind_dot = dot == NULL ? 0 : (int)(e != NULL ? (size_t)(e - dot) - 1 : strlen(dot) - 1);
    const int decimals = behind_dot - (e != NULL ? (int)strtol(e + 1, NULL, 10) : 0);
    return decimals > 0 ? decimals : 0;
}

int text_step_decimals(double step) {
    int decimals = 0;
    double rest = step;
    while (decimals < 10 && fabs(rest - nearbyint(rest)) > 1e-6 * rest) {
        rest *= 10;
        decimals++;
    }
    if (decimals == 10) { /* no decimal step: one digit more than its size */
        decimals = 1 - (int)floor(log10(step));
        decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    }
    return decimals;
}

size_t text_character(const char *at, uint32_t *code) {
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)at;
    const size_t length = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    *code = s[0];
    if (length < 2) return length;
    *code = s[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (s[i] >> 6 != 2) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    const bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return *code >= min[length] && *code <= 0x10FFFF && !surrogate ? length : 0;
}

bool text_is_hidden(uint32_t code) {
    static const uint32_t ranges[][2] = {{0, 0x1F},        {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200B, 0x200F},
                                         {0x2028, 0x202E}, {0x2060, 0x2069}, {0xFEFF, 0xFEFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
    }
    return false;
}

static size_t smallest(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein's distance, row by row. */
static size_t edit_distance(const char *a, const char *b) {
    const size_t length = strlen(b);
    size_t row[WORD_BYTES + 1];
    for (size_t j = 0; j <= length; j++) row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= length; j++) {
            const size_t above = row[j];
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

const char *text_nearest(const char *word, const char *const *candidates) {
    const size_t length = strlen(word);
    const char *nearest = NULL;
    size_t best = length / 3 + 2; /* a near miss: about one letter in three */
    if (length > WORD_BYTES) return NULL;
    for (size_t i = 0; candidates[i] != NULL; i++) {
        if (strlen(candidates[i]) > WORD_BYTES) continue;
        const bool begins = length >= 3 && strncmp(word, candidates[i], length) == 0;
        const size_t distance = begins ? 1 : edit_distance(word, candidates[i]);
        if (distance < best && distance < strlen(candidates[i])) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

bool text_list_has(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

bool text_has_ending(const char *path, const char *ending) {
    const size_t length = strlen(path), tail = strlen(ending);
    if (length < tail) return false;
    for (size_t i = 0; i < tail; i++) {
        if (tolower((unsigned char)path[length - tail + i]) != tolower((unsigned char)ending[i])) return false;
    }
    return true;
}
