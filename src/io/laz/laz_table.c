/* The entries of the chunk table: points (only where they vary) and bytes of each chunk, each predicted by that of the
   chunk before. Source: M. Isenburg, LASzip. */
#include "io/laz/laz.h"
#include "io/laz/laz_integer.h"

#define OF_POINTS 0u /* contexts of the integer compressor */
#define OF_BYTES  1u
#define CONTEXTS  2u
#define BITS      32u

const char *mote_laz_table_decode(const uint8_t *data, uint64_t size_bytes, bool variable, uint32_t count,
                                  laz_entry *entries) {
    laz_reader reader;
    laz_integer integers;
    uint32_t points = 0, bytes = 0, width;
    laz_reader_start(&reader, data, size_bytes);
    laz_integer_start(&integers, BITS, CONTEXTS);
    for (uint32_t i = 0; i < count; i++) {
        if (variable) points = laz_read_integer(&reader, &integers, BITS, OF_POINTS, points, &width);
        bytes = laz_read_integer(&reader, &integers, BITS, OF_BYTES, bytes, &width);
        entries[i].points = points;
        entries[i].size_bytes = bytes;
        if (laz_reader_failed(&reader)) return reader.bad ? "damaged" : "cut short";
    }
    return NULL;
}

uint64_t mote_laz_table_encode(const laz_entry *entries, uint32_t count, bool variable, uint8_t *out) {
    laz_writer writer = {.data = out};
    laz_integer integers;
    uint32_t points = 0, bytes = 0;
    laz_writer_start(&writer);
    laz_integer_start(&integers, BITS, CONTEXTS);
    for (uint32_t i = 0; i < count; i++) {
        if (variable) {
            laz_write_integer(&writer, &integers, BITS, OF_POINTS, points, (uint32_t)entries[i].points);
            points = (uint32_t)entries[i].points;
        }
        laz_write_integer(&writer, &integers, BITS, OF_BYTES, bytes, (uint32_t)entries[i].size_bytes);
        bytes = (uint32_t)entries[i].size_bytes;
    }
    laz_writer_finish(&writer);
    return writer.at;
}
