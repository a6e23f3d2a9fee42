#include "io/crs/crs_pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/crs/unit_table.h"

#define WORD_BYTES 64
#define DEGREE     0.017453292519943295

/* Words of a step, from "+step" to the next one. */
typedef struct step_span {
    const char *begin, *end;
} step_span;

/* The next word of a step without its "+"; false at the end, or of one that is too long. */
static bool next_word(step_span *rest, char word[WORD_BYTES]) {
    while (rest->begin < rest->end && *rest->begin == ' ') rest->begin++;
    const size_t length = strcspn(rest->begin, " ");
    const char *from = rest->begin + (*rest->begin == '+');
    if (rest->begin >= rest->end || length >= WORD_BYTES) return false;
    memcpy(word, from, (size_t)(rest->begin + length - from));
    word[rest->begin + length - from] = '\0';
    rest->begin += length;
    return true;
}

static bool find_ellipsoid(const char *name, mercator_projection *p) {
    static const struct {
        const char *name;
        double a, inverse, b; /* inverse flattening, or b where that is 0 */
    } rows[] = {{"GRS80", 6378137, 298.257222101, 0},
                {"WGS84", 6378137, 298.257223563, 0},
                {"intl", 6378388, 297, 0},
                {"bessel", 6377397.155, 299.1528128, 0},
                {"clrk66", 6378206.4, 0, 6356583.8},
                {"airy", 6377563.396, 299.3249646, 0},
                {"krass", 6378245, 298.3, 0},
                {"GRS67", 6378160, 298.2471674270, 0},
                {"aust_SA", 6378160, 298.25, 0},
                {"WGS72", 6378135, 298.26, 0},
                {"mod_airy", 6377340.189, 0, 6356034.446},
                {"evrst30", 6377276.345, 300.8017, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(name, rows[i].name) != 0) continue;
        p->a = rows[i].a;
        p->flattening = rows[i].inverse != 0 ? 1 / rows[i].inverse : 1 - rows[i].b / rows[i].a;
        return true;
    }
    return false;
}

static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

/* A word of "+proj=tmerc"; those of "+proj=utm" stand for some of them. */
static bool take_word(char *word, mercator_projection *p, bool *is_utm) {
    double number = 0;
    char *value = strchr(word, '=');
    if (value == NULL) {
        if (strcmp(word, "south") != 0) return strcmp(word, "inv") == 0;
        p->northing = 1e7;
        return true;
    }
    *value++ = '\0';
    if (strcmp(word, "proj") == 0) return strcmp(value, *is_utm ? "utm" : "tmerc") == 0;
    if (strcmp(word, "ellps") == 0) return find_ellipsoid(value, p);
    if (!read_number(value, &number)) return false;
    if (strcmp(word, "zone") == 0) {
        p->meridian = DEGREE * (6 * number - 183);
    } else if (strcmp(word, "lat_0") == 0) {
        p->latitude = DEGREE * number;
    } else if (strcmp(word, "lon_0") == 0) {
        p->meridian = DEGREE * number;
    } else if (strcmp(word, "k") == 0 || strcmp(word, "k_0") == 0) {
        p->scale = number;
    } else if (strcmp(word, "x_0") == 0) {
        p->easting = number;
    } else if (strcmp(word, "y_0") == 0) {
        p->northing = number;
    } else if (strcmp(word, "a") == 0) {
        p->a = number;
    } else if (strcmp(word, "rf") == 0) {
        p->flattening = 1 / number;
    } else if (strcmp(word, "b") == 0) {
        p->flattening = 1 - number / p->a;
    } else {
        return false;
    }
    return true;
}

static bool read_projection(step_span step, mercator_projection *p) {
    char word[WORD_BYTES];
    bool is_utm = false;
    memset(p, 0, sizeof *p);
    p->scale = p->unit = 1;
    for (step_span rest = step; next_word(&rest, word);) is_utm = is_utm || strcmp(word, "proj=utm") == 0;
    if (is_utm) p->scale = 0.9996, p->easting = 500000;
    while (next_word(&step, word)) {
        if (!take_word(word, p, &is_utm)) return false;
    }
    return step.begin >= step.end && p->a > 0 && p->flattening > 0 && p->scale > 0;
}

static bool has_word(step_span step, const char *wanted) {
    char word[WORD_BYTES];
    while (next_word(&step, word)) {
        if (strcmp(word, wanted) == 0) return true;
    }
    return false;
}

/* "+proj=unitconvert +xy_in=us-ft +xy_out=m": the metres of a unit before (in) or behind; false of any other. */
static bool read_units(step_span step, bool in, double *metres) {
    char word[WORD_BYTES];
    const char *own = in ? "xy_in=" : "xy_out=", *other = in ? "xy_out=m" : "xy_in=m";
    *metres = 0;
    while (next_word(&step, word)) {
        if (strncmp(word, own, strlen(own)) == 0) {
            const char *name = word + strlen(own);
            if (!read_number(name, metres)) *metres = unit_of_name(name, UNIT_LENGTH).metres;
        } else if (strcmp(word, other) != 0 && strcmp(word, "proj=unitconvert") != 0) {
            return false;
        }
    }
    return *metres > 0;
}

/* The steps of a pipeline; 0 if it is none, or has more than max. */
static int find_steps(const char *text, step_span *steps, int max) {
    static const char begin[] = "+proj=pipeline", mark[] = "+step";
    if (strncmp(text, begin, sizeof begin - 1) != 0) return 0;
    int count = 0;
    const char *at = strstr(text, mark);
    if (at == NULL || strspn(text + sizeof begin - 1, " ") != (size_t)(at - text) - (sizeof begin - 1)) return 0;
    while (at != NULL) {
        const char *next = strstr(at + 1, mark);
        if (count == max) return 0;
        steps[count].begin = at + sizeof mark - 1;
        steps[count++].end = next != NULL ? next : text + strlen(text);
        at = next;
    }
    return count;
}

bool mote_crs_pipeline_is_mercator(const char *text, mercator_change *change) {
    step_span steps[4];
    mercator_projection from, to;
    double before = 1, behind = 1;
    int count = find_steps(text, steps, 4), first = 0;
    if (count > 2 && has_word(steps[0], "proj=unitconvert")) {
        if (!read_units(steps[0], true, &before)) return false;
        first = 1;
    }
    if (count - first == 3) {
        if (!read_units(steps[count - 1], false, &behind)) return false;
        count--;
    }
    if (count - first != 2 || !has_word(steps[first], "inv") || has_word(steps[first + 1], "inv")) return false;
    if (!read_projection(steps[first], &from) || !read_projection(steps[first + 1], &to)) return false;
    from.unit = before, from.easting /= before, from.northing /= before;
    to.unit = behind, to.easting /= behind, to.northing /= behind;
    return mercator_change_make(&from, &to, change);
}
