#include "systems_note.h"

#include <stdio.h>
#include <string.h>

#define WGS84_DEGREES 4326u

typedef struct system_name {
    char text[160];
    uint32_t code; /* of EPSG, 0: none */
} system_name;

/* OGC's name of longitude and latitude, which GDAL writes into each GeoJSON of RFC 7946, has no code. */
static system_name name_of(const char *crs) {
    mote_crs_facts facts;
    system_name name = {.text = ""};
    mote_crs_describe(crs, &facts);
    name.code = facts.horizontal_code == 0 && strstr(crs, "CRS84") != NULL ? WGS84_DEGREES : facts.horizontal_code;
    if (name.code != 0) {
        snprintf(name.text, sizeof name.text, "EPSG:%u", name.code);
    } else {
        snprintf(name.text, sizeof name.text, "%s", facts.name);
    }
    return name;
}

void systems_note(session *s, const char *path, const char *shapes, const char *points) {
    const system_name a = name_of(shapes), b = name_of(points);
    if (a.text[0] == '\0' || b.text[0] == '\0' || (a.code == 0) != (b.code == 0) || strcmp(a.text, b.text) == 0) return;
    session_note(s, "%s is in %s, the points in %s: its coordinates are taken as they are", path, a.text, b.text);
}
