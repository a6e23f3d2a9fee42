/* Geometries of GeoPackages as GeoJSON. A blob is a header and the geometry as WKB, whose parts say their byte order
   and type again:

     header    "GP" | version | flags | srs_id (int32) | envelope (0, 4, 6 or 8 doubles, as the flags say)
     WKB       byte order | type (uint32) | Point: x y [z] [m]      LineString: count, positions
                                            Polygon: count, rings   all others: count, WKB of the parts

   The system of the layer counts, not srs_id; m is not read. */
#include "io/geojson/geopackage.h"

#if MOTE_HAVE_JANSSON

#include <math.h>
#include <stdio.h>

#define HEADER_BYTES   8u
#define IS_EMPTY       0x10u
#define IS_EXTENDED    0x20u       /* a geometry that only its writer knows */
#define PART_MIN_BYTES 5u          /* of WKB */
#define OLD_Z          0x80000000u /* what programs of before ISO 13249-3 add to a type that has z */
#define MAX_DEPTH      32          /* of collections in each other, as in GeoJSON */

enum { POINT = 1, LINE, POLYGON, MULTI_POINT, MULTI_LINE, MULTI_POLYGON, COLLECTION };

static const char *const type_names[] = {"",           "Point",           "LineString",   "Polygon",
                                         "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"};

typedef struct wkb {
    const uint8_t *data;
    size_t size_bytes, at;
    bool is_little; /* the part that is being read */
    uint32_t type;
    bool has_z, has_m;
    uint64_t *positions_left;
    char *why;
} wkb;

__attribute__((format(printf, 2, 3))) static json_t *wrong(wkb *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->why, GEOPACKAGE_WHY_BYTES, format, arguments);
    va_end(arguments);
    return NULL;
}

/* Whether so many bytes are there. */
static bool has(wkb *w, uint64_t size_bytes) {
    if (size_bytes <= w->size_bytes - w->at) return true;
    wrong(w, "its geometry ends early, at byte %zu", w->size_bytes);
    return false;
}

static uint64_t take(wkb *w, unsigned size_bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size_bytes; i++)
        value |= (uint64_t)w->data[w->at + i] << 8 * (w->is_little ? i : size_bytes - 1 - i);
    w->at += size_bytes;
    return value;
}

static double take_double(wkb *w) {
    const uint64_t bits = take(w, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* How many parts follow, each of so many bytes at least; false where there is no room for them. */
static bool take_count(wkb *w, uint64_t part_bytes, uint64_t *count) {
    if (!has(w, 4)) return false;
    *count = take(w, 4);
    return has(w, *count * part_bytes);
}

static bool add(json_t *array, json_t *value) { return value != NULL && json_array_append_new(array, value) == 0; }

static uint64_t position_bytes(const wkb *w) { return 8u * (2u + w->has_z + w->has_m); }

/* A position; null where it is that of an empty point. */
static json_t *read_position(wkb *w) {
    if (!has(w, position_bytes(w))) return NULL;
    const double x = take_double(w), y = take_double(w), z = w->has_z ? take_double(w) : NAN;
    if (w->has_m) take_double(w);
    if (*w->positions_left == 0) return wrong(w, "the file has too many positions");
    --*w->positions_left;
    if (isnan(x) && isnan(y)) return json_null();
    if (!isfinite(x) || !isfinite(y) || isinf(z)) return wrong(w, "a coordinate is not finite");
    json_t *position = json_array();
    if (position != NULL && add(position, json_real(x)) && add(position, json_real(y)) &&
        (isnan(z) || add(position, json_real(z)))) {
        return position;
    }
    json_decref(position);
    return NULL;
}

/* Reads the positions of a line or a ring. */
static json_t *read_positions(wkb *w) {
    uint64_t count;
    if (!take_count(w, position_bytes(w), &count)) return NULL;
    json_t *positions = json_array();
    for (uint64_t i = 0; i < count && positions != NULL; i++) {
        json_t *position = read_position(w);
        if (json_is_null(position)) wrong(w, "a coordinate is not a number");
        if (json_is_array(position) && add(positions, position)) continue;
        json_decref(positions);
        return NULL;
    }
    return positions;
}

static json_t *read_rings(wkb *w) {
    uint64_t count;
    if (!take_count(w, 4, &count)) return NULL;
    json_t *rings = json_array();
    for (uint64_t i = 0; i < count && rings != NULL; i++) {
        if (add(rings, read_positions(w))) continue;
        json_decref(rings);
        return NULL;
    }
    return rings;
}

static bool read_head(wkb *w) {
    if (!has(w, PART_MIN_BYTES)) return false;
    const uint64_t order = take(w, 1);
    w->is_little = order == 1;
    const uint32_t type = (uint32_t)take(w, 4), plain = type & ~OLD_Z, more = plain / 1000;
    w->type = plain % 1000;
    w->has_z = more == 1 || more == 3 || type != plain;
    w->has_m = more == 2 || more == 3;
    if (order <= 1 && more <= 3 && w->type >= POINT && w->type <= COLLECTION) return true;
    wrong(w,
          order > 1
              ? "its geometry has no byte order"
              : "a geometry of type %u, which is not read; \"ogr2ogr -nlt CONVERT_TO_LINEAR\" makes lines of arcs",
          type);
    return false;
}

static json_t *read_plain(wkb *w) {
    if (w->type == POINT) return read_position(w);
    return w->type == LINE ? read_positions(w) : read_rings(w);
}

static json_t *read_geometry(wkb *w, int depth);

/* What a collection holds: geometries, or, where kind is the type of all of them, their coordinates. */
static json_t *read_parts(wkb *w, uint32_t kind, int depth) {
    uint64_t count;
    if (!take_count(w, PART_MIN_BYTES, &count)) return NULL;
    json_t *parts = json_array();
    for (uint64_t i = 0; i < count && parts != NULL; i++) {
        json_t *part = NULL;
        if (kind == COLLECTION) {
            part = read_geometry(w, depth + 1);
        } else if (read_head(w)) {
            part =
                w->type == kind ? read_plain(w) : wrong(w, "a %s in a Multi%s", type_names[w->type], type_names[kind]);
        }
        if (json_is_null(part) || add(parts, part)) continue; /* of what is empty nothing is there */
        json_decref(parts);
        return NULL;
    }
    return parts;
}

static json_t *read_geometry(wkb *w, int depth) {
    if (depth > MAX_DEPTH) return wrong(w, "geometry collections lie in each other more than %d deep", MAX_DEPTH);
    if (!read_head(w)) return NULL;
    const uint32_t type = w->type;
    json_t *inner = type < MULTI_POINT   ? read_plain(w)
                    : type == COLLECTION ? read_parts(w, COLLECTION, depth)
                                         : read_parts(w, type - 3, depth);
    if (inner == NULL || json_is_null(inner)) return inner;
    return json_pack("{s:s, s:o}", "type", type_names[type], type == COLLECTION ? "geometries" : "coordinates", inner);
}

json_t *geopackage_geometry(const uint8_t *blob, size_t size_bytes, uint64_t *positions_left,
                            char why[GEOPACKAGE_WHY_BYTES]) {
    static const uint8_t envelope_doubles[8] = {0, 4, 6, 6, 8}; /* by bits 1 to 3 of the flags */
    wkb w = {.data = blob, .size_bytes = size_bytes, .positions_left = positions_left, .why = why};
    why[0] = '\0';
    if (size_bytes < HEADER_BYTES || blob[0] != 'G' || blob[1] != 'P' || blob[2] != 0)
        return wrong(&w, "its geometry does not begin as those of a GeoPackage do");
    const unsigned flags = blob[3], envelope = flags >> 1 & 7;
    if ((flags & IS_EXTENDED) != 0) return wrong(&w, "a geometry of an extension, which is not read");
    if (envelope > 4) return wrong(&w, "its geometry has an unknown kind of envelope");
    w.at = HEADER_BYTES;
    if (!has(&w, 8u * envelope_doubles[envelope])) return NULL;
    w.at += 8u * envelope_doubles[envelope];
    if ((flags & IS_EMPTY) != 0) return json_null();
    json_t *geometry = read_geometry(&w, 0);
    if (geometry == NULL || w.at == size_bytes) return geometry;
    json_decref(geometry);
    return wrong(&w, "its geometry has %zu bytes too many", size_bytes - w.at);
}

#endif
