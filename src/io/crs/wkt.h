/* Well-known text of coordinate reference systems, versions 1 and 2, as a tree of brackets that is walked in place:
   nothing is copied, nothing is allocated.

     PROJCS["a ""b""", GEOGCS[…], UNIT["metre", 1]]
     keyword ^-- inside --------------------------^      inside is a list of values: texts, words, or again brackets

   Source: ISO 19162:2019, section 6.3; OGC 01-009, section 7. Both allow (…) for […]. */
#ifndef MOTE_WKT_H
#define MOTE_WKT_H

#include <stdbool.h>
#include <stddef.h>

#define WKT_DEPTH_MAX 64u /* of nested brackets: real ones stay below 10 */

typedef struct wkt_span {
    const char *begin, *end;
} wkt_span;

typedef struct wkt_value {
    wkt_span text;     /* keyword, word or number; of a quoted text what is between its quotes, "" still doubled */
    bool quoted;       /* a text in quotes */
    bool has_brackets; /* a keyword */
    wkt_span inside;   /* of its brackets */
} wkt_value;

/* Whether the text is a list of values with brackets that match, of which the first is a keyword. *at: where not, the
   byte that is wrong. ESRI's compound systems are two values: PROJCS[…],VERTCS[…]. */
bool wkt_is_valid(const char *text, size_t length, size_t *at);

/* Takes the next value off a list inside a valid text; false if there is none. */
bool wkt_next(wkt_span *rest, wkt_value *value);

/* Whether the span is that word, in any case of letters. */
bool wkt_is(wkt_span span, const char *word);

/* A quoted text with each doubled quote as one, cut to fit. */
void wkt_copy(wkt_span span, char *out, size_t size);

#endif
