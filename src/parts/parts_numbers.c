/* Each record of the scratch file may have the number of its point behind it, in as few bytes as the numbers of all
   points take: 4 up to 2^32 of them, 5 up to 2^40. So records can be brought to any order. */
#include "parts/parts.h"

#define LEAST_BYTES 4u

uint32_t parts_number_bytes(uint64_t points) {
    uint32_t bytes = LEAST_BYTES;
    while (bytes < PARTS_NUMBER_BYTES_MAX && points > 1ull << 8 * bytes) bytes++;
    return bytes;
}

mote_status parts_number_put(const parts_run *run, uint64_t number, uint8_t *record) {
    uint8_t *to = record + run->source.record_bytes;
    /* Inputs that have more points than they said. */
    if (run->number_bytes < PARTS_NUMBER_BYTES_MAX && number >> 8 * run->number_bytes != 0) return parts_changed(run);
    for (uint32_t b = 0; b < run->number_bytes; b++) to[b] = (uint8_t)(number >> 8 * b);
    return MOTE_OK;
}

uint64_t parts_number_of(const parts_run *run, const uint8_t *record) {
    const uint8_t *from = record + run->source.record_bytes;
    uint64_t number = 0;
    for (uint32_t b = 0; b < run->number_bytes; b++) number |= (uint64_t)from[b] << 8 * b;
    return number;
}
