#include "io/crs/wkt.h"

#include <string.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_opening(char c) { return c == '[' || c == '('; }

static bool is_closing(char c) { return c == ']' || c == ')'; }

static bool ends_word(char c) { return is_blank(c) || is_opening(c) || is_closing(c) || c == ',' || c == '"'; }

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* Behind the closing quote of a text whose opening quote is at *at; NULL if there is none. */
static const char *skip_quoted(const char *at, const char *end) {
    for (at++; at < end; at++) {
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') return at + 1;
        at++;
    }
    return NULL;
}

static const char *skip_word(const char *at, const char *end) {
    while (at < end && !ends_word(*at)) at++;
    return at;
}

/* Behind the bracket that closes the one at *at, of a text that is known to be valid. */
static const char *skip_brackets(const char *at, const char *end) {
    unsigned depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_quoted(at, end);
            continue;
        }
        depth += is_opening(*at);
        depth -= is_closing(*at);
        at++;
        if (depth == 0) break;
    }
    return at;
}

/* What stood before a token: the grammar needs no more than that. */
typedef enum wkt_state { WKT_BEGINS, WKT_WORD, WKT_QUOTED, WKT_CLOSED } wkt_state;

/* BEGINS: at the beginning, behind a comma or an opening bracket, where only a value may follow. Outside all brackets
   only keywords may stand, so that there a word is followed by an opening bracket and nothing else. */
bool wkt_is_valid(const char *text, size_t length, size_t *at) {
    const char *end = text + length, *now = skip_blanks(text, end);
    char closing[WKT_DEPTH_MAX];
    unsigned depth = 0;
    wkt_state before = WKT_BEGINS;
    for (; now < end; now = skip_blanks(now, end)) {
        *at = (size_t)(now - text);
        if (before == WKT_BEGINS) {
            const char *from = now;
            before = *now == '"' ? WKT_QUOTED : WKT_WORD;
            if (before == WKT_QUOTED && depth == 0) return false;
            now = before == WKT_QUOTED ? skip_quoted(now, end) : skip_word(now, end);
            if (now == NULL || now == from) return false;
        } else if (is_opening(*now)) {
            if (before != WKT_WORD || depth == WKT_DEPTH_MAX) return false;
            closing[depth++] = *now++ == '[' ? ']' : ')';
            before = WKT_BEGINS;
        } else if (before == WKT_WORD && depth == 0) {
            return false;
        } else if (is_closing(*now)) {
            if (depth == 0 || closing[--depth] != *now++) return false;
            before = WKT_CLOSED;
        } else if (*now++ == ',') {
            before = WKT_BEGINS;
        } else {
            return false;
        }
    }
    *at = length;
    return depth == 0 && before == WKT_CLOSED;
}

bool wkt_next(wkt_span *rest, wkt_value *value) {
    const char *at = rest->begin, *end = rest->end;
    while (at < end && (is_blank(*at) || *at == ',')) at++;
    if (at >= end) return false;
    memset(value, 0, sizeof *value);
    value->quoted = *at == '"';
    if (value->quoted) {
        const char *behind = skip_quoted(at, end);
        value->text = (wkt_span){at + 1, behind - 1};
        at = behind;
    } else {
        value->text = (wkt_span){at, skip_word(at, end)};
        at = skip_blanks(value->text.end, end);
        value->has_brackets = at < end && is_opening(*at);
    }
    if (value->has_brackets) {
        const char *behind = skip_brackets(at, end);
        value->inside = (wkt_span){at + 1, behind - 1};
        at = behind;
    }
    rest->begin = at;
    return true;
}

bool wkt_is(wkt_span span, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(span.end - span.begin) != length) return false;
    for (size_t i = 0; i < length; i++) {
        const char a = span.begin[i], b = word[i];
        const char low_a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
        const char low_b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
        if (low_a != low_b) return false;
    }
    return true;
}

void wkt_copy(wkt_span span, char *out, size_t size) {
    size_t length = 0;
    for (const char *at = span.begin; at < span.end && length + 1 < size; at++) {
        if (*at == '"' && at + 1 < span.end && at[1] == '"') at++;
        out[length++] = *at;
    }
    /* A character of several bytes is not cut. */
    while (length > 0 && length + 1 == size && ((unsigned char)out[length - 1] & 0x80u) != 0) length--;
    out[length] = '\0';
}
