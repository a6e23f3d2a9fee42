/* What a cloud remembers of a scan, so that it is there when the points are in another format: a record of lines of a
   key and a value, which people can read.

     name Lobby
     position 12.5 3 1.7             of the scanner, in the world
     rotation 1 0 0 0                w x y z
     pose applied                    or kept: the coordinates are the scanner's own
     sensor Leica Geosystems|ScanStation|1234 */
#include <stdio.h>

#include "io/e57/e57.h"
#include "io/text/text.h"

#define STATION_BYTES 4096u /* a record of a LAS file may have 65535 */
#define TEXT_BYTES    400u  /* of a name or a description */

typedef struct e57_lines {
    char text[STATION_BYTES];
    size_t length;
} e57_lines;

static void add(e57_lines *lines, const char *text) {
    const size_t length = strlen(text);
    if (lines->length + length + 1 > sizeof lines->text) return;
    memcpy(lines->text + lines->length, text, length + 1);
    lines->length += length;
}

/* A text in one line, cut where a character of UTF-8 begins. */
static void add_text(e57_lines *lines, const char *text) {
    char one_line[TEXT_BYTES + 1];
    size_t length = strlen(text);
    if (length > TEXT_BYTES) length = TEXT_BYTES;
    while (length > 0 && text[length] != '\0' && ((uint8_t)text[length] & 0xC0) == 0x80) length--;
    for (size_t i = 0; i < length; i++) one_line[i] = (uint8_t)text[i] < ' ' ? ' ' : text[i];
    one_line[length] = '\0';
    add(lines, one_line);
}

static void add_line(e57_lines *lines, const char *key, const char *text) {
    if (text == NULL) return;
    add(lines, key);
    add(lines, " ");
    add_text(lines, text);
    add(lines, "\n");
}

static void add_numbers(e57_lines *lines, const char *key, const double *numbers, int count) {
    add(lines, key);
    for (int i = 0; i < count; i++) {
        char number[MOTE_TEXT_NUMBER_BYTES + 1];
        uint32_t guess = 0;
        number[mote_text_put_double(number, numbers[i], &guess)] = '\0';
        add(lines, " ");
        add(lines, number);
    }
    add(lines, "\n");
}

mote_status mote_e57_keep_station(mote_cloud *cloud, const e57_scan *scan, uint32_t number, bool applied) {
    e57_lines lines = {.length = 0};
    mote_record record;
    add_line(&lines, "name", scan->name);
    if (scan->has_pose) {
        add_numbers(&lines, "position", scan->pose.translation, 3);
        add_numbers(&lines, "rotation", scan->pose.rotation, 4);
        add_line(&lines, "pose", applied ? "applied" : "kept");
    }
    if (scan->vendor != NULL || scan->model != NULL || scan->serial != NULL) {
        const char *const parts[] = {scan->vendor, scan->model, scan->serial};
        add(&lines, "sensor ");
        for (int i = 0; i < 3; i++) {
            if (parts[i] != NULL) add_text(&lines, parts[i]);
            add(&lines, i < 2 ? "|" : "\n");
        }
    }
    if (scan->start != 0) {
        add_numbers(&lines, "start", &scan->start, 1);
        add_line(&lines, "clock", scan->atomic ? "atomic" : "not atomic");
    }
    add_line(&lines, "guid", scan->guid);
    add_line(&lines, "description", scan->description);
    memset(&record, 0, sizeof record);
    snprintf(record.user_id, sizeof record.user_id, E57_RECORD_USER);
    snprintf(record.description, sizeof record.description, E57_RECORD_DESCRIPTION);
    record.record_id = (uint16_t)number;
    record.size_bytes = lines.length;
    record.data = lines.text;
    return mote_cloud_add_record(cloud, &record);
}
