/* The names, units and types of the columns of a text file. */
#include <stdio.h>

#include "core/standard_names.h"
#include "io/text/xyz.h"

/* ---- positions by other words; compared without case, blanks and punctuation */

/* Names of x and y, which go together. The first group of which a file has both counts: what is named x and y, or
   beside easting and northing, stays an attribute. */
#define AXIS_NAMES 14u
static const char *const plane_names[][2][AXIS_NAMES] = {
    {{"x", "xcoord", "coordx", "xcoordinate", "coordinatex", "pointx", "xpoint", "posx", "xpos", "positionx",
      "xposition", "cartesianx", "worldx", "utmx"},
     {"y", "ycoord", "coordy", "ycoordinate", "coordinatey", "pointy", "ypoint", "posy", "ypos", "positiony",
      "yposition", "cartesiany", "worldy", "utmy"}},
    {{"easting", "eastings", "east", "utmeasting", "utme", "rechtswert", "e"},
     {"northing", "northings", "north", "utmnorthing", "utmn", "hochwert", "n"}},
    {{"longitude", "lon", "long", "lng", "longitudedeg", "londeg", "longitudewgs84", "lonwgs84"},
     {"latitude", "lat", "latitudedeg", "latdeg", "latitudewgs84", "latwgs84"}},
};
#define PLANE_GROUPS (sizeof plane_names / sizeof plane_names[0])

/* Names that others give to z, the best first. */
static const char *const height_names[] = {"z",
                                           "zcoord",
                                           "coordz",
                                           "zcoordinate",
                                           "coordinatez",
                                           "pointz",
                                           "zpoint",
                                           "posz",
                                           "zpos",
                                           "positionz",
                                           "zposition",
                                           "cartesianz",
                                           "worldz",
                                           "utmz",
                                           "elevation",
                                           "elev",
                                           "height",
                                           "altitude",
                                           "alt",
                                           "hgt",
                                           "ellipsoidalheight",
                                           "ellipsoidheight",
                                           "orthometricheight",
                                           "hoehe",
                                           "h"};
#define HEIGHT_NAMES (sizeof height_names / sizeof height_names[0])

static void rename_to(mote_xyz_column *column, const char *name) {
    snprintf(column->name, sizeof column->name, "%s", name);
}

/* The column of that name; count if there is none. */
static uint32_t find_key(const mote_xyz_column *columns, uint32_t count, const char *name) {
    uint32_t i = 0;
    while (i < count && (columns[i].skipped || columns[i].has_type || !mote_same_name(columns[i].name, name))) i++;
    return i;
}

static uint32_t find_one_of(const mote_xyz_column *columns, uint32_t count, const char *const *names,
                            size_t name_count) {
    for (size_t n = 0; n < name_count && names[n] != NULL; n++) {
        const uint32_t found = find_key(columns, count, names[n]);
        if (found < count) return found;
    }
    return count;
}

static bool has_name(const mote_xyz_column *columns, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (!columns[i].skipped && strcmp(columns[i].name, name) == 0) return true;
    }
    return false;
}

/* Finds x, y and z under the names that the field has for them. */
static void use_axes(mote_xyz_column *columns, uint32_t count) {
    /* X is x, unless there is an x: then it is an attribute that keeps its name. */
    const bool exact[3] = {has_name(columns, count, "x"), has_name(columns, count, "y"), has_name(columns, count, "z")};
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i].has_type || !mote_names_axis(columns[i].name)) continue;
        if (!exact[(columns[i].name[0] | 0x20) - 'x']) columns[i].name[0] |= 0x20;
    }
    const bool has_x = has_name(columns, count, "x"), has_y = has_name(columns, count, "y");
    for (size_t g = 0; g < PLANE_GROUPS && !(has_x && has_y); g++) {
        const uint32_t x = find_one_of(columns, count, plane_names[g][0], AXIS_NAMES);
        const uint32_t y = find_one_of(columns, count, plane_names[g][1], AXIS_NAMES);
        if ((!has_x && x == count) || (!has_y && y == count)) continue;
        if (!has_x) rename_to(&columns[x], "x");
        if (!has_y) rename_to(&columns[y], "y");
        break;
    }
    if (has_name(columns, count, "z")) return;
    const uint32_t z = find_one_of(columns, count, height_names, HEIGHT_NAMES);
    if (z < count) rename_to(&columns[z], "z");
}

/* Cuts "x [m]" and "x(m)" into name and unit. The number of an element, "name[0]", is part of the name. */
static void take_unit(mote_xyz_column *column) {
    const size_t length = strlen(column->name);
    if (length < 3) return;
    const char closing = column->name[length - 1];
    char *const opening = strrchr(column->name, closing == ']' ? '[' : '(');
    if ((closing != ']' && closing != ')') || opening == NULL || opening == column->name) return;
    if (closing == ']' && strspn(opening + 1, "0123456789") == strlen(opening) - 2) return;
    column->name[length - 1] = '\0';
    snprintf(column->unit, sizeof column->unit, "%.100s", opening + 1);
    char *end = opening;
    while (end > column->name && mote_text_is_blank((uint8_t)end[-1])) end--;
    *end = '\0';
}

/* "name:type", as mote writes it: such a name is taken as it is. */
static bool take_type(mote_xyz_column *column) {
    char *const colon = strrchr(column->name, ':');
    if (colon == NULL || colon == column->name) return false;
    for (int type = MOTE_INT8; type <= MOTE_FLOAT64; type++) {
        if (strcmp(colon + 1, mote_type_name((mote_type)type)) != 0) continue;
        column->type = (mote_type)type;
        column->has_type = true;
        *colon = '\0';
        mote_text_unescape(column->name, strlen(column->name));
        return true;
    }
    return false;
}

/* Gives columns the names of the standard attributes that they mean; positions come later. */
static void use_standard_names(mote_xyz_column *columns, uint32_t count) {
    const char *names[MOTE_TEXT_COLUMNS] = {NULL}, *standard[MOTE_TEXT_COLUMNS];
    for (uint32_t i = 0; i < count; i++) names[i] = columns[i].skipped ? NULL : columns[i].name;
    mote_standard_names(names, count, standard);
    for (uint32_t i = 0; i < count; i++) {
        if (standard[i] != NULL && !columns[i].has_type && !mote_text_is_axis(standard[i])) {
            rename_to(&columns[i], standard[i]);
        }
    }
}

static void finish_name(mote_xyz_column *column) {
    if (!take_type(column)) take_unit(column);
    column->name[MOTE_XYZ_NAME_BYTES - 4] = '\0';
}

/* The name at *at, which may stand in quotes; *at moves behind the separator. False at the end. */
static bool next_name(const mote_input *input, char separator, uint64_t *at, uint64_t end, char *name) {
    uint64_t p = *at;
    size_t length = 0;
    bool quoted = false, any = false;
    while (p < end && mote_text_is_blank(input->data[p]) && input->data[p] != (uint8_t)separator) p++;
    for (; p < end; p++) {
        const uint8_t c = input->data[p];
        if (c == '"') {
            /* Two quotes within quotes stand for one. */
            if (quoted && p + 1 < end && input->data[p + 1] == '"')
                p++;
            else {
                quoted = !quoted;
                any = true;
                continue;
            }
        } else if (!quoted && (separator == ' ' ? mote_text_is_blank(c) : c == (uint8_t)separator)) {
            break;
        }
        any = true;
        if (length < MOTE_XYZ_WORD_BYTES - 1) name[length++] = (char)c;
    }
    const bool at_separator = p < end;
    *at = at_separator ? p + 1 : p;
    while (length > 0 && mote_text_is_blank((uint8_t)name[length - 1])) length--;
    name[length] = '\0';
    return any || at_separator;
}

static uint8_t last_byte(const mote_xyz_preamble *p) { return p->table.input->data[p->header_end - 1]; }

static uint32_t split_header(const mote_xyz_preamble *p, char separator, mote_xyz_column *columns, uint32_t max) {
    uint32_t count = 0;
    uint64_t at = p->header;
    char name[MOTE_XYZ_WORD_BYTES];
    while (next_name(p->table.input, separator, &at, p->header_end, name)) {
        /* "x [m] y [m]": the unit goes with the name before it. */
        if (separator == ' ' && count > 0 && count <= max && (name[0] == '[' || name[0] == '(')) {
            mote_xyz_column *const last = &columns[count - 1];
            const size_t length = strlen(last->name);
            snprintf(last->name + length, sizeof last->name - length, "%s", name);
            continue;
        }
        if (count < max) {
            memset(&columns[count], 0, sizeof columns[count]);
            memcpy(columns[count].name, name, strlen(name) + 1);
        }
        count++;
    }
    /* A separator at the end may stand, or the name behind it is empty: the rows decide. */
    const bool open_end = separator != ' ' && p->header_end > p->header && last_byte(p) == (uint8_t)separator;
    if (open_end && count + 1 == p->columns) {
        if (count < max) memset(&columns[count], 0, sizeof columns[count]);
        count++;
    }
    const uint32_t kept = count < max ? count : max;
    for (uint32_t i = 0; i < kept; i++) finish_name(&columns[i]);
    use_standard_names(columns, kept);
    use_axes(columns, kept);
    return count;
}

bool mote_xyz_has_positions(const mote_xyz_column *columns, uint32_t count) {
    unsigned found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (mote_text_is_axis(columns[i].name)) found |= 1u << (columns[i].name[0] - 'x');
    }
    return found == 7;
}

uint32_t mote_xyz_header_names(const mote_xyz_preamble *p, mote_xyz_column *columns, uint32_t max) {
    /* The header may be separated in another way than the rows. */
    const char first = p->columns > 0 ? p->table.separator : ' ';
    const char separators[] = {first, ',', ';', '\t', ' ', '\0'};
    for (const char *separator = separators; *separator != '\0'; separator++) {
        const uint32_t count = split_header(p, *separator, columns, max), kept = count < max ? count : max;
        if (p->columns > 0 ? count == p->columns : mote_xyz_has_positions(columns, kept)) return count;
    }
    return split_header(p, first, columns, max);
}

uint32_t mote_xyz_given_names(const char *names, mote_xyz_column *columns, uint32_t max) {
    uint32_t count = 0;
    for (;; names++) {
        const size_t length = strcspn(names, ",");
        if (count < max) {
            mote_xyz_column *const column = &columns[count];
            memset(column, 0, sizeof *column);
            snprintf(column->name, sizeof column->name, "%.*s", length < 100 ? (int)length : 100, names);
            column->skipped = strcmp(column->name, "-") == 0 || length == 0;
            finish_name(column);
        }
        count++;
        names += length;
        if (*names == '\0') break;
    }
    use_standard_names(columns, count < max ? count : max);
    use_axes(columns, count < max ? count : max);
    return count;
}

static bool is_color(const mote_text_survey *survey) {
    for (int k = 0; k < 3; k++) {
        if (survey[k].fraction || survey[k].max_negated > 0 || survey[k].max > UINT16_MAX) return false;
    }
    return true;
}

static bool is_normal(const mote_text_survey *survey) {
    return !survey[0].beyond_one && !survey[1].beyond_one && !survey[2].beyond_one;
}

void mote_xyz_guess_names(const mote_text_survey *survey, mote_xyz_column *columns, uint32_t count) {
    static const char *const colors[] = {"red", "green", "blue"}, *const normals[] = {"normal_x", "normal_y",
                                                                                      "normal_z"};
    memset(columns, 0, count * sizeof *columns);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(columns[i].name, sizeof columns[i].name, i < 3 ? "%c" : "column_%u", i < 3 ? 'x' + i : i + 1);
    }
    const uint32_t rgb = count == 7 ? 4 : count == 6 || count == 9 ? 3 : 0;
    const bool has_color = rgb > 0 && is_color(survey + rgb);
    if (count == 4 || (count == 7 && has_color)) snprintf(columns[3].name, sizeof columns[3].name, "intensity");
    for (uint32_t k = 0; k < 3 && has_color; k++) {
        snprintf(columns[rgb + k].name, sizeof columns[0].name, "%s", colors[k]);
    }
    const uint32_t normal = count == 9 && has_color ? 6 : count == 6 && !has_color ? 3 : 0;
    for (uint32_t k = 0; k < 3 && normal > 0 && is_normal(survey + normal); k++) {
        snprintf(columns[normal + k].name, sizeof columns[0].name, "%s", normals[k]);
    }
}

/* The smallest type that holds all values, also none. */
static mote_type fitting_type(const mote_text_survey *survey) {
    static const mote_type unsigned_types[] = {MOTE_UINT8, MOTE_UINT16, MOTE_UINT32, MOTE_UINT64};
    static const mote_type signed_types[] = {MOTE_INT8, MOTE_INT16, MOTE_INT32, MOTE_INT64};
    for (unsigned k = 0; k < 4 && !survey->fraction && survey->empties == 0; k++) {
        const uint64_t max = UINT64_MAX >> (64 - (8u << k));
        if (survey->max_negated == 0 && survey->max <= max) return unsigned_types[k];
        if (survey->max <= max / 2 && survey->max_negated <= max / 2 + 1) return signed_types[k];
    }
    return MOTE_FLOAT64;
}

static bool names_color(const char *name) {
    return strcmp(name, "red") == 0 || strcmp(name, "green") == 0 || strcmp(name, "blue") == 0;
}

void mote_xyz_choose_types(const mote_text_survey *survey, mote_xyz_column *columns, uint32_t count) {
    mote_text_survey colors = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i].has_type) continue;
        columns[i].type = mote_text_is_axis(columns[i].name) ? MOTE_FLOAT64 : fitting_type(&survey[i]);
        if (names_color(columns[i].name)) mote_text_merge_surveys(&colors, &survey[i], 1);
    }
    /* The colours are of one type: what their numbers mean is judged by it and by all of them together. */
    for (uint32_t i = 0; i < count; i++) {
        if (!columns[i].has_type && names_color(columns[i].name)) columns[i].type = fitting_type(&colors);
    }
}
