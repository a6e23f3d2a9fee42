/* Reads the layers of a GeoPackage as GeoJSON. A file of a stranger is a program for SQLite, so that of SQLite nothing
   is used but plain tables: no views, triggers, functions, virtual or other files' tables, and work is counted. */
#define _GNU_SOURCE /* stat */
#include "io/geojson/geopackage.h"

#define MAGIC      "SQLite format 3" /* with its 0 byte */
#define MAX_BYTES  (1u << 30)        /* of a file */
#define HEAD_BYTES 100u

bool geopackage_probe(const mote_input *input) {
    return input->size_bytes >= HEAD_BYTES && memcmp(input->data, MAGIC, sizeof MAGIC) == 0;
}

#if MOTE_HAVE_JANSSON

#if !MOTE_HAVE_SQLITE

mote_status geopackage_read(mote_context *ctx, const mote_input *input, json_t **out) {
    *out = NULL;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                     "%s: mote was built without SQLite, which GeoPackage needs; \"ogr2ogr -f GeoJSON out.geojson "
                     "in.gpkg\" makes GeoJSON of it",
                     input->path);
}

#else

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_POSITIONS  5000000u
#define MAX_ROWS       1000000u
#define MAX_TEXT_BYTES (256u << 20) /* of all attributes */
#define MAX_CELL_BYTES (64 << 20)
#define TURN_STEPS     100000 /* of SQLite's machine, between two looks at whether to go on: some milliseconds */
#define MAX_TURNS      20000u /* a million rows of a hundred columns take some 3,000 */
#define VERSIONS_AT    18u    /* two bytes of the head: 2 where changes may lie in a file beside it, WAL */

typedef struct geopackage {
    mote_context *ctx;
    const mote_input *input;
    uint8_t *copy;
    sqlite3 *db;
    json_t *features;
    json_t *system; /* of the first layer: a string, "" where it has none */
    uint64_t positions_left, rows_left, text_left, wrong_texts;
    uint32_t turns;
    bool is_cancelled;
} geopackage;

/* A layer as the tables of the file describe it, while its row is read. */
typedef struct layer {
    const char *title, *table, *column;
    json_t *system;
} layer;

/* What SQLite says, if it has failed. */
static mote_status sql_error(const geopackage *g) {
    const int code = sqlite3_errcode(g->db) & 0xFF;
    if (code == SQLITE_NOMEM) return mote_fail(g->ctx, MOTE_ERROR_MEMORY, "out of memory: %s", g->input->path);
    if (code == SQLITE_INTERRUPT && g->is_cancelled) return MOTE_CANCELLED;
    if (code == SQLITE_INTERRUPT)
        return mote_fail(g->ctx, MOTE_ERROR_DATA,
                         "%s: reading it takes more steps than any GeoPackage of its size should", g->input->path);
    return mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: no GeoPackage that can be read: SQLite says: %s", g->input->path,
                     sqlite3_errmsg(g->db));
}

static int take_turn(void *user) {
    geopackage *g = user;
    g->is_cancelled = mote_progress(g->ctx, 0, "reading vectors") != MOTE_OK;
    return g->is_cancelled || ++g->turns > MAX_TURNS;
}

/* Statements may read columns, and nothing else. */
static int may(void *user, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)user, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

/* The bytes as SQLite takes them from memory. */
static mote_status bytes_of(geopackage *g, uint8_t **out) {
    const uint8_t *data = g->input->data;
    char beside[4096];
    struct stat info;
    *out = (uint8_t *)(uintptr_t)data; // NOLINT: it is opened to be read
    if (data[VERSIONS_AT] != 2 && data[VERSIONS_AT + 1] != 2) return MOTE_OK;
    snprintf(beside, sizeof beside, "%s-wal", g->input->path);
    if (stat(beside, &info) == 0 && info.st_size > 0)
        mote_warn(g->ctx, "%s: changes that are still in %s are not read: close the program that has it open",
                  g->input->path, beside);
    *out = g->copy = mote_alloc(g->ctx, g->input->size_bytes, "GeoPackage");
    if (g->copy == NULL) return MOTE_ERROR_MEMORY;
    memcpy(g->copy, data, g->input->size_bytes);
    g->copy[VERSIONS_AT] = g->copy[VERSIONS_AT + 1] = 1;
    return MOTE_OK;
}

static mote_status open_database(geopackage *g) {
    uint8_t *bytes;
    const sqlite3_int64 size = (sqlite3_int64)g->input->size_bytes;
    if (size > MAX_BYTES)
        return mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: GeoPackages of more than 1 GB are not read", g->input->path);
    MOTE_TRY(bytes_of(g, &bytes));
    if (sqlite3_open_v2(":memory:", &g->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        sqlite3_db_config(g->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) != SQLITE_OK ||
        sqlite3_db_config(g->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(g->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) != SQLITE_OK ||
        sqlite3_db_config(g->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL) != SQLITE_OK ||
        sqlite3_exec(g->db, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_deserialize(g->db, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
        return sql_error(g);
    }
    sqlite3_limit(g->db, SQLITE_LIMIT_LENGTH, MAX_CELL_BYTES);
    sqlite3_limit(g->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(g->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_progress_handler(g->db, TURN_STEPS, take_turn, g);
    sqlite3_set_authorizer(g->db, may, NULL);
    return MOTE_OK;
}

/* ---- features */

/* A value of an attribute; *out stays NULL where GeoJSON has no such. */
static mote_status read_value(geopackage *g, sqlite3_stmt *row, int column, json_t **out) {
    const int type = sqlite3_column_type(row, column);
    const uint64_t size_bytes = type == SQLITE_TEXT ? (uint64_t)sqlite3_column_bytes(row, column) : 0;
    if (size_bytes > g->text_left)
        return mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: its attributes have more than %u MB of text", g->input->path,
                         MAX_TEXT_BYTES >> 20);
    g->text_left -= size_bytes;
    if (type == SQLITE_INTEGER) {
        *out = json_integer(sqlite3_column_int64(row, column));
    } else if (type == SQLITE_FLOAT) {
        *out = json_real(sqlite3_column_double(row, column)); /* NULL of one that is not finite */
    } else if (type == SQLITE_TEXT) {
        *out = json_stringn((const char *)sqlite3_column_text(row, column), size_bytes);
        g->wrong_texts += *out == NULL;
    }
    return MOTE_OK;
}

static mote_status no_memory(const geopackage *g) {
    return mote_fail(g->ctx, MOTE_ERROR_MEMORY, "out of memory: features of %s", g->input->path);
}

static mote_status read_properties(geopackage *g, sqlite3_stmt *row, int geometry, json_t *properties) {
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        json_t *value = NULL;
        if (i == geometry) continue;
        MOTE_TRY(read_value(g, row, i, &value));
        if (value != NULL && json_object_set_new(properties, sqlite3_column_name(row, i), value) != 0)
            return no_memory(g);
    }
    return MOTE_OK;
}

static mote_status read_feature(geopackage *g, sqlite3_stmt *row, int column, json_t *feature, char *why) {
    json_t *properties = json_object(), *geometry = json_null();
    if (sqlite3_column_type(row, column) == SQLITE_BLOB) {
        geometry = geopackage_geometry(sqlite3_column_blob(row, column), (size_t)sqlite3_column_bytes(row, column),
                                       &g->positions_left, why);
    } else if (sqlite3_column_type(row, column) != SQLITE_NULL) {
        snprintf(why, GEOPACKAGE_WHY_BYTES, "its geometry is no blob");
        geometry = NULL;
    }
    const bool is_kept = json_object_set_new(feature, "type", json_string("Feature")) == 0 &&
                         json_object_set_new(feature, "properties", properties) == 0;
    if (geometry == NULL) return why[0] != '\0' ? MOTE_ERROR_DATA : no_memory(g);
    if (json_object_set_new(feature, "geometry", geometry) != 0 || !is_kept) return no_memory(g);
    return read_properties(g, row, column, properties);
}

static int column_of(sqlite3_stmt *statement, const char *name) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        if (sqlite3_stricmp(sqlite3_column_name(statement, i), name) == 0) return i;
    }
    return -1;
}

static mote_status read_rows(geopackage *g, const layer *l, sqlite3_stmt *rows) {
    const int column = column_of(rows, l->column);
    char why[GEOPACKAGE_WHY_BYTES] = "";
    int code = SQLITE_ROW;
    if (column < 0)
        return mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: layer \"%.64s\" has no column \"%.64s\"", g->input->path,
                         l->title, l->column);
    for (uint64_t i = 1; (code = sqlite3_step(rows)) == SQLITE_ROW; i++) {
        if (g->rows_left-- == 0)
            return mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: more than %u features are not read", g->input->path,
                             MAX_ROWS);
        json_t *feature = json_object();
        if (feature == NULL || json_array_append_new(g->features, feature) != 0) return no_memory(g);
        const mote_status status = read_feature(g, rows, column, feature, why);
        if (status == MOTE_ERROR_DATA && why[0] != '\0') {
            return mote_fail(g->ctx, status, "%s: layer \"%.64s\", feature %llu: %s", g->input->path, l->title,
                             (unsigned long long)i, why);
        }
        MOTE_TRY(status);
    }
    return code == SQLITE_DONE ? MOTE_OK : sql_error(g);
}

/* ---- layers */

static mote_status read_layer(geopackage *g, const layer *l) {
    sqlite3_stmt *rows = NULL;
    if (l->table == NULL || l->column == NULL)
        return mote_fail(
            g->ctx, MOTE_ERROR_DATA,
            "%s: layer \"%.64s\" is no table: views are not read; \"ogr2ogr one.gpkg IN LAYER\" makes a table of it",
            g->input->path, l->title);
    if (g->system == NULL) g->system = json_incref(l->system);
    if (!json_equal(g->system, l->system))
        return mote_fail(
            g->ctx, MOTE_ERROR_DATA,
            "%s: its layers are in different reference systems; \"ogr2ogr one.gpkg IN LAYER\" makes a file of one",
            g->input->path);
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", l->table);
    const bool is_prepared = sql != NULL && sqlite3_prepare_v2(g->db, sql, -1, &rows, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    const mote_status status = is_prepared ? read_rows(g, l, rows) : sql == NULL ? no_memory(g) : sql_error(g);
    sqlite3_finalize(rows);
    return status;
}

/* How GeoJSON names a system: by its code, else by its definition. */
static json_t *system_of(const char *organization, int code, const char *definition) {
    const bool is_known = definition != NULL && sqlite3_stricmp(definition, "undefined") != 0;
    if (code > 0 && organization != NULL && sqlite3_stricmp(organization, "EPSG") == 0)
        return json_sprintf("urn:ogc:def:crs:EPSG::%d", code);
    return json_string(is_known ? definition : "");
}

static const char *text_at(sqlite3_stmt *row, int column) { return (const char *)sqlite3_column_text(row, column); }

static mote_status read_layers(geopackage *g) {
    static const char sql[] =
        "SELECT c.table_name, t.name, g.column_name, s.organization, s.organization_coordsys_id, s.definition"
        " FROM gpkg_contents c JOIN gpkg_geometry_columns g ON g.table_name = c.table_name COLLATE NOCASE"
        " LEFT JOIN sqlite_master t ON t.name = c.table_name COLLATE NOCASE AND t.type = 'table' AND t.rootpage > 0"
        " LEFT JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id"
        " WHERE c.data_type = 'features' ORDER BY c.table_name";
    sqlite3_stmt *row = NULL;
    mote_status status = MOTE_OK;
    if (sqlite3_prepare_v2(g->db, sql, -1, &row, NULL) != SQLITE_OK) return sql_error(g);
    int code = SQLITE_ROW;
    while (status == MOTE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const char *title = text_at(row, 0);
        layer l = {title != NULL ? title : "", text_at(row, 1), text_at(row, 2),
                   system_of(text_at(row, 3), sqlite3_column_int(row, 4), text_at(row, 5))};
        status = l.system != NULL ? read_layer(g, &l)
                                  : mote_fail(g->ctx, MOTE_ERROR_DATA,
                                              "%s: the name of a reference system is not UTF-8", g->input->path);
        json_decref(l.system);
    }
    if (status == MOTE_OK && code != SQLITE_DONE) status = sql_error(g);
    if (status == MOTE_OK && g->system == NULL)
        status = mote_fail(g->ctx, MOTE_ERROR_DATA, "%s: it holds no layer of features", g->input->path);
    sqlite3_finalize(row);
    return status;
}

/* The tables that make a GeoPackage are plain ones; else their rows might be a program's. */
static mote_status check_tables(geopackage *g) {
    static const char sql[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name IN "
                              "('gpkg_contents', 'gpkg_geometry_columns', 'gpkg_spatial_ref_sys')";
    sqlite3_stmt *row = NULL;
    int count = 0, code = sqlite3_prepare_v2(g->db, sql, -1, &row, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) count += (code = sqlite3_step(row)) == SQLITE_ROW;
    const mote_status status =
        code != SQLITE_DONE ? sql_error(g)
        : count == 3
            ? MOTE_OK
            : mote_fail(g->ctx, MOTE_ERROR_DATA,
                        "%s: an SQLite file without the tables of a GeoPackage that has vectors", g->input->path);
    sqlite3_finalize(row);
    return status;
}

static mote_status collect(geopackage *g, json_t **out) {
    MOTE_TRY(open_database(g));
    MOTE_TRY(check_tables(g));
    MOTE_TRY(read_layers(g));
    MOTE_TRY(mote_input_check(g->ctx, g->input));
    if (g->wrong_texts > 0)
        mote_warn(g->ctx, "%s: %llu texts are left out: they are not UTF-8", g->input->path,
                  (unsigned long long)g->wrong_texts);
    json_t *root = json_pack("{s:s, s:O}", "type", "FeatureCollection", "features", g->features);
    if (root != NULL && json_string_length(g->system) > 0 &&
        json_object_set_new(root, "crs",
                            json_pack("{s:s, s:{s:O}}", "type", "name", "properties", "name", g->system)) != 0) {
        json_decref(root);
        root = NULL;
    }
    *out = root;
    return root != NULL ? MOTE_OK : no_memory(g);
}

mote_status geopackage_read(mote_context *ctx, const mote_input *input, json_t **out) {
    geopackage g = {.ctx = ctx,
                    .input = input,
                    .features = json_array(),
                    .positions_left = MAX_POSITIONS,
                    .rows_left = MAX_ROWS,
                    .text_left = MAX_TEXT_BYTES};
    *out = NULL;
    const mote_status status = g.features != NULL ? collect(&g, out) : no_memory(&g);
    sqlite3_close_v2(g.db);
    json_decref(g.features);
    json_decref(g.system);
    mote_free(ctx, g.copy);
    return status;
}

#endif
#endif
