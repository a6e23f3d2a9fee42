/* What a file says of its scans, for those who ask. */
#include <stdio.h>

#include "io/e57/e57.h"
#include "mote/e57.h"

static void add(char *text, size_t size_bytes, const char *more) {
    const size_t length = strlen(text);
    snprintf(text + length, size_bytes - length, "%s", more);
}

/* Names the fields, as many as the text has room for. */
static void describe_fields(const e57_scan *scan, char *text, size_t size_bytes) {
    for (uint64_t i = 0; i < scan->field_count; i++) {
        const e57_field *const field = &scan->fields[i];
        char one[200];
        if (field->kind == E57_INTEGER || field->kind == E57_SCALED) {
            snprintf(one, sizeof one, "%s%s %s%u bits", i > 0 ? ", " : "", field->name,
                     field->kind == E57_SCALED ? "scaled " : "", field->bits);
        } else {
            snprintf(one, sizeof one, "%s%s %s", i > 0 ? ", " : "", field->name,
                     field->kind == E57_SINGLE   ? "float"
                     : field->kind == E57_DOUBLE ? "double"
                                                 : "text");
        }
        if (strlen(text) + strlen(one) + sizeof ", …" > size_bytes) {
            add(text, size_bytes, ", …");
            return;
        }
        add(text, size_bytes, one);
    }
}

static void describe_scan(const e57_scan *scan, mote_e57_scan *out) {
    const char *const sensor[] = {scan->vendor, scan->model, scan->serial};
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", scan->name != NULL ? scan->name : "");
    for (int i = 0; i < 3; i++) {
        if (sensor[i] == NULL) continue;
        if (out->sensor[0] != '\0') add(out->sensor, sizeof out->sensor, " ");
        add(out->sensor, sizeof out->sensor, sensor[i]);
    }
    describe_fields(scan, out->fields, sizeof out->fields);
    out->records = scan->count;
    out->has_pose = scan->has_pose;
    out->is_applied = scan->is_applied;
    memcpy(out->position, scan->pose.translation, sizeof out->position);
    memcpy(out->rotation, scan->pose.rotation, sizeof out->rotation);
    out->is_spherical = true;
    for (uint64_t i = 0; i < scan->field_count; i++) {
        if (strcmp(scan->fields[i].name, "cartesianX") == 0) out->is_spherical = false;
    }
}

mote_status mote_e57_scans(mote_context *ctx, const char *path, mote_e57_scan *scans, uint32_t capacity,
                           mote_e57_facts *facts) {
    mote_input input;
    e57_file file;
    memset(facts, 0, sizeof *facts);
    memset(&file, 0, sizeof file);
    MOTE_TRY(mote_input_open(ctx, path, &input));
    mote_status status = mote_e57_read_header(ctx, &input, &file);
    if (status == MOTE_OK) status = mote_e57_read_xml(ctx, &input, &file);
    if (status == MOTE_OK) status = mote_input_check(ctx, &input);
    if (status == MOTE_OK) {
        snprintf(facts->library, sizeof facts->library, "%s", file.library != NULL ? file.library : "");
        facts->scan_count = (uint32_t)file.scan_count;
        facts->image_count = file.image_count;
        for (uint32_t i = 0; i < capacity && i < file.scan_count; i++) describe_scan(&file.scans[i], &scans[i]);
    }
    mote_e57_file_close(ctx, &file);
    mote_input_close(ctx, &input);
    return status;
}
