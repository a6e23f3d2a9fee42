/* mote info for programs. */
#include <math.h>

#include "info/info_digits.h"
#include "info/info_facts.h"
#include "units_text.h"

/* A corner of the box, with the digits of the file. */
static void emit_corner(json_writer *json, const char *name, const info_facts *f, const double values[3]) {
    static const char *const axes[] = {"x", "y", "z"};
    emit_open(json, name, '[');
    for (int k = 0; k < 3; k++) {
        emit_number(json, NULL, digits_exact(mote_cloud_find(f->cloud, axes[k]), values[k]));
    }
    emit_close(json, ']');
}

/* Points that stretch the box, and the box of the others. */
static void emit_strays(json_writer *json, const info_facts *f) {
    emit_open(json, "strays", '{');
    emit_count(json, "count", f->stats.strays.count);
    if (f->stats.strays.count > 0) {
        emit_count(json, "farthest", f->stats.strays.farthest);
        emit_real(json, "distance", f->stats.strays.distance);
        emit_corner(json, "rest_min", f, f->stats.strays.rest.min);
        emit_corner(json, "rest_max", f, f->stats.strays.rest.max);
    }
    emit_close(json, '}');
}

static void emit_stats(json_writer *json, const mote_column *column, const column_stats *stats) {
    emit_number(json, "min", digits_exact(column, stats->min));
    emit_number(json, "max", digits_exact(column, stats->max));
    emit_number(json, "mean", digits_of_sum(stats->mean));
    emit_count(json, "nan", stats->nans);
}

static void emit_attributes(json_writer *json, const info_facts *f) {
    emit_open(json, "attributes", '[');
    for (uint32_t i = 0; i < mote_cloud_column_count(f->cloud); i++) {
        const mote_column *column = mote_cloud_column(f->cloud, i);
        emit_open(json, NULL, '{');
        emit_text(json, "name", column->name);
        emit_text(json, "type", mote_type_name(column->type));
        if (column->bit_count > 0) emit_count(json, "bits", column->bit_count);
        emit_real(json, "scale", column->scale);
        emit_real(json, "offset", column->offset + 0.0); /* no "-0" */
        if (column->unit[0] != '\0') emit_text(json, "unit", column->unit);
        if (column->description[0] != '\0') emit_text(json, "description", column->description);
        mote_column_limits limits;
        if (mote_cloud_limits(f->cloud, column->name, &limits) && limits.has_no_data) {
            emit_number(json, "no_data", text_limit(limits.no_data, column->type));
        }
        if (f->stats.is_full) emit_stats(json, column, &f->stats.columns[i]);
        if (f->stats.is_full) survey_emit_column(f, i, json);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void emit_records(json_writer *json, const mote_cloud *cloud) {
    emit_open(json, "records", '[');
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        emit_open(json, NULL, '{');
        emit_text(json, "user_id", record->user_id);
        emit_count(json, "record_id", record->record_id);
        emit_text(json, "description", record->description);
        emit_count(json, "bytes", record->size_bytes);
        emit_bool(json, "extended", record->extended);
        emit_close(json, '}');
    }
    emit_close(json, ']');
}

static void emit_histogram(json_writer *json, const char *name, const histogram *h) {
    if (!h->present) return;
    emit_open(json, name, '{');
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        char key[8];
        if (h->bins[i] == 0) continue;
        snprintf(key, sizeof key, "%d", i);
        emit_count(json, key, h->bins[i]);
    }
    if (h->beyond > 0) emit_count(json, "else", h->beyond);
    emit_close(json, '}');
}

static void emit_potree(json_writer *json, const info_facts *f) {
    if (!f->is_potree) return;
    emit_open(json, "octree", '{');
    emit_text(json, "scheme", f->potree.replacing ? "replacing" : "additive");
    emit_text(json, "encoding", f->potree.brotli ? "brotli" : "default");
    emit_count(json, "nodes", f->potree.nodes);
    emit_count(json, "stored", f->potree.points);
    emit_open(json, "levels", '[');
    for (uint32_t i = 0; i < f->potree.level_count && i < INFO_LEVELS_MAX; i++) {
        emit_open(json, NULL, '{');
        emit_count(json, "nodes", f->levels[i].nodes);
        emit_count(json, "leaves", f->levels[i].leaves);
        emit_count(json, "points", f->levels[i].points);
        emit_close(json, '}');
    }
    emit_close(json, ']');
    emit_close(json, '}');
}

static void emit_compression(json_writer *json, const mote_las_facts *las) {
    if (las->compressor == 0) return;
    emit_open(json, "compression", '{');
    emit_count(json, "compressor", (uint64_t)las->compressor);
    emit_text(json, "items", las->items);
    emit_count(json, "chunk_points", las->chunk_points);
    emit_count(json, "chunks", las->chunk_count);
    emit_count(json, "bytes", las->compressed_bytes);
    emit_close(json, '}');
}

static void emit_scans(json_writer *json, const info_facts *f) {
    if (!f->is_e57) return;
    emit_open(json, "e57", '{');
    emit_text(json, "library", f->e57.library);
    emit_count(json, "images", f->e57.image_count);
    emit_count(json, "scan_count", f->e57.scan_count);
    emit_open(json, "scans", '[');
    for (uint32_t i = 0; i < f->e57.scan_count && i < INFO_SCANS_MAX && f->scans != NULL; i++) {
        const mote_e57_scan *const scan = &f->scans[i];
        emit_open(json, NULL, '{');
        emit_count(json, "point_source_id", i + 1);
        emit_text(json, "name", scan->name);
        emit_text(json, "sensor", scan->sensor);
        emit_count(json, "records", scan->records);
        emit_bool(json, "spherical", scan->is_spherical);
        if (scan->has_pose) {
            emit_reals(json, "position", scan->position, 3);
            emit_reals(json, "rotation", scan->rotation, 4);
            emit_bool(json, "applied", scan->is_applied);
        }
        emit_text(json, "fields", scan->fields);
        emit_close(json, '}');
    }
    emit_close(json, ']');
    emit_close(json, '}');
}

static void emit_copc(json_writer *json, const info_facts *f) {
    const mote_copc_facts *copc = &f->copc;
    if (!copc->is_copc) return;
    emit_open(json, "octree", '{');
    emit_text(json, "scheme", "additive");
    emit_text(json, "encoding", "laz");
    emit_count(json, "nodes", copc->nodes);
    emit_count(json, "stored", copc->points);
    emit_count(json, "pages", copc->pages);
    emit_reals(json, "center", copc->center, 3);
    emit_real(json, "halfsize", copc->halfsize);
    emit_real(json, "spacing", copc->spacing);
    emit_open(json, "levels", '[');
    for (uint32_t i = 0; i < copc->level_count && i < INFO_LEVELS_MAX; i++) {
        emit_open(json, NULL, '{');
        emit_count(json, "nodes", f->copc_levels[i].nodes);
        emit_count(json, "points", f->copc_levels[i].points);
        emit_real(json, "spacing", f->copc_levels[i].spacing);
        emit_close(json, '}');
    }
    emit_close(json, ']');
    emit_close(json, '}');
}

static void emit_las(json_writer *json, const info_facts *f) {
    if (!f->is_las) return;
    emit_open(json, "las", '{');
    emit_count(json, "version_minor", (uint64_t)f->las.version_minor);
    emit_count(json, "point_format", (uint64_t)f->las.format);
    emit_text(json, "system", f->las.system_id);
    emit_text(json, "software", f->las.software);
    emit_count(json, "creation_year", (uint64_t)f->las.creation_year);
    emit_count(json, "creation_day", (uint64_t)f->las.creation_day);
    emit_compression(json, &f->las);
    emit_close(json, '}');
}

void info_print_json(const info_facts *f, json_writer *json) {
    emit_open(json, NULL, '{');
    emit_text(json, "path", f->path);
    emit_text(json, "format", f->format);
    if (f->file_bytes > 0) emit_count(json, "bytes", f->file_bytes);
    emit_count(json, "points", f->stats.points);
    uint64_t width, height;
    if (mote_cloud_grid(f->cloud, &width, &height)) {
        emit_open(json, "grid", '{');
        emit_count(json, "width", width);
        emit_count(json, "height", height);
        emit_close(json, '}');
    }
    if (f->stats.has_box) {
        emit_corner(json, "min", f, f->stats.box.min);
        emit_corner(json, "max", f, f->stats.box.max);
        emit_count(json, "not_finite", f->stats.skipped);
        emit_strays(json, f);
    }
    if (f->density > 0) emit_real(json, "density", f->density);
    emit_text(json, "crs", mote_cloud_crs(f->cloud));
    char crs[200];
    crs_in_short(mote_cloud_crs(f->cloud), crs, sizeof crs);
    if (crs[0] != '\0') emit_text(json, "crs_name", crs);
    units_emit(json, f->cloud);
    emit_las(json, f);
    emit_potree(json, f);
    emit_copc(json, f);
    emit_scans(json, f);
    emit_attributes(json, f);
    emit_records(json, f->cloud);
    if (f->stats.is_full) {
        emit_histogram(json, "classes", &f->stats.classes);
        emit_histogram(json, "returns", &f->stats.returns);
        if (f->stats.duplicates_known) emit_count(json, "duplicates", f->stats.duplicates);
        if (f->stats.duplicates_estimated) emit_bool(json, "duplicates_estimated", true);
    }
    if (f->stats.is_full) survey_emit(f, json);
    messages_emit(f->messages, json);
    if (f->has_hash) emit_text(json, "hash", text_hash(f->hash).chars);
    emit_close(json, '}');
}
