/* mote info for programs. */
#include <inttypes.h>
#include <math.h>

#include "info_facts.h"

static void json_triple(json_writer *json, const char *name, const double values[3]) {
    json_open(json, name, '[');
    for (int k = 0; k < 3; k++) json_real(json, NULL, values[k]);
    json_close(json, ']');
}

static void json_stats(json_writer *json, const column_stats *stats) {
    json_real(json, "min", stats->min);
    json_real(json, "max", stats->max);
    json_real(json, "mean", stats->mean);
    json_count(json, "nan", stats->nans);
}

static void json_attributes(json_writer *json, const info_facts *f) {
    json_open(json, "attributes", '[');
    for (uint32_t i = 0; i < mote_cloud_column_count(f->cloud); i++) {
        const mote_column *column = mote_cloud_column(f->cloud, i);
        json_open(json, NULL, '{');
        json_text(json, "name", column->name);
        json_text(json, "type", mote_type_name(column->type));
        if (column->bit_count > 0) json_count(json, "bits", column->bit_count);
        json_real(json, "scale", column->scale);
        json_real(json, "offset", column->offset);
        if (column->unit[0] != '\0') json_text(json, "unit", column->unit);
        if (column->description[0] != '\0') json_text(json, "description", column->description);
        if (f->stats != NULL) json_stats(json, &f->stats->columns[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_records(json_writer *json, const mote_cloud *cloud) {
    json_open(json, "records", '[');
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        json_open(json, NULL, '{');
        json_text(json, "user_id", record->user_id);
        json_count(json, "record_id", record->record_id);
        json_text(json, "description", record->description);
        json_count(json, "bytes", record->size_bytes);
        json_bool(json, "extended", record->extended);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_histogram(json_writer *json, const char *name, const histogram *h) {
    if (!h->present) return;
    json_open(json, name, '{');
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        char key[8];
        if (h->bins[i] == 0) continue;
        snprintf(key, sizeof key, "%d", i);
        json_count(json, key, h->bins[i]);
    }
    json_close(json, '}');
}

static void json_las(json_writer *json, const info_facts *f) {
    if (!f->is_las) return;
    json_open(json, "las", '{');
    json_count(json, "version_minor", (uint64_t)f->las.version_minor);
    json_count(json, "point_format", (uint64_t)f->las.format);
    json_text(json, "system", f->las.system_id);
    json_text(json, "software", f->las.software);
    json_count(json, "creation_year", (uint64_t)f->las.creation_year);
    json_count(json, "creation_day", (uint64_t)f->las.creation_day);
    json_close(json, '}');
}

void info_print_json(const info_facts *f, json_writer *json) {
    json_open(json, NULL, '{');
    json_text(json, "path", f->path);
    json_text(json, "format", f->format);
    if (f->file_bytes > 0) json_count(json, "bytes", f->file_bytes);
    json_count(json, "points", mote_cloud_count(f->cloud));
    if (f->has_box) {
        json_triple(json, "min", f->box.min);
        json_triple(json, "max", f->box.max);
        json_count(json, "not_finite", f->skipped);
    }
    if (f->density > 0) json_real(json, "density", f->density);
    json_text(json, "crs", mote_cloud_crs(f->cloud));
    json_las(json, f);
    json_attributes(json, f);
    json_records(json, f->cloud);
    if (f->stats != NULL) {
        json_histogram(json, "classes", &f->stats->classes);
        json_histogram(json, "returns", &f->stats->returns);
        if (f->stats->duplicates_known) json_count(json, "duplicates", f->stats->duplicates);
    }
    if (f->has_hash) {
        char digits[20];
        snprintf(digits, sizeof digits, "%016" PRIx64, f->hash);
        json_text(json, "hash", digits);
    }
    json_close(json, '}');
}
