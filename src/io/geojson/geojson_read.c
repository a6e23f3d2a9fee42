/* Reads polygons and lines from GeoJSON (RFC 7946, and files of before it), and GeoPackages as the GeoJSON that they
 * would be. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>

#include "io/geojson/geojson.h"
#include "io/geojson/geopackage.h"
#include "io/text/text.h"

#if MOTE_HAVE_JANSSON

#define MAX_DEPTH   32 /* of geometry collections in each other; the standard advises against any */
#define PLACE_BYTES 256

typedef struct geojson_file {
    mote_context *ctx;
    const mote_input *input;
    mote_shapes *shapes;
    char place[PLACE_BYTES]; /* where in the file the reader is: "features[3].geometry" */
    uint32_t feature;
    uint64_t points, empty; /* left out: points, and geometries that hold nothing */
} geojson_file;

__attribute__((format(printf, 2, 3))) static mote_status wrong(const geojson_file *f, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mote_fail(f->ctx, MOTE_ERROR_DATA, "%s: %s%s%s", f->input->path, f->place, f->place[0] != '\0' ? ": " : "",
                     why);
}

/* Appends to the place; returns where it ended, for leave(). */
__attribute__((format(printf, 2, 3))) static size_t enter(geojson_file *f, const char *format, ...) {
    const size_t length = strlen(f->place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->place + length, sizeof f->place - length, length == 0 && format[0] == '.' ? format + 1 : format,
              arguments);
    va_end(arguments);
    return length;
}

static void leave(geojson_file *f, size_t length) { f->place[length] = '\0'; }

/* ---- coordinates */

static mote_status read_position(const geojson_file *f, const json_t *json, size_t i, double position[3]) {
    const size_t count = json_array_size(json);
    if (!json_is_array(json) || count < 2) return wrong(f, "[%zu] is no position: [x, y] or [x, y, z]", i);
    position[2] = NAN;
    for (size_t k = 0; k < 3 && k < count; k++) {
        const json_t *value = json_array_get(json, k);
        if (!json_is_number(value)) return wrong(f, "[%zu][%zu] is no number", i, k);
        position[k] = json_number_value(value);
    }
    return MOTE_OK;
}

/* A ring or a line. */
static mote_status read_part(geojson_file *f, const json_t *json, mote_shape_kind kind) {
    const uint64_t least = kind == MOTE_SHAPE_POLYGON ? 3 : 2;
    if (!json_is_array(json)) return wrong(f, "it is no array of positions");
    MOTE_TRY(shapes_begin_part(f->shapes));
    for (size_t i = 0; i < json_array_size(json); i++) {
        double position[3];
        MOTE_TRY(read_position(f, json_array_get(json, i), i, position));
        MOTE_TRY(shapes_add(f->shapes, position));
    }
    const uint64_t count = shapes_end_part(f->shapes);
    if (count >= least) return MOTE_OK;
    return wrong(f, "a %s of %llu %s; it needs %llu", kind == MOTE_SHAPE_POLYGON ? "ring" : "line",
                 (unsigned long long)count, count == 1 ? "position" : "different positions", (unsigned long long)least);
}

static mote_status read_line(geojson_file *f, const json_t *json) {
    if (json_is_array(json) && json_array_size(json) == 0) {
        f->empty++;
        return MOTE_OK;
    }
    MOTE_TRY(shapes_begin(f->shapes, MOTE_SHAPE_LINE, f->feature));
    MOTE_TRY(read_part(f, json, MOTE_SHAPE_LINE));
    return shapes_end(f->shapes);
}

static mote_status read_polygon(geojson_file *f, const json_t *json) {
    if (!json_is_array(json)) return wrong(f, "it is no array of rings");
    if (json_array_size(json) == 0) {
        f->empty++;
        return MOTE_OK;
    }
    MOTE_TRY(shapes_begin(f->shapes, MOTE_SHAPE_POLYGON, f->feature));
    for (size_t i = 0; i < json_array_size(json); i++) {
        const size_t place = enter(f, "[%zu]", i);
        MOTE_TRY(read_part(f, json_array_get(json, i), MOTE_SHAPE_POLYGON));
        leave(f, place);
    }
    return shapes_end(f->shapes);
}

static mote_status read_several(geojson_file *f, const json_t *json,
                                mote_status (*read)(geojson_file *f, const json_t *json)) {
    if (!json_is_array(json)) return wrong(f, "it is no array");
    f->empty += json_array_size(json) == 0;
    for (size_t i = 0; i < json_array_size(json); i++) {
        const size_t place = enter(f, "[%zu]", i);
        MOTE_TRY(read(f, json_array_get(json, i)));
        leave(f, place);
    }
    return MOTE_OK;
}

/* ---- objects */

static const char *type_of(const json_t *json) {
    const char *type = json_string_value(json_object_get(json, "type"));
    return type != NULL ? type : "";
}

static mote_status read_geometry(geojson_file *f, const json_t *json, int depth);

static mote_status read_collection(geojson_file *f, const json_t *json, int depth) {
    const json_t *parts = json_object_get(json, "geometries");
    if (!json_is_array(parts)) return wrong(f, "\"geometries\" is no array");
    if (depth == MAX_DEPTH) return wrong(f, "geometry collections lie in each other more than %d deep", MAX_DEPTH);
    f->empty += json_array_size(parts) == 0;
    for (size_t i = 0; i < json_array_size(parts); i++) {
        const size_t place = enter(f, ".geometries[%zu]", i);
        MOTE_TRY(read_geometry(f, json_array_get(parts, i), depth + 1));
        leave(f, place);
    }
    return MOTE_OK;
}

static mote_status read_geometry(geojson_file *f, const json_t *json, int depth) {
    const char *type = type_of(json);
    const json_t *coordinates = json_object_get(json, "coordinates");
    mote_status status = MOTE_OK;
    if (json == NULL || json_is_null(json)) {
        f->empty++;
        return MOTE_OK;
    }
    if (strcmp(type, "GeometryCollection") == 0) return read_collection(f, json, depth);
    const size_t place = enter(f, ".coordinates");
    if (strcmp(type, "Polygon") == 0) {
        status = read_polygon(f, coordinates);
    } else if (strcmp(type, "MultiPolygon") == 0) {
        status = read_several(f, coordinates, read_polygon);
    } else if (strcmp(type, "LineString") == 0) {
        status = read_line(f, coordinates);
    } else if (strcmp(type, "MultiLineString") == 0) {
        status = read_several(f, coordinates, read_line);
    } else if (strcmp(type, "Point") == 0 || strcmp(type, "MultiPoint") == 0) {
        f->points += type[0] == 'P' ? 1 : json_array_size(coordinates);
    } else {
        leave(f, place);
        return wrong(f, "a geometry of type \"%.32s\", which GeoJSON does not have", type);
    }
    if (status == MOTE_OK) leave(f, place);
    return status;
}

/* The property that names a feature: "name", or "text" as the viewer writes it. */
static const char *name_of(const json_t *feature) {
    const json_t *properties = json_object_get(feature, "properties");
    const char *name = json_string_value(json_object_get(properties, "name"));
    if (name == NULL) name = json_string_value(json_object_get(properties, "text"));
    return name != NULL ? name : "";
}

static mote_status read_feature(geojson_file *f, const json_t *json) {
    if (strcmp(type_of(json), "Feature") != 0) return wrong(f, "it is no Feature");
    MOTE_TRY(shapes_set_name(f->shapes, name_of(json)));
    const size_t place = enter(f, ".geometry");
    MOTE_TRY(read_geometry(f, json_object_get(json, "geometry"), 0));
    leave(f, place);
    return MOTE_OK;
}

static mote_status read_features(geojson_file *f, const json_t *features) {
    if (!json_is_array(features)) return wrong(f, "\"features\" is no array");
    if (json_array_size(features) >= UINT32_MAX) return wrong(f, "it has more than 2^32 features");
    for (size_t i = 0; i < json_array_size(features); i++) {
        f->feature = (uint32_t)i;
        const size_t place = enter(f, "features[%zu]", i);
        MOTE_TRY(read_feature(f, json_array_get(features, i)));
        leave(f, place);
    }
    return MOTE_OK;
}

/* "crs": {"type": "name", "properties": {"name": …}}, as before RFC 7946. */
static mote_status read_crs(geojson_file *f, const json_t *root) {
    const json_t *properties = json_object_get(json_object_get(root, "crs"), "properties");
    const char *name = json_string_value(json_object_get(properties, "name"));
    if (name == NULL) return MOTE_OK;
    f->shapes->crs = mote_strdup(f->ctx, name);
    return f->shapes->crs != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status read_root(geojson_file *f, const json_t *root) {
    const char *type = type_of(root);
    if (!json_is_object(root) || type[0] == '\0') return wrong(f, "it is JSON, and no GeoJSON: it has no \"type\"");
    MOTE_TRY(read_crs(f, root));
    if (strcmp(type, "FeatureCollection") == 0) {
        MOTE_TRY(read_features(f, json_object_get(root, "features")));
    } else if (strcmp(type, "Feature") == 0) {
        MOTE_TRY(read_feature(f, root));
    } else {
        MOTE_TRY(read_geometry(f, root, 0));
    }
    if (f->points + f->empty > 0) {
        mote_warn(f->ctx, "%s: %llu points and %llu empty geometries are left out: they are neither polygons nor lines",
                  f->input->path, (unsigned long long)f->points, (unsigned long long)f->empty);
    }
    if (f->shapes->count > UINT32_MAX) return wrong(f, "it has more than 2^32 shapes");
    return f->shapes->count > 0 ? MOTE_OK : wrong(f, "it holds neither a polygon nor a line");
}

/* ---- texts */

#define RECORD_SEPARATOR                                                                                               \
    0x1e /* before each text of a sequence (RFC 8142); a line break alone will do, as GDAL writes */

static bool is_between(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == RECORD_SEPARATOR; }

/* The next JSON text behind *at, which is moved behind it; *root NULL: there is none. */
static mote_status load_next(const geojson_file *f, uint64_t *at, json_t **root) {
    const char *text = (const char *)f->input->data;
    const uint64_t size = f->input->size_bytes;
    json_error_t error;
    *root = NULL;
    while (*at < size && is_between(text[*at])) ++*at;
    if (*at == size) return MOTE_OK;
    *root = json_loadb(text + *at, size - *at, JSON_DISABLE_EOF_CHECK, &error);
    if (*root == NULL) {
        int before = 0; /* lines; the error counts from here */
        for (uint64_t i = 0; i < *at; i++) before += text[i] == '\n';
        return wrong(f, "line %d, column %d: no JSON: %s", before + error.line, error.column, error.text);
    }
    *at += (uint64_t)error.position;
    return MOTE_OK;
}

/* One text, or a sequence of features, which becomes a collection. */
static mote_status load_texts(const geojson_file *f, json_t **root) {
    uint64_t at = mote_text_mark_bytes(f->input);
    json_t *next = NULL;
    MOTE_TRY(load_next(f, &at, root));
    if (*root == NULL) return wrong(f, "no JSON: it is empty");
    MOTE_TRY(load_next(f, &at, &next));
    if (next == NULL) return MOTE_OK;
    *root = json_pack("{s:s, s:[o, o]}", "type", "FeatureCollection", "features", *root, next);
    while (*root != NULL) {
        MOTE_TRY(load_next(f, &at, &next));
        if (next == NULL) return MOTE_OK;
        if (json_array_append_new(json_object_get(*root, "features"), next) != 0) break;
    }
    return mote_fail(f->ctx, MOTE_ERROR_MEMORY, "out of memory: the features of %s", f->input->path);
}

static mote_status parse(geojson_file *f) {
    json_t *root = NULL;
    mote_status status;
    if (geopackage_probe(f->input)) {
        status = geopackage_read(f->ctx, f->input, &root);
    } else {
        status = mote_text_check_encoding(f->ctx, f->input);
        if (status == MOTE_OK) status = load_texts(f, &root);
    }
    if (status == MOTE_OK) status = read_root(f, root);
    json_decref(root);
    return status;
}

mote_status geojson_read_input(mote_context *ctx, const mote_input *input, mote_shapes **out) {
    geojson_file f = {.ctx = ctx, .input = input};
    *out = NULL;
    mote_status status = shapes_start(ctx, &f.shapes);
    if (status == MOTE_OK) status = parse(&f);
    if (status == MOTE_OK) status = mote_input_check(ctx, input);
    if (status != MOTE_OK) {
        mote_shapes_destroy(f.shapes);
        return status;
    }
    shapes_finish(f.shapes);
    *out = f.shapes;
    return MOTE_OK;
}

/* Compact: a file is as a page reads it, and no person. */
static mote_status write_json(mote_context *ctx, const json_t *root, const char *path) {
    mote_output output;
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text == NULL) return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: the GeoJSON of %s", path);
    mote_status status = mote_output_open_in_order(ctx, path, &output);
    if (status == MOTE_OK) status = mote_output_close(ctx, &output, mote_output_text(ctx, &output, text));
    free(text);
    return status;
}

static mote_status convert(mote_context *ctx, const mote_input *input, const char *out_path) {
    json_t *root = NULL;
    if (!geopackage_probe(input)) return mote_fail(ctx, MOTE_ERROR_DATA, "%s: no GeoPackage", input->path);
    MOTE_TRY(geopackage_read(ctx, input, &root));
    const mote_status status = write_json(ctx, root, out_path);
    json_decref(root);
    return status;
}

#else

static mote_status convert(mote_context *ctx, const mote_input *input, const char *out_path) {
    (void)out_path;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: mote was built without jansson, which GeoJSON needs",
                     input->path);
}

mote_status geojson_read_input(mote_context *ctx, const mote_input *input, mote_shapes **out) {
    *out = NULL;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: mote was built without jansson, which GeoJSON needs",
                     input->path);
}

#endif

mote_status mote_shapes_read(mote_context *ctx, const char *path, mote_shapes **out) {
    mote_input input;
    *out = NULL;
    if (path == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "path is NULL");
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const mote_status status = geojson_read_input(ctx, &input, out);
    mote_input_close(ctx, &input);
    return status;
}

mote_status mote_geopackage_to_geojson(mote_context *ctx, const char *path, const char *out_path) {
    mote_input input;
    if (path == NULL || out_path == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "path is NULL");
    MOTE_TRY(mote_input_open(ctx, path, &input));
    const mote_status status = convert(ctx, &input, out_path);
    mote_input_close(ctx, &input);
    return status;
}
