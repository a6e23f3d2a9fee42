/* What PDAL writes as texts of its own, as conditions of mote. */
#define _GNU_SOURCE /* open_memstream */
#include "run/pdal_text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RANGES_MAX 256

typedef struct range {
    const char *name;
    int name_length;
    bool negated, low_given, high_given, low_open, high_open;
    double low, high;
} range;

static void skip_blanks(const char **at) { *at += strspn(*at, " \t\r\n"); }

__attribute__((format(printf, 2, 3))) static bool wrong(char why[PDAL_WHY], const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(why, PDAL_WHY, format, values);
    va_end(values);
    return false;
}

/* The end of a range: a number, or nothing, which leaves it open. */
static bool take_number(const char **at, double *out, bool *given, char why[PDAL_WHY]) {
    char *end;
    skip_blanks(at);
    *given = strchr(":])", **at) == NULL;
    if (!*given) return true;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out)) return wrong(why, "\"%.20s\" is no number", *at);
    *at = end;
    skip_blanks(at);
    return true;
}

/* Name![low:high], with round brackets for ends that are left out. */
static bool take_range(const char **at, range *r, char why[PDAL_WHY]) {
    *r = (range){0};
    skip_blanks(at);
    r->name = *at;
    if (!isalpha((unsigned char)**at)) return wrong(why, "\"%.20s\": a name is missing", *at);
    *at += strcspn(*at, "[(!,=\"'`");
    r->name_length = (int)(*at - r->name);
    while (r->name[r->name_length - 1] == ' ') r->name_length--;
    if (**at == '!') {
        r->negated = true;
        ++*at;
    }
    if (**at != '[' && **at != '(') return wrong(why, "\"%.*s\" has no [low:high]", r->name_length, r->name);
    r->low_open = *(*at)++ == '(';
    if (!take_number(at, &r->low, &r->low_given, why)) return false;
    if (**at != ':') return wrong(why, "\"%.*s\": \":\" is missing between low and high", r->name_length, r->name);
    ++*at;
    if (!take_number(at, &r->high, &r->high_given, why)) return false;
    if (**at != ']' && **at != ')') return wrong(why, "\"%.*s\": \"]\" or \")\" is missing", r->name_length, r->name);
    r->high_open = *(*at)++ == ')';
    skip_blanks(at);
    return true;
}

static void print_range(FILE *to, const range *r) {
    fputs(r->negated ? "not (" : "(", to);
    if (!r->low_given && !r->high_given) fprintf(to, "known(\"%.*s\")", r->name_length, r->name);
    if (r->low_given) { fprintf(to, "\"%.*s\" %s (%.17g)", r->name_length, r->name, r->low_open ? ">" : ">=", r->low); }
    if (r->low_given && r->high_given) fputs(" and ", to);
    if (r->high_given) {
        fprintf(to, "\"%.*s\" %s (%.17g)", r->name_length, r->name, r->high_open ? "<" : "<=", r->high);
    }
    fputc(')', to);
}

static bool same_name(const range *a, const range *b) {
    return a->name_length == b->name_length && strncmp(a->name, b->name, (size_t)a->name_length) == 0;
}

/* All ranges of one attribute after the other, in the order of their first ones. */
static void print_condition(FILE *to, const range *ranges, int count) {
    bool is_first = true;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++) seen |= same_name(&ranges[i], &ranges[k]);
        if (seen) continue;
        fputs(is_first ? "(" : " and (", to);
        is_first = false;
        for (int k = i; k < count; k++) {
            if (!same_name(&ranges[i], &ranges[k])) continue;
            if (k > i) fputs(" or ", to);
            print_range(to, &ranges[k]);
        }
        fputc(')', to);
    }
}

char *pdal_ranges(const char *text, char why[PDAL_WHY]) {
    range *ranges = calloc(RANGES_MAX, sizeof *ranges);
    int count = 0;
    bool right = ranges != NULL;
    why[0] = '\0';
    while (right) {
        if (count == RANGES_MAX) right = wrong(why, "more than %d ranges", RANGES_MAX);
        if (right) right = take_range(&text, &ranges[count++], why);
        if (!right || *text == '\0') break;
        if (*text++ != ',') right = wrong(why, "\"%.20s\": a comma is missing", text - 1);
    }
    char *condition = NULL;
    size_t size;
    FILE *to = right ? open_memstream(&condition, &size) : NULL;
    if (to != NULL) {
        print_condition(to, ranges, count);
        const bool failed = ferror(to) != 0;
        if (fclose(to) != 0 || failed) {
            free(condition);
            condition = NULL;
        }
    }
    free(ranges);
    return condition;
}

bool pdal_bounds(const char *at, double box[6], int *axes, char why[PDAL_WHY]) {
    static const char *const form = "bounds are written ([min x, max x], [min y, max y], [min z, max z])";
    skip_blanks(&at);
    if (*at++ != '(') return wrong(why, "%s", form);
    for (*axes = 0; *axes < 3; ++*axes) {
        char *end;
        skip_blanks(&at);
        if (*axes == 2 && *at == ')') break;
        if (*at++ != '[') return wrong(why, "%s", form);
        box[*axes] = strtod(at, &end);
        const bool first = end != at;
        at = end;
        skip_blanks(&at);
        if (!first || *at++ != ',') return wrong(why, "%s", form);
        box[3 + *axes] = strtod(at, &end);
        const bool second = end != at;
        at = end;
        skip_blanks(&at);
        if (!second || *at++ != ']') return wrong(why, "%s", form);
        if (!(box[*axes] <= box[3 + *axes])) return wrong(why, "%g is above %g", box[*axes], box[3 + *axes]);
        skip_blanks(&at);
        if (*axes < 2 && *at == ',') at++;
    }
    skip_blanks(&at);
    if (*at++ != ')') return wrong(why, "%s", form);
    skip_blanks(&at);
    return *at == '\0' || wrong(why, "\"%.20s\" stands behind the bounds", at);
}

char *pdal_assignment(const char *text, char why[PDAL_WHY]) {
    range r;
    char *value, *assignment = NULL, *condition = NULL;
    size_t size;
    why[0] = '\0';
    const char *begin = text;
    if (!take_range(&text, &r, why)) return NULL;
    const char *behind = text;
    if (*text++ != '=') {
        wrong(why, "\"=\" and a value are missing");
        return NULL;
    }
    const double number = strtod(text, &value);
    const bool is_number = value != text && isfinite(number);
    text = value;
    skip_blanks(&text);
    if (!is_number || *text != '\0') {
        wrong(why, "a number is missing behind \"=\"");
        return NULL;
    }
    char *alone = strndup(begin, (size_t)(behind - begin));
    if (alone != NULL && (r.low_given || r.high_given)) condition = pdal_ranges(alone, why);
    FILE *to = alone != NULL ? open_memstream(&assignment, &size) : NULL;
    if (to != NULL) {
        fprintf(to, "\"%.*s\" = %.17g", r.name_length, r.name, number);
        if (condition != NULL) fprintf(to, " where %s", condition);
        if (fclose(to) != 0) {
            free(assignment);
            assignment = NULL;
        }
    }
    free(condition);
    free(alone);
    return assignment;
}

/* ---- polygons */

/* "x y" or "x y z", of which z is left out. */
static bool put_position(FILE *to, const char **at, char why[PDAL_WHY]) {
    double values[2];
    int count = 0;
    for (;; count++) {
        char *end;
        const double value = strtod(*at, &end);
        if (end == *at) break;
        if (count < 2) values[count] = value;
        *at = end;
    }
    if (count < 2 || count > 4) return wrong(why, "\"%.20s\" is no position", *at);
    if (!isfinite(values[0]) || !isfinite(values[1])) return wrong(why, "a position is not finite");
    fprintf(to, "[%.17g,%.17g]", values[0], values[1]);
    skip_blanks(at);
    return true;
}

/* Lists in lists, as deep as the kind of polygon says; the innermost ones are rings of positions. */
static bool put_rings(FILE *to, const char **at, int depth, char why[PDAL_WHY]) {
    skip_blanks(at);
    if (**at != '(') return wrong(why, "\"%.20s\": \"(\" is missing", *at);
    fputc('[', to);
    do {
        ++*at;
        if (!(depth > 1 ? put_rings(to, at, depth - 1, why) : put_position(to, at, why))) return false;
        if (**at == ',') fputc(',', to);
    } while (**at == ',');
    if (**at != ')') return wrong(why, "\"%.20s\": \")\" is missing", *at);
    ++*at;
    skip_blanks(at);
    fputc(']', to);
    return true;
}

char *pdal_polygon(const char *at, char why[PDAL_WHY]) {
    char *geojson = NULL;
    size_t size;
    why[0] = '\0';
    skip_blanks(&at);
    const bool many = strncasecmp(at, "MULTIPOLYGON", 12) == 0;
    if (!many && strncasecmp(at, "POLYGON", 7) != 0) {
        wrong(why, "neither POLYGON nor MULTIPOLYGON");
        return NULL;
    }
    at += many ? 12 : 7;
    at += strspn(at, " ZMzm");
    FILE *to = open_memstream(&geojson, &size);
    if (to == NULL) return NULL;
    fprintf(to, "{\"type\":\"%s\",\"coordinates\":", many ? "MultiPolygon" : "Polygon");
    bool right = put_rings(to, &at, many ? 3 : 2, why);
    if (right && *at != '\0') right = wrong(why, "\"%.20s\" stands behind the polygon", at);
    fputc('}', to);
    const bool failed = ferror(to) != 0;
    if (fclose(to) == 0 && !failed && right) return geojson;
    free(geojson);
    return NULL;
}
