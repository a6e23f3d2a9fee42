/* What the header of a LAS file says of its points: ASPRS LAS 1.4 R15, tables 3 and 4. */
#include "info/info_header.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES        375 /* of LAS 1.4 */
#define HEADER_BYTES_BEFORE 227 /* of LAS 1.0 to 1.2 */
#define ENCODING_AT         6   /* two bytes, of which the lowest bit says what GPS times are, since LAS 1.2 */
#define VERSION_AT          25
#define VERSION_OF_CLOCK    2
#define VERSION_OF_RETURNS  4   /* counts of 64 bits */
#define OLD_RETURNS_AT      111 /* [5] of 32 bits */
#define OLD_RETURNS         5u
#define SCALE_AT            131
#define BOX_AT              179 /* max x, min x, max y, min y, max z, min z */
#define RETURNS_AT          255 /* [15] of 64 bits */

static uint64_t read_number(const unsigned char *bytes, int size) {
    uint64_t number = 0;
    for (int i = size - 1; i >= 0; i--) number = number << 8 | bytes[i];
    return number;
}

static double read_double(const unsigned char *bytes) {
    const uint64_t bits = read_number(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void read_facts(const unsigned char *header, bool is_long, header_facts *facts) {
    const int version = header[VERSION_AT];
    facts->is_las = true;
    if (version >= VERSION_OF_CLOCK) facts->clock = (header[ENCODING_AT] & 1) != 0 ? CLOCK_ADJUSTED : CLOCK_WEEK;
    for (int k = 0; k < 3; k++) {
        facts->box.max[k] = read_double(header + BOX_AT + 16 * k);
        facts->box.min[k] = read_double(header + BOX_AT + 16 * k + 8);
        facts->scale[k] = read_double(header + SCALE_AT + 8 * k);
    }
    const bool has_long = version >= VERSION_OF_RETURNS && is_long;
    facts->return_count = has_long ? HEADER_RETURNS_MAX : OLD_RETURNS;
    for (uint32_t r = 0; r < facts->return_count; r++) {
        facts->returns[r] = has_long ? read_number(header + RETURNS_AT + (size_t)8 * r, 8)
                                     : read_number(header + OLD_RETURNS_AT + (size_t)4 * r, 4);
    }
}

void header_read(const char *path, header_facts *facts) {
    unsigned char header[HEADER_BYTES];
    memset(facts, 0, sizeof *facts);
    FILE *file = fopen(path, "rb");
    if (file == NULL) return;
    const size_t bytes = fread(header, 1, sizeof header, file);
    fclose(file);
    if (bytes < HEADER_BYTES_BEFORE || memcmp(header, "LASF", 4) != 0) return;
    read_facts(header, bytes == sizeof header, facts);
}
