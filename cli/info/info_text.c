/* mote info for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info/info_digits.h"
#include "info/info_facts.h"
#include "print.h"
#include "strays_text.h"
#include "text.h"
#include "units_text.h"

/* ASPRS standard classes, LAS 1.4 R15 table 17. */
static const char *const class_names[] = {"never classified",
                                          "unclassified",
                                          "ground",
                                          "low vegetation",
                                          "medium vegetation",
                                          "high vegetation",
                                          "building",
                                          "low noise",
                                          "reserved",
                                          "water",
                                          "rail",
                                          "road surface",
                                          "reserved",
                                          "wire guard",
                                          "wire conductor",
                                          "tower",
                                          "wire connector",
                                          "bridge deck",
                                          "high noise",
                                          "overhead structure",
                                          "ignored ground",
                                          "snow",
                                          "temporal exclusion"};

void crs_in_short(const char *crs, char *line, size_t size) {
    mote_crs_facts facts;
    char code[48] = "";
    mote_crs_describe(crs, &facts);
    if (strchr(crs, '[') != NULL && facts.code > 0) {
        snprintf(code, sizeof code, ", EPSG:%u", facts.code);
    } else if (strchr(crs, '[') != NULL && facts.horizontal_code > 0 && facts.vertical_code > 0) {
        snprintf(code, sizeof code, ", EPSG:%u+%u", facts.horizontal_code, facts.vertical_code);
    }
    snprintf(line, size, "%s%s", facts.name, code);
}

static const char *format_title(const char *format) {
    static const char *const titles[][2] = {{"las", "LAS"},  {"copc", "COPC, LAS"},   {"ply", "PLY"},
                                            {"pcd", "PCD"},  {"ptx", "PTX"},          {"e57", "E57"},
                                            {"xyz", "text"}, {"potree", "Potree 2.0"}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (strcmp(format, titles[i][0]) == 0) return titles[i][1];
    }
    return format;
}

static void print_triple(const char *what, const text values[3]) {
    print_out("  %-12s%s  %s  %s\n", what, values[0].chars, values[1].chars, values[2].chars);
}

static void print_box(const info_facts *f) {
    if (!f->stats.has_box) return;
    static const char *const axes[] = {"x", "y", "z"};
    text min[3], max[3], size[3];
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(f->cloud, axes[k]);
        min[k] = digits_of_value(column, f->stats.box.min[k]);
        max[k] = digits_of_value(column, f->stats.box.max[k]);
        size[k] = digits_of_difference(column, f->stats.box.max[k], f->stats.box.min[k]);
    }
    print_triple("min", min);
    print_triple("max", max);
    print_triple("size", size);
    if (f->stats.strays.count > 0) {
        print_out("  %-12s%s\n", "strays", strays_say(&f->stats.strays, f->stats.points).chars);
    }
    if (f->density > 0)
        print_out("  %-12s%.*f points per square unit of the box\n", "density", f->density < 1 ? 4 : 2, f->density);
}

/* How LAZ is compressed. */
static void print_compression(const info_facts *f) {
    static const char *const names[] = {"", "pointwise, one stream", "pointwise", "layered"};
    if (!f->is_las || f->las.compressor < 1 || f->las.compressor > 3) return;
    print_out("  %-12sLAZ, %s: %s\n", "compression", names[f->las.compressor], f->las.items);
    print_out("  %-12s%s of ", "chunks", text_count(f->las.chunk_count).chars);
    if (f->las.chunk_points > 0) {
        print_out("%s points", text_count(f->las.chunk_points).chars);
    } else {
        print_out("varying size");
    }
    const uint64_t points = f->stats.points;
    if (points > 0) print_out(", %.2f bytes a point", (double)f->las.compressed_bytes / (double)points);
    putchar('\n');
}

static void print_head(const info_facts *f) {
    print_out("%s\n", f->path);
    print_out("  %-12s%s", "format", format_title(f->format));
    if (f->is_las) {
        print_out("%s 1.%d, point format %d", f->is_potree ? ", from LAS" : "", f->las.version_minor, f->las.format);
    }
    putchar('\n');
    print_compression(f);
    if (f->file_bytes > 0) print_out("  %-12s%s\n", "bytes", text_count(f->file_bytes).chars);
    print_out("  %-12s%s\n", "points", text_count(f->stats.points).chars);
    uint64_t width, height;
    if (mote_cloud_grid(f->cloud, &width, &height)) {
        print_out("  %-12s%s × %s\n", "organised", text_count(width).chars, text_count(height).chars);
    }
    if (f->stats.skipped > 0)
        print_out("  %-12s%s points have no finite position\n", "", text_count(f->stats.skipped).chars);
    print_box(f);
    char crs[200];
    crs_in_short(mote_cloud_crs(f->cloud), crs, sizeof crs);
    print_out("  %-12s%s\n", "CRS", crs[0] != '\0' ? crs : "unknown");
    mote_units units;
    mote_cloud_units(f->cloud, &units);
    print_out("  %-12s%s\n", "units", units_say(&units).chars);
    if (f->is_las && f->las.system_id[0] != '\0') print_out("  %-12s%s\n", "system", f->las.system_id);
    if (f->is_las && f->las.software[0] != '\0') print_out("  %-12s%s\n", "software", f->las.software);
    if (f->is_las && f->las.creation_year > 0) {
        print_out("  %-12sday %d of %d\n", "created", f->las.creation_day, f->las.creation_year);
    }
    if (f->has_hash) print_out("  %-12s%s\n", "hash", text_hash(f->hash).chars);
}

/* A distance between points, with four digits, which is enough. */
static text spacing_text(double spacing) {
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.4g", spacing);
    return text_real(strtod(rounded, NULL));
}

static void print_copc(const info_facts *f) {
    const mote_copc_facts *copc = &f->copc;
    print_out("  %-12sadditive, cube of side %s, spacing %s; %s nodes hold %s points; %s page%s\n", "octree",
              digits_of_value(mote_cloud_find(f->cloud, "x"), 2 * copc->halfsize).chars,
              spacing_text(copc->spacing).chars, text_count(copc->nodes).chars, text_count(copc->points).chars,
              text_count(copc->pages).chars, copc->pages == 1 ? "" : "s");
    for (uint32_t i = 0; i < copc->level_count && i < INFO_LEVELS_MAX; i++) {
        print_out("    level %2u  %9s nodes  %14s points  spacing %s\n", i, text_count(f->copc_levels[i].nodes).chars,
                  text_count(f->copc_levels[i].points).chars, spacing_text(f->copc_levels[i].spacing).chars);
    }
}

static void print_levels(const info_facts *f) {
    if (f->copc.is_copc) print_copc(f);
    if (!f->is_potree) return;
    print_out("  %-12s%s, %s; %s nodes hold %s points\n", "octree", f->potree.replacing ? "replacing" : "additive",
              f->potree.brotli ? "brotli" : "not compressed", text_count(f->potree.nodes).chars,
              text_count(f->potree.points).chars);
    for (uint32_t i = 0; i < f->potree.level_count && i < INFO_LEVELS_MAX; i++) {
        print_out("    level %2u  %9s nodes  %9s leaves  %14s points\n", i, text_count(f->levels[i].nodes).chars,
                  text_count(f->levels[i].leaves).chars, text_count(f->levels[i].points).chars);
    }
}

static void print_numbers(const char *what, const double *numbers, int count) {
    print_out("  %s", what);
    for (int i = 0; i < count; i++) print_out(" %s", text_real(numbers[i]).chars);
}

static void print_scans(const info_facts *f) {
    if (!f->is_e57) return;
    if (f->e57.library[0] != '\0') print_out("  %-12s%s\n", "software", f->e57.library);
    print_out("  %-12s%s", "scans", text_count(f->e57.scan_count).chars);
    if (f->e57.image_count > 0)
        print_out(", and %s images, which mote does not read", text_count(f->e57.image_count).chars);
    putchar('\n');
    for (uint32_t i = 0; i < f->e57.scan_count && i < INFO_SCANS_MAX && f->scans != NULL; i++) {
        const mote_e57_scan *const scan = &f->scans[i];
        print_out("    %3u  %14s records, %s", i + 1, text_count(scan->records).chars,
                  scan->is_spherical ? "spherical" : "Cartesian");
        if (scan->name[0] != '\0') print_out("  \"%s\"", scan->name);
        if (scan->sensor[0] != '\0') print_out("  by %s", scan->sensor);
        if (scan->has_pose) {
            print_out("\n       ");
            print_numbers("position", scan->position, 3);
            print_numbers("rotation", scan->rotation, 4);
            if (scan->is_applied) print_out("  (in the coordinates already)");
        }
        print_out("\n         %s\n", scan->fields);
    }
}

static int name_width(const mote_cloud *cloud) {
    size_t width = 10;
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const size_t length = strlen(mote_cloud_column(cloud, i)->name);
        if (length > width && length < 40) width = length;
    }
    return (int)width;
}

/* The no-data value, as stored. */
static void print_no_data(const mote_cloud *cloud, const mote_column *column) {
    mote_column_limits limits;
    if (!mote_cloud_limits(cloud, column->name, &limits) || !limits.has_no_data) return;
    print_out("  no data %s", text_limit(limits.no_data, column->type).chars);
}

static void print_attributes(const info_facts *f) {
    const int width = name_width(f->cloud);
    print_out("  attributes\n");
    for (uint32_t i = 0; i < mote_cloud_column_count(f->cloud); i++) {
        const mote_column *column = mote_cloud_column(f->cloud, i);
        const bool more = column->bit_count > 0 || column->scale != 1 || column->offset != 0 || column->unit[0] != '\0';
        print_out("    %-*s  %-*s", width, column->name, more ? 6 : 0, mote_type_name(column->type));
        if (column->bit_count > 0) print_out("  %u bits", column->bit_count);
        if (column->scale != 1 || column->offset != 0) {
            print_out("  scale %s offset %s", text_real(column->scale).chars, text_real(column->offset + 0.0).chars);
        }
        print_no_data(f->cloud, column);
        if (column->unit[0] != '\0') print_out("  [%s]", column->unit);
        if (column->description[0] != '\0' && strcmp(column->description, column->name) != 0) {
            print_out("  \"%s\"", column->description);
        }
        putchar('\n');
    }
}

static void print_records(const mote_cloud *cloud) {
    if (mote_cloud_record_count(cloud) == 0) return;
    print_out("  records\n");
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        print_out("    %-16s  %5u  %9s bytes%s%s%s\n", record->user_id, record->record_id,
                  text_count(record->size_bytes).chars, record->extended ? "  extended" : "",
                  record->description[0] != '\0' ? "  " : "", record->description);
    }
}

static void print_histogram(const char *title, const histogram *h, const char *const *names, size_t name_count) {
    if (!h->present) return;
    print_out("  %s\n", title);
    for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
        if (h->bins[i] == 0) continue;
        print_out("    %3zu  %14s%s%s\n", i, text_count(h->bins[i]).chars, i < name_count ? "  " : "",
                  i < name_count ? names[i] : "");
    }
    if (h->beyond > 0) print_out("    else %14s\n", text_count(h->beyond).chars);
}

void info_print_text(const info_facts *f) {
    print_head(f);
    print_levels(f);
    print_scans(f);
    print_attributes(f);
    print_records(f->cloud);
    if (!f->stats.is_full) return;
    const int width = name_width(f->cloud);
    print_out("  statistics\n    %-*s  %18s  %18s  %18s\n", width, "", "min", "max", "mean");
    for (uint32_t i = 0; i < mote_cloud_column_count(f->cloud); i++) {
        const mote_column *column = mote_cloud_column(f->cloud, i);
        const column_stats *stats = &f->stats.columns[i];
        print_out("    %-*s  %18s  %18s  %18.10g", width, column->name, digits_of_value(column, stats->min).chars,
                  digits_of_value(column, stats->max).chars, stats->mean);
        if (stats->nans > 0) {
            mote_column_limits limits;
            const bool stated = mote_cloud_limits(f->cloud, column->name, &limits) && limits.has_no_data;
            print_out("  %s %s", text_count(stats->nans).chars, stated ? "no data" : "NaN");
        }
        putchar('\n');
    }
    survey_print(f, width);
    print_histogram("classes", &f->stats.classes, class_names, sizeof class_names / sizeof class_names[0]);
    print_histogram("returns", &f->stats.returns, NULL, 0);
    if (f->stats.duplicates_known) {
        print_out("  %-12s%s%s points stand where another one stands\n", "duplicates",
                  f->stats.duplicates_estimated ? "about " : "", text_count(f->stats.duplicates).chars);
    }
}
