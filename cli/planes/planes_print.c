/* Planes as a table, CSV, JSON and OBJ. */
#include "planes/planes_print.h"

#include <inttypes.h>
#include <string.h>

#include "print.h"
#include "text.h"
#include "units_text.h"

/* ---- table */

static void print_facts(const mote_planes *planes) {
    const mote_planes_facts f = mote_planes_get_facts(planes);
    print_out("noise %.4g, tolerance %.4g, bins of %.4g, support %s points; extent %.4g, spacing %.4g\n", f.noise,
              f.tolerance, f.bin, text_count(f.min_points).chars, f.extent, f.spacing);
    print_out("%s directions, %.4g degrees apart; %u rounds, %s votes; %s of %s points are on planes\n",
              text_count(f.directions).chars, f.resolution_deg, f.rounds, text_rate((double)f.votes).chars,
              text_count(f.labelled).chars, text_count(f.points).chars);
}

/* How many decimals an offset deserves: a tenth of what its points tell. */
static int offset_decimals(const mote_planes_facts *facts) {
    int decimals = 0;
    for (double step = facts->tolerance; step > 0 && step < 10 && decimals < 9; step *= 10) decimals++;
    return decimals + 1;
}

static void print_units(const mote_cloud *cloud) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    if (units.horizontal.name[0] == '\0' && units.vertical.name[0] == '\0') return;
    print_out("units: %s\n", units_say(&units).chars);
}

void planes_print_table(const mote_planes *planes, const mote_cloud *cloud) {
    const mote_planes_facts facts = mote_planes_get_facts(planes);
    const int decimals = offset_decimals(&facts);
    print_facts(planes);
    print_units(cloud);
    if (mote_planes_count(planes) == 0) {
        print_out("no planes\n");
        return;
    }
    print_out("\n%5s %12s  %-29s %14s %10s %10s %6s\n", "plane", "points", "normal", "offset", "rms", "area", "conf.");
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        const mote_plane *p = mote_planes_at(planes, i);
        print_out("%5u %12s  %9.6f %9.6f %9.6f %14.*f %10.3g %10.4g %6.2f\n", i, text_count(p->inliers).chars,
                  p->normal[0], p->normal[1], p->normal[2], decimals, p->offset, p->rms, p->area, p->confidence);
    }
}

/* ---- what was refused */

/* For programs, for people, and what follows the measured value and its limit; in the order of mote_planes_reason. */
static const struct {
    const char *name, *words;
} reasons[] = {
    {"few_points", "few points that are no strays: %s, needs %s"},
    {"scattered", "not connected: a part of %s, needs %s"},
    {"thickens", "thicker as it grows, a curve or steps: noise %s, at most %s"},
    {"thick", "thick for its size: noise to side %s, at most %s"},
    {"dense_side", "dense beside it: %s of what is in it, at most %s"},
    {"no_peak", "spread through its thickness: %s in its middle, needs %s"},
    {"structure", "bent, or several: %s of the variance between places, at most %s"},
    {"unlike", "not as noisy as the cloud's planes: %s, limit %s"},
    {"explained", "other planes explain its points: gains %s nats, needs %s"},
    {"unsupported", "its points do not lie flat along it: %s of them do, needs %s"},
};
#define REASONS (sizeof reasons / sizeof *reasons)

static size_t reason_of(const mote_plane_refused *refused) {
    const size_t reason = (size_t)refused->reason;
    return reason < REASONS ? reason : REASONS - 1;
}

static void print_reason(const mote_plane_refused *p) {
    char value[32], limit[32], line[160];
    snprintf(value, sizeof value, "%.3g", p->value);
    snprintf(limit, sizeof limit, "%.3g", p->limit);
    const char *words = reasons[reason_of(p)].words, *first = strstr(words, "%s"), *second = strstr(first + 2, "%s");
    snprintf(line, sizeof line, "%.*s%s%.*s%s", (int)(first - words), words, value, (int)(second - first - 2),
             first + 2, limit);
    print_out("%s\n", line);
}

void planes_print_refused(const mote_planes *planes) {
    const mote_planes_facts facts = mote_planes_get_facts(planes);
    const int decimals = offset_decimals(&facts);
    const uint32_t count = mote_planes_refused_count(planes);
    print_out("\nrefused: %u\n", count);
    if (count == 0) return;
    print_out("%12s  %-29s %14s %10s %10s  %s\n", "points", "normal", "offset", "noise", "size", "why");
    for (uint32_t i = 0; i < count; i++) {
        const mote_plane_refused *p = mote_planes_refused_at(planes, i);
        print_out("%12s  %9.6f %9.6f %9.6f %14.*f %10.3g %10.4g  ", text_count(p->points).chars, p->normal[0],
                  p->normal[1], p->normal[2], decimals, p->offset, p->noise, p->size);
        print_reason(p);
    }
}

/* ---- csv */

static void print_numbers(const double *values, int count) {
    for (int k = 0; k < count; k++) print_out(",%s", text_real(values[k]).chars);
}

void planes_print_csv(const mote_planes *planes) {
    print_out("plane,points,normal_x,normal_y,normal_z,offset,center_x,center_y,center_z,votes,rms,area,hull_area,"
              "confidence\n");
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        const mote_plane *p = mote_planes_at(planes, i);
        const double rest[4] = {p->rms, p->area, p->hull_area, p->confidence};
        print_out("%u,%" PRIu64, i, p->inliers);
        print_numbers(p->normal, 3);
        print_numbers(&p->offset, 1);
        print_numbers(p->centroid, 3);
        print_out(",%" PRIu64, p->votes);
        print_numbers(rest, 4);
        putchar('\n');
    }
}

/* ---- json */

static void emit_places(json_writer *json, const char *name, const double *xyz, uint32_t count) {
    emit_open(json, name, '[');
    for (uint32_t i = 0; i < count; i++) emit_reals(json, NULL, xyz + 3 * (size_t)i, 3);
    emit_close(json, ']');
}

static void emit_plane(const mote_planes *planes, uint32_t i, json_writer *json) {
    const mote_plane *p = mote_planes_at(planes, i);
    uint32_t corners;
    const double *hull = mote_planes_hull(planes, i, &corners);
    emit_open(json, NULL, '{');
    emit_reals(json, "normal", p->normal, 3);
    emit_real(json, "offset", p->offset);
    emit_reals(json, "centroid", p->centroid, 3);
    emit_count(json, "votes", p->votes);
    emit_count(json, "inliers", p->inliers);
    emit_real(json, "rms", p->rms);
    emit_real(json, "area", p->area);
    emit_real(json, "hull_area", p->hull_area);
    emit_real(json, "confidence", p->confidence);
    emit_places(json, "rectangle", &p->rectangle[0][0], 4);
    emit_places(json, "boundary", hull, corners);
    emit_close(json, '}');
}

static void emit_refused(const mote_plane_refused *p, json_writer *json) {
    emit_open(json, NULL, '{');
    emit_text(json, "reason", reasons[reason_of(p)].name);
    emit_reals(json, "normal", p->normal, 3);
    emit_real(json, "offset", p->offset);
    emit_reals(json, "centroid", p->centroid, 3);
    emit_count(json, "points", p->points);
    emit_real(json, "noise", p->noise);
    emit_real(json, "size", p->size);
    emit_real(json, "value", p->value);
    emit_real(json, "limit", p->limit);
    emit_close(json, '}');
}

void planes_emit(const mote_planes *planes, bool explain, json_writer *json) {
    const mote_planes_facts f = mote_planes_get_facts(planes);
    emit_open(json, "planes", '[');
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) emit_plane(planes, i, json);
    emit_close(json, ']');
    if (explain) {
        emit_open(json, "refused", '[');
        for (uint32_t i = 0; i < mote_planes_refused_count(planes); i++) {
            emit_refused(mote_planes_refused_at(planes, i), json);
        }
        emit_close(json, ']');
    }
    emit_real(json, "extent", f.extent);
    emit_real(json, "spacing", f.spacing);
    emit_real(json, "noise", f.noise);
    emit_real(json, "tolerance", f.tolerance);
    emit_real(json, "bin", f.bin);
    emit_count(json, "min_points", f.min_points);
    emit_real(json, "resolution_degrees", f.resolution_deg);
    emit_count(json, "directions", f.directions);
    emit_count(json, "bins", f.bins);
    emit_count(json, "rounds", f.rounds);
    emit_count(json, "votes", f.votes);
    emit_count(json, "labelled", f.labelled);
    emit_count(json, "outside", f.outside);
    emit_bool(json, "normals", f.normals);
}

/* ---- obj */

#define LINE_BYTES 256

typedef struct obj_writer {
    mote_context *ctx;
    mote_output *output;
    mote_status status;
} obj_writer;

static void put(obj_writer *w, const char *line) {
    if (w->status == MOTE_OK) w->status = mote_output_write(w->ctx, w->output, line, strlen(line));
}

/* Numbers of corners count from 1 through the file. */
static void put_plane(obj_writer *w, const mote_planes *planes, uint32_t i, uint64_t first) {
    char line[LINE_BYTES];
    uint32_t corners;
    const double *hull = mote_planes_hull(planes, i, &corners);
    snprintf(line, sizeof line, "g plane_%u\n", i);
    put(w, line);
    for (uint32_t k = 0; k < corners; k++) {
        const double *at = hull + 3 * (size_t)k;
        snprintf(line, sizeof line, "v %s %s %s\n", text_real(at[0]).chars, text_real(at[1]).chars,
                 text_real(at[2]).chars);
        put(w, line);
    }
    if (corners > 2) put(w, "f");
    for (uint32_t k = 0; k < corners && corners > 2; k++) {
        snprintf(line, sizeof line, " %" PRIu64, first + k);
        put(w, line);
    }
    if (corners > 2) put(w, "\n");
}

/* OBJ has no units: a comment says what the numbers count in. */
static void put_units(obj_writer *w, const mote_cloud *cloud) {
    char line[LINE_BYTES];
    mote_units units;
    mote_cloud_units(cloud, &units);
    snprintf(line, sizeof line, "# units: %s\n", units_say(&units).chars);
    for (char *c = line; *c != '\0' && c[1] != '\0'; c++) *c = (char)(*c == '\n' || *c == '\r' ? ' ' : *c);
    put(w, line);
}

int planes_write_obj(session *s, const mote_planes *planes, const mote_cloud *cloud, const char *path) {
    obj_writer w = {.ctx = s->ctx};
    uint64_t first = 1;
    w.status = mote_output_create(s->ctx, path, true, &w.output);
    if (w.status == MOTE_OK) put_units(&w, cloud);
    for (uint32_t i = 0; i < mote_planes_count(planes) && w.status == MOTE_OK; i++) {
        uint32_t corners;
        mote_planes_hull(planes, i, &corners);
        put_plane(&w, planes, i, first);
        first += corners;
    }
    const mote_status status = mote_output_finish(s->ctx, w.output, w.status);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}
