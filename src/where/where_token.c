#define _GNU_SOURCE /* newlocale, strtod_l */
/* Cuts an expression into words. */
#include "where/where_token.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define NUMBER_BYTES 64u

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters of the alphabet, and all of other alphabets, in UTF-8. */
static bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/* Reads a number whose decimal mark is a point, whatever the locale of the program says. */
static double number_of(const char *digits) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return strtod(digits, NULL);
    const double value = strtod_l(digits, NULL, plain);
    freelocale(plain);
    return value;
}

/* Digits with at most one point, and an exponent. */
static void take_number(const char *text, where_token *token) {
    char copy[NUMBER_BYTES];
    uint32_t at = token->place.begin;
    while (is_digit(text[at])) at++;
    if (text[at] == '.') at++;
    while (is_digit(text[at])) at++;
    if (text[at] == 'e' || text[at] == 'E') {
        const uint32_t sign = text[at + 1] == '+' || text[at + 1] == '-';
        if (is_digit(text[at + 1 + sign])) at += 1 + sign;
        while (is_digit(text[at])) at++;
    }
    const uint32_t length = at - token->place.begin;
    token->place.end = at;
    token->word = WORD_NUMBER;
    if (length >= sizeof copy || begins_name(text[at]) || text[at] == '.') {
        token->word = WORD_WRONG;
        while (begins_name(text[at]) || is_digit(text[at]) || text[at] == '.') at++;
        token->place.end = at;
        token->wrong = length >= sizeof copy ? "a number of that many digits" : "this is neither a number nor a name";
        return;
    }
    memcpy(copy, text + token->place.begin, length);
    copy[length] = '\0';
    token->number = number_of(copy);
    if (isfinite(token->number)) return;
    token->word = WORD_WRONG;
    token->wrong = "a number beyond what doubles hold";
}

static void take_name(const char *text, where_token *token) {
    static const struct {
        const char *text;
        where_word word;
    } words[] = {{"and", WORD_AND},     {"or", WORD_OR},           {"not", WORD_NOT},
                 {"in", WORD_IN},       {"between", WORD_BETWEEN}, {"where", WORD_WHERE},
                 {"true", WORD_NUMBER}, {"false", WORD_NUMBER},    {"nan", WORD_NUMBER}};
    uint32_t at = token->place.begin;
    while (begins_name(text[at]) || is_digit(text[at]) || text[at] == '.') at++;
    token->place.end = at;
    token->inner = token->place;
    token->word = WORD_NAME;
    const uint32_t length = at - token->place.begin;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].text) != length || strncasecmp(text + token->place.begin, words[i].text, length) != 0)
            continue;
        token->word = words[i].word;
        token->number = words[i].text[0] == 't' ? 1 : words[i].text[0] == 'f' ? 0 : (double)NAN;
    }
}

/* `height above ground`, "…" and '…' are names. */
static void take_quoted(const char *text, where_token *token) {
    const char quote = text[token->place.begin];
    uint32_t at = token->place.begin + 1;
    while (text[at] != quote && text[at] != '\0') at++;
    token->inner = (where_place){token->place.begin + 1, at};
    token->place.end = text[at] == quote ? at + 1 : at;
    token->word = WORD_NAME;
    token->is_quoted = true;
    if (text[at] == quote && at > token->inner.begin) return;
    token->word = WORD_WRONG;
    token->wrong = text[at] == quote ? "a name without letters" : "this quote has no end";
}

void where_next_token(const char *text, uint32_t at, where_token *token) {
    /* Longer signs before those that begin them. */
    static const struct {
        const char *text;
        where_word word;
    } signs[] = {{"==", WORD_EQUAL},    {"!=", WORD_UNEQUAL},  {"<>", WORD_UNEQUAL}, {"<=", WORD_AT_MOST},
                 {">=", WORD_AT_LEAST}, {"&&", WORD_AND},      {"||", WORD_OR},      {"(", WORD_OPEN},
                 {")", WORD_CLOSE},     {",", WORD_COMMA},     {":", WORD_COLON},    {";", WORD_SEMICOLON},
                 {"=", WORD_ASSIGN},    {"+", WORD_PLUS},      {"-", WORD_MINUS},    {"*", WORD_TIMES},
                 {"/", WORD_DIVIDED},   {"%", WORD_REMAINDER}, {"<", WORD_LESS},     {">", WORD_GREATER},
                 {"!", WORD_BANG}};
    while (is_blank(text[at])) at++;
    memset(token, 0, sizeof *token);
    token->place = (where_place){at, at};
    const char c = text[at];
    if (c == '\0') return;
    if (is_digit(c) || (c == '.' && is_digit(text[at + 1]))) {
        take_number(text, token);
        return;
    }
    if (begins_name(c)) {
        take_name(text, token);
        return;
    }
    if (c == '`' || c == '"' || c == '\'') {
        take_quoted(text, token);
        return;
    }
    token->place.end = at + 1;
    token->word = WORD_WRONG;
    token->wrong = c == '&'   ? "\"and\" is &&"
                   : c == '|' ? "\"or\" is ||"
                   : c == '[' ? "ranges are written \"in (2, 5:7)\""
                              : "nothing begins with this sign";
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        const size_t length = strlen(signs[i].text);
        if (strncmp(text + at, signs[i].text, length) != 0) continue;
        token->word = signs[i].word;
        token->place.end = at + (uint32_t)length;
        return;
    }
}
